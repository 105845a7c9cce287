//! The protocol as it goes over the wire, in every revision and on both transports, spoken by hand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

pub(crate) const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const STATELESS: &str = "2026-07-28";

/// A server over standard input and output.
pub(crate) struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pipe {
    pub(crate) fn start(session: &Session, directory: &Path) -> Pipe {
        let mut command = session.command(directory);
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Pipe { child, input, output }
    }

    pub(crate) fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server has ended");
        serde_json::from_str(&line).expect("nothing but protocol on standard output")
    }

    /// What answers a request; notifications that come before it are kept apart.
    fn answer(&mut self, id: &Value) -> (Value, Vec<Value>) {
        let mut told = Vec::new();
        loop {
            let heard = self.hear();
            if heard.get("id") == Some(id) {
                return (heard, told);
            }
            told.push(heard);
        }
    }

    /// Closes its input; whether it ended well.
    pub(crate) fn end(mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }
}

/// A server over HTTP.
pub(crate) struct Served {
    child: Child,
    pub(crate) port: u16,
}

impl Served {
    pub(crate) fn start(session: &Session, directory: &Path, arguments: &[&str]) -> Served {
        let mut command = session.command(directory);
        command.args(["serve", "--port", "0"]).args(arguments).env_remove("KNOWING_TOKEN");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let port = line
            .split("127.0.0.1:")
            .nth(1)
            .or(line.split("0.0.0.0:").nth(1))
            .unwrap_or_else(|| panic!("{line}"));
        Served { child, port: port.split('/').next().unwrap().parse().unwrap() }
    }

