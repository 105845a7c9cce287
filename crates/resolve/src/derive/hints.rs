//! `type_hint_of` by propagation: a function that takes or gives an interface has to do with what fulfils it.

use std::sync::Arc;

use knowing_model::{ContainerClass, EdgeKind, NodeKind, Provenance, package_of};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{DerivedEdge, Lead, sorted};
use crate::again::keys::mix;
use crate::emit::is_interface;
use crate::hierarchy::Ancestor;
use crate::world::{Def, Update, World};

/// Implementors that one hint is carried to: those of its own package first, tests last.
const MAX_PER_HINT: usize = 20;

pub(super) struct Hints {
    /// Sorted by source, target and kind.
    pub(super) edges: Vec<DerivedEdge>,
    /// For each interface, by its digest, one of those who fulfil it.
    digests: FxHashMap<u64, u64>,
    implementors: FxHashMap<Def, Vec<Def>>,
}

impl Hints {
    /// `fulfilled` has what fulfils an interface by what was derived.
    pub(super) fn new(world: &World<'_>, leads: &[Arc<[Lead]>], fulfilled: &[DerivedEdge]) -> Hints {
        let implementors = implementors(world, fulfilled);
        let digests = if world.records { digests(world, &implementors) } else { FxHashMap::default() };
        let edges = sorted(propagate(world, leads, &implementors, |_| true));
        Hints { edges, digests, implementors }
    }

    /// Where nothing is another but the leads of some files.
    pub(super) fn again(self, world: &World<'_>, leads: &[Arc<[Lead]>], other: &FxHashSet<u32>) -> Hints {
        let Hints { mut edges, digests, implementors } = self;
        edges.retain(|it| !other.contains(&world.file_of(it.source)));
        edges.extend(propagate(world, leads, &implementors, |it| other.contains(&it)));
        Hints { edges: sorted(edges), digests, implementors }
    }

    /// As `new`, from those of the run before. `other` are files with other leads.
    pub(super) fn renewed(
        self,
        world: &World<'_>,
        leads: &[Arc<[Lead]>],
        other: Option<&FxHashSet<u32>>,
        update: &Update<'_>,
        fulfilled: &[DerivedEdge],
    ) -> Hints {
        let implementors = implementors(world, fulfilled);
        let digests = digests(world, &implementors);
        let is_other = |interface: Def| {
            let digest = world.digest(interface);
            digests.get(&digest) != self.digests.get(&digest)
        };
        let n_files = world.n_files();
        let again: Vec<bool> = (0..n_files as u32)
            .map(|file| {
                let mut hints = leads[file as usize].iter().filter(|it| it.kind == EdgeKind::TypeHintOf);
                other.is_some_and(|it| it.contains(&file)) || hints.any(|it| is_other(it.target))
            })
            .collect();
        let mut again = again;
        // Whether a callable is test code is said by its file.
        update.came.iter().for_each(|it| again[*it as usize] = true);
        let mut edges = self.edges;
        edges.retain_mut(|it| {
            if it.moved(&update.moves) {
                return !again[world.file_of(it.source) as usize];
            }
            // What hangs on it is looked at again.
            if let Some(source) = update.moves.def(it.source) {
                again[world.file_of(source) as usize] = true;
            }
            false
        });
        edges.retain(|it| !again[world.file_of(it.source) as usize]);
        edges.extend(propagate(world, leads, &implementors, |it| again[it as usize]));
        Hints { edges: sorted(edges), digests, implementors }
    }
}

/// Of each list of implementors, with what their order hangs on beside their numbers.
fn digests(world: &World<'_>, implementors: &FxHashMap<Def, Vec<Def>>) -> FxHashMap<u64, u64> {
    let digest = |of: &Def| mix(world.digest(*of), u64::from(world.is_test_code(*of)));
    let all = implementors.iter();
    all.map(|(it, list)| (world.digest(*it), list.iter().fold(0, |state, it| mix(state, digest(it)))))
        .collect()
}

