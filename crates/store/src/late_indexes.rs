//! Indexes of tables that are filled for the first time are made once the rows are there: sorting names once takes half of
//! the time of finding each one's place in a tree that grows.

use rusqlite::Connection;

use crate::error::Fault;

/// Those that a first index of a repository fills, in no order that any index has.
const TABLES: [&str; 2] = ["symbols", "unresolved"];

/// Indexes that are to be made again, as SQL.
pub(crate) struct LateIndexes(Vec<String>);

impl LateIndexes {
    /// Takes the indexes away while no symbol is known; later all stay.
    pub(crate) fn take(db: &Connection) -> Result<LateIndexes, Fault> {
        let mut taken = Vec::new();
        if db.query_row("SELECT EXISTS (SELECT 1 FROM symbols)", [], |row| row.get(0))? {
            return Ok(LateIndexes(taken));
        }
        for table in TABLES {
            // What keeps values unique has no SQL of its own and cannot be taken away.
            let mut statement = db.prepare_cached(
                "SELECT name, sql FROM sqlite_schema
                 WHERE type = 'index' AND tbl_name = ?1 AND sql IS NOT NULL ORDER BY rowid",
            )?;
            let rows = statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let indexes: Vec<(String, String)> = rows.collect::<rusqlite::Result<_>>()?;
            for (name, sql) in indexes {
                db.execute_batch(&format!("DROP INDEX {name}"))?;
                taken.push(sql);
            }
        }
        Ok(LateIndexes(taken))
    }

    pub(crate) fn make(self, db: &Connection) -> Result<(), Fault> {
        self.0.iter().try_for_each(|sql| Ok(db.execute_batch(sql)?))
    }
}
