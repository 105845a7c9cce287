//! Making, finding, refusing and migrating databases.

use std::fs;
use std::path::Path;

use knowing_model::Provenance;
use knowing_model::name::Case;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::check::{check_clean, write_sound};
use super::{Sample, URL, calls, database, directory, n_edges, n_rows, open};
use crate::connection;
use crate::edge_rows::unpack_edges;
use crate::migrations::{MIGRATIONS, Migration, copy_path};
use crate::{Error, Store};

/// The version that this program writes, and one that it does not know.
const KNOWN: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;
const NEXT: u32 = KNOWN + 1;

/// What lies in the database's directory.
fn listing(path: &Path) -> Vec<String> {
    let directory = path.parent().expect("the database has a directory");
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_connection_is_set_up_alike() {
    let directory = directory();
    let path = database(&directory);
    for store in [open(&path), open(&path), Store::open_existing(&path).unwrap().unwrap()] {
        let number = |pragma: &str| -> i64 {
            store.connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap()
        };
        let mode: String =
            store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        assert_eq!(number("foreign_keys"), 1);
        assert_eq!(number("synchronous"), 1, "NORMAL");
        assert_eq!(number("busy_timeout"), 5000);
        assert_eq!(number("temp_store"), 2, "MEMORY");
        assert_eq!(number("mmap_size"), 256 << 20);
        assert_eq!(number("cache_size"), -(64 << 10));
        assert_eq!(number("page_size"), 8192);
        assert_eq!(number("user_version"), i64::from(KNOWN));
    }
}

#[cfg(unix)]
#[test]
fn the_files_of_a_database_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    Sample::new(URL, 1).with_file("a.py", 1, &["f", "g"]).write(&mut store);
    let names = listing(&path);
    assert_eq!(names, ["knowing.db", "knowing.db-shm", "knowing.db-wal"]);
    for name in names {
        let mode = fs::metadata(path.with_file_name(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn an_absent_database_is_not_made_by_looking() {
    let directory = directory();
    let path = database(&directory);
    assert!(Store::open_existing(&path).unwrap().is_none());
    assert!(!path.parent().unwrap().exists());
    let store = open(&path);
    assert_eq!(store.path(), path);
    assert_eq!(store.images_dir(), path.with_file_name("images"));
    assert!(Store::open_existing(&path).unwrap().is_some());
}

#[test]
fn many_threads_may_make_one_database_at_once() {
    let directory = directory();
    let path = database(&directory);
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let path = &path;
            scope.spawn(move || {
                let sample = Sample::new(&format!("host/{worker}"), 1).with_file("a.py", 1, &["f", "g"]);
                sample.write(&mut open(path));
            });
        }
    });
    let store = open(&path);
    assert_eq!(store.repos().unwrap().len(), 6);
    assert_eq!(n_edges(&store), 6);
}

#[track_caller]
fn check_refused(path: &Path, is_expected: impl Fn(&Error) -> bool) {
    let wal = path.with_file_name("knowing.db-wal");
    let before = (fs::read(path).unwrap(), fs::read(&wal).ok());
    for error in [Store::open(path).unwrap_err(), Store::open_existing(path).unwrap_err()] {
        assert!(is_expected(&error), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    assert!(before == (fs::read(path).unwrap(), fs::read(&wal).ok()), "bytes were changed");
}

#[test]
fn s6_a_newer_schema_is_refused_without_writing() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    Sample::new(URL, 1).with_file("a.py", 1, &["f", "g"]).write(&mut store);
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    check_refused(&path, |it| matches!(it, Error::Unsupported { found: 99, known: KNOWN, .. }));
    assert_eq!(listing(&path), ["knowing.db"]);
}

#[test]
fn s6_a_newer_schema_in_the_log_is_refused_without_writing() {
    let directory = directory();
    let path = database(&directory);
    drop(open(&path));
    // As a process that was killed leaves it: the new version stands in the log alone.
    let connection = Connection::open(&path).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    assert!(fs::metadata(path.with_file_name("knowing.db-wal")).unwrap().len() > 0);
    check_refused(&path, |it| matches!(it, Error::Unsupported { found: 99, known: KNOWN, .. }));
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let directory = directory();
    let path = directory.path().join("knowing.db");
    for content in ["no database at all\n".repeat(500), "short".to_owned()] {
        fs::write(&path, content).unwrap();
        check_refused(&path, |it| matches!(it, Error::Corrupt { .. }));
        assert_eq!(listing(&path), ["knowing.db"]);
    }
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    for mode in ["DELETE", "WAL"] {
        let directory = directory();
        let path = directory.path().join("knowing.db");
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(())).unwrap();
        connection.execute_batch("CREATE TABLE mail (subject TEXT)").unwrap();
        drop(connection);
        check_refused(&path, |it| matches!(it, Error::Corrupt { .. }));
        assert_eq!(listing(&path), ["knowing.db"]);
    }
}

#[test]
fn a_place_that_cannot_hold_a_database_is_named() {
    let directory = directory();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.join("knowing.db"), directory.path().to_owned()] {
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}

const LATER: Migration = Migration::of_sql(
    NEXT,
    "CREATE TABLE later (value INTEGER) STRICT; ALTER TABLE nodes ADD COLUMN coverage INTEGER;",
);

#[test]
fn s6_an_older_schema_migrates_and_answers_equally() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let snapshot = Sample::new(URL, 1).with_file("a.py", 1, &["f", "g", "h"]).write(&mut store);
    let before = calls(&store, &snapshot);
    drop(store);

    let list = [MIGRATIONS, &[LATER]].concat();
    let store = connection::open(&path, &list).unwrap();
    assert_eq!(n_rows(&store, "later"), 0);
    assert_eq!(calls(&store, &snapshot), before);
    drop(store);
    assert!(matches!(Store::open(&path).unwrap_err(), Error::Unsupported { found: NEXT, known: KNOWN, .. }));

    // The copy is a whole database of the version before.
    let kept = copy_path(&path, KNOWN);
    assert_eq!(listing(&path), ["knowing.db".to_owned(), format!("knowing.db.v{KNOWN}")]);
    assert_eq!(calls(&open(&kept), &snapshot), before);
}

