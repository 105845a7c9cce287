//! What a run builds on: the snapshot before it, as far as everything of it is at hand.

use std::sync::Arc;

use knowing_model::facts::FileFacts;
use knowing_model::{RULESET, Stage, UnitLayer};
use knowing_store::{FileRow, SnapshotRow, Store};

use crate::carried::{Carried, Last};
use crate::drift::Drift;
use crate::imaged::Imaged;
use crate::pipeline::ReadFile;
use crate::results::{self, FileUnits, Results};
use crate::{FileChanges, Request, Result, commit, names};

pub(crate) struct Base {
    pub(crate) snapshot: SnapshotRow,
    /// Those that were read, by path: the record counts them so.
    pub(crate) files: Vec<FileRow>,
    /// Those that were opened and left out.
    pub(crate) skipped: Vec<FileRow>,
    pub(crate) results: Arc<Results>,
    /// The snapshot itself, or in a replay one before it.
    pub(crate) imaged: Arc<Imaged>,
    /// What it differs by from that one.
    pub(crate) drift: Arc<Drift>,
    /// Those of `files`, where the run before was one of this process; else none.
    pub(crate) facts: Vec<Arc<FileFacts>>,
    /// Files are those that the commit has by the ordinary rules, and nothing else.
    pub(crate) lists_commit: bool,
}

/// Path and facts of a version that is no more.
pub(crate) type GoneFile<'a> = (&'a str, Arc<FileFacts>);

impl Base {
    /// None when there is no such snapshot, or something of it is missing: then everything is made anew.
    pub(crate) fn find(store: &Store, request: &Request<'_>, carried: &mut Carried) -> Result<Option<Base>> {
        if request.options.force {
            return Ok(None);
        }
        let Some(snapshot) = snapshot_before(store, request)? else { return Ok(None) };
        let last = carried.of(store, snapshot.id)?.or_else(|| read(store, &snapshot));
        let Some(Last { results, imaged, drift, facts, lists_commit }) = last else {
            return Ok(None);
        };
        let reader = store.reader(&snapshot)?;
        let (files, skipped): (Vec<FileRow>, Vec<FileRow>) =
            reader.files()?.into_iter().partition(|it| it.skip_reason.is_none());
        // Every unit is one that the record knows: nothing else has written into this snapshot.
        let rows = files.iter().map(|it| it.row);
        let fits = rows.eq(results.files.iter().map(|it| i64::from(it.file_row)))
            && reader.unit_rows() == results.units();
        drop(reader);
        Ok(fits.then_some(Base { snapshot, files, skipped, results, imaged, drift, facts, lists_commit }))
    }

    /// A file by its path, and its place.
    pub(crate) fn file(&self, path: &str) -> Option<(u32, &FileRow)> {
        let at = self.files.binary_search_by(|it| it.path.as_str().cmp(path)).ok()?;
        Some((at as u32, &self.files[at]))
    }

    /// What differs in the files of a run that builds on this.
    pub(crate) fn changes(&self, read: &[ReadFile]) -> FileChanges {
        let is_there = |it: &&ReadFile| self.file(&it.path).is_some();
        let new = || read.iter().filter(|it| it.same.is_none());
        let (n_new, n_changed) = (new().count(), new().filter(is_there).count());
        let n_left = read.len() - n_new + n_changed;
        FileChanges {
            added: (n_new - n_changed) as u64,
            changed: n_changed as u64,
            removed: (self.files.len() - n_left) as u64,
        }
    }

    /// The row of a unit.
    pub(crate) fn unit(&self, file: u32, layer: UnitLayer) -> u32 {
        let FileUnits { resolved, derived, .. } = self.results.files[file as usize];
        if layer == UnitLayer::Derived { derived } else { resolved }
    }

    /// Facts of the versions that are not among `same`; none when some cannot be read.
    pub(crate) fn gone(&self, store: &Store, same: &[Option<u32>]) -> Option<Vec<GoneFile<'_>>> {
        let mut is_there = vec![false; self.files.len()];
        same.iter().flatten().for_each(|it| is_there[*it as usize] = true);
        let facts = |at: usize| match self.facts.get(at) {
            Some(facts) => Some(facts.clone()),
            None => store.facts(self.files[at].row).ok().map(Arc::new),
        };
        let gone = (0..self.files.len()).filter(|it| !is_there[*it]);
        gone.map(|it| Some((self.files[it].path.as_str(), facts(it)?))).collect()
    }
}

/// What a run of another process left beside the database; none when some of it is missing.
fn read(store: &Store, snapshot: &SnapshotRow) -> Option<Last> {
    let results = results::open(store, snapshot)?;
    let (graph, names) = (commit::find_graph(store, snapshot)?, names::find_names(store, snapshot)?);
    Some(Last {
        imaged: Imaged::new(snapshot.clone(), &results, graph, names).into(),
        drift: Arc::default(),
        results: results.into(),
        facts: Vec::new(),
        lists_commit: snapshot.stage == Stage::Base,
    })
}

/// Where the checkout stands, else the newest of the repository. In a clone that lacks some objects none is chained.
fn snapshot_before(store: &Store, request: &Request<'_>) -> Result<Option<SnapshotRow>> {
    let Some(repo) = store.repo(request.url)? else { return Ok(None) };
    let worktree = match request.place {
        Some(place) => store.worktree(place)?.filter(|it| it.repo == repo.id),
        None => None,
    };
    let snapshot = match worktree {
        Some(worktree) => store.snapshot_at(worktree.head_snapshot)?,
        None => store.newest_snapshot(repo.id)?,
    };
    Ok(snapshot.filter(|it| it.ruleset == RULESET))
}
