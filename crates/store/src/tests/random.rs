//! Any snapshot is read as it was written.

use knowing_model::{
    EdgeKind, NodeFlags, NodeKind, Position, Provenance, Reason, Span, Unit, UnitLayer, Unresolved,
};
use proptest::prelude::*;

use super::{Sample, URL, database, directory, n_rows, open};
use crate::{Reader, Store};

const N_FILES: usize = 3;
const N_REAL: u32 = 9;
const N_SYMBOLS: u32 = 12;

fn any_position() -> impl Strategy<Value = Position> {
    (any::<u32>(), 0..300u32).prop_map(|(line, column)| Position { line, column })
}

fn any_node() -> impl Strategy<Value = knowing_model::Node> {
    (0..N_REAL, any_position(), any::<u32>(), "[ -~é]{0,20}", "\\PC{0,10}", any::<u8>()).prop_map(
        |(symbol, name, last_line, signature, doc, flags)| knowing_model::Node {
            symbol,
            span: Span { first_line: name.line, last_line, name },
            signature,
            doc,
            flags: NodeFlags(u16::from(flags)),
        },
    )
}

fn any_edge() -> impl Strategy<Value = knowing_model::Edge> {
    (
        0..N_SYMBOLS,
        0..N_SYMBOLS,
        proptest::sample::select(EdgeKind::ALL),
        proptest::sample::select(Provenance::ALL),
        0..=10_000u16,
        proptest::collection::vec(any_position(), 0..5),
        0..100_000u32,
    )
        .prop_map(|(source, target, kind, provenance, confidence_bp, sites, n_sites)| {
            knowing_model::Edge {
                source,
                target,
                kind,
                provenance,
                confidence_bp,
                sites: sites.into(),
                n_sites,
            }
        })
}

fn any_unresolved() -> impl Strategy<Value = Unresolved> {
    (
        0..N_SYMBOLS,
        "[a-c]{1,2}",
        "\\PC{0,8}",
        any::<u8>(),
        any_position(),
        proptest::sample::select(Reason::ALL),
        proptest::collection::vec(0..N_SYMBOLS, 0..3),
    )
        .prop_map(|(source, name, receiver, n_arguments, position, reason, candidates)| Unresolved {
            source,
            name,
            receiver,
            n_arguments,
            position,
            reason,
            candidates,
        })
}

fn any_unit() -> impl Strategy<Value = Unit> {
    (
        proptest::option::of(0..N_FILES as u32),
        any::<bool>(),
        proptest::collection::vec(any_node(), 0..4),
        proptest::collection::vec(any_edge(), 0..10),
        proptest::collection::vec(any_unresolved(), 0..4),
    )
        .prop_map(|(file, derived, nodes, edges, unresolved)| Unit {
            file,
            layer: if derived { UnitLayer::Derived } else { UnitLayer::Resolved },
            nodes,
            edges,
            unresolved,
        })
}

/// Units as an index run gives them: one of a layer for a file, one node of a symbol, one edge of its ends and kind.
fn sample(units: Vec<Unit>, commit: u8) -> Sample {
    let mut sample = Sample::new(URL, commit);
    for path in ["a.py", "src/b.py", "src/ç.py"] {
        sample = sample.with_file(path, commit, &[]);
    }
    for at in 0..N_REAL {
        sample.symbol("a.py", &format!("C.f{at}"), NodeKind::Method);
    }
    for at in N_REAL..N_SYMBOLS {
        sample.virtual_symbol("external", "pypi/x", &format!("g{at}"), NodeKind::External);
    }
    sample.units = units;
    sample.units.sort_by_key(|it| (it.file, it.layer));
    sample.units.dedup_by_key(|it| (it.file, it.layer));
    let mut nodes = std::collections::BTreeSet::new();
    let mut edges = std::collections::BTreeSet::new();
    for unit in &mut sample.units {
        unit.nodes.retain(|it| nodes.insert(it.symbol));
        unit.edges.retain(|it| edges.insert((it.source, it.target, it.kind)));
    }
    sample
}

