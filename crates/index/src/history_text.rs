//! Which commits speak of which declarations: by today's path of the file they touched, and by name.

use knowing_model::name::without_suffix;
use knowing_store::MinedCommit;
use rustc_hash::FxHashMap;

/// Commits whose text a declaration has.
const MAX_COMMITS: usize = 40;

/// What was said about the files of a snapshot.
pub(crate) struct HistoryText<'c> {
    /// By today's path: places of commits, newest first, and the names each touched.
    files: FxHashMap<&'c str, Vec<(u32, &'c [String])>>,
}

/// What was said about one declaration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Said {
    /// Places of the newest commits.
    pub(crate) commits: Vec<u32>,
    /// How many there are in truth.
    pub(crate) n_commits: u32,
}

impl<'c> HistoryText<'c> {
    /// `commits` are the newest first; `is_file` says whether a path is one of the snapshot.
    pub(crate) fn new(
        commits: impl Iterator<Item = &'c MinedCommit> + Clone,
        is_file: impl Fn(&str) -> bool,
    ) -> HistoryText<'c> {
        // Beside a rename work may go on under the old name, and be merged later.
        let mut merged = Paths::default();
        commits.clone().for_each(|it| merged.go_before(it));
        let mut paths = Paths::default();
        let mut files: FxHashMap<&'c str, Vec<(u32, &'c [String])>> = FxHashMap::default();
        for (place, commit) in (0..).zip(commits) {
            for touch in commit.touches.iter().filter(|it| !it.names.is_empty()) {
                let mut path = paths.today(&touch.path);
                if !is_file(path) {
                    path = merged.today(path);
                }
                files.entry(path).or_default().push((place, &touch.names));
            }
            paths.go_before(commit);
        }
        HistoryText { files }
    }

    /// Places of the commits that touched a file, newest first, and the names each touched.
    pub(crate) fn touches(&self, path: &str) -> &[(u32, &'c [String])] {
        self.files.get(path).map_or(&[], Vec::as_slice)
    }

    /// What was said about each of a file's declarations, which are given by their symbol paths; an empty one is the
    /// file's own top level.
    pub(crate) fn of_file(&self, path: &str, symbols: &[&str]) -> Vec<Said> {
        let mut said = vec![Said::default(); symbols.len()];
        let Some(touches) = self.files.get(path) else { return said };
        let index = Symbols::new(symbols);
        let mut known: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut last: Vec<Option<u32>> = vec![None; symbols.len()];
        for &(place, names) in touches {
            for name in names {
                for &symbol in known.entry(name).or_insert_with(|| index.meant_by(name)).iter() {
                    let symbol = symbol as usize;
                    if last[symbol].replace(place) == Some(place) {
                        continue;
                    }
                    said[symbol].n_commits += 1;
                    if said[symbol].commits.len() < MAX_COMMITS {
                        said[symbol].commits.push(place);
                    }
                }
            }
        }
        said
    }
}

/// Where files of a past commit are today.
#[derive(Default)]
struct Paths<'c> {
    today: FxHashMap<&'c str, &'c str>,
}

impl<'c> Paths<'c> {
    fn today<'p>(&self, path: &'p str) -> &'p str
    where
        'c: 'p,
    {
        self.today.get(path).copied().unwrap_or(path)
    }

    /// Before a rename the file had its old name.
    fn go_before(&mut self, commit: &'c MinedCommit) {
        for touch in &commit.touches {
            if let Some(old) = &touch.old_path {
                let today = self.today(&touch.path);
                self.today.insert(old, today);
            }
        }
    }
}

/// The declarations of a file by name.
struct Symbols<'s> {
    segments: Vec<Vec<&'s str>>,
    by_name: FxHashMap<&'s str, Vec<u32>>,
}

