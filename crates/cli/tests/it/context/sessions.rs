//! Sessions: what a handle was told is not told again, and nobody else is concerned.

use std::collections::BTreeSet;

use knowing_ops::{
    Context, ContextOptions, Cx, Environment, FormatChoice, Operation, Reply, Silent, StalePolicy, TreeChoice,
};
use knowing_testkit::Fixture;
use knowing_wire::gcf::{self, Document, Link, Message};

use super::formats::document;
use super::warehouse;
use crate::session::Session;

const TASK: &str = "retry sending a parcel";

fn ask(session: &Session, repo: &Fixture, handle: &str, more: &[&str]) -> String {
    let asked = ["context", TASK, "--format", "gcf", "--budget", "3000", "--session", handle];
    session.text(repo.path(), &[&asked[..], more].concat())
}

/// Id and name, of what is declared.
fn declared(document: &Document) -> BTreeSet<(u32, String)> {
    document.symbols.iter().filter_map(|it| Some((it.id, it.declared.as_ref()?.name.clone()))).collect()
}

fn seen(document: &Document) -> BTreeSet<u32> {
    document.symbols.iter().filter(|it| it.declared.is_none()).map(|it| it.id).collect()
}

fn root(document: &Document) -> String {
    document.header.value("pack_root").unwrap().to_owned()
}

/// Symbols by name with their places, edges between names, and the root.
fn state(document: &Document) -> (BTreeSet<String>, BTreeSet<String>, String) {
    let name = |id: u32| {
        let entry = document.symbols.iter().find(|it| it.id == id).unwrap();
        entry.declared.as_ref().unwrap().name.clone()
    };
    let symbols = document.symbols.iter().map(|it| format!("{} {:?}", name(it.id), it.location)).collect();
    let edge = |it: &Link| format!("{} {} {}", name(it.source), it.kind, name(it.target));
    (symbols, document.edges.iter().map(edge).collect(), root(document))
}

#[test]
fn w2_a_symbol_keeps_its_id_and_is_declared_once() {
    let (session, repo) = (Session::new(), warehouse());
    let first = ask(&session, &repo, "one", &[]);
    assert!(first.contains("\n# session: new\n") && first.contains(" session=one"), "{first}");
    let first = document(&first);
    assert!(seen(&first).is_empty());
    let second = ask(&session, &repo, "one", &[]);
    assert!(!second.contains("session: new"), "{second}");
    let second = document(&second);
    assert!(declared(&second).is_empty());
    let ids: BTreeSet<u32> = declared(&first).iter().map(|it| it.0).collect();
    assert_eq!(seen(&second), ids);
    assert!(second.symbols.iter().all(|it| it.location.is_none()), "no place changed");
    assert_eq!(second.edges, first.edges);
    // Another task of the same session: what is new goes on after the highest id.
    let asked = ["context", "weigh and label what depot 5 tracks", "--format", "gcf", "--session", "one"];
    let third = document(&session.text(repo.path(), &[&asked[..], &["--budget", "3000"]].concat()));
    assert!(!seen(&third).is_empty() && seen(&third).is_subset(&ids));
    assert!(!declared(&third).is_empty() && declared(&third).iter().all(|it| it.0 as usize >= ids.len()));
    // Signatures were not told yet: the symbol is known and its signature follows.
    let with = document(&ask(&session, &repo, "one", &["--detail", "signature"]));
    assert!(with.symbols.iter().any(|it| it.declared.is_none() && it.signature.is_some()));
    let again = document(&ask(&session, &repo, "one", &["--detail", "signature"]));
    assert!(again.symbols.iter().all(|it| it.signature.is_none()));
}

#[test]
fn l5_two_sessions_share_nothing_and_those_without_are_not_concerned() {
    let (session, repo) = (Session::new(), warehouse());
    let without = ["context", TASK, "--format", "gcf", "--budget", "3000"];
    let before = session.text(repo.path(), &without);
    let one = ask(&session, &repo, "one", &[]);
    let other = ask(&session, &repo, "two", &[]);
    assert_eq!(other, one.replace("session=one", "session=two"));
    assert_eq!(session.text(repo.path(), &without), before);
    assert!(!before.contains("session"));
    let alone = Session::new();
    assert_eq!(alone.text(repo.path(), &without), before);
    // In other formats a session changes nothing.
    let json = session.text(repo.path(), &["context", TASK, "--json"]);
    assert_eq!(session.text(repo.path(), &["context", TASK, "--json", "--session", "one"]), json);
    session.text(repo.path(), &["fsck"]);
}

