//! Snapshots: what holds at a commit, as sets of file and unit rows.

use std::collections::BTreeMap;

use knowing_model::identity::{SnapshotIdentity, snapshot_id};
use knowing_model::{Hash, SnapshotId, Stage, Symbol, Unit};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

use crate::connection::Store;
use crate::error::{Fault, Result};
use crate::files::{NewFile, write_files};
use crate::graph_rows::GraphRows;
use crate::packed::{compress, decompress, pack_set, unpack_set};
use crate::repos::{NewRepo, NewWorktree, WorktreeRow, upsert_repo, upsert_worktree, worktree};
use crate::units::{Target, write_units};

/// Everything an index run has found. Nodes, edges and sites name symbols by their position in `symbols`, units name
/// files by their position in `files`.
#[derive(Clone, Debug)]
pub struct NewSnapshot<'a> {
    pub url: &'a str,
    pub object_format: &'a str,
    pub commit: &'a [u8],
    pub stage: Stage,
    pub ruleset: u32,
    pub root: Hash,
    /// Digest of what is not committed; none for a commit.
    pub dirty: Option<Hash>,
    /// In byte order of the packages.
    pub package_roots: &'a [(String, Hash)],
    pub worktree: Option<NewWorktree<'a>>,
    pub files: &'a [NewFile<'a>],
    /// Those that `units` speak of.
    pub symbols: &'a [Symbol],
    pub units: &'a [Unit],
    /// Rows of units that are stored and belong to this snapshot as they are.
    pub kept_units: &'a [u32],
    pub counts: Counts,
    /// Unix seconds.
    pub created_at: i64,
}

/// Totals of a snapshot. Stored as JSON, so that a later count needs no migration.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub files: u64,
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    pub skipped: BTreeMap<String, u64>,
    pub edges_by_provenance: BTreeMap<String, u64>,
    pub unresolved_by_reason: BTreeMap<String, u64>,
}

/// What a write did.
#[derive(Clone, Debug)]
pub struct Written {
    pub snapshot: SnapshotRow,
    /// Rows of the new snapshot's `files`, in their order; none when the snapshot was there already.
    pub files: Option<Vec<i64>>,
    /// Rows of the new snapshot's `units`, in their order; none when the snapshot was there already.
    pub units: Option<Vec<u32>>,
    /// What `Reader::graph_rows` would read back, where all of it was written just now.
    pub rows: Option<GraphRows>,
}

/// A stored snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnapshotRow {
    pub row: i64,
    pub id: SnapshotId,
    pub repo: i64,
    pub commit: Vec<u8>,
    pub stage: Stage,
    pub ruleset: u32,
    pub root: Hash,
    pub dirty: Option<Hash>,
    /// Row of the snapshot it follows.
    pub parent: Option<i64>,
    pub generation: u32,
    /// Part of the history of snapshots; a work tree's is not.
    pub chained: bool,
    pub created_at: i64,
    pub counts: Counts,
}

impl Store {
    /// The base snapshot of a commit, if it was made with this ruleset.
    pub fn snapshot_of_commit(&self, repo: i64, commit: &[u8], ruleset: u32) -> Result<Option<SnapshotRow>> {
        let condition = "repo_id = ?1 AND commit_id = ?2 AND ruleset = ?3 AND stage = 'base'
                         ORDER BY snapshot_row DESC LIMIT 1";
        self.read(|db| snapshot_where(db, condition, (repo, commit, ruleset)))
    }

    /// The snapshot of a working tree: of a commit and of what differs from it.
    pub fn snapshot_of_work_tree(
        &self,
        repo: i64,
        commit: &[u8],
        ruleset: u32,
        dirty: Hash,
    ) -> Result<Option<SnapshotRow>> {
        let condition =
            "repo_id = ?1 AND commit_id = ?2 AND ruleset = ?3 AND stage = 'worktree' AND dirty = ?4
                         ORDER BY snapshot_row DESC LIMIT 1";
        self.read(|db| snapshot_where(db, condition, (repo, commit, ruleset, dirty.0)))
    }

    /// The chained snapshot that was made last.
    pub fn latest_snapshot(&self, repo: i64) -> Result<Option<SnapshotRow>> {
        self.read(|db| latest(db, repo))
    }

    /// The snapshot that was made last, of whatever tree.
    pub fn newest_snapshot(&self, repo: i64) -> Result<Option<SnapshotRow>> {
        self.read(|db| snapshot_where(db, "repo_id = ?1 ORDER BY snapshot_row DESC LIMIT 1", [repo]))
    }

