//! What people do with git between two questions. Whatever it is, an answer is that of an index from scratch of this very
//! checkout at this very commit.

use std::path::Path;

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// Asks without indexing by hand, and compares with a database that knows nothing but this checkout.
#[track_caller]
fn check(session: &Session, repo: &Fixture, at: &Path) -> Value {
    let head = &repo.git_in(at, &["rev-parse", "HEAD"])[..12];
    let stats = session.json(at, &["stats"]);
    assert_eq!((stats["tree"].as_str(), stats["fresh"].as_str()), (Some(head), Some("yes")), "{stats}");
    let fresh = Session::new();
    let report = fresh.json(at, &["index"]);
    for field in ["repo", "commit", "snapshot", "root", "files", "nodes", "edges", "unresolved"] {
        assert_eq!(stats[field], report[field], "{field}");
    }
    assert_eq!(session.text(at, &["export"]), fresh.text(at, &["export"]));
    let query = ["query", "*", "--limit", "500", "--edges", "both"];
    assert_eq!(session.json(at, &query), fresh.json(at, &query));
    stats
}

/// A name that is not there.
#[track_caller]
fn check_absent(session: &Session, at: &Path, name: &str) {
    session.error(at, &["query", name], 1, "not_found");
}

fn write_and_commit(repo: &Fixture, at: &Path, path: &str, text: &str) {
    std::fs::write(at.join(path), text).unwrap();
    repo.git_in(at, &["add", "-A"]);
    repo.git_in(at, &["commit", "-q", "-m", path]);
}

fn function(name: &str) -> String {
    format!("from shop.cart import make\n\n\ndef {name}():\n    return make()\n")
}

fn rows(session: &Session, repo: &Fixture) -> Value {
    let mut rows = session.json(repo.path(), &["fsck"])["counts"].clone();
    rows.as_object_mut().unwrap().remove("images");
    rows
}

#[test]
fn i2_a_switched_branch_is_answered_for() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    repo.git(&["checkout", "-q", "-b", "side"]);
    write_and_commit(&repo, repo.path(), "shop/side.py", &function("aside"));
    let side = check(&session, &repo, repo.path());
    repo.git(&["checkout", "-q", "main"]);
    let main = check(&session, &repo, repo.path());
    check_absent(&session, repo.path(), "aside");
    assert_ne!(side["snapshot"], main["snapshot"]);
    // Both are there: going to and fro makes nothing.
    let before = rows(&session, &repo);
    for branch in ["side", "main", "side"] {
        repo.git(&["checkout", "-q", branch]);
        check(&session, &repo, repo.path());
    }
    assert_eq!(rows(&session, &repo), before);
}

#[test]
fn i2_rebased_and_amended_commits_are_answered_for() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    repo.git(&["checkout", "-q", "-b", "side"]);
    write_and_commit(&repo, repo.path(), "shop/one.py", &function("one"));
    write_and_commit(&repo, repo.path(), "shop/two.py", &function("two"));
    check(&session, &repo, repo.path());
    repo.git(&["checkout", "-q", "main"]);
    write_and_commit(&repo, repo.path(), "shop/three.py", &function("three"));
    repo.git(&["checkout", "-q", "side"]);
    repo.git(&["rebase", "-q", "main"]);
    check(&session, &repo, repo.path());
    for name in ["one", "two", "three"] {
        assert_eq!(session.json(repo.path(), &["query", name, "--kinds", "function"])["total"], json!(1));
    }
    repo.write("shop/two.py", &function("deux"));
    repo.git(&["commit", "-q", "-a", "--amend", "-m", "other words"]);
    check(&session, &repo, repo.path());
    check_absent(&session, repo.path(), "two");
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    check(&session, &repo, repo.path());
    check_absent(&session, repo.path(), "deux");
    repo.git(&["merge", "-q", "--no-ff", "-m", "all", "main"]);
    check(&session, &repo, repo.path());
}

#[test]
fn i2_stashed_work_is_not_there_and_comes_back() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    repo.write("shop/desk.py", &function("stashed"));
    let dirty = session.json(repo.path(), &["stats"]);
    assert_eq!(dirty["dirty"], json!(["shop/desk.py"]));
    let working = session.json(repo.path(), &["query", "stashed", "--working-tree"]);
    repo.git(&["stash", "-q"]);
    check(&session, &repo, repo.path());
    session.error(repo.path(), &["query", "stashed", "--working-tree"], 1, "not_found");
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(session.json(repo.path(), &["stats"]), dirty);
    assert_eq!(session.json(repo.path(), &["query", "stashed", "--working-tree"]), working);
    // In the index, not committed.
    repo.git(&["add", "-A"]);
    assert_eq!(session.json(repo.path(), &["stats"]), dirty);
}

#[test]
fn i2_detached_heads_and_packed_references_are_followed() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for n in 0..3 {
        write_and_commit(&repo, repo.path(), &format!("shop/n{n}.py"), &function(&format!("n{n}")));
    }
    repo.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    check(&session, &repo, repo.path());
    check_absent(&session, repo.path(), "n2");
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["pack-refs", "--all", "--prune"]);
    assert!(!repo.path().join(".git/refs/heads/main").exists());
    check(&session, &repo, repo.path());
    repo.git(&["gc", "-q", "--prune=now"]);
    check(&session, &repo, repo.path());
    write_and_commit(&repo, repo.path(), "shop/last.py", &function("last"));
    check(&session, &repo, repo.path());
}

