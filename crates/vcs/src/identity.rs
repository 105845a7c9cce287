//! What a repository is called: the same for every clone of it, wherever it lies.

use std::path::Path;

use gix::bstr::ByteSlice;
use knowing_model::{Hasher, hex, normalise_url};

use crate::{Checkout, CommitId, Error, ObjectFormat, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoIdentity {
    /// `github.com/acme/app`, `local/9f3c01d2a7b4e655` or `dir/app-0a1b2c3d`.
    pub url: String,
    pub object_format: ObjectFormat,
    pub is_shallow: bool,
    pub notes: Vec<Note>,
}

/// What makes an identity weaker than it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Note {
    /// The name comes from the oldest commit of a shallow clone: a deeper clone has another. A url should be given.
    ShallowBoundary,
    /// There is neither a remote nor a commit; the name comes from the path.
    NoCommit,
    /// There is no git; the name comes from the path.
    Unversioned,
}

impl Checkout {
    /// The name that a remote gives, if there is one.
    pub fn remote_url(&self) -> Option<String> {
        remote_url(&self.local())
    }

    /// The name of the repository. `url` is what the user or the configuration says; it wins.
    pub fn identity(&self, url: Option<&str>) -> Result<RepoIdentity> {
        let repo = self.local();
        let is_shallow = repo.is_shallow().map_err(Error::git("read the shallow boundary"))?;
        let mut notes = Vec::new();
        let url = match given_url(url).or_else(|| remote_url(&repo)) {
            Some(url) => url,
            None => match self.head()?.commit {
                Some(head) => {
                    let (root, goes_on) = first_ancestor(&repo, head)?;
                    notes.extend(goes_on.then_some(Note::ShallowBoundary));
                    format!("local/{}", &root.to_string()[..16])
                }
                None => {
                    notes.push(Note::NoCommit);
                    directory_url(self.work_dir().unwrap_or(self.git_dir()))
                }
            },
        };
        Ok(RepoIdentity { url, object_format: self.object_format(), is_shallow, notes })
    }
}

/// What was said, in its normal form where it has one.
pub(crate) fn given_url(url: Option<&str>) -> Option<String> {
    let url = url.map(str::trim).filter(|it| !it.is_empty())?;
    Some(normalise_url(url).unwrap_or_else(|| url.to_owned()))
}

/// A name for a place without history. `path` is canonical.
pub(crate) fn directory_url(path: &Path) -> String {
    let hash = Hasher::new("repo").field(path.as_os_str().as_encoded_bytes()).finish();
    let name = path.file_name().map(|it| it.to_string_lossy()).unwrap_or_default();
    format!("dir/{name}-{}", &hex(hash.as_bytes())[..8])
}

/// `origin`, else the first remote by name; remotes on this machine are none.
fn remote_url(repo: &gix::Repository) -> Option<String> {
    let config = repo.config_snapshot();
    let mut remotes: Vec<(bool, Vec<u8>, String)> = Vec::new();
    for section in config.plumbing().sections_by_name("remote")? {
        // A remote in the user's own configuration would follow the user, not the repository. Rewriting by
        // `url.*.insteadOf` is left out for the same reason. The repository's remotes count whoever owns it.
        if section.meta().source.kind() != gix::config::source::Kind::Repository {
            continue;
        }
        let (Some(name), Some(url)) =
            (section.header().subsection_name(), section.values("url").into_iter().next())
        else {
            continue;
        };
        let Some(url) = url.to_str().ok().and_then(normalise_url) else { continue };
        remotes.push((*name != "origin", name.to_vec(), url));
    }
    // A stable sort: of two urls of one remote the first counts, as for `git fetch`.
    remotes.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
    remotes.into_iter().next().map(|(_, _, url)| url)
}

/// The end of the first-parent chain, and whether history goes on beyond it in a fuller clone.
fn first_ancestor(repo: &gix::Repository, head: CommitId) -> Result<(CommitId, bool)> {
    let fault = || Error::git("read the history of HEAD");
    let boundary = repo.shallow_commits().map_err(fault())?;
    let mut oldest = head.0;
    for commit in repo.rev_walk([oldest]).first_parent_only().all().map_err(fault())? {
        // A parent that is not here ends the history as a recorded boundary does.
        let Ok(commit) = commit else { break };
        oldest = commit.id;
        if boundary.as_ref().is_some_and(|it| it.iter().any(|id| *id == oldest)) {
            break;
        }
    }
    // A real root may stand on the recorded boundary too; only the commit itself tells.
    let oldest_commit = repo.find_commit(oldest).map_err(fault())?;
    let goes_on = oldest_commit.parent_ids().next().is_some();
    Ok((CommitId(oldest), goes_on))
}
