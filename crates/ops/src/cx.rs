//! What an operation runs in: which database, which repository, which snapshot.

use std::io;
use std::path::{Path, PathBuf};

use knowing_index::{Carried, Progress};
use knowing_model::{RULESET, hex, identity};
use knowing_store::{RepoRow, SnapshotRow, Store};
use knowing_vcs::CommitId;

use crate::answer::{SCHEMA, Tree};
use crate::clock;
use crate::error::{Candidate, Error, ErrorKind, Result};
use crate::freshness::{StalePolicy, TreeChoice};
use crate::page::Paging;
use crate::place::Place;
use crate::registry::Registry;
use crate::work_state::WorkState;

/// What a face gives to an operation.
pub struct Cx<'a> {
    pub environment: Environment,
    /// `--repo`: a path, a url or the end of one.
    pub repo: Option<String>,
    /// `--tree`: which state of the repository to answer from.
    pub tree: TreeChoice,
    /// `--stale-policy`: what to do when the snapshot is not of the tree as it is.
    pub stale: StalePolicy,
    /// `--session`: the handle whose state an answer may rest on; of a connection, or as a call names it.
    pub session: Option<String>,
    /// `--limit`, `--cursor` and `--max-tokens`: how much of a long answer to give.
    pub paging: Paging,
    pub progress: &'a dyn Progress,
    /// Where an operation writes that has more to say than fits in a reply.
    pub output: &'a mut dyn io::Write,
}

/// What of the process around it an operation may know.
#[derive(Clone, Debug)]
pub struct Environment {
    pub working_directory: PathBuf,
    /// `--db` or `KNOWING_DB`.
    pub database: Option<PathBuf>,
    /// Where data of programs lies; none when the machine does not say.
    pub data_directory: Option<PathBuf>,
    /// Seconds since 1970.
    pub now: i64,
    /// When this process began, in the same seconds.
    pub started: i64,
    /// Whether index runs collect what gathers: not with `KNOWING_AUTO_GC=0`.
    pub auto_gc: bool,
}

impl Environment {
    /// The running process's. `database` is what the user gave.
    pub fn of_process(database: Option<PathBuf>) -> io::Result<Environment> {
        let database = database.filter(|it| !it.as_os_str().is_empty());
        let working_directory = std::env::current_dir()?;
        let now = clock::now();
        Ok(Environment {
            database: database.map(|it| working_directory.join(it)),
            working_directory,
            data_directory: data_directory(),
            now,
            started: clock::started(now),
            auto_gc: std::env::var_os("KNOWING_AUTO_GC").is_none_or(|it| it != "0"),
        })
    }

    /// What the user gave, when it can be a file.
    fn given_database(&self) -> Result<Option<&PathBuf>> {
        match &self.database {
            Some(given) if given.is_dir() => Err(Error::new(
                ErrorKind::Usage,
                format!("the database `{}` is a directory", given.display()),
                format!("name a file, such as `--db {}`", given.join("knowing.db").display()),
            )),
            given => Ok(given.as_ref()),
        }
    }

    /// Where the graph of a repository is kept.
    pub(crate) fn database_of(&self, url: &str) -> Result<PathBuf> {
        if let Some(given) = self.given_database()? {
            return Ok(given.clone());
        }
        let repo = identity::repo_id(url).to_string();
        Ok(self.own_directory()?.join("repos").join(&repo[..16]).join("knowing.db"))
    }

    pub(crate) fn own_directory(&self) -> Result<PathBuf> {
        match &self.data_directory {
            Some(directory) => Ok(directory.join("knowing")),
            None => Err(Error::new(
                ErrorKind::Io,
                "there is no data directory: neither `XDG_DATA_HOME` nor `HOME` is set",
                "set one of them, or give the database with `--db`",
            )),
        }
    }
}

/// `XDG_DATA_HOME` everywhere, else what the platform has for it.
fn data_directory() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    if let Some(directory) = variable("XDG_DATA_HOME") {
        return Some(directory);
    }
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    Some(variable("HOME")?.join(below_home))
}

/// A snapshot to answer from.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) snapshot: SnapshotRow,
    pub(crate) tree: Tree,
    /// The directory paths are typed in, relative to the top of the repository.
    pub(crate) prefix: String,
    /// Files on disk that differ from the snapshot.
    pub(crate) work: WorkState,
}

