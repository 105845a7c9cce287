//! What the matches have in common: the base class of ten matching classes, the type that matching functions take, what
//! they all call. A task speaks of the leaves; what must be seen is often what they share.

use knowing_graph::NodeIndex;
use knowing_model::{EdgeKind, NodeFlags};
use rustc_hash::FxHashMap;

use super::{Channels, Lexical};
use crate::candidates::Found;
use crate::noise;
use crate::query::Side;

/// The ways in which matches lead to a symbol.
pub(crate) const N_WAYS: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// It is called.
    Calls,
    /// It is used as a type or value.
    References,
    /// It is overridden or fulfilled.
    Overrides,
    /// It is the base of a matching type or of a matching member's type.
    Extends,
    /// A member of it matches.
    Contains,
    /// A member of it is called.
    CallsMember,
}

/// Scores of matches, relative to the best, summed by way.
#[derive(Debug, Default)]
pub(crate) struct Inflow {
    sums: FxHashMap<NodeIndex, [f64; N_WAYS]>,
    pub(crate) best: [f64; N_WAYS],
}

/// A hub of thousands of edges leads everywhere.
const MAX_EDGES: usize = 200;
/// Of the base of a base.
const SECOND_LEVEL: f64 = 0.5;

impl Inflow {
    pub(super) fn of(cx: Channels<'_>, lexical: &Lexical) -> Inflow {
        let mut inflow = Inflow::default();
        let hits = lexical.of(Side::Whole);
        let best = hits.first().map_or(1.0, |it| it.1);
        for &(hit, score) in hits {
            if !cx.graph.node(hit).flags().contains(NodeFlags::TEST) {
                inflow.spread(cx, hit, score / best);
            }
        }
        let larger =
            |best: [f64; N_WAYS], sums: &[f64; N_WAYS]| std::array::from_fn(|way| best[way].max(sums[way]));
        inflow.best = inflow.sums.values().fold([0.0; N_WAYS], larger);
        inflow
    }

    fn spread(&mut self, cx: Channels<'_>, hit: NodeIndex, share: f64) {
        let graph = cx.graph;
        for edge in graph.outgoing(hit).iter().take(MAX_EDGES) {
            let way = match edge.kind() {
                EdgeKind::Calls => Way::Calls,
                EdgeKind::References | EdgeKind::TypeHintOf => Way::References,
                EdgeKind::Overrides => Way::Overrides,
                _ => continue,
            };
            self.add(edge.other(), way, share);
            if way == Way::Calls
                && let Some(owner) = owner_of(cx, edge.other())
                && owner_of(cx, hit) != Some(owner)
            {
                self.add(owner, Way::CallsMember, share);
            }
        }
        let owner = owner_of(cx, hit);
        if let Some(owner) = owner {
            self.add(owner, Way::Contains, share);
        }
        let of = owner.unwrap_or(hit);
        for base in bases_of(cx, of) {
            self.add(base, Way::Extends, share);
            for second in bases_of(cx, base) {
                self.add(second, Way::Extends, share * SECOND_LEVEL);
            }
        }
    }

    fn add(&mut self, node: NodeIndex, way: Way, share: f64) {
        self.sums.entry(node).or_default()[way as usize] += share;
    }

    pub(crate) fn sums(&self, node: NodeIndex) -> [f64; N_WAYS] {
        self.sums.get(&node).copied().unwrap_or_default()
    }

    /// Where most leads to, each way by its best.
    pub(super) fn strongest(&self, cx: Channels<'_>, limit: usize) -> Vec<Found> {
        let worth = |sums: &[f64; N_WAYS]| {
            sums.iter()
                .zip(self.best)
                .map(|(sum, best)| if best > 0.0 { sum / best } else { 0.0 })
                .sum::<f64>()
        };
        let mut nodes: Vec<(f64, NodeIndex)> =
            self.sums.iter().map(|(node, sums)| (worth(sums), *node)).collect();
        nodes.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let nodes = nodes.into_iter().map(|it| it.1);
        let own = nodes.filter(|&it| !noise::is_noise(cx.graph, cx.names, it));
        own.take(limit).map(Found::plain).collect()
    }
}

fn owner_of(cx: Channels<'_>, node: NodeIndex) -> Option<NodeIndex> {
    let owner = cx.graph.outgoing_of(node, EdgeKind::MemberOf).first()?.other();
    cx.graph.node(owner).kind().is_type_like().then_some(owner)
}

fn bases_of<'a>(cx: Channels<'a>, node: NodeIndex) -> impl Iterator<Item = NodeIndex> + use<'a> {
    let extends = cx.graph.outgoing_of(node, EdgeKind::Extends);
    extends.iter().chain(cx.graph.outgoing_of(node, EdgeKind::Implements)).map(|it| it.other())
}
