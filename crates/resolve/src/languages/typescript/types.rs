//! Written types as values: instances, aliases, type parameters, what the language knows about containers.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Type, TypeId};
use rustc_hash::FxHashMap;

use super::{TypeScript, builtin_name, instance_of_builtin};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::value::Value;
use crate::world::Def;

/// What aliases stand for: the same ones are asked for again and again, and some of them speak of themselves.
#[derive(Default)]
pub(crate) struct Aliases {
    /// As they are seen from a frame.
    known: FxHashMap<(Frame, Def), Vec<Expanded>>,
    /// Those that are being expanded, outermost first.
    open: Vec<Def>,
    /// How often one was not expanded again inside of itself.
    n_cut: usize,
}

struct Expanded {
    arguments: Box<[Value]>,
    value: Value,
}

/// How often an alias is expanded inside of itself: `type Json = string | Json[]` holds lists of lists.
const MAX_INSIDE_ITSELF: usize = 2;

/// Type arguments with which an alias is remembered.
const MAX_REMEMBERED: usize = 8;

impl TypeScript {
    /// The declaration a path of names means where types are written.
    pub(super) fn named_type(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        names: &[Name],
        at: u32,
    ) -> Value {
        let Some((first, rest)) = names.split_first() else { return Value::Unknown };
        let mut value = ev.name(frame, decl, *first, at, Space::Type);
        if !value.is_known() {
            // A class that a variable or parameter holds.
            let held = ev.name(frame, decl, *first, at, Space::Value);
            value = match ev.settled(frame, &held) {
                Value::Def(def) if ev.world.kind(def).is_type_like() => Value::Def(def),
                Value::Module(module) => Value::Module(module),
                Value::External(external) => Value::External(external),
                _ => value,
            };
        }
        for name in rest {
            value = match &value {
                Value::Module(module) => self.module_member(ev, frame, module.0, *name, Space::Type),
                Value::Def(def) if ev.world.kind(*def) == NodeKind::Module => {
                    self.space_member(ev, frame, *def, *name, Space::Type)
                }
                Value::Def(def) => match self.static_member(ev, frame, *def, *name) {
                    Value::Def(found) => Value::Def(found),
                    _ => Value::Unknown,
                },
                Value::External(external) => Value::External(external.member(*name)),
                _ => Value::Unknown,
            };
        }
        value
    }

    /// The declaration a path of names means as a value: `typeof a.b`.
    pub(super) fn named_value(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        names: &[Name],
        at: u32,
    ) -> Value {
        let Some((first, rest)) = names.split_first() else { return Value::Unknown };
        let mut value = ev.name(frame, decl, *first, at, Space::Value);
        for name in rest {
            let of = ev.settled(frame, &value);
            value = ev.member(frame, &of, *name);
        }
        value
    }

