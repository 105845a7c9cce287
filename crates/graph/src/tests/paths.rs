//! Paths between nodes, judged by trying all.

use knowing_model::EdgeKind;
use proptest::prelude::*;

use super::{at, functions, number};
use crate::{Between, Follow, Graph, KindSet, NodeIndex, Paths, paths_between};

fn options(max_depth: u32, max_paths: usize) -> Between {
    let follow =
        Follow { outgoing: KindSet::of(&[EdgeKind::Calls]), incoming: KindSet::of(&[EdgeKind::Overrides]) };
    Between { follow, max_depth, max_paths, max_nodes: 200_000 }
}

fn numbers(graph: &Graph, found: &Paths) -> Vec<Vec<u32>> {
    let nodes = |it: &crate::Path| -> Vec<u32> {
        std::iter::once(it.start).chain(it.steps.iter().map(|it| it.to)).map(|it| number(graph, it)).collect()
    };
    found.paths.iter().map(nodes).collect()
}

/// All simple paths by walking everywhere, shortest first.
fn by_force(graph: &Graph, from: NodeIndex, to: NodeIndex, max_depth: usize) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut open = vec![vec![from]];
    while let Some(path) = open.pop() {
        let last = path[path.len() - 1];
        if last == to && path.len() > 1 {
            found.push(path.iter().map(|it| number(graph, *it)).collect::<Vec<_>>());
            continue;
        }
        if path.len() > max_depth {
            continue;
        }
        let along = graph.outgoing_of(last, EdgeKind::Calls).iter().map(|it| it.other());
        let against = graph.incoming_of(last, EdgeKind::Overrides).iter().map(|it| it.other());
        for next in along.chain(against) {
            if !path.contains(&next) {
                open.push([path.clone(), vec![next]].concat());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

proptest! {
    #[test]
    fn paths_are_those_that_trying_all_finds(
        edges in prop::collection::vec((0..8_u32, 0..8_u32, any::<bool>()), 0..24),
        max_depth in 1..6_u32,
    ) {
        let kind = |it: bool| if it { EdgeKind::Calls } else { EdgeKind::Overrides };
        let edges: std::collections::BTreeSet<_> = edges.into_iter().filter(|it| it.0 != it.1).collect();
        let edges: Vec<_> = edges.into_iter().map(|(a, b, calls)| (a, b, kind(calls), 9_000)).collect();
        let graph = functions(8, &edges);
        let (from, to) = (at(&graph, 0), at(&graph, 7));
        let found = paths_between(&graph, &[from], &[to], &options(max_depth, 100_000));
        let lengths: Vec<usize> = found.paths.iter().map(|it| it.steps.len()).collect();
        prop_assert!(lengths.windows(2).all(|pair| pair[0] <= pair[1]));
        let mut listed = numbers(&graph, &found);
        listed.sort();
        prop_assert_eq!(&listed, &by_force(&graph, from, to, max_depth as usize));
        // Asking for one gives one of the shortest.
        let first = paths_between(&graph, &[from], &[to], &options(max_depth, 1));
        prop_assert_eq!(first.paths.first().map(|it| it.steps.len()), lengths.first().copied());
    }
}

#[test]
fn a_detour_over_known_nodes_is_found_too() {
    let calls = EdgeKind::Calls;
    let edges = [(0, 1), (0, 3), (0, 5), (0, 6), (1, 3), (3, 7), (4, 1), (4, 7), (5, 4)];
    let graph = functions(8, &edges.map(|(a, b)| (a, b, calls, 9_000)));
    let found = paths_between(&graph, &[at(&graph, 0)], &[at(&graph, 7)], &options(5, 10));
    let expected = [vec![0, 3, 7], vec![0, 1, 3, 7], vec![0, 5, 4, 7], vec![0, 5, 4, 1, 3, 7]];
    assert_eq!(numbers(&graph, &found), expected);
}

#[test]
fn of_paths_as_long_the_surest_comes_first() {
    let calls = EdgeKind::Calls;
    let graph = functions(
        4,
        &[(0, 1, calls, 5_000), (1, 3, calls, 9_000), (0, 2, calls, 8_000), (2, 3, calls, 9_000)],
    );
    let found = paths_between(&graph, &[at(&graph, 0)], &[at(&graph, 3)], &options(5, 10));
    assert_eq!(numbers(&graph, &found), [[0, 2, 3], [0, 1, 3]]);
    assert!((found.paths[0].confidence - 0.72).abs() < 1e-9);
    assert!(!found.truncated);
}

#[test]
fn a4_a_dense_graph_of_100_000_nodes_answers_within_the_limit() {
    const N: u32 = 100_000;
    let mut edges = Vec::new();
    for from in 0..N {
        for step in 0..24_u32 {
            let to = (from.wrapping_mul(2_654_435_761).wrapping_add(step * 40_503 + step * step)) % N;
            if to != from && to != N - 1 {
                edges.push((from, to, EdgeKind::Calls, 8_500));
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges.push((N - 2, N - 1, EdgeKind::Calls, 8_500));
    let graph = functions(N, &edges);
    let (from, to) = (at(&graph, 0), at(&graph, N - 2));
    let found = paths_between(&graph, &[from], &[to], &options(8, 10));
    assert_eq!(found.paths.len(), 10);
    assert!(found.n_searched <= 200_000);
    // Nobody leads to a node without callers, and that is known at once.
    let alone = functions(N, &edges[..edges.len() - 1]);
    let none = paths_between(&alone, &[at(&alone, 0)], &[at(&alone, N - 1)], &options(20, 10));
    assert_eq!((none.paths.len(), none.truncated), (0, false));
    // With room for few nodes the search ends and says so.
    let cut = paths_between(&graph, &[from], &[to], &Between { max_nodes: 50, ..options(8, 10) });
    assert!(cut.truncated && cut.n_searched <= 60, "{}", cut.n_searched);
}
