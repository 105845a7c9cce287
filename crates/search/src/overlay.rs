//! An index and what changed since: documents that were added, replaced or removed.
//!
//! ```text
//! base      the image of a snapshot        a  b  c  d
//! removed   those that are gone or replaced   b     d
//! changed   a small index                     b'    e
//! answers as an index of                   a  b' c  e
//! ```
//!
//! Counts (documents, lengths, documents with a term) are integers, so that taking the removed ones off is exact: scores
//! are those of an index built from scratch, to the last bit.

use std::sync::Arc;

use knowing_model::NodeId;

use crate::build::{ImageHead, IndexBuilder};
use crate::fields::N_FIELDS;
use crate::image::{DocIndex, Index, Result};
use crate::searcher::{Searcher, Segment};

#[derive(Clone, Debug)]
pub struct Overlay {
    base: Arc<Index>,
    changed: Arc<Index>,
    /// Documents of the base, ascending.
    removed: Vec<u32>,
    /// How many of the removed documents have a term of the base, by term.
    removed_with: Vec<(u32, u32)>,
    removed_lengths: [u64; N_FIELDS],
}

impl Overlay {
    /// Documents of `changed` replace those of the same nodes in `base`; those of `removed` are taken out of `base`. A node
    /// that is not in `base` is no document to remove.
    pub fn new(base: Arc<Index>, changed: Arc<Index>, removed: impl IntoIterator<Item = NodeId>) -> Overlay {
        let replaced = (0..changed.count()).map(|it| changed.node_at(it));
        let mut removed: Vec<u32> = replaced.chain(removed).filter_map(|it| base.find(it)).collect();
        removed.sort_unstable();
        removed.dedup();
        let mut removed_lengths = [0; N_FIELDS];
        let mut terms = Vec::new();
        for &document in &removed {
            for (total, length) in removed_lengths.iter_mut().zip(base.lengths_at(document)) {
                *total += u64::from(length);
            }
            terms.extend(base.terms_of(document));
        }
        terms.sort_unstable();
        let removed_with =
            terms.chunk_by(|one, other| one == other).map(|it| (it[0], it.len() as u32)).collect();
        Overlay { base, changed, removed, removed_with, removed_lengths }
    }

    pub fn base(&self) -> &Arc<Index> {
        &self.base
    }

    /// The documents that were added or replaced.
    pub fn changed(&self) -> &Arc<Index> {
        &self.changed
    }

    /// How many documents were added, replaced or removed.
    pub fn n_changes(&self) -> usize {
        self.changed.count() as usize + self.removed_alone().len()
    }

    /// All documents as one index, with what the changed ones state about themselves.
    pub fn whole(&self) -> Result<Index> {
        let head = ImageHead {
            snapshot: self.changed.snapshot(),
            history_digest: self.changed.history_digest(),
            commit_time: self.changed.commit_time(),
        };
        let mut builder = IndexBuilder::new();
        let is_kept =
            |it: NodeId| self.base.find(it).is_some_and(|it| self.removed.binary_search(&it).is_err());
        builder.copy(&self.base, is_kept)?;
        builder.copy(&self.changed, |_| true)?;
        builder.finish(&head)
    }

    /// Nodes of documents that are in the base and not here.
    pub fn removed_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.removed_alone().into_iter().map(|it| self.base.node_at(it))
    }

    /// Documents of the base that nothing replaces.
    pub(crate) fn removed_alone(&self) -> Vec<u32> {
        let is_replaced = |it: u32| self.changed.find(self.base.node_at(it)).is_some();
        self.removed.iter().copied().filter(|it| !is_replaced(*it)).collect()
    }

    fn n_removed_with(&self, term: u32) -> u32 {
        self.removed_with.binary_search_by_key(&term, |it| it.0).map_or(0, |it| self.removed_with[it].1)
    }
}

impl Searcher for Overlay {
    fn segments(&self) -> Vec<Segment<'_>> {
        vec![
            Segment { index: &self.base, removed: &self.removed, first: 0 },
            Segment { index: &self.changed, removed: &[], first: self.base.count() },
        ]
    }

    fn document_frequency(&self, term: &str) -> u32 {
        let of_base = self.base.find_term(term).map_or(0, |it| {
            // What is damaged may say anything, but not lead below zero.
            self.base.n_documents_with(it).saturating_sub(self.n_removed_with(it))
        });
        of_base.saturating_add(self.changed.document_frequency(term))
    }

    fn document(&self, node: NodeId) -> Option<DocIndex> {
        match self.changed.find(node) {
            Some(it) => self.base.count().checked_add(it).map(DocIndex),
            None => {
                let found = self.base.find(node)?;
                self.removed.binary_search(&found).is_err().then_some(DocIndex(found))
            }
        }
    }

    fn n_documents(&self) -> usize {
        self.base.count() as usize - self.removed.len() + self.changed.count() as usize
    }

    fn total_lengths(&self) -> [u64; N_FIELDS] {
        let (base, changed) = (self.base.sums_of_lengths(), self.changed.sums_of_lengths());
        std::array::from_fn(|field| {
            base[field].saturating_sub(self.removed_lengths[field]).saturating_add(changed[field])
        })
    }
}
