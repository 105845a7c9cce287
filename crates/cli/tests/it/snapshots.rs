//! The chain of snapshots and the ways to name one.

use serde_json::{Value, json};

use crate::session::{Session, shop};

fn list(session: &Session, directory: &std::path::Path) -> Vec<Value> {
    session.json(directory, &["snapshots"])["snapshots"].as_array().unwrap().clone()
}

#[test]
fn n1_an_unchanged_commit_has_one_snapshot() {
    let (session, repo) = (Session::new(), shop());
    let first = session.index(&repo);
    let again = session.index(&repo);
    assert_eq!((&first["new_snapshot"], &again["new_snapshot"]), (&json!(true), &json!(false)));
    assert_eq!(first["snapshot"], again["snapshot"]);
    let all = list(&session, repo.path());
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["generation"], &all[0]["parent"]), (&json!(0), &Value::Null));
}

#[test]
fn snapshots_follow_each_other_and_have_many_names() {
    let (session, repo) = (Session::new(), shop());
    let mut ids = vec![session.index(&repo)["snapshot"].as_str().unwrap().to_owned()];
    for at in 0..3 {
        repo.write("shop/more.py", &format!("def more_{at}(): pass\n"));
        repo.commit("more");
        ids.push(session.index(&repo)["snapshot"].as_str().unwrap().to_owned());
    }
    let all = list(&session, repo.path());
    assert_eq!(all.len(), 4);
    for (at, it) in all.iter().enumerate() {
        assert_eq!(it["reference"], json!(format!("@{at}")));
        assert_eq!(it["id"], json!(ids[3 - at]));
        assert_eq!(it["generation"], json!(3 - at));
        assert_eq!(it["parent"].as_str(), (at < 3).then(|| ids[2 - at].as_str()));
    }
    let of = |reference: &str| {
        let reply = session.json(repo.path(), &["prove", "serve", "make", "--snapshot", reference]);
        reply["snapshot"].as_str().unwrap().to_owned()
    };
    for (reference, at) in [
        ("@latest", 3),
        ("@0", 3),
        ("@base", 3),
        ("@prev", 2),
        ("@2", 1),
        ("@first", 0),
        ("HEAD", 3),
        ("@~1", 2),
        ("main~3", 0),
        (&ids[1], 1),
        (&ids[1][..8], 1),
    ] {
        assert_eq!(of(reference), ids[at], "{reference}");
    }
    let text = session.text(repo.path(), &["snapshots"]);
    assert!(text.starts_with("@0 ") && text.lines().next().unwrap().ends_with("current"), "{text}");
}

#[test]
fn a_commit_without_snapshot_is_indexed_when_it_is_named() {
    let (session, repo) = (Session::new(), shop());
    repo.write("shop/more.py", "def more(): pass\n");
    repo.commit("more");
    let now = session.index(&repo);
    let reply = session.json(repo.path(), &["prove", "serve", "make", "--snapshot", "HEAD~1"]);
    assert_ne!(reply["snapshot"], now["snapshot"]);
    // The checkout stands where it stood.
    assert_eq!(session.json(repo.path(), &["stats"])["snapshot"], now["snapshot"]);
    assert_eq!(list(&session, repo.path()).len(), 2);
    let error =
        session.error(repo.path(), &["prove", "serve", "make", "--snapshot", "@prev"], 1, "not_found");
    assert!(error["hint"].as_str().unwrap().contains("HEAD~1"), "{error}");
}

#[test]
fn a_repository_named_by_its_url_is_where_its_checkout_stands() {
    let (session, repo) = (Session::new(), shop());
    repo.write("shop/more.py", "def more(): pass\n");
    repo.commit("more");
    let now = session.index(&repo);
    session.json(repo.path(), &["diff", "HEAD~1"]);
    let elsewhere = knowing_testkit::Fixture::directory();
    let url = now["repo"].as_str().unwrap();
    let stats = session.json(elsewhere.path(), &["--repo", url, "stats"]);
    assert_eq!(stats["snapshot"], now["snapshot"]);
    // What was compared there has its text from the checkout that the registry knows.
    let first = session.json(repo.path(), &["snapshots"])["snapshots"][0]["id"].clone();
    let diff = session.json(elsewhere.path(), &["--repo", url, "diff", first.as_str().unwrap()]);
    assert_eq!((&diff["notes"], &diff["new"]["snapshot"]), (&json!([]), &now["snapshot"]));
}

#[test]
fn pins_are_kept_and_taken_away() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let pinned = || list(&session, repo.path())[0]["pinned"].clone();
    assert_eq!(pinned(), json!(false));
    session.text(repo.path(), &["snapshots", "pin", "@latest"]);
    session.text(repo.path(), &["snapshots", "pin", "HEAD"]);
    assert_eq!(pinned(), json!(true));
    session.text(repo.path(), &["snapshots", "unpin", "@0"]);
    assert_eq!(pinned(), json!(false));
    session.error(repo.path(), &["snapshots", "pin"], 2, "usage");
    session.error(repo.path(), &["snapshots", "pin", "@9"], 1, "not_found");
}

#[test]
fn events_say_when_an_edge_came_and_went() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    assert_eq!(session.run(repo.path(), &["events"]).stdout, "no edge came or went\n");
    repo.write(
        "shop/more.py",
        "from shop.bread import Bread\n\n\ndef more():\n    return less()\n\n\ndef less(): pass\n",
    );
    let second = repo.commit("more calls less");
    session.index(&repo);
    repo.write("shop/more.py", "def more(): pass\n\n\ndef less(): pass\n");
    let third = repo.commit("no more");
    session.index(&repo);
    let reply = session.json(repo.path(), &["events", "--symbol", "less", "--edge-kinds", "calls"]);
    let told: Vec<[&str; 3]> = reply["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| [&it["event"], &it["commit"], &it["kind"]].map(|it| it.as_str().unwrap()))
        .collect();
    assert_eq!(told, [["removed", third.as_str(), "calls"], ["added", &second, "calls"]], "{reply}");
    assert_eq!((&reply["snapshots"], &reply["total"]), (&json!(2), &json!(2)));
    assert!(reply["events"][0]["source"].as_str().unwrap().ends_with("more.py.more"), "{reply}");
    // The log and the difference of neighbours are one thing.
    let all = session.json(repo.path(), &["events", "@latest", "--limit", "0"]);
    let counts = |old: &str, new: &str| {
        let counts = session.json(repo.path(), &["diff", old, new])["counts"].clone();
        ["edges_added", "edges_removed", "edges_changed"]
            .map(|it| counts[it].as_u64().unwrap())
            .iter()
            .sum::<u64>()
    };
    assert_eq!(all["total"].as_u64(), Some(counts("@1", "@0") + counts("@2", "@1")));
    assert_eq!((all["events"].as_array().map(Vec::len), &all["truncated"]), (Some(0), &json!(true)));
    let text = session.text(repo.path(), &["events", "--symbol", "less"]);
    assert!(text.contains("- shop/more.py.more calls shop/more.py.less"), "{text}");
    session.error(repo.path(), &["events", "--symbol", "nobody_at_all"], 1, "not_found");
}
