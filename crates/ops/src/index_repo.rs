//! Index a tree: read it, resolve it, store its snapshot.

use std::collections::BTreeMap;
use std::path::PathBuf;

use knowing_index::{Options, Request, Source};
use knowing_model::hex;
use knowing_store::{SnapshotRow, Store};
use knowing_vcs::{CommitId, Note};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SCHEMA, rounded};
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::place::Place;
use crate::registry::Registry;

/// Index a repository: its symbols, and who calls, imports and extends whom
#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing index                          the repository around the working directory, at HEAD
  knowing index ~/src/flask
  knowing index --commit v2.0 --json     another commit; the work tree is not touched
  knowing index /srv/git/app.git         a bare repository
  knowing index --exclude 'docs/**'      leave files out

Indexing a commit that is indexed already reads nothing. Nothing is ever written into the work tree.")]
pub struct IndexRepo {
    /// A checkout, a bare repository, or a directory without git; default the working directory
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// The commit to index: any revision git understands
    #[arg(long, value_name = "REV")]
    #[serde(default)]
    pub commit: Option<String>,
    /// Threads; default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    #[serde(default)]
    pub workers: Option<u16>,
    /// What to call the repository, instead of its remote
    #[arg(long)]
    #[serde(default)]
    pub url: Option<String>,
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
    /// Version of this JSON.
    pub schema: u32,
    pub repo: String,
    /// The commit; of a directory without git the digest of its files.
    pub commit: String,
    pub snapshot: String,
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
    let (source, branch) = source(&place, arguments)?;
    let options = Options {
        workers: arguments.workers.map_or(0, usize::from),
        vendored: arguments.vendored,
        include: arguments.include.clone(),
        exclude: arguments.exclude.clone(),
        force: arguments.force,
    };
    let database = cx.environment.database_of(&identity.url)?;
    let mut store = Store::open(&database)?;
    let rows = store.keep_rows()?;
    let key = place.key();
    let request = Request {
        source,
        url: &identity.url,
        object_format: identity.object_format,
        place: Some(&key),
        branch: branch.as_deref(),
        options: &options,
        now: cx.environment.now,
    };
    let report = knowing_index::index(&mut store, &request, cx.progress)?;
    let mut notes: Vec<String> = identity.notes.iter().map(|it| note(*it).to_owned()).collect();
    notes.extend(register(cx, &identity.url, &database, &place));
    drop(rows);
    crate::gc::after_index(cx, &mut store);
    Ok(IndexReply {
        schema: SCHEMA,
        repo: identity.url,
        commit: hex(&report.commit),
        snapshot: report.snapshot.to_string(),
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

/// The snapshot of a commit, found or made. No checkout is said to stand on it.
pub(crate) fn snapshot_of(
    cx: &Cx<'_>,
    store: &mut Store,
    place: &Place,
    url: &str,
    commit: CommitId,
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
    let report = knowing_index::index(store, &request, cx.progress)?;
    let snapshot = store.snapshot(report.snapshot)?;
    snapshot.ok_or_else(|| {
        let message = format!("the snapshot {} was made and is not there", report.snapshot);
        Error::new(ErrorKind::Corrupt, message, "index again with `knowing index --force`")
    })
}

fn source<'a>(place: &'a Place, arguments: &IndexRepo) -> Result<(Source<'a>, Option<String>)> {
    match place {
        Place::Git(checkout) => {
            let head = checkout.head()?;
            let commit = match (&arguments.commit, head.commit) {
                (Some(revision), _) => checkout.resolve(revision)?,
                (None, Some(commit)) => commit,
                (None, None) => {
                    return Err(Error::new(
                        ErrorKind::BadInput,
                        format!("`{}` has no commit yet", place.key()),
                        "commit something, then run `knowing index` again",
                    ));
                }
            };
            Ok((Source::Commit { checkout, commit }, head.branch))
        }
        Place::Directory(directory) => match &arguments.commit {
            None => Ok((Source::Directory(directory), None)),
            Some(revision) => Err(Error::new(
                ErrorKind::Usage,
                format!("`{revision}` names no commit: `{}` has no git repository", place.key()),
                "leave out `--commit`",
            )),
        },
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
fn register(cx: &Cx<'_>, url: &str, database: &std::path::Path, place: &Place) -> Option<String> {
    let directory = cx.environment.own_directory().ok()?;
    let written = Registry::remember(&directory, url, database, place.top());
    written.err().map(|error| format!("the registry in `{}` cannot be written: {error}", directory.display()))
}
