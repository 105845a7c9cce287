//! Snapshots share rows, repositories do not, and readers are not disturbed.

use knowing_model::{EdgeKind, Hash, NodeFlags, NodeKind, Provenance, Stage, Unit, UnitLayer};

use super::{Sample, URL, calls, change_edges, database, directory, edge, n_rows, node, open};
use crate::{Error, Store};

const TABLES: [&str; 8] =
    ["files", "file_facts", "containers", "symbols", "units", "nodes", "edges", "unresolved"];

fn all_rows(store: &Store) -> [u32; 8] {
    TABLES.map(|it| n_rows(store, it))
}

fn two_files() -> Sample {
    Sample::new(URL, 1).with_file("src/a.py", 1, &["f", "g", "h"]).with_file("src/b.py", 1, &["p", "q"])
}

#[test]
fn n1_the_same_snapshot_twice_is_one() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let first = two_files().write(&mut store);
    let rows = all_rows(&store);
    let second = two_files().write(&mut store);
    assert_eq!(first, second);
    assert_eq!(all_rows(&store), rows);
    assert_eq!(n_rows(&store, "snapshots"), 1);
}

#[test]
fn indexes_that_are_made_after_the_first_rows_are_those_of_the_schema() {
    let indexes = |store: &Store| -> Vec<(String, String)> {
        let sql =
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name";
        let mut statement = store.connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let directory = directory();
    let mut store = open(&database(&directory));
    let before = indexes(&store);
    assert!(before.iter().any(|it| it.0 == "symbols_by_name"));
    two_files().write(&mut store);
    assert_eq!(indexes(&store), before);
    Sample { commit: vec![2; 20], ..two_files().with_file("src/c.py", 1, &["x"]) }.write(&mut store);
    assert_eq!(indexes(&store), before);
    let check: String = store.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn an_equal_graph_at_another_commit_adds_a_snapshot_alone() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let first = two_files().write(&mut store);
    let rows = all_rows(&store);
    // Found in another order: rows and digests do not depend on it.
    let mut other = Sample { commit: vec![2; 20], ..two_files() };
    other.units.reverse();
    for unit in &mut other.units {
        unit.nodes.reverse();
        unit.edges.reverse();
        unit.unresolved.reverse();
    }
    let second = other.write(&mut store);
    assert_ne!(first.id, second.id);
    assert_eq!(all_rows(&store), rows);
    assert_eq!(calls(&store, &first), calls(&store, &second));
    assert_eq!((second.parent, second.generation), (Some(first.row), 1));
}

#[test]
fn a_changed_file_adds_its_rows_alone() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let first = two_files().write(&mut store);
    let [files, _, _, symbols, units, nodes, edges, _] = all_rows(&store);
    let changed = Sample::new(URL, 2).with_file("src/a.py", 1, &["f", "g", "h"]).with_file(
        "src/b.py",
        2,
        &["p", "q", "r"],
    );
    let second = changed.write(&mut store);
    let [files_after, _, _, symbols_after, units_after, nodes_after, edges_after, _] = all_rows(&store);
    assert_eq!((files_after, units_after), (files + 1, units + 1));
    // Its edges are in one row.
    assert_eq!((symbols_after, nodes_after, edges_after), (symbols + 1, nodes + 3, edges + 1));

    // Both snapshots answer as if they were alone.
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    assert_eq!(calls(&store, &first), [pair("f", "g"), pair("g", "h"), pair("p", "q")]);
    assert_eq!(calls(&store, &second), [pair("f", "g"), pair("g", "h"), pair("p", "q"), pair("q", "r")]);
    assert_eq!(store.reader(&first).unwrap().unresolved_named("unknown_1").unwrap().len(), 2);
    assert_eq!(store.reader(&second).unwrap().unresolved_all().unwrap().len(), 6);
}

#[test]
fn two_repositories_never_mix() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let mut one = two_files();
    let mut other = Sample { url: "github.com/acme/other".to_owned(), ..Sample::new("", 1) }.with_file(
        "src/a.py",
        1,
        &["f", "x"],
    );
    for sample in [&mut one, &mut other] {
        let external = sample.virtual_symbol("external", "pypi/requests", "get", NodeKind::External);
        sample.units[0].edges.push(edge(0, external, EdgeKind::Calls, 9));
    }
    let first = one.write(&mut store);
    let second = other.write(&mut store);
    assert_ne!(first.repo, second.repo);
    assert_eq!(store.repos().unwrap().len(), 2);
    assert_eq!(store.repo(URL).unwrap().map(|it| it.id), Some(first.repo));
    assert_eq!(store.repo("github.com/acme/none").unwrap(), None);
    assert_eq!(store.latest_snapshot(first.repo).unwrap(), Some(first.clone()));
    assert_eq!(second.parent, None);
    assert_eq!(store.file_rows(first.repo, 1).unwrap().len(), 2);
    assert_eq!(store.file_rows(second.repo, 1).unwrap().len(), 1);
    assert_eq!(store.file_rows(second.repo, 2).unwrap().len(), 0);

    let reader = store.reader(&second).unwrap();
    let named: Vec<String> =
        reader.symbols_named("f").unwrap().iter().map(|it| it.qualified_name()).collect();
    assert_eq!(named, ["github.com/acme/other://src/a.py.f"]);
    assert_eq!(reader.symbols_named("p").unwrap(), []);
    assert_eq!(reader.files().unwrap().len(), 1);
    assert_eq!(reader.symbols_in_file("src/b.py").unwrap(), []);
    // A virtual thing is one thing, whoever speaks of it.
    assert_eq!(n_rows(&store, "symbols WHERE name = 'get'"), 1);
    assert_eq!(reader.symbols_named("get").unwrap().len(), 1);
}

