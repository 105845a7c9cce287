//! The Tier 1 pipeline: from a repository to a stored snapshot.
//!
//! ```text
//! scan      what to read: a commit's tree, less what is skipped and why
//! partial   the snapshot of a commit of which some objects are not here
//! carried   what the next run of the same process does not have to read back
//! base      the snapshot before, and what was kept for this run: what it says of unchanged files is not made again
//! pipeline  the facts of every file, on all cores; known versions come from the store
//! resolve   (another crate) facts of all files to nodes, edges and unresolved sites; those that a change concerns
//! imaged    the snapshot whose images are in memory: the one before, or in a replay one before that
//! drift     what differs from it, unit by unit: roots and counts follow from that
//! delta     the images follow from that, too
//! commit    root hash, one transaction, then the graph image
//! writing   what is written beside the database
//! work      how the files on disk differ from a commit or a snapshot
//! anchors   where a line of a snapshot stands in the file on disk
//! history   what commits said of the declarations they touched
//! search    the search image: terms of files, history, names of neighbours; of the documents that changed, or of all
//! ```
//!
//! The work tree is never written, and for a commit not even read.

mod anchors;
mod base;
mod carried;
mod commit;
mod delta;
mod drift;
mod history;
mod history_text;
mod imaged;
mod images;
mod memory;
mod names;
mod partial;
mod pipeline;
mod progress;
mod remake;
mod results;
mod scan;
mod search;
mod search_changes;
mod touched;
mod work;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use knowing_extract::Rules;
use knowing_model::{Hash, RULESET, SnapshotId, UnitLayer};
use knowing_resolve::{Input, InputFile, Previous, Resolution, Tables};
use knowing_search::FileInput;
use knowing_store::{Counts, SnapshotRow, Store, Written, step};
use knowing_vcs::ObjectFormat;
use rayon::ThreadPool;

pub use anchors::{Anchored, Anchors};
pub use carried::Carried;
pub use commit::{find_graph, open_graph};
pub use names::{find_names, open_names};
pub use progress::{Phase, PhaseTime, Progress, Silent};
pub use remake::{drop_keys, keys_fit, remake};
pub use scan::{Skipped, Source};
pub use search::{find_search, open_search, search_base};
pub use work::{WorkChange, WorkChanges, WorkFiles};

