//! The bytes of an image: just built, or mapped from its file. Both are read by the same code.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use memmap2::Mmap;

#[derive(Debug)]
pub(crate) enum Bytes {
    Built(Vec<u64>),
    /// All but so many bytes at the beginning, which are whole words.
    Mapped(Mmap, usize),
}

impl Bytes {
    pub(crate) fn behind(self, from: usize) -> Bytes {
        match self {
            Bytes::Built(words) => Bytes::Built(words.get(from / 8..).unwrap_or_default().to_vec()),
            Bytes::Mapped(map, before) => Bytes::Mapped(map, before + from),
        }
    }

    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        Ok(Bytes::Mapped(map(&File::open(path)?)?, 0))
    }

    /// Writes under a temporary name and renames, so that a reader sees all of it or nothing.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(self.as_slice())?;
        file.persist(path).map_err(|it| it.error)?;
        Ok(())
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Built(words) => bytemuck::cast_slice(words),
            Bytes::Mapped(map, from) => map.get(*from..).unwrap_or_default(),
        }
    }
}

#[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: images are written under a temporary name, renamed and never changed in place; nobody but us writes in
    // their directory.
    unsafe { Mmap::map(file) }
}
