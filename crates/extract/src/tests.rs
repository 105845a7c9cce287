//! Runs every `spec.md`, and what holds for all languages: limits, broken input, the registry.

use std::path::Path;
use std::time::Duration;

use knowing_model::NodeFlags;
use knowing_model::facts::{FileFacts, PartialReason};
use proptest::prelude::*;

use crate::notation::lines;
use crate::{Extractor, Limits, Rules, Screen, SkipReason, accepts, extract, languages, screen, screen_with};

#[track_caller]
fn check(spec: &str, text: &str, default_path: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(spec);
    knowing_testkit::spec::check_spec(text, &path, |case| {
        let path = case.path.as_deref().unwrap_or(default_path);
        lines(&extract(path, case.source.as_bytes()), &case.source)
    });
}

#[test]
fn x1_go() {
    check("languages/go/spec.md", include_str!("languages/go/spec.md"), "a/a.go");
}

#[test]
fn x1_python() {
    check("languages/python/spec.md", include_str!("languages/python/spec.md"), "a.py");
}

#[test]
fn x1_rust() {
    check("languages/rust/spec.md", include_str!("languages/rust/spec.md"), "src/a.rs");
}

#[test]
fn x1_typescript() {
    check("languages/typescript/spec.md", include_str!("languages/typescript/spec.md"), "a.ts");
}

#[test]
fn x1_project_files() {
    check("manifests/spec.md", include_str!("manifests/spec.md"), "Cargo.toml");
}

#[test]
fn x2_formats() {
    check("formats/spec.md", include_str!("formats/spec.md"), "Dockerfile");
}

#[test]
fn the_registry_is_sorted_and_complete() {
    let all = languages();
    let n_languages =
        all.iter().position(|it| it.extensions.is_empty()).expect("project files are listed too");
    let n_formats = all.iter().position(|it| it.name == "asciidoc").expect("formats come last");
    for part in [&all[..n_languages], &all[n_languages..n_formats], &all[n_formats..]] {
        assert!(part.is_sorted_by_key(|it| it.name), "{part:?}");
    }
    for it in &all {
        for extension in it.extensions {
            assert_eq!(accepts(&format!("a/b.{extension}")), Some(it.name));
        }
        for file in it.file_names {
            // Owners are stated at the top, and nowhere else.
            let path = if file.ends_with("CODEOWNERS") { (*file).to_owned() } else { format!("a/{file}") };
            assert_eq!(accepts(&path), Some(it.name));
        }
    }
    assert_eq!(accepts("picture.png"), None);
    assert_eq!(accepts("a/CODEOWNERS"), None);
    assert_eq!(accepts("py"), None);
    assert_eq!(accepts("a.py/b"), None);
}

/// Whatever the input, indices point into the lists and paths tell declarations apart.
#[track_caller]
pub(crate) fn check_whole(facts: &FileFacts) {
    let mut seen = std::collections::BTreeSet::new();
    for (index, decl) in facts.decls.iter().enumerate() {
        assert!(decl.owner.is_none_or(|it| it.index() < index));
        assert!(seen.insert((facts.text(decl.path), decl.kind)), "{}", facts.text(decl.path));
        assert!(facts.text(decl.signature).len() <= 400);
        assert!(decl.doc.is_none_or(|it| facts.text(it).chars().count() <= 800));
        assert!(decl.span.first_line <= decl.span.last_line);
    }
    assert!(facts.calls.is_sorted_by_key(|it| it.position));
    assert!(facts.references.is_sorted_by_key(|it| it.position));
    if reason_of(facts) != Some(PartialReason::TooDeep) {
        // Walks every expression and type.
        let source =
            " ".repeat(facts.decls.iter().map(|it| it.range.to as usize).max().unwrap_or(0) + (1 << 16));
        lines(facts, &source);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn x5_random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        for path in ["a.py", "tests/a.pyi", "a.rs", "a.ts", "a.tsx", "a.js", "a.vue", "tsconfig.json", "package.json", "pnpm-workspace.yaml", "a.go", "a_test.go", "Cargo.toml", "pyproject.toml", "setup.cfg", "setup.py", "go.mod", "go.work", "a.rb", "spec/a_spec.rb", "A.java", "A.kt", "a.cs", "a.php", "a.c", "a.cc", "a.h", "Dockerfile", "a.yaml", "docker-compose.yml", ".gitlab-ci.yml", "a.tf", "a.sql", "a.proto", "a.graphql", "openapi.json", "Makefile", "a.scss", ".env", "CODEOWNERS", "a.md", "a.rst", "a.adoc", "requirements.txt", "pom.xml", "a.csproj", "config/routes.rb"] {
            check_whole(&extract(path, &bytes));
        }
    }

    #[test]
    fn x5_random_code_never_panics(parts in proptest::collection::vec(0..PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| PARTS[it]).collect();
        check_whole(&extract("a.py", text.as_bytes()));
        check_whole(&extract("setup.py", text.as_bytes()));
    }

    #[test]
    fn x5_random_typescript_never_panics(parts in proptest::collection::vec(0..TYPESCRIPT_PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| TYPESCRIPT_PARTS[it]).collect();
        for path in ["a.ts", "a.tsx", "a.js", "a.vue"] {
            check_whole(&extract(path, text.as_bytes()));
        }
    }

    #[test]
    fn x5_random_ruby_never_panics(parts in proptest::collection::vec(0..RUBY_PARTS.len(), 0..200)) {
        let text: String = parts.into_iter().map(|it| RUBY_PARTS[it]).collect();
        check_whole(&extract("a.rb", text.as_bytes()));
        check_whole(&extract("spec/a_spec.rb", text.as_bytes()));
    }

    #[test]
    fn x5_truncated_code_never_panics(snippet: prop::sample::Index, cut: prop::sample::Index) {
        let snippets = snippets();
        let (path, source) = &snippets[snippet.index(snippets.len())];
        let cut = cut.index(source.len());
        check_whole(&extract(path, &source.as_bytes()[..cut]));
        check_whole(&extract(path, &source.as_bytes()[cut..]));
    }
}

