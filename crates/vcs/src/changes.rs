//! What a commit changed against its first parent: files, renames, and the lines of texts.

use std::ops::ControlFlow;

use gix::{
    bstr::{BStr, BString},
    diff::tree::{self, Visit, visit},
    objs::{CommitRefIter, Find, FindExt, Kind, TreeRefIter},
    odb::{Header, pack::cache::lru::MemoryCappedHashmap},
};

use crate::{
    Checkout, CommitId, Error, Hunk, Result,
    hunks::hunks,
    renames::{self, File},
};

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// By path.
    Files(Vec<FileChange>),
    /// More files than were asked for. Only which of them were moved is told.
    TooMany { moved: Vec<Moved> },
    /// The parent, or a file it takes to tell, is not in this repository.
    Missing,
}

/// A file under another path than before, by its new path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub path: String,
    pub old_path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Of a deleted file where it was.
    pub path: String,
    /// Where a renamed file was before.
    pub old_path: Option<String>,
    pub kind: ChangeKind,
    /// None for a file that is not wanted, is no text, is too large, or did not change but in name or mode.
    pub text: Option<TextChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    Renamed,
}

/// Both versions (one is empty for an added or deleted file) and where they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    pub old: Vec<u8>,
    pub new: Vec<u8>,
    pub hunks: Vec<Hunk>,
}

/// What of a commit is looked at.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Paths of files whose content matters; of others no content is read.
    pub path: &'a (dyn Fn(&str) -> bool + Sync),
    pub max_files: usize,
    /// Larger files are not read.
    pub max_bytes: u64,
}

/// Compares commits with their parents. Not shared between threads; keeps what neighbouring commits have in common.
pub struct Differ {
    objects: gix::OdbHandle,
    state: tree::State,
    trees: [Vec<u8>; 2],
}

/// Bases of deltas kept in memory, per differ.
const CACHED_BYTES: usize = 32 * 1024 * 1024;

impl Checkout {
    pub fn differ(&self) -> Differ {
        let mut objects = self.local().objects;
        objects.set_pack_cache(|| Box::new(MemoryCappedHashmap::new(CACHED_BYTES)));
        Differ { objects, state: tree::State::default(), trees: Default::default() }
    }
}

impl Differ {
    /// The changes of a commit against its first parent; of a first commit, against nothing.
    ///
    /// A rename is a file that is gone and a new one with the same content or, where both are wanted, with half of its
    /// lines in common. It counts as one file.
    pub fn changes_of(&mut self, commit: CommitId, wanted: Wanted<'_>) -> Result<Changes> {
        let Some(parents) = read_root(&self.objects, commit.0, &mut self.trees[1])? else {
            return Ok(Changes::Missing);
        };
        self.compare(parents.first().copied(), commit, wanted)
    }

    /// The changes from one commit to another, whatever lies between them.
    pub fn changes_between(&mut self, from: CommitId, to: CommitId, wanted: Wanted<'_>) -> Result<Changes> {
        match read_root(&self.objects, to.0, &mut self.trees[1])? {
            Some(_) => self.compare(Some(from.0), to, wanted),
            None => Ok(Changes::Missing),
        }
    }

    /// The new tree has been read.
    fn compare(
        &mut self,
        old: Option<gix::ObjectId>,
        commit: CommitId,
        wanted: Wanted<'_>,
    ) -> Result<Changes> {
        let fault = || Error::git(format!("read commit `{commit}`"));
        let [old_tree, new_tree] = &mut self.trees;
        old_tree.clear();
        if let Some(old) = old
            && read_root(&self.objects, old, old_tree)?.is_none()
        {
            return Ok(Changes::Missing);
        }
        let format = commit.0.kind();
        let mut found = Found::new(wanted.max_files);
        let (old, new) =
            (TreeRefIter::from_bytes(old_tree, format), TreeRefIter::from_bytes(new_tree, format));
        match gix::diff::tree(old, new, &mut self.state, &self.objects, &mut found) {
            Ok(()) => {}
            Err(tree::Error::Cancelled) => return Ok(Changes::TooMany { moved: Vec::new() }),
            Err(tree::Error::Failure(error)) => return Err(fault()(error)),
        }
        self.settle(found, wanted)
    }

