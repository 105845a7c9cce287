//! How one symbol reaches another: the shortest paths between them.

use knowing_graph::{Between, Follow, KindSet, Path, paths_between};
use knowing_model::{EdgeKind, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree, rounded};
use crate::blast_radius::{edge_kinds, five};
use crate::cx::Cx;
use crate::error::Result;
use crate::page::{Page, paged};
use crate::unresolved::UnresolvedSites;
use crate::view::View;

/// How one symbol reaches another: the shortest paths of calls, routes and messages
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(
    alias = "flow-between",
    after_help = "\
Examples:
  knowing flow main Session.commit
  knowing flow 'POST /users' User.save --depth 8
  knowing flow Handler.get Base --edge-kinds extends --json

A path follows what runs: calls, overriding methods, routes to their handlers, topics to those who listen; to a type also \
uses of it. With `--edge-kinds` it follows edges of these kinds alone, from source to target."
)]
pub struct FlowBetween {
    /// Where paths begin
    pub source: String,
    /// Where they end
    pub target: String,
    /// Steps of a path at most
    #[arg(long = "depth", alias = "max-depth", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    #[serde(default = "five", alias = "depth")]
    pub max_depth: u32,
    /// Paths at most
    #[arg(long, default_value_t = 10, value_name = "N")]
    #[serde(default = "ten")]
    pub max_paths: usize,
    /// Follow these kinds of edges only
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
}

fn ten() -> usize {
    10
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlowBetweenReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub source: SymbolInfo,
    pub target: SymbolInfo,
    /// Whether there is a path within the depth. Calls that could not be resolved may be one all the same.
    pub reachable: bool,
    /// Shortest first, of those as long the surest.
    pub paths: Vec<FlowPath>,
    /// Paths found; there may be longer ones.
    pub total: usize,
    /// Nodes looked at.
    pub searched: usize,
    /// Calls that may mean the target and could not be resolved.
    pub unresolved: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(FlowBetweenReply: paths);

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlowPath {
    /// From the source to the target.
    pub steps: Vec<FlowStep>,
    /// Product along the path, 0 to 1.
    pub confidence: f64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlowStep {
    pub symbol: String,
    /// Of the edge that leads here; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Where the step before leads here; of the first, where it is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// Most nodes to look at.
const MAX_NODES: usize = 200_000;
/// Most paths to give.
const MAX_PATHS: usize = 1_000;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &FlowBetween) -> Result<FlowBetweenReply> {
    let only = edge_kinds(&arguments.edge_kinds)?;
    let mut pages = cx.pages("flow_between", arguments, MAX_PATHS)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let (sources, targets) = (view.lookup(&arguments.source)?, view.lookup(&arguments.target)?);
    let follow = match arguments.edge_kinds.is_empty() {
        true => runs(view.graph().node(targets[0]).kind()),
        false => Follow { outgoing: only, incoming: KindSet::EMPTY },
    };
    let options = Between {
        follow,
        max_depth: arguments.max_depth,
        max_paths: arguments.max_paths.min(MAX_PATHS),
        max_nodes: MAX_NODES,
    };
    let found = paths_between(view.graph(), &sources, &view.with_constructed(&targets), &options);
    let range = pages.range(found.paths.len());
    let paths = found.paths[range].iter().map(|it| told(&view, it)).collect::<Result<_>>()?;
    let mut reply = FlowBetweenReply {
        tree: view.tree().clone(),
        source: view.info(sources[0])?,
        target: view.info(targets[0])?,
        reachable: !found.paths.is_empty(),
        paths,
        total: found.paths.len(),
        searched: found.n_searched,
        unresolved: UnresolvedSites::of(&view, &targets)?.count,
        page: Page { truncated: found.truncated, next_cursor: None },
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// Edges along which one thing runs, is sent or is stored after the other.
pub(crate) fn runs(target: NodeKind) -> Follow {
    use EdgeKind::{
        AccessesField, Calls, ConnectsTo, ConsumesEndpoint, ConsumesRpc, ExecutesProcess, Extends,
        HandlesRoute, Implements, ImplementsRpc, Overrides, Publishes, ReadsEnv, References, Subscribes,
        Throws, TypeHintOf,
    };
    let mut outgoing = vec![
        Calls,
        HandlesRoute,
        ConsumesEndpoint,
        ConsumesRpc,
        Publishes,
        ConnectsTo,
        AccessesField,
        ReadsEnv,
        ExecutesProcess,
        Throws,
    ];
    if target.is_type_like() {
        outgoing.extend([Extends, Implements, References, TypeHintOf]);
    }
    // A call of a method may run what overrides it, a call of a remote procedure what implements it.
    Follow {
        outgoing: KindSet::of(&outgoing),
        incoming: KindSet::of(&[Overrides, ImplementsRpc, Subscribes]),
    }
}

fn told(view: &View<'_>, path: &Path) -> Result<FlowPath> {
    let start = view.info(path.start)?;
    let mut steps = vec![FlowStep { location: start.location(), symbol: start.qualified_name, kind: None }];
    for step in &path.steps {
        let sites = view.sites(step.edge.edge_row)?;
        let location = sites.file.zip(sites.lines.first()).map(|(file, line)| format!("{file}:{line}"));
        let symbol = view.qualified_name(step.to)?;
        steps.push(FlowStep { symbol, kind: Some(step.edge.kind().name()), location });
    }
    Ok(FlowPath { steps, confidence: rounded(path.confidence) })
}
