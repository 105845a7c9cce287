//! Names that the task spells out: equal, then by prefix, then inside of qualified names, then in paths.

use knowing_graph::NodeIndex;
use rustc_hash::FxHashSet;

use super::{Channels, FILES_OF_A_WORD};
use crate::candidates::Found;
use crate::noise;
use crate::task::Keyword;

/// Below how many finds a looser tier is tried, and how many it may add.
const PREFIX_BELOW: usize = 15;
const PREFIX_CAP: usize = 30;
const COMPONENTS_BELOW: usize = 5;
const SUBSTRING_BELOW: usize = 5;
const SUBSTRING_CAP: usize = 20;
const SUBSTRING_MIN: usize = 4;
const SEGMENT_BELOW: usize = 30;
const SEGMENT_CAP: usize = 40;
const SEGMENT_MIN: usize = 3;
/// A name that stands for more nodes than this names none of them.
const MAX_NAMESAKES: usize = 60;

pub(super) fn tiered(cx: Channels<'_>) -> Vec<Found> {
    let mut tiers = Tiers { cx, found: Vec::new(), seen: FxHashSet::default() };
    let keywords = &cx.task.keywords;
    let spelled: Vec<&Keyword> = keywords.exact.iter().chain(&keywords.compounds).collect();
    tiers.names(&spelled);
    if tiers.found.len() < COMPONENTS_BELOW {
        tiers.names(&keywords.components.iter().collect::<Vec<_>>());
    }
    let all: Vec<&Keyword> = spelled.into_iter().chain(&keywords.components).collect();
    if tiers.found.len() < SUBSTRING_BELOW {
        tiers.substrings(&all);
    }
    if tiers.found.len() < SEGMENT_BELOW {
        tiers.segments(&all);
    }
    tiers.found.into_iter().map(Found::plain).collect()
}

struct Tiers<'a> {
    cx: Channels<'a>,
    found: Vec<NodeIndex>,
    seen: FxHashSet<NodeIndex>,
}

impl Tiers<'_> {
    fn names(&mut self, keywords: &[&Keyword]) {
        for keyword in keywords {
            let name = last_segment(&keyword.lower);
            let named = self.cx.names.named(name);
            if named.len() <= MAX_NAMESAKES {
                named.iter().for_each(|&it| self.push(it));
            }
        }
        if self.found.len() >= PREFIX_BELOW {
            return;
        }
        let limit = self.found.len() + PREFIX_CAP;
        for keyword in keywords {
            let name = last_segment(&keyword.lower);
            if name.len() < SEGMENT_MIN {
                continue;
            }
            for &node in self.cx.names.with_prefix(name).iter().take(PREFIX_CAP) {
                if self.found.len() >= limit {
                    return;
                }
                self.push(node);
            }
        }
    }

    /// One pass over all names, whatever the number of words.
    fn substrings(&mut self, keywords: &[&Keyword]) {
        let long: Vec<&[u8]> =
            keywords.iter().map(|it| it.lower.as_bytes()).filter(|it| it.len() >= SUBSTRING_MIN).collect();
        if long.is_empty() {
            return;
        }
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); long.len()];
        for node in 0..self.cx.names.n_nodes() as u32 {
            let symbol = self.cx.names.symbol(node).as_bytes();
            for (word, found) in long.iter().zip(&mut found) {
                if found.len() < SUBSTRING_CAP && contains_folded(symbol, word) {
                    found.push(node);
                }
            }
        }
        let limit = self.found.len() + SUBSTRING_CAP;
        for node in found.into_iter().flatten() {
            if self.found.len() >= limit {
                return;
            }
            self.push(node);
        }
    }

    /// Symbols of files whose path has the word as a segment.
    fn segments(&mut self, keywords: &[&Keyword]) {
        let limit = self.found.len() + SEGMENT_CAP;
        for keyword in keywords.iter().filter(|it| it.lower.len() >= SEGMENT_MIN) {
            let names = self.cx.names;
            let files = names.files_with_segment(&keyword.lower).iter().take(FILES_OF_A_WORD);
            for &node in files.flat_map(|&it| names.in_file(it)) {
                if self.found.len() >= limit {
                    return;
                }
                self.push(node);
            }
        }
    }

    fn push(&mut self, node: u32) {
        let node = NodeIndex(node);
        if !noise::is_noise(self.cx.graph, self.cx.names, node) && self.seen.insert(node) {
            self.found.push(node);
        }
    }
}

fn last_segment(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).find(|it| !it.is_empty()).unwrap_or(name)
}

/// `wanted` is in lower case.
fn contains_folded(text: &[u8], wanted: &[u8]) -> bool {
    text.len() >= wanted.len() && text.windows(wanted.len()).any(|it| it.eq_ignore_ascii_case(wanted))
}
