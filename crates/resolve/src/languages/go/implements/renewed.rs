//! What fulfils what from the run before: methods, sets and wants of files that no change concerns are kept, and an interface
//! is looked at again when it asks for something else, or a type with all of its methods came, went or became another.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    FileMethods, FileSets, FileWants, Fulfilments, Method, MethodSet, Want, Wanted, asked_for, fulfil, named,
    own,
};
use crate::again::Moves;
use crate::names::Name;
use crate::world::{Def, Update, World};

impl Fulfilments {
    /// As `new`.
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> Fulfilments {
        if self.methods.is_empty() {
            return Fulfilments::new(world);
        }
        let mut asked = self.asked;
        let (methods, changed) = methods_again(world, update, self.methods, &mut asked);
        let own = own(&methods);
        let is_same = |reads: &[u32], seen: &[Def]| {
            !update.concerns(reads) && !seen.iter().any(|it| changed.contains(it))
        };

        let mut before: FxHashMap<Def, Vec<Method>> = FxHashMap::default();
        let sets = of_files(
            world,
            update,
            self.sets,
            |it, moves| it.moved(moves),
            |it| is_same(&it.reads, &it.seen),
            |it| before.extend(it.sets),
            |file| FileSets::of(world, file, &methods[file as usize], &own),
        );
        let mut other: Vec<&MethodSet> = Vec::new();
        for set in sets.iter().filter(|it| it.1).flat_map(|it| &it.0.sets) {
            if before.get(&set.0) == Some(&set.1) {
                before.remove(&set.0);
            } else {
                other.push(set);
            }
        }
        let is_other: FxHashSet<Def> = other.iter().map(|it| it.0).chain(before.into_keys()).collect();

        let wants = of_files(
            world,
            update,
            self.wants,
            |it, moves| it.moved(moves),
            |it| is_same(&it.reads, &it.seen),
            |_| {},
            |file| FileWants::of(world, file, &methods[file as usize], &own),
        );
        let has_all =
            |it: &Wanted| other.iter().any(|(_, set)| it.all_names().all(|name| named(set, name).is_some()));
        let mut wants: Vec<FileWants> = wants.into_iter().map(|it| it.0).collect();
        wants.par_iter_mut().flat_map_iter(|it| &mut it.wants).for_each(|want| {
            want.is_open |= want.edges.iter().any(|it| is_other.contains(&it.source))
                || want.wanted.as_ref().is_some_and(has_all);
        });
        let sets: Vec<FileSets> = sets.into_iter().map(|it| it.0).collect();
        drop(own);
        fulfil(world, &sets, &mut wants);
        Fulfilments { asked, methods, sets, wants }
    }
}

/// What there is of each file, and whether it was made anew: where the run before has none, or a change concerns it. What is
/// not kept though all of it is still there is `told`.
fn of_files<T: Send>(
    world: &World<'_>,
    update: &Update<'_>,
    before: Vec<T>,
    moved: impl Fn(T, &Moves) -> Option<T>,
    is_same: impl Fn(&T) -> bool,
    mut told: impl FnMut(T),
    make: impl Fn(u32) -> T + Sync,
) -> Vec<(T, bool)> {
    let moves = &update.moves;
    let mut kept: Vec<Option<T>> = (0..world.n_files()).map(|_| None).collect();
    for (then, of_file) in (0..).zip(before) {
        let Some(of_file) = moved(of_file, moves) else { continue };
        match moves.file(then).filter(|_| moves.is_kept(then)) {
            Some(file) if is_same(&of_file) => kept[file as usize] = Some(of_file),
            _ => told(of_file),
        }
    }
    let all = kept.into_par_iter().zip(0..world.n_files() as u32);
    all.map(|(kept, file)| match kept {
        Some(kept) => (kept, false),
        None => (make(file), true),
    })
    .collect()
}

