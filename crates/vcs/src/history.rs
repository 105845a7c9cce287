//! Which commits lead to a commit, and how far apart two commits are.

use std::collections::BinaryHeap;
use std::sync::Arc;

use gix::hashtable::{HashMap, HashSet};
use gix::objs::{CommitRef, Find, Kind};

use crate::{Checkout, CommitId, Error, Result};

/// The newest commits that lead to one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// In the order of the walk.
    pub commits: Vec<PastCommit>,
    /// Ended where the repository does (a shallow clone, a damaged object), not at a first commit nor at the limit.
    pub is_cut: bool,
}

/// A commit with at most one parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCommit {
    pub id: CommitId,
    /// By its committer's clock, in seconds since 1970.
    pub time: i64,
    /// As recorded, whether they are here or not.
    pub n_parents: usize,
    /// `Name <address>`; empty when it cannot be read.
    pub author: String,
    pub message: String,
}

/// Commits that were read for one history, for the next: after a merge most of the two are the same.
#[derive(Default)]
pub struct Ancestry(HashMap<gix::ObjectId, Arc<Known>>);

impl Checkout {
    /// The newest `limit` commits that `commit` comes from, itself included, merges left out.
    ///
    /// The walk knows `commit` at first. Again and again it takes the newest of the commits it knows, by time and of
    /// equal times the one with the greater id, and then knows the parents of that one too. So a commit never comes
    /// before the first of those that lead to it, whatever the clocks said; and what is found depends on the ancestry
    /// alone. Merges are walked through and not counted. Beyond the boundary of a shallow clone nothing is known.
    pub fn history(&self, commit: CommitId, limit: usize) -> Result<History> {
        self.next_history(commit, limit, &mut Ancestry::default())
    }

    /// As `history`, for one after the other.
    pub fn next_history(&self, commit: CommitId, limit: usize, ancestry: &mut Ancestry) -> Result<History> {
        let repo = self.local();
        let fault = || Error::git(format!("read the history of `{commit}`"));
        let boundary = repo.shallow_commits().map_err(fault())?;
        let is_boundary =
            |id: gix::ObjectId| boundary.as_ref().is_some_and(|it| it.iter().any(|other| *other == id));
        let mut walk = Walk { objects: repo.objects.clone(), buffer: Vec::new() };
        let mut read = |id: gix::ObjectId| match ancestry.0.get(&id) {
            Some(known) => Ok(Some(known.clone())),
            None => Ok::<_, Error>(walk.read(id)?.map(|it| {
                let known = Arc::new(it);
                ancestry.0.insert(id, known.clone());
                known
            })),
        };
        let first = read(commit.0)?.ok_or_else(|| Error::Git {
            action: format!("read the history of `{commit}`"),
            reason: "the commit is not here".to_owned(),
        })?;
        let mut history = History::default();
        let mut seen = HashSet::default();
        seen.insert(commit.0);
        let mut known = BinaryHeap::from([first]);
        while history.commits.len() < limit
            && let Some(newest) = known.pop()
        {
            if is_boundary(newest.id) {
                history.is_cut |= !newest.parents.is_empty();
            } else {
                for &parent in newest.parents.iter().filter(|it| seen.insert(**it)) {
                    // What cannot be read ends the walk like what is not here: an old fault is no reason to know nothing.
                    match read(parent) {
                        Ok(Some(parent)) => known.push(parent),
                        Ok(None) | Err(_) => history.is_cut = true,
                    }
                }
            }
            if newest.parents.len() < 2 {
                history.commits.push(PastCommit::from(&*newest));
            }
        }
        ancestry.0.retain(|id, _| seen.contains(id));
        Ok(history)
    }

    /// The commit where two histories part; none when they have nothing in common, or not here.
    pub fn merge_base(&self, one: CommitId, other: CommitId) -> Option<CommitId> {
        let repo = self.local();
        let base = repo.merge_base(one.0, other.0).ok()??;
        Some(CommitId(base.detach()))
    }

    /// The commits from `later` back to the child of `earlier`, newest first, where each has one parent and there are at
    /// most `limit`. What `history` finds from `later` is then these, and what it finds from `earlier`.
    pub fn line_from(
        &self,
        earlier: CommitId,
        later: CommitId,
        limit: usize,
    ) -> Result<Option<Vec<PastCommit>>> {
        let repo = self.local();
        let boundary =
            repo.shallow_commits().map_err(Error::git(format!("read the history of `{later}`")))?;
        let mut walk = Walk { objects: repo.objects.clone(), buffer: Vec::new() };
        let mut line = Vec::new();
        let mut at = later.0;
        while at != earlier.0 {
            let is_boundary = boundary.as_ref().is_some_and(|it| it.iter().any(|other| *other == at));
            let Some(commit) = walk.read(at)?.filter(|_| !is_boundary && line.len() < limit) else {
                return Ok(None);
            };
            let [parent] = commit.parents[..] else { return Ok(None) };
            at = parent;
            line.push(PastCommit::from(&commit));
        }
        Ok(Some(line))
    }

