//! What symbols say, line by line: the lines that are a symbol's own, and all lines from its first to its last.
//!
//! A line belongs to the innermost symbol around it, so that a change in a method changes the method and not its class
//! and its file too. Blank lines belong to nobody.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use knowing_store::{OwnNode, OwnRows};

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
    /// Of all symbols in the file versions that only one snapshot has.
    pub(super) fn of(view: &View<'_>, place: Option<&Place>, own: &OwnRows) -> Result<Bodies> {
        let mut bodies = Bodies { by_sym: HashMap::new(), is_whole: true };
        let mut of_file: HashMap<i64, Vec<&OwnNode>> = HashMap::new();
        for node in &own.nodes {
            of_file.entry(node.file_row).or_default().push(node);
        }
        for row in &own.files {
            let Some(mut nodes) = of_file.remove(row) else { continue };
            let file = view.reader().file_of_row(*row)?;
            match place.and_then(|it| it.blob(&file.blob, &file.path)) {
                Some(text) => {
                    // Outermost first, so that the innermost is the last to claim a line.
                    nodes.sort_by_key(|it| {
                        (it.span.first_line, Reverse(it.span.last_line), it.span.name, it.sym)
                    });
                    bodies.add(&nodes, &text);
                }
                None => bodies.is_whole = false,
            }
        }
        Ok(bodies)
    }

    fn add(&mut self, nodes: &[&OwnNode], text: &[u8]) {
        let lines: Vec<Option<u64>> = text.split(|it| *it == b'\n').map(hash_of).collect();
        let mut owners: Vec<Option<u32>> = vec![None; lines.len()];
        for node in nodes {
            let first = (node.span.first_line.max(1) as usize - 1).min(lines.len());
            let last = (node.span.last_line as usize).clamp(first, lines.len());
            owners[first..last].fill(Some(node.sym));
            let body = self.by_sym.entry(node.sym).or_default();
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