    fn settle(&self, found: Found, wanted: Wanted<'_>) -> Result<Changes> {
        let Found { mut added, mut deleted, modified, n_changes, .. } = found;
        added.sort_unstable();
        deleted.sort_unstable();
        // Each file may be one half of a rename.
        if n_changes > wanted.max_files.saturating_mul(2) {
            return Ok(too_many(&deleted, &added, wanted));
        }
        let mut settled = Settled { differ: self, wanted, files: Vec::new(), is_missing: false };
        settled.pair_equal(&mut added, &mut deleted)?;
        settled.pair_alike(&mut added, &mut deleted)?;
        for (path, old, new) in &modified {
            settled.push(ChangeKind::Modified, Some((path, *old)), Some((path, *new)))?;
        }
        for file in &added {
            settled.push(ChangeKind::Added, None, Some((&file.path, file.blob)))?;
        }
        for file in &deleted {
            settled.push(ChangeKind::Deleted, Some((&file.path, file.blob)), None)?;
        }
        if settled.is_missing {
            return Ok(Changes::Missing);
        }
        let mut files = settled.files;
        if files.len() > wanted.max_files {
            let moved = |it: FileChange| Some(Moved { path: it.path, old_path: it.old_path? });
            let mut moved: Vec<Moved> = files.into_iter().filter_map(moved).collect();
            moved.retain(|it| (wanted.path)(&it.path));
            moved.sort_unstable_by(|one, other| one.path.cmp(&other.path));
            return Ok(Changes::TooMany { moved });
        }
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(Changes::Files(files))
    }

    /// The bytes of a text; none for what is too large or no text.
    fn text(&self, id: gix::ObjectId, max_bytes: u64) -> Result<Content> {
        let fault = || Error::git(format!("read blob `{id}`"));
        match self.objects.try_header(&id).map_err(fault())? {
            None => return Ok(Content::Missing),
            Some(header) if header.kind() != Kind::Blob || header.size() > max_bytes => {
                return Ok(Content::Other);
            }
            Some(_) => {}
        }
        let mut bytes = Vec::new();
        let n_bytes = match self.objects.find_blob(&id, &mut bytes) {
            Ok(blob) => blob.data.len(),
            Err(error) => return Err(fault()(error)),
        };
        bytes.truncate(n_bytes);
        // What git takes for binary.
        match bytes[..bytes.len().min(8000)].contains(&0) {
            true => Ok(Content::Other),
            false => Ok(Content::Text(bytes)),
        }
    }
}

/// Reads the tree of a commit and gives its parents; none when either is not here.
pub(crate) fn read_root(
    objects: &gix::OdbHandle,
    commit: gix::ObjectId,
    out: &mut Vec<u8>,
) -> Result<Option<Vec<gix::ObjectId>>> {
    let fault = || Error::git(format!("read commit `{commit}`"));
    let Some(object) = objects.try_find(&commit, out).map_err(fault())? else { return Ok(None) };
    if object.kind != Kind::Commit {
        let reason = format!("it is a {}", object.kind);
        return Err(Error::Git { action: format!("read commit `{commit}`"), reason });
    }
    let mut fields = CommitRefIter::from_bytes(object.data, commit.kind());
    let tree = fields.tree_id().map_err(fault())?;
    let parents = fields.parent_ids().collect();
    let Some(n_bytes) = objects.try_find(&tree, out).map_err(fault())?.map(|it| it.data.len()) else {
        return Ok(None);
    };
    out.truncate(n_bytes);
    Ok(Some(parents))
}

enum Content {
    Text(Vec<u8>),
    Other,
    Missing,
}

/// What is told of a sweep: no content is read for it.
fn too_many(deleted: &[File], added: &[File], wanted: Wanted<'_>) -> Changes {
    let paths = renames::moved(deleted, added).into_iter().filter_map(|(old, new)| {
        let path = std::str::from_utf8(&added[new].path).ok().filter(|it| (wanted.path)(it))?;
        let old_path = std::str::from_utf8(&deleted[old].path).ok()?;
        Some(Moved { path: path.to_owned(), old_path: old_path.to_owned() })
    });
    Changes::TooMany { moved: paths.collect() }
}

struct Settled<'a> {
    differ: &'a Differ,
    wanted: Wanted<'a>,
    files: Vec<FileChange>,
    is_missing: bool,
}

