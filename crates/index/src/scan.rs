//! What to read: a commit's tree or a directory, less what is skipped and why.

use std::collections::BTreeMap;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use knowing_extract::{Rules, Screen, SkipReason};
use knowing_vcs::{
    BlobId, ChangedEntry, Checkout, CommitId, Content, Directory, EntryKind, IGNORE_FILE, Ignore,
    ObjectFormat,
};

use crate::base::{Base, Version};
use crate::{Error, Options, Result};

/// Where files come from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Content is read from git's objects; the work tree is not touched.
    Commit { checkout: &'a Checkout, commit: CommitId },
    /// The files as they lie in the working tree, of which HEAD is this commit.
    WorkTree { checkout: &'a Checkout, commit: CommitId },
    /// A place without git.
    Directory(&'a Directory),
}

impl Source<'_> {
    /// Whether a checkout that is read stands on the snapshot from then on. What is not committed is gone with the next
    /// edit: nothing stands on it.
    pub(crate) fn moves_checkout(self) -> bool {
        !matches!(self, Source::WorkTree { .. })
    }
}

/// Why files were left out: name and count.
pub type Skipped = BTreeMap<String, u64>;

/// Files that an extractor takes, by path.
#[derive(Default)]
pub(crate) struct Scanned {
    pub(crate) files: Vec<Candidate>,
    pub(crate) skipped: Skipped,
    /// What the commit ignores, where it was looked for.
    pub(crate) ignore: Option<Arc<Ignore>>,
}

pub(crate) struct Candidate {
    pub(crate) path: Arc<str>,
    pub(crate) blob: BlobId,
    pub(crate) language: &'static str,
    /// Its place among the files that the snapshot before has read, where it is known to be the same version.
    pub(crate) same: Option<u32>,
}

impl Candidate {
    fn new(path: String, blob: BlobId, language: &'static str) -> Candidate {
        Candidate { path: path.into(), blob, language, same: None }
    }
}

impl Scanned {
    pub(crate) fn skip(&mut self, reason: &str) {
        self.skip_many(reason, 1);
    }

    fn skip_many(&mut self, reason: &str, n_files: usize) {
        if n_files > 0 {
            *self.skipped.entry(reason.to_owned()).or_default() += n_files as u64;
        }
    }

    /// Takes back that a file was left out.
    fn unskip(&mut self, reason: &str) {
        if let Some(count) = self.skipped.get_mut(reason) {
            *count -= 1;
            if *count == 0 {
                self.skipped.remove(reason);
            }
        }
    }

    /// The language of a file that is to be read; one that is not is counted.
    fn language(&mut self, filter: &Filter, path: &str, kind: EntryKind) -> Option<&'static str> {
        filter.decide(path, kind).map_err(|reason| self.skip(reason)).ok()
    }
}

pub(crate) fn scan(source: Source<'_>, options: &Options) -> Result<Scanned> {
    let filter = Filter::new(options)?;
    match source {
        Source::Commit { checkout, commit } => scan_commit(checkout, commit, &filter),
        Source::WorkTree { checkout, .. } => scan_work_tree(checkout, &filter),
        Source::Directory(directory) => scan_directory(directory, &filter),
    }
}

fn scan_commit(checkout: &Checkout, commit: CommitId, filter: &Filter) -> Result<Scanned> {
    let tree = checkout.tree(commit)?;
    let reader = checkout.reader();
    let ignore = Ignore::from_tree(&reader, &tree)?;
    let mut scanned = Scanned::default();
    scanned.skip_many(SkipReason::PathEncoding.name(), tree.unusable_paths.len());
    for entry in tree.entries {
        if ignore.is_ignored(&entry.path) {
            scanned.skip(IGNORED);
            continue;
        }
        if let Some(language) = scanned.language(filter, &entry.path, entry.kind) {
            scanned.files.push(Candidate::new(entry.path, entry.blob, language));
        }
    }
    scanned.ignore = Some(ignore.into());
    Ok(scanned)
}

/// What `scan` finds in a commit, from what it found in that of `base`. None where the tree has to be listed: when an ignore
/// file is another one, and when files came or went and it is not known yet what is ignored.
pub(crate) fn scan_since(
    checkout: &Checkout,
    base: Option<&Base>,
    commit: CommitId,
    options: &Options,
) -> Result<Option<Scanned>> {
    let Some(base) = base.filter(|it| it.lists_commit && options.cover_all()) else {
        return Ok(None);
    };
    let Some(before) = CommitId::from_bytes(&base.snapshot.commit) else { return Ok(None) };
    let Some(changed) = checkout.changed_entries(before, commit)? else { return Ok(None) };
    if changed.iter().any(|it| it.path.ends_with(IGNORE_FILE)) {
        return Ok(None);
    }
    let skipped = base.snapshot.counts.skipped.clone();
    let mut scanned = Scanned { skipped, ignore: base.ignore.clone(), ..Scanned::default() };
    // What was opened will be looked at again.
    base.files.skipped.iter().for_each(|it| scanned.unskip(&it.1));
    let Some(changed) = changed_files(&mut scanned, changed, &Filter::new(options)?) else { return Ok(None) };
    let read = (0..).zip(&base.files.read).map(|(at, it)| (it, Some(at)));
    let left_out = base.files.skipped.iter().map(|it| (&it.0, None));
    let mut before: Vec<(&Version, Option<u32>)> = read.chain(left_out).collect();
    if !base.files.skipped.is_empty() {
        before.sort_by(|one, other| one.0.path.cmp(&other.0.path));
    }
    scanned.files.reserve(before.len());
    let mut changed = changed.into_iter().peekable();
    for (Version { path, blob, language, .. }, same) in before {
        while let Some(it) = changed.next_if(|it| *it.path < **path) {
            scanned.files.extend(it.came());
        }
        match (changed.next_if(|it| it.path == *path), language) {
            (Some(it), _) => scanned.files.extend(it.file),
            (None, Some(language)) => {
                scanned.files.push(Candidate { path: path.clone(), blob: *blob, language, same })
            }
            (None, None) => return Ok(None),
        }
    }
    scanned.files.extend(changed.filter_map(Changed::came));
    Ok(Some(scanned))
}

