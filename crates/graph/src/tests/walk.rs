//! Walks against dense iteration over every node, hubs and authorities by hand.

use knowing_model::{EdgeKind, NodeKind};
use proptest::prelude::*;

use super::{SNAPSHOT, at, edge, functions, node};
use crate::{Graph, GraphInput, Hits, NodeIndex, Shape, Walk, Walked, hits, walk};

/// To the end, so that the residual is nothing.
const TO_THE_END: Walk = Walk {
    restart: 0.2,
    max_hops: 4,
    residual_bound: 1e-15,
    max_edges: usize::MAX,
    language_server_weight: 0.3,
    virtual_degree: 3.0,
    limit: usize::MAX,
};

/// Nodes from `first_virtual` on have no place in the repository.
fn graph_of(n_nodes: u32, first_virtual: u32, edges: &[(u32, u32, EdgeKind)]) -> Graph {
    let mut nodes: Vec<_> = (0..n_nodes).map(|it| node(it, NodeKind::Function, "f")).collect();
    for it in nodes.iter_mut().skip(first_virtual as usize) {
        (it.node_row, it.kind) = (0, NodeKind::External);
    }
    let edges = edges.iter().map(|&(a, b, kind)| edge(a, b, kind, 8500)).collect();
    Graph::build(SNAPSHOT, &GraphInput { nodes, edges, n_repeated: 0 }).unwrap()
}

/// The walk by its definition: all nodes within reach, a matrix of transitions, and many iterations.
fn dense(graph: &Graph, seeds: &[(NodeIndex, f64)], options: &Walk) -> Vec<f64> {
    let n_nodes = graph.n_nodes();
    let degree = |it: NodeIndex| graph.outgoing(it).len() + graph.incoming(it).len();
    let neighbours = |it: NodeIndex| {
        let edges = graph.outgoing(it).iter().chain(graph.incoming(it));
        edges.map(|it| (it.other().0 as usize, f64::from(it.kind().weight_hundredths()) / 100.0))
    };
    let mut restart = vec![0.0; n_nodes];
    let sum: f64 = seeds.iter().map(|it| it.1).sum();
    let mut hops = vec![u8::MAX; n_nodes];
    for &(node, weight) in seeds {
        restart[node.0 as usize] += weight / sum;
        hops[node.0 as usize] = 0;
    }
    for round in 0..options.max_hops {
        for here in graph.indices().filter(|it| hops[it.0 as usize] == round).collect::<Vec<_>>() {
            for (other, weight) in neighbours(here) {
                if weight > 0.0 {
                    hops[other] = hops[other].min(round + 1);
                }
            }
        }
    }
    let mut matrix = vec![vec![0.0; n_nodes]; n_nodes];
    for here in graph.indices().filter(|it| hops[it.0 as usize] != u8::MAX) {
        let row = &mut matrix[here.0 as usize];
        for (other, weight) in neighbours(here).filter(|it| hops[it.0] != u8::MAX) {
            let there = NodeIndex(other as u32);
            let into = match graph.node(there).is_virtual() {
                true => (options.virtual_degree / degree(there) as f64).min(1.0),
                false => 1.0,
            };
            row[other] += weight * into;
        }
        let total: f64 = row.iter().sum();
        if total > 0.0 {
            row.iter_mut().for_each(|it| *it /= total);
        } else {
            row.clone_from(&restart);
        }
    }
    let mut mass = restart.clone();
    for _ in 0..200 {
        let mut next: Vec<f64> = restart.iter().map(|it| options.restart * it).collect();
        for (here, row) in matrix.iter().enumerate() {
            for (other, share) in row.iter().enumerate() {
                next[other] += (1.0 - options.restart) * mass[here] * share;
            }
        }
        mass = next;
    }
    for (here, value) in graph.indices().zip(&mut mass) {
        if graph.node(here).is_virtual() {
            *value = 0.0;
        }
    }
    let best = mass.iter().copied().fold(0.0, f64::max);
    mass.iter().map(|it| if best > 0.0 { it / best } else { 0.0 }).collect()
}

