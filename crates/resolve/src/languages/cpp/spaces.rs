//! Namespaces over all files, what each declares by name, and which names `using` brings into it.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Modifiers, Type};
use rustc_hash::FxHashMap;

use super::units::{FAMILY, Units, is_include};
use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::names::Name;
use crate::world::{Def, World};

/// A namespace, whatever files it is opened in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SpaceId(pub(super) u32);

pub(super) const GLOBAL: SpaceId = SpaceId(0);

/// What C and C++ files declare, and how they see each other.
#[derive(Default)]
pub(crate) struct CppUnits {
    pub(super) units: Units,
    parents: Vec<SpaceId>,
    /// Of the names that lead to a namespace: the same in every run.
    hashes: Vec<u64>,
    children: FxHashMap<(SpaceId, Name), SpaceId>,
    space_of: FxHashMap<Def, SpaceId>,
    /// Namespaces that macros open: from which offset of a file on, which one. Those of a file in order.
    opened: FxHashMap<u32, Vec<(u32, SpaceId)>>,
    file_hashes: FxHashMap<u32, u64>,
    /// Declared directly in a namespace, members of unscoped enums included; in order of files and lines.
    declared: FxHashMap<(SpaceId, Name), Vec<Def>>,
    /// `using`, by the namespace it stands in: file and number of the import.
    usings: FxHashMap<SpaceId, Vec<(u32, u32)>>,
    /// Types that stand outside of the class they belong to, by the last word before their name.
    nested: FxHashMap<(Name, Name), Vec<Def>>,
    /// Everything that is called so, in whatever scope: what is not here is nowhere in the project.
    known: FxHashMap<Name, u32>,
}

impl CppUnits {
    pub(crate) fn new(world: &World<'_>) -> CppUnits {
        let mut all = CppUnits { parents: vec![GLOBAL], hashes: vec![1], ..CppUnits::default() };
        let files = world.files_of(FAMILY);
        if files.is_empty() {
            return all;
        }
        all.units = Units::new(world);
        let macros = macros(world);
        for file in &files {
            all.open(world, *file, &macros);
            all.add_spaces(world, *file);
        }
        for file in &files {
            all.add_names(world, *file);
            all.add_usings(world, *file);
        }
        all
    }

    fn add_spaces(&mut self, world: &World<'_>, file: u32) {
        for (index, decl) in world.facts(file).decls.iter().enumerate() {
            if decl.kind != NodeKind::Module {
                continue;
            }
            let parent = match decl.owner {
                Some(owner) => self.space_of.get(&world.def(file, owner)).copied().unwrap_or(GLOBAL),
                None => self.opened_at(file, decl.range.from),
            };
            let space = self.make(world, parent, world.name(file, decl.name));
            self.space_of.insert(world.def(file, DeclId(index as u32)), space);
        }
    }

    fn make(&mut self, world: &World<'_>, parent: SpaceId, name: Name) -> SpaceId {
        let next = SpaceId(self.parents.len() as u32);
        let space = *self.children.entry((parent, name)).or_insert(next);
        if space == next {
            self.parents.push(parent);
            self.hashes.push(keys::mix(self.hashes[parent.0 as usize], world.names.hash(name)));
        }
        space
    }

    /// Follows the macros of a file that open and close namespaces.
    fn open(&mut self, world: &World<'_>, file: u32, macros: &FxHashMap<&str, Option<&str>>) {
        let facts = world.facts(file);
        let mut around: Vec<SpaceId> = Vec::new();
        let mut steps: Vec<(u32, SpaceId)> = Vec::new();
        for mark in &facts.namespaces {
            let Some(opens) = macros.get(facts.text(mark.name)).copied().flatten() else { continue };
            let last = around.last().copied().unwrap_or(GLOBAL);
            if opens == "}" {
                around.pop();
            } else {
                let path = opens.split("::").filter(|it| !it.is_empty());
                // A name that no file uses cannot be asked for.
                let space = path
                    .filter_map(|it| world.names.find(it))
                    .fold(last, |at, name| self.make(world, at, name));
                around.push(space);
            }
            steps.push((mark.range.from, around.last().copied().unwrap_or(GLOBAL)));
        }
        if steps.iter().any(|it| it.1 != GLOBAL) {
            self.opened.insert(file, steps);
        }
        if !facts.namespaces.is_empty() {
            self.file_hashes.insert(file, world.file_hash(file));
        }
    }

