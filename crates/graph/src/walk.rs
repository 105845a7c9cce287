//! A random walk with restart from some seeds: how near every node is to all of them together.
//!
//! The walk follows edges both ways, each as likely as its kind weighs. It is computed by forward push. Every node holds
//! a *residual*, mass that has arrived and not moved on. A push keeps a share of it (the restart) as the node's
//! *estimate* and hands the rest to the neighbours:
//!
//! ```text
//! seeds hold all mass as residual
//! round by round, each node whose residual is worth its edges:  estimate += restart * residual
//!                                                               neighbours' residual += the rest, by weight
//! ```
//!
//! Estimates and residuals together are the whole mass at every moment. Dense iterations give the same walk, but look at
//! every edge of the graph in every round; a push looks at those near the seeds only.

use knowing_model::{EdgeKind, Provenance};

use crate::image::{EdgeRecord, Graph, NodeIndex};

/// How to walk.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    /// Chance to begin again at the seeds, at every step; above 0.
    pub restart: f64,
    /// Nodes further from all seeds are not entered.
    pub max_hops: u8,
    /// A node is pushed while it holds more residual than this for each of its edges. Bounds the work to the inverse of
    /// (bound x restart) edges.
    pub residual_bound: f64,
    /// Edges to follow at most; the walk then ends with the residual it has.
    pub max_edges: usize,
    /// Weight of an edge that only a language server knows, relative to others of its kind.
    pub language_server_weight: f64,
    /// Into a virtual node of more edges than this the weight falls with their number.
    pub virtual_degree: f64,
    /// How many nodes to list.
    pub limit: usize,
}

impl Default for Walk {
    fn default() -> Walk {
        Walk {
            restart: 0.2,
            max_hops: 4,
            // On a graph of 70 k nodes and 300 k edges, from 20 nodes drawn at random: 0.9 ms, and of the 50 best nodes
            // 94 % are those of a walk to the end. Half of it takes twice as long for one percent more.
            residual_bound: 1e-5,
            max_edges: 2_000_000,
            language_server_weight: 0.3,
            virtual_degree: 50.0,
            limit: 2_000,
        }
    }
}

/// Where a walk has been.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// The best nodes without virtual ones, by score, then id. The best has score 1.
    pub scores: Vec<(NodeIndex, f64)>,
    /// All estimates. With `residual` it makes 1, or both are 0 when there was no seed.
    pub mass: f64,
    /// What had not moved on when the walk ended.
    pub residual: f64,
    /// Nodes the walk has met, without a place in the repository and with one.
    pub n_virtual: usize,
    pub n_other: usize,
    /// Edges that were followed.
    pub n_edges: usize,
    /// Position in `met` of each node of the graph, plus one; 0 for what was not met.
    slots: Vec<u32>,
    met: Vec<Met>,
    best: f64,
}

impl Walked {
    /// The score of any node, listed or not; 0 for virtual ones and for what the walk has not met.
    pub fn score(&self, node: NodeIndex) -> f64 {
        match self.met(node) {
            Some(met) if !met.is_virtual && self.best > 0.0 => met.value / self.best,
            _ => 0.0,
        }
    }

    /// Edges between a node and the nearest seed, along the way of the walk; none for what it has not met.
    pub fn hops(&self, node: NodeIndex) -> Option<u8> {
        self.met(node).map(|it| it.hops)
    }

    fn met(&self, node: NodeIndex) -> Option<&Met> {
        let slot = *self.slots.get(node.0 as usize)?;
        self.met.get((slot as usize).checked_sub(1)?)
    }
}

#[derive(Clone, Copy, Debug)]
struct Met {
    value: f64,
    hops: u8,
    is_virtual: bool,
}

/// Walks from all seeds at once. Seeds are (node, restart weight); weights need no common sum, and what is not positive
/// does not count.
pub fn walk(graph: &Graph, seeds: &[(NodeIndex, f64)], options: &Walk) -> Walked {
    let seeds = normalised(graph, seeds);
    let mut push = Push::new(graph, options, &seeds);
    push.run();
    push.finish()
}

