//! Long answers: no reply of any tool in any format is larger than was asked for, and following cursors yields every item
//! once.

use std::collections::BTreeSet;

use knowing_testkit::Fixture;
use knowing_wire::gcf::{self, Message};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value, json};

use crate::context::warehouse;
use crate::mcp::{call, converse};
use crate::session::Session;

/// Many files whose functions call each other, tests of them, and a change that touches them.
fn large() -> Fixture {
    let repo = warehouse();
    for number in 0..14 {
        let path = format!("depots/depot_{number}.py");
        let text = std::fs::read_to_string(repo.path().join(&path)).unwrap();
        let next = (number + 1) % 14;
        let import = format!("from depots.depot_{next} import send_parcel_{next}\n\n\n");
        let more = format!("def forward_{number}(parcel):\n    return send_parcel_{next}(parcel)\n");
        repo.write(&path, &format!("{import}{text}{more}"));
        let test = format!(
            "from depots.depot_{number} import forward_{number}\n\n\n\
             def test_forward_{number}():\n    assert forward_{number}(1)\n"
        );
        repo.write(&format!("tests/test_depot_{number}.py"), &test);
    }
    repo.commit("forward parcels between depots");
    repo
}

/// What a reply takes: its texts and its data.
fn n_tokens(result: &Value) -> usize {
    let of_block = |it: &Value| {
        let resource = &it["resource"]["blob"];
        it["text"].as_str().or(resource.as_str()).map_or(0, str::len)
    };
    let content: usize = result["content"].as_array().into_iter().flatten().map(of_block).sum();
    let data = result.get("structuredContent").map_or(0, |it| it.to_string().len());
    (content + data).div_ceil(4)
}

async fn ask(client: &Peer<RoleClient>, tool: &'static str, arguments: &Value, max_tokens: usize) -> Value {
    let mut arguments = arguments.clone();
    arguments["max_tokens"] = max_tokens.into();
    let result = call(client, tool, arguments.clone()).await;
    let result = serde_json::to_value(result.unwrap_or_else(|error| panic!("{tool}: {error}"))).unwrap();
    let taken = n_tokens(&result);
    assert!(taken <= max_tokens, "{tool} {arguments}: {taken} tokens\n{result}");
    result
}

/// The data of every page. None when an item does not fit into one, which is told with what would be enough.
async fn pages(
    client: &Peer<RoleClient>,
    tool: &'static str,
    arguments: &Value,
    max_tokens: usize,
) -> Option<Vec<Value>> {
    let mut arguments = arguments.clone();
    let mut read = Vec::new();
    loop {
        let page = ask(client, tool, &arguments, max_tokens).await;
        let data = &page["structuredContent"];
        if page["isError"] == true {
            let error = &data["error"];
            assert_eq!(error["kind"], "limit", "{tool} {arguments}: {error}");
            assert!(error["hint"].as_str().is_some_and(|it| it.contains("max_tokens")), "{error}");
            return None;
        }
        let next = data.get("next_cursor").cloned();
        if data.get("truncated").is_some() {
            assert_eq!(data["truncated"], next.is_some(), "{tool} {arguments}: {data}");
        }
        read.push(page);
        assert!(read.len() < 500, "{tool} {arguments} does not end");
        match next {
            Some(next) => arguments["cursor"] = next,
            None => return Some(read),
        }
    }
}

