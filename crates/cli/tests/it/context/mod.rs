//! Context at the command line: one command from a clone to a pack, and what every pack keeps to.

mod around;
mod batch;
mod budget;
mod cache;
mod formats;
mod images;
mod same_bytes;
mod sessions;
mod tasks;
mod why;

use std::path::Path;

use knowing_testkit::Fixture;
use serde_json::Value;

use crate::session::{Session, shop};

/// Names of the symbols of a pack, in its order, without the repository.
pub(crate) fn names(pack: &Value) -> Vec<String> {
    let symbols = pack["symbols"].as_array().unwrap_or_else(|| panic!("no pack: {pack}"));
    let name = |it: &Value| it["qualified_name"].as_str().unwrap().split_once("://").unwrap().1.to_owned();
    symbols.iter().map(name).collect()
}

/// A repository of many files whose functions share words and call each other: more candidates than a budget holds.
pub(crate) fn warehouse() -> Fixture {
    let repo = Fixture::new();
    let verbs = ["send", "retry", "store", "check", "route", "weigh", "label", "track", "return", "bill"];
    for number in 0..14 {
        let mut text = format!("\"\"\"Parcels of depot {number}.\"\"\"\n\n\n");
        for (place, verb) in verbs.iter().enumerate() {
            let next = verbs[(place + 1) % verbs.len()];
            text += &format!(
                "def {verb}_parcel_{number}(parcel, depot=None):\n    \
                 \"\"\"{verb} a parcel of depot {number}{}\"\"\"\n    \
                 return {next}_parcel_{number}(parcel)\n\n\n",
                " and say so".repeat(place)
            );
        }
        repo.write(&format!("depots/depot_{number}.py"), &text);
    }
    repo.commit("open the depots");
    repo
}

/// Every path below a directory, to see that nothing was added.
fn listing(directory: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|it| it != ".git") {
            paths.extend(listing(&path));
        }
        paths.push(path.display().to_string());
    }
    paths.sort();
    paths
}

#[test]
fn p1_one_command_from_clone_to_pack() {
    let source = shop();
    let clone = Fixture::clone_of(&source, &[]);
    let session = Session::new();
    assert!(!session.data().exists(), "nothing is there before");
    let ran = session.run(clone.path(), &["context", "the total of a cart"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.lines().count() > 1 && ran.stdout.contains("Cart.total"), "{}", ran.stdout);
    // And again as data, from what was indexed.
    let pack = session.json(clone.path(), &["context", "the total of a cart"]);
    assert!(names(&pack).contains(&"shop/cart.py.Cart.total".to_owned()), "{pack}");
    assert_eq!((&pack["fresh"], &pack["tool"]), (&"yes".into(), &"context_for_task".into()));
}

#[test]
fn p1_several_who_begin_at_once_get_the_same() {
    let (session, repo) = (Session::new(), warehouse());
    let start = |_| {
        let mut command = session.command(repo.path());
        command.args(["context", "retry sending a parcel", "--json"]);
        command.stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(start).collect();
    let outputs: Vec<_> = children.into_iter().map(|it| it.wait_with_output().unwrap()).collect();
    assert!(!outputs[0].stdout.is_empty());
    for output in &outputs {
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &outputs[0].stdout));
    }
}

#[test]
fn p4_context_leaves_nothing_in_the_work_tree() {
    let (session, repo) = (Session::new(), shop());
    let before = listing(repo.path());
    for arguments in [
        &["context", "the total of a cart", "--detail", "source"] as &[&str],
        &["context", "--files", "shop/cart.py"],
        &["why", "the total of a cart", "--symbol", "Cart.total"],
    ] {
        session.text(repo.path(), arguments);
    }
    assert_eq!(listing(repo.path()), before);
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn context_indexes_first_when_head_has_moved() {
    const TASK: &str = "redeem a voucher for a cart";
    let (session, repo) = (Session::new(), shop());
    let first = session.json(repo.path(), &["context", TASK]);
    assert!(!names(&first).iter().any(|it| it.contains("voucher")));
    repo.write("shop/voucher.py", "def redeem_voucher(code):\n    return code\n");
    // What is not committed is not there yet.
    let uncommitted = session.json(repo.path(), &["context", TASK]);
    assert_eq!(uncommitted["snapshot"], first["snapshot"]);
    let commit = repo.commit("take vouchers");
    let second = session.json(repo.path(), &["context", TASK]);
    assert!(names(&second).contains(&"shop/voucher.py.redeem_voucher".to_owned()));
    assert_eq!((&second["fresh"], &second["tree"]), (&"yes".into(), &commit[..12].into()));
    assert_ne!(second["snapshot"], first["snapshot"]);
    // And back again.
    repo.git(&["checkout", "-q", "HEAD~1"]);
    let third = session.json(repo.path(), &["context", TASK]);
    assert_eq!(third, first);
}

#[test]
fn q10_every_part_can_be_left_out_through_the_command_line() {
    let (session, repo) = (Session::new(), shop());
    let params = session.json(repo.path(), &["params"]);
    let parts: Vec<&str> =
        params["parts"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(parts.len() > 15, "{parts:?}");
    let task = "the total of a cart fails in `Cart.total`";
    for part in &parts {
        for ranker in ["learned", "formula"] {
            let pack = session.json(repo.path(), &["context", task, "--without", part, "--ranker", ranker]);
            assert!(!names(&pack).is_empty(), "without {part}");
        }
    }
    let all = parts.join(",");
    session.json(repo.path(), &["context", task, "--without", &all]);
    session.json(repo.path(), &["context", task, "--no-classes"]);
    let error = session.error(repo.path(), &["context", task, "--without", "wlak"], 2, "usage");
    assert_eq!(error["candidates"][0]["name"], "walk", "{error}");
}

#[test]
fn a_format_of_json_is_json() {
    let (session, repo) = (Session::new(), shop());
    let text = session.text(repo.path(), &["context", "the total of a cart", "--format", "json"]);
    let pack: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(pack, session.json(repo.path(), &["context", "the total of a cart"]));
    let ran = session.run(repo.path(), &["context", "zzz", "--format", "json"]);
    let error: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &error["error"]["kind"]), (1, &"not_found".into()));
    let markdown = session.text(repo.path(), &["context", "the total of a cart", "--format", "markdown"]);
    assert!(markdown.starts_with("# context_for_task"), "{markdown}");
}