    /// The newest snapshot of what differs from a commit, or lacks some of it.
    pub fn newest_beside_commit(
        &self,
        repo: i64,
        commit: &[u8],
        ruleset: u32,
    ) -> Result<Option<SnapshotRow>> {
        let condition =
            "repo_id = ?1 AND commit_id = ?2 AND ruleset = ?3 AND stage = 'worktree' AND dirty IS NOT NULL
                         ORDER BY snapshot_row DESC LIMIT 1";
        self.read(|db| snapshot_where(db, condition, (repo, commit, ruleset)))
    }

    pub fn snapshot(&self, id: SnapshotId) -> Result<Option<SnapshotRow>> {
        self.read(|db| snapshot_where(db, "snapshot_id = ?1", [id.as_bytes()]))
    }

    /// A snapshot by its row, as worktrees and children name it.
    pub fn snapshot_at(&self, row: i64) -> Result<Option<SnapshotRow>> {
        self.read(|db| snapshot_at(db, row))
    }

    /// (package, root) in byte order of the packages.
    pub fn package_roots(&self, snapshot: &SnapshotRow) -> Result<Vec<(String, Hash)>> {
        self.read(|db| {
            let packed: Vec<u8> = db.query_row(
                "SELECT package_roots FROM snapshots WHERE snapshot_row = ?1",
                [snapshot.row],
                |row| row.get(0),
            )?;
            let plain = decompress(&packed);
            let roots: Option<Vec<(String, [u8; 32])>> = plain.and_then(|it| postcard::from_bytes(&it).ok());
            let roots = roots.ok_or_else(|| Fault::damaged("package roots cannot be read"))?;
            Ok(roots.into_iter().map(|(package, root)| (package, Hash(root))).collect())
        })
    }

    /// Writes everything in one transaction. What is stored already, down to the snapshot itself, is not written again.
    pub fn write_snapshot(&mut self, new: &NewSnapshot<'_>) -> Result<Written> {
        self.first_write(|store| store.write(|db| write(db, new)))
    }
}

fn write(db: &Connection, new: &NewSnapshot<'_>) -> std::result::Result<Written, Fault> {
    let repo = upsert_repo(
        db,
        &NewRepo { url: new.url, object_format: new.object_format, ruleset: new.ruleset, at: new.created_at },
    )?;
    let id = snapshot_id(SnapshotIdentity {
        url: new.url,
        commit: new.commit,
        stage: new.stage,
        ruleset: new.ruleset,
        root: new.root,
        dirty: new.dirty,
    });
    let written = match snapshot_where(db, "snapshot_id = ?1", [id.as_bytes()])? {
        Some(stored) => Written { snapshot: stored, files: None, units: None, rows: None },
        None => write_new(db, repo, id, new)?,
    };
    let snapshot = &written.snapshot;
    if let Some(worktree) = new.worktree
        && snapshot.chained
    {
        let row = WorktreeRow {
            path: worktree.path.to_owned(),
            repo,
            head_snapshot: snapshot.row,
            head_commit: new.commit.to_owned(),
            branch: worktree.branch.map(str::to_owned),
            last_seen: new.created_at,
        };
        upsert_worktree(db, &row)?;
    }
    Ok(written)
}

