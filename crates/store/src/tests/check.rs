//! fsck finds what is not as it was written, and names it.

use std::collections::BTreeSet;

use knowing_model::identity::{edge_id, snapshot_id};
use knowing_model::{EdgeKind, Hasher, NodeKind, Provenance, package_of};
use knowing_snapshot::{EdgeLeaf, Tree};
use rusqlite::types::Value;

use super::{Sample, URL, change_edges, database, directory, edge, open};
use crate::check::snapshot_identity;
use crate::packed::compress;
use crate::{
    Checked, EncodedFacts, FileRow, MinedCommit, NewHistory, Remakable, Severity, SnapshotRow, Store,
    TermsKey, Touch, Walked,
};

/// Writes a sample as an index run would: with the roots of its edges.
pub(super) fn write_sound(sample: &Sample, store: &mut Store) -> SnapshotRow {
    let mut snapshot = sample.write(store);
    let leaves: Vec<(String, EdgeLeaf<'static>)> = (sample.units.iter().flat_map(|it| &it.edges))
        .map(|it| {
            let source = &sample.symbols[it.source as usize];
            let leaf = EdgeLeaf {
                package: "",
                kind: it.kind,
                id: edge_id(source.id, sample.symbols[it.target as usize].id, it.kind),
                provenance: it.provenance,
                confidence_bp: it.confidence_bp,
            };
            (package_of(source.class, &source.container).to_owned(), leaf)
        })
        .collect();
    let tree = Tree::build(leaves.iter().map(|(package, leaf)| EdgeLeaf { package, ..*leaf }));
    let roots: Vec<(&str, [u8; 32])> = tree.packages.iter().map(|it| (it.name.as_str(), it.root.0)).collect();
    snapshot.root = tree.root;
    snapshot.id = snapshot_id(snapshot_identity(&sample.url, &snapshot));
    let update =
        "UPDATE snapshots SET root = ?2, snapshot_id = ?3, package_roots = ?4 WHERE snapshot_row = ?1";
    let packed = compress(&postcard::to_stdvec(&roots).unwrap());
    let row = (snapshot.row, snapshot.root.as_bytes(), snapshot.id.as_bytes(), packed);
    store.connection.execute(update, row).unwrap();
    snapshot
}

pub(super) fn sample(url: &str, commit: u8, version: u8) -> Sample {
    let mut sample = Sample::new(url, commit)
        .with_file("a.py", 1, &["f", "g", "h"])
        .with_file("src/b.py", version, &["main", "C.run", "C.stop"])
        .with_file("src/c.py", 1, &["x", "y"]);
    let env = sample.virtual_symbol("env", "env", "HOME", NodeKind::EnvVar);
    sample.units[0].edges.push(edge(0, env, EdgeKind::ReadsEnv, 3));
    sample
}

#[track_caller]
pub(super) fn check_clean(store: &Store) -> Checked {
    let checked = store.check().unwrap();
    assert_eq!(checked.findings, []);
    checked
}

#[test]
fn what_was_written_is_sound() {
    let directory = directory();
    let mut store = open(&database(&directory));
    check_clean(&store);
    write_sound(&sample(URL, 1, 1), &mut store);
    write_sound(&sample(URL, 2, 2), &mut store);
    write_sound(&sample("github.com/acme/other", 2, 2), &mut store);
    let checked = check_clean(&store);
    assert_eq!((checked.repos, checked.snapshots), (2, 3));
    assert!(checked.edges > 10 && checked.nodes > 10 && checked.unresolved > 10);
    assert_eq!(store.check_pages().unwrap().findings, []);
}

/// Tables, their keys, what findings call their rows, and the columns that are part of a hash.
const HASHED: &[(&str, &str, &str, &[&str])] = &[
    ("repos", "repo_id", "repository row", &["hash", "url"]),
    ("symbols", "sym", "symbol row", &["node_id", "kind", "symbol"]),
    ("files", "file_row", "file row", &["hash", "path", "blob"]),
    ("units", "unit_row", "unit row", &["digest"]),
    (
        "nodes",
        "node_row",
        "unit row",
        &["sym", "flags", "line_start", "line_end", "name_line", "name_col", "signature", "doc"],
    ),
    ("edges", "edge_row", "unit row", &["packed"]),
    (
        "unresolved",
        "site_row",
        "unit row",
        &["source", "name", "receiver", "argc", "line", "col", "reason", "candidates"],
    ),
    ("containers", "container_row", "symbol row", &["repo", "class", "container"]),
    ("snapshots", "snapshot_row", "snapshot row", &["snapshot_id", "commit_id", "stage", "ruleset", "root"]),
    // Not hashed, but summed.
    ("file_facts", "file_row", "file row", &["facts"]),
    ("terms", "terms_row", "terms row", &["blob", "language", "ruleset", "vectors"]),
    ("commits", "commit_row", "commit row", &["commit_id", "rules", "time", "message", "touches"]),
    (
        "histories",
        "snapshot_row",
        "the history of snapshot row",
        &["rules", "digest", "commit_time", "is_cut", "n_commits", "commit_rows", "walked"],
    ),
];

/// Numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 += 1;
        let bytes = Hasher::new("draw").field(&self.0.to_le_bytes()).finish().0;
        (u64::from_le_bytes(*bytes.first_chunk().unwrap()) % bound as u64) as usize
    }
}

