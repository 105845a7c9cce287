//! `knowing export`: everything, in a fixed order.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::session::{Session, shop};

fn lines(session: &Session, repo: &knowing_testkit::Fixture) -> Vec<Value> {
    session.text(repo.path(), &["export"]).lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[test]
fn nodes_edges_and_sites_come_in_this_order_and_fit_together() {
    let (session, repo) = (Session::new(), shop());
    let report = session.index(&repo);
    let lines = lines(&session, &repo);
    let of = |kind: &str| -> Vec<&Value> { lines.iter().filter(|it| it["type"] == kind).collect() };
    let (nodes, edges, sites) = (of("node"), of("edge"), of("unresolved"));
    let types: Vec<&Value> = lines.iter().map(|it| &it["type"]).collect();
    assert!(types.is_sorted_by_key(|it| ["node", "edge", "unresolved"].iter().position(|name| *it == name)));
    assert_eq!(json!(nodes.len()), report["nodes"]);
    assert_eq!(json!(sites.len()), report["unresolved"]);
    let stored = edges.iter().filter(|it| it["kind"] != "inherits").count();
    assert_eq!(json!(stored), report["edges"]);
    let ids: BTreeSet<&str> = nodes.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), nodes.len());
    for edge in &edges {
        assert!(ids.contains(edge["source_id"].as_str().unwrap()));
        assert!(ids.contains(edge["target_id"].as_str().unwrap()));
        assert!((0.0..=1.0).contains(&edge["confidence"].as_f64().unwrap()));
    }
}

#[test]
fn lines_have_the_promised_fields() {
    let (session, repo) = (Session::new(), shop());
    session.json(repo.path(), &["index", "--url", "github.com/acme/shop"]);
    let lines = lines(&session, &repo);
    let find = |fits: &dyn Fn(&Value) -> bool| lines.iter().find(|it| fits(it)).unwrap().clone();
    let mut node = find(&|it| it["name"] == "total");
    assert_eq!(node["id"].take().as_str().unwrap().len(), 64);
    let expect = json!({
        "type": "node", "id": null, "qualified_name": "github.com/acme/shop://shop/cart.py.Cart.total",
        "name": "total", "kind": "method", "file": "shop/cart.py", "line": 16, "end_line": 17,
        "language": "python", "flags": ["exported"],
    });
    assert_eq!(node, expect);
    let external = find(&|it| it["name"] == "sum");
    assert_eq!((&external["file"], &external["kind"]), (&Value::Null, &json!("external")));
    assert!(!external.as_object().unwrap().contains_key("file"), "what does not apply is absent");
    let mut edge = find(&|it| it["kind"] == "extends");
    edge.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_id"));
    let expect = json!({
        "type": "edge", "source": "github.com/acme/shop://shop/cart.py.Cart",
        "target": "github.com/acme/shop://shop/cart.py.Base", "kind": "extends",
        "provenance": "ast_resolved", "confidence": 0.85, "file": "shop/cart.py", "line": 12,
    });
    assert_eq!(edge, expect);
    let inherits = find(&|it| it["kind"] == "inherits");
    assert_eq!(inherits["target"], json!("github.com/acme/shop://shop/cart.py.Base.close"));
    assert_eq!((&inherits["provenance"], &inherits["confidence"]), (&json!("inheritance"), &json!(0.9)));
    let site = find(&|it| it["type"] == "unresolved");
    let expect = json!({
        "type": "unresolved", "source": "github.com/acme/shop://shop/desk.py.loose", "name": "close",
        "reason": "receiver_unknown", "file": "shop/desk.py", "line": 9,
    });
    assert_eq!(site, expect);
}

#[test]
fn the_order_does_not_depend_on_history() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    repo.write("shop/a.py", "from shop.cart import make\n\ndef first(x):\n    make()\n    x.close()\n");
    repo.commit("first");
    session.index(&repo);
    let fresh = Session::new();
    fresh.index(&repo);
    assert_eq!(session.text(repo.path(), &["export"]), fresh.text(repo.path(), &["export"]));
}

#[test]
fn a_damaged_or_missing_image_is_built_again() {
    let (session, repo) = (Session::new(), shop());
    let report = session.index(&repo);
    let before = session.text(repo.path(), &["export"]);
    let database = std::path::PathBuf::from(report["database"].as_str().unwrap());
    let image =
        database.with_file_name("images").join(format!("{}.graph", report["snapshot"].as_str().unwrap()));
    let bytes = std::fs::read(&image).unwrap();
    for damaged in [&bytes[..bytes.len() / 2], b"", b"nonsense"] {
        std::fs::write(&image, damaged).unwrap();
        assert_eq!(session.text(repo.path(), &["export"]), before);
        assert_eq!(std::fs::read(&image).unwrap(), bytes, "the image is whole again");
    }
    std::fs::remove_file(&image).unwrap();
    assert_eq!(session.text(repo.path(), &["export"]), before);
}

#[test]
fn a_picture_has_packages_as_clusters_and_a_bound() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let dot = session.text(repo.path(), &["export", "--format", "dot"]);
    assert!(dot.starts_with("digraph") && dot.trim_end().ends_with('}'), "{dot}");
    assert!(dot.contains("label=\"shop\"") && dot.contains("label=\"Cart.total\""), "{dot}");
    let small = session.text(repo.path(), &["export", "--format", "dot", "--max-nodes", "2"]);
    assert_eq!(small.lines().filter(|it| it.contains("[label=")).count(), 2);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let (session, repo) = (Session::new(), shop());
    let functions: String = (0..2_000).map(|n| format!("def f{n}():\n    pass\n\n")).collect();
    repo.write("many.py", &functions);
    repo.commit("more than a pipe holds");
    session.index(&repo);
    let mut child = session
        .command(repo.path())
        .arg("export")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"type\":\"node\""));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