/// What files declare, and the types whose own methods are others.
fn methods_again(
    world: &World<'_>,
    update: &Update<'_>,
    before: Vec<FileMethods>,
    asked: &mut FxHashMap<Name, u32>,
) -> (Vec<FileMethods>, FxHashSet<Def>) {
    let mut other: FxHashSet<Name> = FxHashSet::default();
    let moves = &update.moves;
    let mut changed: FxHashSet<Def> = FxHashSet::default();
    let mut kept: Vec<Option<FileMethods>> = (0..world.n_files()).map(|_| None).collect();
    let mut replaced: Vec<Option<FileMethods>> = (0..world.n_files()).map(|_| None).collect();
    for (then, of_file) in (0..).zip(before) {
        let owners: Vec<Def> = match moves.is_kept(then) {
            true => Vec::new(),
            false => of_file.methods.iter().filter_map(|it| moves.def(it.0)).collect(),
        };
        let is_kept = moves.is_kept(then) && !update.concerns(&of_file.reads);
        let names = of_file.asked.clone();
        match (of_file.moved(moves), moves.file(then)) {
            (Ok(of_file), Some(file)) if is_kept => {
                kept[file as usize] = Some(of_file);
                continue;
            }
            (Ok(of_file), Some(file)) => replaced[file as usize] = Some(of_file),
            (Ok(_), None) => changed.extend(owners),
            (Err(owners), _) => changed.extend(owners),
        }
        for name in names {
            if let Some(n) = asked.get_mut(&name) {
                *n -= 1;
            }
            other.insert(name);
        }
    }
    let mut again: FxHashMap<u32, Vec<Name>> = FxHashMap::default();
    for (file, _) in (0..).zip(&kept).filter(|it| it.1.is_none()) {
        let names = asked_for(world, file);
        names.iter().for_each(|it| *asked.entry(*it).or_default() += 1);
        other.extend(&names);
        again.insert(file, names);
    }
    other.iter().for_each(|it| {
        if asked.get(it) == Some(&0) {
            asked.remove(it);
        }
    });
    if !other.is_empty() {
        for (file, (kept, replaced)) in (0..).zip(kept.iter_mut().zip(&mut replaced)) {
            if kept.as_ref().is_some_and(|it| !it.is_typed_for(&other, asked)) {
                *replaced = kept.take();
                again.extend(replaced.as_ref().map(|it| (file, it.asked.clone())));
            }
        }
    }
    let asked = &*asked;
    let methods: Vec<FileMethods> = kept
        .into_par_iter()
        .zip(0..world.n_files() as u32)
        .map(|(kept, file)| {
            let names = || again.get(&file).cloned().unwrap_or_default();
            kept.unwrap_or_else(|| FileMethods::of(world, file, names(), asked))
        })
        .collect();
    let files = update.came.iter().copied().filter(|it| replaced[*it as usize].is_none());
    for file in files {
        changed.extend(methods[file as usize].methods.iter().map(|it| it.0));
    }
    for (before, now) in replaced.iter().zip(&methods) {
        let Some(before) = before else { continue };
        let owners = |all: &[(Def, Method)]| all.iter().map(|it| it.0).collect::<Vec<_>>();
        if before.methods != now.methods {
            changed.extend(owners(&before.methods));
            changed.extend(owners(&now.methods));
        }
    }
    (methods, changed)
}

impl FileMethods {
    /// The types that are still there, where something else is not.
    fn moved(mut self, moves: &Moves) -> Result<FileMethods, Vec<Def>> {
        let mut is_there = true;
        let mut owners = Vec::new();
        let mut to_now = |it: &mut Def| {
            let now = moves.def(*it);
            is_there &= now.is_some();
            *it = now.unwrap_or(*it);
            now
        };
        for (owner, method) in &mut self.methods {
            owners.extend(to_now(owner));
            to_now(&mut method.def);
        }
        for type_ in self.types.iter_mut().chain(&mut self.interfaces) {
            to_now(type_);
        }
        if is_there { Ok(self) } else { Err(owners) }
    }

    /// Whether of the methods of `other` names the types of those are known that interfaces ask for.
    fn is_typed_for(&self, other: &FxHashSet<Name>, asked: &FxHashMap<Name, u32>) -> bool {
        let is_known = |(owner, method): &(Def, Method)| {
            !other.contains(&method.name)
                || self.interfaces.binary_search(owner).is_ok()
                || method.signature.is_typed() == asked.contains_key(&method.name)
        };
        self.methods.iter().all(is_known)
    }
}

fn all_moved(defs: &mut [Def], moves: &Moves) -> Option<()> {
    defs.iter_mut().try_for_each(|it| moves.def(*it).map(|now| *it = now))
}

fn methods_moved(methods: &mut [Method], moves: &Moves) -> Option<()> {
    methods.iter_mut().try_for_each(|it| moves.def(it.def).map(|now| it.def = now))
}

impl FileSets {
    fn moved(mut self, moves: &Moves) -> Option<FileSets> {
        for (type_, methods) in &mut self.sets {
            *type_ = moves.def(*type_)?;
            methods_moved(methods, moves)?;
        }
        all_moved(&mut self.seen, moves)?;
        self.shadowing.iter_mut().all(|it| it.moved(moves)).then_some(self)
    }
}

impl FileWants {
    fn moved(mut self, moves: &Moves) -> Option<FileWants> {
        for Want { interface, wanted, edges, is_open } in &mut self.wants {
            *interface = moves.def(*interface)?;
            if let Some(wanted) = wanted {
                methods_moved(&mut wanted.methods, moves)?;
            }
            // Somebody who had it is gone.
            *is_open |= !edges.iter_mut().all(|it| it.moved(moves));
        }
        all_moved(&mut self.seen, moves)?;
        Some(self)
    }
}
