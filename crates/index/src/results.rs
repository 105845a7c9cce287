//! What is kept of a run for the next one, in a file beside the images: which keys the result of each file hangs on, and
//! which units they are. Without it the next run resolves everything.
//!
//! ```text
//! magic | version | snapshot | sum | files | unit of the packages | rows of each file | what resolution recorded
//! ```

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use knowing_model::{SnapshotId, checksum};
use knowing_resolve::Record;
use knowing_store::{SnapshotRow, Store};

const MAGIC: &[u8; 8] = b"knowkeys";
const VERSION: u32 = 1;
const HEAD: usize = 8 + 4 + 32 + 8 + 4 + 4;

#[derive(Debug, Default)]
pub(crate) struct Results {
    /// In the order of the record.
    pub(crate) files: Vec<FileUnits>,
    /// The unit of what has no file.
    pub(crate) packages: u32,
    pub(crate) record: Record,
}

/// Rows of a file version and of its units; 0 for a unit that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FileUnits {
    pub(crate) file_row: u32,
    pub(crate) resolved: u32,
    pub(crate) derived: u32,
}

impl Results {
    /// All units, in ascending order of rows.
    pub(crate) fn units(&self) -> Vec<u32> {
        let of_files = self.files.iter().flat_map(|it| [it.resolved, it.derived]);
        let mut units: Vec<u32> = of_files.chain([self.packages]).filter(|it| *it != 0).collect();
        units.sort_unstable();
        units
    }
}

/// None when there are none of this snapshot, or they are damaged.
pub(crate) fn open(store: &Store, snapshot: &SnapshotRow) -> Option<Results> {
    decode(&fs::read(path_of(store, snapshot.id)).ok()?, snapshot.id)
}

pub(crate) fn write(path: &Path, snapshot: SnapshotId, results: &Results) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(&encode(snapshot, results))?;
    file.persist(path).map_err(|it| it.error)?;
    Ok(())
}

pub(crate) fn path_of(store: &Store, snapshot: SnapshotId) -> PathBuf {
    path_in(&store.images_dir(), snapshot)
}

pub(crate) fn path_in(images: &Path, snapshot: SnapshotId) -> PathBuf {
    images.join(format!("{snapshot}.keys"))
}

fn encode(snapshot: SnapshotId, results: &Results) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(snapshot.as_bytes());
    bytes.extend([0; 8]);
    bytes.extend((results.files.len() as u32).to_le_bytes());
    bytes.extend(results.packages.to_le_bytes());
    for file in &results.files {
        for row in [file.file_row, file.resolved, file.derived] {
            bytes.extend(row.to_le_bytes());
        }
    }
    results.record.encode(&mut bytes);
    let sum = checksum(&bytes[HEAD - 8..]);
    bytes[HEAD - 16..HEAD - 8].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], snapshot: SnapshotId) -> Option<Results> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let word = |at: usize| head[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
    let sum = head[HEAD - 16..HEAD - 8].try_into().map_or(0, u64::from_le_bytes);
    let is_ours = head.starts_with(MAGIC)
        && word(8) == VERSION
        && head[12..44] == snapshot.as_bytes()[..]
        && sum == checksum(&bytes[HEAD - 8..]);
    if !is_ours {
        return None;
    }
    let (n_files, packages) = (word(HEAD - 8) as usize, word(HEAD - 4));
    let (rows, record) = rest.split_at_checked(n_files.checked_mul(12)?)?;
    let rows = rows.chunks_exact(12).map(|it| {
        let row = |at: usize| it[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        FileUnits { file_row: row(0), resolved: row(4), derived: row(8) }
    });
    let record = Record::decode(record)?;
    let results = Results { files: rows.collect(), packages, record };
    (results.files.len() == results.record.files().len()).then_some(results)
}

#[cfg(test)]
mod tests {
    use knowing_model::Hash;
    use knowing_model::facts::FileFacts;
    use knowing_resolve::{Input, InputFile};

    use super::*;

    #[test]
    fn damage_is_noticed() {
        let snapshot = SnapshotId(Hash([7; 32]));
        let file = FileUnits { file_row: 3, resolved: 4, derived: 0 };
        let files = [InputFile { path: "a.py", facts: &FileFacts::default() }];
        let record = knowing_resolve::resolve(&Input { url: "repo", files: &files }, None).record;
        let bytes = encode(snapshot, &Results { files: vec![file], packages: 9, record });
        let read = decode(&bytes, snapshot).unwrap();
        assert_eq!((read.files, read.packages), (vec![file], 9));
        assert!(decode(&bytes, SnapshotId(Hash([8; 32]))).is_none());
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 4;
            assert!(decode(&flipped, snapshot).is_none(), "byte {at}");
            assert!(decode(&bytes[..at], snapshot).is_none(), "cut at {at}");
        }
    }
}