use crate::base::{Base, GoneFile, Listed};
use crate::carried::{Last, Left};
use crate::commit::{FileList, Found};
use crate::delta::Images;
use crate::drift::{Drift, Step};
use crate::history::Past;
use crate::imaged::{Imaged, NewFiles};
use crate::pipeline::Files;
use crate::progress::Phases;
use crate::results::{FileUnits, Results};
use crate::scan::Scanned;
use crate::search_changes::{Debt, Since, Touched};
use crate::writing::Writing;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Vcs(#[from] knowing_vcs::Error),
    #[error(transparent)]
    Store(knowing_store::Error),
    #[error(transparent)]
    Graph(#[from] knowing_graph::Error),
    #[error(transparent)]
    Search(#[from] knowing_search::Error),
    #[error("`{pattern}` is no glob: {reason}")]
    Glob { pattern: String, reason: String },
    #[error("indexing takes longer than it was given")]
    TooLong,
    #[error("indexing was stopped")]
    Stopped,
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
    /// When to give up and leave everything as it is.
    pub deadline: Option<Instant>,
}

impl Options {
    pub(crate) fn rules(&self) -> Rules {
        Rules { vendored: self.vendored, ..Rules::default() }
    }

    /// An error when the time is over, or nobody waits any more.
    pub(crate) fn check_time(&self, progress: &dyn Progress) -> Result<()> {
        check_wanted(progress)?;
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Error::TooLong),
            _ => Ok(()),
        }
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
    /// Files that were resolved; the others kept their result from the snapshot that the run built on.
    pub n_resolved: u64,
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

impl From<knowing_store::Error> for Error {
    fn from(error: knowing_store::Error) -> Error {
        match error {
            knowing_store::Error::Stopped { .. } => Error::Stopped,
            error => Error::Store(error),
        }
    }
}

/// Looks whether someone still waits.
pub(crate) type Check<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// Makes the snapshot of a tree, or finds it.
pub fn index(store: &mut Store, request: &Request<'_>, progress: &dyn Progress) -> Result<Report> {
    let mut carried = Carried::default();
    let report = index_next(store, request, progress, &mut carried);
    carried.let_go();
    report
}

/// As `index`, for one run after the other: `carried` is what the one before left in memory.
pub fn index_next(
    store: &mut Store,
    request: &Request<'_>,
    progress: &dyn Progress,
    carried: &mut Carried,
) -> Result<Report> {
    let mut phases = Phases::new(progress);
    phases.begin(Phase::Scan, None);
    let before = commit::snapshot_of_place(store, request)?;
    // A commit names its content; a place without git has to be looked at first.
    let mut scanned = match request.source {
        Source::Commit { .. } => Scanned::default(),
        Source::WorkTree { .. } | Source::Directory(_) => scan::scan(request.source, request.options)?,
    };
    let dirty = work::dirty_digest(request, &scanned)?;
    // A working tree in which nothing differs is its commit.
    let request = &match (request.source, dirty) {
        (Source::WorkTree { checkout, commit }, None) => {
            Request { source: Source::Commit { checkout, commit }, ..*request }
        }
        _ => *request,
    };
    let commit = commit::commit_of(request, &scanned);
    if let Some(snapshot) = already_there(store, request, &commit, dirty)? {
        return settled(store, request, &snapshot, before.as_ref(), carried, phases);
    }
    let mut base = Base::find(store, request, carried)?;
    if let Source::Commit { checkout, commit } = request.source {
        scanned = match scan::scan_since(checkout, base.as_ref(), commit, request.options)? {
            Some(scanned) => scanned,
            None => scan::scan(request.source, request.options)?,
        };
        if let Some(snapshot) = partial::find(store, request, checkout, commit, &scanned)? {
            return settled(store, request, &snapshot, before.as_ref(), carried, phases);
        }
    }
    let pool = pool(request.options.workers)?;

    phases.begin(Phase::Extract, Some(scanned.files.len() as u64));
    let progress = phases.progress();
    let ignore = scanned.ignore.take();
    let plan = pipeline::plan(store, request, base.as_ref(), std::mem::take(&mut scanned.files))?;
    let files = pool.install(|| pipeline::read_all(plan, request, progress))?;
    phases.done_for(Phase::Search, files.terms_time);
    files.skipped.iter().for_each(|it| scanned.skip(&it.reason));

    phases.begin(Phase::Resolve, None);
    let same: Vec<Option<u32>> = files.read.iter().map(|it| it.same).collect();
    let gone = base.as_ref().and_then(|it| it.gone(store, &same));
    let is_wanted = || progress.is_wanted();
    let before_it = base.as_ref().zip(gone.as_deref());
    let mut tables = carried.take_tables(base.as_ref().map(|it| it.snapshot.id));
    let resolution = pool.install(|| resolve(request, &files, &same, before_it, &mut tables, &is_wanted));
    let resolution = resolution.ok_or(Error::Stopped)?;
    drop(gone);
    if resolution.kept.is_empty() {
        // Nothing stays as it was, or what is gone could not be read.
        base = None;
    }
    if base.is_none() {
        // Nothing is carried on from a first run: it needs the most memory as it is.
        tables = Tables::default();
    }

    request.options.check_time(progress)?;

    phases.begin(Phase::Hash, None);
    let kept_units = kept_units(base.as_ref(), &same, &resolution);
    let mut differs = None;
    let (roots, mut counts) = match &base {
        Some(base) => {
            let made = Step::new(store, base, &kept_units, &resolution)?;
            let (roots, counts) = (made.roots(store, base)?, made.counts(store, base, &resolution)?);
            differs = Some(made);
            (roots, counts)
        }
        None => {
            let roots = pool.install(|| commit::roots_of(&resolution, &is_wanted)).ok_or(Error::Stopped)?;
            (roots, commit::counts_of(&resolution))
        }
    };
    counts = Counts { files: files.read.len() as u64, skipped: scanned.skipped.clone(), ..counts };

    phases.begin(Phase::Store, None);
    let found = Found {
        commit: &commit,
        dirty,
        files: &files,
        skipped: &scanned.skipped,
        resolution: &resolution,
        kept_units: &kept_units,
        roots: &roots,
        counts,
    };
    request.options.check_time(progress)?;
    let written = commit::write(store, request, &found)?;

    phases.begin(Phase::Image, None);
    check_wanted(progress)?;
    let n_resolved = resolution.n_resolved;
    let results = results_of(base.as_ref(), &same, resolution, &written).map(Arc::new);
    let changes = match (&base, &before) {
        (Some(base), Some(before)) if base.snapshot.id == before.id => base.changes(&files.read),
        _ => {
            let after =
                files.read.iter().map(|it| (it.path.to_string(), it.blob.as_bytes().to_vec())).collect();
            commit::changes(&files_of_optional(store, before.as_ref())?, &after)
        }
    };
    let partial = partial_files(&files);
    // Images that are made anew come from what was stored; facts are the larger part of what a run needs.
    let is_much = files.read.iter().map(|it| it.facts.decls.len()).sum::<usize>() > memory::MUCH;
    let files = base.is_some().then_some(files);
    if files.is_none() && is_much {
        memory::give_back();
    }
    let built_on = base.as_ref().map(|it| it.snapshot.clone());
    let next = match (base, files.as_ref(), results.as_ref(), differs) {
        (Some(base), Some(files), Some(results), Some(step)) => {
            next_images(store, carried, (base, step), (files, results), &written)?
        }
        _ => None,
    };
    if next.is_none() {
        match &written.rows {
            Some(rows) => commit::build_graph(store, &written.snapshot, rows)?,
            None => open_graph(store, &written.snapshot)?,
        };
    }
    check_wanted(progress)?;
    let snapshot = written.snapshot.clone();
    let rows = files.as_ref().zip(written.files.as_ref());
    let listed = rows.map(|(files, rows)| Arc::new(Listed::of(files, rows)));
    // Rows of all nodes and edges among them: a tenth of the peak where search is made.
    drop(written);
    if files.is_none() && is_much {
        memory::give_back();
    }

    let told = match &next {
        Some(Next { told: Told::Now(debt), imaged, .. }) => Some((&**imaged, debt)),
        _ => None,
    };
    let is_later = matches!(&next, Some(Next { told: Told::Later(_), .. }));
    if is_later {
        memory::keep_large_blocks();
    }
    let writing = Writing::new(store, snapshot.id, next.as_ref().map(|it| &it.imaged), results.as_ref());
    std::thread::scope(|scope| {
        // What search needs is in memory, so that this can be written meanwhile.
        if !is_later {
            scope.spawn(|| writing.run());
        }
        pool.install(|| {
            let past = &mut carried.past;
            make_history(store, request, &snapshot, built_on.as_ref(), past, &mut phases)?;
            if is_later { Ok(()) } else { make_search(store, request, &snapshot, told, &mut phases) }
        })
    })?;
    let facts = files.map(|it| it.read.into_iter().map(|it| it.facts).collect());
    let lists_commit = matches!(request.source, Source::Commit { .. }) && request.options.cover_all();
    let (mut last, mut left) = (None, None);
    if let (Some(next), Some(results), Some(facts)) = (next, results, facts) {
        let Next { imaged, drift, told } = next;
        let drift = drift.into();
        last = Some(Last { results, imaged, drift, files: listed, facts, lists_commit, ignore });
        if let Told::Later(it) = told {
            left = Some(it);
        }
    }
    carried.keep(store, snapshot.clone(), last, tables, left);
    images::sweep(store, images::MAX_BYTES)?;
    step();

    let mut report = commit::report_of(&snapshot);
    report.new_snapshot = true;
    report.n_resolved = n_resolved as u64;
    report.changes = changes;
    report.partial = partial;
    report.phases = phases.finish();
    Ok(report)
}

/// The report of a run that makes nothing, because the snapshot is there; its images are made where they are missing.
fn settled(
    store: &mut Store,
    request: &Request<'_>,
    snapshot: &SnapshotRow,
    before: Option<&SnapshotRow>,
    carried: &mut Carried,
    mut phases: Phases<'_>,
) -> Result<Report> {
    carried.finish(store)?;
    commit::point_at(store, request, snapshot)?;
    open_graph(store, snapshot)?;
    make_history(store, request, snapshot, None, &mut carried.past, &mut phases)?;
    make_search(store, request, snapshot, None, &mut phases)?;
    let mut report = commit::report_of(snapshot);
    if before.is_none_or(|it| it.id != snapshot.id) {
        let files = commit::files_of(store, snapshot)?;
        report.changes = commit::changes(&files_of_optional(store, before)?, &files);
    }
    report.phases = phases.finish();
    Ok(report)
}

/// An error when nobody waits any more. Once the rows are written this alone ends a run: what is late is there.
fn check_wanted(progress: &dyn Progress) -> Result<()> {
    if progress.is_wanted() { Ok(()) } else { Err(Error::Stopped) }
}

/// Whether a run that made this snapshot came to its end: what search knows of history is stored after the rows.
pub fn is_finished(store: &Store, snapshot: &SnapshotRow) -> Result<bool> {
    Ok(store.history(snapshot, history::RULES)?.is_some())
}

/// The commits that search knows of, newest first.
pub fn commits(store: &Store, snapshot: &SnapshotRow) -> Result<Vec<knowing_store::MinedCommit>> {
    Ok(store.commits_of(snapshot, history::RULES)?)
}

fn files_of_optional(store: &Store, snapshot: Option<&SnapshotRow>) -> Result<FileList> {
    snapshot.map_or_else(|| Ok(FileList::new()), |it| commit::files_of(store, it))
}

fn resolve(
    request: &Request<'_>,
    files: &Files,
    same: &[Option<u32>],
    before: Option<(&Base, &[GoneFile<'_>])>,
    tables: &mut Tables,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Option<Resolution> {
    let inputs: Vec<InputFile<'_>> =
        files.read.iter().map(|it| InputFile { path: &it.path, facts: &it.facts }).collect();
    let input = Input { url: request.url, files: &inputs };
    let Some((base, gone)) = before else {
        return knowing_resolve::resolve_while(&input, None, tables, is_wanted);
    };
    let gone: Vec<InputFile<'_>> = gone.iter().map(|(path, facts)| InputFile { path, facts }).collect();
    let previous = Previous { record: &base.results.record, same, gone: &gone };
    knowing_resolve::resolve_while(&input, Some(&previous), tables, is_wanted)
}

/// Rows of the units that stay as they are, in ascending order.
fn kept_units(base: Option<&Base>, same: &[Option<u32>], resolution: &Resolution) -> Vec<u32> {
    let Some(base) = base else { return Vec::new() };
    let kept = resolution.kept.iter();
    let mut kept: Vec<u32> =
        kept.filter_map(|(file, layer)| Some(base.unit(same[*file as usize]?, *layer))).collect();
    kept.extend(resolution.keeps_packages.then_some(base.results.packages));
    kept.sort_unstable();
    kept
}

/// Images in memory, from which the next run goes on.
struct Next {
    imaged: Arc<Imaged>,
    drift: Drift,
    told: Told,
}

/// What the search image is to be told: now, or in the end of a replay.
enum Told {
    Now(Debt),
    Later(Left),
}

/// The images of the new snapshot, of those of the one before, or in a replay what they are made of some time. None when they
/// have to be built from all rows.
fn next_images(
    store: &Store,
    carried: &mut Carried,
    (base, step): (Base, Step),
    (files, results): (&Files, &Results),
    written: &Written,
) -> Result<Option<Next>> {
    let (Some(units), Some(file_rows)) = (&written.units, &written.files) else { return Ok(None) };
    let (snapshot, is_replay) = (&written.snapshot, carried.is_replay());
    let mut left = carried.take_left(base.snapshot.id);
    if base.imaged.graph.n_repeated() > 0 || step.repeats(&base) {
        return Ok(None);
    }
    let Base { imaged: before, drift, .. } = base;
    let mut drift = Arc::unwrap_or_clone(drift);
    drift.add(step, units);
    if !is_replay {
        let inputs =
            files.read.iter().zip(file_rows).map(|(it, row)| {
                (FileInput { id: it.id, path: &it.path, language: &it.facts.language }, *row)
            });
        let files = NewFiles::new(&before, inputs);
        let Some(images) = delta::images(store, (&before, &drift), snapshot, &files)? else {
            return Ok(None);
        };
        let touched = Touched::of(&Since { before: &before, files: &files, images: &images });
        let Images { graph, names, .. } = images;
        let imaged = Imaged::new(snapshot.clone(), results, graph, names).into();
        let told = Told::Now(Debt::new(&before, touched));
        return Ok(Some(Next { imaged, drift: Drift::default(), told }));
    }
    if !carried.is_far(&before, &drift) {
        return Ok(Some(Next { imaged: before, drift, told: Told::Later(left) }));
    }
    let images = carried::images_after(store, (&before, &drift), snapshot, results)?;
    Ok(images.map(|(imaged, touched)| {
        left.add(&before, touched);
        Next { imaged: imaged.into(), drift: Drift::default(), told: Told::Later(left) }
    }))
}

/// What the next run needs; none when the snapshot was there already.
fn results_of(
    base: Option<&Base>,
    same: &[Option<u32>],
    resolution: Resolution,
    written: &Written,
) -> Option<Results> {
    let (file_rows, unit_rows) = (written.files.as_ref()?, written.units.as_ref()?);
    let packages = base.filter(|_| resolution.keeps_packages).map_or(0, |it| it.results.packages);
    let mut results = Results { packages, record: resolution.record, ..Results::default() };
    for row in &file_rows[..same.len()] {
        results.files.push(FileUnits { file_row: u32::try_from(*row).ok()?, ..FileUnits::default() });
    }
    let new = resolution.units.iter().zip(unit_rows).map(|(unit, row)| (unit.file, unit.layer, *row));
    let kept = resolution
        .kept
        .iter()
        .filter_map(|(file, layer)| Some((Some(*file), *layer, base?.unit(same[*file as usize]?, *layer))));
    for (file, layer, row) in new.chain(kept) {
        match (file, layer) {
            (None, _) => results.packages = row,
            (Some(file), UnitLayer::Derived) => results.files[file as usize].derived = row,
            (Some(file), _) => results.files[file as usize].resolved = row,
        }
    }
    Some(results)
}

/// The snapshot that this run would make, when it is there.
fn already_there(
    store: &Store,
    request: &Request<'_>,
    commit: &[u8],
    dirty: Option<Hash>,
) -> Result<Option<SnapshotRow>> {
    if request.options.force || !request.options.cover_all() {
        return Ok(None);
    }
    let Some(repo) = store.repo(request.url)? else { return Ok(None) };
    Ok(match dirty {
        None => store.snapshot_of_commit(repo.id, commit, RULESET)?,
        Some(dirty) => store.snapshot_of_work_tree(repo.id, commit, RULESET, dirty)?,
    })
}

/// The history of the snapshot, which search reads; a place without git has none.
fn make_history(
    store: &mut Store,
    request: &Request<'_>,
    snapshot: &SnapshotRow,
    built_on: Option<&SnapshotRow>,
    past: &mut Past,
    phases: &mut Phases<'_>,
) -> Result<()> {
    phases.begin(Phase::History, None);
    if let Source::Commit { checkout, commit } | Source::WorkTree { checkout, commit } = request.source {
        let check = || check_wanted(phases.progress());
        history::mine(store, checkout, commit, snapshot, built_on, past, &check)?;
    }
    Ok(())
}

/// The search image, and the names where they are not in memory.
fn make_search(
    store: &mut Store,
    request: &Request<'_>,
    snapshot: &SnapshotRow,
    told: Option<(&Imaged, &Debt)>,
    phases: &mut Phases<'_>,
) -> Result<()> {
    phases.begin(Phase::Search, None);
    if told.is_none() {
        open_names(store, snapshot)?;
    }
    step();
    let check = || check_wanted(phases.progress());
    check()?;
    let is_made = match told {
        Some((imaged, debt)) => search::make_since(store, (snapshot, &imaged.graph, &imaged.names), debt)?,
        None => false,
    };
    if !is_made {
        search::make(store, snapshot, request.source, &check)?;
    }
    step();
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

fn partial_files(files: &Files) -> Vec<PartialFile> {
    files
        .read
        .iter()
        .filter_map(|it| {
            let partial = it.facts.partial.as_ref()?;
            Some(PartialFile { path: it.path.to_string(), reason: partial.reason.name(), line: partial.line })
        })
        .collect()
}

#[cfg(test)]
mod tests;
