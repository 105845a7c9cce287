//! The database; SQL does not leave this crate.
//!
//! Rows are immutable facts about file versions, grouped by unit; a snapshot is the set of files and units that hold at
//! a commit. One writer at a time makes a snapshot in one transaction (`Store::write_snapshot`); readers never wait and
//! see one snapshot from begin to end (`Store::reader`).

mod bulk;
mod chain;
mod check;
mod check_roots;
mod check_texts;
mod check_units;
mod connection;
mod difference;
mod digest;
mod edge_rows;
mod error;
mod feedback;
mod files;
mod first_write;
mod gc;
mod graph_rows;
mod history;
mod late_indexes;
mod lock;
mod lookup;
mod migrations;
mod name_keys;
mod packed;
mod packs;
mod reader;
mod remake;
mod repos;
mod sessions;
mod single_edges;
mod snapshots;
mod steps;
mod symbols;
mod terms;
mod unit_rows;
mod units;
mod unresolved;

#[cfg(test)]
mod tests;

pub use bulk::{EdgePlace, NodePlace, UnresolvedPlace};
pub use check::{Checked, Finding, Severity};
pub use check_texts::Remakable;
pub use connection::Store;
pub use difference::{OwnEdge, OwnNode, OwnRows};
pub use error::{Error, Result};
pub use feedback::{FeedbackRecord, FeedbackSource};
pub use files::{EncodedFacts, FileRow, FileState, NewFile};
pub use gc::{Collected, Keeping, Mode};
pub use graph_rows::{GraphEdge, GraphNode, GraphRows};
pub use history::{FoundCommit, HistoryRow, MinedCommit, NewHistory, Touch, TwoHistories, Walked};
pub use lock::RowLock;
pub use packs::NewPack;
pub use reader::{EdgeSites, NodeInFile, NodeRow, Reader};
pub use repos::{NewWorktree, RepoRow, WorktreeRow};
pub use sessions::{Said, SessionLimits, SessionRow, SessionTurn, Turned};
pub use snapshots::{Counts, NewSnapshot, SnapshotRow, Written};
pub use steps::step;
pub use symbols::SymbolRow;
pub use terms::TermsKey;
pub use unit_rows::{Tally, UnitRange};
pub use unresolved::UnresolvedRow;
