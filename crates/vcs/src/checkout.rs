//! Finds the repository of a path and says where its HEAD is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use gix::{
    ThreadSafeRepository,
    discover::upwards,
    open::{Options, Permissions, permissions},
    sec::{Permission, trust::Mapping},
};

use crate::{BlobId, CommitId, Error, ObjectFormat, Reader, Result, error::reason, hash_blob};

/// A repository as seen from one place: a work tree, a linked worktree, a submodule or a bare directory.
///
/// Cheap to clone and to share between threads.
#[derive(Clone)]
pub struct Checkout {
    repo: ThreadSafeRepository,
    object_format: ObjectFormat,
}

/// Where HEAD stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// None before the first commit.
    pub commit: Option<CommitId>,
    /// The branch without `refs/heads/`; none when HEAD is detached.
    pub branch: Option<String>,
}

impl Checkout {
    /// Opens the repository that `path` is in, or that `path` is.
    pub fn open(path: &Path) -> Result<Checkout> {
        Checkout::open_with(path, upwards::TrustPolicy::default())
    }

    pub(crate) fn open_with(path: &Path, trust: upwards::TrustPolicy) -> Result<Checkout> {
        let place = fs::canonicalize(path).map_err(|_| Error::NoSuchPath { path: path.to_owned() })?;
        let directory = match place.is_dir() {
            true => place.as_path(),
            false => place.parent().unwrap_or(&place),
        };
        refuse_dangling(directory)?;
        let discovery = upwards::Options { trust, ..Default::default() };
        let options = Mapping { full: options_for_owner(), reduced: options_for_others() };
        let repo = ThreadSafeRepository::discover_opts(directory, discovery, options)
            .map_err(|error| refusal(path, &error))?;
        let object_format = ObjectFormat::of(repo.to_thread_local().object_hash()).ok_or_else(|| {
            Error::ObjectFormat { path: path.to_owned(), reason: "unknown hash function".to_owned() }
        })?;
        Ok(Checkout { repo, object_format })
    }

    /// The top of the working tree; none for a bare repository.
    pub fn work_dir(&self) -> Option<&Path> {
        self.repo.work_dir()
    }

    /// The directory of this worktree's HEAD and index.
    pub fn git_dir(&self) -> &Path {
        self.repo.git_dir()
    }

    /// The directory that all worktrees of the repository share.
    pub fn common_dir(&self) -> PathBuf {
        let common = self.local().common_dir().to_owned();
        // In a linked worktree the library says `.git/worktrees/name/../..`.
        fs::canonicalize(&common).unwrap_or(common)
    }

    pub fn object_format(&self) -> ObjectFormat {
        self.object_format
    }

    pub fn head(&self) -> Result<Head> {
        let repo = self.local();
        let mut head = repo.head().map_err(Error::git("read HEAD"))?;
        let branch = head.referent_name().map(|name| name.shorten().to_string());
        let commit = match head.is_unborn() {
            true => None,
            false => Some(head.peel_to_commit().map_err(Error::git("read the commit of HEAD"))?.id),
        };
        Ok(Head { commit: commit.map(CommitId), branch })
    }

    /// The commit that a revision names (`HEAD~2`, a branch, a tag, an abbreviated id ...).
    pub fn resolve(&self, revision: &str) -> Result<CommitId> {
        let refuse =
            |error: gix::Error| Error::Revision { text: revision.to_owned(), reason: reason(&error) };
        let repo = self.local();
        let object = repo.rev_parse_single(revision).and_then(|id| id.object()).map_err(refuse)?;
        let commit = object.peel_to_commit().map_err(refuse)?;
        Ok(CommitId(commit.id))
    }

    /// When the commit was made, by its committer's clock, in seconds since 1970.
    pub fn commit_time(&self, commit: CommitId) -> Result<i64> {
        let read = || self.local().find_commit(commit.0)?.time();
        read().map(|time| time.seconds).map_err(Error::git(format!("read commit `{commit}`")))
    }

    /// A handle for one thread that reads objects.
    pub fn reader(&self) -> Reader {
        Reader::new(self.local().objects)
    }

    /// The id that git gives to a file with these bytes in this repository.
    pub fn hash_blob(&self, bytes: &[u8]) -> Result<BlobId> {
        hash_blob(self.object_format, bytes)
    }

    pub(crate) fn local(&self) -> gix::Repository {
        self.repo.to_thread_local()
    }
}

fn options_for_owner() -> Options {
    let permissions = Permissions {
        // A hook's `GIT_DIR`, `GIT_INDEX_FILE` and the like name the hook's repository; the path decides here.
        env: permissions::Environment {
            git_prefix: Permission::Deny,
            objects: Permission::Deny,
            ..permissions::Environment::all()
        },
        config: permissions::Config { env: false, ..permissions::Config::all() },
        ..Permissions::all()
    };
    // Replaced objects would give one commit id different content on different machines.
    Options::default().permissions(permissions).config_overrides(["core.useReplaceRefs=false"])
}

/// Another user's repository may not make us read files that it names.
fn options_for_others() -> Options {
    let options = options_for_owner();
    let mut permissions = options.permissions;
    permissions.config.includes = false;
    options.permissions(permissions)
}

/// The nearest `.git` may be a file that names a directory which is gone: of a removed main checkout, say. That is
/// neither a place without a repository nor part of a repository around it.
fn refuse_dangling(directory: &Path) -> Result<()> {
    let Some(file) = directory.ancestors().map(|it| it.join(".git")).find(|it| it.exists()) else {
        return Ok(());
    };
    let text = if file.is_file() { fs::read_to_string(&file).unwrap_or_default() } else { String::new() };
    let Some(named) = text.strip_prefix("gitdir:") else { return Ok(()) };
    let target = file.with_file_name("").join(named.trim());
    match target.is_dir() {
        true => Ok(()),
        false => Err(Error::Dangling { file, target }),
    }
}

fn refusal(path: &Path, error: &gix::Error) -> Error {
    let path = path.to_owned();
    if error.downcast_any_ref::<upwards::Error>().is_some() {
        return Error::NotARepository { path };
    }
    let reason = reason(error);
    if reason.contains("extensions.objectFormat") {
        return Error::ObjectFormat { path, reason };
    }
    Error::Git { action: format!("open the repository at `{}`", path.display()), reason }
}
