//! Members through the hierarchy: own, of what is extended, of interfaces.

use std::sync::Arc;

use knowing_model::facts::{BaseRole, Decl, ParameterKind, Type, TypeId};
use knowing_model::{NodeFlags, NodeKind};
use rustc_hash::FxHashMap;

use super::Dialect;
use crate::evaluate::Evaluator;
use crate::hierarchy::Ancestor;
use crate::languages::Space;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, World};

/// What was found of types while one file is resolved, by the rules of one language: the same few members are asked for again
/// and again.
#[derive(Default)]
pub(crate) struct Known {
    /// What a bare name means in a type.
    pub(crate) bare: FxHashMap<(Def, Name, Space), Option<Def>>,
    /// `methods`, none where there are none.
    pub(crate) methods: FxHashMap<(Def, Name), Option<Arc<[Def]>>>,
    /// As `methods`; where a type has none, those of its companions.
    pub(crate) called: FxHashMap<(Def, Name), Option<Arc<[Def]>>>,
    /// Functions of files that a name can mean in a file.
    pub(crate) in_sight: FxHashMap<(u32, Name), Arc<[Def]>>,
}

/// None for nothing.
pub(crate) fn some(found: Vec<Def>) -> Option<Arc<[Def]>> {
    (!found.is_empty()).then(|| found.into())
}

/// What a type itself declares under a name. Of several platforms that have a part of it, the one it was found on is asked
/// first.
pub(crate) fn own<'w>(world: &'w World<'_>, type_: Def, name: Name) -> impl Iterator<Item = Def> + use<'w> {
    let of_part = |part: Def| {
        let (file, id, _) = world.decl(part);
        let entries = world.scopes[file as usize].find(Scope::of(Some(id)), name);
        entries.iter().filter_map(move |it| match it.item {
            Item::Decl(decl) => Some(world.def(file, decl)),
            _ => None,
        })
    };
    let mut found = of_part(type_).peekable();
    if found.peek().is_none() {
        let others = world.hierarchy.parts(&type_).iter().filter(|it| **it != type_);
        let mut others = others.map(|it| of_part(*it).peekable());
        found = others.find_map(|mut it| it.peek().is_some().then_some(it)).unwrap_or(found);
    }
    found
}

/// A type and all project types above it, in the order in which members are looked for.
pub(crate) fn with_ancestors(world: &World<'_>, type_: Def) -> impl Iterator<Item = Def> {
    let above = world.hierarchy.ancestors(type_).iter().filter_map(|it| match it {
        Ancestor::Project(def) => Some(*def),
        _ => None,
    });
    std::iter::once(type_).chain(above)
}

/// The first member of some kind, from the type upwards.
pub(crate) fn first(
    world: &World<'_>,
    type_: Def,
    name: Name,
    wanted: impl Fn(NodeKind) -> bool,
) -> Option<Def> {
    with_ancestors(world, type_).find_map(|it| own(world, it, name).find(|it| wanted(world.kind(*it))))
}

pub(crate) fn is_field(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Field | NodeKind::Property | NodeKind::Const | NodeKind::Var | NodeKind::EnumMember
    )
}

pub(crate) fn field(world: &World<'_>, type_: Def, name: Name) -> Option<Def> {
    first(world, type_, name, is_field)
}

pub(crate) fn nested_type(world: &World<'_>, type_: Def, name: Name) -> Option<Def> {
    first(world, type_, name, NodeKind::is_type_like)
}

/// All methods of a name that a type has, those that are overridden left out.
pub(crate) fn methods(world: &World<'_>, dialect: &dyn Dialect, type_: Def, name: Name) -> Vec<Def> {
    collect_methods(world, dialect, with_ancestors(world, type_), name)
}

/// As `methods`, of what stands above a type.
pub(crate) fn inherited_methods(
    world: &World<'_>,
    dialect: &dyn Dialect,
    type_: Def,
    name: Name,
) -> Vec<Def> {
    collect_methods(world, dialect, with_ancestors(world, type_).skip(1), name)
}

