//! Whether what is stored is what was written: every hash recomputed, every image compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use knowing_graph::NodeIndex;
use knowing_index::Source;
use knowing_store::{Finding, Remakable, Severity, SnapshotRow, Store};
use knowing_vcs::BlobId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::SCHEMA;
use crate::cx::{Cx, Target};
use crate::error::Result;
use crate::page::{Page, paged};
use crate::place::Place;

/// Check the database: every hash, every reference between rows, every image
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing fsck
  knowing fsck --quick               pages and references alone
  knowing fsck --repair              make anew what can be made: images, facts, term vectors, history

Exit codes: 0 clean, or with warnings alone; 1 errors were found; 2 it could not be checked.")]
pub struct Fsck {
    /// Check pages and references between rows alone
    #[arg(long, conflicts_with = "repair")]
    #[serde(default)]
    pub quick: bool,
    /// Make anew what is damaged: images from the database, the rest from git
    #[arg(long)]
    #[serde(skip)]
    pub repair: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FsckReply {
    /// Version of this JSON.
    pub schema: u32,
    /// `clean`, `warnings` or `damaged`.
    pub status: &'static str,
    pub database: String,
    pub errors: Vec<FsckFinding>,
    pub warnings: Vec<FsckFinding>,
    /// What is right and worth knowing: files that were left out, symbols without any edge.
    pub infos: Vec<FsckFinding>,
    pub total_errors: usize,
    pub total_warnings: usize,
    pub total_infos: usize,
    /// Images and rows that were made anew.
    pub repaired: usize,
    #[schemars(with = "BTreeMap<String, u64>")]
    pub counts: FsckCounts,
    #[serde(flatten)]
    pub page: Page,
}

paged!(FsckReply: errors, warnings, infos);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FsckFinding {
    /// `pages`, `ids`, `units`, `snapshots`, `chain`, `facts`, `terms`, `history`, `images`, `git`, `skipped` or `alone`.
    pub check: &'static str,
    pub message: String,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FsckCounts {
    pub repos: u64,
    pub snapshots: u64,
    pub files: u64,
    pub symbols: u64,
    pub units: u64,
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    pub images: u64,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Fsck) -> Result<FsckReply> {
    let mut pages = cx.pages("fsck", arguments, 1_000)?;
    let (mut store, target) = cx.open_database()?;
    let checked = if arguments.quick { store.check_pages()? } else { store.check()? };
    let mut findings = checked.findings;
    let mut counts = FsckCounts {
        repos: checked.repos,
        snapshots: checked.snapshots,
        files: checked.files,
        symbols: checked.symbols,
        units: checked.units,
        nodes: checked.nodes,
        edges: checked.edges,
        unresolved: checked.unresolved,
        images: 0,
    };
    let mut repaired = 0;
    let is_sound = findings.iter().all(|it| it.severity != Severity::Error);
    // Images follow from rows: they say nothing of rows that are damaged.
    if !arguments.quick && is_sound {
        if arguments.repair && !checked.remakable.is_empty() {
            repaired += remake(&mut store, &target, &checked.remakable)?;
        }
        for repo in store.repos()? {
            for snapshot in store.snapshots(repo.id)? {
                let images = Images { store: &store, snapshot: &snapshot, repair: arguments.repair };
                images.check(&mut counts.images, &mut repaired, &mut findings)?;
            }
        }
        if let Some(place) = &target.place {
            missing_blobs(&store, place, &mut findings)?;
        }
        for head in store.heads()? {
            if let Some(snapshot) = store.snapshot(head)? {
                worth_knowing(&store, &snapshot, &mut findings)?;
            }
        }
    }
    let mut listed = |severity: Severity| {
        let all: Vec<&Finding> = findings.iter().filter(|it| it.severity == severity).collect();
        let n_all = all.len();
        let told = |it: &Finding| FsckFinding { check: it.check, message: it.message.clone() };
        (pages.of(all).into_iter().map(told).collect::<Vec<_>>(), n_all)
    };
    let (errors, total_errors) = listed(Severity::Error);
    let (warnings, total_warnings) = listed(Severity::Warning);
    let (infos, total_infos) = listed(Severity::Info);
    let mut reply = FsckReply {
        schema: SCHEMA,
        status: match (total_errors, total_warnings) {
            (0, 0) => "clean",
            (0, _) => "warnings",
            _ => "damaged",
        },
        database: store.path().display().to_string(),
        errors,
        warnings,
        infos,
        total_errors,
        total_warnings,
        total_infos,
        repaired,
        counts,
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

fn warning(check: &'static str, message: String) -> Finding {
    Finding { severity: Severity::Warning, check, message }
}

/// Makes again what git can tell, where the repository is at hand.
fn remake(store: &mut Store, target: &Target, damaged: &Remakable) -> Result<usize> {
    let _rows = store.keep_rows()?;
    match &target.place {
        Some(Place::Git(checkout)) => match checkout.head()?.commit {
            Some(commit) => Ok(knowing_index::remake(store, Source::Commit { checkout, commit }, damaged)?),
            None => Ok(0),
        },
        Some(Place::Directory(directory)) => {
            Ok(knowing_index::remake(store, Source::Directory(directory), damaged)?)
        }
        None => Ok(0),
    }
}

/// What is right, and a person may want to know of the tree they stand on.
fn worth_knowing(store: &Store, snapshot: &SnapshotRow, findings: &mut Vec<Finding>) -> Result<()> {
    let info = |check, message| Finding { severity: Severity::Info, check, message };
    let mut skipped: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for file in store.reader(snapshot)?.files()? {
        if let Some(reason) = file.skip_reason {
            skipped.entry(reason).or_insert((0, file.path)).0 += 1;
        }
    }
    let tree = crate::cx::tree_name(snapshot);
    for (reason, (n_files, path)) in skipped {
        let message = format!("{tree}: {n_files} files were left out ({reason}), such as `{path}`");
        findings.push(info("skipped", message));
    }
    let Some(graph) = knowing_index::find_graph(store, snapshot) else { return Ok(()) };
    let is_alone = |it: &NodeIndex| graph.outgoing(*it).is_empty() && graph.incoming(*it).is_empty();
    let alone: Vec<NodeIndex> = graph.indices().filter(is_alone).collect();
    if let Some(first) = alone.first() {
        let name = store.reader(snapshot)?.symbol(graph.node(*first).sym)?.symbol.qualified_name();
        let message = format!("{tree}: {} symbols have no edge, such as `{name}`", alone.len());
        findings.push(info("alone", message));
    }
    Ok(())
}

/// The images of a snapshot. Those that are not there are nothing to warn of: they are built when they are asked for.
struct Images<'a> {
    store: &'a Store,
    snapshot: &'a SnapshotRow,
    repair: bool,
}

impl Images<'_> {
    fn check(&self, n_images: &mut u64, n_repaired: &mut usize, findings: &mut Vec<Finding>) -> Result<()> {
        for kind in ["graph", "names", "search"] {
            let path = self.path(kind);
            if !path.exists() {
                continue;
            }
            *n_images += 1;
            let fits = match kind {
                "graph" => self.graph_fits()?,
                "names" => knowing_index::find_names(self.store, self.snapshot).is_some(),
                _ => knowing_index::find_search(self.store, self.snapshot)?.is_some(),
            };
            if fits {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if self.repair {
                self.build(kind, &path)?;
                *n_repaired += 1;
                findings.push(warning("images", format!("{name} was damaged and is built anew")));
            } else {
                let message = format!(
                    "{name} is not what the database says, or of another version; build it anew with `--repair`"
                );
                findings.push(warning("images", message));
            }
        }
        self.check_keys(n_images, n_repaired, findings)
    }

    fn build(&self, kind: &str, path: &Path) -> Result<()> {
        // A graph may be whole and yet not of these rows.
        let _ = fs::remove_file(path);
        match kind {
            "graph" => knowing_index::open_graph(self.store, self.snapshot).map(drop)?,
            "names" => knowing_index::open_names(self.store, self.snapshot).map(drop)?,
            _ => knowing_index::open_search(self.store, self.snapshot).map(drop)?,
        }
        Ok(())
    }

    /// What the next index run builds on.
    fn check_keys(
        &self,
        n_images: &mut u64,
        n_repaired: &mut usize,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let Some(fits) = knowing_index::keys_fit(self.store, self.snapshot)? else { return Ok(()) };
        *n_images += 1;
        let name = format!("{}.keys", self.snapshot.id);
        if fits {
            return Ok(());
        }
        if self.repair && knowing_index::drop_keys(self.store, self.snapshot) {
            *n_repaired += 1;
            let message = format!("{name} was damaged and is removed; the next index run resolves all files");
            findings.push(warning("images", message));
        } else {
            let message = format!(
                "{name} is not what the database says, or of another version; remove it with `--repair`"
            );
            findings.push(warning("images", message));
        }
        Ok(())
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.store.images_dir().join(format!("{}.{kind}", self.snapshot.id))
    }

    /// Whether the graph holds the nodes and edges of the rows, and nothing else.
    fn graph_fits(&self) -> Result<bool> {
        let Some(graph) = knowing_index::find_graph(self.store, self.snapshot) else { return Ok(false) };
        let rows = self.store.reader(self.snapshot)?.graph_rows()?;
        if (graph.n_nodes(), graph.n_edges()) != (rows.nodes.len(), rows.edges.len()) {
            return Ok(false);
        }
        // By row of the symbol: searching for both ends of every edge would be half of all the work.
        let mut places: Vec<Option<NodeIndex>> = Vec::new();
        for at in graph.indices() {
            let sym = graph.node(at).sym as usize;
            places.resize(places.len().max(sym + 1), None);
            places[sym] = Some(at);
        }
        let place_of = |sym: u32| places.get(sym as usize).copied().flatten();
        let nodes_fit = rows.nodes.iter().all(|row| {
            place_of(row.sym).map(|at| graph.node(at)).is_some_and(|it| {
                (it.id(), it.node_row, it.kind(), it.flags()) == (row.id, row.node_row, row.kind, row.flags)
            })
        });
        let edges_fit = nodes_fit
            && rows.edges.iter().all(|row| {
                let (Some(source), Some(target)) = (place_of(row.source), place_of(row.target)) else {
                    return false;
                };
                graph.outgoing_of(source, row.kind).iter().any(|it| {
                    it.other() == target
                        && (it.provenance(), it.confidence_bp, it.edge_row)
                            == (row.provenance, row.confidence_bp, row.edge_row)
                })
            });
        Ok(edges_fit)
    }
}

/// How many missing contents are named.
const MAX_NAMED: usize = 10;

/// Contents of the current snapshot's files that git does not have (any more).
fn missing_blobs(store: &Store, place: &Place, findings: &mut Vec<Finding>) -> Result<()> {
    let Place::Git(checkout) = place else { return Ok(()) };
    let Some(worktree) = store.worktree(&place.key())? else { return Ok(()) };
    let Some(snapshot) = store.snapshot_at(worktree.head_snapshot)? else { return Ok(()) };
    // Of a work tree's own snapshot some contents are in no commit.
    if !snapshot.chained {
        return Ok(());
    }
    let objects = checkout.reader();
    let mut missing = BTreeSet::new();
    for file in store.reader(&snapshot)?.files()?.into_iter().filter(|it| it.skip_reason.is_none()) {
        let is_there = match BlobId::from_bytes(&file.blob) {
            Some(blob) => matches!(objects.blob_size(blob), Ok(Some(_))),
            None => false,
        };
        if !is_there {
            missing.insert(file.path);
        }
    }
    for path in missing.iter().take(MAX_NAMED) {
        findings.push(warning("git", format!("git does not have the content of `{path}` that was indexed")));
    }
    if missing.len() > MAX_NAMED {
        findings.push(warning("git", format!("... and of {} more files", missing.len() - MAX_NAMED)));
    }
    Ok(())
}
