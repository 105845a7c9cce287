//! Merkle trees over edges: one root says what the whole graph of a commit is.

mod tree;

#[cfg(test)]
mod tests;

pub use tree::{EdgeLeaf, KindRoot, PackageRoot, Roots, Tree, merkle};
