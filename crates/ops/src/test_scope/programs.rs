//! Tests that start a program of the repository: no call leads from them to what changed, but the program's `main` does.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use knowing_graph::{Inheritance, KindSet, NodeIndex};
use knowing_model::{EdgeKind, NodeKind};
use knowing_search::FileIndex;

use crate::test_scope::evidence::Start;
use crate::test_scope::named::terms;
use crate::test_scope::walk::Walk;

/// Steps from a test to where the program is started: helpers of helpers.
const START_STEPS: u32 = 6;
/// Steps from `main` to what changed: programs are deep.
const MAIN_STEPS: u32 = 40;
/// Symbols, or files, that are looked at on the way to `main`.
const MAX_VISITED: usize = 200_000;
/// Bytes of a test that are compared with what changed.
const MAX_TEXT: usize = 8 << 10;

/// The programs that tests start.
pub(crate) struct Programs {
    all: Vec<Program>,
    /// The words of each test that starts one, made when they are asked for.
    words: BTreeMap<NodeIndex, Words>,
}

/// Terms of the names of a test and of its file, and of all that stands in it.
#[derive(Default)]
struct Words {
    name: BTreeSet<String>,
    all: BTreeSet<String>,
}

struct Program {
    /// Its `main`, or the file that is run.
    node: NodeIndex,
    file: Option<FileIndex>,
    /// With the steps to where it is started.
    tests: Vec<(NodeIndex, u32)>,
}

/// What can be known of a change when the words of tests are looked at.
pub(crate) struct Spoken<'a> {
    /// Stems of the words of changed symbols and lines.
    pub(crate) changed: &'a BTreeSet<String>,
    /// Terms of these lines and of those around.
    pub(crate) around: &'a BTreeSet<String>,
}

/// A test that starts a program which leads to a change.
pub(crate) struct Starting {
    pub(crate) test: NodeIndex,
    pub(crate) start: Start,
}

impl Programs {
    pub(crate) fn of(walk: &Walk<'_>) -> Programs {
        let mut inheritance = Inheritance::new(walk.graph);
        let mut all = Vec::new();
        for node in walk.graph.indices() {
            let starts = walk.graph.incoming_of(node, EdgeKind::ExecutesProcess);
            if starts.is_empty() || walk.graph.node(node).kind() == NodeKind::Process {
                continue;
            }
            let begin: BTreeSet<NodeIndex> = starts.iter().map(|it| it.other()).collect();
            let tests = tests_behind(walk, begin, &mut inheritance);
            if !tests.is_empty() {
                all.push(Program { node, file: walk.names.file(node.0), tests });
            }
        }
        Programs { all, words: BTreeMap::new() }
    }

    /// Tests that start a program from whose `main` a changed symbol is reached; else one whose files use the changed file;
    /// else one of its package. Those that speak most of what changed first.
    pub(crate) fn starting(
        &mut self,
        walk: &Walk<'_>,
        file: FileIndex,
        touched: &[NodeIndex],
        spoken: &Spoken<'_>,
        text: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Vec<Starting> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let mut reached = self.by_calls(walk, touched);
        if reached.is_empty() {
            let first = touched.first().copied();
            let start = first.or_else(|| walk.in_file(file).next());
            let mut by_files = self.by_files(walk, file);
            if by_files.is_empty() {
                by_files = self.by_package(walk, file);
            }
            reached = by_files.into_iter().filter_map(|it| Some((it, start?, None))).collect();
        }
        let mut found: BTreeMap<NodeIndex, Start> = BTreeMap::new();
        for (at, start, main_steps) in reached {
            for &(test, steps) in &self.all[at].tests {
                let steps = main_steps.map(|it| it + steps);
                let start = Start { steps, start, score: 0 };
                let known = found.entry(test).or_insert(start);
                if start.steps.is_some_and(|it| known.steps.is_none_or(|known| it < known)) {
                    *known = start;
                }
            }
        }
        self.read(walk, found.keys().copied(), text);
        let scores = self.scores(found.keys().copied(), spoken);
        let mut found: Vec<Starting> = found
            .into_iter()
            .map(|(test, start)| Starting { test, start: Start { score: scores[&test], ..start } })
            .collect();
        found.sort_by_key(|it| (Reverse(it.start.score), it.start.steps.unwrap_or(u32::MAX), it.test));
        found
    }

