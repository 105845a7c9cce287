//! Reads blobs by id, one handle a thread.

use gix::{
    objs::{Find, Kind},
    odb::{Header, pack::cache::lru::MemoryCappedHashmap},
};

use crate::{BlobId, Error, Result};

/// Not shared between threads, but cheap to make: with rayon, `map_init(|| checkout.reader(), ...)`.
pub struct Reader {
    objects: gix::OdbHandle,
}

/// Bases of deltas kept in memory, per reader.
const CACHED_BYTES: usize = 16 * 1024 * 1024;

impl Reader {
    pub(crate) fn new(mut objects: gix::OdbHandle) -> Reader {
        objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(CACHED_BYTES)));
        Reader { objects }
    }

    /// The content; none when the object is not here, as in a partial clone. Nothing is fetched.
    pub fn blob(&self, id: BlobId) -> Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let found =
            self.objects.try_find(&id.0, &mut content).map_err(Error::git(format!("read blob `{id}`")))?;
        match found.map(|it| (it.kind, it.data.len())) {
            None => Ok(None),
            Some((Kind::Blob, length)) => {
                content.truncate(length);
                Ok(Some(content))
            }
            Some((kind, _)) => Err(not_a_blob(id, kind)),
        }
    }

    /// The length of the content without reading it; none when the object is not here.
    pub fn blob_size(&self, id: BlobId) -> Result<Option<u64>> {
        let found = self.objects.try_header(&id.0).map_err(Error::git(format!("read blob `{id}`")))?;
        match found {
            None => Ok(None),
            Some(header) if header.kind() == Kind::Blob => Ok(Some(header.size())),
            Some(header) => Err(not_a_blob(id, header.kind())),
        }
    }
}

fn not_a_blob(id: BlobId, kind: Kind) -> Error {
    Error::Git { action: format!("read blob `{id}`"), reason: format!("it is a {kind}") }
}
