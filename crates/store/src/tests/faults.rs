//! Killed writers, full disks, two writers, damaged rows.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Sample, URL, calls, change_edges, database, directory, n_edges, n_rows, open};
use crate::{Error, SnapshotRow, Store};

fn first() -> Sample {
    Sample::new(URL, 1).with_file("a.py", 1, &["f", "g"])
}

fn second() -> Sample {
    let functions: Vec<String> = (0..40).map(|it| format!("function_{it}")).collect();
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    (0..20)
        .fold(Sample::new(URL, 2), |sample, file| sample.with_file(&format!("src/{file}.py"), 2, &functions))
}

#[track_caller]
fn check_sound(path: &Path, expected: &[&SnapshotRow]) {
    let store = open(path);
    let verdict: String = store.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    assert_eq!(n_rows(&store, "snapshots"), expected.len() as u32);
    for snapshot in expected {
        assert_eq!(store.snapshot(snapshot.id).unwrap().as_ref(), Some(*snapshot));
    }
    let n_calls: usize = expected.iter().map(|it| calls(&store, it).len()).sum();
    assert_eq!(n_edges(&store), n_calls as u32, "edges of no snapshot");
}

const VICTIM: &str = "KNOWING_STORE_TEST_VICTIM";

/// Runs in a child process that is killed from inside: after so many steps of the engine, in the middle of writing.
fn victim(path: &Path, n_steps: u64) {
    let mut store = open(path);
    // So small a cache that rows reach the log long before the end.
    store.connection.pragma_update(None, "cache_size", 4).unwrap();
    let mut left = n_steps;
    let count = move || {
        left = left.checked_sub(1).unwrap_or_else(|| std::process::abort());
        false
    };
    let count = std::sync::Mutex::new(count);
    let step = move || (count.lock().unwrap())();
    store.connection.progress_handler(10, Some(step)).unwrap();
    second().write(&mut store);
}

#[test]
fn s2_a_killed_writer_leaves_the_old_or_the_new_snapshot() {
    if let Ok(arguments) = std::env::var(VICTIM) {
        let (n_steps, path) = arguments.split_once(':').unwrap();
        return victim(Path::new(path), n_steps.parse().unwrap());
    }
    let mut n_killed = 0;
    for n_steps in [0, 3, 30, 300, 900, 1500, 2500, 4000, u64::MAX] {
        let directory = directory();
        let path = database(&directory);
        let old = first().write(&mut open(&path));
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::faults::s2_a_killed_writer_leaves_the_old_or_the_new_snapshot"])
            .env(VICTIM, format!("{n_steps}:{}", path.display()))
            .output()
            .unwrap();
        if output.status.success() {
            let new = open(&path).latest_snapshot(old.repo).unwrap().unwrap();
            assert_ne!(new.id, old.id);
            check_sound(&path, &[&old, &new]);
            continue;
        }
        n_killed += 1;
        check_sound(&path, &[&old]);
        let new = second().write(&mut open(&path));
        check_sound(&path, &[&old, &new]);
    }
    assert!((3..9).contains(&n_killed), "{n_killed} writers were killed");
}

#[test]
fn s2_a_killed_first_writer_leaves_no_snapshot_or_a_whole_one() {
    if let Ok(arguments) = std::env::var(VICTIM) {
        let (n_steps, path) = arguments.split_once(':').unwrap();
        return victim(Path::new(path), n_steps.parse().unwrap());
    }
    let (mut n_killed, mut n_journals) = (0, 0);
    for n_steps in [0, 3, 30, 300, 900, 1500, 2500, 4000, u64::MAX] {
        let directory = directory();
        let path = database(&directory);
        drop(open(&path));
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::faults::s2_a_killed_first_writer_leaves_no_snapshot_or_a_whole_one"])
            .env(VICTIM, format!("{n_steps}:{}", path.display()))
            .output()
            .unwrap();
        if !output.status.success() {
            n_killed += 1;
            // Of pages that were written over, what they held before.
            let journal = fs::metadata(path.with_file_name("knowing.db-journal"));
            n_journals += u32::from(journal.is_ok_and(|it| it.len() > 0));
            check_sound(&path, &[]);
        }
        let new = second().write(&mut open(&path));
        check_sound(&path, &[&new]);
    }
    assert!((3..9).contains(&n_killed), "{n_killed} writers were killed");
    assert!(n_journals > 0, "no writer was killed while it wrote into the database itself");
}

