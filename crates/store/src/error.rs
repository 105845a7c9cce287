//! What can go wrong with a database, in terms a caller can branch on and a person can act on.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot use the database `{}`: {reason}; check that its directory exists and may be written", path.display())]
    Io { path: PathBuf, reason: String },

    #[error("the disk of the database `{}` is full; nothing was changed, free some space and try again", path.display())]
    Full { path: PathBuf },

    #[error("the database `{}` is being written by another process; try again when it has finished", path.display())]
    Busy { path: PathBuf },

    #[error("nobody waits for the database `{}` any more; ask again", path.display())]
    Stopped { path: PathBuf },

    #[error("`{}` is not a sound knowing database: {reason}; run `knowing fsck`, or move the file away and index again", path.display())]
    Corrupt { path: PathBuf, reason: String },

    #[error(
        "the database `{}` has schema version {found} and this program knows {known}; use a newer program, or another database with `--db`",
        path.display()
    )]
    Unsupported { path: PathBuf, found: u32, known: u32 },

    #[error("the database `{}` refused a statement: {reason}; nothing was changed, this is a fault of the program", path.display())]
    Internal { path: PathBuf, reason: String },
}

/// An error that does not know yet which database it is about.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Io(io::Error),
    /// Something stored cannot be what was written.
    Damaged(String),
    Unsupported {
        found: u32,
        known: u32,
    },
    /// More rows than row numbers.
    TooLarge,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sqlite(error)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Io(error)
    }
}

impl Fault {
    pub(crate) fn damaged(what: impl Into<String>) -> Fault {
        Fault::Damaged(what.into())
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Fault::Sqlite(error) if code(error).is_some_and(is_busy))
    }

    pub(crate) fn at(self, path: &Path) -> Error {
        let path = path.to_owned();
        match self {
            Fault::Io(error) if error.kind() == io::ErrorKind::StorageFull => Error::Full { path },
            Fault::Io(error) => Error::Io { path, reason: error.to_string() },
            Fault::Damaged(reason) => Error::Corrupt { path, reason },
            Fault::Unsupported { found, known } => Error::Unsupported { path, found, known },
            Fault::TooLarge => Error::Internal { path, reason: "out of row numbers".to_owned() },
            Fault::Sqlite(error) => of_sqlite(path, &error),
        }
    }
}

fn of_sqlite(path: PathBuf, error: &rusqlite::Error) -> Error {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    let reason = error.to_string();
    if matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..)
    ) {
        return Error::Corrupt { path, reason };
    }
    match code(error) {
        Some(it) if is_busy(it) => Error::Busy { path },
        Some(ErrorCode::OperationInterrupted) => Error::Stopped { path },
        Some(ErrorCode::DiskFull) => Error::Full { path },
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Error::Corrupt { path, reason },
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport,
        ) => Error::Io { path, reason },
        _ => Error::Internal { path, reason },
    }
}

fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

fn is_busy(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
}