/// What was flipped already: a second flip may undo the first.
type Seen = BTreeSet<(&'static str, i64, &'static str)>;

/// Flips one bit of one hashed column, and says what a finding must speak of; none where there is no bit.
fn flip(store: &Store, draw: &mut Draw, seen: &mut Seen) -> Option<(String, String)> {
    let db = &store.connection;
    let (table, key, called, columns) = HASHED[draw.below(HASHED.len())];
    let column = columns[draw.below(columns.len())];
    let rows: Vec<i64> = db
        .prepare(&format!("SELECT {key} FROM {table}"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let row = rows[draw.below(rows.len())];
    if !seen.insert((table, row, column)) {
        return None;
    }
    let value: Value = db
        .query_row(&format!("SELECT {column} FROM {table} WHERE {key} = ?1"), [row], |row| row.get(0))
        .unwrap();
    let mut flip_bytes = |mut bytes: Vec<u8>| {
        let bit = draw.below(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    let (other, cast) = match value {
        Value::Blob(bytes) if !bytes.is_empty() => (Value::Blob(flip_bytes(bytes)), "?2"),
        Value::Text(text) if !text.is_empty() => {
            (Value::Blob(flip_bytes(text.into_bytes())), "CAST(?2 AS TEXT)")
        }
        Value::Integer(number) => (Value::Integer(number ^ 1 << draw.below(40)), "?2"),
        _ => return None,
    };
    // A name may be taken already: then SQLite itself refuses the row.
    db.execute(&format!("UPDATE {table} SET {column} = {cast} WHERE {key} = ?1"), (row, other)).ok()?;
    let named = match (table, called) {
        ("nodes" | "edges" | "unresolved", _) => {
            let unit: i64 = db
                .query_row(&format!("SELECT unit FROM {table} WHERE {key} = ?1"), [row], |row| row.get(0))
                .unwrap();
            format!("{called} {unit}:")
        }
        ("containers", _) => {
            let find = "SELECT min(sym) FROM symbols WHERE container_row = ?1";
            let sym: i64 = db.query_row(find, [row], |row| row.get(0)).unwrap();
            format!("{called} {sym}")
        }
        ("snapshots" | "histories", _) => format!("{called} {row} "),
        _ => format!("{called} {row}"),
    };
    Some((named, format!("{table}.{column} of row {row}")))
}

/// Histories and term vectors, as an index run leaves them.
fn write_texts(store: &mut Store, snapshot: &SnapshotRow) {
    let touch = || Touch { path: "a.py".to_owned(), old_path: None, names: vec!["f".to_owned()] };
    let commit = |it: u8| MinedCommit {
        id: vec![it; 20],
        time: i64::from(it),
        message: format!("say {it}"),
        touches: vec![touch()],
    };
    let mined: Vec<MinedCommit> = (1..6).map(commit).collect();
    let walked: Vec<Walked<'_>> = mined.iter().map(|it| Walked::Id(&it.id)).collect();
    let new = NewHistory { rules: 1, commit_time: 9, is_cut: false, walked: &walked, mined: &mined };
    store.write_history(snapshot, &new).unwrap();
    let files = store.reader(snapshot).unwrap().files().unwrap();
    let terms = |it: &FileRow| vec![it.row as u8; 50];
    let key = |file| TermsKey { file, language: "python", ruleset: 1 };
    let terms: Vec<_> = files.iter().map(|it| (key(it.id), terms(it))).collect();
    store.write_terms(&terms).unwrap();
}

#[test]
fn what_can_be_made_again_is_named_and_dropped() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let snapshot = write_sound(&sample(URL, 1, 1), &mut store);
    write_texts(&mut store, &snapshot);
    assert!(check_clean(&store).remakable.is_empty());
    store
        .connection
        .execute_batch(
            "UPDATE terms SET vectors = x'00' WHERE terms_row = 2; UPDATE commits SET message = '' WHERE commit_row = 3;
             DELETE FROM file_facts WHERE file_row = 1",
        )
        .unwrap();
    let checked = store.check().unwrap();
    assert!(checked.findings.iter().all(|it| it.severity == Severity::Warning), "{:#?}", checked.findings);
    let found = checked.remakable;
    let expected = Remakable {
        facts: [1].into(),
        terms: [2].into(),
        commits: [3].into(),
        // What lists the commit cannot be told from what lists another.
        histories: [snapshot.row].into(),
    };
    assert_eq!(found, expected);
    store.drop_damaged(&found).unwrap();
    let facts = EncodedFacts::new(&mut knowing_model::facts::FileFacts::default());
    store.replace_facts(1, &facts).unwrap();
    check_clean(&store);
    assert_eq!(store.files_without_terms(1, 1).unwrap().len(), 1);
    assert_eq!(store.facts(1).unwrap(), knowing_model::facts::FileFacts::default());
}

#[test]
fn s5_every_flipped_bit_of_a_hashed_column_is_named() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    write_sound(&sample(URL, 1, 1), &mut store);
    let snapshot = write_sound(&sample(URL, 2, 2), &mut store);
    write_texts(&mut store, &snapshot);
    check_clean(&store);
    // Foreign keys would be what finds some of them.
    store.connection.pragma_update(None, "foreign_keys", false).unwrap();
    let mut draw = Draw(0);
    let mut n_flipped = 0;
    while n_flipped < 10_000 {
        store.connection.execute_batch("SAVEPOINT sound").unwrap();
        let mut seen = Seen::new();
        let flips: Vec<(String, String)> =
            (0..12).filter_map(|_| flip(&store, &mut draw, &mut seen)).collect();
        let mut checked = Checked::default();
        store.check_rows(&mut checked).unwrap();
        for (named, what) in &flips {
            let found = checked.findings.iter().any(|it| it.message.contains(named.as_str()));
            assert!(found, "{what}: nothing speaks of {named} in {:#?}", checked.findings);
        }
        n_flipped += flips.len();
        store.connection.execute_batch("ROLLBACK TO sound; RELEASE sound").unwrap();
    }
    check_clean(&store);
}

#[track_caller]
fn check_found(damage: &str, check: &str, message: &str) {
    check_found_after(|store| store.connection.execute_batch(damage).unwrap(), check, message);
}

#[track_caller]
fn check_found_after(damage: impl Fn(&Store), check: &str, message: &str) {
    let directory = directory();
    let mut store = open(&database(&directory));
    write_sound(&sample(URL, 1, 1), &mut store);
    write_sound(&sample(URL, 2, 2), &mut store);
    store.connection.pragma_update(None, "foreign_keys", false).unwrap();
    damage(&store);
    let findings = store.check().unwrap().findings;
    let found = findings.iter().any(|it| it.check == check && it.message.contains(message));
    assert!(found, "{message}: {findings:#?}");
    assert!(findings.iter().all(|it| it.severity == Severity::Error));
}

#[test]
fn rows_that_do_not_fit_together_are_named() {
    check_found("UPDATE snapshots SET generation = 7 WHERE parent IS NOT NULL", "chain", "generation 7");
    check_found("UPDATE snapshots SET parent = 2 WHERE snapshot_row = 1", "chain", "does not follow");
    check_found("UPDATE snapshots SET parent = 99 WHERE parent = 1", "chain", "is not there");
    check_found("UPDATE snapshots SET unit_set = x'00'", "snapshots", "the row sets");
    check_found("UPDATE snapshots SET package_roots = x'00'", "snapshots", "roots of its packages");
    check_found("UPDATE snapshots SET counts = '{'", "snapshots", "cannot be read");
    check_found(
        "UPDATE snapshots SET file_set = (SELECT file_set FROM snapshots WHERE snapshot_row = 1)",
        "snapshots",
        "its files are not those",
    );
    check_found("DELETE FROM units WHERE unit_row = 1", "snapshots", "units are not there");
    check_found("DELETE FROM files WHERE file_row = 1", "units", "its file row 1 is not there");
    check_found("DELETE FROM symbols WHERE sym = 1", "units", "is not there");
    check_found("DELETE FROM nodes WHERE node_row = 2", "units", "node rows, and says");
    check_found("DELETE FROM edges WHERE edge_row = 1", "units", "edge rows");
    check_found("UPDATE edges SET edge_row = 2 WHERE edge_row = 1", "units", "another one in its place");
    check_found("INSERT INTO edges VALUES (1000, 1, x'00')", "units", "`edges` has");
    check_found("UPDATE nodes SET unit = 2 WHERE node_row = 1", "units", "of another unit");
    check_found("UPDATE symbols SET name_key = 1 WHERE sym = 1", "ids", "cannot be found by its name");
    check_found("DELETE FROM repos", "pages", "`repos`");
}

#[test]
fn what_a_language_server_says_is_in_digests_and_roots() {
    let refute = |store: &Store| change_edges(store, |edge| edge.refuted = true);
    check_found_after(refute, "units", "not what its digest was made of");
    check_found_after(refute, "snapshots", "its root is not that of its edges");
    let upgrade = |store: &Store| change_edges(store, |edge| edge.t2 = Some((Provenance::LspResolved, 9500)));
    check_found_after(upgrade, "units", "not what its digest was made of");
}

#[test]
fn a_damaged_page_is_found() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    write_sound(&sample(URL, 1, 1), &mut store);
    store.vacuum().unwrap();
    drop(store);
    let sound = std::fs::read(&path).unwrap();
    let page = 8192;
    let mut n_found = 0;
    // The head of every page but the first, which says what the file is.
    for at in (page..sound.len()).step_by(page) {
        let mut bytes = sound.clone();
        bytes[at..at + 16].fill(0xff);
        std::fs::write(&path, &bytes).unwrap();
        let found = match Store::open(&path).and_then(|it| it.check_pages()) {
            Ok(checked) => !checked.findings.is_empty(),
            Err(error) => matches!(error, crate::Error::Corrupt { .. }),
        };
        n_found += usize::from(found);
    }
    assert_eq!(n_found, sound.len() / page - 1);
}