/// For the files that are wanted.
fn propagate(
    world: &World<'_>,
    files: &[Arc<[Lead]>],
    implementors: &FxHashMap<Def, Vec<Def>>,
    is_wanted: impl Fn(u32) -> bool,
) -> Vec<DerivedEdge> {
    let mut edges = Vec::new();
    if implementors.is_empty() {
        return edges;
    }
    let packages = packages(world);
    let package = |def: Def| packages[world.file_of(def) as usize];
    for (_, file) in (0..).zip(files).filter(|it| is_wanted(it.0)) {
        let hints = file.iter().filter(|it| it.kind == EdgeKind::TypeHintOf);
        let hints: Vec<(Def, Def)> = hints.map(|it| (it.source, it.target)).collect();
        // What is hinted by itself needs no derived edge beside it.
        let stated: FxHashSet<(Def, Def)> = hints.iter().copied().collect();
        // A file hints at the same interface many times.
        let mut known: FxHashMap<(Def, u32, bool), Vec<Def>> = FxHashMap::default();
        for (source, target) in hints {
            let Some(all) = implementors.get(&target) else { continue };
            if !world.kind(source).is_callable() {
                continue;
            }
            let from_test = world.is_test_code(source);
            let here = package(source);
            let fitting = known.entry((target, here, from_test)).or_insert_with(|| {
                let mut fitting: Vec<(bool, bool, Def)> = all
                    .iter()
                    .filter(|it| from_test || !world.is_test_code(**it))
                    .map(|it| (world.is_test_code(*it), package(*it) != here, *it))
                    .collect();
                fitting.sort_unstable();
                fitting.into_iter().map(|it| it.2).take(MAX_PER_HINT).collect()
            });
            let fitting = fitting.iter().copied();
            edges.extend(fitting.filter(|it| *it != source && !stated.contains(&(source, *it))).map(|it| {
                let provenance = Provenance::TypeHintPropagation;
                DerivedEdge::new(source, it, EdgeKind::TypeHintOf, provenance)
            }));
        }
    }
    edges
}

/// Types by the interface they fulfil, at any distance: by their bases, by `impl` blocks, by what was derived.
fn implementors(world: &World<'_>, derived: &[DerivedEdge]) -> FxHashMap<Def, Vec<Def>> {
    let mut all: FxHashMap<Def, Vec<Def>> = FxHashMap::default();
    for def in world.hierarchy.types_below_others() {
        let kind = world.kind(def);
        if !kind.is_type_like() || matches!(kind, NodeKind::Interface | NodeKind::Trait | NodeKind::Module) {
            continue;
        }
        let above = world.hierarchy.ancestors(def).iter().chain(world.hierarchy.interfaces(def));
        for ancestor in above {
            if let Ancestor::Project(interface) = ancestor
                && fulfilled(world, *interface)
            {
                all.entry(*interface).or_default().push(def);
            }
        }
    }
    for edge in derived.iter().filter(|it| it.kind == EdgeKind::Implements) {
        all.entry(edge.target).or_default().push(edge.source);
    }
    // Each key's list is put in order by itself, so that the order of keys does not matter.
    #[expect(clippy::iter_over_hash_type, reason = "each value is put in order by itself")]
    for list in all.values_mut() {
        if !list.is_sorted_by(|one, other| one < other) {
            list.sort_unstable();
            list.dedup();
        }
    }
    all
}

fn fulfilled(world: &World<'_>, def: Def) -> bool {
    matches!(world.kind(def), NodeKind::Interface | NodeKind::Trait) || is_interface(world, def)
}

/// The package of each file as a number.
fn packages(world: &World<'_>) -> Vec<u32> {
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    let mut number = |file: u32| {
        let next = numbers.len() as u32;
        *numbers.entry(package_of(ContainerClass::File, world.path(file))).or_insert(next)
    };
    (0..world.n_files() as u32).map(&mut number).collect()
}
