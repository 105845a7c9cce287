//! What a snapshot differs by from the one whose images are in memory, unit by unit, and what follows from that: the roots
//! of the tree of edges and the counts of the next snapshot, at the cost of what differs.
//!
//! ```text
//! Step    what a run changes: units that leave the snapshot that it builds on, and those that join
//! Drift   all steps since the snapshot that has images. Outside of a replay there is never more than one
//! ```
//!
//! A unit that left and came back counts as both: that is right, and rare.

use std::collections::{BTreeMap, BTreeSet};

use knowing_graph::{GoneRows, NodeIndex};
use knowing_model::{EdgeKind, NodeId, Provenance, Symbol, Unit, identity, package_of};
use knowing_resolve::Resolution;
use knowing_snapshot::{EdgeLeaf, Roots};
use knowing_store::{Counts, Reader, Store, UnitRange};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Result;
use crate::base::Base;
use crate::imaged::Imaged;

/// Since the snapshot that has images.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drift {
    /// Of its units, those that are no more.
    gone: Vec<UnitRange>,
    /// Units that it does not have, by row.
    came: BTreeMap<u32, UnitRows>,
    uses: Uses,
    /// Edges that are gone, and those that came.
    n_edges: usize,
}

/// What a unit states.
#[derive(Clone, Debug)]
struct UnitRows {
    nodes: Vec<NodeId>,
    /// By package of their sources; one may have several runs.
    runs: Vec<(Box<str>, Vec<UnitEdge>)>,
}

#[derive(Clone, Copy, Debug)]
struct UnitEdge {
    source: NodeId,
    target: NodeId,
    kind: EdgeKind,
    provenance: Provenance,
    confidence_bp: u16,
}

/// How often units state a symbol, and how many of their edges end at it: more or less than in the graph that is there.
type Uses = FxHashMap<NodeId, Used>;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Used {
    stated: i64,
    ends: i64,
}

impl Used {
    fn with(self, more: Used) -> Used {
        Used { stated: self.stated + more.stated, ends: self.ends + more.ends }
    }

    /// What a unit states, and what an edge ends at.
    fn is_node(self) -> bool {
        self.stated > 0 || self.ends > 0
    }
}

impl UnitRows {
    fn of(unit: &Unit, symbols: &[Symbol]) -> UnitRows {
        let symbol = |at: u32| &symbols[at as usize];
        let package = |at: u32| package_of(symbol(at).class, &symbol(at).container);
        let is_same = |one: u32, other: u32| one == other || package(one) == package(other);
        let runs = unit.edges.chunk_by(|one, other| is_same(one.source, other.source)).map(|run| {
            let edges = run.iter().map(|it| UnitEdge {
                source: symbol(it.source).id,
                target: symbol(it.target).id,
                kind: it.kind,
                provenance: it.provenance,
                confidence_bp: it.confidence_bp,
            });
            (package(run[0].source).into(), edges.collect())
        });
        let nodes = unit.nodes.iter().map(|it| symbol(it.symbol).id).collect();
        UnitRows { nodes, runs: runs.collect() }
    }

    fn n_edges(&self) -> usize {
        self.runs.iter().map(|it| it.1.len()).sum()
    }

    /// Takes away what it uses.
    fn uncount(&self, uses: &mut Uses) {
        self.nodes.iter().for_each(|it| uses.entry(*it).or_default().stated -= 1);
        for edge in self.runs.iter().flat_map(|it| &it.1) {
            uses.entry(edge.source).or_default().ends -= 1;
            uses.entry(edge.target).or_default().ends -= 1;
        }
    }
}

/// What units use that were just made.
fn uses_of(resolution: &Resolution) -> Uses {
    let mut of_symbols = vec![Used::default(); resolution.symbols.len()];
    for unit in &resolution.units {
        unit.nodes.iter().for_each(|it| of_symbols[it.symbol as usize].stated += 1);
        for edge in &unit.edges {
            of_symbols[edge.source as usize].ends += 1;
            of_symbols[edge.target as usize].ends += 1;
        }
    }
    let symbols = resolution.symbols.iter().zip(of_symbols).filter(|it| it.1 != Used::default());
    symbols.map(|(symbol, used)| (symbol.id, used)).collect()
}

impl Drift {
    /// Edges that are gone, and those that came.
    pub(crate) fn n_edges(&self) -> usize {
        self.n_edges
    }

    /// Rows of the units that came, in ascending order.
    pub(crate) fn came(&self) -> Vec<u32> {
        self.came.keys().copied().collect()
    }

    /// Rows of nodes and of edges that are gone.
    pub(crate) fn gone(&self) -> (GoneRows, GoneRows) {
        let nodes = GoneRows::new(self.gone.iter().map(|it| it.nodes.clone()));
        (nodes, GoneRows::new(self.gone.iter().map(|it| it.edges.clone())))
    }

