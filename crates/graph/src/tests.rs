//! Whole graphs through the public door: any rows in, brute force as the judge.

use std::collections::{BTreeMap, BTreeSet};

use knowing_model::{EdgeKind, Hash, NodeFlags, NodeId, NodeKind, Provenance, SnapshotId};
use proptest::prelude::*;

use crate::{
    EdgeInput, Follow, Graph, GraphInput, Inheritance, KindSet, NodeIndex, NodeInput, Reach, Reached, reach,
};

mod patch;
mod paths;
mod walk;

const SNAPSHOT: SnapshotId = SnapshotId(Hash([7; 32]));

/// Node `n` has symbol row `n + 1` and an id that orders otherwise than its row.
fn node(n: u32, kind: NodeKind, name: &str) -> NodeInput<'_> {
    let mut id = [0; 32];
    id[0] = (n as u8).wrapping_mul(73);
    id[1..5].copy_from_slice(&n.to_le_bytes());
    NodeInput { id: NodeId(Hash(id)), sym: n + 1, node_row: n + 1, kind, flags: NodeFlags::default(), name }
}

fn edge(source: u32, target: u32, kind: EdgeKind, confidence_bp: u16) -> EdgeInput {
    let provenance = Provenance::AstResolved;
    EdgeInput { source: source + 1, target: target + 1, kind, provenance, confidence_bp, edge_row: 1 }
}

fn functions(n_nodes: u32, edges: &[(u32, u32, EdgeKind, u16)]) -> Graph {
    let nodes = (0..n_nodes).map(|it| node(it, NodeKind::Function, "f")).collect();
    let edges = edges.iter().map(|&(a, b, kind, bp)| edge(a, b, kind, bp)).collect();
    Graph::build(SNAPSHOT, &GraphInput { nodes, edges, n_repeated: 0 }).unwrap()
}

fn at(graph: &Graph, n: u32) -> NodeIndex {
    graph.of_sym(n + 1).unwrap()
}

fn number(graph: &Graph, at: NodeIndex) -> u32 {
    graph.node(at).sym - 1
}

#[test]
fn nodes_stand_in_the_order_of_their_ids_and_are_found_by_id_prefix_and_row() {
    let graph = functions(9, &[]);
    assert!(graph.nodes().windows(2).all(|pair| pair[0].id() < pair[1].id()));
    for at in graph.indices() {
        let record = *graph.node(at);
        assert_eq!(graph.find(record.id()), Some(at));
        assert_eq!(graph.of_sym(record.sym), Some(at));
        assert_eq!(graph.find_prefix(&record.id().to_string()[..10]).collect::<Vec<_>>(), [at]);
    }
    assert_eq!(graph.find_prefix("").count(), 9);
    assert_eq!(graph.find_prefix("no hex").count(), 0);
    assert_eq!(graph.find(NodeId(Hash([255; 32]))), None);
    assert_eq!(graph.of_sym(77), None);
}

#[test]
fn an_image_gives_back_what_was_built() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("images").join("x.graph");
    let graph = functions(5, &[(0, 1, EdgeKind::Calls, 8500), (3, 0, EdgeKind::Imports, 7000)]);
    graph.write(&path).unwrap();
    let opened = Graph::open(&path, SNAPSHOT).unwrap();
    assert_eq!(opened.nodes(), graph.nodes());
    assert_eq!((opened.n_nodes(), opened.n_edges()), (5, 2));
    for at in graph.indices() {
        assert_eq!(opened.outgoing(at), graph.outgoing(at));
        assert_eq!(opened.incoming(at), graph.incoming(at));
    }
    assert!(Graph::open(&path, SnapshotId(Hash([8; 32]))).is_err());
    assert!(Graph::open(&directory.path().join("nothing"), SNAPSHOT).is_err());
}

#[test]
fn a_damaged_image_is_an_error_at_every_length_and_every_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.graph");
    let graph = functions(3, &[(0, 1, EdgeKind::Calls, 8500), (1, 2, EdgeKind::Calls, 8500)]);
    graph.write(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(Graph::open(&path, SNAPSHOT).is_err(), "cut to {length} bytes");
    }
    for byte in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << (byte % 8);
        std::fs::write(&path, &flipped).unwrap();
        assert!(Graph::open(&path, SNAPSHOT).is_err(), "flipped a bit of byte {byte}");
    }
    let longer: Vec<u8> = whole.iter().copied().chain([0; 8]).collect();
    std::fs::write(&path, longer).unwrap();
    assert!(Graph::open(&path, SNAPSHOT).is_err());
    std::fs::write(&path, whole).unwrap();
    assert!(Graph::open(&path, SNAPSHOT).is_ok());
}

