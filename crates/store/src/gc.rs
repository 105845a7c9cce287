//! Garbage collection: what no kept snapshot of any repository speaks of goes.
//!
//! Kept are, for every checkout and for what the caller knows to be stood on (a main branch), the newest few snapshots
//! along the parents; what is pinned; and temporary snapshots for a day. A repository that nobody stands on keeps its
//! newest. Readers are not disturbed: they see the database as it was when they began.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use knowing_model::{Hash, SnapshotId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use rustc_hash::FxHashSet;

use crate::connection::Store;
use crate::edge_rows::each_edge;
use crate::error::{Fault, Result};
use crate::packed::unpack_rows;
use crate::packs::forget_old;
use crate::sessions::{forget_old_sessions, forget_repo_in_sessions};
use crate::snapshots::{SnapshotRow, sets_of, snapshot_at};
use crate::steps::step;

/// What is kept, and as of when.
#[derive(Clone, Copy)]
pub struct Keeping<'a> {
    /// Snapshots along the parents of each checkout's.
    pub n_snapshots: usize,
    /// Unix seconds.
    pub now: i64,
    /// Whether there is still something at a checkout's path.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Rows of snapshots that are stood on besides those of checkouts: of main branches, of where git's HEAD moved to.
    pub heads: &'a [i64],
    /// The snapshot whose search image the one of this snapshot is made on.
    pub base_of: &'a dyn Fn(SnapshotId) -> Option<SnapshotId>,
}

/// A checkout whose path is gone is forgotten when it was last seen so long ago.
const FORGOTTEN_AFTER: i64 = 30 * 86_400;
/// A snapshot beside the chain lives so long.
const TEMPORARY_FOR: i64 = 86_400;

/// What went, or would go.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Collected {
    /// Rows by table; only tables that lose some.
    pub rows: BTreeMap<&'static str, u64>,
    pub snapshots: Vec<SnapshotId>,
    /// Snapshots that stay.
    pub n_kept: u64,
    /// Images that belong to no snapshot any more.
    pub n_images: u64,
}

impl Collected {
    fn add(&mut self, table: &'static str, n_rows: usize) {
        if n_rows > 0 {
            *self.rows.entry(table).or_default() += n_rows as u64;
        }
    }
}

/// Whether rows go, or are only counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Delete,
    DryRun,
}

impl Store {
    /// Removes what is in no kept snapshot, in one transaction.
    pub fn collect(&mut self, keeping: &Keeping<'_>, mode: Mode) -> Result<Collected> {
        self.sweep(mode, keeping.base_of, |db| {
            let mut collected = Collected::default();
            forget_worktrees(db, keeping, &mut collected)?;
            let kept = kept(db, keeping)?;
            sweep(db, |it| !kept.contains(&it.row), &mut collected)?;
            collected.add("packs", forget_old(db, keeping.now)?);
            collected.add("sessions", forget_old_sessions(db, keeping.now)?);
            Ok(collected)
        })
    }

    /// Edge versions that only snapshots have which would go: what a collection is worth. Waits for nobody.
    pub fn n_superseded(&self, keeping: &Keeping<'_>) -> Result<u64> {
        self.read(|db| {
            let kept = kept(db, keeping)?;
            let mut statement = db.prepare("SELECT snapshot_row FROM snapshots")?;
            let all: Vec<i64> =
                statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            let (mut dead, mut alive) = (RoaringBitmap::new(), RoaringBitmap::new());
            if all.iter().all(|it| kept.contains(it)) {
                return Ok(0);
            }
            for row in all {
                let Some(snapshot) = snapshot_at(db, row)? else { continue };
                let units = sets_of(db, &snapshot)?.1;
                *(if kept.contains(&row) { &mut alive } else { &mut dead }) |= units;
            }
            let mut n_edges = db.prepare("SELECT n_edges FROM units WHERE unit_row = ?1")?;
            let mut total = 0;
            for unit in &(dead - alive) {
                total +=
                    n_edges.query_row([unit], |row| row.get::<_, i64>(0)).optional()?.unwrap_or(0) as u64;
            }
            Ok(total)
        })
    }

