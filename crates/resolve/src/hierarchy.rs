//! Who is below whom: written bases in method order, `impl` blocks by type, and which files a file imports.

mod renewed;

use std::ops::Range;

use knowing_model::NodeKind;
use knowing_model::facts::{Base, BaseRole, DeclId, ImplId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::again::keys::Door;
use crate::again::reads;
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{External, Value};
use crate::world::{Def, World};

/// A written super type, as far as it could be resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ancestor {
    Project(Def),
    External(External),
    Unknown,
}

impl Ancestor {
    fn of(value: &Value) -> Ancestor {
        match value {
            Value::Def(def) => Ancestor::Project(*def),
            Value::External(external) => Ancestor::External(external.clone()),
            _ => Ancestor::Unknown,
        }
    }
}

/// An `impl` block: what it is for and what it implements.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ImplTarget {
    pub(crate) type_: Ancestor,
    pub(crate) interface: Option<Ancestor>,
}

#[derive(Default)]
pub(crate) struct Hierarchy {
    /// Hashes of all declarations, and of the paths of all files.
    pub(crate) def_hashes: Vec<u64>,
    pub(crate) file_hashes: Vec<u64>,
    /// Declarations of languages whose types may have several parts.
    may_have_parts: Vec<bool>,
    /// Types declared in several places: all parts, and which of the groups each part belongs to.
    groups: Vec<Vec<Def>>,
    group_of: FxHashMap<Def, u32>,
    /// Written bases, in order.
    pub(crate) direct: FxHashMap<Def, Vec<Ancestor>>,
    /// Those that give members to values, where some give them to the type itself.
    pub(crate) for_values: FxHashMap<Def, Vec<Ancestor>>,
    /// Types that have a module among their ancestors, sorted.
    pub(crate) mixed_into: FxHashMap<Def, Vec<Def>>,
    /// Types that got a module's members themselves, sorted.
    pub(crate) extended_by: FxHashMap<Def, Vec<Def>>,
    /// All ancestors in the order in which members are looked for, the type itself left out; by first part.
    pub(crate) linear: FxHashMap<Def, Vec<Ancestor>>,
    /// What each file says of its own types.
    pub(crate) parts: Vec<FilePart>,
    /// What stands in `impl` blocks of a project type.
    pub(crate) members: ImplMembers,
    /// What stands in `impl` blocks of an outside type: interfaces of the project that it fulfils here.
    pub(crate) external_members: FxHashMap<(External, Name), Vec<Def>>,
    /// What `impl<T> Interface for T` gives to every type.
    pub(crate) blanket_members: FxHashMap<Name, Vec<Def>>,
    /// Interfaces a type has by `impl` blocks, in source order.
    pub(crate) interfaces: FxHashMap<Def, Vec<Ancestor>>,
}

/// Members by type and name, in the order of files.
#[derive(Default)]
pub(crate) struct ImplMembers {
    /// For each declaration where its members begin, and the end of the last.
    firsts: Vec<u32>,
    /// Those of one type by name, those of one name by number.
    names: Vec<Name>,
    members: Vec<Def>,
}

impl ImplMembers {
    /// Of types with a name and a member each.
    fn of_sorted(all: &[(Def, Name, Def)], n_defs: usize) -> ImplMembers {
        let mut firsts = vec![0; n_defs + 1];
        all.iter().for_each(|it| firsts[it.0.0 as usize + 1] += 1);
        for at in 0..n_defs {
            firsts[at + 1] += firsts[at];
        }
        let (names, members) = all.iter().map(|it| (it.1, it.2)).unzip();
        ImplMembers { firsts, names, members }
    }

    fn range(&self, type_: Def) -> Range<usize> {
        let at = type_.0 as usize;
        self.firsts.get(at..at + 2).map_or(0..0, |it| it[0] as usize..it[1] as usize)
    }

    /// Of a type, name by name.
    pub(crate) fn of(&self, type_: Def) -> impl Iterator<Item = (Name, &[Def])> {
        let mut left = self.range(type_);
        std::iter::from_fn(move || {
            let name = *self.names[left.clone()].first()?;
            let n = self.names[left.clone()].partition_point(|it| *it == name);
            let same = &self.members[left.start..left.start + n];
            left.start += n;
            Some((name, same))
        })
    }

    fn named(&self, type_: Def, name: Name) -> &[Def] {
        let all = self.range(type_);
        let names = &self.names[all.clone()];
        let begin = names.partition_point(|it| *it < name);
        let n = names[begin..].partition_point(|it| *it == name);
        &self.members[all.start + begin..all.start + begin + n]
    }
}

