//! `knowing index`: what is read, what is counted, and that the same commit is the same everywhere.

use std::path::Path;

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

#[test]
fn the_report_says_what_was_indexed() {
    let (session, repo) = (Session::new(), shop());
    let report = session.index(&repo);
    let commit = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(report["commit"], json!(commit));
    assert_eq!(report["repo"], json!(format!("local/{}", &commit[..16])));
    assert_eq!(report["new_snapshot"], json!(true));
    assert_eq!((&report["files"], &report["files_added"]), (&json!(4), &json!(4)));
    for (name, length) in [("root", 64), ("snapshot", 64), ("commit", 40)] {
        assert_eq!(report[name].as_str().unwrap().len(), length, "{name}");
    }
    let sum =
        |name: &str| report[name].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum::<u64>();
    assert_eq!(report["edges"], json!(sum("edges_by_provenance")));
    assert_eq!(report["unresolved"], json!(sum("unresolved_by_reason")));
    let phases: Vec<&str> =
        report["phases"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(phases, ["scan", "extract", "resolve", "hash", "store", "image", "history", "search"]);
    let text = session.text(repo.path(), &["index", "--force"]);
    assert!(text.contains("4 files"), "{text}");
}

#[test]
fn n1_an_unchanged_commit_makes_one_snapshot() {
    let (session, repo) = (Session::new(), shop());
    let first = session.index(&repo);
    let second = session.index(&repo);
    assert_eq!(second["new_snapshot"], json!(false));
    for field in
        ["snapshot", "root", "files", "nodes", "edges", "unresolved", "edges_by_provenance", "skipped"]
    {
        assert_eq!(first[field], second[field], "{field}");
    }
    assert_eq!(second["files_added"], json!(0));
}

#[test]
fn a_new_commit_reads_only_what_changed_and_equals_a_fresh_index() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    repo.write("shop/desk.py", "from shop.cart import Cart\n\ndef serve():\n    return Cart().total()\n");
    repo.write("shop/new.py", "def fresh():\n    pass\n");
    repo.remove("tests/test_cart.py");
    repo.commit("change");
    let report = session.index(&repo);
    let changes = ["files_added", "files_changed", "files_removed"].map(|it| report[it].as_u64().unwrap());
    assert_eq!(changes, [1, 1, 1]);
    let fresh = Session::new().index(&repo);
    for field in ["root", "snapshot", "nodes", "edges", "unresolved", "edges_by_provenance"] {
        assert_eq!(report[field], fresh[field], "{field}");
    }
}

#[test]
fn n3_roots_are_equal_for_1_2_and_8_workers() {
    let repo = shop();
    let roots: Vec<Value> = ["1", "2", "8"]
        .iter()
        .map(|workers| Session::new().json(repo.path(), &["index", "--workers", workers])["root"].clone())
        .collect();
    assert_eq!(roots[0], roots[1]);
    assert_eq!(roots[0], roots[2]);
}

#[test]
fn n3_the_golden_root_of_the_shop() {
    let repo = shop();
    let report = Session::new().json(repo.path(), &["index", "--url", "github.com/acme/shop"]);
    // Changes whenever extraction or resolution does: raise the ruleset then, and write the new root here.
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        println!("{}", report["root"]);
    }
    assert_eq!(report["root"], json!(GOLDEN_ROOT));
}

const GOLDEN_ROOT: &str = "78f04d9ced059a0ba77943d8823bee35e5bbf25a8a216625f9cbbeb28d80a002";

#[test]
fn m2_two_clones_at_different_paths_have_equal_ids() {
    let repo = shop();
    let clone = Fixture::clone_of(&repo, &[]);
    let (one, other) = (Session::new(), Session::new());
    one.index(&repo);
    // Typed relative, from inside the clone.
    let report = other.json(&clone.path().join("shop"), &["index", ".."]);
    assert_eq!(report["repo"], one.json(repo.path(), &["stats"])["repo"]);
    let lines = |session: &Session, at: &Path| session.text(at, &["export"]);
    assert_eq!(lines(&one, repo.path()), lines(&other, clone.path()));
    // The database is shared by all clones: the second one reads nothing.
    assert_eq!(one.json(clone.path(), &["index"])["new_snapshot"], json!(false));
}

#[test]
fn i1_a_second_worktree_at_the_same_commit_makes_nothing_new() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let second = repo.beside("second");
    repo.git(&["worktree", "add", "-q", "--detach", second.to_str().unwrap()]);
    assert_eq!(session.json(&second, &["index"])["new_snapshot"], json!(false));
}

