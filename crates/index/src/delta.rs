//! What differs between the snapshot that a run builds on and the one it makes, unit by unit, and what follows from that:
//! the roots of the tree of edges, the counts, the images of graph and names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use knowing_graph::{EdgeInput, EdgeRecord, GoneRows, Graph, GraphPatch, NodeIndex, NodeInput, Patched};
use knowing_model::{ContainerClass, EdgeKind, NodeId, identity, package_of};
use knowing_resolve::Resolution;
use knowing_search::{FileIndex, FileInput, NameInput, NamePatch, Names};
use knowing_snapshot::{EdgeLeaf, Roots};
use knowing_store::{Counts, GraphRows, SnapshotRow, Store, SymbolRow, UnitRange};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Result;
use crate::base::Base;
use crate::pipeline::Files;
use crate::search_changes;

/// Units that are no more.
pub(crate) struct Gone {
    pub(crate) units: Vec<UnitRange>,
    nodes: GoneRows,
    edges: GoneRows,
}

impl Gone {
    /// All units of the base that are not among `kept`, which is in ascending order.
    pub(crate) fn new(store: &Store, base: &Base, kept: &[u32]) -> Result<Gone> {
        let mut gone = base.results.units();
        gone.retain(|it| kept.binary_search(it).is_err());
        let units = store.reader(&base.snapshot)?.ranges_of(&gone)?;
        let nodes = GoneRows::new(units.iter().map(|it| it.nodes.clone()));
        let edges = GoneRows::new(units.iter().map(|it| it.edges.clone()));
        Ok(Gone { units, nodes, edges })
    }

    fn has_edge(&self, edge: &EdgeRecord) -> bool {
        self.edges.has(edge.edge_row)
    }

    fn has_node(&self, row: u32) -> bool {
        self.nodes.has(row)
    }
}

/// The roots of the new tree: packages that no edge has left or joined keep theirs.
pub(crate) fn roots(store: &Store, base: &Base, gone: &Gone, resolution: &Resolution) -> Result<Roots> {
    let Base { graph, names, .. } = base;
    let package = |at: NodeIndex| package_of(names.class(at.0), names.container(at.0));
    let mut changed: BTreeSet<&str> = BTreeSet::new();
    for at in graph.indices() {
        if graph.outgoing(at).iter().any(|it| gone.has_edge(it)) {
            changed.insert(package(at));
        }
    }
    let symbols = &resolution.symbols;
    let new = resolution.units.iter().flat_map(|it| &it.edges).map(|edge| {
        let (source, target) = (&symbols[edge.source as usize], &symbols[edge.target as usize]);
        EdgeLeaf {
            package: package_of(source.class, &source.container),
            kind: edge.kind,
            id: identity::edge_id(source.id, target.id, edge.kind),
            provenance: edge.provenance,
            confidence_bp: edge.confidence_bp,
        }
    });
    let new: Vec<EdgeLeaf<'_>> = new.collect();
    changed.extend(new.iter().map(|it| it.package));
    let changed = changed;
    // Most nodes stand in files: whether those are of a changed package is found out once a file.
    let is_file_changed: Vec<bool> = (0..names.n_files() as u32)
        .map(|it| changed.contains(package_of(ContainerClass::File, names.path(FileIndex(it)))))
        .collect();
    let is_changed = |at: &NodeIndex| match (names.class(at.0), names.file(at.0)) {
        (ContainerClass::File, Some(file)) => is_file_changed[file.0 as usize],
        _ => changed.contains(package(*at)),
    };
    let kept = graph.indices().filter(is_changed).flat_map(|at| {
        let edges = graph.outgoing(at).iter().filter(|it| !gone.has_edge(it));
        edges.map(move |edge| EdgeLeaf {
            package: package(at),
            kind: edge.kind(),
            id: identity::edge_id(graph.node(at).id(), graph.node(edge.other()).id(), edge.kind()),
            provenance: edge.provenance(),
            confidence_bp: edge.confidence_bp,
        })
    });
    let before = Roots { root: base.snapshot.root, packages: store.package_roots(&base.snapshot)? };
    Ok(before.patched(&changed, kept.chain(new.iter().copied())))
}

/// The counts of the new snapshot: those of the base, less what is gone, and what came.
pub(crate) fn counts(store: &Store, base: &Base, gone: &Gone, resolution: &Resolution) -> Result<Counts> {
    let left = store.reader(&base.snapshot)?.tally_of(&gone.units)?;
    let mut counts = base.snapshot.counts.clone();
    take(&mut counts.edges_by_provenance, &left.edges);
    take(&mut counts.unresolved_by_reason, &left.unresolved);
    for unit in &resolution.units {
        unit.edges.iter().for_each(|it| add(&mut counts.edges_by_provenance, it.provenance.name()));
        unit.unresolved.iter().for_each(|it| add(&mut counts.unresolved_by_reason, it.reason.name()));
    }
    counts.edges = counts.edges_by_provenance.values().sum();
    counts.unresolved = counts.unresolved_by_reason.values().sum();
    counts.nodes = n_nodes(&base.graph, gone, resolution);
    Ok(counts)
}

