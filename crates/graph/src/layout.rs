//! Where things stand in the file, and the sum that tells whether it is whole.

use bytemuck::{Pod, Zeroable};
use knowing_model::{SnapshotId, checksum};

use crate::image::{EdgeRecord, Error, NodeRecord, Result};

const MAGIC: [u8; 8] = *b"knowgrph";
/// Raise it when the layout changes: old files are then rebuilt.
const VERSION: u32 = 3;
/// Reads otherwise on a machine of the other byte order.
const ORDER: u32 = 0x0102_0304;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) order: u32,
    pub(crate) snapshot: [u8; 32],
    pub(crate) n_nodes: u64,
    pub(crate) n_edges: u64,
    /// Node versions that are left out, because another file states their symbol too.
    pub(crate) n_repeated: u64,
    /// Where each section begins, and the length of the file at the end.
    pub(crate) offsets: [u64; SECTIONS + 1],
    /// Last, so that it is one word that the sum leaves out.
    pub(crate) checksum: u64,
}

const SECTIONS: usize = 6;
pub(crate) const HEADER: usize = size_of::<Header>();
const CHECKSUM_WORD: usize = HEADER / 8 - 1;

/// An image in the making: its sections are filled in place, in any order.
pub(crate) struct Draft {
    words: Vec<u64>,
    n_nodes: u64,
    n_edges: u64,
    offsets: [u64; SECTIONS + 1],
}

impl Draft {
    pub(crate) fn new(n_nodes: usize, n_edges: usize) -> Result<Draft> {
        let (n_nodes, n_edges) = (n_nodes as u64, n_edges as u64);
        let offsets = section_offsets(n_nodes, n_edges).ok_or_else(too_large)?;
        Ok(Draft { words: vec![0_u64; offsets[SECTIONS] as usize / 8], n_nodes, n_edges, offsets })
    }

    pub(crate) fn nodes(&mut self) -> &mut [NodeRecord] {
        self.pair::<_, u32>(0).0
    }

    /// Nodes by the rows of their symbols.
    pub(crate) fn order(&mut self) -> (&[NodeRecord], &mut [u32]) {
        let (nodes, order) = self.pair(0);
        (nodes, order)
    }

    /// Where the edges from each node begin, and these edges.
    pub(crate) fn outgoing(&mut self) -> (&mut [u32], &mut [EdgeRecord]) {
        self.pair(2)
    }

    pub(crate) fn incoming(&mut self) -> (&mut [u32], &mut [EdgeRecord]) {
        self.pair(4)
    }

    /// A section and the one behind it.
    fn pair<A: Pod, B: Pod>(&mut self, number: usize) -> (&mut [A], &mut [B]) {
        let [from, border] = [number, number + 1].map(|it| self.offsets[it] as usize);
        let items = |it: usize| section_items(it, self.n_nodes, self.n_edges) as usize;
        let (n_first, n_second) = (items(number), items(number + 1));
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let (first, second) = bytes[from..].split_at_mut(border - from);
        let first = &mut first[..n_first * size_of::<A>()];
        let second = &mut second[..n_second * size_of::<B>()];
        (bytemuck::cast_slice_mut(first), bytemuck::cast_slice_mut(second))
    }

    /// The words of the image.
    pub(crate) fn finish(mut self, snapshot: SnapshotId, n_repeated: u64) -> Vec<u64> {
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            order: ORDER,
            snapshot: *snapshot.as_bytes(),
            n_nodes: self.n_nodes,
            n_edges: self.n_edges,
            n_repeated,
            offsets: self.offsets,
            checksum: 0,
        };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
        header.checksum = checksum_of(bytes);
        bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
        self.words
    }
}

fn too_large() -> Error {
    Error::Input("more than 4 thousand million nodes or edges".to_owned())
}

pub(crate) fn header_of(bytes: &[u8]) -> Result<Header> {
    let head = bytes.get(..HEADER).ok_or(Error::Damaged("it is shorter than its header"))?;
    let header: Header = bytemuck::pod_read_unaligned(head);
    if header.magic != MAGIC {
        return Err(Error::Damaged("it is no graph image"));
    }
    if header.version != VERSION || header.order != ORDER {
        return Err(Error::Damaged("another version or machine wrote it"));
    }
    let offsets = section_offsets(header.n_nodes, header.n_edges);
    if offsets != Some(header.offsets) || header.offsets[SECTIONS] != bytes.len() as u64 {
        return Err(Error::Damaged("its length is not what its header states"));
    }
    Ok(header)
}

/// Section borders follow from the counts; none when they overflow.
fn section_offsets(n_nodes: u64, n_edges: u64) -> Option<[u64; SECTIONS + 1]> {
    const SIZES: [u64; SECTIONS] = [
        size_of::<NodeRecord>() as u64,
        size_of::<u32>() as u64,
        size_of::<u32>() as u64,
        size_of::<EdgeRecord>() as u64,
        size_of::<u32>() as u64,
        size_of::<EdgeRecord>() as u64,
    ];
    if n_nodes > u64::from(u32::MAX) || n_edges > u64::from(u32::MAX) {
        return None;
    }
    let mut offsets = [0; SECTIONS + 1];
    offsets[0] = HEADER as u64;
    for (number, size) in SIZES.into_iter().enumerate() {
        let length = size.checked_mul(section_items(number, n_nodes, n_edges))?;
        offsets[number + 1] = offsets[number].checked_add(length)?.checked_next_multiple_of(8)?;
    }
    Some(offsets)
}

pub(crate) fn section_items(number: usize, n_nodes: u64, n_edges: u64) -> u64 {
    match number {
        0 | 1 => n_nodes,
        2 | 4 => n_nodes + 1,
        _ => n_edges,
    }
}

/// Of the file but the word that holds the sum. One of the two parts changes with any one word, and so does the whole.
pub(crate) fn checksum_of(bytes: &[u8]) -> u64 {
    let (head, rest) = bytes.split_at(CHECKSUM_WORD * 8);
    checksum(head) ^ checksum(&rest[8..]).rotate_left(1)
}
