//! Rows of the store that are no more, among millions that still are.

use std::ops::Range;

/// Ranges of rows. Most rows stand far from all of them, which one bit for each block of rows tells: to look through the
/// ranges for every edge was a third of patching a graph of 2.5 million edges.
#[derive(Clone, Debug, Default)]
pub struct GoneRows {
    /// In ascending order, none of them empty.
    ranges: Vec<Range<u32>>,
    /// By block: whether some row of it is gone.
    blocks: Vec<u64>,
}

/// Rows of a block, and blocks of a word.
const N_BITS: u32 = u64::BITS;

impl GoneRows {
    /// No row may be in two ranges.
    pub fn new(ranges: impl IntoIterator<Item = Range<u32>>) -> GoneRows {
        let mut ranges: Vec<Range<u32>> = ranges.into_iter().filter(|it| !it.is_empty()).collect();
        ranges.sort_unstable_by_key(|it| it.start);
        let last = ranges.last().map(|it| (it.end - 1) / N_BITS);
        let mut blocks = vec![0; last.map_or(0, |it| (it / N_BITS) as usize + 1)];
        for range in &ranges {
            for block in range.start / N_BITS..=(range.end - 1) / N_BITS {
                blocks[(block / N_BITS) as usize] |= 1 << (block % N_BITS);
            }
        }
        GoneRows { ranges, blocks }
    }

    #[inline]
    pub fn has(&self, row: u32) -> bool {
        let block = row / N_BITS;
        let word = self.blocks.get((block / N_BITS) as usize).copied().unwrap_or_default();
        word >> (block % N_BITS) & 1 == 1 && self.is_in_range(row)
    }

    fn is_in_range(&self, row: u32) -> bool {
        let at = self.ranges.partition_point(|it| it.end <= row);
        self.ranges.get(at).is_some_and(|it| it.start <= row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gone_that_a_range_has_and_no_others() {
        let cases: [&[Range<u32>]; 5] = [
            &[],
            &[5..5, 0..1],
            &[4095..4097, 63..64],
            &[130..190, 190..191, 10_000..10_001],
            &[64..128, 12_000..20_000, 3..60, u32::MAX - 1..u32::MAX],
        ];
        for ranges in cases {
            let gone = GoneRows::new(ranges.iter().cloned());
            for row in (0..21_000).chain(u32::MAX - 70..=u32::MAX) {
                assert_eq!(gone.has(row), ranges.iter().any(|it| it.contains(&row)), "{ranges:?} {row}");
            }
        }
    }
}
