//! Which state of a repository an answer is of, and what happens when what is stored is of another.
//!
//! ```text
//! HEAD moved            behind(n), unindexed   indexed first, unless told otherwise or it takes too long
//! files were edited     dirty(n)               named; lines are those of the files; `--working-tree` takes them in
//! ```

use std::path::Path;
use std::time::{Duration, Instant};

use knowing_index::{Options, Source, WorkChanges, WorkFiles};
use knowing_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Tree;
use crate::cx::{Cx, Opened, Target, tree_name};
use crate::error::{Error, ErrorKind, Result};
use crate::index_repo;
use crate::nearest::nearest;
use crate::place::Place;
use crate::work_state::WorkState;

/// What to do when what is stored is not of the tree as it is
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StalePolicy {
    /// Index HEAD first; where that takes over 10 s, answer from before and say so
    #[default]
    Refresh,
    /// Answer from what is stored, and say how it differs
    Warn,
    /// Answer from what is stored; only `fresh` tells
    Ignore,
    /// Answer only from exactly this tree, else exit 1
    Error,
}

impl StalePolicy {
    pub(crate) fn named(text: &str) -> Result<StalePolicy> {
        let names = ["refresh", "warn", "ignore", "error"];
        <StalePolicy as clap::ValueEnum>::from_str(text, true).map_err(|_| {
            let hint = match nearest(text, names, 1).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it is one of `{}`", names.join("`, `")),
            };
            Error::new(ErrorKind::Usage, format!("`{text}` is no policy for what is stale"), hint)
        })
    }
}

/// Which state of a repository to answer from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TreeChoice {
    #[default]
    Head,
    /// The files as they lie there, committed or not.
    Working,
    /// A commit, or a snapshot by a reference to it.
    Reference(String),
}

impl TreeChoice {
    pub fn named(text: &str) -> TreeChoice {
        match text {
            "head" => TreeChoice::Head,
            "working" => TreeChoice::Working,
            other => TreeChoice::Reference(other.to_owned()),
        }
    }
}

/// What to do for a repository that was never indexed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Refuse,
    Index,
}

/// How long a question waits for HEAD to be indexed.
const PATIENCE: Duration = Duration::from_secs(10);

/// Files that an answer names.
const MAX_NAMED: usize = 20;

