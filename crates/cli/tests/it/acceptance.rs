//! Statements of the specification that are about the whole: names find their nodes, any text is a query, calls
//! connect to what they mean.

use std::collections::BTreeSet;
use std::path::Path;

use knowing_ops::{Cx, Environment, Operation, Query, Reply, Silent, StalePolicy, TreeChoice};
use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// Every node of a repository as its export lists it.
fn nodes(session: &Session, place: &Path) -> Vec<Value> {
    let text = session.text(place, &["export"]);
    let lines = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    lines.take_while(|it| it["type"] == "node").collect()
}

/// Asks for every node by its printed name and kind: through the operation itself, since thousands of processes would
/// take minutes.
#[track_caller]
fn check_names(session: &Session, place: &Path) -> usize {
    let nodes = nodes(session, place);
    let stats = session.json(place, &["stats"]);
    let text_of = |field: &str| stats[field].as_str().unwrap().to_owned();
    let (database, repo) = (text_of("database"), text_of("repo"));
    let (database, repo) = (database.as_str(), repo.as_str());
    let ask = |node: &Value| {
        let kind = node["kind"].as_str().unwrap();
        let text = format!("{}@{kind}", node["qualified_name"].as_str().unwrap());
        let environment = Environment {
            working_directory: session.file(""),
            database: Some(database.into()),
            data_directory: Some(session.data()),
            auto_gc: true,
            now: 0,
            started: 0,
        };
        let mut output = Vec::new();
        let mut cx = Cx {
            environment,
            repo: Some(repo.to_owned()),
            tree: TreeChoice::default(),
            stale: StalePolicy::default(),
            session: None,
            paging: Default::default(),
            progress: &Silent,
            output: &mut output,
        };
        // A name with a star in it is a pattern to `query`, and none here.
        let operation = match text.contains(['*', '?']) {
            true => Operation::Callers(callers(&text)),
            false => Operation::Query(query(&text)),
        };
        let reply = operation.run(&mut cx).unwrap_or_else(|error| panic!("{text}: {}", error.message));
        let found: Vec<String> = match reply {
            Reply::Query(it) => it.symbols.into_iter().map(|it| it.symbol.id).collect(),
            Reply::Callers(it) => vec![it.symbol.id],
            _ => Vec::new(),
        };
        assert_eq!(found, [node["id"].as_str().unwrap()], "{text}");
    };
    let share = nodes.len().div_ceil(4).max(1);
    std::thread::scope(|scope| {
        for part in nodes.chunks(share) {
            scope.spawn(move || part.iter().for_each(ask));
        }
    });
    nodes.len()
}

fn query(text: &str) -> Query {
    serde_json::from_value(json!({ "query": text })).unwrap()
}

fn callers(text: &str) -> knowing_ops::Callers {
    serde_json::from_value(json!({ "symbol": text, "limit": 0 })).unwrap()
}

const ALIKE: &str = r#"
//- /a.py
from typing import overload


class A:
    def run(self):
        pass

    @property
    def x(self):
        return 1

    @x.setter
    def x(self, value):
        pass


class B:
    def run(self):
        pass


@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x):
    return x
//- /Cargo.toml
[package]
name = "alike"
//- /src/lib.rs
pub struct A { len: usize }
pub struct B;
pub trait T { fn run(&self); }
pub trait U { fn run(&self); }
impl A { pub fn run(&self) {} pub fn len(&self) -> usize { self.len } }
impl B { pub fn run(&self) {} }
impl T for A { fn run(&self) {} }
impl U for A { fn run(&self) {} }
#[cfg(unix)]
fn platform() {}
#[cfg(not(unix))]
fn platform() {}
mod a { pub fn run() {} }
mod b { pub fn run() {} }
macro_rules! run { () => {} }
"#;

