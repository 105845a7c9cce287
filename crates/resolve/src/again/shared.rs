//! What was made of all files together: keys and digests of the answers of the hierarchy and of the modules.

use knowing_model::facts::DeclId;
use rayon::prelude::*;

use super::keys::{self, Door, mix};
use super::ledger::{Ledger, Table};
use super::provided::Answers;
use crate::hierarchy::{Ancestor, FilePart, ImplTarget};
use crate::names::Name;
use crate::value::{External, Origin};
use crate::world::{Def, Update, World};

/// Takes down answers under their keys, unit by unit.
pub(crate) struct Notary<'w> {
    pub(crate) world: &'w World<'w>,
    answers: Vec<(u32, u64)>,
    /// Where the answers of each unit begin.
    units: Vec<(u64, usize)>,
}

impl<'w> Notary<'w> {
    pub(crate) fn new(world: &'w World<'w>) -> Notary<'w> {
        Notary { world, answers: Vec::new(), units: Vec::new() }
    }

    /// What follows is what this unit answers.
    pub(crate) fn begin(&mut self, unit: u64) {
        self.units.push((unit, self.answers.len()));
    }

    pub(crate) fn tell(self, ledger: &mut Ledger) {
        self.into_units().into_iter().for_each(|(unit, answers)| ledger.set(unit, answers));
    }

    fn into_units(self) -> Vec<(u64, Vec<(u32, u64)>)> {
        let ends = self.units.iter().skip(1).map(|it| it.1).chain([self.answers.len()]);
        let all = self
            .units
            .iter()
            .zip(ends)
            .map(|((unit, begin), end)| (*unit, self.answers[*begin..end].to_vec()));
        all.collect()
    }
}

impl Notary<'_> {
    pub(crate) fn push(&mut self, door: Door, of: u64, name: Option<Name>, answer: u64) {
        let key = keys::through(door, of);
        let key = name.map_or(key, |it| mix(key, self.world.names.hash(it)));
        self.answers.push((keys::cut(key), answer));
    }

    pub(crate) fn def(&self, def: Def) -> u64 {
        self.world.digest(def)
    }

    pub(crate) fn file(&self, file: u32) -> u64 {
        self.world.file_hash(file)
    }

    pub(crate) fn files(&self, files: &[u32]) -> u64 {
        files.iter().fold(0, |state, it| mix(state, self.file(*it)))
    }

    pub(crate) fn all(&self, defs: &[Def]) -> u64 {
        defs.iter().fold(0, |state, it| mix(state, self.def(*it)))
    }

    pub(crate) fn external(&self, external: &External) -> u64 {
        let origin = match external.origin {
            Origin::StandardLibrary => 2,
            Origin::ThirdParty => 3,
        };
        external.path.iter().fold(origin, |state, it| mix(state, self.world.names.hash(*it)))
    }

    fn ancestor(&self, ancestor: &Ancestor) -> u64 {
        match ancestor {
            Ancestor::Project(def) => mix(1, self.def(*def)),
            Ancestor::External(external) => mix(2, self.external(external)),
            Ancestor::Unknown => 3,
        }
    }

    fn ancestors(&self, ancestors: &[Ancestor]) -> u64 {
        ancestors.iter().fold(0, |state, it| mix(state, self.ancestor(it)))
    }

    fn target(&self, target: &ImplTarget) -> u64 {
        let interface = target.interface.as_ref().map_or(0, |it| self.ancestor(it));
        mix(self.ancestor(&target.type_), interface)
    }
}

