//! What a change touches: who calls it, which tests reach it, who owns it, and how far it may go.

use std::collections::{BTreeMap, BTreeSet};

use knowing_graph::{KindSet, NodeIndex, Reach};
use knowing_model::{EdgeKind, NodeFlags, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::blast_radius::{Risk, leads_to, risk, uses_of_values};
use crate::cx::Cx;
use crate::diff::{Difference, Modified};
use crate::error::{Error, ErrorKind, Result};
use crate::page::{Page, paged};
use crate::place::Place;
use crate::semantic_diff::{SymbolChange, summary, symbols};
use crate::snapshot_diff::{Found, Side, compare, cut, notes};
use crate::unresolved::UnresolvedSites;
use crate::view::View;

/// What a change touches: callers, tests, owners, contracts, and how far it may reach
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing pr-impact main                 what this branch changes since it left main
  knowing pr-impact main topic --json
  knowing pr-impact v1.0 v2.0 --limit 20
  knowing pr-impact --files src/cart.py  all that these files declare, without a base

The change is what `head` has that the commit where it left `base` has not. Commits without a snapshot are indexed first.")]
pub struct PrImpact {
    /// The revision that the change starts from
    #[arg(required_unless_present = "files")]
    #[serde(default)]
    pub base: Option<String>,
    /// Where the change ends; default HEAD
    #[serde(default)]
    pub head: Option<String>,
    /// Changed files, when there is no base revision: everything in them counts as changed
    #[arg(long, value_delimiter = ',', value_name = "FILE,...", conflicts_with_all = ["base", "head"])]
    #[serde(default)]
    pub files: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PrImpactReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// Where the change left its base.
    pub old: Side,
    pub new: Side,
    /// `behavioural`, `runtime_drift`, `structural`, `metadata_only` or `none`; `unknown` when only files are named.
    pub change: &'static str,
    pub summary: String,
    pub risk: Risk,
    /// Symbols that the change may reach, tests apart.
    pub reached: usize,
    /// Calls that may mean a changed symbol and could not be resolved.
    pub n_unresolved: usize,
    pub symbols: Vec<ImpactedSymbol>,
    pub total: usize,
    #[serde(flatten)]
    pub page: Page,
    /// Changes of what others rely on: routes, schemas, remote procedures, exported signatures.
    pub contracts: Vec<String>,
    /// Tests that reach a changed symbol.
    pub tests: Vec<String>,
    pub n_tests: usize,
    /// Of the changed files.
    pub owners: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImpactedSymbol {
    #[serde(flatten)]
    pub symbol: SymbolChange,
    /// The first few that it calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// The first few tests of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tested_by: Vec<String>,
}

paged!(PrImpactReply: symbols, contracts, tests);

const MAX_CALLEES: usize = 3;
const MAX_TESTS: usize = 3;
const MAX_DEPTH: u32 = 5;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &PrImpact) -> Result<PrImpactReply> {
    let mut pages = cx.pages("pr_impact", arguments, 100)?;
    let head = arguments.head.as_deref().unwrap_or("HEAD");
    let sides = match (&arguments.base, arguments.files.is_empty()) {
        (Some(base), true) => (fork_point(cx, base, head)?, head),
        (None, false) => (LATEST.to_owned(), LATEST),
        (Some(_), false) => {
            let message = "both a base revision and files are given";
            return Err(Error::new(ErrorKind::Usage, message, "give one of them"));
        }
        (None, true) => {
            let message = "neither a base revision nor files are given";
            return Err(Error::new(
                ErrorKind::Usage,
                message,
                "say where the change starts with `base`, or name `files`",
            ));
        }
    };
    if !arguments.files.is_empty() {
        // As it is now: two names of one snapshot.
        cx.open()?;
    }
    let mut reply = compare(cx, &mut pages, (&sides.0, sides.1), &[], |found, pages| {
        let named = arguments.files.as_slice();
        let touched = (!named.is_empty()).then(|| touched(found.new, named)).transpose()?;
        let found = &Found {
            old: found.old,
            new: found.new,
            sides: found.sides.clone(),
            difference: touched.as_ref().unwrap_or(found.difference),
        };
        let changes = symbols(found)?;
        let reach = reach(found)?;
        let summary = match named.len() {
            0 => summary(found, &changes),
            n_files => format!("{} symbols in {n_files} files", changes.len()),
        };
        let total = changes.len();
        let contracts = contracts(&changes);
        let listed = pages.of(changes).into_iter().map(|it| impacted(found, it));
        Ok(PrImpactReply {
            tree: found.new.tree().clone(),
            old: found.sides.0.clone(),
            new: found.sides.1.clone(),
            change: if touched.is_some() { "unknown" } else { found.difference.class.name() },
            summary,
            risk: risk(reach.n_symbols, reach.n_unresolved),
            reached: reach.n_symbols,
            n_unresolved: reach.n_unresolved,
            symbols: listed.collect::<Result<_>>()?,
            total,
            page: Page::default(),
            contracts: pages.of(contracts),
            n_tests: reach.tests.len(),
            tests: pages.of(reach.tests),
            owners: owners(found)?,
            notes: notes(found.difference),
        })
    })?;
    pages.finish(&mut reply)?;
    Ok(reply)
}

const LATEST: &str = "@latest";

/// Everything that files declare, as if all of it said something else now.
fn touched(view: &View<'_>, files: &[String]) -> Result<Difference> {
    let names = view.names()?;
    let mut difference = Difference { has_bodies: true, ..Difference::default() };
    for typed in files {
        let path = typed.strip_prefix("./").unwrap_or(typed);
        let from_here = format!("{}{path}", view.prefix());
        let Some(file) = names.find_file(&from_here).or_else(|| names.find_file(path)) else {
            let message = format!("no file is called `{typed}`");
            let hint = "give paths of files in the repository, from its top or from here";
            return Err(Error::new(ErrorKind::NotFound, message, hint));
        };
        let nodes = names.in_file(file).iter().map(|&it| NodeIndex(it));
        let own = nodes.filter(|it| {
            let record = view.graph().node(*it);
            !record.is_virtual() && !matches!(record.kind(), NodeKind::File | NodeKind::Package)
        });
        let modified = |at| Modified { old: at, new: at, signature: false, doc: false, body: false };
        difference.modified.extend(own.map(modified));
    }
    Ok(difference)
}

/// The commit where the change left its base: what the base got since is no part of it.
pub(crate) fn fork_point(cx: &Cx<'_>, base: &str, head: &str) -> Result<String> {
    let place = cx.place()?;
    let Place::Git(checkout) = &place else {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("`{base}` names no commit: `{}` has no git repository", place.key()),
            "name a repository with `--repo`",
        ));
    };
    let (one, other) = (checkout.resolve(base)?, checkout.resolve(head)?);
    Ok(checkout.merge_base(one, other).unwrap_or(one).to_string())
}