    /// Once a step is written: `rows` are those of the units that joined.
    pub(crate) fn add(&mut self, step: Step, rows: &[u32]) {
        let joined: FxHashSet<u32> = rows.iter().copied().collect();
        // What was made again and is as it was has neither left nor joined.
        let stayed: FxHashSet<u32> =
            step.left.iter().map(|it| it.0).filter(|it| joined.contains(it)).collect();
        for (row, range) in step.left.into_iter().filter(|it| !stayed.contains(&it.0)) {
            match self.came.remove(&row) {
                Some(unit) => self.n_edges -= unit.n_edges(),
                None => {
                    self.n_edges += range.edges.len();
                    self.gone.push(range);
                }
            }
        }
        for (row, unit) in rows.iter().zip(step.joined).filter(|it| !stayed.contains(it.0)) {
            self.n_edges += unit.n_edges();
            self.came.insert(*row, unit);
        }
        // Each symbol for itself: their order does not matter.
        step.uses.into_iter().for_each(|(id, used)| {
            let all = self.uses.entry(id).or_default();
            *all = all.with(used);
            if *all == Used::default() {
                self.uses.remove(&id);
            }
        });
    }

    /// What all units of its snapshot use of a symbol.
    fn used(&self, imaged: &Imaged, id: NodeId) -> Used {
        let mut used = self.uses.get(&id).copied().unwrap_or_default();
        let graph = &imaged.graph;
        if let Some(at) = graph.find(id) {
            used.stated += i64::from(graph.node(at).node_row != 0);
            used.ends += (graph.outgoing(at).len() + graph.incoming(at).len()) as i64;
        }
        used
    }
}

/// What a run changes.
pub(crate) struct Step {
    /// Units that are no more, by row.
    left: Vec<(u32, UnitRange)>,
    /// Those that were made, in their order; some may turn out to be among those that left.
    joined: Vec<UnitRows>,
    uses: Uses,
    /// Packages of edges that left.
    packages: BTreeSet<String>,
}

impl Step {
    /// From the snapshot that a run builds on, of which it keeps the units `kept`, in ascending order.
    pub(crate) fn new(store: &Store, base: &Base, kept: &[u32], resolution: &Resolution) -> Result<Step> {
        let mut left = base.results.units();
        left.retain(|it| kept.binary_search(it).is_err());
        let reader = store.reader(&base.snapshot)?;
        let ranges = reader.ranges_of(&left)?;
        let joined: Vec<UnitRows> =
            resolution.units.iter().map(|it| UnitRows::of(it, &resolution.symbols)).collect();
        let mut uses = uses_of(resolution);
        let mut packages: BTreeSet<String> = BTreeSet::new();
        let mut imaged = LeftImaged { imaged: &base.imaged, met: FxHashMap::default() };
        for (row, range) in left.iter().zip(&ranges) {
            match base.drift.came.get(row) {
                Some(unit) => {
                    unit.uncount(&mut uses);
                    for (package, _) in &unit.runs {
                        if !packages.contains(&**package) {
                            packages.insert(package.to_string());
                        }
                    }
                }
                None => imaged.count(&reader, range, &mut packages)?,
            }
        }
        imaged.settle(&mut uses);
        Ok(Step { left: left.into_iter().zip(ranges).collect(), joined, uses, packages })
    }

    /// The roots of the new tree: packages that no edge has left or joined keep theirs.
    pub(crate) fn roots(&self, store: &Store, base: &Base) -> Result<Roots> {
        let Base { imaged, drift, .. } = base;
        let mut changed: BTreeSet<&str> = self.packages.iter().map(String::as_str).collect();
        changed.extend(self.joined.iter().flat_map(|it| &it.runs).map(|it| &*it.0));
        let left: FxHashSet<u32> = self.left.iter().map(|it| it.0).collect();
        let is_imaged = |it: &&(u32, UnitRange)| !drift.came.contains_key(&it.0);
        let gone_now = self.left.iter().filter(is_imaged).map(|it| &it.1);
        let gone = GoneRows::new(drift.gone.iter().chain(gone_now).map(|it| it.edges.clone()));
        let came = drift.came.iter().filter(|it| !left.contains(it.0)).map(|it| it.1);
        let mut new: FxHashMap<&str, Vec<&[UnitEdge]>> = FxHashMap::default();
        for (package, edges) in came.chain(&self.joined).flat_map(|it| &it.runs) {
            new.entry(package).or_default().push(edges);
        }
        let graph = &imaged.graph;
        // One package after the other, so that what is gathered of it stays near.
        let leaves = changed.iter().flat_map(|&package| {
            let kept = imaged.in_package(package).flat_map(|at| {
                let kept = graph.outgoing(at).iter().filter(|it| !gone.has(it.edge_row));
                kept.map(move |it| UnitEdge {
                    source: graph.node(at).id(),
                    target: graph.node(it.other()).id(),
                    kind: it.kind(),
                    provenance: it.provenance(),
                    confidence_bp: it.confidence_bp,
                })
            });
            let new = new.get(package).into_iter().flatten().flat_map(|it| it.iter().copied());
            let edges: Vec<UnitEdge> = kept.chain(new).collect();
            let ids = identity::edge_ids(edges.iter().map(|it| (it.source, it.target, it.kind)));
            edges.into_iter().zip(ids).map(move |(edge, id)| EdgeLeaf {
                package,
                kind: edge.kind,
                id,
                provenance: edge.provenance,
                confidence_bp: edge.confidence_bp,
            })
        });
        let before = Roots { root: base.snapshot.root, packages: store.package_roots(&base.snapshot)? };
        Ok(before.patched(&changed, leaves))
    }