    /// The namespace that macros leave open at an offset.
    pub(super) fn opened_at(&self, file: u32, offset: u32) -> SpaceId {
        self.note_opened(file);
        let Some(steps) = self.opened.get(&file) else { return GLOBAL };
        steps.iter().rev().find(|it| it.0 <= offset).map_or(GLOBAL, |it| it.1)
    }

    /// What macros open follows from where they are defined.
    fn note_opened(&self, file: u32) {
        if let Some(hash) = self.file_hashes.get(&file) {
            reads::note(Door::CppSpace, *hash, None);
        }
    }

    fn add_names(&mut self, world: &World<'_>, file: u32) {
        let facts = world.facts(file);
        for (index, decl) in facts.decls.iter().enumerate() {
            let def = world.def(file, DeclId(index as u32));
            let name = world.name(file, decl.name);
            *self.known.entry(name).or_default() += 1;
            if decl.kind == NodeKind::Module {
                continue;
            }
            if let Some(id) = decl.implementation.filter(|_| decl.kind.is_type_like())
                && let Type::Named { segments, .. } = facts.type_(facts.impls[id.index()].type_)
                && let Some(last) = segments.last()
            {
                self.nested.entry((world.name(file, *last), name)).or_default().push(def);
                continue;
            }
            let mut owner = decl.owner;
            if decl.kind == NodeKind::EnumMember
                && decl.modifiers.contains(Modifiers::PUBLIC)
                && let Some(around) = owner.filter(|it| facts.decl(*it).kind == NodeKind::Enum)
            {
                owner = facts.decl(around).owner;
            }
            let space = match owner {
                None if decl.kind == NodeKind::Macro => GLOBAL,
                None => self.opened_at(file, decl.range.from),
                Some(owner) => match self.space_of.get(&world.def(file, owner)) {
                    Some(space) => *space,
                    None => continue,
                },
            };
            let space = match decl.implementation {
                None => space,
                // `void shop::open() {}`, where `shop` is a namespace.
                Some(id) => match self.named_space(world, file, space, facts.impls[id.index()].type_) {
                    Some(space) => space,
                    None => continue,
                },
            };
            self.declared.entry((space, name)).or_default().push(def);
        }
    }

    /// The namespace that a written path means, seen from another.
    fn named_space(
        &self,
        world: &World<'_>,
        file: u32,
        from: SpaceId,
        type_: knowing_model::facts::TypeId,
    ) -> Option<SpaceId> {
        let Type::Named { segments, .. } = world.found_in(file).type_(type_) else { return None };
        let mut from = Some(from);
        while let Some(start) = from {
            let found = segments
                .iter()
                .try_fold(start, |at, segment| self.children.get(&(at, world.name(file, *segment))).copied());
            if found.is_some() {
                return found;
            }
            from = self.parent(start);
        }
        None
    }

    fn add_usings(&mut self, world: &World<'_>, file: u32) {
        for (index, import) in world.facts(file).imports.iter().enumerate() {
            if is_include(import) {
                continue;
            }
            let space = match import.decl {
                None => self.opened_at(file, import.visible.from),
                Some(decl) => match self.space_of.get(&world.def(file, decl)) {
                    Some(space) => *space,
                    // In a class or a function: found in its scope.
                    None => continue,
                },
            };
            self.usings.entry(space).or_default().push((file, index as u32));
        }
    }