/// The snippets of all specifications, with a path for each.
fn snippets() -> Vec<(String, String)> {
    let specs = [
        ("a.py", include_str!("languages/python/spec.md")),
        ("a.rs", include_str!("languages/rust/spec.md")),
        ("a.tsx", include_str!("languages/typescript/spec.md")),
        ("a/a.go", include_str!("languages/go/spec.md")),
        ("a.rb", include_str!("languages/ruby/spec.md")),
        ("A.java", include_str!("languages/java/spec.md")),
        ("A.kt", include_str!("languages/kotlin/spec.md")),
        ("a.cs", include_str!("languages/csharp/spec.md")),
        ("a.php", include_str!("languages/php/spec.md")),
        ("a.c", include_str!("languages/cpp/spec_c.md")),
        ("a.cc", include_str!("languages/cpp/spec.md")),
        ("Cargo.toml", include_str!("manifests/spec.md")),
        ("Dockerfile", include_str!("formats/spec.md")),
    ];
    let cases = specs.into_iter().flat_map(|(default_path, text)| {
        let cases =
            knowing_testkit::spec::parse(text, Path::new("spec.md")).expect("specifications are well-formed");
        cases.into_iter().map(|it| (it.path.unwrap_or_else(|| default_path.to_owned()), it.source))
    });
    cases.collect()
}

/// Pieces that make code which is nearly right.
const PARTS: [&str; 48] = [
    "def f(",
    "class C(",
    "):\n",
    "    ",
    "\n",
    "x",
    ".y",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ", ",
    " = ",
    ": ",
    "\"T\"",
    "'",
    "\"\"\"",
    "lambda x: ",
    "for ",
    " in ",
    "if ",
    "else:\n",
    "import ",
    "from ",
    "as ",
    "match x:\n",
    "case ",
    "|",
    "*",
    "**",
    "->",
    "@",
    "self",
    "isinstance(x, ",
    "not ",
    " and ",
    "return ",
    "yield ",
    "raise ",
    "except ",
    "Annotated[",
    "Literal[",
    "with ",
    "global x\n",
    "f\"{",
    "ü",
];

const TYPESCRIPT_PARTS: [&str; 60] = [
    "function f(",
    "class C ",
    "extends ",
    "implements ",
    "interface I ",
    "type T = ",
    "enum E ",
    "namespace n.m ",
    "const ",
    "let ",
    "var ",
    "export ",
    "default ",
    "import ",
    " from ",
    "'m'",
    "\"",
    "`${",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ", ",
    ": ",
    "; ",
    " = ",
    " => ",
    "?.",
    "!",
    "...",
    ".y",
    "x",
    "this",
    "super",
    "new ",
    "await ",
    "async ",
    "get ",
    "static ",
    "@d() ",
    "instanceof ",
    "typeof ",
    " as ",
    "if (",
    "else ",
    "for (",
    "of ",
    "return ",
    "throw ",
    "describe('t', ",
    "require('m')",
    "module.exports",
    "/** @param {T} x */",
    "<A b={",
    "\n",
    "<script>",
];

