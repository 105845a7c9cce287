//! `tests` and `co_tested_with`: what a test exercises, and what one test file exercises together.

use std::collections::BTreeMap;
use std::sync::Arc;

use knowing_model::facts::DeclId;
use knowing_model::{EdgeKind, NodeFlags, NodeKind, Provenance};
use rustc_hash::FxHashMap;

use super::{DerivedEdge, Lead};
use crate::world::{Def, World};

/// Production symbols that one test is joined with.
const MAX_PER_TEST: usize = 50;
/// Symbols of a test file that are joined with each other, and the pairs of them.
const MAX_TOGETHER: usize = 20;

pub(super) fn tested(world: &World<'_>, files: &[Arc<[Lead]>]) -> Vec<DerivedEdge> {
    let mut edges = Vec::new();
    let reached = reached(world, files);
    let mut n_tests: FxHashMap<Def, u32> = FxHashMap::default();
    for (_, target) in &reached {
        *n_tests.entry(*target).or_default() += 1;
    }
    let mut by_file: Vec<(u32, Vec<Def>)> = Vec::new();
    for of_test in reached.chunk_by(|one, other| one.0 == other.0) {
        let test = of_test[0].0;
        let mut targets: Vec<(u32, Def)> = of_test.iter().map(|(_, it)| (n_tests[it], *it)).collect();
        // What few tests exercise says the most about this one.
        targets.sort_unstable();
        targets.truncate(MAX_PER_TEST);
        let file = world.file_of(test);
        // Tests are in the order of files.
        if by_file.last().is_none_or(|it| it.0 != file) {
            by_file.push((file, Vec::new()));
        }
        if let Some((_, together)) = by_file.last_mut() {
            together.extend(targets.iter().map(|it| it.1));
        }
        let provenance = Provenance::AstResolved;
        edges.extend(targets.iter().map(|it| DerivedEdge::new(test, it.1, EdgeKind::Tests, provenance)));
    }
    by_name(world, &reached, &mut edges);
    together(by_file, &mut edges);
    edges
}

/// What each test calls or constructs itself, resolved, less what is test code: test and target, in order.
fn reached(world: &World<'_>, files: &[Arc<[Lead]>]) -> Vec<(Def, Def)> {
    let calls = files.iter().flat_map(|it| it.iter()).filter(|it| it.kind == EdgeKind::Calls);
    let calls = calls.filter(|it| !world.is_test_code(it.target));
    let mut reached: Vec<(Def, Def)> =
        calls.filter_map(|it| Some((test_around(world, it.source)?, it.target))).collect();
    reached.sort_unstable();
    reached.dedup();
    reached
}

/// The innermost test a declaration is or stands in.
pub(super) fn test_around(world: &World<'_>, def: Def) -> Option<Def> {
    let mut at = Some(def);
    while let Some(def) = at {
        if world.kind(def) == NodeKind::Test {
            return Some(def);
        }
        at = world.owner(def);
    }
    None
}

/// Pairs of what a test file exercises: what the fewest test files reach comes first, as it says the most.
/// `by_file` has what the tests of each file reach, once for each of them.
fn together(mut by_file: Vec<(u32, Vec<Def>)>, edges: &mut Vec<DerivedEdge>) {
    let mut n_files: FxHashMap<Def, u32> = FxHashMap::default();
    for (_, symbols) in &mut by_file {
        symbols.sort_unstable();
        for same in symbols.chunk_by(|one, other| one == other) {
            *n_files.entry(same[0]).or_default() += 1;
        }
    }
    for (_, symbols) in &by_file {
        let mut symbols: Vec<(u32, u32, Def)> = symbols
            .chunk_by(|one, other| one == other)
            .map(|it| (n_files[&it[0]], u32::MAX - it.len() as u32, it[0]))
            .collect();
        symbols.sort_unstable();
        symbols.truncate(MAX_TOGETHER);
        // Pairs in the order of the sum of their ranks.
        let n = symbols.len();
        let mut pairs: Vec<(usize, usize)> =
            (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other))).collect();
        pairs.sort_unstable_by_key(|(one, other)| (one + other, *one));
        for (one, other) in pairs.into_iter().take(MAX_TOGETHER) {
            let (one, other) = (symbols[one].2, symbols[other].2);
            let (source, target) = (one.min(other), one.max(other));
            let provenance = Provenance::CoTestInference;
            edges.push(DerivedEdge::new(source, target, EdgeKind::CoTestedWith, provenance));
        }
    }
}

