//! What symbols say, line by line: the lines that are a symbol's own, and all lines from its first to its last.
//!
//! A line belongs to the innermost symbol around it, so that a change in a method changes the method and not its class
//! and its file too. Blank lines belong to nobody.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::error::Result;
use crate::place::Place;
use crate::view::View;

#[derive(Default)]
pub(super) struct Bodies {
    by_sym: HashMap<u32, Body>,
    /// The text of every file could be read.
    pub(super) is_whole: bool,
}

#[derive(Default)]
struct Body {
    own: u64,
    /// Hashes of all lines, in order of the hashes.
    whole: Vec<u64>,
}

impl Bodies {
    /// Of all symbols in some file versions of a snapshot.
    pub(super) fn of(view: &View<'_>, place: Option<&Place>, file_rows: &[i64]) -> Result<Bodies> {
        let mut bodies = Bodies { by_sym: HashMap::new(), is_whole: true };
        for &row in file_rows {
            let file = view.reader().file_of_row(row)?;
            if file.skip_reason.is_some() {
                continue;
            }
            let Some(text) = place.and_then(|it| it.blob(&file.blob, &file.path)) else {
                bodies.is_whole = false;
                continue;
            };
            bodies.add(view, &file.path, &text)?;
        }
        Ok(bodies)
    }

    fn add(&mut self, view: &View<'_>, path: &str, text: &[u8]) -> Result<()> {
        let lines: Vec<Option<u64>> = text.split(|it| *it == b'\n').map(hash_of).collect();
        let mut owners: Vec<Option<u32>> = vec![None; lines.len()];
        // Outermost first, so that the innermost is the last to claim a line.
        for node in view.reader().symbols_in_file(path)? {
            let first = (node.span.first_line.max(1) as usize - 1).min(lines.len());
            let last = (node.span.last_line as usize).clamp(first, lines.len());
            let sym = node.symbol.sym;
            owners[first..last].fill(Some(sym));
            let body = self.by_sym.entry(sym).or_default();
            body.whole.extend(lines[first..last].iter().flatten());
            body.whole.sort_unstable();
        }
        for (line, owner) in lines.iter().zip(owners) {
            if let (Some(line), Some(owner)) = (line, owner) {
                let body = self.by_sym.entry(owner).or_default();
                let mut hasher = DefaultHasher::new();
                (body.own, line).hash(&mut hasher);
                body.own = hasher.finish();
            }
        }
        Ok(())
    }

    /// What stands for the lines that are a symbol's own; none when its file was not read.
    pub(super) fn own(&self, sym: u32) -> Option<u64> {
        self.by_sym.get(&sym).map(|it| it.own)
    }

    pub(super) fn whole(&self, sym: u32) -> &[u64] {
        self.by_sym.get(&sym).map_or(&[], |it| it.whole.as_slice())
    }
}

fn hash_of(line: &[u8]) -> Option<u64> {
    let line = line.trim_ascii_end();
    (!line.is_empty()).then(|| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    })
}

/// The share of lines that two bodies have in common, of all lines of both; 0 to 1.
pub(super) fn similarity(one: &[u64], other: &[u64]) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let (mut at, mut beside, mut n_common) = (0, 0, 0_usize);
    while at < one.len() && beside < other.len() {
        match one[at].cmp(&other[beside]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => beside += 1,
            std::cmp::Ordering::Equal => {
                n_common += 1;
                at += 1;
                beside += 1;
            }
        }
    }
    2.0 * n_common as f64 / (one.len() + other.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_alike_by_the_lines_they_share() {
        assert_eq!(similarity(&[1, 2, 3, 4], &[1, 2, 3, 4]), 1.0);
        assert_eq!(similarity(&[1, 2, 3, 4], &[1, 2, 5, 6]), 0.5);
        assert_eq!(similarity(&[1, 1], &[1, 2]), 0.5);
        assert_eq!(similarity(&[], &[]), 0.0);
    }
}