#[track_caller]
pub(crate) fn reason_of(facts: &FileFacts) -> Option<PartialReason> {
    facts.partial.as_ref().map(|it| it.reason)
}

#[test]
fn x5_deep_nesting_ends_and_keeps_what_was_found() {
    let deep = 100_000;
    let nested = [
        format!("x = {}1{}\n", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}1{}\n", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}1{}\n", "f(".repeat(deep), ")".repeat(deep)),
        format!("x = a{}\n", ".b()".repeat(deep)),
        format!("x = a{}\n", " + a".repeat(deep)),
        format!("x = a{}\n", " or a".repeat(deep)),
        format!("x = {}1\n", "lambda: ".repeat(deep)),
        format!("{}x{} = y\n", "(".repeat(deep), ",)".repeat(deep)),
    ];
    for text in nested {
        let text = format!("def before(): ...\n{text}def after(): ...\n");
        let facts = extract("a.py", text.as_bytes());
        check_whole(&facts);
        let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
        assert!(names.contains(&"before"), "{names:?}");
        assert!(names.contains(&"after"), "{names:?}");
        assert_eq!(reason_of(&facts), Some(PartialReason::TooDeep), "{}", &text[..60]);
    }
    let quoted = format!("x: \"{}int{}\" = 1\n", "list[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(reason_of(&extract("a.py", quoted.as_bytes())), Some(PartialReason::TooDeep));
}

#[test]
fn x5_deep_typescript_ends_and_keeps_what_was_found() {
    let deep = 20_000;
    let nested = [
        format!("x = {}1{};\n", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}1{};\n", "[".repeat(deep), "]".repeat(deep)),
        format!("x = {}1{};\n", "f(".repeat(deep), ")".repeat(deep)),
        format!("x = a{};\n", ".b()".repeat(deep)),
        format!("x = a{};\n", " || a".repeat(deep)),
        format!("x = {}1;\n", "() => ".repeat(deep)),
        format!("const {}x{} = y;\n", "{a: ".repeat(deep), "}".repeat(deep)),
    ];
    for text in nested {
        let text = format!("function before() {{}}\n{text}function after() {{}}\n");
        for path in ["a.ts", "a.js"] {
            let facts = extract(path, text.as_bytes());
            check_whole(&facts);
            let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
            assert!(names.contains(&"before"), "{path} {names:?}");
            assert!(facts.partial.is_some(), "{path} {}", &text[..60]);
        }
    }
    let written = format!("let x: {}string{} = 1\n", "Array<".repeat(5_000), ">".repeat(5_000));
    check_whole(&extract("a.ts", written.as_bytes()));
}

#[test]
fn x5_large_generated_typescript_is_cut_at_its_limits() {
    let text = "export interface T { a: string; b(x: number): T; }\nexport const c = (x) => x.y(1);\n"
        .repeat(70_000);
    assert!(text.len() > 5_000_000);
    assert_eq!(screen("a.ts", text.as_bytes()), Screen::Skip(SkipReason::TooLarge));
    let facts = extract("a.ts", text.as_bytes());
    assert!(facts.partial.is_some() && facts.decls.len() <= 50_000);
    let minified = format!("var a={{}};{}", "a.b=function(c){return c(1)};".repeat(5_000));
    assert_eq!(screen("a.js", minified.as_bytes()), Screen::Skip(SkipReason::LongLine));
    assert_eq!(extract("a.js", minified.as_bytes()).partial, None);
}

#[test]
fn x5_deep_nesting_of_go_ends_and_keeps_what_was_found() {
    let deep = 20_000;
    let nested = [
        format!("var x = {}1{}\n", "(".repeat(deep), ")".repeat(deep)),
        format!("var x = {}1{}\n", "f(".repeat(deep), ")".repeat(deep)),
        format!("var x {}int\n", "[]".repeat(deep)),
        format!("var x {}int\n", "*".repeat(deep)),
        format!("var x = T{{{}{}}}\n", "{".repeat(deep), "}".repeat(deep)),
        format!("var x = a{}\n", " + a".repeat(deep)),
        format!("func x() {{ {}{} }}\n", "if a { ".repeat(deep), "}".repeat(deep)),
        format!("type x {}int{}\n", "struct { a ".repeat(deep), "}".repeat(deep)),
    ];
    for text in nested {
        let text = format!("package a\nfunc before() {{}}\n{text}func after() {{}}\n");
        let facts = extract("a.go", text.as_bytes());
        check_whole(&facts);
        let names: Vec<&str> = facts.decls.iter().map(|it| facts.text(it.name)).collect();
        assert!(names.contains(&"before"), "{names:?}");
        assert_eq!(reason_of(&facts), Some(PartialReason::TooDeep), "{}", &text[..60]);
    }
    let chain = format!("package a\nvar x = a{}\n", ".b()".repeat(400));
    let facts = extract("a.go", chain.as_bytes());
    assert_eq!((facts.partial, facts.calls.len(), facts.exprs.len()), (None, 400, 801));
}

