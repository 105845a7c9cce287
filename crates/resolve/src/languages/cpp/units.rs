//! Which file an include means, and which files a file sees through its includes.
//!
//! What a compiler is told about directories is not known here. A quoted include is looked for beside the file that has
//! it; else the one project file whose path ends so is meant, or among several the one nearest to the includer. Where
//! that leaves a choice, nothing is meant.

use std::collections::VecDeque;

use knowing_model::facts::Import;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tables;
use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::paths::join;
use crate::world::World;

/// Levels of imports that are includes.
pub(super) const QUOTED: u8 = 1;
pub(super) const ANGLED: u8 = 2;

/// How many files one file is taken to see; nearest first.
const MAX_VISIBLE: usize = 4_000;

/// What an include leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Included {
    File(u32),
    /// A header of the system or of another project.
    Outside,
    /// One of several files, or one that is made by the build.
    Unknown,
}

#[derive(Default)]
pub(super) struct Units {
    /// By file and number of the import.
    included: FxHashMap<(u32, u32), Included>,
    /// Files a file sees, sorted; itself among them. Empty for other languages.
    visible: Vec<Vec<u32>>,
    /// Files that include a file directly, sorted.
    includers: Vec<Vec<u32>>,
    /// Whether what a file sees comes from outside too, beyond the standard library.
    sees_outside: Vec<bool>,
    file_hashes: Vec<u64>,
}

/// Languages whose files include each other.
pub(super) const FAMILY: &[&str] = &["c", "cpp"];

pub(super) fn is_include(import: &Import) -> bool {
    matches!(import.level, QUOTED | ANGLED)
}

impl Units {
    pub(super) fn new(world: &World<'_>) -> Units {
        let n_files = world.n_files();
        let by_name = files_by_name(world);
        let mut units = Units {
            includers: vec![Vec::new(); n_files],
            file_hashes: (0..n_files as u32).map(|it| world.file_hash(it)).collect(),
            ..Units::default()
        };
        let mut direct: Vec<Vec<u32>> = vec![Vec::new(); n_files];
        let mut outside: Vec<bool> = vec![false; n_files];
        for file in world.files_of(FAMILY) {
            let facts = world.facts(file);
            for (index, import) in facts.imports.iter().enumerate() {
                let Some(text) = import.module.first().filter(|_| is_include(import)) else { continue };
                let text = facts.text(*text);
                let included = find(world, &by_name, file, text, import.level);
                match included {
                    Included::File(target) if target != file => {
                        direct[file as usize].push(target);
                        units.includers[target as usize].push(file);
                    }
                    Included::Outside if !tables::is_standard_header(text) => outside[file as usize] = true,
                    Included::Unknown => outside[file as usize] = true,
                    _ => {}
                }
                units.included.insert((file, index as u32), included);
            }
        }
        for includers in &mut units.includers {
            includers.sort_unstable();
            includers.dedup();
        }
        let files = world.files_of(FAMILY);
        let is_ours = |file: u32| files.binary_search(&file).is_ok();
        units.visible = (0..n_files as u32)
            .map(|file| if is_ours(file) { closure(&direct, file) } else { Vec::new() })
            .collect();
        units.sees_outside =
            units.visible.iter().map(|all| all.iter().any(|it| outside[*it as usize])).collect();
        units
    }

    pub(super) fn included(&self, file: u32, import: u32) -> Included {
        self.note(Door::CppIncluded, file);
        self.included.get(&(file, import)).copied().unwrap_or(Included::Unknown)
    }

    pub(super) fn sees(&self, file: u32, other: u32) -> bool {
        self.note(Door::CppVisible, file);
        file == other || self.visible.get(file as usize).is_some_and(|it| it.binary_search(&other).is_ok())
    }

