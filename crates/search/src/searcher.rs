//! Asking a collection of documents: the same for an index and for an overlay of changes on one.

use knowing_model::NodeId;

use crate::blocks::{Candidate, Found, best_of};
use crate::fields::N_FIELDS;
use crate::image::{DocIndex, Index};
use crate::score::{Answer, Hit, Lanes, Norms, Parts, Query, Scoring, Statistics, in_lanes};

/// A collection that can be asked.
pub trait Searcher {
    #[doc(hidden)]
    fn segments(&self) -> Vec<Segment<'_>>;

    /// Documents that have a term in any field.
    fn document_frequency(&self, term: &str) -> u32;

    /// The document of a node.
    fn document(&self, node: NodeId) -> Option<DocIndex>;

    fn n_documents(&self) -> usize;

    /// Sums of the lengths of each field, over all documents.
    fn total_lengths(&self) -> [u64; N_FIELDS];

    fn node(&self, document: DocIndex) -> NodeId {
        at(self, document, |index, it| index.node_at(it)).unwrap_or_default()
    }

    /// Tokens of each field.
    fn lengths(&self, document: DocIndex) -> [u32; N_FIELDS] {
        at(self, document, |index, it| index.lengths_at(it)).unwrap_or_default()
    }

    /// Commits that changed it.
    fn n_commits(&self, document: DocIndex) -> u32 {
        at(self, document, |index, it| index.record(it).map(|it| it.n_commits)).flatten().unwrap_or_default()
    }

    /// Time of the last commit that changed it, in seconds since 1970.
    fn last_commit(&self, document: DocIndex) -> Option<i64> {
        at(self, document, |index, it| index.last_commit_at(it)).flatten()
    }

    /// How often a document has a term in each field; none when it has it nowhere.
    fn has_term(&self, document: DocIndex, term: &str) -> Option<[u32; N_FIELDS]> {
        at(self, document, |index, it| index.counts(it, index.find_term(term)?)).flatten().map(|it| it.of)
    }

    fn idf(&self, term: &str) -> f64 {
        statistics(self).idf(self.document_frequency(term))
    }

    /// Looks up the terms of a query once, for all that is asked about it.
    fn prepare<'s>(&'s self, query: &'s Query, scoring: &Scoring) -> Prepared<'s> {
        let statistics = statistics(self);
        let segments = self.segments();
        let terms = query
            .terms()
            .iter()
            .enumerate()
            .filter_map(|(place, it)| {
                let numbers: Vec<_> =
                    segments.iter().map(|segment| segment.index.find_term(&it.term)).collect();
                let n_documents = self.document_frequency(&it.term);
                let idf = statistics.idf(n_documents);
                let weights = in_lanes(it.counts.iter().map(|count| count * idf));
                (n_documents > 0).then_some(PreparedTerm { place, idf, numbers, weights })
            })
            .collect();
        let weights = std::array::from_fn(|field| in_lanes(query.views().iter().map(|it| it.weights[field])));
        Prepared { query, segments, terms, weights, norms: Norms::new(&statistics, scoring) }
    }

    /// For each view the best documents, as `Prepared::answer` has them.
    fn search(&self, query: &Query, scoring: &Scoring, limit: usize) -> Vec<Vec<Hit>> {
        self.prepare(query, scoring).answer(limit).hits
    }

    /// Where the score of one document in one view comes from. For many documents, `prepare` first.
    fn parts(&self, query: &Query, view: usize, scoring: &Scoring, document: DocIndex) -> Parts {
        self.prepare(query, scoring).parts(view, document)
    }
}

/// An index, and those of its documents that do not count.
#[derive(Clone, Copy)]
pub struct Segment<'s> {
    pub(crate) index: &'s Index,
    /// In ascending order.
    pub(crate) removed: &'s [u32],
    /// The collection's number of its first document.
    pub(crate) first: u32,
}

/// A query whose terms were looked up in a collection.
pub struct Prepared<'s> {
    pub(crate) query: &'s Query,
    pub(crate) segments: Vec<Segment<'s>>,
    /// Those that some document has.
    pub(crate) terms: Vec<PreparedTerm>,
    /// Weights of each field.
    pub(crate) weights: [Lanes; N_FIELDS],
    pub(crate) norms: Norms,
}

pub(crate) struct PreparedTerm {
    /// In the query.
    pub(crate) place: usize,
    pub(crate) idf: f64,
    /// By segment.
    pub(crate) numbers: Vec<Option<u32>>,
    /// Query weight times idf.
    pub(crate) weights: Lanes,
}

impl Prepared<'_> {
    pub fn answer(&self, limit: usize) -> Answer {
        self.joined(limit, |segment| best_of(self, segment, limit))
    }

    /// The best of what each segment offers.
    pub(crate) fn joined(&self, limit: usize, offered: impl Fn(usize) -> Found) -> Answer {
        let mut hits: Vec<Vec<Hit>> = vec![Vec::new(); self.query.views().len()];
        let mut scores = Vec::new();
        for number in 0..self.segments.len() {
            let offered = offered(number);
            let first = self.segments[number].first;
            for (hits, mut best) in hits.iter_mut().zip(offered.best) {
                best.sort_unstable();
                best.truncate(limit);
                let hit =
                    |it: Candidate| Hit { document: DocIndex(first + it.document()), score: it.score() };
                hits.extend(best.into_iter().map(hit));
            }
            match scores.is_empty() {
                true => scores = offered.scores,
                false => scores.extend(offered.scores),
            }
        }
        if self.segments.len() > 1 {
            // Documents of one segment stand in the order of their nodes.
            let node = |it: &Hit| locate(&self.segments, it.document).map(|(_, index, it)| index.node_at(it));
            for hits in &mut hits {
                hits.sort_by(|one, other| {
                    other.score.total_cmp(&one.score).then_with(|| node(one).cmp(&node(other)))
                });
                hits.truncate(limit);
            }
        }
        Answer { hits, scores }
    }
}

fn statistics(searcher: &(impl Searcher + ?Sized)) -> Statistics {
    Statistics { n_documents: searcher.n_documents() as u64, total_lengths: searcher.total_lengths() }
}

fn at<T>(
    searcher: &(impl Searcher + ?Sized),
    document: DocIndex,
    read: impl FnOnce(&Index, u32) -> T,
) -> Option<T> {
    let (_, index, document) = locate(&searcher.segments(), document)?;
    Some(read(index, document))
}

pub(crate) fn locate<'s>(segments: &[Segment<'s>], document: DocIndex) -> Option<(usize, &'s Index, u32)> {
    segments.iter().enumerate().rev().find_map(|(number, it)| {
        let within = document.0.checked_sub(it.first)?;
        (within < it.index.count()).then_some((number, it.index, within))
    })
}

impl Searcher for Index {
    fn segments(&self) -> Vec<Segment<'_>> {
        vec![Segment { index: self, removed: &[], first: 0 }]
    }

    fn document_frequency(&self, term: &str) -> u32 {
        self.find_term(term).map_or(0, |it| self.n_documents_with(it))
    }

    fn document(&self, node: NodeId) -> Option<DocIndex> {
        self.find(node).map(DocIndex)
    }

    fn n_documents(&self) -> usize {
        self.count() as usize
    }

    fn total_lengths(&self) -> [u64; N_FIELDS] {
        self.sums_of_lengths()
    }
}