#[test]
fn w3_a_pack_and_what_differs_make_the_next() {
    let (session, repo) = (Session::new(), warehouse());
    let without = |more: &[&str]| {
        let asked = ["context", TASK, "--format", "gcf", "--budget", "6000"];
        session.text(repo.path(), &[&asked[..], more].concat())
    };
    let base = document(&without(&[]));
    let in_session = document(&ask(&session, &repo, "one", &[]));
    let same = without(&["--pack-root", &root(&base)]);
    assert!(
        same.lines().next().unwrap().ends_with(" delta=true savings=100") && !same.contains("## "),
        "{same}"
    );
    let same = ask(&session, &repo, "one", &["--pack-root", &root(&in_session)]);
    assert!(same.contains(" delta=true savings=100") && !same.contains("## "), "{same}");

    let path = repo.path().join("depots/depot_3.py");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text
        .replacen("\n\n\n", "\n\nRETRIES = 3\n\n\n", 1)
        .replace("return store_parcel_3(parcel)", "return bill_parcel_3(parcel)");
    std::fs::write(
        &path,
        text + "\n\ndef retry_sending_parcel(parcel):\n    return retry_parcel_3(parcel)\n",
    )
    .unwrap();
    // As the files lie there, uncommitted: places move under the same root.
    let moved = without(&["--pack-root", &root(&base)]);
    assert!(moved.contains("fresh=dirty(1)") && !moved.contains("savings=100"), "{moved}");
    repo.commit("retry more");

    let changed = without(&["--pack-root", &root(&base)]);
    let Ok(Message::Delta(delta)) = gcf::decode(&changed) else { panic!("{changed}") };
    let new = document(&without(&[]));
    assert!(changed.len() * 100 < 60 * new.encode().len(), "{} of {}", changed.len(), new.encode().len());
    assert!(!delta.added.is_empty() && !delta.changed.is_empty());
    assert_eq!(state(&delta.apply(&base).unwrap()), state(&new));

    let changed = ask(&session, &repo, "one", &["--pack-root", &root(&in_session)]);
    let Ok(Message::Delta(delta)) = gcf::decode(&changed) else { panic!("{changed}") };
    let new = document(&ask(&session, &repo, "two", &[]));
    assert_eq!(state(&delta.apply(&in_session).unwrap()), state(&new));
    // What was added by the difference was told.
    let after = document(&ask(&session, &repo, "one", &[]));
    assert!(declared(&after).is_empty());

    let (base_file, delta_file) = (session.file("base.gcf"), session.file("delta.gcf"));
    std::fs::write(&base_file, in_session.encode()).unwrap();
    std::fs::write(&delta_file, changed).unwrap();
    let (base_file, delta_file) = (base_file.to_str().unwrap(), delta_file.to_str().unwrap());
    let shown = session.text(repo.path(), &["decode", delta_file, "--base", base_file]);
    assert!(shown.contains("`retry_sending_parcel`"), "{shown}");
    assert!(session.text(repo.path(), &["decode", delta_file]).contains("- added @"));
}

#[test]
fn a_base_that_is_not_known_is_said_and_all_is_told() {
    let (session, repo) = (Session::new(), warehouse());
    let unknown = "ab".repeat(32);
    for more in [&[][..], &["--session", "one"]] {
        let asked = ["context", TASK, "--format", "gcf", "--pack-root", &unknown];
        let text = session.text(repo.path(), &[&asked[..], more].concat());
        assert!(text.contains("\n# base unknown\n"), "{text}");
        assert!(declared(&document(&text)).len() > 10);
    }
    // A pack of a session is none of who has no session, nor of another.
    let given = root(&document(&ask(&session, &repo, "one", &[])));
    repo.write("depots/extra.py", "def retry_sending(parcel):\n    return parcel\n");
    repo.commit("retry sending");
    let asked = ["context", TASK, "--format", "gcf", "--budget", "3000", "--pack-root", &given];
    assert!(session.text(repo.path(), &asked).contains("\n# base unknown\n"));
    assert!(ask(&session, &repo, "two", &["--pack-root", &given]).contains("\n# base unknown\n"));
    assert!(!ask(&session, &repo, "one", &["--pack-root", &given]).contains("base unknown"));
    session.error(repo.path(), &["context", TASK, "--format", "gcf", "--pack-root", "ab"], 2, "usage");
    session.error(repo.path(), &["context", TASK, "--format", "gcf", "--session", "a b"], 2, "usage");
}

/// One call at a time of our choosing, by a process that began at another.
fn at(session: &Session, repo: &Fixture, now: i64, started: i64) -> String {
    let environment = Environment {
        working_directory: repo.path().to_owned(),
        database: None,
        data_directory: Some(session.data()),
        auto_gc: false,
        now,
        started,
    };
    let mut cx = Cx {
        environment,
        repo: None,
        tree: TreeChoice::default(),
        stale: StalePolicy::default(),
        session: Some("one".to_owned()),
        paging: Default::default(),
        progress: &Silent,
        output: &mut std::io::sink(),
    };
    let options = ContextOptions { format: Some(FormatChoice::Gcf), ..ContextOptions::default() };
    let operation =
        Operation::Context(Context { task: Some(TASK.to_owned()), options, ..Context::default() });
    match operation.run(&mut cx).unwrap() {
        Reply::Context(it) => it.pack.unwrap().text.unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_idle_session_ends_and_a_restart_goes_on() {
    const HOUR: i64 = 3_600;
    let (session, repo) = (Session::new(), warehouse());
    let is_new = |now, started| at(&session, &repo, now, started).contains("# session: new");
    let start = 1_800_000_000;
    assert!(is_new(start, start));
    assert!(!is_new(start + HOUR, start));
    assert!(is_new(start + 2 * HOUR + 1, start), "idle for more than an hour");
    // Another process goes on for a day.
    let now = start + 2 * HOUR + 1 + 23 * HOUR;
    assert!(!is_new(now, now));
    let now = now + 24 * HOUR + 1;
    assert!(is_new(now, now));
    session.text(repo.path(), &["fsck"]);
}

#[test]
fn budgets_hold_in_sessions_too() {
    let (session, repo) = (Session::new(), warehouse());
    let handle = "a-handle-that-is-as-long-as-handles-may-be-and-not-a-letter-more";
    assert_eq!(handle.len(), 64);
    for budget in ["250", "700", "1500", "4000"] {
        for _ in 0..2 {
            let asked = ["context", TASK, "--format", "gcf", "--budget", budget, "--session", handle];
            let text = session.text(repo.path(), &asked);
            assert!(text.len() <= 4 * budget.parse::<usize>().unwrap(), "{budget}: {}", text.len());
            let said = document(&text).header.value("tokens").unwrap().to_owned();
            assert_eq!(said, text.len().div_ceil(4).to_string());
        }
    }
}
