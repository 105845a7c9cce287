//! The server over HTTP: who may ask, how much, and how many at once; resources and prompts; results and their schemas.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::protocol::{HANDSHAKES, Pipe, STATELESS, Served, initialize, request, stateless};
use crate::session::{Session, shop};

fn call(tool: &str, arguments: Value) -> Value {
    stateless(3, "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn headers(tool: &str) -> [(&str, &str); 3] {
    [("MCP-Protocol-Version", STATELESS), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)]
}

#[test]
fn t5_an_address_that_others_can_reach_needs_a_token() {
    let (session, repo) = (Session::new(), shop());
    let mut command = session.command(repo.path());
    let ran = command
        .args(["serve", "--port", "0", "--address", "0.0.0.0"])
        .env_remove("KNOWING_TOKEN")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("--token-file"));
    let file = session.file("token");
    std::fs::write(&file, "a secret\n").unwrap();
    let token = file.to_str().unwrap();
    for arguments in [vec!["--address", "0.0.0.0", "--token-file", token], vec!["--token-file", token]] {
        let served = Served::start(&session, repo.path(), &arguments);
        for shown in ["", "Bearer wrong", "Bearer a secre", "Basic a secret"] {
            let refused = served.post(&[("Authorization", shown)], &initialize("2025-11-25"));
            assert_eq!(refused.status, 401, "{shown}");
            assert_eq!(refused.header("www-authenticate").as_deref(), Some("bearer"));
        }
        assert_eq!(served.post(&[], &initialize("2025-11-25")).status, 401);
        assert_eq!(
            served.post(&[("Authorization", "Bearer a secret")], &initialize("2025-11-25")).status,
            200
        );
    }
    std::fs::write(&file, " \n").unwrap();
    assert_eq!(session.run(repo.path(), &["serve", "--token-file", token]).code, 2);
    assert_eq!(session.run(repo.path(), &["serve", "--token-file", "none"]).code, 2);
}

#[test]
fn t5_a_request_that_was_not_meant_for_it_is_refused() {
    let (session, repo) = (Session::new(), shop());
    let served = Served::start(&session, repo.path(), &[]);
    let own = format!("http://127.0.0.1:{}", served.port);
    for (header, value, status) in [
        ("Host", "evil.example", 403),
        ("Host", "127.0.0.1.evil.example", 403),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", own.as_str(), 200),
        ("Host", "localhost", 200),
    ] {
        let reply = served.post(&[(header, value)], &initialize("2025-11-25"));
        assert_eq!(reply.status, status, "{header}: {value}");
    }
    assert_eq!(served.request("GET /", &[], b"").status, 404);
    assert_eq!(served.request("PUT /mcp", &[], b"").status, 405);
    assert_eq!(served.post(&[("Mcp-Session-Id", "none")], &request(1, "ping", json!({}))).status, 404);
    assert_eq!(served.post(&[], &request(1, "tools/list", json!({}))).status, 400, "no handshake");
}