fn write_new(
    db: &Connection,
    repo: i64,
    id: SnapshotId,
    new: &NewSnapshot<'_>,
) -> std::result::Result<Written, Fault> {
    let parent = parent_of(db, repo, new)?;
    let file_rows = write_files(db, repo, new.ruleset, new.files)?;
    let target = Target { repo, known_repo: parent.is_some(), file_rows: &file_rows, symbols: new.symbols };
    let (units, rows) = write_units(db, &target, new.units)?;
    let unit_set: RoaringBitmap = units.iter().chain(new.kept_units).copied().collect();
    // With units that were there before, these are not all rows.
    let rows = rows.filter(|_| new.kept_units.is_empty());
    let file_set = row_set(&file_rows)?;
    let package_roots: Vec<(&str, [u8; 32])> =
        new.package_roots.iter().map(|(package, root)| (package.as_str(), root.0)).collect();
    let package_roots =
        postcard::to_stdvec(&package_roots).expect("names and bytes are what postcard can write");
    let counts = serde_json::to_string(&new.counts).expect("numbers under names are what JSON can write");
    let mut snapshot = SnapshotRow {
        row: 0,
        id,
        repo,
        commit: new.commit.to_owned(),
        stage: new.stage,
        ruleset: new.ruleset,
        root: new.root,
        dirty: new.dirty,
        parent: parent.as_ref().map(|it| it.row),
        generation: parent.as_ref().map_or(0, |it| it.generation + 1),
        chained: new.stage != Stage::Worktree,
        created_at: new.created_at,
        counts: new.counts.clone(),
    };
    let mut insert = db.prepare_cached(
        "INSERT INTO snapshots
         (snapshot_id, repo_id, commit_id, stage, ruleset, root, dirty, parent, generation, chained,
          created_at, counts, file_set, unit_set, package_roots)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    snapshot.row = insert.insert((
        id.as_bytes(),
        repo,
        new.commit,
        new.stage.name(),
        new.ruleset,
        new.root.as_bytes(),
        new.dirty.map(|it| it.0),
        snapshot.parent,
        snapshot.generation,
        snapshot.chained,
        new.created_at,
        counts,
        pack_set(&file_set),
        pack_set(&unit_set),
        compress(&package_roots),
    ))?;
    Ok(Written { snapshot, files: Some(file_rows), units: Some(units), rows })
}

fn row_set(rows: &[i64]) -> std::result::Result<RoaringBitmap, Fault> {
    rows.iter().map(|&it| u32::try_from(it).map_err(|_| Fault::TooLarge)).collect()
}

/// What a new snapshot follows: where its checkout stood, else the newest of the repository.
fn parent_of(
    db: &Connection,
    repo: i64,
    new: &NewSnapshot<'_>,
) -> std::result::Result<Option<SnapshotRow>, Fault> {
    if let Some(new_worktree) = new.worktree
        && let Some(stored) = worktree(db, new_worktree.path)?
        && stored.repo == repo
        && let Some(snapshot) = snapshot_at(db, stored.head_snapshot)?
        && snapshot.chained
    {
        return Ok(Some(snapshot));
    }
    latest(db, repo)
}

fn latest(db: &Connection, repo: i64) -> std::result::Result<Option<SnapshotRow>, Fault> {
    snapshot_where(db, "repo_id = ?1 AND chained ORDER BY snapshot_row DESC LIMIT 1", [repo])
}

pub(crate) fn snapshot_at(db: &Connection, row: i64) -> std::result::Result<Option<SnapshotRow>, Fault> {
    snapshot_where(db, "snapshot_row = ?1", [row])
}

/// File and unit rows of a snapshot.
pub(crate) fn sets_of(
    db: &Connection,
    snapshot: &SnapshotRow,
) -> std::result::Result<(RoaringBitmap, RoaringBitmap), Fault> {
    let mut statement = db.prepare_cached(
        "SELECT file_set, unit_set FROM snapshots WHERE snapshot_row = ?1 AND snapshot_id = ?2",
    )?;
    let packed = statement
        .query_row((snapshot.row, snapshot.id.as_bytes()), |row| {
            Ok((unpack_set(row.get_ref(0)?.as_blob()?), unpack_set(row.get_ref(1)?.as_blob()?)))
        })
        .optional()?;
    match packed {
        Some((Some(files), Some(units))) => Ok((files, units)),
        Some(_) => Err(Fault::damaged(format!("the row sets of snapshot {} cannot be read", snapshot.id))),
        None => Err(Fault::damaged(format!("snapshot {} is not stored", snapshot.id))),
    }
}

fn snapshot_where(
    db: &Connection,
    condition: &str,
    parameters: impl rusqlite::Params,
) -> std::result::Result<Option<SnapshotRow>, Fault> {
    let mut statement = db.prepare_cached(&format!(
        "SELECT snapshot_row, snapshot_id, repo_id, commit_id, stage, ruleset, root, dirty, parent, generation,
                chained, created_at, counts
         FROM snapshots WHERE {condition}"
    ))?;
    statement.query_row(parameters, |row| Ok(snapshot_of(row))).optional()?.transpose()
}

fn snapshot_of(row: &Row<'_>) -> std::result::Result<SnapshotRow, Fault> {
    let stage: String = row.get(4)?;
    let counts: String = row.get(12)?;
    Ok(SnapshotRow {
        row: row.get(0)?,
        id: SnapshotId(Hash(row.get(1)?)),
        repo: row.get(2)?,
        commit: row.get(3)?,
        stage: Stage::from_name(&stage)
            .ok_or_else(|| Fault::damaged(format!("no stage is called `{stage}`")))?,
        ruleset: row.get(5)?,
        root: Hash(row.get(6)?),
        dirty: row.get::<_, Option<[u8; 32]>>(7)?.map(Hash),
        parent: row.get(8)?,
        generation: row.get(9)?,
        chained: row.get(10)?,
        created_at: row.get(11)?,
        counts: serde_json::from_str(&counts).map_err(|it| Fault::damaged(format!("counts: {it}")))?,
    })
}