#[test]
fn rows_that_do_not_fit_together_are_an_error() {
    let dangling = GraphInput {
        nodes: vec![node(0, NodeKind::Function, "f")],
        edges: vec![edge(0, 1, EdgeKind::Calls, 8500)],
        n_repeated: 0,
    };
    assert!(Graph::build(SNAPSHOT, &dangling).is_err());
    let double = GraphInput {
        nodes: vec![node(0, NodeKind::Function, "f"), node(0, NodeKind::Function, "f")],
        edges: Vec::new(),
        n_repeated: 0,
    };
    assert!(Graph::build(SNAPSHOT, &double).is_err());
}

#[test]
fn an_empty_graph_is_a_graph() {
    let graph = functions(0, &[]);
    assert_eq!((graph.n_nodes(), graph.n_edges()), (0, 0));
    assert_eq!(graph.indices().count(), 0);
}

fn callers(graph: &Graph, of: u32, max_depth: u32, limit: usize) -> (Vec<Reached>, bool) {
    let follow = Follow { incoming: KindSet::of(&[EdgeKind::Calls]), ..Follow::default() };
    reach(
        graph,
        &[at(graph, of)],
        &Reach { follow, of_values: KindSet::EMPTY, max_depth, min_confidence_bp: 0, limit },
    )
}

#[test]
fn callers_carry_depth_path_and_the_product_of_confidences() {
    let graph = functions(
        4,
        &[
            (1, 0, EdgeKind::Calls, 8500),
            (2, 1, EdgeKind::Calls, 7000),
            (3, 2, EdgeKind::Imports, 8500),
            (0, 0, EdgeKind::Calls, 8500),
        ],
    );
    let (found, truncated) = callers(&graph, 0, 5, 100);
    assert!(!truncated);
    let rows: Vec<_> = found.iter().map(|it| (number(&graph, it.node), it.depth)).collect();
    assert_eq!(rows, [(1, 1), (2, 2)]);
    assert!((found[1].confidence - 0.595).abs() < 1e-12);
    assert_eq!(found[1].step.before, Some(0));
    assert_eq!(callers(&graph, 0, 1, 100).0.len(), 1);
    assert_eq!(callers(&graph, 0, 5, 1), (vec![found[0]], true));
}

/// Names of methods, as `Class.method`, that a class inherits.
fn inherited(classes: &[(&str, &[&str], &[&str])], of: &str) -> (Vec<String>, bool) {
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    let mut labels = Vec::new();
    let mut row_of = BTreeMap::new();
    for (class, _, _) in classes {
        row_of.insert(*class, nodes.len() as u32);
        nodes.push(node(nodes.len() as u32, NodeKind::Class, class));
        labels.push((*class).to_owned());
    }
    for (class, bases, methods) in classes {
        for base in *bases {
            edges.push(edge(row_of[class], row_of[base], EdgeKind::Extends, 8500));
        }
        for method in *methods {
            let row = nodes.len() as u32;
            nodes.push(node(row, NodeKind::Method, method));
            labels.push(format!("{class}.{method}"));
            edges.push(edge(row_of[class], row, EdgeKind::Contains, 10_000));
        }
    }
    let graph = Graph::build(SNAPSHOT, &GraphInput { nodes, edges, n_repeated: 0 }).unwrap();
    let mut inheritance = Inheritance::new(&graph);
    let class = at(&graph, row_of[of]);
    let found = inheritance.inherited_by(class);
    // Both directions are one relation.
    let mirrored = found.iter().all(|&it| inheritance.inheritors_of(it).contains(&class));
    let surplus =
        graph.indices().any(|it| !found.contains(&it) && inheritance.inheritors_of(it).contains(&class));
    let mut names: Vec<String> =
        found.iter().map(|&it| labels[number(&graph, it) as usize].clone()).collect();
    names.sort();
    (names, mirrored && !surplus)
}

#[track_caller]
fn check_inherited(classes: &[(&str, &[&str], &[&str])], of: &str, expect: &[&str]) {
    let (names, mirrored) = inherited(classes, of);
    assert_eq!(names, expect);
    assert!(mirrored, "inheritors do not mirror what is inherited");
}

#[test]
fn r6_inherits_covers_all_levels_and_respects_overriding() {
    let classes: &[(&str, &[&str], &[&str])] =
        &[("A", &[], &["run", "stop", "open"]), ("B", &["A"], &["run", "extra"]), ("C", &["B"], &["open"])];
    check_inherited(classes, "C", &["A.stop", "B.extra", "B.run"]);
    check_inherited(classes, "B", &["A.open", "A.stop"]);
    check_inherited(classes, "A", &[]);
}

