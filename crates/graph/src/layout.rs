//! Where things stand in the file, and the sum that tells whether it is whole.

use bytemuck::{Pod, Zeroable};
use knowing_model::{SnapshotId, checksum};

use crate::build::Adjacency;
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

pub(crate) fn encode(
    snapshot: SnapshotId,
    nodes: &[NodeRecord],
    outgoing: &Adjacency,
    incoming: &Adjacency,
    n_repeated: u64,
) -> Result<Vec<u64>> {
    let mut order: Vec<u32> = (0..u32::try_from(nodes.len()).map_err(|_| too_large())?).collect();
    order.sort_unstable_by_key(|&it| nodes[it as usize].sym);
    u32::try_from(outgoing.edges.len()).map_err(|_| too_large())?;
    let sections: [&[u8]; SECTIONS] = [
        bytemuck::cast_slice(nodes),
        bytemuck::cast_slice(&order),
        bytemuck::cast_slice(&outgoing.offsets),
        bytemuck::cast_slice(&outgoing.edges),
        bytemuck::cast_slice(&incoming.offsets),
        bytemuck::cast_slice(&incoming.edges),
    ];
    let (n_nodes, n_edges) = (nodes.len() as u64, outgoing.edges.len() as u64);
    let offsets = section_offsets(n_nodes, n_edges).ok_or_else(too_large)?;
    let mut words = vec![0_u64; offsets[SECTIONS] as usize / 8];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (section, &from) in sections.iter().zip(&offsets) {
        bytes[from as usize..from as usize + section.len()].copy_from_slice(section);
    }
    let mut header = Header {
        magic: MAGIC,
        version: VERSION,
        order: ORDER,
        snapshot: *snapshot.as_bytes(),
        n_nodes,
        n_edges,
        n_repeated,
        offsets,
        checksum: 0,
    };
    bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
    header.checksum = checksum_of(bytes);
    bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
    Ok(words)
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