    /// Which programs lead to a symbol, from which symbol and in how many steps.
    fn by_calls(&self, walk: &Walk<'_>, touched: &[NodeIndex]) -> Vec<(usize, NodeIndex, Option<u32>)> {
        let mains: BTreeMap<NodeIndex, usize> = (0..).zip(&self.all).map(|(at, it)| (it.node, at)).collect();
        let mut inheritance = Inheritance::new(walk.graph);
        let mut seen: BTreeSet<NodeIndex> = touched.iter().copied().collect();
        let mut open: VecDeque<(NodeIndex, NodeIndex, u32)> =
            touched.iter().map(|it| (*it, *it, 0)).collect();
        let mut found = Vec::new();
        while let Some((node, start, depth)) = open.pop_front() {
            if let Some(at) = mains.get(&node) {
                found.push((*at, start, Some(depth + 1)));
                if found.len() == mains.len() {
                    break;
                }
            }
            if depth >= MAIN_STEPS || seen.len() > MAX_VISITED || walk.is_in_tests(node) {
                continue;
            }
            let mut next = walk.concerned(node, &mut inheritance);
            if next.is_empty() {
                next = walk.users_of_owner(node, &mut inheritance);
            }
            if walk.graph.node(node).kind() == NodeKind::File {
                // Who loads a file runs what stands at its top.
                next.extend(walk.graph.incoming_of(node, EdgeKind::Imports).iter().map(|it| it.other()));
            }
            open.extend(next.into_iter().filter(|it| seen.insert(*it)).map(|it| (it, start, depth + 1)));
        }
        found
    }

    /// Which programs have a file that uses the changed one, through any number of files.
    fn by_files(&self, walk: &Walk<'_>, file: FileIndex) -> Vec<usize> {
        use EdgeKind::{
            AccessesField, Calls, Extends, Implements, Imports, Overrides, References, TypeHintOf,
        };
        let kinds = KindSet::of(&[
            AccessesField,
            Calls,
            Extends,
            Implements,
            Imports,
            Overrides,
            References,
            TypeHintOf,
        ]);
        let mut seen = BTreeSet::from([file]);
        let mut open = VecDeque::from([file]);
        while let Some(file) = open.pop_front() {
            for node in walk.in_file(file) {
                let uses = walk.graph.incoming(node).iter().filter(|it| kinds.contains(it.kind()));
                let users = uses.filter_map(|it| walk.names.file(it.other().0));
                open.extend(users.filter(|it| !walk.test_files.contains(it)).filter(|it| seen.insert(*it)));
            }
        }
        let is_user = |it: &Program| it.file.is_some_and(|it| seen.contains(&it));
        (0..).zip(&self.all).filter(|it| is_user(it.1)).map(|it| it.0).collect()
    }

    /// Which programs are of the package that a file of code is in: what they load may be built first, or found by name.
    fn by_package(&self, walk: &Walk<'_>, file: FileIndex) -> Vec<usize> {
        let is_code = knowing_model::name::is_code(walk.names.language(file));
        if !is_code || walk.test_files.contains(&file) {
            return Vec::new();
        }
        let path = walk.names.path(file);
        let is_near = |it: &Program| {
            let Some(home) = it.file.and_then(|it| home(walk, walk.names.path(it))) else { return false };
            home.is_empty() || path.strip_prefix(home).is_some_and(|it| it.starts_with('/'))
        };
        (0..).zip(&self.all).filter(|it| is_near(it.1)).map(|it| it.0).collect()
    }

