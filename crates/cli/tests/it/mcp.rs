//! A real client of the protocol speaks with the real executable.

use std::path::Path;

use knowing_testkit::Fixture;
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorCode, JsonObject, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::session::Session;

const CODE: &str = "
//- /shop/cart.py
def price(item):
    return item.price

def total(items):
    return sum(price(it) for it in items)

class Cart:
    def checkout(self):
        return total(self.items)
";

fn repository() -> Fixture {
    let fixture = Fixture::from_text(CODE.trim_start());
    fixture.commit("a shop");
    fixture
}

/// Runs a conversation with a server that was started in a directory, then ends it by closing its input.
pub(crate) fn converse<F>(session: &Session, directory: &Path, arguments: &[&str], conversation: F)
where
    F: AsyncFnOnce(&Peer<RoleClient>),
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut command = session.command(directory);
        command.args(arguments).arg("mcp");
        let child = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
        let client = ().serve(child).await.unwrap();
        conversation(client.peer()).await;
        client.cancel().await.unwrap();
    });
}

pub(crate) async fn call(
    client: &Peer<RoleClient>,
    tool: &'static str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
}

/// The data of an answer that is no error, and its text.
#[track_caller]
pub(crate) fn answer(result: Result<CallToolResult, ServiceError>) -> (Value, String) {
    let result = result.unwrap();
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(result.is_error, Some(false), "{text}");
    (result.structured_content.unwrap(), text)
}

#[track_caller]
fn refusal(result: Result<CallToolResult, ServiceError>) -> Value {
    let result = result.unwrap();
    assert_eq!(result.is_error, Some(true));
    result.structured_content.unwrap()["error"].clone()
}

/// What a schema says of a field: alone, or together with others of the same type.
fn field<'a>(schema: &'a JsonObject, name: &str) -> Option<&'a Value> {
    let alone = schema.get("properties").and_then(|it| it.get(name));
    let together = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let fits = |pattern: &str| {
        let names = pattern.strip_prefix("^(").and_then(|it| it.strip_suffix(")$")).unwrap();
        names.split('|').any(|it| it == name)
    };
    alone.or_else(|| together.into_iter().find(|it| fits(it.0)).map(|it| it.1))
}

/// Whether a value is what a schema says: types, and of what is inside, the fields that are always there.
#[track_caller]
fn check_value(schema: &Value, value: &Value, at: &str) {
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        // Of items.
        None => value.is_object(),
        other => panic!("{at}: a schema of type {other:?}"),
    };
    assert!(fits, "{at}: {value} is no {}", schema["type"]);
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: no {name} in {value}");
    }
    if let Some(items) = schema.get("items") {
        value.as_array().unwrap().iter().for_each(|it| check_value(items, it, at));
    }
}

#[track_caller]
fn check_schema(schema: &JsonObject, reply: &Value) {
    for (name, value) in reply.as_object().unwrap() {
        let stated = field(schema, name).unwrap_or_else(|| panic!("`{name}` is not in the schema"));
        check_value(stated, value, name);
    }
}

#[test]
fn every_answer_is_what_the_schema_says() {
    let (session, fixture) = (Session::new(), repository());
    converse(&session, fixture.path(), &[], async |client| {
        let tools = client.list_all_tools().await.unwrap();
        for (name, arguments) in [
            ("index_repo", json!({})),
            ("graph_query", json!({"query": "*", "edges": "both"})),
            ("blast_radius", json!({"symbol": "price"})),
            ("flow_between", json!({"source": "checkout", "target": "price"})),
            ("test_scope", json!({"files": ["shop/cart.py"]})),
            ("trace_dataflow", json!({"symbol": "checkout"})),
            ("repo_graph", json!({})),
            ("cross_repo_callers", json!({"symbol": "price"})),
            ("plan_turn", json!({"task": "change `price`"})),
            ("feedback", json!({"action": "record", "symbol": "price", "useful": true})),
            ("stale_edges", json!({})),
            ("context_for_task", json!({"task_description": "price of the cart", "detail": "source"})),
            ("context_for_files", json!({"files": ["shop/cart.py", "none.py"]})),
            ("context_for_pr", json!({"files": ["shop/cart.py"]})),
            ("explain_symbol", json!({"task_description": "price of the cart", "symbol": "total"})),
            ("snapshot_diff", json!({"old": "HEAD", "new": "@latest"})),
            ("semantic_diff", json!({"old": "HEAD"})),
            ("pr_impact", json!({"base": "HEAD"})),
            ("prove", json!({"source": "total", "target": "price"})),
            ("prove_absent", json!({"source": "price", "target": "total"})),
            ("fsck", json!({})),
            ("untrack_repo", json!({"confirm": true})),
        ] {
            let (data, _) = answer(call(client, name, arguments).await);
            let schema = tools.iter().find(|it| it.name == name).unwrap().output_schema.clone().unwrap();
            check_schema(&schema, &data);
        }
    });
}