#[test]
fn i1_a_second_worktree_adds_one_row() {
    let directory = directory();
    let path = database(&directory);
    let in_worktree = |path: &str| Sample { worktree: Some(path.to_owned()), ..two_files() };
    let snapshot = in_worktree("/home/one").write(&mut open(&path));
    let mut store = open(&path);
    let rows = all_rows(&store);
    in_worktree("/home/two").write(&mut store);
    assert_eq!(all_rows(&store), rows);
    assert_eq!((n_rows(&store, "worktrees"), n_rows(&store, "snapshots")), (2, 1));
    let worktree = store.worktree("/home/two").unwrap().unwrap();
    assert_eq!((worktree.head_snapshot, worktree.branch.as_deref()), (snapshot.row, Some("main")));
    assert_eq!(worktree.head_commit, [1; 20]);
    assert_eq!(store.worktree("/home/three").unwrap(), None);
}

#[test]
fn a_snapshot_follows_the_one_its_worktree_stood_on() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let mut write = |worktree: &str, commit: u8, stage| {
        let sample =
            Sample { worktree: Some(worktree.to_owned()), commit: vec![commit; 20], stage, ..two_files() };
        sample.write(&mut store)
    };
    let one = write("/one", 1, Stage::Base);
    let two = write("/two", 2, Stage::Base);
    let three = write("/one", 3, Stage::Base);
    let uncommitted = write("/one", 3, Stage::Worktree);
    let enriched = write("/one", 3, Stage::Enriched);
    assert_eq!((one.parent, one.generation), (None, 0));
    assert_eq!((two.parent, two.generation), (Some(one.row), 1));
    assert_eq!((three.parent, three.generation), (Some(one.row), 1));
    assert_eq!((uncommitted.parent, uncommitted.chained), (Some(three.row), false));
    assert_eq!((enriched.parent, enriched.chained), (Some(three.row), true));

    assert_eq!(store.worktree("/one").unwrap().map(|it| it.head_snapshot), Some(enriched.row));
    assert_eq!(store.latest_snapshot(one.repo).unwrap(), Some(enriched.clone()));
    assert_eq!(store.snapshot_of_commit(one.repo, &[3; 20], 1).unwrap(), Some(three.clone()));
    assert_eq!(store.snapshot_of_commit(one.repo, &[3; 20], 2).unwrap(), None);
    assert_eq!(store.snapshot_of_commit(one.repo, &[4; 20], 1).unwrap(), None);
    assert_eq!(store.snapshot(uncommitted.id).unwrap(), Some(uncommitted));
    assert_eq!(store.snapshot_at(two.row).unwrap().as_ref(), Some(&two));
    assert_eq!(two.counts.edges_by_provenance["ast_resolved"], 3);
    let roots = [(".".to_owned(), Hash([1; 32])), ("src".to_owned(), Hash([2; 32]))];
    assert_eq!(store.package_roots(&two).unwrap(), roots);
}

#[test]
fn a_file_may_be_left_out_once_and_read_later() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let read = Sample::new(URL, 2).with_file("vendor/x.py", 1, &["f"]);
    let mut skipped = Sample { commit: vec![1; 20], units: Vec::new(), symbols: Vec::new(), ..read.clone() };
    skipped.files[0].content = Err("vendored".to_owned());
    let first = skipped.write(&mut store);
    assert_eq!(store.file_rows(first.repo, 1).unwrap().len(), 0);
    assert_eq!(store.skipped_files(first.repo, 1).unwrap()[&read.file_id(0)].1, "vendored");
    let second = read.write(&mut store);
    let row = store.file_rows(first.repo, 1).unwrap()[&read.file_id(0)];
    assert_eq!(Ok(store.facts(row).unwrap()), read.files[0].content);
    assert_eq!(store.encoded_facts(row).unwrap().decode(), read.files[0].content.clone().ok());
    let reason = |snapshot| store.reader(snapshot).unwrap().files().unwrap()[0].skip_reason.clone();
    assert_eq!(reason(&first).as_deref(), Some("vendored"));
    assert_eq!(reason(&second), None);
    assert!(matches!(store.facts(row + 100).unwrap_err(), Error::Corrupt { .. }));
}

