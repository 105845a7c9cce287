//! What `spec.md` cannot show: deep, long and broken input, test paths, line ends.

use knowing_model::NodeFlags;
use knowing_model::facts::{FileFacts, PartialReason};
use proptest::prelude::*;

use crate::tests::{check_whole, reason_of};
use crate::{Extractor, Limits, extract};

/// Pieces that make code which is nearly right.
const PARTS: [&str; 72] = [
    "fn f(",
    "impl T for ",
    "impl<T> ",
    "struct S",
    "enum E",
    "trait T",
    "mod m",
    "pub ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "::<",
    "::",
    ".",
    ", ",
    ";",
    ": ",
    " = ",
    " => ",
    " -> ",
    "&",
    "&mut ",
    "*",
    "?",
    ".await",
    "|x| ",
    "||",
    "let ",
    "if let ",
    "else ",
    "match x ",
    "for ",
    " in ",
    "while ",
    "return ",
    "x",
    "self",
    "Self",
    "Some(",
    "y.z()",
    "_",
    "..",
    "..=",
    " @ ",
    " | ",
    "ref ",
    "mut ",
    "dyn ",
    "use ",
    "as ",
    "where ",
    "type ",
    "const ",
    "static ",
    "macro_rules! m ",
    "m!",
    "$x",
    "#[derive(D)]",
    "#[test]",
    "///",
    "/*",
    "*/",
    "\"",
    "'a",
    "1",
    "\n",
    "ü",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn x5_random_code_never_panics(parts in proptest::collection::vec(0..PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| PARTS[it]).collect();
        check_whole(&extract("a.rs", text.as_bytes()));
    }
}

#[test]
fn x5_deep_nesting_ends_and_keeps_what_was_found() {
    let deep = 100_000;
    let around = |open: &str, inner: &str, close: &str| open.repeat(deep) + inner + &close.repeat(deep);
    let nested = [
        format!("fn f() {{ let x = {}; }}", around("(", "1", ")")),
        format!("fn f() {{ let x = {}; }}", around("f(", "1", ")")),
        format!("fn f() {{ let x = {}; }}", around("{ ", "1", " }")),
        format!("fn f() {{ let x = {}; }}", around("Box::new(", "1", ")")),
        format!("fn f() {{ let x = a{}; }}", ".b()".repeat(deep)),
        format!("fn f() {{ let x = a{}; }}", " + a".repeat(deep)),
        format!("fn f() {{ let x = {}1; }}", "|| ".repeat(deep)),
        format!("fn f() {{ let {} = y; }}", around("(", "x", ",)")),
        format!("fn f() {{ let {} = y; }}", around("Some(", "x", ")")),
        format!("fn f() {{ m!({}); }}", around("(", "x", ")")),
        format!("fn f(x: {}) {{}}", around("Vec<", "u8", ">")),
        format!("fn f(x: {}u8) {{}}", "&".repeat(deep)),
        format!("fn f() {{ let x = a{}; }}", "::a".repeat(deep)),
        format!("use {};", around("a::{", "b", "}")),
        around("mod m {", "", "}"),
    ];
    for text in nested {
        let text = format!("fn before() {{}}\n{text}\nfn after() {{}}\n");
        let facts = extract("a.rs", text.as_bytes());
        check_whole(&facts);
        let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
        assert!(names.contains(&"before"), "{}", &text[..60]);
        assert_eq!(reason_of(&facts), Some(PartialReason::TooDeep), "{}", &text[..60]);
    }
}

#[test]
fn long_lists_and_chains_are_whole() {
    let members: String = (0..5_000).map(|it| format!("A{it}, ")).collect();
    let facts = extract("a.rs", format!("enum E {{ {members} }}").as_bytes());
    assert_eq!((facts.decls.len(), &facts.partial), (5_001, &None));

    let alternatives: Vec<String> = (0..1_000).map(|it| format!("A{it}(x)")).collect();
    let text = format!("fn f() {{ match y {{ {} => x, }} }}", alternatives.join(" | "));
    let facts = extract("a.rs", text.as_bytes());
    assert_eq!(facts.partial, None);
    assert_eq!(facts.bindings.len(), 1);

    let facts = extract("a.rs", format!("fn f() {{ a{}; }}", ".b()".repeat(400)).as_bytes());
    assert_eq!((facts.calls.len(), facts.partial), (400, None));
    // One expression for each name, member and call but the last: chains share their begin.
    assert_eq!(facts.exprs.len(), 800);
}

#[test]
fn limits_leave_a_partial_file() {
    let with = |limits: Limits, text: &str| Extractor::new(limits).extract("a.rs", text.as_bytes());
    let text = "impl T { fn f(&self) { g() } }\n".repeat(100);

    let facts = with(Limits { max_decls: 10, ..Limits::default() }, &text);
    assert_eq!((facts.decls.len(), reason_of(&facts)), (10, Some(PartialReason::TooManyNodes)));
    check_whole(&facts);

    let facts = with(Limits { max_facts: 50, ..Limits::default() }, &text);
    assert_eq!(reason_of(&facts), Some(PartialReason::TooManyFacts));
    check_whole(&facts);
}

#[test]
fn bytes_that_are_no_text_are_read_as_far_as_they_go() {
    let facts = extract("a.rs", b"fn f() { g(\"\xff\") }\n/// \xff\nfn h() {}\n");
    assert_eq!((facts.decls.len(), facts.calls.len()), (2, 1));
    assert_eq!(reason_of(&facts), Some(PartialReason::InvalidUtf8));
}

#[test]
fn x7_line_ends_and_marks_do_not_matter() {
    let text = "//! Doc.\n//!\n//! More.\n\n/// One\n/// two.\n#[inline]\npub fn f(\n    a: u8,\n    b: u8,\n) { g() }\n";
    let facts = |text: String| extract("a.rs", text.as_bytes());
    let texts = |facts: &FileFacts| {
        let decl = &facts.decls[0];
        let docs = [facts.doc, decl.doc].map(|it| it.map(|it| facts.text(it).to_owned()));
        (
            docs,
            facts.text(decl.signature).to_owned(),
            decl.span,
            facts.calls[0].position,
            facts.partial.clone(),
        )
    };
    let plain = texts(&facts(text.to_owned()));
    assert_eq!(plain.0, [Some("Doc.\n\nMore.".to_owned()), Some("One\ntwo.".to_owned())]);
    assert_eq!(plain, texts(&facts(text.replace('\n', "\r\n"))));
    assert_eq!(plain, texts(&facts(format!("\u{feff}{text}"))));
}

#[test]
fn test_paths_go_by_whole_segments_and_affixes() {
    let is_test = |path: &str| extract(path, b"").flags.contains(NodeFlags::TEST);
    for path in [
        "tests/a.rs",
        "a/tests/b/c.rs",
        "benches/a.rs",
        "src/tests.rs",
        "src/a/test.rs",
        "src/a_test.rs",
        "a_tests.rs",
    ] {
        assert!(is_test(path), "{path}");
    }
    for path in ["src/latest.rs", "src/test/a.rs", "src/testing.rs", "src/attests/a.rs", "src/test_kit.rs"] {
        assert!(!is_test(path), "{path}");
    }
}
