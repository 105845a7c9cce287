//! What an agent may read without asking a question: what there is, how it is named, whether it is in order.
//!
//! These are views for agents' resources, not operations: they take no arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use knowing_graph::NodeIndex;
use knowing_model::{Change, EdgeKind, Layer, NodeFlags, NodeKind, Provenance, hex};
use knowing_store::{Store, WorktreeRow};
use knowing_vcs::CommitId;
use serde_json::{Value, json};

use crate::answer::SCHEMA;
use crate::clock::utc;
use crate::cx::{Cx, Opened};
use crate::error::Result;
use crate::fsck::{self, Fsck};
use crate::place::Place;
use crate::stats::{self, Stats};
use crate::view::View;

/// How many of each list.
const FEW: usize = 20;

/// A repository at a glance: languages, where it begins, what is called and changed most.
pub fn report(cx: &mut Cx<'_>) -> Result<Value> {
    let counts = stats::run(cx, &Stats {})?;
    let opened = cx.open()?;
    let view = opened.view()?;
    let graph = view.graph();
    let is_own = |at: &NodeIndex| !graph.node(*at).is_virtual();
    let calls = |at: NodeIndex| graph.incoming_of(at, EdgeKind::Calls).len();
    let entries: Vec<NodeIndex> = graph
        .indices()
        .filter(is_own)
        .filter(|at| {
            graph.node(*at).flags().contains(NodeFlags::ENTRY)
                || graph.node(*at).kind() == NodeKind::RouteHandler
        })
        .take(FEW)
        .collect();
    let mut called: Vec<NodeIndex> = graph.indices().filter(is_own).filter(|at| calls(*at) > 0).collect();
    called.sort_by_key(|at| (std::cmp::Reverse(calls(*at)), *at));
    called.truncate(FEW);
    let brief = |at: NodeIndex| brief(&view, at);
    let most_called: Result<Vec<Value>> = called
        .into_iter()
        .map(|at| {
            let mut it = brief(at)?;
            it["calls"] = json!(calls(at));
            Ok(it)
        })
        .collect();
    Ok(json!({
        "schema": SCHEMA,
        "repo": counts.tree.repo,
        "tree": counts.tree.tree,
        "snapshot": counts.tree.snapshot,
        "fresh": counts.tree.fresh,
        "commit": counts.commit,
        "indexed_at": utc(opened.snapshot.created_at),
        "files": counts.files,
        "nodes": counts.nodes,
        "edges": counts.edges,
        "unresolved": counts.unresolved,
        "languages": counts.files_by_language,
        "kinds": counts.nodes_by_kind,
        "entry_points": entries.into_iter().map(brief).collect::<Result<Vec<Value>>>()?,
        "most_called": most_called?,
        "most_changed": most_changed(&opened)?,
    }))
}

fn brief(view: &View<'_>, at: NodeIndex) -> Result<Value> {
    let info = view.info(at)?;
    let location = info.file.zip(info.line).map(|(file, line)| format!("{file}:{line}"));
    Ok(json!({ "symbol": info.qualified_name, "kind": info.kind, "location": location }))
}

/// Files by how many commits of the history that is kept touched them.
fn most_changed(opened: &Opened) -> Result<Vec<Value>> {
    let mut commits: BTreeMap<String, u32> = BTreeMap::new();
    for commit in knowing_index::commits(&opened.store, &opened.snapshot)? {
        for touch in commit.touches {
            *commits.entry(touch.path).or_default() += 1;
        }
    }
    let mut files: Vec<(String, u32)> = commits.into_iter().collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(files.into_iter().take(FEW).map(|(file, n)| json!({ "file": file, "commits": n })).collect())
}

/// Counts by kind, provenance and reason.
pub fn counts(cx: &mut Cx<'_>) -> Result<Value> {
    let counts = stats::run(cx, &Stats {})?;
    Ok(serde_json::to_value(counts).expect("counts have strings as keys"))
}

/// All repositories that are known here, with their checkouts and where each stands.
pub fn repos(cx: &mut Cx<'_>) -> Result<Value> {
    let mut repositories = Vec::new();
    for database in databases(cx)? {
        let Some(store) = Store::open_existing(&database)? else { continue };
        for repo in store.repos()? {
            let worktrees: Result<Vec<Value>> =
                store.worktrees(repo.id)?.iter().map(|it| worktree(&store, it)).collect();
            repositories.push(json!({
                "repo": repo.url,
                "database": database.display().to_string(),
                "worktrees": worktrees?,
            }));
        }
    }
    Ok(json!({ "schema": SCHEMA, "repositories": repositories }))
}

fn databases(cx: &Cx<'_>) -> Result<Vec<PathBuf>> {
    if let Some(given) = &cx.environment.database {
        return Ok(vec![given.clone()]);
    }
    let known = crate::Registry::read(&cx.environment.own_directory()?).repositories;
    let mut databases: Vec<PathBuf> = known.into_iter().map(|it| it.database).collect();
    databases.sort();
    databases.dedup();
    Ok(databases)
}

fn worktree(store: &Store, it: &WorktreeRow) -> Result<Value> {
    let snapshot = store.snapshot_at(it.head_snapshot)?;
    Ok(json!({
        "path": it.path,
        "branch": it.branch,
        "commit": hex(&it.head_commit),
        "snapshot": snapshot.as_ref().map(|it| it.id.to_string()),
        "indexed_at": snapshot.as_ref().map(|it| utc(it.created_at)),
        "fresh": freshness(it),
    }))
}