#[test]
fn m3_things_of_one_name_are_distinct_nodes() {
    let (session, repo) = (Session::new(), Fixture::from_text(ALIKE));
    repo.commit("alike");
    session.index(&repo);
    let nodes = nodes(&session, repo.path());
    let n_named = |name: &str, file: &str| {
        let fits = |it: &&Value| it["name"] == name && it["file"] == file;
        let ids: BTreeSet<&str> = nodes.iter().filter(fits).map(|it| it["id"].as_str().unwrap()).collect();
        ids.len()
    };
    assert_eq!(n_named("run", "a.py"), 2, "methods of two classes");
    assert_eq!(n_named("x", "a.py"), 2, "a getter and its setter");
    assert_eq!(n_named("f", "a.py"), 3, "overloads");
    assert_eq!(n_named("run", "src/lib.rs"), 9, "methods of types and traits, functions of modules, a macro");
    assert_eq!(n_named("len", "src/lib.rs"), 2, "a field and a method");
    assert_eq!(n_named("platform", "src/lib.rs"), 2, "one for each platform");
    check_names(&session, repo.path());
}

#[test]
fn m4_every_printed_name_of_our_own_source_finds_its_node() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|it| it.unwrap().file_name());
    let mut n_names = 0;
    for name in crates {
        // One crate at a time: every question checks the whole image again, which a debug build does slowly.
        let session = Session::new();
        let include = format!("crates/{}/", name.to_str().unwrap());
        if session.json(&root, &["index", ".", "--include", &include])["files"] != 0 {
            n_names += check_names(&session, &root);
        }
    }
    assert!(n_names > 3_000, "{n_names}");
}

#[test]
fn m8_every_symbol_without_callers_shows_how_many_sites_are_unresolved() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    for node in nodes(&session, repo.path()) {
        let id = node["id"].as_str().unwrap();
        let answer = session.json(repo.path(), &["callers", id]);
        if answer["total"] == 0 {
            assert!(answer["unresolved"]["count"].is_u64(), "{answer}");
        }
    }
}

#[test]
fn s4_any_text_is_a_query() {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let long = "x".repeat(64 << 10);
    let stars = "*".repeat(2_000) + "b";
    let many = "a*".repeat(2_000) + "b";
    let dots = "a.".repeat(30_000);
    let texts = [
        "",
        " ",
        "\t",
        "\n",
        "\"",
        "'",
        "`",
        "''",
        "\"\"",
        "\"unclosed",
        "it's",
        "a-b",
        "-",
        "--",
        "-x",
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "a AND b",
        "a OR",
        "NOT a",
        "a NEAR/3 b",
        "a*b*c",
        "**",
        "?",
        "[a-z]",
        "[",
        "]",
        "{",
        "}",
        "{a,b}",
        "(",
        ")",
        "(a|b)",
        "^a",
        "a$",
        "\\",
        "\\\\",
        "\\d+",
        ".*",
        ".",
        "..",
        "...",
        "/",
        "//",
        ":",
        "::",
        ":::",
        "#",
        "##",
        "@",
        "@@",
        "a@",
        "@method",
        "a@method",
        "a@nosuch",
        "%",
        "_",
        "%_%",
        "a%",
        ";",
        "a;b",
        "'; DROP TABLE symbols; --",
        "1=1",
        "\" OR \"\"=\"",
        "SELECT * FROM nodes",
        "x' UNION SELECT 1 --",
        "://",
        "a://",
        "://a",
        "local/x://a.b",
        ":1",
        "a:1",
        "a:-1",
        "a:99999999999999999999",
        "a:1:99999999999999",
        "shop/cart.py:0",
        "shop/cart.py:4294967295",
        "shop/cart.py:4294967296",
        "00000000",
        "deadbeefdeadbeef",
        "ffffffffff",
        "😀",
        "ü",
        "ﬀ",
        "İ",
        "ß",
        "\u{202e}abc",
        "e\u{301}",
        "\u{0}a",
        "\u{1b}[31m",
        "\u{fffd}",
        "日本語",
        "a\u{2028}b",
        "cart.",
        ".cart",
        "cart..total",
        "Cart.total()",
        "Cart->total",
        "Cart::total",
        "Cart#total",
        "f(int)",
        "~",
        "$HOME",
        "$(id)",
        "!",
        &long,
        &stars,
        &many,
        &dots,
    ];
    for text in texts {
        // A null byte cannot be an argument of a program.
        let text = text.replace('\0', "");
        for verb in ["query", "callers", "blast-radius"] {
            let ran = session.run(repo.path(), &[verb, "--json", "--", &text]);
            let reply: Value = serde_json::from_str(&ran.stdout)
                .unwrap_or_else(|_| panic!("{verb} {text:?}: {}", ran.stderr));
            assert_eq!(reply["schema"], json!(1));
            let kind = reply["error"]["kind"].as_str();
            let is_answer = ran.code == 0 || ran.code == 1 && matches!(kind, Some("not_found" | "ambiguous"));
            let shown: String = text.chars().take(50).collect();
            assert!(is_answer, "{verb} {shown:?}: {} {kind:?} {}", ran.code, ran.stderr);
            assert!(ran.stdout.len() < 1 << 20, "{verb} {shown:?} gives {} bytes", ran.stdout.len());
        }
    }
}

