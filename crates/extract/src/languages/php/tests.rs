//! What `spec.md` cannot show: deep, long and broken input, test paths.

use knowing_model::NodeFlags;
use proptest::prelude::*;

use crate::extract;
use crate::tests::{check_whole, reason_of};

/// Pieces that make code which is nearly right.
const PARTS: [&str; 56] = [
    "<?php ",
    "?>",
    "class C ",
    "trait T ",
    "interface I ",
    "enum E ",
    "extends B ",
    "implements I ",
    "namespace N",
    "use A\\B",
    " as ",
    "function f(",
    "fn (",
    "static ",
    "public ",
    "const A",
    "case B",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "$x",
    "$this",
    "->",
    "?->",
    "::",
    "::class",
    "\\",
    ", ",
    ";",
    ": ",
    " = ",
    " => ",
    "??",
    "? ",
    "new ",
    "foreach (",
    "if (",
    " instanceof ",
    "match (",
    "throw ",
    "return ",
    "yield ",
    "catch (",
    "...",
    "'s'",
    "\"{",
    "<<<X\n",
    "/** @param A $x */",
    "/** @var B<",
    "#[A]",
    "#",
    "y()",
    "ü",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn x5_random_code_never_panics(parts in proptest::collection::vec(0..PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| PARTS[it]).collect();
        check_whole(&extract("a.php", format!("<?php {text}").as_bytes()));
    }
}

#[test]
fn x5_deep_nesting_ends_and_keeps_what_was_found() {
    let deep = 20_000;
    let around = |open: &str, inner: &str, close: &str| open.repeat(deep) + inner + &close.repeat(deep);
    let nested = [
        format!("$x = {};", around("(", "1", ")")),
        format!("$x = {};", around("f(", "1", ")")),
        format!("$x = {};", around("[", "1", "]")),
        format!("$x = $a{};", "->b()".repeat(deep)),
        format!("$x = $a{};", " ?? $a".repeat(deep)),
        format!("{} = $y;", around("[", "$x", "]")),
        around("{ ", "", " }"),
    ];
    for text in nested {
        let text = format!("<?php class Before {{ }}\n{text}\nclass After {{ }}\n");
        let facts = extract("a.php", text.as_bytes());
        check_whole(&facts);
        let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
        assert!(names.contains(&"Before"), "{}", &text[..60]);
        assert!(reason_of(&facts).is_some(), "{}", &text[..60]);
    }
}

#[test]
fn test_paths_go_by_whole_segments_and_affixes() {
    let is_test = |path: &str| extract(path, b"").flags.contains(NodeFlags::TEST);
    for path in ["tests/A.php", "a/Tests/B.php", "src/CartTest.php"] {
        assert!(is_test(path), "{path}");
    }
    for path in ["src/Latest.php", "src/Testing/A.php", "attests/A.php"] {
        assert!(!is_test(path), "{path}");
    }
}
