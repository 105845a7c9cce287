//! What sessions were told: ids of symbols, sums over what was said of them, and the packs given last.
//!
//! A turn of a session is one transaction: two calls at the same time under one handle get different ids, and what is cut
//! off by a crash was never told.

use knowing_model::{Hash, NodeId};
use rusqlite::{Connection, OptionalExtension};

use crate::connection::Store;
use crate::error::{Fault, Result};

/// Rows of a session that nobody used for so long go.
const KEPT_SECONDS: i64 = 86_400;

/// One answer to a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionTurn<'a> {
    pub handle: &'a str,
    pub repo: i64,
    /// Unix seconds.
    pub now: i64,
    /// A session that was last used before is no more.
    pub alive_since: i64,
    /// What is said of each symbol of the answer.
    pub said: &'a [Said],
    /// Root and key of the pack that is given.
    pub pack: Option<(Hash, Hash)>,
    /// Root of a pack that the session may have.
    pub base: Option<Hash>,
    pub limits: SessionLimits,
}

#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    pub handles: usize,
    /// Symbols told to one handle; it begins anew with the next.
    pub symbols: usize,
    /// Packs remembered for one handle.
    pub packs: usize,
}

/// Sums over what is said of a symbol; 0 for what is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Said {
    pub node: NodeId,
    pub declared: u64,
    pub place: u64,
    pub signature: u64,
    pub source: u64,
}

/// What a session knew before the turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turned {
    /// It was not known, or was known no more.
    pub is_new: bool,
    /// In the order of what is said: the id of the symbol, and what was said of it before.
    pub items: Vec<(u32, Option<Said>)>,
    /// Key of the pack that was asked for by its root.
    pub base: Option<Hash>,
}

/// What is known of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRow {
    pub handle: String,
    pub begun_at: i64,
    pub used_at: i64,
    pub n_calls: u64,
    pub n_symbols: u64,
    pub n_packs: u64,
}

impl Store {
    pub fn session_turn(&mut self, turn: &SessionTurn<'_>) -> Result<Turned> {
        self.write(|db| {
            forget_old_sessions(db, turn.now)?;
            let mut row = alive(db, turn)?;
            if let Some(session) = row
                && n_items(db, session)? + turn.said.len() > turn.limits.symbols
            {
                forget(db, session)?;
                row = None;
            }
            let is_new = row.is_none();
            let session = match row {
                Some(session) => session,
                None => begin(db, turn)?,
            };
            let base = match turn.base {
                Some(root) => key_of(db, session, root)?,
                None => None,
            };
            let items = tell(db, session, turn)?;
            db.prepare_cached(
                "UPDATE sessions SET used_at = ?2, n_calls = n_calls + 1 WHERE session_row = ?1",
            )?
            .execute((session, turn.now))?;
            if let Some((root, key)) = turn.pack {
                remember(db, session, turn, root, key)?;
            }
            Ok(Turned { is_new, items, base })
        })
    }

    /// Ids under which a session was told symbols; none for those it was not.
    pub fn session_ids(&self, handle: &str, nodes: &[NodeId]) -> Result<Vec<Option<u32>>> {
        self.read(|db| {
            let mut find = db.prepare_cached(
                "SELECT id FROM session_items JOIN sessions USING (session_row) WHERE handle = ?1 AND node_id = ?2",
            )?;
            let mut ids = Vec::with_capacity(nodes.len());
            for node in nodes {
                ids.push(find.query_row((handle, node.as_bytes().as_slice()), |row| row.get(0)).optional()?);
            }
            Ok(ids)
        })
    }

    /// Key of the pack of this root that a session was given, when it is still alive.
    pub fn session_pack(&self, handle: &str, root: Hash, alive_since: i64) -> Result<Option<Hash>> {
        self.read(|db| {
            let mut find =
                db.prepare_cached("SELECT session_row FROM sessions WHERE handle = ?1 AND used_at >= ?2")?;
            let session = find.query_row((handle, alive_since), |row| row.get(0)).optional()?;
            session.map_or(Ok(None), |session| key_of(db, session, root))
        })
    }

    pub fn session(&self, handle: &str) -> Result<Option<SessionRow>> {
        self.read(|db| {
            let mut find = db.prepare_cached(
                "SELECT handle, begun_at, used_at, n_calls,
                     (SELECT count(*) FROM session_items WHERE session_row = sessions.session_row),
                     (SELECT count(*) FROM session_packs WHERE session_row = sessions.session_row)
                 FROM sessions WHERE handle = ?1",
            )?;
            let session = |row: &rusqlite::Row<'_>| {
                Ok(SessionRow {
                    handle: row.get(0)?,
                    begun_at: row.get(1)?,
                    used_at: row.get(2)?,
                    n_calls: row.get::<_, i64>(3)? as u64,
                    n_symbols: row.get::<_, i64>(4)? as u64,
                    n_packs: row.get::<_, i64>(5)? as u64,
                })
            };
            Ok(find.query_row([handle], session).optional()?)
        })
    }
}

