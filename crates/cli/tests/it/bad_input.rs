//! Files that are broken, hostile or odd: each is read as far as it goes and named in the report, the others are as
//! before, and every command goes on answering.

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Session, shop};

/// What is asked of the shop before and after something bad came in.
pub(crate) fn answers(session: &Session, repo: &Fixture) -> Vec<Value> {
    let ask = |arguments: &[&str], field: &str| session.json(repo.path(), arguments)[field].clone();
    vec![
        ask(&["callers", "Cart.total", "--depth", "3"], "callers"),
        ask(&["callees", "serve"], "callees"),
        ask(&["blast-radius", "Base.run"], "reached"),
        ask(&["query", "shop/cart.py.*", "--edges", "both"], "edges"),
    ]
}

/// Runs every command; none may crash, whatever the symbol is.
#[track_caller]
pub(crate) fn ask_everything(session: &Session, repo: &Fixture, symbol: &str) {
    for arguments in [
        &["stats"][..],
        &["query", "*"],
        &["query", symbol, "--edges", "both"],
        &["callers", symbol, "--depth", "100"],
        &["callees", symbol, "--depth", "100"],
        &["blast-radius", symbol, "--depth", "100"],
        &["export"],
        &["export", "--format", "dot"],
    ] {
        let ran = session.run(repo.path(), arguments);
        assert!(ran.code == 0 || ran.code == 1, "{arguments:?}: {} {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    }
}

/// Adds files to an indexed shop, indexes it again, and sees that the shop answers as before.
#[track_caller]
fn add_to_shop(files: &[(&str, &[u8])]) -> (Session, Fixture, Value) {
    let (session, repo) = (Session::new(), shop());
    session.index(&repo);
    let before = answers(&session, &repo);
    for (path, bytes) in files {
        repo.write_bytes(path, bytes);
    }
    repo.commit("bad files");
    let report = session.index(&repo);
    assert_eq!(answers(&session, &repo), before);
    (session, repo, report)
}

/// Files each with something bad between two functions, which are found all the same.
#[track_caller]
fn check_kept(extension: &str, function: fn(&str) -> String, shapes: &[(&str, String)]) {
    let files: Vec<(String, String)> = shapes
        .iter()
        .map(|(name, text)| {
            let (before, after) = (function(&format!("before_{name}")), function(&format!("after_{name}")));
            (format!("deep/{name}.{extension}"), format!("{before}{text}\n{after}"))
        })
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let (session, repo, report) = add_to_shop(&files);
    assert_eq!(report["files"], json!(4 + shapes.len()), "{}", report["skipped"]);
    let partial = report["partial"].as_array().cloned().unwrap_or_default();
    for (name, _) in shapes {
        let file = format!("deep/{name}.{extension}");
        let named = partial.iter().find(|it| it["file"] == file);
        // In a build without optimisation, time may run out before depth does.
        if named.is_none_or(|it| it["reason"] != "parse_timeout") {
            session.json(repo.path(), &["query", &format!("before_{name}")]);
            session.json(repo.path(), &["query", &format!("after_{name}")]);
        }
    }
    ask_everything(&session, &repo, &format!("before_{}", shapes[0].0));
}

const DEEP: usize = 100_000;

/// So often, on lines that are not too long to be read.
fn times(text: &str) -> String {
    format!("{}\n", text.repeat(500)).repeat(DEEP / 500)
}

fn around(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", times(open), times(close))
}

fn python(name: &str) -> String {
    format!("def {name}():\n    pass\n\n")
}

fn rust(name: &str) -> String {
    format!("fn {name}() {{}}\n")
}

#[test]
fn x5_python_nested_a_hundred_thousand_deep() {
    let nested = |head: &str| -> String {
        let head = |depth: usize| head.replace('N', &depth.to_string());
        let lines = (0..1_500).map(|depth| format!("{}{}:\n", " ".repeat(depth), head(depth)));
        lines.collect::<String>() + &" ".repeat(1_500) + "pass\n"
    };
    check_kept(
        "py",
        python,
        &[
            ("parentheses", format!("x = {}", around("(", "1", ")"))),
            ("brackets", format!("x = {}", around("[", "1", "]"))),
            ("dictionaries", format!("x = {}", around("{1:", "1", "}"))),
            ("calls", format!("x = ({})", around("f(", "1", ")"))),
            ("unary", format!("x = ({}1)", times("-"))),
            ("conditional", format!("x = ({}2)", times("1 if a else "))),
            ("types", format!("def typed(x: {}): pass", around("list[", "int", "]"))),
            ("classes", nested("class CN")),
            ("functions", nested("def fN()")),
            ("conditions", nested("if N")),
        ],
    );
}

#[test]
fn x5_python_a_hundred_thousand_long() {
    check_kept(
        "py",
        python,
        &[
            ("members", format!("x = (a{})", times(".b"))),
            ("chain", format!("x = (a{})", times(".b()"))),
            ("subscripts", format!("x = (a{})", times("[0]"))),
            ("concatenation", format!("x = ('a'{})", times(" + 'a'"))),
            ("adjacent", format!("x = ({})", times("'a' "))),
            ("or", format!("x = (a{})", times(" or a"))),
            ("elif", format!("if a:\n    f()\n{}", "elif b:\n    g()\n".repeat(DEEP))),
            ("decorators", format!("{}def decorated():\n    pass\n", "@f\n".repeat(DEEP))),
            ("numbers", format!("x = {0}\ny = 0x{0}\nz = {0}.{0}e{0}", "9".repeat(15_000))),
        ],
    );
}

#[test]
fn x5_rust_nested_a_hundred_thousand_deep() {
    let within = |text: String| format!("fn x() {{ let x = {text}; }}");
    check_kept(
        "rs",
        rust,
        &[
            ("parentheses", within(around("(", "1", ")"))),
            ("blocks", within(around("{", "1", "}"))),
            ("calls", within(around("f(", "1", ")"))),
            ("macros", within(around("vec![", "1", "]"))),
            ("unary", within(times("!") + "1")),
            ("matches", within(around("match a { _ => ", "1", "}"))),
            ("conditions", within(around("if a { ", "1", "}"))),
            ("modules", around("mod a {", "", "}")),
            ("functions", around("fn a() {", "", "}")),
            ("types", format!("fn x(a: {}) {{}}", around("Vec<", "u8", ">"))),
        ],
    );
}

#[test]
fn x5_rust_a_hundred_thousand_long() {
    let within = |text: String| format!("fn x() {{ let x = {text}; }}");
    check_kept(
        "rs",
        rust,
        &[
            ("members", within(format!("a{}", times(".b")))),
            ("chain", within(format!("a{}", times(".b()")))),
            ("path", within(format!("a{}", times("::b")))),
            ("concatenation", within(format!("\"a\"{}", times(" + \"a\"")))),
            ("questions", within(format!("a{}", times("?")))),
            ("casts", within(format!("a{}", times(" as u8")))),
            ("else_if", format!("fn x() {{ if a {{ f() }} {} }}", times("else if b { g() } "))),
            ("bounds", format!("fn x<T: A{}>() {{}}", times(" + A"))),
            ("attributes", format!("{}fn attributed() {{}}", times("#[a] "))),
            ("numbers", format!("const X: u128 = {};", "9".repeat(60_000))),
        ],
    );
}

#[test]
fn x5_text_that_is_no_text() {
    let (session, repo, report) = add_to_shop(&[
        ("odd/latin.py", b"def before():\n    '''caf\xe9'''\n\ndef after_latin():\n    pass\n"),
        ("odd/latin.rs", b"fn before() {} // caf\xe9\nfn after_latin_too() {}\n"),
        ("odd/half.py", b"\xff\xfe\xfd\xc3\x28\ndef after_half():\n    pass\n"),
        ("odd/nul.py", b"def nul():\n    return '\0'\n"),
        // The first 8 KiB decide what is binary.
        (
            "odd/late_nul.py",
            &[b"# a comment\n".repeat(1_000), b"def before_nul():\n    return '\0'\n".to_vec()].concat(),
        ),
        ("odd/empty.py", b""),
        ("odd/empty.rs", b""),
        ("odd/blank.py", b"\n\n\n"),
        ("odd/mark.py", b"\xef\xbb\xbfdef after_mark():\r\n    pass\r\n"),
        ("odd/no_newline.rs", b"fn after_no_newline() {}"),
        ("odd/Cargo.toml", b"[package\nname = "),
        ("odd/pyproject.toml", b"\xff\xff"),
        ("odd/setup.cfg", b"= = =\n[[[\n"),
        ("odd/one_line.py", &[b"x = '".to_vec(), b"y".repeat(10 << 20), b"'\n".to_vec()].concat()),
        ("odd/one_long_line.py", &[b"x = '".to_vec(), b"y".repeat(1 << 20), b"'\n".to_vec()].concat()),
    ]);
    assert_eq!(report["skipped"], json!({ "binary": 1, "too_large": 1, "long_line": 1 }));
    assert_eq!(report["files"], json!(4 + 12));
    let partial = report["partial"].as_array().unwrap();
    assert!(partial.iter().any(|it| it["file"] == "odd/late_nul.py"), "{partial:?}");
    for name in
        ["after_latin", "after_latin_too", "after_half", "before_nul", "after_mark", "after_no_newline"]
    {
        assert_eq!(session.json(repo.path(), &["query", name])["total"], json!(1), "{name}");
    }
    ask_everything(&session, &repo, "odd/empty.py");
}

#[test]
fn x5_syntax_errors_lose_only_themselves() {
    let (session, repo, report) = add_to_shop(&[
        ("odd/a.py", b"def good_one():\n    pass\n\nclass (:\n    def \n\ndef good_two():\n    good_one()\n"),
        ("odd/b.rs", b"fn good_three() {}\nfn bad( {\nstruct\nfn good_four() { good_three() }\n"),
        (
            "odd/conflict.py",
            b"<<<<<<< HEAD\ndef ours():\n    pass\n=======\ndef theirs():\n    pass\n>>>>>>> b\n",
        ),
    ]);
    assert_eq!(report["partial_files"], json!(3));
    for it in report["partial"].as_array().unwrap() {
        assert_eq!(it["reason"], json!("syntax_error"), "{it}");
        assert!(it["line"].as_u64().is_some(), "{it}");
    }
    for name in ["good_one", "good_two", "good_three", "ours", "theirs"] {
        assert_eq!(session.json(repo.path(), &["query", name])["total"], json!(1), "{name}");
    }
    assert_eq!(session.json(repo.path(), &["callers", "good_one"])["total"], json!(1));
    let text = session.text(repo.path(), &["index", "--force"]);
    assert!(text.contains("read in part: 3 (odd/a.py"), "{text}");
}

#[test]
fn x5_a_hundred_thousand_functions_are_kept_up_to_the_limit() {
    let functions = |line: fn(usize) -> String| (0..DEEP).map(line).collect::<String>();
    let (session, repo, report) = add_to_shop(&[
        ("odd/many.py", functions(|n| format!("def f{n}():0\n")).as_bytes()),
        ("odd/many.rs", functions(|n| format!("fn g{n}(){{}}\n")).as_bytes()),
    ]);
    assert_eq!(report["partial_files"], json!(2));
    for it in report["partial"].as_array().unwrap() {
        assert_eq!(it["reason"], json!("too_many_nodes"), "{it}");
    }
    assert_eq!(session.json(repo.path(), &["query", "f1"])["total"], json!(1));
    assert_eq!(session.json(repo.path(), &["query", "g1"])["total"], json!(1));
    let all = session.json(repo.path(), &["query", "*", "--limit", "0"]);
    assert_eq!((&all["symbols"], &all["truncated"]), (&json!([]), &json!(true)));
    assert!(all["total"].as_u64().unwrap() > 90_000);
}

#[test]
fn circles_of_imports_classes_and_names_end() {
    let (session, repo, _) = add_to_shop(&[
        ("ring/__init__.py", b"from ring.a import *\nfrom ring.b import *\n"),
        ("ring/a.py", b"from ring.b import *\nfrom ring.b import x as y\nimport ring\n\ndef go():\n    y()\n    ring.go()\n"),
        ("ring/b.py", b"from ring.a import *\nfrom ring.a import y as x\nfrom ring import *\n\ndef come():\n    x()\n"),
        ("ring/c.py", b"class A(B):\n    pass\n\nclass B(A):\n    def m(self):\n        self.n()\n\nclass C(C):\n    pass\n"),
        ("ring/d.py", b"a = b\nb = a\n\ndef f(x=a):\n    return g(x)\n\ndef g(x):\n    return f(x)\n\nf(1).go().on()\n"),
        ("ring/Cargo.toml", b"[package]\nname = \"ring\"\n[dependencies]\nring = { path = \".\" }\n"),
        ("ring/src/lib.rs", b"mod a;\nmod b;\npub use a::*;\npub use b::*;\nuse self::x as y;\nuse self::y as x;\npub fn f() { x(); y::z(); self::a::q(); }\n"),
        ("ring/src/a.rs", b"pub use super::b::*;\npub use super::*;\ntype A = B;\ntype B = A;\nfn f(a: A) { a.go(); }\n"),
        ("ring/src/b.rs", b"pub use super::a::*;\ntrait T: U {}\ntrait U: T {}\nimpl<X: T> T for X {}\nfn f(a: impl T) { a.go(); }\n"),
    ]);
    ask_everything(&session, &repo, "come");
    ask_everything(&session, &repo, "ring/c.py.A");
}

#[test]
fn two_thousand_files_in_one_directory() {
    let (session, repo) = (Session::new(), shop());
    for n in 0..2_000 {
        repo.write(&format!("crowd/m{n}.py"), &format!("def f{n}():\n    pass\n"));
    }
    repo.commit("crowd");
    let report = session.index(&repo);
    assert_eq!(report["files"], json!(2_004));
    assert_eq!(session.json(repo.path(), &["query", "f1999"])["total"], json!(1));
    assert_eq!(
        session.json(repo.path(), &["query", "*", "--package", "crowd", "--kinds", "function"])["total"],
        json!(2_000)
    );
}

#[test]
fn x2_of_a_dump_over_the_limit_the_begin_is_read_and_the_answer_says_so() {
    let (session, repo) = (Session::new(), Fixture::new());
    let rows = "INSERT INTO users VALUES (1, 'a name');\n".repeat((3 << 20) / 39);
    repo.write("dump.sql", &format!("CREATE TABLE users (id int);\n{rows}CREATE TABLE late (id int);\n"));
    let steps = "UPDATE users SET id = 1 WHERE id = 2;\n".repeat((3 << 20) / 38);
    repo.write("steps.sql", &format!("CREATE TABLE carts (id int);\n{steps}CREATE TABLE never (id int);\n"));
    let paths = "  /a:\n    get: {}\n".repeat((3 << 20) / 18);
    repo.write("openapi.yaml", &format!("openapi: 3.0.0\npaths:\n{paths}"));
    repo.write("app.py", "def main():\n    return 1\n");
    repo.commit("a dump");
    let reply = session.index(&repo);
    let partial = reply["partial"].as_array().unwrap();
    let listed: Vec<(&str, &str)> =
        partial.iter().map(|it| (it["file"].as_str().unwrap(), it["reason"].as_str().unwrap())).collect();
    assert_eq!(listed, [("openapi.yaml", "too_large"), ("steps.sql", "too_large")], "{reply}");
    assert!(partial[1]["line"].as_u64().is_some_and(|it| it > 40_000), "where reading ended: {reply}");
    for name in ["users", "late", "carts"] {
        let text = session.text(repo.path(), &["query", name, "--kinds", "table"]);
        assert!(text.contains(name), "rows do not count: {text}");
    }
    let text = session.text(repo.path(), &["query", "main", "--kinds", "function"]);
    assert!(text.contains("app.py"), "the next files are read: {text}");
}
