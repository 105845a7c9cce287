//! The first snapshot of a database, which is written without a log where nobody else has it open.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{Sample, URL, calls, database, directory, n_edges, n_rows, open};
use crate::{Error, SnapshotRow, Store};

fn sample() -> Sample {
    Sample::new(URL, 1).with_file("a.py", 1, &["f", "g", "h"])
}

fn log_bytes(path: &Path) -> u64 {
    fs::metadata(path.with_file_name("knowing.db-wal")).map_or(0, |it| it.len())
}

/// As `open` leaves a connection.
#[track_caller]
fn check_usual(store: &Store) {
    let mode: String = store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let number = |pragma: &str| -> i64 {
        store.connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap()
    };
    assert_eq!((number("synchronous"), number("busy_timeout")), (1, 5000));
    let journal = store.path().with_file_name("knowing.db-journal");
    assert!(!journal.exists(), "a rollback journal was left");
}

#[track_caller]
fn check_stored(store: &Store, snapshot: &SnapshotRow) {
    assert_eq!(store.snapshot(snapshot.id).unwrap().as_ref(), Some(snapshot));
    assert_eq!(calls(store, snapshot).len(), 2);
    assert_eq!(n_edges(store), 2);
}

#[test]
fn the_first_snapshot_leaves_no_log_and_a_later_one_does() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let snapshot = sample().write(&mut store);
    assert_eq!(log_bytes(&path), 0, "the first snapshot went through the log");
    check_usual(&store);
    check_stored(&store, &snapshot);
    Sample::new(URL, 2).with_file("b.py", 2, &["f", "g"]).write(&mut store);
    assert!(log_bytes(&path) > 0, "the second snapshot went past the log");
    check_usual(&store);
    drop(store);
    let store = open(&path);
    assert_eq!(n_rows(&store, "snapshots"), 2);
    assert_eq!(calls(&store, &snapshot).len(), 2);
}

#[test]
fn a_database_that_others_have_open_keeps_its_log() {
    let directory = directory();
    let path = database(&directory);
    let other = open(&path);
    let mut store = open(&path);
    let snapshot = sample().write(&mut store);
    assert!(log_bytes(&path) > 0);
    check_usual(&store);
    check_stored(&other, &snapshot);
}

#[test]
fn s2_who_opens_the_database_while_its_first_snapshot_is_written_waits_for_it() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let is_open = AtomicBool::new(false);
    thread::scope(|scope| {
        let found = store.first_write(|store| {
            let found = scope.spawn(|| {
                let other = open(&path);
                is_open.store(true, Ordering::SeqCst);
                n_rows(&other, "snapshots")
            });
            thread::sleep(Duration::from_millis(200));
            assert!(!is_open.load(Ordering::SeqCst), "a database that cannot be read yet was opened");
            sample().write(store);
            crate::Result::Ok(found)
        });
        assert_eq!(found.unwrap().join().unwrap(), 1);
    });
    check_usual(&store);
}

#[test]
fn a_disk_that_is_full_at_the_first_snapshot_leaves_an_empty_database() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let set_limit = |store: &Store, pages: u32| {
        store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    };
    let n_pages: u32 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    set_limit(&store, n_pages);
    let many: Vec<String> = (0..2000).map(|it| format!("function_{it}")).collect();
    let large =
        Sample::new(URL, 1).with_file("a.py", 1, &many.iter().map(String::as_str).collect::<Vec<_>>());
    let error = large.try_write(&mut store).unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error}");
    check_usual(&store);
    assert_eq!(n_rows(&store, "snapshots"), 0);
    // The same connection writes once there is room.
    set_limit(&store, 1 << 20);
    let snapshot = sample().write(&mut store);
    check_usual(&store);
    check_stored(&store, &snapshot);
}
