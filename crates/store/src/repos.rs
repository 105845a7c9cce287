//! Repositories and their checkouts.

use knowing_model::identity::repo_id;
use knowing_model::{Hash, SnapshotId};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::connection::Store;
use crate::error::{Fault, Result};
use crate::snapshots::SnapshotRow;

/// A repository of the database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepoRow {
    pub id: i64,
    pub url: String,
    /// `sha1` or `sha256`: git's object format.
    pub object_format: String,
    /// The ruleset of the last index run.
    pub ruleset: u32,
    pub created_at: i64,
}

/// A checkout and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorktreeRow {
    pub path: String,
    pub repo: i64,
    /// Row of its current snapshot.
    pub head_snapshot: i64,
    pub head_commit: Vec<u8>,
    pub branch: Option<String>,
    pub last_seen: i64,
}

/// The checkout a snapshot was made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewWorktree<'a> {
    pub path: &'a str,
    pub branch: Option<&'a str>,
}

impl Store {
    /// All repositories, by url.
    pub fn repos(&self) -> Result<Vec<RepoRow>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT repo_id, url, object_format, ruleset, created_at FROM repos ORDER BY url",
            )?;
            let rows = statement.query_map([], repo_of)?.collect::<rusqlite::Result<_>>()?;
            Ok(rows)
        })
    }

    pub fn repo(&self, url: &str) -> Result<Option<RepoRow>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT repo_id, url, object_format, ruleset, created_at FROM repos WHERE url = ?1",
            )?;
            Ok(statement.query_row([url], repo_of).optional()?)
        })
    }

    pub fn worktree(&self, path: &str) -> Result<Option<WorktreeRow>> {
        self.read(|db| worktree(db, path))
    }

    /// The checkouts of a repository, by path.
    pub fn worktrees(&self, repo: i64) -> Result<Vec<WorktreeRow>> {
        self.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT path FROM worktrees WHERE repo_id = ?1 ORDER BY path")?;
            let paths: Vec<String> =
                statement.query_map([repo], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            paths.iter().filter_map(|it| worktree(db, it).transpose()).collect()
        })
    }

    /// The snapshots that checkouts stand on.
    pub fn heads(&self) -> Result<Vec<SnapshotId>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT DISTINCT s.snapshot_id FROM worktrees w JOIN snapshots s ON s.snapshot_row = w.head_snapshot",
            )?;
            let heads = statement.query_map([], |row| Ok(SnapshotId(Hash(row.get(0)?))))?;
            Ok(heads.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Lets a checkout stand on a snapshot. `at` is in unix seconds.
    pub fn set_worktree(&mut self, new: NewWorktree<'_>, snapshot: &SnapshotRow, at: i64) -> Result<()> {
        let row = WorktreeRow {
            path: new.path.to_owned(),
            repo: snapshot.repo,
            head_snapshot: snapshot.row,
            head_commit: snapshot.commit.clone(),
            branch: new.branch.map(str::to_owned),
            last_seen: at,
        };
        self.write(|db| upsert_worktree(db, &row))
    }
}

pub(crate) fn worktree(db: &Connection, path: &str) -> std::result::Result<Option<WorktreeRow>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT path, repo_id, head_snapshot, head_commit, branch, last_seen FROM worktrees WHERE path = ?1",
    )?;
    let row = statement.query_row([path], |row| {
        Ok(WorktreeRow {
            path: row.get(0)?,
            repo: row.get(1)?,
            head_snapshot: row.get(2)?,
            head_commit: row.get(3)?,
            branch: row.get(4)?,
            last_seen: row.get(5)?,
        })
    });
    Ok(row.optional()?)
}

/// What an index run states about its repository.
pub(crate) struct NewRepo<'a> {
    pub(crate) url: &'a str,
    pub(crate) object_format: &'a str,
    pub(crate) ruleset: u32,
    pub(crate) at: i64,
}

/// The row of a repository, made when it is new.
pub(crate) fn upsert_repo(db: &Connection, new: &NewRepo<'_>) -> std::result::Result<i64, Fault> {
    let mut statement = db.prepare_cached(
        "INSERT INTO repos (hash, url, object_format, ruleset, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (url) DO UPDATE SET object_format = ?3, ruleset = ?4
         RETURNING repo_id",
    )?;
    let hash = repo_id(new.url);
    let row = (hash.as_bytes(), new.url, new.object_format, new.ruleset, new.at);
    Ok(statement.query_row(row, |row| row.get(0))?)
}

pub(crate) fn upsert_worktree(db: &Connection, row: &WorktreeRow) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare_cached(
        "INSERT INTO worktrees (path, repo_id, head_snapshot, head_commit, branch, last_seen)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (path) DO UPDATE
         SET repo_id = ?2, head_snapshot = ?3, head_commit = ?4, branch = ?5, last_seen = ?6",
    )?;
    statement.execute((
        &row.path,
        row.repo,
        row.head_snapshot,
        &row.head_commit,
        &row.branch,
        row.last_seen,
    ))?;
    Ok(())
}

fn repo_of(row: &Row<'_>) -> rusqlite::Result<RepoRow> {
    Ok(RepoRow {
        id: row.get(0)?,
        url: row.get(1)?,
        object_format: row.get(2)?,
        ruleset: row.get(3)?,
        created_at: row.get(4)?,
    })
}
