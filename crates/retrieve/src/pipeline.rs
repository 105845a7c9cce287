//! From a task to ranked candidates: the stages, in order.
//!
//! ```text
//! task       what the text says
//! channels   who may be meant: names, words, paths, frames, classes
//! fuse       what several channels put high
//! seeds      where to begin in the graph, by the snapshot's size and packages
//! walk       what is near, and what stands out (HITS)
//! evidence   everything known of each candidate
//! rank       learned trees, or the formula
//! owners     candidates of one owner, for each other
//! order      one of several overloads, few sections of documents
//! adapt      classes that force their way in; a walk that says nothing
//! ```
//!
//! No stage reads a clock, a random number or the order of a hash map: the same snapshot and task give the same bytes.

use knowing_graph::{Graph, Hits, NodeIndex, Standing, Walk, Walked, hits, walk};
use knowing_model::NodeKind;
use knowing_search::{Collection, Documents, Names, Searcher as _};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::candidates::{Channel, Found};
use crate::channels::{Channels, Harvest, expand};
use crate::evidence::{self, Evidence, Scene, Walks};
use crate::params::{Params, Part, Ranker, Switches};
use crate::query::{Side, TaskQuery};
use crate::score::{Components, components};
use crate::task::Task;
use crate::{features, fuse, model, noise, order, owners, seeds};

/// One snapshot, as retrieval reads it.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub graph: &'a Graph,
    pub search: &'a Collection,
    pub names: &'a Names,
    /// Which nodes of the graph the documents are of.
    pub documents: &'a Documents,
}

/// How to answer.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub params: Params,
    pub switches: Switches,
    pub ranker: Ranker,
}

/// A candidate with its place in the answer.
#[derive(Clone, Debug)]
pub struct RankedSymbol {
    pub node: NodeIndex,
    /// 0 to 1, a little more for what a concept class forced in.
    pub score: f64,
    /// What the ranker gave, on its own scale, and `beside`.
    pub raw: f64,
    /// What other candidates of its owner gave.
    pub beside: f64,
    /// Hops to the nearest seed, at most 3.
    pub distance: u8,
    pub walk: f64,
    pub injected: bool,
    /// Another overload of the same callable stands before it.
    pub is_further_overload: bool,
    pub features: Vec<f32>,
    pub components: Components,
    /// Apart, because it is large and answers are sorted.
    pub(crate) evidence: Box<Evidence>,
}

/// A whole run, with all that was measured on the way.
pub struct Run {
    pub task: Task,
    /// Best first.
    pub ranked: Vec<RankedSymbol>,
    pub seeds: Vec<(NodeIndex, f64)>,
    /// Concepts whose phrases the task says.
    pub concepts: Vec<String>,
    /// Mechanism 9 acted.
    pub walk_was_flat: bool,
    /// Mechanism 5 acted.
    pub gap_filled: bool,
    pub walked: Walked,
    pub n_candidates: usize,
    pub(crate) scene: Scene,
}

impl Run {
    /// Orders anew by the formula, after its evidence was changed.
    pub(crate) fn rescore(&mut self, settings: &Settings) {
        let evidence = std::mem::take(&mut self.ranked).into_iter().map(|it| *it.evidence).collect();
        self.ranked = rank(evidence, &self.scene, settings, Ranker::Formula);
    }
}

