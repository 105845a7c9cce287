//! Index a tree: read it, resolve it, store its snapshot.

use std::collections::BTreeMap;
use std::path::PathBuf;

use knowing_index::{Carried, Options, Report, Request, Source, WorkFiles};
use knowing_model::{SnapshotId, hex};
use knowing_store::{SnapshotRow, Store};
use knowing_vcs::{Checkout, CommitId, Note};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SCHEMA, Tree, rounded};
use crate::cx::{Cx, Opened, tree_name};
use crate::error::{Error, ErrorKind, Result};
use crate::freshness::{self, TreeChoice};
use crate::place::Place;
use crate::registry::Registry;
use crate::work_state::WorkState;

/// Index a repository: its symbols, and who calls, imports and extends whom
#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing index                          the repository around the working directory, at HEAD
  knowing index ~/src/flask
  knowing index --commit v2.0 --json     another commit; the work tree is not touched
  knowing index /srv/git/app.git         a bare repository
  knowing index --exclude 'docs/**'      leave files out
  knowing index --working-tree           what is not committed too, as a snapshot beside the others

Indexing a commit that is indexed already reads nothing. Nothing is ever written into the work tree.")]
pub struct IndexRepo {
    /// A checkout, bare repository or directory; default the working directory
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// The commit to index: any revision git understands
    #[arg(long, value_name = "REV")]
    #[serde(default)]
    pub commit: Option<String>,
    /// The files as they are, committed or not
    // On the command line it is an option of every command.
    #[arg(skip)]
    #[serde(default)]
    pub working_tree: bool,
    /// Threads; default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    #[serde(default)]
    pub workers: Option<u16>,
    /// What to call the repository, instead of its remote
    #[arg(long)]
    #[serde(default)]
    pub url: Option<String>,
    /// What to ask of other programs afterwards; only `auto` and `none`, which both ask nothing yet
    #[arg(long, value_name = "WHAT", hide = true)]
    #[serde(default)]
    pub enrich: Option<String>,
    /// Read vendored directories too (`vendor`, `node_modules`, `third_party` ...)
    #[arg(long)]
    #[serde(default)]
    pub vendored: bool,
    /// Read only files that fit one of these globs
    #[arg(long, value_name = "GLOB")]
    #[serde(default)]
    pub include: Vec<String>,
    /// Leave out files that fit one of these globs
    #[arg(long, value_name = "GLOB")]
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Read every file again, whatever is stored
    #[arg(long)]
    #[serde(default)]
    pub force: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IndexReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// The commit; of a directory without git the digest of its files.
    pub commit: String,
    /// Hash over all edges.
    pub root: String,
    /// False when the commit was indexed already.
    pub new_snapshot: bool,
    pub database: String,
    pub files: u64,
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    /// Against the previous snapshot of this tree.
    pub files_added: u64,
    pub files_changed: u64,
    pub files_removed: u64,
    /// Files that were not read, by reason.
    pub skipped: BTreeMap<String, u64>,
    pub edges_by_provenance: BTreeMap<String, u64>,
    pub unresolved_by_reason: BTreeMap<String, u64>,
    /// Files of which something is missing, mostly for a syntax error.
    pub partial_files: usize,
    /// The first few of them.
    pub partial: Vec<PartialReport>,
    /// What the user should know.
    pub notes: Vec<String>,
    pub phases: Vec<PhaseReport>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartialReport {
    pub file: String,
    pub reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseReport {
    pub name: &'static str,
    /// On the clock.
    pub ms: f64,
    /// Of all cores together.
    pub cpu_ms: f64,
}

/// How many partial files a report names.
const MAX_PARTIAL: usize = 10;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &IndexRepo) -> Result<IndexReply> {
    if let Some(enrich) = arguments.enrich.as_deref().filter(|it| !["auto", "none"].contains(it)) {
        let message = format!("`enrich` is `{enrich}`, and this version cannot enrich an index");
        return Err(Error::new(ErrorKind::Unsupported, message, "leave it out, or give `auto` or `none`"));
    }
    let path = match (&arguments.path, &cx.repo) {
        (Some(path), _) => cx.environment.working_directory.join(path),
        (None, Some(repo)) => cx.environment.working_directory.join(repo),
        (None, None) => cx.environment.working_directory.clone(),
    };
    let place = Place::at(&path)?;
    if !place.is_versioned() && arguments.path.is_none() && cx.repo.is_none() {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("`{}` is not inside a repository", path.display()),
            "name a directory to index it all the same: `knowing index .`",
        ));
    }
    let known = cx.registered(&place).map(|it| it.url);
    let remembered = known.as_deref().and_then(|it| place.remembered_url(it));
    let identity = place.identity(arguments.url.as_deref().or(remembered))?;
    let wanted = wanted(arguments, &cx.tree)?;
    let source = source(&place, wanted)?;
    let options = Options {
        workers: arguments.workers.map_or(0, usize::from),
        vendored: arguments.vendored,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        force: arguments.force,
        deadline: None,
    };
    let database = cx.environment.database_of(&identity.url)?;
    let mut store = cx.watched(Store::open(&database)?)?;
    let index = |store: &mut Store| index_place(cx, store, &place, &identity.url, source, &options);
    // What was asked for by name is what it is, whatever the files are.
    let (report, files) = match wanted {
        Wanted::Head => freshness::with_files(&place, || index(&mut store))?,
        Wanted::Working | Wanted::Commit(_) => (index(&mut store)?, None),
    };
    let mut notes: Vec<String> = identity.notes.iter().map(|it| note(*it).to_owned()).collect();
    notes.extend(register(cx, &identity.url, &database, &place));
    let tree = tree_of(store, identity.url, &report, files.as_ref())?;
    Ok(IndexReply {
        tree,
        commit: hex(&report.commit),
        root: report.root.to_string(),
        new_snapshot: report.new_snapshot,
        database: database.display().to_string(),
        files: report.files,
        nodes: report.nodes,
        edges: report.edges,
        unresolved: report.unresolved,
        files_added: report.changes.added,
        files_changed: report.changes.changed,
        files_removed: report.changes.removed,
        skipped: report.skipped,
        edges_by_provenance: report.edges_by_provenance,
        unresolved_by_reason: report.unresolved_by_reason,
        partial_files: report.partial.len(),
        partial: report
            .partial
            .into_iter()
            .take(MAX_PARTIAL)
            .map(|it| PartialReport { file: it.path, reason: it.reason, line: it.line })
            .collect(),
        notes,
        phases: report
            .phases
            .iter()
            .map(|it| PhaseReport { name: it.phase.name(), ms: rounded(it.ms), cpu_ms: rounded(it.cpu_ms) })
            .collect(),
    })
}

