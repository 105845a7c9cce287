//! What a replay leaves to its end: the search image of the last snapshot, made of what all runs changed, is that of a run
//! from scratch, and whoever asks for a snapshot between gets an answer too.

use std::fs;

use knowing_search::Collection;
use knowing_testkit::Fixture;
use knowing_testkit::edits::{self, Dice, Sources};

use super::Database;
use crate::{Carried, Options, Report, Silent, find_search};

fn replay() -> Database {
    Database::carrying(Carried::of_replay())
}

fn run(database: &mut Database, repo: &Fixture) -> Report {
    database.index(repo, &Options::default(), &Silent)
}

fn from_scratch(repo: &Fixture) -> Vec<u8> {
    let mut scratch = Database::new();
    let report = run(&mut scratch, repo);
    scratch.image_bytes(&report)
}

/// The search image that is there.
fn found(database: &Database, report: &Report) -> Option<Collection> {
    let snapshot = database.store.snapshot(report.snapshot).unwrap().unwrap();
    find_search(&database.store, &snapshot).unwrap()
}

fn is_changes_of(database: &Database, (report, base): (&Report, &Report)) -> bool {
    let base_of = crate::search_base(&database.store.images_dir(), report.snapshot);
    matches!(found(database, report), Some(Collection::Changes(_))) && base_of == Some(base.snapshot)
}

const SHOP: &str = "//- /shop/cart.py
from shop.price import total

class Cart:
    def pay(self): return total()
//- /shop/price.py
def total(): return 1
def half(): return 2
//- /other.py
from shop.cart import Cart
def buy(): Cart().pay()
//- /go.mod
module acme
//- /acme/a.go
package acme

func run() { stop() }
//- /acme/b.go
package acme

func stop() {}
//- /README.md
# Shop
`Cart.pay`
";

/// What a commit writes, path and text, and what it removes.
type Step = (&'static [(&'static str, &'static str)], &'static [&'static str]);

const STEPS: &[Step] = &[
    // A file changes, and changes back; then with other callees.
    (&[("shop/price.py", "def total(): return half()\ndef half(): return 3\n")], &[]),
    (&[("shop/price.py", "def total(): return 1\ndef half(): return 2\n")], &[]),
    (&[("other.py", "from shop.price import half\ndef buy(): half()\n")], &[]),
    // A directory holds what its files declare: what they share is told apart by the file.
    (&[("acme/b.go", "package acme\n\nfunc stop() { run() }\n\nfunc run() {}\n")], &[]),
    (&[("acme/c.go", "package acme\n\nfunc begin() { run() }\n\nfunc stop() {}\n")], &[]),
    (&[("acme/b.go", "package acme\n\nfunc end() {}\n")], &[]),
    (&[], &["acme/c.go"]),
    (&[("acme/c.go", "package acme\n\nfunc begin() { end() }\n")], &[]),
    // A file moves to another directory, and its declarations to another file of the package.
    (&[("store/price.py", "def total(): return 1\ndef half(): return 2\n")], &["shop/price.py"]),
    (&[("acme/a.go", "package acme\n"), ("acme/z.go", "package acme\n\nfunc run() { stop() }\n")], &[]),
    // Nodes come and go.
    (&[("between.py", "from other import buy\ndef only_here(): buy()\n")], &[]),
    (&[("README.md", "# Shop\n## Between\n`only_here`\n")], &["between.py"]),
    // They go and come back, as they were and otherwise.
    (&[("README.md", "# Shop\n")], &["shop/cart.py", "other.py"]),
    (&[("shop/price.py", "def total(): return 1\ndef half(): return 2\n")], &["store/price.py"]),
    (
        &[
            (
                "shop/cart.py",
                "from shop.price import total\n\nclass Cart:\n    def pay(self): return total()\n",
            ),
            ("other.py", "from shop.cart import Cart\ndef buy(): return Cart().pay()\n"),
        ],
        &[],
    ),
];

fn commit(repo: &Fixture, step: usize) {
    let (written, removed) = STEPS[step];
    written.iter().for_each(|(path, text)| repo.write(path, text));
    removed.iter().for_each(|it| repo.remove(it));
    repo.commit(&format!("Step {step} of the way"));
}

#[test]
fn n2_search_after_a_replay_of_any_length_is_that_of_a_run_from_scratch() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Open the shop");
    let mut commits = vec![repo.git(&["rev-parse", "HEAD"])];
    let mut expected = vec![from_scratch(&repo)];
    for step in 0..STEPS.len() {
        commit(&repo, step);
        commits.push(repo.git(&["rev-parse", "HEAD"]));
        expected.push(from_scratch(&repo));
    }
    for first in [0, 3, 8] {
        for last in first + 1..commits.len() {
            let mut database = replay();
            let mut reports = Vec::new();
            for commit in &commits[first..=last] {
                repo.git(&["checkout", "-q", "--detach", commit]);
                reports.push(run(&mut database, &repo));
            }
            let about = format!("{first} to {last}");
            let (begin, end) = (&reports[0], &reports[reports.len() - 1]);
            assert!(found(&database, end).is_none(), "{about}: nobody has asked yet");
            database.finish();
            assert!(is_changes_of(&database, (end, begin)), "{about}");
            assert!(database.image_bytes(end) == expected[last], "{about}");
            for (at, report) in reports.iter().enumerate() {
                assert!(database.image_bytes(report) == expected[first + at], "{about}: {at} on the way");
            }
        }
    }
}

#[test]
fn n2_a_replay_goes_on_after_it_was_finished() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Open the shop");
    let mut database = replay();
    let begin = run(&mut database, &repo);
    for step in 0..STEPS.len() {
        commit(&repo, step);
        let report = run(&mut database, &repo);
        if step % 4 == 3 {
            database.finish();
            // Changes are of the image that the replay began with, however often they are added to.
            assert!(is_changes_of(&database, (&report, &begin)), "{step}");
            assert!(database.image_bytes(&report) == from_scratch(&repo), "{step}");
        }
    }
}

