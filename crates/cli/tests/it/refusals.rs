//! Whatever cannot be answered is told with a kind, a message and what to do; and no bad input changes what is stored.

use std::collections::BTreeMap;
use std::path::Path;

use knowing_testkit::Fixture;
use rmcp::model::CallToolRequestParams;
use serde_json::{Map, Value, json};

use crate::mcp::converse;
use crate::protocol::{Pipe, Served, initialize, request};
use crate::session::{Session, shop};

/// Every row of every table.
fn contents(database: &Path) -> BTreeMap<String, Vec<String>> {
    let database = rusqlite::Connection::open(database).unwrap();
    let names: Vec<String> = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let rows = |table: &String| {
        let mut select = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let n_columns = select.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..n_columns).map(|at| format!("{:?}", row.get_ref(at).unwrap()));
            Ok(values.collect::<Vec<_>>().join("|"))
        };
        let mut rows: Vec<String> = select.query_map([], row).unwrap().map(Result::unwrap).collect();
        rows.sort();
        rows
    };
    names.iter().map(|it| (it.clone(), rows(it))).collect()
}

#[track_caller]
fn check_error(error: &Value, about: &str) {
    let kinds: Vec<&str> = knowing_ops::ErrorKind::ALL.iter().map(|it| it.name()).collect();
    assert!(error["kind"].as_str().is_some_and(|it| kinds.contains(&it)), "{about}: {error}");
    for field in ["message", "hint"] {
        let text = error[field].as_str().unwrap_or_default();
        assert!(!text.is_empty() && text.len() < 5_000, "{about}: {field} of {} bytes", text.len());
    }
    assert_ne!(error["kind"], "internal", "{about}: {error}");
}

fn database(session: &Session, repo: &Fixture) -> std::path::PathBuf {
    session.json(repo.path(), &["status"])["database"].as_str().unwrap().into()
}

#[test]
fn z1_every_kind_of_error_is_told_as_what_it_is() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let page = session.json(repo.path(), &["query", "*", "--limit", "1"]);
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    repo.write("shop/more.py", "def more():\n    pass\n");
    repo.commit("more");
    session.index(&repo);
    session.run(repo.path(), &["gc", "--keep", "1"]);
    repo.write("shop/even_more.py", &format!("def long():\n    return \"{}\"\n", "x".repeat(9_000)));
    repo.commit("even more");
    session.index(&repo);
    repo.write("shop/last.py", "def last():\n    pass\n");
    repo.commit("not indexed");
    let path = database(&session, &repo);
    let before = contents(&path);
    session.error(repo.path(), &["callers", "make", "--stale-policy", "error"], 1, "stale");
    assert_eq!(contents(&path), before);
    session.index(&repo);
    let other = Fixture::from_text("//- /a.py\ndef f(): pass\n");
    other.commit("never indexed");
    let newer = session.file("newer.db");
    let damaged = session.file("damaged.db");
    std::fs::copy(&path, &newer).unwrap();
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 9_999).unwrap();
    std::fs::write(&damaged, "this is no database, and was never one".repeat(400)).unwrap();
    let file = session.file("a file");
    std::fs::write(&file, "{}").unwrap();
    let below_a_file = file.join("knowing.db");
    let [newer, damaged, file, below_a_file] =
        [&newer, &damaged, &file, &below_a_file].map(|it| it.to_str().unwrap());
    let before = contents(&path);
    let (here, there) = (repo.path(), other.path());
    let cases: &[(&Path, &[&str], i32, &str)] = &[
        (here, &["context", "x", "--budget", "10"], 2, "usage"),
        (here, &["verify", file], 2, "bad_input"),
        (here, &["decode", file], 2, "bad_input"),
        (here, &["callers", "nobody"], 1, "not_found"),
        (here, &["context", "zzz qqq"], 1, "not_found"),
        (here, &["callers", "run"], 1, "ambiguous"),
        (there, &["stats"], 1, "no_index"),
        (here, &["query", "*", "--limit", "1", "--cursor", &cursor], 1, "expired"),
        (here, &["query", "long", "--detail", "source", "--max-tokens", "500"], 2, "limit"),
        (here, &["--db", below_a_file, "index"], 2, "io"),
        (here, &["--db", newer, "stats"], 2, "unsupported"),
        (here, &["index", "--enrich", "lsp"], 2, "unsupported"),
        (here, &["--db", damaged, "stats"], 2, "corrupt"),
    ];
    for (directory, arguments, code, kind) in cases {
        let error = session.error(directory, arguments, *code, kind);
        check_error(&error, &format!("{arguments:?}"));
    }
    assert_eq!(contents(&path), before);
    // Another process is writing.
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let said = ["feedback", "record", "make", "--useful"];
    check_error(&session.error(here, &said, 2, "busy"), "busy");
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(contents(&path), before);
    // What is left comes with time (`timeout`) or from a fault of the program (`internal`).
    let told: Vec<&str> =
        cases.iter().map(|it| it.3).chain(["stale", "busy", "timeout", "internal"]).collect();
    for kind in knowing_ops::ErrorKind::ALL {
        assert!(told.contains(&kind.name()), "no case of {}", kind.name());
    }
}