/// Indexes a place as what a checkout stands on from then on, and remembers where it is.
pub(crate) fn index_place(
    cx: &Cx<'_>,
    store: &mut Store,
    place: &Place,
    url: &str,
    source: Source<'_>,
    options: &Options,
) -> Result<Report> {
    let (key, identity) = (place.key(), place.identity(Some(url))?);
    let branch = match place {
        Place::Git(checkout) => checkout.head()?.branch,
        Place::Directory(_) => None,
    };
    let request = Request {
        source,
        url,
        object_format: identity.object_format,
        place: Some(&key),
        branch: branch.as_deref(),
        options,
        now: cx.environment.now,
    };
    let rows = store.keep_rows()?;
    let report = knowing_index::index(store, &request, cx.progress)?;
    drop(rows);
    crate::gc::after_index(cx, store);
    Ok(report)
}

/// A snapshot that an index run names.
pub(crate) fn made(store: &Store, id: SnapshotId) -> Result<SnapshotRow> {
    store.snapshot(id)?.ok_or_else(|| {
        let message = format!("the snapshot {id} was made and is not there");
        Error::new(ErrorKind::Corrupt, message, "index again with `knowing index --force`")
    })
}

pub(crate) fn no_commit(checkout: &Checkout) -> Error {
    let place = checkout.work_dir().unwrap_or(checkout.git_dir());
    Error::new(
        ErrorKind::BadInput,
        format!("`{}` has no commit yet", place.display()),
        "commit something, then run `knowing index` again",
    )
}

