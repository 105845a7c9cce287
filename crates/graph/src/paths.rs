//! How one node leads to another: the shortest simple paths, found from both ends at once.
//!
//! Both sides grow by a level at a time, the smaller first, until they have met and enough paths are found, the depth is
//! spent, or too many nodes were looked at. Then a search from the start follows only edges that still reach the target in
//! the steps that are left.

use std::collections::HashMap;

use crate::image::{EdgeRecord, Graph, NodeIndex};
use crate::reach::Follow;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Between {
    pub follow: Follow,
    /// Edges of a path at most.
    pub max_depth: u32,
    pub max_paths: usize,
    /// Nodes looked at from both sides together, after which the search ends.
    pub max_nodes: usize,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Paths {
    /// Shortest first, of those as long the surest.
    pub paths: Vec<Path>,
    /// Nodes that were looked at.
    pub n_searched: usize,
    /// Whether there may be paths within the depth that are not listed.
    pub truncated: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    pub start: NodeIndex,
    pub steps: Vec<PathStep>,
    /// Product along the path, 0 to 1.
    pub confidence: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStep {
    pub to: NodeIndex,
    pub edge: EdgeRecord,
    /// Followed from its target to its source.
    pub against: bool,
}

/// Paths of one length that are compared before the surest are kept.
const MAX_COMPARED: usize = 1_000;
/// Steps of the last search.
const MAX_STEPS: usize = 2_000_000;

/// Simple paths from any of `sources` to any of `targets`. A node that is both is no path.
pub fn paths_between(
    graph: &Graph,
    sources: &[NodeIndex],
    targets: &[NodeIndex],
    options: &Between,
) -> Paths {
    let back = Follow { outgoing: options.follow.incoming, incoming: options.follow.outgoing };
    let mut ahead = Side::new(sources, options.follow);
    let mut behind = Side::new(targets, back);
    let mut found = Paths::default();
    let mut has_met = sources.iter().any(|it| behind.depth_of.contains_key(it));
    loop {
        // A side that cannot grow has seen all there is: whatever is longer leads over nodes that are known.
        let is_spent = ahead.level.is_empty() || behind.level.is_empty();
        let length = if is_spent { options.max_depth } else { ahead.depth + behind.depth };
        if has_met && length > 0 {
            let mut search = Search::new(graph, &ahead, &behind, options, length);
            search.run(sources, length);
            found.paths = search.paths;
            found.truncated = search.steps >= MAX_STEPS;
        }
        found.n_searched = ahead.depth_of.len() + behind.depth_of.len();
        if found.paths.len() >= options.max_paths {
            // Longer ones were not looked for.
            found.truncated = true;
            break;
        }
        if found.n_searched >= options.max_nodes {
            found.truncated = true;
            break;
        }
        if length >= options.max_depth || is_spent {
            break;
        }
        let room = options.max_nodes - found.n_searched;
        let (side, other) = match ahead.level.len() <= behind.level.len() {
            true => (&mut ahead, &behind),
            false => (&mut behind, &ahead),
        };
        has_met |= side.grow(graph, room, other);
    }
    found.paths.truncate(options.max_paths);
    found
}

struct Side {
    follow: Follow,
    depth: u32,
    level: Vec<NodeIndex>,
    depth_of: HashMap<NodeIndex, u32>,
}

impl Side {
    fn new(starts: &[NodeIndex], follow: Follow) -> Side {
        let mut level = starts.to_vec();
        level.sort_unstable();
        level.dedup();
        let depth_of = level.iter().map(|it| (*it, 0)).collect();
        Side { follow, depth: 0, level, depth_of }
    }

    /// Whether the other side was met.
    fn grow(&mut self, graph: &Graph, room: usize, other: &Side) -> bool {
        self.depth += 1;
        let mut next = Vec::new();
        let mut has_met = false;
        for &node in &self.level {
            for (to, _, _) in hops(graph, node, self.follow) {
                if next.len() >= room {
                    break;
                }
                if let std::collections::hash_map::Entry::Vacant(entry) = self.depth_of.entry(to) {
                    entry.insert(self.depth);
                    has_met |= other.depth_of.contains_key(&to);
                    next.push(to);
                }
            }
        }
        next.sort_unstable();
        self.level = next;
        has_met
    }
}

/// Edges to follow from a node.
fn hops(
    graph: &Graph,
    node: NodeIndex,
    follow: Follow,
) -> impl Iterator<Item = (NodeIndex, EdgeRecord, bool)> {
    let along = graph.outgoing(node).iter().filter(move |it| follow.outgoing.has_id(it.kind));
    let against = graph.incoming(node).iter().filter(move |it| follow.incoming.has_id(it.kind));
    along.map(|it| (it.other(), *it, false)).chain(against.map(|it| (it.other(), *it, true)))
}

struct Search<'a> {
    graph: &'a Graph,
    options: &'a Between,
    /// Steps to the target at least; nodes that are not here do not lead there in time.
    left: HashMap<NodeIndex, u32>,
    paths: Vec<Path>,
    steps: usize,
    trail: Vec<PathStep>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, ahead: &Side, behind: &Side, options: &'a Between, longest: u32) -> Search<'a> {
        let mut left = behind.depth_of.clone();
        // The side behind goes on, over nodes that lie ahead alone: every path that is short enough runs through them.
        let mut level: Vec<NodeIndex> =
            left.iter().filter(|it| *it.1 == behind.depth).map(|it| *it.0).collect();
        for steps in behind.depth + 1..=longest {
            let mut next = Vec::new();
            for &node in &level {
                for (to, _, _) in hops(graph, node, behind.follow) {
                    if ahead.depth_of.contains_key(&to) && !left.contains_key(&to) {
                        left.insert(to, steps);
                        next.push(to);
                    }
                }
            }
            level = next;
        }
        Search { graph, options, left, paths: Vec::new(), steps: 0, trail: Vec::new() }
    }

    /// All paths of up to `longest` steps, the shortest first, until there are enough.
    fn run(&mut self, sources: &[NodeIndex], longest: u32) {
        let mut sources = sources.to_vec();
        sources.sort_unstable();
        sources.dedup();
        for length in 1..=longest {
            let first = self.paths.len();
            for &source in &sources {
                self.extend(source, source, length, first);
            }
            let order = |a: &Path, b: &Path| {
                let nodes = |it: &Path| (it.start, it.steps.iter().map(|it| it.to).collect::<Vec<_>>());
                b.confidence.total_cmp(&a.confidence).then_with(|| nodes(a).cmp(&nodes(b)))
            };
            self.paths[first..].sort_by(order);
            self.paths.truncate(self.options.max_paths);
            if self.paths.len() >= self.options.max_paths || self.steps >= MAX_STEPS {
                return;
            }
        }
    }

    fn extend(&mut self, start: NodeIndex, at: NodeIndex, left: u32, first: usize) {
        let (graph, follow) = (self.graph, self.options.follow);
        // Of several edges to one node the surest, and of equals the smaller kind.
        let mut best: Vec<(NodeIndex, EdgeRecord, bool)> = hops(graph, at, follow).collect();
        best.sort_by(|a, b| {
            let key =
                |it: &(NodeIndex, EdgeRecord, bool)| (it.0, u16::MAX - it.1.confidence_bp, it.1.kind, it.2);
            key(a).cmp(&key(b))
        });
        best.dedup_by_key(|it| it.0);
        for (to, edge, against) in best {
            if self.steps >= MAX_STEPS || self.paths.len() - first >= MAX_COMPARED {
                return;
            }
            self.steps += 1;
            let Some(&needed) = self.left.get(&to) else { continue };
            let is_seen = to == start || self.trail.iter().any(|it| it.to == to);
            if needed > left - 1 || is_seen {
                continue;
            }
            self.trail.push(PathStep { to, edge, against });
            match needed {
                // At a target: the path ends here, and none goes on through it.
                0 if left == 1 => self.keep(start),
                0 => {}
                _ => self.extend(start, to, left - 1, first),
            }
            self.trail.pop();
        }
    }

    fn keep(&mut self, start: NodeIndex) {
        let confidence = self.trail.iter().map(|it| f64::from(it.edge.confidence_bp) / 10_000.0).product();
        self.paths.push(Path { start, steps: self.trail.clone(), confidence });
    }
}
