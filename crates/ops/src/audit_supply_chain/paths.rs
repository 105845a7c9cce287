//! How what is read from the environment may come to a program or a host: paths of the graph.
//!
//! ```text
//! env <- reads_env - collect <- calls - main - calls -> send - consumes_endpoint -> host
//!                    what is read goes up to who asked for it, then down to who is given it
//! ```
//!
//! Code at the top of a file is one place, whichever variable it sets: the file stands for it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use knowing_graph::{Graph, NodeIndex};
use knowing_model::EdgeKind;

/// Steps up to callers, steps in all, paths, and nodes that are looked at for them.
const MAX_UP: u8 = 2;
const MAX_STEPS: u8 = 6;
const MAX_PATHS: usize = 50;
const MAX_NODES: usize = 200_000;

/// A path from a variable to a program or a host.
pub(super) struct Found {
    /// The variable first; each with the kind of the edge that led there.
    pub(super) steps: Vec<(NodeIndex, Option<EdgeKind>)>,
}

/// Which ends count: variables, programs and hosts that are no matter of course.
pub(super) struct Ends<'a> {
    pub(super) is_source: &'a dyn Fn(NodeIndex) -> bool,
    pub(super) is_target: &'a dyn Fn(NodeIndex) -> bool,
    /// The file that a variable at its top is part of; any other node is its own place.
    pub(super) place: &'a dyn Fn(NodeIndex) -> NodeIndex,
    /// What a place consists of: a file of itself and its variables, any other node of itself.
    pub(super) parts: &'a dyn Fn(NodeIndex) -> Vec<NodeIndex>,
}

/// Where a search stands: a node, how many steps up, and whether it has turned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    node: NodeIndex,
    n_up: u8,
    is_down: bool,
}

/// The shortest path from each reader to each target, where one of both ends is of `audited`. Whether more were cut off.
pub(super) fn paths(graph: &Graph, audited: &BTreeSet<NodeIndex>, ends: &Ends<'_>) -> (Vec<Found>, bool) {
    let mut found = Vec::new();
    let mut n_looked_at = 0;
    let variable_of = |it: NodeIndex| {
        let read = graph.outgoing_of(it, EdgeKind::ReadsEnv).iter().map(|it| it.other());
        read.into_iter().find(|it| (ends.is_source)(*it))
    };
    let mut readers: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    for it in graph.indices() {
        if let Some(variable) = variable_of(it) {
            readers.entry((ends.place)(it)).or_insert(variable);
        }
    }
    for (reader, variable) in readers {
        let mut targets: BTreeSet<NodeIndex> = BTreeSet::new();
        let start = State { node: reader, n_up: 0, is_down: false };
        let mut from: BTreeMap<State, Option<State>> = BTreeMap::from([(start, None)]);
        let mut open = VecDeque::from([(start, 0_u8)]);
        while let Some((state, depth)) = open.pop_front() {
            n_looked_at += 1;
            if found.len() >= MAX_PATHS || n_looked_at > MAX_NODES {
                return (found, true);
            }
            let parts = (ends.parts)(state.node);
            if audited.contains(&reader) || audited.contains(&state.node) {
                for edge in parts.iter().flat_map(|it| graph.outgoing(*it)) {
                    let is_end =
                        matches!(edge.kind(), EdgeKind::ExecutesProcess | EdgeKind::ConsumesEndpoint);
                    if is_end && (ends.is_target)(edge.other()) && targets.insert(edge.other()) {
                        let mut steps = vec![(variable, None), (reader, Some(EdgeKind::ReadsEnv))];
                        steps.extend(back(&from, state).into_iter().map(|it| (it, Some(EdgeKind::Calls))));
                        steps.push((edge.other(), Some(edge.kind())));
                        found.push(Found { steps });
                    }
                }
            }
            if depth >= MAX_STEPS {
                continue;
            }
            let down = parts.iter().flat_map(|it| graph.outgoing_of(*it, EdgeKind::Calls));
            let mut next: Vec<State> =
                down.map(|it| State { node: it.other(), is_down: true, ..state }).collect();
            if !state.is_down && state.n_up < MAX_UP {
                let up = graph.incoming_of(state.node, EdgeKind::Calls).iter();
                let n_up = state.n_up + 1;
                next.extend(up.map(|it| State { node: (ends.place)(it.other()), n_up, is_down: false }));
            }
            for it in next {
                if !graph.node(it.node).is_virtual() && !from.contains_key(&it) {
                    from.insert(it, Some(state));
                    open.push_back((it, depth + 1));
                }
            }
        }
    }
    (found, false)
}

/// The nodes between the reader and a state, the state's own last; none for the reader itself.
fn back(from: &BTreeMap<State, Option<State>>, state: State) -> Vec<NodeIndex> {
    let mut nodes = Vec::new();
    let mut at = state;
    while let Some(Some(before)) = from.get(&at) {
        nodes.push(at.node);
        at = *before;
    }
    nodes.reverse();
    nodes
}
