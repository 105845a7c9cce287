//! Which types fulfil which interfaces: those whose method set has all of an interface's methods, with the same types.
//!
//! For each interface the method that the fewest types have is looked at first, so that all pairs are never compared.
//! An interface that embeds one from outside counts when its methods are known here; one without methods never does.
//! What is embedded with type arguments has the methods that these make of it.

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

/// Methods that types declare themselves.
type Own = FxHashMap<Def, Vec<Arc<Signature>>>;

/// A type and all its methods, sorted by name.
type MethodSet = (Def, Vec<Arc<Signature>>);

pub(crate) fn implements(world: &World<'_>, edges: &mut Vec<DerivedEdge>) {
    let files: Vec<u32> =
        (0..world.n_files() as u32).filter(|it| world.facts(*it).language == "go").collect();
    if files.is_empty() {
        return;
    }
    let asked: Vec<Vec<Name>> = files.par_iter().map(|file| asked_for(world, *file)).collect();
    let asked: FxHashSet<Name> = asked.into_iter().flatten().collect();
    let found: Vec<FileMethods> =
        files.par_iter().map(|file| FileMethods::of(world, *file, &asked)).collect();
    let mut own: Own = FxHashMap::default();
    let mut types = Vec::new();
    let mut interfaces = Vec::new();
    for file in found {
        types.extend(file.types);
        interfaces.extend(file.interfaces);
        for (type_, signature) in file.methods {
            own.entry(type_).or_default().push(Arc::new(signature));
        }
    }
    let sets: Vec<MethodSet> = types
        .par_iter()
        .map_init(|| Evaluator::new(world), |ev, it| (*it, method_set(ev, *it, &own)))
        .filter(|it| !it.1.is_empty())
        .collect();
    let mut holders: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
    for (at, (_, set)) in sets.iter().enumerate() {
        for method in set {
            holders.entry(method.name).or_default().push(at as u32);
        }
    }
    let per_interface: Vec<Vec<DerivedEdge>> = interfaces
        .par_iter()
        .map_init(|| Evaluator::new(world), |ev, it| edges_of(ev, *it, &own, &sets, &holders))
        .collect();
    edges.extend(per_interface.into_iter().flatten());
    shadowing(world, &sets, &own, edges);
}

