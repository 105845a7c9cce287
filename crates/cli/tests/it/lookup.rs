//! What a symbol argument may look like, and what happens when it means nothing or too much.

use serde_json::{Value, json};

use crate::session::{Session, shop};

fn asked() -> (Session, knowing_testkit::Fixture) {
    let (session, repo) = (Session::new(), shop());
    session.json(repo.path(), &["index", "--url", "github.com/acme/shop"]);
    (session, repo)
}

#[test]
fn a_symbol_is_found_by_all_four_forms() {
    let (session, repo) = asked();
    let total = session.json(repo.path(), &["callers", "Cart.total"])["symbol"].clone();
    assert_eq!(total["qualified_name"], json!("github.com/acme/shop://shop/cart.py.Cart.total"));
    let id = total["id"].as_str().unwrap();
    for text in [
        "total",
        "TOTAL",
        "Cart::total",
        "cart.py.Cart.total",
        "shop/cart.py.Cart.total",
        "github.com/acme/shop://shop/cart.py.Cart.total",
        "total@method",
        "shop/cart.py:17",
        "shop/cart.py:16:9",
        "cart.py:17",
        id,
        &id[..12],
    ] {
        assert_eq!(session.json(repo.path(), &["callers", text])["symbol"]["id"], json!(id), "{text}");
    }
    // A path is also read from where one stands.
    let inside = repo.path().join("shop");
    assert_eq!(session.json(&inside, &["callers", "cart.py:17"])["symbol"]["id"], json!(id));
    // Where no symbol is, the file is.
    assert_eq!(session.json(repo.path(), &["callers", "shop/cart.py:1"])["symbol"]["kind"], json!("file"));
}

#[test]
fn m4_printed_name_and_kind_find_exactly_the_node() {
    let (session, repo) = asked();
    for line in session.text(repo.path(), &["export"]).lines() {
        let node: Value = serde_json::from_str(line).unwrap();
        if node["type"] != json!("node") {
            break;
        }
        let text = format!("{}@{}", node["qualified_name"].as_str().unwrap(), node["kind"].as_str().unwrap());
        assert_eq!(session.json(repo.path(), &["callers", &text])["symbol"]["id"], node["id"], "{text}");
    }
}

#[test]
fn m5_an_ambiguous_name_lists_candidates_and_exits_1() {
    let (session, repo) = asked();
    let error = session.error(repo.path(), &["callers", "run"], 1, "ambiguous");
    assert_eq!(error["total"], json!(2));
    let candidates = error["candidates"].as_array().unwrap();
    let names: Vec<&str> = candidates.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["github.com/acme/shop://shop/cart.py.Base.run", "github.com/acme/shop://shop/cart.py.Cart.run"]
    );
    assert_eq!(candidates[0]["kind"], json!("method"));
    assert_eq!(candidates[0]["location"], json!("shop/cart.py:8"));
    assert_eq!(candidates[0]["id"].as_str().unwrap().len(), 64);
    let ran = session.run(repo.path(), &["callers", "run"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("error: `run` may mean 2 symbols\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Base.run") && ran.stderr.contains("hint: "), "{}", ran.stderr);
}

#[test]
fn tests_do_not_make_what_they_are_called_after_ambiguous() {
    let session = Session::new();
    let repo = knowing_testkit::Fixture::from_text(
        "//- /cart.ts\nexport function total(n: number) { return n }\n//- /cart.test.ts\nimport { total } from './cart'\n\ndescribe('total', () => {\n  it('of none/total', () => { total(0) })\n  it('sells', () => {})\n})\n",
    );
    repo.commit("open the shop");
    session.index(&repo);
    let symbol = |text: &str| session.json(repo.path(), &["callers", text])["symbol"]["kind"].clone();
    assert_eq!(symbol("total"), json!("function"));
    let found = session.json(repo.path(), &["query", "total"])["symbols"].as_array().unwrap().len();
    assert_eq!(found, 3, "a query lists tests too");
    session.error(repo.path(), &["callers", "total@test"], 1, "ambiguous");
    assert_eq!(symbol("sells"), json!("test"));
}

#[test]
fn many_candidates_are_cut_at_20_with_their_total() {
    let (session, repo) = asked();
    let classes: String =
        (0..30).map(|n| format!("class C{n}:\n    def same(self):\n        pass\n\n")).collect();
    repo.write("many.py", &classes);
    repo.commit("many");
    session.index(&repo);
    let error = session.error(repo.path(), &["callers", "same"], 1, "ambiguous");
    assert_eq!(error["candidates"].as_array().unwrap().len(), 20);
    assert_eq!(error["total"], json!(30));
}

#[test]
fn a_name_that_is_not_there_brings_the_nearest() {
    let (session, repo) = asked();
    let error = session.error(repo.path(), &["callers", "Cart.totl"], 1, "not_found");
    assert_eq!(error["candidates"][0]["name"], json!("total"));
    assert!(error["hint"].as_str().unwrap().contains("`total`"));
    session.error(repo.path(), &["callers", "no/such.py:3"], 1, "not_found");
    session.error(repo.path(), &["callers", "deadbeef"], 1, "not_found");
}

#[test]
fn virtual_things_are_found_when_nothing_else_is() {
    let (session, repo) = asked();
    let answer = session.json(repo.path(), &["callers", "sum"]);
    assert_eq!(answer["symbol"]["qualified_name"], json!("stdlib://python/builtins.sum"));
    assert_eq!(answer["total"], json!(1));
    repo.write("own.py", "def sum(x):\n    return x\n");
    repo.commit("own");
    session.index(&repo);
    let answer = session.json(repo.path(), &["callers", "sum"]);
    assert_eq!(answer["symbol"]["file"], json!("own.py"));
}