fn questions() -> Vec<(&'static str, Value)> {
    let task = "retry sending a parcel";
    vec![
        ("index_repo", json!({})),
        ("graph_query", json!({"query": "*parcel*", "edges": "both"})),
        ("graph_query", json!({"query": "*parcel*", "detail": "source"})),
        ("blast_radius", json!({"symbol": "send_parcel_3"})),
        ("flow_between", json!({"source": "forward_1", "target": "send_parcel_3"})),
        ("test_scope", json!({"files": ["depots/depot_3.py"], "output": "functions"})),
        ("trace_dataflow", json!({"symbol": "forward_1"})),
        ("repo_graph", json!({"level": "symbols"})),
        ("cross_repo_callers", json!({"symbol": "send_parcel_3"})),
        ("plan_turn", json!({"task": "change `send_parcel_3` and `forward_2`"})),
        ("feedback", json!({"action": "record", "symbol": "send_parcel_3", "useful": true})),
        ("stale_edges", json!({"snapshot": "HEAD~1"})),
        ("explain_symbol", json!({"task_description": task, "symbol": "send_parcel_3"})),
        ("snapshot_diff", json!({"old": "HEAD~1", "new": "HEAD"})),
        ("semantic_diff", json!({"old": "HEAD~1", "new": "HEAD"})),
        ("pr_impact", json!({"base": "HEAD~1"})),
        ("prove", json!({"source": "forward_1", "target": "send_parcel_2"})),
        ("prove_absent", json!({"source": "forward_1", "target": "send_parcel_3"})),
        ("fsck", json!({})),
        ("untrack_repo", json!({"repo": "no/such", "confirm": true})),
    ]
}

/// Lists that are the same on every page, or that are no lists of items.
const ON_EVERY_PAGE: &[&str] = &["by_depth", "notes", "owners", "known_as", "dirty", "phases", "keywords"];

#[test]
fn t4_no_reply_of_any_tool_exceeds_its_size() {
    let (session, repo) = (Session::new(), large());
    session.json(repo.path(), &["index", "--commit", "HEAD~1"]);
    session.index(&repo);
    converse(&session, repo.path(), &[], async |client| {
        let mut tools: BTreeSet<&str> = knowing_ops::tools().iter().map(|it| it.name).collect();
        tools.retain(|it| !it.starts_with("context_"));
        let mut n_pages = 0;
        for (tool, arguments) in questions() {
            tools.remove(tool);
            if tool == "untrack_repo" {
                ask(client, tool, &arguments, 500).await;
                continue;
            }
            let mut whole = arguments.clone();
            whole["limit"] = json!(100_000);
            let whole = ask(client, tool, &whole, 100_000).await;
            assert_ne!(whole["isError"], true, "{tool}: {whole}");
            let whole = &whole["structuredContent"];
            for max_tokens in [500, 900, 3_000] {
                let Some(pages) = pages(client, tool, &arguments, max_tokens).await else { continue };
                n_pages += pages.len();
                let mut seen: Map<String, Value> = Map::new();
                for page in &pages {
                    for (name, list) in page["structuredContent"].as_object().unwrap() {
                        let Some(list) = list.as_array() else { continue };
                        let known = seen.entry(name.clone()).or_insert_with(|| json!([]));
                        known.as_array_mut().unwrap().extend(list.iter().cloned());
                    }
                }
                if pages.len() == 1 {
                    continue;
                }
                for (name, list) in whole.as_object().unwrap().iter().filter(|it| it.1.is_array()) {
                    if !ON_EVERY_PAGE.contains(&name.as_str()) {
                        assert_eq!(seen.get(name), Some(list), "{tool}.{name} by {max_tokens}");
                    }
                }
            }
        }
        assert!(tools.is_empty(), "no question for {tools:?}");
        assert!(n_pages > 100, "{n_pages}");
        // And what is refused is no longer than what was asked for.
        for (tool, arguments) in [
            ("graph_query", json!({"query": "x".repeat(50_000)})),
            ("blast_radius", json!({"symbol": "parcel"})),
            ("context_for_task", json!({"task_description": "x", "x".repeat(5_000): "x"})),
            ("context_for_files", json!({"files": vec!["no/such.py"; 1_001]})),
        ] {
            assert_eq!(ask(client, tool, &arguments, 500).await["isError"], true, "{tool}");
        }
    });
}