    /// How many commits of `later`'s history `earlier`'s lacks; none when `earlier` is not in it, or is not here.
    pub fn n_commits_between(&self, earlier: CommitId, later: CommitId) -> Result<Option<usize>> {
        let repo = self.local();
        if !matches!(repo.merge_base(earlier.0, later.0), Ok(Some(base)) if base.detach() == earlier.0) {
            return Ok(None);
        }
        let walk = repo.rev_walk([later.0]).with_hidden([earlier.0]).all();
        let walk = walk.map_err(Error::git("read the history of HEAD"))?;
        Ok(Some(walk.take_while(|it| it.is_ok()).count()))
    }
}

/// A commit the walk knows. Greater is newer.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    time: i64,
    id: gix::ObjectId,
    parents: Vec<gix::ObjectId>,
    author: String,
    message: String,
}

impl From<&Known> for PastCommit {
    fn from(it: &Known) -> PastCommit {
        PastCommit {
            id: CommitId(it.id),
            time: it.time,
            n_parents: it.parents.len(),
            author: it.author.clone(),
            message: it.message.clone(),
        }
    }
}

struct Walk {
    objects: gix::OdbHandle,
    buffer: Vec<u8>,
}

impl Walk {
    /// None when the object is not here.
    fn read(&mut self, id: gix::ObjectId) -> Result<Option<Known>> {
        let fault = || Error::git(format!("read commit `{id}`"));
        let Some(object) = self.objects.try_find(&id, &mut self.buffer).map_err(fault())? else {
            return Ok(None);
        };
        if object.kind != Kind::Commit {
            let reason = format!("it is a {}", object.kind);
            return Err(Error::Git { action: format!("read commit `{id}`"), reason });
        }
        let commit = CommitRef::from_bytes(object.data, id.kind()).map_err(fault())?;
        Ok(Some(Known {
            // A clock that cannot be read is as old as can be.
            time: commit.committer().map_or(0, |it| it.seconds()),
            id,
            parents: commit.parents().collect(),
            author: commit.author().map(|it| format!("{} <{}>", it.name, it.email)).unwrap_or_default(),
            message: String::from_utf8_lossy(commit.message).into_owned(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use knowing_testkit::Fixture;

    use super::*;

    #[test]
    fn a_line_of_commits_is_what_one_history_has_before_the_other() {
        let repo = Fixture::new();
        let first = repo.commit("first");
        repo.commit("second");
        let third = repo.commit("third");
        repo.git(&["checkout", "-q", "-b", "side", &first]);
        let side = repo.commit("side");
        repo.git(&["merge", "-q", "--no-ff", "-m", "merge", &third]);
        let merge = repo.git(&["rev-parse", "HEAD"]);
        let checkout = Checkout::open(repo.path()).unwrap();
        let id = |hex: &str| CommitId::from_hex(hex).unwrap();
        let line = |a: &str, b: &str, limit| checkout.line_from(id(a), id(b), limit).unwrap();
        let history = |of: &str| checkout.history(id(of), 9).unwrap().commits;
        let found = line(&first, &third, 9).unwrap();
        assert_eq!(found.iter().cloned().chain(history(&first)).collect::<Vec<_>>(), history(&third));
        assert_eq!(line(&third, &third, 9).unwrap(), []);
        assert_eq!(line(&first, &third, 1), None);
        assert_eq!(line(&third, &side, 9), None);
        assert_eq!(line(&first, &merge, 9), None);
        // What was read for one history serves the next.
        let mut ancestry = Ancestry::default();
        for of in [&first, &third, &side, &merge, &side, &merge] {
            let next = checkout.next_history(id(of), 3, &mut ancestry).unwrap();
            assert_eq!(next, checkout.history(id(of), 3).unwrap());
            assert!(next.commits.iter().all(|it| ancestry.0.contains_key(&it.id.0)));
        }
    }

    #[test]
    fn commits_are_counted_from_ancestor_to_descendant() {
        let repo = Fixture::new();
        let first = repo.commit("first");
        repo.commit("second");
        let third = repo.commit("third");
        repo.git(&["checkout", "-q", "--orphan", "other"]);
        let other = repo.commit("other");
        let checkout = Checkout::open(repo.path()).unwrap();
        let id = |hex: &str| CommitId::from_hex(hex).unwrap();
        let between = |a: &str, b: &str| checkout.n_commits_between(id(a), id(b)).unwrap();
        assert_eq!(between(&first, &third), Some(2));
        assert_eq!(between(&third, &third), Some(0));
        assert_eq!(between(&third, &first), None);
        assert_eq!(between(&first, &other), None);
        assert_eq!(between(&"1".repeat(40), &third), None);
    }
}