#[test]
fn i1_a_second_worktree_at_the_same_commit_adds_no_row_of_the_graph() {
    let (session, repo) = (Session::new(), shop());
    let first = session.index(&repo);
    let before = rows(&session, &repo);
    assert!(before["nodes"].as_u64().unwrap() > 0, "{before}");
    for name in ["asked", "indexed"] {
        let at = repo.beside(name);
        repo.git(&["worktree", "add", "-q", "--detach", at.to_str().unwrap()]);
        if name == "indexed" {
            let report = session.json(&at, &["index"]);
            assert_eq!((&report["new_snapshot"], &report["snapshot"]), (&json!(false), &first["snapshot"]));
        }
        check(&session, &repo, &at);
        assert_eq!(rows(&session, &repo), before, "{name}");
    }
}

#[test]
fn i2_worktrees_are_told_apart_beside_and_inside_each_other() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let places = [repo.path().join("inside"), repo.path().join("inside/deeper"), repo.beside("beside")];
    for (n, at) in places.iter().enumerate() {
        repo.git(&["worktree", "add", "-q", "-b", &format!("b{n}"), at.to_str().unwrap(), "main"]);
        write_and_commit(&repo, at, &format!("shop/own{n}.py"), &function(&format!("own{n}")));
    }
    write_and_commit(&repo, repo.path(), "shop/own9.py", &function("own9"));
    let all = [&places[..], &[repo.path().to_owned()]].concat();
    for (n, at) in all.iter().enumerate() {
        let own = [0, 1, 2, 9][n];
        // From below its top too.
        for from in [at.clone(), at.join("shop")] {
            assert_eq!(
                session.json(&from, &["query", &format!("own{own}"), "--kinds", "function"])["total"],
                json!(1)
            );
            for other in [0, 1, 2, 9].into_iter().filter(|it| *it != own) {
                check_absent(&session, &from, &format!("own{other}"));
            }
        }
        check(&session, &repo, at);
    }
    // Edits in one are no edits of another.
    std::fs::write(places[1].join("shop/desk.py"), function("edited")).unwrap();
    assert_eq!(session.json(&places[1], &["stats"])["fresh"], "dirty(1)");
    for at in [&places[0], &places[2], &repo.path().to_owned()] {
        check(&session, &repo, at);
    }
    session.json(&places[1], &["query", "edited", "--working-tree"]);
    for at in [&places[0], &places[2]] {
        session.error(at, &["query", "edited", "--working-tree"], 1, "not_found");
    }
}

#[test]
fn i2_a_submodule_is_a_repository_of_its_own() {
    let (session, repo, library) = (Session::new(), shop(), Fixture::new());
    library.write("library.py", "def lend():\n    pass\n");
    library.commit("library");
    session.index(&repo);
    let url = format!("file://{}", library.path().display());
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "vendored_library"]);
    repo.commit("with a library");
    let stats = check(&session, &repo, repo.path());
    assert_eq!(stats["skipped"]["submodule"], json!(1), "{stats}");
    check_absent(&session, repo.path(), "lend");
    let inside = repo.path().join("vendored_library");
    session.json(&inside, &["index"]);
    let stats = check(&session, &repo, &inside);
    assert_eq!(stats["files"], json!(1));
    assert_eq!(session.json(&inside, &["query", "lend"])["total"], json!(1));
    check_absent(&session, &inside, "serve");
    // What is edited in there does not make the outer one differ in what is indexed.
    std::fs::write(inside.join("library.py"), "def borrow():\n    pass\n").unwrap();
    assert_eq!(session.json(&inside, &["stats"])["fresh"], "dirty(1)");
    check(&session, &repo, repo.path());
}

#[test]
fn i2_shallow_clones_and_forced_pushes_are_answered_for() {
    let (session, repo) = (Session::new(), shop());
    for n in 0..3 {
        write_and_commit(&repo, repo.path(), &format!("shop/n{n}.py"), &function(&format!("n{n}")));
    }
    let shallow = Fixture::clone_of(&repo, &["--depth", "1"]);
    let whole = Fixture::clone_of(&repo, &[]);
    for clone in [&shallow, &whole] {
        clone.git(&["remote", "set-url", "origin", "https://example.com/own/shop.git"]);
    }
    let one = session.json(shallow.path(), &["index"]);
    let other = session.json(whole.path(), &["index"]);
    assert_eq!(
        (&one["root"], &one["snapshot"]),
        (&other["root"], &other["snapshot"]),
        "they are one repository"
    );
    check(&session, &shallow, shallow.path());
    check(&session, &whole, whole.path());
    // Upstream is written anew: what the clones stand on is nowhere in it.
    repo.git(&["reset", "-q", "--hard", "HEAD~2"]);
    write_and_commit(&repo, repo.path(), "shop/forced.py", &function("forced"));
    for clone in [&shallow, &whole] {
        clone.git(&["fetch", "-q", "--force", &format!("file://{}", repo.path().display()), "main"]);
        clone.git(&["reset", "-q", "--hard", "FETCH_HEAD"]);
        check(&session, clone, clone.path());
        check_absent(&session, clone.path(), "n2");
        assert_eq!(
            session.json(clone.path(), &["query", "forced", "--kinds", "function"])["total"],
            json!(1)
        );
    }
}
