//! Which types fulfil which interfaces: those whose method set has all of an interface's methods, with the same types.
//!
//! For each interface the method that the fewest types have is looked at first, so that all pairs are never compared.
//! An interface that embeds one from outside counts when its methods are known here; one without methods never does.

use knowing_model::facts::{ParameterKind, Type, TypeId};
use knowing_model::{EdgeKind, NodeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

use super::members::declared_in;
use super::{Go, standard};
use crate::derive::DerivedEdge;
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::Rules;
use crate::names::Name;
use crate::value::Value;
use crate::world::{Def, World};

/// Types that are kept for an interface.
const MAX_TYPES: usize = 200;

/// How many levels of embedding count.
const MAX_LEVELS: usize = 8;

/// A method as others have to match it. Types are numbers; 0 fits any.
#[derive(Clone)]
struct Signature {
    name: Name,
    def: Def,
    n_parameters: u32,
    types: Vec<u64>,
}

impl Signature {
    fn fits(&self, other: &Signature) -> bool {
        self.name == other.name
            && self.n_parameters == other.n_parameters
            && self.types.len() == other.types.len()
            && self.types.iter().zip(&other.types).all(|(one, two)| one == two || *one == 0 || *two == 0)
    }
}

pub(crate) fn implements(world: &World<'_>, edges: &mut Vec<DerivedEdge>) {
    let files: Vec<u32> =
        (0..world.n_files() as u32).filter(|it| world.facts(*it).language == "go").collect();
    if files.is_empty() {
        return;
    }
    let found: Vec<FileMethods> = files.par_iter().map(|file| FileMethods::of(world, *file)).collect();
    let mut own: FxHashMap<Def, Vec<Signature>> = FxHashMap::default();
    let mut types = Vec::new();
    let mut interfaces = Vec::new();
    for file in found {
        types.extend(file.types);
        interfaces.extend(file.interfaces);
        for (type_, signature) in file.methods {
            own.entry(type_).or_default().push(signature);
        }
    }
    let sets: Vec<(Def, Vec<&Signature>)> =
        types.par_iter().map(|it| (*it, method_set(world, *it, &own))).collect();
    let sets: Vec<(Def, Vec<&Signature>)> = sets.into_iter().filter(|it| !it.1.is_empty()).collect();
    let mut holders: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
    for (at, (_, set)) in sets.iter().enumerate() {
        for method in set {
            holders.entry(method.name).or_default().push(at as u32);
        }
    }
    let per_interface: Vec<Vec<DerivedEdge>> =
        interfaces.par_iter().map(|interface| edges_of(world, *interface, &own, &sets, &holders)).collect();
    edges.extend(per_interface.into_iter().flatten());
    shadowing(world, &sets, &own, edges);
}

fn edges_of(
    world: &World<'_>,
    interface: Def,
    own: &FxHashMap<Def, Vec<Signature>>,
    sets: &[(Def, Vec<&Signature>)],
    holders: &FxHashMap<Name, Vec<u32>>,
) -> Vec<DerivedEdge> {
    let mut edges = Vec::new();
    let Some((wanted, names)) = wanted(world, interface, own) else { return edges };
    let none: &[u32] = &[];
    let all = wanted.iter().map(|it| it.name).chain(names.iter().copied());
    let lists = all.map(|name| holders.get(&name).map_or(none, Vec::as_slice));
    let Some(rarest) = lists.min_by_key(|it| it.len()) else { return edges };
    let fits = |at: &u32| {
        let set = &sets[*at as usize].1;
        let find = |name: Name| {
            let begin = set.partition_point(|it| it.name < name);
            set.get(begin).filter(|it| it.name == name)
        };
        wanted.iter().all(|it| find(it.name).is_some_and(|method| method.fits(it)))
            && names.iter().all(|it| find(*it).is_some())
    };
    let mut fitting: Vec<u32> = rarest.iter().copied().filter(fits).collect();
    // Where there are too many, those outside of tests are worth more.
    if fitting.len() > MAX_TYPES {
        fitting.sort_by_key(|it| (world.is_test_code(sets[*it as usize].0), *it));
        fitting.truncate(MAX_TYPES);
    }
    for at in fitting {
        let (type_, set) = &sets[at as usize];
        edges.push(DerivedEdge {
            source: *type_,
            target: interface,
            kind: EdgeKind::Implements,
            provenance: Provenance::AstResolved,
        });
        for method in &wanted {
            let begin = set.partition_point(|it| it.name < method.name);
            let Some(own) = set.get(begin) else { continue };
            let is_abstract = world.owner(own.def).is_some_and(|it| world.kind(it) == NodeKind::Interface);
            if own.def != method.def && !is_abstract {
                edges.push(DerivedEdge {
                    source: own.def,
                    target: method.def,
                    kind: EdgeKind::Overrides,
                    provenance: Provenance::InterfacePropagation,
                });
            }
        }
    }
    edges
}

/// What a type has to have: methods, and names of those that the library declares. None when that is nothing, or when
/// it cannot be told.
fn wanted<'m>(
    world: &World<'_>,
    interface: Def,
    own: &'m FxHashMap<Def, Vec<Signature>>,
) -> Option<(Vec<&'m Signature>, Vec<Name>)> {
    let mut methods: Vec<&Signature> = Vec::new();
    let mut names = Vec::new();
    let mut seen = vec![interface];
    let mut at = 0;
    while at < seen.len() {
        let def = seen[at];
        at += 1;
        let (_, _, decl) = world.decl(def);
        // What a type has to be one of: nothing is fulfilled by methods alone.
        if decl.kind != NodeKind::Interface || decl.type_.is_some() || seen.len() > 64 {
            return None;
        }
        methods.extend(own.get(&def).into_iter().flatten());
        for ancestor in world.hierarchy.direct(def) {
            match ancestor {
                Ancestor::Project(inner) => match unaliased(world, *inner) {
                    Some(inner) if seen.contains(&inner) => {}
                    Some(inner) => seen.push(inner),
                    None => return None,
                },
                Ancestor::External(external) => {
                    let ev = Evaluator::new(world);
                    for name in standard::members(&ev, external)? {
                        names.push(world.names.find(name)?);
                    }
                }
                Ancestor::Unknown => return None,
            }
        }
    }
    let is_empty = methods.is_empty();
    (!is_empty).then_some((methods, names))
}

