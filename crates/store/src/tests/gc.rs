//! What is collected and what stays.

use super::check::{check_clean, sample, write_sound};
use super::{Sample, URL, calls, database, directory, n_rows, open};
use crate::{Collected, Error, Keeping, Mode, NewWorktree, SnapshotRow, Store};

const DAY: i64 = 86_400;
/// When samples are made.
const MADE: i64 = 1_700_000_000;

fn keeping(n_snapshots: usize, now: i64, heads: &[i64]) -> Keeping<'_> {
    let exists = &|path: &str| !path.starts_with("/gone");
    Keeping { n_snapshots, now, exists, heads, base_of: &|_| None }
}

fn collect(store: &mut Store, n_snapshots: usize, now: i64, mode: Mode) -> Collected {
    store.collect(&keeping(n_snapshots, now, &[]), mode).unwrap()
}

/// A checkout that moved along so many commits.
fn history(store: &mut Store, url: &str, path: &str, n_commits: u8) -> Vec<SnapshotRow> {
    let at = |commit: u8| Sample { worktree: Some(path.to_owned()), ..sample(url, commit, commit) };
    (1..=n_commits).map(|it| write_sound(&at(it), store)).collect()
}

fn all_rows(store: &Store) -> Vec<u32> {
    let tables = [
        "snapshots",
        "files",
        "file_facts",
        "units",
        "nodes",
        "edges",
        "unresolved",
        "symbols",
        "containers",
    ];
    tables.iter().map(|it| n_rows(store, it)).collect()
}

#[test]
fn s6_the_newest_are_kept_and_every_kept_one_still_verifies() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let made = history(&mut store, URL, "/work", 14);
    let before = all_rows(&store);
    let counted = collect(&mut store, 10, MADE, Mode::DryRun);
    assert_eq!(all_rows(&store), before, "a dry run removes nothing");
    let collected = collect(&mut store, 10, MADE, Mode::Delete);
    assert_eq!(counted, collected);
    assert_eq!((collected.snapshots.len(), collected.n_kept), (4, 10));
    assert_eq!(collected.snapshots, made[..4].iter().map(|it| it.id).collect::<Vec<_>>());
    assert_eq!(collected.rows["files"], 4, "one file of each had changed");
    check_clean(&store);
    for snapshot in &made[4..] {
        assert_eq!(calls(&store, snapshot).len(), 6);
    }
    assert!(store.snapshot(made[3].id).unwrap().is_none());
    assert_eq!(store.snapshot(made[4].id).unwrap().unwrap().parent, None, "a chain begins here now");
    assert_eq!(store.snapshot(made[4].id).unwrap().unwrap().generation, 4);
    // What is indexed again is as if it had never gone, and new rows do not collide.
    let again = write_sound(&sample(URL, 1, 1), &mut store);
    assert_eq!(again.id, made[0].id);
    check_clean(&store);
    // Nobody stands on it, though it was made last.
    assert_eq!(collect(&mut store, 10, MADE, Mode::Delete).snapshots, [again.id]);
}

#[test]
fn what_is_pinned_stood_on_or_young_stays() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let made = history(&mut store, URL, "/work", 6);
    store.set_worktree(NewWorktree { path: "/other", branch: None }, &made[1], MADE).unwrap();
    store.pin(made[0].id, MADE).unwrap();
    let temporary = Sample { stage: knowing_model::Stage::Worktree, ..sample(URL, 40, 40) };
    let temporary = write_sound(&temporary, &mut store);
    let gone = collect(&mut store, 2, MADE + 100, Mode::Delete).snapshots;
    // The last two; the second, where another checkout stands, and the one before it, which is pinned too.
    assert_eq!(gone, [made[2].id, made[3].id]);
    check_clean(&store);
    store.unpin(made[0].id).unwrap();
    let gone = collect(&mut store, 1, MADE + 2 * DAY, Mode::Delete).snapshots;
    assert_eq!(gone, [made[0].id, made[4].id, temporary.id]);
    check_clean(&store);
}

#[test]
fn a_checkout_that_is_gone_for_long_is_forgotten() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let made = history(&mut store, URL, "/gone/work", 2);
    store.set_worktree(NewWorktree { path: "/gone/other", branch: None }, &made[0], MADE).unwrap();
    assert_eq!(collect(&mut store, 1, MADE + 20 * DAY, Mode::Delete).rows.get("worktrees"), None);
    let collected = collect(&mut store, 1, MADE + 31 * DAY, Mode::Delete);
    assert_eq!((collected.rows["worktrees"], collected.n_kept), (2, 1), "the newest of a repository stays");
    check_clean(&store);
}

#[test]
fn s1_repositories_of_one_database_do_not_hurt_each_other() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let other = "github.com/acme/other";
    let theirs = history(&mut store, other, "/other", 1);
    let alone = all_rows(&store);
    history(&mut store, URL, "/work", 5);
    collect(&mut store, 1, MADE, Mode::Delete);
    assert_eq!(calls(&store, &theirs[0]).len(), 6);
    check_clean(&store);
    let ours = store.repo(URL).unwrap().unwrap();
    let forgotten = store.forget_repo(ours.id, &|_| None, Mode::Delete).unwrap();
    assert_eq!((forgotten.rows["repos"], forgotten.rows["worktrees"]), (1, 1));
    assert_eq!(all_rows(&store), alone, "what is left is what was there alone");
    assert_eq!(calls(&store, &theirs[0]).len(), 6);
    assert!(store.repo(URL).unwrap().is_none() && store.worktree("/other").unwrap().is_some());
    check_clean(&store);
}

