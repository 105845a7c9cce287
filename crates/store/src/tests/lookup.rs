//! Finding symbols by id, qualified name, name, suffix and file.

use knowing_model::name::Case;
use knowing_model::{NodeKind, Provenance, identity};
use tempfile::TempDir;

use super::{Sample, URL, change_edges, database, directory, node, open};
use crate::{Reader, SnapshotRow, Store, SymbolRow};

/// A database with two files, overloads, a route, a file node and virtual things.
pub(super) fn sample() -> (TempDir, Store, SnapshotRow) {
    let directory = directory();
    let mut store = open(&database(&directory));
    let mut sample = Sample::new(URL, 1)
        .with_file("src/flask/app.py", 1, &["Flask", "Flask.run", "Flask.Run", "run"])
        .with_file("src/cli.py", 1, &["run"]);
    let more = [
        ("src/flask/app.py", "", NodeKind::File),
        ("src/flask/app.py", "GET /users/run", NodeKind::RouteHandler),
        ("src/cli.py", "Group.add(int)", NodeKind::Method),
        ("src/cli.py", "Group.add(str)", NodeKind::Method),
        ("src/cli.py", "Group.add", NodeKind::Field),
    ];
    for ((path, symbol, kind), line) in more.into_iter().zip(5..) {
        let at = sample.symbol(path, symbol, kind);
        let symbol = &mut sample.symbols[at as usize];
        symbol.name = match kind {
            NodeKind::File => "app.py".into(),
            NodeKind::RouteHandler => symbol.path.clone(),
            _ => "add".into(),
        };
        let unit = usize::from(path == "src/cli.py");
        sample.units[unit].nodes.push(node(at, line, 1));
    }
    let external = sample.virtual_symbol("external", "pypi/requests", "Session.get", NodeKind::External);
    sample.symbols[external as usize].name = "get".into();
    sample.units[0].edges.push(super::edge(0, external, knowing_model::EdgeKind::Calls, 1));
    let snapshot = sample.write(&mut store);
    (directory, store, snapshot)
}

fn names(rows: &[SymbolRow]) -> Vec<String> {
    let mut names: Vec<String> = rows
        .iter()
        .map(|it| format!("{}@{}", it.qualified_name().rsplit("://").next().unwrap(), it.symbol.kind.name()))
        .collect();
    names.sort();
    names
}

#[track_caller]
fn check_suffix(reader: &Reader<'_>, suffix: &str, case: Case, expected: &[&str]) {
    assert_eq!(names(&reader.symbols_ending_with(suffix, case).unwrap()), expected, "{suffix}");
}

#[test]
fn suffixes_are_found_on_segment_borders() {
    let (_directory, store, snapshot) = sample();
    let reader = store.reader(&snapshot).unwrap();
    let route = "src/flask/app.py.GET /users/run@route_handler";
    check_suffix(
        &reader,
        "run",
        Case::Exact,
        &[
            "src/cli.py.run@function",
            "src/flask/app.py.Flask.run@function",
            route,
            "src/flask/app.py.run@function",
        ],
    );
    check_suffix(&reader, "Flask.run", Case::Exact, &["src/flask/app.py.Flask.run@function"]);
    check_suffix(&reader, "Flask::run", Case::Exact, &["src/flask/app.py.Flask.run@function"]);
    check_suffix(
        &reader,
        "flask.RUN",
        Case::Ignored,
        &["src/flask/app.py.Flask.Run@function", "src/flask/app.py.Flask.run@function"],
    );
    check_suffix(&reader, "flask.RUN", Case::Exact, &[]);
    check_suffix(&reader, "lask.run", Case::Exact, &[]);
    check_suffix(&reader, "app.py", Case::Exact, &["src/flask/app.py@file"]);
    check_suffix(&reader, "flask/app.py", Case::Exact, &["src/flask/app.py@file"]);
    check_suffix(&reader, "users/run", Case::Exact, &[route]);
    check_suffix(&reader, "GET /users/run", Case::Exact, &[route]);
    check_suffix(
        &reader,
        "Group.add",
        Case::Exact,
        &[
            "src/cli.py.Group.add(int)@method",
            "src/cli.py.Group.add(str)@method",
            "src/cli.py.Group.add@field",
        ],
    );
    check_suffix(&reader, "add(int)", Case::Exact, &["src/cli.py.Group.add(int)@method"]);
    check_suffix(&reader, "Session.get", Case::Exact, &["pypi/requests.Session.get@external"]);
    for odd in ["", ".", "%", "'", "\"", "*", "[", "ß", "run'--"] {
        check_suffix(&reader, odd, Case::Ignored, &[]);
    }
}