/// All methods of a type, own and promoted, sorted by name; the shallowest of each name.
fn method_set<'m>(
    world: &World<'_>,
    type_: Def,
    own: &'m FxHashMap<Def, Vec<Signature>>,
) -> Vec<&'m Signature> {
    let mut set: Vec<&Signature> = Vec::new();
    let mut names: FxHashSet<Name> = FxHashSet::default();
    let mut level = vec![type_];
    let mut seen: FxHashSet<Def> = level.iter().copied().collect();
    for _ in 0..MAX_LEVELS {
        let mut here: Vec<&Signature> = Vec::new();
        for def in &level {
            here.extend(own.get(def).into_iter().flatten());
        }
        for method in &here {
            if names.insert(method.name) {
                set.push(method);
            }
        }
        let mut next = Vec::new();
        for def in &level {
            for ancestor in world.hierarchy.direct(*def) {
                if let Ancestor::Project(inner) = ancestor
                    && let Some(inner) = unaliased(world, *inner)
                    && seen.insert(inner)
                {
                    next.push(inner);
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

fn unaliased(world: &World<'_>, def: Def) -> Option<Def> {
    if world.kind(def) != NodeKind::TypeAlias {
        return Some(def);
    }
    let mut ev = Evaluator::new(world);
    match Go.unaliased(&mut ev, Frame::of_file(world.file_of(def)), def) {
        Ancestor::Project(inner) => Some(inner),
        _ => None,
    }
}

/// A method that hides one of what is embedded replaces it.
fn shadowing(
    world: &World<'_>,
    sets: &[(Def, Vec<&Signature>)],
    own: &FxHashMap<Def, Vec<Signature>>,
    edges: &mut Vec<DerivedEdge>,
) {
    for (type_, _) in sets {
        let Some(methods) = own.get(type_) else { continue };
        for ancestor in world.hierarchy.direct(*type_) {
            let Ancestor::Project(inner) = ancestor else { continue };
            let below = method_set(world, *inner, own);
            for method in methods {
                let begin = below.partition_point(|it| it.name < method.name);
                if let Some(hidden) = below.get(begin)
                    && hidden.name == method.name
                    && hidden.def != method.def
                {
                    edges.push(DerivedEdge {
                        source: method.def,
                        target: hidden.def,
                        kind: EdgeKind::Overrides,
                        provenance: Provenance::InterfacePropagation,
                    });
                }
            }
        }
    }
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
    fn of(world: &World<'_>, file: u32) -> FileMethods {
        let mut found = FileMethods::default();
        let mut ev = Evaluator::new(world);
        let facts = world.facts(file);
        for (index, decl) in facts.decls.iter().enumerate() {
            let def = world.def(file, knowing_model::facts::DeclId(index as u32));
            match decl.kind {
                NodeKind::Struct | NodeKind::Type => found.types.push(def),
                NodeKind::Interface => {
                    found.interfaces.push(def);
                    for method in declared_in(world, def) {
                        let signature = signature(&mut ev, file, method);
                        found.methods.push((def, signature));
                    }
                }
                NodeKind::Method if decl.implementation.is_some() => {
                    if let Some(owner) = world.hierarchy.owner_type(world, def) {
                        let signature = signature(&mut ev, file, def);
                        found.methods.push((owner, signature));
                    }
                }
                _ => {}
            }
        }
        found
    }
}

fn signature(ev: &mut Evaluator<'_>, file: u32, def: Def) -> Signature {
    let world = ev.world;
    let (_, id, decl) = world.decl(def);
    let frame = Frame::of_file(file);
    let mut types = Vec::new();
    let mut n_parameters = 0;
    for parameter in &decl.parameters {
        if parameter.kind == ParameterKind::Receiver {
            continue;
        }
        n_parameters += 1;
        ev.begin();
        types.push(parameter.type_.map_or(0, |it| number_of(ev, frame, id, it, 0)));
    }
    let results: &[TypeId] = match decl.type_ {
        None => &[],
        Some(ref result) => match world.facts(file).type_(*result) {
            Type::Tuple(all) => all,
            _ => std::slice::from_ref(result),
        },
    };
    for result in results {
        ev.begin();
        types.push(number_of(ev, frame, id, *result, 0));
    }
    Signature { name: world.name(file, decl.name), def, n_parameters, types }
}

/// A number for a written type that is the same wherever the same type is meant; 0 when nobody can tell.
fn number_of(
    ev: &mut Evaluator<'_>,
    frame: Frame,
    decl: knowing_model::facts::DeclId,
    type_: TypeId,
    depth: u32,
) -> u64 {
    let world = ev.world;
    if depth > 8 {
        return 0;
    }
    let mut hasher = FxHasher::default();
    match world.facts(frame.file).type_(type_) {
        Type::Named { segments, arguments, .. } => {
            let first = segments.first().map_or("", |it| world.facts(frame.file).text(*it));
            match first {
                "map" | "chan" => first.hash(&mut hasher),
                "struct" => return 0,
                _ => match Go.type_entity(ev, frame, Some(decl), type_) {
                    Value::Def(def) if world.kind(def) == NodeKind::TypeAlias => return 0,
                    Value::Def(def) => def.hash(&mut hasher),
                    Value::External(external) => {
                        let last = external.last().map_or("", |it| world.text(it));
                        match last {
                            "byte" => "uint8".hash(&mut hasher),
                            "rune" => "int32".hash(&mut hasher),
                            "any" => return 0,
                            _ => external.path.hash(&mut hasher),
                        }
                    }
                    _ => return 0,
                },
            }
            for argument in arguments {
                match number_of(ev, frame, decl, *argument, depth + 1) {
                    0 => return 0,
                    number => number.hash(&mut hasher),
                }
            }
        }
        Type::Sequence(of) => match number_of(ev, frame, decl, *of, depth + 1) {
            0 => return 0,
            number => ("sequence", number).hash(&mut hasher),
        },
        // Parameters of functions are not kept, so that functions fit functions.
        Type::Function(_) => "function".hash(&mut hasher),
        _ => return 0,
    }
    hasher.finish() | 1
}
