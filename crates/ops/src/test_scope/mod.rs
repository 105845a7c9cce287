//! Which tests to run for a change: changed lines, the symbols that hold them, and the tests that reach those.

mod changes;
mod commands;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::page::{Page, paged};
use crate::test_scope::commands::{Project, Selected};
use crate::test_scope::walk::Scope;

/// Which tests to run for a change, and how
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing test-scope                              what is not committed
  knowing test-scope --base main                  what this branch changed since it left main
  knowing test-scope --files src/cart.py,src/price.py --output functions
  knowing test-scope --base HEAD~1 --output run   command lines to run them

Tests are found from the symbols that hold changed lines, against calls, overrides, inheritance, routes and uses of \
types. Where none of these leads to a test, tests count that call something of the same name and nobody knows on what. A \
changed file that no test reaches is `uncovered`.")]
pub struct TestScope {
    /// Changed files; default what is not committed
    #[arg(long, value_delimiter = ',', value_name = "FILE,...", conflicts_with = "base")]
    #[serde(default)]
    pub files: Vec<String>,
    /// The revision that the change starts from
    #[arg(long, value_name = "REV")]
    #[serde(default)]
    pub base: Option<String>,
    /// Where the change ends; default HEAD
    #[arg(long, value_name = "REV", requires = "base")]
    #[serde(default)]
    pub head: Option<String>,
    /// What to list
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub output: TestOutput,
    /// How many steps away tests may be
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=20))]
    #[serde(default = "three", alias = "max_depth")]
    pub depth: u32,
}

fn three() -> u32 {
    3
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestOutput {
    #[default]
    Packages,
    Functions,
    /// Command lines
    Run,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestScopeReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// Files of the change.
    pub changed_files: usize,
    /// Symbols that hold changed lines.
    pub changed_symbols: usize,
    /// Tests that were selected.
    pub total: usize,
    /// With output `packages`.
    pub packages: Vec<TestPackage>,
    /// With output `functions`.
    pub functions: Vec<TestFunction>,
    /// With output `run`.
    pub run: Vec<TestRun>,
    /// Changed files that no test reaches.
    pub uncovered: Vec<String>,
    #[serde(flatten)]
    pub page: Page,
}

paged!(TestScopeReply: packages, functions, run, uncovered);

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestPackage {
    pub language: String,
    /// A directory.
    pub package: String,
    pub tests: usize,
    pub files: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestFunction {
    #[serde(flatten)]
    pub symbol: SymbolInfo,
    /// Steps to the change; 0 for a test in a changed file.
    pub depth: u32,
    /// The changed symbol, or file, that it reaches.
    pub reaches: String,
    /// It calls something of that name, and what it is called on is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_name: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestRun {
    pub language: String,
    /// What runs them.
    pub runner: String,
    /// To be run at the top of the repository.
    pub command: String,
    pub tests: usize,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &TestScope) -> Result<TestScopeReply> {
    let mut pages = cx.pages("test_scope", arguments, 1_000)?;
    let (opened, changes) = changes::of(cx, arguments)?;
    let place = cx.place().ok();
    let opened = pages.settle(opened)?;
    let view = opened.view()?;
    let changes = changes.in_view(&view)?;
    if changes.iter().all(|it| it.file.is_none()) && !arguments.files.is_empty() {
        let names = arguments.files.join("`, `");
        let hint = "give paths of files in the repository, from its top or from here";
        return Err(Error::new(ErrorKind::NotFound, format!("no file is called `{names}`"), hint));
    }
    let scope = Scope::of(&view, &changes, arguments.depth)?;
    let mut tests = Vec::new();
    for it in &scope.tests {
        let reaches = match it.start {
            Some(start) => view.qualified_name(start)?,
            None => changes[it.change].path.clone(),
        };
        tests.push(TestFunction {
            symbol: view.info(it.node)?,
            depth: it.depth,
            reaches,
            by_name: it.by_name,
        });
    }
    let by_place = |it: &TestFunction| (it.symbol.file.clone(), it.symbol.line, it.symbol.id.clone());
    tests.sort_by_cached_key(by_place);
    let total = tests.len();
    let output = arguments.output;
    let packages = if output == TestOutput::Packages { packages(&tests) } else { Vec::new() };
    let run = match output {
        TestOutput::Run => {
            let project = {
                let place = opened.work.place.as_ref().or(place.as_ref());
                Project::of(&view, &opened, place)?
            };
            let selected: Vec<Selected<'_>> = tests.iter().filter_map(Selected::of).collect();
            project.commands(&selected)
        }
        _ => Vec::new(),
    };
    let functions = if output == TestOutput::Functions { tests } else { Vec::new() };
    let mut reply = TestScopeReply {
        tree: view.tree().clone(),
        changed_files: changes.len(),
        changed_symbols: scope.n_symbols,
        total,
        packages: pages.of(packages),
        functions: pages.of(functions),
        run: pages.of(run),
        uncovered: pages.of(scope.uncovered),
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

fn packages(tests: &[TestFunction]) -> Vec<TestPackage> {
    let mut found: BTreeMap<(String, String), (usize, BTreeSet<String>)> = BTreeMap::new();
    for it in tests {
        let Some(file) = &it.symbol.file else { continue };
        let package = file.rsplit_once('/').map_or(".", |it| it.0).to_owned();
        let language = it.symbol.language.clone().unwrap_or_default();
        let entry = found.entry((language, package)).or_default();
        entry.0 += 1;
        entry.1.insert(file.clone());
    }
    let package = |((language, package), (tests, files)): ((String, String), (usize, BTreeSet<String>))| {
        TestPackage { language, package, tests, files: files.into_iter().collect() }
    };
    found.into_iter().map(package).collect()
}
