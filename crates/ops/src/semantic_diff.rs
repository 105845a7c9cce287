//! What a change means: symbols with what they were and are, and who is concerned.

use std::collections::BTreeMap;

use knowing_graph::NodeIndex;
use knowing_model::{EdgeKind, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::cx::Cx;
use crate::error::Result;
use crate::page::{Page, paged};
use crate::prove::latest;
use crate::snapshot_diff::{DiffCounts, Found, Side, compare, cut, notes, prev};
use crate::view::View;

/// What a change means: symbols before and after, and who calls them
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing semantic-diff                  the snapshot before against the current one
  knowing semantic-diff main topic
  knowing semantic-diff HEAD~5 --packages src/app --json

Of added, removed, modified and moved symbols: signatures, callers that are concerned, calls that came and went.")]
pub struct SemanticDiff {
    /// The snapshot before
    #[arg(default_value = "@prev")]
    #[serde(default = "prev")]
    pub old: String,
    /// The snapshot after
    #[arg(default_value = "@latest")]
    #[serde(default = "latest")]
    pub new: String,
    /// Only these packages (directories), and what is below them
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    #[serde(default)]
    pub packages: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SemanticDiffReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub old: Side,
    pub new: Side,
    /// `behavioural`, `runtime_drift`, `structural`, `metadata_only` or `none`.
    pub change: &'static str,
    /// All of it in a sentence.
    pub summary: String,
    #[schemars(with = "BTreeMap<String, usize>")]
    pub counts: DiffCounts,
    pub symbols: Vec<SymbolChange>,
    pub total: usize,
    #[serde(flatten)]
    pub page: Page,
    /// What the user should know.
    pub notes: Vec<String>,
}

paged!(SemanticDiffReply: symbols);

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SymbolChange {
    /// `added`, `removed`, `modified` or `moved`.
    pub change: &'static str,
    /// As it is now; as it was, when it is gone.
    #[serde(flatten)]
    pub symbol: SymbolInfo,
    /// `signature`, `doc`, `body` of one that is modified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<&'static str>,
    /// Where one that moved was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Of one whose signature is another now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_before: Option<String>,
    /// Who calls it, of one that was there before.
    pub callers: usize,
    /// The first few of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub called_by: Vec<String>,
    /// What it calls now and did not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls_added: Vec<String>,
    /// What it called and does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls_removed: Vec<String>,
}

/// Names listed with a symbol.
const MAX_NAMES: usize = 5;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &SemanticDiff) -> Result<SemanticDiffReply> {
    let SemanticDiff { old, new, packages } = arguments;
    let mut pages = cx.pages("semantic_diff", arguments, 200)?;
    let mut reply = compare(cx, &mut pages, (old, new), packages, |found, pages| {
        let symbols = symbols(found)?;
        let total = symbols.len();
        Ok(SemanticDiffReply {
            tree: found.new.tree().clone(),
            old: found.sides.0.clone(),
            new: found.sides.1.clone(),
            change: found.difference.class.name(),
            summary: summary(found, &symbols),
            counts: found.difference.counts(),
            total,
            symbols: pages.of(symbols),
            page: Page::default(),
            notes: notes(found.difference),
        })
    })?;
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// Every symbol of the repository's own that differs. Files and packages count where their own lines do.
pub(crate) fn symbols(found: &Found<'_>) -> Result<Vec<SymbolChange>> {
    let Found { old, new, difference, .. } = *found;
    let calls = Calls::of(found)?;
    let mut listed = Vec::new();
    for (view, nodes, change) in [(new, &difference.added, "added"), (old, &difference.removed, "removed")] {
        for &at in nodes {
            let record = view.graph().node(at);
            if !record.is_virtual() && !matches!(record.kind(), NodeKind::File | NodeKind::Package) {
                listed.push(calls.symbol(view, at, change)?);
            }
        }
    }
    for it in &difference.modified {
        let mut change = calls.symbol(new, it.new, "modified")?;
        change.changed = it.parts();
        if it.signature {
            change.signature_before = Some(old.info(it.old)?.signature);
        }
        listed.push(change);
    }
    for it in &difference.moved {
        let mut change = calls.symbol(new, it.new, "moved")?;
        change.from = Some(old.qualified_name(it.old)?);
        listed.push(change);
    }
    listed.sort_by_cached_key(|it| (by_file(&it.symbol), it.change));
    Ok(listed)
}

/// In the order of files and lines, as a diff is read.
fn by_file(it: &SymbolInfo) -> impl Ord + use<> {
    (it.file.is_none(), it.file.clone(), it.line, it.qualified_name.clone(), it.kind, it.id.clone())
}

/// Calls that came and went, by the symbol that makes them.
struct Calls {
    added: BTreeMap<u32, Vec<String>>,
    removed: BTreeMap<u32, Vec<String>>,
}

impl Calls {
    fn of(found: &Found<'_>) -> Result<Calls> {
        let by_source = |view: &View<'_>, edges: &[knowing_store::OwnEdge]| -> Result<_> {
            let mut calls: BTreeMap<u32, Vec<String>> = BTreeMap::new();
            for edge in edges.iter().filter(|it| it.kind == EdgeKind::Calls) {
                let target = view.reader().symbol(edge.target)?.qualified_name();
                calls.entry(edge.source).or_default().push(target);
            }
            calls.values_mut().for_each(|it| it.sort());
            Ok(calls)
        };
        Ok(Calls {
            added: by_source(found.new, &found.difference.edges_added)?,
            removed: by_source(found.old, &found.difference.edges_removed)?,
        })
    }

    fn symbol(&self, view: &View<'_>, at: NodeIndex, change: &'static str) -> Result<SymbolChange> {
        let sym = view.graph().node(at).sym;
        let names = |calls: &BTreeMap<u32, Vec<String>>| {
            calls.get(&sym).map(|it| it.iter().take(MAX_NAMES).cloned().collect()).unwrap_or_default()
        };
        let callers = view.graph().incoming_of(at, EdgeKind::Calls);
        let mut called_by = Vec::new();
        for edge in callers {
            called_by.push(view.qualified_name(edge.other())?);
        }
        called_by.sort();
        Ok(SymbolChange {
            change,
            symbol: view.info(at)?,
            changed: Vec::new(),
            from: None,
            signature_before: None,
            callers: callers.len(),
            called_by: cut(called_by, MAX_NAMES),
            calls_added: if change == "added" { Vec::new() } else { names(&self.added) },
            calls_removed: if change == "removed" { Vec::new() } else { names(&self.removed) },
        })
    }
}

pub(crate) fn summary(found: &Found<'_>, symbols: &[SymbolChange]) -> String {
    let n_of = |change: &str| symbols.iter().filter(|it| it.change == change).count();
    let parts: Vec<String> = ["added", "removed", "modified", "moved"]
        .into_iter()
        .map(|it| (n_of(it), it))
        .filter(|it| it.0 > 0)
        .map(|(count, change)| format!("{count} {change}"))
        .collect();
    let counts = found.difference.counts();
    if parts.is_empty() && counts.edges_added + counts.edges_removed == 0 {
        return "nothing differs".to_owned();
    }
    let symbols_text = if parts.is_empty() { "no symbol differs".to_owned() } else { parts.join(", ") };
    let n_callers: usize =
        symbols.iter().filter(|it| matches!(it.change, "removed" | "modified")).map(|it| it.callers).sum();
    format!(
        "{symbols_text}; {} edges came, {} went; {n_callers} callers of changed or removed symbols",
        counts.edges_added, counts.edges_removed
    )
}