    /// The counts of the new snapshot: those of the base, less what left, and what joined.
    pub(crate) fn counts(&self, store: &Store, base: &Base, resolution: &Resolution) -> Result<Counts> {
        let ranges: Vec<UnitRange> = self.left.iter().map(|it| it.1.clone()).collect();
        let left = store.reader(&base.snapshot)?.tally_of(&ranges)?;
        let mut counts = base.snapshot.counts.clone();
        take(&mut counts.edges_by_provenance, &left.edges);
        take(&mut counts.unresolved_by_reason, &left.unresolved);
        for unit in &resolution.units {
            unit.edges.iter().for_each(|it| add(&mut counts.edges_by_provenance, it.provenance.name()));
            unit.unresolved.iter().for_each(|it| add(&mut counts.unresolved_by_reason, it.reason.name()));
        }
        counts.edges = counts.edges_by_provenance.values().sum();
        counts.unresolved = counts.unresolved_by_reason.values().sum();
        counts.nodes = self.n_nodes(base);
        Ok(counts)
    }

    fn n_nodes(&self, base: &Base) -> u64 {
        let came = |(id, step): (&NodeId, &Used)| {
            let before = base.drift.used(&base.imaged, *id);
            i64::from(before.with(*step).is_node()) - i64::from(before.is_node())
        };
        base.snapshot.counts.nodes.saturating_add_signed(self.uses.iter().map(came).sum())
    }

    /// Whether two units state the same symbol then: all rows must be known to choose one.
    pub(crate) fn repeats(&self, base: &Base) -> bool {
        let stated = |id: &NodeId| {
            let step = self.uses.get(id).copied().unwrap_or_default();
            base.drift.used(&base.imaged, *id).with(step).stated
        };
        self.joined.iter().flat_map(|it| &it.nodes).any(|it| stated(it) > 1)
    }
}

/// Units that leave the snapshot that has images. Their rows are asked of the store, as images do not tell units.
struct LeftImaged<'a> {
    imaged: &'a Imaged,
    /// Nodes by the rows of their symbols, none for one that is not in the graph.
    met: FxHashMap<u32, Option<Met>>,
}

struct Met {
    at: NodeIndex,
    /// By what left.
    used: Used,
    /// Its package was noted.
    is_noted: bool,
}

impl LeftImaged<'_> {
    fn count(
        &mut self,
        reader: &Reader<'_>,
        range: &UnitRange,
        packages: &mut BTreeSet<String>,
    ) -> Result<()> {
        let (mut nodes, mut ends) = (Vec::new(), Vec::new());
        reader.each_row_of(range, |row, sym| nodes.push((row, sym)), |from, to| ends.push((from, to)))?;
        let imaged = self.imaged;
        for (row, sym) in nodes {
            // Of a symbol that several units state, the graph has one.
            if let Some(met) = self.met(sym).filter(|it| imaged.graph.node(it.at).node_row == row) {
                met.used.stated += 1;
            }
        }
        for (source, target) in ends {
            if let Some(met) = self.met(source) {
                met.used.ends += 1;
                if !std::mem::replace(&mut met.is_noted, true) {
                    let package = imaged.package(met.at);
                    if !packages.contains(package) {
                        packages.insert(package.to_owned());
                    }
                }
            }
            if let Some(met) = self.met(target) {
                met.used.ends += 1;
            }
        }
        Ok(())
    }

    fn met(&mut self, sym: u32) -> Option<&mut Met> {
        let find = || {
            let at = self.imaged.graph.of_sym(sym)?;
            Some(Met { at, used: Used::default(), is_noted: false })
        };
        self.met.entry(sym).or_insert_with(find).as_mut()
    }

    /// Takes away what all of them used.
    fn settle(self, uses: &mut Uses) {
        // Each symbol for itself: their order does not matter.
        self.met.into_values().flatten().for_each(|met| {
            let all = uses.entry(self.imaged.graph.node(met.at).id()).or_default();
            all.stated -= met.used.stated;
            all.ends -= met.used.ends;
        });
    }
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
