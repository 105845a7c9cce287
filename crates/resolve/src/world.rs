//! All facts of a snapshot behind one set of numbers: declarations, names, scopes, modules.

use knowing_model::facts::{Decl, DeclId, FileFacts, Str};
use knowing_model::{NodeFlags, NodeKind};
use rustc_hash::FxHashMap;

use crate::hierarchy::Hierarchy;
use crate::languages::{self, Modules, Rules};
use crate::names::{Name, Names};
use crate::scopes::Scopes;
use crate::{Input, InputFile};

/// A declaration of any file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Def(pub(crate) u32);

/// A module of the project: a file, a directory, or a part of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ModuleId(pub(crate) u32);

pub(crate) struct World<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) names: Names<'a>,
    /// Each file's texts as names.
    file_names: Vec<Vec<Name>>,
    /// Number of each file's first declaration, and one past the last.
    first_def: Vec<u32>,
    file_of_def: Vec<u32>,
    pub(crate) scopes: Vec<Scopes>,
    rules: Vec<&'static dyn Rules>,
    pub(crate) modules: Modules,
    pub(crate) hierarchy: Hierarchy,
    /// Callable members of types, by name: what an unknown receiver could mean.
    members_by_name: FxHashMap<Name, Vec<Def>>,
    file_by_path: FxHashMap<&'a str, u32>,
}

impl<'a> World<'a> {
    pub(crate) fn new(input: Input<'a>) -> World<'a> {
        let mut names = Names::default();
        for word in languages::vocabulary() {
            names.intern(word);
        }
        let file_names: Vec<Vec<Name>> = input
            .files
            .iter()
            .map(|file| file.facts.strings.iter().map(|text| names.intern(text)).collect())
            .collect();
        let mut first_def = Vec::with_capacity(input.files.len() + 1);
        let mut file_of_def = Vec::new();
        for (index, file) in input.files.iter().enumerate() {
            first_def.push(file_of_def.len() as u32);
            file_of_def.resize(file_of_def.len() + file.facts.decls.len(), index as u32);
        }
        first_def.push(file_of_def.len() as u32);
        let scopes = scopes_of(input.files, &file_names);
        let rules = input.files.iter().map(|file| languages::rules_of(&file.facts.language)).collect();
        let file_by_path = input.files.iter().enumerate().map(|(at, file)| (file.path, at as u32)).collect();
        let mut world = World {
            input,
            names,
            file_names,
            first_def,
            file_of_def,
            scopes,
            rules,
            modules: Modules::default(),
            hierarchy: Hierarchy::default(),
            members_by_name: FxHashMap::default(),
            file_by_path,
        };
        world.modules = Modules::new(&world);
        world.members_by_name = members_by_name(&world);
        world
    }

    pub(crate) fn n_files(&self) -> usize {
        self.input.files.len()
    }

    pub(crate) fn facts(&self, file: u32) -> &'a FileFacts {
        self.input.files[file as usize].facts
    }

    pub(crate) fn path(&self, file: u32) -> &'a str {
        self.input.files[file as usize].path
    }

    pub(crate) fn file_at(&self, path: &str) -> Option<u32> {
        self.file_by_path.get(path).copied()
    }

    pub(crate) fn rules(&self, file: u32) -> &'static dyn Rules {
        self.rules[file as usize]
    }

    pub(crate) fn name(&self, file: u32, text: Str) -> Name {
        self.file_names[file as usize][text.index()]
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        self.names.text(name)
    }

    pub(crate) fn def(&self, file: u32, decl: DeclId) -> Def {
        Def(self.first_def[file as usize] + decl.0)
    }

    pub(crate) fn n_defs(&self) -> usize {
        self.file_of_def.len()
    }

    pub(crate) fn file_of(&self, def: Def) -> u32 {
        self.file_of_def[def.0 as usize]
    }

    /// File, position in it, and the declaration itself.
    pub(crate) fn decl(&self, def: Def) -> (u32, DeclId, &'a Decl) {
        let file = self.file_of(def);
        let id = DeclId(def.0 - self.first_def[file as usize]);
        (file, id, self.facts(file).decl(id))
    }

    pub(crate) fn kind(&self, def: Def) -> NodeKind {
        self.decl(def).2.kind
    }

    pub(crate) fn owner(&self, def: Def) -> Option<Def> {
        let (file, _, decl) = self.decl(def);
        decl.owner.map(|it| self.def(file, it))
    }

    /// Whether production code must not be bound to it without importing it: tests, mocks, fixtures.
    pub(crate) fn is_test_code(&self, def: Def) -> bool {
        let (file, _, decl) = self.decl(def);
        decl.flags.contains(NodeFlags::TEST) || self.facts(file).flags.contains(NodeFlags::TEST)
    }

    pub(crate) fn members_named(&self, name: Name) -> &[Def] {
        self.members_by_name.get(&name).map_or(&[], Vec::as_slice)
    }
}

fn scopes_of(files: &[InputFile<'_>], names: &[Vec<Name>]) -> Vec<Scopes> {
    use rayon::prelude::*;
    files.par_iter().zip(names).map(|(file, names)| Scopes::new(file.facts, names)).collect()
}

fn members_by_name(world: &World<'_>) -> FxHashMap<Name, Vec<Def>> {
    let mut members: FxHashMap<Name, Vec<Def>> = FxHashMap::default();
    for file in 0..world.n_files() as u32 {
        for (index, decl) in world.facts(file).decls.iter().enumerate() {
            let rules = world.rules(file);
            let of_type = decl.implementation.is_some()
                || decl.owner.is_some_and(|it| {
                    let owner = world.facts(file).decl(it).kind;
                    owner.is_type_like() && (owner != NodeKind::Module || rules.has_member_modules())
                });
            let is_called =
                decl.kind.is_callable() || decl.kind == NodeKind::Property && rules.calls_properties();
            if of_type && is_called {
                members
                    .entry(world.name(file, decl.name))
                    .or_default()
                    .push(world.def(file, DeclId(index as u32)));
            }
        }
    }
    members
}
