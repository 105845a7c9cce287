//! Many tasks in one process: a line of JSON each, in the order of the file.

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use super::names;
use crate::session::{Session, shop};

/// Runs a file of lines; what is no text is written as JSON.
#[track_caller]
fn batch(session: &Session, directory: &std::path::Path, lines: &[Value], more: &[&str]) -> Vec<Value> {
    let file = session.file("tasks.jsonl");
    let written = lines.iter().map(|it| match it {
        Value::String(raw) => format!("{raw}\n"),
        line => format!("{line}\n"),
    });
    std::fs::write(&file, written.collect::<String>()).unwrap();
    let arguments = [&["context", "--tasks", file.to_str().unwrap(), "--json"], more].concat();
    let text = session.text(directory, &arguments);
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// What a pack says, without the task's id.
fn without_id(answer: &Value) -> Value {
    let mut answer = answer.clone();
    answer.as_object_mut().unwrap().remove("id");
    answer
}

/// The shop, and a commit later with a voucher instead of a desk.
fn two_commits() -> (Fixture, String, String) {
    let repo = shop();
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.remove("shop/desk.py");
    repo.write("shop/voucher.py", "def redeem_voucher(code):\n    return code\n");
    let second = repo.commit("vouchers instead of a desk");
    (repo, first, second)
}

#[test]
fn a_batch_keeps_the_order_and_carries_ids() {
    let (session, repo) = (Session::new(), shop());
    let ids =
        [json!("b"), json!(7), json!("a"), json!(-1), json!("7"), json!({"set": "x", "n": [1]}), json!(null)];
    let lines: Vec<Value> =
        ids.iter().map(|id| json!({"id": id, "description": "the total of a cart"})).collect();
    let answers = batch(&session, repo.path(), &lines, &[]);
    let carried: Vec<&Value> = answers.iter().map(|it| &it["id"]).collect();
    assert_eq!(carried, ids.iter().collect::<Vec<_>>());
    // Each is what the task alone is answered.
    let alone = session.json(repo.path(), &["context", "the total of a cart"]);
    for answer in &answers {
        assert_eq!(without_id(answer), alone);
    }
}

#[test]
fn options_of_a_batch_hold_for_every_task() {
    let (session, repo) = (Session::new(), shop());
    let tasks = ["the total of a cart", "serve at the desk", "close"];
    let lines: Vec<Value> = tasks.iter().map(|it| json!({"id": it, "description": it})).collect();
    for options in
        [&["--limit", "2"] as &[&str], &["--ranker", "formula"], &["--budget", "300"], &["--without", "walk"]]
    {
        let answers = batch(&session, repo.path(), &lines, options);
        for (task, answer) in tasks.iter().zip(&answers) {
            let alone = session.json(repo.path(), &[&["context", task], options].concat());
            assert_eq!(without_id(answer), alone, "{options:?}");
        }
    }
    session.error(repo.path(), &["context", "--tasks", "x.jsonl", "--budget", "3"], 2, "usage");
    session.error(repo.path(), &["context", "--tasks", "no-such-file.jsonl"], 2, "bad_input");
}

#[test]
fn a_task_with_a_base_is_answered_for_that_commit() {
    let (repo, first, second) = two_commits();
    let session = Session::new();
    let voucher = "redeem a voucher at the desk";
    let lines = [
        json!({"id": 1, "description": voucher, "base": first}),
        json!({"id": 2, "description": voucher, "base": second}),
        json!({"id": 3, "description": voucher}),
        json!({"id": 4, "description": voucher, "base": first[..10]}),
        json!({"id": 5, "description": voucher, "base": "HEAD~1"}),
        json!({"id": 6, "description": voucher, "base": "main"}),
    ];
    let answers = batch(&session, repo.path(), &lines, &[]);
    let has = |answer: &Value, name: &str| names(answer).iter().any(|it| it == name);
    for (answer, is_first) in answers.iter().zip([true, false, false, true, true, false]) {
        let commit = if is_first { &first } else { &second };
        assert_eq!((&answer["tree"], &answer["fresh"]), (&commit[..12].into(), &"yes".into()));
        assert_eq!(has(answer, "shop/desk.py.serve"), is_first, "{:?}", names(answer));
        assert_eq!(has(answer, "shop/voucher.py.redeem_voucher"), !is_first);
    }
    assert_eq!(without_id(&answers[0]), without_id(&answers[3]));
    assert_eq!(without_id(&answers[1]), without_id(&answers[2]));
}

#[test]
fn a_batch_does_not_move_where_the_checkout_stands() {
    let (repo, first, second) = two_commits();
    let session = Session::new();
    session.index(&repo);
    let stands = || {
        let stats = session.json(repo.path(), &["stats"]);
        (stats["tree"].clone(), stats["fresh"].clone(), stats["snapshot"].clone())
    };
    let before = stands();
    assert_eq!(before.0, second[..12]);
    batch(&session, repo.path(), &[json!({"id": 1, "description": "desk", "base": first})], &[]);
    assert_eq!(stands(), before);
    session.error(repo.path(), &["query", "serve"], 1, "not_found");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), second);
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    // Nor is it where another question begins that names no commit.
    let next = session.json(repo.path(), &["context", "redeem a voucher"]);
    assert_eq!(next["tree"], second[..12]);
}

