//! Random payloads, written and read again, counted and weighed.

mod damage;
mod deltas;
mod round_trips;
mod second_gcb;
mod second_gcf;

use std::collections::BTreeMap;

use knowing_model::{EdgeKind, Hash, NodeId, NodeKind, Provenance, SnapshotId};
use proptest::prelude::*;

use crate::{Detail, Edge, Format, Payload, Status, Symbol, Written, json, tokens};

/// Names as repositories have them: spaces, percent signs, quotes, marks of Markdown, other scripts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_.]{1,20}",
        "[a-z%\"' |`*<>\\\\\\[\\]/{}]{1,20}",
        "\\PC{1,20}",
        Just("GET /users/{id}".to_owned()),
        Just("line\nline\t\u{1}".to_owned()),
        Just("f".repeat(400)),
    ]
}

fn hash() -> impl Strategy<Value = Hash> {
    any::<[u8; 32]>().prop_map(Hash)
}

/// With four decimals.
fn number() -> impl Strategy<Value = f64> {
    (-10_000_i32..=10_000).prop_map(|it| f64::from(it) / 10_000.0)
}

fn symbol() -> impl Strategy<Value = Symbol> {
    let identity = (hash(), text(), text(), prop::sample::select(NodeKind::ALL));
    let rank = (0_u32..100_000, number(), prop::sample::select(Provenance::ALL), 0_u8..4);
    let place = (prop::option::of(text()), any::<[u16; 4]>());
    let more = (
        prop::option::of(text()),
        prop::option::of(text()),
        prop::collection::vec(text(), 0..3),
        0_u32..3,
        prop::collection::vec(text(), 0..3),
        prop::collection::btree_map(text(), number(), 0..4),
    );
    (identity, rank, place, more).prop_map(|(identity, rank, place, more)| Symbol {
        id: rank.0,
        node_id: NodeId(identity.0),
        qualified_name: identity.1,
        name: identity.2,
        kind: identity.3,
        score: rank.1,
        provenance: rank.2,
        distance: rank.3,
        file: place.0,
        line: place.1[0].into(),
        col: place.1[1].into(),
        end_line: place.1[2].into(),
        end_col: place.1[3].into(),
        signature: more.0,
        source: more.1,
        flags: more.2,
        unresolved: more.3,
        reasons: more.4,
        components: more.5,
    })
}

/// Ends are numbers of symbols.
fn edge() -> impl Strategy<Value = (u32, u32, EdgeKind, Provenance, u16, Status)> {
    (
        any::<u32>(),
        any::<u32>(),
        prop::sample::select(EdgeKind::ALL),
        prop::sample::select(Provenance::ALL),
        0_u16..=10_000,
        prop::sample::select(vec![Status::None, Status::Added, Status::Removed]),
    )
}

fn payload() -> impl Strategy<Value = Payload> {
    let head = (text(), text(), hash(), text(), text());
    let options = (prop::option::of(hash()), prop::option::of(text()), 0_usize..200_000, 0_usize..200_000);
    let lists = (
        prop::collection::vec(symbol(), 0..12),
        prop::collection::vec(edge(), 0..12),
        prop::collection::vec(text(), 0..3),
    );
    (head, options, lists).prop_map(|(head, options, (symbols, edges, notes))| Payload {
        tool: head.0,
        tree: head.1,
        snapshot: SnapshotId(head.2),
        fresh: head.3,
        repo: head.4,
        pack_root: options.0,
        session: options.1,
        budget: options.2,
        tokens: options.3,
        edges: edges
            .into_iter()
            .filter(|_| !symbols.is_empty())
            .map(|(source, target, kind, provenance, confidence_bp, status)| Edge {
                source: symbols[source as usize % symbols.len()].node_id,
                target: symbols[target as usize % symbols.len()].node_id,
                kind,
                provenance,
                confidence_bp,
                status,
            })
            .collect(),
        symbols,
        unknown_files: notes.iter().rev().cloned().collect(),
        next_cursor: notes.first().cloned(),
        mentioned: Vec::new(),
        notes,
    })
}

/// Its symbols as GCF numbers them: by distance, then by rank.
fn numbered(mut payload: Payload) -> Payload {
    let mut order: Vec<usize> = (0..payload.symbols.len()).collect();
    order.sort_by_key(|it| payload.symbols[*it].distance);
    order.into_iter().zip(0..).for_each(|(at, id)| payload.symbols[at].id = id);
    payload
}

