//! The best documents of a segment, in blocks: within a block all terms are added up in their order, term by term, into
//! sums that fit in the processor's cache; then the best are kept and the next block begins.

use crate::postings::{Counts, Cursor, fields_of};
use crate::searcher::Prepared;

/// Documents of a block.
const BLOCK: usize = 4096;

#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: f64,
    pub(crate) document: u32,
}

/// For each view the best `limit` documents of a segment, in no order.
pub(crate) fn best_of(prepared: &Prepared<'_>, segment: usize, limit: usize) -> Vec<Vec<Candidate>> {
    let n_views = prepared.query.views().len();
    let mut best: Vec<Best> = (0..n_views).map(|_| Best::new(limit)).collect();
    let index = prepared.segments[segment].index;
    let mut lists: Vec<List<'_>> = prepared
        .terms
        .iter()
        .filter_map(|term| {
            let mut cursor = index.postings(term.numbers[segment]?);
            Some(List { next: cursor.next(), cursor, weights: &term.weights })
        })
        .collect();
    let mut block = Block::new(prepared, segment);
    if limit > 0 {
        while let Some(first) = lists.iter().filter_map(|it| it.next).map(|it| it.0).min() {
            block.fill(first, &mut lists);
            block.drain(&mut best);
        }
    }
    if lists.iter().any(|it| it.cursor.is_damaged()) {
        index.mark_damaged();
    }
    best.into_iter().map(Best::finish).collect()
}

/// The postings of a term that are still to be read.
struct List<'s> {
    cursor: Cursor<'s>,
    next: Option<(u32, Counts)>,
    /// By view.
    weights: &'s [f64],
}

struct Block<'s> {
    prepared: &'s Prepared<'s>,
    segment: usize,
    n_views: usize,
    first: u32,
    /// By document of the block and view.
    sums: Vec<f64>,
    /// A bit for each document of the block that has a term.
    touched: [u64; BLOCK / 64],
}

impl<'s> Block<'s> {
    fn new(prepared: &'s Prepared<'s>, segment: usize) -> Block<'s> {
        let n_views = prepared.query.views().len();
        Block {
            prepared,
            segment,
            n_views,
            first: 0,
            sums: vec![0.0; BLOCK * n_views],
            touched: [0; BLOCK / 64],
        }
    }

    fn fill(&mut self, first: u32, lists: &mut [List<'_>]) {
        self.first = first;
        let end = u64::from(first) + BLOCK as u64;
        let Prepared { norms, query, segments, .. } = self.prepared;
        let records = segments[self.segment].index.records_of_documents();
        for list in lists {
            while let Some((document, counts)) = list.next.filter(|it| u64::from(it.0) < end) {
                list.next = list.cursor.next();
                let Some(record) = records.get(document as usize) else { continue };
                let mut weighed = [0.0; 8];
                for field in fields_of(counts.mask) {
                    weighed[field] = norms.weigh(field, counts.of[field], record.lengths[field]);
                }
                let place = (document - first) as usize;
                self.touched[place / 64] |= 1 << (place % 64);
                let sums = &mut self.sums[place * self.n_views..][..self.n_views];
                for ((sum, view), weight) in sums.iter_mut().zip(query.views()).zip(list.weights) {
                    let mut x = 0.0;
                    for field in fields_of(counts.mask) {
                        if view.weights[field] > 0.0 {
                            x += view.weights[field] * weighed[field];
                        }
                    }
                    if x > 0.0 {
                        *sum += weight * (x / (norms.k1 + x));
                    }
                }
            }
        }
    }

    /// Hands the sums over and leaves the block empty.
    fn drain(&mut self, best: &mut [Best]) {
        let removed = self.prepared.segments[self.segment].removed;
        for (word, bits) in self.touched.iter_mut().enumerate() {
            while *bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                let document = self.first + place as u32;
                let sums = &mut self.sums[place * self.n_views..][..self.n_views];
                let counts = removed.is_empty() || removed.binary_search(&document).is_err();
                for (sum, best) in sums.iter_mut().zip(best.iter_mut()) {
                    let score = std::mem::take(sum);
                    if score > 0.0 && counts {
                        best.push(Candidate { score, document });
                    }
                }
            }
        }
    }
}

/// The best documents so far: up to twice as many as asked for, then the worse half is dropped.
struct Best {
    limit: usize,
    kept: Vec<Candidate>,
    /// No score below it can be among the best.
    least: f64,
}

impl Best {
    fn new(limit: usize) -> Best {
        Best { limit, kept: Vec::new(), least: 0.0 }
    }

    fn push(&mut self, candidate: Candidate) {
        // Documents come in ascending order: an equal score that comes later is worse.
        if candidate.score <= self.least {
            return;
        }
        self.kept.push(candidate);
        if self.kept.len() >= self.limit.saturating_mul(2).max(64) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.kept.len() > self.limit {
            let by_rank = |one: &Candidate, other: &Candidate| {
                other.score.total_cmp(&one.score).then(one.document.cmp(&other.document))
            };
            self.kept.select_nth_unstable_by(self.limit - 1, by_rank);
            self.kept.truncate(self.limit);
            self.least = self.kept[self.limit - 1].score;
        }
    }

    fn finish(mut self) -> Vec<Candidate> {
        self.shrink();
        self.kept
    }
}
