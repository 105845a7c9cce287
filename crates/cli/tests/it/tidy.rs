//! The walls between crates: who may import whom. A new arrow is a visible decision in this table.

use std::collections::BTreeMap;
use std::path::Path;

/// Crate and what it may import of ours. Every row stands below those it imports from: downward only.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("snapshot", &["model"]),
    ("graph", &["model"]),
    ("search", &["model"]),
    ("wire", &["model"]),
    ("extract", &["model"]),
    ("resolve", &["model"]),
    ("vcs", &["model"]),
    ("store", &["model", "snapshot"]),
    ("index", &["model", "vcs", "extract", "resolve", "snapshot", "graph", "search", "store"]),
    ("enrich", &["model", "store"]),
    ("trace", &["model", "store"]),
    ("retrieve", &["model", "graph", "search", "wire", "store"]),
    ("ops", BELOW_OPS),
    ("mcp", BELOW_FACES),
    ("daemon", BELOW_FACES),
    ("cli", BELOW_CLI),
    ("bench", BELOW_FACES),
    ("testkit", &["model"]),
];

const BELOW_OPS: &[&str] = &[
    "model", "snapshot", "graph", "search", "wire", "extract", "resolve", "vcs", "store", "index", "enrich",
    "trace", "retrieve",
];

const BELOW_FACES: &[&str] = &[
    "model", "snapshot", "graph", "search", "wire", "extract", "resolve", "vcs", "store", "index", "enrich",
    "trace", "retrieve", "ops",
];

/// The executable is every face in one.
const BELOW_CLI: &[&str] = &[
    "model", "snapshot", "graph", "search", "wire", "extract", "resolve", "vcs", "store", "index", "enrich",
    "trace", "retrieve", "ops", "mcp", "daemon",
];

/// What a test may use besides: `resolve` reads real source through `extract`.
const TESTS_MAY_IMPORT: &[(&str, &str)] = &[("resolve", "extract")];

/// Crates of others that only these may name.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("gix", &["vcs"]),
    ("tree-sitter", &["extract", "bench"]),
    ("memmap2", &["graph", "search"]),
    ("tokio", &["mcp", "daemon", "enrich", "trace"]),
    ("hyper", &["mcp", "daemon"]),
];

struct Manifest {
    name: String,
    ours: Vec<String>,
    ours_in_tests: Vec<String>,
    others: Vec<String>,
}

fn manifests() -> Vec<Manifest> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let directory = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(directory.join("Cargo.toml")) else { continue };
        let table: toml::Table = text.parse().unwrap();
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(table["package"]["name"].as_str(), Some(format!("knowing-{name}").as_str()));
        let (ours, others) = dependencies(&table, "dependencies");
        let (ours_in_tests, _) = dependencies(&table, "dev-dependencies");
        found.push(Manifest { name, ours, ours_in_tests, others });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Ours without their prefix, and those of others.
fn dependencies(table: &toml::Table, section: &str) -> (Vec<String>, Vec<String>) {
    let names =
        table.get(section).and_then(|it| it.as_table()).into_iter().flatten().map(|(name, _)| name.clone());
    let (ours, others): (Vec<String>, Vec<String>) = names.partition(|it| it.starts_with("knowing-"));
    (ours.iter().map(|it| it["knowing-".len()..].to_owned()).collect(), others)
}

#[test]
fn imports_go_downward_only() {
    let table: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let manifests = manifests();
    assert!(manifests.len() >= 10, "the manifests were not found");
    for manifest in &manifests {
        let allowed =
            table.get(manifest.name.as_str()).unwrap_or_else(|| panic!("{} has no row", manifest.name));
        for import in &manifest.ours {
            assert!(allowed.contains(&import.as_str()), "{} may not import {import}", manifest.name);
        }
        for import in &manifest.ours_in_tests {
            let for_tests = import == "testkit"
                || allowed.contains(&import.as_str())
                || TESTS_MAY_IMPORT.contains(&(manifest.name.as_str(), import.as_str()));
            assert!(for_tests, "tests of {} may not import {import}", manifest.name);
        }
    }
}

#[test]
fn the_table_itself_has_no_cycle() {
    for (at, (name, imports)) in MAY_IMPORT.iter().enumerate() {
        for import in *imports {
            let below = MAY_IMPORT[..at].iter().any(|(row, _)| row == import);
            assert!(below, "{name} imports {import}, which stands above it");
        }
    }
}

#[test]
fn some_libraries_stay_behind_one_wall() {
    for manifest in manifests() {
        for (library, crates) in ONLY_IN {
            let used = manifest.others.iter().any(|it| it == library);
            assert!(
                !used || crates.contains(&manifest.name.as_str()),
                "{} may not use {library}",
                manifest.name
            );
        }
    }
}