#[track_caller]
fn callees(session: &Session, repo: &Fixture, symbol: &str) -> BTreeSet<String> {
    let answer = session.json(repo.path(), &["callees", symbol]);
    let names = answer["callees"].as_array().unwrap().iter();
    names.map(|it| it["qualified_name"].as_str().unwrap().rsplit_once("://").unwrap().1.to_owned()).collect()
}

const WAYS: &str = r#"
//- /pkg/__init__.py
from .engine import Engine as Motor
//- /pkg/engine.py
class Base:
    def stop(self):
        pass


class Engine(Base):
    def start(self):
        self.warm()

    def warm(self):
        pass


class Car:
    def __init__(self, engine: Engine):
        self.engine = engine

    def by_field(self):
        self.engine.start()
//- /pkg/use.py
import json
from pkg import Motor
from .engine import Engine
from . import engine as e


def by_parameter(x: Engine):
    x.start()


def by_constructor():
    Engine().start()


def by_local():
    x = Engine()
    x.start()


def by_inheritance(x: Engine):
    x.stop()


def by_reexport():
    Motor().start()


def by_alias():
    e.Engine().start()


def external():
    json.loads("{}").start()
    json.start()
//- /Cargo.toml
[workspace]
members = ["core", "app"]
//- /core/Cargo.toml
[package]
name = "core-lib"
//- /core/src/lib.rs
mod engine;
pub use engine::Engine as Motor;
pub use engine::{Engine, Stop};
//- /core/src/engine.rs
pub struct Engine;
pub trait Stop { fn stop(&self) {} }
impl Stop for Engine {}
impl Engine {
    pub fn new() -> Engine { Engine }
    pub fn start(&self) { self.warm() }
    fn warm(&self) {}
}
//- /app/Cargo.toml
[package]
name = "app"
[dependencies]
core-lib = { path = "../core" }
//- /app/src/lib.rs
use core_lib::{Engine, Motor, Stop};
use std::process::Command;
struct Car { engine: Engine }
impl Car { fn r_by_field(&self) { self.engine.start() } }
fn r_by_parameter(x: &Engine) { x.start() }
fn r_by_constructor() { Engine::new().start() }
fn r_by_local() { let x = Engine::new(); x.start() }
fn r_by_inheritance(x: &Engine) { x.stop() }
fn r_by_reexport(x: Motor) { x.start() }
fn r_external(x: &Command) { x.start(); String::new().start() }
"#;

fn ways() -> (Session, Fixture) {
    let (session, repo) = (Session::new(), Fixture::from_text(WAYS));
    repo.commit("ways");
    session.index(&repo);
    (session, repo)
}

