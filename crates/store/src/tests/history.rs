//! Histories of snapshots, mined commits, term vectors.

use knowing_model::{FileId, Hash, identity};

use super::{Sample, URL, database, directory, n_rows, open};
use crate::{MinedCommit, NewHistory, Store, TermsKey, Touch, Walked};

fn commit(number: u8, names: &[&str]) -> MinedCommit {
    let touch = Touch {
        path: "a.py".to_owned(),
        old_path: (number == 2).then(|| "old.py".to_owned()),
        names: names.iter().map(|it| (*it).to_owned()).collect(),
    };
    let touches = if names.is_empty() { Vec::new() } else { vec![touch] };
    MinedCommit {
        id: vec![number; 20],
        time: 1000 + i64::from(number),
        message: format!("say {number}"),
        touches,
    }
}

fn new<'a>(walked: &'a [Walked<'a>], mined: &'a [MinedCommit], is_cut: bool) -> NewHistory<'a> {
    NewHistory { rules: 1, commit_time: 5000, is_cut, walked, mined }
}

fn by_id<'a>(ids: &[&'a [u8]]) -> Vec<Walked<'a>> {
    ids.iter().map(|it| Walked::Id(it)).collect()
}

fn store_with_snapshots() -> (tempfile::TempDir, Store) {
    let directory = directory();
    let store = open(&database(&directory));
    (directory, store)
}

#[test]
fn a_snapshot_has_the_commits_that_say_something_in_their_order() {
    let (_directory, mut store) = store_with_snapshots();
    let snapshot = Sample::new(URL, 1).with_file("a.py", 1, &["f"]).write(&mut store);
    assert_eq!(store.history(&snapshot, 1).unwrap(), None);
    assert_eq!(store.commits_of(&snapshot, 1).unwrap(), []);

    let mined = [commit(2, &["A.f", ""]), commit(7, &[]), commit(1, &["f"])];
    let walked: Vec<&[u8]> = vec![&[2; 20], &[7; 20], &[1; 20], &[9; 20]];
    assert_eq!(store.are_mined(1, &walked).unwrap(), [false; 4]);
    let (row, found) = store.write_history(&snapshot, &new(&by_id(&walked), &mined, false)).unwrap();
    let about: Vec<_> = found.iter().map(|it| (it.id[0], it.says_something)).collect();
    assert_eq!(about, [(2, true), (7, false), (1, true)]);
    assert_eq!((row.n_commits, row.commit_time, row.is_cut), (2, 5000, false));
    assert_eq!(row.digest, identity::history_digest(1, [&[2; 20][..], &[1; 20][..]]));
    assert_eq!(store.history(&snapshot, 1).unwrap(), Some(row));
    assert_eq!(store.commits_of(&snapshot, 1).unwrap(), [mined[0].clone(), mined[2].clone()]);
    assert_eq!(store.are_mined(1, &walked).unwrap(), [true, true, true, false]);

    // A later snapshot needs only what is new.
    let later = Sample::new(URL, 2).with_file("a.py", 2, &["f"]).write(&mut store);
    let walked: Vec<&[u8]> = vec![&[3; 20], &[2; 20], &[7; 20], &[1; 20]];
    let mined = [commit(3, &["f"])];
    let (row, all) = store.write_history(&later, &new(&by_id(&walked), &mined, false)).unwrap();
    assert_eq!((row.n_commits, n_rows(&store, "commits")), (3, 4));
    let ids: Vec<u8> = store.commits_of(&later, 1).unwrap().iter().map(|it| it.id[0]).collect();
    assert_eq!(ids, [3, 2, 1]);
    assert_eq!(all[1..], found, "what was not mined is none of them");

    // What is known of a commit, or its row alone, say the same as its id.
    let rows = store.walked(&later, 1).unwrap().unwrap();
    assert_eq!(rows, all.iter().map(|it| it.row).collect::<Vec<_>>());
    let rest: Vec<[Walked<'_>; 2]> =
        all[1..].iter().map(|it| [Walked::Found(it), Walked::Row(it.row)]).collect();
    for way in 0..2 {
        let walked: Vec<Walked<'_>> =
            [Walked::Id(&[3; 20])].into_iter().chain(rest.iter().map(|it| it[way])).collect();
        let other = Sample::new(URL, 3 + way as u8).with_file("a.py", 3, &["f"]).write(&mut store);
        let (same, found) = store.write_history(&other, &new(&walked, &[], false)).unwrap();
        assert_eq!((same, &found), (row, &all));
        assert_eq!(store.walked(&other, 1).unwrap().unwrap(), rows);
        assert_eq!(store.history(&other, 1).unwrap(), Some(row));
    }
}

#[test]
fn the_clone_that_knows_more_counts_whichever_comes_first() {
    let all = [commit(3, &["f"]), commit(2, &["f"]), commit(1, &["f"])];
    let ids: Vec<&[u8]> = all.iter().map(|it| it.id.as_slice()).collect();
    let ids = by_id(&ids);
    let shallow = new(&ids[..1], &all[..1], true);
    let whole = new(&ids, &all, false);
    let mut rows = Vec::new();
    for order in [[shallow, whole], [whole, shallow]] {
        let (_directory, mut store) = store_with_snapshots();
        let snapshot = Sample::new(URL, 1).with_file("a.py", 1, &["f"]).write(&mut store);
        for history in &order {
            store.write_history(&snapshot, history).unwrap();
        }
        rows.push(store.history(&snapshot, 1).unwrap().unwrap());
    }
    assert_eq!(rows[0], rows[1]);
    assert_eq!(rows[0].n_commits, 3);
}

#[test]
fn other_rules_mine_anew() {
    let (_directory, mut store) = store_with_snapshots();
    let snapshot = Sample::new(URL, 1).with_file("a.py", 1, &["f"]).write(&mut store);
    let walked: Vec<&[u8]> = vec![&[1; 20]];
    let walk = by_id(&walked);
    store.write_history(&snapshot, &new(&walk, &[commit(1, &["f"])], false)).unwrap();
    assert_eq!(store.are_mined(2, &walked).unwrap(), [false]);
    assert_eq!(store.history(&snapshot, 2).unwrap(), None);
    let mined = [commit(1, &["f", "g"])];
    let again = NewHistory { rules: 2, ..new(&walk, &mined, false) };
    store.write_history(&snapshot, &again).unwrap();
    assert_eq!(store.commits_of(&snapshot, 2).unwrap(), mined);
    assert_eq!((n_rows(&store, "commits"), n_rows(&store, "histories")), (1, 1));
}

#[test]
fn term_vectors_are_found_by_file_version_language_and_ruleset() {
    let (_directory, mut store) = store_with_snapshots();
    let key = TermsKey { file: FileId(Hash([7; 32])), language: "python", ruleset: 3 };
    assert_eq!(store.terms(key).unwrap(), None);
    store.write_terms(&[(key, vec![1, 2, 3])]).unwrap();
    store.write_terms(&[(key, vec![4])]).unwrap();
    assert_eq!(store.terms(key).unwrap(), Some(vec![4]));
    assert_eq!(store.terms(TermsKey { ruleset: 4, ..key }).unwrap(), None);
    assert_eq!(store.terms(TermsKey { language: "rust", ..key }).unwrap(), None);
}