fn collect_methods(
    world: &World<'_>,
    dialect: &dyn Dialect,
    types: impl Iterator<Item = Def>,
    name: Name,
) -> Vec<Def> {
    let plain = dialect.plain_types();
    let mut found: Vec<Def> = Vec::new();
    for type_ in types {
        let n_below = found.len();
        for def in own(world, type_, name) {
            let kind = world.kind(def);
            let is_method = kind.is_callable() && kind != NodeKind::Constructor;
            if is_method && !found[..n_below].iter().any(|it| overrides(world, *it, def, plain)) {
                found.push(def);
            }
        }
    }
    found
}

/// Whether a method of a type below takes what this one takes, as far as names tell. A type parameter above may be any
/// type below.
pub(crate) fn overrides(world: &World<'_>, below: Def, above: Def, plain: &[&str]) -> bool {
    let (file, _, decl) = world.decl(below);
    let (above_file, _, above_decl) = world.decl(above);
    let one = parameters(decl);
    let other = parameters(above_decl);
    one.len() == other.len()
        && one.iter().zip(&other).all(|(below_type, above_type)| match (below_type, above_type) {
            (Some(below_type), Some(above_type)) => {
                is_parameter_of(world, above, *above_type) && !is_plain(world, file, *below_type, plain)
                    || same_text(world, (file, *below_type), (above_file, *above_type))
            }
            _ => true,
        })
}

fn parameters(decl: &Decl) -> Vec<Option<TypeId>> {
    decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver).map(|it| it.type_).collect()
}

fn is_plain(world: &World<'_>, file: u32, type_: TypeId, plain: &[&str]) -> bool {
    let facts = world.found_in(file);
    matches!(facts.type_(type_), Type::Named { segments, .. }
        if matches!(segments[..], [only] if plain.contains(&facts.text(only))))
}

/// Whether a type is written as a type parameter of the method or of the types around it.
fn is_parameter_of(world: &World<'_>, method: Def, type_: TypeId) -> bool {
    let (file, id, _) = world.decl(method);
    let facts = world.found_in(file);
    let type_ = match facts.type_(type_) {
        Type::Sequence(of) => *of,
        _ => type_,
    };
    let Type::Named { segments, .. } = facts.type_(type_) else { return false };
    let [name] = segments[..] else { return false };
    let mut at = Some(id);
    while let Some(id) = at {
        let decl = facts.decl(id);
        if decl.type_parameters.iter().any(|it| it.name == name) {
            return true;
        }
        at = decl.owner;
    }
    false
}

/// Whether two types end in the same name: one file may write more of the path than the other.
pub(crate) fn same_text(world: &World<'_>, one: (u32, TypeId), other: (u32, TypeId)) -> bool {
    let (one_facts, other_facts) = (world.found_in(one.0), world.found_in(other.0));
    match (one_facts.type_(one.1), other_facts.type_(other.1)) {
        (Type::Named { segments: a, .. }, Type::Named { segments: b, .. }) => match (a.last(), b.last()) {
            (Some(a), Some(b)) => world.name(one.0, *a) == world.name(other.0, *b),
            _ => false,
        },
        (Type::Sequence(a), Type::Sequence(b)) => same_text(world, (one.0, *a), (other.0, *b)),
        (Type::Named { .. } | Type::Sequence(_), _) | (_, Type::Named { .. } | Type::Sequence(_)) => false,
        _ => true,
    }
}

