//! Whom a symbol calls.

use knowing_graph::{Follow, KindSet};
use knowing_model::EdgeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::callers::{MAX_LISTED, Neighbour, one};
use crate::cx::Cx;
use crate::error::Result;
use crate::page::{Page, paged};
use crate::unresolved::UnresolvedSites;

/// What a symbol calls, directly or through others
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing callees Flask.run
  knowing callees Flask.run --depth 3 --json")]
pub struct Callees {
    /// The symbol: end of its name, qualified name, node id or `path:line`
    pub symbol: String,
    /// How many calls away callees may be
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    #[serde(default = "one")]
    pub depth: u32,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CalleesReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    pub callees: Vec<Neighbour>,
    pub total: usize,
    #[serde(flatten)]
    pub page: Page,
    /// Calls inside the symbol that could not be resolved.
    pub unresolved: UnresolvedSites,
}

paged!(CalleesReply: callees);

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Callees) -> Result<CalleesReply> {
    let mut pages = cx.pages("callees", arguments, MAX_LISTED)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let found = view.lookup(&arguments.symbol)?;
    let follow = Follow { outgoing: KindSet::of(&[EdgeKind::Calls]), incoming: KindSet::EMPTY };
    let (callees, total) = view.neighbours(&found, follow, arguments.depth, &mut pages)?;
    let mut reply = CalleesReply {
        tree: view.tree().clone(),
        symbol: view.info(found[0])?,
        callees,
        total,
        page: Page::default(),
        unresolved: UnresolvedSites::inside(&view, &found)?,
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}