fn text_of(format: Format, payload: &Payload) -> String {
    match format.encode(payload) {
        Written::Text(text) => text,
        Written::Bytes(_) => panic!("{} is no text", format.name()),
    }
}

/// The sum of what packing counts.
fn counted(format: Format, payload: &Payload) -> usize {
    let of = |node| payload.symbols.iter().find(|it| it.node_id == node).unwrap();
    let symbols: usize = payload.symbols.iter().map(|it| format.symbol_bytes(it, &payload.repo)).sum();
    let edges: usize =
        payload.edges.iter().map(|it| format.edge_bytes(it, of(it.source), of(it.target))).sum();
    format.envelope_bytes(payload) + symbols + edges
}

proptest! {
    #[test]
    fn w1_json_round_trips(payload in payload()) {
        let written = json::encode(&payload);
        let read = json::decode(&written);
        prop_assert_eq!(read.as_ref(), Ok(&payload));
        prop_assert_eq!(json::encode(&read.unwrap()), written);
    }

    #[test]
    fn q6_the_parts_are_never_less_than_the_whole_and_not_much_more(payload in payload()) {
        for format in Format::ALL {
            let (parts, whole) = (counted(format, &payload), format.bytes(&payload));
            prop_assert!(parts >= whole, "{}: {parts} < {whole}", format.name());
            // Headings of sections that are empty, digits that were not needed.
            let files: usize = payload.symbols.iter().filter_map(|it| it.file.as_ref()).map(|it| it.len() + 2).sum();
            let slack = 400 + 6 * payload.symbols.len() + payload.edges.len();
            // A file that many symbols share stands there once.
            let slack = if format == Format::Gcb { slack + files + 4 * payload.edges.len() } else { slack };
            prop_assert!(parts <= whole + slack, "{}: {parts} and {whole}", format.name());
        }
    }

    #[test]
    fn a_cut_or_odd_text_is_an_error_and_no_panic(payload in payload(), at in any::<prop::sample::Index>()) {
        let written = json::encode(&payload);
        let cut = written.floor_char_boundary(at.index(written.len()));
        prop_assert!(json::decode(&written[..cut]).is_err());
        prop_assert!(json::decode(&written.replacen("knowing/1", "knowing/2", 1)).is_err());
    }

    #[test]
    fn markdown_keeps_one_row_a_line(payload in payload()) {
        let text = text_of(Format::Markdown, &Payload {
            symbols: payload.symbols.iter().map(|it| Symbol { source: None, ..it.clone() }).collect(),
            ..payload.clone()
        });
        let rows = text.lines().filter(|it| it.starts_with("| ") && !it.starts_with("| # ")).count();
        prop_assert_eq!(rows, payload.symbols.len());
        let edges = text.lines().filter(|it| it.starts_with("- ")).count();
        prop_assert_eq!(edges, payload.edges.len());
    }
}

fn run() -> Symbol {
    Symbol {
        id: 0,
        node_id: NodeId(Hash([0xab; 32])),
        qualified_name: "github.com/pallets/flask://src/flask/app.py.Flask.run".to_owned(),
        name: "run".to_owned(),
        kind: NodeKind::Method,
        score: 0.930_04,
        provenance: Provenance::AstResolved,
        distance: 0,
        signature: None,
        file: Some("src/flask/app.py".to_owned()),
        line: 546,
        col: 9,
        end_line: 600,
        end_col: 0,
        flags: vec!["exported".to_owned()],
        unresolved: 0,
        reasons: Vec::new(),
        components: BTreeMap::from([("blast".to_owned(), 0.25)]),
        source: None,
    }
}

fn answer() -> Payload {
    let external = Symbol {
        id: 1,
        node_id: NodeId(Hash([0xcd; 32])),
        qualified_name: "external://pypi/werkzeug.run_simple".to_owned(),
        name: "run_simple".to_owned(),
        kind: NodeKind::External,
        distance: 1,
        file: None,
        line: 0,
        col: 0,
        end_line: 0,
        ..run()
    };
    let calls = Edge {
        source: run().node_id,
        target: external.node_id,
        kind: EdgeKind::Calls,
        provenance: Provenance::AstResolved,
        confidence_bp: 8500,
        status: Status::None,
    };
    Payload {
        tool: "context_for_task".to_owned(),
        tree: "1a2b3c4d5e6f".to_owned(),
        snapshot: SnapshotId(Hash([1; 32])),
        fresh: "behind(2)".to_owned(),
        budget: 2000,
        tokens: 90,
        pack_root: Some(Hash([2; 32])),
        repo: "github.com/pallets/flask".to_owned(),
        session: None,
        symbols: vec![run(), external],
        edges: vec![calls],
        notes: vec!["the index is 2 commits behind".to_owned()],
        unknown_files: Vec::new(),
        next_cursor: None,
        mentioned: Vec::new(),
    }
}

