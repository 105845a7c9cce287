//! How results are written: one payload, several formats.
//!
//! ```text
//! Payload --Format::encode--> text        Format::{symbol,edge,envelope}_bytes: what each part will take
//! ```
//!
//! Packing counts the bytes of what it adds in the format that was asked for, so that an answer keeps its budget as it is
//! written. The parts never count less than the whole.

pub mod json;

mod format;
mod markdown;
mod payload;

pub use format::{Format, tokens};
pub use payload::{Detail, Edge, Payload, Status, Symbol};

#[cfg(test)]
mod tests;
