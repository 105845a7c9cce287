//! What differs between two snapshots, as sets.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use knowing_graph::NodeIndex;
use knowing_model::identity::edge_id;
use knowing_model::{EdgeId, NodeId, hex};
use knowing_store::OwnEdge;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree, confidence, rounded};
use crate::cx::{Cx, Opened};
use crate::diff::{Compared, Difference};
use crate::error::Result;
use crate::page::{Page, Pages, paged};
use crate::prove::latest;
use crate::view::{View, place_of};

/// What differs between two snapshots: symbols, edges and packages
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing diff                       the snapshot before against the current one
  knowing diff HEAD~3                three commits ago against now
  knowing diff v1.0 v2.0 --packages src/app
  knowing diff main topic --json

A snapshot is named by `@latest`, `@prev`, `@N`, `@first`, an id, or any git revision; a commit that has none is indexed \
first.")]
pub struct Diff {
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

pub(crate) fn prev() -> String {
    "@prev".to_owned()
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub old: Side,
    pub new: Side,
    /// `behavioural`, `runtime_drift`, `structural`, `metadata_only` or `none`.
    pub change: &'static str,
    #[schemars(with = "BTreeMap<String, usize>")]
    pub counts: DiffCounts,
    pub nodes_added: Vec<SymbolInfo>,
    pub nodes_removed: Vec<SymbolInfo>,
    pub nodes_modified: Vec<ModifiedNode>,
    pub nodes_moved: Vec<MovedNode>,
    pub edges_added: Vec<DiffEdge>,
    pub edges_removed: Vec<DiffEdge>,
    pub edges_changed: Vec<DiffEdge>,
    pub packages_added: Vec<String>,
    pub packages_removed: Vec<String>,
    pub packages_changed: Vec<String>,
    #[serde(flatten)]
    pub page: Page,
    /// What the user should know.
    pub notes: Vec<String>,
}

paged!(DiffReply:
    nodes_added, nodes_removed, nodes_modified, nodes_moved, edges_added, edges_removed, edges_changed,
    packages_added, packages_removed, packages_changed);

/// One of the two snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Side {
    pub snapshot: String,
    pub commit: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiffCounts {
    pub nodes_added: usize,
    pub nodes_removed: usize,
    pub nodes_modified: usize,
    pub nodes_moved: usize,
    pub edges_added: usize,
    pub edges_removed: usize,
    pub edges_changed: usize,
    pub packages_added: usize,
    pub packages_removed: usize,
    pub packages_changed: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModifiedNode {
    #[serde(flatten)]
    pub symbol: SymbolInfo,
    /// `signature`, `doc`, `body`.
    pub changed: Vec<&'static str>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MovedNode {
    pub from: SymbolInfo,
    pub to: SymbolInfo,
    /// Of the lines, 0 to 1.
    pub similarity: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiffEdge {
    pub id: String,
    pub source: String,
    pub target: String,
    pub kind: &'static str,
    pub provenance: &'static str,
    pub confidence: f64,
    /// Of one that is known otherwise now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<KnownAs>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KnownAs {
    pub provenance: &'static str,
    pub confidence: f64,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Diff) -> Result<DiffReply> {
    let Diff { old, new, packages } = arguments;
    let mut pages = cx.pages("snapshot_diff", arguments, 200)?;
    // Counts alone need no names.
    let names_wanted = cx.paging.limit != Some(0);
    let mut reply = compare(cx, &mut pages, (old, new), packages, |found, pages| {
        let Found { old, new, difference, .. } = found;
        let counts = difference.counts();
        let mut modified = Vec::new();
        for it in difference.modified.iter().filter(|_| names_wanted) {
            modified.push(ModifiedNode { symbol: new.info(it.new)?, changed: it.parts() });
        }
        modified.sort_by_cached_key(|it| by_name(&it.symbol));
        let mut moved = Vec::new();
        for it in difference.moved.iter().filter(|_| names_wanted) {
            let (from, to) = (old.info(it.old)?, new.info(it.new)?);
            moved.push(MovedNode { from, to, similarity: rounded(it.similarity) });
        }
        moved.sort_by_cached_key(|it| by_name(&it.to));
        let changed = difference.edges_changed.iter().map(|(before, after)| (after, Some(before)));
        let packages = &difference.packages;
        Ok(DiffReply {
            tree: new.tree().clone(),
            old: found.sides.0.clone(),
            new: found.sides.1.clone(),
            change: difference.class.name(),
            counts,
            nodes_added: infos(new, &difference.added, pages)?,
            nodes_removed: infos(old, &difference.removed, pages)?,
            nodes_modified: pages.of(modified),
            nodes_moved: pages.of(moved),
            edges_added: edges(
                new,
                difference.edges_added.iter().map(|it| (it, None)),
                pages.range(counts.edges_added),
            )?,
            edges_removed: edges(
                old,
                difference.edges_removed.iter().map(|it| (it, None)),
                pages.range(counts.edges_removed),
            )?,
            edges_changed: edges(new, changed, pages.range(counts.edges_changed))?,
            packages_added: pages.of(packages.added.clone()),
            packages_removed: pages.of(packages.removed.clone()),
            packages_changed: pages.of(packages.changed.clone()),
            page: Page { truncated: !names_wanted && counts != DiffCounts::default(), next_cursor: None },
            notes: notes(difference),
        })
    })?;
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// Two snapshots and what differs between them.
pub(crate) struct Found<'a> {
    pub(crate) old: &'a View<'a>,
    pub(crate) new: &'a View<'a>,
    pub(crate) sides: (Side, Side),
    pub(crate) difference: &'a Difference,
}

/// Opens two snapshots, compares them, and answers while both are open.
pub(crate) fn compare<T>(
    cx: &mut Cx<'_>,
    pages: &mut Pages,
    (old, new): (&str, &str),
    packages: &[String],
    answer: impl FnOnce(&Found<'_>, &mut Pages) -> Result<T>,
) -> Result<T> {
    // Naming a commit may index it: both are there before either is read.
    let (old, new) = (cx.open_reference(old)?, cx.open_reference(new)?);
    let (old, new) = (pages.settle(old)?, pages.settle(new)?);
    let place = cx.place().ok().or_else(|| cx.known_place(&new));
    let (before, after) = (old.view()?, new.view()?);
    let compared = Compared { old: &before, new: &after, place: place.as_ref(), packages };
    let difference = compared
        .difference(&old.store.package_roots(&old.snapshot)?, &new.store.package_roots(&new.snapshot)?)?;
    let sides = (side(&old), side(&new));
    answer(&Found { old: &before, new: &after, sides, difference: &difference }, pages)
}

fn side(opened: &Opened) -> Side {
    Side { snapshot: opened.snapshot.id.to_string(), commit: hex(&opened.snapshot.commit) }
}

impl Difference {
    pub(crate) fn counts(&self) -> DiffCounts {
        DiffCounts {
            nodes_added: self.added.len(),
            nodes_removed: self.removed.len(),
            nodes_modified: self.modified.len(),
            nodes_moved: self.moved.len(),
            edges_added: self.edges_added.len(),
            edges_removed: self.edges_removed.len(),
            edges_changed: self.edges_changed.len(),
            packages_added: self.packages.added.len(),
            packages_removed: self.packages.removed.len(),
            packages_changed: self.packages.changed.len(),
        }
    }
}

pub(crate) fn notes(difference: &Difference) -> Vec<String> {
    match difference.has_bodies {
        true => Vec::new(),
        false => vec![
            "the text of some versions is not here: bodies were compared by their length, and no moves were found"
                .to_owned(),
        ],
    }
}

/// Own code before what lies outside, by place.
fn infos(view: &View<'_>, nodes: &[NodeIndex], pages: &mut Pages) -> Result<Vec<SymbolInfo>> {
    let range = pages.range(nodes.len());
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let names = view.names()?;
    let mut nodes = nodes.to_vec();
    nodes.sort_by_cached_key(|it| place_of(names, *it));
    nodes[range].iter().map(|it| view.info(*it)).collect()
}

/// Own code before what lies outside, by name.
fn by_name(it: &SymbolInfo) -> impl Ord + use<> {
    (it.file.is_none(), it.qualified_name.clone(), it.kind, it.id.clone())
}

pub(crate) fn edges<'a>(
    view: &View<'_>,
    edges: impl Iterator<Item = (&'a OwnEdge, Option<&'a OwnEdge>)>,
    range: Range<usize>,
) -> Result<Vec<DiffEdge>> {
    if range.is_empty() {
        return Ok(Vec::new());
    }
    let mut ends: HashMap<u32, (NodeId, Arc<str>)> = HashMap::new();
    let mut end = |sym: u32| -> Result<(NodeId, Arc<str>)> {
        if let Some(known) = ends.get(&sym) {
            return Ok(known.clone());
        }
        let row = view.reader().symbol(sym)?;
        let known = (row.symbol.id, row.qualified_name().into());
        ends.insert(sym, known);
        Ok(ends[&sym].clone())
    };
    let mut listed = Vec::new();
    for (edge, before) in edges {
        let (source, target) = (end(edge.source)?, end(edge.target)?);
        listed.push((
            source.1,
            edge.kind.name(),
            target.1,
            edge_id(source.0, target.0, edge.kind),
            edge,
            before,
        ));
    }
    listed.sort_unstable_by(|a, b| (&a.0, a.1, &a.2, a.3).cmp(&(&b.0, b.1, &b.2, b.3)));
    let known =
        |it: &OwnEdge| KnownAs { provenance: it.provenance.name(), confidence: confidence(it.confidence_bp) };
    let edge = |(source, kind, target, id, edge, before): (
        Arc<str>,
        _,
        Arc<str>,
        EdgeId,
        &OwnEdge,
        Option<&OwnEdge>,
    )| {
        let KnownAs { provenance, confidence } = known(edge);
        DiffEdge {
            id: id.to_string(),
            source: source.to_string(),
            target: target.to_string(),
            kind,
            provenance,
            confidence,
            before: before.map(known),
        }
    };
    Ok(listed.drain(range).map(edge).collect())
}

/// The first few.
pub(crate) fn cut<T>(mut list: Vec<T>, most: usize) -> Vec<T> {
    list.truncate(most);
    list
}
