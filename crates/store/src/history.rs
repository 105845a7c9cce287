//! What commits said of the code, and which commits a snapshot's text comes from.

use std::sync::Arc;

use knowing_model::{Hash, identity};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use crate::check_texts::{HistoryColumns, commit_sum};
use crate::connection::Store;
use crate::error::{Fault, Result};
use crate::packed::{pack_rows, unpack_rows};
use crate::snapshots::SnapshotRow;

/// A file that a commit changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Touch {
    pub path: String,
    /// Where a renamed file was before.
    pub old_path: Option<String>,
    /// Paths of declarations; an empty one is the file's own top level.
    pub names: Vec<String>,
}

/// A commit as it was mined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MinedCommit {
    /// Git's raw object id.
    pub id: Vec<u8>,
    /// Unix seconds.
    pub time: i64,
    pub message: String,
    /// Empty when the commit says nothing of code.
    pub touches: Vec<Touch>,
}

/// The history of a new snapshot.
#[derive(Clone, Copy, Debug)]
pub struct NewHistory<'a> {
    /// Version of the rules that commits were mined by.
    pub rules: u32,
    /// Unix seconds.
    pub commit_time: i64,
    /// The walk ended where the clone does.
    pub is_cut: bool,
    /// All commits of the walk, newest first.
    pub walked: &'a [Walked<'a>],
    /// Those that were not known.
    pub mined: &'a [MinedCommit],
}

/// A commit of a walk.
#[derive(Clone, Copy, Debug)]
pub enum Walked<'a> {
    Id(&'a [u8]),
    /// From `Store::walked` of another snapshot.
    Row(u32),
    /// As it was found in the walk of another snapshot.
    Found(&'a FoundCommit),
}

/// What was found of a commit that was mined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundCommit {
    pub id: Arc<[u8]>,
    pub row: u32,
    pub says_something: bool,
}

/// The history of a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HistoryRow {
    /// Of the rules and of the ids of the commits, newest first.
    pub digest: Hash,
    pub commit_time: i64,
    pub is_cut: bool,
    /// How many commits it has that say something.
    pub n_commits: u32,
}

/// The commits of two snapshots, each once, and their places in either history, newest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TwoHistories {
    pub commits: Vec<MinedCommit>,
    pub one: Vec<u32>,
    pub other: Vec<u32>,
}

impl Store {
    /// Which of these commits were mined by these rules, in their order.
    pub fn are_mined(&self, rules: u32, commits: &[&[u8]]) -> Result<Vec<bool>> {
        self.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT 1 FROM commits WHERE commit_id = ?1 AND rules = ?2")?;
            let known = commits.iter().map(|it| statement.exists((it, rules)));
            Ok(known.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Keeps what was mined and says which commits a snapshot has. A snapshot that has a history keeps it, unless it was
    /// of other rules, or cut short and the new one is longer: then the clone that knows more counts. Gives the commits of
    /// the walk, as they were found, too.
    pub fn write_history(
        &mut self,
        snapshot: &SnapshotRow,
        new: &NewHistory<'_>,
    ) -> Result<(HistoryRow, Vec<FoundCommit>)> {
        self.write(|db| {
            write_commits(db, new)?;
            write_history(db, snapshot, new)
        })
    }

    /// Rows of all commits that a snapshot's history was made of, newest first; none when some were not mined.
    pub fn walked(&self, snapshot: &SnapshotRow, rules: u32) -> Result<Option<Vec<u32>>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT walked FROM histories WHERE snapshot_row = ?1 AND rules = ?2 AND walked > x''",
            )?;
            let packed: Option<Vec<u8>> =
                statement.query_row((snapshot.row, rules), |row| row.get(0)).optional()?;
            packed.map(|it| unpack_rows(&it).ok_or_else(|| damaged(snapshot))).transpose()
        })
    }

    /// None when the snapshot has none by these rules.
    pub fn history(&self, snapshot: &SnapshotRow, rules: u32) -> Result<Option<HistoryRow>> {
        self.read(|db| history(db, snapshot, rules))
    }

    /// The commits of a snapshot that say something, newest first.
    pub fn commits_of(&self, snapshot: &SnapshotRow, rules: u32) -> Result<Vec<MinedCommit>> {
        self.read(|db| rows_of(db, snapshot, rules)?.iter().map(|it| commit_at(db, snapshot, *it)).collect())
    }

    /// The commits of two snapshots, which have most of them in common.
    pub fn commits_of_both(
        &self,
        one: &SnapshotRow,
        other: &SnapshotRow,
        rules: u32,
    ) -> Result<TwoHistories> {
        self.read(|db| {
            let rows = [rows_of(db, one, rules)?, rows_of(db, other, rules)?];
            let mut all: Vec<u32> = rows.concat();
            all.sort_unstable();
            all.dedup();
            let commits = all.iter().map(|it| commit_at(db, other, *it));
            let commits = commits.collect::<std::result::Result<_, Fault>>()?;
            let [one, other] =
                rows.map(|it| it.iter().map(|row| all.partition_point(|it| it < row) as u32).collect());
            Ok(TwoHistories { commits, one, other })
        })
    }
}

fn rows_of(db: &Connection, snapshot: &SnapshotRow, rules: u32) -> std::result::Result<Vec<u32>, Fault> {
    let mut list =
        db.prepare_cached("SELECT commit_rows FROM histories WHERE snapshot_row = ?1 AND rules = ?2")?;
    let packed: Option<Vec<u8>> = list.query_row((snapshot.row, rules), |row| row.get(0)).optional()?;
    unpack_rows(&packed.unwrap_or_default()).ok_or_else(|| damaged(snapshot))
}

