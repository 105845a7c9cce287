//! What a run leaves in memory for the next one of the same process: a replay of many commits, a server that sees one after
//! the other.
//!
//! All of it could be read back from the store and from the files beside it, and is by a run that is given nothing, or what
//! is of another snapshot. Held are the facts of all files, what the next run hangs on, and the two images: for kubernetes
//! (20,000 files) some hundred MB, and never those of more than one snapshot.

use std::path::PathBuf;
use std::sync::Arc;

use knowing_graph::Graph;
use knowing_model::SnapshotId;
use knowing_model::facts::FileFacts;
use knowing_resolve::Tables;
use knowing_search::Names;
use knowing_store::Store;
use knowing_vcs::Ancestry;

use crate::results::Results;
use crate::writing::Writing;

/// For whoever runs one index after the other. Results are the same with and without.
#[derive(Default)]
pub struct Carried {
    last: Option<Held>,
    writes_later: bool,
    /// Of the last run that had to walk through merges.
    pub(crate) ancestry: Ancestry,
}

struct Held {
    /// Where the images of the database are: row numbers of one mean nothing in another.
    images: PathBuf,
    snapshot: SnapshotId,
    last: Last,
    /// Empty while a run has them.
    tables: Tables,
    unwritten: Option<Writing>,
}

/// What is known of the snapshot before beside its rows.
#[derive(Clone)]
pub(crate) struct Last {
    pub(crate) results: Arc<Results>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) names: Arc<Names>,
    /// In the order of the results; none where they are still in the store.
    pub(crate) facts: Vec<Arc<FileFacts>>,
    /// The snapshot is of the files that the commit has by the ordinary rules, and nothing else.
    pub(crate) lists_commit: bool,
}

impl Carried {
    /// For a replay, in which nobody asks between two runs: what is written beside the database is written of the last run
    /// alone, when this is dropped. Where a process ends before that, the images are built anew by the first who asks.
    pub fn of_replay() -> Carried {
        Carried { last: None, writes_later: true, ancestry: Ancestry::default() }
    }

    /// To give back what thousands of files said takes a while that nobody has to wait for.
    pub fn let_go(self) {
        let _ = std::thread::Builder::new().spawn(move || drop(self));
    }

    pub(crate) fn writes_later(&self) -> bool {
        self.writes_later
    }

    /// Writes what the last run has left to this.
    pub(crate) fn write(&mut self) {
        if let Some(writing) = self.last.as_mut().and_then(|it| it.unwritten.take()) {
            writing.run();
        }
    }

    /// What the last run left, if it made this snapshot. Else it is of no use any more.
    pub(crate) fn of(&mut self, store: &Store, snapshot: SnapshotId) -> Option<Last> {
        let is_it = |it: &Held| it.snapshot == snapshot && it.images == store.images_dir();
        if !self.last.as_ref().is_some_and(is_it) {
            self.write();
            self.last = None;
        }
        Some(self.last.as_ref()?.last.clone())
    }

    /// What the last run made of its files, to go on with from its snapshot.
    pub(crate) fn take_tables(&mut self, base: Option<SnapshotId>) -> Tables {
        let last = self.last.as_mut().filter(|it| Some(it.snapshot) == base);
        last.map(|it| std::mem::take(&mut it.tables)).unwrap_or_default()
    }

    /// `unwritten` is what was not written of the run.
    pub(crate) fn keep(
        &mut self,
        store: &Store,
        snapshot: SnapshotId,
        last: Option<Last>,
        tables: Tables,
        unwritten: Option<Writing>,
    ) {
        self.last = last.map(|last| Held { images: store.images_dir(), snapshot, last, tables, unwritten });
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.write();
    }
}
