//! Git history as vocabulary: what commits said about the declarations they touched.
//!
//! The newest `N_COMMITS` commits that are no merges count, by `Checkout::history`. Those of bots and those of more than
//! `MAX_FILES` files say nothing, but what they moved is followed. A commit is mined once in its life, from its own diff, and stored; what a snapshot is
//! told follows from its commit's ancestry alone, however the database came about.

use knowing_extract::Outline;
use knowing_model::SnapshotId;
use knowing_store::{FoundCommit, HistoryRow, MinedCommit, NewHistory, SnapshotRow, Store, Touch, Walked};
use knowing_vcs::{
    Ancestry, Changes, Checkout, CommitId, Differ, FileChange, History, Moved, PastCommit, Wanted,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::touched;
use crate::{Check, Result};

/// Version of what is mined from a commit: grows whenever the result may change.
pub(crate) const RULES: u32 = 1;

pub(crate) const N_COMMITS: usize = 3_000;
/// More files are a sweep over the code: its words are about none of them.
const MAX_FILES: usize = 25;
/// Larger files are made by machines.
const MAX_BYTES: u64 = 512 << 10;
/// Characters of a message.
const MAX_MESSAGE: usize = 2_000;

/// Commits that a run may build on another's history for.
const MAX_LINE: usize = 64;

/// What the last run of this process read of history.
#[derive(Default)]
pub(crate) struct Past {
    /// Of the last one that had to walk through merges.
    ancestry: Ancestry,
    /// A snapshot, and all commits of its walk, in its order.
    found: Option<(SnapshotId, Vec<FoundCommit>)>,
}

/// Mines what is new of a snapshot's history and stores it. `base` is a snapshot whose history may be the rest of this
/// one's. Runs on the current rayon pool.
pub(crate) fn mine(
    store: &mut Store,
    checkout: &Checkout,
    commit: CommitId,
    snapshot: &SnapshotRow,
    base: Option<&SnapshotRow>,
    past: &mut Past,
    check: Check<'_>,
) -> Result<HistoryRow> {
    if let Some(known) = store.history(snapshot, RULES)?
        && !known.is_cut
    {
        return Ok(known);
    }
    let before = base.map(|it| store.walked(it, RULES)).transpose()?.flatten();
    let mut older = before.as_deref().unwrap_or_default();
    // What the last run found of the same commits does not have to be looked up again.
    let found = past.found.take().filter(|it| base.is_some_and(|base| base.id == it.0));
    let found = found.map(|it| it.1).filter(|it| it.iter().map(|it| it.row).eq(older.iter().copied()));
    let found = found.unwrap_or_default();
    let line = match base.filter(|_| before.is_some()) {
        Some(base) => line_from(checkout, commit, base)?,
        None => None,
    };
    let history = match line {
        Some(commits) => {
            older = &older[..older.len().min(N_COMMITS - commits.len())];
            History { commits, is_cut: false }
        }
        None => {
            older = &[];
            checkout.next_history(commit, N_COMMITS, &mut past.ancestry)?
        }
    };
    let by_id: FxHashMap<&[u8], &FoundCommit> = match older {
        [] => found.iter().map(|it| (&*it.id, it)).collect(),
        // A line has none of them.
        _ => FxHashMap::default(),
    };
    let commits = history.commits.iter().map(|it| it.id.as_bytes());
    let mut walked: Vec<Walked<'_>> =
        commits.map(|it| by_id.get(it).map_or(Walked::Id(it), |it| Walked::Found(it))).collect();
    let (mut unknown, mut ids) = (Vec::new(), Vec::new());
    for (commit, walked) in history.commits.iter().zip(&walked) {
        if let Walked::Id(id) = walked {
            unknown.push(commit);
            ids.push(*id);
        }
    }
    let mut are_mined = store.are_mined(RULES, &ids)?.into_iter();
    unknown.retain(|_| are_mined.next() == Some(false));
    match found.is_empty() {
        true => walked.extend(older.iter().map(|it| Walked::Row(*it))),
        false => walked.extend(found[..older.len()].iter().map(Walked::Found)),
    }
    let mined: Vec<Option<MinedCommit>> = unknown
        .into_par_iter()
        // Neighbours have most of their trees in common, and a differ keeps them.
        .with_min_len(64)
        .map_init(|| checkout.differ(), |differ, it| check().map(|()| mine_commit(differ, it)))
        .collect::<Result<_>>()?;
    // What could not be read may be there in another clone.
    let is_cut = history.is_cut || mined.iter().any(Option::is_none);
    let mined: Vec<MinedCommit> = mined.into_iter().flatten().collect();
    let commit_time = checkout.commit_time(commit)?;
    let new = NewHistory { rules: RULES, commit_time, is_cut, walked: &walked, mined: &mined };
    let (row, found) = store.write_history(snapshot, &new)?;
    past.found = Some((snapshot.id, found));
    Ok(row)
}

/// The commits since a snapshot, where they are a line.
fn line_from(checkout: &Checkout, commit: CommitId, base: &SnapshotRow) -> Result<Option<Vec<PastCommit>>> {
    let Some(earlier) = CommitId::from_bytes(&base.commit) else { return Ok(None) };
    Ok(checkout.line_from(earlier, commit, MAX_LINE)?)
}

/// None when it cannot be told here what the commit did.
fn mine_commit(differ: &mut Differ, commit: &PastCommit) -> Option<MinedCommit> {
    let mut mined = MinedCommit {
        id: commit.id.as_bytes().to_owned(),
        time: commit.time,
        message: String::new(),
        touches: Vec::new(),
    };
    if is_bot(&commit.author) {
        return Some(mined);
    }
    let wanted =
        Wanted { path: &|path| Outline::of(path).is_some(), max_files: MAX_FILES, max_bytes: MAX_BYTES };
    // A damaged old object must not keep anybody from indexing what is new.
    match differ.changes_of(commit.id, wanted).ok()? {
        Changes::Files(files) => {
            mined.touches = files.into_iter().filter_map(touch).collect();
            if !mined.touches.is_empty() {
                mined.message = message(&commit.message);
            }
            Some(mined)
        }
        Changes::TooMany { moved } => {
            mined.touches = moved.into_iter().map(renamed).collect();
            Some(mined)
        }
        Changes::Missing => None,
    }
}

/// A sweep says nothing of the code, but where older commits are about.
fn renamed(moved: Moved) -> Touch {
    Touch { path: moved.path, old_path: Some(moved.old_path), names: Vec::new() }
}

/// None for a file that is no code.
fn touch(file: FileChange) -> Option<Touch> {
    let outline = Outline::of(&file.path)?;
    let names = file.text.map(|it| touched::names(outline, &it)).unwrap_or_default();
    // A rename alone says nothing of the code, but where older commits are about.
    (!names.is_empty() || file.old_path.is_some()).then_some(Touch {
        path: file.path,
        old_path: file.old_path,
        names,
    })
}

/// Parts of names and addresses, in lower case, by which programs sign.
const BOTS: &[&str] = &[
    "[bot]",
    "allcontributors",
    "dependabot",
    "github-actions",
    "greenkeeper",
    "mergify",
    "pre-commit-ci",
    "pyup-bot",
    "renovate",
    "semantic-release-bot",
    "snyk-bot",
    "weblate",
];

fn is_bot(author: &str) -> bool {
    let author = author.to_ascii_lowercase();
    BOTS.iter().any(|it| author.contains(it))
}

/// First words, in lower case, of lines that say who and where, not what.
const TRAILERS: &[&str] = &[
    "acked-by",
    "cc",
    "change-id",
    "co-authored-by",
    "co-developed-by",
    "git-svn-id",
    "helped-by",
    "pr-url",
    "reported-by",
    "requested-by",
    "reviewed-by",
    "reviewed-on",
    "signed-off-by",
    "suggested-by",
    "tested-by",
];

/// Subject and body, without trailers.
fn message(text: &str) -> String {
    let mut message = String::new();
    let mut room = MAX_MESSAGE;
    for line in text.lines().filter(|it| !is_trailer(it)) {
        let line = line.trim_end();
        if line.is_empty() && (message.is_empty() || message.ends_with("\n\n")) {
            continue;
        }
        let end = line.char_indices().nth(room).map_or(line.len(), |it| it.0);
        message.push_str(&line[..end]);
        room = room.saturating_sub(line.chars().count() + 1);
        if room == 0 {
            break;
        }
        message.push('\n');
    }
    message.truncate(message.trim_end().len());
    message
}

fn is_trailer(line: &str) -> bool {
    line.split_once(':')
        .is_some_and(|(word, _)| TRAILERS.iter().any(|it| it.eq_ignore_ascii_case(word.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_are_left_out_and_long_messages_cut() {
        let text = "Fix the cart\n\n\nIt was empty: always.\n\nSigned-off-by: Ada <a@b>\nCo-Authored-By: B <b@c>\nRefs: #3\n";
        assert_eq!(message(text), "Fix the cart\n\nIt was empty: always.\n\nRefs: #3");
        assert_eq!(message("Change-Id: x\n"), "");
        let long = format!("{}\nmore\n", "ä".repeat(3_000));
        assert_eq!(message(&long).chars().count(), MAX_MESSAGE);
        assert_eq!(message(&"word\n".repeat(1_000)).chars().count(), MAX_MESSAGE - 1);
    }

    #[test]
    fn bots_are_known_by_name_or_address() {
        for author in
            ["dependabot[bot] <x@y>", "Renovate Bot <bot@renovateapp.com>", "x <41898282+github-actions@y>"]
        {
            assert!(is_bot(author), "{author}");
        }
        assert!(!is_bot("Abbott <abbott@example.com>"));
    }
}