#[test]
fn i2_an_answer_never_comes_from_another_worktree() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    // Nested inside the first.
    let nested = repo.path().join("nested");
    repo.git(&["worktree", "add", "-q", "-b", "side", nested.to_str().unwrap()]);
    std::fs::write(nested.join("only_here.py"), "def only_here():\n    pass\n").unwrap();
    repo.git_in(&nested, &["add", "-A"]);
    repo.git_in(&nested, &["commit", "-q", "-m", "side"]);
    session.error(&nested, &["callers", "make", "--stale-policy", "warn"], 1, "no_index");
    session.json(&nested, &["callers", "only_here"]);
    session.error(repo.path(), &["callers", "only_here"], 1, "not_found");
}

#[test]
fn i3_an_answer_says_when_head_has_moved() {
    let (session, repo) = (Session::new(), shop());
    let report = session.index(&repo);
    let answer = session.json(repo.path(), &["callers", "make"]);
    assert_eq!(answer["fresh"], json!("yes"));
    assert_eq!(answer["snapshot"], report["snapshot"]);
    assert_eq!(answer["tree"].as_str().unwrap(), &report["commit"].as_str().unwrap()[..12]);
    let warn = ["callers", "make", "--stale-policy", "warn"];
    repo.commit("one more");
    repo.commit("and another");
    let answer = session.json(repo.path(), &warn);
    assert_eq!(answer["fresh"], json!("behind(2)"));
    assert_eq!(answer["snapshot"], report["snapshot"]);
    let text = session.text(repo.path(), &warn);
    assert!(text.contains("behind(2)") && text.contains("knowing index"), "{text}");
    repo.git(&["checkout", "-q", "--orphan", "elsewhere"]);
    repo.commit("unrelated");
    assert_eq!(session.json(repo.path(), &warn)["fresh"], json!("unindexed"));
}

#[test]
fn another_commit_is_read_from_objects_not_from_the_work_tree() {
    let (session, repo) = (Session::new(), shop());
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.remove("shop/desk.py");
    repo.commit("close the desk");
    repo.write("shop/cart.py", "not committed\n");
    let report = session.json(repo.path(), &["index", "--commit", "HEAD~1"]);
    assert_eq!((&report["commit"], &report["files"]), (&json!(first), &json!(4)));
    let error = session.error(repo.path(), &["index", "--commit", "no-such"], 1, "not_found");
    assert!(error["message"].as_str().unwrap().contains("no-such"));
}

#[test]
fn a_bare_repository_is_indexed_and_asked_by_its_path() {
    let (session, repo) = (Session::new(), shop());
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let here = session.file("");
    let path = bare.to_str().unwrap();
    session.json(&here, &["index", path]);
    let answer = session.json(&here, &["--repo", path, "callers", "make"]);
    assert_eq!(answer["total"], json!(2));
}

#[test]
fn a_repository_is_asked_by_its_url_or_the_end_of_it() {
    let (session, repo, other) = (Session::new(), shop(), Fixture::from_text("//- /a.py\ndef f(): pass\n"));
    other.commit("other");
    repo.git(&["remote", "add", "origin", "git@GitHub.com:acme/shop.git"]);
    assert_eq!(session.index(&repo)["repo"], json!("github.com/acme/shop"));
    session.json(other.path(), &["index", "--url", "https://github.com/else/shop"]);
    let here = session.file("");
    for name in ["github.com/acme/shop", "acme/shop", "https://github.com/acme/shop.git"] {
        assert_eq!(session.json(&here, &["--repo", name, "stats"])["repo"], json!("github.com/acme/shop"));
    }
    let error = session.error(&here, &["--repo", "shop", "stats"], 1, "ambiguous");
    assert_eq!(error["candidates"].as_array().unwrap().len(), 2);
    session.error(&here, &["--repo", "acme/shp", "stats"], 1, "not_found");
    session.error(&here, &["stats"], 2, "usage");
    // A name given once is remembered for the checkout.
    assert_eq!(session.json(other.path(), &["stats"])["repo"], json!("github.com/else/shop"));
}