#[test]
fn a_batch_of_old_commits_says_nothing_of_a_checkout_that_was_never_indexed() {
    let (repo, first, _) = two_commits();
    let session = Session::new();
    batch(&session, repo.path(), &[json!({"id": 1, "description": "desk", "base": first})], &[]);
    session.error(repo.path(), &["stats", "--stale-policy", "warn"], 1, "no_index");
}

#[test]
fn a_bare_repository_has_a_batch_too() {
    let (repo, first, second) = two_commits();
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let session = Session::new();
    let lines = [
        json!({"id": 1, "description": "serve at the desk", "base": first}),
        json!({"id": 2, "description": "redeem a voucher", "base": second}),
        json!({"id": 3, "description": "redeem a voucher"}),
    ];
    let inside = batch(&session, &bare, &lines, &[]);
    assert!(names(&inside[0]).contains(&"shop/desk.py.serve".to_owned()));
    assert!(names(&inside[1]).contains(&"shop/voucher.py.redeem_voucher".to_owned()));
    assert_eq!(without_id(&inside[1]), without_id(&inside[2]));
    let elsewhere = Fixture::directory();
    let named = batch(&session, elsewhere.path(), &lines, &["--repo", bare.to_str().unwrap()]);
    assert_eq!(named, inside);
}

#[test]
fn bad_lines_and_unknown_commits_fail_alone() {
    let (repo, _, _) = two_commits();
    let session = Session::new();
    let good = |id: u32| json!({"id": id, "description": "redeem a voucher"});
    let lines = [
        good(1),
        json!("this is no JSON"),
        json!({"id": "no description"}),
        json!({"description": "no id"}),
        json!({"id": 5, "description": 5}),
        json!({"id": 6, "description": "x", "base": "no-such-revision"}),
        json!({"id": 7, "description": "x", "base": "0".repeat(40)}),
        json!({"id": 8, "description": "x".repeat((64 << 10) + 1)}),
        json!("[1, 2]"),
        json!(""),
        json!("\u{fffd}{"),
        good(12),
    ];
    let answers = batch(&session, repo.path(), &lines, &[]);
    // An empty line is none.
    assert_eq!(answers.len(), 11);
    for (place, kind) in [
        (1, "bad_input"),
        (2, "bad_input"),
        (3, "bad_input"),
        (4, "bad_input"),
        (5, "not_found"),
        (6, "not_found"),
        (7, "usage"),
        (8, "bad_input"),
        (9, "bad_input"),
    ] {
        let answer = &answers[place];
        assert_eq!(answer["error"]["kind"], kind, "{answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|it| !it.is_empty()), "{answer}");
        assert_eq!(answer.get("symbols"), None);
        assert!(answer.get("id").is_some(), "{answer}");
    }
    let ids: Vec<&Value> = answers.iter().map(|it| &it["id"]).collect();
    // What has no id is named by its line.
    assert_eq!(
        ids,
        [
            &json!(1),
            &json!(2),
            &json!("no description"),
            &json!(4),
            &json!(5),
            &json!(6),
            &json!(7),
            &json!(8),
            &json!(9),
            &json!(11),
            &json!(12)
        ]
    );
    assert_eq!(without_id(&answers[0]), without_id(&answers[10]));
    assert!(names(&answers[0]).contains(&"shop/voucher.py.redeem_voucher".to_owned()));
}

#[test]
fn a_batch_that_has_failures_says_so_to_people() {
    let (session, repo) = (Session::new(), shop());
    let file = session.file("tasks.jsonl");
    std::fs::write(&file, "{\"id\":1,\"description\":\"cart\"}\nnonsense\n").unwrap();
    let ran = session.run(repo.path(), &["context", "--tasks", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2));
    assert!(ran.stderr.contains("1 of 2 tasks failed"), "{}", ran.stderr);
}

#[test]
fn a_task_that_nothing_fits_has_an_empty_pack() {
    let (session, repo) = (Session::new(), shop());
    let lines = [json!({"id": 1, "description": ""}), json!({"id": 2, "description": "zzz qqq"})];
    for answer in batch(&session, repo.path(), &lines, &[]) {
        assert_eq!(answer["symbols"], json!([]), "{answer}");
    }
}

#[test]
fn other_fields_of_a_task_have_no_influence() {
    let (session, repo) = (Session::new(), shop());
    let plain = json!({"id": 1, "description": "the total of a cart"});
    let mut more = plain.clone();
    let fields = more.as_object_mut().unwrap();
    fields.insert("truth".to_owned(), json!([{"symbol": "make", "file": "shop/cart.py"}]));
    fields.insert("files".to_owned(), json!(["shop/desk.py"]));
    fields.insert("task".to_owned(), json!("serve at the desk"));
    fields.insert("repo".to_owned(), json!("https://example.com/other.git"));
    fields.insert("budget".to_owned(), json!(1));
    let answers = batch(&session, repo.path(), &[plain, more], &[]);
    assert_eq!(answers[0], answers[1]);
}
