//! Sessions: what each was told, apart from all others, within bounds.

use knowing_model::{Hash, NodeId};

use super::{database, directory, open};
use crate::{Said, SessionLimits, SessionTurn, Store, Turned};

const LIMITS: SessionLimits = SessionLimits { handles: 3, symbols: 6, packs: 2 };
const NOW: i64 = 1_700_000_000;

fn said(number: u8) -> Said {
    Said { node: NodeId(Hash([number; 32])), declared: number.into(), place: 5, signature: 0, source: 0 }
}

fn turn<'a>(handle: &'a str, said: &'a [Said], now: i64) -> SessionTurn<'a> {
    SessionTurn {
        handle,
        repo: 1,
        now,
        alive_since: now - 3_600,
        said,
        pack: None,
        base: None,
        limits: LIMITS,
    }
}

fn ids(turned: &Turned) -> Vec<u32> {
    turned.items.iter().map(|it| it.0).collect()
}

fn told(store: &mut Store, handle: &str, numbers: &[u8], now: i64) -> Turned {
    let said: Vec<Said> = numbers.iter().map(|it| said(*it)).collect();
    store.session_turn(&turn(handle, &said, now)).unwrap()
}

#[test]
fn w2_a_symbol_keeps_its_id_and_what_was_said_of_it() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let first = told(&mut store, "a", &[1, 2], NOW);
    assert!(first.is_new && first.items.iter().all(|it| it.1.is_none()));
    let with_signature = Said { signature: 9, place: 6, ..said(2) };
    let second = store.session_turn(&turn("a", &[said(3), with_signature], NOW + 1)).unwrap();
    assert!(!second.is_new);
    assert_eq!(ids(&second), [2, 1]);
    assert_eq!(second.items[1].1, Some(said(2)));
    // What is not said again is not forgotten.
    let third = told(&mut store, "a", &[2], NOW + 2);
    assert_eq!(third.items[0].1, Some(with_signature));
    assert_eq!(told(&mut store, "a", &[2], NOW + 3).items[0].1, Some(Said { place: 5, ..with_signature }));
    let nodes = [said(3).node, said(7).node];
    assert_eq!(store.session_ids("a", &nodes).unwrap(), [Some(2), None]);
    let row = store.session("a").unwrap().unwrap();
    assert_eq!((row.n_calls, row.n_symbols, row.begun_at, row.used_at), (4, 3, NOW, NOW + 3));
}

#[test]
fn l5_two_handles_share_nothing() {
    let directory = directory();
    let mut store = open(&database(&directory));
    told(&mut store, "a", &[1, 2], NOW);
    let other = told(&mut store, "b", &[2], NOW);
    assert!(other.is_new);
    assert_eq!(other.items, [(0, None)]);
    assert_eq!(store.session_ids("b", &[said(1).node]).unwrap(), [None]);
    assert_eq!(ids(&told(&mut store, "a", &[2], NOW)), [1]);
}

#[test]
fn sessions_end_when_idle_when_full_and_when_there_are_too_many() {
    let directory = directory();
    let mut store = open(&database(&directory));
    told(&mut store, "a", &[1, 2], NOW);
    assert!(!told(&mut store, "a", &[1], NOW + 3_600).is_new);
    let late = told(&mut store, "a", &[3], NOW + 7_201);
    assert_eq!((late.is_new, ids(&late)), (true, vec![0]));
    // Full.
    assert!(!told(&mut store, "a", &[4, 5, 6, 7], NOW + 7_201).is_new);
    let full = told(&mut store, "a", &[8, 9], NOW + 7_201);
    assert_eq!((full.is_new, ids(&full)), (true, vec![0, 1]));
    // The one used longest ago makes room.
    for (handle, at) in [("b", 2), ("c", 3), ("a", 4), ("d", 5)] {
        told(&mut store, handle, &[1], NOW + 7_201 + at);
    }
    let there = ["a", "b", "c", "d"].map(|it| store.session(it).unwrap().is_some());
    assert_eq!(there, [true, false, true, true]);
    // After a day nothing is left, whoever asks.
    told(&mut store, "e", &[1], NOW + 7_206 + 86_401);
    assert_eq!(["a", "c", "d"].map(|it| store.session(it).unwrap().is_some()), [false; 3]);
    assert_eq!(store.session_ids("d", &[said(1).node]).unwrap(), [None]);
}

#[test]
fn the_last_packs_are_remembered() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let hash = |it: u8| Hash([it; 32]);
    for number in 1..=3 {
        let pack = Some((hash(number), hash(10 + number)));
        store.session_turn(&SessionTurn { pack, ..turn("a", &[], NOW) }).unwrap();
    }
    let base = |store: &mut Store, handle, root| {
        store.session_turn(&SessionTurn { base: Some(root), ..turn(handle, &[], NOW) }).unwrap().base
    };
    assert_eq!([1, 2, 3].map(|it| base(&mut store, "a", hash(it))), [None, Some(hash(12)), Some(hash(13))]);
    assert_eq!(base(&mut store, "b", hash(3)), None);
}