/// Where a member is that no project type declares: with what is extended outside, with the root of all types, or
/// nowhere.
pub(crate) fn outside(ev: &Evaluator<'_>, dialect: &dyn Dialect, type_: Def, name: Name) -> Value {
    let world = ev.world;
    let text = world.text(name);
    let is_root = dialect.root_members().contains(&text);
    let mut unknown = false;
    let mut first: Option<&External> = None;
    for ancestor in world.hierarchy.ancestors(type_) {
        match ancestor {
            Ancestor::External(external) => {
                if first.is_none_or(|it| !dialect.standard(ev).declares(it, name))
                    && (first.is_none() || dialect.standard(ev).declares(external, name))
                {
                    first = Some(external);
                }
            }
            Ancestor::Unknown => unknown = true,
            Ancestor::Project(_) => {}
        }
    }
    match first {
        _ if is_root && first.is_none_or(|it| it.origin == Origin::StandardLibrary) => dialect
            .standard(ev)
            .external(dialect.root_type())
            .map_or(Value::ExternalResult, |it| Value::External(it.member(name))),
        Some(external) => Value::External(external.member(name)),
        // What is extended could not be found, so it is not of the project.
        None if unknown => Value::ExternalResult,
        None => Value::Missing,
    }
}

/// Whether a class that is extended lies outside of the project, and with it members nobody knows here. An interface
/// that is fulfilled, or one that a lambda could stand for, has none that are called by their bare names.
pub(crate) fn extends_outside(ev: &Evaluator<'_>, dialect: &dyn Dialect, type_: Def) -> bool {
    let world = ev.world;
    with_ancestors(world, type_).any(|it| {
        let (_, _, decl) = world.decl(it);
        decl.bases.iter().zip(world.hierarchy.direct(it)).any(|(base, ancestor)| {
            base.role == BaseRole::Extends
                && match ancestor {
                    Ancestor::Project(_) => false,
                    Ancestor::External(external) => dialect.standard(ev).function_arity(external).is_none(),
                    Ancestor::Unknown => true,
                }
        })
    })
}

/// A type's constructors, or the type itself where none is written. `Nothing` for an interface: what is made is a class
/// without a name.
pub(crate) fn constructors(world: &World<'_>, type_: Def, name: Name) -> Value {
    let all: Vec<Def> =
        own(world, type_, name).filter(|it| world.kind(*it) == NodeKind::Constructor).collect();
    if !all.is_empty() {
        return overloads(all);
    }
    match world.kind(type_) {
        NodeKind::Interface => Value::Nothing,
        _ => Value::Def(type_),
    }
}

/// What `super(...)` calls: a constructor of the class that is extended.
pub(crate) fn super_constructors(world: &World<'_>, type_: Def, name: Name) -> Value {
    let (_, _, decl) = world.decl(type_);
    for (base, ancestor) in decl.bases.iter().zip(world.hierarchy.direct(type_)) {
        if base.role != BaseRole::Extends {
            continue;
        }
        return match ancestor {
            Ancestor::Project(def) => constructors(world, *def, name),
            Ancestor::External(external) => Value::External(external.member(name)),
            Ancestor::Unknown => Value::ExternalResult,
        };
    }
    Value::ExternalResult
}

pub(crate) fn overloads(defs: Vec<Def>) -> Value {
    Value::Overloads(Arc::from(defs))
}

/// The one method an interface leaves open: what a lambda is.
pub(crate) fn functional_method(world: &World<'_>, type_: Def) -> Option<Def> {
    if world.kind(type_) != NodeKind::Interface {
        return None;
    }
    let mut found: Option<Def> = None;
    for type_ in with_ancestors(world, type_) {
        let (file, id, _) = world.decl(type_);
        for (index, decl) in world.facts(file).decls.iter().enumerate() {
            if decl.owner != Some(id)
                || decl.kind != NodeKind::Method
                || !decl.flags.contains(NodeFlags::ABSTRACT)
            {
                continue;
            }
            let def = world.def(file, knowing_model::facts::DeclId(index as u32));
            match found {
                Some(other) if overrides(world, other, def, &[]) => {}
                Some(_) => return None,
                None => found = Some(def),
            }
        }
    }
    found
}
