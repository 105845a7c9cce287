//! Who can be reached from some nodes along chosen edges, how far away, and on which path.
//!
//! The walk is breadth first. Of the shortest paths to a node the one with the highest confidence (the product of its
//! edges') is kept; ties go to the predecessor that comes first in canonical order, then to the smaller kind.

use std::collections::HashMap;

use knowing_model::{EdgeKind, Provenance};

use crate::image::{EdgeRecord, Graph, NodeIndex};
use crate::inherits::Inheritance;
use crate::kinds::KindSet;

/// Which edges to follow, and from which end. `inherits` may be among them; it is computed on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Follow {
    /// From source to target.
    pub outgoing: KindSet,
    /// From target to source.
    pub incoming: KindSet,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reach {
    pub follow: Follow,
    /// From target to source too, where the target is a value: a field, a constant, a variable.
    pub of_values: KindSet,
    pub max_depth: u32,
    /// Edges that are less sure are not followed.
    pub min_confidence_bp: u16,
    /// How many nodes to find, the starts not counted.
    pub limit: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reached {
    pub node: NodeIndex,
    /// Edges between it and the nearest start.
    pub depth: u32,
    /// Product along the path, 0 to 1.
    pub confidence: f64,
    pub step: Step,
}

/// The last edge of a path: how a node was reached from the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Position in the list of reached nodes of the node before, none for a start.
    pub before: Option<u32>,
    pub from: NodeIndex,
    pub kind: EdgeKind,
    pub provenance: Provenance,
    pub confidence_bp: u16,
    /// 0 for what is computed.
    pub edge_row: u32,
}

/// All nodes within reach but the starts, by (depth, canonical order), and whether the limit cut some off.
pub fn reach(graph: &Graph, starts: &[NodeIndex], options: &Reach) -> (Vec<Reached>, bool) {
    let mut seen = vec![false; graph.n_nodes()];
    let mut level: Vec<Front> = Vec::new();
    for &start in starts {
        if !std::mem::replace(&mut seen[start.0 as usize], true) {
            level.push(Front { node: start, confidence: 1.0, position: None });
        }
    }
    level.sort_unstable_by_key(|it| it.node);
    let mut inheritance = Inheritance::new(graph);
    let mut reached = Vec::new();
    for depth in 1..=options.max_depth {
        let mut best: HashMap<NodeIndex, Found> = HashMap::new();
        for front in &level {
            for_each_edge(graph, &mut inheritance, front.node, options, |edge| {
                if seen[edge.other.0 as usize] {
                    return;
                }
                let found = Found::along(front, edge);
                let known = best.entry(edge.other).or_insert(found);
                if found.beats(known) {
                    *known = found;
                }
            });
        }
        let mut touched: Vec<(NodeIndex, Found)> = best.into_iter().collect();
        touched.sort_unstable_by_key(|it| it.0);
        level.clear();
        for (node, found) in touched {
            if reached.len() >= options.limit {
                return (reached, true);
            }
            seen[node.0 as usize] = true;
            level.push(Front { node, confidence: found.confidence, position: Some(reached.len() as u32) });
            reached.push(Reached { node, depth, confidence: found.confidence, step: found.step });
        }
        if level.is_empty() {
            break;
        }
    }
    (reached, false)
}

struct Front {
    node: NodeIndex,
    confidence: f64,
    position: Option<u32>,
}

#[derive(Clone, Copy)]
struct Found {
    confidence: f64,
    step: Step,
}

impl Found {
    fn along(front: &Front, edge: Hop) -> Found {
        let step = Step {
            before: front.position,
            from: front.node,
            kind: edge.kind,
            provenance: edge.provenance,
            confidence_bp: edge.confidence_bp,
            edge_row: edge.edge_row,
        };
        Found { confidence: front.confidence * f64::from(edge.confidence_bp) / 10_000.0, step }
    }

    // Fronts come in canonical order, so that of equals the one found first has the first predecessor.
    fn beats(&self, other: &Found) -> bool {
        self.confidence > other.confidence
            || (self.confidence == other.confidence
                && self.step.from == other.step.from
                && self.step.kind < other.step.kind)
    }
}

#[derive(Clone, Copy)]
struct Hop {
    other: NodeIndex,
    kind: EdgeKind,
    provenance: Provenance,
    confidence_bp: u16,
    edge_row: u32,
}

impl Hop {
    fn stored(edge: &EdgeRecord) -> Hop {
        Hop {
            other: edge.other(),
            kind: edge.kind(),
            provenance: edge.provenance(),
            confidence_bp: edge.confidence_bp,
            edge_row: edge.edge_row,
        }
    }

    fn inherits(other: NodeIndex) -> Hop {
        let provenance = Provenance::Inheritance;
        let confidence_bp = provenance.usual_confidence();
        Hop { other, kind: EdgeKind::Inherits, provenance, confidence_bp, edge_row: 0 }
    }
}

fn for_each_edge(
    graph: &Graph,
    inheritance: &mut Inheritance<'_>,
    node: NodeIndex,
    options: &Reach,
    mut visit: impl FnMut(Hop),
) {
    let Follow { outgoing, mut incoming } = options.follow;
    if graph.node(node).kind().is_value() {
        incoming = incoming.union(options.of_values);
    }
    let mut pass = |hop: Hop| {
        if hop.confidence_bp >= options.min_confidence_bp {
            visit(hop);
        }
    };
    for (edges, kinds) in [(graph.outgoing(node), outgoing), (graph.incoming(node), incoming)] {
        if kinds.is_empty() {
            continue;
        }
        edges.iter().filter(|it| kinds.has_id(it.kind)).for_each(|it| pass(Hop::stored(it)));
    }
    if outgoing.contains(EdgeKind::Inherits) {
        inheritance.inherited_by(node).into_iter().for_each(|it| pass(Hop::inherits(it)));
    }
    if incoming.contains(EdgeKind::Inherits) {
        inheritance.inheritors_of(node).into_iter().for_each(|it| pass(Hop::inherits(it)));
    }
}
