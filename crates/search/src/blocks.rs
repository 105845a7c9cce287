//! The best documents of a segment, in blocks: within a block all terms are added up in their order, term by term, into
//! sums that fit in the processor's cache; then the best are kept and the next block begins.
//!
//! Views stand side by side, and a posting is added to all of them at once, without asking which it counts in: what it does
//! not count in gets 0, which changes no bit of a sum.

use rayon::prelude::*;

use crate::fields::N_FIELDS;
use crate::image::Lengths;
use crate::postings::Cursor;
use crate::score::{Lanes, MAX_VIEWS, in_lanes, saturate, saturated};
use crate::searcher::Prepared;

/// Documents of a block.
const BLOCK: usize = 1024;

/// A document and its score as one number: the better, the smaller; of equal scores, the document that comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate(u128);

impl Candidate {
    /// Scores are above 0: they are in the order of their bits.
    fn new(score: f64, document: u32) -> Candidate {
        Candidate(u128::from(!score.to_bits()) << 32 | u128::from(document))
    }

    pub(crate) fn score(self) -> f64 {
        f64::from_bits(!((self.0 >> 32) as u64))
    }

    pub(crate) fn document(self) -> u32 {
        self.0 as u32
    }
}

/// Documents that are worth a thread.
const MIN_PART: usize = 2 * BLOCK;

/// What a segment offers.
pub(crate) struct Found {
    /// For each view the best documents and more, in no order.
    pub(crate) best: Vec<Vec<Candidate>>,
    /// By document, of the first view.
    pub(crate) scores: Vec<f64>,
}

pub(crate) fn best_of(prepared: &Prepared<'_>, segment: usize, limit: usize) -> Found {
    let n_documents = prepared.segments[segment].index.count() as usize;
    let n_parts = (n_documents / MIN_PART).clamp(1, rayon::current_num_threads());
    best_in_parts(prepared, segment, limit, n_parts)
}

/// Parts of the documents go to threads. A score is made of one document's postings in the order of the terms, and every part
/// keeps as many as are asked for: the best are the same for any number of parts.
pub(crate) fn best_in_parts(prepared: &Prepared<'_>, segment: usize, limit: usize, n_parts: usize) -> Found {
    let n_documents = prepared.segments[segment].index.count() as usize;
    let mut scores = vec![0.0; n_documents];
    let part = n_documents.div_ceil(n_parts).max(1);
    let parts = scores.par_chunks_mut(part).enumerate();
    let parts: Vec<Vec<Vec<Candidate>>> = parts
        .map(|(number, scores)| best_among(prepared, segment, (number * part) as u32, scores, limit))
        .collect();
    let mut best = vec![Vec::new(); prepared.query.views().len()];
    for part in parts {
        best.iter_mut().zip(part).for_each(|(best, part)| best.extend(part));
    }
    Found { best, scores }
}

fn best_among(
    prepared: &Prepared<'_>,
    segment: usize,
    start: u32,
    scores: &mut [f64],
    limit: usize,
) -> Vec<Vec<Candidate>> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "only so can code for what not every processor has be called")]
        // SAFETY: the processor has it, as was asked just now.
        return unsafe { best_among_wide(prepared, segment, start, scores, limit) };
    }
    best_among_as_compiled(prepared, segment, start, scores, limit)
}

/// The same, compiled for vectors of twice the width.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn best_among_wide(
    prepared: &Prepared<'_>,
    segment: usize,
    start: u32,
    scores: &mut [f64],
    limit: usize,
) -> Vec<Vec<Candidate>> {
    best_among_as_compiled(prepared, segment, start, scores, limit)
}

/// Of the documents from `start` on, as many as there is room for scores.
#[inline(always)]
fn best_among_as_compiled(
    prepared: &Prepared<'_>,
    segment: usize,
    start: u32,
    scores: &mut [f64],
    limit: usize,
) -> Vec<Vec<Candidate>> {
    let n_views = prepared.query.views().len();
    let mut best: Vec<Best> = (0..n_views).map(|_| Best::new(limit)).collect();
    let index = prepared.segments[segment].index;
    let mut lists: Vec<List<'_>> = prepared
        .terms
        .iter()
        .filter_map(|term| {
            let mut cursor = index.postings(term.numbers[segment]?);
            cursor.advance_to(start);
            Some(List { cursor, weights: term.weights })
        })
        .collect();
    let end = start + scores.len() as u32;
    let mut block = Block::new(prepared, segment);
    if limit > 0 && n_views > 0 {
        while let Some(first) = lists.iter().map(|it| it.cursor.key).min().filter(|&it| it < end) {
            block.first = first;
            block.end = end.min(first.saturating_add(BLOCK as u32));
            for list in &mut lists {
                block.add(list);
            }
            block.drain(&mut best, &mut scores[(first - start) as usize..]);
        }
    }
    if lists.iter().any(|it| it.cursor.is_damaged()) {
        index.mark_damaged();
    }
    best.into_iter().map(Best::finish).collect()
}

