//! Killed at every step of writing: what is there afterwards is the old or the new, and whole.

use std::path::Path;
use std::process::Stdio;

use knowing_testkit::Fixture;
use serde_json::Value;

use crate::session::{Session, shop};

/// Copies a directory and all below it over what is at `to`.
fn restore(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            restore(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// Runs a command that is killed at one step after the other, always from the same state; how many there are.
#[track_caller]
fn at_every_step(session: &Session, repo: &Fixture, arguments: &[&str], check: impl Fn(u32)) -> u32 {
    let kept = session.file("kept");
    restore(&session.data(), &kept);
    for step in 1.. {
        restore(&kept, &session.data());
        let mut command = session.command(repo.path());
        command.args(arguments).env("KNOWING_TEST_ABORT_AT", step.to_string());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        if status.success() {
            return step - 1;
        }
        assert_eq!(status.code(), None, "{arguments:?} failed by itself at step {step}");
        let ran = session.run(repo.path(), &["fsck"]);
        assert_eq!(ran.code, 0, "{arguments:?} at step {step}: {}{}", ran.stdout, ran.stderr);
        check(step);
    }
    unreachable!("a command has so many steps and no more")
}

fn stored(session: &Session, repo: &Fixture) -> (Value, String) {
    let warn = ["--stale-policy", "warn"];
    let stats = session.json(repo.path(), &[&["stats"][..], &warn].concat());
    (stats["snapshot"].clone(), session.text(repo.path(), &[&["export"][..], &warn].concat()))
}

#[test]
fn s2_an_update_that_is_killed_at_any_step_leaves_the_old_or_the_new() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let old = stored(&session, &repo);
    repo.write("shop/desk.py", "from shop.cart import make, Cart\n\n\ndef serve():\n    Cart().close()\n");
    repo.remove("tests/test_cart.py");
    repo.commit("another desk");
    let fresh = Session::new();
    fresh.index(&repo);
    let new = stored(&fresh, &repo);
    let task = ["context", "close the desk"];
    let answer = fresh.json(repo.path(), &task);
    assert_ne!(old, new);
    let n_steps = at_every_step(&session, &repo, &["index"], |step| {
        let found = stored(&session, &repo);
        assert!(found == old || found == new, "killed at step {step}: {}", found.0);
        // And from there it goes on: the refreshed answer is that of a database that nothing happened to.
        assert_eq!(session.json(repo.path(), &task), answer, "killed at step {step}");
        assert_eq!(stored(&session, &repo), new, "killed at step {step}");
    });
    assert!(n_steps > 15, "only {n_steps} steps");
}

#[test]
fn s2_a_first_index_that_is_killed_at_any_step_can_be_made_again() {
    let (session, repo) = (Session::new(), shop());
    std::fs::create_dir_all(session.data()).unwrap();
    let kept = session.file("kept");
    restore(&session.data(), &kept);
    let fresh = Session::new();
    fresh.index(&repo);
    let new = stored(&fresh, &repo);
    let mut n_steps = 0;
    loop {
        restore(&kept, &session.data());
        let mut command = session.command(repo.path());
        command.arg("index").env("KNOWING_TEST_ABORT_AT", (n_steps + 1).to_string());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        if status.success() {
            break;
        }
        n_steps += 1;
        let ran = session.run(repo.path(), &["stats", "--stale-policy", "warn"]);
        assert!(ran.code == 0 || ran.stderr.contains("not indexed"), "step {n_steps}: {}", ran.stderr);
        session.index(&repo);
        assert_eq!(stored(&session, &repo), new, "killed at step {n_steps}");
        assert_eq!(session.run(repo.path(), &["fsck"]).code, 0, "killed at step {n_steps}");
    }
    assert!(n_steps > 15, "only {n_steps} steps");
}

#[test]
fn s2_a_collection_that_is_killed_at_any_step_loses_nothing_that_is_kept() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let first = stored(&session, &repo);
    let old = repo.git(&["rev-parse", "HEAD"]);
    for n in 0..2 {
        repo.write(&format!("shop/more{n}.py"), "from shop.cart import make\n\n\ndef more():\n    make()\n");
        repo.remove(["shop/desk.py", "tests/test_cart.py"][n]);
        repo.commit("more");
        session.index(&repo);
    }
    let kept = stored(&session, &repo);
    let n_steps = at_every_step(&session, &repo, &["gc", "--keep", "1"], |step| {
        assert_eq!(stored(&session, &repo), kept, "killed at step {step}");
        // What was collected, or was about to be, is made again with rows of its own.
        let old = session.text(repo.path(), &["export", "--tree", &old]);
        assert_eq!(old, first.1, "killed at step {step}");
        let callers = session.json(repo.path(), &["callers", "make", "--tree", "HEAD~2"]);
        assert_eq!(callers["total"], 2, "killed at step {step}: {callers}");
    });
    assert!(n_steps > 8, "only {n_steps} steps");
}
