//! What differs between two snapshots, against two separate full indexes and by hand.

use std::collections::{BTreeMap, BTreeSet};

use knowing_model::identity::edge_id;
use knowing_model::{EdgeKind, Hash, NodeId};
use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// Ids of nodes, and edges by id with how they are known.
struct Graph {
    nodes: BTreeSet<String>,
    edges: BTreeMap<String, (String, String)>,
}

/// Of a commit, indexed all by itself.
fn alone(repo: &Fixture, commit: &str) -> Graph {
    let session = Session::new();
    session.text(repo.path(), &["index", "--commit", commit]);
    let exported = session.text(repo.path(), &["export", "--tree", commit]);
    let mut graph = Graph { nodes: BTreeSet::new(), edges: BTreeMap::new() };
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    for line in exported.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if row["type"] == "node" {
            graph.nodes.insert(text(&row["id"]));
        } else if row["type"] == "edge" && row["kind"] != "inherits" {
            let id = |it: &Value| NodeId(Hash::from_hex(it.as_str().unwrap()).unwrap());
            let kind = EdgeKind::from_name(row["kind"].as_str().unwrap()).unwrap();
            let id = edge_id(id(&row["source_id"]), id(&row["target_id"]), kind);
            graph.edges.insert(id.to_string(), (text(&row["provenance"]), row["confidence"].to_string()));
        }
    }
    graph
}

fn ids<'a>(lists: impl IntoIterator<Item = &'a Value>, inside: Option<&str>) -> BTreeSet<String> {
    let items = lists.into_iter().flat_map(|it| it.as_array().unwrap());
    let id = |it: &Value| inside.map_or(it, |name| &it[name])["id"].as_str().unwrap().to_owned();
    items.map(id).collect()
}

#[track_caller]
fn check_sets(diff: &Value, old: &Graph, new: &Graph) {
    let union = |one: BTreeSet<String>, other: BTreeSet<String>| one.union(&other).cloned().collect();
    let added: BTreeSet<String> =
        union(ids([&diff["nodes_added"]], None), ids([&diff["nodes_moved"]], Some("to")));
    let removed: BTreeSet<String> =
        union(ids([&diff["nodes_removed"]], None), ids([&diff["nodes_moved"]], Some("from")));
    assert_eq!(added, &new.nodes - &old.nodes);
    assert_eq!(removed, &old.nodes - &new.nodes);
    for id in ids([&diff["nodes_modified"]], None) {
        assert!(old.nodes.contains(&id) && new.nodes.contains(&id));
    }
    let keys = |it: &Graph| it.edges.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(ids([&diff["edges_added"]], None), &keys(new) - &keys(old));
    assert_eq!(ids([&diff["edges_removed"]], None), &keys(old) - &keys(new));
    let changed = new.edges.iter().filter(|it| old.edges.get(it.0).is_some_and(|before| before != it.1));
    assert_eq!(ids([&diff["edges_changed"]], None), changed.map(|it| it.0.clone()).collect());
    let is_same = old.nodes == new.nodes && old.edges == new.edges && diff["nodes_modified"] == json!([]);
    assert_eq!(diff["change"] == "none", is_same, "{}", diff["change"]);
}

/// Numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn module(&mut self) -> String {
        let (name, other, helper) = (self.below(4), self.below(4), self.below(3));
        let doc =
            ["", "    \"\"\"Does it.\"\"\"\n", "    \"\"\"Does it well.\"\"\"\n"][self.below(3) as usize];
        format!(
            "from pkg.m{other} import f{helper}\n\n\nclass C{name}:\n    def run(self):\n{doc}        return \
             f{helper}({name})\n\n\ndef f{name}(x):\n    c = C{name}()\n    c.run()\n    return unknown(x)\n"
        )
    }

    fn step(&mut self, repo: &Fixture) {
        let at = self.below(4);
        let path = format!("pkg/m{at}.py");
        let exists = repo.path().join(&path).exists();
        match self.below(5) {
            0 if exists => repo.remove(&path),
            1 if exists => {
                let to = format!("pkg/moved{at}.py");
                std::fs::rename(repo.path().join(&path), repo.path().join(to)).unwrap();
            }
            2 => repo.write(
                &format!("go/m{at}.go"),
                &format!("package m\n\nfunc F{at}() {{ F{}() }}\n", self.below(4)),
            ),
            _ => {
                let module = self.module();
                repo.write(&path, &module);
            }
        }
    }
}

