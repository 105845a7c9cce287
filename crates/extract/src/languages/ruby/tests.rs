//! Runs the specification, and what must hold for any input.

use std::path::Path;

use proptest::prelude::*;

use crate::extract;
use crate::notation::lines;
use crate::tests::check_whole;

#[test]
fn x1_ruby() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages/ruby/spec.md");
    knowing_testkit::spec::check_spec(include_str!("spec.md"), &path, |case| {
        let path = case.path.as_deref().unwrap_or("a.rb");
        lines(&extract(path, case.source.as_bytes()), &case.source)
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn x5_random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for path in ["a.rb", "spec/a_spec.rb", "a.gemspec", "Gemfile"] {
            check_whole(&extract(path, &bytes));
        }
    }

    #[test]
    fn x5_random_ruby_never_panics(parts in proptest::collection::vec(0..PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| PARTS[it]).collect();
        check_whole(&extract("a.rb", text.as_bytes()));
        check_whole(&extract("spec/a_spec.rb", text.as_bytes()));
    }
}

/// Pieces that make code which is nearly right.
const PARTS: [&str; 60] = [
    "def f(",
    "class C < ",
    "module M",
    "\n",
    "end\n",
    "x",
    "@x",
    "@@y",
    ".y",
    "&.",
    "::",
    "A",
    "(",
    ")",
    "[",
    "]",
    "{",
    " |a, (b, *c)| ",
    "}",
    ", ",
    " = ",
    " ||= ",
    ": ",
    "\"t\"",
    "'",
    "#{",
    "->(x) { ",
    "do |x|\n",
    "if ",
    "unless ",
    "else\n",
    "case x\n",
    "when ",
    "in ",
    "rescue ",
    "=> ",
    "self",
    "super",
    "return ",
    "yield ",
    "raise ",
    "<<~T\n",
    "T\n",
    "attr_reader :a",
    "private ",
    "include ",
    "describe A do\n",
    "it \"x\" do\n",
    "let(:a) { ",
    "%w[a b]",
    ":sym",
    "&:sym",
    "# @param x [A<B, C>]\n",
    "#: (A) -> B\n",
    "sig { params(x: ",
    "Struct.new(:a)",
    "*",
    "**",
    "?",
    "ü",
];

#[test]
fn x5_deep_ruby_ends_and_keeps_what_was_found() {
    let deep = 20_000;
    let nested = [
        format!("x = {}1{}\n", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}1{}\n", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}1{}\n", "f(".repeat(deep), ")".repeat(deep)),
        format!("x = a{}\n", ".b".repeat(deep)),
        format!("x = a{}\n", " || a".repeat(deep)),
        format!("x = {}1{}\n", "-> { ".repeat(deep), " }".repeat(deep)),
        format!("{}x{} = y\n", "(".repeat(deep), ",)".repeat(deep)),
        format!("# @return [{}A{}]\ndef typed; end\n", "A<".repeat(deep), ">".repeat(deep)),
    ];
    for text in nested {
        let text = format!("def before; end\n{text}def after; end\n");
        let facts = extract("a.rb", text.as_bytes());
        check_whole(&facts);
        let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
        assert!(names.contains(&"before"), "{names:?}");
        assert!(facts.partial.is_some(), "{}", &text[..60]);
    }
}

#[test]
fn an_empty_file_has_facts() {
    let facts = extract("a.rb", b"");
    assert_eq!((facts.partial, facts.n_lines, &*facts.language), (None, 0, "ruby"));
}
