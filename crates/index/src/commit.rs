//! What a run leaves behind: the root over all edges, the rows in one transaction, the graph image.

use std::collections::BTreeMap;

use knowing_extract::SkipReason;
use knowing_graph::{EdgeInput, Graph, GraphInput, NodeInput};
use knowing_model::{ContainerClass, EdgeId, Hash, RULESET, Stage, identity, package_of};
use knowing_resolve::Resolution;
use knowing_snapshot::{EdgeLeaf, Tree};
use knowing_store::{Counts, FileState, GraphRows, NewFile, NewSnapshot, NewWorktree, SnapshotRow, Store};
use rayon::prelude::*;

use crate::pipeline::{Files, Origin};
use crate::scan::{Scanned, Skipped, Source};
use crate::search::TERMS_RULESET;
use crate::{FileChanges, Report, Request, Result};

/// The Merkle tree over all edges. Ids are hashed on all cores, which is most of the work.
pub(crate) fn tree_of(resolution: &Resolution) -> Tree {
    let symbols = &resolution.symbols;
    let edges: Vec<&knowing_model::Edge> = resolution.units.iter().flat_map(|it| &it.edges).collect();
    let ids: Vec<EdgeId> = edges
        .par_iter()
        .map(|it| identity::edge_id(symbols[it.source as usize].id, symbols[it.target as usize].id, it.kind))
        .collect();
    Tree::build(edges.iter().zip(ids).map(|(edge, id)| {
        let source = &symbols[edge.source as usize];
        EdgeLeaf {
            package: package_of(source.class, &source.container),
            kind: edge.kind,
            id,
            provenance: edge.provenance,
            confidence_bp: edge.confidence_bp,
        }
    }))
}

/// What a run found, ready to be stored.
pub(crate) struct Found<'a> {
    /// The commit; of a place without git the digest of its files.
    pub(crate) commit: &'a [u8],
    pub(crate) files: &'a Files,
    pub(crate) skipped: &'a Skipped,
    pub(crate) resolution: &'a Resolution,
    pub(crate) tree: &'a Tree,
}

/// Writes everything in one transaction. The rows are what the graph image needs, when nothing of it was stored before.
pub(crate) fn write(
    store: &mut Store,
    request: &Request<'_>,
    found: &Found<'_>,
) -> Result<(SnapshotRow, Option<GraphRows>)> {
    let rows = file_rows(found.files);
    // A tree without some of its files is no snapshot of the commit: it stands beside the chain, told apart by what it
    // holds.
    let is_whole =
        request.options.cover_all() && !found.skipped.contains_key(SkipReason::MissingObject.name());
    let (stage, dirty) = match is_whole {
        true => (Stage::Base, None),
        false => (Stage::Worktree, Some(digest(rows.iter().map(|it| (it.path, it.blob))))),
    };
    let worktree = request.place.map(|path| NewWorktree { path, branch: request.branch });
    let (snapshot, rows) = store.write_snapshot_and_rows(&NewSnapshot {
        url: request.url,
        object_format: request.object_format.name(),
        commit: found.commit,
        stage,
        ruleset: RULESET,
        root: found.tree.root,
        dirty,
        package_roots: &found.tree.package_roots(),
        worktree,
        files: &rows,
        symbols: &found.resolution.symbols,
        units: &found.resolution.units,
        counts: counts(found),
        created_at: request.now,
    })?;
    if !snapshot.chained
        && let Some(worktree) = worktree
    {
        store.set_worktree(worktree, &snapshot, request.now)?;
    }
    Ok((snapshot, rows))
}

