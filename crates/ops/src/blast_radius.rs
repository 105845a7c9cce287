//! What a change of a symbol may break: everything that leads to it.

use knowing_graph::{Follow, KindSet, NodeIndex, Reach, Reached};
use knowing_model::{EdgeKind, NodeFlags, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree, rounded};
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::nearest::nearest;
use crate::page::{Page, Pages, paged};
use crate::unresolved::UnresolvedSites;
use crate::view::{View, place_of};

/// What a change of a symbol may break, by distance
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing blast-radius Session.get
  knowing blast-radius Session.get --depth 2 --no-tests
  knowing blast-radius Session --edge-kinds calls,references --json")]
pub struct BlastRadius {
    /// Its name or the end of it, a node id or `path:line`
    pub symbol: String,
    /// How many steps away an effect may be
    #[arg(long = "depth", alias = "max-depth", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    #[serde(default = "five", alias = "depth")]
    pub max_depth: u32,
    /// Only these kinds of edges
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
    /// Do not follow edges that are less sure than this, 0 to 1
    #[arg(long, default_value_t = 0.0)]
    #[serde(default)]
    pub min_confidence: f64,
    /// List tests too
    #[arg(long = "no-tests", action = clap::ArgAction::SetFalse, help = "Leave tests out")]
    #[serde(default = "yes")]
    pub include_tests: bool,
    /// Follow edges that were observed at run time too
    #[arg(long = "no-runtime", action = clap::ArgAction::SetFalse, help = "Do not follow edges that were observed at run time")]
    #[serde(default = "yes")]
    pub include_runtime: bool,
}

pub(crate) fn five() -> u32 {
    5
}

pub(crate) fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlastRadiusReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    pub risk: Risk,
    /// Symbols reached, tests not counted.
    pub total: usize,
    /// Tests reached.
    pub n_tests: usize,
    pub by_depth: Vec<AtDepth>,
    pub reached: Vec<Impact>,
    pub tests: Vec<Impact>,
    /// Routes and endpoints among what is reached.
    pub routes: Vec<String>,
    /// Topics and queues among what is reached.
    pub topics: Vec<String>,
    #[serde(flatten)]
    pub page: Page,
    /// Calls that may mean the symbol and could not be resolved.
    pub unresolved: UnresolvedSites,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AtDepth {
    pub depth: u32,
    pub symbols: usize,
    pub tests: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    Low,
    Medium,
    High,
}

impl Risk {
    pub fn name(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }
}

/// A symbol that may be affected.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Impact {
    #[serde(flatten)]
    pub symbol: SymbolInfo,
    pub depth: u32,
    /// Product along the path, 0 to 1.
    pub confidence: f64,
    /// A shortest path, from the symbol asked for to this one.
    pub path: Vec<PathStep>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PathStep {
    /// Where the step leads.
    pub symbol: String,
    pub kind: &'static str,
    pub provenance: &'static str,
    pub confidence: f64,
}

paged!(BlastRadiusReply: reached, tests, routes, topics);

