//! Reciprocal rank fusion: what several channels put high is likely what is meant.

use knowing_graph::NodeIndex;

use crate::candidates::{Candidate, Candidates, Channel};
use crate::params::ChannelParams;

/// Sum over the channels of weight x item / (offset + rank + 1).
pub(crate) fn fused_score(candidate: &Candidate, params: &ChannelParams) -> f64 {
    let parts = Channel::ALL.iter().zip(&candidate.places).map(|(channel, place)| match place {
        Some((rank, item)) => channel.weight() * item / (params.rank_offset + f64::from(*rank) + 1.0),
        None => 0.0,
    });
    parts.sum()
}

/// The best, with their scores; ties by node id, which is the graph's order.
pub(crate) fn fuse(
    candidates: &Candidates,
    params: &ChannelParams,
    keep: impl Fn(NodeIndex) -> bool,
) -> Vec<(NodeIndex, f64)> {
    let mut fused: Vec<(NodeIndex, f64)> = candidates
        .list
        .iter()
        .map(|it| (it.node, fused_score(it, params)))
        .filter(|(node, score)| *score > 0.0 && keep(*node))
        .collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused
}
