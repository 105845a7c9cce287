//! What stands around the best candidates: members and owners, callers and callees, the rest of their files.

use knowing_graph::NodeIndex;
use knowing_model::{EdgeKind, NodeKind};
use knowing_search::FileIndex;
use rustc_hash::FxHashMap;

use super::{Channels, Harvest};
use crate::candidates::{Channel, Found};
use crate::fuse::fuse;
use crate::noise;
use crate::query::Side;

/// Adds them to the candidates; of each neighbourhood those with the best words.
pub(crate) fn expand(cx: Channels<'_>, harvest: &mut Harvest) {
    let params = &cx.params.channels;
    let best: Vec<NodeIndex> = fuse(&harvest.candidates, params, |_| true)
        .into_iter()
        .take(params.n_expanded)
        .map(|it| it.0)
        .collect();
    let lexical = &harvest.lexical;
    let ranked = |nodes: Vec<NodeIndex>, limit: usize| {
        let mut scored: Vec<(f64, NodeIndex)> =
            nodes.into_iter().map(|it| (lexical.score(cx, it), it)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.dedup();
        scored.into_iter().take(limit).map(|it| Found::plain(it.1)).collect::<Vec<_>>()
    };
    let mut around = Vec::new();
    for &node in &best {
        around.extend(ranked(neighbours(cx, node), params.per_expanded));
    }
    let mut in_files = Vec::new();
    for file in best_files(cx, harvest) {
        let nodes = cx.names.in_file(file).iter().map(|&it| NodeIndex(it));
        in_files.extend(ranked(nodes.filter(|&it| is_code(cx, it)).collect(), params.per_file));
    }
    harvest.candidates.add(Channel::Files, in_files);
    harvest.candidates.add(Channel::Expansion, around);
}

fn neighbours(cx: Channels<'_>, of: NodeIndex) -> Vec<NodeIndex> {
    use EdgeKind::{Calls, Contains, Implements, MemberOf, Overrides};
    let outgoing = [Calls, Contains, MemberOf, Overrides];
    let incoming = [Calls, Overrides, Implements];
    let from_here = outgoing.iter().flat_map(|&kind| cx.graph.outgoing_of(of, kind));
    let to_here = incoming.iter().flat_map(|&kind| cx.graph.incoming_of(of, kind));
    // A hub has thousands of callers, none of which says anything.
    const MAX_NEIGHBOURS: usize = 200;
    let all = from_here.chain(to_here).take(MAX_NEIGHBOURS).map(|it| it.other());
    all.filter(|&it| it != of && is_code(cx, it)).collect()
}

/// The files with the best symbols, and those that the task names.
fn best_files(cx: Channels<'_>, harvest: &Harvest) -> Vec<FileIndex> {
    let mut sums: FxHashMap<FileIndex, (f64, u32)> = FxHashMap::default();
    for (node, score) in harvest.lexical.of(Side::Whole) {
        if let Some(file) = cx.names.file(node.0) {
            let (sum, n_symbols) = sums.entry(file).or_default();
            // The third symbol of a file still says something, the tenth does not.
            if *n_symbols < 3 {
                *sum += score;
                *n_symbols += 1;
            }
        }
    }
    let mut files: Vec<(f64, FileIndex)> = sums.into_iter().map(|(file, (sum, _))| (sum, file)).collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let named = harvest.mentions.paths.iter().copied().take(cx.params.channels.n_files);
    named.chain(files.into_iter().take(cx.params.channels.n_files).map(|it| it.1)).collect()
}

fn is_code(cx: Channels<'_>, node: NodeIndex) -> bool {
    !noise::is_foreign(cx.graph, node) && cx.graph.node(node).kind() != NodeKind::File
}
