//! What changed: files, and of each the lines, as the snapshot that answers has them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use knowing_search::FileIndex;
use knowing_store::MinedCommit;
use knowing_vcs::{ChangeKind, Changes as Changed, Hunk, Wanted};

use crate::context_for_pr::changed_lines;
use crate::cx::{Cx, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::place::Place;
use crate::pr_impact::fork_point;
use crate::test_scope::TestScope;
use crate::test_scope::named::{forms, terms};
use crate::view::View;

/// Larger files are taken as changed all over.
const MAX_BYTES: u64 = 4 << 20;
const MAX_FILES: usize = 10_000;
/// Bytes and words of one run of lines that are compared with names of tests.
const MAX_SPOKEN: usize = 8 << 10;
const MAX_WORDS: usize = 400;
/// Lines around a change whose words are compared with those of tests.
const LINES_AROUND: usize = 6;
/// As many as a snapshot knows something of.
const MAX_COMMITS: usize = 3_000;

/// First and last of each run of lines.
type Lines = Vec<(u32, u32)>;

/// Files that changed, before they are looked up.
pub(crate) struct Changes(Vec<Typed>);

#[derive(Default)]
struct Typed {
    path: String,
    /// As git says it, from the top, whatever directory it was asked in.
    is_from_top: bool,
    lines: Option<Lines>,
    words: BTreeSet<String>,
    around: BTreeSet<String>,
}

/// A file that changed.
pub(crate) struct Change {
    pub(crate) path: String,
    /// None for one that the snapshot does not have, or does not read.
    pub(crate) file: Option<FileIndex>,
    /// First and last of each run of changed lines; none: all of them.
    pub(crate) lines: Option<Lines>,
    /// Words of those lines and their stems, where they are known.
    pub(crate) words: BTreeSet<String>,
    /// Terms of them and of the lines around them.
    pub(crate) around: BTreeSet<String>,
}

/// The snapshot to answer from and what changed, in one of the three ways it can be told.
pub(crate) fn of(cx: &mut Cx<'_>, arguments: &TestScope) -> Result<(Opened, Changes, Before)> {
    if let Some(base) = &arguments.base {
        let head = arguments.head.as_deref();
        let fork = fork_point(cx, base, head.unwrap_or("HEAD"))?;
        let changes = since(cx, &fork, head.unwrap_or("HEAD"))?;
        let before = Before::of(cx, &fork)?;
        let opened = match head {
            Some(head) => cx.open_commit(head)?,
            None => cx.open()?,
        };
        return Ok((opened, changes, before));
    }
    let opened = cx.open()?;
    if !arguments.files.is_empty() {
        let whole = |it: &String| Typed { path: it.clone(), ..Typed::default() };
        let changes = Changes(arguments.files.iter().map(whole).collect());
        return Ok((opened, changes, Before(None)));
    }
    let changes = not_committed(&opened);
    if changes.0.is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            "nothing is changed in the work tree, and neither files nor a base revision are given",
            "name changed files, or say where the change starts with `--base REV`",
        ));
    }
    Ok((opened, changes, Before(None)))
}

/// The commits that the change starts from; none: all that the snapshot knows.
pub(crate) struct Before(Option<BTreeSet<Vec<u8>>>);

impl Before {
    fn of(cx: &Cx<'_>, fork: &str) -> Result<Before> {
        let Place::Git(checkout) = cx.place()? else { return Ok(Before(None)) };
        let history = checkout.history(checkout.resolve(fork)?, MAX_COMMITS)?;
        Ok(Before(Some(history.commits.iter().map(|it| it.id.as_bytes().to_owned()).collect())))
    }

    /// What is known of them, newest first; never of the change itself.
    pub(crate) fn commits(&self, opened: &Opened) -> Result<Vec<MinedCommit>> {
        let mut commits = knowing_index::commits(&opened.store, opened.snapshot())?;
        if let Some(before) = &self.0 {
            commits.retain(|it| before.contains(&it.id));
        }
        Ok(commits)
    }
}

