//! Written types as values: instances, aliases, `Self`, type parameters.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Type, TypeId, TypeParameter};

use super::{Rust, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::Rules;
use crate::names::Name;
use crate::value::Value;

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
