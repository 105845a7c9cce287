//! The one end-to-end test binary: terminal sessions on real repositories.

mod answers;
mod errors;
mod export;
mod index;
mod lookup;
mod safety;
mod session;
mod tidy;
