//! The snapshots of a repository: all of them, those whose id begins so, those that are pinned.

use knowing_model::SnapshotId;
use rusqlite::{Connection, Params};

use crate::connection::Store;
use crate::error::{Fault, Result};
use crate::lookup::id_range;
use crate::snapshots::{SnapshotRow, snapshot_at};

const PINNED: &str = "pinned";

impl Store {
    /// All snapshots of a repository, those beside the chain included, oldest first.
    pub fn snapshots(&self, repo: i64) -> Result<Vec<SnapshotRow>> {
        self.read(|db| {
            all_of(db, "SELECT snapshot_row FROM snapshots WHERE repo_id = ?1 ORDER BY snapshot_row", [repo])
        })
    }

    /// Snapshots of a repository whose id begins with these hex digits, in order of ids.
    pub fn snapshots_by_prefix(&self, repo: i64, prefix: &str) -> Result<Vec<SnapshotRow>> {
        let Some((first, last)) = id_range(prefix) else { return Ok(Vec::new()) };
        self.read(|db| {
            all_of(
                db,
                "SELECT snapshot_row FROM snapshots
                 WHERE repo_id = ?1 AND snapshot_id BETWEEN ?2 AND ?3 ORDER BY snapshot_id",
                (repo, first, last),
            )
        })
    }

    pub fn is_pinned(&self, snapshot: SnapshotId) -> Result<bool> {
        self.read(|db| {
            let mut statement = db.prepare_cached("SELECT 1 FROM notes WHERE object = ?1 AND key = ?2")?;
            Ok(statement.exists((snapshot.as_bytes(), PINNED))?)
        })
    }

    /// Keeps a snapshot from being collected. False when it was pinned before. `at` is in unix seconds.
    pub fn pin(&mut self, snapshot: SnapshotId, at: i64) -> Result<bool> {
        self.write(|db| {
            let insert =
                "INSERT OR IGNORE INTO notes (object, key, value, updated_at) VALUES (?1, ?2, '', ?3)";
            Ok(db.execute(insert, (snapshot.as_bytes(), PINNED, at))? > 0)
        })
    }

    /// False when it was not pinned.
    pub fn unpin(&mut self, snapshot: SnapshotId) -> Result<bool> {
        self.write(|db| {
            let delete = "DELETE FROM notes WHERE object = ?1 AND key = ?2";
            Ok(db.execute(delete, (snapshot.as_bytes(), PINNED))? > 0)
        })
    }
}

fn all_of(
    db: &Connection,
    query: &str,
    parameters: impl Params,
) -> std::result::Result<Vec<SnapshotRow>, Fault> {
    let mut statement = db.prepare_cached(query)?;
    let rows: Vec<i64> =
        statement.query_map(parameters, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let missing = |row: i64| Fault::damaged(format!("there is no snapshot row {row}"));
    rows.into_iter().map(|row| snapshot_at(db, row)?.ok_or_else(|| missing(row))).collect()
}