#[test]
fn r1_methods_are_reached_through_parameters_fields_constructors_self_inheritance_and_locals() {
    let (session, repo) = ways();
    for (caller, method) in [
        ("by_parameter", "pkg/engine.py.Engine.start"),
        ("by_field", "pkg/engine.py.Engine.start"),
        ("by_constructor", "pkg/engine.py.Engine.start"),
        ("by_local", "pkg/engine.py.Engine.start"),
        ("pkg/engine.py.Engine.start", "pkg/engine.py.Engine.warm"),
        ("by_inheritance", "pkg/engine.py.Base.stop"),
        ("r_by_parameter", "core/src/engine.rs.Engine.start"),
        ("r_by_field", "core/src/engine.rs.Engine.start"),
        ("r_by_constructor", "core/src/engine.rs.Engine.start"),
        ("r_by_local", "core/src/engine.rs.Engine.start"),
        ("core/src/engine.rs.Engine.start", "core/src/engine.rs.Engine.warm"),
        ("r_by_inheritance", "core/src/engine.rs.Stop.stop"),
    ] {
        let callees = callees(&session, &repo, caller);
        assert!(callees.contains(method), "{caller}: {callees:?}");
    }
}

#[test]
fn r2_a_call_on_an_external_type_never_means_a_symbol_of_the_project() {
    let (session, repo) = ways();
    for caller in ["external", "r_external"] {
        let callees = callees(&session, &repo, &format!("{caller}@function"));
        assert!(!callees.iter().any(|it| it.contains("Engine")), "{caller}: {callees:?}");
    }
}

#[test]
fn r3_production_code_never_means_a_mock() {
    let (session, repo) = ways();
    repo.write("pkg/open.py", "def open_it(thing):\n    thing.launch()\n    launch()\n");
    repo.write(
        "tests/mocks.py",
        "class MockEngine:\n    def launch(self):\n        pass\n\ndef launch():\n    pass\n",
    );
    repo.write(
        "tests/test_it.py",
        "from tests.mocks import MockEngine\n\ndef test_it():\n    MockEngine().launch()\n",
    );
    repo.commit("mocks");
    session.index(&repo);
    assert_eq!(callees(&session, &repo, "open_it"), BTreeSet::new());
    let tested = callees(&session, &repo, "test_it@test");
    assert!(tested.contains("tests/mocks.py.MockEngine.launch"), "{tested:?}");
}

#[test]
fn r5_reexports_aliases_relative_imports_and_workspaces_resolve() {
    let (session, repo) = ways();
    for (caller, method) in [
        ("by_reexport", "pkg/engine.py.Engine.start"),
        ("by_alias", "pkg/engine.py.Engine.start"),
        ("by_constructor", "pkg/engine.py.Engine.start"),
        ("r_by_reexport", "core/src/engine.rs.Engine.start"),
        ("r_by_constructor", "core/src/engine.rs.Engine.new"),
    ] {
        let callees = callees(&session, &repo, caller);
        assert!(callees.contains(method), "{caller}: {callees:?}");
    }
}

#[test]
fn r6_inherited_methods_are_those_of_all_ancestors_less_what_is_overridden() {
    let (session, repo) = (Session::new(), Fixture::new());
    repo.write(
        "a.py",
        "class A:\n    def one(self):\n        pass\n\n    def two(self):\n        pass\n\n\
         class B(A):\n    def two(self):\n        pass\n\nclass C(B):\n    pass\n",
    );
    repo.commit("levels");
    session.index(&repo);
    let lines = session.text(repo.path(), &["export", "--edge-kinds", "inherits"]);
    let edges: BTreeSet<(String, String)> = lines
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap())
        .filter(|it| it["type"] == "edge")
        .map(|it| {
            let end = |side: &str| it[side].as_str().unwrap().rsplit_once("a.py.").unwrap().1.to_owned();
            (end("source"), end("target"))
        })
        .collect();
    let expect = [("B", "A.one"), ("C", "A.one"), ("C", "B.two")];
    assert_eq!(edges, expect.map(|(source, target)| (source.to_owned(), target.to_owned())).into());
}
