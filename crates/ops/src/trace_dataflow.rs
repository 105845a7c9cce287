//! Where what a symbol handles may go: everything that it leads to, and where that leaves the code.

use knowing_graph::{Follow, KindSet, Reach, Reached};
use knowing_model::{EdgeKind, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::blast_radius::{Impact, MAX_REACHED, edge_kinds, five, impacts};
use crate::cx::Cx;
use crate::error::Result;
use crate::page::{Page, paged};
use crate::unresolved::UnresolvedSites;

/// Where data of a symbol may go, and where it leaves the code
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(
    name = "dataflow",
    alias = "trace-dataflow",
    after_help = "\
Examples:
  knowing dataflow upload_file
  knowing dataflow Order.place --depth 8 --edge-kinds calls,publishes

It says which code can come to handle a value, not which values do: arguments are not followed one by one."
)]
pub struct TraceDataflow {
    /// Its name or the end of it, a node id or `path:line`
    pub symbol: String,
    /// How many steps away
    #[arg(long = "depth", alias = "max-depth", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    #[serde(default = "five", alias = "depth")]
    pub max_depth: u32,
    /// Only these kinds of edges
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceDataflowReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    pub reached: Vec<Impact>,
    /// Symbols of the repository that are reached.
    pub total: usize,
    /// What is reached outside of it: libraries, topics, endpoints, processes, the environment.
    pub sinks: Vec<Impact>,
    pub total_sinks: usize,
    /// Calls in the symbol and in what it reaches that could not be resolved.
    pub unresolved: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(TraceDataflowReply: reached, sinks);

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &TraceDataflow) -> Result<TraceDataflowReply> {
    let only = edge_kinds(&arguments.edge_kinds)?;
    let mut pages = cx.pages("trace_dataflow", arguments, MAX_REACHED)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let graph = view.graph();
    let found = view.lookup(&arguments.symbol)?;
    let follow = match arguments.edge_kinds.is_empty() {
        true => carries(),
        false => {
            let against = KindSet::of(&[EdgeKind::Subscribes]);
            Follow { outgoing: only.without(EdgeKind::Subscribes), incoming: only.intersection(against) }
        }
    };
    let options = Reach {
        follow,
        of_values: KindSet::EMPTY,
        max_depth: arguments.max_depth,
        min_confidence_bp: 0,
        limit: usize::MAX,
    };
    let (reached, _) = knowing_graph::reach(graph, &found, &options);
    let is_sink = |it: &Reached| {
        let record = graph.node(it.node);
        record.is_virtual() || matches!(record.kind(), NodeKind::Table | NodeKind::Topic | NodeKind::Endpoint)
    };
    let (mut sinks, mut inside): (Vec<&Reached>, Vec<&Reached>) = reached.iter().partition(|it| is_sink(it));
    let mut unresolved = UnresolvedSites::inside(&view, &found)?.count;
    for it in inside.iter().take(MAX_REACHED) {
        unresolved += view.reader().unresolved_in(graph.node(it.node).node_row)?.len();
    }
    let (total, total_sinks) = (inside.len(), sinks.len());
    inside.truncate(MAX_REACHED);
    sinks.truncate(MAX_REACHED);
    let truncated = inside.len() + sinks.len() < reached.len();
    let mut reply = TraceDataflowReply {
        tree: view.tree().clone(),
        symbol: view.info(found[0])?,
        reached: impacts(&view, &reached, inside, &mut pages)?,
        total,
        sinks: impacts(&view, &reached, sinks, &mut pages)?,
        total_sinks,
        unresolved,
        page: Page { truncated, next_cursor: None },
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// Along which edges a value can travel.
fn carries() -> Follow {
    use EdgeKind::{AccessesField, Calls, ConsumesEndpoint, ConsumesRpc, Publishes, Subscribes};
    Follow {
        outgoing: KindSet::of(&[Calls, AccessesField, Publishes, ConsumesEndpoint, ConsumesRpc]),
        incoming: KindSet::of(&[Subscribes]),
    }
}