/// What stands for the commit of a tree.
pub(crate) fn commit_of(request: &Request<'_>, scanned: &Scanned) -> Vec<u8> {
    match &request.source {
        Source::Commit { commit, .. } => commit.as_bytes().to_owned(),
        Source::Directory(_) => {
            digest(scanned.files.iter().map(|it| (it.path.as_str(), it.blob.as_bytes()))).0.to_vec()
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
            Origin::Stored(row) => (FileState::Stored(*row), None, 0),
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

fn counts(found: &Found<'_>) -> Counts {
    let Found { files, skipped, resolution, .. } = found;
    let mut is_node = vec![false; resolution.symbols.len()];
    let mut edges_by_provenance: BTreeMap<&str, u64> = BTreeMap::new();
    let mut unresolved_by_reason: BTreeMap<&str, u64> = BTreeMap::new();
    for unit in &resolution.units {
        unit.nodes.iter().for_each(|it| is_node[it.symbol as usize] = true);
        for edge in &unit.edges {
            is_node[edge.source as usize] = true;
            is_node[edge.target as usize] = true;
            *edges_by_provenance.entry(edge.provenance.name()).or_default() += 1;
        }
        for site in &unit.unresolved {
            *unresolved_by_reason.entry(site.reason.name()).or_default() += 1;
        }
    }
    Counts {
        files: files.read.len() as u64,
        nodes: is_node.into_iter().filter(|it| *it).count() as u64,
        edges: edges_by_provenance.values().sum(),
        unresolved: unresolved_by_reason.values().sum(),
        skipped: (*skipped).clone(),
        edges_by_provenance: owned(edges_by_provenance),
        unresolved_by_reason: owned(unresolved_by_reason),
    }
}

fn owned(counts: BTreeMap<&str, u64>) -> BTreeMap<String, u64> {
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

fn image_path(store: &Store, snapshot: &SnapshotRow) -> std::path::PathBuf {
    store.images_dir().join(format!("{}.graph", snapshot.id))
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
        skipped: counts.skipped.clone(),
        edges_by_provenance: counts.edges_by_provenance.clone(),
        unresolved_by_reason: counts.unresolved_by_reason.clone(),
        partial: Vec::new(),
        phases: Vec::new(),
    }
}

/// Path and blob of the files that were read.
pub(crate) type FileList = BTreeMap<String, Vec<u8>>;

/// Those of the previous snapshot of this checkout.
pub(crate) fn files_of_place(store: &Store, request: &Request<'_>) -> Result<FileList> {
    let Some(place) = request.place else { return Ok(FileList::new()) };
    match store.worktree(place)? {
        Some(worktree) => match store.snapshot_at(worktree.head_snapshot)? {
            Some(snapshot) => files_of(store, &snapshot),
            None => Ok(FileList::new()),
        },
        None => Ok(FileList::new()),
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
    let Some(path) = request.place else { return Ok(()) };
    let worktree = NewWorktree { path, branch: request.branch };
    Ok(store.set_worktree(worktree, snapshot, request.now)?)
}

/// The graph of a snapshot: its image, or one built anew when that is missing or damaged.
pub fn open_graph(store: &Store, snapshot: &SnapshotRow) -> Result<Graph> {
    let path = image_path(store, snapshot);
    if let Ok(graph) = Graph::open(&path, snapshot.id) {
        return Ok(graph);
    }
    write_graph(store, snapshot, &store.reader(snapshot)?.graph_rows()?)
}

/// Builds the image of a snapshot's rows and opens it.
pub(crate) fn write_graph(store: &Store, snapshot: &SnapshotRow, rows: &GraphRows) -> Result<Graph> {
    let path = image_path(store, snapshot);
    let input = GraphInput {
        nodes: rows
            .nodes
            .iter()
            .map(|it| NodeInput {
                id: it.id,
                sym: it.sym,
                node_row: it.node_row,
                kind: it.kind,
                flags: it.flags,
                name: &it.name,
            })
            .collect(),
        edges: rows
            .edges
            .iter()
            .map(|it| EdgeInput {
                source: it.source,
                target: it.target,
                kind: it.kind,
                provenance: it.provenance,
                confidence_bp: it.confidence_bp,
                edge_row: it.edge_row,
            })
            .collect(),
    };
    let graph = Graph::build(snapshot.id, &input)?;
    // A reader may not be allowed to write here; the graph serves all the same.
    let _ = graph.write(&path);
    Ok(graph)
}