#[test]
fn z1_bad_arguments_of_any_verb_change_nothing() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let path = database(&session, &repo);
    let before = contents(&path);
    let endless = "x".repeat(100_000);
    let help = session.text(repo.path(), &["--help"]);
    let verbs: Vec<&str> = help
        .lines()
        .filter(|it| it.starts_with("  ") && !it.starts_with("   "))
        .filter_map(|it| it.split_whitespace().next())
        .filter(|it| it.chars().all(|it| it.is_ascii_lowercase() || it == '-') && !it.starts_with('-'))
        .collect();
    assert!(verbs.len() > 25, "{verbs:?}");
    for verb in verbs {
        for more in [
            &["--no-such-option"][..],
            &["--limit", "many"],
            &["--max-tokens", "-1"],
            &["--stale-policy", "sometimes"],
            &["a", "b", "c", "d", "e", "f"],
            &["--cursor"],
            &["--session", "no handle", "--no-such-option"],
        ] {
            // A task may begin with a hyphen.
            let is_task = ["context", "plan"].contains(&verb)
                && (more.len() == 6 || more.contains(&"--no-such-option"));
            if ["help", "completions", "man"].contains(&verb) || is_task {
                continue;
            }
            let arguments = [&[verb], more].concat();
            let error = session.error(repo.path(), &arguments, 2, "usage");
            check_error(&error, &format!("{arguments:?}"));
        }
    }
    for (arguments, code) in [
        (&["query", &endless][..], 1),
        (&["callers", &endless], 1),
        (&["context", &endless], 2),
        (&["context", "cart", "--session", &endless], 2),
        (&["context", "cart", "--cursor", &endless], 2),
        (&["context", "cart", "--pack-root", &endless], 2),
        (&["context", "cart", "--format", "yaml"], 2),
        (&["context", "cart", "--max-tokens", "100001"], 2),
        (&["feedback", "record", "make", "--useful", "--note", &endless], 2),
        (&["feedback", "record", "nobody", "--useful"], 1),
        (&["test-scope", "--files", "../../etc/passwd"], 1),
        (&["pr-impact", "--files", "/etc/passwd"], 1),
        (&["index", "/no/such/place"], 2),
        (&["untrack-repo", "no/such", "--yes"], 2),
        (&["snapshots", "pin", "nothing-like-it"], 1),
        (&["prove", "make", "nobody"], 1),
        (&["pack", "beef"], 2),
        (&["diff", "nothing-like-it"], 1),
    ] {
        let ran = session.run(repo.path(), &[arguments, &["--json"]].concat());
        assert_eq!(ran.code, code, "{:.200} {}", format!("{arguments:?}"), ran.stdout);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        check_error(&told["error"], &format!("{:.200}", format!("{arguments:?}")));
    }
    assert_eq!(contents(&path), before);
}

/// A value that is of none of these types.
fn of_another_type(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("string") | None => json!({"not": "text"}),
        _ => json!({"a": ["b"]}),
    }
}

fn fitting(name: &str, schema: &Value) -> Value {
    match (schema["type"].as_str(), &schema["enum"]) {
        (_, Value::Array(words)) => words[0].clone(),
        (Some("array"), _) => json!(["shop/cart.py"]),
        (Some("integer"), _) => json!(3),
        (Some("number"), _) => json!(0.5),
        (Some("boolean"), _) => json!(false),
        _ if name == "action" => json!("query"),
        _ => json!("make"),
    }
}

