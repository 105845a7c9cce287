//! What to read: a commit's tree or a directory, less what is skipped and why.

use std::collections::BTreeMap;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use knowing_extract::{Rules, Screen, SkipReason};
use knowing_vcs::{
    BlobId, Checkout, CommitId, Content, Directory, EntryKind, IGNORE_FILE, Ignore, ObjectFormat,
};

use crate::base::Base;
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
}

pub(crate) struct Candidate {
    pub(crate) path: String,
    pub(crate) blob: BlobId,
    pub(crate) language: &'static str,
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
            scanned.files.push(Candidate { path: entry.path, blob: entry.blob, language });
        }
    }
    Ok(scanned)
}

/// What `scan` finds in a commit, from what it found in that of `base`. None where more than contents of files differs:
/// whether a file is read hangs on its path, on its kind and on the ignore files.
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
    let Some(modified) = checkout.modified_files(before, commit)? else { return Ok(None) };
    if modified.iter().any(|it| it.path.ends_with(IGNORE_FILE)) {
        return Ok(None);
    }
    let mut scanned = Scanned { skipped: base.snapshot.counts.skipped.clone(), ..Scanned::default() };
    for reason in base.skipped.iter().filter_map(|it| it.skip_reason.as_ref()) {
        // What was opened will be looked at again.
        if let Some(count) = scanned.skipped.get_mut(reason) {
            *count = count.saturating_sub(1);
        }
    }
    scanned.skipped.retain(|_, count| *count > 0);
    for file in base.files.iter().chain(&base.skipped) {
        let blob = match modified.binary_search_by(|it| it.path.as_str().cmp(&file.path)) {
            Ok(at) => Some(modified[at].blob),
            Err(_) => BlobId::from_bytes(&file.blob),
        };
        let (Some(blob), Some(language)) = (blob, knowing_extract::accepts(&file.path)) else {
            return Ok(None);
        };
        scanned.files.push(Candidate { path: file.path.clone(), blob, language });
    }
    scanned.files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(Some(scanned))
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
            Some(blob) => scanned.files.push(Candidate { path: file.path, blob, language }),
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
                scanned.files.push(Candidate { path: file.path, blob, language });
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
