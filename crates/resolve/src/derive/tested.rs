//! `tests` and `co_tested_with`: what a test exercises, and what one test file exercises together.

use std::sync::Arc;

use knowing_model::{EdgeKind, NodeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::spoken_of::SpokenOf;
use super::{DerivedEdge, Lead, sorted};
use crate::world::{Def, Update, World};

/// Production symbols that one test is joined with.
const MAX_PER_TEST: usize = 50;
/// Symbols of a test file that are joined with each other, and the pairs of them.
const MAX_TOGETHER: usize = 20;

/// Of all files.
pub(super) struct Tested {
    /// What the tests of each file call or construct themselves, resolved, less what is test code: test and target, in order.
    reached: Vec<Vec<(Def, Def)>>,
    /// What follows from that, sorted.
    pub(super) edges: Vec<DerivedEdge>,
    names: SpokenOf,
    /// What tests are named after that reach nothing, sorted.
    pub(super) named: Vec<DerivedEdge>,
}

impl Tested {
    pub(super) fn new(world: &World<'_>, leads: &[Arc<[Lead]>]) -> Tested {
        let reached: Vec<Vec<(Def, Def)>> = leads.par_iter().map(|it| reached(world, it)).collect();
        let (edges, names) = rayon::join(|| edges_of(world, &reached), || SpokenOf::new(world, &reached));
        let named = sorted(names.edges());
        Tested { reached, edges, names, named }
    }

    /// Where nothing is another but the leads of some files.
    pub(super) fn again(self, world: &World<'_>, leads: &[Arc<[Lead]>], other: &FxHashSet<u32>) -> Tested {
        let Tested { reached: before, names, .. } = self;
        let again = (0..).zip(before).zip(leads);
        let reached: Vec<Vec<(Def, Def)>> = again
            .map(|((file, before), leads)| if other.contains(&file) { reached(world, leads) } else { before })
            .collect();
        let names = names.again(world, &reached, |it| other.contains(&it));
        let (edges, named) = (edges_of(world, &reached), sorted(names.edges()));
        Tested { reached, edges, names, named }
    }

    /// As `new`, from that of the run before. `other` are files with other leads, none where they are those of before.
    pub(super) fn renewed(
        self,
        world: &World<'_>,
        leads: &[Arc<[Lead]>],
        other: Option<&FxHashSet<u32>>,
        update: &Update<'_>,
    ) -> Tested {
        let moves = &update.moves;
        if !update.tells_tests_as_before(world) {
            return Tested::new(world, leads);
        }
        let mut is_other = !moves.keeps_order();
        let mut kept: Vec<Option<Vec<(Def, Def)>>> = vec![None; world.n_files()];
        for (then, mut reached) in (0..).zip(self.reached) {
            let file = moves.file(then).filter(|it| other.is_none_or(|other| !other.contains(it)));
            let is_there = reached.iter_mut().all(|(test, target)| {
                let now = moves.def(*test).zip(moves.def(*target));
                (*test, *target) = now.unwrap_or((*test, *target));
                now.is_some()
            });
            match file.filter(|_| is_there) {
                Some(file) => {
                    reached.sort_unstable();
                    kept[file as usize] = Some(reached);
                }
                None => is_other |= !reached.is_empty(),
            }
        }
        let again: Vec<bool> = kept.iter().map(Option::is_none).collect();
        let reached: Vec<Vec<(Def, Def)>> = kept
            .into_iter()
            .zip(leads)
            .map(|(it, leads)| it.unwrap_or_else(|| reached(world, leads)))
            .collect();
        is_other |= again.iter().zip(&reached).any(|(again, it)| *again && !it.is_empty());
        let names = self.names.renewed(world, &reached, &again, update);
        let mut edges = self.edges;
        // Of those that are exercised as often, those that come first count.
        if is_other || !edges.iter_mut().all(|it| it.moved(moves)) {
            edges = edges_of(world, &reached);
        }
        let named = sorted(names.edges());
        Tested { reached, edges, names, named }
    }
}

/// What the tests of each file exercise, and what is exercised together.
fn edges_of(world: &World<'_>, reached: &[Vec<(Def, Def)>]) -> Vec<DerivedEdge> {
    let mut edges = Vec::new();
    let mut n_tests: Vec<u32> = vec![0; world.n_defs()];
    for (_, target) in reached.iter().flatten() {
        n_tests[target.0 as usize] += 1;
    }
    let mut by_file: Vec<Vec<Def>> = Vec::new();
    for of_file in reached.iter().filter(|it| !it.is_empty()) {
        let mut together = Vec::new();
        for of_test in of_file.chunk_by(|one, other| one.0 == other.0) {
            let test = of_test[0].0;
            let mut targets: Vec<(u32, Def)> =
                of_test.iter().map(|(_, it)| (n_tests[it.0 as usize], *it)).collect();
            // What few tests exercise says the most about this one.
            targets.sort_unstable();
            targets.truncate(MAX_PER_TEST);
            together.extend(targets.iter().map(|it| it.1));
            let provenance = Provenance::AstResolved;
            edges.extend(targets.iter().map(|it| DerivedEdge::new(test, it.1, EdgeKind::Tests, provenance)));
        }
        by_file.push(together);
    }
    n_tests.fill(0);
    together(by_file, n_tests, &mut edges);
    sorted(edges)
}

/// For the leads of one file.
fn reached(world: &World<'_>, leads: &[Lead]) -> Vec<(Def, Def)> {
    let calls = leads.iter().filter(|it| it.kind == EdgeKind::Calls && !world.is_test_code(it.target));
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
/// `by_file` has what the tests of each file reach, once for each of them; `n_files` is a zero for each declaration.
fn together(mut by_file: Vec<Vec<Def>>, mut n_files: Vec<u32>, edges: &mut Vec<DerivedEdge>) {
    for symbols in &mut by_file {
        symbols.sort_unstable();
        for same in symbols.chunk_by(|one, other| one == other) {
            n_files[same[0].0 as usize] += 1;
        }
    }
    for symbols in &by_file {
        let mut symbols: Vec<(u32, u32, Def)> = symbols
            .chunk_by(|one, other| one == other)
            .map(|it| (n_files[it[0].0 as usize], u32::MAX - it.len() as u32, it[0]))
            .collect();
        symbols.sort_unstable();
        symbols.truncate(MAX_TOGETHER);
        // Pairs in the order of the sum of their ranks.
        let n = symbols.len();
        let pairs = (1..2 * n).flat_map(|sum| {
            let ones = (sum + 1).saturating_sub(n)..sum.div_ceil(2);
            ones.map(move |one| (one, sum - one))
        });
        for (one, other) in pairs.take(MAX_TOGETHER) {
            let (one, other) = (symbols[one].2, symbols[other].2);
            let (source, target) = (one.min(other), one.max(other));
            let provenance = Provenance::CoTestInference;
            edges.push(DerivedEdge::new(source, target, EdgeKind::CoTestedWith, provenance));
        }
    }
}