fn kind_of(number: u8) -> EdgeKind {
    [EdgeKind::Calls, EdgeKind::Contains, EdgeKind::SimilarTo, EdgeKind::OwnedBy][usize::from(number) % 4]
}

fn random_edges(n_nodes: u32, rows: &[(u32, u32, u8)]) -> Vec<(u32, u32, EdgeKind)> {
    let mut edges: Vec<_> = rows.iter().map(|it| (it.0 % n_nodes, it.1 % n_nodes, kind_of(it.2))).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

#[track_caller]
fn check_mass(walked: &Walked) {
    assert!((walked.mass + walked.residual - 1.0).abs() < 1e-9, "{} {}", walked.mass, walked.residual);
    assert!(walked.scores.iter().all(|it| it.1.is_finite() && it.1 > 0.0 && it.1 <= 1.0));
}

proptest! {
    #[test]
    fn q4_a_walk_equals_dense_iteration(
        n_nodes in 1_u32..14,
        n_virtual in 0_u32..4,
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u8>()), 0..30),
        seeds in prop::collection::vec((any::<u32>(), 0.1_f64..2.0), 1..4),
        max_hops in 0_u8..5,
    ) {
        let graph = graph_of(n_nodes, n_nodes.saturating_sub(n_virtual), &random_edges(n_nodes, &rows));
        let seeds: Vec<_> = seeds.iter().map(|it| (at(&graph, it.0 % n_nodes), it.1)).collect();
        let options = Walk { max_hops, ..TO_THE_END };
        let walked = walk(&graph, &seeds, &options);
        check_mass(&walked);
        let expect = dense(&graph, &seeds, &options);
        for here in graph.indices() {
            let (ours, theirs) = (walked.score(here), expect[here.0 as usize]);
            prop_assert!((ours - theirs).abs() < 1e-6, "{here:?}: {ours} and {theirs}");
            let listed = walked.scores.iter().find(|it| it.0 == here).map_or(0.0, |it| it.1);
            prop_assert_eq!(listed, ours);
        }
    }

    #[test]
    fn q4_mass_stays_one_wherever_a_walk_ends(
        rows in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u8>()), 0..60),
        residual_bound in prop::sample::select(vec![1.0, 0.1, 1e-3, 1e-5]),
        max_edges in prop::sample::select(vec![0, 1, 17, 100_000]),
    ) {
        let graph = graph_of(20, 17, &random_edges(20, &rows));
        let options = Walk { residual_bound, max_edges, ..Walk::default() };
        let walked = walk(&graph, &[(at(&graph, 0), 1.0), (at(&graph, 5), 0.5)], &options);
        check_mass(&walked);
        let met = graph.indices().filter(|&it| walked.hops(it).is_some()).count();
        prop_assert_eq!(met, walked.n_virtual + walked.n_other);
    }
}

#[test]
fn q4_zero_weight_nodes_give_no_nan() {
    // Nothing but edges of weight 0: all mass returns to the seeds.
    let graph = graph_of(3, 3, &[(0, 1, EdgeKind::OwnedBy), (1, 2, EdgeKind::AuthoredBy)]);
    let walked = walk(&graph, &[(at(&graph, 0), 1.0)], &TO_THE_END);
    check_mass(&walked);
    assert_eq!(walked.scores, [(at(&graph, 0), 1.0)]);
    assert_eq!(walked.hops(at(&graph, 1)), None);
}

#[test]
fn seeds_that_are_none_give_an_empty_walk() {
    let graph = functions(2, &[(0, 1, EdgeKind::Calls, 8500)]);
    let none = [(at(&graph, 0), 0.0), (at(&graph, 1), f64::NAN), (NodeIndex(99), 1.0)];
    for seeds in [&[][..], &none] {
        let walked = walk(&graph, seeds, &Walk::default());
        assert_eq!((walked.scores.len(), walked.mass, walked.residual), (0, 0.0, 0.0));
        assert_eq!(walked.score(at(&graph, 0)), 0.0);
    }
}

