//! Where things stand in the file, and the sums that tell whether it is whole.

use bytemuck::{Pod, Zeroable};
use knowing_model::checksum;

use crate::fields::N_FIELDS;
use crate::image::{Error, Result};

const MAGIC: [u8; 8] = *b"knowsrch";
/// Raise it when the layout or the tokens change: old files are then rebuilt.
const VERSION: u32 = 2;
/// Reads otherwise on a machine of the other byte order.
const ORDER: u32 = 0x0102_0304;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) order: u32,
    pub(crate) snapshot: [u8; 32],
    pub(crate) history_digest: [u8; 32],
    pub(crate) commit_time: i64,
    pub(crate) n_documents: u64,
    pub(crate) n_terms: u64,
    pub(crate) total_lengths: [u64; N_FIELDS],
    /// Where each section begins, and the length of the file at the end.
    pub(crate) offsets: [u64; N_SECTIONS + 1],
    /// Of everything behind the header.
    pub(crate) contents_checksum: u64,
    /// Of the dictionary, whose reader trusts its bytes: checked whenever a file is opened.
    pub(crate) dictionary_checksum: u64,
    /// Of the header up to here.
    pub(crate) checksum: u64,
}

#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub(crate) enum Section {
    Nodes,
    /// A column for each field: a query reads few fields of many documents.
    Lengths,
    /// The same, a byte each, `LONG_LENGTH` for longer ones: nearly all are short, and so they stay in the cache.
    ShortLengths,
    Documents,
    Dictionary,
    Terms,
    Postings,
    Vectors,
}

pub(crate) const N_SECTIONS: usize = 8;
pub(crate) const LONG_LENGTH: u8 = u8::MAX;
pub(crate) const HEADER: usize = size_of::<Header>();

#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct DocumentRecord {
    /// Where its vector begins.
    pub(crate) vector: u64,
    pub(crate) n_terms: u32,
    pub(crate) n_commits: u32,
    /// `NO_TIME` where no commit is known.
    pub(crate) last_commit: i64,
}

pub(crate) const NO_TIME: i64 = i64::MIN;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct TermRecord {
    /// Where its postings begin.
    pub(crate) postings: u64,
    pub(crate) n_documents: u32,
    /// Of its postings: a query notices what is damaged when it reads it.
    pub(crate) checksum: u32,
}

/// What is known before the sections are put together.
pub(crate) struct Head {
    pub(crate) snapshot: [u8; 32],
    pub(crate) history_digest: [u8; 32],
    pub(crate) commit_time: i64,
    pub(crate) total_lengths: [u64; N_FIELDS],
}

pub(crate) fn encode(
    head: &Head,
    n_documents: usize,
    n_terms: usize,
    sections: [&[u8]; N_SECTIONS],
) -> Vec<u64> {
    let mut offsets = [HEADER as u64; N_SECTIONS + 1];
    for (number, section) in sections.iter().enumerate() {
        offsets[number + 1] = (offsets[number] + section.len() as u64).next_multiple_of(8);
    }
    let mut words = vec![0_u64; offsets[N_SECTIONS] as usize / 8];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (section, &from) in sections.iter().zip(&offsets) {
        bytes[from as usize..from as usize + section.len()].copy_from_slice(section);
    }
    let mut header = Header {
        magic: MAGIC,
        version: VERSION,
        order: ORDER,
        snapshot: head.snapshot,
        history_digest: head.history_digest,
        commit_time: head.commit_time,
        n_documents: n_documents as u64,
        n_terms: n_terms as u64,
        total_lengths: head.total_lengths,
        offsets,
        contents_checksum: checksum(&bytes[HEADER..]),
        dictionary_checksum: checksum(&bytes[section_range(&offsets, Section::Dictionary)]),
        checksum: 0,
    };
    header.checksum = header_checksum(&header);
    bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
    words
}

/// The header, when it is whole and the file is as long as it states.
pub(crate) fn header_of(bytes: &[u8]) -> Result<Header> {
    let head = bytes.get(..HEADER).ok_or(Error::Damaged("it is shorter than its header"))?;
    let header: Header = bytemuck::pod_read_unaligned(head);
    if header.magic != MAGIC {
        return Err(Error::Damaged("it is no search image"));
    }
    if header.version != VERSION || header.order != ORDER {
        return Err(Error::Damaged("another version or machine wrote it"));
    }
    if header.checksum != header_checksum(&header) {
        return Err(Error::Damaged("the checksum of its header does not hold"));
    }
    let fits = |section: Section, items: u64, size: usize| {
        let from = header.offsets[section as usize];
        let length =
            items.checked_mul(size as u64).and_then(|it| from.checked_add(it)?.checked_next_multiple_of(8));
        length == Some(header.offsets[section as usize + 1])
    };
    let is_whole = header.offsets[0] == HEADER as u64
        && header.offsets.is_sorted()
        && header.offsets.iter().all(|it| it % 8 == 0)
        && header.offsets[N_SECTIONS] == bytes.len() as u64
        && header.n_documents < u64::from(u32::MAX)
        && header.n_terms < u64::from(u32::MAX)
        && fits(Section::Nodes, header.n_documents, 32)
        && fits(Section::Lengths, header.n_documents, 4 * N_FIELDS)
        && fits(Section::ShortLengths, header.n_documents, N_FIELDS)
        && fits(Section::Documents, header.n_documents, size_of::<DocumentRecord>())
        && fits(Section::Terms, header.n_terms, size_of::<TermRecord>());
    if !is_whole {
        return Err(Error::Damaged("its length is not what its header states"));
    }
    Ok(header)
}

/// The bytes of a section, with what fills it up to a whole word.
pub(crate) fn section_range(offsets: &[u64; N_SECTIONS + 1], section: Section) -> std::ops::Range<usize> {
    offsets[section as usize] as usize..offsets[section as usize + 1] as usize
}

fn header_checksum(header: &Header) -> u64 {
    checksum(&bytemuck::bytes_of(header)[..HEADER - 8])
}
