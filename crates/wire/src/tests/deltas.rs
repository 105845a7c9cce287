//! A pack, then another: what was sent before and what differs make the new one.

use std::collections::{BTreeMap, BTreeSet};

use knowing_model::Hash;
use proptest::prelude::*;

use super::{answer, numbered, payload, symbol};
use crate::gcf::{Document, Entry, Link, Location, Message};
use crate::{Delta, Payload, Symbol, gcf, unchanged};

/// What a delta has to bring over: symbols with their texts, edges, and the root.
type State = (BTreeMap<u32, (String, String, Option<Location>, Option<String>)>, BTreeSet<Link>, String);

fn state(document: &Document) -> State {
    let symbol = |it: &Entry| {
        let declared = it.declared.clone().unwrap_or_default();
        (it.id, (declared.kind, declared.name, it.location.clone(), it.signature.clone()))
    };
    let root = document.header.value("pack_root").unwrap_or_default().to_owned();
    (document.symbols.iter().map(symbol).collect(), document.edges.iter().cloned().collect(), root)
}

/// A base, and a pack that shares some of its symbols and edges. Ids go on after the highest of the base.
fn pair() -> impl Strategy<Value = (Payload, Payload)> {
    let changes = prop::collection::vec((0_u8..4, symbol()), 12);
    (payload(), payload(), changes, any::<[u8; 32]>()).prop_map(|(base, other, changes, root)| {
        let base = Payload { pack_root: base.pack_root.or(Some(Hash([7; 32]))), ..numbered(base) };
        let mut symbols: Vec<Symbol> = Vec::new();
        for (kept, (change, with)) in base.symbols.iter().zip(&changes) {
            match change {
                0 => {}
                1 => symbols.push(Symbol {
                    file: with.file.clone().or(kept.file.clone()),
                    line: with.line,
                    signature: with.signature.clone().or(kept.signature.clone()),
                    ..kept.clone()
                }),
                _ => symbols.push(kept.clone()),
            }
        }
        let first = base.symbols.len() as u32;
        symbols.extend(other.symbols.iter().zip(first..).map(|(it, id)| Symbol { id, ..it.clone() }));
        let has = |node| symbols.iter().any(|it| it.node_id == node);
        let edges = base.edges.iter().step_by(2).chain(&other.edges);
        let edges = edges.filter(|it| has(it.source) && has(it.target)).cloned().collect();
        let new = Payload { pack_root: Some(Hash(root)), symbols, edges, repo: base.repo.clone(), ..other };
        (base, new)
    })
}

proptest! {
    #[test]
    fn w3_base_plus_delta_is_the_new_pack((base, new) in pair()) {
        let (base, new) = (Document::of(&base), Document::of(&new));
        let delta = Delta::between(&base, &new);
        let written = delta.encode();
        let Ok(Message::Delta(read)) = gcf::decode(&written) else { panic!("{:?}\n{written}", gcf::decode(&written)) };
        prop_assert_eq!(&read, &delta);
        let made = read.apply(&base).unwrap();
        prop_assert_eq!(state(&made), state(&new));
        // What was made is a document, and a base for the next.
        prop_assert_eq!(gcf::decode(&made.encode()), Ok(Message::Whole(made.clone())));
        prop_assert!(Delta::between(&made, &new).is_empty());
    }

    #[test]
    fn w3_a_delta_for_another_base_is_refused((base, new) in pair()) {
        let (base, new) = (Document::of(&base), Document::of(&new));
        let delta = Delta::between(&base, &new);
        if base.header.value("pack_root") != new.header.value("pack_root") {
            let problem = delta.apply(&new).unwrap_err().to_string();
            prop_assert!(problem.contains("the delta is for the pack"), "{}", problem);
        }
    }
}

#[test]
fn w3_the_same_pack_is_a_header() {
    let document = Document::of(&answer());
    let same = unchanged(&document);
    let text = same.encode();
    assert!(text.lines().next().unwrap().ends_with("repo=github.com/pallets/flask delta=true savings=100"));
    assert!(!text.contains("## "));
    assert_eq!(gcf::decode(&text), Ok(Message::Delta(same.clone())));
    assert_eq!(state(&same.apply(&document).unwrap()), state(&document));
}
