//! The documents of one snapshot, whichever way they are kept: as an image of their own, or as what changed since another
//! snapshot's.
//!
//! ```text
//! image    header | sections                                    layout.rs
//! changes  header | documents of the base that are no more | image of those that came
//! ```
//!
//! A file of changes names its base and the base's sum. Without exactly that base it is worth nothing, and the caller
//! builds an image from the database.

use std::path::Path;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use knowing_model::{Hash, NodeId, SnapshotId, checksum};

use crate::bytes::Bytes;
use crate::fields::N_FIELDS;
use crate::image::{DocIndex, Error, Index, Result};
use crate::overlay::Overlay;
use crate::searcher::{Searcher, Segment};

#[derive(Clone, Debug)]
pub enum Collection {
    Whole(Arc<Index>),
    Changes(Box<Overlay>),
}

impl Collection {
    /// Maps the documents of `snapshot`. `base` opens the image of another snapshot, when this one is kept as changes.
    pub fn open(
        path: &Path,
        snapshot: SnapshotId,
        base: impl FnOnce(SnapshotId) -> Result<Index>,
    ) -> Result<Collection> {
        let bytes = Bytes::open(path)?;
        if !bytes.as_slice().starts_with(&MAGIC) {
            return Ok(Collection::Whole(Arc::new(Index::of_snapshot(bytes, snapshot)?)));
        }
        let header = header_of(bytes.as_slice())?;
        let base = base(SnapshotId(Hash(header.base)))?;
        if base.sum() != header.base_sum {
            return Err(Error::Damaged("its base is another one"));
        }
        let removed: &[u32] =
            bytemuck::cast_slice(&bytes.as_slice()[HEADER..][..4 * header.n_removed as usize]);
        let removed: Vec<NodeId> =
            removed.iter().filter(|&&it| it < base.count()).map(|&it| base.node_at(it)).collect();
        let changed = Index::of_snapshot(bytes.behind(header.image as usize), snapshot)?;
        Ok(Collection::Changes(Box::new(Overlay::new(Arc::new(base), Arc::new(changed), removed))))
    }

    /// Writes under a temporary name and renames, so that a reader sees all of it or nothing.
    pub fn write(&self, path: &Path) -> Result<()> {
        match self {
            Collection::Whole(index) => index.write(path),
            Collection::Changes(overlay) => Ok(Bytes::Built(encode(overlay)).write(path)?),
        }
    }

    /// All documents as one image: the same bytes, whichever way they were kept.
    pub fn whole(&self) -> Result<Arc<Index>> {
        match self {
            Collection::Whole(index) => Ok(index.clone()),
            Collection::Changes(overlay) => Ok(Arc::new(overlay.whole()?)),
        }
    }

    /// The snapshot whose image a file of changes needs; none for any other file.
    pub fn base_of(path: &Path) -> Option<SnapshotId> {
        let bytes = Bytes::open(path).ok()?;
        header_of(bytes.as_slice()).ok().map(|it| SnapshotId(Hash(it.base)))
    }

    /// Looks at every byte.
    pub fn verify(&self) -> Result<()> {
        match self {
            Collection::Whole(index) => index.verify(),
            Collection::Changes(overlay) => overlay.base().verify().and_then(|()| overlay.changed().verify()),
        }
    }

    /// Whether a query met damage: its answer may lack documents, and the image should be built anew.
    pub fn is_damaged(&self) -> bool {
        match self {
            Collection::Whole(index) => index.is_damaged(),
            Collection::Changes(overlay) => overlay.base().is_damaged() || overlay.changed().is_damaged(),
        }
    }

    pub fn snapshot(&self) -> SnapshotId {
        self.newest().snapshot()
    }

    /// Digest of the commits whose messages are in it.
    pub fn history_digest(&self) -> Hash {
        self.newest().history_digest()
    }

    /// Time of the snapshot's commit, in seconds since 1970.
    pub fn commit_time(&self) -> i64 {
        self.newest().commit_time()
    }

    fn newest(&self) -> &Index {
        match self {
            Collection::Whole(index) => index,
            Collection::Changes(overlay) => overlay.changed(),
        }
    }

    fn searcher(&self) -> &dyn Searcher {
        match self {
            Collection::Whole(index) => &**index,
            Collection::Changes(overlay) => &**overlay,
        }
    }
}

impl From<Index> for Collection {
    fn from(index: Index) -> Collection {
        Collection::Whole(Arc::new(index))
    }
}

impl Searcher for Collection {
    fn segments(&self) -> Vec<Segment<'_>> {
        self.searcher().segments()
    }

    fn document_frequency(&self, term: &str) -> u32 {
        self.searcher().document_frequency(term)
    }

    fn document(&self, node: NodeId) -> Option<DocIndex> {
        self.searcher().document(node)
    }

    fn n_documents(&self) -> usize {
        self.searcher().n_documents()
    }

    fn total_lengths(&self) -> [u64; N_FIELDS] {
        self.searcher().total_lengths()
    }
}

const MAGIC: [u8; 8] = *b"knowchng";
/// Raise it when the layout changes: old files are then rebuilt.
const VERSION: u32 = 1;
/// Reads otherwise on a machine of the other byte order.
const ORDER: u32 = 0x0102_0304;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    order: u32,
    base: [u8; 32],
    base_sum: u64,
    n_removed: u64,
    /// Where the image begins.
    image: u64,
    /// Of everything behind the header.
    contents_checksum: u64,
    /// Of the header up to here.
    checksum: u64,
}

const HEADER: usize = size_of::<Header>();

fn encode(overlay: &Overlay) -> Vec<u64> {
    let removed = overlay.removed_alone();
    let image = HEADER + (4 * removed.len()).next_multiple_of(8);
    let changed = overlay.changed().all_bytes();
    let mut words = vec![0_u64; (image + changed.len()) / 8];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    bytes[HEADER..HEADER + 4 * removed.len()].copy_from_slice(bytemuck::cast_slice(&removed));
    bytes[image..].copy_from_slice(changed);
    let mut header = Header {
        magic: MAGIC,
        version: VERSION,
        order: ORDER,
        base: *overlay.base().snapshot().as_bytes(),
        base_sum: overlay.base().sum(),
        n_removed: removed.len() as u64,
        image: image as u64,
        contents_checksum: checksum(&bytes[HEADER..]),
        checksum: 0,
    };
    header.checksum = checksum(&bytemuck::bytes_of(&header)[..HEADER - 8]);
    bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
    words
}

fn header_of(bytes: &[u8]) -> Result<Header> {
    let head = bytes.get(..HEADER).ok_or(Error::Damaged("it is shorter than its header"))?;
    let header: Header = bytemuck::pod_read_unaligned(head);
    if header.magic != MAGIC || header.version != VERSION || header.order != ORDER {
        return Err(Error::Damaged("another version or machine wrote it"));
    }
    if header.checksum != checksum(&head[..HEADER - 8]) {
        return Err(Error::Damaged("the checksum of its header does not hold"));
    }
    let removed = header.n_removed.checked_mul(4).and_then(|it| it.checked_next_multiple_of(8));
    let fits = removed.and_then(|it| it.checked_add(HEADER as u64)) == Some(header.image)
        && header.image <= bytes.len() as u64;
    if !fits || header.contents_checksum != checksum(&bytes[HEADER..]) {
        return Err(Error::Damaged("its checksum does not hold"));
    }
    Ok(header)
}
