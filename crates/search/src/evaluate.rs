//! Everything a query says of one document, in one walk over its terms.

use crate::fields::N_FIELDS;
use crate::image::DocIndex;
use crate::postings::fields_of;
use crate::score::{Lanes, MAX_VIEWS, Parts, saturate, weighted_sum};
use crate::searcher::{Prepared, PreparedTerm, locate};

/// What was found of a document. Made once and filled again for each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evaluation {
    /// The score in each view; equal, to the last bit, to that of a search.
    pub views: [f64; MAX_VIEWS],
    /// What each field gives to the score in the first view.
    pub parts: [f64; N_FIELDS],
    /// Terms of the query (by their place in it) that the document has, with the set of fields it has them in.
    pub matched: Vec<(usize, u8)>,
}

impl Evaluation {
    /// As for a document that has no term of the query.
    pub fn clear(&mut self) {
        self.views = [0.0; MAX_VIEWS];
        self.parts = [0.0; N_FIELDS];
        self.matched.clear();
    }
}

impl Prepared<'_> {
    pub fn evaluate(&self, document: DocIndex, into: &mut Evaluation) {
        into.clear();
        let k1 = self.norms.k1;
        self.each_match(document, |term, mask, weighed| {
            into.matched.push((term.place, mask));
            let mut x: Lanes = [0.0; MAX_VIEWS];
            for field in fields_of(mask) {
                x.iter_mut().zip(&self.weights[field]).for_each(|(x, it)| *x += it * weighed[field]);
            }
            saturate(&mut into.views, &term.weights, k1, &x);
            let (weight, sum) = (term.weights[0], x[0]);
            if weight > 0.0 && sum > 0.0 {
                for field in fields_of(mask).filter(|&it| self.weights[it][0] > 0.0) {
                    let part = self.weights[field][0] * weighed[field];
                    into.parts[field] += weight * (part / (k1 + sum));
                }
            }
        });
    }

    /// See `Searcher::parts`.
    pub fn parts(&self, view: usize, document: DocIndex) -> Parts {
        let mut parts = Parts::default();
        let Some(weights) = self.query.views().get(view).map(|it| it.weights) else { return parts };
        self.each_match(document, |term, mask, weighed| {
            let sum = weighted_sum(&weights, weighed, mask);
            let weight = term.weights[view];
            if sum == 0.0 || weight == 0.0 {
                return;
            }
            let part = weight * (sum / (self.norms.k1 + sum));
            parts.score += part;
            parts.matched.push((term.place, part));
            for field in fields_of(mask).filter(|&it| weights[it] > 0.0) {
                parts.fields[field] += weight * (weights[field] * weighed[field] / (self.norms.k1 + sum));
            }
        });
        parts
    }

    /// Visits the terms of the query that a document has, in the query's order, with the set of fields it has them in and
    /// what they weigh there.
    fn each_match(&self, document: DocIndex, mut visit: impl FnMut(&PreparedTerm, u8, &[f64; N_FIELDS])) {
        let Some((number, index, document)) = locate(&self.segments, document) else { return };
        let lengths = index.all_lengths();
        let mut vector = index.vector(document);
        for term in &self.terms {
            let Some(wanted) = term.numbers[number] else { continue };
            vector.advance_to(wanted);
            if vector.key == wanted {
                let counts = vector.counts();
                visit(term, counts.mask, &self.norms.weigh_all(&counts, &lengths, document as usize));
            }
        }
        if vector.is_damaged() {
            index.mark_damaged();
        }
    }

    /// The idf of each term of the query, by its place; 0 for what no document has.
    pub fn idfs(&self) -> Vec<f64> {
        let mut idfs = vec![0.0; self.query.terms().len()];
        for term in &self.terms {
            idfs[term.place] = term.idf;
        }
        idfs
    }
}
