//! What a run leaves behind: the root over all edges, the rows in one transaction, the graph image.

use std::collections::BTreeMap;

use knowing_extract::SkipReason;
use knowing_graph::{Graph, GraphInput};
use knowing_model::{ContainerClass, Edge, Hash, NodeId, RULESET, SnapshotId, Stage, identity, package_of};
use knowing_resolve::Resolution;
use knowing_snapshot::{EdgeLeaf, Roots, Tree};
use knowing_store::{
    Counts, FileState, GraphRows, NewFile, NewSnapshot, NewWorktree, SnapshotRow, Store, Written,
};
use rayon::prelude::*;

use crate::delta::{edge_input, node_input};
use crate::pipeline::{Files, Origin, ReadFile};
use crate::scan::{Scanned, Skipped, Source};
use crate::search::TERMS_RULESET;
use crate::{FileChanges, Report, Request, Result};

/// The roots of the Merkle tree over all edges: some packages at a time on each core, so that neither the ids of all edges
/// nor their leaves are ever in memory together. None when they are not wanted any more.
pub(crate) fn roots_of(resolution: &Resolution, is_wanted: &(dyn Fn() -> bool + Sync)) -> Option<Roots> {
    /// Enough edges to hash several side by side, few enough to stay near.
    const IN_A_TASK: usize = 4096;
    // Side by side they stay near while edges ask for them in any order.
    let ids: Vec<NodeId> = resolution.symbols.iter().map(|it| it.id).collect();
    let id = |symbol: u32| ids[symbol as usize];
    let runs = runs_of(resolution);
    let mut tasks: Vec<&[Run<'_>]> = Vec::new();
    let mut rest = runs.as_slice();
    while !rest.is_empty() {
        let mut n_edges = 0;
        let of_packages = rest.chunk_by(|one, other| one.package == other.package);
        let of_task = of_packages.take_while(|runs| {
            let is_open = n_edges < IN_A_TASK;
            n_edges += runs.iter().map(|it| it.edges.len()).sum::<usize>();
            is_open
        });
        let (task, after) = rest.split_at(of_task.map(<[Run<'_>]>::len).sum());
        tasks.push(task);
        rest = after;
    }
    let trees = tasks.par_iter().map(|runs| {
        let edges = || runs.iter().flat_map(|run| run.edges.iter().map(|it| (run.package, it)));
        let ids = identity::edge_ids(edges().map(|(_, it)| (id(it.source), id(it.target), it.kind)));
        let leaves = edges().zip(ids).map(|((package, edge), id)| EdgeLeaf {
            package,
            kind: edge.kind,
            id,
            provenance: edge.provenance,
            confidence_bp: edge.confidence_bp,
        });
        is_wanted().then(|| Tree::build(leaves).roots().packages)
    });
    let packages: Option<Vec<Vec<(String, Hash)>>> = trees.collect();
    Some(Roots::over(packages?.into_iter().flatten().collect()))
}

/// Edges of one unit that stand together and are of one package.
struct Run<'a> {
    package: &'a str,
    edges: &'a [Edge],
}

/// All of them, in byte order of the packages.
fn runs_of(resolution: &Resolution) -> Vec<Run<'_>> {
    let package = |edge: &Edge| {
        let source = &resolution.symbols[edge.source as usize];
        package_of(source.class, &source.container)
    };
    let is_same = |one: &Edge, other: &Edge| one.source == other.source || package(one) == package(other);
    let of_units = resolution.units.iter().flat_map(|it| it.edges.chunk_by(is_same));
    let mut runs: Vec<Run<'_>> = of_units.map(|edges| Run { package: package(&edges[0]), edges }).collect();
    runs.sort_by_key(|it| it.package);
    runs
}

/// What a run found, ready to be stored.
pub(crate) struct Found<'a> {
    /// The commit; of a place without git the digest of its files.
    pub(crate) commit: &'a [u8],
    /// Digest of what is not committed.
    pub(crate) dirty: Option<Hash>,
    pub(crate) files: &'a Files,
    pub(crate) skipped: &'a Skipped,
    pub(crate) resolution: &'a Resolution,
    /// Rows of units that stay as they are.
    pub(crate) kept_units: &'a [u32],
    pub(crate) roots: &'a Roots,
    pub(crate) counts: Counts,
}

/// Writes everything in one transaction.
pub(crate) fn write(store: &mut Store, request: &Request<'_>, found: &Found<'_>) -> Result<Written> {
    let rows = file_rows(found.files);
    // A tree without some of its files is no snapshot of the commit: it stands beside the chain, told apart by what it
    // holds.
    let is_whole =
        request.options.cover_all() && !found.skipped.contains_key(SkipReason::MissingObject.name());
    let (stage, dirty) = match (is_whole, found.dirty) {
        (true, None) => (Stage::Base, None),
        (true, Some(dirty)) => (Stage::Worktree, Some(dirty)),
        (false, _) => (Stage::Worktree, Some(digest(rows.iter().map(|it| (it.path, it.blob))))),
    };
    let place = request.place.filter(|_| request.source.moves_checkout());
    let worktree = place.map(|path| NewWorktree { path, branch: request.branch });
    let written = store.write_snapshot(&NewSnapshot {
        url: request.url,
        object_format: request.object_format.name(),
        commit: found.commit,
        stage,
        ruleset: RULESET,
        root: found.roots.root,
        dirty,
        package_roots: &found.roots.packages,
        worktree,
        files: &rows,
        symbols: &found.resolution.symbols,
        units: &found.resolution.units,
        kept_units: found.kept_units,
        counts: found.counts.clone(),
        created_at: request.now,
    })?;
    if !written.snapshot.chained
        && let Some(worktree) = worktree
    {
        store.set_worktree(worktree, &written.snapshot, request.now)?;
    }
    Ok(written)
}

/// What stands for the commit of a tree.
pub(crate) fn commit_of(request: &Request<'_>, scanned: &Scanned) -> Vec<u8> {
    match &request.source {
        Source::Commit { commit, .. } | Source::WorkTree { commit, .. } => commit.as_bytes().to_owned(),
        Source::Directory(_) => {
            digest(scanned.files.iter().map(|it| (&*it.path, it.blob.as_bytes()))).0.to_vec()
        }
    }
}

/// `files` are (path, blob) in byte order of the paths.
fn digest<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Hash {
    identity::dirty_digest(files.map(|(path, blob)| (path, Some(blob))))
}

/// The first rows are those that units count from.
fn file_rows(files: &Files) -> Vec<NewFile<'_>> {
    let read = files.read.iter().map(|it| {
        let (state, terms, bytes) = match &it.origin {
            // Nothing else is looked at, and to look at the facts of thousands of files takes a while.
            Origin::Stored(row) => return stored(it, *row),
            Origin::Read { encoded, terms, bytes } => {
                (FileState::Encoded(encoded), Some((TERMS_RULESET, terms.as_slice())), *bytes)
            }
        };
        NewFile {
            id: it.id,
            path: &it.path,
            blob: it.blob.as_bytes(),
            package: package_of(ContainerClass::File, &it.path),
            language: &it.facts.language,
            flags: it.facts.flags,
            bytes,
            lines: it.facts.n_lines,
            state,
            terms,
        }
    });
    let skipped = files.skipped.iter().map(|it| NewFile {
        id: it.id,
        path: &it.path,
        blob: it.blob.as_bytes(),
        package: package_of(ContainerClass::File, &it.path),
        language: it.language,
        flags: knowing_model::NodeFlags::default(),
        bytes: 0,
        lines: 0,
        state: it.row.map_or(FileState::Skipped(&it.reason), FileState::Stored),
        terms: None,
    });
    read.chain(skipped).collect()
}

