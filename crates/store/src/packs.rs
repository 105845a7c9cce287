//! Packs that were answered, kept for thirty days.

use knowing_model::Hash;
use rusqlite::{Connection, OptionalExtension};

use crate::connection::Store;
use crate::error::{Fault, Result};

const KEPT_SECONDS: i64 = 30 * 86_400;
/// Level 3 makes a pack of JSON a tenth of its size in well under a millisecond.
const COMPRESSION: i32 = 3;
const MAX_BYTES: usize = 64 << 20;

impl Store {
    /// The pack that was answered under this key.
    pub fn pack_of_key(&self, key: Hash) -> Result<Option<String>> {
        self.pack("SELECT payload FROM packs WHERE key = ?1", key)
    }

    /// The newest pack of this root, whatever its format was.
    pub fn pack_of_root(&self, root: Hash) -> Result<Option<String>> {
        self.pack("SELECT payload FROM packs WHERE root = ?1 ORDER BY created_at DESC, key LIMIT 1", root)
    }

    fn pack(&self, query: &str, id: Hash) -> Result<Option<String>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(query)?;
            let found: Option<Vec<u8>> =
                statement.query_row([id.as_bytes().as_slice()], |row| row.get(0)).optional()?;
            let Some(found) = found else { return Ok(None) };
            let bytes = zstd::bulk::decompress(&found, MAX_BYTES);
            let text = bytes.ok().and_then(|it| String::from_utf8(it).ok());
            text.map(Some).ok_or_else(|| Fault::damaged(format!("the pack {id} cannot be read")))
        })
    }

    /// Keeps a pack of a repository and forgets those that are too old. `now` is in seconds since 1970.
    pub fn keep_pack(&mut self, repo: i64, key: Hash, root: Hash, payload: &str, now: i64) -> Result<()> {
        self.write(|db| {
            let packed = zstd::bulk::compress(payload.as_bytes(), COMPRESSION)?;
            forget_old(db, now)?;
            db.prepare_cached(
                "INSERT INTO packs (key, repo_id, root, payload, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (key) DO UPDATE SET repo_id = ?2, root = ?3, payload = ?4, created_at = ?5",
            )?
            .execute((
                key.as_bytes().as_slice(),
                repo,
                root.as_bytes().as_slice(),
                packed,
                now,
            ))?;
            Ok(())
        })
    }
}

/// How many went.
pub(crate) fn forget_old(db: &Connection, now: i64) -> std::result::Result<usize, Fault> {
    let mut delete = db.prepare_cached("DELETE FROM packs WHERE created_at < ?1")?;
    Ok(delete.execute([now - KEPT_SECONDS])?)
}
