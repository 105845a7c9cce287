//! Which types fulfil which interfaces: those whose method set has all of an interface's methods, with the same types.
//!
//! ```text
//! FileMethods   what the types and interfaces of a file declare
//! FileSets      all methods of the types of a file, promoted ones too
//! FileWants     what the interfaces of a file ask for, and who has it
//! ```
//!
//! Each is made file by file, and so it is kept from run to run: of files that no change concerns, and of interfaces that no
//! other type has the methods of. For each interface the method that the fewest types have is looked at first, so that all
//! pairs are never compared. An interface that embeds one from outside counts when its methods are known here; one without
//! methods never does. What is embedded with type arguments has the methods that these make of it.

mod renewed;

use std::sync::Arc;

use knowing_model::facts::DeclId;
use knowing_model::{EdgeKind, NodeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::members::declared_in;
use super::signatures::{Signature, embedded};
use super::standard;
use crate::derive::DerivedEdge;
use crate::evaluate::Evaluator;
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::world::{Def, World};

/// Types that are kept for an interface.
const MAX_TYPES: usize = 200;

/// How many levels of embedding count.
const MAX_LEVELS: usize = 8;

/// Interfaces that one may embed.
const MAX_EMBEDDED: usize = 64;

/// A method of a type, its own or promoted.
#[derive(Clone, PartialEq)]
struct Method {
    name: Name,
    def: Def,
    signature: Arc<Signature>,
}

/// Methods that types declare themselves.
type Own<'m> = FxHashMap<Def, Vec<&'m Method>>;

/// A type and all its methods, sorted by name.
type MethodSet = (Def, Vec<Method>);

/// Of all files.
#[derive(Default)]
pub(crate) struct Fulfilments {
    /// Names of methods that interfaces have, and how often.
    asked: FxHashMap<Name, u32>,
    methods: Vec<FileMethods>,
    sets: Vec<FileSets>,
    wants: Vec<FileWants>,
}

impl Fulfilments {
    pub(crate) fn new(world: &World<'_>) -> Fulfilments {
        let n_files = world.n_files() as u32;
        if (0..n_files).all(|it| !is_go(world, it)) {
            return Fulfilments::default();
        }
        let asked: Vec<Vec<Name>> = (0..n_files).into_par_iter().map(|it| asked_for(world, it)).collect();
        let mut all: FxHashMap<Name, u32> = FxHashMap::default();
        asked.iter().flatten().for_each(|it| *all.entry(*it).or_default() += 1);
        let methods: Vec<FileMethods> = asked
            .into_par_iter()
            .zip(0..n_files)
            .map(|(asked, file)| FileMethods::of(world, file, asked, &all))
            .collect();
        let own = own(&methods);
        let sets: Vec<FileSets> = (0..n_files)
            .into_par_iter()
            .map(|it| FileSets::of(world, it, &methods[it as usize], &own))
            .collect();
        let mut wants: Vec<FileWants> = (0..n_files)
            .into_par_iter()
            .map(|it| FileWants::of(world, it, &methods[it as usize], &own))
            .collect();
        fulfil(world, &sets, &mut wants);
        Fulfilments { asked: all, methods, sets, wants }
    }

    pub(crate) fn edges(&self) -> impl Iterator<Item = DerivedEdge> {
        let fulfilled = self.wants.iter().flat_map(|it| &it.wants).flat_map(|it| &it.edges);
        fulfilled.chain(self.sets.iter().flat_map(|it| &it.shadowing)).copied()
    }
}

fn is_go(world: &World<'_>, file: u32) -> bool {
    world.found_in(file).language == "go"
}

fn own(methods: &[FileMethods]) -> Own<'_> {
    let mut own: Own<'_> = FxHashMap::default();
    for (type_, method) in methods.iter().flat_map(|it| &it.methods) {
        own.entry(*type_).or_default().push(method);
    }
    own
}

