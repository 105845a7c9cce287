//! The schema's versions: which one a file has, and the steps from there to this program's.
//!
//! A file says what it is by SQLite's `application_id` and which schema it has by `user_version`, so that a foreign
//! database is told from ours before anything is written to it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionState};

use crate::error::Fault;
use crate::name_keys::copy_symbols;
use crate::single_edges::pack_single_edges;

/// Takes the schema from the version before to `version`.
#[derive(Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: u32,
    pub(crate) sql: &'static str,
    /// What SQL cannot do, after it and in the same transaction.
    pub(crate) convert: Option<Convert>,
}

type Convert = fn(&Connection) -> Result<(), Fault>;

impl Migration {
    pub(crate) const fn of_sql(version: u32, sql: &'static str) -> Migration {
        Migration { version, sql, convert: None }
    }
}

/// Versions are 1, 2, 3 ... and a step is never changed once it was released.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration::of_sql(1, include_str!("schema/001_initial.sql")),
    Migration::of_sql(2, include_str!("schema/002_search.sql")),
    Migration::of_sql(3, include_str!("schema/003_packs.sql")),
    Migration::of_sql(4, include_str!("schema/004_walked.sql")),
    Migration::of_sql(5, include_str!("schema/005_notes.sql")),
    Migration::of_sql(6, include_str!("schema/006_sums.sql")),
    Migration::of_sql(7, include_str!("schema/007_sessions.sql")),
    Migration::of_sql(8, include_str!("schema/008_feedback.sql")),
    Migration {
        version: 9,
        sql: include_str!("schema/009_packed_edges.sql"),
        convert: Some(pack_single_edges),
    },
    Migration { version: 10, sql: include_str!("schema/010_name_keys.sql"), convert: Some(copy_symbols) },
];

/// `knwg` in ASCII.
pub(crate) const APPLICATION_ID: u32 = 0x6b6e_7767;

/// No copy is kept of a database larger than this when it is migrated.
const MAX_COPIED: u64 = 1 << 30;

pub(crate) fn known(migrations: &[Migration]) -> u32 {
    migrations.last().map_or(0, |it| it.version)
}

/// The version of a database that is ours and not newer than we are; 0 for an empty one. Reads only.
pub(crate) fn check(connection: &Connection, migrations: &[Migration]) -> Result<u32, Fault> {
    let found = number(connection, "user_version")?;
    match number(connection, "application_id")? {
        APPLICATION_ID if found > known(migrations) => {
            Err(Fault::Unsupported { found, known: known(migrations) })
        }
        APPLICATION_ID => Ok(found),
        0 if found == 0 && is_empty(connection)? => Ok(0),
        _ => Err(Fault::damaged("the file belongs to another program")),
    }
}

/// Applies what is missing, one transaction a step. A copy of what was there before is kept beside the database.
pub(crate) fn run(
    connection: &Connection,
    path: &Path,
    from: u32,
    migrations: &[Migration],
) -> Result<(), Fault> {
    if from > 0 && fs::metadata(path)?.len() < MAX_COPIED {
        keep_copy(connection, path, from)?;
    }
    for migration in migrations.iter().filter(|it| it.version > from) {
        let stepped = step(connection, migration);
        if stepped.is_err() && connection.transaction_state(None::<&str>)? != TransactionState::None {
            connection.execute_batch("ROLLBACK")?;
        }
        stepped?;
    }
    Ok(())
}

fn step(connection: &Connection, migration: &Migration) -> Result<(), Fault> {
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    // Another process may have done the same while this one waited for the lock.
    if number(connection, "user_version")? < migration.version {
        connection.execute_batch(migration.sql)?;
        if let Some(convert) = migration.convert {
            convert(connection)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", migration.version)?;
    }
    crate::steps::step();
    connection.execute_batch("COMMIT")?;
    crate::steps::step();
    Ok(())
}

fn keep_copy(connection: &Connection, path: &Path, version: u32) -> Result<(), Fault> {
    let copy = copy_path(path, version);
    if copy.exists() {
        return Ok(());
    }
    let unfinished = with_suffix(&copy, ".tmp");
    let _ = fs::remove_file(&unfinished);
    // An empty file of the right mode first: SQLite fills it.
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&unfinished)?;
    let target = unfinished.to_str().ok_or_else(|| std::io::Error::other("the path is not UTF-8"))?;
    connection.execute("VACUUM INTO ?1", [target])?;
    fs::rename(&unfinished, &copy)?;
    Ok(())
}

/// `knowing.db` of version 1 is kept as `knowing.db.v1`.
pub(crate) fn copy_path(path: &Path, version: u32) -> PathBuf {
    with_suffix(path, &format!(".v{version}"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn number(connection: &Connection, pragma: &str) -> Result<u32, Fault> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
}

fn is_empty(connection: &Connection) -> Result<bool, Fault> {
    Ok(connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?)
}