/// Questions follow from what was made of all files, so that each is noted, also about the file in work.
impl Hierarchy {
    /// Which declarations are parts of one type, and nothing else: bases are looked up by that.
    pub(crate) fn of_parts(world: &World<'_>) -> Hierarchy {
        let mut hierarchy = Hierarchy {
            file_hashes: world.scopes.iter().map(|it| it.hash()).collect(),
            groups: world.modules.types_in_parts(),
            ..Hierarchy::default()
        };
        for file in world.files_but_prose() {
            let hashes = world.scopes[file as usize].hashes_of_decls();
            hierarchy.def_hashes.extend_from_slice(hashes);
            let n_defs = hierarchy.def_hashes.len();
            hierarchy.may_have_parts.resize(n_defs, world.rules(file).has_types_in_parts());
        }
        for (index, group) in hierarchy.groups.iter().enumerate() {
            hierarchy.group_of.extend(group.iter().map(|part| (*part, index as u32)));
        }
        hierarchy
    }

    /// What `of_parts` made.
    pub(crate) fn clone_parts(&self) -> Hierarchy {
        Hierarchy {
            def_hashes: self.def_hashes.clone(),
            file_hashes: self.file_hashes.clone(),
            may_have_parts: self.may_have_parts.clone(),
            groups: self.groups.clone(),
            group_of: self.group_of.clone(),
            ..Hierarchy::default()
        }
    }

    /// What each file says of its own types.
    pub(crate) fn of_files(world: &World<'_>) -> Vec<FilePart> {
        (0..world.n_files() as u32).into_par_iter().map(|file| FilePart::recorded(world, file)).collect()
    }

    pub(crate) fn with_files(self, world: &World<'_>, parts: Vec<FilePart>) -> Hierarchy {
        let mut hierarchy = self;
        let mut members: Vec<(Def, Name, Def)> = Vec::new();
        for (file, part) in (0..).zip(&parts) {
            hierarchy.members_of(world, file, &part.impls, &mut members);
        }
        members.par_sort_unstable();
        hierarchy.members = ImplMembers::of_sorted(&members, hierarchy.def_hashes.len());
        hierarchy.joined(world, parts)
    }

    /// All that follows from the parts, but for the members of project types.
    fn joined(self, world: &World<'_>, parts: Vec<FilePart>) -> Hierarchy {
        let mut hierarchy = self;
        let mut beside: Vec<(Def, Def)> = Vec::new();
        for (file, part) in (0..).zip(&parts) {
            beside.extend(&part.beside);
            hierarchy.direct.extend(part.bases.iter().cloned());
            hierarchy.for_values.extend(part.for_values.iter().cloned());
            hierarchy.add_impls(world, file, &part.impls);
        }
        hierarchy.parts = parts;
        let mut classes: Vec<Def> = hierarchy.direct.keys().map(|it| hierarchy.whole(*it)).collect();
        classes.sort_unstable();
        classes.dedup();
        for class in classes {
            hierarchy.linearise(class, 0);
        }
        hierarchy.mixed_into = mixed_into(world, &hierarchy.linear);
        for (module, type_) in beside {
            let (module, type_) = (hierarchy.whole(module), hierarchy.whole(type_));
            hierarchy.extended_by.entry(module).or_default().push(type_);
        }
        hierarchy
    }

    /// What a file has in `impl` blocks of project types.
    fn members_of(
        &self,
        world: &World<'_>,
        file: u32,
        impls: &[ImplTarget],
        members: &mut Vec<(Def, Name, Def)>,
    ) {
        if impls.is_empty() {
            return;
        }
        for (index, decl) in world.facts(file).decls.iter().enumerate() {
            let Some(id) = decl.implementation else { continue };
            if let Ancestor::Project(type_) = impls[id.index()].type_ {
                let def = world.def(file, DeclId(index as u32));
                members.push((self.whole(type_), world.name(file, decl.name), def));
            }
        }
    }

