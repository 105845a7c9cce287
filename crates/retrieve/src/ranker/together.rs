//! Many rows through many trees without branches.
//!
//! The leaves of a tree are bits, the leftmost the lowest. A split that sends a row to the right takes the leaves on
//! its left away; once every split has been asked, in any order, the lowest bit left is the row's leaf. Asking all
//! splits costs less than walking, because nothing has to be guessed and several rows are asked at once.

use rayon::prelude::*;

use super::Node;

/// How many rows are asked together: their columns fit the nearest cache.
const LANES: usize = 64;

/// A feature of so many rows.
type Column = [f32; LANES];

/// As many leaves as there are bits.
const MOST_LEAVES: usize = 32;

/// The trees of a model up to the first one that has too many leaves.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Together {
    splits: Vec<Split>,
    leaves: Vec<f64>,
    trees: Vec<Tree>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Split {
    threshold: f32,
    feature: u16,
    /// The leaves that remain for a row that goes to the right.
    remain: u32,
}

/// Where a tree's splits and leaves end.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tree {
    splits: u32,
    leaves: u32,
}

impl Together {
    pub(super) fn of<'a>(trees: impl Iterator<Item = &'a [Node]>) -> Together {
        let mut all = Together::default();
        for tree in trees {
            // A tree has one more leaf than splits.
            if tree.len().div_ceil(2) > MOST_LEAVES {
                break;
            }
            all.add(tree);
        }
        all
    }

    pub(super) fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The sum of each row's leaves, in the order of the trees.
    pub(super) fn scores(&self, rows: &[f32], n_rows: usize, width: usize) -> Vec<f64> {
        let mut scores = vec![0.0; n_rows];
        rows.par_chunks(LANES * width).zip(scores.par_chunks_mut(LANES)).for_each(|(block, scores)| {
            let mut columns = vec![[0.0; LANES]; width];
            for (lane, row) in block.chunks_exact(width).enumerate() {
                for (column, value) in columns.iter_mut().zip(row) {
                    column[lane] = *value;
                }
            }
            self.add_scores(&columns, scores);
        });
        scores
    }

    fn add_scores(&self, columns: &[Column], scores: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1") {
            #[expect(unsafe_code, reason = "only so can code for what not every processor has be called")]
            // SAFETY: the processor has it, as was asked just now.
            return unsafe { self.add_scores_wide(columns, scores) };
        }
        self.add_scores_by(columns, scores, remaining);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1")]
    fn add_scores_wide(&self, columns: &[Column], scores: &mut [f64]) {
        self.add_scores_by(columns, scores, |splits, columns| remaining_wide(splits, columns));
    }

    #[inline(always)]
    fn add_scores_by(
        &self,
        columns: &[Column],
        scores: &mut [f64],
        remaining: impl Fn(&[Split], &[Column]) -> [u32; LANES],
    ) {
        let (mut splits, mut leaves) = (self.splits.as_slice(), self.leaves.as_slice());
        let (mut splits_before, mut leaves_before) = (0, 0);
        for tree in &self.trees {
            let (own_splits, later_splits) = splits.split_at((tree.splits - splits_before) as usize);
            let (own_leaves, later_leaves) = leaves.split_at((tree.leaves - leaves_before) as usize);
            (splits, leaves, splits_before, leaves_before) =
                (later_splits, later_leaves, tree.splits, tree.leaves);
            for (score, remaining) in scores.iter_mut().zip(remaining(own_splits, columns)) {
                *score += own_leaves[remaining.trailing_zeros() as usize];
            }
        }
    }

    fn add(&mut self, tree: &[Node]) {
        // Leaves before each node, so that a split knows which bits are on its left.
        let mut before = 0_u32;
        let first = self.splits.len();
        let mut firsts = vec![0; tree.len()];
        for (at, node) in tree.iter().enumerate() {
            firsts[at] = before;
            if node.right == 0 {
                self.leaves.push(node.number);
                before += 1;
            }
        }
        for (at, node) in tree.iter().enumerate().filter(|(_, node)| node.right != 0) {
            let left = bits_below(firsts[usize::from(node.right)]) & !bits_below(firsts[at]);
            self.splits.push(Split {
                threshold: largest_not_above(node.number),
                feature: node.feature,
                remain: !left,
            });
        }
        debug_assert_eq!(self.splits.len() - first + 1, before as usize);
        let count = |n: usize| u32::try_from(n).expect("a model has fewer than 2^32 nodes");
        self.trees.push(Tree { splits: count(self.splits.len()), leaves: count(self.leaves.len()) });
    }
}

/// The leaves of a tree that each row can reach.
fn remaining(splits: &[Split], columns: &[Column]) -> [u32; LANES] {
    let mut remaining = [u32::MAX; LANES];
    for split in splits {
        for (remaining, value) in remaining.iter_mut().zip(&columns[usize::from(split.feature)]) {
            *remaining &= if *value <= split.threshold { u32::MAX } else { split.remain };
        }
    }
    remaining
}

/// The same, eight rows an instruction; those of a block stay in the processor while it asks all splits of a tree.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn remaining_wide(splits: &[Split], columns: &[Column]) -> [u32; LANES] {
    use std::arch::x86_64::{
        _CMP_LE_OQ, _mm256_and_si256, _mm256_castps_si256, _mm256_cmp_ps, _mm256_or_si256, _mm256_set1_epi32,
        _mm256_set1_ps,
    };
    let mut remaining = [_mm256_set1_epi32(-1); LANES / 8];
    for split in splits {
        let threshold = _mm256_set1_ps(split.threshold);
        let remain = _mm256_set1_epi32(split.remain.cast_signed());
        let column: &[[f32; 8]; LANES / 8] = bytemuck::cast_ref(&columns[usize::from(split.feature)]);
        for (remaining, &values) in remaining.iter_mut().zip(column) {
            let goes_left = _mm256_cmp_ps::<_CMP_LE_OQ>(bytemuck::cast(values), threshold);
            let kept = _mm256_or_si256(_mm256_castps_si256(goes_left), remain);
            *remaining = _mm256_and_si256(*remaining, kept);
        }
    }
    bytemuck::cast(remaining)
}

/// The lowest `n` bits, for `n` up to 31.
fn bits_below(n: u32) -> u32 {
    (1_u32 << n) - 1
}

/// The largest `f32` that is not above a number: an `f32` is at most the one exactly when it is at most the other.
fn largest_not_above(number: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "the next line puts right what rounding up did")]
    let near = number as f32;
    if f64::from(near) > number { near.next_down() } else { near }
}

#[cfg(test)]
mod tests {
    use super::super::Model;
    use super::*;

    #[test]
    fn q1_every_processor_finds_the_same_leaves() {
        let model =
            Model::parse(include_str!("../../tests/fixtures/ranker.txt")).expect("the fixture is a model");
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
        let value = |feature: usize, lane: usize| match (feature * 7 + lane * 3) % 23 {
            at if at < odd.len() => odd[at],
            at => at as f32 / 11.0 - 0.5,
        };
        let columns: Vec<Column> = (0..model.features().len())
            .map(|feature| std::array::from_fn(|lane| value(feature, lane)))
            .collect();
        let (mut one_by_one, mut as_here) = ([0.0; LANES], [0.0; LANES]);
        model.together.add_scores_by(&columns, &mut one_by_one, remaining);
        model.together.add_scores(&columns, &mut as_here);
        assert_eq!(one_by_one, as_here);
        assert!(one_by_one.iter().any(|it| *it != one_by_one[0]), "all rows have the same score");
    }
}
