//! Concept classes: words of a framework's documentation and the symbols it documents under them (system.md 10.4).

use knowing_graph::NodeIndex;
use knowing_model::NodeFlags;
use knowing_search::FileIndex;
use rustc_hash::FxHashSet;

use super::Channels;
use crate::candidates::Found;
use crate::classes::{self, Source};
use crate::noise;

/// A language counts when it has at least this share of the files.
const LANGUAGE_SHARE: f64 = 0.05;
/// A target that stands for more symbols than this means none.
const MAX_NAMESAKES: usize = 5;
const MIN_TARGET: usize = 4;

/// What the classes point at.
#[derive(Debug, Default)]
pub(crate) struct Injection {
    found: Vec<Found>,
    /// Passed the gate: they belong into the pack whatever else is found.
    pub(crate) forced: Vec<NodeIndex>,
    /// Concepts that matched, for the explanation.
    pub(crate) concepts: Vec<String>,
}

impl Injection {
    pub(super) fn found(&self) -> impl Iterator<Item = Found> {
        self.found.iter().copied()
    }
}

pub(super) fn matched(cx: Channels<'_>) -> Injection {
    let languages = languages(cx);
    let languages: Vec<&str> = languages.iter().map(String::as_str).collect();
    let mut injection = Injection::default();
    let mut seen = FxHashSet::default();
    for class in classes::matched(&cx.task.text, &languages) {
        let gate = class.weight >= cx.params.pack.inject_weight
            && class.source == Source::Framework
            && (class.phrases_matched >= 2 || class.longest_phrase_words >= 2);
        injection.concepts.push(class.concept.to_string());
        for node in class.targets.iter().flat_map(|it| nodes_of(cx, it.as_ref())) {
            if seen.insert(node) {
                injection.found.push(Found { node, item: class.weight });
            }
            if gate && !injection.forced.contains(&node) {
                injection.forced.push(node);
            }
        }
    }
    injection.found.sort_by(|a, b| b.item.total_cmp(&a.item));
    injection
}

/// `QuerySet.filter` means a `filter` owned by a `QuerySet`; a bare name any symbol of that name.
fn nodes_of(cx: Channels<'_>, target: &str) -> Vec<NodeIndex> {
    if target.len() < MIN_TARGET {
        return Vec::new();
    }
    let (owner, name) = target.rsplit_once('.').map_or((None, target), |(owner, name)| (Some(owner), name));
    let fits = |node: u32| {
        let symbol = cx.names.symbol(node);
        let owned = owner.is_none_or(|owner| {
            symbol.rsplit_once('.').is_some_and(|it| it.0 == owner || it.0.ends_with(&format!(".{owner}")))
        });
        let at = NodeIndex(node);
        cx.names.name(node) == name
            && owned
            && !cx.graph.node(at).flags().contains(NodeFlags::TEST)
            && !noise::is_noise(cx.graph, cx.names, at)
    };
    let nodes: Vec<NodeIndex> =
        cx.names.named(name).iter().copied().filter(|&it| fits(it)).map(NodeIndex).collect();
    if nodes.len() > MAX_NAMESAKES { Vec::new() } else { nodes }
}

fn languages(cx: Channels<'_>) -> Vec<String> {
    let mut counts: std::collections::BTreeMap<&str, usize> = Default::default();
    for file in (0..cx.names.n_files() as u32).map(FileIndex) {
        *counts.entry(cx.names.language(file)).or_default() += 1;
    }
    let enough = LANGUAGE_SHARE * cx.names.n_files() as f64;
    counts.into_iter().filter(|it| it.1 as f64 >= enough).map(|it| it.0.to_owned()).collect()
}
