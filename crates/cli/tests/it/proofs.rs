//! Proofs made by one person and checked by another who has only the file.

use std::path::Path;

use knowing_testkit::{Fixture, verify_again};
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// All edges of the snapshot, as (source, target, kind) by ids.
fn edges(session: &Session, repo: &Fixture) -> Vec<(String, String, String)> {
    let exported = session.text(repo.path(), &["export"]);
    let lines = exported.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    lines
        .filter(|it| it["type"] == "edge")
        .map(|it| (text(&it["source_id"]), text(&it["target_id"]), text(&it["kind"])))
        .collect()
}

fn prove(session: &Session, directory: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&session.text(directory, arguments)).unwrap()
}

#[test]
fn n6_every_stored_edge_is_proven_from_the_file_alone() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let elsewhere = Fixture::directory();
    let edges = edges(&session, &repo);
    let mut n_proven = 0;
    for (source, target, kind) in edges.iter().filter(|it| it.2 != "inherits") {
        let proof = prove(&session, repo.path(), &["prove", source, target, "--edge-kind", kind]);
        assert_eq!((&proof["type"], &proof["statement"]["kind"]), (&json!("inclusion"), &json!(kind)));
        assert_eq!(verify_again(&proof), Ok(()));
        elsewhere.write("proof.json", &proof.to_string());
        let stranger = Session::new();
        let verdict = stranger.json(elsewhere.path(), &["verify", "proof.json"]);
        assert_eq!((&verdict["holds"], &verdict["commit"]), (&json!(true), &proof["commit"]));
        let absent = ["prove-absent", source, target, "--edge-kind", kind];
        session.error(repo.path(), &absent, 1, "not_found");
        n_proven += 1;
    }
    assert!(n_proven > 25, "{n_proven}");
}

#[test]
fn n7_a_changed_proof_does_not_hold_and_a_broken_one_cannot_be_read() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    session.text(repo.path(), &["prove", "serve", "make", "--output", "../proof.json"]);
    let path = repo.beside("proof.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        session
            .text(repo.path(), &["verify", "../proof.json"])
            .starts_with("holds: there is an edge `calls`")
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");

    std::fs::write(&path, text.replace("desk.py", "cart.py")).unwrap();
    let ran = session.run(repo.path(), &["verify", "../proof.json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("does not hold") && ran.stdout.contains("step 1 fails"), "{}", ran.stdout);
    let reply = session.run(repo.path(), &["verify", "../proof.json", "--json"]);
    let reply: Value = serde_json::from_str(&reply.stdout).unwrap();
    assert_eq!((&reply["holds"], &reply["failed_step"]), (&json!(false), &json!(1)));

    let extra = text.replacen("\"edge\"", "\"more\": 1, \"edge\"", 1);
    for broken in [&text[..text.len() / 2], "", "{}", "[]", &text.replace("proof/1", "proof/2"), &extra] {
        std::fs::write(&path, broken).unwrap();
        session.error(repo.path(), &["verify", "../proof.json"], 2, "bad_input");
    }
    session.error(repo.path(), &["verify", "no/such/file"], 2, "bad_input");
}

#[test]
fn n8_absence_is_proven_at_every_level() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let unknown = r#"{"class":"file","container":"nowhere/x.py","symbol":"f","kind":"function"}"#;
    for (arguments, level) in [
        (&["make", "serve"][..], "edge"),
        (&["make", "serve", "--edge-kind", "publishes"], "kind"),
        (&[unknown, "make", "--allow-unknown"], "package"),
    ] {
        let proof = prove(&session, repo.path(), &[&["prove-absent"], arguments].concat());
        assert_eq!((&proof["type"], &proof["level"]), (&json!("absence"), &json!(level)));
        assert_eq!(verify_again(&proof), Ok(()));
        repo.write("../proof.json", &proof.to_string());
        let verdict = session.text(repo.path(), &["verify", "../proof.json"]);
        assert!(verdict.starts_with("holds: there is no edge"), "{verdict}");
    }
    session.error(repo.path(), &["prove-absent", unknown, "make"], 1, "not_found");
    session.error(repo.path(), &["prove-absent", "{}", "make", "--allow-unknown"], 2, "usage");
    session.error(repo.path(), &["prove-absent", "nothing_like_it", "make"], 1, "not_found");
    let error = session.error(repo.path(), &["prove-absent", "serve", "make"], 1, "not_found");
    assert!(error["hint"].as_str().unwrap().contains("knowing prove"), "{error}");
}

#[test]
fn n9_a_proof_of_another_commit_is_refused() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.write("shop/more.py", "def more(): pass\n");
    let second = repo.commit("more");
    session.index(&repo);
    // Of the snapshot before, asked for in every way.
    for reference in ["@prev", "@1", "@first", "HEAD~1", &first, &first[..10]] {
        let proof = prove(&session, repo.path(), &["prove", "serve", "make", "--snapshot", reference]);
        assert_eq!(proof["commit"], json!(first), "{reference}");
        repo.write("../proof.json", &proof.to_string());
        for (expected, code) in [(&first, 0), (&second, 1)] {
            let ran = session.run(repo.path(), &["verify", "../proof.json", "--expect-commit", expected]);
            assert_eq!(ran.code, code, "{}", ran.stdout);
        }
    }
    let url = session.json(repo.path(), &["stats"])["repo"].as_str().unwrap().to_owned();
    for (flag, value, code) in [
        ("--expect-repo", url.as_str(), 0),
        ("--expect-repo", "github.com/acme/other", 1),
        ("--expect-commit", "HEAD", 2),
        ("--expect-snapshot", "00000000", 1),
    ] {
        let ran = session.run(repo.path(), &["verify", "../proof.json", flag, value]);
        assert_eq!(ran.code, code, "{flag} {value}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn what_cannot_be_proven_is_said_so() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for (arguments, code, kind) in [
        (&["prove", "make", "serve"][..], 1, "not_found"),
        (&["prove", "nothing_like_it", "serve"], 1, "not_found"),
        (&["prove", "run", "make"], 1, "ambiguous"),
        (&["prove", "serve", "make", "--edge-kind", "call"], 2, "usage"),
        (&["prove", "Cart", "Base.close", "--edge-kind", "inherits"], 2, "unsupported"),
        (&["prove-absent", "serve", "make", "--edge-kind", "runtime_calls"], 2, "unsupported"),
        (&["prove", "serve", "make", "--snapshot", "no-such-rev"], 1, "not_found"),
        (&["prove", "serve", "make", "--snapshot", "@7"], 1, "not_found"),
        (&["prove", "serve", "make", "--output", "no/such/dir/x.json"], 2, "io"),
    ] {
        session.error(repo.path(), arguments, code, kind);
    }
    let error = session.error(repo.path(), &["prove", "Cart", "Base"], 1, "not_found");
    assert!(error["hint"].as_str().unwrap().contains("`extends`"), "{error}");
}

#[test]
fn a_proof_goes_through_a_pipe() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let proof = session.text(repo.path(), &["prove", "serve", "make", "--json"]);
    let mut child = session
        .command(repo.path())
        .args(["verify", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), proof.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"holds"));
}