/// What was indexed, and how the files on disk stand to it.
fn tree_of(store: Store, url: String, report: &Report, files: Option<&WorkFiles<'_>>) -> Result<Tree> {
    let snapshot = made(&store, report.snapshot)?;
    let tree = Tree {
        schema: SCHEMA,
        repo: url,
        tree: tree_name(&snapshot),
        snapshot: snapshot.id.to_string(),
        fresh: "yes".to_owned(),
        ..Tree::default()
    };
    let mut opened = Opened { store, snapshot, tree, prefix: String::new(), work: WorkState::default() };
    opened.compare_files(files)?;
    Ok(opened.tree)
}

/// The snapshot of a commit, found or made. No checkout is said to stand on it.
pub(crate) fn snapshot_of(
    cx: &Cx<'_>,
    store: &mut Store,
    place: &Place,
    url: &str,
    commit: CommitId,
    carried: &mut Carried,
) -> Result<SnapshotRow> {
    let identity = place.identity(Some(url))?;
    let Place::Git(checkout) = place else {
        return Err(Error::new(
            ErrorKind::Usage,
            "a commit needs a git repository",
            "name one with `--repo`",
        ));
    };
    let request = Request {
        source: Source::Commit { checkout, commit },
        url,
        object_format: identity.object_format,
        place: None,
        branch: None,
        options: &Options::default(),
        now: cx.environment.now,
    };
    let _rows = store.keep_rows()?;
    let report = knowing_index::index_next(store, &request, cx.progress, carried)?;
    made(store, report.snapshot)
}

/// Which state of the repository to index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted<'a> {
    Head,
    Working,
    Commit(&'a str),
}

/// What the arguments say, and where they say nothing, what was said for every command.
fn wanted<'a>(arguments: &'a IndexRepo, tree: &'a TreeChoice) -> Result<Wanted<'a>> {
    let is_working = arguments.working_tree || *tree == TreeChoice::Working;
    match (&arguments.commit, tree) {
        (Some(revision), _) if is_working => Err(Error::new(
            ErrorKind::Usage,
            format!("the working tree is not the commit `{revision}`"),
            "leave out `--commit` or `--working-tree`",
        )),
        (Some(revision), _) | (None, TreeChoice::Reference(revision)) => Ok(Wanted::Commit(revision)),
        (None, _) if is_working => Ok(Wanted::Working),
        (None, _) => Ok(Wanted::Head),
    }
}

fn source<'a>(place: &'a Place, wanted: Wanted<'_>) -> Result<Source<'a>> {
    match (place, wanted) {
        (Place::Git(checkout), Wanted::Commit(revision)) => {
            Ok(Source::Commit { checkout, commit: checkout.resolve(revision)? })
        }
        (Place::Git(checkout), _) => {
            let Some(commit) = checkout.head()?.commit else { return Err(no_commit(checkout)) };
            match wanted {
                Wanted::Working if checkout.work_dir().is_none() => Err(Error::new(
                    ErrorKind::Usage,
                    format!("`{}` has no working tree", place.key()),
                    "leave out `--working-tree`",
                )),
                Wanted::Working => Ok(Source::WorkTree { checkout, commit }),
                _ => Ok(Source::Commit { checkout, commit }),
            }
        }
        (Place::Directory(_), Wanted::Commit(revision)) => Err(Error::new(
            ErrorKind::Usage,
            format!("`{revision}` names no commit: `{}` has no git repository", place.key()),
            "leave out `--commit`",
        )),
        (Place::Directory(directory), _) => Ok(Source::Directory(directory)),
    }
}

fn note(note: Note) -> &'static str {
    match note {
        Note::ShallowBoundary => {
            "the repository is named after the oldest commit of a shallow clone; give its name with `--url`"
        }
        Note::NoCommit | Note::Unversioned => {
            "the repository is named after its path; give it another name with `--url`"
        }
    }
}

/// The registry is a convenience: an index that cannot be entered there is still an index.
pub(crate) fn register(cx: &Cx<'_>, url: &str, database: &std::path::Path, place: &Place) -> Option<String> {
    let directory = cx.environment.own_directory().ok()?;
    let written = Registry::remember(&directory, url, database, place.top());
    written.err().map(|error| format!("the registry in `{}` cannot be written: {error}", directory.display()))
}