#[test]
fn x5_random_go_never_panics() {
    const PARTS: [&str; 40] = [
        "func f(",
        "func (t *T) ",
        "type T ",
        "struct {",
        "interface {",
        "}",
        ")",
        "(",
        "[",
        "]",
        "\n",
        "x",
        ".y",
        ", ",
        " := ",
        " = ",
        "map[string]",
        "chan ",
        "<-",
        "*",
        "&",
        "range ",
        "for ",
        "if ",
        "switch v := x.(type) {\n",
        "case ",
        "default:",
        "return ",
        "go ",
        "defer ",
        "func() {",
        "T{",
        "a: ",
        "\"s\"",
        "`r`",
        "import ",
        "package a\n",
        "const (",
        "var ",
        "ü",
    ];
    let mut seed = 7_u64;
    for _ in 0..300 {
        let mut text = String::new();
        for _ in 0..120 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(PARTS[(seed >> 33) as usize % PARTS.len()]);
        }
        check_whole(&extract("a.go", text.as_bytes()));
        check_whole(&extract("a_test.go", text.as_bytes()));
    }
}

#[test]
fn a_chain_of_some_hundred_calls_is_whole() {
    let text = format!("x = a{}\n", ".b()".repeat(400));
    let facts = extract("a.py", text.as_bytes());
    assert_eq!(facts.partial, None);
    assert_eq!(facts.calls.len(), 400);
    // One expression for each name, member and call: chains share their begin.
    assert_eq!(facts.exprs.len(), 801);
}

#[test]
fn limits_leave_a_partial_file() {
    let with = |limits: Limits, text: &str| Extractor::new(limits).extract("a.py", text.as_bytes());
    let text = "def f():\n    g()\n".repeat(100);

    let facts = with(Limits { max_decls: 10, ..Limits::default() }, &text);
    assert_eq!((facts.decls.len(), reason_of(&facts)), (10, Some(PartialReason::TooManyNodes)));

    let facts = with(Limits { max_facts: 50, ..Limits::default() }, &text);
    assert_eq!(reason_of(&facts), Some(PartialReason::TooManyFacts));
    assert!(!facts.decls.is_empty() && facts.decls.len() + facts.calls.len() <= 50);

    let facts = with(Limits { parse_time: Duration::ZERO, ..Limits::default() }, &text.repeat(100));
    assert_eq!((facts.decls.len(), reason_of(&facts)), (0, Some(PartialReason::ParseTimeout)));
    assert_eq!(facts.n_lines, 20_000);
}

#[test]
fn an_extractor_forgets_a_file_that_took_too_long() {
    let mut extractor = Extractor::new(Limits { parse_time: Duration::ZERO, ..Limits::default() });
    extractor.extract("a.py", "x = 1\n".repeat(10_000).as_bytes());
    let facts = extractor.extract("b.py", b"def f(): ...\n");
    assert_eq!((facts.decls.len(), facts.partial), (1, None));
}

#[test]
fn bytes_that_are_no_text_are_read_as_far_as_they_go() {
    let facts = extract("a.py", b"def f():\n    g(\"\xff\")\n\ndef h(): ...\n");
    assert_eq!(facts.decls.len(), 2);
    let partial = facts.partial.expect("the second line is no UTF-8");
    assert_eq!((partial.reason, partial.line), (PartialReason::InvalidUtf8, Some(2)));
}