/// A statement of the first schema.
fn first_schema(begin: &str) -> String {
    let rest = MIGRATIONS[0].sql.split(begin).nth(1).unwrap();
    format!("{begin}{};", rest.split(';').next().unwrap())
}

/// As version 9 had it: names as texts in lower case.
fn unkey_names(store: &Store) {
    let parts = [
        "DROP INDEX symbols_by_name; ALTER TABLE symbols RENAME TO keyed;".to_owned(),
        first_schema("CREATE TABLE symbols"),
        "INSERT INTO symbols SELECT sym, node_id, container_row, kind, symbol, name, lower(name) FROM keyed;
         DROP TABLE keyed;"
            .to_owned(),
        first_schema("CREATE INDEX symbols_by_name"),
        first_schema("CREATE INDEX symbols_of_many_segments"),
    ];
    store.connection.execute_batch(&parts.concat()).unwrap();
    store.connection.pragma_update(None, "user_version", 9).unwrap();
}

#[test]
fn s6_symbols_of_an_older_schema_are_found_by_their_names() {
    let (directory, store, snapshot) = super::lookup::sample();
    let path = database(&directory);
    let found = |store: &Store| {
        let reader = store.reader(&snapshot).unwrap();
        let by_name = ["Flask", "RUN", "app.py", "none"].map(|it| reader.symbols_named(it).unwrap());
        let by_ending = ["flask/app.py", "users/run", "Flask.run"]
            .map(|it| reader.symbols_ending_with(it, Case::Ignored).unwrap());
        (by_name, by_ending)
    };
    let before = found(&store);
    assert_eq!(before.0.each_ref().map(Vec::len), [1, 4, 1, 0]);
    assert_eq!(before.1.each_ref().map(Vec::len), [1, 1, 2]);
    unkey_names(&store);
    drop(store);

    let store = open(&path);
    assert_eq!(found(&store), before);
    assert_eq!(n_rows(&store, "sqlite_schema WHERE name = 'symbols_by_text'"), 0);
    let findings = store.check().unwrap().findings;
    assert!(findings.iter().all(|it| it.check != "ids"), "{findings:#?}");
}