#[test]
fn t5_only_so_many_are_answered_at_once_and_a_slow_one_holds_no_other() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let served = Served::start(&session, repo.path(), &[]);
    // Clients that say who they are and not what they want.
    let slow: Vec<TcpStream> = (0..16)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
            let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                        Accept: application/json, text/event-stream\r\nContent-Length: 10\r\n\r\n{";
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let deadline = Instant::now() + Duration::from_secs(20);
    let refused = loop {
        let reply = served.post(&headers("graph_query"), &call("graph_query", json!({"query": "*"})));
        if reply.status != 200 {
            break reply;
        }
        assert!(Instant::now() < deadline, "the sixteen have come in by now");
    };
    assert_eq!((refused.status, refused.header("retry-after").as_deref()), (503, Some("1")));
    // Who leaves makes room.
    for mut stream in slow {
        stream.write_all(b"}").unwrap();
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        let _ = stream.read(&mut [0; 1]);
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while served.post(&headers("graph_query"), &call("graph_query", json!({"query": "*"}))).status != 200 {
        assert!(Instant::now() < deadline, "there is room again");
    }
    // Every way a request can end gives its place back.
    for _ in 0..20 {
        assert_eq!(
            served.post(&headers("graph_query"), &call("graph_query", json!({"query": "*"}))).status,
            200
        );
        assert_eq!(served.request("POST /mcp", &[], b"{").status, 400);
        let hello = served.post(&[], &initialize("2025-11-25"));
        let id = hello.header("mcp-session-id").unwrap();
        assert_eq!(served.post(&[("Mcp-Session-Id", &id)], &request(2, "tools/list", json!({}))).status, 200);
        assert_eq!(served.request("DELETE /mcp", &[("Mcp-Session-Id", &id)], b"").status, 204);
    }
}

#[test]
fn clients_at_the_same_time_get_the_same_answers() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let served = Served::start(&session, repo.path(), &[]);
    let question = call("graph_query", json!({"query": "*", "edges": "both"}));
    let expected = served.post(&headers("graph_query"), &question).message();
    assert_eq!(expected["result"]["isError"], false);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let reply = served.post(&headers("graph_query"), &question);
                    assert_eq!(reply.message(), expected);
                }
            });
        }
    });
}

