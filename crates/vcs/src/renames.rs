//! Which file that is gone became which one that is new.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::BString;

/// A file of one side.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct File {
    pub(crate) path: BString,
    pub(crate) blob: gix::ObjectId,
}

/// Files that are compared line by line at most, as pairs; beyond it nothing is a rename but what did not change.
const MAX_PAIRS: usize = 1024;

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

/// Pairs of old and new files of a sweep, in the order of the new ones: those with the same content and, where others of
/// a directory moved, those that moved along and were edited. Both lists are sorted.
pub(crate) fn moved(old: &[File], new: &[File]) -> Vec<(usize, usize)> {
    let mut by_content: BTreeMap<gix::ObjectId, Vec<usize>> = BTreeMap::new();
    for (place, file) in old.iter().enumerate() {
        by_content.entry(file.blob).or_default().push(place);
    }
    let mut from: Vec<Option<usize>> = Vec::with_capacity(new.len());
    let mut directories: BTreeSet<(&[u8], &[u8])> = BTreeSet::new();
    for file in new {
        // Of equal files, empty ones mostly, the one whose path ends like this one.
        let same = by_content.get_mut(&file.blob).filter(|it| !it.is_empty() && it.len() <= MAX_EQUAL);
        let found = same.map(|same| {
            let best = (0..same.len()).rev().max_by_key(|it| common_end(&old[same[*it]].path, &file.path));
            same.remove(best.unwrap_or(0))
        });
        if let Some(found) = found {
            directories.extend(moved_directory(&old[found].path, &file.path));
        }
        from.push(found);
    }
    let place_of: BTreeMap<&[u8], usize> = new.iter().enumerate().map(|(at, it)| (&**it.path, at)).collect();
    let mut is_gone: Vec<bool> = vec![true; old.len()];
    from.iter().flatten().for_each(|it| is_gone[*it] = false);
    for (place, file) in old.iter().enumerate().filter(|(place, _)| is_gone[*place]) {
        let target = directories.iter().find_map(|(before, after)| {
            let path = [after, file.path.strip_prefix(*before)?].concat();
            place_of.get(path.as_slice()).copied().filter(|it| from[*it].is_none())
        });
        if let Some(target) = target {
            from[target] = Some(place);
        }
    }
    from.into_iter().enumerate().filter_map(|(place, from)| Some((from?, place))).collect()
}

/// Of more files with one content it is not told which became which.
const MAX_EQUAL: usize = 512;

/// Bytes that two paths end with.
fn common_end(one: &[u8], other: &[u8]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// What a path began with and begins with now, each empty or with a `/` at its end; none when its name changed.
fn moved_directory<'a>(old: &'a [u8], new: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let n_common = common_end(old, new);
    // The longest common end that is made of whole segments.
    let starts = |path: &[u8], n: usize| n == path.len() || path[path.len() - n - 1] == b'/';
    let n_common = (1..=n_common).rev().find(|it| starts(old, *it) && starts(new, *it))?;
    Some((&old[..old.len() - n_common], &new[..new.len() - n_common]))
}