/// Each seed once, in canonical order, with weights that sum to 1.
fn normalised(graph: &Graph, seeds: &[(NodeIndex, f64)]) -> Vec<(NodeIndex, f64)> {
    let fits = |it: &(NodeIndex, f64)| (it.0.0 as usize) < graph.n_nodes() && it.1.is_finite() && it.1 > 0.0;
    let mut kept: Vec<(NodeIndex, f64)> = seeds.iter().copied().filter(fits).collect();
    // By weight too, so that the sum of one seed given twice does not depend on the order of the caller.
    kept.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    kept.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 += later.1;
        }
        same
    });
    let sum: f64 = kept.iter().map(|it| it.1).sum();
    for seed in &mut kept {
        seed.1 /= sum;
    }
    kept
}

/// What is known of a node that was met.
#[derive(Clone, Copy)]
struct Place {
    residual: f64,
    estimate: f64,
    /// Share of the weight of edges that lead into it: 1, or less for a busy virtual node.
    into: f64,
    /// Sum of the weights of its edges, found when it is first pushed. Not kept for nodes at the border, where it grows
    /// with what is met.
    total: Option<f64>,
    node: NodeIndex,
    n_edges: u32,
    hops: u8,
    is_virtual: bool,
    is_queued: bool,
}

struct Push<'a> {
    graph: &'a Graph,
    options: &'a Walk,
    /// By edge kind: the weight of an ordinary edge, and of one that only a language server knows.
    weights: [(f64, f64); 256],
    seeds: Vec<(u32, f64)>,
    slots: Vec<u32>,
    places: Vec<Place>,
    /// Places to push in the next round, in the order they came to hold enough.
    next: Vec<u32>,
    n_followed: usize,
}

