//! Written types as values: instances, aliases, types without a name, type parameters and what stands for them.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Str, Type, TypeParameter};

use super::{Go, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::{CallSite, Rules};
use crate::names::Name;
use crate::value::{Arguments, External, Origin, Value};
use crate::world::Def;

impl Go {
    /// `map[K]V`, `chan T`, `struct { ... }`.
    pub(super) fn unnamed(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        segments: &[Str],
        arguments: &[Value],
    ) -> Option<Value> {
        let world = ev.world;
        let first = world.name(frame.file, *segments.first()?);
        match world.text(first) {
            "map" => Some(standard::instance(ev, "map", arguments)),
            "chan" => Some(Value::Awaitable(arguments.first().cloned().unwrap_or(Value::Unknown).into())),
            "struct" => {
                let path: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
                let external = External::new(Origin::StandardLibrary, &path);
                Some(Value::ExternalInstance(external, arguments.into()))
            }
            _ => None,
        }
    }

    /// A value of a named type.
    pub(super) fn instance_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        entity: &Value,
        arguments: &[Value],
    ) -> Value {
        let world = ev.world;
        match entity {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::TypeAlias => {
                    let (file, id, alias) = world.decl(*def);
                    match alias.type_ {
                        Some(type_) if ev.enter() => {
                            let value = ev.typed(Frame::in_file(frame, file), Some(id), type_);
                            ev.leave();
                            substituted(ev, &value, &names_of(ev, file, &alias.type_parameters), arguments)
                        }
                        _ => Value::Unknown,
                    }
                }
                kind if kind.is_type_like() => Value::Instance(*def, arguments.into()),
                _ => Value::Unknown,
            },
            Value::External(external) => {
                if standard::is_builtin(ev, external, "any") {
                    return Value::Unknown;
                }
                Value::ExternalInstance(external.clone(), arguments.into())
            }
            // Type parameters are values already.
            Value::Instance(..) | Value::ExternalInstance(..) | Value::Bounded(_) => entity.clone(),
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    /// What `type Name ...` is made of.
    pub(super) fn underlying(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        def: Def,
        arguments: &Arguments,
    ) -> Value {
        let world = ev.world;
        let (file, id, decl) = world.decl(def);
        if decl.kind != NodeKind::Type {
            return Value::Unknown;
        }
        let Some(type_) = decl.type_ else { return Value::Unknown };
        if !ev.enter() {
            return Value::Unknown;
        }
        let value = ev.typed(Frame::in_file(frame, file), Some(id), type_);
        let value = match &value {
            Value::Instance(inner, arguments) if *inner != def => {
                match self.underlying(ev, frame, *inner, arguments) {
                    Value::Unknown => value.clone(),
                    further => further,
                }
            }
            _ => value,
        };
        ev.leave();
        substituted(ev, &value, &names_of(ev, file, &decl.type_parameters), arguments)
    }

    /// A type parameter of a declaration around: a value that knows its name, and what its bounds are.
    pub(super) fn type_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let decl = facts.decl(id);
            let own = decl.type_parameters.iter().find(|it| world.name(frame.file, it.name) == name);
            if let Some(parameter) = own {
                return Some(self.parameter(ev, frame, decl.owner, name, parameter));
            }
            if let Some(block) = decl.implementation.map(|it| &facts.impls[it.index()])
                && let Some(index) =
                    block.type_parameters.iter().position(|it| world.name(frame.file, it.name) == name)
            {
                // The bounds stand at the type.
                if let Value::Def(type_) = self.type_entity(ev, frame, None, block.type_) {
                    let (file, _, declared) = world.decl(type_);
                    if let Some(parameter) = declared.type_parameters.get(index) {
                        return Some(self.parameter(ev, Frame::in_file(frame, file), None, name, parameter));
                    }
                }
                return Some(self.parameter(ev, frame, None, name, &block.type_parameters[index]));
            }
            at = decl.owner;
        }
        None
    }

    fn parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        parameter: &TypeParameter,
    ) -> Value {
        let Some(word) = ev.world.names.find("type parameter") else { return Value::Unknown };
        let mut bounds = vec![Value::External(External::new(Origin::StandardLibrary, &[word, name]))];
        if ev.enter() {
            for bound in &parameter.bounds {
                match ev.world.found_in(frame.file).type_(*bound) {
                    Type::Bounds(parts) => {
                        bounds.extend(parts.iter().map(|it| self.type_entity(ev, frame, decl, *it)));
                    }
                    _ => bounds.push(self.type_entity(ev, frame, decl, *bound)),
                }
            }
            ev.leave();
        }
        Value::Bounded(bounds.into())
    }

    /// The result of a method, with what its receiver says in the place of type parameters. What is still open then is
    /// not known to the caller.
    pub(super) fn with_arguments_of_receiver(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        callee: Def,
        site: CallSite,
        result: Value,
    ) -> Value {
        if !is_open(ev, &result, 0) {
            return result;
        }
        let world = ev.world;
        let (file, _, decl) = world.decl(callee);
        let mut result = result;
        if let Some(owner) = world.hierarchy.owner_type(world, callee) {
            let arguments = match self.called_on(ev, frame, site) {
                Value::Instance(type_, arguments) => self.arguments_for(ev, frame, type_, &arguments, owner),
                _ => None,
            };
            let names = self.names_at(ev, callee, owner);
            let arguments = arguments.unwrap_or_else(|| vec![Value::Unknown; names.len()].into());
            result = substituted(ev, &result, &names, &arguments);
        }
        let own = names_of(ev, file, &decl.type_parameters);
        let unknown = vec![Value::Unknown; own.len()];
        substituted(ev, &result, &own, &unknown)
    }

    /// The type arguments that a value gives to a type it is of, or that it embeds.
    fn arguments_for(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        type_: Def,
        arguments: &Arguments,
        wanted: Def,
    ) -> Option<Arguments> {
        let world = ev.world;
        let mut all = vec![(type_, arguments.clone())];
        let mut at = 0;
        while at < all.len() && all.len() < MAX_EMBEDDED {
            let (type_, arguments) = all[at].clone();
            at += 1;
            if type_ == wanted {
                return (!arguments.is_empty()).then_some(arguments);
            }
            let (file, id, decl) = world.decl(type_);
            let names = names_of(ev, file, &decl.type_parameters);
            for base in &decl.bases {
                let embedded = ev.typed(Frame::in_file(frame, file), Some(id), base.type_);
                if let Value::Instance(inner, given) = substituted(ev, &embedded, &names, &arguments)
                    && !all.iter().any(|it| it.0 == inner)
                {
                    all.push((inner, given));
                }
            }
        }
        None
    }

    /// What a member's declaration calls the type parameters of its type.
    pub(super) fn names_at(&self, ev: &Evaluator<'_>, member: Def, type_: Def) -> Vec<Name> {
        let world = ev.world;
        let (file, _, decl) = world.decl(member);
        match decl.implementation {
            Some(id) => names_of(ev, file, &world.found_in(file).impls[id.index()].type_parameters),
            None => {
                let (file, _, declared) = world.decl(type_);
                names_of(ev, file, &declared.type_parameters)
            }
        }
    }
}