impl Cx<'_> {
    /// The snapshot that was asked for.
    pub(crate) fn open(&mut self) -> Result<Opened> {
        self.open_tree(Missing::Refuse)
    }

    /// As `open`, and what was never indexed is indexed first; and where the repository lies, when that is known.
    pub(crate) fn open_fresh(&mut self) -> Result<(Opened, Option<Place>)> {
        Ok((self.open_tree(Missing::Index)?, self.place().ok()))
    }

    fn open_tree(&mut self, missing: Missing) -> Result<Opened> {
        match self.tree.clone() {
            TreeChoice::Head => self.open_current(missing),
            TreeChoice::Working => self.open_working(missing),
            TreeChoice::Reference(text) => self.open_reference(&text),
        }
    }

    /// The snapshot of the checkout, whatever `--tree` says.
    pub(crate) fn open_checkout(&mut self) -> Result<Opened> {
        self.open_current(Missing::Refuse)
    }

    /// The snapshot of the checkout, as the policy wants it.
    fn open_current(&mut self, missing: Missing) -> Result<Opened> {
        let policy = self.stale;
        let mut opened = self.open_with(missing, policy)?;
        match policy {
            StalePolicy::Error if !opened.tree.is_fresh() => Err(stale(&opened)),
            StalePolicy::Ignore => {
                opened.tree.dirty.clear();
                opened.work = WorkState::of(opened.work.place.take());
                Ok(opened)
            }
            _ => Ok(opened),
        }
    }

    fn open_with(&mut self, missing: Missing, policy: StalePolicy) -> Result<Opened> {
        let mut opened = match self.open_stored() {
            Err(error) if error.kind == ErrorKind::NoIndex => {
                let target = self.target()?;
                let Some(place) = &target.place else { return Err(error) };
                if !may_index(&target, missing, policy)? {
                    return Err(error);
                }
                let files = self.index_current(place, &target.url, &target.database, Options::default())?;
                let mut opened = self.open_stored()?;
                opened.compare_files(files.as_ref())?;
                opened
            }
            opened => {
                let mut opened = opened?;
                // Where HEAD moved, files are looked at beside the run that indexes it.
                if policy != StalePolicy::Refresh || !opened.is_behind() {
                    opened.look_at_files()?;
                }
                opened
            }
        };
        let Some(place) = &opened.work.place else { return Ok(opened) };
        // A run that was killed left the rows and not what search needs: that is made up for, whatever the policy.
        let is_unfinished = opened.is_unfinished()?;
        if !is_unfinished && (policy != StalePolicy::Refresh || !opened.needs_index()) {
            return Ok(opened);
        }
        let options = Options { deadline: Some(Instant::now() + PATIENCE), ..Options::default() };
        let indexed = self.index_current(place, &opened.tree.repo, opened.database(), options);
        match indexed {
            Ok(files) => {
                let mut current = self.open_stored()?;
                current.compare_files(files.as_ref())?;
                return Ok(current);
            }
            // An old answer that says so is better than none.
            Err(error) if matches!(error.kind, ErrorKind::Timeout | ErrorKind::Busy | ErrorKind::Io) => {
                opened.look_at_files()?;
                opened.tree.stale = (!opened.tree.is_fresh()).then(|| match error.kind {
                    ErrorKind::Timeout => {
                        format!("indexing HEAD takes over {} s; run `knowing index`", PATIENCE.as_secs())
                    }
                    _ => format!("HEAD cannot be indexed: {}", error.message),
                });
            }
            Err(error) => return Err(error),
        }
        Ok(opened)
    }

    /// A snapshot of the files as they lie there: the one of HEAD when nothing differs from it.
    fn open_working(&mut self, missing: Missing) -> Result<Opened> {
        // What is not committed is little beside what is: the snapshot of HEAD is what the other builds on.
        let opened = self.open_with(missing, StalePolicy::Refresh)?;
        // Of a place without git there is no other state.
        if let Some(Place::Directory(_)) = &opened.work.place {
            return Ok(opened);
        }
        let Opened { mut store, snapshot, tree, prefix, work } = opened;
        let Some(place @ Place::Git(checkout)) = &work.place else { return Err(no_work_tree(&tree.repo)) };
        if checkout.work_dir().is_none() {
            return Err(no_work_tree(&tree.repo));
        }
        if tree.is_fresh() {
            return Ok(Opened { store, snapshot, tree, prefix, work });
        }
        let Some(commit) = checkout.head()?.commit else { return Err(index_repo::no_commit(checkout)) };
        let source = Source::WorkTree { checkout, commit };
        let report =
            index_repo::index_place(self, &mut store, place, &tree.repo, source, &Options::default())?;
        let snapshot = index_repo::made(&store, report.snapshot)?;
        let tree = Tree {
            tree: tree_name(&snapshot),
            snapshot: snapshot.id.to_string(),
            fresh: "yes".to_owned(),
            dirty: Vec::new(),
            stale: None,
            ..tree
        };
        Ok(Opened { store, snapshot, tree, prefix, work: WorkState::of(work.place) })
    }

    /// Indexes what a checkout stands at; the files as they are meanwhile.
    fn index_current<'p>(
        &self,
        place: &'p Place,
        url: &str,
        database: &Path,
        options: Options,
    ) -> Result<Option<WorkFiles<'p>>> {
        let mut store = self.watched(Store::open(database)?)?;
        let source = match place {
            Place::Directory(directory) => Source::Directory(directory),
            Place::Git(checkout) => match checkout.head()?.commit {
                Some(commit) => Source::Commit { checkout, commit },
                None => return Err(index_repo::no_commit(checkout)),
            },
        };
        let (_, files) =
            with_files(place, || index_repo::index_place(self, &mut store, place, url, source, &options))?;
        // A convenience: what is not entered there is indexed all the same.
        let _ = index_repo::register(self, url, database, place);
        Ok(files)
    }
}

/// What lies on disk beside HEAD; none where nothing can.
fn files_of(place: &Place) -> Result<Option<Source<'_>>> {
    Ok(match place {
        Place::Directory(directory) => Some(Source::Directory(directory)),
        Place::Git(checkout) => match (checkout.work_dir(), checkout.head()?.commit) {
            (Some(_), Some(commit)) => Some(Source::WorkTree { checkout, commit }),
            _ => None,
        },
    })
}

