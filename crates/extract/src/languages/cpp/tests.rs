//! What is odd about C and C++: nesting without end, torn text, headers of either language.

use knowing_model::facts::{FileFacts, PartialReason};

use crate::extract;
use crate::tests::{check_whole, reason_of};

fn names(facts: &FileFacts) -> Vec<&str> {
    facts.decls.iter().map(|it| facts.text(it.name)).collect()
}

#[test]
fn x5_deep_nesting_ends_and_keeps_what_was_found() {
    let deep = 20_000;
    let nested = [
        format!("int x = {}1{};\n", "(".repeat(deep), ")".repeat(deep)),
        format!("int x = {}1{};\n", "f(".repeat(deep), ")".repeat(deep)),
        format!("int x = a{};\n", ".b()".repeat(deep)),
        format!("int x = a{};\n", " + a".repeat(deep)),
        format!("int {}x;\n", "*".repeat(deep)),
        format!("void g() {{ {}{} }}\n", "if (a) { ".repeat(deep), "}".repeat(deep)),
        format!("{}int a;{}\n", "struct s { ".repeat(deep), "} x;".repeat(deep)),
        format!("{}{}\n", "#if A\n".repeat(deep), "#endif\n".repeat(deep)),
        format!("int x[] = {}1{};\n", "{".repeat(deep), "}".repeat(deep)),
    ];
    for text in nested {
        let text = format!("void before(void) {{}}\n{text}void after(void) {{}}\n");
        for path in ["a.c", "a.cc"] {
            let facts = extract(path, text.as_bytes());
            check_whole(&facts);
            assert!(names(&facts).contains(&"before"), "{}", &text[..60]);
        }
    }
    let types = format!("{}int{} x;\n", "A<".repeat(5_000), ">".repeat(5_000));
    check_whole(&extract("a.cc", types.as_bytes()));
}

#[test]
fn x5_random_code_never_panics() {
    const PARTS: [&str; 56] = [
        "int ",
        "void ",
        "f(",
        ")",
        "{",
        "}",
        ";",
        "\n",
        "x",
        "->y",
        ".z",
        "::",
        "A",
        "<",
        ">",
        "*",
        "&",
        ", ",
        " = ",
        "struct S ",
        "class C ",
        "enum E ",
        "union U ",
        "template <",
        "typename T",
        "namespace n ",
        "using ",
        "typedef ",
        "#if A\n",
        "#else\n",
        "#endif\n",
        "#define M(a) f(a)\n",
        "#include \"x.h\"\n",
        "#if 0\n",
        "API_X ",
        "MACRO(x)",
        "static ",
        "const ",
        "operator",
        "~",
        "new ",
        "delete ",
        "return ",
        "if (",
        "else ",
        "for (",
        "case ",
        ": ",
        "\"s\"",
        "'c'",
        "R\"(",
        "/* ",
        "*/",
        "// c\n",
        "\\\n",
        "ü",
    ];
    let mut seed = 11_u64;
    for _ in 0..150 {
        let mut text = String::new();
        for _ in 0..120 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(PARTS[(seed >> 33) as usize % PARTS.len()]);
        }
        for path in ["a.c", "a.cc", "a.h"] {
            check_whole(&extract(path, text.as_bytes()));
        }
    }
}

#[test]
fn a_chain_of_some_hundred_calls_is_whole() {
    let text = format!("int x = a{};\n", ".b()".repeat(400));
    let facts = extract("a.cc", text.as_bytes());
    assert_eq!((reason_of(&facts), facts.calls.len()), (None, 400));
}

#[test]
fn the_language_of_a_header_is_told_by_its_text() {
    let language = |text: &str| extract("a.h", text.as_bytes()).language;
    for text in [
        "class Shop {};",
        "class API Shop : Base {};",
        "namespace a { int f(); }",
        "namespace a::b { int f(); }",
        "template <class T> T f(T x);",
        "int f(std::string x);",
        "struct S { public: int a; };",
        "#ifndef A\n#define A\nusing X = int;\n#endif\n",
    ] {
        assert_eq!(language(text), "cpp", "{text}");
    }
    for text in [
        "int f(int class);",
        "// class Shop {};\nint f(void);",
        "const char *s = \"std::x\";",
        "#ifdef __cplusplus\nnamespace a {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n",
        "#if defined(__cplusplus)\ntemplate <class T> T f(T x);\n#else\nint f(int x);\n#endif\n",
        "struct s { int namespace; };",
        "",
    ] {
        assert_eq!(language(text), "c", "{text}");
    }
}

#[test]
fn positions_are_those_of_the_file_whatever_is_blanked() {
    let text = "class API_EXPORT Shop {\n public:\n  // Opens it.\n  API_EXPORT void open(int x UNUSED) NOEXCEPT;\n};\n";
    let facts = extract("a.cc", text.as_bytes());
    let open = facts.decls.iter().find(|it| facts.text(it.name) == "open").expect("the method is read");
    assert_eq!((open.span.name.line, open.span.name.column), (4, 18));
    // The text of a signature is that of the file, from where the declaration begins to the parser.
    assert_eq!(facts.text(open.signature), "void open(int x UNUSED) NOEXCEPT");
    assert_eq!(open.doc.map(|it| facts.text(it)), Some("Opens it."));
    assert_eq!(facts.partial, None);
}

#[test]
fn a_large_file_is_read_in_full() {
    let mut text = String::new();
    for at in 0..20_000 {
        text.push_str(&format!("static int function_{at}(int x) {{ return call_{at}(x) + {at}; }}\n"));
    }
    let facts = extract("a.c", text.as_bytes());
    assert_eq!((facts.decls.len(), facts.calls.len(), facts.partial), (20_000, 20_000, None));
    let broken = text.replace("return", "return (");
    let facts = extract("a.c", broken.as_bytes());
    assert!(matches!(reason_of(&facts), Some(PartialReason::SyntaxError | PartialReason::ParseTimeout)));
}
