//! Where two versions of a text differ, by lines.

use std::ops::Range;

use gix::diff::blob::{Algorithm, InternedInput, diff_with_slider_heuristics};
use memchr::{memchr, memrchr};

/// Lines of one version that stand in place of lines of another. Either side may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Bytes of the old version, from the begin of a line to the begin of another, or the end.
    pub old: Range<usize>,
    /// Bytes of the new version, likewise.
    pub new: Range<usize>,
}

/// Lines before and after what differs that take part in the comparison, so that a hunk can be moved to where a reader
/// would put it.
const N_CONTEXT: usize = 8;

/// The differences in order. Most changes are small and near each other: what both versions begin and end with is set
/// aside without being looked at line by line.
pub fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    if old.is_empty() != new.is_empty() {
        // A file that came or went is one hunk without a look at its lines.
        return vec![Hunk { old: 0..old.len(), new: 0..new.len() }];
    }
    let prefix = common_prefix(old, new);
    let suffix = common_suffix(&old[prefix..], &new[prefix..]);
    let (old_part, new_part) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let input = InternedInput::new(old_part, new_part);
    let diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    let mut old_lines = Lines::new(old_part, prefix);
    let mut new_lines = Lines::new(new_part, prefix);
    diff.hunks().map(|it| Hunk { old: old_lines.range(it.before), new: new_lines.range(it.after) }).collect()
}

/// The length of what both begin with, some lines less.
fn common_prefix(old: &[u8], new: &[u8]) -> usize {
    let mut end = n_equal(old, new);
    for _ in 0..=N_CONTEXT {
        match memrchr(b'\n', &old[..end]) {
            Some(at) => end = at,
            None => return 0,
        }
    }
    end + 1
}

/// The length of what both end with, some lines less.
fn common_suffix(old: &[u8], new: &[u8]) -> usize {
    let mut from = old.len() - n_equal_at_end(old, new);
    for _ in 0..=N_CONTEXT {
        match memchr(b'\n', &old[from..]) {
            Some(at) => from += at + 1,
            None => return 0,
        }
    }
    old.len() - from
}

/// Compared so many bytes at a time: versions of a file are alike nearly everywhere.
const CHUNK: usize = 64;

fn n_equal(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.chunks_exact(CHUNK).zip(other.chunks_exact(CHUNK));
    let n = chunks.take_while(|(one, other)| one == other).count() * CHUNK;
    n + one[n..].iter().zip(&other[n..]).take_while(|(one, other)| one == other).count()
}

fn n_equal_at_end(one: &[u8], other: &[u8]) -> usize {
    let chunks = one.rchunks_exact(CHUNK).zip(other.rchunks_exact(CHUNK));
    let n = chunks.take_while(|(one, other)| one == other).count() * CHUNK;
    let (one, other) = (&one[..one.len() - n], &other[..other.len() - n]);
    n + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Turns numbers of lines, which only grow, into bytes.
struct Lines<'a> {
    text: &'a [u8],
    /// Where `text` begins.
    offset: usize,
    line: u32,
    at: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8], offset: usize) -> Lines<'a> {
        Lines { text, offset, line: 0, at: 0 }
    }

    fn range(&mut self, lines: Range<u32>) -> Range<usize> {
        self.begin_of(lines.start)..self.begin_of(lines.end)
    }

    fn begin_of(&mut self, line: u32) -> usize {
        while self.line < line {
            let rest = &self.text[self.at..];
            self.at += memchr(b'\n', rest).map_or(rest.len(), |it| it + 1);
            self.line += 1;
        }
        self.offset + self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expect: &[(&str, &str)]) {
        let hunks = hunks(old.as_bytes(), new.as_bytes());
        let texts: Vec<_> = hunks.iter().map(|it| (&old[it.old.clone()], &new[it.new.clone()])).collect();
        assert_eq!(texts, expect);
    }

    fn numbered(range: Range<usize>) -> String {
        range.map(|it| format!("line {it}\n")).collect()
    }

    #[test]
    fn lines_that_differ_are_found_in_short_and_long_texts() {
        check("a\nb\nc\n", "a\nB\nc\n", &[("b\n", "B\n")]);
        check("a\n", "a\nb", &[("", "b")]);
        check("", "a\n", &[("", "a\n")]);
        check("a\nb\n", "", &[("a\nb\n", "")]);
        check("a", "a\n", &[("a", "a\n")]);
        check("same\n", "same\n", &[]);
        let old = numbered(0..100);
        let new = old.replace("line 20\n", "").replace("line 70\n", "other\n");
        check(&old, &new, &[("line 20\n", ""), ("line 70\n", "other\n")]);
    }

    #[test]
    fn an_added_function_is_not_mixed_with_the_next_one() {
        let context = numbered(0..30);
        let next = "@cached\ndef g():\n    pass\n\n";
        let added = "@cached\ndef f():\n    pass\n\n";
        let (old, new) = (format!("{context}{next}{context}"), format!("{context}{added}{next}{context}"));
        check(&old, &new, &[("", added)]);
    }
}
