//! Retrieval through its public door, on snapshots drawn as text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail where it stands")]

mod classes;
mod drawn;
mod mechanisms;
mod packing;
mod ranking;
mod seeds;