#[test]
fn a_full_disk_changes_nothing() {
    let directory = directory();
    let path = database(&directory);
    let old = first().write(&mut open(&path));
    let before = fs::read(&path).unwrap();

    let mut store = open(&path);
    let n_pages: u32 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    store.connection.pragma_update_and_check(None, "max_page_count", n_pages + 2, |_| Ok(())).unwrap();
    let error = second().try_write(&mut store).unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error}");
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    // The same connection goes on with what was there.
    assert_eq!(calls(&store, &old).len(), 1);
    drop(store);
    assert!(fs::read(&path).unwrap() == before, "bytes were changed");
    check_sound(&path, &[&old]);
}

#[test]
fn a_second_writer_is_told_to_come_back() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let old = first().write(&mut store);
    let other = open(&path);
    other.connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.connection.pragma_update(None, "busy_timeout", 0).unwrap();
    let error = second().try_write(&mut store).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    // Reading goes on meanwhile.
    assert_eq!(calls(&store, &old).len(), 1);
    other.connection.execute_batch("ROLLBACK").unwrap();
    second().write(&mut store);
}

#[test]
fn a_connection_that_is_read_only_says_so() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let old = first().write(&mut store);
    store.connection.pragma_update(None, "query_only", true).unwrap();
    let error = second().try_write(&mut store).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    drop(store);
    check_sound(&path, &[&old]);
}

#[track_caller]
fn check_damage(damage: &str, ask: impl Fn(&Store, &SnapshotRow) -> crate::Result<()>) {
    check_damage_by(|store| store.connection.execute_batch(damage).unwrap(), ask);
}

#[track_caller]
fn check_damage_by(damage: impl Fn(&Store), ask: impl Fn(&Store, &SnapshotRow) -> crate::Result<()>) {
    let directory = directory();
    let mut store = open(&database(&directory));
    let snapshot = first().write(&mut store);
    ask(&store, &snapshot).unwrap();
    damage(&store);
    let error = ask(&store, &snapshot).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn damaged_rows_are_errors_not_panics() {
    let graph = |store: &Store, snapshot: &SnapshotRow| store.reader(snapshot)?.graph_rows().map(drop);
    for damage in [
        "UPDATE snapshots SET unit_set = x'ffff'",
        // What follows an edge's head is cut off, or is nothing that there is.
        "UPDATE edges SET packed = x'01'",
        "UPDATE edges SET packed = x'ff'",
        "UPDATE symbols SET kind = 0",
        "UPDATE symbols SET node_id = x'00' WHERE sym = 1",
        "DELETE FROM units",
        "DELETE FROM snapshots",
    ] {
        check_damage(damage, graph);
    }
    check_damage_by(|store| change_edges(store, |edge| edge.target = 12345), graph);
    check_damage_by(|store| change_edges(store, |edge| edge.base = None), graph);
    let sites = |store: &Store, snapshot: &SnapshotRow| store.reader(snapshot)?.edge_sites(1).map(drop);
    check_damage_by(|store| change_edges(store, |edge| edge.sites = &[0x80]), sites);
    check_damage("UPDATE edges SET packed = x''", sites);
    check_damage("DELETE FROM edges", sites);
    check_damage("UPDATE unresolved SET candidates = x'ff'", |store, snapshot| {
        store.reader(snapshot)?.unresolved_all().map(drop)
    });
    check_damage("UPDATE file_facts SET facts = x'0000'", |store, _| store.facts(1).map(drop));
    check_damage("UPDATE snapshots SET stage = 'late'", |store, snapshot| {
        store.snapshot(snapshot.id).map(drop)
    });
    check_damage("UPDATE snapshots SET package_roots = x''", |store, snapshot| {
        store.package_roots(snapshot).map(drop)
    });
}