/// How HEAD of a checkout stands to what is stored; its files are not looked at.
fn freshness(it: &WorktreeRow) -> String {
    let Ok(place) = Place::at(Path::new(&it.path)) else { return "gone".to_owned() };
    match place.head() {
        Ok(Some(head)) if head.as_bytes() == it.head_commit => "yes".to_owned(),
        Ok(Some(head)) => {
            let stored = CommitId::from_bytes(&it.head_commit);
            let between = stored.and_then(|it| place.n_commits_between(it, head).ok().flatten());
            between.map_or("unindexed".to_owned(), |n| format!("behind({n})"))
        }
        Ok(None) => "unknown".to_owned(),
        Err(_) => "gone".to_owned(),
    }
}

/// Whether what is stored can be relied on: `healthy`, `stale`, `partial` or `corrupt`.
pub fn index_health(cx: &mut Cx<'_>) -> Result<Value> {
    let opened = cx.open_stored()?;
    let checked = fsck::run(cx, &Fsck { quick: true, repair: false })?;
    let is_whole = knowing_index::is_finished(&opened.store, &opened.snapshot)?;
    let status = match () {
        () if checked.total_errors > 0 => "corrupt",
        () if !is_whole => "partial",
        () if !opened.tree.is_fresh() => "stale",
        () => "healthy",
    };
    let snapshot = &opened.snapshot;
    Ok(json!({
        "schema": SCHEMA,
        "status": status,
        "repo": opened.tree.repo,
        "tree": opened.tree.tree,
        "snapshot": opened.tree.snapshot,
        "fresh": opened.tree.fresh,
        "indexed_at": utc(snapshot.created_at),
        "age_seconds": (cx.environment.now - snapshot.created_at).max(0),
        "files": snapshot.counts.files,
        "skipped": snapshot.counts.skipped,
        "unresolved": snapshot.counts.unresolved,
        "fsck": { "status": checked.status, "errors": checked.errors, "warnings": checked.total_warnings },
    }))
}

/// The words of all answers: kinds, provenance, names, hashes, and the arguments that every tool takes.
pub fn schema() -> Value {
    let edges: Vec<Value> = EdgeKind::ALL
        .iter()
        .map(|it| {
            let change = match it.change() {
                Change::Metadata => "metadata",
                Change::Structural => "structural",
                Change::Runtime => "runtime",
                Change::Behavioural => "behavioural",
            };
            let weight = it.weight_hundredths();
            json!({
                "id": it.id(), "name": it.name(), "category": it.category().name(), "weight": f64::from(weight) / 100.0,
                "change": change, "meaning": it.meaning(),
            })
        })
        .collect();
    let nodes: Vec<Value> = NodeKind::ALL
        .iter()
        .map(|it| json!({ "id": it.id(), "name": it.name(), "short": it.short_name() }))
        .collect();
    let share = |basis_points: u16| f64::from(basis_points) / 10_000.0;
    let provenance: Vec<Value> = Provenance::ALL
        .iter()
        .map(|it| {
            let layer = match it.layer() {
                Layer::Base => "base",
                Layer::Enriched => "enriched",
                Layer::Observed => "observed",
            };
            let (low, high) = it.confidences().into_inner();
            json!({
                "id": it.id(), "name": it.name(), "layer": layer, "from": it.producer(),
                "confidence": [share(low), share(high)], "usual": share(it.usual_confidence()),
            })
        })
        .collect();
    let pairs = |rows: &[(&str, &str)]| -> Value {
        rows.iter()
            .map(|(name, meaning)| ((*name).to_owned(), json!(meaning)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    json!({
        "schema": SCHEMA,
        "node_kinds": nodes,
        "edge_kinds": edges,
        "provenance": provenance,
        "names": pairs(NAMES),
        "hashes": pairs(HASHES),
        "common_arguments": pairs(COMMON),
    })
}

const NAMES: &[(&str, &str)] = &[
    ("qualified_name", "{repo}://{container}.{symbol path}; the container is a file, for Go a directory"),
    ("node id", "64 hex digits, or at least 8 of them"),
    ("place", "path:line or path:line:column, the innermost symbol around it"),
    (
        "suffix",
        "the end of container.symbol on borders of . / :: #; several matches are an error with candidates",
    ),
    ("kind", "any of them may end in @kind"),
];

const HASHES: &[(&str, &str)] = &[
    (
        "H(tag, f1 ... fn)",
        "SHA-256 of `knowing/` tag `/1`, a zero byte, then each field after its length as u32 little-endian",
    ),
    ("node", "H(\"node\", repo, class, container, symbol, kind)"),
    ("edge", "H(\"edge\", source, target, kind)"),
    ("leaf", "H(\"leaf\", edge, provenance name, u16 confidence)"),
    ("inner", "H(\"inner\", left, right)"),
    ("kind root", "H(\"kind\", kind, u64 leaf count, tree)"),
    ("package root", "H(\"package\", package, u64 kind count, tree)"),
    ("root", "H(\"root\", u64 package count, tree)"),
    ("snapshot", "H(\"snapshot\", url, commit, stage, u32 ruleset, root, dirty digest or empty)"),
];

const COMMON: &[(&str, &str)] = &[
    ("repo", "a path, a url or the end of one; default the repository of the working directory"),
    ("tree", "head, working, a revision or a snapshot"),
    ("stale", "refresh, warn, ignore or error: what to do when HEAD moved since it was indexed"),
];