/// As version 8 had it: a row for each edge.
fn unpack_database(store: &Store) {
    unkey_names(store);
    let db = &store.connection;
    let mut singles = Vec::new();
    let mut statement = db.prepare("SELECT edge_row, unit, packed FROM edges").unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (first, unit, packed): (i64, i64, Vec<u8>) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        for (edge_row, edge) in (first..).zip(unpack_edges(&packed)) {
            let edge = edge.unwrap();
            let sites = edge.sites.to_vec();
            let ids = |known: Option<(Provenance, u16)>| (known.map(|it| it.0.id()), known.map(|it| it.1));
            let (base, t2) = (ids(edge.base), ids(edge.t2));
            let ends = (edge.source, edge.target, edge.kind.id());
            singles.push((edge_row, unit, ends, base, t2, edge.refuted, edge.n_sites, sites));
        }
    }
    drop(rows);
    drop(statement);
    db.execute_batch(&format!("DROP TABLE edges; {}", first_schema("CREATE TABLE edges"))).unwrap();
    for (edge_row, unit, ends, base, t2, refuted, n_sites, sites) in singles {
        let insert = "INSERT INTO edges VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let (source, target, kind) = ends;
        let values =
            (edge_row, unit, source, target, kind, base.0, base.1, t2.0, t2.1, refuted, n_sites, sites);
        db.execute(insert, values).unwrap();
    }
    db.pragma_update(None, "user_version", 8).unwrap();
}

#[test]
fn s6_edges_in_single_rows_are_put_together_and_keep_their_numbers() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    // More than go into one row.
    let functions: Vec<String> = (0..150).map(|it| format!("function_{it}")).collect();
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    let sample = Sample::new(URL, 1).with_file("a.py", 1, &functions).with_file("b.py", 1, &["f", "g"]);
    let snapshot = write_sound(&sample, &mut store);
    assert!(n_rows(&store, "edges") > 3);
    let all = |store: &Store| {
        let reader = store.reader(&snapshot).unwrap();
        let edges = reader.graph_rows().unwrap().edges;
        let sites: Vec<_> = edges.iter().map(|it| reader.edge_sites(it.edge_row).unwrap()).collect();
        (edges, sites)
    };
    let before = all(&store);
    let packed: Vec<Vec<u8>> = packed_edges(&store);
    unpack_database(&store);
    assert_eq!(n_rows(&store, "edges"), before.0.len() as u32);
    drop(store);

    let store = open(&path);
    assert_eq!(all(&store), before);
    assert_eq!(packed_edges(&store), packed);
    assert_eq!(n_rows(&store, "sqlite_schema WHERE name = 'single_edges'"), 0);
    check_clean(&store);
    assert_eq!(listing(&path), ["knowing.db", "knowing.db-shm", "knowing.db-wal", "knowing.db.v8"]);

    // A damaged edge is left out, and missed.
    unpack_database(&store);
    store.connection.execute("UPDATE edges SET kind = 99 WHERE edge_row = 70", []).unwrap();
    drop(store);
    let store = open(&path);
    assert_eq!(n_edges(&store), before.0.len() as u32 - 1);
    for edge in before.0.iter().filter(|it| it.edge_row != 70) {
        let sites = store.reader(&snapshot).unwrap().edge_sites(edge.edge_row).unwrap();
        assert_eq!((sites.source, sites.target), (edge.source, edge.target));
    }
    assert!(store.reader(&snapshot).unwrap().edge_sites(70).is_err());
    let findings = store.check().unwrap().findings;
    assert!(findings.iter().any(|it| it.check == "units"), "{findings:#?}");
}

fn packed_edges(store: &Store) -> Vec<Vec<u8>> {
    let mut statement = store.connection.prepare("SELECT packed FROM edges ORDER BY edge_row").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_migration_that_fails_leaves_the_version_before() {
    let directory = directory();
    let path = database(&directory);
    drop(open(&path));
    let broken =
        Migration::of_sql(NEXT + 1, "CREATE TABLE half (value INTEGER) STRICT; CREATE TABLE nodes (again);");
    let list = [MIGRATIONS, &[LATER, broken]].concat();
    assert!(connection::open(&path, &list).is_err());

    // Each step is its own transaction: the first new one holds, nothing of the second does.
    let store = connection::open(&path, &list[..list.len() - 1]).unwrap();
    assert_eq!(n_rows(&store, "later"), 0);
    assert_eq!(n_rows(&store, "sqlite_schema WHERE name = 'half'"), 0);
}

#[test]
fn a_database_whose_making_was_cut_short_is_made_again() {
    let directory = directory();
    let path = database(&directory);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    drop(connection);
    assert!(fs::metadata(&path).unwrap().len() > 0);
    let mut store = open(&path);
    Sample::new(URL, 1).with_file("a.py", 1, &["f"]).write(&mut store);
}
