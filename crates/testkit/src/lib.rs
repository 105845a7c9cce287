//! Fixtures for tests: real git repositories made from text, and the runner of `spec.md` files.
//!
//! ```text
//! let repo = Fixture::from_text("//- /shop/cart.py\ndef total(): ...\n");
//! let commit = repo.commit("add the cart");
//! ```
//!
//! The same text gives the same commit ids on every machine: names, dates and configuration are fixed.

pub mod edits;
pub mod spec;

mod fixture;
mod second_verifier;

pub use fixture::{Fixture, split_files};
pub use second_verifier::verify_again;
