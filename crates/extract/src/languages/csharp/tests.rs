//! What `spec.md` cannot show: deep, long and broken input, test paths, line ends.

use knowing_model::NodeFlags;
use knowing_model::facts::PartialReason;
use proptest::prelude::*;

use crate::extract;
use crate::tests::{check_whole, reason_of};

/// Pieces that make code which is nearly right.
const PARTS: [&str; 76] = [
    "class C",
    "struct S",
    "record R(int a)",
    "interface I",
    "enum E",
    "delegate int D",
    "namespace N",
    "using ",
    "using A = ",
    "global ",
    "static ",
    "public ",
    "partial ",
    "async ",
    "void F(",
    "int P ",
    "get",
    "set",
    "this",
    "base",
    "this[int i]",
    "operator +",
    "event ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ".",
    "?.",
    "?[",
    "::",
    ", ",
    ";",
    ": ",
    " = ",
    " => ",
    "??",
    "!",
    "new ",
    "new(",
    "new[] {",
    "var ",
    "out var ",
    "foreach (",
    " in ",
    "if (",
    "else ",
    "switch ",
    "case ",
    "when ",
    " is ",
    " not ",
    " as ",
    " with ",
    "throw ",
    "await ",
    "return ",
    "where T : ",
    "from x in ",
    "select ",
    "x",
    "T",
    "y.Z()",
    "_",
    "\"",
    "$\"{",
    "\"\"\"",
    "#if A\n",
    "#else\n",
    "#endif\n",
    "/// <a>\n",
    "ü",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn x5_random_code_never_panics(parts in proptest::collection::vec(0..PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| PARTS[it]).collect();
        check_whole(&extract("a.cs", text.as_bytes()));
    }
}

#[test]
fn x5_deep_nesting_ends_and_keeps_what_was_found() {
    let deep = 20_000;
    let around = |open: &str, inner: &str, close: &str| open.repeat(deep) + inner + &close.repeat(deep);
    let body = |text: String| format!("class C {{ void F() {{ {text} }} }}");
    let nested = [
        body(format!("var x = {};", around("(", "1", ")"))),
        body(format!("var x = {};", around("f(", "1", ")"))),
        body(format!("var x = {};", around("new A(", "1", ")"))),
        body(format!("var x = a{};", ".b()".repeat(deep))),
        body(format!("var x = a{};", "?.b".repeat(deep))),
        body(format!("var x = a{};", " + a".repeat(deep))),
        body(format!("var x = a{};", " ?? a".repeat(deep))),
        body(format!("var x = {}1;", "y => ".repeat(deep))),
        body(format!("if (x is {}) {{ }}", around("{ A: ", "1", " }"))),
        body(around("{ ", "", " }")),
        format!("class C {{ void F({} x) {{ }} }}", around("List<", "int", ">")),
        around("class C { ", "", " }"),
        around("namespace N { ", "", " }"),
    ];
    for text in nested {
        let text = format!("class Before {{ }}\n{text}\nclass After {{ }}\n");
        let facts = extract("a.cs", text.as_bytes());
        check_whole(&facts);
        let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
        assert!(names.contains(&"Before"), "{}", &text[..60]);
        assert!(reason_of(&facts).is_some(), "{}", &text[..60]);
    }
}

#[test]
fn long_lists_and_chains_are_whole() {
    let members: String = (0..5_000).map(|it| format!("A{it}, ")).collect();
    let facts = extract("a.cs", format!("enum E {{ {members} }}").as_bytes());
    assert_eq!((facts.decls.len(), &facts.partial), (5_001, &None));
    let text = format!("class C {{ void F() {{ a{}; }} }}", ".b()".repeat(400));
    let facts = extract("a.cs", text.as_bytes());
    assert_eq!((facts.calls.len(), facts.partial), (400, None));
}

#[test]
fn x7_line_ends_and_marks_do_not_matter() {
    let text = "/// <summary>\n/// One\n/// two.\n/// </summary>\n[A]\npublic class C\n{\n    public void F(\n        int a,\n        int b) { G(); }\n}\n";
    let texts = |text: String| {
        let facts = extract("a.cs", text.as_bytes());
        let texts: Vec<_> = facts
            .decls
            .iter()
            .map(|it| {
                (facts.text(it.signature).to_owned(), it.doc.map(|it| facts.text(it).to_owned()), it.span)
            })
            .collect();
        (texts, facts.calls[0].position, facts.partial)
    };
    let plain = texts(text.to_owned());
    assert_eq!(plain.0[0].1.as_deref(), Some("One\ntwo."));
    assert_eq!(plain.0[1].0, "public void F(int a, int b)");
    assert_eq!(plain, texts(text.replace('\n', "\r\n")));
    assert_eq!(plain, texts(format!("\u{feff}{text}")));
}

#[test]
fn bytes_that_are_no_text_are_read_as_far_as_they_go() {
    let facts = extract("a.cs", b"class C { void F() { G(\"\xff\"); } }\n/// \xff\nclass D { }\n");
    assert_eq!((facts.decls.len(), facts.calls.len()), (3, 1));
    assert_eq!(reason_of(&facts), Some(PartialReason::InvalidUtf8));
}

#[test]
fn test_paths_go_by_whole_segments_and_affixes() {
    let is_test = |path: &str| extract(path, b"").flags.contains(NodeFlags::TEST);
    for path in [
        "test/A.cs",
        "a/Shop.Tests/A.cs",
        "UnitTests/A.cs",
        "src/CartTests.cs",
        "a/CartTest.cs",
        "tests/a.cs",
    ] {
        assert!(is_test(path), "{path}");
    }
    for path in ["src/Latest.cs", "src/Testing/A.cs", "src/Contest.cs", "src/TestKit/A.cs", "attests/A.cs"] {
        assert!(!is_test(path), "{path}");
    }
}
