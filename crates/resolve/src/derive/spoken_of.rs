//! `tests` by name: a test that reaches nothing is joined with the symbol its file and its name speak of: `test_parser.py`
//! with `parser.py`, `test_open_file` with `open_file` there.

use knowing_model::facts::DeclId;
use knowing_model::{EdgeKind, NodeFlags, NodeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::DerivedEdge;
use crate::InputFile;
use crate::again::keys;
use crate::world::{Def, Update, World};

/// What the tests of each file speak of.
pub(super) struct SpokenOf {
    files: Vec<OfFile>,
}

#[derive(Clone, Default)]
struct OfFile {
    /// What tests find it by, if it is one of production: of language and the words of its name.
    stem: Option<u64>,
    subject: Subject,
    /// Of its tests that reach nothing.
    edges: Vec<DerivedEdge>,
}

/// Where the symbols stand that the tests of a file are named after.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Subject {
    #[default]
    Nothing,
    /// In the file itself.
    Own,
    /// In a file of this stem.
    Stem(u64),
}

impl SpokenOf {
    pub(super) fn new(world: &World<'_>, reached: &[Vec<(Def, Def)>]) -> SpokenOf {
        let files = world.input.files.par_iter().map(OfFile::of).collect();
        SpokenOf { files }.again(world, reached, |_| true)
    }

    /// With the tests of those files looked at that are wanted.
    pub(super) fn again(
        mut self,
        world: &World<'_>,
        reached: &[Vec<(Def, Def)>],
        is_wanted: impl Fn(u32) -> bool + Sync,
    ) -> SpokenOf {
        if !(0..world.n_files() as u32).any(&is_wanted) {
            return self;
        }
        let mut by_stem: Vec<(u64, u32)> =
            (0..).zip(&self.files).filter_map(|(file, it)| Some((it.stem?, file))).collect();
        by_stem.sort_unstable();
        let files = self.files.par_iter_mut().zip(0..world.n_files() as u32);
        files.filter(|it| is_wanted(it.1)).for_each(|(of_file, file)| {
            of_file.edges = edges_of(world, file, of_file.subject, &by_stem, &reached[file as usize]);
        });
        self
    }

    /// From that of the run before; `again` are files whose tests reach something else.
    pub(super) fn renewed(
        self,
        world: &World<'_>,
        reached: &[Vec<(Def, Def)>],
        again: &[bool],
        update: &Update<'_>,
    ) -> SpokenOf {
        let moves = &update.moves;
        let mut files: Vec<Option<OfFile>> = vec![None; world.n_files()];
        let mut is_wanted = again.to_vec();
        for (then, mut of_file) in (0..).zip(self.files) {
            let Some(file) = moves.file(then).filter(|_| moves.is_kept(then)) else { continue };
            is_wanted[file as usize] |= !of_file.edges.iter_mut().all(|it| it.moved(moves));
            files[file as usize] = Some(of_file);
        }
        for file in &update.came {
            files[*file as usize] = Some(OfFile::of(&world.input.files[*file as usize]));
            is_wanted[*file as usize] = true;
        }
        let stems: FxHashSet<u64> = update.versions(world).filter_map(|it| OfFile::of(&it).stem).collect();
        for (of_file, is_wanted) in files.iter_mut().zip(&mut is_wanted) {
            *is_wanted |= match of_file.get_or_insert_default().subject {
                Subject::Stem(stem) => stems.contains(&stem),
                Subject::Own | Subject::Nothing => false,
            };
        }
        let files = files.into_iter().flatten().collect();
        SpokenOf { files }.again(world, reached, |it| is_wanted[it as usize])
    }

    /// In the order of files.
    pub(super) fn edges(&self) -> Vec<DerivedEdge> {
        self.files.iter().flat_map(|it| &it.edges).copied().collect()
    }
}

impl OfFile {
    fn of(file: &InputFile<'_>) -> OfFile {
        let InputFile { path, facts } = *file;
        let is_test = facts.flags.contains(NodeFlags::TEST);
        let has_tests = facts.decls.iter().any(|it| it.kind == NodeKind::Test);
        if facts.decls.is_empty() || is_test && !has_tests {
            return OfFile::default();
        }
        let in_language = |words: &[String]| keys::text(keys::name(&facts.language), &words.concat());
        let mut words = words(stem(path));
        let own = (!is_test).then(|| in_language(&words));
        let n_words = words.len();
        words.retain(|it| !matches!(it.as_str(), "test" | "tests" | "spec"));
        let subject = match words.len() {
            _ if !has_tests => Subject::Nothing,
            0 => Subject::Nothing,
            // A file without such a word has its tests inside.
            n if n == n_words && is_test => Subject::Nothing,
            n if n == n_words => Subject::Own,
            _ => Subject::Stem(in_language(&words)),
        };
        OfFile { stem: own, subject, edges: Vec::new() }
    }
}

/// Of the tests of a file that are not among those which reach something.
fn edges_of(
    world: &World<'_>,
    file: u32,
    subject: Subject,
    by_stem: &[(u64, u32)],
    reached: &[(Def, Def)],
) -> Vec<DerivedEdge> {
    let subject = match subject {
        Subject::Nothing => None,
        Subject::Own => Some(file),
        Subject::Stem(stem) => nearest(world, file, stem, by_stem),
    };
    let Some(subject) = subject else { return Vec::new() };
    let tests = world.defs_of(file).filter(|it| {
        world.kind(*it) == NodeKind::Test && reached.binary_search_by_key(it, |it| it.0).is_err()
    });
    let mut tests = tests.peekable();
    if tests.peek().is_none() {
        return Vec::new();
    }
    let named = Named::all(world, subject);
    let edges = tests.filter_map(|test| {
        let target = named_like(world, test, &named)?;
        Some(DerivedEdge::new(test, target, EdgeKind::Tests, Provenance::Naming))
    });
    edges.collect()
}

/// The one production file that a test file is named after; the nearest where there are several.
fn nearest(world: &World<'_>, file: u32, stem: u64, by_stem: &[(u64, u32)]) -> Option<u32> {
    let begin = by_stem.partition_point(|it| it.0 < stem);
    let all = by_stem[begin..].iter().take_while(|it| it.0 == stem).map(|it| it.1);
    let near = |it: &u32| common_directories(world.path(*it), world.path(file));
    let best = all.clone().map(|it| near(&it)).max()?;
    let mut nearest = all.filter(|it| near(it) == best);
    let first = nearest.next()?;
    nearest.next().is_none().then_some(first)
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
