//! The channels: each finds candidates in its own way and orders them, best first. One file a channel.

mod aliases;
mod classes;
mod expansion;
mod files;
mod frames;
mod gap;
mod identifiers;
mod inflow;
mod lexical;
mod path_context;
mod tiered;

use knowing_graph::{Graph, NodeIndex};
use knowing_search::{Collection, DocIndex, Documents, Names, Prepared};

use crate::candidates::{Candidates, Channel, Found};
use crate::noise;
use crate::params::{Params, Part, Switches};
use crate::pipeline::{Settings, Sources};
use crate::query::TaskQuery;
use crate::task::Task;

pub(crate) use classes::Injection;
pub(crate) use expansion::expand;
pub(crate) use files::Mentions;
pub(crate) use frames::FrameMatch;
pub(crate) use identifiers::agreeing;
pub(crate) use inflow::{Inflow, N_WAYS};
pub(crate) use lexical::Lexical;

/// Files that are looked into because their path has a word of the task: of many only the first.
const FILES_OF_A_WORD: usize = 60;

/// What every channel may look at.
#[derive(Clone, Copy)]
pub(crate) struct Channels<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) search: &'a Collection,
    pub(crate) names: &'a Names,
    pub(crate) documents: &'a Documents,
    pub(crate) task: &'a Task,
    pub(crate) query: &'a TaskQuery,
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) params: &'a Params,
    pub(crate) switches: Switches,
}

/// What the channels found, besides the candidates.
#[derive(Default)]
pub(crate) struct Harvest {
    pub(crate) candidates: Candidates,
    pub(crate) lexical: Lexical,
    pub(crate) frames: Vec<FrameMatch>,
    pub(crate) mentions: Mentions,
    /// Seeds of the path channel that are no candidates of it.
    pub(crate) path_seeds: Vec<NodeIndex>,
    pub(crate) injection: Injection,
    pub(crate) inflow: Inflow,
}

/// What names and paths of the task lead to.
struct Named {
    tiered: Vec<Found>,
    injection: Injection,
    aliases: Vec<Found>,
    identifiers: Vec<Found>,
    mentions: Mentions,
    frames: Vec<FrameMatch>,
    in_paths: Vec<Found>,
    path_seeds: Vec<NodeIndex>,
}

impl Named {
    fn find(cx: Channels<'_>) -> Named {
        let tiered = if cx.on(Part::Tiered) { tiered::tiered(cx) } else { Vec::new() };
        let (in_paths, path_seeds) =
            if cx.on(Part::PathContext) { path_context::of(cx) } else { Default::default() };
        Named {
            injection: if cx.on(Part::Classes) { classes::matched(cx) } else { Injection::default() },
            aliases: if cx.on(Part::Aliases) { aliases::of(cx, &tiered) } else { Vec::new() },
            identifiers: if cx.on(Part::Identifiers) { identifiers::matched(cx) } else { Vec::new() },
            mentions: Mentions::of(cx),
            frames: if cx.on(Part::Frames) { frames::matched(cx) } else { Vec::new() },
            tiered,
            in_paths,
            path_seeds,
        }
    }
}

impl<'a> Channels<'a> {
    pub(crate) fn new(
        sources: Sources<'a>,
        task: &'a Task,
        query: &'a TaskQuery,
        prepared: &'a Prepared<'a>,
        settings: &'a Settings,
    ) -> Channels<'a> {
        let Sources { graph, search, names, documents } = sources;
        let Settings { params, switches, .. } = settings;
        Channels { graph, search, names, documents, task, query, prepared, params, switches: *switches }
    }

    pub(crate) fn harvest(self) -> Harvest {
        // The index is asked while the names are looked at: together they are half of an answer's time.
        let (lexical, named) = rayon::join(|| Lexical::ask(self), || Named::find(self));
        let Named { tiered, injection, aliases, identifiers, mentions, frames, in_paths, path_seeds } = named;
        let n_named = tiered.len() + lexical.whole_for_fusion(self).count();
        let equivalent: Vec<Found> = injection.found().chain(aliases).take((2 * n_named).max(10)).collect();

        let mut candidates = Candidates::default();
        candidates.add(Channel::Tiered, self.known(tiered));
        candidates.add(Channel::Equivalence, self.known(equivalent));
        if self.on(Part::Identifiers) {
            candidates.add(Channel::Identifiers, self.known(identifiers));
        }
        candidates.add(Channel::Frames, self.known(frames.iter().map(|it| Found::plain(it.node))));
        candidates.add(Channel::PathContext, self.known(in_paths));
        lexical.add(self, &mut candidates);
        let inflow = if self.on(Part::Inflow) { Inflow::of(self, &lexical) } else { Inflow::default() };
        candidates.add(Channel::Inflow, inflow.strongest(self, self.params.channels.inflow));
        Harvest { candidates, lexical, frames, mentions, path_seeds, injection, inflow }
    }

    /// Mechanism 5: little was found, so look wider.
    pub(crate) fn fill_gap(self) -> Vec<NodeIndex> {
        gap::fill(self).into_iter().filter(|&it| !noise::is_noise(self.graph, self.names, it)).collect()
    }

    pub(crate) fn document(self, node: NodeIndex) -> Option<DocIndex> {
        self.documents.of(node.0)
    }

    pub(crate) fn node(self, document: DocIndex) -> Option<NodeIndex> {
        self.documents.node(document).map(NodeIndex)
    }

    pub(crate) fn on(self, part: Part) -> bool {
        self.switches.on(part)
    }

    fn known(self, found: impl IntoIterator<Item = Found>) -> impl Iterator<Item = Found> {
        found.into_iter().filter(move |it| !noise::is_foreign(self.graph, it.node))
    }
}