    fn add_impls(&mut self, world: &World<'_>, file: u32, impls: &[ImplTarget]) {
        // `impl From<Own> for Outside` is one of many of its kind; an own interface is not.
        let is_own = |it: &ImplTarget| {
            matches!(it.interface, Some(Ancestor::Project(_))) && !matches!(it.type_, Ancestor::Project(_))
        };
        if impls.iter().any(is_own) {
            for (index, decl) in world.facts(file).decls.iter().enumerate() {
                let Some(target) = decl.implementation.map(|it| &impls[it.index()]).filter(|it| is_own(it))
                else {
                    continue;
                };
                let def = world.def(file, DeclId(index as u32));
                let name = world.name(file, decl.name);
                match &target.type_ {
                    Ancestor::External(type_) => {
                        self.external_members.entry((type_.clone(), name)).or_default().push(def);
                    }
                    _ => self.blanket_members.entry(name).or_default().push(def),
                }
            }
        }
        for target in impls {
            if let (Ancestor::Project(type_), Some(interface)) = (&target.type_, &target.interface) {
                let whole = self.whole(*type_);
                let all = self.interfaces.entry(whole).or_default();
                if !all.contains(interface) {
                    all.push(interface.clone());
                }
            }
        }
    }

    /// The first part of a type that is declared in several places; any other declaration is whole by itself.
    pub(crate) fn whole(&self, def: Def) -> Def {
        self.note_parts(def);
        self.group_of.get(&def).map_or(def, |group| self.groups[*group as usize][0])
    }

    /// All parts of a type, itself alone for most.
    pub(crate) fn parts<'a>(&'a self, def: &'a Def) -> &'a [Def] {
        self.note_parts(*def);
        match self.group_of.get(def) {
            Some(group) => &self.groups[*group as usize],
            None => std::slice::from_ref(def),
        }
    }

    /// Types declared in several places, with their parts.
    pub(crate) fn types_in_parts(&self) -> impl Iterator<Item = &[Def]> {
        self.groups.iter().map(Vec::as_slice)
    }

    /// Those that have ancestors or interfaces, in no order.
    pub(crate) fn types_below_others(&self) -> impl Iterator<Item = Def> {
        let wholes =
            self.linear.keys().chain(self.interfaces.keys().filter(|it| !self.linear.contains_key(it)));
        wholes.flat_map(|it| self.parts(it)).copied()
    }

    /// The bases written at this very declaration.
    pub(crate) fn direct(&self, def: Def) -> &[Ancestor] {
        self.note(Door::Direct, def, None);
        self.direct.get(&def).map_or(&[], Vec::as_slice)
    }

    fn inherited(&self, def: Def) -> &[Ancestor] {
        self.for_values.get(&def).map_or_else(|| self.direct(def), Vec::as_slice)
    }

    /// Types that have this module among their ancestors.
    pub(crate) fn mixed_into(&self, module: Def) -> &[Def] {
        let whole = self.whole(module);
        self.note(Door::MixedInto, whole, None);
        self.mixed_into.get(&whole).map_or(&[], Vec::as_slice)
    }