/// The postings of a term, as far as they are not read yet.
struct List<'s> {
    cursor: Cursor<'s>,
    weights: Lanes,
}

struct Block<'s> {
    prepared: &'s Prepared<'s>,
    segment: usize,
    lengths: Lengths<'s>,
    /// The weight of a field, where all views in which it counts give it the same.
    single: [Option<Single>; N_FIELDS],
    first: u32,
    /// The first document that is not of the block.
    end: u32,
    /// By document of the block.
    sums: Vec<Lanes>,
    /// A bit for each document of the block that has a term.
    touched: [u64; BLOCK / 64],
}

/// The weight of a field, and 1 for each view in which it counts.
#[derive(Clone, Copy)]
struct Single {
    weight: f64,
    counts: Lanes,
}

impl Single {
    fn of(weights: &Lanes) -> Option<Single> {
        let weight = weights.iter().copied().fold(0.0, f64::max);
        let is_single = weights.iter().all(|&it| it == weight || it == 0.0);
        is_single.then(|| Single { weight, counts: weights.map(|it| f64::from(u8::from(it > 0.0))) })
    }
}

impl<'s> Block<'s> {
    fn new(prepared: &'s Prepared<'s>, segment: usize) -> Block<'s> {
        Block {
            prepared,
            segment,
            lengths: prepared.segments[segment].index.all_lengths(),
            single: prepared.weights.each_ref().map(Single::of),
            first: 0,
            end: 0,
            sums: vec![[0.0; MAX_VIEWS]; BLOCK],
            touched: [0; BLOCK / 64],
        }
    }

    /// Adds what a term gives to the documents of the block.
    #[inline(always)]
    fn add(&mut self, list: &mut List<'_>) {
        let Prepared { norms, weights, .. } = self.prepared;
        let Block { lengths, single, first, end, sums, touched, .. } = self;
        let (first, end) = (*first as usize, *end);
        let (k1, of_term) = (norms.k1, list.weights);
        // Beside the loop's other values, not behind a reference.
        let mut cursor = list.cursor.clone();
        while cursor.key < end {
            let document = cursor.key as usize;
            let place = document - first;
            touched[place / 64] |= 1 << (place % 64);
            let sums = &mut sums[place];
            match cursor.short() {
                Some((field, count)) => {
                    let weighed = norms.weigh(field, count, lengths.of(field, document));
                    match &single[field] {
                        Some(it) => {
                            let share = saturated(it.weight * weighed, k1);
                            let given: Lanes =
                                std::array::from_fn(|lane| of_term[lane] * (share * it.counts[lane]));
                            sums.iter_mut().zip(given).for_each(|(sum, it)| *sum += it);
                        }
                        None => saturate(sums, &of_term, k1, &weights[field].map(|it| it * weighed)),
                    }
                }
                None => {
                    let mut x = [0.0; MAX_VIEWS];
                    cursor.each_count(|field, count| {
                        let weighed = norms.weigh(field, count, lengths.of(field, document));
                        x.iter_mut().zip(&weights[field]).for_each(|(x, it)| *x += it * weighed);
                    });
                    saturate(sums, &of_term, k1, &x);
                }
            }
            cursor.advance();
        }
        list.cursor = cursor;
    }

    /// Hands the sums over and leaves the block empty. `first` are scores in the first view, from the block's first document.
    #[inline(always)]
    fn drain(&mut self, best: &mut [Best], first: &mut [f64]) {
        let removed = self.prepared.segments[self.segment].removed;
        let mut least = in_lanes(best.iter().map(|it| it.least));
        for (word, bits) in self.touched.iter_mut().enumerate() {
            while *bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                let document = self.first + place as u32;
                let scores = std::mem::take(&mut self.sums[place]);
                first[place] = scores[0];
                let is_better = scores.iter().zip(&least).fold(false, |any, (one, it)| any | (one > it));
                if !is_better || removed.binary_search(&document).is_ok() {
                    continue;
                }
                for ((best, score), least) in best.iter_mut().zip(scores).zip(&mut least) {
                    best.push(score, document);
                    *least = best.least;
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

    #[inline(always)]
    fn push(&mut self, score: f64, document: u32) {
        // Documents come in ascending order: an equal score that comes later is worse.
        if score <= self.least {
            return;
        }
        self.kept.push(Candidate::new(score, document));
        if self.kept.len() >= self.limit.saturating_mul(2).max(64) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.kept.len() > self.limit {
            self.kept.select_nth_unstable(self.limit - 1);
            self.kept.truncate(self.limit);
            self.least = self.kept[self.limit - 1].score();
        }
    }

    fn finish(mut self) -> Vec<Candidate> {
        self.shrink();
        self.kept
    }
}
