//! Written and read again: what a format carries is there, whatever the names are.

use knowing_model::{EdgeKind, NodeKind, Provenance};
use proptest::prelude::*;

use super::{answer, numbered, payload, run, text_of};
use crate::gcf::{Document, Message};
use crate::{Edge, Format, Payload, Status, Symbol, gcb, gcf};

fn gcf_of(text: &str) -> Document {
    match gcf::decode(text) {
        Ok(Message::Whole(document)) => document,
        other => panic!("{other:?}\n{text}"),
    }
}

/// What GCB has room for.
fn in_gcb(payload: &Payload) -> Payload {
    let flags =
        ["test", "generated", "exported", "deprecated", "abstract", "async", "entry", "vendored", "dirty"];
    let components = ["blast", "confidence", "recency", "distance"];
    let symbols = payload.symbols.iter().zip(0..).map(|(it, id)| Symbol {
        id,
        flags: flags.iter().map(|it| (*it).to_owned()).filter(|name| it.flags.contains(name)).collect(),
        signature: it.signature.clone().filter(|it| !it.is_empty()),
        components: it
            .components
            .iter()
            .filter(|(name, value)| components.contains(&name.as_str()) && **value != 0.0)
            .map(|(name, value)| (name.clone(), *value))
            .collect(),
        reasons: Vec::new(),
        source: None,
        ..it.clone()
    });
    Payload {
        symbols: symbols.collect(),
        fresh: String::new(),
        session: None,
        notes: Vec::new(),
        unknown_files: Vec::new(),
        next_cursor: None,
        ..payload.clone()
    }
}

fn without_names(payload: &Payload) -> Payload {
    let symbols = payload.symbols.iter().map(|it| Symbol { name: String::new(), ..it.clone() });
    Payload { symbols: symbols.collect(), ..payload.clone() }
}

proptest! {
    #[test]
    fn w1_gcf_round_trips(payload in payload()) {
        let document = Document::of(&numbered(payload));
        let written = document.encode();
        let read = gcf_of(&written);
        prop_assert_eq!(&read, &document);
        prop_assert_eq!(read.encode(), written);
    }

    #[test]
    fn w1_gcf_is_read_with_other_line_ends_and_blank_lines(payload in payload()) {
        let payload = numbered(payload);
        // Source is text of its own.
        let symbols = payload.symbols.iter().map(|it| Symbol { source: None, ..it.clone() }).collect();
        let document = Document::of(&Payload { symbols, ..payload });
        let written = document.encode().replace('\n', "\r\n").replace("## ", "\r\n\n## ");
        if !document.comments.iter().any(|it| it.contains("## ")) {
            prop_assert_eq!(gcf_of(&written), document);
        }
    }

    #[test]
    fn w1_gcb_round_trips(payload in payload()) {
        let written = gcb::encode(&payload);
        let read = gcb::decode(&written).unwrap();
        prop_assert_eq!(without_names(&read), without_names(&in_gcb(&payload)));
        prop_assert_eq!(gcb::encode(&read), written);
    }

    #[test]
    fn w1_xml_is_read_as_it_was_meant(payload in payload()) {
        let text = text_of(Format::Xml, &payload);
        let document = roxmltree::Document::parse(&text).map_err(|it| TestCaseError::fail(format!("{it}\n{text}")))?;
        let root = document.root_element();
        let allowed = |text: &str| text.replace(|it: char| it < ' ' && !"\t\n\r".contains(it), "\u{fffd}")
            .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        let tool = allowed(&payload.tool);
        prop_assert_eq!(root.attribute("tool"), Some(tool.as_str()));
        let notes: Vec<String> = root.children().filter(|it| it.has_tag_name("note"))
            .map(|it| it.text().unwrap_or_default().to_owned()).collect();
        prop_assert_eq!(notes, payload.notes.iter().map(|it| allowed(it)).collect::<Vec<_>>());
        let mut ranked: Vec<&Symbol> = payload.symbols.iter().collect();
        ranked.sort_by_key(|it| it.distance);
        let read: Vec<_> = root.descendants().filter(|it| it.has_tag_name("symbol")).collect();
        prop_assert_eq!(read.len(), ranked.len());
        for (read, symbol) in read.iter().zip(ranked) {
            let attribute = |name: &str| read.attribute(name).unwrap_or_default().to_owned();
            prop_assert_eq!(attribute("id"), symbol.id.to_string());
            prop_assert_eq!(attribute("name"), allowed(&symbol.qualified_name));
            prop_assert_eq!(attribute("file"), allowed(symbol.file.as_deref().unwrap_or_default()));
            prop_assert_eq!(attribute("kind"), symbol.kind.name());
            prop_assert_eq!(attribute("flags"), allowed(&symbol.flags.join(" ")));
            let distance = symbol.distance.to_string();
            prop_assert_eq!(read.parent().unwrap().attribute("distance"), Some(distance.as_str()));
            let child = |name: &str| read.children().find(|it| it.has_tag_name(name)).map(|it| it.text().unwrap_or_default().to_owned());
            prop_assert_eq!(child("signature"), symbol.signature.as_ref().map(|it| allowed(it)));
            prop_assert_eq!(child("source"), symbol.source.as_ref().map(|it| allowed(it)));
        }
        prop_assert_eq!(root.descendants().filter(|it| it.has_tag_name("edge")).count(), payload.edges.len());
    }
}