/// Names and edges of a page of a pack, as its format tells them; of GCF in their ids.
fn items(page: &Value, format: &str) -> (Vec<String>, Vec<String>) {
    let data = &page["structuredContent"];
    let text = page["content"][0]["text"].as_str().unwrap();
    let unescaped = |it: &str| it.replace("&lt;", "<").replace("&amp;", "&");
    match format {
        "json" => {
            let symbols = data["symbols"].as_array().unwrap();
            let edges = data["edges"].as_array().unwrap();
            (
                symbols.iter().map(|it| it["qualified_name"].as_str().unwrap().to_owned()).collect(),
                edges.iter().map(|it| format!("{} {} {}", it["source"], it["target"], it["kind"])).collect(),
            )
        }
        "xml" => {
            let cut = |line: &str, name: &str| {
                let value = line.split_once(&format!(" {name}=\"")).unwrap().1;
                unescaped(value.split_once('"').unwrap().0)
            };
            let lines = |tag: &'static str| text.lines().filter(move |it| it.starts_with(tag));
            (
                lines("<symbol ").map(|it| cut(it, "name")).collect(),
                lines("<edge ").map(str::to_owned).collect(),
            )
        }
        "markdown" => {
            let rows = text.lines().filter(|it| it.starts_with("| ") && !it.starts_with("| #"));
            let row = |it: &str| {
                let columns: Vec<&str> = it.split(" | ").collect();
                let name = columns[3].split("<br>").next().unwrap().trim_matches('`').to_owned();
                format!("{} {name}", columns[4].trim_end_matches(" |"))
            };
            (
                rows.map(row).collect(),
                text.lines().filter(|it| it.starts_with("- `")).map(str::to_owned).collect(),
            )
        }
        "gcf" => {
            let Message::Whole(document) = gcf::decode(text).unwrap() else { panic!("{text}") };
            assert_eq!(document.header.value("next"), data["next_cursor"].as_str());
            let declared = document.symbols.iter().filter_map(|it| Some((it.id, it.declared.as_ref()?)));
            (
                declared.map(|(id, it)| format!("{id} {}", it.name)).collect(),
                document.edges.iter().map(|it| format!("{} {} {}", it.target, it.source, it.kind)).collect(),
            )
        }
        other => panic!("{other}"),
    }
}

#[test]
fn t4_packs_have_pages_in_every_format() {
    let (session, repo) = (Session::new(), large());
    session.index(&repo);
    converse(&session, repo.path(), &[], async |client| {
        let mut handles = 0..;
        for (tool, arguments) in [
            ("context_for_task", json!({"task_description": "retry sending a parcel"})),
            ("context_for_files", json!({"files": ["depots/depot_1.py", "depots/depot_2.py", "none.py"]})),
            ("context_for_pr", json!({"base": "HEAD~1", "token_budget": 50_000})),
        ] {
            for (format, detail) in [
                ("gcf", "brief"),
                ("gcf", "source"),
                ("json", "signature"),
                ("markdown", "brief"),
                ("markdown", "source"),
                ("xml", "signature"),
            ] {
                let asked = |handle: usize| {
                    let mut arguments = arguments.clone();
                    arguments["format"] = format.into();
                    arguments["detail"] = detail.into();
                    arguments["session"] = format!("s{handle}").into();
                    arguments
                };
                let whole = ask(client, tool, &asked(handles.next().unwrap()), 100_000).await;
                let expected = items(&whole, format);
                let data = &whole["structuredContent"];
                assert_eq!((data.get("truncated"), data.get("next_cursor")), (None, None), "one page");
                for max_tokens in [700, 2_000] {
                    let pages = pages(client, tool, &asked(handles.next().unwrap()), max_tokens).await;
                    let pages = pages.unwrap_or_else(|| panic!("{tool} {format} {detail} {max_tokens}"));
                    assert!(pages.len() > 1 || max_tokens > 700, "{tool} {format} {max_tokens}");
                    let of_pages: Vec<_> = pages.iter().map(|it| items(it, format)).collect();
                    let mut symbols: Vec<&String> = of_pages.iter().flat_map(|it| &it.0).collect();
                    let (n_symbols, n_edges) =
                        (symbols.len(), of_pages.iter().map(|it| it.1.len()).sum::<usize>());
                    assert_eq!(n_symbols, expected.0.len(), "{tool} {format} {max_tokens}");
                    assert_eq!(n_edges, expected.1.len(), "{tool} {format} {max_tokens}");
                    symbols.sort();
                    symbols.dedup();
                    assert_eq!(symbols.len(), n_symbols, "{tool} {format}: something stands twice");
                    if format == "json" {
                        let rank: Vec<&String> = of_pages.iter().flat_map(|it| &it.0).collect();
                        assert_eq!(rank, expected.0.iter().collect::<Vec<_>>(), "by rank");
                    }
                    let edges: BTreeSet<&String> = of_pages.iter().flat_map(|it| &it.1).collect();
                    if format != "gcf" {
                        assert_eq!(edges, expected.1.iter().collect(), "{tool} {format}");
                    }
                    assert_eq!(edges.len(), n_edges, "{tool} {format}: an edge stands twice");
                    for page in pages.iter().filter(|_| pages.len() > 1) {
                        let total = &page["structuredContent"]["total"];
                        assert_eq!(total, expected.0.len(), "{tool} {format}");
                    }
                    let n_unknown: usize = pages
                        .iter()
                        .filter_map(|it| it["structuredContent"]["unknown_files"].as_array())
                        .map(Vec::len)
                        .sum();
                    assert_eq!(n_unknown, usize::from(tool == "context_for_files"));
                }
                let counted = asked(handles.next().unwrap());
                let mut counted = counted;
                counted["limit"] = 0.into();
                let counted = ask(client, tool, &counted, 2_000).await;
                let data = &counted["structuredContent"];
                assert_eq!((&data["total"], data.get("next_cursor")), (&json!(expected.0.len()), None));
            }
            let mut bytes = arguments.clone();
            bytes["format"] = "gcb".into();
            for max_tokens in [500, 2_000] {
                assert_eq!(ask(client, tool, &bytes, max_tokens).await["isError"], false, "{tool}");
            }
        }
    });
}