#[test]
fn a_diamond_hides_what_one_side_overrides() {
    let classes: &[(&str, &[&str], &[&str])] = &[
        ("Base", &[], &["f", "g"]),
        ("L", &["Base"], &[]),
        ("R", &["Base"], &["f"]),
        ("D", &["L", "R"], &[]),
    ];
    check_inherited(classes, "D", &["Base.g", "R.f"]);
    check_inherited(classes, "L", &["Base.f", "Base.g"]);
}

#[test]
fn a_cycle_of_bases_ends() {
    let classes: &[(&str, &[&str], &[&str])] = &[("A", &["B"], &["f"]), ("B", &["A"], &["g"])];
    check_inherited(classes, "A", &["B.g"]);
    check_inherited(classes, "B", &["A.f"]);
}

fn kind_of(number: u8) -> EdgeKind {
    [EdgeKind::Calls, EdgeKind::Overrides, EdgeKind::Imports][usize::from(number) % 3]
}

/// Distances by relaxation to a fixed point, then the best product over all shortest paths.
fn brute_force(
    n_nodes: u32,
    edges: &[(u32, u32, EdgeKind, u16)],
    start: u32,
    max_depth: u32,
) -> BTreeSet<(u32, u32, u64)> {
    let hops: Vec<(u32, u32, f64)> = edges
        .iter()
        .filter(|(.., bp)| *bp >= 5000)
        .flat_map(|&(source, target, kind, bp)| {
            let back = (kind != EdgeKind::Imports).then_some((target, source, f64::from(bp)));
            let forth = (kind == EdgeKind::Overrides).then_some((source, target, f64::from(bp)));
            [back, forth].into_iter().flatten()
        })
        .collect();
    let mut best: BTreeMap<u32, (u32, f64)> = BTreeMap::from([(start, (0, 1.0))]);
    for _ in 0..=n_nodes {
        for &(from, to, bp) in &hops {
            let Some(&(depth, product)) = best.get(&from) else { continue };
            // The same operations in the same order, so that the last bit agrees too.
            let offer = (depth + 1, product * bp / 10_000.0);
            let slot = best.entry(to).or_insert(offer);
            if offer.0 < slot.0 || (offer.0 == slot.0 && offer.1 > slot.1) {
                *slot = offer;
            }
        }
    }
    best.into_iter()
        .filter(|&(node, (depth, _))| node != start && depth <= max_depth)
        .map(|(node, (depth, product))| (node, depth, (product * 1e9).round() as u64))
        .collect()
}

proptest! {
    #[test]
    fn a1_reach_equals_brute_force(
        n_nodes in 1_u32..20,
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u8>(), 4000_u16..=10_000), 0..80),
        max_depth in 0_u32..6,
    ) {
        let mut edges: Vec<_> = rows
            .into_iter()
            .map(|(source, target, kind, bp)| (source % n_nodes, target % n_nodes, kind_of(kind), bp))
            .collect();
        edges.sort_by_key(|&(source, target, kind, _)| (source, target, kind));
        edges.dedup_by_key(|&mut (source, target, kind, _)| (source, target, kind));
        let graph = functions(n_nodes, &edges);
        let follow = Follow {
            incoming: KindSet::of(&[EdgeKind::Calls, EdgeKind::Overrides]),
            outgoing: KindSet::of(&[EdgeKind::Overrides]),
        };
        let options = Reach { follow, of_values: KindSet::EMPTY, max_depth, min_confidence_bp: 5000, limit: usize::MAX };
        let (found, truncated) = reach(&graph, &[at(&graph, 0)], &options);
        prop_assert!(!truncated);
        prop_assert!(found.windows(2).all(|it| (it[0].depth, it[0].node) < (it[1].depth, it[1].node)));
        for it in &found {
            let before = it.step.before.map(|at| &found[at as usize]);
            prop_assert_eq!(before.map_or(0, |it| it.depth) + 1, it.depth);
            let product = before.map_or(1.0, |it| it.confidence) * f64::from(it.step.confidence_bp) / 10_000.0;
            prop_assert_eq!(product, it.confidence);
        }
        let ours: BTreeSet<_> = found
            .iter()
            .map(|it| (number(&graph, it.node), it.depth, (it.confidence * 1e9).round() as u64))
            .collect();
        prop_assert_eq!(ours, brute_force(n_nodes, &edges, 0, max_depth));
    }

    #[test]
    fn random_bytes_are_never_an_image(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.graph");
        std::fs::write(&path, &bytes).unwrap();
        prop_assert!(Graph::open(&path, SNAPSHOT).is_err());
    }
}