    /// Types that this module gives its members to, as members of the types themselves.
    pub(crate) fn extended_by(&self, module: Def) -> &[Def] {
        let whole = self.whole(module);
        self.note(Door::ExtendedBy, whole, None);
        self.extended_by.get(&whole).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn ancestors(&self, def: Def) -> &[Ancestor] {
        let whole = self.whole(def);
        self.note(Door::Linear, whole, None);
        self.linear.get(&whole).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn interfaces(&self, def: Def) -> &[Ancestor] {
        let whole = self.whole(def);
        self.note(Door::Interfaces, whole, None);
        self.interfaces.get(&whole).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn implementation(&self, file: u32, id: ImplId) -> Option<&ImplTarget> {
        reads::note(Door::Targets, self.file_hashes.get(file as usize).copied().unwrap_or(0), None);
        self.parts.get(file as usize)?.impls.get(id.index())
    }

    pub(crate) fn impl_members(&self, def: Def, name: Name) -> &[Def] {
        let whole = self.whole(def);
        self.note(Door::ImplMembers, whole, Some(name));
        self.members.named(whole, name)
    }

    pub(crate) fn external_members(&self, external: &External, name: Name) -> &[Def] {
        reads::note(Door::ExternalMembers, 0, Some(name));
        // Few outside types have members here, so that the key is rarely built in vain.
        if self.external_members.is_empty() {
            return &[];
        }
        self.external_members.get(&(external.clone(), name)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn blanket_members(&self, name: Name) -> &[Def] {
        reads::note(Door::BlanketMembers, 0, Some(name));
        self.blanket_members.get(&name).map_or(&[], Vec::as_slice)
    }

    /// Whether `below` is `above` or one of its descendants.
    pub(crate) fn is_below(&self, below: Def, above: Def) -> bool {
        let above = self.whole(above);
        self.whole(below) == above || self.ancestors(below).contains(&Ancestor::Project(above))
    }

    pub(crate) fn has_external_base(&self, world: &World<'_>, def: Def, ending: &str) -> bool {
        self.ancestors(def).iter().any(|it| match it {
            Ancestor::External(external) => {
                external.last().is_some_and(|it| world.text(it).ends_with(ending))
            }
            _ => false,
        })
    }

    /// The type a declaration is a member of: its owner, or what the `impl` block around it is for.
    pub(crate) fn owner_type(&self, world: &World<'_>, def: Def) -> Option<Def> {
        let (file, _, decl) = world.decl(def);
        if let Some(id) = decl.implementation {
            return match self.implementation(file, id)?.type_ {
                Ancestor::Project(type_) => Some(type_),
                _ => None,
            };
        }
        world.owner(def).filter(|it| world.kind(*it).is_type_like())
    }

    /// Whether `file` imports `other`, directly or in one more step.
    pub(crate) fn imports(&self, file: u32, other: u32) -> bool {
        let direct = self.imports_of(file);
        direct.binary_search(&other).is_ok()
            || direct.iter().any(|it| self.imports_of(*it).binary_search(&other).is_ok())
    }

    fn imports_of(&self, file: u32) -> &[u32] {
        reads::note(Door::Imports, self.file_hashes[file as usize], None);
        &self.parts[file as usize].imports
    }

    fn note_parts(&self, def: Def) {
        if self.may_have_parts.get(def.0 as usize) == Some(&true) {
            self.note(Door::Parts, def, None);
        }
    }

    fn note(&self, door: Door, def: Def, name: Option<Name>) {
        // Bases are evaluated before there is a hierarchy, and that is recorded by nobody.
        if let Some(hash) = self.def_hashes.get(def.0 as usize) {
            reads::note(door, *hash, name);
        }
    }

    /// C3 order. Where it does not exist, or bases go round in a circle, depth first with each type once.
    fn linearise(&mut self, class: Def, depth: u32) -> Vec<Ancestor> {
        /// Deeper than any class tree; ends circles too.
        const MAX_DEPTH: u32 = 100;
        if let Some(known) = self.linear.get(&class) {
            return known.clone();
        }
        if depth > MAX_DEPTH {
            return vec![Ancestor::Unknown];
        }
        // Seen while it is being made: a circle.
        self.linear.insert(class, Vec::new());
        let mut bases: Vec<Ancestor> = Vec::new();
        for base in self.parts(&class).iter().flat_map(|part| self.inherited(*part)) {
            let base = match base {
                Ancestor::Project(def) => Ancestor::Project(self.whole(*def)),
                other => other.clone(),
            };
            if base == Ancestor::Unknown || !bases.contains(&base) {
                bases.push(base);
            }
        }
        let mut lists: Vec<Vec<Ancestor>> = Vec::new();
        for base in &bases {
            let mut list = vec![base.clone()];
            if let Ancestor::Project(def) = base
                && *def != class
            {
                list.extend(self.linearise(*def, depth + 1));
            }
            lists.push(list);
        }
        let mut order = match lists.len() {
            // One base: its order is this one's, and merging it with itself would cost the square of it.
            1 => lists.swap_remove(0),
            _ => {
                lists.push(bases);
                merge(lists)
            }
        };
        order.retain(|it| *it != Ancestor::Project(class));
        if order.len() > MAX_ANCESTORS {
            order.truncate(MAX_ANCESTORS);
            order.push(Ancestor::Unknown);
        }
        self.linear.insert(class, order.clone());
        order
    }
}

/// More than any class has; a chain of thousands would cost the square of its length in memory.
const MAX_ANCESTORS: usize = 256;

fn merge(lists: Vec<Vec<Ancestor>>) -> Vec<Ancestor> {
    let mut heads: Vec<&[Ancestor]> = lists.iter().map(Vec::as_slice).filter(|it| !it.is_empty()).collect();
    let mut order: Vec<Ancestor> = Vec::new();
    while !heads.is_empty() {
        let good = heads.iter().map(|it| &it[0]).find(|candidate| {
            // Unknown bases are not one type: they hold nothing back.
            **candidate == Ancestor::Unknown || !heads.iter().any(|it| it[1..].contains(candidate))
        });
        let next = good.unwrap_or(&heads[0][0]).clone();
        if next == Ancestor::Unknown {
            let at = heads.iter().position(|it| it[0] == next).expect("it was just taken from a head");
            heads[at] = &heads[at][1..];
        } else {
            for head in &mut heads {
                if head[0] == next {
                    *head = &head[1..];
                }
            }
        }
        heads.retain(|it| !it.is_empty());
        if next == Ancestor::Unknown || !order.contains(&next) {
            order.push(next);
        }
    }
    order
}

fn mixed_into(world: &World<'_>, linear: &FxHashMap<Def, Vec<Ancestor>>) -> FxHashMap<Def, Vec<Def>> {
    let mut all: Vec<(Def, Def)> = linear
        .iter()
        .flat_map(|(type_, ancestors)| {
            ancestors.iter().filter_map(|it| match it {
                Ancestor::Project(module) if world.kind(*module) == NodeKind::Module => {
                    Some((*module, *type_))
                }
                _ => None,
            })
        })
        .collect();
    all.sort_unstable();
    let mut out: FxHashMap<Def, Vec<Def>> = FxHashMap::default();
    for (module, type_) in all {
        out.entry(module).or_default().push(type_);
    }
    out
}

/// What one file says about types and imports.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct FilePart {
    bases: Vec<(Def, Vec<Ancestor>)>,
    for_values: Vec<(Def, Vec<Ancestor>)>,
    /// Modules that give members to types themselves, and those types.
    beside: Vec<(Def, Def)>,
    /// By their position in the file.
    pub(crate) impls: Vec<ImplTarget>,
    /// Files that it imports, sorted.
    pub(crate) imports: Vec<u32>,
    /// Keys of what was looked up for that, where it is noted.
    reads: Vec<u32>,
}

impl FilePart {
    fn recorded(world: &World<'_>, file: u32) -> FilePart {
        let facts = world.found_in(file);
        let is_empty = facts.impls.is_empty() && facts.imports.is_empty();
        if is_empty && facts.decls.iter().all(|it| it.bases.is_empty()) {
            return FilePart::default();
        }
        let (part, reads) = world.noted(file, || FilePart::of(world, file));
        FilePart { reads, ..part }
    }

    fn of(world: &World<'_>, file: u32) -> FilePart {
        let mut ev = Evaluator::new(world);
        let frame = Frame::of_file(file);
        let rules = world.rules(file);
        let facts = world.facts(file);
        let mut bases = Vec::new();
        let mut for_values = Vec::new();
        let mut beside = Vec::new();
        for (index, decl) in facts.decls.iter().enumerate() {
            if decl.bases.is_empty() {
                continue;
            }
            let list = decl.bases.iter().map(|base| {
                ev.begin();
                let is_inside = rules.writes_inside(base.role);
                let scope = if is_inside { Some(DeclId(index as u32)) } else { decl.owner };
                Ancestor::of(&rules.type_entity(&mut ev, frame, scope, base.type_))
            });
            let list: Vec<Ancestor> = list.collect();
            let def = world.def(file, DeclId(index as u32));
            let is_beside = |it: &Base| it.role == BaseRole::Extended;
            if decl.bases.iter().any(is_beside) {
                let kept = decl.bases.iter().zip(&list).filter(|(base, _)| !is_beside(base));
                for_values.push((def, kept.map(|(_, it)| it.clone()).collect()));
                beside.extend(decl.bases.iter().zip(&list).filter_map(|(base, it)| match it {
                    Ancestor::Project(module) if is_beside(base) => Some((*module, def)),
                    _ => None,
                }));
            }
            bases.push((def, list));
        }
        let impls = facts.impls.iter().map(|it| {
            ev.begin();
            let type_ = Ancestor::of(&rules.implemented(&mut ev, frame, it.owner, it.type_));
            let interface =
                it.interface.map(|it_| Ancestor::of(&rules.type_entity(&mut ev, frame, it.owner, it_)));
            ImplTarget { type_, interface }
        });
        let impls = impls.collect();
        let mut imports: Vec<u32> = Vec::new();
        for import in &facts.imports {
            ev.begin();
            let module = rules.imported_module(&mut ev, frame, import);
            let member = ev.imported(frame, import, crate::languages::Space::Value);
            for value in module.parts().iter().chain(member.parts()) {
                imports.extend(rules.file_of(&ev, value));
            }
            imports.extend(rules.reached_files(&ev, frame, import));
        }
        imports.sort_unstable();
        imports.dedup();
        imports.retain(|it| *it != file);
        FilePart { bases, for_values, beside, impls, imports, reads: Vec::new() }
    }
}