    /// Removes all that is stored of a repository and of no other.
    pub fn forget_repo(
        &mut self,
        repo: i64,
        base_of: &dyn Fn(SnapshotId) -> Option<SnapshotId>,
        mode: Mode,
    ) -> Result<Collected> {
        self.sweep(mode, base_of, |db| {
            let mut collected = Collected::default();
            collected.add("packs", db.execute("DELETE FROM packs WHERE repo_id = ?1", [repo])?);
            collected.add("session_items", forget_repo_in_sessions(db, repo)?);
            collected.add("feedback", db.execute("DELETE FROM feedback WHERE repo_id = ?1", [repo])?);
            collected.add("worktrees", db.execute("DELETE FROM worktrees WHERE repo_id = ?1", [repo])?);
            sweep(db, |it| it.repo == repo, &mut collected)?;
            collected.add("repos", db.execute("DELETE FROM repos WHERE repo_id = ?1", [repo])?);
            Ok(collected)
        })
    }

    /// Gives free pages back to the disk: bytes before and after.
    pub fn vacuum(&mut self) -> Result<(u64, u64)> {
        self.read(|db| {
            let before = n_bytes(db)?;
            db.execute_batch("VACUUM")?;
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok((before, n_bytes(db)?))
        })
    }

    /// Bytes of the database, images apart; pages that are free do not count.
    pub fn n_bytes(&self) -> Result<u64> {
        self.read(|db| Ok(n_bytes(db)? - number(db, "freelist_count")? * number(db, "page_size")?))
    }

    fn sweep(
        &mut self,
        mode: Mode,
        base_of: &dyn Fn(SnapshotId) -> Option<SnapshotId>,
        run: impl FnOnce(&Connection) -> std::result::Result<Collected, Fault>,
    ) -> Result<Collected> {
        let _lock = self.take_rows()?;
        let images = self.images_dir();
        let connection = &mut self.connection;
        let swept = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut collected = run(&transaction)?;
            step();
            // Before it counts: images hold row numbers, and one that is left over would speak of other rows when its
            // snapshot is made again. One that is gone too early is built anew.
            collected.n_images = remove_images(&images, &ids_of_all(&transaction)?, base_of, mode);
            step();
            match mode {
                Mode::Delete => transaction.commit()?,
                Mode::DryRun => transaction.rollback()?,
            }
            step();
            Ok(collected)
        })();
        swept.map_err(|it: Fault| it.at(self.path()))
    }
}

fn number(db: &Connection, pragma: &str) -> std::result::Result<u64, Fault> {
    Ok(db.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))? as u64)
}

fn n_bytes(db: &Connection) -> std::result::Result<u64, Fault> {
    Ok(number(db, "page_count")? * number(db, "page_size")?)
}