impl<'a> Push<'a> {
    fn new(graph: &'a Graph, options: &'a Walk, seeds: &[(NodeIndex, f64)]) -> Push<'a> {
        let mut weights = [(0.0, 0.0); 256];
        for &kind in EdgeKind::ALL {
            let weight = f64::from(kind.weight_hundredths()) / 100.0;
            weights[usize::from(kind.id())] = (weight, weight * options.language_server_weight);
        }
        let mut push = Push {
            graph,
            options,
            weights,
            seeds: Vec::with_capacity(seeds.len()),
            slots: vec![0; graph.n_nodes()],
            places: Vec::new(),
            next: Vec::new(),
            n_followed: 0,
        };
        for &(node, weight) in seeds {
            let place = push.meet(node, 0);
            push.seeds.push((place, weight));
        }
        push.return_to_seeds(1.0);
        push
    }

    fn run(&mut self) {
        let mut round = Vec::new();
        while !self.next.is_empty() {
            std::mem::swap(&mut round, &mut self.next);
            for place in round.drain(..) {
                if self.n_followed >= self.options.max_edges {
                    return;
                }
                self.push(place);
            }
        }
    }

    fn push(&mut self, at: u32) {
        let place = &mut self.places[at as usize];
        place.is_queued = false;
        let residual = std::mem::take(&mut place.residual);
        place.estimate += self.options.restart * residual;
        let moving = (1.0 - self.options.restart) * residual;
        let (node, hops, known) = (place.node, place.hops, place.total);
        let graph = self.graph;
        let adjacent = [graph.outgoing(node), graph.incoming(node)];
        // At least one, so that a walk ends whatever the options are.
        self.n_followed += place.n_edges.max(1) as usize;
        let is_inside = hops < self.options.max_hops;
        let total = match known {
            Some(total) => total,
            None => {
                let total = self.total(&adjacent, hops, is_inside);
                if is_inside {
                    self.places[at as usize].total = Some(total);
                }
                total
            }
        };
        if total <= 0.0 {
            self.return_to_seeds(moving);
            return;
        }
        let per_weight = moving / total;
        for edge in adjacent.into_iter().flatten() {
            let weight = self.weight(edge);
            if weight <= 0.0 {
                continue;
            }
            // Met when the total was taken, unless it lies outside.
            let Some(other) = self.slots[edge.other as usize].checked_sub(1) else { continue };
            let into = self.places[other as usize].into;
            self.add(other, per_weight * weight * into);
        }
    }

    /// The weight of all edges of a node. From inside, every neighbour is met here for the first time; at the border,
    /// only those count that were met before.
    fn total(&mut self, adjacent: &[&[EdgeRecord]; 2], hops: u8, is_inside: bool) -> f64 {
        let mut total = 0.0;
        for edge in adjacent.iter().copied().flatten() {
            let weight = self.weight(edge);
            if weight <= 0.0 {
                continue;
            }
            let other = match self.slots[edge.other as usize].checked_sub(1) {
                Some(other) => other,
                None if is_inside => self.meet(NodeIndex(edge.other), hops + 1),
                None => continue,
            };
            let other = &mut self.places[other as usize];
            if is_inside {
                other.hops = other.hops.min(hops + 1);
            }
            total += weight * other.into;
        }
        total
    }

    fn weight(&self, edge: &EdgeRecord) -> f64 {
        let (ordinary, language_server) = self.weights[usize::from(edge.kind)];
        if edge.provenance == Provenance::LspResolved as u8 { language_server } else { ordinary }
    }

    fn meet(&mut self, node: NodeIndex, hops: u8) -> u32 {
        let at = self.places.len() as u32;
        let n_edges = (self.graph.outgoing(node).len() + self.graph.incoming(node).len()) as u32;
        let is_virtual = self.graph.node(node).is_virtual();
        let into = if is_virtual { (self.options.virtual_degree / f64::from(n_edges)).min(1.0) } else { 1.0 };
        self.slots[node.0 as usize] = at + 1;
        self.places.push(Place {
            residual: 0.0,
            estimate: 0.0,
            into,
            total: None,
            node,
            n_edges,
            hops,
            is_virtual,
            is_queued: false,
        });
        at
    }

    fn return_to_seeds(&mut self, mass: f64) {
        for at in 0..self.seeds.len() {
            let (place, weight) = self.seeds[at];
            self.add(place, mass * weight);
        }
    }

    fn add(&mut self, at: u32, mass: f64) {
        let place = &mut self.places[at as usize];
        place.residual += mass;
        let worth = self.options.residual_bound * f64::from(place.n_edges.max(1));
        if place.residual > worth && !place.is_queued {
            place.is_queued = true;
            self.next.push(at);
        }
    }

    fn finish(self) -> Walked {
        let Push { options, slots, places, n_followed, .. } = self;
        // A node keeps at least this share of what has arrived: without it, those that were never pushed would be equal.
        let value = |it: &Place| it.estimate + options.restart * it.residual;
        let best = places.iter().filter(|it| !it.is_virtual).map(value).fold(0.0, f64::max);
        let mut scores: Vec<(NodeIndex, f64)> = places
            .iter()
            .filter(|it| !it.is_virtual && value(it) > 0.0)
            .map(|it| (it.node, value(it) / best))
            .collect();
        let by_score = |a: &(NodeIndex, f64), b: &(NodeIndex, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if options.limit < scores.len() {
            scores.select_nth_unstable_by(options.limit, by_score);
            scores.truncate(options.limit);
        }
        scores.sort_unstable_by(by_score);
        let n_virtual = places.iter().filter(|it| it.is_virtual).count();
        Walked {
            scores,
            mass: places.iter().map(|it| it.estimate).sum(),
            residual: places.iter().map(|it| it.residual).sum(),
            n_virtual,
            n_other: places.len() - n_virtual,
            n_edges: n_followed,
            slots,
            met: places
                .iter()
                .map(|it| Met { value: value(it), hops: it.hops, is_virtual: it.is_virtual })
                .collect(),
            best,
        }
    }
}