/// A path at which something changed.
struct Changed {
    path: Arc<str>,
    /// What is to be read there now.
    file: Option<Candidate>,
    /// A file stood there and does: if it was left out for its path, it is now.
    is_content: bool,
}

impl Changed {
    /// What is to be read where nothing was.
    fn came(self) -> Option<Candidate> {
        self.file.filter(|_| !self.is_content)
    }
}

/// What changed at each path, and what is to be read there. What is left out, or was, for its path or
/// its kind is counted. None when it is not known what is ignored, and matters.
fn changed_files(scanned: &mut Scanned, changed: Vec<ChangedEntry>, filter: &Filter) -> Option<Vec<Changed>> {
    let mut all = Vec::with_capacity(changed.len());
    for ChangedEntry { path, before, after } in changed {
        let is_file = |it: EntryKind| matches!(it, EntryKind::File | EntryKind::Executable);
        let is_content = before.is_some_and(is_file) && after.is_some_and(|it| is_file(it.0));
        let is_ignored = match &scanned.ignore {
            Some(ignore) => ignore.is_ignored(&path),
            None if is_content => false,
            None => return None,
        };
        let decide = |kind| if is_ignored { Err(IGNORED) } else { filter.decide(&path, kind) };
        if !is_content {
            if let Some(Err(reason)) = before.map(decide) {
                scanned.unskip(reason);
            }
            if let Some(Err(reason)) = after.map(|it| decide(it.0)) {
                scanned.skip(reason);
            }
        }
        let language = after.and_then(|(kind, blob)| Some((blob, decide(kind).ok()?)));
        let path: Arc<str> = path.into();
        let file =
            language.map(|(blob, language)| Candidate { path: path.clone(), blob, language, same: None });
        all.push(Changed { path, file, is_content });
    }
    Some(all)
}

/// Only files are read that git's index does not know as they are.
fn scan_work_tree(checkout: &Checkout, filter: &Filter) -> Result<Scanned> {
    let list = checkout.work_files()?;
    let mut reader = checkout.work_reader()?;
    let mut scanned = Scanned::default();
    scanned.skip_many(SkipReason::PathEncoding.name(), list.unusable_paths.len());
    for file in list.files {
        let Some(language) = scanned.language(filter, &file.path, file.kind) else { continue };
        let blob = match (file.content, &mut reader) {
            (Content::Known(blob), _) => Some(blob),
            (Content::OnDisk { .. }, Some(reader)) => {
                reader.read(&file.path)?.map(|it| checkout.hash_blob(&it)).transpose()?
            }
            (Content::OnDisk { .. }, None) => None,
        };
        match blob {
            Some(blob) => scanned.files.push(Candidate::new(file.path, blob, language)),
            None => scanned.skip(SkipReason::MissingObject.name()),
        }
    }
    Ok(scanned)
}

/// Files have no ids here, so that each is read to learn its own.
fn scan_directory(directory: &Directory, filter: &Filter) -> Result<Scanned> {
    let list = directory.files();
    let mut scanned = Scanned::default();
    scanned.skip_many(SkipReason::PathEncoding.name(), list.unusable_paths.len());
    for file in list.files {
        let Some(language) = scanned.language(filter, &file.path, file.kind) else { continue };
        match directory.read(&file.path)? {
            Some(bytes) => {
                let blob = knowing_vcs::hash_blob(ObjectFormat::Sha1, &bytes)?;
                scanned.files.push(Candidate::new(file.path, blob, language));
            }
            None => scanned.skip(SkipReason::MissingObject.name()),
        }
    }
    Ok(scanned)
}

const IGNORED: &str = "ignored";
const UNSUPPORTED: &str = "unsupported";

/// What path and kind alone decide.
struct Filter {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    rules: Rules,
}

impl Filter {
    fn new(options: &Options) -> Result<Filter> {
        Ok(Filter {
            include: globs(&options.include)?,
            exclude: globs(&options.exclude)?,
            rules: options.rules(),
        })
    }

    /// The extractor that takes the file, or why none does.
    fn decide(&self, path: &str, kind: EntryKind) -> std::result::Result<&'static str, &'static str> {
        match kind {
            EntryKind::Symlink => return Err(SkipReason::Symlink.name()),
            EntryKind::Submodule => return Err(SkipReason::Submodule.name()),
            EntryKind::File | EntryKind::Executable => {}
        }
        let fits = |globs: &Option<Gitignore>| {
            globs.as_ref().map(|it| it.matched_path_or_any_parents(path, false).is_ignore())
        };
        if fits(&self.include) == Some(false) || fits(&self.exclude) == Some(true) {
            return Err(IGNORED);
        }
        if let Screen::Skip(reason @ SkipReason::Vendored) =
            knowing_extract::screen_with(path, &[], &self.rules)
        {
            return Err(reason.name());
        }
        knowing_extract::accepts(path).ok_or(UNSUPPORTED)
    }
}

/// Globs in the syntax of ignore files; none when there are none.
fn globs(patterns: &[String]) -> Result<Option<Gitignore>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let unfit = |pattern: &str, error: ignore::Error| Error::Glob {
        pattern: pattern.to_owned(),
        reason: error.to_string(),
    };
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(|it| unfit(pattern, it))?;
    }
    builder.build().map(Some).map_err(|it| unfit(&patterns.join(", "), it))
}
