//! Context without words: around files, and around what a change touches.

use knowing_graph::NodeIndex;
use knowing_model::EdgeKind;
use knowing_search::{FileIndex, Searcher as _};
use rustc_hash::FxHashMap;

use crate::candidates::{Channel, Found};
use crate::channels::{Channels, Harvest};
use crate::evidence::{self, Walks};
use crate::noise;
use crate::params::Ranker;
use crate::pipeline::{RankedSymbol, Run, Settings, Sources, rank, standings, walk_from};
use crate::query::TaskQuery;
use crate::task::Task;

/// Symbols of the files at distance 0, and who calls them at distance 1; no words, hence the formula.
pub fn for_files(sources: Sources<'_>, files: &[FileIndex], settings: &Settings) -> Run {
    let Sources { graph, names, .. } = sources;
    let is_symbol = |it: &NodeIndex| !names.symbol(it.0).is_empty() && !noise::is_foreign(graph, *it);
    let in_files = files.iter().flat_map(|&it| names.in_file(it)).map(|&it| NodeIndex(it));
    let mut inside: Vec<NodeIndex> = in_files.filter(is_symbol).collect();
    inside.sort_unstable();
    inside.dedup();
    let callers = inside.iter().flat_map(|&it| graph.incoming_of(it, EdgeKind::Calls)).map(|it| it.other());
    let mut outside: Vec<NodeIndex> =
        callers.filter(|it| is_symbol(it) && inside.binary_search(it).is_err()).collect();
    outside.sort_unstable();
    outside.dedup();
    let seeds: Vec<(NodeIndex, f64)> = inside.iter().map(|&it| (it, 1.0)).collect();
    let found: Vec<NodeIndex> = inside.iter().chain(&outside).copied().collect();
    let mut run = around(sources, &found, seeds, 0, settings);
    let most = run.ranked.iter().map(|it| it.evidence.n_callers).fold(0.0, f64::max);
    let distance: FxHashMap<NodeIndex, u8> =
        outside.iter().map(|&it| (it, 1)).chain(inside.iter().map(|&it| (it, 0))).collect();
    for it in &mut run.ranked {
        // Who is called most matters most: there is no task to say otherwise.
        it.distance = distance.get(&it.node).copied().unwrap_or(3);
        it.evidence.hops = Some(it.distance);
        it.evidence.walk = if most > 0.0 { it.evidence.n_callers / most } else { 0.0 };
    }
    run.rescore(settings);
    run
}

/// What stands around the changed symbols: a walk from them.
pub fn for_changes(sources: Sources<'_>, changed: &[NodeIndex], settings: &Settings) -> Run {
    let seeds: Vec<(NodeIndex, f64)> = changed.iter().map(|&it| (it, 1.0)).collect();
    around(sources, changed, seeds, settings.params.channels.max_candidates, settings)
}

fn around(
    sources: Sources<'_>,
    found: &[NodeIndex],
    seeds: Vec<(NodeIndex, f64)>,
    n_walked: usize,
    settings: &Settings,
) -> Run {
    let Sources { graph, search, names, .. } = sources;
    let Settings { params, switches, .. } = settings;
    let task = Task::default();
    let query = TaskQuery::new(&task, params, *switches, |_| 0.0);
    let prepared = search.prepare(&query.query, &query.scoring);
    let cx = Channels::new(sources, &task, &query, &prepared, settings);
    let walked = walk_from(graph, &seeds, params, *switches);
    let mut harvest = Harvest::default();
    harvest.candidates.add(Channel::Asked, found.iter().copied().map(Found::plain));
    let near = walked
        .scores
        .iter()
        .map(|it| it.0)
        .filter(|&it| !noise::is_foreign(graph, it) && !names.symbol(it.0).is_empty());
    harvest.candidates.add(Channel::Walk, near.take(n_walked).map(Found::plain));
    let standings = standings(graph, &walked, params, *switches);
    let walks = Walks { walked: &walked, standings: &standings };
    let (scene, evidence) = evidence::gather(cx, &harvest, &walks);
    let n_candidates = evidence.len();
    let ranked: Vec<RankedSymbol> = rank(evidence, &scene, settings, Ranker::Formula);
    Run {
        ranked,
        seeds,
        concepts: Vec::new(),
        walk_was_flat: false,
        gap_filled: false,
        walked,
        n_candidates,
        scene,
        task,
    }
}