fn commit_at(
    db: &Connection,
    snapshot: &SnapshotRow,
    commit_row: u32,
) -> std::result::Result<MinedCommit, Fault> {
    let mut statement =
        db.prepare_cached("SELECT commit_id, time, message, touches FROM commits WHERE commit_row = ?1")?;
    let mut rows = statement.query([commit_row])?;
    let row = rows.next()?.ok_or_else(|| damaged(snapshot))?;
    let touches = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
    Ok(MinedCommit {
        id: row.get(0)?,
        time: row.get(1)?,
        message: row.get(2)?,
        touches: postcard::from_bytes(touches).map_err(|_| damaged(snapshot))?,
    })
}

fn damaged(snapshot: &SnapshotRow) -> Fault {
    Fault::damaged(format!("the history of snapshot {} cannot be read", snapshot.id))
}

fn write_commits(db: &Connection, new: &NewHistory<'_>) -> std::result::Result<(), Fault> {
    let mut insert = db.prepare_cached(
        "INSERT INTO commits (commit_id, rules, time, message, touches, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (commit_id) DO UPDATE SET rules = ?2, time = ?3, message = ?4, touches = ?5, sum = ?6",
    )?;
    for commit in new.mined {
        let touches = match commit.touches.is_empty() {
            true => Vec::new(),
            false => {
                postcard::to_stdvec(&commit.touches).expect("names and lists are what postcard can write")
            }
        };
        let sum = commit_sum(&commit.id, new.rules, commit.time, &commit.message, &touches);
        insert.execute((&commit.id, new.rules, commit.time, &commit.message, touches, sum))?;
    }
    Ok(())
}

fn write_history(
    db: &Connection,
    snapshot: &SnapshotRow,
    new: &NewHistory<'_>,
) -> std::result::Result<(HistoryRow, Vec<FoundCommit>), Fault> {
    let mut find = db.prepare_cached(
        "SELECT commit_row, touches > x'' FROM commits WHERE commit_id = ?1 AND rules = ?2",
    )?;
    let mut find_row =
        db.prepare_cached("SELECT commit_id, touches > x'' FROM commits WHERE commit_row = ?1")?;
    let mut found: Vec<FoundCommit> = Vec::with_capacity(new.walked.len());
    // Every commit that is told by its id is there.
    let mut is_known = true;
    for commit in new.walked {
        match *commit {
            Walked::Found(commit) => found.push(commit.clone()),
            Walked::Row(row) => {
                let it = find_row.query_row([row], |it| Ok((it.get::<_, Vec<u8>>(0)?, it.get(1)?)));
                if let Some((id, says_something)) = it.optional()? {
                    found.push(FoundCommit { id: id.into(), row, says_something });
                }
            }
            Walked::Id(id) => {
                let it = find.query_row((id, new.rules), |it| Ok((it.get(0)?, it.get(1)?)));
                match it.optional()? {
                    Some((row, says_something)) => {
                        found.push(FoundCommit { id: id.into(), row, says_something });
                    }
                    None => is_known = false,
                }
            }
        }
    }
    let says_something = || found.iter().filter(|it| it.says_something);
    let n_commits = says_something().count();
    let row = HistoryRow {
        digest: identity::history_digest(new.rules, says_something().map(|it| &*it.id)),
        commit_time: new.commit_time,
        is_cut: new.is_cut,
        n_commits: u32::try_from(n_commits).map_err(|_| Fault::TooLarge)?,
    };
    if let Some(stored) = history(db, snapshot, new.rules)?
        && (!stored.is_cut || stored.n_commits >= row.n_commits)
    {
        return Ok((stored, found));
    }
    let mut packed = Vec::new();
    pack_rows(says_something().map(|it| it.row), &mut packed);
    let mut packed_walk = Vec::new();
    if is_known && !new.is_cut {
        pack_rows(found.iter().map(|it| it.row), &mut packed_walk);
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO histories
         (snapshot_row, rules, digest, commit_time, is_cut, n_commits, commit_rows, walked, sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (snapshot_row) DO UPDATE SET rules = ?2, digest = ?3, commit_time = ?4, is_cut = ?5,
             n_commits = ?6, commit_rows = ?7, walked = ?8, sum = ?9",
    )?;
    let columns = HistoryColumns {
        rules: new.rules,
        digest: row.digest.as_bytes(),
        commit_time: row.commit_time,
        is_cut: row.is_cut,
        n_commits: row.n_commits,
        commit_rows: &packed,
        walked: &packed_walk,
    };
    let sum = columns.sum();
    insert.execute((
        snapshot.row,
        new.rules,
        row.digest.as_bytes(),
        row.commit_time,
        row.is_cut,
        row.n_commits,
        packed,
        packed_walk,
        sum,
    ))?;
    Ok((row, found))
}

fn history(
    db: &Connection,
    snapshot: &SnapshotRow,
    rules: u32,
) -> std::result::Result<Option<HistoryRow>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT digest, commit_time, is_cut, n_commits FROM histories WHERE snapshot_row = ?1 AND rules = ?2",
    )?;
    let row = statement.query_row((snapshot.row, rules), |row| {
        Ok(HistoryRow {
            digest: Hash(row.get(0)?),
            commit_time: row.get(1)?,
            is_cut: row.get(2)?,
            n_commits: row.get(3)?,
        })
    });
    Ok(row.optional()?)
}