    pub(super) fn includers(&self, file: u32) -> &[u32] {
        self.note(Door::CppIncluders, file);
        self.includers.get(file as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn sees_outside(&self, file: u32) -> bool {
        self.note(Door::CppSeesOutside, file);
        self.sees_outside.get(file as usize).copied().unwrap_or(false)
    }

    fn note(&self, door: Door, file: u32) {
        reads::note(door, self.file_hashes.get(file as usize).copied().unwrap_or(0), None);
    }

    /// What is asked here, and what the answers are.
    pub(super) fn answers(&self, notary: &mut Notary<'_>) {
        for (file, visible) in (0..).zip(&self.visible).filter(|it| !it.1.is_empty()) {
            let hash = notary.file(file);
            notary.push(Door::CppVisible, hash, None, notary.files(visible));
            notary.push(Door::CppIncluders, hash, None, notary.files(&self.includers[file as usize]));
            let outside = u64::from(self.sees_outside[file as usize]);
            notary.push(Door::CppSeesOutside, hash, None, outside);
        }
        let mut included: Vec<(&(u32, u32), &Included)> = self.included.iter().collect();
        included.sort_unstable_by_key(|it| it.0);
        for of_file in included.chunk_by(|one, other| one.0.0 == other.0.0) {
            let answer = of_file.iter().fold(0, |state, ((_, import), included)| {
                let included = match included {
                    Included::File(file) => notary.file(*file),
                    Included::Outside => 1,
                    Included::Unknown => 2,
                };
                keys::mix(keys::mix(state, u64::from(*import)), included)
            });
            notary.push(Door::CppIncluded, notary.file(of_file[0].0.0), None, answer);
        }
    }
}

fn files_by_name<'a>(world: &World<'a>) -> FxHashMap<&'a str, Vec<u32>> {
    let mut files: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for file in world.files_of(FAMILY) {
        let path = world.path(file);
        files.entry(path.rsplit('/').next().unwrap_or(path)).or_default().push(file);
    }
    files
}

fn find(
    world: &World<'_>,
    by_name: &FxHashMap<&str, Vec<u32>>,
    file: u32,
    text: &str,
    level: u8,
) -> Included {
    let here = world.path(file).rsplit_once('/').map_or("", |it| it.0);
    if level == QUOTED
        && let Some(path) = join(here, text)
        && let Some(target) = world.file_at(&path)
    {
        return Included::File(target);
    }
    if level == ANGLED && tables::is_standard_header(text) {
        return Included::Outside;
    }
    // `../x.h` that is not there is beside some other directory of the build.
    let text = text.trim_start_matches("./").trim_start_matches("../");
    let name = text.rsplit('/').next().unwrap_or(text);
    let ends_so =
        |path: &str| path.strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let candidates: Vec<u32> = by_name
        .get(name)
        .into_iter()
        .flatten()
        .copied()
        .filter(|it| *it != file && ends_so(world.path(*it)))
        .collect();
    match candidates[..] {
        [] if level == ANGLED => Included::Outside,
        [] => Included::Unknown,
        [one] => Included::File(one),
        _ => nearest(world, here, text, &candidates),
    }
}

/// The candidate whose directory of includes is one around the includer, or stands beside one; the innermost such.
fn nearest(world: &World<'_>, here: &str, text: &str, candidates: &[u32]) -> Included {
    let n_shared = |it: &u32| {
        let path = world.path(*it);
        let root = path[..path.len() - text.len()].trim_end_matches('/');
        let shared =
            here.split('/').zip(root.split('/')).take_while(|(one, other)| one == other && !one.is_empty());
        shared.count()
    };
    let best = candidates.iter().map(n_shared).max().unwrap_or(0);
    let mut left = candidates.iter().filter(|it| n_shared(it) == best);
    match (left.next(), left.next()) {
        (Some(one), None) => Included::File(*one),
        _ => Included::Unknown,
    }
}

fn closure(direct: &[Vec<u32>], file: u32) -> Vec<u32> {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut order = vec![file];
    let mut next = VecDeque::from([file]);
    seen.insert(file);
    while let Some(at) = next.pop_front() {
        for target in &direct[at as usize] {
            if order.len() < MAX_VISIBLE && seen.insert(*target) {
                order.push(*target);
                next.push_back(*target);
            }
        }
    }
    order.sort_unstable();
    order
}
