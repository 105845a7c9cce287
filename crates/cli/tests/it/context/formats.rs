//! Packs in every format: within the budget, of the same symbols, and read again by `decode`.

use std::collections::BTreeSet;

use knowing_wire::gcf::{self, Document, Message};
use knowing_wire::{Payload, gcb, json};
use serde_json::Value;

use super::warehouse;
use crate::session::{Session, shop};

const TASK: &str = "retry sending a parcel of a depot";
const FORMATS: [&str; 5] = ["gcf", "json", "markdown", "xml", "gcb"];

fn bytes(session: &Session, repo: &knowing_testkit::Fixture, arguments: &[&str]) -> Vec<u8> {
    let output = session.command(repo.path()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[track_caller]
pub(super) fn document(text: &str) -> Document {
    match gcf::decode(text) {
        Ok(Message::Whole(document)) => document,
        other => panic!("{other:?}\n{text}"),
    }
}

fn names(payload: &Payload) -> BTreeSet<String> {
    payload.symbols.iter().map(|it| it.qualified_name.clone()).collect()
}

#[test]
fn q6_every_format_keeps_its_budget_and_uses_it() {
    let (session, repo) = (Session::new(), warehouse());
    let everything = session.json(repo.path(), &["context", TASK, "--budget", "1000000"]);
    let n_all = everything["symbols"].as_array().unwrap().len();
    for format in FORMATS {
        for budget in [431, 1_000, 1_777, 4_000] {
            for detail in ["brief", "source"] {
                let given = budget.to_string();
                let asked = ["context", TASK, "--budget", &given, "--format", format, "--detail", detail];
                let written = bytes(&session, &repo, &asked);
                let n_bytes = if format == "json" { written.trim_ascii_end().len() } else { written.len() };
                assert!(n_bytes <= 4 * budget, "{format} {detail}: {n_bytes} bytes for {budget} tokens");
                let pack: Value =
                    serde_json::from_slice(&bytes(&session, &repo, &[&asked[..], &["--json"]].concat()))
                        .unwrap();
                assert_eq!(pack["tokens"], n_bytes.div_ceil(4), "{format} {detail} {budget}");
                let n_symbols = pack["symbols"].as_array().unwrap().len();
                if n_symbols < n_all && budget >= 1_000 {
                    assert!(n_bytes * 10 >= 4 * budget * 9, "{format} {detail}: {n_bytes} of {}", 4 * budget);
                }
            }
        }
    }
}

#[test]
fn every_format_has_the_same_symbols() {
    let (session, repo) = (Session::new(), shop());
    let asked = |format| bytes(&session, &repo, &["context", "the total of a cart", "--format", format]);
    let text = |format| String::from_utf8(asked(format)).unwrap();
    let pack = json::decode(text("json").trim_end()).unwrap();
    assert!(pack.symbols.len() > 3);
    assert_eq!(names(&gcb::decode(&asked("gcb")).unwrap()), names(&pack));
    assert_eq!(names(&document(&text("gcf")).view()), names(&pack));
    for name in names(&pack) {
        assert!(text("xml").contains(&format!("name=\"{name}\"")), "{name}");
    }
}

#[test]
fn w5_every_loc_line_points_at_the_declaration() {
    let (session, repo) = (Session::new(), warehouse());
    for tree in [["--tree", "head"], ["--tree", "working"]] {
        if tree[1] == "working" {
            let path = repo.path().join("depots/depot_3.py");
            let moved =
                std::fs::read_to_string(&path).unwrap().replacen("\n\n\n", "\n\n# a line\n# and more\n\n", 1);
            std::fs::write(&path, moved).unwrap();
        }
        let asked = ["context", TASK, "--format", "gcf", "--budget", "20000", tree[0], tree[1]];
        let document = document(&session.text(repo.path(), &asked));
        let mut n_located = 0;
        for entry in &document.symbols {
            let name = entry.declared.as_ref().unwrap().name.clone();
            let Some(location) = &entry.location else { panic!("{name} has no place") };
            let lines = std::fs::read_to_string(repo.path().join(&location.file)).unwrap();
            let line = lines.lines().nth(location.line as usize - 1).unwrap();
            let last = name.rsplit('.').next().unwrap();
            if !name.ends_with(".py") {
                assert!(line.contains(&format!("def {last}(")), "{name}: {line}");
                n_located += 1;
            }
            assert!(location.col >= 1);
        }
        assert!(n_located > 20, "{n_located}");
    }
}

#[test]
fn decode_shows_what_a_file_holds() {
    let (session, repo) = (Session::new(), shop());
    for format in ["gcf", "gcb", "json"] {
        let written = bytes(&session, &repo, &["context", "the total of a cart", "--format", format]);
        let file = session.file(&format!("pack.{format}"));
        std::fs::write(&file, &written).unwrap();
        let name = file.to_str().unwrap();
        let shown = session.text(repo.path(), &["decode", name]);
        assert!(
            shown.starts_with("# context_for_task: ") && shown.contains("`Cart.total`"),
            "{format}: {shown}"
        );
        assert_eq!(session.json(repo.path(), &["decode", name])["format"], format);
        let mut cut = written.clone();
        cut.truncate(written.len() * 2 / 3);
        std::fs::write(&file, cut).unwrap();
        let error = session.error(repo.path(), &["decode", name], 2, "bad_input");
        let message = error["message"].as_str().unwrap();
        let place = if format == "gcb" { "byte " } else { "line " };
        assert!(message.contains(place), "{message}");
    }
    std::fs::write(session.file("other"), "hello").unwrap();
    session.error(repo.path(), &["decode", session.file("other").to_str().unwrap()], 2, "bad_input");
    session.error(repo.path(), &["decode", "no-such-file"], 2, "io");
}

#[test]
fn an_unknown_format_is_refused_with_the_list() {
    let (session, repo) = (Session::new(), shop());
    let error = session.error(repo.path(), &["context", "x", "--format", "yaml"], 2, "usage");
    let message = error["message"].as_str().unwrap();
    assert!(FORMATS.iter().all(|it| message.contains(it)), "{message}");
}