/// Finds who fulfils those interfaces of which that is open.
fn fulfil(world: &World<'_>, sets: &[FileSets], wants: &mut [FileWants]) {
    let mut names: FxHashSet<Name> = FxHashSet::default();
    for want in wants.iter().flat_map(|it| &it.wants).filter(|it| it.is_open) {
        names.extend(want.wanted.iter().flat_map(Wanted::all_names));
    }
    let sets: Vec<&MethodSet> = sets.iter().flat_map(|it| &it.sets).collect();
    let mut holders: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
    if !names.is_empty() {
        for (at, (_, set)) in (0..).zip(&sets) {
            for method in set.iter().filter(|it| names.contains(&it.name)) {
                holders.entry(method.name).or_default().push(at);
            }
        }
    }
    wants.par_iter_mut().for_each(|of_file| {
        for want in of_file.wants.iter_mut().filter(|it| it.is_open) {
            want.is_open = false;
            want.edges = match &want.wanted {
                Some(wanted) => edges_of(world, want.interface, wanted, &sets, &holders),
                None => Vec::new(),
            };
        }
    });
}

fn edges_of(
    world: &World<'_>,
    interface: Def,
    wanted: &Wanted,
    sets: &[&MethodSet],
    holders: &FxHashMap<Name, Vec<u32>>,
) -> Vec<DerivedEdge> {
    let mut edges = Vec::new();
    let none: &[u32] = &[];
    let lists = wanted.all_names().map(|name| holders.get(&name).map_or(none, Vec::as_slice));
    let Some(rarest) = lists.min_by_key(|it| it.len()) else { return edges };
    let mut fitting: Vec<u32> =
        rarest.iter().copied().filter(|it| wanted.is_fulfilled_by(&sets[*it as usize].1)).collect();
    // Where there are too many, those outside of tests are worth more.
    if fitting.len() > MAX_TYPES {
        fitting.sort_by_key(|it| (world.is_test_code(sets[*it as usize].0), *it));
        fitting.truncate(MAX_TYPES);
    }
    for at in fitting {
        let (type_, set) = sets[at as usize];
        edges.push(DerivedEdge::new(*type_, interface, EdgeKind::Implements, Provenance::AstResolved));
        for method in &wanted.methods {
            let Some(own) = named(set, method.name) else { continue };
            let is_abstract = world.owner(own.def).is_some_and(|it| world.kind(it) == NodeKind::Interface);
            if own.def != method.def && !is_abstract {
                edges.push(overriding(own.def, method.def));
            }
        }
    }
    edges
}

fn overriding(source: Def, target: Def) -> DerivedEdge {
    DerivedEdge::new(source, target, EdgeKind::Overrides, Provenance::InterfacePropagation)
}

fn named(set: &[Method], name: Name) -> Option<&Method> {
    let begin = set.partition_point(|it| it.name < name);
    set.get(begin).filter(|it| it.name == name)
}

/// What a type has to have.
struct Wanted {
    methods: Vec<Method>,
    /// Names of methods that the library declares.
    names: Vec<Name>,
}

impl Wanted {
    /// None when it is nothing, or when it cannot be told.
    fn of(look: &mut Look<'_, '_>, interface: Def) -> Option<Wanted> {
        let world = look.ev.world;
        let mut wanted = Wanted { methods: Vec::new(), names: Vec::new() };
        let mut seen = vec![(interface, Vec::new())];
        let mut at = 0;
        while at < seen.len() {
            let (def, arguments) = seen[at].clone();
            at += 1;
            let (_, _, decl) = world.decl(def);
            // What a type has to be one of: nothing is fulfilled by methods alone.
            if decl.kind != NodeKind::Interface || decl.type_.is_some() || seen.len() > MAX_EMBEDDED {
                return None;
            }
            wanted.methods.extend(look.methods_of(def, &arguments));
            for (ancestor, given) in embedded(&mut look.ev, def, &arguments) {
                match ancestor {
                    Ancestor::Project(inner) => {
                        if !seen.iter().any(|it| it.0 == inner) {
                            seen.push((inner, given));
                        }
                    }
                    Ancestor::External(external) => {
                        for name in standard::members(&look.ev, &external)? {
                            wanted.names.push(world.names.find(name)?);
                        }
                    }
                    Ancestor::Unknown => return None,
                }
            }
        }
        (!wanted.methods.is_empty()).then_some(wanted)
    }

