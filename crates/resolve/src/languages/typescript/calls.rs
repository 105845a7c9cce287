//! What calls give: instances, declared and undeclared results, what containers hand out.

use knowing_model::NodeKind;
use knowing_model::facts::{Expr, Modifiers, ParameterKind, Type};

use super::{TypeScript, builtin_name};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::CallSite;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Value};
use crate::world::Def;

impl TypeScript {
    pub(super) fn result(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        callee: &Value,
        site: CallSite,
    ) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::Class => Value::instance(*def),
                kind if kind.is_type_like() => Value::Unknown,
                NodeKind::Function if self.is_constructor(ev, *def) => Value::instance(*def),
                kind if kind.is_callable() => self.result_of(ev, frame, *def, site),
                _ => {
                    let held = ev.settled(frame, callee);
                    if held == *callee { Value::Unknown } else { ev.called(frame, &held, site) }
                }
            },
            Value::External(external) => self.result_outside(ev, frame, external, site),
            Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
            Value::Function(result) => (**result).clone(),
            _ => Value::Unknown,
        }
    }

    /// What a function, the constructor of a class or a component takes at a place.
    pub(super) fn taken_by(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, argument: usize) -> Value {
        let world = ev.world;
        if world.kind(def) == NodeKind::Class {
            let constructor = world.names.find("constructor");
            let constructor = constructor.map(|it| self.instance_member(ev, frame, def, it));
            return match constructor {
                Some(Value::Def(constructor)) => self.taken_by(ev, frame, constructor, argument),
                _ if argument == 0 => self.properties_of(ev, frame, def),
                _ => Value::Unknown,
            };
        }
        let (file, id, decl) = world.decl(def);
        let facts = world.found_in(file);
        // Signatures beside the one that has a body say more than it does.
        let same_name = world.scopes[file as usize].find(Scope::of(decl.owner), world.name(file, decl.name));
        let overloads = same_name.iter().filter_map(|it| match it.item {
            Item::Decl(it) if it != id && facts.decl(it).modifiers.contains(Modifiers::OVERLOAD) => Some(it),
            _ => None,
        });
        let mut taken = Vec::new();
        for id in [id].into_iter().chain(overloads) {
            let parameter = facts.decl(id).parameters.get(argument);
            let plain = parameter.filter(|it| it.kind == ParameterKind::Plain);
            if let Some(type_) = plain.and_then(|it| it.type_) {
                taken.push(ev.typed(Frame::in_file(frame, file), Some(id), type_));
            }
        }
        taken.retain(Value::is_known);
        Value::join(taken)
    }

    /// `Properties` of `class Shop extends Component<Properties>`.
    fn properties_of(&self, ev: &mut Evaluator<'_>, frame: Frame, class: Def) -> Value {
        let (file, id, decl) = ev.world.decl(class);
        let facts = ev.world.found_in(file);
        let first = decl.bases.iter().find_map(|base| match facts.type_(base.type_) {
            Type::Named { segments, arguments, .. } => {
                let name = segments.last().map(|it| facts.text(*it));
                arguments.first().filter(|_| matches!(name, Some("Component" | "PureComponent")))
            }
            _ => None,
        });
        first.map_or(Value::Unknown, |it| ev.typed(Frame::in_file(frame, file), Some(id), *it))
    }

    /// Functions that make objects with `new`: by their name and by what was put on them.
    fn is_constructor(&self, ev: &Evaluator<'_>, def: Def) -> bool {
        let world = ev.world;
        let (file, id, decl) = world.decl(def);
        let facts = world.facts(file);
        facts.text(decl.name).starts_with(|it: char| it.is_ascii_uppercase())
            && decl.type_.is_none()
            && facts
                .decls
                .iter()
                .any(|it| it.owner == Some(id) && matches!(it.kind, NodeKind::Method | NodeKind::Field))
            && world.scopes[file as usize].returns(id).next().is_none()
    }

    fn result_of(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, site: CallSite) -> Value {
        let world = ev.world;
        let of = match world.found_in(frame.file).expr(site.callee) {
            Expr::Member { of, .. } => ev.settled_expr(frame, site.decl, of),
            _ => Value::Unknown,
        };
        let receiver = match &of {
            Value::Instance(class, _) => Some(*class),
            Value::Def(class) if world.kind(*class).is_type_like() => Some(*class),
            Value::Super(_) => frame.receiver,
            _ => None,
        };
        let (file, id, decl) = world.decl(def);
        if let (Some(type_), Value::Instance(class, arguments)) = (decl.type_, &of) {
            let bound = self.bound_arguments(ev, frame, *class, arguments, def);
            if !bound.is_empty() {
                let inner = Frame::in_file(Evaluator::with_receiver(frame, receiver), file);
                return self.typed_with(ev, inner, Some(id), type_, &bound);
            }
        }
        ev.result_of(def, Evaluator::with_receiver(frame, receiver))
    }

    /// What the type parameters of a member's owner stand for, seen from a value of a class: its own arguments, or
    /// those it gives to its base.
    fn bound_arguments(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        class: Def,
        arguments: &[Value],
        member: Def,
    ) -> Vec<(Name, Value)> {
        let world = ev.world;
        let Some(owner) = world.owner(member) else { return Vec::new() };
        let (owner_file, _, owner_decl) = world.decl(owner);
        if owner_decl.type_parameters.is_empty() {
            return Vec::new();
        }
        let values: Vec<Value> = if world.hierarchy.parts(&class).contains(&owner) {
            arguments.to_vec()
        } else {
            let (file, id, decl) = world.decl(class);
            let direct = world.hierarchy.direct(class);
            let place = direct.iter().position(|it| *it == Ancestor::Project(owner));
            let Some(base) = place.and_then(|it| decl.bases.get(it)) else { return Vec::new() };
            let Type::Named { arguments: written, .. } = world.found_in(file).type_(base.type_) else {
                return Vec::new();
            };
            let own: Vec<(Name, Value)> = decl
                .type_parameters
                .iter()
                .map(|it| world.name(file, it.name))
                .zip(arguments.iter().cloned())
                .collect();
            let inner = Frame::in_file(frame, file);
            written.iter().map(|it| self.typed_with(ev, inner, Some(id), *it, &own)).collect()
        };
        let names = owner_decl.type_parameters.iter().map(|it| world.name(owner_file, it.name));
        names.zip(values).collect()
    }

    /// The builtin container that a class extends: `class Shops extends Map<string, Shop>`.
    fn builtin_base(&self, ev: &mut Evaluator<'_>, frame: Frame, class: Def) -> Option<Value> {
        let world = ev.world;
        let (file, id, decl) = world.decl(class);
        let place = world.hierarchy.direct(class).iter().position(|it| match it {
            Ancestor::External(external) => builtin_name(ev, external).is_some(),
            _ => false,
        })?;
        let base = decl.bases.get(place)?;
        Some(self.typed_with(ev, Frame::in_file(frame, file), Some(id), base.type_, &[]))
    }

    fn result_outside(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        external: &External,
        site: CallSite,
    ) -> Value {
        let world = ev.world;
        let Some(last) = external.last() else { return Value::ExternalResult };
        let text = world.text(last);
        if let Expr::Member { of, .. } = world.found_in(frame.file).expr(site.callee) {
            let mut of = ev.settled_expr(frame, site.decl, of);
            if let Value::Instance(class, _) = &of
                && let Some(base) = self.builtin_base(ev, frame, *class)
            {
                of = base;
            }
            match &of {
                Value::Iterable(inner) => return from_list(inner, text, &of),
                Value::Tuple(items) => {
                    let inner = Value::join(items.iter().cloned());
                    return from_list(&inner, text, &Value::Iterable(inner.clone().into()));
                }
                Value::Awaitable(_) => {
                    return match text {
                        "catch" | "finally" => of.clone(),
                        _ => Value::Unknown,
                    };
                }
                Value::Def(_) | Value::Function(_) if text == "bind" => return of.clone(),
                Value::ExternalInstance(type_, arguments) => {
                    let container = builtin_name(ev, type_);
                    return match (container, text, &arguments[..]) {
                        (Some("Map" | "WeakMap" | "ReadonlyMap"), "get", [_, value]) => value.clone(),
                        (Some("Map" | "ReadonlyMap"), "values", [_, value]) => {
                            Value::Iterable(value.clone().into())
                        }
                        (Some("Map" | "ReadonlyMap"), "keys", [key, _]) => {
                            Value::Iterable(key.clone().into())
                        }
                        (Some("Map" | "ReadonlyMap"), "entries", [_, _]) => {
                            Value::Iterable(Value::Tuple(arguments.clone()).into())
                        }
                        (Some("Set" | "ReadonlySet"), "values" | "keys", [item]) => {
                            Value::Iterable(item.clone().into())
                        }
                        (Some("Map" | "Set" | "WeakMap" | "Object"), ..) => Value::Unknown,
                        _ => Value::ExternalResult,
                    };
                }
                _ => {}
            }
        }
        let is_type = text.starts_with(|it: char| it.is_ascii_uppercase());
        match builtin_name(ev, external) {
            Some("Promise") => Value::Unknown,
            Some("Array") => Value::Iterable(Value::Unknown.into()),
            _ if is_type => Value::ExternalInstance(external.clone(), Value::none()),
            // What goes through a helper of the language may come back from it.
            _ if is_generic_helper(ev, external) => Value::Unknown,
            _ => Value::ExternalResult,
        }
    }
}

/// `Object.assign`, `Promise.all`, `Array.from` and their like give what they get.
fn is_generic_helper(ev: &Evaluator<'_>, external: &External) -> bool {
    let texts: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
    matches!(texts[..], [super::GLOBAL, "Object" | "Promise" | "Array" | "Reflect" | "structuredClone", ..])
}

/// Methods of lists that hand out what they hold.
fn from_list(inner: &Value, method: &str, whole: &Value) -> Value {
    match method {
        "find" | "findLast" | "at" | "pop" | "shift" => inner.clone(),
        "filter" | "slice" | "concat" | "reverse" | "sort" | "toSorted" | "toReversed" | "splice"
        | "values" | "fill" | "with" | "toSpliced" => whole.clone(),
        "map" | "flatMap" | "flat" | "entries" | "keys" => Value::Iterable(Value::Unknown.into()),
        "reduce" | "reduceRight" => Value::Unknown,
        _ => Value::ExternalResult,
    }
}
