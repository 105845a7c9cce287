//! Runs the `spec.md` of each language: small projects and the edges they must give.

use std::path::Path;

use knowing_model::{EdgeKind, Provenance, Symbol};
use knowing_testkit::spec::check_spec;
use knowing_testkit::split_files;

use crate::{Input, InputFile, Resolution, resolve};

/// All edges and unresolved sites of a project given as text, one line each.
fn lines_of(text: &str) -> Vec<String> {
    let mut files = split_files(text);
    files.sort();
    let facts: Vec<_> = files
        .iter()
        .map(|(path, source)| {
            assert!(knowing_extract::accepts(path).is_some(), "{path} has no language");
            knowing_extract::extract(path, source.as_bytes())
        })
        .collect();
    let inputs: Vec<InputFile<'_>> =
        files.iter().zip(&facts).map(|((path, _), facts)| InputFile { path, facts }).collect();
    lines(&resolve(&Input { url: "repo", files: &inputs }, None))
}

fn lines(resolution: &Resolution) -> Vec<String> {
    let name = |symbol: u32| printed(&resolution.symbols[symbol as usize]);
    let mut lines = Vec::new();
    for unit in &resolution.units {
        for edge in &unit.edges {
            let sites: Vec<String> =
                edge.sites.iter().map(|it| format!("{}:{}", it.line, it.column)).collect();
            let doubt = if edge.provenance == Provenance::AstInferred { " inferred" } else { "" };
            // Hints repeat as references; one line for both keeps the specification readable.
            lines.push(format!(
                "{} {} -> {} {}{doubt}",
                edge.kind.name(),
                name(edge.source),
                name(edge.target),
                sites.join(" ")
            ));
        }
        for site in &unit.unresolved {
            let at = site.position;
            lines.push(format!(
                "unresolved {} {} {} {}:{}",
                name(site.source),
                site.name,
                site.reason.name(),
                at.line,
                at.column
            ));
        }
    }
    lines.sort();
    lines
}

/// Project symbols without the repository, others whole.
fn printed(symbol: &Symbol) -> String {
    let name = symbol.qualified_name();
    name.strip_prefix("repo://").map_or_else(|| name.clone(), str::to_owned)
}

#[track_caller]
fn check(spec: &str, file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages").join(file);
    check_spec(spec, &path, |case| lines_of(&case.source));
}

