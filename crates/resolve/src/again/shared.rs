//! What was made of all files together: keys and digests of the answers of the hierarchy and of the modules.

use knowing_model::facts::DeclId;
use rayon::prelude::*;

use super::keys::{self, Door, mix};
use super::provided::Answers;
use crate::hierarchy::{Ancestor, ImplTarget};
use crate::names::Name;
use crate::value::{External, Origin};
use crate::world::{Def, World};

/// Takes down answers under their keys.
pub(crate) struct Notary<'w> {
    world: &'w World<'w>,
    answers: Vec<(u32, u64)>,
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

pub(crate) fn shared(world: &World<'_>) -> Answers {
    let take_down = |of: &(dyn Fn(&mut Notary<'_>) + Sync)| {
        let mut notary = Notary { world, answers: Vec::new() };
        of(&mut notary);
        notary.answers
    };
    let (mut answers, others) = rayon::join(
        || take_down(&hierarchy),
        || {
            take_down(&|notary| {
                world.modules.answers(world, notary);
                world.routes.answers(world, notary);
                world.offers.answers(world, notary);
                world.programs.answers(notary);
                for def in (0..world.n_defs() as u32).map(Def).filter(|it| world.is_repeated(*it)) {
                    notary.push(Door::Repeated, world.hash(def), None, 1);
                }
            })
        },
    );
    answers.extend(others);
    // The order of tables in memory is none.
    answers.par_sort_unstable();
    Answers::new(answers)
}

fn hierarchy(notary: &mut Notary<'_>) {
    let world = notary.world;
    let hierarchy = &world.hierarchy;
    for def in (0..world.n_defs() as u32).map(Def) {
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
    hierarchy.mixed_into.iter().for_each(|(module, types)| {
        notary.push(Door::MixedInto, world.hash(*module), None, notary.all(types));
    });
    hierarchy.extended_by.iter().for_each(|(module, types)| {
        notary.push(Door::ExtendedBy, world.hash(*module), None, notary.all(types));
    });
    for parts in hierarchy.types_in_parts() {
        for part in parts {
            notary.push(Door::Parts, world.hash(*part), None, notary.all(parts));
        }
    }
    for file in 0..world.n_files() {
        let hash = hierarchy.file_hashes[file];
        let impls = &hierarchy.parts[file].impls;
        if !impls.is_empty() {
            let answer = impls.iter().fold(0, |state, it| mix(state, notary.target(it)));
            notary.push(Door::Targets, hash, None, answer);
        }
        let imports = &hierarchy.parts[file].imports;
        if !imports.is_empty() {
            let of = |it: &u32| hierarchy.file_hashes[*it as usize];
            notary.push(Door::Imports, hash, None, imports.iter().fold(0, |state, it| mix(state, of(it))));
        }
    }
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