#[test]
fn x7_line_ends_and_marks_do_not_matter() {
    let text = "\"\"\"Doc.\n\nMore.\n\"\"\"\nclass C:\n    def f(self, a,\n          b):\n        \"\"\"Text.\n        \"\"\"\n        g()\n";
    let plain = extract("a.py", text.as_bytes());
    let crlf = extract("a.py", text.replace('\n', "\r\n").as_bytes());
    let marked = extract("a.py", format!("\u{feff}{text}").as_bytes());
    for other in [crlf, marked] {
        assert_eq!(plain.n_lines, other.n_lines);
        assert_eq!(plain.doc.map(|it| plain.text(it)), other.doc.map(|it| other.text(it)));
        for (one, two) in plain.decls.iter().zip(&other.decls) {
            assert_eq!(one.span, two.span);
            assert_eq!(plain.text(one.path), other.text(two.path));
            assert_eq!(plain.text(one.signature), other.text(two.signature));
            assert_eq!(one.doc.map(|it| plain.text(it)), two.doc.map(|it| other.text(it)));
        }
        assert_eq!(plain.decls.len(), other.decls.len());
        assert_eq!(plain.calls[0].position, other.calls[0].position);
        assert_eq!(other.partial, None);
    }
}

#[test]
fn an_empty_file_has_facts() {
    for path in [
        "a.py",
        "a.rs",
        "a.go",
        "a.ts",
        "a.vue",
        "go.mod",
        "package.json",
        "tsconfig.json",
        "Cargo.toml",
        "setup.cfg",
        "a.rb",
        "A.java",
        "A.kt",
        "a.cs",
        "a.php",
        "a.c",
        "a.cc",
    ] {
        let facts = extract(path, b"");
        assert_eq!((facts.partial, facts.n_lines), (None, 0));
        assert!(!facts.language.is_empty());
    }
}

#[test]
fn names_are_bounded() {
    let long = "x".repeat(2_000);
    let facts = extract("a.py", format!("def {long}():\n    def {long}(): ...\n    {long}()\n").as_bytes());
    assert!(facts.decls.iter().all(|it| facts.text(it.name).len() < 600 && facts.text(it.path).len() < 600));
    assert_eq!(facts.decls.len(), 2);
}

