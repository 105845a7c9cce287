//! What a run leaves in memory for the next one of the same process: a replay of many commits, a server that sees one after
//! the other.
//!
//! All of it could be read back from the store and from the files beside it, and is by a run that is given nothing, or what
//! is of another snapshot. Held are the facts of all files, what the next run hangs on, and one pair of images: for kubernetes
//! (20,000 files) some hundred MB.
//!
//! In a replay the images are those of the snapshot that it began with, and what has changed since is noted (`drift.rs`).
//! They are made of the last snapshot in the end, or on the way when too much has changed.

use std::path::PathBuf;
use std::sync::Arc;

use knowing_model::SnapshotId;
use knowing_model::facts::FileFacts;
use knowing_resolve::Tables;
use knowing_search::FileInput;
use knowing_store::{SnapshotRow, Store};
use knowing_vcs::Ignore;

use crate::base::Listed;
use crate::delta::{self, Images};
use crate::drift::Drift;
use crate::history::Past;
use crate::imaged::{self, Imaged, NewFiles};
use crate::results::{self, Results};
use crate::search_changes::{Debt, Since, Touched};
use crate::writing::Writing;
use crate::{Result, open_search, search};

/// How many edges may have gone or come since the images in memory before others are made: what each run asks of what has
/// changed, and the memory that takes, does not grow with the length of a replay.
struct Far {
    /// So few are no burden in any case.
    few: usize,
    /// One of so many.
    part: usize,
}

/// For whoever runs one index after the other. Results are the same with and without.
#[derive(Default)]
pub struct Carried {
    last: Option<Held>,
    /// Set for a replay.
    far: Option<Far>,
    pub(crate) past: Past,
}

struct Held {
    /// Where what is beside the database is: row numbers of one mean nothing in another.
    images: PathBuf,
    snapshot: SnapshotRow,
    last: Last,
    /// Empty while a run has them.
    tables: Tables,
    left: Option<Left>,
}

/// What a run of a replay has left to the end.
#[derive(Default)]
pub(crate) struct Left {
    /// What the search image is to be told, up to the snapshot that has images; none where that is the one that has the
    /// search image.
    pub(crate) debt: Option<Debt>,
}

impl Left {
    pub(crate) fn add(&mut self, before: &Imaged, touched: Touched) {
        match &mut self.debt {
            Some(debt) => debt.add(touched),
            None => self.debt = Some(Debt::new(before, touched)),
        }
    }
}

/// What is known of the snapshot before beside its rows.
#[derive(Clone)]
pub(crate) struct Last {
    pub(crate) results: Arc<Results>,
    /// The snapshot itself, or in a replay one before it.
    pub(crate) imaged: Arc<Imaged>,
    /// What it differs by from that one.
    pub(crate) drift: Arc<Drift>,
    /// None where they are still in the store.
    pub(crate) files: Option<Arc<Listed>>,
    /// In the order of the results; none where they are still in the store.
    pub(crate) facts: Vec<Arc<FileFacts>>,
    /// The snapshot is of the files that the commit has by the ordinary rules, and nothing else.
    pub(crate) lists_commit: bool,
    /// What the commit ignores, where it was looked for.
    pub(crate) ignore: Option<Arc<Ignore>>,
}

impl Carried {
    /// For a replay, in which nobody asks between two runs: images are made of the last run alone, by `finish`. Where a
    /// process ends before that, they are built anew by the first who asks.
    pub fn of_replay() -> Carried {
        Carried { last: None, far: Some(Far { few: 4096, part: 2 }), past: Past::default() }
    }

    /// A replay that makes images on its way as soon as more edges than these are others.
    #[cfg(test)]
    pub(crate) fn of_short_replay(few: usize) -> Carried {
        Carried { last: None, far: Some(Far { few, part: usize::MAX }), past: Past::default() }
    }

