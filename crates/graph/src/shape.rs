//! What retrieval adapts to: how large a graph is, how much of it lies outside, and what it is made of.

use knowing_model::NodeKind;

use crate::image::Graph;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// All nodes, virtual ones included.
    pub n_nodes: usize,
    pub n_edges: usize,
    /// Nodes without a place in the repository.
    pub n_virtual: usize,
    /// By kind, in the order of the table, for kinds that occur.
    pub kinds: Vec<(NodeKind, usize)>,
}

impl Shape {
    /// One pass over the nodes; edges are not looked at.
    pub fn of(graph: &Graph) -> Shape {
        let mut counts = [0; 256];
        let mut n_virtual = 0;
        for node in graph.nodes() {
            counts[usize::from(node.kind)] += 1;
            n_virtual += usize::from(node.is_virtual());
        }
        let kinds = NodeKind::ALL.iter().map(|&kind| (kind, counts[usize::from(kind.id())]));
        Shape {
            n_nodes: graph.n_nodes(),
            n_edges: graph.n_edges(),
            n_virtual,
            kinds: kinds.filter(|it| it.1 > 0).collect(),
        }
    }

    /// From 0 to 1; 0 for an empty graph.
    pub fn virtual_share(&self) -> f64 {
        self.n_virtual as f64 / self.n_nodes.max(1) as f64
    }

    pub fn n_of(&self, kind: NodeKind) -> usize {
        self.kinds.iter().find(|it| it.0 == kind).map_or(0, |it| it.1)
    }
}
