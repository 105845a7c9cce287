//! Which file that is gone became which one that is new.

use std::collections::BTreeMap;

/// Files that are compared line by line at most, as pairs; beyond it nothing is a rename but what did not change.
const MAX_PAIRS: usize = 256;

/// Of a pair's larger file, how much must stand in the other too, in percent of bytes. git's own default.
const MIN_COMMON: usize = 50;

/// Pairs of old and new files, the most alike first; each file is in one pair at most.
pub(crate) fn pairs(old: &[Vec<u8>], new: &[Vec<u8>]) -> Vec<(usize, usize)> {
    if old.len() * new.len() > MAX_PAIRS {
        return Vec::new();
    }
    let old_lines: Vec<_> = old.iter().map(|it| lines(it)).collect();
    let new_lines: Vec<_> = new.iter().map(|it| lines(it)).collect();
    let mut alike = Vec::new();
    for (from, before) in old_lines.iter().enumerate() {
        for (to, after) in new_lines.iter().enumerate() {
            let larger = old[from].len().max(new[to].len());
            let common = common(before, after);
            if larger > 0 && common * 100 >= larger * MIN_COMMON {
                // In 1/1000, so that what is equally alike is taken in order of the files.
                alike.push((std::cmp::Reverse(common * 1000 / larger), from, to));
            }
        }
    }
    alike.sort_unstable();
    let (mut gone, mut made) = (vec![false; old.len()], vec![false; new.len()]);
    let mut pairs = Vec::new();
    for (_, from, to) in alike {
        if !gone[from] && !made[to] {
            (gone[from], made[to]) = (true, true);
            pairs.push((from, to));
        }
    }
    pairs
}

/// How often each line stands in a text.
fn lines(text: &[u8]) -> BTreeMap<&[u8], usize> {
    let mut lines = BTreeMap::new();
    for line in text.split_inclusive(|it| *it == b'\n') {
        *lines.entry(line).or_default() += 1;
    }
    lines
}

/// Bytes of the lines that are in both.
fn common(one: &BTreeMap<&[u8], usize>, other: &BTreeMap<&[u8], usize>) -> usize {
    one.iter().map(|(line, n)| line.len() * n.min(other.get(line).unwrap_or(&0))).sum()
}
