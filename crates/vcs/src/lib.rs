//! git behind a small API: what a repository is called, what a commit holds, what the working tree holds.
//!
//! - `Checkout::open` finds the repository of a path; `identity` gives its one name.
//! - `Checkout::tree` lists a commit, `Checkout::changed_entries` what differs from another; `Checkout::reader` gives each thread a handle that reads blobs.
//! - `Checkout::work_files` lists the working tree, `Checkout::work_reader` reads it; `Directory` does the same for a place without git.
//! - `Checkout::history` lists the commits before one; `Checkout::differ` says what each of them changed.
//! - `Ignore` knows the `.knowingignore` files.
//!
//! Invariant: nothing here writes, starts a program or opens a connection, whatever a repository's configuration says,
//! and no symbolic link is followed.

mod changes;
mod checkout;
mod directory;
mod error;
mod history;
mod hunks;
mod identity;
mod ignores;
mod modified;
mod object;
mod reader;
mod renames;
mod tree;
mod work_reader;
mod work_tree;

#[cfg(test)]
mod tests;

pub use changes::{ChangeKind, Changes, Differ, FileChange, Moved, TextChange, Wanted};
pub use checkout::{Checkout, Head};
pub use directory::Directory;
pub use error::{Error, Result};
pub use history::{Ancestry, History, PastCommit};
pub use hunks::{Hunk, hunks};
pub use identity::{Note, RepoIdentity};
pub use ignores::{IGNORE_FILE, Ignore};
pub use modified::ChangedEntry;
pub use object::{BlobId, CommitId, ObjectFormat, hash_blob};
pub use reader::Reader;
pub use tree::{EntryKind, Tree, TreeEntry};
pub use work_reader::WorkReader;
pub use work_tree::{Content, WorkFile, WorkFiles};