#[test]
fn the_order_in_which_seeds_are_given_does_not_matter() {
    let rows: Vec<_> = (0..60).map(|it| (it * 7, it * 11 + 3, it as u8)).collect();
    let graph = graph_of(20, 18, &random_edges(20, &rows));
    let mut seeds =
        vec![(at(&graph, 3), 1.0), (at(&graph, 9), 0.7), (at(&graph, 3), 0.2), (at(&graph, 1), 0.3)];
    let first = walk(&graph, &seeds, &Walk::default());
    seeds.reverse();
    let second = walk(&graph, &seeds, &Walk::default());
    assert_eq!(first.scores, second.scores);
    assert_eq!(first.mass.to_bits(), second.mass.to_bits());
}

#[test]
fn hops_are_counted_from_the_nearest_seed_and_bounded() {
    let chain: Vec<_> = (0..8).map(|it| (it, it + 1, EdgeKind::Calls, 8500)).collect();
    let graph = functions(9, &chain);
    let walked = walk(&graph, &[(at(&graph, 0), 1.0)], &TO_THE_END);
    let hops: Vec<_> = (0..9).map(|it| walked.hops(at(&graph, it))).collect();
    assert_eq!(hops, [Some(0), Some(1), Some(2), Some(3), Some(4), None, None, None, None]);
    assert!(walked.scores.windows(2).all(|it| it[0].1 >= it[1].1));
}

#[test]
fn a_busy_virtual_node_draws_less() {
    // Node 0 calls node 1 and the external 9, which six others call too.
    let mut edges: Vec<_> = (2..8).map(|it| (it, 9, EdgeKind::Calls)).collect();
    edges.extend([(0, 1, EdgeKind::Calls), (0, 9, EdgeKind::Calls)]);
    let graph = graph_of(10, 9, &edges);
    let score_of_1 = |virtual_degree| {
        let walked = walk(&graph, &[(at(&graph, 0), 1.0)], &Walk { virtual_degree, ..TO_THE_END });
        assert!(walked.scores.iter().all(|it| it.0 != at(&graph, 9)), "virtual nodes are not listed");
        assert_eq!((walked.n_virtual, walked.n_other), (1, 8));
        walked.score(at(&graph, 1))
    };
    assert!(score_of_1(1.0) > score_of_1(50.0));
}

#[test]
fn authorities_are_called_and_hubs_call() {
    // 0 and 1 call 2 and 3; 4 is called by 0 alone; 5 stands apart.
    let calls = [(0, 2), (0, 3), (1, 2), (1, 3), (0, 4)];
    let rows: Vec<_> = calls.into_iter().map(|(a, b)| (a, b, EdgeKind::Calls, 8500)).collect();
    let graph = functions(6, &rows);
    let nodes: Vec<_> = (0..6).map(|it| at(&graph, it)).collect();
    let standings = hits(&graph, &nodes, &Hits::default());
    assert!(standings[2].authority > standings[4].authority && standings[4].authority > 0.0);
    assert!((standings[2].authority - standings[3].authority).abs() < 1e-12);
    assert!(standings[0].hub > standings[1].hub && standings[1].hub > 0.0);
    assert_eq!((standings[5].authority, standings[5].hub), (0.0, 0.0));
    for part in [|it: &crate::Standing| it.authority, |it: &crate::Standing| it.hub] {
        let length: f64 = standings.iter().map(|it| part(it) * part(it)).sum();
        assert!((length - 1.0).abs() < 1e-9);
    }
    let few = hits(&graph, &nodes, &Hits { n_nodes: 2, n_iterations: 10 });
    assert!(few.iter().all(|it| it.authority == 0.0 && it.hub == 0.0), "no edge joins the first two");
    assert_eq!(few.len(), 2);
    assert!(hits(&graph, &[], &Hits::default()).is_empty());
}

#[test]
fn a_shape_counts_what_there_is() {
    let graph = graph_of(10, 8, &[(0, 1, EdgeKind::Calls)]);
    let shape = Shape::of(&graph);
    assert_eq!((shape.n_nodes, shape.n_edges, shape.n_virtual), (10, 1, 2));
    assert_eq!((shape.n_of(NodeKind::Function), shape.n_of(NodeKind::Class)), (8, 0));
    assert_eq!(shape.virtual_share(), 0.2);
    assert_eq!(Shape::of(&graph_of(0, 0, &[])).virtual_share(), 0.0);
}
