//! What the graph is made of. This crate does no I/O and knows no algorithm; it is the vocabulary of all others.
//!
//! # Glossary
//!
//! - **facts**: all that one file says by itself (`FileFacts`).
//! - **symbol**: the identity of a thing (`Symbol`); **node**: one version of it (`Node`).
//! - **edge**: a relation of two symbols (`Edge`); its **kind** says which, its **provenance** how it is known and its
//!   **confidence** how sure that is.
//! - **site**: a position of a call; an **unresolved** site is a call whose target is not known.
//! - **unit**: the rows that one file version gives in a snapshot.
//! - **container**: the file (or Go directory) a symbol lives in; **package**: its directory.
//! - **snapshot**: the graph state of a commit; its **root** is the hash of the whole tree of edges.
//! - **virtual**: without a place in the repository: externals, environment variables, processes.
//! - **ruleset**: the version of extraction and resolution.

pub mod facts;
pub mod identity;
pub mod name;

mod checksum;
mod edge;
mod edge_kind;
mod hash;
mod lanes;
mod later;
mod node;
mod node_kind;
mod provenance;
mod repo;
mod span;
mod texts;

pub use checksum::checksum;
pub use edge::{Edge, MAX_SITES, Reason, Sites, Unit, UnitLayer, Unresolved};
pub use edge_kind::{Category, Change, EdgeKind};
pub use hash::{EdgeId, FileId, Hash, Hasher, NodeId, RepoId, SnapshotId, hex, position_of};
pub use identity::Stage;
pub use later::{Inside, Later};
pub use name::{ContainerClass, package_of};
pub use node::{Node, NodeFlags, Symbol};
pub use node_kind::NodeKind;
pub use provenance::{Layer, Provenance};
pub use repo::normalise_url;
pub use span::{Position, Range, Span};
pub use texts::Texts;

/// Version of extraction and resolution: grows whenever their output may change.
pub const RULESET: u32 = 10;