#[test]
fn x4_files_are_skipped_with_a_reason() {
    let code: &[u8] = b"x = 1\n";
    let rows: [(&str, &[u8], SkipReason); 12] = [
        ("a.py", b"x\0y", SkipReason::Binary),
        ("a.py", &[b'\n'; (2 << 20) + 1], SkipReason::TooLarge),
        ("a.py", &[b'x'; (64 << 10) + 1], SkipReason::LongLine),
        ("a.py", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", SkipReason::LfsPointer),
        ("a/vendor/b.py", code, SkipReason::Vendored),
        ("node_modules/b.py", code, SkipReason::Vendored),
        (".venv/lib/b.py", code, SkipReason::Vendored),
        ("lib/site-packages/b.py", code, SkipReason::Vendored),
        ("a/b.min.js", code, SkipReason::Vendored),
        ("dist/b.py", code, SkipReason::Vendored),
        ("packages/a/dist/b.js", code, SkipReason::Vendored),
        ("vendor/a/src/B.java", code, SkipReason::Vendored),
    ];
    for (path, bytes, reason) in rows {
        assert_eq!(screen(path, bytes), Screen::Skip(reason), "{path}");
        assert!(!reason.name().is_empty());
    }
    let code_of_other_names =
        ["src/dist/a.rs", "cmd/dist/a.go", "web/src/dist/a.ts", "src/main/java/vendor/A.java"];
    let build = ["build/a.py", "out/a.py", "target/a.py", "vendored.py", "dist.py", "a/distance/b.py"];
    for path in build.into_iter().chain(code_of_other_names) {
        assert_eq!(screen(path, code), Screen::Accept { flags: NodeFlags::default() }, "{path}");
    }
    let all = Rules { vendored: true, ..Rules::default() };
    assert_eq!(screen_with("dist/a.py", code, &all), Screen::Accept { flags: NodeFlags::VENDORED });
}

#[test]
fn generated_files_are_marked() {
    let generated = Screen::Accept { flags: NodeFlags::GENERATED };
    let plain = Screen::Accept { flags: NodeFlags::default() };
    for (path, text, expected) in [
        ("a_pb2.py", "x = 1\n", generated),
        ("b.pb.go", "package b\n", generated),
        ("zz_generated.deepcopy.go", "package b\n", generated),
        (
            "a.py",
            "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\n",
            generated,
        ),
        ("a.rs", "// @generated by tool\n", generated),
        ("a.py", "MARKER = '@generated'\n", plain),
        ("a.py", "def generated(): ...\n", plain),
    ] {
        assert_eq!(screen(path, text.as_bytes()), expected, "{path}: {text}");
    }
}

#[test]
fn test_paths_go_by_whole_segments_and_affixes() {
    let is_test = |path: &str| extract(path, b"").flags.contains(NodeFlags::TEST);
    for path in [
        "tests/a.py",
        "a/tests/b.py",
        "test/a.py",
        "a/test_b.py",
        "a/b_test.py",
        "a/conftest.py",
        "a/tests.py",
    ] {
        assert!(is_test(path), "{path}");
    }
    for path in [
        "latest_news.py",
        "a/contest.py",
        "attests/a.py",
        "django/test/client.py",
        "testing.py",
        "a/protest_b.py",
    ] {
        assert!(!is_test(path), "{path}");
    }
}

const RUBY_PARTS: [&str; 60] = [
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
fn x1_ruby() {
    check("languages/ruby/spec.md", include_str!("languages/ruby/spec.md"), "a.rb");
}

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
fn x5_deep_nesting_of_kotlin_ends() {
    let deep = 20_000;
    let nested = [
        format!("val x = {}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("val x = {}1{}", "f(".repeat(deep), ")".repeat(deep)),
        format!("val x = a{}", ".b()".repeat(deep)),
        format!("val x = a{}", " ?: a".repeat(deep)),
        format!("val x = {}1{}", "f { ".repeat(deep), " }".repeat(deep)),
        format!("fun f() {{ {}{} }}", "if (x !is A) { ".repeat(2_000), "}".repeat(2_000)),
        format!("val x: {}Int{} = y", "List<".repeat(2_000), ">".repeat(2_000)),
    ];
    for text in nested {
        let text = format!("class Before\n{text}\nclass After\n");
        let facts = extract("C.kt", text.as_bytes());
        check_whole(&facts);
        assert!(facts.decls.iter().any(|it| facts.text(it.name) == "Before"), "{}", &text[..60]);
        assert!(facts.partial.is_some(), "{}", &text[..60]);
    }
}

#[test]
fn x1_kotlin() {
    check("languages/kotlin/spec.md", include_str!("languages/kotlin/spec.md"), "src/main/kotlin/a/A.kt");
}

#[test]
fn x1_java() {
    check("languages/java/spec.md", include_str!("languages/java/spec.md"), "src/main/java/a/A.java");
}

#[test]
fn x5_deep_nesting_of_braces_ends_too() {
    let deep = 20_000;
    let nested = [
        format!("int x = {}1{};", "(".repeat(deep), ")".repeat(deep)),
        format!("int x = {}1{};", "f(".repeat(deep), ")".repeat(deep)),
        format!("Object x = a{};", ".b()".repeat(deep)),
        format!("int x = a{};", " + a".repeat(deep)),
        format!("Object x = {}1;", "() -> ".repeat(deep)),
        format!("void f() {}{}", "{".repeat(deep), "}".repeat(deep)),
        format!("{}{}", "class A {".repeat(deep), "}".repeat(deep)),
        format!("{}int{} x;", "List<".repeat(2_000), ">".repeat(2_000)),
    ];
    for text in nested {
        let text = format!("class Before {{}}\nclass C {{ {text} }}\nclass After {{}}\n");
        let facts = extract("C.java", text.as_bytes());
        check_whole(&facts);
        assert!(facts.decls.iter().any(|it| facts.text(it.name) == "Before"), "{}", &text[..60]);
        assert!(facts.partial.is_some(), "{}", &text[..60]);
    }
}

#[test]
fn x1_csharp() {
    check("languages/csharp/spec.md", include_str!("languages/csharp/spec.md"), "src/A.cs");
}

#[test]
fn x1_php() {
    check("languages/php/spec.md", include_str!("languages/php/spec.md"), "src/A.php");
}

#[test]
fn x1_c() {
    check("languages/cpp/spec_c.md", include_str!("languages/cpp/spec_c.md"), "a.c");
}

#[test]
fn x1_cpp() {
    check("languages/cpp/spec.md", include_str!("languages/cpp/spec.md"), "a.cc");
}

/// The scanner of Kotlin's grammar looks for the end of an annotation beyond the end of the file.
#[test]
fn x5_a_file_that_ends_in_an_annotation_is_read() {
    for end in ["@", "@Entity", "@Named(\"a b", "@Named(\"a\")@Other", "@file:\u{a0}"] {
        for head in ["class Cart\n", "class Cart(val total: Int) "] {
            let facts = extract("Cart.kt", format!("{head}{end}").as_bytes());
            check_whole(&facts);
            assert_eq!(facts.text(facts.decls[0].name), "Cart", "{head}{end}");
        }
    }
}