pub(super) fn names_of(ev: &Evaluator<'_>, file: u32, parameters: &[TypeParameter]) -> Vec<Name> {
    parameters.iter().map(|it| ev.world.name(file, it.name)).collect()
}

/// The name of the type parameter that a value is of.
pub(super) fn parameter_name(ev: &Evaluator<'_>, bounds: &[Value]) -> Option<Name> {
    match bounds.first()? {
        Value::External(external) => match external.path[..] {
            [word, name] if ev.world.text(word) == "type parameter" => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Deeper than types are written.
const MAX_DEPTH: usize = 8;

/// More types than anybody embeds in one.
const MAX_EMBEDDED: usize = 64;

/// Whether a type parameter stands somewhere in a value.
pub(super) fn is_open(ev: &Evaluator<'_>, value: &Value, depth: usize) -> bool {
    let any = |values: &[Value]| values.iter().any(|it| is_open(ev, it, depth + 1));
    if depth > MAX_DEPTH {
        return false;
    }
    match value {
        Value::Bounded(bounds) => parameter_name(ev, bounds).is_some(),
        Value::Instance(_, arguments) | Value::ExternalInstance(_, arguments) => any(arguments),
        Value::Tuple(items) | Value::OneOf(items) => any(items),
        Value::Iterable(inner) | Value::Function(inner) | Value::Awaitable(inner) => {
            is_open(ev, inner, depth + 1)
        }
        _ => false,
    }
}

/// A value with arguments in the place of type parameters, as far as there are any.
pub(super) fn substituted(ev: &Evaluator<'_>, value: &Value, names: &[Name], arguments: &[Value]) -> Value {
    if names.is_empty() || arguments.is_empty() || !is_open(ev, value, 0) {
        return value.clone();
    }
    let all = |values: &[Value]| -> Arguments {
        values.iter().map(|it| substituted(ev, it, names, arguments)).collect::<Vec<_>>().into()
    };
    let one = |value: &Value| substituted(ev, value, names, arguments).into();
    match value {
        Value::Bounded(bounds) => {
            let name = parameter_name(ev, bounds);
            let index = name.and_then(|name| names.iter().position(|it| *it == name));
            index.and_then(|it| arguments.get(it)).cloned().unwrap_or_else(|| value.clone())
        }
        Value::Instance(def, inner) => Value::Instance(*def, all(inner)),
        Value::ExternalInstance(external, inner) => Value::ExternalInstance(external.clone(), all(inner)),
        Value::Tuple(items) => Value::Tuple(all(items)),
        Value::OneOf(items) => Value::join(items.iter().map(|it| substituted(ev, it, names, arguments))),
        Value::Iterable(inner) => Value::Iterable(one(inner)),
        Value::Function(inner) => Value::Function(one(inner)),
        Value::Awaitable(inner) => Value::Awaitable(one(inner)),
        other => other.clone(),
    }
}