/// Nodes that one answer holds at most.
pub(crate) const MAX_REACHED: usize = 5_000;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &BlastRadius) -> Result<BlastRadiusReply> {
    let only = edge_kinds(&arguments.edge_kinds)?;
    if !(0.0..=1.0).contains(&arguments.min_confidence) {
        let message = format!("`{}` is no confidence", arguments.min_confidence);
        return Err(Error::new(ErrorKind::Usage, message, "give a number from 0 to 1"));
    }
    let mut pages = cx.pages("blast_radius", arguments, MAX_REACHED)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let found = view.lookup(&arguments.symbol)?;
    let mut follow = leads_to(view.graph().node(found[0]).kind(), only);
    if arguments.include_runtime {
        follow.incoming = follow.incoming.union(observed().intersection(only));
    }
    let options = Reach {
        follow,
        of_values: uses_of_values().intersection(only),
        max_depth: arguments.max_depth,
        min_confidence_bp: (arguments.min_confidence * 10_000.0).round() as u16,
        limit: usize::MAX,
    };
    let (reached, _) = knowing_graph::reach(view.graph(), &view.with_constructed(&found), &options);
    let (mut tests, mut others): (Vec<&Reached>, Vec<&Reached>) =
        reached.iter().partition(|it| view.is_test(it.node));
    if !arguments.include_tests {
        tests.clear();
    }
    let of_kinds = |kinds: &[NodeKind]| -> Result<Vec<String>> {
        let found = others.iter().filter(|it| kinds.contains(&view.graph().node(it.node).kind()));
        let mut names = found.map(|it| view.qualified_name(it.node)).collect::<Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    let routes = of_kinds(&[NodeKind::RouteHandler, NodeKind::Endpoint])?;
    let topics = of_kinds(&[NodeKind::Topic])?;
    let by_depth = by_depth(&others, &tests);
    let (total, n_tests) = (others.len(), tests.len());
    let unresolved = UnresolvedSites::of(&view, &found)?;
    // Tests only fill what symbols leave of the answer.
    others.truncate(MAX_REACHED);
    tests.truncate(MAX_REACHED - others.len());
    let truncated = others.len() + tests.len() < total + n_tests;
    let mut reply = BlastRadiusReply {
        tree: view.tree().clone(),
        symbol: view.info(found[0])?,
        risk: risk(total, unresolved.count),
        total,
        n_tests,
        by_depth,
        reached: impacts(&view, &reached, others, &mut pages)?,
        tests: impacts(&view, &reached, tests, &mut pages)?,
        routes: pages.of(routes),
        topics: pages.of(topics),
        page: Page { truncated, next_cursor: None },
        unresolved,
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// What was seen at run time.
fn observed() -> KindSet {
    use EdgeKind::{RuntimeCalls, RuntimeConsumes, RuntimeRpc};
    KindSet::of(&[RuntimeCalls, RuntimeRpc, RuntimeConsumes])
}

impl View<'_> {
    pub(crate) fn is_test(&self, at: NodeIndex) -> bool {
        let record = self.graph().node(at);
        record.kind() == NodeKind::Test || record.flags().contains(NodeFlags::TEST)
    }
}

/// Edges along which an effect travels: against their direction, but for `overrides`, which carries it both ways.
pub(crate) fn leads_to(target: NodeKind, only: KindSet) -> Follow {
    use EdgeKind::{
        Calls, ConsumesEndpoint, ConsumesRpc, ExecutesProcess, Extends, HandlesRoute, Implements, Inherits,
        Overrides, References, TypeHintOf,
    };
    let mut incoming = vec![
        Calls,
        Overrides,
        Inherits,
        Implements,
        HandlesRoute,
        ConsumesEndpoint,
        ConsumesRpc,
        ExecutesProcess,
    ];
    if target.is_type_like() {
        incoming.extend([Extends, References, TypeHintOf]);
    }
    Follow {
        incoming: KindSet::of(&incoming).intersection(only),
        outgoing: KindSet::of(&[Overrides]).intersection(only),
    }
}

/// Who may notice that a value is another one, or is called otherwise.
pub(crate) fn uses_of_values() -> KindSet {
    KindSet::of(&[EdgeKind::References, EdgeKind::AccessesField])
}

/// `low` is a promise, so that it needs few effects and no call that might be one more.
pub(crate) fn risk(total: usize, unresolved: usize) -> Risk {
    match (total, unresolved) {
        (21.., _) => Risk::High,
        (0..=5, 0) => Risk::Low,
        _ => Risk::Medium,
    }
}

/// Those of a page, by depth, file and line.
pub(crate) fn impacts(
    view: &View<'_>,
    reached: &[Reached],
    mut listed: Vec<&Reached>,
    pages: &mut Pages,
) -> Result<Vec<Impact>> {
    let names = view.names()?;
    listed.sort_by_cached_key(|it| (it.depth, place_of(names, it.node)));
    listed[pages.range(listed.len())].iter().map(|it| impact(view, reached, it)).collect()
}

fn impact(view: &View<'_>, reached: &[Reached], it: &Reached) -> Result<Impact> {
    let mut path = Vec::with_capacity(it.depth as usize);
    let mut at = Some(it);
    while let Some(here) = at {
        path.push(PathStep {
            symbol: view.qualified_name(here.node)?,
            kind: here.step.kind.name(),
            provenance: here.step.provenance.name(),
            confidence: crate::answer::confidence(here.step.confidence_bp),
        });
        at = here.step.before.map(|before| &reached[before as usize]);
    }
    path.reverse();
    Ok(Impact { symbol: view.info(it.node)?, depth: it.depth, confidence: rounded(it.confidence), path })
}

fn by_depth(symbols: &[&Reached], tests: &[&Reached]) -> Vec<AtDepth> {
    let deepest = symbols.iter().chain(tests).map(|it| it.depth).max().unwrap_or(0);
    let count = |of: &[&Reached], depth: u32| of.iter().filter(|it| it.depth == depth).count();
    (1..=deepest)
        .map(|depth| AtDepth { depth, symbols: count(symbols, depth), tests: count(tests, depth) })
        .collect()
}

/// Kinds by their names; all of them when none is named.
pub(crate) fn edge_kinds(names: &[String]) -> Result<KindSet> {
    if names.is_empty() {
        return Ok(KindSet::all());
    }
    let mut kinds = Vec::new();
    for name in names {
        match EdgeKind::from_name(name.trim()) {
            Some(kind) => kinds.push(kind),
            None => {
                let known = EdgeKind::ALL.iter().map(|it| it.name());
                let near = nearest(name, known, 3).join("`, `");
                let hint = if near.is_empty() {
                    "kinds are `calls`, `imports`, `extends` and the like".to_owned()
                } else {
                    format!("did you mean `{near}`?")
                };
                return Err(Error::new(ErrorKind::Usage, format!("no edge kind is called `{name}`"), hint));
            }
        }
    }
    Ok(KindSet::of(&kinds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a2_low_risk_is_never_given_with_unresolved_sites() {
        assert_eq!(risk(0, 0), Risk::Low);
        assert_eq!(risk(5, 0), Risk::Low);
        assert_eq!(risk(0, 1), Risk::Medium);
        assert_eq!(risk(6, 0), Risk::Medium);
        assert_eq!(risk(20, 3), Risk::Medium);
        assert_eq!(risk(21, 0), Risk::High);
    }

    #[test]
    fn an_unknown_kind_names_its_neighbours() {
        let error = edge_kinds(&["call".to_owned()]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.hint.contains("`calls`"));
    }
}