#[test]
fn n2_a_replay_whose_first_image_is_lost_makes_one_of_all() {
    for damage in [None, Some("damaged")] {
        let repo = Fixture::from_text(SHOP);
        repo.commit("Open the shop");
        let mut database = replay();
        let begin = run(&mut database, &repo);
        commit(&repo, 0);
        run(&mut database, &repo);
        commit(&repo, 3);
        let end = run(&mut database, &repo);
        let image = database.store.images_dir().join(format!("{}.search", begin.snapshot));
        match damage {
            Some(text) => fs::write(image, text).unwrap(),
            None => fs::remove_file(image).unwrap(),
        }
        database.finish();
        assert!(matches!(found(&database, &end), Some(Collection::Whole(_))));
        assert!(database.image_bytes(&end) == from_scratch(&repo));
    }
}

#[test]
fn n2_search_after_a_replay_of_random_commits_is_that_of_a_run_from_scratch() {
    let corpus = edits::corpus();
    let (mut n_changes, mut n_whole) = (0, 0);
    for case in edits::cases(6) {
        let mut dice = Dice(case);
        let projects = &corpus[case as usize % corpus.len()];
        let mut files = edits::mixture(projects, &mut dice);
        let repo = Fixture::new();
        let write = |before: &Sources, after: &Sources| {
            before.keys().filter(|it| !after.contains_key(*it)).for_each(|it| repo.remove(it));
            after.iter().for_each(|(path, text)| repo.write(path, text));
            repo.commit(&format!("change {}", after.keys().next().map_or("nothing", String::as_str)));
        };
        write(&Sources::new(), &files);
        let mut database = replay();
        let mut reports = vec![run(&mut database, &repo)];
        let mut past = vec![files.clone()];
        for _ in 0..2 + dice.roll(8) {
            let before = files.clone();
            match dice.roll(4) {
                // What was changed is changed back.
                0 => files = dice.pick(&past).clone(),
                _ => (0..1 + dice.roll(2)).for_each(|_| edits::edit(&mut files, projects, &mut dice)),
            }
            write(&before, &files);
            past.push(files.clone());
            reports.push(run(&mut database, &repo));
        }
        let last = &reports[reports.len() - 1];
        database.finish();
        match found(&database, last) {
            Some(Collection::Changes(_)) => n_changes += 1,
            found => n_whole += usize::from(found.is_some()),
        }
        assert!(database.image_bytes(last) == from_scratch(&repo), "case {case}");
    }
    assert!(n_changes > n_whole, "{n_changes} images of what changed, {n_whole} of all");
}