    pub(crate) fn request(&self, head: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut text = format!("{head} HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        if !headers.iter().any(|it| it.0 == "Host") {
            text.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        // A server that refuses early need not hear the rest.
        let _ = stream.write_all(format!("{text}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Reply::read(&bytes)
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        let mut all =
            vec![("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        self.request("POST /mcp", &all, message.to_string().as_bytes())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Reply {
    fn read(bytes: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(bytes);
        let (headers, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = headers.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        let headers = headers.to_ascii_lowercase();
        let body = match headers.contains("transfer-encoding: chunked") {
            true => unchunked(body),
            false => body.to_owned(),
        };
        Reply { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let line =
            self.headers.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned));
        line.map(|it| it.trim().to_owned())
    }

    /// The messages of the body: one, or the events of a stream.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if let Ok(one) = serde_json::from_str(&self.body) {
            return vec![one];
        }
        self.body.lines().filter_map(|it| serde_json::from_str(it.strip_prefix("data:")?).ok()).collect()
    }

    pub(crate) fn message(&self) -> Value {
        self.messages().into_iter().next_back().unwrap_or_else(|| panic!("no message: {self:?}"))
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || size > rest.len() {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap_or("");
    }
    whole
}

/// A client of one revision, whatever the transport.
enum Client {
    Pipe(Pipe),
    Http { served: Served, session: Option<String>, version: &'static str },
}

impl Client {
    fn start(over_http: bool, session: &Session, directory: &Path, version: &'static str) -> Client {
        match over_http {
            false => Client::Pipe(Pipe::start(session, directory)),
            true => Client::Http { served: Served::start(session, directory, &[]), session: None, version },
        }
    }

    /// The answer, and what HTTP says beside it.
    fn ask(&mut self, message: &Value) -> (Value, u16) {
        match self {
            Client::Pipe(pipe) => {
                pipe.send(message.to_string().as_bytes());
                (pipe.answer(&message["id"]).0, 200)
            }
            Client::Http { served, session, version } => {
                let mut headers: Vec<(&str, &str)> = Vec::new();
                let method = message["method"].as_str().unwrap();
                let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
                let shook_hands = session.clone();
                match &shook_hands {
                    Some(session) => {
                        headers.push(("Mcp-Session-Id", session));
                        // Older clients did not send it.
                        if *version >= "2025-06-18" {
                            headers.push(("MCP-Protocol-Version", version));
                        }
                    }
                    None if *version == STATELESS => {
                        headers.extend([("MCP-Protocol-Version", *version), ("Mcp-Method", method)]);
                        headers.extend(name.map(|it| ("Mcp-Name", it)));
                    }
                    None => {}
                }
                let reply = served.post(&headers, message);
                *session = reply.header("mcp-session-id").or(shook_hands);
                (reply.message(), reply.status)
            }
        }
    }

    fn tell(&mut self, message: &Value) {
        match self {
            Client::Pipe(pipe) => pipe.send(message.to_string().as_bytes()),
            Client::Http { served, session, .. } => {
                let session = session.clone().unwrap();
                assert_eq!(served.post(&[("Mcp-Session-Id", &session)], message).status, 202);
            }
        }
    }
}

pub(crate) fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn initialize(version: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    request(1, "initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

/// With what a request brings along that stands for itself.
pub(crate) fn stateless(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    });
    request(id, method, params)
}

fn indexed() -> (Session, Fixture) {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    (session, repo)
}

#[test]
fn t1_every_revision_with_a_handshake_on_both_transports() {
    let (session, repo) = indexed();
    for over_http in [false, true] {
        for version in HANDSHAKES {
            let mut client = Client::start(over_http, &session, repo.path(), version);
            let (hello, _) = client.ask(&initialize(version));
            let hello = &hello["result"];
            assert_eq!(hello["protocolVersion"], version);
            assert_eq!(hello["serverInfo"]["name"], "knowing");
            for offered in ["tools", "resources", "prompts", "logging"] {
                assert!(hello["capabilities"][offered].is_object(), "{offered}");
            }
            client.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            let mut ask = |method: &str, params: Value| client.ask(&request(7, method, params)).0;
            assert_eq!(ask("ping", json!({}))["result"], json!({}));
            assert_eq!(ask("logging/setLevel", json!({"level": "info"}))["result"], json!({}));
            let uri = json!({"uri": "knowing://stats"});
            assert_eq!(ask("resources/subscribe", uri.clone())["result"], json!({}));
            assert_eq!(ask("resources/unsubscribe", uri.clone())["result"], json!({}));
            for (method, list) in [
                ("tools/list", "tools"),
                ("resources/list", "resources"),
                ("resources/templates/list", "resourceTemplates"),
                ("prompts/list", "prompts"),
            ] {
                let listed = ask(method, json!({}));
                assert!(!listed["result"][list].as_array().unwrap().is_empty(), "{method}: {listed}");
                // Words of the newest revision.
                for word in ["resultType", "ttlMs", "cacheScope"] {
                    assert!(listed["result"].get(word).is_none(), "{version}: {method}: {word}");
                }
            }
            let called = ask("tools/call", json!({"name": "graph_query", "arguments": {"query": "*"}}));
            assert_eq!(called["result"]["isError"], false, "{called}");
            assert_eq!(called["result"].get("structuredContent").is_some(), version >= "2025-06-18");
            let read = ask("resources/read", uri);
            let text = read["result"]["contents"][0]["text"].as_str().unwrap();
            assert!(serde_json::from_str::<Value>(text).unwrap()["files"].as_u64().unwrap() > 0);
            let code = |answer: Value| answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(code(ask("no/such/method", json!({}))), -32601);
            assert_eq!(code(ask("subscriptions/listen", json!({"notifications": {}}))), -32601);
            assert_eq!(code(ask("tools/call", json!({"name": "nothing"}))), -32602);
            assert_eq!(code(ask("prompts/get", json!({"name": "nothing"}))), -32602);
            assert_eq!(code(ask("resources/read", json!({"uri": "knowing://nothing"}))), -32002);
        }
    }
}

#[test]
fn t1_a_version_that_is_not_spoken_is_answered_with_the_newest_that_shakes_hands() {
    let (session, repo) = indexed();
    for over_http in [false, true] {
        for asked in ["1999-01-01", "2026-07-28", "2031-01-01", "x"] {
            let mut client = Client::start(over_http, &session, repo.path(), "2025-11-25");
            let (hello, _) = client.ask(&initialize(asked));
            assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{asked}: {hello}");
        }
    }
}

#[test]
fn t1_requests_that_stand_for_themselves_on_both_transports() {
    let (session, repo) = indexed();
    for over_http in [false, true] {
        let mut client = Client::start(over_http, &session, repo.path(), STATELESS);
        let mut ask = |method: &str, params: Value| client.ask(&stateless(3, method, params));
        let (found, status) = ask("server/discover", json!({}));
        let found = &found["result"];
        assert_eq!((status, &found["supportedVersions"]), (200, &json!([STATELESS])));
        assert_eq!((&found["ttlMs"], &found["cacheScope"]), (&json!(3_600_000), &json!("public")));
        assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "knowing");
        for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            let listed = &ask(method, json!({})).0["result"];
            assert_eq!(listed["resultType"], "complete", "{method}: {listed}");
            assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(3_600_000), &json!("public")));
        }
        let (called, _) = ask("tools/call", json!({"name": "graph_query", "arguments": {"query": "*"}}));
        assert_eq!(called["result"]["resultType"], "complete");
        assert!(called["result"]["structuredContent"]["symbols"].is_array());
        let (read, _) = ask("resources/read", json!({"uri": "knowing://schema"}));
        assert_eq!(read["result"]["resultType"], "complete");
        assert_eq!((&read["result"]["ttlMs"], &read["result"]["cacheScope"]), (&json!(0), &json!("private")));
        let (prompt, _) = ask("prompts/get", json!({"name": "review_pr", "arguments": {"base": "HEAD"}}));
        assert_eq!(prompt["result"]["resultType"], "complete", "{prompt}");
        for method in ["ping", "no/such/method"] {
            let (refused, status) = ask(method, json!({}));
            assert_eq!(refused["error"]["code"], -32601, "{method}");
            assert_eq!(status, if over_http { 404 } else { 200 });
        }
        let (refused, _) = ask("logging/setLevel", json!({"level": "info"}));
        assert_eq!(refused["error"]["code"], -32601);
        let (refused, _) = ask("resources/subscribe", json!({"uri": "knowing://stats"}));
        assert_eq!(refused["error"]["code"], -32601);
        let (refused, _) = ask("resources/read", json!({"uri": "knowing://nothing"}));
        assert_eq!(refused["error"]["code"], -32602, "as this revision has it");
        let (refused, _) = ask("tools/call", json!({"name": "nothing"}));
        assert_eq!(refused["error"]["code"], -32602);
        // What is missing or not known.
        let mut half = stateless(4, "tools/list", json!({}));
        half["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
        let (refused, status) = client.ask(&half);
        assert_eq!(
            (&refused["error"]["code"], status),
            (&json!(-32602), if over_http { 400 } else { 200 }),
            "{refused}"
        );
    }
}

#[test]
fn t1_versions_that_are_not_known_or_differ_are_told_as_what_they_are() {
    let (session, repo) = indexed();
    let mut unknown = stateless(5, "tools/list", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let data = json!({"requested": "2031-01-01", "supported": [STATELESS]});
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(unknown.to_string().as_bytes());
    let refused = pipe.hear();
    assert_eq!((&refused["error"]["code"], &refused["error"]["data"]), (&json!(-32022), &data));
    assert!(pipe.end());
    let served = Served::start(&session, repo.path(), &[]);
    for message in [unknown, request(5, "tools/list", json!({}))] {
        let refused = served.post(&[("MCP-Protocol-Version", "2031-01-01")], &message);
        assert_eq!((refused.status, &refused.message()["error"]["code"]), (400, &json!(-32022)));
        assert_eq!(refused.message()["error"]["data"], data);
    }
    let message = stateless(6, "tools/list", json!({}));
    for headers in [
        vec![("MCP-Protocol-Version", "2025-11-25")],
        vec![],
        vec![("MCP-Protocol-Version", STATELESS), ("Mcp-Method", "tools/call")],
        vec![("MCP-Protocol-Version", STATELESS)],
    ] {
        let refused = served.post(&headers, &message);
        assert_eq!(
            (refused.status, &refused.message()["error"]["code"]),
            (400, &json!(-32020)),
            "{headers:?}"
        );
    }
    let refused = served.post(&[("MCP-Protocol-Version", STATELESS)], &request(6, "tools/list", json!({})));
    assert_eq!((refused.status, &refused.message()["error"]["code"]), (400, &json!(-32602)));
    // Nobody listens without a handshake.
    let headers = [("Accept", "text/event-stream"), ("MCP-Protocol-Version", STATELESS)];
    assert_eq!(served.request("GET /mcp", &headers, b"").status, 405);
}

#[test]
fn t1_both_ways_to_speak_share_one_connection() {
    let (session, repo) = indexed();
    let mut pipe = Pipe::start(&session, repo.path());
    let mut ask = |message: Value| {
        pipe.send(message.to_string().as_bytes());
        pipe.answer(&message["id"]).0
    };
    let early = ask(request(1, "tools/list", json!({})));
    assert_eq!(early["error"]["code"], -32602, "there was no handshake yet: {early}");
    assert_eq!(ask(stateless(2, "tools/list", json!({})))["result"]["resultType"], "complete");
    assert_eq!(ask(initialize("2025-06-18"))["result"]["protocolVersion"], "2025-06-18");
    assert!(ask(request(3, "tools/list", json!({})))["result"].get("resultType").is_none());
    assert_eq!(ask(stateless(4, "tools/list", json!({})))["result"]["resultType"], "complete");
    assert!(pipe.end());
}

#[test]
fn t1_several_messages_at_once_in_the_revision_that_has_them() {
    let (session, repo) = indexed();
    let several = json!([
        request(11, "ping", json!({})),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(12, "tools/call", json!({"name": "graph_query", "arguments": {"query": "*"}})),
        7,
    ]);
    let check = |answers: &Value| {
        let mut ids: Vec<Option<u64>> =
            answers.as_array().unwrap().iter().map(|it| it["id"].as_u64()).collect();
        ids.sort_unstable();
        assert_eq!(ids, [None, Some(11), Some(12)], "{answers}");
    };
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-03-26").to_string().as_bytes());
    pipe.hear();
    pipe.send(several.to_string().as_bytes());
    check(&pipe.hear());
    assert!(pipe.end());
    let served = Served::start(&session, repo.path(), &[]);
    let hello = served.post(&[], &initialize("2025-03-26"));
    let id = hello.header("mcp-session-id").unwrap();
    check(&served.post(&[("Mcp-Session-Id", &id)], &several).message());
    // No other revision has them.
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    pipe.hear();
    pipe.send(several.to_string().as_bytes());
    assert_eq!(pipe.hear()["error"]["code"], -32600);
    assert!(pipe.end());
    assert_eq!(served.post(&[], &several).status, 400);
}

#[test]
fn t7_closing_the_input_ends_the_process() {
    let (session, repo) = indexed();
    assert!(Pipe::start(&session, repo.path()).end());
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    assert_eq!(pipe.hear()["id"], 1);
    assert!(pipe.end());
}

#[test]
fn what_is_taken_back_is_not_answered_and_others_are() {
    let (session, repo) = (Session::new(), shop());
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    pipe.hear();
    pipe.send(
        request(2, "tools/call", json!({"name": "index_repo", "arguments": {}})).to_string().as_bytes(),
    );
    let taken_back =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    pipe.send(taken_back.to_string().as_bytes());
    pipe.send(request(3, "ping", json!({})).to_string().as_bytes());
    assert_eq!(pipe.hear()["id"], 3);
    assert!(pipe.end());
}

#[test]
fn t6_an_index_run_tells_how_far_it_is_to_who_asked() {
    let (session, repo) = (Session::new(), shop());
    for (over_http, version) in [(false, "2025-11-25"), (true, "2025-06-18")] {
        let arguments = json!({"force": true});
        let params = json!({"name": "index_repo", "arguments": arguments, "_meta": {"progressToken": "t"}});
        let told = match over_http {
            false => {
                let mut pipe = Pipe::start(&session, repo.path());
                pipe.send(initialize(version).to_string().as_bytes());
                pipe.hear();
                pipe.send(request(2, "tools/call", params).to_string().as_bytes());
                let (answer, told) = pipe.answer(&json!(2));
                assert_eq!(answer["result"]["isError"], false, "{answer}");
                told
            }
            true => {
                let served = Served::start(&session, repo.path(), &[]);
                let id = served.post(&[], &initialize(version)).header("mcp-session-id").unwrap();
                let mut told =
                    served.post(&[("Mcp-Session-Id", &id)], &request(2, "tools/call", params)).messages();
                assert_eq!(told.pop().unwrap()["result"]["isError"], false);
                told
            }
        };
        let progress: Vec<f64> = told
            .iter()
            .filter(|it| it["method"] == "notifications/progress" && it["params"]["progressToken"] == "t")
            .map(|it| it["params"]["progress"].as_f64().unwrap())
            .collect();
        assert!(progress.len() >= 3, "{told:?}");
        assert!(progress.windows(2).all(|pair| pair[0] < pair[1]), "it grows: {progress:?}");
    }
}

#[test]
fn who_subscribed_hears_of_a_new_snapshot() {
    let (session, repo) = indexed();
    repo.write("more.py", "def more(): pass\n");
    repo.commit("more");
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    pipe.hear();
    for message in [
        request(2, "resources/subscribe", json!({"uri": "knowing://stats"})),
        request(3, "logging/setLevel", json!({"level": "info"})),
    ] {
        pipe.send(message.to_string().as_bytes());
        assert_eq!(pipe.hear()["result"], json!({}));
    }
    pipe.send(
        request(4, "tools/call", json!({"name": "index_repo", "arguments": {}})).to_string().as_bytes(),
    );
    let (_, told) = pipe.answer(&json!(4));
    let methods: Vec<&str> = told.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods, ["notifications/message", "notifications/resources/updated"]);
    assert_eq!(told[1]["params"]["uri"], "knowing://stats");
    assert!(pipe.end());
}
