//! `why` is the same run as `context`: ranks and scores agree for every symbol.

use serde_json::Value;

use super::{names, warehouse};
use crate::session::{Session, shop};

#[test]
fn q5_why_agrees_with_context() {
    let (session, repo) = (Session::new(), shop());
    for task in ["the total of a cart", "make closes the cart"] {
        for ranker in ["learned", "formula"] {
            let pack = session.json(repo.path(), &["context", task, "--ranker", ranker]);
            let symbols = pack["symbols"].as_array().unwrap();
            assert!(symbols.len() >= 5, "{:?}", names(&pack));
            for (place, symbol) in symbols.iter().enumerate() {
                let id = symbol["node_id"].as_str().unwrap();
                let why = session.json(repo.path(), &["why", task, "--symbol", id, "--ranker", ranker]);
                assert_eq!(why["rank"], Value::from(place + 1), "{symbol}");
                assert_eq!(why["score"], symbol["score"], "{symbol}");
                assert_eq!(why["symbol"]["id"], symbol["node_id"]);
                assert_eq!(why["symbol"]["qualified_name"], symbol["qualified_name"]);
                assert_eq!((&why["packed"], &why["ranker"]), (&true.into(), &ranker.into()));
                assert_eq!(why["why_not"], Value::Null);
                assert_eq!(why["reasons"], *symbol.get("reasons").unwrap_or(&Value::Array(Vec::new())));
                assert_eq!(why["snapshot"], pack["snapshot"]);
                if ranker == "formula" {
                    check_parts(&why);
                }
            }
        }
    }
}

/// The parts of the formula make the score.
#[track_caller]
fn check_parts(why: &Value) {
    let parts = why["components"].as_object().unwrap();
    let sum: f64 = parts.iter().filter(|it| it.0 != "factor").map(|it| it.1.as_f64().unwrap()).sum();
    let total = sum * parts["factor"].as_f64().unwrap();
    // Each part is rounded to four decimals.
    assert!((total - why["raw"].as_f64().unwrap()).abs() < 0.0006, "{why}");
}

#[test]
fn q5_ranks_of_a_pack_that_leaves_some_out_are_those_of_the_run() {
    let (session, repo) = (Session::new(), warehouse());
    let task = "retry sending a parcel";
    let arguments = ["context", task, "--ranker", "formula", "--budget", "1000"];
    let pack = session.json(repo.path(), &arguments);
    let mut last = 0;
    for symbol in pack["symbols"].as_array().unwrap() {
        let id = symbol["node_id"].as_str().unwrap();
        let why = session
            .json(repo.path(), &["why", task, "--symbol", id, "--ranker", "formula", "--budget", "1000"]);
        let rank = why["rank"].as_u64().unwrap();
        assert!(rank > last, "in rank order");
        last = rank;
        assert_eq!((&why["score"], &why["packed"]), (&symbol["score"], &true.into()));
    }
    // Someone was left out, and is told why.
    let everyone = session.json(repo.path(), &["context", task, "--ranker", "formula"]);
    let left = names(&everyone).into_iter().find(|it| !names(&pack).contains(it)).unwrap();
    let why = session
        .json(repo.path(), &["why", task, "--symbol", &left, "--ranker", "formula", "--budget", "1000"]);
    assert_eq!(why["packed"], Value::from(false));
    assert!(why["why_not"].as_str().unwrap().contains("budget"), "{why}");
}

#[test]
fn why_tells_what_is_no_candidate() {
    let (session, repo) = (Session::new(), shop());
    repo.write("far/away.py", "def unrelated():\n    return 'nothing of the kind'\n");
    repo.commit("far away");
    let why = session.json(repo.path(), &["why", "voucher", "--symbol", "unrelated"]);
    assert_eq!((&why["packed"], why.get("rank")), (&false.into(), None));
    assert!(!why["why_not"].as_str().unwrap().is_empty());
    session.error(repo.path(), &["why", "voucher", "--symbol", "no_such_symbol"], 1, "not_found");
    let text = session.text(repo.path(), &["why", "the total of a cart", "--symbol", "Cart.total"]);
    assert!(text.contains("rank ") && text.contains("because: "), "{text}");
}