/// All answers; unit by unit where the next run shall tell what differs by that.
pub(crate) fn shared(world: &World<'_>) -> (Answers, Ledger) {
    let take_down = |of: &(dyn Fn(&mut Notary<'_>) + Sync)| {
        let mut notary = Notary::new(world);
        of(&mut notary);
        notary
    };
    let (mut one, other) = rayon::join(
        || {
            take_down(&|notary| {
                (0..world.n_files() as u32).for_each(|it| hierarchy_of_file(notary, it));
                hierarchy_of_all(notary);
            })
        },
        || {
            take_down(&|notary| {
                tables(notary, None);
                of_all(notary);
            })
        },
    );
    if world.records {
        let mut ledger = Ledger::new(one.into_units().into_iter().chain(other.into_units()).collect());
        return (ledger.settle(), ledger);
    }
    one.answers.extend(other.answers);
    // The order of tables in memory is none.
    one.answers.par_sort_unstable();
    (Answers::new(one.answers), Ledger::default())
}

/// What is known before the hierarchy is; what an update may have changed of it where there is one.
pub(crate) fn tables(notary: &mut Notary<'_>, update: Option<&Update<'_>>) {
    let world = notary.world;
    match update {
        Some(update) => world.modules.go.answers_again(world, update, notary),
        None => world.modules.go.answers(world, notary),
    }
    notary.begin(Table::Languages.whole());
    world.modules.answers(world, notary);
    notary.begin(Table::Repeated.whole());
    for def in (0..world.n_defs() as u32).map(Def).filter(|it| world.is_repeated(*it)) {
        notary.push(Door::Repeated, world.hash(def), None, 1);
    }
    notary.begin(Table::Parts.whole());
    for parts in world.hierarchy.types_in_parts() {
        for part in parts {
            notary.push(Door::Parts, world.hash(*part), None, notary.all(parts));
        }
    }
}

/// What is known after the hierarchy.
pub(crate) fn of_all(notary: &mut Notary<'_>) {
    let world = notary.world;
    notary.begin(Table::Routes.whole());
    world.routes.answers(world, notary);
    notary.begin(Table::Offers.whole());
    world.offers.answers(world, notary);
    notary.begin(Table::Programs.whole());
    world.programs.answers(notary);
}

/// What the hierarchy says of the types of a file, and of the file.
pub(crate) fn hierarchy_of_file(notary: &mut Notary<'_>, file: u32) {
    let world = notary.world;
    let hierarchy = &world.hierarchy;
    notary.begin(Table::Hierarchy.unit(world.file_hash(file)));
    for def in world.defs_of(file) {
        let hash = world.hash(def);
        let known = [
            (Door::Direct, hierarchy.direct.get(&def)),
            (Door::Linear, hierarchy.linear.get(&def)),
            (Door::Interfaces, hierarchy.interfaces.get(&def)),
        ];
        for (door, ancestors) in known {
            if let Some(ancestors) = ancestors {
                notary.push(door, hash, None, notary.ancestors(ancestors));
            }
        }
        for (name, members) in hierarchy.members.of(def) {
            notary.push(Door::ImplMembers, hash, Some(name), notary.all(members));
        }
    }
    let hash = world.file_hash(file);
    let FilePart { impls, imports, .. } = &hierarchy.parts[file as usize];
    if !impls.is_empty() {
        let answer = impls.iter().fold(0, |state, it| mix(state, notary.target(it)));
        notary.push(Door::Targets, hash, None, answer);
    }
    if !imports.is_empty() {
        notary.push(Door::Imports, hash, None, notary.files(imports));
    }
}

/// What it says of what no file says alone.
pub(crate) fn hierarchy_of_all(notary: &mut Notary<'_>) {
    let world = notary.world;
    let hierarchy = &world.hierarchy;
    notary.begin(Table::HierarchyOfAll.whole());
    hierarchy.mixed_into.iter().for_each(|(module, types)| {
        notary.push(Door::MixedInto, world.hash(*module), None, notary.all(types));
    });
    hierarchy.extended_by.iter().for_each(|(module, types)| {
        notary.push(Door::ExtendedBy, world.hash(*module), None, notary.all(types));
    });
    hierarchy.external_members.iter().for_each(|((external, name), members)| {
        let answer = mix(notary.external(external), notary.all(members));
        notary.push(Door::ExternalMembers, 0, Some(*name), answer);
    });
    hierarchy.blanket_members.iter().for_each(|(name, members)| {
        notary.push(Door::BlanketMembers, 0, Some(*name), notary.all(members));
    });
}

/// A place in a file: a declaration, or its top.
pub(crate) fn place(world: &World<'_>, file: u32, decl: Option<DeclId>) -> u64 {
    decl.map_or_else(|| world.scopes[file as usize].hash(), |it| world.hash(world.def(file, it)))
}
