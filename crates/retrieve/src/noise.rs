//! What is no answer, whatever its words: system.md 10.3, after fusion.

use knowing_graph::{Graph, NodeIndex};
use knowing_model::{NodeFlags, NodeKind};
use knowing_search::Names;

/// Names of two characters that are words.
const SHORT_NAMES: [&str; 7] = ["ID", "OK", "DB", "IP", "IO", "GO", "DO"];
const STAND_INS: [&str; 3] = ["mock", "fake", "stub"];

/// Never a candidate: it has no place in the project's own sources.
pub(crate) fn is_foreign(graph: &Graph, at: NodeIndex) -> bool {
    let node = graph.node(at);
    let flags = node.flags();
    node.is_virtual()
        || node.kind() == NodeKind::Package
        || flags.contains(NodeFlags::VENDORED)
        || flags.contains(NodeFlags::GENERATED)
}

/// Never a seed: a walk from there leads astray.
pub(crate) fn is_noise(graph: &Graph, names: &Names, at: NodeIndex) -> bool {
    is_foreign(graph, at) || is_stand_in(names, at) || is_fixture(names.path_of(at.0)) || {
        let name = names.name(at.0);
        name.len() <= 2 && !SHORT_NAMES.iter().any(|it| it.eq_ignore_ascii_case(name))
    }
}

/// Mocks, fakes and stubs, by the first word of their own or an owner's name.
pub(crate) fn is_stand_in(names: &Names, at: NodeIndex) -> bool {
    names.symbol(at.0).split('.').any(|segment| {
        let segment = segment.trim_start_matches('_').as_bytes();
        STAND_INS.iter().any(|word| {
            let (head, rest) = segment.split_at(word.len().min(segment.len()));
            head.eq_ignore_ascii_case(word.as_bytes())
                && rest.first().is_none_or(|it| !it.is_ascii_lowercase())
        })
    })
}

pub(crate) fn is_fixture(path: &str) -> bool {
    path.split('/').any(|it| matches!(it, "fixtures" | "fixture" | "testdata" | "__snapshots__"))
        || path.ends_with(".min.js")
}

/// Documentation, examples and measurements: code that shows the project's code.
pub(crate) fn is_sideline(path: &str) -> bool {
    path.split('/').any(|it| {
        matches!(
            it,
            "docs"
                | "doc"
                | "docs_src"
                | "examples"
                | "example"
                | "benches"
                | "bench"
                | "benchmarks"
                | "benchmark"
                | "scripts"
                | "tools"
                | "migrations"
                | "samples"
                | "demo"
                | "demos"
                | "tutorial"
                | "tutorials"
        )
    })
}

/// A directory or file that is called after tests, whether or not its code is marked so: `test-support`, `conftest.py`.
pub(crate) fn says_test(path: &str) -> bool {
    path.split(['/', '.', '-', '_']).any(|it| {
        matches!(
            it,
            "test"
                | "tests"
                | "testing"
                | "testsuite"
                | "conftest"
                | "mock"
                | "mocks"
                | "fixture"
                | "fixtures"
                | "spec"
        )
    })
}
