//! What commits say, from real repositories to what is stored of them.

use knowing_store::{MinedCommit, NewHistory};
use knowing_testkit::Fixture;

use super::Database;
use crate::history::{N_COMMITS, RULES};
use crate::{Options, Report, Silent};

impl Database {
    fn run(&mut self, repo: &Fixture) -> Report {
        self.index(repo, &Options::default(), &Silent)
    }

    /// Commits that say something, newest first: subject, and for each file `path < old path: names`.
    fn told(&self, report: &Report) -> Vec<(String, Vec<String>)> {
        let snapshot = self.store.snapshot(report.snapshot).unwrap().unwrap();
        let told = |it: MinedCommit| {
            let files = it.touches.iter().map(|touch| {
                let old = touch.old_path.as_ref().map(|it| format!(" < {it}")).unwrap_or_default();
                format!("{}{old}: {}", touch.path, touch.names.join(" "))
            });
            (it.message.lines().next().unwrap_or_default().to_owned(), files.collect())
        };
        self.store.commits_of(&snapshot, RULES).unwrap().into_iter().map(told).collect()
    }
}

#[track_caller]
fn check(repo: &Fixture, expect: &[(&str, &[&str])]) {
    let mut database = Database::new();
    let report = database.run(repo);
    let told = database.told(&report);
    let told: Vec<(&str, Vec<&str>)> =
        told.iter().map(|it| (it.0.as_str(), it.1.iter().map(String::as_str).collect())).collect();
    let expect: Vec<(&str, Vec<&str>)> = expect.iter().map(|it| (it.0, it.1.to_vec())).collect();
    assert_eq!(told, expect);
}

#[test]
fn a_change_tells_of_the_declarations_it_lies_in() {
    let repo = Fixture::from_text(
        "//- /shop.py
import re


class Cart:
    size = 0

    def add(self, it):
        self.items.append(it)

    def total(self):
        return 0


def make():
    return Cart()
//- /src/lib.rs
pub struct Point(f32);

impl Point {
    pub fn area(&self) -> f32 {
        0.0
    }
}

fn helper() {
    let x = 1;
}
",
    );
    repo.commit("first");
    let text = String::from_utf8(repo.read("shop.py")).unwrap();
    repo.write("shop.py", &text.replace("return 0", "return sum(self.items)"));
    repo.commit("sum up");
    repo.write("shop.py", &text.replace("import re", "import re, os").replace("size = 0", "size = 1"));
    repo.commit("outside");
    let rust = String::from_utf8(repo.read("src/lib.rs")).unwrap();
    repo.write("src/lib.rs", &rust.replace("0.0", "self.0 * self.0").replace("let x = 1;", "let x = 2;"));
    repo.write("notes.md", "hello\n");
    repo.commit("square");
    repo.write("notes.md", "hello again\n");
    repo.commit("words only");
    check(
        &repo,
        &[
            ("square", &["src/lib.rs: Point.area helper"]),
            ("outside", &["shop.py:  Cart Cart.total"]),
            ("sum up", &["shop.py: Cart.total"]),
            ("first", &["shop.py:  Cart Cart.add Cart.total make", "src/lib.rs: Point Point.area helper"]),
        ],
    );
}

#[test]
fn renames_are_kept_and_deletions_tell_what_they_took() {
    let body: String = (0..20).map(|it| format!("def f{it}():\n    return {it}\n\n\n")).collect();
    let repo = Fixture::new();
    repo.write("old.py", &body);
    repo.write("gone.py", "def gone():\n    pass\n");
    repo.commit("first");
    repo.git(&["mv", "old.py", "new.py"]);
    repo.commit("move");
    repo.git(&["mv", "new.py", "newer.py"]);
    repo.write("newer.py", &body.replace("return 7", "return 8"));
    repo.remove("gone.py");
    repo.commit("move and edit");
    let all: Vec<String> = {
        let mut names: Vec<String> = (0..20).map(|it| format!("f{it}")).collect();
        names.sort();
        names
    };
    check(
        &repo,
        &[
            ("move and edit", &["gone.py: gone", "newer.py < new.py: f7"]),
            ("move", &["new.py < old.py: "]),
            ("first", &["gone.py: gone", &format!("old.py: {}", all.join(" "))]),
        ],
    );
}

