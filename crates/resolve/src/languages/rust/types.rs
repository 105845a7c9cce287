//! Written types as values: instances, aliases, `Self`, type parameters.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Str, Type, TypeId, TypeParameter};

use super::{Rust, standard};
use crate::evaluate::{Evaluator, Frame, wrapped};
use crate::hierarchy::Ancestor;
use crate::languages::Rules;
use crate::names::Name;
use crate::value::Value;
use crate::world::Def;

impl Rust {
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
                NodeKind::Trait => Value::Bounded([entity.clone()].into()),
                NodeKind::TypeAlias => {
                    let (file, _, alias) = world.decl(*def);
                    match alias.type_ {
                        Some(type_) if ev.enter() => {
                            let value = ev.typed(Frame::in_file(frame, file), alias.owner, type_);
                            ev.leave();
                            with_arguments(value, arguments)
                        }
                        _ => Value::Unknown,
                    }
                }
                kind if kind.is_type_like() => Value::Instance(*def, arguments.into()),
                _ => Value::Unknown,
            },
            Value::External(external) => standard::instance_of(ev, external, arguments),
            // `Self` and type parameters are values already.
            Value::Instance(..) | Value::ExternalInstance(..) | Value::Bounded(_) => entity.clone(),
            _ => Value::Unknown,
        }
    }

    /// `impl Iterator<Item = T>` and `impl Future<Output = T>`.
    pub(super) fn iterated(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        bounds: &[TypeId],
    ) -> Option<Value> {
        let first = *bounds.first()?;
        let Type::Named { arguments, .. } = ev.world.found_in(frame.file).type_(first) else { return None };
        let given = *arguments.last()?;
        let Value::External(external) = self.type_entity(ev, frame, decl, first) else { return None };
        match standard::type_name(ev, &external) {
            "Iterator" | "IntoIterator" | "DoubleEndedIterator" | "ExactSizeIterator" => {
                Some(Value::Iterable(ev.typed(frame, decl, given).into()))
            }
            "Future" => Some(Value::Awaitable(ev.typed(frame, decl, given).into())),
            _ => None,
        }
    }

    /// What `Self` names around a declaration.
    pub(super) fn self_type(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let decl = facts.decl(id);
            if let Some(id) = decl.implementation {
                let implementation = &facts.impls[id.index()];
                return self.type_entity(ev, frame, implementation.owner, implementation.type_);
            }
            if decl.kind == NodeKind::Trait {
                return match frame.receiver {
                    Some(exact) => Value::Def(exact),
                    None => Value::Bounded([Value::Def(world.def(frame.file, id))].into()),
                };
            }
            if decl.kind.is_type_like() && decl.kind != NodeKind::Module {
                return Value::Def(world.def(frame.file, id));
            }
            at = decl.owner;
        }
        Value::Unknown
    }

    /// A type parameter of a declaration around, as what fulfils its bounds.
    pub(super) fn type_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let is_it = |it: &&TypeParameter| world.name(frame.file, it.name) == name;
        let mut at = decl;
        while let Some(id) = at {
            let decl = facts.decl(id);
            let implementation = decl.implementation.map(|it| &facts.impls[it.index()]);
            let found = decl
                .type_parameters
                .iter()
                .chain(implementation.into_iter().flat_map(|it| &it.type_parameters))
                .find(is_it);
            if let Some(parameter) = found {
                if !ev.enter() {
                    return Some(Value::Unknown);
                }
                let bounds = parameter.bounds.iter().map(|it| self.type_entity(ev, frame, decl.owner, *it));
                let bounds: Vec<Value> = bounds.collect();
                ev.leave();
                return Some(Value::Bounded(bounds.into()));
            }
            at = decl.owner;
        }
        None
    }
}

impl Rust {
    /// What the type parameters of an item stand for in a value of it, as far as that says more than their bounds.
    pub(super) fn given_to(&self, ev: &Evaluator<'_>, item: Def, arguments: &[Value]) -> Vec<(Name, Value)> {
        if arguments.is_empty() {
            return Vec::new();
        }
        let (file, _, decl) = ev.world.decl(item);
        let names = decl.type_parameters.iter().map(|it| ev.world.name(file, it.name));
        names.zip(arguments.iter().cloned()).filter(|it| says_something(&it.1)).collect()
    }

