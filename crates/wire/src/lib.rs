//! How results are written: one payload, several formats.
//!
//! ```text
//! Payload --Format::encode--> text or bytes        Format::{symbol,edge,envelope}_bytes: what each part will take
//! gcf::decode, gcb::decode, json::decode           Delta: what a reader of one pack needs to have the next
//! ```
//!
//! Packing counts the bytes of what it adds in the format that was asked for, so that an answer keeps its budget as it is
//! written. The parts never count less than the whole.

pub mod gcb;
pub mod gcf;
pub mod json;

mod base64;
mod delta;
mod format;
mod markdown;
mod payload;
mod problem;
mod xml;

pub use base64::base64;
pub use delta::{Delta, unchanged};
pub use format::{Format, Written, tokens};
pub use payload::{Detail, Edge, Payload, Status, Symbol};
pub use problem::{At, Problem};

#[cfg(test)]
mod tests;
