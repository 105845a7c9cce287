use knowing_testkit::Fixture;

use super::{id, open};
use crate::{Error, History};

/// Subjects in the order of the walk from HEAD.
#[track_caller]
fn walk(repo: &Fixture, limit: usize) -> (Vec<String>, History) {
    let checkout = open(repo);
    let history = checkout.history(checkout.head().unwrap().commit.unwrap(), limit).unwrap();
    (history.commits.iter().map(|it| it.message.trim().to_owned()).collect(), history)
}

#[test]
fn the_newest_commits_come_first_and_the_count_bounds_them() {
    let repo = Fixture::new();
    for n in 0..10 {
        repo.commit(&n.to_string());
    }
    let (subjects, history) = walk(&repo, 3);
    assert_eq!(subjects, ["9", "8", "7"]);
    assert!(!history.is_cut);
    assert_eq!(history.commits[0].time, 1_700_000_000 + 9 * 60);
    assert_eq!(history.commits[0].author, "Ada <ada@example.com>");
    let (subjects, history) = walk(&repo, 100);
    assert_eq!(subjects.len(), 10);
    assert_eq!((history.commits[9].n_parents, history.is_cut), (0, false));
    assert_eq!(walk(&repo, 0).0, <[String; 0]>::default());
}

#[test]
fn merges_are_walked_through_and_not_counted() {
    let repo = Fixture::new();
    repo.commit("root");
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit("side 1");
    repo.git(&["checkout", "-q", "main"]);
    repo.commit("main 1");
    repo.git(&["checkout", "-q", "side"]);
    repo.commit("side 2");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    assert_eq!(walk(&repo, 3).0, ["side 2", "main 1", "side 1"]);
    assert_eq!(walk(&repo, 9).0, ["side 2", "main 1", "side 1", "root"]);
}

#[test]
fn equal_times_are_ordered_by_id_and_a_slow_clock_hides_nothing() {
    let repo = Fixture::new();
    let root = repo.commit("root");
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    let make = |message: &str, parents: &[&str], time: &str| {
        repo.write("made", &format!("tree {tree}\n"));
        let mut text = format!("tree {tree}\n");
        parents.iter().for_each(|it| text.push_str(&format!("parent {it}\n")));
        text.push_str(&format!("author A <a@b> {time} +0000\ncommitter A <a@b> {time} +0000\n\n{message}\n"));
        repo.write("made", &text);
        repo.git(&["hash-object", "-t", "commit", "-w", "made"])
    };
    let mut sides = [make("x", &[&root], "1700000500"), make("y", &[&root], "1700000500")];
    sides.sort();
    sides.reverse();
    // Its clock stood: older than its parents by far.
    let late = make("late", &[&sides[0]], "1000");
    let head = make("head", &[&late, &sides[1]], "1700000900");
    repo.git(&["reset", "-q", "--soft", &head]);
    let (_, history) = walk(&repo, 10);
    let ids: Vec<String> = history.commits.iter().map(|it| it.id.to_string()).collect();
    assert_eq!(ids, [sides[1].clone(), root, late, sides[0].clone()]);
}

#[test]
fn a_shallow_clone_ends_at_its_boundary_and_says_so() {
    let source = Fixture::new();
    for n in 0..5 {
        source.commit(&n.to_string());
    }
    let clone = Fixture::clone_of(&source, &["--depth", "2"]);
    let (subjects, history) = walk(&clone, 100);
    assert_eq!(subjects, ["4", "3"]);
    assert!(history.is_cut);
    // The limit was reached first.
    assert!(!walk(&clone, 1).1.is_cut);
}

#[test]
fn a_commit_that_is_not_here_is_an_error() {
    let repo = Fixture::new();
    repo.commit("first");
    assert!(matches!(open(&repo).history(id(&"1".repeat(40)), 1), Err(Error::Git { .. })));
}
