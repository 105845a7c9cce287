//! Whom a symbol calls.

use knowing_graph::{Follow, KindSet};
use knowing_model::EdgeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::callers::{Neighbour, five_hundred, one};
use crate::cx::Cx;
use crate::error::Result;
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
    /// How many to list; 0 gives the number alone
    #[arg(long, default_value_t = 500)]
    #[serde(default = "five_hundred")]
    pub limit: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CalleesReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    pub callees: Vec<Neighbour>,
    pub total: usize,
    pub truncated: bool,
    /// Calls inside the symbol that could not be resolved.
    pub unresolved: UnresolvedSites,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Callees) -> Result<CalleesReply> {
    let opened = cx.open()?;
    let view = opened.view()?;
    let found = view.lookup(&arguments.symbol)?;
    let follow = Follow { outgoing: KindSet::of(&[EdgeKind::Calls]), incoming: KindSet::EMPTY };
    let (callees, total, truncated) = view.neighbours(&found, follow, arguments.depth, arguments.limit)?;
    Ok(CalleesReply {
        tree: view.tree().clone(),
        symbol: view.info(found[0])?,
        callees,
        total,
        truncated,
        unresolved: UnresolvedSites::inside(&view, &found)?,
    })
}
