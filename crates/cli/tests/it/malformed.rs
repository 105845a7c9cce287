//! What is no message, or a wrong one, is answered with a well-formed error; nothing changes, and the server lives.

use serde_json::{Value, json};

use crate::protocol::{Pipe, STATELESS, Served, initialize, request, stateless};
use crate::session::{Session, shop};

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Messages that a client in good faith sends, to be broken.
fn good() -> Vec<Vec<u8>> {
    [
        initialize("2025-11-25"),
        request(2, "tools/list", json!({})),
        request(
            3,
            "tools/call",
            json!({"name": "graph_query", "arguments": {"query": "*", "limit": 3, "kinds": ["class"]}}),
        ),
        request(4, "resources/read", json!({"uri": "knowing://schema"})),
        request(5, "prompts/get", json!({"name": "review_pr", "arguments": {"files": "a.py"}})),
        stateless(6, "tools/call", json!({"name": "blast_radius", "arguments": {"symbol": "Base"}})),
        stateless(7, "server/discover", json!({})),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}),
        json!({"jsonrpc": "2.0", "id": 8, "result": {}}),
    ]
    .iter()
    .map(|it| it.to_string().into_bytes())
    .collect()
}

fn broken(dice: &mut Dice, good: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = good[dice.below(good.len())].clone();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(6) {
            0 => bytes[at] = dice.below(256) as u8,
            1 => drop(bytes.drain(at..)),
            2 => bytes.insert(at, b"{}[]\",:0-n\\\x00"[dice.below(12)]),
            3 => drop(bytes.remove(at)),
            4 => {
                let other = &good[dice.below(good.len())];
                bytes.extend_from_slice(&other[dice.below(other.len())..]);
            }
            _ => {
                // A value of another type.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let wrong = ["null", "-1", "1e400", "[]", "{}", "true", "\"\\ud800\""][dice.below(7)];
                bytes = text.replacen("\"graph_query\"", wrong, 1).replacen("{}", wrong, 1).into_bytes();
            }
        }
        if bytes.is_empty() {
            bytes.push(b'x');
        }
    }
    bytes.retain(|it| *it != b'\n' && *it != b'\r');
    bytes
}

/// Well-formed: an error with a code and a text, or a result.
#[track_caller]
fn check_answer(answer: &Value) {
    for one in answer.as_array().cloned().unwrap_or_else(|| vec![answer.clone()]) {
        let is_told = one["method"].is_string();
        let is_error = one["error"]["code"].is_i64()
            && one["error"]["message"].as_str().is_some_and(|it| !it.is_empty());
        assert!(one["jsonrpc"] == "2.0" && (is_told || is_error || one.get("result").is_some()), "{one}");
    }
}

#[test]
fn z1_broken_messages_are_answered_and_the_server_lives() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let before = session.json(repo.path(), &["stats"]);
    let good = good();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    check_answer(&pipe.hear());
    for round in 0..300 {
        pipe.send(&broken(&mut dice, &good));
        // It lives as long as it answers this.
        let id = 10_000 + round;
        pipe.send(request(id, "tools/list", json!({})).to_string().as_bytes());
        loop {
            let answer = pipe.hear();
            check_answer(&answer);
            if answer["id"] == id {
                break;
            }
        }
    }
    assert!(pipe.end());
    let served = Served::start(&session, repo.path(), &[]);
    let headers = [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];
    for _ in 0..150 {
        let bytes = broken(&mut dice, &good);
        let mut all = headers.to_vec();
        if dice.below(2) == 0 {
            all.extend([
                ("MCP-Protocol-Version", STATELESS),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", "graph_query"),
            ]);
        }
        let reply = served.request("POST /mcp", &all, &bytes);
        assert!((200..500).contains(&reply.status), "{}: {reply:?}", String::from_utf8_lossy(&bytes));
        reply.messages().iter().for_each(check_answer);
    }
    assert_eq!(served.post(&[], &initialize("2025-11-25")).status, 200, "it lives");
    assert_eq!(session.json(repo.path(), &["stats"]), before);
}

#[test]
fn z1_messages_without_measure_are_refused() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "x".repeat(5 << 20)}).to_string();
    let mut pipe = Pipe::start(&session, repo.path());
    pipe.send(deep.as_bytes());
    assert_eq!(pipe.hear()["error"]["code"], -32700);
    pipe.send(long.as_bytes());
    assert_eq!(pipe.hear()["error"]["code"], -32600);
    pipe.send(&[0xff; 1000]);
    assert_eq!(pipe.hear()["error"]["code"], -32700);
    // As long as may be, and wrong.
    let text = "x".repeat((4 << 20) - 1000);
    pipe.send(
        stateless(2, "tools/call", json!({"name": "graph_query", "arguments": {"query": text}}))
            .to_string()
            .as_bytes(),
    );
    let heard = pipe.hear();
    assert_eq!(heard["id"], 2);
    assert!(heard.to_string().len() < 1 << 16, "what was sent is not sent back: {}", heard.to_string().len());
    pipe.send(initialize("2025-11-25").to_string().as_bytes());
    assert_eq!(pipe.hear()["result"]["protocolVersion"], "2025-11-25");
    assert!(pipe.end());
    let served = Served::start(&session, repo.path(), &[]);
    let headers = [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];
    assert_eq!(served.request("POST /mcp", &headers, deep.as_bytes()).status, 400);
    assert_eq!(served.request("POST /mcp", &headers, long.as_bytes()).status, 413);
    assert_eq!(served.request("POST /mcp", &[], b"{}").status, 400);
    let name = "x".repeat(100_000);
    let reply = served.request("POST /mcp", &[("X-Long", name.as_str())], b"{}");
    assert!([0, 400, 431].contains(&reply.status), "{}", reply.status);
    assert_eq!(served.post(&[], &initialize("2025-11-25")).status, 200, "it lives");
}

#[test]
fn z1_paths_outside_the_repository_are_never_read() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    std::fs::write(session.file("secret.py"), "PASSWORD = 'hunter2'\n").unwrap();
    let secret = session.file("secret.py").display().to_string();
    let mut pipe = Pipe::start(&session, repo.path());
    for (tool, arguments) in [
        ("context_for_files", json!({"files": [secret, "../secret.py", "/etc/passwd"], "detail": "source"})),
        ("graph_query", json!({"query": format!("{secret}:1")})),
        ("context_for_pr", json!({"files": ["../../../../etc/passwd"]})),
        ("blast_radius", json!({"symbol": "/etc/passwd:1"})),
    ] {
        pipe.send(
            stateless(2, "tools/call", json!({"name": tool, "arguments": arguments})).to_string().as_bytes(),
        );
        let heard = pipe.hear().to_string();
        assert!(!heard.contains("hunter2") && !heard.contains("root:"), "{tool}: {heard}");
    }
    assert!(pipe.end());
}