/// All that a reader says, as text with ids in place of row numbers, sorted.
fn read(reader: &Reader<'_>) -> Vec<String> {
    let id = |sym| reader.symbol(sym).unwrap().symbol.id;
    let rows = reader.graph_rows().unwrap();
    let mut all = Vec::new();
    for row in rows.nodes.iter().filter(|it| it.node_row > 0) {
        let node = reader.node(row.node_row).unwrap();
        assert_eq!((node.sym, node.flags, row.id), (row.sym, row.flags, id(row.sym)));
        all.push(format!(
            "node {:?} {:?}",
            row.id,
            (node.span, node.signature, node.doc, node.flags, node.path)
        ));
    }
    for row in &rows.edges {
        let edge = reader.edge_sites(row.edge_row).unwrap();
        assert_eq!((edge.source, edge.target, edge.kind), (row.source, row.target, row.kind));
        let ends = (id(row.source), id(row.target), row.kind);
        all.push(format!(
            "edge {ends:?} {:?}",
            (row.provenance, row.confidence_bp, edge.sites, edge.n_sites, edge.path)
        ));
    }
    for row in reader.unresolved_all().unwrap() {
        let candidates: Vec<_> = row.candidates.iter().map(|&it| id(it)).collect();
        all.push(format!(
            "unresolved {:?} {:?}",
            (id(row.source), candidates, row.path),
            (row.name, row.receiver, row.n_arguments, row.position, row.reason)
        ));
    }
    all.sort();
    all
}

/// What `read` must give.
fn expected(sample: &Sample) -> Vec<String> {
    let id = |at: u32| sample.symbols[at as usize].id;
    let mut all = Vec::new();
    for unit in &sample.units {
        let path = unit.file.map_or(String::new(), |it| sample.files[it as usize].path.clone());
        for it in &unit.nodes {
            all.push(format!(
                "node {:?} {:?}",
                id(it.symbol),
                (it.span, &it.signature, &it.doc, it.flags, &path)
            ));
        }
        for it in &unit.edges {
            let ends = (id(it.source), id(it.target), it.kind);
            all.push(format!(
                "edge {ends:?} {:?}",
                (it.provenance, it.confidence_bp, &it.sites, it.n_sites, &path)
            ));
        }
        for it in &unit.unresolved {
            let candidates: Vec<_> = it.candidates.iter().map(|&it| id(it)).collect();
            all.push(format!(
                "unresolved {:?} {:?}",
                (id(it.source), candidates, &path),
                (&it.name, &it.receiver, it.n_arguments, it.position, it.reason)
            ));
        }
    }
    all.sort();
    all
}

fn row_counts(store: &Store) -> [u32; 5] {
    ["files", "symbols", "nodes", "edges", "unresolved"].map(|it| n_rows(store, it))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_snapshot_is_read_as_it_was_written(
        first in proptest::collection::vec(any_unit(), 0..8),
        second in proptest::collection::vec(any_unit(), 0..8),
    ) {
        let directory = directory();
        let mut store = open(&database(&directory));
        let (first, second) = (sample(first, 1), sample(second, 2));
        let snapshots = [first.write(&mut store), second.write(&mut store)];
        let counts = row_counts(&store);
        // Again, at a commit of its own: nothing that is stored is stored twice.
        let again = Sample { commit: vec![3; 20], ..second.clone() }.write(&mut store);
        prop_assert_eq!(row_counts(&store), counts);
        for (snapshot, sample) in [(&snapshots[0], &first), (&snapshots[1], &second), (&again, &second)] {
            let reader = store.reader(snapshot).unwrap();
            prop_assert_eq!(read(&reader), expected(sample));
            prop_assert_eq!(reader.files().unwrap().len(), N_FILES);
        }
    }
}