#[test]
fn merges_bots_and_sweeps_say_nothing_but_count() {
    let repo = Fixture::from_text("//- /a.py\ndef f():\n    return 1\n");
    repo.commit("first");
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("b.py", "def g():\n    return 1\n");
    repo.commit("side");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("a.py", "def f():\n    return 2\n");
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "bump", "--author", "dependabot[bot] <49699333+dependabot@x>"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    (0..26).for_each(|it| repo.write(&format!("many/{it}.py"), &format!("def f{it}(): pass\n")));
    repo.commit("sweep");
    check(&repo, &[("side", &["b.py: g"]), ("first", &["a.py: f"])]);
}

#[test]
fn a_commit_is_mined_once() {
    let repo = Fixture::from_text("//- /a.py\ndef f():\n    return 1\n");
    repo.commit("first");
    let mut database = Database::new();
    let first = database.run(&repo);
    // Whoever read the commit again would find its own words.
    let snapshot = database.store.snapshot(first.snapshot).unwrap().unwrap();
    let mut mined = database.store.commits_of(&snapshot, RULES).unwrap();
    mined[0].message = "as it was mined".to_owned();
    let new = NewHistory { rules: RULES, commit_time: 0, is_cut: false, walked: &[], mined: &mined };
    database.store.write_history(&snapshot, &new).unwrap();
    for n in 2..5 {
        repo.write("a.py", &format!("def f():\n    return {n}\n"));
        repo.commit(&format!("commit {n}"));
        let report = database.run(&repo);
        let told = database.told(&report);
        assert_eq!(told.len(), n);
        assert_eq!(told.last().unwrap().0, "as it was mined");
    }
}

#[test]
fn a_shallow_clone_tells_less_until_a_whole_one_comes() {
    let source = Fixture::new();
    for n in 0..6 {
        source.write("a.py", &format!("def f():\n    return {n}\n"));
        source.commit(&format!("commit {n}"));
    }
    let clone = Fixture::clone_of(&source, &["--depth", "3"]);
    let mut database = Database::new();
    let shallow = database.run(&clone);
    let subjects = |database: &Database, report: &Report| -> Vec<String> {
        database.told(report).into_iter().map(|it| it.0).collect()
    };
    // What the commit on the boundary changed cannot be told.
    assert_eq!(subjects(&database, &shallow), ["commit 5", "commit 4"]);
    let snapshot = database.store.snapshot(shallow.snapshot).unwrap().unwrap();
    assert!(database.store.history(&snapshot, RULES).unwrap().unwrap().is_cut);

    let whole = database.run(&source);
    assert_eq!((whole.snapshot, whole.root), (shallow.snapshot, shallow.root));
    assert_eq!(subjects(&database, &whole).len(), 6);
    // And the shallow one takes nothing away.
    let again = database.run(&clone);
    assert_eq!(subjects(&database, &again).len(), 6);
}

#[test]
fn history_is_bounded_by_its_count() {
    let repo = Fixture::new();
    let n_commits = N_COMMITS + 20;
    let mut stream = String::new();
    for n in 0..n_commits {
        let (text, message) = (format!("def f():\n    return {n}\n"), format!("commit {n}"));
        stream.push_str(&format!(
            "commit refs/heads/main\ncommitter A <a@b> {} +0000\ndata {}\n{message}\nM 644 inline a.py\ndata {}\n{text}\n",
            1_700_000_000 + n,
            message.len(),
            text.len()
        ));
    }
    repo.write("stream", &stream);
    repo.git(&["-c", "alias.import=!git fast-import --quiet < stream", "import"]);
    let mut database = Database::new();
    let report = database.run(&repo);
    let told = database.told(&report);
    assert_eq!(told.len(), N_COMMITS);
    assert_eq!(told[0].0, format!("commit {}", n_commits - 1));
    assert_eq!(told[N_COMMITS - 1].0, "commit 20");
}
