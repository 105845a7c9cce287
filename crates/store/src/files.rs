//! File versions and their facts.

use std::cell::RefCell;

use knowing_model::facts::FileFacts;
use knowing_model::{FileId, Hash, NodeFlags, checksum};
use postcard::ser_flavors::Flavor;
use rusqlite::{Connection, OptionalExtension, Row};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::connection::Store;
use crate::error::{Fault, Result};
use crate::packed::{compress, decompress, sum};
use crate::steps::step;
use crate::terms::{TermsKey, insert_terms};

/// A file of a new snapshot.
#[derive(Clone, Copy, Debug)]
pub struct NewFile<'a> {
    pub id: FileId,
    pub path: &'a str,
    /// Git's raw object id.
    pub blob: &'a [u8],
    pub package: &'a str,
    /// Empty when it is no language of ours.
    pub language: &'a str,
    pub flags: NodeFlags,
    pub bytes: u64,
    pub lines: u32,
    pub state: FileState<'a>,
    /// Encoded term vectors of a file that was read just now, and the ruleset they are of.
    pub terms: Option<(u32, &'a [u8])>,
}

/// What is known of a file's content.
#[derive(Clone, Copy, Debug)]
pub enum FileState<'a> {
    /// The row of this version, from `file_rows` or `skipped_files`; the other fields of `NewFile` are not looked at.
    Stored(i64),
    Facts(&'a FileFacts),
    /// As `Facts`, encoded by the caller, on as many threads as it has.
    Encoded(&'a EncodedFacts),
    /// Not read, and why.
    Skipped(&'a str),
}

/// A stored file version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRow {
    pub row: i64,
    pub id: FileId,
    pub path: String,
    pub blob: Vec<u8>,
    pub package: String,
    pub language: String,
    pub flags: NodeFlags,
    pub bytes: u64,
    pub lines: u32,
    pub skip_reason: Option<String>,
}

/// Facts as they are stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EncodedFacts(Vec<u8>);

/// What facts in two parts begin with; facts in one begin with a length, which is smaller.
const IN_PARTS: [u8; 4] = [0xff; 4];

impl EncodedFacts {
    /// In two parts, so that the inside of callables is decoded only where it is looked at. It is taken out for the while.
    ///
    /// ```text
    /// mark | length of the first part | sum of the second | what others see | what stands inside
    /// ```
    pub fn new(facts: &mut FileFacts) -> EncodedFacts {
        let inside = facts.take_inside();
        let first = packed(facts);
        let second = packed(&inside);
        facts.put_inside(inside);
        let length = u32::try_from(first.len()).expect("a blob is shorter than 4 GiB");
        let mut bytes = Vec::with_capacity(IN_PARTS.len() + 12 + first.len() + second.len());
        bytes.extend(IN_PARTS);
        bytes.extend(length.to_le_bytes());
        bytes.extend(checksum(&second).to_le_bytes());
        bytes.extend(first);
        bytes.extend(second);
        EncodedFacts(bytes)
    }

    pub(crate) fn from_stored(bytes: &[u8]) -> EncodedFacts {
        EncodedFacts(bytes.to_owned())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// None when the bytes are damaged. What stands inside of callables is decoded when it is first looked at.
    pub fn decode(self) -> Option<FileFacts> {
        let bytes = self.0;
        let Some(parts) = bytes.strip_prefix(&IN_PARTS) else {
            return postcard::from_bytes(&decompress(&bytes)?).ok();
        };
        let (length, parts) = parts.split_first_chunk()?;
        let (sum, parts) = parts.split_first_chunk()?;
        let (first, second) = parts.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        // Whoever decodes it later has nobody to tell.
        if checksum(second) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut facts: FileFacts = postcard::from_bytes(&decompress(first)?).ok()?;
        let from = bytes.len() - second.len();
        facts.read_inside_later(Box::new(move || {
            let inside = decompress(&bytes[from..]).and_then(|it| postcard::from_bytes(&it).ok());
            inside.expect("its sum says that it is what was written")
        }));
        Some(facts)
    }

    pub fn n_bytes(&self) -> usize {
        self.0.len()
    }
}

fn packed(facts: &impl Serialize) -> Vec<u8> {
    thread_local! {
        static PLAIN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    PLAIN.with_borrow_mut(|plain| {
        plain.clear();
        postcard::serialize_with_flavor(facts, Appended(plain))
            .expect("facts are plain data, which postcard can write");
        compress(plain)
    })
}

/// Whatever is written stands at the end of a list that keeps its memory. `postcard::to_extend` adds byte by byte.
struct Appended<'l>(&'l mut Vec<u8>);

impl Flavor for Appended<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        // Numbers are short, and to call for a copy takes longer than to make it.
        match bytes.len() {
            ..=5 => bytes.iter().for_each(|it| self.0.push(*it)),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl Store {
    /// The file versions that were read under this ruleset.
    pub fn file_rows(&self, repo: i64, ruleset: u32) -> Result<FxHashMap<FileId, i64>> {
        self.read(|db| {
            // Answered by the unique index alone.
            let mut statement = db.prepare_cached(
                "SELECT hash, file_row FROM files WHERE repo_id = ?1 AND ruleset = ?2 AND skip_reason = ''",
            )?;
            let rows =
                statement.query_map((repo, ruleset), |row| Ok((FileId(Hash(row.get(0)?)), row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// A file version that was met under this ruleset: its row, and why it was left out if it was.
    pub fn file_version(
        &self,
        repo: i64,
        ruleset: u32,
        path: &str,
        id: FileId,
    ) -> Result<Option<(i64, Option<String>)>> {
        self.read(|db| {
            // One that was read comes before one that was left out. By itself SQLite walks through all versions of the
            // repository, which have the order that is asked for.
            let mut statement = db.prepare_cached(
                "SELECT file_row, skip_reason FROM files INDEXED BY files_by_path
                 WHERE repo_id = ?1 AND path = ?2 AND ruleset = ?3 AND hash = ?4 ORDER BY skip_reason LIMIT 1",
            )?;
            let row = statement.query_row((repo, path, ruleset, id.as_bytes()), |row| {
                let reason: String = row.get(1)?;
                Ok((row.get(0)?, (!reason.is_empty()).then_some(reason)))
            });
            Ok(row.optional()?)
        })
    }

    /// The file versions that were left out under this ruleset, and why.
    pub fn skipped_files(&self, repo: i64, ruleset: u32) -> Result<FxHashMap<FileId, (i64, String)>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT hash, file_row, skip_reason FROM files
                 WHERE repo_id = ?1 AND ruleset = ?2 AND skip_reason > ''",
            )?;
            let rows = statement.query_map((repo, ruleset), |row| {
                Ok((FileId(Hash(row.get(0)?)), (row.get(1)?, row.get(2)?)))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn facts(&self, file_row: i64) -> Result<FileFacts> {
        self.read(|db| encoded_facts(db, file_row)?.decode().ok_or_else(|| damaged_facts(file_row)))
    }

    /// As `facts`, for callers that decode on other threads.
    pub fn encoded_facts(&self, file_row: i64) -> Result<EncodedFacts> {
        self.read(|db| encoded_facts(db, file_row))
    }
}

fn encoded_facts(db: &Connection, file_row: i64) -> std::result::Result<EncodedFacts, Fault> {
    let mut statement = db.prepare_cached("SELECT facts FROM file_facts WHERE file_row = ?1")?;
    let facts = statement.query_row([file_row], |row| row.get(0)).optional()?;
    facts.map(EncodedFacts).ok_or_else(|| Fault::damaged(format!("file row {file_row} has no facts")))
}

fn damaged_facts(file_row: i64) -> Fault {
    Fault::damaged(format!("the facts of file row {file_row} cannot be read"))
}

/// The row of each file, in their order; versions that are stored already are not written again.
pub(crate) fn write_files(
    db: &Connection,
    repo: i64,
    ruleset: u32,
    files: &[NewFile<'_>],
) -> std::result::Result<Vec<i64>, Fault> {
    let mut find = db.prepare_cached(
        "SELECT file_row FROM files WHERE repo_id = ?1 AND ruleset = ?2 AND skip_reason = ?3 AND hash = ?4",
    )?;
    let mut insert = db.prepare_cached(
        "INSERT INTO files
         (repo_id, ruleset, skip_reason, hash, path, blob, package, language, flags, bytes, lines)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let mut insert_facts =
        db.prepare_cached("INSERT INTO file_facts (file_row, facts, sum) VALUES (?1, ?2, ?3)")?;
    let mut rows = Vec::with_capacity(files.len());
    // In a first index nobody has to be looked for.
    let any = "SELECT EXISTS (SELECT 1 FROM files WHERE repo_id = ?1)";
    let has_files: bool = db.query_row(any, [repo], |row| row.get(0))?;
    for file in files {
        step();
        let skip_reason = match file.state {
            FileState::Stored(row) => {
                rows.push(row);
                continue;
            }
            FileState::Skipped(reason) => reason,
            FileState::Facts(_) | FileState::Encoded(_) => "",
        };
        let hash = file.id.as_bytes();
        let key = (repo, ruleset, skip_reason, hash);
        if has_files && let Some(row) = find.query_row(key, |row| row.get(0)).optional()? {
            rows.push(row);
            continue;
        }
        let row = insert.insert((
            repo,
            ruleset,
            skip_reason,
            hash,
            file.path,
            file.blob,
            file.package,
            file.language,
            file.flags.0,
            file.bytes as i64,
            file.lines,
        ))?;
        let made;
        let facts = match file.state {
            FileState::Facts(facts) => {
                made = EncodedFacts::new(&mut facts.clone());
                Some(&made)
            }
            FileState::Encoded(facts) => Some(facts),
            FileState::Stored(_) | FileState::Skipped(_) => None,
        };
        if let Some(facts) = facts {
            insert_facts.execute((row, facts.bytes(), sum([facts.bytes()])))?;
        }
        if let Some((ruleset, vectors)) = file.terms {
            insert_terms(db, TermsKey { file: file.id, language: file.language, ruleset }, vectors)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Columns of `file_of`, in its order.
pub(crate) const FILE_COLUMNS: &str =
    "file_row, hash, path, blob, package, language, flags, bytes, lines, skip_reason";

pub(crate) fn file_of(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    let skip_reason: String = row.get(9)?;
    Ok(FileRow {
        row: row.get(0)?,
        id: FileId(Hash(row.get(1)?)),
        path: row.get(2)?,
        blob: row.get(3)?,
        package: row.get(4)?,
        language: row.get(5)?,
        flags: NodeFlags(row.get(6)?),
        bytes: row.get::<_, i64>(7)? as u64,
        lines: row.get(8)?,
        skip_reason: (!skip_reason.is_empty()).then_some(skip_reason),
    })
}

#[cfg(test)]
mod tests {
    use knowing_model::facts::{Expr, TypeId};

    use super::*;

    fn drawn() -> FileFacts {
        let mut facts = FileFacts { language: "python".to_owned(), ..FileFacts::default() };
        (0..9).for_each(|it| facts.exprs.push(Expr::Instance(TypeId(it))));
        facts
    }

    #[test]
    fn facts_are_read_as_they_were_written_and_damage_is_noticed_before_anybody_looks_inside() {
        let mut facts = drawn();
        let encoded = EncodedFacts::new(&mut facts);
        assert_eq!(facts, drawn(), "what is taken out is put back");
        assert_eq!(encoded.clone().decode(), Some(drawn()));
        for at in 0..encoded.0.len() {
            let mut flipped = encoded.clone();
            flipped.0[at] ^= 4;
            // The first part has no sum of its own: what it says then is the matter of whoever checks the row.
            let read = flipped.decode().map(|it| it.exprs.to_vec());
            assert!(read.is_none_or(|it| it == *drawn().exprs), "byte {at}");
            assert!(EncodedFacts(encoded.0[..at].to_vec()).decode().is_none(), "cut at {at}");
        }
    }

    #[test]
    fn facts_in_one_part_are_read_too() {
        assert_eq!(EncodedFacts(packed(&drawn())).decode(), Some(drawn()));
    }
}
