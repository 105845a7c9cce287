//! Names in namespaces: what is declared, brought in by `using`, and seen from a file; and where what is declared is
//! defined.

use std::sync::Arc;

use knowing_model::facts::{ImportKind, Modifiers, ParameterKind, Type, TypeId};
use knowing_model::{NodeFlags, NodeKind};

use super::spaces::{CppUnits, SpaceId};
use super::{Cpp, tables};
use crate::evaluate::{Evaluator, Frame, fits};
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::value::Value;
use crate::world::{Def, ModuleId, World};

/// How deep `using namespace` is followed.
const MAX_USINGS: u32 = 4;
/// How many of the files that include a header are asked for what it does not include itself.
const MAX_INCLUDERS: usize = 24;

/// Who sees what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    /// By its own includes.
    Own,
    /// By those of the files that include it.
    Includers,
    /// All of the project: where includes could not be followed.
    All,
}

impl Cpp {
    /// A name from a namespace outwards.
    pub(super) fn unqualified(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        from: SpaceId,
        name: Name,
        space: Space,
    ) -> Value {
        let units = &ev.world.modules.cpp;
        for sight in [Sight::Own, Sight::Includers, Sight::All] {
            // What the C library has too is that, unless it is seen.
            let is_standard = tables::header_of(ev.world.text(name)).is_some();
            if sight == Sight::All && (is_standard || !units.units.sees_outside(frame.file)) {
                break;
            }
            let mut at = Some(from);
            while let Some(here) = at {
                let found = self.in_space(ev, frame, (here, name, space), sight, 0);
                match found {
                    Value::Missing => {}
                    // What is not seen may be another thing of the name.
                    found if sight == Sight::All => return Value::join([found, Value::Unknown]),
                    found => return found,
                }
                at = units.parent(here);
            }
        }
        Value::Missing
    }

    /// `space::name`.
    pub(super) fn qualified(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        at: SpaceId,
        name: Name,
        space: Space,
    ) -> Value {
        for sight in [Sight::Own, Sight::Includers, Sight::All] {
            match self.in_space(ev, frame, (at, name, space), sight, 0) {
                Value::Missing => {}
                found if sight == Sight::All => return Value::join([found, Value::Unknown]),
                found => return found,
            }
        }
        Value::Missing
    }

    fn in_space(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        (at, name, space): (SpaceId, Name, Space),
        sight: Sight,
        depth: u32,
    ) -> Value {
        let world = ev.world;
        let units = &world.modules.cpp;
        let seen: Vec<Def> = units
            .declared(at, name)
            .iter()
            .copied()
            .filter(|it| is_seen(world, frame.file, *it, sight) && fits_space(world.kind(*it), space))
            .filter(|it| !is_shim(world, frame.file, *it, name))
            .collect();
        let found = chosen(world, &seen, space);
        if found != Value::Missing {
            return found;
        }
        if space == Space::Type
            && let Some(child) = units.child(at, name)
        {
            return Value::Module(ModuleId(child.0));
        }
        if depth >= MAX_USINGS || !ev.enter() {
            return Value::Missing;
        }
        let found = self.by_using(ev, frame, (at, name, space), sight, depth);
        ev.leave();
        found
    }

    fn by_using(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        (at, name, space): (SpaceId, Name, Space),
        sight: Sight,
        depth: u32,
    ) -> Value {
        let world = ev.world;
        let mut found: Vec<Value> = Vec::new();
        for &(file, index) in world.modules.cpp.usings(at) {
            if !file_is_seen(world, frame.file, file, sight) {
                continue;
            }
            let import = &world.facts(file).imports[index as usize];
            let there = Frame::in_file(frame, file);
            let value = match import.kind {
                ImportKind::Wildcard => match self.import_path(ev, there, import) {
                    Value::Module(module) if module.0 != at.0 => {
                        let inner = SpaceId(module.0);
                        self.in_space(ev, frame, (inner, name, space), sight, depth + 1)
                    }
                    _ => continue,
                },
                ImportKind::Module { alias } | ImportKind::Member { alias, .. } => {
                    if world.name(file, alias) != name {
                        continue;
                    }
                    self.imported_value(ev, there, import, space)
                }
                ImportKind::TopModule => continue,
            };
            if value.is_known() && !found.contains(&value) {
                found.push(value);
            }
        }
        if found.is_empty() { Value::Missing } else { Value::join(found) }
    }
}

fn file_is_seen(world: &World<'_>, file: u32, other: u32, sight: Sight) -> bool {
    let units = &world.modules.cpp.units;
    match sight {
        Sight::Own => units.sees(file, other),
        Sight::Includers => {
            units.includers(file).iter().take(MAX_INCLUDERS).any(|includer| units.sees(*includer, other))
        }
        Sight::All => true,
    }
}

