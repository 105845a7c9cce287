//! Any text is a task: it is answered, or it fits nothing, and it is never an error.

use std::io::Write as _;
use std::process::Stdio;

use knowing_testkit::Fixture;

use super::names;
use crate::session::{Ran, Session, shop};

fn through_stdin(session: &Session, repo: &Fixture, task: &[u8]) -> Ran {
    let mut command = session.command(repo.path());
    command.args(["context", "-", "--json"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that has seen enough may have ended.
    let _ = child.stdin.take().unwrap().write_all(task);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().expect("it was not killed"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
fn check_answered(ran: &Ran, task: &str) {
    let shown: String = task.chars().take(60).collect();
    let answer: serde_json::Value = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{shown:?}: {error}: {}{}", ran.stdout, ran.stderr));
    match ran.code {
        0 => assert!(!names(&answer).is_empty(), "{shown:?}"),
        1 => {
            assert_eq!(answer["error"]["kind"], "not_found", "{shown:?}");
            assert!(!answer["error"]["hint"].as_str().unwrap().is_empty());
        }
        code => panic!("{shown:?}: exit {code}: {}", ran.stdout),
    }
}

#[test]
fn s4_any_text_is_a_task() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for task in [
        "",
        " ",
        "\n\n\t\n",
        "a",
        "é",
        "the of and with",
        "\"total\"",
        "\"total",
        "'total'",
        "total AND cart OR NOT (make",
        "total* NEAR/3 cart^2",
        "name:total col:cart -make +serve",
        ".*total(?=cart)[^)]*$ \\d+ \\",
        "`Cart.total",
        "`` ``` `` ` total ```",
        "```python\ncart.total(",
        "🛒 cart 🛒",
        "カートの合計 total 购物车",
        "合計",
        "total; DROP TABLE nodes; --",
        "%s %d {} {0} $HOME $(ls) `ls` && rm",
        "<script>alert('total')</script>",
        "- total is wrong",
        "--total is ignored",
        "-1 is returned by total",
        "--",
        "C:\\shop\\cart.py:17: total",
        "shop/cart.py shop/cart.py:17 ../../../etc/passwd",
        "Traceback (most recent call last):\n  File \"shop/cart.py\", line 17, in total\nTypeError",
        "{\"task\": [\"total\", null]}",
        "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p",
        "::::.....//////#####",
        "\u{feff}total\u{200b}\u{202e}cart\u{0}",
        "ﬁx Total İstanbul ß",
    ] {
        // An argument of a process cannot hold a zero.
        if !task.contains('\0') && task != "--" {
            let ran = session.run(repo.path(), &["context", task, "--json"]);
            check_answered(&ran, task);
        }
        check_answered(&through_stdin(&session, &repo, task.as_bytes()), task);
    }
    let found = session.json(repo.path(), &["context", "--total is ignored"]);
    assert!(names(&found).contains(&"shop/cart.py.Cart.total".to_owned()));
    let why = session.json(repo.path(), &["why", "- total is wrong", "--symbol", "Cart.total"]);
    assert_eq!(why["packed"], true);
}

#[test]
fn s4_bytes_that_are_no_text_are_read_around() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let every_byte: Vec<u8> = (0..=255).collect();
    check_answered(&through_stdin(&session, &repo, &every_byte), "every byte");
    let ran = through_stdin(&session, &repo, b"\xff\xfe total \xc3\x28 of a cart \x80");
    check_answered(&ran, "total among bytes");
    assert_eq!(ran.code, 0);
    // As many as a task may have.
    let mut many = vec![0xff; 64 << 10];
    many[..6].copy_from_slice(b"total ");
    let ran = through_stdin(&session, &repo, &many);
    check_answered(&ran, "many bytes");
}

#[test]
fn s4_a_long_log_is_a_task_up_to_64_kib() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let line =
        "2024-05-01T12:00:00Z ERROR worker[7] shop.cart.Cart.total: cannot sum <None> at 0x7f (retry 3/5)\n";
    let mut log: String = line.repeat((64 << 10) / line.len() + 1);
    log.truncate(64 << 10);
    let ran = through_stdin(&session, &repo, log.as_bytes());
    check_answered(&ran, "a log");
    assert_eq!(ran.code, 0);
    let words: String = (0..12_000).map(|it| format!("w{it} ")).collect();
    check_answered(&through_stdin(&session, &repo, &words.as_bytes()[..64 << 10]), "many words");
    let wall = "x".repeat(64 << 10);
    check_answered(&through_stdin(&session, &repo, wall.as_bytes()), "one word");
    let nested = "(".repeat(64 << 10);
    check_answered(&through_stdin(&session, &repo, nested.as_bytes()), "brackets");
    let ticks = "`".repeat(64 << 10);
    check_answered(&through_stdin(&session, &repo, ticks.as_bytes()), "backticks");

    log.push('x');
    let ran = through_stdin(&session, &repo, log.as_bytes());
    let error: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &error["error"]["kind"]), (2, &"usage".into()));
    assert!(error["error"]["message"].as_str().unwrap().contains("65537"), "{error}");
}

#[test]
fn a_command_line_without_a_task_is_told_so() {
    let (session, repo) = (Session::new(), shop());
    session.error(repo.path(), &["context"], 2, "usage");
    session.error(repo.path(), &["context", "one", "two"], 2, "usage");
    session.error(repo.path(), &["context", "one", "--files", "shop/cart.py"], 2, "usage");
    session.error(repo.path(), &["context", "one", "--jsn"], 2, "usage");
    session.error(repo.path(), &["context", "one", "--ranker", "random"], 2, "usage");
    session.error(repo.path(), &["context", "one", "--format", "yaml"], 2, "usage");
}
