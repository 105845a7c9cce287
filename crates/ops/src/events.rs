//! The log of edges: what each snapshot of the chain added, removed, or knows otherwise than the one before it.
//!
//! No event is stored. Snapshots are sets of units, and what two neighbours do not share says all that a log would, at the
//! cost of what differs.

use knowing_graph::{KindSet, NodeIndex};
use knowing_model::hex;
use knowing_store::{OwnEdge, SnapshotRow, Store};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::blast_radius::edge_kinds;
use crate::clock::utc;
use crate::cx::Cx;
use crate::diff::EdgeChanges;
use crate::error::Result;
use crate::page::{Page, paged};
use crate::prove::latest;
use crate::reference::chain;
use crate::snapshot_diff::{DiffEdge, edges};
use crate::view::View;

/// When edges came and went: what each snapshot changed against the one before it, newest first
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing events
  knowing events --symbol Flask.run                    who began or ceased to call it, and what it calls
  knowing events --symbol Flask.run --edge-kinds calls
  knowing events v2.0 --limit 0                        how many edges changed up to a release

The first snapshot of a chain has no events. Snapshots that were collected (`knowing gc`) have none either; pin those whose \
story is to be kept (`knowing snapshots pin`).")]
pub struct Events {
    /// The snapshot to go back from
    #[arg(default_value = "@latest")]
    #[serde(default = "latest")]
    pub snapshot: String,
    /// Only edges that begin or end here
    #[arg(long)]
    #[serde(default)]
    pub symbol: Option<String>,
    /// Only these kinds of edges
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EventsReply {
    #[serde(flatten)]
    pub tree: Tree,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<SymbolInfo>,
    pub events: Vec<EdgeEvent>,
    /// Snapshots that were compared with the one before them.
    pub snapshots: usize,
    pub total: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(EventsReply: events);

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EdgeEvent {
    pub snapshot: String,
    pub commit: String,
    /// When the snapshot was made, UTC.
    pub at: String,
    /// `added`, `removed` or `changed`.
    pub event: &'static str,
    #[serde(flatten)]
    pub edge: DiffEdge,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Events) -> Result<EventsReply> {
    let mut pages = cx.pages("events", arguments, 200)?;
    let opened = pages.settle(cx.open_reference(&arguments.snapshot)?)?;
    let view = opened.view()?;
    let found = arguments.symbol.as_deref().map(|it| view.lookup(it)).transpose()?;
    let wanted = Wanted {
        kinds: edge_kinds(&arguments.edge_kinds)?,
        symbols: found.as_ref().map(|it| symbols(&view, it)),
    };
    let chain = chain(&opened.store, &opened.snapshot)?;
    let mut reply = EventsReply {
        tree: view.tree().clone(),
        symbol: found.map(|it| view.info(it[0])).transpose()?,
        events: Vec::new(),
        snapshots: 0,
        total: 0,
        page: Page::default(),
    };
    let mut all = Vec::new();
    for pair in chain.windows(2) {
        let changes = wanted.changes(&opened.store, &pair[1], &pair[0])?;
        reply.snapshots += 1;
        reply.total += changes.added.len() + changes.removed.len() + changes.changed.len();
        all.push((pair, changes));
    }
    let range = pages.range(reply.total);
    let mut n_before = 0;
    for (pair, changes) in &all {
        let sides = [
            ("added", changes.added.iter().map(|it| (it, None)).collect::<Vec<_>>()),
            ("removed", changes.removed.iter().map(|it| (it, None)).collect()),
            ("changed", changes.changed.iter().map(|(before, after)| (after, Some(before))).collect()),
        ];
        for (event, changed) in sides {
            let n_changed = changed.len();
            let at = |it: usize| it.saturating_sub(n_before).min(n_changed);
            let listed = edges(&view, changed.into_iter(), at(range.start)..at(range.end))?;
            n_before += n_changed;
            reply.events.extend(listed.into_iter().map(|edge| EdgeEvent {
                snapshot: pair[0].id.to_string(),
                commit: hex(&pair[0].commit),
                at: utc(pair[0].created_at),
                event,
                edge,
            }));
        }
    }
    pages.finish(&mut reply)?;
    Ok(reply)
}

fn symbols(view: &View<'_>, nodes: &[NodeIndex]) -> Vec<u32> {
    nodes.iter().map(|it| view.graph().node(*it).sym).collect()
}

struct Wanted {
    kinds: KindSet,
    symbols: Option<Vec<u32>>,
}

impl Wanted {
    fn changes(&self, store: &Store, old: &SnapshotRow, new: &SnapshotRow) -> Result<EdgeChanges> {
        let (old, new) = (store.reader(old)?, store.reader(new)?);
        let wanted = |mut edges: Vec<OwnEdge>| {
            edges.retain(|it| self.has(it));
            edges
        };
        let before = wanted(old.rows_besides(&new)?.edges);
        let after = wanted(new.rows_besides(&old)?.edges);
        Ok(EdgeChanges::between(&before, &after))
    }

    fn has(&self, edge: &OwnEdge) -> bool {
        let is_end = |all: &Vec<u32>| all.contains(&edge.source) || all.contains(&edge.target);
        self.kinds.contains(edge.kind) && self.symbols.as_ref().is_none_or(is_end)
    }
}
