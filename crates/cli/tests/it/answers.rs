//! Callers, callees, blast radius, queries and counts of a small shop.

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

fn names(list: &Value) -> Vec<String> {
    let name = |it: &Value| it["qualified_name"].as_str().unwrap().split_once("://").unwrap().1.to_owned();
    let mut names: Vec<String> = list.as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn callers_are_listed_with_lines_and_confidence() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let answer = session.json(repo.path(), &["callers", "Cart.total"]);
    assert_eq!(
        names(&answer["callers"]),
        ["shop/cart.py.Cart.run", "shop/cart.py.make", "tests/test_cart.py.test_make"]
    );
    for caller in answer["callers"].as_array().unwrap() {
        assert_eq!((&caller["depth"], &caller["confidence"]), (&json!(1), &json!(0.85)));
        assert_eq!((&caller["provenance"], &caller["n_sites"]), (&json!("ast_resolved"), &json!(1)));
    }
    let text = session.text(repo.path(), &["callers", "Cart.total"]);
    assert!(text.contains("\ncallers: 3\n"), "{text}");
    assert!(text.contains("shop/cart.py.make shop/cart.py:23 (0.85, line 25)"), "{text}");
}

#[test]
fn callers_of_callers_say_through_whom() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let answer = session.json(repo.path(), &["callers", "Cart.total", "--depth", "2"]);
    let serve = answer["callers"].as_array().unwrap().iter().find(|it| it["name"] == "serve").unwrap();
    assert_eq!(serve["depth"], json!(2));
    assert_eq!(serve["confidence"], json!(0.7225));
    assert!(serve["through"].as_str().unwrap().ends_with("shop/cart.py.make"));
    let counted = session.json(repo.path(), &["callers", "Cart.total", "--limit", "0"]);
    assert_eq!((&counted["total"], &counted["truncated"]), (&json!(3), &json!(true)));
    assert_eq!(counted["callers"], json!([]));
}

#[test]
fn callees_are_what_a_symbol_calls() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let answer = session.json(repo.path(), &["callees", "make"]);
    let names = names(&answer["callees"]);
    for name in ["shop/cart.py.Base.close", "shop/cart.py.Cart.total"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
    assert_eq!(session.json(repo.path(), &["callees", "loose"])["unresolved"]["count"], json!(2));
}

#[test]
fn m8_a_symbol_without_callers_shows_its_unresolved_sites() {
    let (session, repo) = (Session::new(), shop());
    repo.write("shop/lonely.py", "class Lonely:\n    def close(self):\n        pass\n");
    repo.commit("lonely");
    session.index(&repo);
    let answer = session.json(repo.path(), &["callers", "Lonely.close"]);
    assert_eq!((&answer["total"], &answer["unresolved"]["count"]), (&json!(0), &json!(1)));
    let site = &answer["unresolved"]["sites"][0];
    assert_eq!((&site["file"], &site["line"]), (&json!("shop/desk.py"), &json!(9)));
    assert_eq!((&site["receiver"], &site["reason"]), (&json!("thing"), &json!("receiver_unknown")));
    let text = session.text(repo.path(), &["callers", "Lonely.close"]);
    assert!(text.contains("callers: 0 (plus 1 unresolved site named \"close\")"), "{text}");
}

#[test]
fn a1_blast_radius_walks_against_calls_and_both_ways_along_overrides() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let answer = session.json(repo.path(), &["blast-radius", "Cart.total"]);
    assert_eq!(
        names(&answer["reached"]),
        ["shop/cart.py.Base.run", "shop/cart.py.Cart.run", "shop/cart.py.make", "shop/desk.py.serve"]
    );
    assert_eq!(names(&answer["tests"]), ["tests/test_cart.py.test_make"]);
    assert_eq!(
        (&answer["total"], &answer["n_tests"], &answer["risk"]),
        (&json!(4), &json!(1), &json!("low"))
    );
    let base_run = answer["reached"].as_array().unwrap().iter().find(|it| it["depth"] == 2).unwrap();
    let kinds: Vec<&Value> = base_run["path"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds.len(), 2);
    assert_eq!(kinds[0], &json!("calls"));
    let near = session.json(repo.path(), &["blast-radius", "Cart.total", "--depth", "1", "--no-tests"]);
    assert_eq!((&near["total"], &near["tests"]), (&json!(2), &json!([])));
    let calls = session.json(repo.path(), &["blast-radius", "Cart.total", "--edge-kinds", "calls"]);
    assert_eq!(calls["total"], json!(3));
    let sure = session.json(repo.path(), &["blast-radius", "Cart.total", "--min-confidence", "0.9"]);
    assert_eq!(sure["total"], json!(0));
}