#[test]
fn w2_a_page_says_again_only_by_its_id_what_a_page_before_declared() {
    let (session, repo) = (Session::new(), large());
    session.index(&repo);
    let command = ["context", "retry sending a parcel", "--format", "gcf", "--max-tokens", "900"];
    for handle in [None, Some("reader")] {
        let mut declared = BTreeSet::new();
        let (mut cursor, mut n_seen, mut n_pages) = (None::<String>, 0, 0);
        loop {
            let mut asked = command.to_vec();
            asked.extend(handle.into_iter().flat_map(|it| ["--session", it]));
            asked.extend(cursor.as_deref().into_iter().flat_map(|it| ["--cursor", it]));
            let text = session.text(repo.path(), &asked);
            let Message::Whole(page) = gcf::decode(&text).unwrap() else { panic!("{text}") };
            for entry in &page.symbols {
                match entry.declared {
                    Some(_) => assert!(declared.insert(entry.id), "{}", entry.id),
                    None => {
                        n_seen += 1;
                        assert!(declared.contains(&entry.id), "{} was never declared", entry.id);
                    }
                }
            }
            n_pages += 1;
            match page.header.value("next") {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert!(n_pages > 2 && n_seen > 0, "{n_pages} {n_seen}");
    }
}

#[test]
fn t4_pages_of_a_pack_are_of_one_state() {
    let (session, repo) = (Session::new(), large());
    session.index(&repo);
    let ask = |task: &str, more: &[&str]| {
        let asked = ["context", task, "--max-tokens", "2000", "--json"];
        let ran = session.run(repo.path(), &[&asked, more].concat());
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr))
    };
    let task = "retry sending a parcel";
    let first = ask(task, &[]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = ask(task, &["--cursor", cursor]);
    assert_eq!(ask("another task", &["--cursor", cursor])["error"]["kind"], "usage");
    assert_eq!(ask(task, &["--budget", "9000", "--cursor", cursor])["error"]["kind"], "usage");
    assert_eq!(ask(task, &["--cursor", "beef"])["error"]["kind"], "usage");
    // An edit and a commit come between two pages.
    repo.write("depots/depot_20.py", "def retry_sending_a_parcel():\n    pass\n");
    repo.commit("another depot");
    assert_eq!(ask(task, &["--cursor", cursor]), second);
    assert_ne!(ask(task, &[])["snapshot"], first["snapshot"]);
    session.index(&repo);
    session.run(repo.path(), &["gc", "--keep", "1"]);
    assert_eq!(ask(task, &["--cursor", cursor])["error"]["kind"], "expired");
}
