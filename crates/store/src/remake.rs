//! Rows that can be made again from git: removed where they are damaged, replaced by what is made anew.

use rusqlite::OptionalExtension;

use crate::check_texts::Remakable;
use crate::connection::Store;
use crate::error::Result;
use crate::files::{EncodedFacts, FILE_COLUMNS, FileRow, file_of};
use crate::packed::sum;

impl Store {
    /// Removes damaged term vectors, commits and histories. Without them answers know less, but nothing wrong.
    pub fn drop_damaged(&mut self, damaged: &Remakable) -> Result<()> {
        self.write(|db| {
            for (query, rows) in [
                ("DELETE FROM terms WHERE terms_row = ?1", &damaged.terms),
                ("DELETE FROM histories WHERE snapshot_row = ?1", &damaged.histories),
                ("DELETE FROM commits WHERE commit_row = ?1", &damaged.commits),
            ] {
                let mut delete = db.prepare_cached(query)?;
                for row in rows {
                    delete.execute([row])?;
                }
            }
            Ok(())
        })
    }

    /// A file version by its row.
    pub fn file_at(&self, row: i64) -> Result<Option<FileRow>> {
        self.read(|db| {
            let query = format!("SELECT {FILE_COLUMNS} FROM files WHERE file_row = ?1");
            Ok(db.prepare_cached(&query)?.query_row([row], file_of).optional()?)
        })
    }

    /// File versions read under `ruleset` that have no term vectors of `terms_ruleset`.
    pub fn files_without_terms(&self, ruleset: u32, terms_ruleset: u32) -> Result<Vec<FileRow>> {
        self.read(|db| {
            let query = format!(
                "SELECT {FILE_COLUMNS} FROM files WHERE ruleset = ?1 AND skip_reason = '' AND NOT EXISTS
                 (SELECT 1 FROM terms t WHERE t.blob = files.hash AND t.language = files.language AND t.ruleset = ?2)
                 ORDER BY file_row"
            );
            let mut statement = db.prepare_cached(&query)?;
            let rows = statement.query_map((ruleset, terms_ruleset), file_of)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Puts facts that were made anew in place of those that cannot be read.
    pub fn replace_facts(&mut self, file_row: i64, facts: &EncodedFacts) -> Result<()> {
        self.write(|db| {
            let insert = "INSERT INTO file_facts (file_row, facts, sum) VALUES (?1, ?2, ?3)
                          ON CONFLICT (file_row) DO UPDATE SET facts = ?2, sum = ?3";
            db.execute(insert, (file_row, facts.bytes(), sum([facts.bytes()])))?;
            Ok(())
        })
    }
}
