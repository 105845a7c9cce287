//! The Tier 1 pipeline: from a repository to a stored snapshot.
//!
//! ```text
//! scan      what to read: a commit's tree, less what is skipped and why
//! pipeline  the facts of every file, on all cores; known versions come from the store
//! resolve   (another crate) facts of all files to nodes, edges and unresolved sites
//! commit    root hash, one transaction, then the graph image
//! history   what commits said of the declarations they touched
//! search    the search image: terms of files, history, names of neighbours
//! ```
//!
//! The work tree is never written, and for a commit not even read.

mod commit;
mod history;
mod history_text;
mod images;
mod names;
mod pipeline;
mod progress;
mod scan;
mod search;
mod touched;

use std::collections::BTreeMap;

use knowing_extract::Rules;
use knowing_model::{Hash, RULESET, SnapshotId};
use knowing_store::{SnapshotRow, Store};
use knowing_vcs::ObjectFormat;
use rayon::ThreadPool;

pub use commit::open_graph;
pub use names::open_names;
pub use progress::{Phase, PhaseTime, Progress, Silent};
pub use scan::{Skipped, Source};
pub use search::open_search;

use crate::commit::Found;
use crate::progress::Phases;
use crate::scan::Scanned;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Vcs(#[from] knowing_vcs::Error),
    #[error(transparent)]
    Store(#[from] knowing_store::Error),
    #[error(transparent)]
    Graph(#[from] knowing_graph::Error),
    #[error(transparent)]
    Search(#[from] knowing_search::Error),
    #[error("`{pattern}` is no glob: {reason}")]
    Glob { pattern: String, reason: String },
    #[error("cannot start {n_workers} threads: {reason}")]
    Threads { n_workers: usize, reason: String },
}

pub type Result<T> = std::result::Result<T, Error>;

/// What to index, and for which checkout.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub source: Source<'a>,
    /// The repository's name.
    pub url: &'a str,
    pub object_format: ObjectFormat,
    /// What tells this checkout from others of the repository; none: no checkout is to stand on the snapshot.
    pub place: Option<&'a str>,
    pub branch: Option<&'a str>,
    pub options: &'a Options,
    /// Seconds since 1970.
    pub now: i64,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Threads; 0 is one for each core.
    pub workers: usize,
    /// Read vendored directories too.
    pub vendored: bool,
    /// Globs of what alone to read.
    pub include: Vec<String>,
    /// Globs of what not to read.
    pub exclude: Vec<String>,
    /// Read everything again, whatever is stored.
    pub force: bool,
}

impl Options {
    pub(crate) fn rules(&self) -> Rules {
        Rules { vendored: self.vendored, ..Rules::default() }
    }

    /// Whether a snapshot covers what the commit holds by the ordinary rules, so that it can stand for the commit.
    fn cover_all(&self) -> bool {
        !self.vendored && self.include.is_empty() && self.exclude.is_empty()
    }
}

/// What an index run did.
#[derive(Clone, Debug)]
pub struct Report {
    pub commit: Vec<u8>,
    pub snapshot: SnapshotId,
    pub root: Hash,
    /// False when the tree had a snapshot already.
    pub new_snapshot: bool,
    pub files: u64,
    /// Virtual ones that edges reach included.
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    /// Against the previous snapshot of this checkout.
    pub changes: FileChanges,
    pub skipped: Skipped,
    pub edges_by_provenance: BTreeMap<String, u64>,
    pub unresolved_by_reason: BTreeMap<String, u64>,
    /// Files of which something is missing, mostly for a syntax error; unknown when nothing was read.
    pub partial: Vec<PartialFile>,
    pub phases: Vec<PhaseTime>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileChanges {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartialFile {
    pub path: String,
    pub reason: &'static str,
    pub line: Option<u32>,
}

/// Makes the snapshot of a tree, or finds it.
pub fn index(store: &mut Store, request: &Request<'_>, progress: &dyn Progress) -> Result<Report> {
    let mut phases = Phases::new(progress);
    phases.begin(Phase::Scan, None);
    let before = commit::files_of_place(store, request)?;
    // A commit names its content; a place without git has to be looked at first.
    let mut scanned = match request.source {
        Source::Commit { .. } => Scanned::default(),
        Source::Directory(_) => scan::scan(request.source, request.options)?,
    };
    let commit = commit::commit_of(request, &scanned);
    if let Some(snapshot) = already_there(store, request, &commit)? {
        commit::point_at(store, request, &snapshot)?;
        open_graph(store, &snapshot)?;
        make_search(store, request, &snapshot, &mut phases)?;
        let mut report = commit::report_of(&snapshot);
        report.changes = commit::changes(&before, &commit::files_of(store, &snapshot)?);
        report.phases = phases.finish();
        return Ok(report);
    }
    if let Source::Commit { .. } = request.source {
        scanned = scan::scan(request.source, request.options)?;
    }
    let pool = pool(request.options.workers)?;

    phases.begin(Phase::Extract, Some(scanned.files.len() as u64));
    let progress = phases.progress();
    let plan = pipeline::plan(store, request, std::mem::take(&mut scanned.files))?;
    let files = pool.install(|| pipeline::read_all(plan, request, progress))?;
    files.skipped.iter().for_each(|it| scanned.skip(&it.reason));

    phases.begin(Phase::Resolve, None);
    let inputs: Vec<_> =
        files.read.iter().map(|it| knowing_resolve::InputFile { path: &it.path, facts: &it.facts }).collect();
    let input = knowing_resolve::Input { url: request.url, files: &inputs };
    let resolution = pool.install(|| knowing_resolve::resolve(&input));

    phases.begin(Phase::Hash, None);
    let tree = pool.install(|| commit::tree_of(&resolution));

    phases.begin(Phase::Store, None);
    let found = Found {
        commit: &commit,
        files: &files,
        skipped: &scanned.skipped,
        resolution: &resolution,
        tree: &tree,
    };
    let (written, rows) = commit::write(store, request, &found)?;
    let partial = partial_files(&files);
    // What follows is made from what was stored; facts and edges in memory are the larger part of what a run needs.
    drop((files, resolution, tree));

    phases.begin(Phase::Image, None);
    match rows {
        Some(rows) => commit::write_graph(store, &written, &rows)?,
        None => open_graph(store, &written)?,
    };

    pool.install(|| make_search(store, request, &written, &mut phases))?;
    images::sweep(store, images::MAX_BYTES)?;

    let mut report = commit::report_of(&written);
    report.new_snapshot = true;
    report.changes = commit::changes(&before, &commit::files_of(store, &written)?);
    report.partial = partial;
    report.phases = phases.finish();
    Ok(report)
}

/// The snapshot that this run would make, when it is there.
fn already_there(store: &Store, request: &Request<'_>, commit: &[u8]) -> Result<Option<SnapshotRow>> {
    if request.options.force || !request.options.cover_all() {
        return Ok(None);
    }
    let Some(repo) = store.repo(request.url)? else { return Ok(None) };
    Ok(store.snapshot_of_commit(repo.id, commit, RULESET)?)
}

/// What search reads: the history of the snapshot (a place without git has none), then the images.
fn make_search(
    store: &mut Store,
    request: &Request<'_>,
    snapshot: &SnapshotRow,
    phases: &mut Phases<'_>,
) -> Result<()> {
    phases.begin(Phase::History, None);
    if let Source::Commit { checkout, commit } = request.source {
        history::mine(store, checkout, commit, snapshot)?;
    }
    phases.begin(Phase::Search, None);
    open_names(store, snapshot)?;
    search::make(store, snapshot, request.source)?;
    Ok(())
}

fn pool(n_workers: usize) -> Result<ThreadPool> {
    // Deep expressions recurse; the main thread's usual 8 MiB is what grammars are tried with.
    rayon::ThreadPoolBuilder::new()
        .num_threads(n_workers)
        .stack_size(16 << 20)
        .thread_name(|number| format!("index-{number}"))
        .build()
        .map_err(|error| Error::Threads { n_workers, reason: error.to_string() })
}

fn partial_files(files: &pipeline::Files) -> Vec<PartialFile> {
    files
        .read
        .iter()
        .filter_map(|it| {
            let partial = it.facts.partial.as_ref()?;
            Some(PartialFile { path: it.path.clone(), reason: partial.reason.name(), line: partial.line })
        })
        .collect()
}

#[cfg(test)]
mod tests;