impl Opened {
    pub(crate) fn snapshot(&self) -> &SnapshotRow {
        &self.snapshot
    }

    pub(crate) fn database(&self) -> &Path {
        self.store.path()
    }
}

/// A repository that was asked for: its name, its database, and where it lies when a path was given.
pub(crate) struct Target {
    pub(crate) url: String,
    pub(crate) database: PathBuf,
    pub(crate) place: Option<Place>,
}

impl Cx<'_> {
    /// The snapshot that is stored for the repository asked for, and how it stands to HEAD; files are not looked at.
    pub(crate) fn open_stored(&self) -> Result<Opened> {
        let target = self.target()?;
        let no_index = || no_index(&target);
        let store = self.watched(Store::open_existing(&target.database)?.ok_or_else(no_index)?)?;
        let repo = self.repo_of(&store, &target)?;
        let mut elsewhere = None;
        let (snapshot, fresh) = match &target.place {
            Some(place) => of_place(&store, &repo, place)?.ok_or_else(no_index)?,
            // Where a checkout stands before what was indexed last: that may be an old commit someone compared with.
            None => match self.latest_of_checkouts(&store, &repo, &target.database)? {
                Some((snapshot, place)) => {
                    let standing =
                        place.as_ref().map(|it| of_place(&store, &repo, it)).transpose()?.flatten();
                    elsewhere = place;
                    standing.unwrap_or((snapshot, "yes".to_owned()))
                }
                None => (store.latest_snapshot(repo.id)?.ok_or_else(no_index)?, "yes".to_owned()),
            },
        };
        let tree = Tree {
            schema: SCHEMA,
            repo: repo.url,
            tree: tree_name(&snapshot),
            snapshot: snapshot.id.to_string(),
            fresh,
            ..Tree::default()
        };
        let prefix = target.place.as_ref().map(|it| it.prefix_of(&self.environment.working_directory));
        let prefix = prefix.unwrap_or_default();
        Ok(Opened { store, snapshot, tree, prefix, work: WorkState::of(target.place.or(elsewhere)) })
    }

    /// One that stops when nobody waits for the answer any more.
    pub(crate) fn watched(&self, store: Store) -> Result<Store> {
        Ok(store.stopped_by(self.progress.stop_flag())?)
    }

    /// The database of the repository asked for, whatever is in it.
    pub(crate) fn open_database(&self) -> Result<(Store, Target)> {
        let target = match self.target() {
            // A database that was named is one to check and clean, wherever one stands.
            Err(error) if error.kind == ErrorKind::Usage && self.repo.is_none() => {
                let Some(database) = self.environment.given_database()? else { return Err(error) };
                Target { url: String::new(), database: database.clone(), place: None }
            }
            target => target?,
        };
        let store = Store::open_existing(&target.database)?.ok_or_else(|| no_index(&target))?;
        let store = self.watched(store)?;
        Ok((store, target))
    }

    /// The repository asked for, in its database.
    pub(crate) fn repo_of(&self, store: &Store, target: &Target) -> Result<RepoRow> {
        let mut repo = store.repo(&target.url)?;
        if let Some(place) = &target.place
            && let Some(worktree) = store.worktree(&place.key())?
        {
            // Indexed under a url of its own.
            repo = store.repos()?.into_iter().find(|it| it.id == worktree.repo).or(repo);
        }
        repo.ok_or_else(|| no_index(target))
    }

    /// The snapshot of a commit, made first when it is not there. The checkout goes on standing where it stands.
    pub(crate) fn open_commit(&mut self, revision: &str) -> Result<Opened> {
        let target = self.target()?;
        let mut carried = Carried::default();
        let opened = self.open_next_commit(&target, revision, &mut carried);
        carried.let_go();
        opened
    }

    /// As `open_commit`, for one commit after the other: what was made for the last is not made again for the next.
    pub(crate) fn open_next_commit(
        &mut self,
        target: &Target,
        revision: &str,
        carried: &mut Carried,
    ) -> Result<Opened> {
        let place = self.place()?;
        let Place::Git(checkout) = &place else {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("`{revision}` names no commit: `{}` has no git repository", place.key()),
                "leave out `base`, or name a repository with `--repo`",
            ));
        };
        let commit = checkout.resolve(revision)?;
        let mut store = self.watched(Store::open(&target.database)?)?;
        let snapshot =
            crate::index_repo::snapshot_of(self, &mut store, &place, &target.url, commit, carried)?;
        let tree = Tree {
            schema: SCHEMA,
            repo: target.url.clone(),
            tree: tree_name(&snapshot),
            snapshot: snapshot.id.to_string(),
            // It was asked for, so that it cannot be stale.
            fresh: "yes".to_owned(),
            ..Tree::default()
        };
        Ok(Opened { store, snapshot, tree, prefix: String::new(), work: WorkState::default() })
    }

    /// Where the repository asked for lies; an error when only its name is known.
    pub(crate) fn place(&self) -> Result<Place> {
        let path = match &self.repo {
            Some(repo) => self.environment.working_directory.join(repo),
            None => self.environment.working_directory.clone(),
        };
        Place::at(&path)
    }

    /// A checkout of the repository that the registry knows, where none was named.
    pub(crate) fn known_place(&self, opened: &Opened) -> Option<Place> {
        let known = Registry::read(&self.environment.own_directory().ok()?).repositories;
        let is_it =
            |it: &crate::registry::Entry| it.url == opened.tree.repo && it.database == opened.database();
        known.into_iter().find(is_it)?.paths.iter().find_map(|it| Place::at(it).ok())
    }

    /// Where the checkout stands that was indexed last, of those that the registry knows; and the checkout, when it is
    /// still there.
    fn latest_of_checkouts(
        &self,
        store: &Store,
        repo: &RepoRow,
        database: &Path,
    ) -> Result<Option<(SnapshotRow, Option<Place>)>> {
        let Ok(directory) = self.environment.own_directory() else { return Ok(None) };
        let known = Registry::read(&directory).repositories;
        let entry = known.into_iter().find(|it| it.url == repo.url && it.database == database);
        let mut latest = None;
        for path in entry.map(|it| it.paths).unwrap_or_default() {
            let worktree = store.worktree(&path.to_string_lossy())?.filter(|it| it.repo == repo.id);
            latest = latest.max(worktree.map(|it| (it.last_seen, it.head_snapshot, path)));
        }
        let Some((_, snapshot, path)) = latest else { return Ok(None) };
        let Some(snapshot) = store.snapshot_at(snapshot)? else { return Ok(None) };
        // Something else may lie there by now.
        let is_it = |it: &Place| it.top() == path && it.identity(None).is_ok_and(|it| it.url == repo.url);
        Ok(Some((snapshot, Place::at(&path).ok().filter(is_it))))
    }

    pub(crate) fn target(&self) -> Result<Target> {
        if let Some(repo) = &self.repo {
            let path = self.environment.working_directory.join(repo);
            return if path.exists() { self.target_at(Place::at(&path)?) } else { self.target_named(repo) };
        }
        let here = Place::at(&self.environment.working_directory)?;
        if here.is_versioned() || self.registered(&here).is_some() {
            return self.target_at(here);
        }
        // No repository here. A database that holds only one leaves no doubt.
        let mut known = self.known()?;
        match known.len() {
            1 if self.environment.database.is_some() => Ok(known.remove(0)),
            _ => Err(Error::new(
                ErrorKind::Usage,
                format!("`{}` is not inside a repository", self.environment.working_directory.display()),
                "run inside a repository, or name one with `--repo PATH` or `--repo URL`",
            )),
        }
    }

    fn target_at(&self, place: Place) -> Result<Target> {
        let entry = self.registered(&place).filter(|it| place.may_be_called(&it.url));
        let url = match entry {
            Some(entry) if self.environment.database.is_none() => {
                return Ok(Target { url: entry.url, database: entry.database, place: Some(place) });
            }
            entry => place.identity(entry.as_ref().and_then(|it| place.remembered_url(&it.url)))?.url,
        };
        Ok(Target { database: self.environment.database_of(&url)?, url, place: Some(place) })
    }

    fn target_named(&self, name: &str) -> Result<Target> {
        let wanted = knowing_model::normalise_url(name).unwrap_or_else(|| name.trim_matches('/').to_owned());
        let known = self.known()?;
        let urls: Vec<String> = known.iter().map(|it| it.url.clone()).collect();
        // A name of hex digits may be the hash of one.
        let is_hash = wanted.len() >= 8 && wanted.bytes().all(|it| it.is_ascii_hexdigit());
        let has_hash = |url: &str| is_hash && identity::repo_id(url).to_string().starts_with(&wanted);
        let mut exact: Vec<Target> = Vec::new();
        let mut ending: Vec<Target> = Vec::new();
        for target in known {
            if target.url == wanted || has_hash(&target.url) {
                exact.push(target);
            } else if target.url.strip_suffix(&wanted).is_some_and(|before| before.ends_with('/')) {
                ending.push(target);
            }
        }
        let mut found = if exact.is_empty() { ending } else { exact };
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => {
                let message = format!("no path and no indexed repository is called `{name}`");
                let hint = "give the path of a checkout, or index one with `knowing index PATH`";
                let near = crate::nearest::nearest(name, urls.iter().map(String::as_str), 5);
                let candidates = near.into_iter().map(Candidate::named).collect();
                Err(Error::new(ErrorKind::NotFound, message, hint).with_candidates(candidates))
            }
            total => {
                let candidates = found.iter().take(20).map(|it| Candidate::named(&it.url)).collect();
                let message = format!("`{name}` is the end of {total} repositories' names");
                let mut error = Error::new(ErrorKind::Ambiguous, message, "give more of the name")
                    .with_candidates(candidates);
                error.total = Some(total);
                Err(error)
            }
        }
    }

    /// All repositories of the given database, else of the registry, by name.
    pub(crate) fn known(&self) -> Result<Vec<Target>> {
        if let Some(database) = self.environment.given_database()? {
            let Some(store) = Store::open_existing(database)? else { return Ok(Vec::new()) };
            let target = |it: RepoRow| Target { url: it.url, database: database.clone(), place: None };
            let mut known: Vec<Target> = store.repos()?.into_iter().map(target).collect();
            known.sort_by(|a, b| a.url.cmp(&b.url));
            return Ok(known);
        }
        let registry = Registry::read(&self.environment.own_directory()?);
        let target = |it: crate::registry::Entry| Target { url: it.url, database: it.database, place: None };
        Ok(registry.repositories.into_iter().map(target).collect())
    }

    pub(crate) fn registered(&self, place: &Place) -> Option<crate::registry::Entry> {
        let directory = self.environment.own_directory().ok()?;
        let key = PathBuf::from(place.key());
        Registry::read(&directory).repositories.into_iter().find(|it| it.paths.contains(&key))
    }
}

