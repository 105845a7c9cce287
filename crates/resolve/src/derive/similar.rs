//! `similar_to`: callables of one package whose names and signatures use the same words.
//!
//! Words are ordered from rare to common. Two sets that share more than half of their union share one of the rarer
//! halves' words, so that only callables with such a word in common (a *block*) are compared with each other.

use std::collections::BTreeMap;

use knowing_model::facts::DeclId;
use knowing_model::{ContainerClass, EdgeKind, NodeKind, Provenance, package_of};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::DerivedEdge;
use crate::again::Previous;
use crate::world::{Def, World};

const MAX_PER_NODE: u8 = 5;
const MAX_BLOCK: usize = 200;
const MIN_WORDS: usize = 3;
const MIN_LETTERS: usize = 3;

/// Words that every declaration of a language has.
const EVERYWHERE: &[&str] = &[
    "abstract",
    "async",
    "class",
    "cls",
    "const",
    "constructor",
    "def",
    "export",
    "final",
    "fun",
    "func",
    "function",
    "impl",
    "init",
    "internal",
    "mut",
    "native",
    "none",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "return",
    "self",
    "static",
    "suspend",
    "synchronized",
    "throws",
    "unsafe",
    "virtual",
    "void",
    "where",
];

/// The edges of all packages but those in which no file is another one than in the run before. For each file whether
/// its edges are left out so.
pub(super) fn similar(world: &World<'_>, previous: Option<&Previous<'_>>) -> (Vec<DerivedEdge>, Vec<bool>) {
    let settled = Settled::new(world, previous);
    let mut packages: BTreeMap<&str, Vec<Def>> = BTreeMap::new();
    for file in (0..world.n_files() as u32).filter(|it| !settled.has(*it)) {
        packages.entry(package(world, file)).or_default().extend(callables(world, file));
    }
    let packages: Vec<Vec<Def>> = packages.into_values().collect();
    let found: Vec<Vec<DerivedEdge>> = packages.par_iter().map(|it| within(world, it)).collect();
    (found.concat(), settled.files)
}

/// The edges of all files that stand in one directory with `file`.
pub(super) fn around(world: &World<'_>, file: u32) -> Vec<DerivedEdge> {
    let files = world.files_in(directory_of(world.path(file)));
    within(world, &files.flat_map(|it| callables(world, it)).collect::<Vec<_>>())
}

fn package<'a>(world: &World<'a>, file: u32) -> &'a str {
    package_of(ContainerClass::File, world.path(file))
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Tests of one thing are alike by design.
fn callables(world: &World<'_>, file: u32) -> impl Iterator<Item = Def> {
    let defs = (0..world.facts(file).decls.len() as u32).map(move |it| world.def(file, DeclId(it)));
    defs.filter(|def| {
        let kind = world.kind(*def);
        kind.is_callable() && kind != NodeKind::Test && !world.is_test_code(*def)
    })
}

/// Files of packages in which nothing changed.
struct Settled {
    files: Vec<bool>,
}

impl Settled {
    fn new(world: &World<'_>, previous: Option<&Previous<'_>>) -> Settled {
        let Some(previous) = previous else { return Settled { files: vec![false; world.n_files()] } };
        let gone = previous.gone.iter().map(|it| it.path);
        let new = (0..).zip(previous.same).filter(|it| it.1.is_none()).map(|it| world.path(it.0));
        let changed: FxHashSet<&str> = gone.chain(new).map(directory_of).collect();
        let mut files = vec![true; world.n_files()];
        #[expect(clippy::iter_over_hash_type, reason = "each directory is one of its own")]
        for directory in changed {
            world.files_in(directory).for_each(|it| files[it as usize] = false);
        }
        Settled { files }
    }

    fn has(&self, file: u32) -> bool {
        self.files[file as usize]
    }
}

/// A callable and its words, rarest first; words are numbered by rarity.
struct Worded {
    def: Def,
    words: Vec<u32>,
}

impl Worded {
    /// The rarer half: whoever is similar shares one of these.
    fn telling(&self) -> &[u32] {
        &self.words[..self.words.len().div_ceil(2)]
    }
}