fn ids_of_all(db: &Connection) -> std::result::Result<BTreeSet<SnapshotId>, Fault> {
    let mut statement = db.prepare("SELECT snapshot_id FROM snapshots")?;
    let ids = statement.query_map([], |row| Ok(SnapshotId(Hash(row.get(0)?))))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Removes the images of snapshots that are not stored. A search image that another one is made on stays: it names symbols
/// by their ids, not by rows.
fn remove_images(
    directory: &Path,
    stored: &BTreeSet<SnapshotId>,
    base_of: &dyn Fn(SnapshotId) -> Option<SnapshotId>,
    mode: Mode,
) -> u64 {
    let bases: BTreeSet<SnapshotId> = stored.iter().filter_map(|it| base_of(*it)).collect();
    let is_left_over = |path: &Path| {
        // What is not called after a snapshot is being written just now, or none of ours.
        let id = path.file_stem().and_then(|it| Hash::from_hex(it.to_str()?)).map(SnapshotId);
        let is_search = path.extension().is_some_and(|it| it == "search");
        let is_needed = |it: &SnapshotId| stored.contains(it) || is_search && bases.contains(it);
        id.is_some_and(|it| !is_needed(&it))
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let images = entries.map(|it| it.path()).filter(|it| is_left_over(it));
    images
        .filter(|it| {
            step();
            mode == Mode::DryRun || fs::remove_file(it).is_ok()
        })
        .count() as u64
}

fn forget_worktrees(
    db: &Connection,
    keeping: &Keeping<'_>,
    collected: &mut Collected,
) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare("SELECT path FROM worktrees WHERE last_seen < ?1")?;
    let paths: Vec<String> = statement
        .query_map([keeping.now - FORGOTTEN_AFTER], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for path in paths.iter().filter(|it| !(keeping.exists)(it)) {
        collected.add("worktrees", db.execute("DELETE FROM worktrees WHERE path = ?1", [path])?);
    }
    Ok(())
}

/// Rows of snapshots that stay.
fn kept(db: &Connection, keeping: &Keeping<'_>) -> std::result::Result<BTreeSet<i64>, Fault> {
    let rows = |query: &str, parameters: &[&dyn rusqlite::ToSql]| -> std::result::Result<Vec<i64>, Fault> {
        let mut statement = db.prepare(query)?;
        Ok(statement.query_map(parameters, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
    };
    let mut kept: BTreeSet<i64> = BTreeSet::new();
    let mut heads: BTreeSet<i64> = rows("SELECT head_snapshot FROM worktrees", &[])?
        .into_iter()
        .chain(keeping.heads.iter().copied())
        .collect();
    // What was made last may be an old commit that someone compared with: it counts only where nothing else is known.
    let newest = rows("SELECT max(snapshot_row) FROM snapshots WHERE chained GROUP BY repo_id", &[])?;
    let repo_of = |row: i64| Ok::<_, Fault>(snapshot_at(db, row)?.map(|it| it.repo));
    let stood_on =
        heads.iter().map(|it| repo_of(*it)).collect::<std::result::Result<BTreeSet<_>, Fault>>()?;
    for row in newest {
        if !stood_on.contains(&repo_of(row)?) {
            heads.insert(row);
        }
    }
    for head in heads {
        kept.insert(head);
        let (mut at, mut n_seen) = (snapshot_at(db, head)?, 0);
        while let Some(snapshot) = at
            && n_seen < keeping.n_snapshots
        {
            kept.insert(snapshot.row);
            n_seen += usize::from(snapshot.chained);
            at = match snapshot.parent {
                // Generations fall along a sound chain; a damaged one may run in a circle.
                Some(parent) => snapshot_at(db, parent)?.filter(|it| it.generation < snapshot.generation),
                None => None,
            };
        }
    }
    kept.extend(rows(
        "SELECT snapshot_row FROM snapshots JOIN notes ON object = snapshot_id AND key = 'pinned'",
        &[],
    )?);
    let young = "SELECT snapshot_row FROM snapshots WHERE NOT chained AND created_at > ?1";
    kept.extend(rows(young, &[&(keeping.now - TEMPORARY_FOR)])?);
    Ok(kept)
}

/// Removes snapshots, and what no other one speaks of.
fn sweep(
    db: &Connection,
    goes: impl Fn(&SnapshotRow) -> bool,
    collected: &mut Collected,
) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare("SELECT snapshot_row FROM snapshots ORDER BY snapshot_row")?;
    let all: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let (mut files, mut units) = (RoaringBitmap::new(), RoaringBitmap::new());
    let mut gone = Vec::new();
    for row in all {
        let snapshot =
            snapshot_at(db, row)?.ok_or_else(|| Fault::damaged(format!("there is no snapshot row {row}")))?;
        if goes(&snapshot) {
            gone.push(snapshot);
            continue;
        }
        collected.n_kept += 1;
        let sets = sets_of(db, &snapshot)?;
        files |= sets.0;
        units |= sets.1;
    }
    for snapshot in &gone {
        // Who followed it begins a chain now; its generation still says how far from the first it is.
        db.execute("UPDATE snapshots SET parent = NULL WHERE parent = ?1", [snapshot.row])?;
        collected
            .add("histories", db.execute("DELETE FROM histories WHERE snapshot_row = ?1", [snapshot.row])?);
        db.execute("DELETE FROM notes WHERE object = ?1", [snapshot.id.as_bytes()])?;
    }
    for snapshot in &gone {
        db.execute("DELETE FROM snapshots WHERE snapshot_row = ?1", [snapshot.row])?;
        collected.snapshots.push(snapshot.id);
    }
    collected.add("snapshots", gone.len());
    step();
    sweep_units(db, &units, collected)?;
    step();
    sweep_files(db, &files, collected)?;
    step();
    sweep_symbols(db, collected)?;
    step();
    sweep_texts(db, collected)
}

fn sweep_units(
    db: &Connection,
    kept: &RoaringBitmap,
    collected: &mut Collected,
) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare(
        "SELECT unit_row, first_node, n_nodes, first_edge, n_edges, first_site, n_sites FROM units",
    )?;
    let unit = |row: &rusqlite::Row<'_>| -> rusqlite::Result<(u32, [(i64, i64); 3])> {
        let pair = |at: usize| -> rusqlite::Result<(i64, i64)> { Ok((row.get(at)?, row.get(at + 1)?)) };
        Ok((row.get(0)?, [pair(1)?, pair(3)?, pair(5)?]))
    };
    let mut dead = Vec::new();
    for row in statement.query_map([], unit)? {
        let row = row?;
        if !kept.contains(row.0) {
            dead.push(row);
        }
    }
    let tables = [("nodes", "node_row"), ("edges", "edge_row"), ("unresolved", "site_row")];
    for (at, (table, key)) in tables.into_iter().enumerate() {
        let mut delete = db.prepare(&format!("DELETE FROM {table} WHERE {key} >= ?1 AND {key} < ?1 + ?2"))?;
        for (_, ranges) in &dead {
            delete.execute(ranges[at])?;
            // A row holds several edges.
            collected.add(table, ranges[at].1 as usize);
        }
    }
    let mut delete = db.prepare("DELETE FROM units WHERE unit_row = ?1")?;
    for (unit, _) in &dead {
        collected.add("units", delete.execute([unit])?);
    }
    Ok(())
}

fn sweep_files(
    db: &Connection,
    kept: &RoaringBitmap,
    collected: &mut Collected,
) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare("SELECT file_row FROM files")?;
    let rows: Vec<u32> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut facts = db.prepare("DELETE FROM file_facts WHERE file_row = ?1")?;
    let mut files = db.prepare("DELETE FROM files WHERE file_row = ?1")?;
    for row in rows.into_iter().filter(|it| !kept.contains(*it)) {
        collected.add("file_facts", facts.execute([row])?);
        collected.add("files", files.execute([row])?);
    }
    Ok(())
}