/// Ranks the symbols of a snapshot for a task.
pub fn for_task(sources: Sources<'_>, text: &str, settings: &Settings) -> Run {
    let Sources { graph, search, names, .. } = sources;
    let Settings { params, switches, ranker } = settings;
    let switches = *switches;
    let task = Task::parse(text);
    let query = TaskQuery::new(&task, params, switches, |term| search.idf(term));
    let prepared = search.prepare(&query.query, &query.scoring);
    let cx = Channels::new(sources, &task, &query, &prepared, settings);

    let mut harvest = cx.harvest();
    if switches.on(Part::Expansion) {
        expand(cx, &mut harvest);
    }

    let not_noise = |node: NodeIndex| !noise::is_noise(graph, names, node);
    let fused = fuse::fuse(&harvest.candidates, &params.channels, not_noise);
    let fused = &fused[..fused.len().min(params.channels.n_fused)];
    let mut seeds = seeds::choose(graph, names, fused, &params.seeds, switches);
    let gap_filled = switches.on(Part::GapFill) && fused.len() < params.seeds.gap_below;
    if gap_filled {
        let found = cx.fill_gap();
        seeds.extend(found.iter().map(|&it| (it, params.seeds.gap_weight)));
        harvest.candidates.add(Channel::Gap, found.into_iter().map(Found::plain));
    }
    seeds.extend(harvest.path_seeds.iter().map(|&it| (it, params.seeds.path_weight)));
    keep_first(&mut seeds);

    let walked = walk_from(graph, &seeds, params, switches);
    let walked_best = walked.scores.iter().map(|it| it.0).filter(|&it| !noise::is_foreign(graph, it));
    let walked_best: Vec<Found> = walked_best.take(params.channels.walked).map(Found::plain).collect();
    harvest.candidates.add(Channel::Walk, walked_best);
    harvest.candidates.settle(&params.channels, |node| graph.node(node).kind() != NodeKind::File);
    let standings = standings(graph, &walked, params, switches);

    let walks = Walks { walked: &walked, standings: &standings };
    let (scene, evidence) = evidence::gather(cx, &harvest, &walks);
    let n_candidates = evidence.len();
    let mut ranked = rank(evidence, &scene, settings, *ranker);
    if *ranker == Ranker::Learned && switches.on(Part::Owners) && task.wants_a_whole {
        owners::count_in(graph, names, &mut ranked, &params.owners);
        in_order(&mut ranked);
        score_by_distance(&mut ranked);
    }
    if switches.on(Part::Overloads) && !task.speaks_of_overloads {
        ranked = order::with_one_of_overloads(names, ranked);
    }
    if !task.speaks_of_documents {
        ranked = order::with_few_sections(graph, ranked, params.pack.symbols_per_section);
    }

    let walk_was_flat = *ranker == Ranker::Formula
        && switches.on(Part::FlatWalk)
        && is_flat(&walked, graph.n_nodes(), params);
    if walk_was_flat {
        rank_by_search(&mut ranked);
    }
    if *ranker == Ranker::Formula || params.pack.inject_learned {
        inject(&mut ranked, &harvest, params);
    }
    Run {
        ranked,
        seeds,
        concepts: std::mem::take(&mut harvest.injection.concepts),
        walk_was_flat,
        gap_filled,
        walked,
        n_candidates,
        scene,
        task,
    }
}

/// Of seeds named twice the first, heavier, mention counts.
fn keep_first(seeds: &mut Vec<(NodeIndex, f64)>) {
    let mut seen = rustc_hash::FxHashSet::default();
    seeds.retain(|it| seen.insert(it.0));
}

pub(crate) fn walk_from(
    graph: &Graph,
    seeds: &[(NodeIndex, f64)],
    params: &Params,
    switches: Switches,
) -> Walked {
    let seeds = if switches.on(Part::Walk) { seeds } else { &[] };
    let virtual_degree = if switches.on(Part::Reach) { Walk::default().virtual_degree } else { 0.0 };
    let options = Walk {
        restart: params.walk.restart,
        max_hops: params.walk.max_hops as u8,
        residual_bound: params.walk.residual,
        virtual_degree,
        ..Walk::default()
    };
    walk(graph, seeds, &options)
}

pub(crate) fn standings(
    graph: &Graph,
    walked: &Walked,
    params: &Params,
    switches: Switches,
) -> FxHashMap<NodeIndex, Standing> {
    if !switches.on(Part::Hits) {
        return FxHashMap::default();
    }
    let nodes: Vec<NodeIndex> = walked.scores.iter().take(params.walk.hits_nodes).map(|it| it.0).collect();
    let options = Hits { n_nodes: params.walk.hits_nodes, n_iterations: params.walk.hits_rounds };
    let standings = hits(graph, &nodes, &options);
    nodes.into_iter().zip(standings).collect()
}