#[test]
fn m4_whole_names_find_what_prints_like_them() {
    let (_directory, store, snapshot) = sample();
    let reader = store.reader(&snapshot).unwrap();
    let nodes = reader.graph_rows().unwrap().nodes;
    assert_eq!(nodes.len(), 11);
    for node in nodes {
        let row = reader.symbol(node.sym).unwrap();
        let found = reader.symbols_by_qname(&row.qualified_name()).unwrap();
        let of_kind: Vec<&SymbolRow> = found.iter().filter(|it| it.symbol.kind == row.symbol.kind).collect();
        assert_eq!(of_kind, [&row]);
    }
    assert_eq!(reader.symbols_by_qname("src/cli.py.run").unwrap(), []);
    assert_eq!(reader.symbols_by_qname("github.com/acme/app://cli.py.run").unwrap(), []);
}

#[test]
fn ids_are_found_by_prefixes_of_any_length() {
    let (_directory, store, snapshot) = sample();
    let reader = store.reader(&snapshot).unwrap();
    let row = reader.symbols_named("FLASK").unwrap().remove(0);
    let id = row.symbol.id.to_string();
    for length in [8, 9, 31, 64] {
        assert_eq!(reader.symbols_by_id_prefix(&id[..length]).unwrap(), std::slice::from_ref(&row));
    }
    assert!(reader.symbols_by_id_prefix(&id[..1]).unwrap().contains(&row));
    let other = if id.starts_with('0') { "1" } else { "0" };
    assert!(!reader.symbols_by_id_prefix(other).unwrap().contains(&row));
    for none in ["", "xyz", "12345678z", &format!("{id}0")] {
        assert_eq!(reader.symbols_by_id_prefix(none).unwrap(), [], "{none}");
    }
}

#[test]
fn what_a_file_declares_stands_in_order_of_lines() {
    let (_directory, store, snapshot) = sample();
    let reader = store.reader(&snapshot).unwrap();
    let found = reader.symbols_in_file("src/flask/app.py").unwrap();
    let lines: Vec<(u32, &str)> =
        found.iter().map(|it| (it.span.first_line, &*it.symbol.symbol.path)).collect();
    assert_eq!(
        lines,
        [(1, "Flask"), (2, "Flask.run"), (3, "Flask.Run"), (4, "run"), (5, ""), (6, "GET /users/run")]
    );
    let node = reader.node(found[1].node_row).unwrap();
    assert_eq!((node.sym, node.span), (found[1].symbol.sym, found[1].span));
    assert_eq!((node.path.as_str(), node.language.as_str()), ("src/flask/app.py", "python"));
    assert_eq!(reader.file("src/cli.py").unwrap().map(|it| it.lines), Some(10));
    assert_eq!(reader.file("src/none.py").unwrap(), None);
    assert_eq!(reader.symbols_in_file("src/none.py").unwrap(), []);
}

#[test]
fn unresolved_sites_are_found_by_the_called_name() {
    let (_directory, store, snapshot) = sample();
    let reader = store.reader(&snapshot).unwrap();
    let found = reader.unresolved_named("unknown_1").unwrap();
    let places: Vec<(&str, u32)> = found.iter().map(|it| (it.path.as_str(), it.position.line)).collect();
    assert_eq!(places, [("src/cli.py", 1), ("src/flask/app.py", 1)]);
    let second = reader.unresolved_named("unknown_2").unwrap().remove(0);
    assert_eq!(reader.symbol(second.candidates[0]).unwrap().symbol.path.as_ref(), "Flask");
    assert_eq!(reader.symbol(second.source).unwrap().symbol.path.as_ref(), "Flask.run");
    assert_eq!(reader.unresolved_all().unwrap().len(), 5);
    assert_eq!(reader.unresolved_named("UNKNOWN_1").unwrap(), []);
}

#[test]
fn m7_what_a_language_server_adds_to_an_edge_changes_its_leaf_and_not_its_id() {
    let (_directory, store, snapshot) = sample();
    let edge = || {
        let edge = store.reader(&snapshot).unwrap().edge_sites(1).unwrap();
        let symbol = |it| store.reader(&snapshot).unwrap().symbol(it).unwrap().symbol.id;
        let id = identity::edge_id(symbol(edge.source), symbol(edge.target), edge.kind);
        (id, identity::leaf(id, edge.provenance, edge.confidence_bp), edge.provenance)
    };
    let (id, leaf, provenance) = edge();
    assert_eq!(provenance, Provenance::AstResolved);
    let server = (Provenance::LspResolved, Provenance::LspResolved.usual_confidence());
    change_edges(&store, |edge| edge.t2 = Some(server));
    let (id_after, leaf_after, provenance) = edge();
    assert_eq!((id_after, provenance), (id, Provenance::LspResolved));
    assert_ne!(leaf_after, leaf);
    change_edges(&store, |edge| edge.t2 = None);
    assert_eq!(edge(), (id, leaf, Provenance::AstResolved));
}
