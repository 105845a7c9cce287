//! Packs that were answered, kept for thirty days.

use knowing_model::Hash;
use rusqlite::{Connection, OptionalExtension};

use crate::connection::Store;
use crate::error::{Fault, Result};

const KEPT_SECONDS: i64 = 30 * 86_400;
/// Level 3 makes a pack of JSON a tenth of its size in well under a millisecond.
const COMPRESSION: i32 = 3;
const MAX_BYTES: usize = 64 << 20;

/// A pack that was answered.
#[derive(Clone, Copy, Debug)]
pub struct NewPack<'a> {
    pub repo: i64,
    /// Of all that was asked.
    pub key: Hash,
    pub root: Hash,
    /// How it was written.
    pub form: &'a str,
    pub payload: &'a str,
    /// Unix seconds.
    pub now: i64,
}

impl Store {
    /// The pack that was answered under this key.
    pub fn pack_of_key(&self, key: Hash) -> Result<Option<String>> {
        self.pack("SELECT payload FROM packs WHERE key = ?1", key)
    }

    /// The pack whose key begins with these bytes, with its key.
    pub fn pack_of_key_prefix(&self, prefix: [u8; 16]) -> Result<Option<(Hash, String)>> {
        self.read(|db| {
            // Keys are compared byte by byte: those that begin so stand between the prefix and it with all bits set.
            let (mut first, mut last) = ([0; 32], [0xff; 32]);
            first[..16].copy_from_slice(&prefix);
            last[..16].copy_from_slice(&prefix);
            let mut find =
                db.prepare_cached("SELECT key, payload FROM packs WHERE key BETWEEN ?1 AND ?2 LIMIT 1")?;
            let found: Option<([u8; 32], Vec<u8>)> = find
                .query_row((first.as_slice(), last.as_slice()), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((key, packed)) = found else { return Ok(None) };
            Ok(Some((Hash(key), unpacked(&packed, Hash(key))?)))
        })
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
            unpacked(&found, id).map(Some)
        })
    }

    /// The newest packs of this root that were written in this form.
    pub fn packs_of_root(&self, root: Hash, form: &str) -> Result<Vec<String>> {
        const MAX_PACKS: i64 = 8;
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT payload FROM packs WHERE root = ?1 AND form = ?2 ORDER BY created_at DESC, key LIMIT ?3",
            )?;
            let mut rows = statement.query((root.as_bytes().as_slice(), form, MAX_PACKS))?;
            let mut packs = Vec::new();
            while let Some(row) = rows.next()? {
                let packed = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
                packs.push(unpacked(packed, root)?);
            }
            Ok(packs)
        })
    }

    /// Keeps a pack of a repository and forgets those that are too old.
    pub fn keep_pack(&mut self, pack: &NewPack<'_>) -> Result<()> {
        let NewPack { repo, key, root, form, payload, now } = *pack;
        self.write(|db| {
            let packed = zstd::bulk::compress(payload.as_bytes(), COMPRESSION)?;
            forget_old(db, now)?;
            db.prepare_cached(
                "INSERT INTO packs (key, repo_id, root, payload, created_at, form) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (key) DO UPDATE SET repo_id = ?2, root = ?3, payload = ?4, created_at = ?5, form = ?6",
            )?
            .execute((
                key.as_bytes().as_slice(),
                repo,
                root.as_bytes().as_slice(),
                packed,
                now,
                form,
            ))?;
            Ok(())
        })
    }
}

fn unpacked(packed: &[u8], id: Hash) -> std::result::Result<String, Fault> {
    let bytes = zstd::bulk::decompress(packed, MAX_BYTES);
    let text = bytes.ok().and_then(|it| String::from_utf8(it).ok());
    text.ok_or_else(|| Fault::damaged(format!("the pack {id} cannot be read")))
}

/// How many went.
pub(crate) fn forget_old(db: &Connection, now: i64) -> std::result::Result<usize, Fault> {
    let mut delete = db.prepare_cached("DELETE FROM packs WHERE created_at < ?1")?;
    Ok(delete.execute([now - KEPT_SECONDS])?)
}