fn stored(file: &ReadFile, row: i64) -> NewFile<'_> {
    NewFile {
        id: file.id,
        path: &file.path,
        blob: file.blob.as_bytes(),
        package: "",
        language: file.language,
        flags: knowing_model::NodeFlags::default(),
        bytes: 0,
        lines: 0,
        state: FileState::Stored(row),
        terms: None,
    }
}

/// Of nodes, edges and unresolved sites, over all units.
pub(crate) fn counts_of(resolution: &Resolution) -> Counts {
    let mut is_node = vec![false; resolution.symbols.len()];
    let mut edges_by_provenance = Tally::default();
    let mut unresolved_by_reason = Tally::default();
    for unit in &resolution.units {
        unit.nodes.iter().for_each(|it| is_node[it.symbol as usize] = true);
        for edge in &unit.edges {
            is_node[edge.source as usize] = true;
            is_node[edge.target as usize] = true;
            edges_by_provenance.add(edge.provenance.id(), edge.provenance.name());
        }
        for site in &unit.unresolved {
            unresolved_by_reason.add(site.reason.id(), site.reason.name());
        }
    }
    Counts {
        nodes: is_node.into_iter().filter(|it| *it).count() as u64,
        edges: edges_by_provenance.total(),
        unresolved: unresolved_by_reason.total(),
        edges_by_provenance: edges_by_provenance.by_name(),
        unresolved_by_reason: unresolved_by_reason.by_name(),
        ..Counts::default()
    }
}