    /// What a method gives when it is called on `on`: the parameters of its `impl` block stand for the arguments there.
    pub(super) fn result_on(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        method: Def,
        on: &Value,
    ) -> Option<Value> {
        let world = ev.world;
        let Value::Instance(class, arguments) = on else { return None };
        let (file, id, decl) = world.decl(method);
        let type_ = decl.type_?;
        let implementation = decl.implementation.filter(|_| !arguments.is_empty())?;
        let target = world.hierarchy.implementation(file, implementation)?;
        if target.type_ != Ancestor::Project(*class) {
            return None;
        }
        let facts = world.found_in(file);
        let block = &facts.impls[implementation.index()];
        let Type::Named { arguments: written, .. } = facts.type_(block.type_) else { return None };
        let is_parameter = |name: Str| block.type_parameters.iter().any(|it| it.name == name);
        let mut given: Vec<(Name, Value)> = Vec::new();
        for (written, value) in written.iter().zip(arguments.iter()) {
            if let Type::Named { segments, arguments, .. } = facts.type_(*written)
                && let ([name], []) = (segments.as_slice(), arguments.as_slice())
                && is_parameter(*name)
                && says_something(value)
            {
                given.push((world.name(file, *name), value.clone()));
            }
        }
        given.extend(world.names.find("Self").map(|it| (it, on.clone())));
        let inner = Evaluator::with_receiver(Frame::in_file(frame, file), Some(*class));
        let value = self.typed_with(ev, inner, Some(id), type_, &given);
        Some(wrapped(value, decl.modifiers))
    }

    /// A written type, with what its parameters were given.
    pub(super) fn typed_with(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        given: &[(Name, Value)],
    ) -> Value {
        let world = ev.world;
        if given.is_empty() || !ev.enter() {
            return ev.typed(frame, decl, type_);
        }
        let value = match world.found_in(frame.file).type_(type_) {
            Type::Named { segments, arguments, .. } => {
                let stands_for = match segments.as_slice() {
                    [only] => given.iter().find(|it| it.0 == world.name(frame.file, *only)),
                    _ => None,
                };
                match stands_for {
                    Some((_, value)) => value.clone(),
                    None if arguments.is_empty() => ev.typed(frame, decl, type_),
                    None => {
                        let entity = self.type_entity(ev, frame, decl, type_);
                        let arguments: Vec<Value> =
                            arguments.iter().map(|it| self.typed_with(ev, frame, decl, *it, given)).collect();
                        entity.map(|it| self.instance_of(ev, frame, it, &arguments))
                    }
                }
            }
            Type::Tuple(types) if !types.is_empty() => {
                let items = types.iter().map(|it| self.typed_with(ev, frame, decl, *it, given));
                Value::Tuple(items.collect::<Vec<_>>().into())
            }
            Type::Sequence(of) => {
                let of = self.typed_with(ev, frame, decl, *of, given);
                standard::instance(ev, &["std", "slice"], [of])
            }
            _ => ev.typed(frame, decl, type_),
        };
        ev.leave();
        value
    }
}

/// What an `impl` block is for has the members of the block too, whatever it is bound by.
pub(super) fn or_more(value: Value) -> Value {
    match value {
        Value::Bounded(bounds) => {
            Value::Bounded(bounds.iter().cloned().chain([Value::Unknown]).collect::<Vec<_>>().into())
        }
        other => other,
    }
}

/// Whether a type argument tells more than that there is one.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Bounded(bounds) => !bounds.is_empty(),
        value => value.is_known(),
    }
}

/// An alias's type with the arguments it was given, put where the alias left them open.
fn with_arguments(value: Value, arguments: &[Value]) -> Value {
    let mut given = arguments.iter();
    let mut fill = |open: &[Value]| -> Vec<Value> {
        open.iter()
            .map(|it| match it {
                Value::Unknown => given.next().cloned().unwrap_or(Value::Unknown),
                Value::Bounded(bounds) if bounds.is_empty() => {
                    given.next().cloned().unwrap_or(Value::Unknown)
                }
                it => it.clone(),
            })
            .collect()
    };
    match value {
        Value::ExternalInstance(external, open) => Value::ExternalInstance(external, fill(&open).into()),
        Value::Instance(def, open) => Value::Instance(def, fill(&open).into()),
        other => other,
    }
}
