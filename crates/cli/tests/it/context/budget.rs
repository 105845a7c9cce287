//! A pack keeps its budget as it is written, and uses it.

use serde_json::Value;

use super::{names, warehouse};
use crate::session::Session;

const TASK: &str = "retry sending a parcel of a depot";

fn length(value: &Value) -> usize {
    serde_json::to_string(value).unwrap().len()
}

#[test]
fn q6_budget() {
    let (session, repo) = (Session::new(), warehouse());
    let everything = session.json(repo.path(), &["context", TASK, "--budget", "1000000"]);
    let all = everything["symbols"].as_array().unwrap();
    assert!(all.len() > 100, "{}", all.len());
    let mut drawn = 12_345_u64;
    for number in 0..24 {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let budget = if number == 0 { 200 } else { 200 + (drawn >> 33) as usize % 4_800 };
        let given = budget.to_string();

        let text = session.text(repo.path(), &["context", TASK, "--budget", &given, "--json"]);
        let bytes = text.trim_end().len();
        assert!(bytes <= 4 * budget, "{bytes} bytes for {budget} tokens");
        let pack: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&pack["budget"], &pack["tokens"]), (&budget.into(), &bytes.div_ceil(4).into()));
        let chosen = names(&pack);
        let left: Vec<usize> = all
            .iter()
            .zip(names(&everything))
            .filter(|it| !chosen.contains(&it.1))
            .map(|it| length(it.0))
            .collect();
        assert_eq!(left.len() + chosen.len(), all.len());
        // Counting before choosing is a little more careful than what is written.
        let room = 4 * budget - bytes + length(&pack["edges"]) - 2;
        let care = 5 * chosen.len() + 16;
        assert!(left.iter().all(|it| it + care > room), "{budget}: {room} bytes left, {left:?}");
        if 4 * budget / 10 > left.iter().min().unwrap() + care {
            assert!(bytes * 10 >= 4 * budget * 9, "{bytes} bytes of {}", 4 * budget);
        }

        let text = session.text(repo.path(), &["context", TASK, "--budget", &given, "--format", "markdown"]);
        assert!(text.len() <= 4 * budget, "{} bytes for {budget} tokens", text.len());
        let n_rows = text.lines().filter(|it| it.contains("| function |")).count();
        if n_rows < all.len() && budget >= 1_000 {
            assert!(text.len() * 10 >= 4 * budget * 9, "{} bytes of {}", text.len(), 4 * budget);
        }
        assert!(text.contains(&format!(" of {budget} tokens")), "{text}");
    }
}

#[test]
fn q6_people_who_give_a_budget_get_it_counted_as_they_see_it() {
    let (session, repo) = (Session::new(), warehouse());
    let text = session.text(repo.path(), &["context", TASK, "--budget", "700"]);
    assert!(text.len() <= 4 * 700, "{}", text.len());
    assert_eq!(
        text,
        session.text(repo.path(), &["context", TASK, "--budget", "700", "--format", "markdown"])
    );
}

#[test]
fn q6_a_budget_that_holds_nothing_is_refused() {
    let (session, repo) = (Session::new(), warehouse());
    for budget in ["199", "0"] {
        let error = session.error(repo.path(), &["context", TASK, "--budget", budget], 2, "usage");
        assert!(error["hint"].as_str().unwrap().contains("200"), "{error}");
        session.error(
            repo.path(),
            &["context", "--files", "depots/depot_1.py", "--budget", budget],
            2,
            "usage",
        );
        session.error(repo.path(), &["why", TASK, "--symbol", "x", "--budget", budget], 2, "usage");
    }
    session.error(repo.path(), &["context", TASK, "--budget", "many"], 2, "usage");
    assert_eq!(session.json(repo.path(), &["context", TASK, "--budget", "200"])["budget"], 200);
}

#[test]
fn q6_unknown_files_count_too() {
    let (session, repo) = (Session::new(), warehouse());
    let unknown: Vec<String> = (0..40).map(|it| format!("no/such/file_{it}.py")).collect();
    let files = format!("depots/depot_1.py,{}", unknown.join(","));
    let text = session.text(repo.path(), &["context", "--files", &files, "--budget", "1200", "--json"]);
    let pack: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(pack["unknown_files"].as_array().unwrap().len(), 40);
    assert!(text.trim_end().len() <= 4 * 1_200, "{}", text.len());
}

#[test]
fn details_are_what_was_asked_for() {
    let (session, repo) = (Session::new(), warehouse());
    let first = |detail: &str| {
        let pack = session.json(repo.path(), &["context", "weigh_parcel_3", "--detail", detail]);
        let mut symbols = pack["symbols"].as_array().unwrap().iter();
        symbols.find(|it| it["name"] == "weigh_parcel_3").unwrap().clone()
    };
    let (brief, signature, source) = (first("brief"), first("signature"), first("source"));
    assert_eq!((brief.get("signature"), brief.get("source")), (None, None));
    assert!(signature["signature"].as_str().unwrap().contains("weigh_parcel_3(parcel"), "{signature}");
    assert_eq!(signature.get("source"), None);
    let text = source["source"].as_str().unwrap();
    assert!(text.starts_with("def weigh_parcel_3(") && text.contains("return label_parcel_3"), "{text}");
    let lines = source["end_line"].as_u64().unwrap() - source["line"].as_u64().unwrap() + 1;
    assert_eq!(text.lines().count() as u64, lines);
}