fn edges_of(
    ev: &mut Evaluator<'_>,
    interface: Def,
    own: &Own,
    sets: &[MethodSet],
    holders: &FxHashMap<Name, Vec<u32>>,
) -> Vec<DerivedEdge> {
    let world = ev.world;
    let mut edges = Vec::new();
    let Some(wanted) = Wanted::of(ev, interface, own) else { return edges };
    let Wanted { methods, names } = wanted;
    let none: &[u32] = &[];
    let all = methods.iter().map(|it| it.name).chain(names.iter().copied());
    let lists = all.map(|name| holders.get(&name).map_or(none, Vec::as_slice));
    let Some(rarest) = lists.min_by_key(|it| it.len()) else { return edges };
    let fits = |at: &u32| {
        let set = &sets[*at as usize].1;
        methods.iter().all(|it| named(set, it.name).is_some_and(|method| method.fits(it)))
            && names.iter().all(|it| named(set, *it).is_some())
    };
    let mut fitting: Vec<u32> = rarest.iter().copied().filter(fits).collect();
    // Where there are too many, those outside of tests are worth more.
    if fitting.len() > MAX_TYPES {
        fitting.sort_by_key(|it| (world.is_test_code(sets[*it as usize].0), *it));
        fitting.truncate(MAX_TYPES);
    }
    for at in fitting {
        let (type_, set) = &sets[at as usize];
        edges.push(DerivedEdge::new(*type_, interface, EdgeKind::Implements, Provenance::AstResolved));
        for method in &methods {
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

fn named(set: &[Arc<Signature>], name: Name) -> Option<&Arc<Signature>> {
    let begin = set.partition_point(|it| it.name < name);
    set.get(begin).filter(|it| it.name == name)
}

/// What a type has to have.
struct Wanted {
    methods: Vec<Arc<Signature>>,
    /// Names of methods that the library declares.
    names: Vec<Name>,
}

impl Wanted {
    /// None when it is nothing, or when it cannot be told.
    fn of(ev: &mut Evaluator<'_>, interface: Def, own: &Own) -> Option<Wanted> {
        let world = ev.world;
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
            wanted.methods.extend(methods_of(ev, def, &arguments, own));
            for (ancestor, given) in embedded(ev, def, &arguments) {
                match ancestor {
                    Ancestor::Project(inner) => {
                        if !seen.iter().any(|it| it.0 == inner) {
                            seen.push((inner, given));
                        }
                    }
                    Ancestor::External(external) => {
                        for name in standard::members(ev, &external)? {
                            wanted.names.push(world.names.find(name)?);
                        }
                    }
                    Ancestor::Unknown => return None,
                }
            }
        }
        (!wanted.methods.is_empty()).then_some(wanted)
    }
}

/// What a type declares itself, with type arguments in their place.
fn methods_of(ev: &mut Evaluator<'_>, def: Def, arguments: &[u64], own: &Own) -> Vec<Arc<Signature>> {
    let methods = own.get(&def).map_or(&[][..], Vec::as_slice);
    if arguments.is_empty() {
        return methods.to_vec();
    }
    methods.iter().map(|it| Arc::new(Signature::of(ev, it.def, def, arguments))).collect()
}

/// All methods of a type, own and promoted, sorted by name; the shallowest of each name.
fn method_set(ev: &mut Evaluator<'_>, type_: Def, own: &Own) -> Vec<Arc<Signature>> {
    let mut set: Vec<Arc<Signature>> = Vec::new();
    let mut names: FxHashSet<Name> = FxHashSet::default();
    let mut seen: FxHashSet<Def> = [type_].into_iter().collect();
    let mut level = vec![(type_, Vec::new())];
    for _ in 0..MAX_LEVELS {
        for (def, arguments) in &level {
            for method in methods_of(ev, *def, arguments, own) {
                if names.insert(method.name) {
                    set.push(method);
                }
            }
        }
        let mut next = Vec::new();
        for (def, arguments) in &level {
            for (ancestor, given) in embedded(ev, *def, arguments) {
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
fn shadowing(world: &World<'_>, sets: &[MethodSet], own: &Own, edges: &mut Vec<DerivedEdge>) {
    let mut ev = Evaluator::new(world);
    for (type_, _) in sets {
        let Some(methods) = own.get(type_) else { continue };
        for ancestor in world.hierarchy.direct(*type_) {
            let Ancestor::Project(inner) = ancestor else { continue };
            let below = method_set(&mut ev, *inner, own);
            for method in methods {
                if let Some(hidden) = named(&below, method.name)
                    && hidden.def != method.def
                {
                    edges.push(overriding(method.def, hidden.def));
                }
            }
        }
    }
}

/// Names of the methods that the interfaces of a file have.
fn asked_for(world: &World<'_>, file: u32) -> Vec<Name> {
    let decls = (0..).zip(&world.facts(file).decls);
    let interfaces =
        decls.filter(|it| it.1.kind == NodeKind::Interface).map(|it| world.def(file, DeclId(it.0)));
    let methods = interfaces.flat_map(|it| declared_in(world, it));
    methods.map(|it| world.decl(it)).map(|(file, _, decl)| world.name(file, decl.name)).collect()
}

/// What one file declares.
#[derive(Default)]
struct FileMethods {
    types: Vec<Def>,
    interfaces: Vec<Def>,
    /// With the type they belong to.
    methods: Vec<(Def, Signature)>,
}

impl FileMethods {
    /// Types of methods matter only where an interface has one of the same name.
    fn of(world: &World<'_>, file: u32, asked: &FxHashSet<Name>) -> FileMethods {
        let mut found = FileMethods::default();
        let mut ev = Evaluator::new(world);
        for (index, decl) in world.facts(file).decls.iter().enumerate() {
            let def = world.def(file, DeclId(index as u32));
            match decl.kind {
                NodeKind::Struct | NodeKind::Type => found.types.push(def),
                NodeKind::Interface => {
                    found.interfaces.push(def);
                    for method in declared_in(world, def) {
                        found.methods.push((def, Signature::of(&mut ev, method, def, &[])));
                    }
                }
                NodeKind::Method if decl.implementation.is_some() => {
                    if let Some(owner) = world.hierarchy.owner_type(world, def) {
                        let signature = match asked.contains(&world.name(file, decl.name)) {
                            true => Signature::of(&mut ev, def, owner, &[]),
                            false => Signature::untyped(world, def),
                        };
                        found.methods.push((owner, signature));
                    }
                }
                _ => {}
            }
        }
        found
    }
}
