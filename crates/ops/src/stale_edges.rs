//! What of a snapshot is no longer so: files that differ now, and the edges that were seen in them.

use std::collections::BTreeSet;

use knowing_graph::NodeIndex;
use knowing_model::NodeKind;
use knowing_vcs::{ChangeKind, Changes, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Link, Tree};
use crate::cx::{Cx, Opened};
use crate::error::Result;
use crate::freshness::StalePolicy;
use crate::page::{Page, Pages, paged};
use crate::place::Place;
use crate::prove::latest;
use crate::view::{View, place_of};

/// Whether the index is behind: files that differ from a snapshot, and its edges that were seen in them
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(
    alias = "stale-edges",
    after_help = "\
Examples:
  knowing stale                      exit 1 when HEAD or files differ from what is indexed
  knowing stale v2.0 --limit 0       how much of an old snapshot is no longer so

Nothing is indexed by asking. Exit codes: 0 nothing differs; 1 something does."
)]
pub struct StaleEdges {
    /// The snapshot: `@latest`, `@prev`, `@N`, an id, or a git revision
    #[arg(default_value = "@latest")]
    #[serde(default = "latest")]
    pub snapshot: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StaleEdgesReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub is_stale: bool,
    /// Files that differ.
    pub files: Vec<StaleFile>,
    pub total_files: usize,
    /// Symbols that the snapshot has in them.
    pub symbols: usize,
    pub edges: Vec<Link>,
    pub total: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(StaleEdgesReply: files, edges);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StaleFile {
    pub file: String,
    /// `added`, `modified` or `removed` since the snapshot.
    pub change: &'static str,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &StaleEdges) -> Result<StaleEdgesReply> {
    let mut pages = cx.pages("stale_edges", arguments, 500)?;
    // To ask is not to mend.
    cx.stale = StalePolicy::Warn;
    let mut opened = pages.settle(cx.open_reference(&arguments.snapshot)?)?;
    opened.look_at_files()?;
    let files = differing(&opened)?;
    let view = opened.view()?;
    let listed_files = files[pages.range(files.len())].to_vec();
    let (symbols, edges, total) = edges_in(&view, &files, &mut pages)?;
    let mut reply = StaleEdgesReply {
        tree: view.tree().clone(),
        is_stale: !files.is_empty() || !view.tree().is_fresh(),
        total_files: files.len(),
        files: listed_files,
        symbols,
        edges,
        total,
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// Files that are not as the snapshot has them, by path.
fn differing(opened: &Opened) -> Result<Vec<StaleFile>> {
    let mut files: Vec<StaleFile> = opened
        .work
        .changes()
        .map(|it| StaleFile {
            file: it.path.clone(),
            change: match (&it.before, &it.after) {
                (None, _) => "added",
                (_, None) => "removed",
                _ => "modified",
            },
        })
        .collect();
    // Without a work tree, HEAD is what is current.
    if let Some(Place::Git(checkout)) = &opened.work.place
        && checkout.work_dir().is_none()
        && let (Some(from), Some(head)) =
            (knowing_vcs::CommitId::from_bytes(&opened.snapshot.commit), checkout.head()?.commit)
    {
        let wanted = Wanted { path: &|_| false, max_files: usize::MAX, max_bytes: 0 };
        if let Changes::Files(changes) = checkout.differ().changes_between(from, head, wanted)? {
            files.extend(changes.into_iter().map(|it| StaleFile {
                file: it.path,
                change: match it.kind {
                    ChangeKind::Added => "added",
                    ChangeKind::Deleted => "removed",
                    ChangeKind::Modified | ChangeKind::Renamed => "modified",
                },
            }));
        }
    }
    files.sort_by(|a, b| a.file.cmp(&b.file));
    files.dedup();
    Ok(files)
}

/// Symbols in the files, the page of their edges, and the number of all.
fn edges_in(view: &View<'_>, files: &[StaleFile], pages: &mut Pages) -> Result<(usize, Vec<Link>, usize)> {
    let (graph, names) = (view.graph(), view.names()?);
    let paths: BTreeSet<&str> = files.iter().map(|it| it.file.as_str()).collect();
    let rows: BTreeSet<i64> = view
        .reader()
        .files()?
        .into_iter()
        .filter(|it| paths.contains(it.path.as_str()))
        .map(|it| it.row)
        .collect();
    let mut stale: BTreeSet<u32> = BTreeSet::new();
    if !rows.is_empty() {
        view.reader().each_edge_place(|it| {
            if rows.contains(&it.file_row) {
                stale.insert(it.edge_row);
            }
        })?;
    }
    let is_symbol = |at: &NodeIndex| !matches!(graph.node(*at).kind(), NodeKind::File | NodeKind::Package);
    let in_files = paths.iter().filter_map(|it| names.find_file(it)).flat_map(|it| names.in_file(it));
    let symbols = in_files.filter(|it| is_symbol(&NodeIndex(**it))).count();
    let mut edges = Vec::new();
    for source in graph.indices().filter(|_| !stale.is_empty()) {
        let own = graph.outgoing(source).iter().filter(|it| stale.contains(&it.edge_row));
        edges.extend(own.map(|it| (source, it)));
    }
    edges.sort_by_cached_key(|(source, edge)| (place_of(names, *source), edge.kind(), edge.other()));
    let listed = &edges[pages.range(edges.len())];
    let links = listed.iter().map(|(source, edge)| view.link(*source, edge.other(), edge));
    Ok((symbols, links.collect::<Result<_>>()?, edges.len()))
}
