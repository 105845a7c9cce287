//! Merkle trees over edges: one root says what the whole graph of a commit is, and a few hashes prove that an edge is in
//! it or not.

pub mod proof;
mod prove;
mod tree;
pub mod verify;

#[cfg(test)]
mod tests;

pub use prove::{PackageTree, Prover, Relation};
pub use tree::{EdgeLeaf, KindRoot, PackageRoot, Roots, Tree, merkle};