#[test]
fn w4_every_kind_and_provenance_survives() {
    let symbols: Vec<Symbol> = NodeKind::ALL
        .iter()
        .zip(0..)
        .map(|(&kind, id)| Symbol {
            id,
            kind,
            node_id: knowing_model::NodeId(knowing_model::Hash([id as u8 + 1; 32])),
            provenance: Provenance::ALL[id as usize % Provenance::ALL.len()],
            ..run()
        })
        .collect();
    let edges: Vec<Edge> = EdgeKind::ALL
        .iter()
        .zip(0..)
        .map(|(&kind, at)| Edge {
            source: symbols[at].node_id,
            target: symbols[0].node_id,
            kind,
            provenance: Provenance::ALL[at % Provenance::ALL.len()],
            confidence_bp: 10_000,
            status: [Status::None, Status::Added, Status::Removed][at % 3],
        })
        .collect();
    let payload = Payload { symbols, edges, ..answer() };
    let read = gcb::decode(&gcb::encode(&payload)).unwrap();
    assert_eq!(read.edges, payload.edges);
    let rows = |it: &Payload| it.symbols.iter().map(|it| (it.kind, it.provenance)).collect::<Vec<_>>();
    assert_eq!(rows(&read), rows(&payload));
    let document = gcf_of(&text_of(Format::Gcf, &payload));
    for (entry, symbol) in document.symbols.iter().zip(&payload.symbols) {
        let declared = entry.declared.as_ref().unwrap();
        assert_eq!(NodeKind::from_name(&declared.kind), Some(symbol.kind));
        assert_eq!(Provenance::from_name(&declared.provenance), Some(symbol.provenance));
    }
    let kinds: Vec<_> = document.edges.iter().map(|it| EdgeKind::from_name(&it.kind).unwrap()).collect();
    assert_eq!(kinds, EdgeKind::ALL);
}

#[test]
fn a_small_answer_in_gcf() {
    let mut payload = answer();
    payload.symbols[0].flags = vec!["exported".to_owned(), "test".to_owned(), "dirty".to_owned()];
    payload.symbols[0].signature = Some("def run(self, sep=\"\\n\")".to_owned());
    payload.symbols[0].unresolved = 3;
    payload.symbols[1].qualified_name = "GET /users/{id}".to_owned();
    payload.symbols[1].score = 0.125;
    let expect = "\
GCF profile=graph tool=context_for_task tree=1a2b3c4d5e6f snapshot=010101010101 fresh=behind(2) budget=2000 tokens=90 \
symbols=2 edges=1 pack_root=0202020202020202020202020202020202020202020202020202020202020202 repo=github.com/pallets/flask
# the index is 2 commits behind
## targets [1]
@0 method ://src/flask/app.py.Flask.run 0.93 ast_resolved !dt
## related [1]
@1 ext GET%20/users/{id} 0.12 ast_resolved
# unresolved @0 3
## sig [1]
@0 def run(self, sep=\"\\\\n\")
## loc [1]
@0 src/flask/app.py 546 9
## edges [1]
@1<@0 calls
";
    assert_eq!(text_of(Format::Gcf, &payload), expect);
}
