//! Words that name directories or files: their types, since a package is known by its types.

use knowing_graph::NodeIndex;
use knowing_model::EdgeKind;

use super::{Channels, FILES_OF_A_WORD};
use crate::candidates::Found;
use crate::noise;

const MIN_LENGTH: usize = 4;
/// Of types with members, other types, and the rest.
const LIMITS: [usize; 3] = [5, 10, 15];
const IN_ALL: usize = 30;
const MAX_TERMS: usize = 12;

/// The candidates, and those that may only be seeds.
pub(super) fn of(cx: Channels<'_>) -> (Vec<Found>, Vec<NodeIndex>) {
    let components = &cx.task.keywords.components;
    let terms =
        components.iter().map(|it| it.lower.as_str()).filter(|it| it.len() >= MIN_LENGTH).take(MAX_TERMS);
    let mut found: Vec<NodeIndex> = Vec::new();
    let mut spare: Vec<NodeIndex> = Vec::new();
    for term in terms {
        let files = cx.names.files_with_segment(term).iter().take(FILES_OF_A_WORD);
        let mut tiers: [Vec<NodeIndex>; 3] = Default::default();
        for &node in files.flat_map(|&it| cx.names.in_file(it)) {
            let node = NodeIndex(node);
            let is_type = cx.graph.node(node).kind().is_type_like();
            let has_members = is_type && !cx.graph.outgoing_of(node, EdgeKind::Contains).is_empty();
            let tier = if !is_type { 2 } else { usize::from(!has_members) };
            // Those without members are not put in order: the rest of a large directory need not be looked at.
            let is_full = tier > 0 && tiers[tier].len() == 2 * LIMITS[tier];
            if !is_full && !noise::is_noise(cx.graph, cx.names, node) && !cx.names.symbol(node.0).is_empty() {
                tiers[tier].push(node);
            }
        }
        // A type whose member is spoken of goes first.
        tiers[0].sort_by_cached_key(|&it| !has_spoken_member(cx, it));
        for (tier, limit) in tiers.into_iter().zip(LIMITS) {
            let mut nodes = tier.into_iter();
            found.extend(nodes.by_ref().take(limit));
            spare.extend(nodes.take(limit));
        }
    }
    let chosen = found.len().min(IN_ALL);
    let (chosen, rest) = found.split_at(chosen);
    let seeds = rest.iter().copied().chain(spare).take(cx.params.seeds.max_path_seeds).collect();
    (chosen.iter().copied().map(Found::plain).collect(), seeds)
}

fn has_spoken_member(cx: Channels<'_>, of: NodeIndex) -> bool {
    cx.graph.outgoing_of(of, EdgeKind::Contains).iter().any(|edge| {
        let name = cx.names.name(edge.other().0);
        cx.task.keywords.components.iter().any(|it| it.lower.eq_ignore_ascii_case(name))
    })
}
