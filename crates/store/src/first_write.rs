//! The first snapshot of a database goes into the file itself, without a log.
//!
//! A log is written, and then written again into the database: for a first index that is all of it twice. What is new
//! behind the end of the file needs no log to be taken back: SQLite's rollback journal then holds the few pages that were
//! there. Its price is that whoever opens the database meanwhile waits, so that it is done only where nobody has it open,
//! and nobody can have read anything from it yet.

use std::fs::File;

use rusqlite::Connection;

use crate::connection::{BUSY_TIMEOUT_MS, Store, switch_to_wal};
use crate::error::Fault;

impl Store {
    /// Runs a write of the first snapshot; a later one, or one beside others, goes its usual way.
    pub(crate) fn first_write<T, E>(&mut self, run: impl FnOnce(&mut Store) -> Result<T, E>) -> Result<T, E> {
        // Held to the end: who opens the database now waits for the snapshot instead of finding it busy.
        let alone = self.leaves_log();
        let result = run(self);
        if alone.is_some() {
            // Where that fails, as on a disk that is full, the next one who opens the database does it.
            let _ = set_safety(&self.connection, "NORMAL");
            let _ = switch_to_wal(&self.connection);
        }
        result
    }

    /// None when the database goes on with its log.
    fn leaves_log(&self) -> Option<File> {
        let is_first = || {
            let any = "SELECT EXISTS (SELECT 1 FROM snapshots)";
            Ok::<_, Fault>(!self.connection.query_row(any, [], |row| row.get::<_, bool>(0))?)
        };
        if self.n_readers.get() > 0 || !is_first().ok()? {
            return None;
        }
        let alone = self.directory()?;
        alone.try_lock().ok()?;
        let left = leave_log(&self.connection);
        let _ = self.connection.pragma_update(None, "busy_timeout", BUSY_TIMEOUT_MS);
        left.ok()?.then_some(alone)
    }
}

/// Whether the log is gone: nobody else has the database open.
fn leave_log(connection: &Connection) -> Result<bool, Fault> {
    connection.pragma_update(None, "busy_timeout", 0)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "TRUNCATE", |row| row.get(0))?;
    if mode == "wal" {
        return Ok(false);
    }
    set_safety(connection, "FULL")?;
    Ok(true)
}

/// Without a log the file itself must be on the disk before the journal is let go.
fn set_safety(connection: &Connection, level: &str) -> Result<(), Fault> {
    Ok(connection.pragma_update(None, "synchronous", level)?)
}