#[test]
fn n4_a_diff_is_the_difference_of_two_separate_indexes() {
    for seed in 0..4 {
        let mut draw = Draw(seed);
        let repo = Fixture::new();
        let mut commits = Vec::new();
        for _ in 0..4 {
            (0..=draw.below(4)).for_each(|_| draw.step(&repo));
            commits.push(repo.commit("step"));
        }
        let session = Session::new();
        session.index(&repo);
        let graphs: Vec<Graph> = commits.iter().map(|it| alone(&repo, it)).collect();
        for (old, new) in [(0, 1), (2, 3), (0, 3), (3, 1), (2, 2)] {
            let arguments = ["diff", &commits[old], &commits[new], "--limit", "100000"];
            let diff = session.json(repo.path(), &arguments);
            assert_eq!(
                (&diff["old"]["commit"], &diff["new"]["commit"]),
                (&json!(commits[old]), &json!(commits[new]))
            );
            check_sets(&diff, &graphs[old], &graphs[new]);
        }
    }
}

/// The names of a list, with what follows the last `/`.
fn names(list: &Value) -> Vec<String> {
    let name = |it: &Value| it["qualified_name"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

/// The shop, indexed; then changed, committed and indexed again.
fn changed(change: impl FnOnce(&Fixture)) -> (Session, Fixture) {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    change(&repo);
    repo.commit("change");
    session.index(&repo);
    (session, repo)
}

fn replace(repo: &Fixture, path: &str, from: &str, to: &str) {
    let text = String::from_utf8(repo.read(path)).unwrap();
    assert!(text.contains(from));
    repo.write(path, &text.replace(from, to));
}

#[test]
fn a_changed_body_changes_the_symbol_and_nothing_around_it() {
    let (session, repo) = changed(|repo| replace(repo, "shop/cart.py", "+ tax", "+ tax + 1"));
    let diff = session.json(repo.path(), &["diff"]);
    assert_eq!(names(&diff["nodes_modified"]), ["cart.py.Cart.total"]);
    assert_eq!(diff["nodes_modified"][0]["changed"], json!(["body"]));
    assert_eq!((&diff["change"], &diff["counts"]["edges_added"]), (&json!("behavioural"), &json!(0)));
    assert_eq!(diff["packages_changed"], json!([]));
    let text = session.text(repo.path(), &["diff"]);
    assert!(text.contains("~ method      shop/cart.py.Cart.total shop/cart.py:16 (body)"), "{text}");
}

#[test]
fn signatures_documentation_and_calls_are_told_apart() {
    let (session, repo) = changed(|repo| {
        replace(repo, "shop/cart.py", "def total(self, tax=0):", "def total(self, tax=0, rebate=0):");
        replace(repo, "shop/desk.py", "def serve():\n", "def serve():\n    \"\"\"Serves.\"\"\"\n");
        replace(repo, "shop/cart.py", "    cart.close()\n", "");
    });
    let diff = session.json(repo.path(), &["semantic-diff"]);
    let symbols = diff["symbols"].as_array().unwrap();
    let of = |name: &str| symbols.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(of("total")["signature_before"], json!("def total(self, tax=0)"));
    assert_eq!(of("total")["signature"], json!("def total(self, tax=0, rebate=0)"));
    assert!(of("total")["callers"].as_u64().unwrap() >= 2);
    assert_eq!(of("serve")["changed"], json!(["doc", "body"]));
    assert!(of("make")["calls_removed"][0].as_str().unwrap().ends_with("Base.close"), "{}", of("make"));
    assert!(
        diff["summary"].as_str().unwrap().starts_with("3 modified; 0 edges came, "),
        "{}",
        diff["summary"]
    );
    let text = session.text(repo.path(), &["semantic-diff"]);
    assert!(
        text.contains("- def total(self, tax=0)\n") && text.contains("- calls shop/cart.py.Base.close"),
        "{text}"
    );
}

#[test]
fn what_moved_is_neither_gone_nor_new() {
    let (session, repo) = changed(|repo| {
        repo.git(&["mv", "shop/desk.py", "shop/counter.py"]);
    });
    let diff = session.json(repo.path(), &["diff"]);
    let moved = diff["nodes_moved"].as_array().unwrap();
    let pairs: Vec<(String, String)> = moved
        .iter()
        .map(|it| (names(&json!([it["from"]])).remove(0), names(&json!([it["to"]])).remove(0)))
        .collect();
    assert!(pairs.contains(&("desk.py.serve".to_owned(), "counter.py.serve".to_owned())), "{pairs:?}");
    assert!(pairs.contains(&("desk.py".to_owned(), "counter.py".to_owned())), "{pairs:?}");
    assert_eq!((&diff["nodes_added"], &diff["nodes_removed"]), (&json!([]), &json!([])));
    // Its calls are other edges now, which went along with it.
    assert!(diff["counts"]["edges_added"].as_u64().unwrap() > 0);
    assert_eq!(diff["change"], json!("structural"));
}

#[test]
fn removed_symbols_name_their_callers_and_packages_can_be_chosen() {
    let (session, repo) = changed(|repo| {
        repo.remove("shop/desk.py");
        repo.write("web/page.py", "def page(): pass\n");
    });
    let diff = session.json(repo.path(), &["diff"]);
    assert_eq!(diff["packages_added"], json!(["web"]));
    assert!(names(&diff["nodes_removed"]).contains(&"desk.py.serve".to_owned()));
    let only = session.json(repo.path(), &["diff", "@prev", "@latest", "--packages", "web"]);
    assert_eq!((names(&only["nodes_added"]).len() > 1, &only["nodes_removed"]), (true, &json!([])));
    let counted = session.json(repo.path(), &["diff", "--limit", "0"]);
    assert_eq!((&counted["counts"], &counted["nodes_added"]), (&diff["counts"], &json!([])));
    assert_eq!(counted["truncated"], json!(true));
    let back = session.json(repo.path(), &["diff", "@latest", "@prev"]);
    assert_eq!(names(&back["nodes_removed"]), names(&diff["nodes_added"]));
}

#[test]
fn what_cannot_be_compared_is_said_so() {
    let (session, repo) = (Session::new(), shop());
    session.error(repo.path(), &["diff"], 1, "no_index");
    session.index(&repo);
    session.error(repo.path(), &["diff"], 1, "not_found");
    session.error(repo.path(), &["diff", "no-such-thing"], 1, "not_found");
    session.error(repo.path(), &["diff", "00000000"], 1, "not_found");
    let same = session.json(repo.path(), &["diff", "HEAD", "@latest"]);
    assert_eq!((&same["change"], &same["counts"]["nodes_modified"]), (&json!("none"), &json!(0)));
    assert_eq!(session.json(repo.path(), &["semantic-diff", "HEAD"])["summary"], json!("nothing differs"));
}

#[test]
fn a9_an_impact_names_contracts_tests_and_callers() {
    let (session, repo) = (Session::new(), shop());
    repo.git(&["branch", "topic"]);
    // What main got since is no part of the change.
    repo.write("other/late.py", "def late(): pass\n");
    repo.commit("late");
    repo.git(&["checkout", "-q", "topic"]);
    replace(&repo, "shop/cart.py", "def total(self, tax=0):", "def total(self, tax=0, rebate=0):");
    replace(&repo, "shop/desk.py", "    return make()", "    return make() or loose(1)");
    repo.commit("change");
    let impact = session.json(repo.path(), &["pr-impact", "main"]);
    let symbols = impact["symbols"].as_array().unwrap();
    assert_eq!(names(&impact["symbols"]), ["cart.py.Cart.total", "desk.py.serve"]);
    assert!(symbols[0]["callers"].as_u64().unwrap() >= 2, "{impact}");
    assert!(symbols[0]["called_by"][0].as_str().unwrap().contains("shop/cart.py"), "{impact}");
    assert_eq!((&impact["change"], &impact["n_tests"]), (&json!("behavioural"), &json!(1)), "{impact}");
    assert!(impact["tests"][0].as_str().unwrap().ends_with("test_make"), "{impact}");
    assert!(impact["contracts"][0].as_str().unwrap().contains("rebate=0"), "{impact}");
    assert_eq!((&impact["risk"], &impact["n_unresolved"]), (&json!("low"), &json!(0)), "{impact}");
    let text = session.text(repo.path(), &["pr-impact", "main"]);
    assert!(text.contains("risk: ") && text.contains("tests: 1"), "{text}");
    session.error(repo.path(), &["pr-impact", "no-such-branch"], 1, "not_found");
    session.error(repo.path(), &["pr-impact"], 2, "usage");
}
