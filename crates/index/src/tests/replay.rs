//! What a replay leaves to its end: the search image of the last snapshot, made of what all runs changed, is that of a run
//! from scratch, and whoever asks for a snapshot between gets an answer too.

use std::fs;

use knowing_search::Collection;
use knowing_testkit::Fixture;
use knowing_testkit::edits::{self, Dice, Sources};

use super::{Database, essence};
use crate::{Carried, Options, Report, Silent, find_search, open_names};

fn replay() -> Database {
    Database::carrying(Carried::of_replay())
}

/// Replays that make images on their way at every run, at some, and never.
fn replays() -> [Database; 3] {
    let carried = [Carried::of_short_replay(0), Carried::of_short_replay(25), Carried::of_replay()];
    carried.map(Database::carrying)
}

/// The images of graph and names that were made are those that are built of the rows. Gives how many files there were.
#[track_caller]
fn check_images(database: &Database, report: &Report) -> usize {
    let snapshot = database.store.snapshot(report.snapshot).unwrap().unwrap();
    let path = |ending: &str| database.store.images_dir().join(format!("{}.{ending}", report.snapshot));
    let read = || ["graph", "names"].map(|it| fs::read(path(it)).ok());
    let made = read();
    ["graph", "names"].iter().for_each(|it| drop(fs::remove_file(path(it))));
    open_names(&database.store, &snapshot).unwrap();
    let built = read();
    let n_made = made.iter().flatten().count();
    for (made, built) in made.into_iter().zip(built) {
        assert!(made.is_none() || made == built);
    }
    n_made
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
            for (number, mut database) in replays().into_iter().enumerate() {
                let mut reports = Vec::new();
                for commit in &commits[first..=last] {
                    repo.git(&["checkout", "-q", "--detach", commit]);
                    reports.push(run(&mut database, &repo));
                }
                let about = format!("{first} to {last}, {number}");
                let (begin, end) = (&reports[0], &reports[reports.len() - 1]);
                assert!(found(&database, end).is_none(), "{about}: nobody has asked yet");
                database.finish();
                assert!(is_changes_of(&database, (end, begin)), "{about}");
                assert!(database.image_bytes(end) == expected[last], "{about}");
                assert_eq!(check_images(&database, end), 2, "{about}");
                for (at, report) in reports.iter().enumerate() {
                    let bytes = database.image_bytes(report);
                    assert!(bytes == expected[first + at], "{about}: {at} on the way");
                }
            }
        }
    }
}

#[test]
fn n2_a_replay_goes_on_after_it_was_finished() {
    for mut database in replays() {
        let repo = Fixture::from_text(SHOP);
        repo.commit("Open the shop");
        let begin = run(&mut database, &repo);
        for step in 0..STEPS.len() {
            commit(&repo, step);
            let report = run(&mut database, &repo);
            if step % 4 == 3 {
                database.finish();
                // Changes are of the image that the replay began with, however often they are added to.
                assert!(is_changes_of(&database, (&report, &begin)), "{step}");
                assert!(database.image_bytes(&report) == from_scratch(&repo), "{step}");
                assert_eq!(check_images(&database, &report), 2, "{step}");
            }
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
fn n2_a_commit_that_changes_nothing_is_a_step_of_a_replay_too() {
    for mut database in replays() {
        let repo = Fixture::from_text(SHOP);
        repo.commit("Open the shop");
        let begin = run(&mut database, &repo);
        let again = run(&mut database, &repo);
        assert_eq!(begin.snapshot, again.snapshot);
        repo.commit("Nothing");
        let nothing = run(&mut database, &repo);
        repo.write("picture.png", "not read");
        repo.commit("Nothing that is read");
        let unread = run(&mut database, &repo);
        assert_eq!((nothing.root, unread.root), (begin.root, begin.root));
        assert_eq!((nothing.nodes, nothing.edges), (begin.nodes, begin.edges));
        database.finish();
        assert_eq!(check_images(&database, &unread), 2);
        assert!(database.image_bytes(&unread) == from_scratch(&repo));
        commit(&repo, 0);
        let next = run(&mut database, &repo);
        assert!(next.n_resolved < next.files);
    }
}

#[test]
fn n2_a_replay_that_goes_on_elsewhere_leaves_images_of_where_it_was() {
    for mut database in replays() {
        let repo = Fixture::from_text(SHOP);
        let first = repo.commit("Open the shop");
        let begin = run(&mut database, &repo);
        commit(&repo, 0);
        run(&mut database, &repo);
        commit(&repo, 2);
        let end = run(&mut database, &repo);
        // A snapshot that is there: nothing is made of it, and what was left is made.
        repo.git(&["checkout", "-q", "--detach", &first]);
        assert_eq!(run(&mut database, &repo).snapshot, begin.snapshot);
        assert!(is_changes_of(&database, (&end, &begin)));
        assert_eq!(check_images(&database, &end), 2);
        // What goes on from there is of another line.
        commit(&repo, 3);
        run(&mut database, &repo);
        commit(&repo, 4);
        let other = run(&mut database, &repo);
        let mut scratch = Database::new();
        let full = run(&mut scratch, &repo);
        assert_eq!(essence(&other), essence(&full));
        database.finish();
        assert_eq!(check_images(&database, &other), 2);
        assert!(database.image_bytes(&other) == scratch.image_bytes(&full));
    }
}

#[test]
fn n2_a_replay_whose_first_snapshot_is_collected_has_its_images_built_anew() {
    for mut database in replays() {
        let repo = Fixture::from_text(SHOP);
        repo.commit("Open the shop");
        run(&mut database, &repo);
        for step in 0..6 {
            commit(&repo, step);
            run(&mut database, &repo);
            database.collect();
        }
        commit(&repo, 6);
        let end = run(&mut database, &repo);
        database.collect();
        database.finish();
        assert!(matches!(found(&database, &end), Some(Collection::Whole(_))));
        let mut scratch = Database::new();
        let full = run(&mut scratch, &repo);
        assert_eq!(essence(&end), essence(&full));
        assert_eq!(check_images(&database, &end), 2);
        assert!(database.image_bytes(&end) == scratch.image_bytes(&full));
    }
}

#[test]
fn n2_a_replay_that_is_dropped_leaves_what_the_next_run_hangs_on() {
    let repo = Fixture::from_text(SHOP);
    repo.commit("Open the shop");
    let mut database = replay();
    run(&mut database, &repo);
    commit(&repo, 0);
    let report = run(&mut database, &repo);
    let snapshot = database.store.snapshot(report.snapshot).unwrap().unwrap();
    database.carried = None;
    assert_eq!(crate::keys_fit(&database.store, &snapshot).unwrap(), Some(true));
    assert_eq!(check_images(&database, &report), 0);
    // Now that somebody has asked, a run can build on it.
    commit(&repo, 1);
    let next = run(&mut database, &repo);
    assert!(next.n_resolved < next.files);
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
        let [every, some, none] = replays();
        let mut database = [none, some, every].into_iter().nth(case as usize % 3).unwrap();
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
        assert_eq!(check_images(&database, last), 2, "case {case}");
    }
    assert!(n_changes > n_whole, "{n_changes} images of what changed, {n_whole} of all");
}
