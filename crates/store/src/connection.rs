//! One connection to a database: opened, checked, set up, and the two ways into it, for reading and for writing.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Error, Fault, Result};
use crate::migrations::{self, MIGRATIONS, Migration};
use crate::steps::step;

/// A connection to a database. Opening a second one is cheap, and a reader on it is not disturbed by a writer.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// Readers that share the open read transaction.
    pub(crate) n_readers: Cell<u32>,
    /// Set when nobody waits for what is read or written any more.
    stop: Option<Arc<AtomicBool>>,
}

/// Steps of SQLite's machine between two looks at whether someone still waits: some microseconds.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

impl Store {
    /// Opens the database, makes it (and its directory) when there is none, and brings it to this program's schema.
    pub fn open(path: &Path) -> Result<Store> {
        open(path, MIGRATIONS).map_err(|it| it.at(path))
    }

    /// As `open`, but none when there is no file.
    pub fn open_existing(path: &Path) -> Result<Option<Store>> {
        match fs::metadata(path) {
            Ok(it) if it.len() == 0 => Ok(None),
            Ok(_) => Store::open(path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Fault::Io(error).at(path)),
        }
    }

    /// Once `stop` is set, every read and write ends with `Error::Stopped`, those under way included; a transaction that is
    /// not committed then leaves nothing.
    pub fn stopped_by(mut self, stop: Option<Arc<AtomicBool>>) -> Result<Store> {
        if let Some(stop) = &stop {
            let stop = Arc::clone(stop);
            let is_over = move || stop.load(Ordering::Relaxed);
            let set = self.connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_over));
            set.map_err(|error| Fault::from(error).at(&self.path))?;
        }
        self.stop = stop;
        Ok(self)
    }

    fn check_wanted(&self) -> Result<()> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Error::Stopped { path: self.path.clone() }),
            _ => Ok(()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where derived files of snapshots lie.
    pub fn images_dir(&self) -> PathBuf {
        self.path.with_file_name("images")
    }

    /// What `open` locks.
    pub(crate) fn directory(&self) -> Option<File> {
        directory_of(&self.path)
    }

    /// Runs one read and says which database a fault is about.
    pub(crate) fn read<T>(
        &self,
        run: impl FnOnce(&Connection) -> std::result::Result<T, Fault>,
    ) -> Result<T> {
        self.check_wanted()?;
        run(&self.connection).map_err(|it| it.at(&self.path))
    }

    /// Runs one transaction: all of it is kept, or on any fault nothing.
    pub(crate) fn write<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> std::result::Result<T, Fault>,
    ) -> Result<T> {
        self.check_wanted()?;
        let connection = &mut self.connection;
        let written = (|| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            step();
            let value = run(&transaction)?;
            step();
            transaction.commit()?;
            step();
            Ok(value)
        })();
        written.map_err(|it: Fault| it.at(&self.path))
    }
}

/// Only one thread of a process opens at a time. Otherwise closing the file that was made here by hand would drop the
/// locks which another connection of this process has just taken on it: POSIX locks belong to the process.
static OPENING: Mutex<()> = Mutex::new(());

pub(crate) fn open(path: &Path, migrations: &[Migration]) -> std::result::Result<Store, Fault> {
    let guard = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    make_file(path)?;
    let alone = alone_in(path);
    let has_wal = fs::metadata(wal_path(path)).is_ok_and(|it| it.len() > 0);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // Closing the last connection writes the log back. A database that is refused must stay as it is.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_wal)?;
    connection.pragma_update(None, "busy_timeout", BUSY_TIMEOUT_MS)?;
    let version = migrations::check(&connection, migrations)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    set_up(&connection)?;
    if version < migrations::known(migrations) {
        migrations::run(&connection, path, version, migrations)?;
    }
    drop(alone);
    drop(guard);
    connection.set_prepared_statement_cache_capacity(64);
    Ok(Store { connection, path: path.to_owned(), n_readers: Cell::new(0), stop: None })
}

/// Only one process opens at a time: one that looks while another makes the database would see half of it. The lock is on the
/// directory, so that it leaves no file; where there is none to be had, as on some network drives, opening goes on without.
fn alone_in(path: &Path) -> Option<File> {
    directory_of(path).filter(|it| it.lock().is_ok())
}

fn directory_of(path: &Path) -> Option<File> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory).ok()
}

/// SQLite gives its own files (log, shared memory) the mode of the database, so that the mode is set once, here.
fn make_file(path: &Path) -> std::result::Result<(), Fault> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_file() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn wal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

pub(crate) const BUSY_TIMEOUT_MS: u32 = 5000;

fn set_up(connection: &Connection) -> std::result::Result<(), Fault> {
    // Before the first page is written, else it has no effect.
    connection.pragma_update(None, "page_size", 8192)?;
    switch_to_wal(connection)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "mmap_size", 256 << 20)?;
    // Negative: in KiB.
    connection.pragma_update(None, "cache_size", -(64 << 10))?;
    // A statement is planned once, and not again for each value that it is asked with.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A first index leaves a log of its whole size behind otherwise.
    connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
    Ok(())
}

/// Two processes that make the same database at once both switch; SQLite does not let the second wait for the first,
/// because both hold a read lock, so that it has to ask again.
pub(crate) fn switch_to_wal(connection: &Connection) -> std::result::Result<(), Fault> {
    const ATTEMPTS: u32 = 50;
    for attempt in 1.. {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(Fault::Io(io::Error::other(format!("no write-ahead log here, only `{mode}`"))));
            }
            Err(error) => {
                let fault = Fault::from(error);
                if !fault.is_busy() || attempt == ATTEMPTS {
                    return Err(fault);
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
    unreachable!("the loop ends by its attempts")
}