#[test]
fn r1_r2_r3_r5_r6_csharp_spec_holds() {
    check(include_str!("languages/csharp/spec.md"), "csharp/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_php_spec_holds() {
    check(include_str!("languages/php/spec.md"), "php/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_c_spec_holds() {
    check(include_str!("languages/cpp/spec_c.md"), "cpp/spec_c.md");
}

#[test]
fn r1_r2_r3_r5_r6_cpp_spec_holds() {
    check(include_str!("languages/cpp/spec.md"), "cpp/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_go_spec_holds() {
    check(include_str!("languages/go/spec.md"), "go/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_java_spec_holds() {
    check(include_str!("languages/java/spec.md"), "java/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_kotlin_spec_holds() {
    check(include_str!("languages/kotlin/spec.md"), "kotlin/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_python_spec_holds() {
    check(include_str!("languages/python/spec.md"), "python/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_ruby_spec_holds() {
    check(include_str!("languages/ruby/spec.md"), "ruby/spec.md");
}

#[test]
fn r1_r2_r3_r5_r6_rust_spec_holds() {
    check(include_str!("languages/rust/spec.md"), "rust/spec.md");
}

#[test]
fn x3_routes_spec_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/routes_spec.md");
    check_spec(include_str!("routes_spec.md"), &path, |case| lines_of(&case.source));
}

#[test]
fn x2_links_spec_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/links_spec.md");
    check_spec(include_str!("links_spec.md"), &path, |case| lines_of(&case.source));
}

#[test]
fn a3_programs_spec_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/programs_spec.md");
    let lines =
        |source: &str| -> Vec<String> { edges_of(source, EdgeKind::ExecutesProcess).into_iter().collect() };
    check_spec(include_str!("programs_spec.md"), &path, |case| lines(&case.source));
}

#[test]
fn r7_derived_edges_spec_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/derive/spec.md");
    check_spec(include_str!("derive/spec.md"), &path, |case| lines_of(&case.source));
}

/// Edges of a kind in a project given as text.
fn edges_of(text: &str, kind: EdgeKind) -> Vec<String> {
    let begin = format!("{} ", kind.name());
    lines_of(text).into_iter().filter(|it| it.starts_with(&begin)).collect()
}

#[test]
fn r7_derived_edges_keep_to_their_bounds() {
    let mut hints =
        String::from("//- /a.py\nfrom abc import ABC\nclass Base(ABC): ...\ndef take(it: Base): ...\n");
    let mut shop = String::from("//- /shop.py\n");
    let mut test = String::from("//- /test_shop.py\nimport shop\ndef test_all():\n");
    let mut alike = String::from("//- /alike.py\n");
    for at in 0..80 {
        hints += &format!("class C{at}(Base): ...\n");
        shop += &format!("def sell{at}(): ...\n");
        test += &format!("    shop.sell{at}()\n");
        alike += &format!("def read_config_file{at}(path, encoding, errors): ...\n");
    }
    // The interface itself, and twenty that fulfil it.
    assert_eq!(edges_of(&hints, EdgeKind::TypeHintOf).len(), 21);
    assert_eq!(edges_of(&(shop.clone() + &test), EdgeKind::Tests).len(), 50);
    assert_eq!(edges_of(&(shop + &test), EdgeKind::CoTestedWith).len(), 20);
    let similar = edges_of(&alike, EdgeKind::SimilarTo);
    assert!(similar.len() > 80 && similar.len() <= 80 * 5 / 2, "{}", similar.len());
}

#[test]
fn r7_derived_edges_do_not_depend_on_the_order_of_work() {
    let text = include_str!("derive/spec.md");
    let mut seen = Vec::new();
    for workers in [1, 8] {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("threads can be started");
        let cases =
            knowing_testkit::spec::parse(text, Path::new("spec.md")).expect("the spec is well formed");
        seen.push(cases.iter().map(|it| pool.install(|| lines_of(&it.source))).collect::<Vec<_>>());
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn r1_r2_r3_r5_r6_typescript_spec_holds() {
    check(include_str!("languages/typescript/spec.md"), "typescript/spec.md");
}

#[test]
fn circles_of_typescript_end() {
    let text = "//- /a.ts\nexport * from './b';\nexport { x } from './b';\nexport class A extends B {}\nimport { B } from './b';\n\
                //- /b.ts\nexport * from './a';\nexport { x } from './a';\nimport { A } from './a';\nexport class B extends A {}\n\
                import { x } from './a';\nexport function f() { x(); return f()(); }\n";
    let lines = lines_of(text);
    assert!(lines.iter().any(|it| it.starts_with("extends a.ts.A -> b.ts.B")), "{lines:#?}");
    assert!(lines.iter().any(|it| it.starts_with("unresolved b.ts.f x ")), "{lines:#?}");
}

#[test]
fn circles_end() {
    let text = "//- /a.py\nfrom b import *\nfrom b import x\nclass A(B): pass\n\
                //- /b.py\nfrom a import *\nfrom a import x\nclass B(A): pass\ndef f():\n    x()\n    return f()()\n";
    let lines = lines_of(text);
    assert!(lines.iter().any(|it| it.starts_with("extends a.py.A -> b.py.B")), "{lines:#?}");
    assert!(lines.iter().any(|it| it.starts_with("unresolved b.py.f x ")), "{lines:#?}");
}

#[test]
fn results_do_not_depend_on_workers() {
    let text = include_str!("languages/python/spec.md");
    let mut seen = Vec::new();
    for workers in [1, 2, 8] {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("threads can be started");
        let mut all = Vec::new();
        for case in knowing_testkit::spec::parse(text, Path::new("spec.md")).expect("the spec is well formed")
        {
            all.push(pool.install(|| lines_of(&case.source)));
        }
        seen.push(all);
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

#[test]
fn every_edge_has_both_ends_and_a_stated_confidence() {
    let text =
        "//- /a.py\nimport os\ndef f(x: int):\n    os.getcwd()\n    g(x)\ndef g(y):\n    raise ValueError\n";
    let files = split_files(text);
    let facts = knowing_extract::extract(files[0].0, files[0].1.as_bytes());
    let inputs = [InputFile { path: files[0].0, facts: &facts }];
    let resolution = resolve(&Input { url: "repo", files: &inputs }, None);
    let n_edges: usize = resolution.units.iter().map(|it| it.edges.len()).sum();
    assert!(n_edges >= 4, "{:#?}", lines(&resolution));
    for edge in resolution.units.iter().flat_map(|it| &it.edges) {
        assert!((edge.source as usize) < resolution.symbols.len());
        assert!((edge.target as usize) < resolution.symbols.len());
        assert!(edge.provenance.confidences().contains(&edge.confidence_bp));
        assert!(edge.kind == EdgeKind::Calls || edge.source != edge.target);
    }
}

#[test]
fn chains_of_thousands_of_classes_are_no_trouble() {
    let mut python = String::from("//- /a.py\nclass C0:\n    def f(self): pass\n");
    let mut rust = String::from("//- /b.rs\ntrait T0 { fn f(&self); }\n");
    for at in 1..4_000 {
        python += &format!("class C{at}(C{}): pass\n", at - 1);
        rust += &format!("trait T{at}: T{} {{}}\n", at - 1);
    }
    python += "def near(c: C9):\n    c.f()\n";
    let lines = lines_of(&(python + &rust));
    assert!(lines.iter().any(|it| it.starts_with("calls a.py.near -> a.py.C0.f")));
    assert_eq!(lines.iter().filter(|it| it.starts_with("extends ")).count(), 2 * 3_999);
}
