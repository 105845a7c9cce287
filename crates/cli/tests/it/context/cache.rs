//! Packs that are kept: given again for the same question, and never for another.

use serde_json::Value;

use super::warehouse;
use crate::session::Session;

const TASK: &str = "retry sending a parcel";

/// Questions of which no two may share an answer.
const QUESTIONS: [&[&str]; 16] = [
    &["context", TASK],
    &["context", TASK, "--budget", "3000"],
    &["context", TASK, "--budget", "3001"],
    &["context", TASK, "--limit", "5"],
    &["context", TASK, "--limit", "6"],
    &["context", TASK, "--ranker", "formula"],
    &["context", TASK, "--format", "markdown"],
    &["context", TASK, "--format", "gcf"],
    &["context", TASK, "--format", "gcf", "--detail", "signature"],
    &["context", TASK, "--format", "xml"],
    &["context", TASK, "--format", "gcb"],
    &["context", TASK, "--detail", "brief"],
    &["context", TASK, "--detail", "source"],
    &["context", TASK, "--without", "walk", "--ranker", "formula"],
    &["context", "retry sending a Parcel to `retry_parcel_3`"],
    &["context", "--files", "depots/depot_3.py"],
];

#[test]
fn q7_a_kept_pack_is_given_for_its_own_question_only() {
    let (session, repo) = (Session::new(), warehouse());
    // What each question is answered when nothing was kept.
    let fresh: Vec<Value> = QUESTIONS
        .iter()
        .map(|it| {
            let alone = Session::new();
            alone.json(repo.path(), it)
        })
        .collect();
    for round in ["made", "kept"] {
        for (question, expected) in QUESTIONS.iter().zip(&fresh) {
            assert_eq!(session.json(repo.path(), question), *expected, "{round}: {question:?}");
        }
    }
    for (place, one) in fresh.iter().enumerate() {
        for other in &fresh[place + 1..] {
            assert_ne!(one, other);
        }
    }
    for (question, expected) in QUESTIONS.iter().zip(&fresh) {
        let without = [question, &["--without", "pack_cache"] as &[&str]].concat();
        assert_eq!(session.json(repo.path(), &without), *expected, "made anew: {question:?}");
    }
}

#[test]
fn q7_another_tree_has_packs_of_its_own() {
    let (session, repo) = (Session::new(), warehouse());
    let first = session.json(repo.path(), &["context", TASK, "--ranker", "formula"]);
    repo.write("depots/extra.py", "def retry_sending(parcel):\n    return parcel\n");
    repo.commit("retry sending");
    let second = session.json(repo.path(), &["context", TASK, "--ranker", "formula"]);
    assert_ne!(first["snapshot"], second["snapshot"]);
    assert_ne!(first["symbols"], second["symbols"]);
    repo.git(&["checkout", "-q", "HEAD~1"]);
    assert_eq!(session.json(repo.path(), &["context", TASK, "--ranker", "formula"]), first);
}

#[test]
fn q7_another_repository_in_the_same_database_has_packs_of_its_own() {
    let (one, two) = (warehouse(), warehouse());
    two.write("depots/extra.py", "def retry_sending(parcel):\n    return parcel\n");
    two.git(&["commit", "-q", "--amend", "-m", "another first commit"]);
    two.commit("retry sending");
    let session = Session::new();
    let database = session.file("both.db");
    let ask = |repo: &knowing_testkit::Fixture| {
        session.json(repo.path(), &["context", TASK, "--db", database.to_str().unwrap()])
    };
    let (first, second) = (ask(&one), ask(&two));
    assert_ne!(first["repo"], second["repo"]);
    assert_eq!((ask(&one), ask(&two)), (first, second));
}

#[test]
fn q7_a_path_means_another_file_in_another_directory() {
    let (session, repo) = (Session::new(), warehouse());
    repo.write("a/same.py", "def in_a():\n    return 1\n");
    repo.write("b/same.py", "def in_b():\n    return 2\n");
    repo.commit("two of one name");
    for _ in 0..2 {
        for (directory, symbol) in [("a", "in_a"), ("b", "in_b")] {
            let pack = session.json(&repo.path().join(directory), &["context", "--files", "same.py"]);
            assert_eq!(pack["symbols"][0]["name"], symbol);
        }
    }
    // However it is typed, it is the same pack.
    let from_top = session.json(repo.path(), &["context", "--files", "a/same.py"]);
    assert_eq!(session.json(repo.path(), &["context", "--files", "./a/same.py"]), from_top);
    assert_eq!(session.json(&repo.path().join("a"), &["context", "--files", "same.py"]), from_top);
}