/// The snapshot this very tree stands on, or one of HEAD that is there already; never where another tree stands.
fn of_place(store: &Store, repo: &RepoRow, place: &Place) -> Result<Option<(SnapshotRow, String)>> {
    let head = place.head()?;
    let own = match store.worktree(&place.key())? {
        Some(worktree) => store.snapshot_at(worktree.head_snapshot)?,
        None => None,
    };
    let Some(head) = head else { return Ok(own.map(|it| (it, "yes".to_owned()))) };
    // What an earlier version of the program made of it is not what this one would say.
    if let Some(own) = &own
        && own.commit == head.as_bytes()
        && own.ruleset == RULESET
    {
        return Ok(Some((own.clone(), "yes".to_owned())));
    }
    if let Some(snapshot) = store.snapshot_of_commit(repo.id, head.as_bytes(), RULESET)? {
        return Ok(Some((snapshot, "yes".to_owned())));
    }
    let Some(own) = own else { return Ok(None) };
    let n_commits = match CommitId::from_bytes(&own.commit) {
        Some(commit) => place.n_commits_between(commit, head)?,
        None => None,
    };
    let fresh = n_commits.map_or("unindexed".to_owned(), |n| format!("behind({n})"));
    Ok(Some((own, fresh)))
}

/// `<12 hex of the commit>`, and of what makes the tree differ from it 8 more.
pub(crate) fn tree_name(snapshot: &SnapshotRow) -> String {
    let commit: String = hex(&snapshot.commit).chars().take(12).collect();
    match snapshot.dirty {
        Some(dirty) => format!("{commit}+{}", &dirty.to_string()[..8]),
        None => commit,
    }
}

fn no_index(target: &Target) -> Error {
    let path = target.place.as_ref().map(|it| it.key());
    let (what, hint) = match &path {
        Some(path) => (format!("`{path}` is not indexed"), "run `knowing index` there first"),
        None => (format!("`{}` has no snapshot", target.url), "run `knowing index PATH` first"),
    };
    Error::new(ErrorKind::NoIndex, what, hint).at(target.database.display().to_string())
}