    /// A type parameter of a declaration around: a value that fulfils its bounds.
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
            let parameter = decl.type_parameters.iter().find(|it| world.name(frame.file, it.name) == name);
            if let Some(parameter) = parameter {
                if !ev.enter() {
                    return Some(Value::Unknown);
                }
                let bounds: Vec<Value> = parameter
                    .bounds
                    .iter()
                    .map(|it| match facts.type_(*it) {
                        // `T extends T`
                        Type::Named { segments, .. } if segments[..] == [parameter.name] => Value::Unknown,
                        _ => ev.typed(frame, decl.owner, *it),
                    })
                    .collect();
                ev.leave();
                return Some(Value::Bounded(bounds.into()));
            }
            at = decl.owner;
        }
        None
    }

    /// What a written type says a value is; `bound` says what type parameters stand for.
    pub(super) fn typed_with(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        bound: &[(Name, Value)],
    ) -> Value {
        if !ev.enter() {
            return Value::Unknown;
        }
        let value = self.typed_inside(ev, frame, decl, type_, bound);
        ev.leave();
        value
    }

    fn typed_inside(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        bound: &[(Name, Value)],
    ) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        match facts.type_(type_) {
            Type::Named { segments, arguments, at } => {
                if let [only] = segments[..] {
                    let name = world.name(frame.file, only);
                    if let Some((_, value)) = bound.iter().find(|(it, _)| *it == name) {
                        return value.clone();
                    }
                    if let Some(value) = self.predefined(ev, frame, decl, world.text(name)) {
                        return value;
                    }
                }
                let names: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
                let entity = self.named_type(ev, frame, decl, &names, *at);
                let arguments: Vec<Value> =
                    arguments.iter().map(|it| self.typed_with(ev, frame, decl, *it, bound)).collect();
                entity.map(|it| self.instance_of(ev, frame, it, &arguments))
            }
            Type::Union(types) => {
                let values: Vec<Value> =
                    types.iter().map(|it| self.typed_with(ev, frame, decl, *it, bound)).collect();
                Value::join(values)
            }
            Type::Bounds(types) => {
                let values: Vec<Value> =
                    types.iter().map(|it| self.typed_with(ev, frame, decl, *it, bound)).collect();
                Value::Bounded(values.into())
            }
            Type::Tuple(types) => {
                let values: Vec<Value> =
                    types.iter().map(|it| self.typed_with(ev, frame, decl, *it, bound)).collect();
                Value::Tuple(values.into())
            }
            Type::Sequence(of) => {
                let of = self.typed_with(ev, frame, decl, *of, bound);
                Value::Iterable(of.into())
            }
            Type::Function(result) => {
                let result = result.map_or(Value::Unknown, |it| self.typed_with(ev, frame, decl, it, bound));
                Value::Function(result.into())
            }
            Type::Projection { of, name, .. } => {
                if facts.text(*name) == "typeof" {
                    let value = self.type_entity(ev, frame, decl, type_);
                    return ev.settled(frame, &value);
                }
                let of = self.typed_with(ev, frame, decl, *of, bound);
                let member = ev.member(frame, &of, world.name(frame.file, *name));
                ev.settled(frame, &member)
            }
            Type::Unknown => Value::Unknown,
        }
    }

    fn predefined(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        text: &str,
    ) -> Option<Value> {
        Some(match text {
            "string" => instance_of_builtin(ev, "String", &[]),
            "number" => instance_of_builtin(ev, "Number", &[]),
            "boolean" | "true" | "false" => instance_of_builtin(ev, "Boolean", &[]),
            "bigint" => instance_of_builtin(ev, "BigInt", &[]),
            "symbol" => instance_of_builtin(ev, "Symbol", &[]),
            "void" | "undefined" | "null" => Value::Nothing,
            "any" | "unknown" | "never" | "object" | "const" => Value::Unknown,
            "this" => match ev.enclosing_type(frame, decl) {
                Some(owner) => match frame.receiver {
                    Some(exact) if ev.world.hierarchy.is_below(exact, owner) => Value::instance(exact),
                    _ => Value::instance(owner),
                },
                None => Value::Unknown,
            },
            _ => return None,
        })
    }

    fn instance_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        entity: &Value,
        arguments: &[Value],
    ) -> Value {
        let world = ev.world;
        match entity {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::TypeAlias => self.aliased(ev, frame, *def, arguments),
                NodeKind::EnumMember => world.owner(*def).map_or(Value::Unknown, Value::instance),
                NodeKind::Module => Value::Unknown,
                kind if kind.is_type_like() => Value::Instance(*def, arguments.into()),
                _ => Value::Unknown,
            },
            // A type parameter: what its bounds say.
            Value::Bounded(bounds) => match &bounds[..] {
                [] => Value::Unknown,
                [one] => one.clone(),
                _ => entity.clone(),
            },
            Value::External(external) => match builtin_name(ev, external) {
                Some(name) => self.builtin_instance(ev, frame, name, entity, arguments),
                None => Value::ExternalInstance(external.clone(), arguments.into()),
            },
            _ => Value::Unknown,
        }
    }

    fn aliased(&self, ev: &mut Evaluator<'_>, frame: Frame, alias: Def, arguments: &[Value]) -> Value {
        let world = ev.world;
        let (file, id, decl) = world.decl(alias);
        let has_members = world.facts(file).decls.get(id.index() + 1).is_some_and(|it| it.owner == Some(id));
        if has_members {
            return Value::Instance(alias, arguments.into());
        }
        let Some(type_) = decl.type_ else { return Value::Unknown };
        let frame = Frame::in_file(frame, file);
        let mut known = ev.ts_aliases.known.get(&(frame, alias)).into_iter().flatten();
        if let Some(known) = known.find(|it| *it.arguments == *arguments) {
            return known.value.clone();
        }
        let n_around = ev.ts_aliases.open.iter().filter(|it| **it == alias).count();
        if n_around > MAX_INSIDE_ITSELF {
            ev.ts_aliases.n_cut += 1;
            return Value::Unknown;
        }
        let n_cut = ev.ts_aliases.n_cut;
        let names = decl.type_parameters.iter().map(|it| world.name(file, it.name));
        let bound: Vec<(Name, Value)> = names.zip(arguments.iter().cloned()).collect();
        ev.ts_aliases.open.push(alias);
        let value = self.typed_with(ev, frame, Some(id), type_, &bound);
        ev.ts_aliases.open.pop();
        // What was cut short for what is around it says less than it would elsewhere.
        let is_whole = n_cut == ev.ts_aliases.n_cut || ev.ts_aliases.open.is_empty();
        if is_whole && ev.is_settling() {
            let known = ev.ts_aliases.known.entry((frame, alias)).or_default();
            if known.len() < MAX_REMEMBERED {
                known.push(Expanded { arguments: arguments.into(), value: value.clone() });
            }
        }
        value
    }

    fn builtin_instance(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        name: &str,
        entity: &Value,
        arguments: &[Value],
    ) -> Value {
        let first = || arguments.first().cloned().unwrap_or(Value::Unknown);
        match name {
            "Promise" | "PromiseLike" => Value::Awaitable(first().into()),
            "Array"
            | "ReadonlyArray"
            | "Iterable"
            | "IterableIterator"
            | "Iterator"
            | "Generator"
            | "ArrayLike"
            | "AsyncIterable"
            | "AsyncIterableIterator"
            | "AsyncGenerator"
            | "AsyncIterator" => Value::Iterable(first().into()),
            "Partial" | "Readonly" | "Required" | "NonNullable" | "Pick" | "Omit" | "NoInfer" | "Exclude"
            | "Extract" => first(),
            "Awaited" => match first() {
                Value::Awaitable(inner) => (*inner).clone(),
                other => other,
            },
            "ReturnType" => match first() {
                Value::Function(result) => (*result).clone(),
                Value::Def(def) if ev.world.kind(def).is_callable() => ev.result_of(def, frame),
                _ => Value::Unknown,
            },
            "InstanceType" => match first() {
                Value::Def(def) if ev.world.kind(def) == NodeKind::Class => Value::instance(def),
                _ => Value::Unknown,
            },
            "Parameters" | "ConstructorParameters" | "Function" | "Object" | "ThisType" => Value::Unknown,
            _ => match entity {
                Value::External(external) => Value::ExternalInstance(external.clone(), arguments.into()),
                _ => Value::Unknown,
            },
        }
    }
}
