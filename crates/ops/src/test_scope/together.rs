//! Which test files changed in the same commits as a file, as far as the history before the change knows.

use std::collections::{BTreeMap, BTreeSet};

use knowing_search::{FileIndex, Names};
use knowing_store::MinedCommit;

/// Test files that one changed file may bring along.
const MAX_FILES: usize = 3;
/// The share of either file's commits that must have changed the other too, in percent: a file that changes with
/// everything says nothing by it.
const LEAST_SHARE: usize = 20;
/// Commits of more files than these two are no sign when they are the only one.
const SMALL: usize = 2;

/// What commits before the change touched, by today's paths.
pub(crate) struct Past<'c> {
    /// Of each file its commits and what they touched in it, newest first.
    files: BTreeMap<&'c str, Vec<(usize, &'c [String])>>,
    /// Of each commit its files.
    commits: Vec<Vec<(&'c str, &'c [String])>>,
}

/// A test file that changed with another.
pub(crate) struct Companion {
    pub(crate) file: FileIndex,
    pub(crate) times: usize,
    /// Last names of what was touched in it, and how often.
    pub(crate) touched: BTreeMap<String, usize>,
}

impl<'c> Past<'c> {
    /// `commits` are newest first.
    pub(crate) fn new(commits: impl Iterator<Item = &'c MinedCommit>) -> Past<'c> {
        let mut past = Past { files: BTreeMap::new(), commits: Vec::new() };
        let mut today: BTreeMap<&'c str, &'c str> = BTreeMap::new();
        for commit in commits {
            let place = past.commits.len();
            let mut touched = Vec::new();
            for touch in &commit.touches {
                let path = today.get(touch.path.as_str()).copied().unwrap_or(&touch.path);
                if !touch.names.is_empty() {
                    past.files.entry(path).or_default().push((place, &touch.names));
                    touched.push((path, &touch.names[..]));
                }
                // Before a rename the file had its old name.
                if let Some(old) = &touch.old_path {
                    today.insert(old, path);
                }
            }
            past.commits.push(touched);
        }
        past
    }

    /// The test files that changed most with a file, as a habit of one of the two, or else more than once. Commits that
    /// touched one of `symbols` count twice.
    pub(crate) fn companions(
        &self,
        path: &str,
        symbols: &BTreeSet<&str>,
        by_habit: bool,
        names: &Names,
        test_files: &BTreeSet<FileIndex>,
    ) -> Vec<Companion> {
        let own = self.files.get(path).map_or(&[][..], Vec::as_slice);
        let mut found: BTreeMap<&str, (f64, bool, Companion)> = BTreeMap::new();
        for (commit, touched) in own {
            let files = &self.commits[*commit];
            let is_same = touched.iter().any(|it| symbols.contains(last(it)));
            for (other, names_there) in files.iter().filter(|it| it.0 != path) {
                let Some(file) = names.find_file(other).filter(|it| test_files.contains(it)) else {
                    continue;
                };
                let entry = found
                    .entry(other)
                    .or_insert_with(|| (0.0, false, Companion { file, times: 0, touched: BTreeMap::new() }));
                // The fewer files a commit has, the more they have to do with each other.
                entry.0 += if is_same { 2.0 } else { 1.0 } / (files.len() as f64).sqrt();
                entry.1 |= files.len() <= SMALL;
                entry.2.times += 1;
                for name in names_there.iter().map(|it| last(it)).filter(|it| !it.is_empty()) {
                    *entry.2.touched.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        let is_habit = |path: &str, it: &(f64, bool, Companion)| {
            let times = it.2.times;
            let is_often = |of: usize| 100 * times >= LEAST_SHARE * of;
            let n_there = self.files.get(path).map_or(0, Vec::len);
            match by_habit {
                true => is_often(own.len()) && (times > 1 || it.1) || times > 2 && is_often(n_there),
                false => times > 1,
            }
        };
        let mut habits: Vec<(f64, bool, Companion)> =
            found.into_iter().filter(|(path, it)| is_habit(path, it)).map(|it| it.1).collect();
        habits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.file.cmp(&b.2.file)));
        habits.truncate(MAX_FILES);
        habits.into_iter().map(|it| it.2).collect()
    }
}

/// The last name of a path of declarations.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