impl<'s> Symbols<'s> {
    fn new(symbols: &[&'s str]) -> Symbols<'s> {
        let segments: Vec<Vec<&'s str>> = symbols.iter().map(|it| segments(without_suffix(it))).collect();
        let mut by_name: FxHashMap<&'s str, Vec<u32>> = FxHashMap::default();
        for (place, segments) in (0..).zip(&segments) {
            by_name.entry(segments.last().copied().unwrap_or_default()).or_default().push(place);
        }
        Symbols { segments, by_name }
    }

    /// The same path; else one that ends like it; else, of `Type.Interface.method`, one of that type. A name without an
    /// owner means a member only when no other has it.
    fn meant_by(&self, name: &str) -> Vec<u32> {
        let wanted = segments(name);
        let named = wanted.last().and_then(|it| self.by_name.get(it)).map(Vec::as_slice).unwrap_or_default();
        let those = |fits: &dyn Fn(&[&str]) -> bool| -> Vec<u32> {
            named.iter().copied().filter(|it| fits(&self.segments[*it as usize])).collect()
        };
        let exact = those(&|it| it == wanted);
        if !exact.is_empty() {
            return exact;
        }
        let [.., owner, _] = wanted.as_slice() else {
            return if named.len() == 1 { named.to_vec() } else { Vec::new() };
        };
        let ending = those(&|it| it.len() > 1 && (it.ends_with(&wanted) || wanted.ends_with(it)));
        if !ending.is_empty() {
            return ending;
        }
        those(&|it| it[..it.len() - 1].contains(owner))
    }
}

/// Owners and name, without type arguments: `Point.From<u8>.from` gives `Point`, `From`, `from`.
fn segments(path: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let (mut from, mut depth) = (0, 0_i32);
    for (at, it) in path.bytes().enumerate() {
        match it {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            b'.' if depth <= 0 => {
                segments.push(&path[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    segments.push(&path[from..]);
    segments.iter().map(|it| it.find('<').filter(|at| *at > 0).map_or(*it, |at| &it[..at])).collect()
}

#[cfg(test)]
mod tests {
    use knowing_store::Touch;

    use super::*;

    fn touch(path: &str, old: Option<&str>, names: &[&str]) -> Touch {
        let names = names.iter().map(|it| (*it).to_owned()).collect();
        Touch { path: path.to_owned(), old_path: old.map(str::to_owned), names }
    }

    fn commits(touches: Vec<Touch>) -> Vec<MinedCommit> {
        let commit = |it| MinedCommit { id: Vec::new(), time: 0, message: String::new(), touches: vec![it] };
        touches.into_iter().map(commit).collect()
    }

    #[track_caller]
    fn check(symbols: &[&str], name: &str, expect: &[u32]) {
        assert_eq!(Symbols::new(symbols).meant_by(name), expect, "{name}");
    }

    #[test]
    fn names_mean_the_same_path_first() {
        let symbols = ["", "f", "A.f", "A.g", "B.f", "A", "mod.C.h", "A.over(int)", "A.over(str)", "x#2"];
        check(&symbols, "", &[0]);
        check(&symbols, "f", &[1]);
        check(&symbols, "A.f", &[2]);
        check(&symbols, "g", &[3]);
        check(&symbols, "A", &[5]);
        check(&symbols, "C.h", &[6]);
        check(&symbols, "outer.A.g", &[3]);
        check(&symbols, "A.over", &[7, 8]);
        check(&symbols, "x", &[9]);
        check(&symbols, "Z.f", &[]);
        check(&symbols, "gone", &[]);
        check(&["A.f", "B.f"], "f", &[]);
        check(&["Point.From<u8>.from", "Point.Display.fmt", "Point.new"], "Point.from", &[0]);
        check(&["f.<locals>.g"], "g", &[0]);
    }

    #[test]
    fn renames_lead_to_todays_path() {
        let commits = commits(vec![
            touch("new.py", None, &["f"]),
            // Work that began before the rename.
            touch("old.py", None, &["f"]),
            touch("new.py", Some("old.py"), &[]),
            touch("old.py", None, &["f"]),
            touch("old.py", Some("oldest.py"), &["f"]),
            touch("oldest.py", None, &["f"]),
        ]);
        let text = HistoryText::new(commits.iter(), |it| it == "new.py");
        assert_eq!(text.of_file("new.py", &["", "f"])[1].commits, [0, 1, 3, 4, 5]);
        assert_eq!(text.of_file("old.py", &["f"]), [Said::default()]);
    }

    #[test]
    fn a_new_file_under_an_old_name_is_another_file() {
        let commits = commits(vec![
            touch("a.py", None, &["f"]),
            touch("b.py", Some("a.py"), &["f"]),
            touch("a.py", None, &["f"]),
        ]);
        let text = HistoryText::new(commits.iter(), |_| true);
        assert_eq!(text.of_file("a.py", &["f"])[0].commits, [0]);
        assert_eq!(text.of_file("b.py", &["f"])[0].commits, [1, 2]);
    }

    #[test]
    fn the_newest_commits_count_each_once() {
        let commits = commits((0..100).map(|_| touch("a.py", None, &["A", "A.f"])).collect());
        let text = HistoryText::new(commits.iter(), |_| true);
        let said = &text.of_file("a.py", &["A.f", "A.f#2", "A"])[0];
        assert_eq!(said.commits, (0..40).collect::<Vec<u32>>());
        assert_eq!(said.n_commits, 100);
    }
}
