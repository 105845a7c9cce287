//! Written types as values, the type around a declaration, and which value can be passed where.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Type, TypeId, TypeParameter};

use super::lookup::space_of_type;
use super::members::constructors;
use super::{Cpp, standard, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{Fit, Rules, Space};
use crate::names::Name;
use crate::overloads;
use crate::value::{Arguments, External, Origin, Value};
use crate::world::{Def, ModuleId, World};

impl Cpp {
    pub(super) fn named(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        let world = ev.world;
        let Type::Named { segments, at, .. } = world.found_in(frame.file).type_(type_) else {
            return Value::Unknown;
        };
        let mut segments = segments.iter().map(|it| world.name(frame.file, *it));
        let Some(first) = segments.next() else { return Value::Unknown };
        let mut value = if world.text(first).is_empty() {
            Value::Module(ModuleId(0))
        } else {
            ev.name(frame, decl, first, *at, Space::Type)
        };
        for segment in segments {
            value = value.map(|it| self.scoped(ev, frame, it, segment, Space::Type));
        }
        value
    }

    pub(super) fn instance_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        entity: &Value,
        arguments: Vec<Value>,
    ) -> Value {
        let world = ev.world;
        match entity {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::TypeAlias => {
                    let (file, id, alias) = world.decl(*def);
                    let Some(type_) = alias.type_ else { return Value::Unknown };
                    if self.names_itself(ev, file, id, type_) {
                        return self.defined_elsewhere(ev, *def);
                    }
                    if !ev.enter() {
                        return Value::Unknown;
                    }
                    let value = ev.typed(Frame::in_file(frame, file), alias.owner, type_);
                    ev.leave();
                    value
                }
                NodeKind::Trait => Value::Unknown,
                kind if kind.is_type_like() => Value::Instance(*def, arguments.into()),
                _ => Value::Unknown,
            },
            Value::External(external) => outside_instance(ev, external, &arguments.into()),
            // A member type of an alias, with what the alias puts in.
            Value::ExternalInstance(external, own) => outside_instance(ev, external, own),
            _ => Value::Unknown,
        }
    }

    /// `typedef struct x x;`
    fn names_itself(&self, ev: &Evaluator<'_>, file: u32, alias: DeclId, type_: TypeId) -> bool {
        let facts = ev.world.facts(file);
        matches!(facts.type_(type_), Type::Named { segments, .. }
            if matches!(segments.as_slice(), [only] if *only == facts.decl(alias).name))
    }

    /// The struct that such an alias is of, wherever it is, if there is one.
    fn defined_elsewhere(&self, ev: &Evaluator<'_>, alias: Def) -> Value {
        let world = ev.world;
        let (file, _, decl) = world.decl(alias);
        let name = world.name(file, decl.name);
        let units = &world.modules.cpp;
        let space = space_of_type(world, alias);
        let is_type = |it: &&Def| {
            let kind = world.kind(**it);
            kind.is_type_like() && kind != NodeKind::TypeAlias
        };
        let mut found = units.declared(space, name).iter().filter(is_type);
        match (found.next(), found.next()) {
            (Some(one), None) => Value::instance(*one),
            _ => Value::Unknown,
        }
    }

    /// The class whose member a declaration is, or stands in.
    pub(super) fn class_around(&self, ev: &Evaluator<'_>, file: u32, decl: Option<DeclId>) -> Option<Def> {
        let world = ev.world;
        let facts = world.facts(file);
        let mut at = decl;
        while let Some(id) = at {
            let around = facts.decl(id);
            if around.kind.is_type_like() && around.kind != NodeKind::Module {
                return Some(world.def(file, id));
            }
            if around.implementation.is_some() {
                return world.hierarchy.owner_type(world, world.def(file, id));
            }
            at = around.owner;
        }
        None
    }

    /// Whether a name is a parameter of a template around.
    pub(super) fn is_type_parameter(
        &self,
        ev: &Evaluator<'_>,
        file: u32,
        decl: Option<DeclId>,
        name: Name,
    ) -> bool {
        let world = ev.world;
        let facts = world.facts(file);
        let is_it = |it: &TypeParameter| world.name(file, it.name) == name;
        let mut at = decl;
        while let Some(id) = at {
            let around = facts.decl(id);
            let implementation = around.implementation.map(|it| &facts.impls[it.index()]);
            if around.type_parameters.iter().any(is_it)
                || implementation.is_some_and(|it| it.type_parameters.iter().any(is_it))
            {
                return true;
            }
            at = around.owner;
        }
        false
    }

    pub(super) fn fit(&self, ev: &mut Evaluator<'_>, value: &Value, target: &Value) -> Fit {
        match (value, target) {
            (value, target) if is_argument_list(ev, target) => match value {
                Value::Unknown => Fit::Unknown,
                value if is_argument_list(ev, value) => Fit::Plain,
                _ => Fit::No,
            },
            (Value::Iterable(one), Value::Iterable(other)) => match plain_fit(ev, one, other) {
                // Pointers are not converted, save to `void *` and between those of the language.
                Fit::Converted if !is_primitive(other) => Fit::No,
                fit => fit,
            },
            // `&x` is seen as `x`.
            (one, Value::Iterable(other)) => match plain_fit(ev, one, other) {
                Fit::Plain => Fit::Plain,
                Fit::Unknown => Fit::Unknown,
                _ => Fit::No,
            },
            (Value::Iterable(_), Value::Instance(class, _)) => {
                if takes_one(ev, *class) {
                    Fit::Converted
                } else {
                    Fit::No
                }
            }
            (Value::Iterable(inner), Value::ExternalInstance(external, _)) => {
                if is_word(external) {
                    Fit::No
                } else if is_primitive(inner) {
                    Fit::Converted
                } else {
                    Fit::Unknown
                }
            }
            (one, other) => plain_fit(ev, one, other),
        }
    }
}

