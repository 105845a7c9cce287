//! Bad input: a clear error, the right exit code, and nothing lost.

use knowing_testkit::Fixture;
use serde_json::json;

use crate::session::{Session, shop};

#[test]
fn z1_every_error_has_kind_message_and_hint() {
    let (session, repo) = (Session::new(), shop());
    let nowhere = Fixture::directory();
    session.error(repo.path(), &["stats"], 1, "no_index");
    session.error(nowhere.path(), &["stats"], 2, "usage");
    session.error(nowhere.path(), &["index"], 2, "usage");
    session.error(repo.path(), &["index", "no/such/path"], 2, "bad_input");
    session.index(&repo);
    let before = session.text(repo.path(), &["export"]);
    for (arguments, code, kind) in [
        (&["callers", "nothing_like_it"][..], 1, "not_found"),
        (&["callers", "run"], 1, "ambiguous"),
        (&["callers"], 2, "usage"),
        (&["callers", "make", "--depth", "none"], 2, "usage"),
        (&["frobnicate"], 2, "usage"),
        (&["blast-radius", "make", "--min-confidence", "7"], 2, "usage"),
        (&["blast-radius", "make", "--edge-kinds", "nope"], 2, "usage"),
        (&["query", "make", "--kinds", "nope"], 2, "usage"),
        (&["export", "--edge-kinds", "nope"], 2, "usage"),
        (&["index", "--exclude", "[z-a]", "--force"], 2, "usage"),
        (&["index", "--commit", "nope"], 1, "not_found"),
        (&["--repo", "nope", "stats"], 1, "not_found"),
        (&["--db", ".", "stats"], 2, "usage"),
        (&["--db", ".", "index"], 2, "usage"),
    ] {
        session.error(repo.path(), arguments, code, kind);
    }
    assert_eq!(session.text(repo.path(), &["export"]), before);
}

#[test]
fn messages_say_what_is_wrong_and_hints_what_was_meant() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for (arguments, code, kind, message, hint) in [
        (&["callers"][..], 2, "usage", "<SYMBOL>", "Usage: knowing callers"),
        (&["query", "make", "--kinds", "klass"], 2, "usage", "`klass`", "`class`"),
        (&["query", "make", "--kinds", "zzzzzz"], 2, "usage", "`zzzzzz`", "kinds are function, "),
        (
            &["query", "make", "--kinds", "class"],
            1,
            "not_found",
            "(1) none is of that kind",
            "knowing query 'make'",
        ),
        (&["query", "*", "--language", "pyton"], 1, "not_found", "language", "knowing query '*'"),
        (&["callers", "%"], 1, "not_found", "`%`", "knowing query '*'"),
        (&["--db", ".", "stats"], 2, "usage", "is a directory", "knowing.db"),
    ] {
        let error = session.error(repo.path(), arguments, code, kind);
        assert!(error["message"].as_str().unwrap().contains(message), "{arguments:?}: {error}");
        assert!(error["hint"].as_str().unwrap().contains(hint), "{arguments:?}: {error}");
    }
}

#[test]
fn every_reply_has_the_number_of_its_schema() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for arguments in [
        &["index"][..],
        &["stats"],
        &["query", "make"],
        &["callers", "make"],
        &["callees", "make"],
        &["blast-radius", "make"],
        &["callers", "no_such_thing"],
        &["callers"],
    ] {
        let ran = session.run(repo.path(), &[arguments, &["--json"]].concat());
        let reply: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(reply["schema"], json!(1), "{arguments:?}");
        assert_eq!(ran.stdout.lines().count(), 1, "{arguments:?}");
    }
}

#[test]
fn no_index_says_which_command_makes_one() {
    let (session, repo) = (Session::new(), shop());
    let ran = session.run(repo.path(), &["callers", "make"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("is not indexed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: run `knowing index`"), "{}", ran.stderr);
}

#[test]
fn c2_usage_errors_exit_2_and_help_exits_0() {
    let (session, repo) = (Session::new(), shop());
    for arguments in [&[][..], &["--no-such-flag"], &["callers"], &["query", "x", "--edges", "sideways"]] {
        let ran = session.run(repo.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(!ran.stderr.is_empty());
    }
    for verb in ["index", "stats", "query", "callers", "callees", "blast-radius", "export"] {
        let help = session.text(repo.path(), &[verb, "--help"]);
        assert!(
            help.contains("Examples:") && help.contains(&format!("knowing {verb}")) || verb == "stats",
            "{help}"
        );
    }
    assert!(session.text(repo.path(), &["--version"]).starts_with("knowing "));
}

#[test]
fn a_repository_without_a_commit_is_told_so() {
    let (session, repo) = (Session::new(), Fixture::new());
    let error = session.error(repo.path(), &["index"], 2, "bad_input");
    assert!(error["message"].as_str().unwrap().contains("no commit yet"));
    assert!(!session.data().join("knowing/repos").exists(), "nothing was made");
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let (session, repo) = (Session::new(), shop());
    let path = session.file("notes.txt");
    let text = "these are notes, and not a database\n".repeat(100);
    std::fs::write(&path, &text).unwrap();
    for verb in [&["index"][..], &["stats"]] {
        let arguments = [&["--db", path.to_str().unwrap()], verb].concat();
        let error = session.error(repo.path(), &arguments, 2, "corrupt");
        assert_eq!(error["where"], json!(path.to_str().unwrap()));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn s6_a_newer_schema_is_refused_without_writing() {
    let (session, repo) = (Session::new(), shop());
    let path = session.file("newer.db");
    let db = path.to_str().unwrap();
    session.json(repo.path(), &["--db", db, "index"]);
    // SQLite keeps the version of the schema in bytes 60 to 63 of the file.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    for verb in [&["index"][..], &["stats"], &["callers", "make"], &["export"]] {
        let arguments = [&["--db", db], verb].concat();
        session.error(repo.path(), &arguments, 2, "unsupported");
    }
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_data_directory_that_cannot_be_made_is_an_io_error() {
    let (session, repo) = (Session::new(), shop());
    // A file stands where the directory should.
    std::fs::write(session.data(), "").unwrap();
    session.error(repo.path(), &["index"], 2, "io");
    // With a database elsewhere the registry is not needed, and its absence is noted.
    let db = session.file("elsewhere.db");
    let report = session.json(repo.path(), &["index", "--db", db.to_str().unwrap()]);
    assert!(report["notes"][0].as_str().unwrap().contains("registry"), "{report}");
    session.json(repo.path(), &["callers", "make", "--db", db.to_str().unwrap()]);
}

#[test]
fn the_database_comes_from_the_flag_then_the_environment() {
    let (session, repo) = (Session::new(), shop());
    let (one, other) = (session.file("one.db"), session.file("other.db"));
    let output = session.command(repo.path()).arg("index").env("KNOWING_DB", &one).output().unwrap();
    assert!(output.status.success() && one.exists());
    session
        .command(repo.path())
        .args(["index", "--db"])
        .arg(&other)
        .env("KNOWING_DB", &one)
        .output()
        .unwrap();
    assert!(other.exists());
    assert!(!session.data().join("knowing/repos").exists());
    // A database of one repository needs no name, wherever one stands.
    let elsewhere = session.file("");
    session.json(&elsewhere, &["stats", "--db", one.to_str().unwrap()]);
}