    /// Makes what the last run has left: the images of graph and names, and the search image of all runs since the last
    /// one. Runs may go on after it. Where this is not called, dropping writes what the next run hangs on, and images are
    /// left to the first who asks.
    pub fn finish(&mut self, store: &Store) -> Result<()> {
        let Some(mut held) = self.last.take() else { return Ok(()) };
        let Some(mut left) = held.left.take() else {
            self.last = Some(held);
            return Ok(());
        };
        if held.images != store.images_dir() {
            held.write_results();
            return Ok(());
        }
        let images = held.images_now(store, &mut left)?;
        held.write_results();
        let Some(imaged) = images else {
            open_search(store, &held.snapshot)?;
            return Ok(());
        };
        Writing::new(store, held.snapshot.id, Some(&imaged), None).run();
        let known = (&held.snapshot, &*imaged.graph, &*imaged.names);
        let is_made = match &left.debt {
            Some(debt) => search::make_since(store, known, debt)?,
            None => false,
        };
        if !is_made {
            open_search(store, &held.snapshot)?;
        }
        self.last = Some(held);
        Ok(())
    }

    /// To give back what thousands of files said takes a while that nobody has to wait for.
    pub fn let_go(self) {
        let _ = std::thread::Builder::new().spawn(move || drop(self));
    }

    /// Whether images are left to a later run.
    pub(crate) fn is_replay(&self) -> bool {
        self.far.is_some()
    }

    /// Whether so much has changed since the images in memory that others are to be made.
    pub(crate) fn is_far(&self, imaged: &Imaged, drift: &Drift) -> bool {
        let max = |it: &Far| it.few.max(imaged.graph.n_edges() / it.part);
        self.far.as_ref().is_none_or(|it| drift.n_edges() > max(it))
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

    /// Once a run has written its rows: what those before it have left. Nothing is held then until the run ends, so that what
    /// it goes on with is its own to change.
    pub(crate) fn take_left(&mut self, base: SnapshotId) -> Left {
        let last = self.last.take().filter(|it| it.snapshot.id == base);
        last.and_then(|it| it.left).unwrap_or_default()
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

impl Held {
    /// The images of its snapshot; none where they have to be built from all rows.
    fn images_now(&mut self, store: &Store, left: &mut Left) -> Result<Option<Arc<Imaged>>> {
        let Last { results, imaged, drift, .. } = &mut self.last;
        if imaged.snapshot.id != self.snapshot.id {
            let Some((new, touched)) = images_after(store, (imaged, drift), &self.snapshot, results)? else {
                return Ok(None);
            };
            left.add(imaged, touched);
            *imaged = new.into();
            *drift = Arc::default();
        }
        Ok(Some(imaged.clone()))
    }

    fn write_results(&self) {
        let _ = results::write(
            &results::path_in(&self.images, self.snapshot.id),
            self.snapshot.id,
            &self.last.results,
        );
    }
}

/// Images of a snapshot that is stored, and whose documents differ. None where they have to be built from all rows.
pub(crate) fn images_after(
    store: &Store,
    (before, drift): (&Imaged, &Drift),
    snapshot: &SnapshotRow,
    results: &Results,
) -> Result<Option<(Imaged, Touched)>> {
    if !imaged::is_stored(store, &before.snapshot)? {
        return Ok(None);
    }
    let rows = store.reader(snapshot)?.files()?;
    let read = rows.iter().filter(|it| it.skip_reason.is_none());
    let inputs = read.map(|it| (FileInput { id: it.id, path: &it.path, language: &it.language }, it.row));
    let files = NewFiles::new(before, inputs);
    let Some(images) = delta::images(store, (before, drift), snapshot, &files)? else { return Ok(None) };
    let touched = Touched::of(&Since { before, files: &files, images: &images });
    let Images { graph, names, .. } = images;
    Ok(Some((Imaged::new(snapshot.clone(), results, graph, names), touched)))
}

impl Drop for Carried {
    fn drop(&mut self) {
        // Images are made of rows, and there is no store here to read them from.
        if let Some(held) = self.last.as_ref().filter(|it| it.left.is_some()) {
            held.write_results();
        }
    }
}
