//! A run explains itself: what each feature gave to a score, and why a symbol was never looked at.

use knowing_graph::NodeIndex;
use knowing_model::{NodeFlags, NodeKind};
use knowing_search::Searcher as _;

use crate::candidates::Channel;
use crate::params::Ranker;
use crate::pipeline::{RankedSymbol, Run, Sources};
use crate::{features, model};

impl RankedSymbol {
    /// Its place in a channel's list, from 0.
    pub fn rank_in(&self, channel: Channel) -> Option<u32> {
        self.evidence.places[channel as usize].map(|it| it.0)
    }
}

/// Name, value and contribution of each feature, and of what stands beside the symbol; nothing is contributed when the formula ranks.
pub fn contributions(symbol: &RankedSymbol, ranker: Ranker) -> Vec<(&'static str, f64, f64)> {
    let mut parts = vec![0.0; symbol.features.len()];
    if ranker == Ranker::Learned {
        model::built_in().contributions(&symbol.features, &mut parts);
    }
    let values = symbol.features.iter().map(|&it| f64::from(it));
    let features = features::NAMES.iter().zip(values).zip(parts);
    let beside = ("beside", symbol.beside, symbol.beside);
    features.map(|((name, value), part)| (*name, value, part)).chain([beside]).collect()
}

/// In the order in which a symbol can fall out.
pub fn why_no_candidate(sources: Sources<'_>, run: &Run, node: NodeIndex) -> &'static str {
    let record = sources.graph.node(node);
    if run.task.text.trim().is_empty() {
        return "the task says nothing";
    }
    if record.is_virtual() {
        return "it lies outside of the repository";
    }
    if record.flags().contains(NodeFlags::VENDORED) || record.flags().contains(NodeFlags::GENERATED) {
        return "it is vendored or generated";
    }
    if matches!(record.kind(), NodeKind::File | NodeKind::Package) {
        return "files and packages are no answers; their symbols are";
    }
    if sources.search.document(record.id()).is_none() {
        return "it has no text of its own; its owner stands for it";
    }
    "no channel found it among its best: the task shares too few telling words with it"
}