/// How often each of a few things with small ids was met.
#[derive(Default)]
struct Tally(Vec<(&'static str, u64)>);

impl Tally {
    fn add(&mut self, id: u8, name: &'static str) {
        let place = usize::from(id);
        if place >= self.0.len() {
            self.0.resize(place + 1, ("", 0));
        }
        self.0[place].0 = name;
        self.0[place].1 += 1;
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|it| it.1).sum()
    }

    fn by_name(&self) -> BTreeMap<String, u64> {
        let met = self.0.iter().filter(|it| it.1 > 0);
        met.map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }
}

pub(crate) fn image_path(store: &Store, snapshot: SnapshotId) -> std::path::PathBuf {
    store.images_dir().join(format!("{snapshot}.graph"))
}

/// What a snapshot says of itself, as a report of a run that made nothing.
pub(crate) fn report_of(snapshot: &SnapshotRow) -> Report {
    let counts = &snapshot.counts;
    Report {
        commit: snapshot.commit.clone(),
        snapshot: snapshot.id,
        root: snapshot.root,
        new_snapshot: false,
        files: counts.files,
        nodes: counts.nodes,
        edges: counts.edges,
        unresolved: counts.unresolved,
        changes: FileChanges::default(),
        n_resolved: 0,
        skipped: counts.skipped.clone(),
        edges_by_provenance: counts.edges_by_provenance.clone(),
        unresolved_by_reason: counts.unresolved_by_reason.clone(),
        partial: Vec::new(),
        phases: Vec::new(),
    }
}

/// Path and blob of the files that were read.
pub(crate) type FileList = BTreeMap<String, Vec<u8>>;

/// The snapshot that this checkout stands on.
pub(crate) fn snapshot_of_place(store: &Store, request: &Request<'_>) -> Result<Option<SnapshotRow>> {
    let Some(place) = request.place else { return Ok(None) };
    match store.worktree(place)? {
        Some(worktree) => Ok(store.snapshot_at(worktree.head_snapshot)?),
        None => Ok(None),
    }
}

pub(crate) fn files_of(store: &Store, snapshot: &SnapshotRow) -> Result<FileList> {
    let files = store.reader(snapshot)?.files()?;
    Ok(files.into_iter().filter(|it| it.skip_reason.is_none()).map(|it| (it.path, it.blob)).collect())
}

pub(crate) fn changes(before: &FileList, after: &FileList) -> FileChanges {
    let mut changes = FileChanges::default();
    for (path, blob) in after {
        match before.get(path) {
            None => changes.added += 1,
            Some(other) if other != blob => changes.changed += 1,
            Some(_) => {}
        }
    }
    changes.removed = before.keys().filter(|it| !after.contains_key(*it)).count() as u64;
    changes
}

/// Lets the checkout stand on a snapshot that is there already.
pub(crate) fn point_at(store: &mut Store, request: &Request<'_>, snapshot: &SnapshotRow) -> Result<()> {
    let Some(path) = request.place.filter(|_| request.source.moves_checkout()) else { return Ok(()) };
    let worktree = NewWorktree { path, branch: request.branch };
    Ok(store.set_worktree(worktree, snapshot, request.now)?)
}

/// The graph of a snapshot: its image, or one built anew when that is missing or damaged.
pub fn open_graph(store: &Store, snapshot: &SnapshotRow) -> Result<Graph> {
    match find_graph(store, snapshot) {
        Some(graph) => Ok(graph),
        None => build_graph(store, snapshot, &store.reader(snapshot)?.graph_rows()?),
    }
}

/// The image that is there, if it is whole.
pub fn find_graph(store: &Store, snapshot: &SnapshotRow) -> Option<Graph> {
    Graph::open(&image_path(store, snapshot.id), snapshot.id).ok()
}

/// Builds the image of a snapshot's rows and writes it.
pub(crate) fn build_graph(store: &Store, snapshot: &SnapshotRow, rows: &GraphRows) -> Result<Graph> {
    let input = GraphInput {
        nodes: rows.nodes.iter().map(node_input).collect(),
        edges: rows.edges.iter().map(edge_input).collect(),
        n_repeated: rows.n_repeated,
    };
    let graph = Graph::build(snapshot.id, &input)?;
    // A reader may not be allowed to write here; the graph serves all the same.
    let _ = graph.write(&image_path(store, snapshot.id));
    Ok(graph)
}