    fn all_names(&self) -> impl Iterator<Item = Name> {
        self.methods.iter().map(|it| it.name).chain(self.names.iter().copied())
    }

    fn is_fulfilled_by(&self, set: &[Method]) -> bool {
        let has =
            |it: &Method| named(set, it.name).is_some_and(|method| method.signature.fits(&it.signature));
        self.methods.iter().all(has) && self.names.iter().all(|it| named(set, *it).is_some())
    }
}

/// A search among the methods of types, and the types whose own methods it looked at.
struct Look<'w, 'm> {
    ev: Evaluator<'w>,
    own: &'m Own<'m>,
    seen: FxHashSet<Def>,
}

impl<'w, 'm> Look<'w, 'm> {
    fn new(world: &'w World<'w>, own: &'m Own<'m>) -> Look<'w, 'm> {
        Look { ev: Evaluator::new(world), own, seen: FxHashSet::default() }
    }

    /// What a type declares itself, with type arguments in their place.
    fn methods_of(&mut self, def: Def, arguments: &[u64]) -> Vec<Method> {
        self.seen.insert(def);
        let methods = self.own.get(&def).map_or(&[][..], Vec::as_slice).iter().copied();
        if arguments.is_empty() {
            return methods.cloned().collect();
        }
        let of = |it: &Method| {
            let signature = Arc::new(Signature::of(&mut self.ev, it.def, def, arguments));
            Method { signature, ..it.clone() }
        };
        methods.map(of).collect()
    }