fn take(counts: &mut BTreeMap<String, u64>, left: &BTreeMap<&'static str, u64>) {
    for (name, n) in left {
        if let Some(count) = counts.get_mut(*name) {
            *count = count.saturating_sub(*n);
        }
    }
    counts.retain(|_, count| *count > 0);
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

/// What a unit states, and what an edge ends at.
fn n_nodes(graph: &Graph, gone: &Gone, resolution: &Resolution) -> u64 {
    let mut new: FxHashSet<NodeId> = FxHashSet::default();
    for unit in &resolution.units {
        let ends = unit.edges.iter().flat_map(|it| [it.source, it.target]);
        let all = unit.nodes.iter().map(|it| it.symbol).chain(ends);
        new.extend(all.map(|it| resolution.symbols[it as usize].id));
    }
    let is_end = |edges: &[EdgeRecord]| edges.iter().any(|it| !gone.has_edge(it));
    let is_kept = |at: &NodeIndex| {
        let node = graph.node(*at);
        (node.node_row != 0 && !gone.has_node(node.node_row))
            || is_end(graph.outgoing(*at))
            || is_end(graph.incoming(*at))
    };
    let kept = graph.indices().filter(is_kept).filter(|at| !new.contains(&graph.node(*at).id()));
    (kept.count() + new.len()) as u64
}

/// The images of the new snapshot, once its rows are written.
pub(crate) struct Images {
    pub(crate) graph: Arc<Graph>,
    pub(crate) names: Arc<Names>,
    /// Nodes with other callers or callees.
    pub(crate) recalled: Vec<NodeId>,
}

/// None when they have to be built from all rows. `units` are those of the snapshot, `file_rows` those of its files.
pub(crate) fn images(
    store: &Store,
    base: &Base,
    snapshot: &SnapshotRow,
    units: &[u32],
    files: &Files,
    file_rows: &[i64],
) -> Result<Option<Images>> {
    let before = base.results.units();
    let mut sorted = units.to_vec();
    sorted.sort_unstable();
    let gone = Gone::new(store, base, &sorted)?;
    let came: Vec<u32> = sorted.iter().copied().filter(|it| before.binary_search(it).is_err()).collect();
    let rows = store.reader(snapshot)?.graph_rows_of(&came)?;
    if rows.n_repeated > 0 {
        return Ok(None);
    }
    let names = &base.names;
    let same_name = |name: &str| {
        let found = names.named(name).iter().find(|it| names.name(**it) == name)?;
        Some(NodeIndex(*found))
    };
    let Some(Patched { graph, before }) =
        base.graph.patched(snapshot.id, &patch_of(&gone, &rows), same_name)?
    else {
        return Ok(None);
    };
    let new_names = NewNames { store, base, snapshot, came: &came, files, file_rows };
    let names = new_names.build(&graph, &before)?;
    let old_ends = base.graph.indices().flat_map(|at| {
        let calls = |it: &&EdgeRecord| gone.has_edge(it) && it.kind() == EdgeKind::Calls;
        let gone = base.graph.outgoing(at).iter().filter(calls);
        gone.flat_map(move |it| [at, it.other()]).map(|it| base.graph.node(it).id())
    });
    let new_ends = rows.edges.iter().filter(|it| it.kind == EdgeKind::Calls);
    let new_ends = new_ends.flat_map(|it| [it.source, it.target]).filter_map(|it| graph.of_sym(it));
    let ends = old_ends.chain(new_ends.map(|it| graph.node(it).id()));
    let recalled = search_changes::recalled((&base.graph, &base.names), (&graph, &names), ends);
    Ok(Some(Images { graph: graph.into(), names: names.into(), recalled }))
}

fn patch_of<'r>(gone: &Gone, rows: &'r GraphRows) -> GraphPatch<'r> {
    GraphPatch {
        gone_nodes: gone.nodes.clone(),
        gone_edges: gone.edges.clone(),
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
    base: &'a Base,
    snapshot: &'a SnapshotRow,
    came: &'a [u32],
    files: &'a Files,
    file_rows: &'a [i64],
}

#[derive(Clone, Copy, Default)]
struct Place {
    file: Option<u32>,
    first_line: u32,
    last_line: u32,
}

impl NewNames<'_> {
    fn build(&self, graph: &Graph, before: &[Option<NodeIndex>]) -> Result<Names> {
        let old = &self.base.names;
        let reader = self.store.reader(self.snapshot)?;
        let file_of_row: FxHashMap<i64, u32> = self.file_rows.iter().copied().zip(0..).collect();
        let mut places: FxHashMap<u32, Place> = FxHashMap::default();
        for range in reader.ranges_of(self.came)? {
            reader.node_places_of(&range, |it| {
                let file = file_of_row.get(&it.file_row).copied();
                let place = Place { file, first_line: it.first_line, last_line: it.last_line };
                places.insert(it.node_row, place);
            })?;
        }
        let mut symbols: Vec<Option<SymbolRow>> = Vec::new();
        for (at, before) in graph.indices().zip(before) {
            if before.is_none() {
                symbols.push(Some(reader.symbol(graph.node(at).sym)?));
            }
        }
        // Files of the base by their places in the new list.
        let mut moved: Vec<Option<u32>> = vec![None; self.base.files.len()];
        for (at, file) in (0..).zip(&self.files.read) {
            if let Some(same) = file.same {
                moved[same as usize] = Some(at);
            }
        }
        let mut new_symbols = symbols.iter();
        let nodes = before.iter().enumerate().map(|(at, before)| match before {
            Some(NodeIndex(it)) => {
                NamePatch::Kept { before: *it, file: old.file(*it).and_then(|file| moved[file.0 as usize]) }
            }
            None => {
                let symbol = &new_symbols.next().and_then(Option::as_ref).expect("read above").symbol;
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
        let file_inputs = self.files.read.iter().map(|it| FileInput {
            id: it.id,
            path: &it.path,
            language: &it.facts.language,
        });
        let file_inputs: Vec<FileInput<'_>> = file_inputs.collect();
        Ok(old.patched(self.snapshot.id, nodes, &file_inputs)?)
    }
}