fn sweep_symbols(db: &Connection, collected: &mut Collected) -> std::result::Result<(), Fault> {
    let mut used = RoaringBitmap::new();
    for query in ["SELECT sym FROM nodes", "SELECT source FROM unresolved"] {
        let mut statement = db.prepare(query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            used.insert(row.get(0)?);
        }
    }
    each_edge(db, (0, u32::MAX), |_, edge| {
        used.extend([edge.source, edge.target]);
        Ok(())
    })?;
    let mut statement = db.prepare("SELECT candidates FROM unresolved WHERE candidates > x''")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let packed = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        used.extend(unpack_rows(packed).ok_or_else(|| Fault::damaged("candidates cannot be read"))?);
    }
    let mut statement = db.prepare("SELECT sym FROM symbols")?;
    let symbols: Vec<u32> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut delete = db.prepare("DELETE FROM symbols WHERE sym = ?1")?;
    for sym in symbols.into_iter().filter(|it| !used.contains(*it)) {
        collected.add("symbols", delete.execute([sym])?);
    }
    let orphans = "DELETE FROM containers WHERE container_row NOT IN (SELECT container_row FROM symbols)";
    collected.add("containers", db.execute(orphans, [])?);
    Ok(())
}

/// Term vectors of versions that are no more, and commits that no history lists.
fn sweep_texts(db: &Connection, collected: &mut Collected) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare("SELECT hash FROM files")?;
    let versions: FxHashSet<Vec<u8>> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    // The column is called so from the time when contents were the key.
    let mut statement = db.prepare("SELECT terms_row, blob FROM terms")?;
    let mut dead: Vec<i64> = Vec::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !versions.contains(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?) {
            dead.push(row.get(0)?);
        }
    }
    let mut delete = db.prepare("DELETE FROM terms WHERE terms_row = ?1")?;
    for row in dead {
        collected.add("terms", delete.execute([row])?);
    }

    let mut used = RoaringBitmap::new();
    let mut statement = db.prepare("SELECT * FROM histories")?;
    // Every packed list of commits that a history has.
    let lists: Vec<usize> =
        ["commit_rows", "walked"].iter().filter_map(|it| statement.column_index(it).ok()).collect();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for &at in &lists {
            let packed = row.get_ref(at)?.as_blob().map_err(rusqlite::Error::from)?;
            used.extend(unpack_rows(packed).ok_or_else(|| Fault::damaged("a history cannot be read"))?);
        }
    }
    let mut statement = db.prepare("SELECT commit_row FROM commits")?;
    let commits: Vec<u32> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut delete = db.prepare("DELETE FROM commits WHERE commit_row = ?1")?;
    for row in commits.into_iter().filter(|it| !used.contains(*it)) {
        collected.add("commits", delete.execute([row])?);
    }
    Ok(())
}