/// A test that reaches nothing is joined with the symbol its file and its name speak of: `test_parser.py` with
/// `parser.py`, `test_open_file` with `open_file` there.
fn by_name(world: &World<'_>, reached: &[(Def, Def)], edges: &mut Vec<DerivedEdge>) {
    let mut subjects: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    let mut by_stem: Option<FxHashMap<(String, &str), Vec<u32>>> = None;
    // Tests of one file stand together, and most speak of one subject.
    let mut named: (u32, Vec<Named>) = (u32::MAX, Vec::new());
    for def in (0..world.n_defs() as u32).map(Def) {
        if world.kind(def) != NodeKind::Test || reached.binary_search_by_key(&def, |it| it.0).is_ok() {
            continue;
        }
        let file = world.file_of(def);
        let by_stem = by_stem.get_or_insert_with(|| production_files(world));
        let subject = *subjects.entry(file).or_insert_with(|| subject_file(world, by_stem, file));
        let Some(subject) = subject else { continue };
        if named.0 != subject {
            named = (subject, Named::all(world, subject));
        }
        if let Some(target) = named_like(world, def, &named.1) {
            edges.push(DerivedEdge::new(def, target, EdgeKind::Tests, Provenance::Naming));
        }
    }
}

fn production_files<'a>(world: &World<'a>) -> FxHashMap<(String, &'a str), Vec<u32>> {
    let mut files: FxHashMap<(String, &str), Vec<u32>> = FxHashMap::default();
    for file in 0..world.n_files() as u32 {
        let facts = world.facts(file);
        if !facts.flags.contains(NodeFlags::TEST) && !facts.decls.is_empty() {
            let stem = words(stem(world.path(file))).concat();
            files.entry((stem, facts.language.as_str())).or_default().push(file);
        }
    }
    files
}

/// The one production file that a test file is named after; the nearest where there are several.
fn subject_file(world: &World<'_>, by_stem: &FxHashMap<(String, &str), Vec<u32>>, file: u32) -> Option<u32> {
    let path = world.path(file);
    let mut named = words(stem(path));
    let n_words = named.len();
    named.retain(|it| !matches!(it.as_str(), "test" | "tests" | "spec"));
    if named.is_empty() {
        return None;
    }
    // A file without such a word has its tests inside.
    if named.len() == n_words {
        return (!world.facts(file).flags.contains(NodeFlags::TEST)).then_some(file);
    }
    let all = by_stem.get(&(named.concat(), world.facts(file).language.as_str()))?;
    let near = |it: &u32| common_directories(world.path(*it), path);
    let best = all.iter().map(near).max()?;
    let mut nearest = all.iter().filter(|it| near(it) == best);
    let first = nearest.next()?;
    nearest.next().is_none().then_some(*first)
}

/// A callable or type that a test may be named after, and the words of its name.
struct Named {
    def: Def,
    words: Vec<String>,
}

impl Named {
    fn all(world: &World<'_>, file: u32) -> Vec<Named> {
        let facts = world.facts(file);
        let decls = (0..).zip(&facts.decls).filter(|(_, decl)| {
            let fits = decl.kind.is_callable() || decl.kind.is_type_like();
            fits && decl.kind != NodeKind::Test && !decl.flags.contains(NodeFlags::TEST)
        });
        let all = decls.map(|(at, decl)| Named {
            def: world.def(file, DeclId(at)),
            words: words(facts.text(decl.name)),
        });
        all.filter(|it| !it.words.is_empty()).collect()
    }
}

/// The one of a file whose words the test's name begins with; the longest such name, if it is one alone.
fn named_like(world: &World<'_>, test: Def, all: &[Named]) -> Option<Def> {
    let (file, _, decl) = world.decl(test);
    let mut spoken = words(world.facts(file).text(decl.name));
    spoken.retain(|it| !matches!(it.as_str(), "test" | "tests" | "should" | "it"));
    let mut best: Option<&Named> = None;
    let mut alone = true;
    for named in all.iter().filter(|it| spoken.starts_with(&it.words)) {
        match best {
            Some(best) if best.words.len() > named.words.len() => {}
            Some(best) if best.words.len() == named.words.len() => alone = false,
            _ => {
                best = Some(named);
                alone = true;
            }
        }
    }
    best.filter(|_| alone).map(|it| it.def)
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn common_directories(one: &str, other: &str) -> usize {
    one.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count()
}

/// `openFile`, `open_file`, `OpenFile`: open, file.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_alphanumeric() {
            before = ' ';
            continue;
        }
        let next_lower = characters.peek().is_some_and(|it| it.is_lowercase());
        let hump =
            character.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_lower));
        if before == ' ' || hump {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    words
}
