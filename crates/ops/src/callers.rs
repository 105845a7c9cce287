//! Who calls a symbol.

use std::collections::BTreeSet;

use knowing_graph::{Follow, KindSet, NodeIndex};
use knowing_model::EdgeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::blast_radius::uses_of_values;
use crate::cx::Cx;
use crate::error::Result;
use crate::page::{Page, Pages, paged};
use crate::unresolved::UnresolvedSites;
use crate::view::{View, place_of};

/// Who calls a symbol, directly or through others
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing callers Flask.run
  knowing callers src/app.py:120 --depth 3
  knowing callers 'parse@function' --json

A symbol is the end of its name (`run`, `Flask.run`, `app.py.Flask.run`), a whole qualified name, a node id, or \
a `path:line`. `@kind` at the end tells a field from a method.")]
pub struct Callers {
    /// Its name or the end of it, a node id or `path:line`
    pub symbol: String,
    /// How many calls away callers may be
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    #[serde(default = "one")]
    pub depth: u32,
}

pub(crate) fn one() -> u32 {
    1
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CallersReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    pub callers: Vec<Neighbour>,
    pub total: usize,
    /// How many symbols use it without calling it.
    pub n_users: usize,
    #[serde(flatten)]
    pub page: Page,
    /// Calls that may mean the symbol and could not be resolved.
    pub unresolved: UnresolvedSites,
}

paged!(CallersReply: callers);

/// Items of a list that was asked for without a limit.
pub(crate) const MAX_LISTED: usize = 500;

/// A symbol some calls away.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Neighbour {
    #[serde(flatten)]
    pub symbol: SymbolInfo,
    pub depth: u32,
    /// Product along the path, 0 to 1.
    pub confidence: f64,
    /// How the call nearest to this symbol is known.
    pub provenance: &'static str,
    /// The symbol one call nearer, when that is not the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
    /// Lines of the calls, in the file of the one that calls.
    pub sites: Vec<u32>,
    pub n_sites: u32,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Callers) -> Result<CallersReply> {
    let mut pages = cx.pages("callers", arguments, MAX_LISTED)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let found = view.lookup(&arguments.symbol)?;
    let follow = Follow { incoming: KindSet::of(&[EdgeKind::Calls]), outgoing: KindSet::EMPTY };
    let (callers, total) =
        view.neighbours(&view.with_constructed(&found), follow, arguments.depth, &mut pages)?;
    let mut reply = CallersReply {
        tree: view.tree().clone(),
        symbol: view.info(found[0])?,
        callers,
        total,
        n_users: view.n_users(&found),
        page: Page::default(),
        unresolved: UnresolvedSites::of(&view, &found)?,
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

impl View<'_> {
    /// How many symbols use one of these without calling it: they read or write it, name it, or have its type.
    fn n_users(&self, found: &[NodeIndex]) -> usize {
        let kinds = uses_of_values().union(KindSet::of(&[EdgeKind::TypeHintOf]));
        let of_kind = |at: &NodeIndex, is_meant: &dyn Fn(EdgeKind) -> bool| -> BTreeSet<NodeIndex> {
            let edges = self.graph().incoming(*at).iter().filter(|it| is_meant(it.kind()));
            edges.map(|it| it.other()).collect()
        };
        let users = found.iter().flat_map(|it| of_kind(it, &|kind| kinds.contains(kind)));
        let callers = found.iter().flat_map(|it| of_kind(it, &|kind| kind == EdgeKind::Calls));
        users.collect::<BTreeSet<_>>().difference(&callers.collect()).count()
    }

    /// Nodes along calls: those of a page, nearest first, and the number of all. Of those as near, own code by its
    /// place, then what lies outside.
    pub(crate) fn neighbours(
        &self,
        starts: &[NodeIndex],
        follow: Follow,
        depth: u32,
        pages: &mut Pages,
    ) -> Result<(Vec<Neighbour>, usize)> {
        let options = knowing_graph::Reach {
            follow,
            of_values: KindSet::EMPTY,
            max_depth: depth,
            min_confidence_bp: 0,
            limit: usize::MAX,
        };
        let (reached, _) = knowing_graph::reach(self.graph(), starts, &options);
        let mut order: Vec<usize> = (0..reached.len()).collect();
        let names = self.names()?;
        order.sort_by_cached_key(|&at| (reached[at].depth, place_of(names, reached[at].node)));
        let mut listed = Vec::new();
        for &at in &order[pages.range(reached.len())] {
            let it = &reached[at];
            let sites = self.sites(it.step.edge_row)?;
            let through = match it.step.before {
                Some(_) => Some(self.info(it.step.from)?.qualified_name),
                None => None,
            };
            listed.push(Neighbour {
                symbol: self.info(it.node)?,
                depth: it.depth,
                confidence: crate::answer::rounded(it.confidence),
                provenance: it.step.provenance.name(),
                through,
                n_sites: sites.n_sites,
                sites: sites.lines,
            });
        }
        Ok((listed, reached.len()))
    }
}