#[test]
fn c1_snapshots_are_the_same_data_on_both_faces() {
    let (session, fixture) = (Session::new(), repository());
    session.run(fixture.path(), &["index"]);
    fixture.write(
        "shop/late.py",
        "from shop.cart import total\n\n\ndef late(items):\n    return total(items)\n",
    );
    fixture.commit("late totals");
    session.run(fixture.path(), &["index"]);
    let cases: [(&'static str, Value, &[&str]); 6] = [
        ("snapshot_diff", json!({}), &["diff"]),
        ("semantic_diff", json!({"old": "@prev", "limit": 1}), &["semantic-diff", "@prev", "--limit", "1"]),
        ("pr_impact", json!({"base": "HEAD~1"}), &["pr-impact", "HEAD~1"]),
        ("prove", json!({"source_hash": "late", "target_hash": "total"}), &["prove", "late", "total"]),
        (
            "prove_absent",
            json!({"source": "total", "target": "late", "snapshot": "HEAD"}),
            &["prove-absent", "total", "late", "--snapshot", "HEAD"],
        ),
        ("fsck", json!({}), &["fsck"]),
    ];
    converse(&session, fixture.path(), &[], async |client| {
        for (tool, arguments, command) in cases {
            let mut expected = session.json(fixture.path(), command);
            let (mut data, _) = answer(call(client, tool, arguments).await);
            // The one field that depends on the clock.
            for reply in [&mut expected, &mut data] {
                if let Some(time) = reply.pointer_mut("/proof/issued_at") {
                    time.take();
                }
            }
            assert_eq!(data, expected, "{tool}");
        }
        let unconfirmed = refusal(call(client, "untrack_repo", json!({})).await);
        assert_eq!(unconfirmed["kind"], "usage");
        let unproven = refusal(call(client, "prove", json!({"source": "total", "target": "late"})).await);
        assert_eq!(unproven["kind"], "not_found");
    });
}

#[test]
fn an_agent_indexes_and_asks() {
    let (session, fixture) = (Session::new(), repository());
    converse(&session, fixture.path(), &[], async |client| {
        // What was never indexed is indexed at the first question.
        let (found, _) = answer(call(client, "graph_query", json!({"query": "total"})).await);
        assert_eq!((&found["total"], &found["fresh"]), (&json!(1), &json!("yes")));
        let (indexed, text) = answer(call(client, "index_repo", json!({})).await);
        assert_eq!(indexed["files"], 1);
        assert!(text.contains("files 1"), "{text}");
        let (found, text) =
            answer(call(client, "graph_query", json!({"query": "total", "edges": "both"})).await);
        assert_eq!(found["symbols"][0]["name"], "total");
        assert_eq!(found["fresh"], "yes");
        assert!(text.contains("1 symbols") && !text.contains('{'), "{text}");
        let (broken, _) = answer(call(client, "blast_radius", json!({"symbol": "price"})).await);
        let reached: Vec<_> =
            broken["reached"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
        assert_eq!(reached, ["total", "checkout"]);
    });
    // What the agent indexed is there for all.
    let stats = session.json(fixture.path(), &["stats"]);
    assert_eq!(stats["files"], 1);
}

#[test]
fn p1_an_agent_asks_for_context_first() {
    let (session, fixture) = (Session::new(), repository());
    converse(&session, fixture.path(), &[], async |client| {
        // Nothing was indexed before.
        let task = json!({"task_description": "the price of an item", "format": "json"});
        let (pack, text) = answer(call(client, "context_for_task", task).await);
        let found = pack["symbols"].as_array().unwrap();
        let place = found.iter().position(|it| it["name"] == "price").unwrap();
        assert_eq!((&pack["tool"], &pack["fresh"]), (&json!("context_for_task"), &json!("yes")));
        assert!(text.contains("symbols") && !text.contains('{'), "{text}");
        let files = json!({"files": "shop/cart.py,none.py", "format": "json"});
        let (pack, _) = answer(call(client, "context_for_files", files).await);
        assert_eq!(
            (pack["symbols"].as_array().unwrap().len(), &pack["unknown_files"]),
            (4, &json!(["none.py"]))
        );
        let why = json!({"task_description": "the price of an item", "symbol": "price"});
        let (why, _) = answer(call(client, "explain_symbol", why).await);
        assert_eq!((&why["rank"], &why["packed"]), (&json!(place + 1), &json!(true)));
    });
    assert_eq!(fixture.git(&["status", "--porcelain", "--ignored"]), "", "p4");
}

#[test]
fn c1_context_is_the_same_data_on_both_faces() {
    let (session, fixture) = (Session::new(), repository());
    session.run(fixture.path(), &["index"]);
    fixture.write(
        "shop/late.py",
        "from shop.cart import total\n\n\ndef late(items):\n    return total(items)\n",
    );
    fixture.commit("late totals");
    let task = "the total of a cart";
    let cases: [(&'static str, Value, &[&str]); 8] = [
        ("context_for_task", json!({"task_description": task, "format": "json"}), &["context", task]),
        (
            "context_for_task",
            json!({"task": task, "token_budget": 300, "ranker": "formula", "format": "json"}),
            &["context", task, "--budget", "300", "--ranker", "formula"],
        ),
        (
            "context_for_task",
            json!({"task_description": task, "limit": 2, "detail": "source", "no_classes": true, "without": "walk",
                "format": "json"}),
            &["context", task, "--limit", "2", "--detail", "source", "--no-classes", "--without", "walk"],
        ),
        (
            "context_for_files",
            json!({"files": ["shop/cart.py", "x.py"], "format": "json"}),
            &["context", "--files", "shop/cart.py,x.py"],
        ),
        (
            "context_for_pr",
            json!({"files": ["shop/late.py"], "format": "json"}),
            &["context-for-pr", "shop/late.py"],
        ),
        ("context_for_pr", json!({"base": "HEAD~1", "format": "json"}), &["context", "--base", "HEAD~1"]),
        (
            "explain_symbol",
            json!({"task_description": task, "symbol": "late"}),
            &["why", task, "--symbol", "late"],
        ),
        (
            "explain_symbol",
            json!({"task": task, "symbol": "Cart.checkout", "ranker": "formula"}),
            &["why", task, "--symbol", "Cart.checkout", "--ranker", "formula"],
        ),
    ];
    let expected: Vec<Value> = cases.iter().map(|it| session.json(fixture.path(), it.2)).collect();
    // One session has kept what the command line asked; the other has to make it.
    for session in [session, Session::new()] {
        converse(&session, fixture.path(), &[], async |client| {
            for ((tool, arguments, typed), expected) in cases.iter().zip(&expected) {
                let (data, _) = answer(call(client, tool, arguments.clone()).await);
                assert_eq!(data, *expected, "{typed:?}");
            }
        });
    }
}

#[test]
fn a_pack_written_as_text_is_the_text() {
    let (session, fixture) = (Session::new(), repository());
    let typed = ["context", "the total of a cart", "--format", "markdown"];
    let expected = session.text(fixture.path(), &typed);
    converse(&session, fixture.path(), &[], async |client| {
        let arguments = json!({"task_description": "the total of a cart", "format": "markdown"});
        let (data, text) = answer(call(client, "context_for_task", arguments).await);
        assert_eq!(text, expected);
        assert_eq!(
            (data.get("symbols"), data.get("edges"), data.get("text")),
            (None, None, None),
            "sent once"
        );
        assert!(data["pack_root"].is_string() && data["tokens"].is_u64(), "{data}");
    });
}

#[test]
fn agents_get_gcf_unless_they_ask_for_another_format() {
    let (session, fixture) = (Session::new(), repository());
    let task = "the total of a cart";
    let expected = session.text(fixture.path(), &["context", task, "--format", "gcf"]);
    let bytes = session
        .command(fixture.path())
        .args(["context", task, "--format", "gcb", "--budget", "1500"])
        .output()
        .unwrap()
        .stdout;
    converse(&session, fixture.path(), &[], async |client| {
        let arguments = json!({"task_description": task, "repo": fixture.path()});
        let (data, text) = answer(call(client, "context_for_task", arguments).await);
        assert!(text.starts_with("GCF profile=graph tool=context_for_task"), "{text}");
        // A connection may have a session, which the header names.
        let body = |text: &str| {
            text.lines()
                .filter(|it| !it.starts_with("GCF") && !it.starts_with("# "))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(body(&text), body(&expected));
        assert_eq!((data.get("symbols"), data.get("text")), (None, None), "sent once");
        let arguments =
            json!({"task_description": task, "format": "gcb", "detail": "brief", "token_budget": 1500});
        let result = call(client, "context_for_task", arguments).await.unwrap();
        let content = serde_json::to_value(&result.content).unwrap();
        assert_eq!(content[1]["resource"]["mimeType"], "application/x-gcb");
        assert_eq!(content[1]["resource"]["blob"], knowing_wire::base64(&bytes));
        assert!(!content[0]["text"].as_str().unwrap().contains("GCB"), "{content}");
    });
}

#[test]
fn w2_a_session_named_by_the_call_is_not_told_twice() {
    let (session, fixture) = (Session::new(), repository());
    converse(&session, fixture.path(), &[], async |client| {
        let arguments = json!({"task_description": "the total of a cart", "session": "mine"});
        let (data, first) = answer(call(client, "context_for_task", arguments.clone()).await);
        assert_eq!(data["session"], "mine");
        assert!(first.contains("# session: new") && !first.contains("previously transmitted"), "{first}");
        let (_, second) = answer(call(client, "context_for_task", arguments.clone()).await);
        assert!(!second.contains("# session: new") && second.contains("previously transmitted"), "{second}");
        let mut again = arguments;
        again["pack_root"] = data["pack_root"].clone();
        let (_, third) = answer(call(client, "context_for_task", again).await);
        assert!(third.contains(" delta=true savings=100") && !third.contains("## "), "{third}");
        let bad = json!({"task_description": "x", "session": "a b"});
        assert_eq!(refusal(call(client, "context_for_task", bad).await)["kind"], "usage");
    });
}

#[test]
fn context_that_cannot_be_given_is_told() {
    let (session, fixture) = (Session::new(), repository());
    converse(&session, fixture.path(), &[], async |client| {
        for (tool, arguments, kind) in [
            ("context_for_task", json!({}), "usage"),
            ("context_for_task", json!({"task_description": "x", "token_budget": 199}), "usage"),
            ("context_for_task", json!({"task_description": "x", "without": ["wlak"]}), "usage"),
            ("context_for_task", json!({"task_description": "x", "format": "yaml"}), "usage"),
            ("context_for_task", json!({"task_description": "x".repeat((64 << 10) + 1)}), "usage"),
            ("context_for_task", json!({"task_description": ""}), "not_found"),
            ("context_for_task", json!({"task_description": "zzz qqq"}), "not_found"),
            ("context_for_files", json!({}), "usage"),
            ("context_for_pr", json!({"base": "no-such-revision"}), "not_found"),
            ("explain_symbol", json!({"task_description": "x"}), "usage"),
            ("explain_symbol", json!({"task_description": "x", "symbol": "nobody"}), "not_found"),
        ] {
            let error = refusal(call(client, tool, arguments.clone()).await);
            assert_eq!(error["kind"], kind, "{tool}: {error}");
            assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
        }
    });
}

#[test]
fn the_server_says_who_it_is_and_what_it_offers() {
    let (session, fixture) = (Session::new(), repository());
    converse(&session, fixture.path(), &[], async |client| {
        let info = client.peer_info().unwrap();
        let us = info.server_info.as_ref().unwrap();
        assert_eq!((us.name.as_str(), us.version.as_str()), ("knowing", env!("CARGO_PKG_VERSION")));
        let instructions = info.instructions.as_ref().unwrap();
        assert!(instructions.chars().count() <= 1500 && instructions.contains("graph_query"));
        let tools = client.list_all_tools().await.unwrap();
        for expected in ["index_repo", "graph_query", "blast_radius"] {
            assert!(tools.iter().any(|it| it.name == expected), "{expected}");
        }
        assert!(!tools.iter().any(|it| it.name == "export"), "commands that are no tools are not listed");
        tools.iter().for_each(check_tool);
        assert_eq!(tools, client.list_all_tools().await.unwrap());
        let size = serde_json::to_string(&tools).unwrap().len();
        assert!(size <= 24 * 1024, "the list takes {size} bytes");
        let core: Vec<&Tool> = tools.iter().filter(|it| CORE.contains(&&*it.name)).collect();
        let size = serde_json::to_string(&core).unwrap().len();
        assert!(core.len() == CORE.len() && size <= 8 * 1024, "the core takes {size} bytes");
    });
}

const CORE: [&str; 8] = [
    "context_for_task",
    "context_for_files",
    "context_for_pr",
    "graph_query",
    "blast_radius",
    "flow_between",
    "test_scope",
    "feedback",
];

#[track_caller]
fn check_tool(tool: &Tool) {
    let name = &tool.name;
    assert!(tool.title.is_some() && tool.description.is_some(), "{name}");
    let annotations = tool.annotations.as_ref().unwrap();
    let writes = ["index_repo", "feedback", "untrack_repo"].contains(&&**name);
    assert_eq!(annotations.read_only_hint, Some(!writes), "{name}");
    assert_eq!(annotations.destructive_hint.unwrap_or(false), name == "untrack_repo", "{name}");
    assert_eq!(annotations.idempotent_hint, Some(name != "feedback"), "{name}");
    assert_eq!(annotations.open_world_hint, Some(false));
    let has = |schema: &JsonObject, property: &str| field(schema, property).is_some();
    assert!(has(&tool.input_schema, "repo"), "{name}");
    let output = tool.output_schema.as_ref().unwrap();
    assert_eq!(output["type"], "object", "{name}");
    // Of the database as a whole two speak.
    assert!(has(output, "snapshot") || has(output, "database"), "{name}");
}

#[test]
fn one_server_answers_for_any_repository() {
    let (session, fixture, elsewhere) = (Session::new(), repository(), Fixture::directory());
    let path = fixture.path().to_str().unwrap();
    converse(&session, elsewhere.path(), &[], async |client| {
        let outside = refusal(call(client, "graph_query", json!({"query": "total"})).await);
        assert_eq!(outside["kind"], "usage");
        answer(call(client, "index_repo", json!({"repo": path})).await);
        let (found, _) = answer(call(client, "graph_query", json!({"query": "total", "repo": path})).await);
        assert_eq!(found["total"], 1);
    });
    // Or for one that was named when it was started.
    converse(&session, elsewhere.path(), &["--repo", path], async |client| {
        let (found, _) =
            answer(call(client, "graph_query", json!({"query": "Cart", "kinds": "class"})).await);
        assert_eq!(found["total"], 1);
    });
}

#[test]
fn what_cannot_be_done_is_told_in_the_right_place() {
    let (session, fixture) = (Session::new(), repository());
    session.run(fixture.path(), &["index"]);
    converse(&session, fixture.path(), &[], async |client| {
        // A tool that is not there is a fault of the request.
        match call(client, "no_such_tool", json!({})).await {
            Err(ServiceError::McpError(error)) => {
                assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
                assert!(error.message.contains("`no_such_tool`"), "{}", error.message);
            }
            other => panic!("{other:?}"),
        }
        // An operation that is a command only is none either.
        assert!(matches!(call(client, "export", json!({})).await, Err(ServiceError::McpError(_))));
        // The rest is an answer that a model can read.
        for (tool, arguments, kind, named) in [
            ("graph_query", json!({}), "usage", "`query`"),
            ("graph_query", json!({"query": "total", "limit": "many"}), "usage", "`limit`"),
            ("graph_query", json!({"query": "total", "kinds": ["sort"]}), "usage", "`sort`"),
            ("graph_query", json!({"query": "total", "qery": 1}), "usage", "`qery`"),
            ("blast_radius", json!({"symbol": "nothing_like_it"}), "not_found", "nothing_like_it"),
        ] {
            let error = refusal(call(client, tool, arguments).await);
            assert_eq!(error["kind"], kind, "{error}");
            assert!(error["message"].as_str().unwrap().contains(named), "{error}");
            assert!(!error["hint"].as_str().unwrap().is_empty());
        }
    });
}

/// Sends lines to a server, closes its input, and gives what it wrote, line by line.
fn speak(session: &Session, directory: &Path, lines: &[Value]) -> Vec<Value> {
    use std::io::Write as _;
    let mut command = session.command(directory);
    command.arg("mcp").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        // A server that has ended early is seen in what it wrote.
        let _ = match line {
            Value::String(raw) => writeln!(input, "{raw}"),
            line => writeln!(input, "{line}"),
        };
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "it ends when its input ends");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|it| serde_json::from_str(it).expect("nothing but protocol on standard output"))
        .collect()
}

fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    let parameters = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    let (session, fixture) = (Session::new(), repository());
    session.run(fixture.path(), &["index"]);
    let parameters = json!({"name": "graph_query", "arguments": {"query": "total"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": parameters});
    for (asked, spoken) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let heard = speak(&session, fixture.path(), &[initialize(asked), initialized(), call.clone()]);
        assert_eq!(heard[0]["result"]["protocolVersion"], spoken);
        let result = &heard[1]["result"];
        // Where a client of that time reads text alone, the text says all.
        let text = result["content"][0]["text"].as_str().unwrap();
        let data = match spoken < "2025-06-18" {
            true => serde_json::from_str(text).unwrap(),
            false => result["structuredContent"].clone(),
        };
        assert_eq!(data["symbols"][0]["name"], "total", "{asked}: {result}");
    }
}

#[test]
fn a_server_that_hears_nothing_or_nonsense_ends_in_peace() {
    let (session, fixture) = (Session::new(), repository());
    assert_eq!(speak(&session, fixture.path(), &[]), [] as [Value; 0]);
    let unknown = json!({"jsonrpc": "2.0", "id": 2, "method": "no/such/method"});
    let heard = speak(
        &session,
        fixture.path(),
        &[initialize("2025-11-25"), initialized(), json!("{nonsense"), json!(""), unknown],
    );
    let of_id = |id: Value| heard.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{heard:?}"));
    assert_eq!(of_id(json!(2))["error"]["code"], -32601, "{heard:?}");
    assert_eq!(of_id(json!(1))["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(of_id(Value::Null)["error"]["code"], -32700, "nonsense is answered");
    assert_eq!(heard.len(), 3);
}

#[test]
fn the_list_can_be_shortened() {
    let (session, fixture) = (Session::new(), repository());
    let ran = session.run(fixture.path(), &["mcp", "--tools", "grpah_query"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("graph_query"), "{}", ran.stderr);
}