/// Best first; ties by walk score, then node id, which is the graph's order.
pub(crate) fn rank(
    evidence: Vec<Evidence>,
    scene: &Scene,
    settings: &Settings,
    ranker: Ranker,
) -> Vec<RankedSymbol> {
    let n_candidates = evidence.len();
    let features: Vec<Vec<f32>> =
        evidence.par_iter().with_min_len(32).map(|it| features::of(it, scene)).collect();
    let learned = match ranker {
        Ranker::Learned => model::built_in().score_rows(&features.concat()),
        Ranker::Formula => Vec::new(),
    };
    let mut ranked: Vec<RankedSymbol> = evidence
        .into_iter()
        .zip(features)
        .enumerate()
        .map(|(at, (it, features))| {
            let components =
                components(&it, scene, n_candidates, &settings.params.formula, settings.switches);
            let raw = learned.get(at).copied().unwrap_or_else(|| components.total());
            RankedSymbol {
                node: it.node,
                score: raw,
                raw,
                beside: 0.0,
                distance: it.hops.unwrap_or(3).min(3),
                walk: it.walk,
                injected: false,
                is_further_overload: false,
                features,
                components,
                evidence: Box::new(it),
            }
        })
        .collect();
    in_order(&mut ranked);
    if ranker == Ranker::Learned {
        score_by_distance(&mut ranked);
    }
    ranked
}

/// Best first; ties by walk score, then node id.
fn in_order(ranked: &mut [RankedSymbol]) {
    ranked.sort_unstable_by(|a, b| {
        b.raw.total_cmp(&a.raw).then(b.walk.total_cmp(&a.walk)).then(a.node.cmp(&b.node))
    });
}

/// The trees' scale has no zero; what matters is the distance from the best.
fn score_by_distance(ranked: &mut [RankedSymbol]) {
    let best = ranked.first().map_or(0.0, |it| it.raw);
    ranked.iter_mut().for_each(|it| it.score = 1.0 / (1.0 + (best - it.raw)));
}

/// Mechanism 9: on a large graph a walk that gives its ten best the same says nothing.
fn is_flat(walked: &Walked, n_nodes: usize, params: &Params) -> bool {
    let ten = &walked.scores[..walked.scores.len().min(10)];
    let (Some(first), Some(last)) = (ten.first(), ten.last()) else { return false };
    n_nodes > params.walk.flat_above && ten.len() == 10 && last.1 >= first.1 * (1.0 - params.walk.flat_share)
}

/// Search hits, then what `contains` joins to them; the walk breaks ties.
fn rank_by_search(ranked: &mut [RankedSymbol]) {
    let found = |it: &RankedSymbol| {
        let owner = it.evidence.near.member_of.max(it.evidence.near.contains);
        (it.evidence.scores[Side::Whole as usize], owner)
    };
    ranked.sort_by(|a, b| {
        let (a_words, a_owner) = found(a);
        let (b_words, b_owner) = found(b);
        b_words
            .total_cmp(&a_words)
            .then(b_owner.total_cmp(&a_owner))
            .then(b.walk.total_cmp(&a.walk))
            .then(a.node.cmp(&b.node))
    });
    let best = ranked.first().map_or(0.0, |it| it.evidence.scores[Side::Whole as usize]);
    for it in ranked {
        it.score = if best > 0.0 { it.evidence.scores[Side::Whole as usize] / best } else { 0.0 };
    }
}

/// Symbols that a concept class forces in stand before all others, in the order of their fused score.
fn inject(ranked: &mut Vec<RankedSymbol>, harvest: &Harvest, params: &Params) {
    let forced = &harvest.injection.forced;
    if forced.is_empty() {
        return;
    }
    let best = ranked.first().map_or(0.0, |it| it.score);
    let (mut chosen, rest): (Vec<RankedSymbol>, Vec<RankedSymbol>) =
        std::mem::take(ranked).into_iter().partition(|it| forced.contains(&it.node));
    chosen.sort_by(|a, b| b.evidence.fused.total_cmp(&a.evidence.fused).then(a.node.cmp(&b.node)));
    let surplus = chosen.split_off(chosen.len().min(params.pack.max_injected));
    for (number, it) in chosen.iter_mut().enumerate() {
        it.score = best + 0.1 - 0.001 * number as f64;
        it.injected = true;
        it.distance = 0;
    }
    let mut others: Vec<RankedSymbol> = rest.into_iter().chain(surplus).collect();
    others.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then(b.walk.total_cmp(&a.walk)).then(a.node.cmp(&b.node))
    });
    *ranked = chosen.into_iter().chain(others).collect();
}
