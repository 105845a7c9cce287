//! What stands behind others whatever its score: sections of documents, and further overloads of one callable.
//!
//! Ranking knows each candidate alone; a reader reads a list. What was put back scores no more than what it stands behind.

use std::collections::VecDeque;

use knowing_graph::Graph;
use knowing_model::NodeKind;
use knowing_model::name::without_suffix;
use knowing_search::Names;
use rustc_hash::FxHashSet;

use crate::pipeline::RankedSymbol;

/// Puts sections of documents back behind code, so that of the first `symbols_per_section` symbols at most one is a section,
/// of twice as many two; else in the same order.
pub(crate) fn with_few_sections(
    graph: &Graph,
    ranked: Vec<RankedSymbol>,
    symbols_per_section: usize,
) -> Vec<RankedSymbol> {
    let mut out: Vec<RankedSymbol> = Vec::with_capacity(ranked.len());
    let mut waiting: VecDeque<RankedSymbol> = VecDeque::new();
    let mut n_sections = 0;
    for symbol in ranked {
        match graph.node(symbol.node).kind() {
            NodeKind::DocSection => waiting.push_back(symbol),
            _ => out.push(symbol),
        }
        while n_sections * symbols_per_section <= out.len()
            && let Some(section) = waiting.pop_front()
        {
            n_sections += 1;
            out.push(section);
        }
    }
    out.extend(waiting);
    levelled(out)
}

/// Of symbols of one file that differ in nothing but what tells overloads and repeated definitions apart (`f(int)`,
/// `f(str)`, `f#2`), the best keeps its place and the others come last: who reads the one sees the others beside it.
pub(crate) fn with_one_of_overloads(names: &Names, ranked: Vec<RankedSymbol>) -> Vec<RankedSymbol> {
    let mut seen = FxHashSet::default();
    let is_first = |it: &RankedSymbol| {
        let node = it.node.0;
        seen.insert((names.file(node), names.container(node), without_suffix(names.symbol(node))))
    };
    let (mut out, mut others): (Vec<RankedSymbol>, Vec<RankedSymbol>) =
        ranked.into_iter().partition(is_first);
    others.iter_mut().for_each(|it| it.is_further_overload = true);
    out.append(&mut others);
    levelled(out)
}

fn levelled(mut ranked: Vec<RankedSymbol>) -> Vec<RankedSymbol> {
    for at in 1..ranked.len() {
        ranked[at].score = ranked[at].score.min(ranked[at - 1].score);
    }
    ranked
}
