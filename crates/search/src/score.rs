//! BM25F: what a query asks, and how one document is scored.
//!
//! For a document and a view, with q the weight of a term in the query:
//!
//! ```text
//! x     = sum over fields of  w_f * (tf_f / (1 - b_f + b_f * length_f / average_f))
//! score = sum over terms of   (q * idf) * (x / (k1 + x))
//! idf   = ln(1 + (N - df + 0.5) / (df + 0.5)),  df over the union of fields
//! ```
//!
//! Sums are taken in the order of fields and of terms' texts, so that the same documents give the same bits on every
//! machine, whether they are asked through an index or an overlay.

use crate::fields::N_FIELDS;
use crate::image::{DocIndex, Lengths};
use crate::postings::{Counts, fields_of};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scoring {
    /// How soon more occurrences stop to matter.
    pub k1: f64,
    /// How much a field's length matters.
    pub b: [f64; N_FIELDS],
}

impl Default for Scoring {
    fn default() -> Scoring {
        Scoring { k1: 1.2, b: [0.6; N_FIELDS] }
    }
}

/// One way to look at documents: weights of fields, not negative. A field of weight 0 does not count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct View {
    pub weights: [f64; N_FIELDS],
}

#[derive(Clone, PartialEq, Debug)]
pub struct QueryTerm {
    /// A token.
    pub term: String,
    /// Its weight in each view; it is not asked where that is 0.
    pub counts: Vec<f64>,
}

/// Terms to look for and the views to look through. All views are answered in one pass.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Query {
    views: Vec<View>,
    terms: Vec<QueryTerm>,
}

/// Views of a query at most: so many numbers are a few instructions.
pub(crate) const MAX_VIEWS: usize = 8;

/// A number for each view.
pub(crate) type Lanes = [f64; MAX_VIEWS];

pub(crate) fn in_lanes(of_views: impl Iterator<Item = f64>) -> Lanes {
    let mut lanes = [0.0; MAX_VIEWS];
    lanes.iter_mut().zip(of_views).for_each(|(lane, it)| *lane = it);
    lanes
}

/// Adds what a term gives to a document of which its fields weigh `x` in each view.
#[inline(always)]
pub(crate) fn saturate(sums: &mut Lanes, of_term: &Lanes, k1: f64, x: &Lanes) {
    let given: Lanes = std::array::from_fn(|lane| of_term[lane] * saturated(x[lane], k1));
    sums.iter_mut().zip(given).for_each(|(sum, it)| *sum += it);
}

#[inline(always)]
pub(crate) fn saturated(x: f64, k1: f64) -> f64 {
    // Where both are 0, nothing is to be added either.
    x / (k1 + x).max(f64::MIN_POSITIVE)
}

impl Query {
    /// Terms are sorted by text; weights of the same term are added.
    ///
    /// # Panics
    /// When there are more than eight views.
    pub fn new(views: Vec<View>, mut terms: Vec<QueryTerm>) -> Query {
        assert!(views.len() <= MAX_VIEWS, "a query has at most {MAX_VIEWS} views");
        for it in &mut terms {
            it.counts.resize(views.len(), 0.0);
        }
        terms.sort_by(|one, other| one.term.cmp(&other.term));
        terms.dedup_by(|later, first| {
            let is_same = later.term == first.term;
            if is_same {
                for (count, more) in first.counts.iter_mut().zip(&later.counts) {
                    *count += more;
                }
            }
            is_same
        });
        Query { views, terms }
    }

    pub fn views(&self) -> &[View] {
        &self.views
    }

    pub fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hit {
    pub document: DocIndex,
    pub score: f64,
}

/// What a query finds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Answer {
    /// For each view the best documents, best first; equal scores in ascending order of nodes. Documents without any term
    /// are left out.
    pub hits: Vec<Vec<Hit>>,
    /// The score of every document in the first view.
    pub scores: Vec<f64>,
}

/// Where a document's score in a view comes from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parts {
    pub score: f64,
    /// What each field gives; they sum to the score, up to rounding.
    pub fields: [f64; N_FIELDS],
    /// Terms of the query (by their place in it) that the document has in a field that counts, with what each gives.
    pub matched: Vec<(usize, f64)>,
}

/// Counts over a whole collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Statistics {
    pub(crate) n_documents: u64,
    pub(crate) total_lengths: [u64; N_FIELDS],
}

impl Statistics {
    pub(crate) fn idf(&self, n_with_term: u32) -> f64 {
        let (all, with) = (self.n_documents as f64, f64::from(n_with_term));
        libm::log(1.0 + (all - with + 0.5) / (with + 0.5))
    }
}

/// What scoring needs of a collection and a `Scoring`.
pub(crate) struct Norms {
    pub(crate) k1: f64,
    b: [f64; N_FIELDS],
    average: [f64; N_FIELDS],
    /// Divisors of short fields by length: nearly all are short, and a division takes as long as all else.
    table: Vec<[f64; N_FIELDS]>,
}

const TABLE: u32 = 256;

impl Norms {
    pub(crate) fn new(statistics: &Statistics, scoring: &Scoring) -> Norms {
        let average = statistics.total_lengths.map(|it| it as f64 / statistics.n_documents as f64);
        let mut norms = Norms { k1: scoring.k1, b: scoring.b, average, table: Vec::new() };
        norms.table = (0..TABLE)
            .map(|length| {
                let mut row = [0.0; N_FIELDS];
                for (field, divisor) in row.iter_mut().enumerate() {
                    *divisor = norms.divisor(field, length);
                }
                row
            })
            .collect();
        norms
    }

    /// Occurrences in each field of a document, set against their lengths.
    #[inline]
    pub(crate) fn weigh_all(
        &self,
        counts: &Counts,
        lengths: &Lengths<'_>,
        document: usize,
    ) -> [f64; N_FIELDS] {
        let mut weighed = [0.0; N_FIELDS];
        for field in fields_of(counts.mask) {
            weighed[field] = self.weigh(field, counts.of[field], lengths.of(field, document));
        }
        weighed
    }

    /// Occurrences in a field of some length, set against its average.
    #[inline(always)]
    pub(crate) fn weigh(&self, field: usize, count: u32, length: u32) -> f64 {
        f64::from(count)
            / match self.table.get(length as usize) {
                Some(row) => row[field],
                None => self.divisor(field, length),
            }
    }

    fn divisor(&self, field: usize, length: u32) -> f64 {
        let b = self.b[field];
        1.0 - b + b * f64::from(length) / self.average[field]
    }
}

/// The sum over fields, before saturation.
#[inline]
pub(crate) fn weighted_sum(weights: &[f64; N_FIELDS], weighed: &[f64; N_FIELDS], mask: u8) -> f64 {
    let mut sum = 0.0;
    for field in fields_of(mask) {
        if weights[field] > 0.0 {
            sum += weights[field] * weighed[field];
        }
    }
    sum
}
