//! Who may rely on rows that are stored, and who may take them away.
//!
//! An index run looks up what is stored, works for seconds, and then writes a snapshot that speaks of those rows. SQLite
//! guards each transaction, not the time between two; this lock does. It lies in a file beside the database.

use std::fs::{File, OpenOptions, TryLockError};

use crate::connection::Store;
use crate::error::{Error, Fault, Result};

/// Held until it is dropped.
#[derive(Debug)]
pub struct RowLock {
    _file: File,
}

impl Store {
    /// For who builds on stored rows: nothing is collected meanwhile. Waits for a collection to end.
    pub fn keep_rows(&self) -> Result<RowLock> {
        let file = self.lock_file()?;
        file.lock_shared().map_err(|error| Fault::Io(error).at(self.path()))?;
        Ok(RowLock { _file: file })
    }

    /// For who takes rows away. Busy while anyone builds on them.
    pub fn take_rows(&self) -> Result<RowLock> {
        let file = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => Ok(RowLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { path: self.path().to_owned() }),
            Err(TryLockError::Error(error)) => Err(Fault::Io(error).at(self.path())),
        }
    }

    fn lock_file(&self) -> Result<File> {
        let mut path = self.path().as_os_str().to_owned();
        path.push(".lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(|error| Fault::Io(error).at(self.path()))
    }
}