#[test]
fn t2_resources_and_prompts_hold_what_they_say() {
    let (session, repo) = (Session::new(), shop());
    let mut pipe = Pipe::start(&session, repo.path());
    let mut ask = |message: Value| {
        pipe.send(message.to_string().as_bytes());
        let heard = pipe.hear();
        assert!(heard.get("result").is_some(), "{heard}");
        heard["result"].clone()
    };
    ask(initialize("2025-11-25"));
    let listed = ask(request(2, "resources/list", json!({})));
    let mut read = |uri: &str| -> Value {
        let read = ask(request(3, "resources/read", json!({"uri": uri})));
        assert_eq!(
            (&read["contents"][0]["uri"], &read["contents"][0]["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
    };
    for resource in listed["resources"].as_array().unwrap() {
        assert!(
            ["title", "description", "mimeType", "name"].iter().all(|it| resource[it].is_string()),
            "{resource}"
        );
        read(resource["uri"].as_str().unwrap());
    }
    let report = read("knowing://report");
    assert!(report["languages"]["python"].as_u64().unwrap() > 0, "{report}");
    assert!(report["most_called"][0]["calls"].as_u64().unwrap() > 0);
    assert!(!report["most_changed"].as_array().unwrap().is_empty());
    assert_eq!(read("knowing://index-health")["status"], "healthy");
    assert_eq!(read("knowing://repos")["repositories"][0]["worktrees"][0]["fresh"], "yes");
    assert_eq!(read("knowing://stats"), session.json(repo.path(), &["stats"]));
    assert!(read("knowing://schema")["edge_kinds"].as_array().unwrap().len() > 30);
    ask(request(4, "tools/call", json!({"name": "graph_query", "arguments": {"query": "*"}})));
    let mut read = |uri: &str| -> Value {
        let read = ask(request(5, "resources/read", json!({"uri": uri})));
        serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap()
    };
    assert_eq!(read("knowing://session")["calls"]["graph_query"], 1);
    assert_eq!(read("knowing://session?handle=other")["total_calls"], 0);
    let listed = ask(request(6, "prompts/list", json!({})));
    let names: Vec<&str> =
        listed["prompts"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["refactor_safely", "review_pr", "investigate_dead_code"]);
    let symbol = report["most_called"][0]["symbol"].as_str().unwrap();
    let mut prompt = |name: &str, arguments: Value| {
        let got = ask(request(7, "prompts/get", json!({"name": name, "arguments": arguments})));
        got["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    let text = prompt("refactor_safely", json!({"target": symbol, "change": "rename it"}));
    assert!(
        text.contains("## What may break") && text.contains("\"reached\"") && text.contains("rename it"),
        "{text}"
    );
    assert!(prompt("review_pr", json!({"base": "HEAD"})).contains("## What changed"));
    assert!(prompt("investigate_dead_code", json!({})).contains("unresolved"));
    for (name, arguments) in [
        ("refactor_safely", json!({})),
        ("refactor_safely", json!({"target": "nothing_like_it"})),
        ("refactor_safely", json!({"target": 4})),
        ("review_pr", json!({})),
        ("review_pr", json!({"bsae": "x"})),
    ] {
        pipe.send(
            request(8, "prompts/get", json!({"name": name, "arguments": arguments})).to_string().as_bytes(),
        );
        assert_eq!(pipe.hear()["error"]["code"], -32602, "{name} {arguments}");
    }
    assert!(pipe.end());
}

#[test]
fn t2_schemas_are_schemas_and_results_validate() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let served = Served::start(&session, repo.path(), &[]);
    let listing = [("MCP-Protocol-Version", STATELESS), ("Mcp-Method", "tools/list")];
    let listed = served.post(&listing, &stateless(1, "tools/list", json!({}))).message();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let arguments = |name: &str| match name {
        "index_repo" | "fsck" => json!({}),
        "graph_query" => json!({"query": "*", "edges": "both"}),
        "context_for_task" => json!({"task_description": "the total of a cart", "format": "json"}),
        "context_for_files" => json!({"files": ["shop/cart.py"]}),
        "context_for_pr" => json!({"base": "HEAD"}),
        "snapshot_diff" | "semantic_diff" => json!({"old": "HEAD", "new": "HEAD"}),
        "pr_impact" => json!({"base": "HEAD"}),
        _ => Value::Null,
    };
    let mut n_validated = 0;
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert!(jsonschema::meta::validate(schema).is_ok(), "{name}: {schema}");
        }
        let given = arguments(name);
        if given.is_null() {
            continue;
        }
        assert!(
            jsonschema::is_valid(&tool["inputSchema"], &given) || name.starts_with("context"),
            "{name}: {given}"
        );
        let result = served.post(&headers(name), &call(name, given)).message()["result"].clone();
        assert_eq!(result["isError"], false, "{name}: {result}");
        let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&result["structuredContent"]).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        n_validated += 1;
    }
    assert!(n_validated >= 9, "{n_validated}");
}

#[test]
fn t3_the_list_is_what_was_asked_for_and_the_others_still_answer() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for (tools, expected, most) in
        [("core", Some(8), 8 << 10), ("all", None, 24 << 10), ("fsck,graph_query", Some(2), 8 << 10)]
    {
        let served = Served::start(&session, repo.path(), &["--tools", tools]);
        let listing = [("MCP-Protocol-Version", STATELESS), ("Mcp-Method", "tools/list")];
        let listed = served.post(&listing, &stateless(1, "tools/list", json!({}))).message();
        let listed = listed["result"]["tools"].as_array().unwrap();
        assert!(expected.is_none_or(|it| it == listed.len()), "{tools}: {}", listed.len());
        assert!(json!(listed).to_string().len() <= most, "{tools}");
        assert_eq!(listed.iter().any(|it| it["name"] == "prove"), tools == "all");
        let unlisted =
            served.post(&headers("prove"), &call("prove", json!({"source": "nothing", "target": "nobody"})));
        assert_eq!(unlisted.message()["result"]["structuredContent"]["error"]["kind"], "not_found");
    }
}

#[test]
fn handles_of_sessions_tell_clients_apart() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let served = Served::start(&session, repo.path(), &[]);
    let ids: Vec<String> = HANDSHAKES[2..]
        .iter()
        .map(|it| served.post(&[], &initialize(it)).header("mcp-session-id").unwrap())
        .collect();
    let query = request(2, "tools/call", json!({"name": "graph_query", "arguments": {"query": "*"}}));
    served.post(&[("Mcp-Session-Id", &ids[0])], &query);
    let read = request(3, "resources/read", json!({"uri": "knowing://session"}));
    for (id, expected) in [(&ids[0], 1), (&ids[1], 0)] {
        let told = served.post(&[("Mcp-Session-Id", id)], &read).message();
        let told: Value =
            serde_json::from_str(told["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((&told["total_calls"], &told["handle"]), (&json!(expected), &json!(id)));
    }
}
