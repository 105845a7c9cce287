//! Rows to the bytes of an image.

use knowing_model::{EdgeKind, NodeFlags, NodeId, NodeKind, Provenance, SnapshotId};
use rustc_hash::FxHashMap;

use crate::image::{EdgeRecord, Error, Graph, NodeRecord, Result};
use crate::layout::Draft;

/// What a snapshot holds, in any order.
#[derive(Clone, Debug, Default)]
pub struct GraphInput<'a> {
    pub nodes: Vec<NodeInput<'a>>,
    pub edges: Vec<EdgeInput>,
    /// Node versions that are left out, because another file states their symbol too.
    pub n_repeated: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct NodeInput<'a> {
    pub id: NodeId,
    /// The symbol's row in the store; distinct.
    pub sym: u32,
    /// The node version's row in the store, 0 for what has none.
    pub node_row: u32,
    pub kind: NodeKind,
    pub flags: NodeFlags,
    /// Last segment of the symbol path; members of one name hide each other in a hierarchy.
    pub name: &'a str,
}

/// Ends are symbols, by their rows.
#[derive(Clone, Copy, Debug)]
pub struct EdgeInput {
    pub source: u32,
    pub target: u32,
    pub kind: EdgeKind,
    pub provenance: Provenance,
    pub confidence_bp: u16,
    pub edge_row: u32,
}

impl NodeInput<'_> {
    pub(crate) fn record(&self, name: u32) -> NodeRecord {
        NodeRecord {
            id: *self.id.as_bytes(),
            sym: self.sym,
            node_row: self.node_row,
            name,
            flags: self.flags.0,
            kind: self.kind.id(),
            reserved: 0,
        }
    }
}

impl EdgeInput {
    pub(crate) fn record(&self, other: u32) -> EdgeRecord {
        EdgeRecord {
            other,
            edge_row: self.edge_row,
            confidence_bp: self.confidence_bp,
            kind: self.kind.id(),
            provenance: self.provenance.id(),
        }
    }
}

impl Graph {
    /// Brings rows into canonical order. An edge whose end is no node is an error: the store promises both.
    pub fn build(snapshot: SnapshotId, input: &GraphInput<'_>) -> Result<Graph> {
        let nodes = node_records(&input.nodes)?;
        let places = Places::of(&nodes)?;
        let index_of = |sym: u32| {
            let none = || Error::Input(format!("an edge ends at symbol {sym}, which has no node"));
            places.of_sym(sym).ok_or_else(none)
        };
        let mut ends = Vec::with_capacity(input.edges.len());
        for edge in &input.edges {
            ends.push((index_of(edge.source)?, index_of(edge.target)?));
        }
        let mut draft = Draft::new(nodes.len(), input.edges.len())?;
        draft.nodes().copy_from_slice(&nodes);
        let (nodes, order) = draft.order();
        order.iter_mut().zip(0..).for_each(|(it, at)| *it = at);
        order.sort_unstable_by_key(|&it| nodes[it as usize].sym);
        adjacency(draft.outgoing(), &input.edges, |at| ends[at]);
        adjacency(draft.incoming(), &input.edges, |at| (ends[at].1, ends[at].0));
        Graph::from_words(draft.finish(snapshot, input.n_repeated))
    }
}

/// Nodes by their symbols.
enum Places {
    /// By the symbol's row, one more than the place: in a database of one repository most rows are of some node.
    Dense(Vec<u32>),
    Sparse(FxHashMap<u32, u32>),
}

impl Places {
    /// Rows for each node, up to which a list takes no more room than a map.
    const MAX_ROWS: usize = 8;

    fn of(nodes: &[NodeRecord]) -> Result<Places> {
        let last = nodes.iter().map(|it| it.sym as usize).max().unwrap_or(0);
        let mut places = match last / Places::MAX_ROWS <= nodes.len() {
            true => Places::Dense(vec![0; last + 1]),
            false => Places::Sparse(FxHashMap::default()),
        };
        let is_first = nodes.iter().zip(0..).all(|(node, at)| match &mut places {
            Places::Dense(places) => std::mem::replace(&mut places[node.sym as usize], at + 1) == 0,
            Places::Sparse(places) => places.insert(node.sym, at).is_none(),
        });
        is_first.then_some(places).ok_or_else(|| Error::Input("two nodes of one symbol".to_owned()))
    }

    fn of_sym(&self, sym: u32) -> Option<u32> {
        match self {
            Places::Dense(places) => places.get(sym as usize)?.checked_sub(1),
            Places::Sparse(places) => places.get(&sym).copied(),
        }
    }
}

fn node_records(inputs: &[NodeInput<'_>]) -> Result<Vec<NodeRecord>> {
    // The first bytes settle nearly every comparison.
    let mut order: Vec<(u64, &NodeInput<'_>)> = inputs.iter().map(|it| (it.id.0.head(), it)).collect();
    order.sort_unstable_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.id.cmp(&other.1.id)));
    let order: Vec<&NodeInput<'_>> = order.into_iter().map(|it| it.1).collect();
    if order.windows(2).any(|pair| pair[0].id == pair[1].id) {
        return Err(Error::Input("two nodes of one id".to_owned()));
    }
    // Names are numbered by first use in canonical order, so that equal graphs have equal bytes but for row numbers.
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut records = Vec::with_capacity(order.len());
    for node in order {
        let next = numbers.len() as u32;
        records.push(node.record(*numbers.entry(node.name).or_insert(next)));
    }
    Ok(records)
}

/// Edges of all nodes, one node after the other; those of node `n` are `edges[offsets[n]..offsets[n + 1]]`.
fn adjacency(
    (offsets, edges): (&mut [u32], &mut [EdgeRecord]),
    inputs: &[EdgeInput],
    ends: impl Fn(usize) -> (u32, u32),
) {
    for at in 0..inputs.len() {
        offsets[ends(at).0 as usize + 1] += 1;
    }
    for at in 1..offsets.len() {
        offsets[at] += offsets[at - 1];
    }
    let mut next = offsets.to_vec();
    for (at, edge) in inputs.iter().enumerate() {
        let (near, far) = ends(at);
        let slot = &mut next[near as usize];
        edges[*slot as usize] = edge.record(far);
        *slot += 1;
    }
    for span in offsets.windows(2) {
        let (from, to) = (span[0] as usize, span[1] as usize);
        let key = |it: &EdgeRecord| (u64::from(it.kind) << 32 | u64::from(it.other), it.edge_row);
        edges[from..to].sort_unstable_by_key(key);
    }
}
