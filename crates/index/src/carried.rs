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
use knowing_store::{SnapshotRow, Store};
use knowing_vcs::Ancestry;

use crate::base::Base;
use crate::results::Results;
use crate::search_changes::{Debt, Touched};
use crate::writing::Writing;
use crate::{Result, open_search, search};

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
    snapshot: SnapshotRow,
    last: Last,
    /// Empty while a run has them.
    tables: Tables,
    left: Option<Left>,
}

/// What a run of a replay has left to the end.
pub(crate) struct Left {
    pub(crate) writing: Writing,
    pub(crate) debt: Debt,
}

impl Left {
    /// `debt` is that of the runs before, if they left one.
    pub(crate) fn new(writing: Writing, debt: Option<Debt>, base: &Base, touched: Touched) -> Left {
        let debt = match debt {
            Some(mut debt) => {
                debt.add(touched);
                debt
            }
            None => Debt::new(base, touched),
        };
        Left { writing, debt }
    }
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
    /// alone, by `finish`. Where a process ends before that, the images are built anew by the first who asks.
    pub fn of_replay() -> Carried {
        Carried { last: None, writes_later: true, ancestry: Ancestry::default() }
    }

    /// Makes what the last run has left: writes its images, and makes the search image of all runs since the last one.
    /// Runs may go on after it. Where this is not called, dropping writes, and search is left to the first who asks.
    pub fn finish(&mut self, store: &Store) -> Result<()> {
        let Some(held) = &mut self.last else { return Ok(()) };
        let Some(Left { writing, debt }) = held.left.take() else { return Ok(()) };
        writing.run();
        if held.images == store.images_dir() {
            let snapshot = &held.snapshot;
            if !search::make_since(store, (snapshot, &held.last.graph, &held.last.names), &debt)? {
                open_search(store, snapshot)?;
            }
        }
        Ok(())
    }

    /// To give back what thousands of files said takes a while that nobody has to wait for.
    pub fn let_go(self) {
        let _ = std::thread::Builder::new().spawn(move || drop(self));
    }

    pub(crate) fn writes_later(&self) -> bool {
        self.writes_later
    }

    /// What the last run left, if it made this snapshot. Else it is of no use any more.
    pub(crate) fn of(&mut self, store: &Store, snapshot: SnapshotId) -> Result<Option<Last>> {
        let is_it = |it: &Held| it.snapshot.id == snapshot && it.images == store.images_dir();
        if !self.last.as_ref().is_some_and(is_it) {
            self.finish(store)?;
            self.last = None;
        }
        Ok(self.last.as_ref().map(|it| it.last.clone()))
    }

    /// What the last run made of its files, to go on with from its snapshot.
    pub(crate) fn take_tables(&mut self, base: Option<SnapshotId>) -> Tables {
        let last = self.last.as_mut().filter(|it| Some(it.snapshot.id) == base);
        last.map(|it| std::mem::take(&mut it.tables)).unwrap_or_default()
    }

    /// What the search image of the snapshot that a run built on is still to be told.
    pub(crate) fn take_debt(&mut self, base: SnapshotId) -> Option<Debt> {
        let last = self.last.as_mut().filter(|it| it.snapshot.id == base)?;
        Some(last.left.take()?.debt)
    }

    pub(crate) fn keep(
        &mut self,
        store: &Store,
        snapshot: SnapshotRow,
        last: Option<Last>,
        tables: Tables,
        left: Option<Left>,
    ) {
        self.last = last.map(|last| Held { images: store.images_dir(), snapshot, last, tables, left });
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        if let Some(left) = self.last.as_mut().and_then(|it| it.left.take()) {
            left.writing.run();
        }
    }
}
