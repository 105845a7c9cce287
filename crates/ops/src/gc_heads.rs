//! What git says is stood on: where HEAD of each checkout is by now, and the main branch.
//!
//! The database knows where a checkout stood when it was indexed. It may have been switched since to a commit that has a
//! snapshot, or be a linked worktree that was never indexed itself: both are answered from snapshots of their HEAD.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use knowing_model::RULESET;
use knowing_store::{RepoRow, Store};
use knowing_vcs::{Checkout, CommitId};

use crate::cx::Cx;
use crate::error::Result;
use crate::registry::Registry;

/// Names of the main branch, the first that there is counts.
const MAIN: [&str; 3] = ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"];
/// Commits along first parents to look for one that has a snapshot.
const MAX_BACK: usize = 256;

/// Rows of the snapshots that must stay, of every repository of the database. What git cannot tell now keeps nothing more.
pub(crate) fn heads(cx: &Cx<'_>, store: &Store) -> Result<Vec<i64>> {
    let mut heads = BTreeSet::new();
    for repo in store.repos()? {
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        for path in paths(cx, store, &repo)? {
            let Some(checkout) = open(&path) else { continue };
            heads.extend(head_of(store, &repo, &checkout)?);
            // What checkouts of one repository have in common.
            if seen.insert(checkout.common_dir()) {
                for linked in linked(&checkout.common_dir()).iter().filter_map(|it| open(it)) {
                    heads.extend(head_of(store, &repo, &linked)?);
                }
                heads.extend(main_of(store, &repo, &checkout)?);
            }
        }
    }
    Ok(heads.into_iter().collect())
}

/// Where checkouts of a repository are known to lie.
fn paths(cx: &Cx<'_>, store: &Store, repo: &RepoRow) -> Result<BTreeSet<PathBuf>> {
    let mut paths: BTreeSet<PathBuf> =
        store.worktrees(repo.id)?.into_iter().map(|it| PathBuf::from(it.path)).collect();
    if let Ok(directory) = cx.environment.own_directory() {
        let known = Registry::read(&directory).repositories;
        let ours = known.into_iter().filter(|it| it.url == repo.url && it.database == store.path());
        paths.extend(ours.flat_map(|it| it.paths));
    }
    Ok(paths)
}

/// The checkout at this very path, not one around it.
fn open(path: &Path) -> Option<Checkout> {
    let checkout = Checkout::open(path).ok()?;
    let top = checkout.work_dir().unwrap_or(checkout.git_dir());
    let is_it = top == path
        || fs::canonicalize(path).is_ok_and(|it| fs::canonicalize(top).is_ok_and(|top| top == it));
    is_it.then_some(checkout)
}

/// Checkouts that `git worktree add` made: each has a directory here with a file that names it.
fn linked(common: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let named = entries.filter_map(|it| fs::read_to_string(it.path().join("gitdir")).ok());
    named.filter_map(|it| Some(Path::new(it.trim()).parent()?.to_owned())).collect()
}

fn head_of(store: &Store, repo: &RepoRow, checkout: &Checkout) -> Result<Option<i64>> {
    match checkout.head().ok().and_then(|it| it.commit) {
        Some(commit) => snapshot_of(store, repo, commit),
        None => Ok(None),
    }
}

/// The newest commit of the main branch that has a snapshot.
fn main_of(store: &Store, repo: &RepoRow, checkout: &Checkout) -> Result<Option<i64>> {
    let mut at = MAIN.iter().find_map(|it| checkout.resolve(it).ok());
    for _ in 0..MAX_BACK {
        let Some(commit) = at else { return Ok(None) };
        if let Some(row) = snapshot_of(store, repo, commit)? {
            return Ok(Some(row));
        }
        at = checkout.resolve(&format!("{commit}^")).ok();
    }
    Ok(None)
}

fn snapshot_of(store: &Store, repo: &RepoRow, commit: CommitId) -> Result<Option<i64>> {
    Ok(store.snapshot_of_commit(repo.id, commit.as_bytes(), RULESET)?.map(|it| it.row))
}