    /// All methods of a type, own and promoted, sorted by name; the shallowest of each name.
    fn method_set(&mut self, type_: Def) -> Vec<Method> {
        let mut set: Vec<Method> = Vec::new();
        let mut names: FxHashSet<Name> = FxHashSet::default();
        let mut seen: FxHashSet<Def> = [type_].into_iter().collect();
        let mut level = vec![(type_, Vec::new())];
        for _ in 0..MAX_LEVELS {
            for (def, arguments) in &level {
                for method in self.methods_of(*def, arguments) {
                    if names.insert(method.name) {
                        set.push(method);
                    }
                }
            }
            let mut next = Vec::new();
            for (def, arguments) in &level {
                for (ancestor, given) in embedded(&mut self.ev, *def, arguments) {
                    if let Ancestor::Project(inner) = ancestor
                        && seen.insert(inner)
                    {
                        next.push((inner, given));
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        set.sort_by_key(|it| (it.name, it.def));
        set
    }

    /// A method that hides one of what is embedded replaces it.
    fn shadowing(&mut self, type_: Def, edges: &mut Vec<DerivedEdge>) {
        let Some(methods) = self.own.get(&type_) else { return };
        for ancestor in self.ev.world.hierarchy.direct(type_) {
            let Ancestor::Project(inner) = ancestor else { continue };
            let below = self.method_set(*inner);
            for method in methods {
                if let Some(hidden) = named(&below, method.name)
                    && hidden.def != method.def
                {
                    edges.push(overriding(method.def, hidden.def));
                }
            }
        }
    }

    fn seen(self) -> Vec<Def> {
        let mut seen: Vec<Def> = self.seen.into_iter().collect();
        seen.sort_unstable();
        seen
    }
}

/// Names of the methods that the interfaces of a file have.
fn asked_for(world: &World<'_>, file: u32) -> Vec<Name> {
    if !is_go(world, file) {
        return Vec::new();
    }
    let decls = (0..).zip(&world.found_in(file).decls);
    let interfaces =
        decls.filter(|it| it.1.kind == NodeKind::Interface).map(|it| world.def(file, DeclId(it.0)));
    let methods = interfaces.flat_map(|it| declared_in(world, it));
    methods.map(|it| world.decl(it)).map(|(file, _, decl)| world.name(file, decl.name)).collect()
}

/// What one file declares.
#[derive(Default)]
struct FileMethods {
    /// Names of what its interfaces have.
    asked: Vec<Name>,
    types: Vec<Def>,
    interfaces: Vec<Def>,
    /// With the type they belong to.
    methods: Vec<(Def, Method)>,
    /// Keys of what was looked up for it, where that is noted.
    reads: Vec<u32>,
}

impl FileMethods {
    /// Types of methods matter only where an interface has one of the same name, which are `all`.
    fn of(world: &World<'_>, file: u32, asked: Vec<Name>, all: &FxHashMap<Name, u32>) -> FileMethods {
        let mut found = FileMethods { asked, ..FileMethods::default() };
        if !is_go(world, file) {
            return found;
        }
        let reads = world.noted(file, || found.find(world, file, all)).1;
        FileMethods { reads, ..found }
    }

    fn find(&mut self, world: &World<'_>, file: u32, asked: &FxHashMap<Name, u32>) {
        let mut ev = Evaluator::new(world);
        let mut method = |owner: Def, def: Def, is_typed: bool| {
            let signature = match is_typed {
                true => Signature::of(&mut ev, def, owner, &[]),
                false => Signature::untyped(),
            };
            let (file, _, decl) = world.decl(def);
            (owner, Method { name: world.name(file, decl.name), def, signature: signature.into() })
        };
        for (index, decl) in world.facts(file).decls.iter().enumerate() {
            let def = world.def(file, DeclId(index as u32));
            match decl.kind {
                NodeKind::Struct | NodeKind::Type => self.types.push(def),
                NodeKind::Interface => {
                    self.interfaces.push(def);
                    self.methods.extend(declared_in(world, def).map(|it| method(def, it, true)));
                }
                NodeKind::Method if decl.implementation.is_some() => {
                    if let Some(owner) = world.hierarchy.owner_type(world, def) {
                        let is_typed = asked.contains_key(&world.name(file, decl.name));
                        self.methods.push(method(owner, def, is_typed));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Method sets of the types of a file.
#[derive(Default)]
struct FileSets {
    sets: Vec<MethodSet>,
    shadowing: Vec<DerivedEdge>,
    /// Types whose own methods were looked at, sorted.
    seen: Vec<Def>,
    reads: Vec<u32>,
}

impl FileSets {
    fn of(world: &World<'_>, file: u32, methods: &FileMethods, own: &Own<'_>) -> FileSets {
        let mut found = FileSets::default();
        if methods.types.is_empty() {
            return found;
        }
        let (seen, reads) = world.noted(file, || {
            let mut look = Look::new(world, own);
            for type_ in &methods.types {
                let set = look.method_set(*type_);
                if !set.is_empty() {
                    found.sets.push((*type_, set));
                    look.shadowing(*type_, &mut found.shadowing);
                }
            }
            look.seen()
        });
        FileSets { seen, reads, ..found }
    }
}

/// What an interface asks for.
struct Want {
    interface: Def,
    wanted: Option<Wanted>,
    /// Who has it.
    edges: Vec<DerivedEdge>,
    /// Whether others may have it.
    is_open: bool,
}

/// What the interfaces of a file ask for.
#[derive(Default)]
struct FileWants {
    wants: Vec<Want>,
    /// Types whose own methods were looked at, sorted.
    seen: Vec<Def>,
    reads: Vec<u32>,
}

impl FileWants {
    fn of(world: &World<'_>, file: u32, methods: &FileMethods, own: &Own<'_>) -> FileWants {
        let mut found = FileWants::default();
        if methods.interfaces.is_empty() {
            return found;
        }
        let (seen, reads) = world.noted(file, || {
            let mut look = Look::new(world, own);
            for interface in &methods.interfaces {
                let wanted = Wanted::of(&mut look, *interface);
                found.wants.push(Want { interface: *interface, wanted, edges: Vec::new(), is_open: true });
            }
            look.seen()
        });
        FileWants { seen, reads, ..found }
    }
}