    /// The namespace a declaration is, or the innermost one around it.
    pub(super) fn space_around(&self, world: &World<'_>, file: u32, decl: Option<DeclId>) -> SpaceId {
        let mut at = decl;
        let mut outermost = None;
        while let Some(id) = at {
            if let Some(space) = self.space_of.get(&world.def(file, id)) {
                return *space;
            }
            let around = world.found_in(file).decl(id);
            outermost = Some(around.range.from);
            at = around.owner;
        }
        match outermost {
            Some(offset) => self.opened_at(file, offset),
            None => {
                self.note_opened(file);
                let first = self.opened.get(&file).and_then(|it| it.iter().find(|it| it.1 != GLOBAL));
                first.map_or(GLOBAL, |it| it.1)
            }
        }
    }

    pub(super) fn parent(&self, space: SpaceId) -> Option<SpaceId> {
        (space != GLOBAL).then(|| self.parents[space.0 as usize])
    }

    pub(super) fn child(&self, space: SpaceId, name: Name) -> Option<SpaceId> {
        reads::note(Door::CppSpace, self.hashes[space.0 as usize], Some(name));
        self.children.get(&(space, name)).copied()
    }

    pub(super) fn declared(&self, space: SpaceId, name: Name) -> &[Def] {
        reads::note(Door::CppDeclared, self.hashes[space.0 as usize], Some(name));
        self.declared.get(&(space, name)).map_or(&[], Vec::as_slice)
    }

    /// A type of a class that is defined outside of it: the only one of its name whose file sees the class.
    pub(super) fn nested(&self, world: &World<'_>, class: Def, name: Name) -> Option<Def> {
        let (file, _, decl) = world.decl(class);
        let class_name = world.name(file, decl.name);
        reads::note(Door::CppNested, world.names.hash(class_name), Some(name));
        let all = self.nested.get(&(class_name, name))?;
        let mut found = all.iter().filter(|it| self.units.sees(world.file_of(**it), file));
        match (found.next(), found.next()) {
            (Some(one), None) => Some(*one),
            _ => None,
        }
    }

    pub(super) fn usings(&self, space: SpaceId) -> &[(u32, u32)] {
        reads::note(Door::CppUsings, self.hashes[space.0 as usize], None);
        self.usings.get(&space).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_known(&self, name: Name) -> bool {
        reads::note(Door::CppKnown, 0, Some(name));
        self.known.contains_key(&name)
    }

    /// What is asked here, and what the answers are. The namespace of a declaration follows from what is around it.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        let hash = |it: SpaceId| self.hashes[it.0 as usize];
        self.children.iter().for_each(|((of, name), child)| {
            notary.push(Door::CppSpace, hash(*of), Some(*name), hash(*child));
        });
        self.declared.iter().for_each(|((of, name), all)| {
            notary.push(Door::CppDeclared, hash(*of), Some(*name), notary.all(all));
        });
        self.nested.iter().for_each(|((class, name), all)| {
            notary.push(Door::CppNested, world.names.hash(*class), Some(*name), notary.all(all));
        });
        self.usings.iter().for_each(|(of, all)| {
            let one = |state, (file, at): &(u32, u32)| {
                keys::mix(keys::mix(state, notary.file(*file)), u64::from(*at))
            };
            notary.push(Door::CppUsings, hash(*of), None, all.iter().fold(0, one));
        });
        self.file_hashes.iter().for_each(|(file, key)| {
            let steps = self.opened.get(file).into_iter().flatten();
            let one = |state, it: &(u32, SpaceId)| keys::mix(state, hash(it.1));
            notary.push(Door::CppSpace, *key, None, steps.fold(0, one));
        });
        self.known.keys().for_each(|it| notary.push(Door::CppKnown, 0, Some(*it), 1));
        self.units.answers(notary);
    }
}

/// What macros open: a path of namespaces, or `}`; nothing where definitions differ.
fn macros<'w>(world: &World<'w>) -> FxHashMap<&'w str, Option<&'w str>> {
    let mut all: FxHashMap<&str, Option<&str>> = FxHashMap::default();
    for file in world.files_of(FAMILY) {
        let facts = world.facts(file);
        for (name, opens) in facts.namespaces.iter().filter_map(|it| facts.text(it.name).split_once('=')) {
            let known = all.entry(name).or_insert(Some(opens));
            if *known != Some(opens) {
                *known = None;
            }
        }
    }
    all
}