#[test]
fn another_repository_in_the_place_of_one_is_not_taken_for_it() {
    let (session, repo) = (Session::new(), Fixture::from_text("//- /a.py\ndef apple(): pass\n"));
    repo.commit("first");
    let name = session.index(&repo)["repo"].clone();
    let database = session.file("given.db");
    let given = |arguments: &[&str]| {
        session.json(repo.path(), &[&["--db", database.to_str().unwrap()], arguments].concat())
    };
    assert_eq!(given(&["index"])["repo"], name);
    repo.write("more.py", "def more(): pass\n");
    repo.commit("more");
    assert_eq!(session.json(repo.path(), &["query", "more"])["repo"], name);
    assert_eq!(given(&["query", "more"])["repo"], name);
    std::fs::remove_dir_all(repo.path().join(".git")).unwrap();
    repo.git(&["init", "-q"]);
    repo.write("b.py", "def banana(): pass\n");
    repo.commit("another first");
    session.error(repo.path(), &["--stale-policy", "ignore", "query", "banana"], 1, "no_index");
    let other = session.index(&repo)["repo"].clone();
    assert_ne!(other, name);
    assert_eq!(session.json(repo.path(), &["snapshots"])["total"], json!(1));
    assert_eq!(session.json(repo.path(), &["query", "banana"])["repo"], other);
    assert_eq!(given(&["index"])["repo"], other);
    assert_eq!(given(&["query", "banana"])["repo"], other);
}

#[test]
fn a_repository_of_which_only_a_part_is_indexed_is_asked_by_its_name_too() {
    let (session, repo) = (Session::new(), shop());
    session.json(repo.path(), &["index", "--url", "github.com/acme/shop", "--exclude", "tests/"]);
    let here = session.file("");
    let answer = session.json(&here, &["--repo", "acme/shop", "callers", "make"]);
    assert_eq!(answer["total"], json!(1), "the test is not there: {answer}");
}

#[test]
fn a_directory_without_git_is_indexed_when_it_is_named() {
    let session = Session::new();
    let place = Fixture::directory();
    place.write("a.py", "def f():\n    g()\n\ndef g():\n    pass\n");
    place.write("ignored.py", "def h(): pass\n");
    place.write(".gitignore", "ignored.py\n");
    session.error(place.path(), &["index"], 2, "usage");
    let report = session.json(place.path(), &["index", "."]);
    assert_eq!(report["files"], json!(1));
    assert!(report["repo"].as_str().unwrap().starts_with("dir/repo-"));
    assert_eq!(session.json(place.path(), &["callers", "g"])["total"], json!(1));
    assert_eq!(session.json(place.path(), &["index", "."])["new_snapshot"], json!(false));
    place.write("a.py", "def g():\n    pass\n");
    assert_eq!(session.json(place.path(), &["index", "."])["new_snapshot"], json!(true));
    assert_eq!(session.json(place.path(), &["callers", "g"])["total"], json!(0));
}

#[test]
fn x4_what_is_skipped_is_counted_with_its_reason() {
    let (session, repo) = (Session::new(), shop());
    repo.write_bytes("binary.py", b"x = '\0'\n");
    repo.write("large.py", &"x = 1\n".repeat(400_000));
    repo.write("long.py", &format!("x = '{}'\n", "y".repeat(70_000)));
    repo.write("lfs.py", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    repo.write("vendor/lib.py", "def lib(): pass\n");
    repo.write("picture.svg", "<svg/>\n");
    repo.write("private/secret.py", "def secret(): pass\n");
    repo.write("tools/gen.py", "def gen(): pass\n");
    repo.write(".knowingignore", "private/\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("shop/cart.py", repo.path().join("link.py")).unwrap();
    repo.commit("odd files");
    let report = session.json(repo.path(), &["index", "--exclude", "tools/**"]);
    let skipped = &report["skipped"];
    for (reason, count) in [
        ("binary", 1),
        ("too_large", 1),
        ("long_line", 1),
        ("lfs_pointer", 1),
        ("vendored", 1),
        ("unsupported", 2),
        ("ignored", 2),
        #[cfg(unix)]
        ("symlink", 1),
    ] {
        assert_eq!(skipped[reason], json!(count), "{reason}: {skipped}");
    }
    session.error(repo.path(), &["query", "gen"], 1, "not_found");
    // A second run knows the same without reading again, and other rules show other files.
    repo.commit("nothing");
    let again = session.json(repo.path(), &["index", "--vendored"]);
    assert_eq!(again["skipped"]["binary"], json!(1));
    assert_eq!(again["skipped"]["vendored"], Value::Null);
    session.json(repo.path(), &["query", "lib"]);
    session.json(repo.path(), &["query", "gen"]);
    let only = session.json(repo.path(), &["index", "--include", "shop/"]);
    assert_eq!(only["files"], json!(3));
}

#[test]
fn a_syntax_error_loses_no_file_and_is_named() {
    let (session, repo) = (Session::new(), shop());
    repo.write("broken.py", "def good():\n    pass\n\ndef bad(:\n");
    repo.commit("broken");
    let report = session.index(&repo);
    assert_eq!(report["partial_files"], json!(1));
    assert_eq!(report["partial"][0]["file"], json!("broken.py"));
    session.json(repo.path(), &["query", "good"]);
}
