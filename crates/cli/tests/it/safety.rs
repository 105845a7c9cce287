//! Nothing is written where it does not belong, and a killed run loses nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;

use crate::session::{Session, shop};

/// Every file below a directory with its bytes.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn p4_no_file_appears_or_changes_inside_the_work_tree() {
    let (session, repo) = (Session::new(), shop());
    let before = contents(repo.path());
    session.index(&repo);
    session.json(repo.path(), &["index", "--force"]);
    session.text(repo.path(), &["callers", "make"]);
    session.text(repo.path(), &["blast-radius", "make"]);
    session.text(repo.path(), &["query", "*"]);
    session.text(repo.path(), &["export"]);
    assert_eq!(contents(repo.path()), before);
}

#[test]
fn c3_pipes_get_plain_text_and_stdout_holds_data_only() {
    let (session, repo) = (Session::new(), shop());
    for arguments in [&["index"][..], &["stats"], &["callers", "make"], &["blast-radius", "make"]] {
        let ran = session.run(repo.path(), arguments);
        assert_eq!(ran.code, 0);
        assert!(!ran.stdout.contains('\u{1b}') && ran.stderr.is_empty(), "{arguments:?}: {}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn the_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (session, repo) = (Session::new(), shop());
    let report = session.index(&repo);
    let mode = std::fs::metadata(report["database"].as_str().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn s2_a_killed_index_leaves_the_old_or_the_new_snapshot() {
    let (session, repo) = (Session::new(), shop());
    let old = session.index(&repo);
    let functions: String = (0..1_000).map(|n| format!("def f{n}():\n    return f{}()\n\n", n / 2)).collect();
    for n in 0..6 {
        repo.write(&format!("many/m{n}.py"), &functions);
    }
    repo.commit("many");
    let fresh = Session::new();
    let new = fresh.index(&repo);
    let database = PathBuf::from(old["database"].as_str().unwrap());
    let log = PathBuf::from(format!("{}-wal", database.display()));
    // Killed when the log has grown so far: at once, at the first pages, in the middle, near the end.
    for kill_at in [0, 1, 100_000, 500_000, 1_000_000] {
        let mut child = session.command(repo.path()).arg("index").stdout(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            if std::fs::metadata(&log).map_or(0, |it| it.len()) >= kill_at {
                let _ = child.kill();
            }
            std::thread::yield_now();
        }
        let stats = session.json(repo.path(), &["stats", "--stale-policy", "warn"]);
        let expect = if stats["commit"] == old["commit"] { &old } else { &new };
        for field in ["commit", "root", "nodes", "edges"] {
            assert_eq!(stats[field], expect[field], "killed at {kill_at}: {field}");
        }
    }
    let after = session.index(&repo);
    assert_eq!(after["root"], new["root"]);
    assert_eq!(session.text(repo.path(), &["export"]), fresh.text(repo.path(), &["export"]));
}

#[test]
fn readers_are_not_disturbed_while_a_writer_works() {
    let (session, repo) = (Session::new(), shop());
    let old = session.index(&repo);
    repo.commit("more");
    let mut writer =
        session.command(repo.path()).args(["index", "--force"]).stdout(Stdio::null()).spawn().unwrap();
    let mut n_answers = 0;
    while n_answers == 0 || writer.try_wait().unwrap().is_none() {
        let stats = session.json(repo.path(), &["stats"]);
        assert_eq!(stats["root"], old["root"], "an empty commit has the same edges");
        n_answers += 1;
    }
    assert_eq!(session.json(repo.path(), &["stats"])["fresh"], json!("yes"));
}
