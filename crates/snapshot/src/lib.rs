//! Merkle trees over edges.