#[test]
fn z1_bad_arguments_of_any_tool_change_nothing() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let path = database(&session, &repo);
    let before = contents(&path);
    converse(&session, repo.path(), &[], async |client| {
        let mut n_refused = 0;
        for tool in client.list_all_tools().await.unwrap() {
            let schema = Value::Object(tool.input_schema.as_ref().clone());
            let properties = schema["properties"].as_object().unwrap();
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let fine: Map<String, Value> =
                required.iter().map(|it| ((*it).to_owned(), fitting(it, &properties[*it]))).collect();
            let mut bad: Vec<(String, Map<String, Value>)> = Vec::new();
            for name in &required {
                let mut without = fine.clone();
                without.remove(*name);
                bad.push((format!("without {name}"), without));
            }
            let common = ["repo", "tree", "stale", "limit", "cursor", "max_tokens", "session"];
            for name in properties.keys().map(String::as_str).chain(common) {
                let mut wrong = fine.clone();
                let value = properties.get(name).map_or(json!({"a": 1}), of_another_type);
                wrong.insert(name.to_owned(), value);
                bad.push((format!("{name} of another type"), wrong));
            }
            for (name, value) in [
                ("no_such_argument", json!(1)),
                ("max_tokens", json!(1)),
                ("max_tokens", json!(1_000_000)),
                ("stale", json!("sometimes")),
                ("session", json!("no handle")),
                ("session", json!("x".repeat(1 << 20))),
            ] {
                let mut wrong = fine.clone();
                wrong.insert(name.to_owned(), value);
                bad.push((format!("bad {name}"), wrong));
            }
            for (what, arguments) in bad {
                let asked = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
                let result = client.call_tool(asked).await.unwrap();
                let about = format!("{} {what}", tool.name);
                assert_eq!(result.is_error, Some(true), "{about}: {result:?}");
                check_error(&result.structured_content.unwrap()["error"], &about);
                n_refused += 1;
            }
        }
        assert!(n_refused > 250, "{n_refused}");
    });
    assert_eq!(contents(&path), before);
}

#[test]
fn z1_messages_that_are_none_change_nothing() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let path = database(&session, &repo);
    let before = contents(&path);
    let call = |name: &str, arguments: Value| {
        request(9, "tools/call", json!({"name": name, "arguments": arguments}))
    };
    let bad: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"[]".to_vec(),
        b"null".to_vec(),
        b"\"text\"".to_vec(),
        b"{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}".to_vec(),
        b"{\"jsonrpc\": \"2.0\", \"id\": 1}".to_vec(),
        b"\xff\xfe{}".to_vec(),
        request(9, "tools/frobnicate", json!({})).to_string().into_bytes(),
        call("no_such_tool", json!({})).to_string().into_bytes(),
        request(9, "tools/call", json!({"name": 7})).to_string().into_bytes(),
        request(9, "tools/call", json!({"name": "graph_query", "arguments": []})).to_string().into_bytes(),
        request(9, "resources/read", json!({"uri": "file:///etc/passwd"})).to_string().into_bytes(),
        request(9, "prompts/get", json!({"name": "none"})).to_string().into_bytes(),
        vec![b'x'; 5 << 20],
    ];
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    pipe.hear();
    for message in &bad {
        pipe.send(message);
        let told = pipe.hear();
        let about = String::from_utf8_lossy(&message[..message.len().min(80)]).into_owned();
        assert!(told["error"]["code"].is_i64() && told["error"]["message"].is_string(), "{about}: {told}");
    }
    assert!(pipe.end());
    let served = Served::start(&session, repo.path(), &[]);
    let id = served.post(&[], &initialize("2025-11-25")).header("mcp-session-id").unwrap();
    for message in &bad {
        let headers = [
            ("Mcp-Session-Id", id.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let reply = served.request("POST /mcp", &headers, message);
        let told = reply.message();
        let about = String::from_utf8_lossy(&message[..message.len().min(80)]).into_owned();
        assert!(told["error"]["code"].is_i64() && told["error"]["message"].is_string(), "{about}: {told}");
    }
    assert_eq!(contents(&path), before);
}