fn within(world: &World<'_>, defs: &[Def]) -> Vec<DerivedEdge> {
    let all = worded(world, defs);
    let mut blocks: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for (at, worded) in all.iter().enumerate() {
        for word in worded.telling() {
            blocks.entry(*word).or_default().push(at as u32);
        }
    }
    let mut keys: Vec<u32> = blocks.iter().filter(|it| it.1.len() > 1).map(|it| *it.0).collect();
    keys.sort_unstable();
    let mut pairs: Vec<(u16, u32, u32)> = Vec::new();
    for key in keys {
        let block = &blocks[&key];
        if block.len() <= MAX_BLOCK {
            compare(&all, block, &mut pairs);
            continue;
        }
        let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for at in block {
            let next = all[*at as usize].words.iter().find(|it| **it > key);
            parts.entry(next.copied().unwrap_or(u32::MAX)).or_default().push(*at);
        }
        for part in parts.into_values().filter(|it| it.len() <= MAX_BLOCK) {
            compare(&all, &part, &mut pairs);
        }
    }
    // The most alike first; each callable takes part in a few pairs only.
    pairs.sort_unstable_by_key(|(likeness, one, other)| (u16::MAX - likeness, *one, *other));
    pairs.dedup();
    let mut n_pairs = vec![0u8; all.len()];
    let mut edges = Vec::new();
    for (likeness, one, other) in pairs {
        let (one, other) = (one as usize, other as usize);
        if n_pairs[one] >= MAX_PER_NODE || n_pairs[other] >= MAX_PER_NODE {
            continue;
        }
        n_pairs[one] += 1;
        n_pairs[other] += 1;
        edges.push(DerivedEdge {
            source: all[one].def,
            target: all[other].def,
            kind: EdgeKind::SimilarTo,
            provenance: Provenance::Similarity,
            confidence_bp: likeness,
        });
    }
    edges
}

fn compare(all: &[Worded], block: &[u32], pairs: &mut Vec<(u16, u32, u32)>) {
    for (at, one) in block.iter().enumerate() {
        for other in &block[at + 1..] {
            let (a, b) = (&all[*one as usize].words, &all[*other as usize].words);
            if let Some(likeness) = jaccard_bp(a, b) {
                pairs.push((likeness, *one, *other));
            }
        }
    }
}

/// Shared words by all words in basis points, when they are more than half. Both lists are sorted.
fn jaccard_bp(one: &[u32], other: &[u32]) -> Option<u16> {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if short.len() * 2 <= long.len() {
        return None;
    }
    let (mut a, mut b, mut shared) = (0, 0, 0usize);
    while a < one.len() && b < other.len() {
        match one[a].cmp(&other[b]) {
            std::cmp::Ordering::Less => a += 1,
            std::cmp::Ordering::Greater => b += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                a += 1;
                b += 1;
            }
        }
    }
    let union = one.len() + other.len() - shared;
    (shared * 2 > union).then(|| (shared * 10_000 / union) as u16)
}

fn worded(world: &World<'_>, defs: &[Def]) -> Vec<Worded> {
    // None for what every declaration has.
    let mut ids: FxHashMap<String, Option<u32>> = FxHashMap::default();
    let mut counts: Vec<u32> = Vec::new();
    let mut all: Vec<Worded> = Vec::new();
    let mut word = String::new();
    for def in defs {
        let (file, _, decl) = world.decl(*def);
        let mut words: Vec<u32> = Vec::new();
        each_word(world.facts(file).text(decl.signature), &mut word, |word| {
            let id = match ids.get(word) {
                Some(id) => *id,
                None => {
                    let id = EVERYWHERE.binary_search(&word).is_err().then_some(counts.len() as u32);
                    counts.extend(id.map(|_| 0));
                    ids.insert(word.to_owned(), id);
                    id
                }
            };
            words.extend(id);
        });
        words.sort_unstable();
        words.dedup();
        if words.len() >= MIN_WORDS {
            words.iter().for_each(|it| counts[*it as usize] += 1);
            all.push(Worded { def: *def, words });
        }
    }
    // Numbers by rarity, and by first use among words as rare.
    let mut by_rarity: Vec<u32> = (0..counts.len() as u32).collect();
    by_rarity.sort_unstable_by_key(|it| (counts[*it as usize], *it));
    let mut rank = vec![0u32; counts.len()];
    for (at, id) in by_rarity.into_iter().enumerate() {
        rank[id as usize] = at as u32;
    }
    for worded in &mut all {
        worded.words.iter_mut().for_each(|it| *it = rank[*it as usize]);
        worded.words.sort_unstable();
    }
    all
}

/// The words of a signature: parts of identifiers in lower case, short ones left out.
fn each_word(text: &str, word: &mut String, mut found: impl FnMut(&str)) {
    word.clear();
    let mut flush = |word: &mut String| {
        if word.len() >= MIN_LETTERS {
            found(word);
        }
        word.clear();
    };
    let mut before_lower = false;
    for character in text.chars() {
        if !character.is_alphanumeric() {
            flush(word);
            before_lower = false;
            continue;
        }
        if character.is_uppercase() && before_lower {
            flush(word);
        }
        before_lower = character.is_lowercase() || character.is_numeric();
        match character.is_ascii() {
            true => word.push(character.to_ascii_lowercase()),
            false => word.extend(character.to_lowercase()),
        }
    }
    flush(word);
}