impl Settled<'_> {
    /// Takes out what was moved without a change.
    fn pair_equal(&mut self, added: &mut Vec<File>, deleted: &mut Vec<File>) -> Result<()> {
        let mut rest = Vec::new();
        for file in std::mem::take(added) {
            match deleted.iter().position(|it| it.blob == file.blob) {
                Some(at) => {
                    let old = deleted.remove(at);
                    self.push(
                        ChangeKind::Renamed,
                        Some((&old.path, old.blob)),
                        Some((&file.path, file.blob)),
                    )?;
                }
                None => rest.push(file),
            }
        }
        *added = rest;
        Ok(())
    }

    /// Takes out what was moved and changed.
    fn pair_alike(&mut self, added: &mut Vec<File>, deleted: &mut Vec<File>) -> Result<()> {
        let (old, new) = (self.texts(deleted)?, self.texts(added)?);
        if old.is_empty() || new.is_empty() {
            return Ok(());
        }
        let contents = |side: &[(usize, Vec<u8>)]| side.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
        let pairs = renames::pairs(&contents(&old), &contents(&new));
        let (mut gone, mut made) = (Vec::new(), Vec::new());
        for (from, to) in pairs {
            let (from, to) = (old[from].0, new[to].0);
            let (before, after) = (&deleted[from], &added[to]);
            let before = Some((&before.path, before.blob));
            self.push(ChangeKind::Renamed, before, Some((&after.path, after.blob)))?;
            gone.push(from);
            made.push(to);
        }
        remove_all(deleted, gone);
        remove_all(added, made);
        Ok(())
    }

    /// Wanted files with their place in the list.
    fn texts(&self, files: &[File]) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut texts = Vec::new();
        for (place, file) in files.iter().enumerate() {
            if !self.is_wanted(&file.path) {
                continue;
            }
            if let Content::Text(text) = self.differ.text(file.blob, self.wanted.max_bytes)? {
                texts.push((place, text));
            }
        }
        Ok(texts)
    }

    fn is_wanted(&self, path: &BString) -> bool {
        std::str::from_utf8(path).is_ok_and(|it| (self.wanted.path)(it))
    }

    fn push(
        &mut self,
        kind: ChangeKind,
        old: Option<(&BString, gix::ObjectId)>,
        new: Option<(&BString, gix::ObjectId)>,
    ) -> Result<()> {
        let Some((path, _)) = new.or(old) else { return Ok(()) };
        let readable = |path: &BString| String::from_utf8_lossy(path).into_owned();
        let blobs = (old.map(|it| it.1), new.map(|it| it.1));
        let text = match self.is_wanted(path) && blobs.0 != blobs.1 {
            true => self.text_change(blobs)?,
            false => None,
        };
        let old_path = old.filter(|_| kind == ChangeKind::Renamed).map(|it| readable(it.0));
        self.files.push(FileChange { path: readable(path), old_path, kind, text });
        Ok(())
    }

    fn text_change(
        &mut self,
        (old, new): (Option<gix::ObjectId>, Option<gix::ObjectId>),
    ) -> Result<Option<TextChange>> {
        let mut texts = [Vec::new(), Vec::new()];
        for (id, text) in [old, new].into_iter().zip(&mut texts) {
            let Some(id) = id else { continue };
            match self.differ.text(id, self.wanted.max_bytes)? {
                Content::Text(bytes) => *text = bytes,
                Content::Other => return Ok(None),
                Content::Missing => {
                    self.is_missing = true;
                    return Ok(None);
                }
            }
        }
        let [old, new] = texts;
        let hunks = hunks(&old, &new);
        Ok(Some(TextChange { old, new, hunks }))
    }
}

fn remove_all<T>(list: &mut Vec<T>, places: Vec<usize>) {
    let mut place = 0;
    list.retain(|_| {
        place += 1;
        !places.contains(&(place - 1))
    });
}

/// Gathers the files of a comparison of two trees; directories are looked through.
struct Found {
    added: Vec<File>,
    deleted: Vec<File>,
    modified: Vec<(BString, gix::ObjectId, gix::ObjectId)>,
    path: BString,
    waiting: std::collections::VecDeque<BString>,
    n_changes: usize,
    max_files: usize,
}

/// Added and deleted files that are gathered: more are another history, not a move.
const MAX_GATHERED: usize = 40_000;

impl Found {
    fn new(max_files: usize) -> Found {
        Found {
            added: Vec::new(),
            deleted: Vec::new(),
            modified: Vec::new(),
            path: BString::default(),
            waiting: std::collections::VecDeque::new(),
            n_changes: 0,
            max_files,
        }
    }
}

impl Visit for Found {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.path = self.waiting.pop_front().unwrap_or_default();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.push_path_component(component);
        self.waiting.push_back(self.path.clone());
    }

    fn push_path_component(&mut self, component: &BStr) {
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(component);
    }

    fn pop_path_component(&mut self) {
        let end = self.path.iter().rposition(|it| *it == b'/').unwrap_or(0);
        self.path.truncate(end);
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        if change.entry_mode().is_tree() {
            return ControlFlow::Continue(());
        }
        let path = self.path.clone();
        match change {
            visit::Change::Addition { oid, .. } => self.added.push(File { path, blob: oid }),
            visit::Change::Deletion { oid, .. } => self.deleted.push(File { path, blob: oid }),
            visit::Change::Modification { previous_oid, oid, .. } => {
                self.n_changes += 1;
                if self.modified.len() <= self.max_files {
                    self.modified.push((path, previous_oid, oid));
                }
            }
        }
        self.n_changes += 1;
        match self.added.len() + self.deleted.len() > MAX_GATHERED {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
