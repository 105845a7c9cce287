//! The hierarchy of a run from that of the run before: files say again what they say of their types where a change concerns
//! them, and what follows from all of them together is made of that.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Ancestor, FilePart, Hierarchy, ImplMembers, ImplTarget};
use crate::again::Moves;
use crate::names::Name;
use crate::world::{Def, Update, World};

impl Hierarchy {
    /// With the files whose answers may be others now. `hierarchy` knows the parts of types, and nothing else, as that of
    /// `world` does.
    pub(crate) fn renewed(
        self,
        world: &World<'_>,
        update: &Update<'_>,
        mut hierarchy: Hierarchy,
    ) -> (Hierarchy, FxHashSet<u32>) {
        let moves = &update.moves;
        let before = self;
        let same_groups = before.groups.len() == hierarchy.groups.len()
            && before
                .groups
                .iter()
                .zip(&hierarchy.groups)
                .all(|(was, is)| moves.defs(was).as_ref() == Some(is));
        let (parts, mut touched) = parts(world, update, before.parts);

        let n_defs = hierarchy.def_hashes.len();
        if same_groups {
            let kept = |def: Def| moves.is_kept(moves.file_then(def)).then(|| moves.def(def)).flatten();
            let kept = |def: Def| kept(def).filter(|it| !touched.contains(&world.file_of(*it)));
            let mut members: Vec<(Def, Name, Def)> = Vec::with_capacity(before.members.members.len());
            let mut left: FxHashSet<u32> = FxHashSet::default();
            for type_ in (0..before.def_hashes.len() as u32).map(Def) {
                let range = before.members.range(type_);
                if range.is_empty() {
                    continue;
                }
                let is = moves.def(type_);
                for at in range {
                    match (is, kept(before.members.members[at])) {
                        (Some(is), Some(member)) => members.push((is, before.members.names[at], member)),
                        (Some(is), None) => left.extend([world.file_of(is)]),
                        _ => {}
                    }
                }
            }
            let n_kept = members.len();
            let mut again: Vec<u32> = touched.iter().copied().collect();
            again.sort_unstable();
            for file in again {
                hierarchy.members_of(world, file, &parts[file as usize].impls, &mut members);
            }
            members[n_kept..].sort_unstable();
            left.extend(members[n_kept..].iter().map(|it| world.file_of(it.0)));
            // Two runs that are in order, unless declarations changed their places.
            members.sort();
            hierarchy.members = ImplMembers::of_sorted(&members, n_defs);
            touched.extend(left);
        } else {
            let mut members = Vec::new();
            for (file, part) in (0..).zip(&parts) {
                hierarchy.members_of(world, file, &part.impls, &mut members);
            }
            members.par_sort_unstable();
            hierarchy.members = ImplMembers::of_sorted(&members, n_defs);
            touched.extend(0..world.n_files() as u32);
        }
        let hierarchy = hierarchy.joined(world, parts);
        for (was, is) in [(&before.linear, &hierarchy.linear), (&before.interfaces, &hierarchy.interfaces)] {
            differing(moves, was, is, |it| touched.extend([world.file_of(it)]));
        }
        (hierarchy, touched)
    }
}

/// What each file says now, and the files that say something else, or are others.
fn parts(world: &World<'_>, update: &Update<'_>, before: Vec<FilePart>) -> (Vec<FilePart>, FxHashSet<u32>) {
    let moves = &update.moves;
    let mut parts: Vec<Option<FilePart>> = (0..world.n_files()).map(|_| None).collect();
    for (then, part) in (0..).zip(before) {
        if moves.is_kept(then)
            && let Some(file) = moves.file(then)
        {
            parts[file as usize] = Some(part);
        }
    }
    let renewed = parts.into_par_iter().zip(0..world.n_files() as u32).map(|(part, file)| {
        let Some(part) = part else { return (FilePart::recorded(world, file), true) };
        let is_concerned = !world.rules(file).notes_parts() || update.concerns(&part.reads);
        let before = part.moved(moves);
        match before {
            Some(before) if !is_concerned => (before, false),
            before => {
                let part = FilePart::recorded(world, file);
                let is_other = before.is_none_or(|it| !it.says_as(&part));
                (part, is_other)
            }
        }
    });
    let (parts, is_other): (Vec<FilePart>, Vec<bool>) = renewed.unzip();
    let touched = (0..).zip(is_other).filter(|it| it.1).map(|it| it.0).collect();
    (parts, touched)
}

impl FilePart {
    /// None when something that it speaks of is not there any more.
    fn moved(mut self, moves: &Moves) -> Option<FilePart> {
        let lists = self.bases.iter_mut().chain(&mut self.for_values);
        for (def, ancestors) in lists {
            *def = moves.def(*def)?;
            for ancestor in ancestors {
                *ancestor = moves.ancestor(ancestor)?;
            }
        }
        for (module, type_) in &mut self.beside {
            (*module, *type_) = (moves.def(*module)?, moves.def(*type_)?);
        }
        for ImplTarget { type_, interface } in &mut self.impls {
            for ancestor in [Some(type_), interface.as_mut()].into_iter().flatten() {
                *ancestor = moves.ancestor(ancestor)?;
            }
        }
        for file in &mut self.imports {
            *file = moves.file(*file)?;
        }
        Some(self)
    }

    fn says_as(&self, other: &FilePart) -> bool {
        let FilePart { bases, for_values, beside, impls, imports, reads: _ } = self;
        (bases, for_values, beside) == (&other.bases, &other.for_values, &other.beside)
            && (impls, imports) == (&other.impls, &other.imports)
    }
}

/// Tells the types of now of which one table says something else than the other.
fn differing(
    moves: &Moves,
    was: &FxHashMap<Def, Vec<Ancestor>>,
    is: &FxHashMap<Def, Vec<Ancestor>>,
    mut tell: impl FnMut(Def),
) {
    let mut n_found = 0;
    was.iter().for_each(|(then, ancestors)| {
        let Some(def) = moves.def(*then) else { return };
        let Some(found) = is.get(&def) else { return tell(def) };
        n_found += 1;
        if moves.ancestors(ancestors).as_ref() != Some(found) {
            tell(def);
        }
    });
    if n_found < is.len() {
        let known: FxHashSet<Def> = was.keys().filter_map(|it| moves.def(*it)).collect();
        is.keys().filter(|it| !known.contains(it)).for_each(|it| tell(*it));
    }
}