fn since(cx: &Cx<'_>, fork: &str, head: &str) -> Result<Changes> {
    let place = cx.place()?;
    let Place::Git(checkout) = &place else { return Ok(Changes(Vec::new())) };
    let (from, to) = (checkout.resolve(fork)?, checkout.resolve(head)?);
    let wanted = Wanted { path: &|_| true, max_files: MAX_FILES, max_bytes: MAX_BYTES };
    let files = match checkout.differ().changes_between(from, to, wanted)? {
        Changed::Files(files) => files,
        Changed::TooMany { .. } => {
            let message = format!("more than {MAX_FILES} files changed since `{fork}`");
            return Err(Error::new(ErrorKind::Limit, message, "run all tests, or name the changed files"));
        }
        Changed::Missing => {
            let message = format!("what changed since `{fork}` is not in this clone");
            return Err(Error::new(ErrorKind::BadInput, message, "fetch it, or name the changed files"));
        }
    };
    let there = files.into_iter().filter(|it| it.kind != ChangeKind::Deleted);
    let typed = there.map(|it| Typed {
        lines: it.text.as_ref().map(changed_lines),
        words: it.text.as_ref().map(|it| words_of(&it.new, &it.hunks)).unwrap_or_default(),
        around: it.text.as_ref().map(|it| terms_around(&it.new, &it.hunks)).unwrap_or_default(),
        path: it.path,
        is_from_top: true,
    });
    Ok(Changes(typed.collect()))
}

/// Lines of the snapshot that are others on disk.
fn not_committed(opened: &Opened) -> Changes {
    let Some(place) = &opened.work.place else { return Changes(Vec::new()) };
    let lines_of = |path: &str, before: &[u8]| -> Option<Typed> {
        let (old, new) = (place.stored_text(before)?, place.text_on_disk(path)?);
        let line_of = |at: usize| 1 + old[..at].iter().filter(|it| **it == b'\n').count() as u32;
        let lines = |hunk: &Hunk| match hunk.old.is_empty() {
            true => (line_of(hunk.old.start).saturating_sub(1), line_of(hunk.old.start)),
            false => (line_of(hunk.old.start), line_of(hunk.old.end - 1)),
        };
        let hunks = knowing_vcs::hunks(&old, &new);
        Some(Typed {
            path: path.to_owned(),
            is_from_top: true,
            lines: Some(hunks.iter().map(lines).collect()),
            words: words_of(&new, &hunks),
            around: terms_around(&new, &hunks),
        })
    };
    let typed = opened.work.changes().map(|it| {
        let known = it.before.as_deref().and_then(|before| lines_of(&it.path, before));
        known.unwrap_or_else(|| Typed { path: it.path.clone(), is_from_top: true, ..Typed::default() })
    });
    Changes(typed.collect())
}

/// Words of the changed parts of a text, and their stems.
fn words_of(text: &[u8], hunks: &[Hunk]) -> BTreeSet<String> {
    hunks.iter().flat_map(|it| forms(&spoken(text, &it.new)).take(MAX_WORDS).collect::<Vec<_>>()).collect()
}

/// Terms of the changed parts of a text and of the lines around them.
fn terms_around(text: &[u8], hunks: &[Hunk]) -> BTreeSet<String> {
    let terms = |it: &Hunk| {
        let is_end = |at: &usize| text.get(*at) == Some(&b'\n');
        let before = (0..it.new.start.min(text.len())).rev().filter(is_end).nth(LINES_AROUND);
        let behind = (it.new.end..text.len()).filter(is_end).nth(LINES_AROUND);
        let wide = before.map_or(0, |it| it + 1)..behind.unwrap_or(text.len());
        terms(&spoken(text, &wide)).take(MAX_WORDS).collect::<Vec<_>>()
    };
    hunks.iter().flat_map(terms).collect()
}

fn spoken<'t>(text: &'t [u8], part: &Range<usize>) -> Cow<'t, str> {
    let text = text.get(part.clone()).unwrap_or_default();
    String::from_utf8_lossy(&text[..text.len().min(MAX_SPOKEN)])
}

impl Changes {
    pub(crate) fn in_view(self, view: &View<'_>) -> Result<Vec<Change>> {
        let names = view.names()?;
        let mut found = Vec::new();
        for Typed { path, is_from_top, lines, words, around } in self.0 {
            let path = path.strip_prefix("./").unwrap_or(&path).to_owned();
            let from_here = format!("{}{path}", view.prefix());
            let path = if !is_from_top && names.find_file(&from_here).is_some() { from_here } else { path };
            found.push(Change { file: names.find_file(&path), path, lines, words, around });
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup_by(|a, b| a.path == b.path);
        Ok(found)
    }
}
