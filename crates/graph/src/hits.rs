//! Hubs and authorities among a few nodes: what the others lead to, and what leads to the others.

use knowing_model::EdgeKind;
use rustc_hash::FxHashMap;

use crate::image::{Graph, NodeIndex};

/// How often to iterate, and over how many nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hits {
    pub n_nodes: usize,
    pub n_iterations: usize,
}

impl Default for Hits {
    fn default() -> Hits {
        Hits { n_nodes: 200, n_iterations: 10 }
    }
}

/// Both from 0 to 1; the squares of each sum to 1 over all nodes, or all are 0 where no edge joins any two.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Standing {
    pub authority: f64,
    pub hub: f64,
}

/// The standing of the first `n_nodes` of the nodes, in their order, by the edges among them that a walk may take.
pub fn hits(graph: &Graph, nodes: &[NodeIndex], options: &Hits) -> Vec<Standing> {
    let nodes = &nodes[..nodes.len().min(options.n_nodes)];
    let edges = edges_among(graph, nodes);
    let mut standings = vec![Standing { authority: 1.0, hub: 1.0 }; nodes.len()];
    for _ in 0..options.n_iterations {
        for it in &mut standings {
            it.authority = 0.0;
        }
        for &(source, target, weight) in &edges {
            standings[target].authority += weight * standings[source].hub;
        }
        scale(&mut standings, |it| &mut it.authority);
        for it in &mut standings {
            it.hub = 0.0;
        }
        for &(source, target, weight) in &edges {
            standings[source].hub += weight * standings[target].authority;
        }
        scale(&mut standings, |it| &mut it.hub);
    }
    standings
}

/// Source and target as positions in `nodes`, and the weight of the kind.
fn edges_among(graph: &Graph, nodes: &[NodeIndex]) -> Vec<(usize, usize, f64)> {
    let position: FxHashMap<NodeIndex, usize> = nodes.iter().zip(0..).map(|(&it, at)| (it, at)).collect();
    let mut edges = Vec::new();
    for (source, &node) in nodes.iter().enumerate() {
        // A node given twice stands once.
        if position[&node] != source {
            continue;
        }
        for edge in graph.outgoing(node) {
            let Some(&target) = position.get(&edge.other()) else { continue };
            let weight = weight_of(edge.kind());
            if weight > 0.0 {
                edges.push((source, target, weight));
            }
        }
    }
    edges
}

fn weight_of(kind: EdgeKind) -> f64 {
    f64::from(kind.weight_hundredths()) / 100.0
}

/// To length 1; zeros stay zeros.
fn scale(standings: &mut [Standing], part: impl Fn(&mut Standing) -> &mut f64) {
    let length = standings.iter_mut().map(|it| *part(it) * *part(it)).sum::<f64>().sqrt();
    if length > 0.0 {
        for it in standings {
            *part(it) /= length;
        }
    }
}