/// Does something that takes a while, and looks at the files meanwhile.
pub(crate) fn with_files<'p, T>(
    place: &'p Place,
    work: impl FnOnce() -> Result<T>,
) -> Result<(T, Option<WorkFiles<'p>>)> {
    let source = files_of(place)?;
    std::thread::scope(|scope| {
        let files = source.map(|it| scope.spawn(move || WorkFiles::read(it)));
        let done = work();
        let files = files.map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        Ok((done?, files.transpose()?))
    })
}

/// Whether a question may index what has no snapshot.
fn may_index(target: &Target, missing: Missing, policy: StalePolicy) -> Result<bool> {
    match (missing, policy) {
        (_, StalePolicy::Error) => Ok(false),
        (Missing::Index, _) => Ok(true),
        // Another checkout of what is known: indexing costs what differs.
        (Missing::Refuse, StalePolicy::Refresh) => {
            let store = Store::open_existing(&target.database)?;
            Ok(store.map(|it| it.repo(&target.url)).transpose()?.flatten().is_some())
        }
        (Missing::Refuse, _) => Ok(false),
    }
}

impl Opened {
    /// Finds out which files differ from the snapshot, and says so in the tree.
    pub(crate) fn look_at_files(&mut self) -> Result<()> {
        let source = self.work.place.as_ref().map(files_of).transpose()?.flatten();
        let files = source.map(WorkFiles::read).transpose()?;
        let changes = files.map(|it| it.changes_since(&self.store, &self.snapshot)).transpose()?;
        changes.into_iter().for_each(|it| self.set_changes(it));
        Ok(())
    }

    /// As `look_at_files`, of files that were read already.
    pub(crate) fn compare_files(&mut self, files: Option<&WorkFiles<'_>>) -> Result<()> {
        let changes = files.map(|it| it.changes_since(&self.store, &self.snapshot)).transpose()?;
        changes.into_iter().for_each(|it| self.set_changes(it));
        Ok(())
    }

    fn set_changes(&mut self, changes: WorkChanges) {
        let Some(digest) = changes.digest() else { return };
        let commit = tree_name(&self.snapshot);
        let commit = commit.split('+').next().unwrap_or_default();
        self.tree.tree = format!("{commit}+{}", &digest.to_string()[..8]);
        if self.tree.is_fresh() {
            self.tree.fresh = format!("dirty({})", changes.files.len());
        }
        self.tree.dirty = changes.files.iter().take(MAX_NAMED).map(|it| it.path.clone()).collect();
        self.work.set(changes);
    }

    /// Whether the run that made the snapshot of HEAD did not come to its end.
    fn is_unfinished(&self) -> Result<bool> {
        let is_of_head = self.work.place.as_ref().is_some_and(Place::is_versioned)
            && self.snapshot.chained
            && (self.tree.is_fresh() || self.tree.fresh.starts_with("dirty"));
        Ok(is_of_head && !knowing_index::is_finished(&self.store, &self.snapshot)?)
    }

    /// Whether there is a newer state to index: HEAD, or without git the files.
    fn needs_index(&self) -> bool {
        self.is_behind() || (!self.is_versioned() && self.work.n_changes() > 0)
    }

    /// Whether the snapshot is not that of HEAD; a place without git has none.
    fn is_behind(&self) -> bool {
        self.is_versioned() && !self.tree.is_fresh() && !self.tree.fresh.starts_with("dirty")
    }

    fn is_versioned(&self) -> bool {
        self.work.place.as_ref().is_none_or(Place::is_versioned)
    }
}

fn no_work_tree(repo: &str) -> Error {
    Error::new(
        ErrorKind::Usage,
        format!("`{repo}` has no working tree here"),
        "run inside a checkout, or name the path of one with `--repo`",
    )
}

fn stale(opened: &Opened) -> Error {
    let tree = &opened.tree;
    let (message, hint) = match tree.fresh.as_str() {
        "unindexed" => (
            format!("HEAD is not indexed; what is stored is of {}", tree_name(&opened.snapshot)),
            "run `knowing index`, or ask with `--stale-policy refresh`",
        ),
        behind if behind.starts_with("behind") => (
            format!("what is stored is of {}, {behind}", tree_name(&opened.snapshot)),
            "run `knowing index`, or ask with `--stale-policy refresh`",
        ),
        dirty => (
            format!("files differ from the snapshot, {dirty}: {}", tree.dirty_names()),
            "commit them, or ask with `--working-tree`",
        ),
    };
    Error::new(ErrorKind::Stale, message, hint).at(opened.database().display().to_string())
}