#[test]
fn json_says_every_field_once_and_leaves_out_what_is_absent() {
    let value: serde_json::Value = serde_json::from_str(&json::encode(&answer())).unwrap();
    assert_eq!(value["schema"], "knowing/1");
    assert_eq!(value["snapshot"], "01".repeat(32));
    assert_eq!(value.get("session"), None);
    let symbol = &value["symbols"][0];
    let expect = serde_json::json!({
        "id": 0,
        "node_id": "ab".repeat(32),
        "qualified_name": "github.com/pallets/flask://src/flask/app.py.Flask.run",
        "name": "run",
        "kind": "method",
        "score": 0.93,
        "provenance": "ast_resolved",
        "distance": 0,
        "file": "src/flask/app.py",
        "line": 546,
        "col": 9,
        "end_line": 600,
        "flags": ["exported"],
        "components": {"blast": 0.25},
    });
    assert_eq!(*symbol, expect);
    let expect = serde_json::json!({
        "source": "ab".repeat(32),
        "target": "cd".repeat(32),
        "kind": "calls",
        "provenance": "ast_resolved",
        "confidence": 0.85,
    });
    assert_eq!(value["edges"][0], expect);
}

#[test]
fn bad_values_are_named() {
    let written = json::encode(&answer());
    for (from, to, named) in [
        ("\"kind\":\"method\"", "\"kind\":\"metod\"", "`metod`"),
        ("\"confidence\":0.85", "\"confidence\":1.5", "`1.5`"),
        ("\"snapshot\":\"0101", "\"snapshot\":\"01", "64 hex"),
        ("\"schema\":\"knowing/1\"", "\"schema\":\"else\"", "`else`"),
    ] {
        let problem = json::decode(&written.replacen(from, to, 1)).unwrap_err();
        assert!(problem.contains(named), "{problem}");
    }
}

#[test]
fn markdown_is_a_table_for_each_distance_and_a_list_of_edges() {
    let expect = "\
# context_for_task: github.com/pallets/flask at 1a2b3c4d5e6f

2 symbols, 1 edge; 90 of 2000 tokens; behind(2)

pack `0202020202020202020202020202020202020202020202020202020202020202`

> the index is 2 commits behind

## Targets

| # | score | kind | name | location |
|---:|---:|---|---|---|
| 1 | 0.93 | method | `Flask.run` | src/flask/app.py:546 |

## Related

| # | score | kind | name | location |
|---:|---:|---|---|---|
| 2 | 0.93 | external | `external://pypi/werkzeug.run_simple` |  |

## Edges

- `Flask.run` calls `external://pypi/werkzeug.run_simple`
";
    assert_eq!(text_of(Format::Markdown, &answer()), expect);
}

#[test]
fn source_stands_in_a_fence_that_it_cannot_close() {
    let mut payload = answer();
    payload.symbols.truncate(1);
    payload.edges.clear();
    payload.symbols[0].signature = Some("def run(self, host: str | None = None)".to_owned());
    payload.symbols[0].source = Some("def run(self):\n    \"\"\"```\n    x\n    ```\"\"\"".to_owned());
    let text = text_of(Format::Markdown, &payload);
    assert!(text.contains("`Flask.run`<br>`def run(self, host: str \\| None = None)` | src"));
    let block = "\n### `Flask.run` src/flask/app.py:546\n\n````\ndef run(self):\n    \"\"\"```\n    x\n    ```\"\"\"\n````\n";
    assert!(text.ends_with(block), "{text}");
}

#[test]
fn formats_and_details_are_found_by_name_and_tokens_round_up() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    for detail in Detail::ALL {
        assert_eq!(Detail::from_name(detail.name()), Some(detail));
    }
    assert_eq!(Format::from_name("yaml"), None);
    assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
}
