//! A place on disk that can be indexed: a checkout, a bare repository, or a directory without git.

use std::path::Path;

use knowing_vcs::{BlobId, Checkout, CommitId, Directory, RepoIdentity};

use crate::error::{Error, ErrorKind, Result};

/// What the name of a repository without a remote begins with.
const FIRST_COMMIT: &str = "local/";

pub(crate) enum Place {
    Git(Box<Checkout>),
    Directory(Directory),
}

impl Place {
    pub(crate) fn at(path: &Path) -> Result<Place> {
        match Checkout::open(path) {
            Ok(checkout) => Ok(Place::Git(Box::new(checkout))),
            Err(knowing_vcs::Error::NotARepository { .. }) if path.is_dir() => {
                Ok(Place::Directory(Directory::open(path)?))
            }
            Err(knowing_vcs::Error::NotARepository { .. }) => Err(Error::new(
                ErrorKind::BadInput,
                format!("`{}` is neither a directory nor inside a repository", path.display()),
                "give the path of a checkout, of a bare repository or of a directory",
            )),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn is_versioned(&self) -> bool {
        matches!(self, Place::Git(_))
    }

    /// What tells this checkout from others: its top directory, or the git directory of a bare one.
    pub(crate) fn key(&self) -> String {
        self.top().to_string_lossy().into_owned()
    }

    pub(crate) fn top(&self) -> &Path {
        match self {
            Place::Git(checkout) => checkout.work_dir().unwrap_or(checkout.git_dir()),
            Place::Directory(directory) => directory.path(),
        }
    }

    /// The text of a file version, when it can be had.
    pub(crate) fn blob(&self, blob: &[u8], path: &str) -> Option<Vec<u8>> {
        match self {
            Place::Git(checkout) => checkout.reader().blob(BlobId::from_bytes(blob)?).ok()?,
            Place::Directory(directory) => directory.read(path).ok()?,
        }
    }

    /// The text of a file version that git has.
    pub(crate) fn stored_text(&self, blob: &[u8]) -> Option<Vec<u8>> {
        match self {
            Place::Git(checkout) => checkout.reader().blob(BlobId::from_bytes(blob)?).ok()?,
            Place::Directory(_) => None,
        }
    }

    /// The text of a file as it would be committed now.
    pub(crate) fn text_on_disk(&self, path: &str) -> Option<Vec<u8>> {
        match self {
            Place::Git(checkout) => checkout.work_reader().ok()??.read(path).ok()?,
            Place::Directory(directory) => directory.read(path).ok()?,
        }
    }

    pub(crate) fn identity(&self, url: Option<&str>) -> Result<RepoIdentity> {
        Ok(match self {
            Place::Git(checkout) => checkout.identity(url)?,
            Place::Directory(directory) => directory.identity(url),
        })
    }

    /// Whether a name that was remembered can still be the one: that of a first commit is none any more where another
    /// repository lies now.
    pub(crate) fn may_be_called(&self, known: &str) -> bool {
        let is_hash = |it: &&str| it.len() == 16 && it.bytes().all(|it| it.is_ascii_hexdigit());
        match (self, known.strip_prefix(FIRST_COMMIT).filter(is_hash)) {
            (Place::Git(checkout), Some(commit)) => checkout.resolve(commit).is_ok(),
            _ => true,
        }
    }

    /// The name that was found before, where finding it again would walk all of history and give the same.
    pub(crate) fn remembered_url<'a>(&self, known: &'a str) -> Option<&'a str> {
        let Place::Git(checkout) = self else { return None };
        let is_of_first_commit = known.starts_with(FIRST_COMMIT) && checkout.remote_url().is_none();
        (is_of_first_commit && self.may_be_called(known)).then_some(known)
    }

    /// The commit of HEAD; none without git or before the first commit.
    pub(crate) fn head(&self) -> Result<Option<CommitId>> {
        match self {
            Place::Git(checkout) => Ok(checkout.head()?.commit),
            Place::Directory(_) => Ok(None),
        }
    }

    /// How many commits `later` is ahead of `earlier`; none when it does not come after it.
    pub(crate) fn n_commits_between(&self, earlier: CommitId, later: CommitId) -> Result<Option<usize>> {
        match self {
            Place::Git(checkout) => Ok(checkout.n_commits_between(earlier, later)?),
            Place::Directory(_) => Ok(None),
        }
    }

    /// The path from the top to a directory in it, with `/` at its end; empty at the top and for what is elsewhere.
    pub(crate) fn prefix_of(&self, directory: &Path) -> String {
        let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        match directory.strip_prefix(self.top()) {
            Ok(inside) if !inside.as_os_str().is_empty() => {
                format!("{}/", inside.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"))
            }
            _ => String::new(),
        }
    }
}