fn is_seen(world: &World<'_>, file: u32, def: Def, sight: Sight) -> bool {
    if sight != Sight::All {
        return file_is_seen(world, file, world.file_of(def), sight);
    }
    let (there, _, decl) = world.decl(def);
    let from_test = world.flags(file).contains(NodeFlags::TEST);
    // Nothing is seen of another file but what is linked, and nothing but functions of one that nobody includes; and of
    // tests nothing by others.
    let is_function = decl.kind.is_callable() && decl.kind != NodeKind::Macro;
    let is_within_sight = there == file
        || decl.modifiers.contains(Modifiers::PUBLIC)
            && (is_function || !world.modules.cpp.units.includers(there).is_empty());
    is_within_sight && (from_test || !world.is_test_code(def))
}

/// A macro that gives another system what this one has: `#define strcasecmp stricmp` in a header.
fn is_shim(world: &World<'_>, file: u32, def: Def, name: Name) -> bool {
    world.kind(def) == NodeKind::Macro
        && world.file_of(def) != file
        && tables::header_of(world.text(name)).is_some()
}

fn fits_space(kind: NodeKind, space: Space) -> bool {
    match space {
        // To the preprocessor all names are alike.
        Space::Value => true,
        _ => fits(kind, space),
    }
}

/// Of several declarations of one name the one that is meant, or the overloads that arguments tell apart.
fn chosen(world: &World<'_>, seen: &[Def], space: Space) -> Value {
    let of_kind = |wanted: fn(NodeKind) -> bool| -> Vec<Def> {
        seen.iter().copied().filter(|it| wanted(world.kind(*it))).collect()
    };
    if space == Space::Type {
        return chosen_type(world, seen);
    }
    // A function goes before a macro of its name, which wraps it or stands in for it where it is not.
    let functions = of_kind(|it| it.is_callable() && it != NodeKind::Macro);
    if space != Space::Macro && !functions.is_empty() {
        return overloads(world, &functions);
    }
    let macros = of_kind(|it| it == NodeKind::Macro);
    if !macros.is_empty() {
        return first_of_one_file(world, &macros);
    }
    if space == Space::Macro {
        return Value::Missing;
    }
    let values = of_kind(|it| !it.is_type_like());
    if !values.is_empty() {
        // `extern int x;` and `int x;` are one variable.
        let defined: Vec<Def> = values
            .iter()
            .copied()
            .filter(|it| !world.decl(*it).2.modifiers.contains(Modifiers::DECLARED))
            .collect();
        return match defined.is_empty() {
            true => Value::Def(values[0]),
            false => first_of_one_file(world, &defined),
        };
    }
    chosen_type(world, seen)
}

/// A type with a body goes before an alias of its name.
fn chosen_type(world: &World<'_>, seen: &[Def]) -> Value {
    let (aliases, types): (Vec<Def>, Vec<Def>) = seen
        .iter()
        .copied()
        .filter(|it| world.kind(*it).is_type_like())
        .partition(|it| world.kind(*it) == NodeKind::TypeAlias);
    if types.is_empty() { first_of_one_file(world, &aliases) } else { first_of_one_file(world, &types) }
}

/// Declarations of one name in one file are conditional ones, or a template and its specialisations: the first stands
/// for all of them, with doubt where it is no template. In several files, nobody knows.
fn first_of_one_file(world: &World<'_>, defs: &[Def]) -> Value {
    match defs {
        [] => Value::Missing,
        [one] => Value::Def(*one),
        [first, rest @ ..] => {
            let file = world.file_of(*first);
            if rest.iter().any(|it| world.file_of(*it) != file) {
                return Value::OneOf(defs.iter().take(8).map(|it| Value::Def(*it)).collect());
            }
            if world.kind(*first).is_type_like() {
                return Value::Def(*first);
            }
            Value::OneOf([Value::Def(*first), Value::Unknown].into())
        }
    }
}

/// One declaration for each list of parameters: the first, which has the defaults if any has. What is defined twice, or
/// declared twice in one class, is conditional or differs in `const`: in one file the first stands for both, with doubt.
pub(super) fn overloads(world: &World<'_>, defs: &[Def]) -> Value {
    let mut kept: Vec<Def> = Vec::new();
    let is_cpp = defs.iter().any(|it| world.language(world.file_of(*it)) == "cpp");
    for def in defs {
        let known = kept.iter_mut().find(|it| !is_cpp || same_parameters(world, **it, *def));
        match known {
            Some(other) => {
                if n_defaults(world, *def) > n_defaults(world, *other) {
                    *other = *def;
                }
            }
            None => kept.push(*def),
        }
    }
    match kept[..] {
        [] => Value::Missing,
        [one] => {
            let are_members = world.decl(one).2.kind != NodeKind::Function;
            let is_declared = |it: &Def| world.decl(*it).2.modifiers.contains(Modifiers::DECLARED);
            let rivals: Vec<Def> =
                defs.iter().copied().filter(|it| are_members || !is_declared(it)).collect();
            match rivals[..] {
                [_, _, ..] => first_of_one_file(world, &rivals),
                _ => Value::Def(one),
            }
        }
        _ => Value::Overloads(Arc::from(kept)),
    }
}

