//! The image of a snapshot from that of another one and what differs: the same bytes as from all rows, at the cost of
//! copying them.

use knowing_model::SnapshotId;
use rustc_hash::FxHashMap;

use crate::build::{EdgeInput, NodeInput};
use crate::gone::GoneRows;
use crate::image::{EdgeRecord, Error, Graph, NodeIndex, NodeRecord, Result};
use crate::layout::Draft;

/// What differs between two snapshots.
#[derive(Clone, Debug, Default)]
pub struct GraphPatch<'a> {
    /// Rows of node versions that are gone.
    pub gone_nodes: GoneRows,
    pub gone_edges: GoneRows,
    /// Nodes that came, and all ends of the edges that came which are none of them, without a row.
    pub nodes: Vec<NodeInput<'a>>,
    pub edges: Vec<EdgeInput>,
}

/// The new graph, and where its nodes were before.
#[derive(Debug)]
pub struct Patched {
    pub graph: Graph,
    /// For each node of the new graph its place in the old one; none for what was not there, or was another version.
    pub before: Vec<Option<NodeIndex>>,
}

const NOWHERE: u32 = u32::MAX;

impl Graph {
    /// None when a symbol is stated by several files, of which all rows must be known to choose one. `same_name` finds
    /// any node with a terminal name.
    pub fn patched(
        &self,
        snapshot: SnapshotId,
        patch: &GraphPatch<'_>,
        same_name: impl Fn(&str) -> Option<NodeIndex>,
    ) -> Result<Option<Patched>> {
        if self.n_repeated() > 0 {
            return Ok(None);
        }
        let Some(nodes) = Nodes::new(self, patch) else { return Ok(None) };
        let mut ends = Vec::with_capacity(patch.edges.len());
        for edge in &patch.edges {
            ends.push((nodes.of_sym(self, edge.source)?, nodes.of_sym(self, edge.target)?));
        }
        let n_gone = self.all_edges().iter().filter(|it| patch.gone_edges.has(it.edge_row)).count();
        let mut draft = Draft::new(nodes.order.len(), self.all_edges().len() - n_gone + patch.edges.len())?;
        self.adjacency(draft.outgoing(), &nodes, patch, Graph::outgoing, |at| ends[at])?;
        self.adjacency(draft.incoming(), &nodes, patch, Graph::incoming, |at| (ends[at].1, ends[at].0))?;
        nodes.records(self, patch, same_name, draft.nodes());
        let (records, order) = draft.order();
        nodes.order_by_symbol(self, records, order);
        let before =
            nodes.order.iter().map(|it| it.same.then_some(it.old).flatten().map(NodeIndex)).collect();
        let graph = Graph::from_words(draft.finish(snapshot, 0))?;
        Ok(Some(Patched { graph, before }))
    }

    fn adjacency<'g>(
        &'g self,
        (offsets, edges): (&mut [u32], &mut [EdgeRecord]),
        nodes: &Nodes,
        patch: &GraphPatch<'_>,
        old_edges: impl Fn(&'g Graph, NodeIndex) -> &'g [EdgeRecord],
        ends: impl Fn(usize) -> (u32, u32),
    ) -> Result<()> {
        let mut new: Vec<(u32, EdgeRecord)> = Vec::with_capacity(patch.edges.len());
        for (at, edge) in patch.edges.iter().enumerate() {
            let (near, far) = ends(at);
            new.push((near, edge.record(far)));
        }
        let key = |it: &EdgeRecord| (it.kind, it.other, it.edge_row);
        new.sort_unstable_by_key(|it| (it.0, key(&it.1)));
        let mut new = new.into_iter().peekable();
        let uneven = || Error::Damaged("its edges do not lead both ways");
        let mut to = 0;
        for (number, node) in (0..).zip(&nodes.order) {
            let from = to;
            let old = node.old.map_or(&[][..], |it| old_edges(self, NodeIndex(it)));
            // Places keep their order, so that what was sorted still is.
            for edge in old.iter().filter(|it| !patch.gone_edges.has(it.edge_row)) {
                let other = nodes.new_place[edge.other as usize];
                *edges.get_mut(to).ok_or_else(uneven)? = EdgeRecord { other, ..*edge };
                to += 1;
            }
            let n_old = to - from;
            while let Some((_, edge)) = new.next_if(|it| it.0 == number) {
                *edges.get_mut(to).ok_or_else(uneven)? = edge;
                to += 1;
            }
            if n_old > 0 && to - from > n_old {
                edges[from..to].sort_unstable_by_key(key);
            }
            offsets[number as usize + 1] = to as u32;
        }
        if to == edges.len() { Ok(()) } else { Err(uneven()) }
    }
}

/// All nodes of the new graph, in its order.
struct Nodes {
    order: Vec<Place>,
    /// By place in the old graph; `NOWHERE` for what is gone.
    new_place: Vec<u32>,
    /// Places in the new graph of symbols that were not in the old one.
    new_syms: FxHashMap<u32, u32>,
}

struct Place {
    /// In the old graph.
    old: Option<u32>,
    /// In the patch: the version of it that counts now.
    new: Option<u32>,
    /// The version that counted before counts still.
    same: bool,
}

