//! What an audit of a change finds, and what it leaves in peace.

mod planted;

use knowing_testkit::Fixture;
use serde_json::Value;

use self::planted::{CLEAN, PLANTED};
use crate::session::{Ran, Session};

const BEFORE: &str = r#"
//- /README.md
# A project
//- /src/app.py
def main():
    return 1
"#;

/// A project, and a change of it.
fn changed(text: &str) -> Fixture {
    let repo = Fixture::from_text(BEFORE);
    repo.commit("begin");
    repo.write_text(text);
    repo.commit("add a feature");
    repo
}

fn audit(session: &Session, repo: &Fixture, more: &[&str]) -> Ran {
    session.run(repo.path(), &[&["audit-supply-chain", "--base", "HEAD~1"], more].concat())
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|it| panic!("{it}: {}{}", ran.stdout, ran.stderr))
}

#[test]
fn a7_every_planted_sample_is_found() {
    let session = Session::new();
    for (name, text, file) in PLANTED {
        let ran = audit(&session, &changed(text), &["--json"]);
        let reply = report(&ran);
        let files = reply["files"].as_array().unwrap();
        let found = files.iter().find(|it| it["file"] == *file);
        assert!(found.is_some_and(|it| it["verdict"] == "suspicious"), "{name}: {reply:#}");
        assert_eq!(ran.code, 1, "{name}");
    }
}

#[test]
fn a7_nothing_of_the_clean_set_is_suspicious() {
    let session = Session::new();
    for (name, text) in CLEAN {
        let ran = audit(&session, &changed(text), &["--json"]);
        let reply = report(&ran);
        assert_eq!((ran.code, &reply["suspicious"]), (0, &Value::from(0)), "{name}: {reply:#}");
        assert_eq!(reply["verdict"], "clean", "{name}");
    }
}

#[test]
fn a7_a_path_leads_from_the_environment_to_the_host() {
    let session = Session::new();
    let (_, text, _) = PLANTED.iter().find(|it| it.2 == "src/metrics.py").unwrap();
    let reply = report(&audit(&session, &changed(text), &["--json"]));
    let steps = reply["paths"][0]["steps"].as_array().unwrap();
    let names: Vec<&str> =
        steps.iter().map(|it| it["symbol"].as_str().unwrap().rsplit('/').next().unwrap()).collect();
    let kinds: Vec<&str> = steps.iter().filter_map(|it| it["kind"].as_str()).collect();
    assert_eq!(kinds, ["reads_env", "calls", "calls", "consumes_endpoint"], "{names:?}");
    assert!(names[1].ends_with("metrics.py.gather") && names[3].ends_with("metrics.py.send"), "{names:?}");
}

#[test]
fn a7_what_a_change_did_not_touch_is_not_held_against_it() {
    let session = Session::new();
    let (_, text, file) = PLANTED.iter().find(|it| it.2 == "src/metrics.py").unwrap();
    let repo = changed(text);
    let before = std::fs::read_to_string(repo.path().join(file)).unwrap();
    let after = before.replace("\"AWS\" in name", "\"GCP\" in name");
    assert_ne!(before, after);
    repo.write("src/other.py", "def other():\n    return 2\n");
    repo.commit("something else");
    assert_eq!(audit(&session, &repo, &[]).code, 0, "nothing of it changed");
    repo.write(file, &after);
    repo.commit("gather more");
    assert_eq!(audit(&session, &repo, &[]).code, 1, "the function that gathers changed");
    let all = session.run(repo.path(), &["audit-supply-chain", "--scan-all"]);
    assert_eq!(all.code, 1, "{}", all.stdout);
}

#[test]
fn a7_sarif_has_what_its_schema_requires() {
    let session = Session::new();
    let (_, text, _) = PLANTED.iter().find(|it| it.2 == "src/metrics.py").unwrap();
    let ran = audit(&session, &changed(text), &["--format", "sarif"]);
    assert_eq!(ran.code, 1);
    let log = report(&ran);
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(run["tool"]["driver"]["name"], "knowing");
    assert!(rules.iter().all(|it| it["id"].is_string() && it["shortDescription"]["text"].is_string()));
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 3, "{log:#}");
    for it in results {
        assert!(it["message"]["text"].as_str().is_some_and(|it| !it.is_empty()), "{it:#}");
        assert!(["none", "note", "warning", "error"].contains(&it["level"].as_str().unwrap()));
        let index = usize::try_from(it["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], it["ruleId"]);
        let place = &it["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|it| !it.starts_with('/')), "{it:#}");
        assert!(place["region"]["startLine"].as_u64().is_some_and(|it| it > 0), "{it:#}");
        let base = place["artifactLocation"]["uriBaseId"].as_str().unwrap();
        assert!(run["originalUriBaseIds"][base].is_object());
    }
    let flow = results.iter().find(|it| it["ruleId"] == "capability_path").unwrap();
    let steps = flow["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert!(steps.len() >= 2 && steps.iter().all(|it| it["location"]["physicalLocation"].is_object()));
}

#[test]
fn a7_text_says_what_is_suspicious_and_where() {
    let session = Session::new();
    let (_, text, _) = PLANTED[0];
    let ran = audit(&session, &changed(text), &[]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for expected in
        ["suspicious", "setup.js", "talks to collect.telemetry-cdn.xyz", "postinstall: node setup.js"]
    {
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
}

#[test]
fn a7_bad_arguments_are_errors_that_help() {
    let session = Session::new();
    let repo = changed(PLANTED[0].1);
    let command = "audit-supply-chain";
    session.error(repo.path(), &[command, "--base", "HEAD~1", "--threshold", "7"], 2, "usage");
    session.error(repo.path(), &[command], 2, "usage");
    session.error(repo.path(), &[command, "--base", "nowhere"], 1, "not_found");
}