#[test]
fn a_reader_keeps_its_snapshot_while_another_writes() {
    let directory = directory();
    let path = database(&directory);
    let mut writer = open(&path);
    let first = two_files().write(&mut writer);
    let reading = open(&path);
    let reader = reading.reader(&first).unwrap();
    let before = reader.graph_rows().unwrap();
    let second = Sample::new(URL, 2).with_file("src/c.py", 1, &["z"]).write(&mut writer);
    let another = reading.reader(&first).unwrap();
    assert_eq!(reader.graph_rows().unwrap(), before);
    assert_eq!(reading.latest_snapshot(first.repo).unwrap(), Some(first.clone()));
    assert!(matches!(reading.reader(&second).unwrap_err(), Error::Corrupt { .. }));
    drop((reader, another));
    assert_eq!(reading.latest_snapshot(first.repo).unwrap(), Some(second.clone()));
    assert_eq!(reading.reader(&second).unwrap().files().unwrap().len(), 1);
}

#[test]
fn rows_without_a_file_are_a_unit_of_their_own() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let mut sample = two_files();
    let package = sample.symbol("src", "", NodeKind::Package);
    sample.units.push(Unit {
        file: None,
        layer: UnitLayer::Derived,
        nodes: vec![node(package, 0, 1)],
        edges: vec![edge(package, 0, EdgeKind::Contains, 0)],
        unresolved: Vec::new(),
    });
    let snapshot = sample.write(&mut store);
    let reader = store.reader(&snapshot).unwrap();
    let rows = reader.graph_rows().unwrap();
    let row = rows.nodes.iter().find(|it| it.kind == NodeKind::Package).unwrap();
    let node = reader.node(row.node_row).unwrap();
    assert_eq!((node.path.as_str(), node.language.as_str()), ("", ""));
    let contains = rows.edges.iter().find(|it| it.kind == EdgeKind::Contains).unwrap();
    assert_eq!(reader.edge_sites(contains.edge_row).unwrap().path, "");
}

#[test]
fn enrichment_counts_when_it_is_at_least_as_sure_and_refuted_edges_are_hidden() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let snapshot = Sample::new(URL, 1).with_file("a.py", 1, &["f", "g"]).write(&mut store);
    let effective = |base: Option<u16>, t2: Option<u16>, refuted: bool| {
        change_edges(&store, |edge| {
            edge.base = base.map(|it| (Provenance::AstResolved, it));
            edge.t2 = t2.map(|it| (Provenance::LspResolved, it));
            edge.refuted = refuted;
        });
        let reader = store.reader(&snapshot).unwrap();
        let edges = reader.graph_rows().unwrap().edges;
        edges.first().map(|it| {
            let sites = reader.edge_sites(it.edge_row).unwrap();
            assert_eq!((sites.provenance, sites.confidence_bp), (it.provenance, it.confidence_bp));
            (it.provenance, it.confidence_bp)
        })
    };
    let base = Some((Provenance::AstResolved, 8500));
    assert_eq!(effective(Some(8500), None, false), base);
    assert_eq!(effective(Some(8500), Some(8400), false), base);
    assert_eq!(effective(Some(8500), Some(8500), false), Some((Provenance::LspResolved, 8500)));
    assert_eq!(effective(Some(8500), Some(9000), false), Some((Provenance::LspResolved, 9000)));
    assert_eq!(effective(None, Some(9000), false), Some((Provenance::LspResolved, 9000)));
    assert_eq!(effective(Some(8500), Some(9000), true), None);
}

#[test]
fn flags_and_virtual_ends_reach_the_graph() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let mut sample = Sample::new(URL, 1).with_file("a.py", 1, &["f"]);
    let variable = sample.virtual_symbol("env", "", "HOME", NodeKind::EnvVar);
    sample.units[0].edges.push(edge(0, variable, EdgeKind::ReadsEnv, 3));
    let snapshot = sample.write(&mut store);
    let rows = store.reader(&snapshot).unwrap().graph_rows().unwrap();
    let seen: Vec<(&str, NodeKind, NodeFlags, bool)> =
        rows.nodes.iter().map(|it| (&*it.name, it.kind, it.flags, it.node_row == 0)).collect();
    assert_eq!(
        seen,
        [
            ("f", NodeKind::Function, NodeFlags::EXPORTED, false),
            ("HOME", NodeKind::EnvVar, NodeFlags::default(), true)
        ]
    );
}

#[test]
fn a_symbol_stated_by_two_files_is_one_node_whatever_was_written_first() {
    for paths in [["a.py", "b.py"], ["b.py", "a.py"]] {
        let directory = directory();
        let mut store = open(&database(&directory));
        let mut sample = Sample::new(URL, 1);
        let namespace = sample.symbol("shared", "ns", NodeKind::Module);
        for path in paths {
            sample = sample.with_file(path, 1, &[]);
            sample.units.last_mut().unwrap().nodes.push(node(namespace, 1, 1));
        }
        let snapshot = sample.write(&mut store);
        let reader = store.reader(&snapshot).unwrap();
        let nodes = reader.graph_rows().unwrap().nodes;
        assert_eq!(nodes.len(), 1);
        assert_eq!(reader.node(nodes[0].node_row).unwrap().path, "a.py");
    }
}