#[test]
fn readers_keep_their_snapshot_while_rows_go() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    let made = history(&mut store, URL, "/work", 5);
    let other = open(&path);
    let reader = other.reader(&made[0]).unwrap();
    let before = reader.graph_rows().unwrap();
    assert_eq!(collect(&mut store, 1, MADE, Mode::Delete).snapshots.len(), 4);
    assert_eq!(reader.graph_rows().unwrap(), before);
    drop(reader);
    assert!(other.snapshot(made[0].id).unwrap().is_none());
}

#[test]
fn nothing_is_collected_while_someone_builds_on_it() {
    let directory = directory();
    let path = database(&directory);
    let mut store = open(&path);
    history(&mut store, URL, "/work", 3);
    let indexing = open(&path);
    let rows = indexing.keep_rows().unwrap();
    let also = indexing.keep_rows().unwrap();
    let keeping = keeping(1, MADE, &[]);
    let error = store.collect(&keeping, Mode::Delete).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    drop((rows, also));
    assert_eq!(store.collect(&keeping, Mode::Delete).unwrap().snapshots.len(), 2);
}

#[test]
fn freed_space_is_given_back() {
    let directory = directory();
    let mut store = open(&database(&directory));
    for commit in 1..30 {
        let functions: Vec<String> = (0..200).map(|it| format!("f{commit}_{it}")).collect();
        let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
        write_sound(&Sample::new(URL, commit).with_file("a.py", commit, &functions), &mut store);
    }
    collect(&mut store, 1, MADE, Mode::Delete);
    let (before, after) = store.vacuum().unwrap();
    assert!(after * 4 < before, "{before} {after}");
    check_clean(&store);
}

#[test]
fn an_old_commit_that_was_made_last_is_not_the_main_branch() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let made = history(&mut store, URL, "/work", 3);
    // Made for a comparison, and for nobody to stand on.
    let old = write_sound(&sample(URL, 60, 60), &mut store);
    let main = write_sound(&sample(URL, 61, 61), &mut store);
    let gone = store.collect(&keeping(1, MADE, &[main.row]), Mode::DryRun).unwrap().snapshots;
    assert_eq!(gone, [made[0].id, made[1].id, old.id]);
    let gone = store.collect(&keeping(2, MADE, &[]), Mode::Delete).unwrap().snapshots;
    assert_eq!(gone, [made[0].id, old.id, main.id]);
    check_clean(&store);
}

#[test]
fn what_was_answered_goes_with_its_repository() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let ours = history(&mut store, URL, "/work", 1)[0].repo;
    let theirs = history(&mut store, "github.com/acme/other", "/other", 1)[0].repo;
    let key = |it: u8| knowing_model::Hash([it; 32]);
    let keep = |store: &mut Store, repo, it, payload| {
        let pack = crate::NewPack { repo, key: key(it), root: key(3), form: "json", payload, now: MADE };
        store.keep_pack(&pack).unwrap();
    };
    keep(&mut store, ours, 1, "one");
    keep(&mut store, theirs, 2, "other");
    let forgotten = store.forget_repo(ours, &|_| None, Mode::Delete).unwrap();
    assert_eq!(forgotten.rows["packs"], 1);
    assert_eq!(store.pack_of_key(key(1)).unwrap(), None);
    assert_eq!(store.pack_of_key(key(2)).unwrap().as_deref(), Some("other"));
    assert_eq!(
        collect(&mut store, 1, MADE + 31 * DAY, Mode::Delete).rows["packs"],
        1,
        "kept for thirty days"
    );
}

#[test]
fn images_go_with_their_snapshots_but_for_what_others_are_made_on() {
    let directory = directory();
    let mut store = open(&database(&directory));
    let made = history(&mut store, URL, "/work", 4);
    let image =
        |store: &Store, at: usize, kind: &str| store.images_dir().join(format!("{}.{kind}", made[at].id));
    std::fs::create_dir_all(store.images_dir()).unwrap();
    for at in 0..4 {
        ["search", "graph", "keys"].iter().for_each(|it| std::fs::write(image(&store, at, it), "").unwrap());
    }
    std::fs::write(store.images_dir().join(".tmp1234"), "").unwrap();
    let is_last = |it| it == made[3].id;
    let base_of = |it| is_last(it).then_some(made[1].id);
    let keep = Keeping { base_of: &base_of, ..keeping(1, MADE, &[]) };
    assert_eq!(store.collect(&keep, Mode::DryRun).unwrap().n_images, 8);
    assert_eq!(store.collect(&keep, Mode::Delete).unwrap().n_images, 8);
    assert!(image(&store, 1, "search").exists() && image(&store, 3, "graph").exists());
    assert!(!image(&store, 1, "graph").exists() && !image(&store, 2, "search").exists());
    // Once it is needed no more, it goes too.
    assert_eq!(collect(&mut store, 1, MADE, Mode::Delete).n_images, 1);
    assert_eq!(std::fs::read_dir(store.images_dir()).unwrap().count(), 4);
}
