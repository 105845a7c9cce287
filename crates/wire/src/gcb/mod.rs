//! GCB: an answer in bytes, for caches and services. Numbers are LEB128, texts have their length before them, files stand in
//! one table, and a CRC-32 ends it.
//!
//! It says less than JSON: not how fresh the tree was, nor notes, reasons and sources; an edge whose end is not among the
//! symbols has no place in it.

mod decode;
mod encode;

use crate::payload::Payload;

pub use decode::decode;
pub use encode::encode;
pub(crate) use encode::{edge_bytes, frame_bytes, symbol_bytes};

pub(crate) const MAGIC: &[u8; 4] = b"GCB1";
const VERSION: u8 = 2;
/// No document has more of anything.
const MAX_COUNT: u64 = 10_000_000;

/// By bit; names that are not here have no place.
const FLAGS: [&str; 10] = [
    "test",
    "generated",
    "exported",
    "deprecated",
    "abstract",
    "async",
    "entry",
    "vendored",
    "dirty",
    "gone",
];

const COMPONENTS: [&str; 4] = ["blast", "confidence", "recency", "distance"];

/// Whether bytes are meant to be of this format.
pub fn is_gcb(bytes: &[u8]) -> bool {
    bytes.starts_with(b"GCB")
}

/// Edges that are left out because an end of them is not among the symbols.
pub fn n_left_out(payload: &Payload) -> usize {
    let ends = encode::positions(payload);
    payload.edges.iter().filter(|it| !ends.contains_key(&it.source) || !ends.contains_key(&it.target)).count()
}