impl Nodes {
    fn new(graph: &Graph, patch: &GraphPatch<'_>) -> Option<Nodes> {
        let old = graph.nodes();
        let has_row = |it: &NodeRecord| it.node_row != 0 && !patch.gone_nodes.has(it.node_row);
        // What has no row is there as long as an edge ends at it.
        let mut is_there: Vec<bool> = old.iter().map(has_row).collect();
        for at in graph.indices() {
            let kept = |it: &&EdgeRecord| !patch.gone_edges.has(it.edge_row);
            let is_end = |edges: &[EdgeRecord]| edges.iter().any(|it| kept(&it));
            if !is_there[at.0 as usize] && (is_end(graph.outgoing(at)) || is_end(graph.incoming(at))) {
                is_there[at.0 as usize] = true;
            }
        }
        let mut new: Vec<(u32, &NodeInput<'_>)> = (0..).zip(&patch.nodes).collect();
        new.sort_unstable_by_key(|it| it.1.id);
        let mut nodes =
            Nodes { order: Vec::new(), new_place: vec![NOWHERE; old.len()], new_syms: FxHashMap::default() };
        nodes.order.reserve(old.len() + new.len());
        let mut new = new.into_iter().peekable();
        for (at, record) in (0..).zip(old) {
            while let Some((number, input)) = new.next_if(|it| it.1.id < record.id()) {
                nodes.push_new(number, input)?;
            }
            let same = new.next_if(|it| it.1.id == record.id());
            let stays = has_row(record);
            let version = match same {
                Some((_, input)) if input.node_row != 0 && stays => return None,
                Some((number, input)) if input.node_row != 0 => Some(number),
                // An end of an edge that came.
                Some(_) => {
                    is_there[at as usize] = true;
                    None
                }
                None => None,
            };
            if version.is_some() || is_there[at as usize] {
                nodes.new_place[at as usize] = nodes.order.len() as u32;
                let was_virtual = record.node_row == 0 && version.is_none();
                nodes.order.push(Place { old: Some(at), new: version, same: stays || was_virtual });
            }
        }
        for (number, input) in new {
            nodes.push_new(number, input)?;
        }
        Some(nodes)
    }

    /// None when the same symbol was just added.
    fn push_new(&mut self, number: u32, input: &NodeInput<'_>) -> Option<()> {
        let place = self.order.len() as u32;
        self.order.push(Place { old: None, new: Some(number), same: false });
        self.new_syms.insert(input.sym, place).is_none().then_some(())
    }

    fn of_sym(&self, graph: &Graph, sym: u32) -> Result<u32> {
        let old = graph.of_sym(sym).map(|it| self.new_place[it.0 as usize]).filter(|it| *it != NOWHERE);
        old.or_else(|| self.new_syms.get(&sym).copied())
            .ok_or_else(|| Error::Input(format!("an edge ends at symbol {sym}, which has no node")))
    }

    /// Names are numbered by first use, as when all is built anew.
    fn records(
        &self,
        graph: &Graph,
        patch: &GraphPatch<'_>,
        same_name: impl Fn(&str) -> Option<NodeIndex>,
        records: &mut [NodeRecord],
    ) {
        let old = graph.nodes();
        let mut of_old: Vec<u32> = vec![NOWHERE; old.len()];
        let mut of_text: FxHashMap<&str, u32> = FxHashMap::default();
        let mut n_names = 0;
        let mut number = |slot: &mut u32| {
            if *slot == NOWHERE {
                *slot = n_names;
                n_names += 1;
            }
            *slot
        };
        for (place, record) in self.order.iter().zip(records) {
            let version = place.new.map(|it| &patch.nodes[it as usize]);
            let known = match (place.old, version) {
                (Some(at), _) => Some(old[at as usize].name),
                (None, Some(input)) => same_name(input.name).map(|it| old[it.0 as usize].name),
                (None, None) => None,
            };
            let name = match (known, version) {
                (Some(known), _) => number(&mut of_old[known as usize]),
                (None, Some(input)) => number(of_text.entry(input.name).or_insert(NOWHERE)),
                (None, None) => 0,
            };
            *record = match (version, place.old) {
                (Some(input), _) => input.record(name),
                (None, Some(at)) if place.same => NodeRecord { name, ..old[at as usize] },
                // Its declaration is gone, and something speaks of it still.
                (None, Some(at)) => NodeRecord { name, node_row: 0, flags: 0, ..old[at as usize] },
                (None, None) => continue,
            };
        }
    }

    /// All nodes by the rows of their symbols: as before, and those that came put in between.
    fn order_by_symbol(&self, graph: &Graph, records: &[NodeRecord], order: &mut [u32]) {
        let sym = |at: u32| records[at as usize].sym;
        let mut came: Vec<u32> =
            (0..).zip(&self.order).filter(|it| it.1.old.is_none()).map(|it| it.0).collect();
        came.sort_unstable_by_key(|it| sym(*it));
        let mut came = came.into_iter().peekable();
        let stayed = graph.by_symbol().iter().map(|it| self.new_place[*it as usize]);
        let mut slots = order.iter_mut();
        let mut push = |at: u32| {
            if let Some(slot) = slots.next() {
                *slot = at;
            }
        };
        for at in stayed.filter(|it| *it != NOWHERE) {
            while let Some(it) = came.next_if(|it| sym(*it) < sym(at)) {
                push(it);
            }
            push(at);
        }
        came.for_each(push);
    }
}