#[derive(Default)]
struct Reached {
    n_symbols: usize,
    tests: Vec<String>,
    n_unresolved: usize,
}

/// What changed symbols reach as they are now, and removed ones as they were.
fn reach(found: &Found<'_>) -> Result<Reached> {
    let difference = found.difference;
    let now: Vec<NodeIndex> = (difference.modified.iter().map(|it| it.new))
        .chain(difference.moved.iter().map(|it| it.new))
        .chain(difference.added.iter().copied())
        .collect();
    let mut symbols: BTreeSet<String> = BTreeSet::new();
    let mut tests: BTreeSet<String> = BTreeSet::new();
    let mut names: BTreeMap<String, (bool, NodeIndex)> = BTreeMap::new();
    for (view, starts, is_new) in [(found.new, &now, true), (found.old, &difference.removed, false)] {
        let starts: Vec<NodeIndex> = starts
            .iter()
            .copied()
            .filter(|it| {
                let record = view.graph().node(*it);
                !record.is_virtual() && !matches!(record.kind(), NodeKind::File | NodeKind::Package)
            })
            .collect();
        let is_type = starts.iter().any(|it| view.graph().node(*it).kind().is_type_like());
        let like = if is_type { NodeKind::Class } else { NodeKind::Function };
        let options = Reach {
            follow: leads_to(like, KindSet::all()),
            of_values: uses_of_values(),
            max_depth: MAX_DEPTH,
            min_confidence_bp: 0,
            limit: usize::MAX,
        };
        let (reached, _) = knowing_graph::reach(view.graph(), &view.with_constructed(&starts), &options);
        for it in &reached {
            let record = view.graph().node(it.node);
            let is_test = record.kind() == NodeKind::Test || record.flags().contains(NodeFlags::TEST);
            let list = if is_test { &mut tests } else { &mut symbols };
            list.insert(view.qualified_name(it.node)?);
        }
        for at in starts {
            names.entry(view.info(at)?.name).or_insert((is_new, at));
        }
    }
    let mut n_unresolved = 0;
    for (is_new, at) in names.into_values() {
        let view = if is_new { found.new } else { found.old };
        n_unresolved += UnresolvedSites::of(view, &[at])?.count;
    }
    Ok(Reached { n_symbols: symbols.len(), tests: tests.into_iter().collect(), n_unresolved })
}