fn outside_instance(ev: &Evaluator<'_>, external: &External, arguments: &Arguments) -> Value {
    standard::member_type(ev, external, arguments)
        .unwrap_or_else(|| Value::ExternalInstance(external.clone(), arguments.clone()))
}

/// `va_list`: nothing else becomes one, and nobody gives one back.
fn is_argument_list(ev: &Evaluator<'_>, value: &Value) -> bool {
    matches!(value, Value::ExternalInstance(external, _) if standard::type_name(ev, external) == "va_list")
}

fn plain_fit(ev: &Evaluator<'_>, value: &Value, target: &Value) -> Fit {
    let world = ev.world;
    match (value, target) {
        (Value::Iterable(one), Value::Iterable(other)) => plain_fit(ev, one, other),
        (Value::Instance(one, _), Value::Instance(other, _)) => {
            if world.hierarchy.is_below(*one, *other) {
                Fit::Plain
            } else if is_convertible(ev, *one) || takes_one(ev, *other) {
                Fit::Converted
            } else {
                Fit::No
            }
        }
        (Value::ExternalInstance(one, _), Value::ExternalInstance(other, _)) => {
            let is_standard = one.origin == Origin::StandardLibrary;
            match (one == other, is_word(one), is_word(other)) {
                (true, _, _) => Fit::Plain,
                (_, true, true) => Fit::Converted,
                // A string is no number.
                (_, false, true) if is_standard => Fit::No,
                _ => Fit::Unknown,
            }
        }
        (Value::ExternalInstance(..), Value::Instance(class, _)) => {
            if takes_one(ev, *class) {
                Fit::Converted
            } else {
                Fit::No
            }
        }
        (Value::Instance(class, _), Value::ExternalInstance(external, _)) => {
            if is_convertible(ev, *class) {
                Fit::Converted
            } else if external.origin == Origin::StandardLibrary {
                Fit::No
            } else {
                Fit::Unknown
            }
        }
        _ => Fit::Unknown,
    }
}

/// `int`, `char` and the like: types of one word that nobody declares.
fn is_word(external: &External) -> bool {
    external.path.len() == 1 && external.origin == Origin::StandardLibrary
}

fn is_primitive(value: &Value) -> bool {
    matches!(value, Value::ExternalInstance(external, _) if is_word(external))
}

/// Whether another value can become one of this class: a constructor takes it, or not all of the class is known.
fn takes_one(ev: &Evaluator<'_>, class: Def) -> bool {
    let world = ev.world;
    let has_unknown_base =
        world.hierarchy.ancestors(class).iter().any(|it| !matches!(it, Ancestor::Project(_)));
    has_unknown_base
        || constructors(world, class)
            .iter()
            .any(|it| overloads::n_parameters(world, *it).contains(&1) && !is_copy(world, class, *it))
}

/// A constructor from a value of the same class.
fn is_copy(world: &World<'_>, class: Def, constructor: Def) -> bool {
    let (file, _, decl) = world.decl(constructor);
    let (class_file, _, class) = world.decl(class);
    let [only] = decl.parameters.as_slice() else { return false };
    match only.type_.map(|it| world.found_in(file).type_(it)) {
        Some(Type::Named { segments, .. }) => {
            segments.last().is_some_and(|it| world.name(file, *it) == world.name(class_file, class.name))
        }
        _ => false,
    }
}

/// Whether a class may become another type: it says how, or not all of it is known.
fn is_convertible(ev: &Evaluator<'_>, class: Def) -> bool {
    let world = ev.world;
    let (file, id, _) = world.decl(class);
    let facts = world.facts(file);
    let is_enum = world.kind(class) == NodeKind::Enum;
    let is_unknown = world.hierarchy.ancestors(class).iter().any(|it| !matches!(it, Ancestor::Project(_)));
    let converts = || {
        facts.decls[id.index()..]
            .iter()
            .any(|it| it.owner == Some(id) && facts.text(it.name).starts_with("operator "))
    };
    is_enum || is_unknown || converts()
}

pub(super) fn is_builtin(name: &str) -> bool {
    tables::BUILTIN_TYPES.binary_search(&name).is_ok()
        || name.contains(' ')
        || name.ends_with("_t") && tables::C_TYPES.binary_search(&name).is_ok()
}