fn alive(db: &Connection, turn: &SessionTurn<'_>) -> std::result::Result<Option<i64>, Fault> {
    let mut find = db.prepare_cached("SELECT session_row, used_at FROM sessions WHERE handle = ?1")?;
    let found: Option<(i64, i64)> =
        find.query_row([turn.handle], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    match found {
        Some((session, used_at)) if used_at >= turn.alive_since => Ok(Some(session)),
        Some((session, _)) => {
            forget(db, session)?;
            Ok(None)
        }
        None => Ok(None),
    }
}

fn begin(db: &Connection, turn: &SessionTurn<'_>) -> std::result::Result<i64, Fault> {
    // Those used longest ago make room.
    db.prepare_cached(
        "DELETE FROM sessions WHERE session_row IN (
             SELECT session_row FROM sessions ORDER BY used_at DESC, session_row DESC LIMIT -1 OFFSET ?1)",
    )?
    .execute([turn.limits.handles.saturating_sub(1) as i64])?;
    db.prepare_cached(
        "INSERT INTO sessions (handle, begun_at, used_at, n_calls, next_id) VALUES (?1, ?2, ?2, 0, 0)",
    )?
    .execute((turn.handle, turn.now))?;
    Ok(db.last_insert_rowid())
}

/// Items and packs go with it.
fn forget(db: &Connection, session: i64) -> std::result::Result<(), Fault> {
    db.prepare_cached("DELETE FROM sessions WHERE session_row = ?1")?.execute([session])?;
    Ok(())
}

fn n_items(db: &Connection, session: i64) -> std::result::Result<usize, Fault> {
    let mut count = db.prepare_cached("SELECT count(*) FROM session_items WHERE session_row = ?1")?;
    Ok(count.query_row([session], |row| row.get::<_, i64>(0))? as usize)
}

fn key_of(db: &Connection, session: i64, root: Hash) -> std::result::Result<Option<Hash>, Fault> {
    let mut find = db.prepare_cached("SELECT key FROM session_packs WHERE session_row = ?1 AND root = ?2")?;
    let key: Option<[u8; 32]> =
        find.query_row((session, root.as_bytes().as_slice()), |row| row.get(0)).optional()?;
    Ok(key.map(Hash))
}

/// Numbers what is new and keeps the sums of what is said; what is not said now keeps its own.
fn tell(
    db: &Connection,
    session: i64,
    turn: &SessionTurn<'_>,
) -> std::result::Result<Vec<(u32, Option<Said>)>, Fault> {
    let mut next: u32 = db
        .prepare_cached("SELECT next_id FROM sessions WHERE session_row = ?1")?
        .query_row([session], |row| row.get(0))?;
    let mut find = db.prepare_cached(
        "SELECT id, declared, place, signature, source FROM session_items WHERE session_row = ?1 AND node_id = ?2",
    )?;
    let mut put = db.prepare_cached(
        "INSERT INTO session_items (session_row, node_id, repo_id, id, declared, place, signature, source)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (session_row, node_id) DO UPDATE
         SET declared = excluded.declared, place = excluded.place, signature = excluded.signature, source = excluded.source",
    )?;
    let mut items = Vec::with_capacity(turn.said.len());
    for said in turn.said {
        let node = said.node.as_bytes().as_slice();
        let before = find
            .query_row((session, node), |row| {
                let sum = |at: usize| -> rusqlite::Result<u64> { Ok(row.get::<_, i64>(at)? as u64) };
                let (declared, place) = (sum(1)?, sum(2)?);
                let said = Said { node: said.node, declared, place, signature: sum(3)?, source: sum(4)? };
                Ok((row.get::<_, u32>(0)?, said))
            })
            .optional()?;
        let (id, before) = match before {
            Some((id, before)) => (id, Some(before)),
            None => {
                next += 1;
                (next - 1, None)
            }
        };
        let merged = |now: u64, before: Option<u64>| if now == 0 { before.unwrap_or(0) } else { now } as i64;
        put.execute((
            session,
            node,
            turn.repo,
            id,
            merged(said.declared, before.map(|it| it.declared)),
            merged(said.place, before.map(|it| it.place)),
            merged(said.signature, before.map(|it| it.signature)),
            merged(said.source, before.map(|it| it.source)),
        ))?;
        items.push((id, before));
    }
    db.prepare_cached("UPDATE sessions SET next_id = ?2 WHERE session_row = ?1")?.execute((session, next))?;
    Ok(items)
}

fn remember(
    db: &Connection,
    session: i64,
    turn: &SessionTurn<'_>,
    root: Hash,
    key: Hash,
) -> std::result::Result<(), Fault> {
    db.prepare_cached(
        "INSERT INTO session_packs (session_row, root, repo_id, key, call)
         VALUES (?1, ?2, ?3, ?4, (SELECT n_calls FROM sessions WHERE session_row = ?1))
         ON CONFLICT (session_row, root) DO UPDATE SET key = excluded.key, call = excluded.call",
    )?
    .execute((session, root.as_bytes().as_slice(), turn.repo, key.as_bytes().as_slice()))?;
    db.prepare_cached(
        "DELETE FROM session_packs WHERE session_row = ?1 AND root IN (
             SELECT root FROM session_packs WHERE session_row = ?1 ORDER BY call DESC, root LIMIT -1 OFFSET ?2)",
    )?
    .execute((session, turn.limits.packs as i64))?;
    Ok(())
}

/// How many went.
pub(crate) fn forget_old_sessions(db: &Connection, now: i64) -> std::result::Result<usize, Fault> {
    Ok(db.prepare_cached("DELETE FROM sessions WHERE used_at < ?1")?.execute([now - KEPT_SECONDS])?)
}

/// What sessions were told of a repository. Their ids stay taken.
pub(crate) fn forget_repo_in_sessions(db: &Connection, repo: i64) -> std::result::Result<usize, Fault> {
    let items = db.execute("DELETE FROM session_items WHERE repo_id = ?1", [repo])?;
    Ok(items + db.execute("DELETE FROM session_packs WHERE repo_id = ?1", [repo])?)
}
