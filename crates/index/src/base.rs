//! What a run builds on: the snapshot before it, as far as everything of it is at hand.

use std::sync::Arc;

use knowing_model::facts::FileFacts;
use knowing_model::{FileId, RULESET, Stage, UnitLayer};
use knowing_store::{FileRow, SnapshotRow, Store};
use knowing_vcs::{BlobId, Ignore};

use crate::carried::{Carried, Last};
use crate::drift::Drift;
use crate::imaged::Imaged;
use crate::pipeline::{Files, ReadFile};
use crate::results::{self, FileUnits, Results};
use crate::{FileChanges, Request, Result, commit, names};

pub(crate) struct Base {
    pub(crate) snapshot: SnapshotRow,
    pub(crate) files: Arc<Listed>,
    pub(crate) results: Arc<Results>,
    /// The snapshot itself, or in a replay one before it.
    pub(crate) imaged: Arc<Imaged>,
    /// What it differs by from that one.
    pub(crate) drift: Arc<Drift>,
    /// Those of `files`, where the run before was one of this process; else none.
    pub(crate) facts: Vec<Arc<FileFacts>>,
    /// Files are those that the commit has by the ordinary rules, and nothing else.
    pub(crate) lists_commit: bool,
    /// What the commit ignores, where it was looked for.
    pub(crate) ignore: Option<Arc<Ignore>>,
}

/// Files of a snapshot, each list by path.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Those that were read: the record counts them so.
    pub(crate) read: Vec<Version>,
    /// Those that were opened and left out, and why.
    pub(crate) skipped: Vec<(Version, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) row: i64,
    pub(crate) id: FileId,
    pub(crate) path: Arc<str>,
    pub(crate) blob: BlobId,
    /// None where nobody takes such files any more.
    pub(crate) language: Option<&'static str>,
}

impl Listed {
    /// `rows` are those of all files, which were read first.
    pub(crate) fn of(files: &Files, rows: &[i64]) -> Listed {
        let (of_read, of_skipped) = rows.split_at(files.read.len());
        let read = files.read.iter().zip(of_read).map(|(it, row)| Version {
            row: *row,
            id: it.id,
            path: it.path.clone(),
            blob: it.blob,
            language: Some(it.language),
        });
        let skipped = files.skipped.iter().zip(of_skipped).map(|(it, row)| {
            let language = Some(it.language);
            let version = Version { row: *row, id: it.id, path: it.path.clone(), blob: it.blob, language };
            (version, it.reason.clone())
        });
        Listed { read: read.collect(), skipped: skipped.collect() }
    }

    /// None when a row cannot be one of ours.
    fn stored(rows: Vec<FileRow>) -> Option<Listed> {
        let mut listed = Listed::default();
        for row in rows {
            let blob = BlobId::from_bytes(&row.blob)?;
            let language = knowing_extract::accepts(&row.path);
            let version = Version { row: row.row, id: row.id, path: row.path.into(), blob, language };
            match row.skip_reason {
                None => listed.read.push(version),
                Some(reason) => listed.skipped.push((version, reason)),
            }
        }
        Some(listed)
    }

    fn rows(&self) -> Vec<i64> {
        let mut rows: Vec<i64> =
            self.read.iter().chain(self.skipped.iter().map(|it| &it.0)).map(|it| it.row).collect();
        rows.sort_unstable();
        rows
    }
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
        let Some(Last { results, imaged, drift, files, facts, lists_commit, ignore }) = last else {
            return Ok(None);
        };
        let reader = store.reader(&snapshot)?;
        let files = match files {
            Some(files) => Some(files),
            None => Listed::stored(reader.files()?).map(Arc::new),
        };
        let Some(files) = files else { return Ok(None) };
        // Every unit is one that the record knows: nothing else has written into this snapshot.
        let rows = files.read.iter().map(|it| it.row);
        let fits = rows.eq(results.files.iter().map(|it| i64::from(it.file_row)))
            && reader.file_rows().eq(files.rows())
            && reader.unit_rows() == results.units();
        drop(reader);
        Ok(fits.then_some(Base { snapshot, files, results, imaged, drift, facts, lists_commit, ignore }))
    }

    /// A file by its path, and its place.
    pub(crate) fn file(&self, path: &str) -> Option<(u32, &Version)> {
        let at = self.files.read.binary_search_by(|it| (*it.path).cmp(path)).ok()?;
        Some((at as u32, &self.files.read[at]))
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
            removed: (self.files.read.len() - n_left) as u64,
        }
    }

    /// The row of a unit.
    pub(crate) fn unit(&self, file: u32, layer: UnitLayer) -> u32 {
        let FileUnits { resolved, derived, .. } = self.results.files[file as usize];
        if layer == UnitLayer::Derived { derived } else { resolved }
    }

    /// Facts of the versions that are not among `same`; none when some cannot be read.
    pub(crate) fn gone(&self, store: &Store, same: &[Option<u32>]) -> Option<Vec<GoneFile<'_>>> {
        let mut is_there = vec![false; self.files.read.len()];
        same.iter().flatten().for_each(|it| is_there[*it as usize] = true);
        let facts = |at: usize| match self.facts.get(at) {
            Some(facts) => Some(facts.clone()),
            None => store.facts(self.files.read[at].row).ok().map(Arc::new),
        };
        let gone = (0..self.files.read.len()).filter(|it| !is_there[*it]);
        gone.map(|it| Some((&*self.files.read[it].path, facts(it)?))).collect()
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
        files: None,
        facts: Vec::new(),
        ignore: None,
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
