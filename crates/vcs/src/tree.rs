//! Lists the files of a commit from git's objects; the work tree is not touched.

use gix::objs::{FindExt, tree};

use crate::{BlobId, Checkout, CommitId, Error, Result};

/// All files of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// In the order of the bytes of their paths.
    pub entries: Vec<TreeEntry>,
    /// Paths that are not UTF-8 or not paths, made readable.
    pub unusable_paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// From the top of the repository, with `/`.
    pub path: String,
    pub blob: BlobId,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    File,
    Executable,
    Symlink,
    Submodule,
}

impl Checkout {
    pub fn tree(&self, commit: CommitId) -> Result<Tree> {
        let repo = self.local();
        let root = repo.find_commit(commit.0).and_then(|it| Ok(it.tree_id()?.detach()));
        let root = root.map_err(Error::git(format!("read commit `{commit}`")))?;
        list(&repo, root, Vec::new())
    }
}

/// A few objects can be put together to a tree of billions of paths; no real repository comes near this.
pub(crate) const MAX_ENTRIES: usize = 5_000_000;

/// All files below the tree `root`, whose own path is `prefix`: empty, or with a `/` at its end.
pub(crate) fn list(repo: &gix::Repository, root: gix::ObjectId, prefix: Vec<u8>) -> Result<Tree> {
    let mut tree = Tree::default();
    let mut waiting = vec![(prefix, root)];
    let mut buffer = Vec::new();
    let mut n_seen = 0;
    while let Some((prefix, id)) = waiting.pop() {
        let fault = || Error::git(format!("read tree `{id}`"));
        for entry in repo.objects.find_tree_iter(&id, &mut buffer).map_err(fault())? {
            let entry = entry.map_err(fault())?;
            n_seen += 1;
            if n_seen > MAX_ENTRIES {
                let reason = format!("it has more than {MAX_ENTRIES} entries");
                return Err(Error::Git { action: format!("list tree `{root}`"), reason });
            }
            let path = [prefix.as_slice(), entry.filename.as_ref()].concat();
            if !is_name(entry.filename) {
                tree.unusable_paths.push(String::from_utf8_lossy(&path).into_owned());
                continue;
            }
            let Some(kind) = kind_of(entry.mode.kind()) else {
                waiting.push(([path.as_slice(), b"/"].concat(), entry.oid.to_owned()));
                continue;
            };
            let blob = BlobId(entry.oid.to_owned());
            match String::from_utf8(path) {
                Ok(path) => tree.entries.push(TreeEntry { path, blob, kind }),
                Err(error) => {
                    tree.unusable_paths.push(String::from_utf8_lossy(error.as_bytes()).into_owned())
                }
            }
        }
    }
    tree.entries.sort_unstable_by(|left, right| (&left.path, left.blob).cmp(&(&right.path, right.blob)));
    // Only a damaged tree names a path twice.
    tree.entries.dedup_by(|later, earlier| later.path == earlier.path);
    tree.unusable_paths.sort_unstable();
    Ok(tree)
}

/// None for a directory.
pub(crate) fn kind_of(kind: tree::EntryKind) -> Option<EntryKind> {
    match kind {
        tree::EntryKind::Tree => None,
        tree::EntryKind::Blob => Some(EntryKind::File),
        tree::EntryKind::BlobExecutable => Some(EntryKind::Executable),
        tree::EntryKind::Link => Some(EntryKind::Symlink),
        tree::EntryKind::Commit => Some(EntryKind::Submodule),
    }
}

/// git writes no other names, but an object can be made by hand.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.contains(&b'/')
}
