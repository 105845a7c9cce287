//! Term vectors of file versions, as the search crate encodes them.

use knowing_model::FileId;
use rusqlite::{Connection, OptionalExtension};

use crate::check_texts::terms_sum;
use crate::connection::Store;
use crate::error::{Fault, Result};

/// What makes term vectors themselves: the file version, and how it was read. The content alone does not: what a file is
/// called may say that it holds tests, and so what it declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TermsKey<'a> {
    pub file: FileId,
    pub language: &'a str,
    /// Of extraction and of cutting texts into terms.
    pub ruleset: u32,
}

impl Store {
    /// The column is called `blob` from the time when contents were the key.
    pub fn terms(&self, key: TermsKey<'_>) -> Result<Option<Vec<u8>>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT vectors FROM terms WHERE blob = ?1 AND language = ?2 AND ruleset = ?3",
            )?;
            let row = (key.file.as_bytes(), key.language, key.ruleset);
            Ok(statement.query_row(row, |row| row.get(0)).optional()?)
        })
    }

    /// Keeps term vectors that were made for files of snapshots which are stored already.
    pub fn write_terms(&mut self, all: &[(TermsKey<'_>, Vec<u8>)]) -> Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        self.write(|db| all.iter().try_for_each(|(key, vectors)| insert_terms(db, *key, vectors)))
    }
}

pub(crate) fn insert_terms(
    db: &Connection,
    key: TermsKey<'_>,
    vectors: &[u8],
) -> std::result::Result<(), Fault> {
    // What cannot be read is made again: the new bytes count.
    let mut statement = db.prepare_cached(
        "INSERT INTO terms (blob, language, ruleset, vectors, sum) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (blob, language, ruleset) DO UPDATE SET vectors = ?4, sum = ?5",
    )?;
    let sum = terms_sum(key.file.as_bytes(), key.language, key.ruleset, vectors);
    statement.execute((key.file.as_bytes(), key.language, key.ruleset, vectors, sum))?;
    Ok(())
}