#[test]
fn a1_blast_radius_of_a_value_is_who_uses_it_and_who_calls_those() {
    let (session, repo) = (Session::new(), shop());
    repo.write(
        "shop/limits.py",
        "RETRIES = 3\nclass Limits:\n    wait: int = RETRIES\n    def longer(self):\n        return self.wait + 1\n",
    );
    repo.write(
        "shop/work.py",
        "from shop.limits import Limits\ndef patient(it: Limits):\n    return it.wait\ndef run(it):\n    patient(it)\n",
    );
    repo.commit("limits");
    session.index(&repo);
    let reached = |symbol: &str| names(&session.json(repo.path(), &["blast-radius", symbol])["reached"]);
    assert_eq!(
        reached("Limits.wait"),
        ["shop/limits.py.Limits.longer", "shop/work.py.patient", "shop/work.py.run"]
    );
    let calls = session.json(repo.path(), &["blast-radius", "Limits.wait", "--edge-kinds", "calls"]);
    assert_eq!(calls["total"], json!(0), "only what was asked for is followed");
    assert_eq!(reached("RETRIES"), ["shop/limits.py.Limits"]);
    let callers = session.json(repo.path(), &["callers", "Limits.wait"]);
    assert_eq!((&callers["total"], &callers["n_users"]), (&json!(0), &json!(2)));
    let text = session.text(repo.path(), &["callers", "Limits.wait"]);
    assert!(text.contains("callers: 0\nused without a call by 2 symbols (knowing query "), "{text}");
}

#[test]
fn a2_low_risk_is_never_given_with_unresolved_sites() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let answer = session.json(repo.path(), &["blast-radius", "Base.close"]);
    assert!(answer["total"].as_u64().unwrap() <= 5);
    assert_eq!((&answer["unresolved"]["count"], &answer["risk"]), (&json!(1), &json!("medium")));
}

#[test]
fn queries_find_by_pattern_kind_package_and_file() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let found = |arguments: &[&str]| names(&session.json(repo.path(), arguments)["symbols"]);
    assert_eq!(found(&["query", "ma*"]), ["shop/cart.py.make"]);
    assert_eq!(found(&["query", "*", "--kinds", "class"]), ["shop/cart.py.Base", "shop/cart.py.Cart"]);
    assert_eq!(found(&["query", "*", "--kinds", "function", "--file", "shop/desk.py"]).len(), 2);
    assert_eq!(found(&["query", "*", "--kinds", "test", "--package", "tests"]).len(), 1);
    assert_eq!(found(&["query", "shop/*.Cart.*", "--kinds", "method"]).len(), 2);
    assert_eq!(found(&["query", "run"]).len(), 2, "a query may mean several");
    assert_eq!(found(&["query", "shop/cart.py:17"]), ["shop/cart.py.Cart.total"]);
    let cut = session.json(repo.path(), &["query", "*", "--limit", "3"]);
    assert_eq!((cut["symbols"].as_array().unwrap().len(), &cut["truncated"]), (3, &json!(true)));
    session.error(repo.path(), &["query", "zzz*"], 1, "not_found");
    session.error(repo.path(), &["query", "x", "--kinds", "klass"], 2, "usage");
}

#[test]
fn queries_show_edges_around_what_they_find() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let edges = |direction: &str, kinds: &str| {
        let answer =
            session.json(repo.path(), &["query", "Cart", "--edges", direction, "--edge-kinds", kinds]);
        answer["edges"].as_array().unwrap().len()
    };
    assert_eq!(edges("out", "extends"), 1);
    assert_eq!(edges("in", "extends"), 0);
    assert_eq!(edges("in", "calls"), 1);
    assert_eq!(edges("both", "calls,extends"), 2);
    session.error(repo.path(), &["query", "Cart", "--edge-kinds", "call"], 2, "usage");
}

#[test]
fn counts_fit_the_report() {
    let (session, repo) = (Session::new(), shop());
    let report = session.index(&repo);
    let stats = session.json(repo.path(), &["stats"]);
    for field in ["commit", "root", "files", "nodes", "edges", "unresolved", "edges_by_provenance"] {
        assert_eq!(report[field], stats[field], "{field}");
    }
    let sum =
        |name: &str| stats[name].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum::<u64>();
    assert_eq!(stats["nodes"], json!(sum("nodes_by_kind")));
    assert_eq!(stats["edges"], json!(sum("edges_by_kind")));
    assert_eq!(stats["files_by_language"], json!({ "python": 4 }));
}

#[test]
fn long_lists_of_parameter_types_are_shown_short_and_can_be_typed_so() {
    let repo = Fixture::new();
    repo.write(
        "listen.py",
        "from typing import overload\n\n\n\
         @overload\ndef listen(path: str | list[str] | None, guards: list[str] | None, name: str | None) -> int: ...\n\n\n\
         @overload\ndef listen(path: int, guards: list[str] | None, name: str | None, after: list[int]) -> int: ...\n\n\n\
         def listen(path: object, guards: list[str] | None, name: str | None, after: list[int] | None = None) -> int:\n    \
         return len(str(path))\n\n\n\
         def serve():\n    return listen(\"/\", None, None)\n",
    );
    repo.commit("listen");
    let session = Session::new();
    session.index(&repo);
    let task = "listen at a path";
    let text = session.text(repo.path(), &["context", task]);
    let listed: Vec<&str> = text.lines().filter(|it| it.contains("listen(…)")).collect();
    assert!(listed.len() > 1 && !text.contains("guards|"), "{text}");
    assert!(listed.iter().skip(1).all(|it| it.contains("overload of one above")), "{text}");
    let pack = session.json(repo.path(), &["context", task]);
    assert!(
        names(&pack["symbols"]).iter().any(|it| it.contains("listen(str|")),
        "programs get whole names: {pack}"
    );
    let short = session.text(repo.path(), &["callers", "listen(…)"]);
    assert_eq!(short, session.text(repo.path(), &["callers", "listen"]));
    assert!(short.contains("listen.py.serve"), "{short}");
}