    /// Words of tests that were not read yet: of their names and of what stands in them.
    fn read(
        &mut self,
        walk: &Walk<'_>,
        tests: impl Iterator<Item = NodeIndex>,
        text: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) {
        let mut by_file: BTreeMap<FileIndex, Vec<NodeIndex>> = BTreeMap::new();
        for test in tests.filter(|it| !self.words.contains_key(it)) {
            if let Some(file) = walk.names.file(test.0) {
                by_file.entry(file).or_default().push(test);
            }
        }
        for (file, tests) in by_file {
            let text = text(walk.names.path(file)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let lines: Vec<&str> = text.lines().collect();
            let stem = walk.names.path(file).rsplit('/').next().unwrap_or_default();
            let stem = stem.split('.').next().unwrap_or_default();
            for test in tests {
                let (first, last) = walk.names.lines(test.0);
                let from = (first.saturating_sub(1) as usize).min(lines.len());
                let to = (last as usize).clamp(from, lines.len());
                let name: BTreeSet<String> = terms(walk.names.symbol(test.0)).chain(terms(stem)).collect();
                let mut all = name.clone();
                let mut room = MAX_TEXT;
                for line in &lines[from..to] {
                    let Some(left) = room.checked_sub(line.len()) else { break };
                    room = left;
                    all.extend(terms(line));
                }
                self.words.insert(test, Words { name, all });
            }
        }
    }

    /// How much each test speaks of what changed: a word counts the more, the fewer of them have it, and the less there is
    /// besides.
    fn scores(
        &self,
        tests: impl Iterator<Item = NodeIndex>,
        spoken: &Spoken<'_>,
    ) -> BTreeMap<NodeIndex, u32> {
        let tests: Vec<NodeIndex> = tests.collect();
        let none = Words::default();
        let words_of = |it: &NodeIndex| self.words.get(it).unwrap_or(&none);
        let asked: BTreeSet<&String> =
            spoken.changed.iter().chain(spoken.around).filter(|it| it.len() > 2).collect();
        let mut n_having: BTreeMap<&str, usize> = BTreeMap::new();
        for word in tests.iter().flat_map(|it| &words_of(it).all).filter(|it| asked.contains(it)) {
            *n_having.entry(word).or_default() += 1;
        }
        let score = |test: &NodeIndex| {
            let own = words_of(test);
            let value = |word: &String| {
                let n = n_having.get(word.as_str()).copied().unwrap_or(1);
                let rarity = (tests.len() / n.max(1)).max(1).ilog2();
                let is_changed = u32::from(spoken.changed.contains(word));
                let is_name = u32::from(own.name.contains(word));
                rarity * (1 + is_changed + is_name)
            };
            let sum: u32 = own.all.iter().filter(|it| asked.contains(it)).map(value).sum();
            2 * sum / own.all.len().max(1).isqrt() as u32
        };
        tests.iter().map(|it| (*it, score(it))).collect()
    }
}

/// The directory of the nearest project file above a path; empty at the top.
fn home<'p>(walk: &Walk<'_>, path: &'p str) -> Option<&'p str> {
    const FILES: [&str; 5] = ["Cargo.toml", "package.json", "go.mod", "pyproject.toml", "setup.cfg"];
    let above = |it: &str| it.rsplit_once('/').map_or(0, |it| it.0.len());
    let mut directory = &path[..above(path)];
    loop {
        let place = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        if FILES.iter().any(|it| walk.names.find_file(&format!("{place}{it}")).is_some()) {
            return Some(directory);
        }
        if directory.is_empty() {
            return None;
        }
        directory = &directory[..above(directory)];
    }
}

/// Tests that lead to where a program is started.
fn tests_behind(
    walk: &Walk<'_>,
    begin: BTreeSet<NodeIndex>,
    inheritance: &mut Inheritance<'_>,
) -> Vec<(NodeIndex, u32)> {
    let mut tests: BTreeMap<NodeIndex, u32> = BTreeMap::new();
    let mut seen = begin.clone();
    let mut open: VecDeque<(NodeIndex, u32)> = begin.into_iter().map(|it| (it, 0)).collect();
    while let Some((node, depth)) = open.pop_front() {
        if walk.is_runnable(node) {
            tests.entry(node).or_insert(depth);
            continue;
        }
        // Code at the top of a file, or of a group of tests, runs before them.
        let members = match (walk.graph.node(node).kind(), walk.names.file(node.0)) {
            (NodeKind::File, Some(file)) => walk.tests_in(file),
            _ => walk.members(node),
        };
        for test in members {
            tests.entry(test).or_insert(depth);
        }
        let mut next = walk.concerned(node, inheritance);
        // A helper that is passed on is called.
        let uses = walk.graph.incoming_of(node, EdgeKind::References).iter().map(|it| it.other());
        next.extend(uses.filter(|it| walk.is_in_tests(*it)));
        if next.is_empty() {
            // A function inside of another one is called by nobody else.
            let around = walk.graph.incoming_of(node, EdgeKind::Contains).iter().map(|it| it.other());
            next.extend(around.filter(|it| walk.graph.node(*it).kind().is_callable()));
        }
        if next.is_empty() && walk.is_in_tests(node) {
            for test in walk.beside(node) {
                tests.entry(test).or_insert(depth);
            }
        }
        if depth < START_STEPS {
            open.extend(next.into_iter().filter(|it| seen.insert(*it)).map(|it| (it, depth + 1)));
        }
    }
    tests.into_iter().collect()
}
