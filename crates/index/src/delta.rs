//! The images of a snapshot from those of another one and what differs between the two.

use std::sync::Arc;

use knowing_graph::{EdgeInput, EdgeRecord, GoneRows, Graph, GraphPatch, NodeIndex, NodeInput, Patched};
use knowing_model::{EdgeKind, NodeId};
use knowing_search::{NameInput, NamePatch, Names};
use knowing_store::{GraphRows, SnapshotRow, Store};
use rustc_hash::FxHashMap;

use crate::Result;
use crate::drift::Drift;
use crate::imaged::{Imaged, NewFiles};
use crate::search_changes;

/// The images of the new snapshot, once its rows are written.
pub(crate) struct Images {
    pub(crate) graph: Arc<Graph>,
    pub(crate) names: Arc<Names>,
    /// Nodes with other callers or callees.
    pub(crate) recalled: Vec<NodeId>,
}

/// None when they have to be built from all rows. `drift` leads from the snapshot that has images to this one.
pub(crate) fn images(
    store: &Store,
    (imaged, drift): (&Imaged, &Drift),
    snapshot: &SnapshotRow,
    files: &NewFiles<'_>,
) -> Result<Option<Images>> {
    let came = drift.came();
    let rows = store.reader(snapshot)?.graph_rows_of(&came)?;
    if rows.n_repeated > 0 {
        return Ok(None);
    }
    let (old, names) = (&imaged.graph, &imaged.names);
    let same_name = |name: &str| {
        let found = names.named(name).iter().find(|it| names.name(**it) == name)?;
        Some(NodeIndex(*found))
    };
    let gone = drift.gone();
    let Some(Patched { graph, before }) = old.patched(snapshot.id, &patch_of(&gone, &rows), same_name)?
    else {
        return Ok(None);
    };
    let names = NewNames { store, imaged, snapshot, came: &came, files }.build(&graph, &before)?;
    let old_ends = old.indices().flat_map(|at| {
        let calls = |it: &&EdgeRecord| gone.1.has(it.edge_row) && it.kind() == EdgeKind::Calls;
        let gone = old.outgoing(at).iter().filter(calls);
        gone.flat_map(move |it| [at, it.other()]).map(|it| old.node(it).id())
    });
    let new_ends = rows.edges.iter().filter(|it| it.kind == EdgeKind::Calls);
    let new_ends = new_ends.flat_map(|it| [it.source, it.target]).filter_map(|it| graph.of_sym(it));
    let ends = old_ends.chain(new_ends.map(|it| graph.node(it).id()));
    let recalled = search_changes::recalled((old, &imaged.names), (&graph, &names), ends);
    Ok(Some(Images { graph: graph.into(), names: names.into(), recalled }))
}

fn patch_of<'r>((nodes, edges): &(GoneRows, GoneRows), rows: &'r GraphRows) -> GraphPatch<'r> {
    GraphPatch {
        gone_nodes: nodes.clone(),
        gone_edges: edges.clone(),
        nodes: rows.nodes.iter().map(node_input).collect(),
        edges: rows.edges.iter().map(edge_input).collect(),
    }
}

pub(crate) fn node_input(row: &knowing_store::GraphNode) -> NodeInput<'_> {
    NodeInput {
        id: row.id,
        sym: row.sym,
        node_row: row.node_row,
        kind: row.kind,
        flags: row.flags,
        name: &row.name,
    }
}

pub(crate) fn edge_input(row: &knowing_store::GraphEdge) -> EdgeInput {
    EdgeInput {
        source: row.source,
        target: row.target,
        kind: row.kind,
        provenance: row.provenance,
        confidence_bp: row.confidence_bp,
        edge_row: row.edge_row,
    }
}

struct NewNames<'a> {
    store: &'a Store,
    imaged: &'a Imaged,
    snapshot: &'a SnapshotRow,
    came: &'a [u32],
    files: &'a NewFiles<'a>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    file: Option<u32>,
    first_line: u32,
    last_line: u32,
}

impl NewNames<'_> {
    fn build(&self, graph: &Graph, before: &[Option<NodeIndex>]) -> Result<Names> {
        let old = &self.imaged.names;
        let reader = self.store.reader(self.snapshot)?;
        let file_of_row: FxHashMap<i64, u32> = self.files.rows.iter().copied().zip(0..).collect();
        let mut places: FxHashMap<u32, Place> = FxHashMap::default();
        for range in reader.ranges_of(self.came)? {
            reader.node_places_of(&range, |it| {
                let file = file_of_row.get(&it.file_row).copied();
                let place = Place { file, first_line: it.first_line, last_line: it.last_line };
                places.insert(it.node_row, place);
            })?;
        }
        let new = graph.indices().zip(before).filter(|it| it.1.is_none());
        let symbols = reader.symbols(&new.map(|it| graph.node(it.0).sym).collect::<Vec<u32>>())?;
        // Files by their places in the new list.
        let mut moved: Vec<Option<u32>> = vec![None; old.n_files()];
        for (at, same) in (0..).zip(&self.files.same) {
            if let Some(same) = same {
                moved[*same as usize] = Some(at);
            }
        }
        let mut new_symbols = symbols.iter();
        let nodes = before.iter().enumerate().map(|(at, before)| match before {
            Some(NodeIndex(it)) => {
                NamePatch::Kept { before: *it, file: old.file(*it).and_then(|file| moved[file.0 as usize]) }
            }
            None => {
                let symbol = &new_symbols.next().expect("read above").symbol;
                let place = places.get(&graph.nodes()[at].node_row).copied().unwrap_or_default();
                NamePatch::New(NameInput {
                    name: &symbol.name,
                    symbol: &symbol.path,
                    container: &symbol.container,
                    class: symbol.class,
                    file: place.file,
                    first_line: place.first_line,
                    last_line: place.last_line,
                })
            }
        });
        Ok(old.patched(self.snapshot.id, nodes, &self.files.inputs)?)
    }
}