fn n_defaults(world: &World<'_>, def: Def) -> usize {
    world.decl(def).2.parameters.iter().filter(|it| it.default.is_some()).count()
}

/// Whether two declarations take the same: by number, and by the last words of their types.
pub(super) fn same_parameters(world: &World<'_>, one: Def, other: Def) -> bool {
    let (one_file, _, one) = world.decl(one);
    let (other_file, _, other) = world.decl(other);
    one.parameters.len() == other.parameters.len()
        && one.parameters.iter().zip(&other.parameters).all(|(one, other)| {
            (one.kind == ParameterKind::Rest) == (other.kind == ParameterKind::Rest)
                && match (one.type_, other.type_) {
                    (Some(one), Some(other)) => same_type(world, (one_file, one), (other_file, other), 0),
                    _ => true,
                }
        })
}

fn same_type(world: &World<'_>, one: (u32, TypeId), other: (u32, TypeId), depth: u32) -> bool {
    let (left, right) = (world.found_in(one.0).type_(one.1), world.found_in(other.0).type_(other.1));
    match (left, right) {
        (
            Type::Named { segments: left, arguments: left_arguments, .. },
            Type::Named { segments: right, arguments: right_arguments, .. },
        ) => {
            let last = |file: u32, segments: &[knowing_model::facts::Str]| {
                segments.last().map(|it| world.name(file, *it))
            };
            last(one.0, left) == last(other.0, right)
                && (depth > 4
                    || left_arguments.len() == right_arguments.len()
                        && left_arguments.iter().zip(right_arguments).all(|(left, right)| {
                            same_type(world, (one.0, *left), (other.0, *right), depth + 1)
                        }))
        }
        (Type::Sequence(left), Type::Sequence(right)) => {
            depth > 4 || same_type(world, (one.0, *left), (other.0, *right), depth + 1)
        }
        (Type::Function(_), Type::Function(_)) | (Type::Unknown, Type::Unknown) => true,
        _ => false,
    }
}

/// Where what is declared is defined: by the rule of one definition, if there is one.
pub(super) fn definition(world: &World<'_>, from: u32, def: Def) -> Def {
    let (file, _, decl) = world.decl(def);
    if !decl.modifiers.contains(Modifiers::DECLARED) {
        return def;
    }
    let name = world.name(file, decl.name);
    let is_callable = decl.kind.is_callable();
    let fits = |it: &Def| {
        let (_, _, other) = world.decl(*it);
        !other.modifiers.contains(Modifiers::DECLARED) && other.kind.is_callable() == is_callable
    };
    let units: &CppUnits = &world.modules.cpp;
    let class = world.hierarchy.owner_type(world, def).filter(|it| world.kind(*it) != NodeKind::Module);
    let mut found: Vec<Def> = match class {
        Some(class) => world.hierarchy.impl_members(class, name).iter().copied().filter(fits).collect(),
        None => {
            let space = space_of_type(world, def);
            let is_linked = |it: &Def| {
                let (there, _, other) = world.decl(*it);
                there == file || there == from || other.modifiers.contains(Modifiers::PUBLIC)
            };
            units.declared(space, name).iter().copied().filter(fits).filter(is_linked).collect()
        }
    };
    if is_callable && found.len() > 1 {
        let is_cpp = found.iter().any(|it| world.language(world.file_of(*it)) == "cpp");
        if is_cpp {
            let same: Vec<Def> =
                found.iter().copied().filter(|it| same_parameters(world, *it, def)).collect();
            found = match same.is_empty() {
                true => {
                    let n = decl.parameters.len();
                    found.into_iter().filter(|it| world.decl(*it).2.parameters.len() == n).collect()
                }
                false => same,
            };
        }
    } else if let [one] = found[..]
        && is_callable
        && world.decl(one).2.parameters.len() != decl.parameters.len()
        && !decl.parameters.is_empty()
    {
        // Another overload; this one is defined elsewhere.
        return def;
    }
    let from_test = world.flags(from).contains(NodeFlags::TEST);
    let is_production = |it: &Def| !world.is_test_code(*it);
    if found.len() > 1 || !from_test {
        let production: Vec<Def> = found.iter().copied().filter(is_production).collect();
        if !production.is_empty() || !from_test && !world.is_test_code(def) {
            found = production;
        }
    }
    if found.len() > 1 {
        // The one whose file sees this declaration, or the one in this very file.
        let near: Vec<Def> = found.iter().copied().filter(|it| world.file_of(*it) == from).collect();
        found = match near.is_empty() {
            true => found.into_iter().filter(|it| units.units.sees(world.file_of(*it), file)).collect(),
            false => near,
        };
    }
    match found[..] {
        [one] => one,
        _ => def,
    }
}

/// Namespaces from the one around a declaration outwards.
pub(super) fn space_of_type(world: &World<'_>, type_: Def) -> SpaceId {
    let (file, _, decl) = world.decl(type_);
    let units = &world.modules.cpp;
    match decl.owner {
        Some(owner) => units.space_around(world, file, Some(owner)),
        None => units.opened_at(file, decl.range.from),
    }
}
