//! A patched graph is the graph of all rows.

use std::collections::BTreeMap;
use std::ops::Range;

use knowing_model::{EdgeKind, NodeKind};

use super::*;
use crate::{GoneRows, GraphPatch, Patched};

const NAMES: [&str; 4] = ["open", "close", "Open", "read"];

/// What one file version states: which symbols, and edges between any.
#[derive(Clone)]
struct Unit {
    nodes: Range<u32>,
    symbols: Vec<u32>,
    edges: Range<u32>,
    ends: Vec<(u32, u32)>,
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % sides
    }
}

/// Symbols below 40 belong to files, four to each; the others have no place.
fn unit(file: u32, dice: &mut Dice, next: &mut u32) -> Unit {
    let symbols: Vec<u32> = (0..4).filter(|_| dice.roll(3) > 0).map(|it| file * 4 + it).collect();
    let mut ends: Vec<(u32, u32)> =
        (0..dice.roll(6)).map(|_| (file * 4 + dice.roll(4), dice.roll(50))).collect();
    ends.sort_unstable();
    ends.dedup();
    let first = *next;
    *next += 20;
    let nodes = first..first + symbols.len() as u32;
    Unit { nodes, symbols, edges: first..first + ends.len() as u32, ends }
}

fn input(symbol: u32, node_row: u32) -> NodeInput<'static> {
    NodeInput { node_row, ..node(symbol, NodeKind::Function, NAMES[symbol as usize % 4]) }
}

fn rows<'u>(units: impl Iterator<Item = &'u Unit>) -> (Vec<NodeInput<'static>>, Vec<EdgeInput>) {
    let (mut nodes, mut edges) = (BTreeMap::new(), Vec::new());
    for unit in units {
        for (&symbol, row) in unit.symbols.iter().zip(unit.nodes.clone()) {
            nodes.insert(symbol, row);
        }
        for (&(source, target), edge_row) in unit.ends.iter().zip(unit.edges.clone()) {
            edges.push(EdgeInput { edge_row, ..edge(source, target, EdgeKind::Calls, 8500) });
        }
    }
    for edge in &edges {
        nodes.entry(edge.source - 1).or_insert(0);
        nodes.entry(edge.target - 1).or_insert(0);
    }
    (nodes.into_iter().map(|(symbol, row)| input(symbol, row)).collect(), edges)
}

#[test]
fn g_patched_graphs_have_the_bytes_of_graphs_built_anew() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut next = 1;
        let mut units: BTreeMap<u32, Unit> = BTreeMap::new();
        let mut graph = functions(0, &[]);
        for _ in 0..8 {
            let before = units.clone();
            for _ in 0..1 + dice.roll(3) {
                let file = dice.roll(10);
                match dice.roll(4) {
                    0 => drop(units.remove(&file)),
                    _ => drop(units.insert(file, unit(file, &mut dice, &mut next))),
                }
            }
            let other = |all: &BTreeMap<u32, Unit>, (file, unit): (&u32, &Unit)| {
                all.get(file).is_none_or(|it| it.nodes.start != unit.nodes.start)
            };
            let gone: Vec<&Unit> = before.iter().filter(|it| other(&units, *it)).map(|it| it.1).collect();
            let came = units.iter().filter(|it| other(&before, *it)).map(|it| it.1);
            let (nodes, edges) = rows(came);
            let patch = GraphPatch {
                gone_nodes: GoneRows::new(gone.iter().map(|it| it.nodes.clone())),
                gone_edges: GoneRows::new(gone.iter().map(|it| it.edges.clone())),
                nodes,
                edges,
            };
            let old: Vec<u32> = graph.indices().map(|it| number(&graph, it)).collect();
            let same_name = |name: &str| {
                let found = old.iter().position(|it| NAMES[*it as usize % 4] == name)?;
                Some(NodeIndex(found as u32))
            };
            let (nodes, edges) = rows(units.values());
            let full = Graph::build(SNAPSHOT, &GraphInput { nodes, edges, n_repeated: 0 }).unwrap();
            let Patched { graph: patched, before } =
                graph.patched(SNAPSHOT, &patch, same_name).unwrap().unwrap();
            assert_eq!(patched.all_bytes(), full.all_bytes(), "seed {seed}");
            for (at, before) in patched.indices().zip(before) {
                let same = before.map(|it| (graph.node(it).node_row, graph.node(it).sym));
                let record = patched.node(at);
                assert!(same.is_none_or(|it| it == (record.node_row, record.sym)), "seed {seed}");
            }
            graph = patched;
        }
    }
}

#[test]
fn a_symbol_that_two_files_state_is_not_patched() {
    let graph = functions(2, &[]);
    let twice = GraphPatch { nodes: vec![input(1, 7)], ..GraphPatch::default() };
    assert!(graph.patched(SNAPSHOT, &twice, |_| None).unwrap().is_none());
    let nodes = vec![node(0, NodeKind::Function, "f")];
    let repeated = GraphInput { nodes, edges: Vec::new(), n_repeated: 1 };
    let graph = Graph::build(SNAPSHOT, &repeated).unwrap();
    assert!(graph.patched(SNAPSHOT, &GraphPatch::default(), |_| None).unwrap().is_none());
}
