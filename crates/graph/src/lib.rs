//! The graph of one snapshot in memory: immutable, compact, mapped from a file.
//!
//! ```text
//! GraphInput --build--> bytes --open--> Graph --+-- reach: callers, callees, whatever follows edges
//!                         |                     +-- paths: how one node leads to another
//!                         |                     +-- inheritance: the `inherits` relation, computed when asked
//!                         |                     +-- walk: how near everything is to some seeds; hits: what stands out among it
//!                         |                     +-- shape: what the whole is like
//!                         |                     +-- patched: the graph of another snapshot, from what differs
//!                         +--write--> images/<snapshot>.graph
//! ```
//!
//! Nodes stand in ascending order of their ids, edges of a node in ascending order of (kind, other end), so that every
//! walk meets them in the same order on every machine. A graph that was just built and one that was opened from its
//! file are read by the same code from the same bytes.

mod build;
mod gone;
mod hits;
mod image;
mod inherits;
mod kinds;
mod layout;
mod patch;
mod paths;
mod reach;
mod shape;
mod walk;

pub use build::{EdgeInput, GraphInput, NodeInput};
pub use gone::GoneRows;
pub use hits::{Hits, Standing, hits};
pub use image::{EdgeRecord, Error, Graph, NodeIndex, NodeRecord, Result};
pub use inherits::{Inheritance, MAX_INHERITED};
pub use kinds::KindSet;
pub use patch::{GraphPatch, Patched};
pub use paths::{Between, Path, PathStep, Paths, paths_between};
pub use reach::{Follow, Reach, Reached, Step, reach};
pub use shape::Shape;
pub use walk::{Walk, Walked, walk};

#[cfg(test)]
mod tests;
