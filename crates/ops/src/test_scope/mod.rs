//! Which tests to run for a change: changed lines, the symbols that hold them, and the tests that reach those.

mod changes;
mod commands;
mod evidence;
mod named;
mod programs;
mod together;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::page::{Page, paged};
use crate::test_scope::commands::{Project, Selected};
pub use crate::test_scope::evidence::TestEvidence;
use crate::test_scope::walk::{Scope, Search};

/// Which tests to run for a change, and how
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing test-scope                              what is not committed
  knowing test-scope --base main                  what this branch changed since it left main
  knowing test-scope --files src/cart.py,src/price.py --output functions
  knowing test-scope --base HEAD~1 --output run   command lines to run them

Tests are found from the symbols that hold changed lines, against calls, overrides, inheritance, routes and uses of \
types; by calls of the same name where nobody knows on what; by programs of the repository that they start; by files that are named after a changed one, import it, or \
changed together with it in the commits before. Each says why it is there, and the best come first: `--limit 20` gives \
the twenty best. A changed file that no test is known to reach is `uncovered`.")]
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
    /// How many steps away tests may be; default 3, and up to 8 where these lead to few
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=20))]
    #[serde(default, alias = "max_depth")]
    pub depth: Option<u32>,
    /// Only tests with evidence of these kinds
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub evidence: Vec<TestEvidence>,
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
    /// Tests that the repository has.
    pub all_tests: usize,
    /// With output `packages`.
    pub packages: Vec<TestPackage>,
    /// With output `functions`.
    pub functions: Vec<TestFunction>,
    /// With output `run`.
    pub run: Vec<TestRun>,
    /// Changed files that no test is known to reach.
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
    /// Steps to the change, where a way is known; 0 for a test in a changed file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The changed symbol, or file, that it reaches.
    pub reaches: String,
    /// It calls something of that name, and what it is called on is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_name: bool,
    /// Why it is selected.
    pub evidence: Vec<String>,
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
    let (opened, changes, before) = changes::of(cx, arguments)?;
    let place = cx.place().ok();
    let opened = pages.settle(opened)?;
    let view = opened.view()?;
    let changes = changes.in_view(&view)?;
    if changes.iter().all(|it| it.file.is_none()) && !arguments.files.is_empty() {
        let names = arguments.files.join("`, `");
        let hint = "give paths of files in the repository, from its top or from here";
        return Err(Error::new(ErrorKind::NotFound, format!("no file is called `{names}`"), hint));
    }
    let commits = before.commits(&opened)?;
    let text = |path: &str| {
        let file = view.reader().file(path).ok()??;
        opened.work.place.as_ref().or(place.as_ref())?.blob(&file.blob, path)
    };
    let search =
        Search { depth: arguments.depth, kinds: &arguments.evidence, commits: &commits, text: &text };
    let scope = Scope::of(&view, &changes, &search)?;
    let mut tests = Vec::new();
    for (node, evidence) in &scope.tests {
        let reaches = match evidence.reached() {
            Some(start) if evidence.changed.is_none() => view.qualified_name(start)?,
            _ => changes[evidence.change].path.clone(),
        };
        tests.push(TestFunction {
            symbol: view.info(*node)?,
            depth: evidence.steps(),
            reaches,
            by_name: evidence.changed.is_none() && evidence.calls.is_none() && evidence.by_name.is_some(),
            evidence: evidence.reasons(),
        });
    }
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
        all_tests: scope.n_tests,
        packages: pages.of(packages),
        functions: pages.of(functions),
        run: pages.of(run),
        uncovered: pages.of(scope.uncovered),
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// In the order of their best tests.
fn packages(tests: &[TestFunction]) -> Vec<TestPackage> {
    let mut found: BTreeMap<(String, String), (usize, usize, BTreeSet<String>)> = BTreeMap::new();
    for (at, it) in tests.iter().enumerate() {
        let Some(file) = &it.symbol.file else { continue };
        let package = file.rsplit_once('/').map_or(".", |it| it.0).to_owned();
        let language = it.symbol.language.clone().unwrap_or_default();
        let entry = found.entry((language, package)).or_insert((at, 0, BTreeSet::new()));
        entry.1 += 1;
        entry.2.insert(file.clone());
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|it| it.1.0);
    let package = |((language, package), (_, tests, files))| TestPackage {
        language,
        package,
        tests,
        files: Vec::from_iter::<BTreeSet<String>>(files),
    };
    found.into_iter().map(package).collect()
}
