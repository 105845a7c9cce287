//! The index of one snapshot: a file of eight sections, each on an 8-byte border, and access to it.
//!
//! ```text
//! header | nodes | lengths | short lengths | documents | dictionary | terms | postings | vectors
//! ```
//!
//! Documents stand in ascending order of their nodes' ids, terms in the order of their texts. Words are in the order of
//! the machine that wrote them (an image never leaves its machine).
//!
//! Opening reads the header and the dictionary only. Every other access is within checked bounds, so that damage can
//! hide documents but not lead astray; what a query notices is told by `is_damaged`, and `verify` looks at every byte.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use knowing_model::{Hash, NodeId, SnapshotId, checksum, position_of};

use crate::bytes::Bytes;
use crate::fields::N_FIELDS;
use crate::layout::{
    DocumentRecord, HEADER, Header, LONG_LENGTH, NO_TIME, Section, TermRecord, header_of, section_range,
};
use crate::postings::{Counts, Cursor, END};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read or write the search image: {0}")]
    Io(#[from] io::Error),
    /// The file is not an image of this version, of this machine or of this snapshot, or it is damaged.
    #[error("the search image is unusable: {0}")]
    Damaged(&'static str),
    #[error("the documents do not fit together: {0}")]
    Input(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// The position of a document in canonical order. In an overlay, changed documents come after those of the base.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocIndex(pub u32);

#[derive(Debug)]
pub struct Index {
    bytes: Bytes,
    header: Header,
    is_damaged: AtomicBool,
}

/// Lengths of fields, in columns by document.
#[derive(Clone, Copy)]
pub(crate) struct Lengths<'s> {
    short: [&'s [u8]; N_FIELDS],
    all: [&'s [u32]; N_FIELDS],
}

impl Lengths<'_> {
    #[inline(always)]
    pub(crate) fn of(&self, field: usize, document: usize) -> u32 {
        match self.short[field][document] {
            LONG_LENGTH => self.all[field][document],
            short => u32::from(short),
        }
    }
}

impl Index {
    /// Maps the image of `snapshot`.
    pub fn open(path: &Path, snapshot: SnapshotId) -> Result<Index> {
        Index::of_snapshot(Bytes::open(path)?, snapshot)
    }

    pub(crate) fn of_snapshot(bytes: Bytes, snapshot: SnapshotId) -> Result<Index> {
        let index = Index::checked(bytes)?;
        if index.snapshot() != snapshot {
            return Err(Error::Damaged("it is of another snapshot"));
        }
        Ok(index)
    }

    /// Writes the image under a temporary name and renames it, so that a reader sees all of it or nothing.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(self.bytes.write(path)?)
    }

    pub(crate) fn from_words(words: Vec<u64>) -> Result<Index> {
        Index::checked(Bytes::Built(words))
    }

    fn checked(bytes: Bytes) -> Result<Index> {
        let header = header_of(bytes.as_slice())?;
        let index = Index { header, bytes, is_damaged: AtomicBool::new(false) };
        if checksum(index.section(Section::Dictionary)) != header.dictionary_checksum {
            return Err(Error::Damaged("the checksum of its dictionary does not hold"));
        }
        index.dictionary().ok_or(Error::Damaged("its dictionary cannot be read"))?;
        Ok(index)
    }

    /// Looks at every byte: for those who check files, not for those who ask.
    pub fn verify(&self) -> Result<()> {
        if checksum(&self.all_bytes()[HEADER..]) != self.header.contents_checksum {
            return Err(Error::Damaged("its checksum does not hold"));
        }
        Ok(())
    }

    /// Whether a query met damage: its answer may lack documents, and the image should be built anew.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Tells it from any other image: of the header, which has the sum of the rest.
    pub(crate) fn sum(&self) -> u64 {
        self.header.checksum
    }

    /// The text of a term's number.
    pub(crate) fn term_text(&self, term: u32) -> Option<String> {
        String::from_utf8(self.dictionary()?.get_key(u64::from(term))?).ok()
    }

    pub fn snapshot(&self) -> SnapshotId {
        SnapshotId(Hash(self.header.snapshot))
    }

    /// Digest of the commits whose messages are in it.
    pub fn history_digest(&self) -> Hash {
        Hash(self.header.history_digest)
    }

    /// Time of the snapshot's commit, in seconds since 1970.
    pub fn commit_time(&self) -> i64 {
        self.header.commit_time
    }

    /// Distinct terms.
    pub fn n_terms(&self) -> usize {
        self.header.n_terms as usize
    }

    /// Bytes of the image.
    pub fn n_bytes(&self) -> usize {
        self.all_bytes().len()
    }

    pub(crate) fn count(&self) -> u32 {
        self.header.n_documents as u32
    }

    pub(crate) fn sums_of_lengths(&self) -> [u64; N_FIELDS] {
        self.header.total_lengths
    }

    /// The node of each document, ascending.
    pub(crate) fn nodes(&self) -> &[[u8; 32]] {
        self.records(Section::Nodes)
    }

    pub(crate) fn find(&self, node: NodeId) -> Option<u32> {
        let nodes = self.nodes();
        position_of(node.as_bytes(), nodes.len(), |it| &nodes[it]).ok().map(|it| it as u32)
    }

    pub(crate) fn node_at(&self, document: u32) -> NodeId {
        NodeId(Hash(self.nodes().get(document as usize).copied().unwrap_or_default()))
    }

    pub(crate) fn all_lengths(&self) -> Lengths<'_> {
        Lengths { short: self.columns(Section::ShortLengths), all: self.columns(Section::Lengths) }
    }

    pub(crate) fn lengths_at(&self, document: u32) -> [u32; N_FIELDS] {
        let lengths = self.all_lengths();
        let document = (document < self.count()).then_some(document as usize);
        std::array::from_fn(|field| document.map_or(0, |it| lengths.of(field, it)))
    }

    /// A number of each document, by field.
    fn columns<T: bytemuck::Pod>(&self, section: Section) -> [&[T]; N_FIELDS] {
        let rows: &[[T; N_FIELDS]] = self.records(section);
        let all: &[T] = bytemuck::cast_slice(rows);
        let n_documents = self.count() as usize;
        std::array::from_fn(|field| &all[field * n_documents..][..n_documents])
    }

    pub(crate) fn record(&self, document: u32) -> Option<&DocumentRecord> {
        self.records(Section::Documents).get(document as usize)
    }

    pub(crate) fn last_commit_at(&self, document: u32) -> Option<i64> {
        self.record(document).map(|it| it.last_commit).filter(|&it| it != NO_TIME)
    }

    /// The number of a term's text.
    pub(crate) fn find_term(&self, term: &str) -> Option<u32> {
        let number = self.dictionary()?.get(term)?;
        u32::try_from(number.value()).ok()
    }

    pub(crate) fn n_documents_with(&self, term: u32) -> u32 {
        let terms: &[TermRecord] = self.records(Section::Terms);
        terms.get(term as usize).map_or(0, |it| it.n_documents)
    }

    /// Documents that have a term; nothing, and a mark, when they are damaged.
    pub(crate) fn postings(&self, term: u32) -> Cursor<'_> {
        let terms: &[TermRecord] = self.records(Section::Terms);
        let all = self.section(Section::Postings);
        let found = terms.get(term as usize).and_then(|record| {
            let end = terms.get(term as usize + 1).map_or(all.len(), |it| it.postings as usize);
            let bytes = all.get(record.postings as usize..end)?;
            (checksum(bytes) as u32 == record.checksum)
                .then(|| Cursor::new(bytes, record.n_documents, self.count()))
        });
        found.unwrap_or_else(|| {
            self.mark_damaged();
            Cursor::new(&[], 0, 0)
        })
    }

    /// Terms of a document, in ascending order.
    pub(crate) fn vector(&self, document: u32) -> Cursor<'_> {
        let all = self.section(Section::Vectors);
        let found = self.record(document).and_then(|record| {
            let bytes = all.get(record.vector as usize..)?;
            Some(Cursor::new(bytes, record.n_terms, self.header.n_terms as u32))
        });
        found.unwrap_or_else(|| {
            self.mark_damaged();
            Cursor::new(&[], 0, 0)
        })
    }

    /// Numbers of the terms of a document, ascending.
    pub(crate) fn terms_of(&self, document: u32) -> Vec<u32> {
        let mut vector = self.vector(document);
        let mut terms = Vec::new();
        while vector.key != END {
            terms.push(vector.key);
            vector.advance();
        }
        if vector.is_damaged() {
            self.mark_damaged();
        }
        terms
    }

    pub(crate) fn counts(&self, document: u32, term: u32) -> Option<Counts> {
        let mut vector = self.vector(document);
        vector.advance_to(term);
        if vector.is_damaged() {
            self.mark_damaged();
        }
        (vector.key == term).then(|| vector.counts())
    }

    pub(crate) fn mark_damaged(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    fn dictionary(&self) -> Option<fst::raw::Fst<&[u8]>> {
        // What fills the section up to a word is no part of the dictionary, whose end says where things are.
        let section = self.section(Section::Dictionary);
        let (length, rest) = section.split_first_chunk::<8>()?;
        fst::raw::Fst::new(rest.get(..u64::from_ne_bytes(*length) as usize)?).ok()
    }

    fn records<T: bytemuck::Pod>(&self, section: Section) -> &[T] {
        let items = match section {
            Section::Terms => self.header.n_terms,
            _ => self.header.n_documents,
        };
        let length = size_of::<T>() * items as usize;
        bytemuck::cast_slice(&self.section(section)[..length])
    }

    fn section(&self, section: Section) -> &[u8] {
        &self.all_bytes()[section_range(&self.header.offsets, section)]
    }

    pub(crate) fn all_bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }
}
