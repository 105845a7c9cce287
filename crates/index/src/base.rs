//! What a run builds on: the snapshot before it, as far as everything of it is at hand.

use knowing_graph::Graph;
use knowing_model::facts::FileFacts;
use knowing_model::{RULESET, UnitLayer};
use knowing_search::Names;
use knowing_store::{FileRow, SnapshotRow, Store};

use crate::commit::FileList;
use crate::results::{self, FileUnits, Results};
use crate::{Request, Result, commit, names};

pub(crate) struct Base {
    pub(crate) snapshot: SnapshotRow,
    /// Those that were read, by path: the record counts them so.
    pub(crate) files: Vec<FileRow>,
    /// Those that were opened and left out.
    pub(crate) skipped: Vec<FileRow>,
    pub(crate) results: Results,
    pub(crate) graph: Graph,
    pub(crate) names: Names,
}

impl Base {
    /// None when there is no such snapshot, or something of it is missing: then everything is made anew.
    pub(crate) fn find(store: &Store, request: &Request<'_>) -> Result<Option<Base>> {
        if request.options.force {
            return Ok(None);
        }
        let Some(snapshot) = snapshot_before(store, request)? else { return Ok(None) };
        let Some(results) = results::open(store, &snapshot) else { return Ok(None) };
        let images = (commit::find_graph(store, &snapshot), names::find_names(store, &snapshot));
        let (Some(graph), Some(names)) = images else { return Ok(None) };
        let reader = store.reader(&snapshot)?;
        let (files, skipped): (Vec<FileRow>, Vec<FileRow>) =
            reader.files()?.into_iter().partition(|it| it.skip_reason.is_none());
        // Every unit is one that the record knows: nothing else has written into this snapshot.
        let rows = files.iter().map(|it| it.row);
        let fits = rows.eq(results.files.iter().map(|it| i64::from(it.file_row)))
            && reader.unit_rows() == results.units();
        drop(reader);
        Ok(fits.then_some(Base { snapshot, files, skipped, results, graph, names }))
    }

    /// A file by its path, and its place.
    pub(crate) fn file(&self, path: &str) -> Option<(u32, &FileRow)> {
        let at = self.files.binary_search_by(|it| it.path.as_str().cmp(path)).ok()?;
        Some((at as u32, &self.files[at]))
    }

    pub(crate) fn file_list(&self) -> FileList {
        self.files.iter().map(|it| (it.path.clone(), it.blob.clone())).collect()
    }

    /// The row of a unit.
    pub(crate) fn unit(&self, file: u32, layer: UnitLayer) -> u32 {
        let FileUnits { resolved, derived, .. } = self.results.files[file as usize];
        if layer == UnitLayer::Derived { derived } else { resolved }
    }

    /// Facts of the versions that are not among `same`; none when some cannot be read.
    pub(crate) fn gone(&self, store: &Store, same: &[Option<u32>]) -> Option<Vec<(&str, FileFacts)>> {
        let mut is_there = vec![false; self.files.len()];
        same.iter().flatten().for_each(|it| is_there[*it as usize] = true);
        let gone = self.files.iter().zip(is_there).filter(|it| !it.1).map(|it| it.0);
        gone.map(|it| Some((it.path.as_str(), store.facts(it.row).ok()?))).collect()
    }
}

/// Where the checkout stands, else the newest of the repository.
fn snapshot_before(store: &Store, request: &Request<'_>) -> Result<Option<SnapshotRow>> {
    let Some(repo) = store.repo(request.url)? else { return Ok(None) };
    let worktree = match request.place {
        Some(place) => store.worktree(place)?.filter(|it| it.repo == repo.id),
        None => None,
    };
    let snapshot = match worktree {
        Some(worktree) => store.snapshot_at(worktree.head_snapshot)?,
        None => store.latest_snapshot(repo.id)?,
    };
    Ok(snapshot.filter(|it| it.ruleset == RULESET))
}