fn impacted(found: &Found<'_>, symbol: SymbolChange) -> Result<ImpactedSymbol> {
    let view = if symbol.change == "removed" { found.old } else { found.new };
    let at = knowing_model::Hash::from_hex(&symbol.symbol.id)
        .and_then(|it| view.graph().find(knowing_model::NodeId(it)));
    let Some(at) = at else { return Ok(ImpactedSymbol { symbol, calls: Vec::new(), tested_by: Vec::new() }) };
    let graph = view.graph();
    let calls = names(view, graph.outgoing_of(at, EdgeKind::Calls).iter().map(|it| it.other()))?;
    let tested_by = names(view, graph.incoming_of(at, EdgeKind::Tests).iter().map(|it| it.other()))?;
    Ok(ImpactedSymbol { symbol, calls: cut(calls, MAX_CALLEES), tested_by: cut(tested_by, MAX_TESTS) })
}

fn names(view: &View<'_>, nodes: impl Iterator<Item = NodeIndex>) -> Result<Vec<String>> {
    let mut names = nodes.map(|it| view.qualified_name(it)).collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// What others outside may rely on: that it comes is no break, that it goes or is another now may be.
fn contracts(changes: &[SymbolChange]) -> Vec<String> {
    let is_contract = |it: &&SymbolChange| match it.symbol.kind {
        "route_handler" | "endpoint" | "rpc" | "schema" | "table" | "topic" => true,
        _ => {
            it.symbol.flags.contains(&"exported")
                && !it.symbol.is_test()
                && (it.change == "removed" || it.signature_before.is_some())
        }
    };
    let line = |it: &SymbolChange| {
        let name = it.symbol.short_name();
        match &it.signature_before {
            Some(before) => format!("{} {name}: `{before}` is `{}`", it.change, it.symbol.signature),
            None => format!("{} {} {name}", it.change, it.symbol.kind),
        }
    };
    changes.iter().filter(is_contract).map(line).collect()
}

fn owners(found: &Found<'_>) -> Result<Vec<String>> {
    let view = found.new;
    let mut owners = BTreeSet::new();
    for it in &found.difference.modified {
        let graph = view.graph();
        let file = view.info(it.new)?.file;
        // Owners are those of the file, whatever in it changed.
        let files = file.map(|it| view.matches(&format!("{it}@file"))).transpose()?.unwrap_or_default();
        for at in files {
            for edge in graph.outgoing_of(at, EdgeKind::OwnedBy) {
                owners.insert(view.info(edge.other())?.name);
            }
        }
    }
    Ok(owners.into_iter().collect())
}
