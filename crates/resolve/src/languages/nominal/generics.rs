//! Type parameters and what they stand for: at a receiver by its type arguments, at a call by what is passed.

use knowing_model::facts::{Argument, DeclId, Expr, ParameterKind, Type, TypeId};

use super::Dialect;
use super::lambdas;
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{Arguments, Value};
use crate::world::Def;

/// How far type arguments are followed through what is extended.
const MAX_BASES: u32 = 8;

/// What type parameters stand for; the innermost last.
#[derive(Clone, Default, Debug)]
pub(crate) struct Known(Vec<(Name, Value)>);

impl Known {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, name: Name) -> Option<&Value> {
        self.0.iter().rev().find(|(it, _)| *it == name).map(|(_, value)| value)
    }

    fn insert(&mut self, name: Name, value: Value) {
        if value.is_known() && self.find(name).is_none() {
            self.0.push((name, value));
        }
    }
}

/// A value of a written type, with type parameters replaced by what is known of them.
pub(crate) fn written(
    ev: &mut Evaluator<'_>,
    frame: Frame,
    decl: Option<DeclId>,
    type_: TypeId,
    known: &Known,
) -> Value {
    if known.is_empty() || !ev.enter() {
        return ev.typed(frame, decl, type_);
    }
    let world = ev.world;
    let value = match world.found_in(frame.file).type_(type_) {
        Type::Named { segments, arguments, .. } => {
            let replaced = match segments[..] {
                [only] => known.find(world.name(frame.file, only)).cloned(),
                _ => None,
            };
            match replaced {
                Some(value) => value,
                None if arguments.is_empty() => ev.typed(frame, decl, type_),
                None => {
                    let arguments = arguments.iter().map(|it| written(ev, frame, decl, *it, known)).collect();
                    let arguments = Value::arguments(arguments);
                    let plain = ev.typed(frame, decl, type_);
                    plain.map(|it| with_arguments(it, &arguments))
                }
            }
        }
        Type::Sequence(of) => Value::Iterable(written(ev, frame, decl, *of, known).into()),
        _ => ev.typed(frame, decl, type_),
    };
    ev.leave();
    value
}

fn with_arguments(value: &Value, arguments: &Arguments) -> Value {
    match value {
        Value::Instance(def, _) => Value::Instance(*def, arguments.clone()),
        Value::ExternalInstance(external, _) => Value::ExternalInstance(external.clone(), arguments.clone()),
        other => other.clone(),
    }
}

/// What the type parameters of `owner` stand for at a receiver of its type or of one below it.
pub(crate) fn at_receiver(ev: &mut Evaluator<'_>, frame: Frame, receiver: &Value, owner: Def) -> Known {
    let Value::Instance(def, arguments) = receiver else { return Known::default() };
    arguments_of(ev, frame, *def, arguments, owner, 0)
        .map_or_else(Known::default, |it| by_name(ev, owner, &it))
}

fn by_name(ev: &Evaluator<'_>, owner: Def, arguments: &[Value]) -> Known {
    let world = ev.world;
    let (file, _, decl) = world.decl(owner);
    let mut known = Known::default();
    if decl.type_parameters.len() == arguments.len() {
        for (parameter, value) in decl.type_parameters.iter().zip(arguments) {
            known.insert(world.name(file, parameter.name), value.clone());
        }
    }
    known
}

/// The type arguments of `owner`, seen from a type at or below it.
fn arguments_of(
    ev: &mut Evaluator<'_>,
    frame: Frame,
    type_: Def,
    arguments: &Arguments,
    owner: Def,
    depth: u32,
) -> Option<Arguments> {
    let world = ev.world;
    if world.hierarchy.whole(type_) == world.hierarchy.whole(owner) {
        return Some(arguments.clone());
    }
    if depth > MAX_BASES {
        return None;
    }
    let known = by_name(ev, type_, arguments);
    let (file, _, decl) = world.decl(type_);
    let there = Frame::in_file(frame, file);
    for base in &decl.bases {
        let Value::Def(above) = world.rules(file).type_entity(ev, there, decl.owner, base.type_) else {
            continue;
        };
        if !world.hierarchy.is_below(above, owner) {
            continue;
        }
        let passed = base_arguments(ev, there, type_, base.type_, &known);
        return arguments_of(ev, frame, above, &passed, owner, depth + 1);
    }
    None
}

fn base_arguments(
    ev: &mut Evaluator<'_>,
    there: Frame,
    type_: Def,
    base: TypeId,
    known: &Known,
) -> Arguments {
    let (_, id, _) = ev.world.decl(type_);
    match ev.world.found_in(there.file).type_(base) {
        Type::Named { arguments, .. } => {
            Value::arguments(arguments.iter().map(|it| written(ev, there, Some(id), *it, known)).collect())
        }
        _ => Value::none(),
    }
}

/// A receiver as a value of a type from outside that it or one above it extends, with type arguments: what
/// `class Rows extends ArrayList<Row>` is as a list.
pub(crate) fn as_outside(ev: &mut Evaluator<'_>, frame: Frame, receiver: &Value) -> Option<Value> {
    let mut at = receiver.clone();
    for _ in 0..MAX_BASES {
        let Value::Instance(type_, arguments) = &at else { return None };
        let world = ev.world;
        let known = by_name(ev, *type_, arguments);
        let (file, _, decl) = world.decl(*type_);
        let there = Frame::in_file(frame, file);
        let mut next = None;
        for base in &decl.bases {
            let passed = base_arguments(ev, there, *type_, base.type_, &known);
            match world.rules(file).type_entity(ev, there, decl.owner, base.type_) {
                Value::External(external) => return Some(Value::ExternalInstance(external, passed)),
                Value::Def(above) if next.is_none() => next = Some(Value::Instance(above, passed)),
                _ => {}
            }
        }
        at = next?;
    }
    None
}

/// What calling a method gives: its declared result, with what receiver and arguments say of type parameters.
pub(crate) fn result(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    site: Site<'_>,
    method: Def,
    receiver: &Value,
) -> Value {
    let world = ev.world;
    let (file, id, decl) = world.decl(method);
    let Some(type_) = decl.type_ else { return ev.result_of(method, site.frame) };
    let known = known_at(ev, dialect, site, method, receiver, Lambdas::Asked);
    written(ev, Frame::in_file(site.frame, file), Some(id), type_, &known)
}

/// Where a call stands and what it is made with.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) frame: Frame,
    pub(crate) decl: Option<DeclId>,
    pub(crate) arguments: &'a [Argument],
}

/// Whether lambdas among the arguments are asked what they give.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lambdas {
    Asked,
    LeftOut,
}

/// What type parameters of a method and of its type stand for in a call.
pub(crate) fn known_at(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    site: Site<'_>,
    method: Def,
    receiver: &Value,
    lambdas: Lambdas,
) -> Known {
    let world = ev.world;
    let mut known = match world.hierarchy.owner_type(world, method) {
        Some(owner) => at_receiver(ev, site.frame, receiver, owner),
        None => Known::default(),
    };
    let (file, _, decl) = world.decl(method);
    if decl.type_parameters.is_empty() {
        return known;
    }
    let own: Vec<Name> = decl.type_parameters.iter().map(|it| world.name(file, it.name)).collect();
    // A parameter of the method hides one of the type that is called the same.
    known.0.retain(|(name, _)| !own.contains(name));
    let parameters: Vec<_> = decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver).collect();
    for (place, argument) in site.arguments.iter().enumerate() {
        let Some(parameter) = parameters.get(place).or(parameters.last()) else { break };
        let Some(type_) = parameter.type_ else { continue };
        let is_function = matches!(
            world.found_in(site.frame.file).expr(argument.value),
            Expr::Lambda { .. } | Expr::Scoped { .. }
        );
        if is_function {
            if lambdas == Lambdas::Asked {
                function_gives(ev, dialect, site, argument, (file, type_), &own, &mut known);
            }
            continue;
        }
        if !names_any(ev, file, type_, &own) {
            continue;
        }
        let value = ev.settled_expr(site.frame, site.decl, argument.value);
        unify(ev, (file, type_), &value, &own, &mut known);
    }
    known
}

/// `Function<T, R>` and a lambda: the last type argument is what the lambda gives.
fn function_gives(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    site: Site<'_>,
    argument: &Argument,
    (file, type_): (u32, TypeId),
    own: &[Name],
    known: &mut Known,
) {
    let world = ev.world;
    let Type::Named { arguments, .. } = world.found_in(file).type_(type_) else { return };
    let Some(last) = arguments.last() else { return };
    if names_any(ev, file, *last, own) {
        let value = lambdas::gives(ev, dialect, site.frame, site.decl, argument.value);
        unify(ev, (file, *last), &value, own, known);
    }
}

fn names_any(ev: &Evaluator<'_>, file: u32, type_: TypeId, own: &[Name]) -> bool {
    match ev.world.found_in(file).type_(type_) {
        Type::Named { segments, arguments, .. } => {
            matches!(segments[..], [only] if own.contains(&ev.world.name(file, only)))
                || arguments.iter().any(|it| {
                    matches!(ev.world.found_in(file).type_(*it), Type::Named { segments, .. }
                        if matches!(segments[..], [only] if own.contains(&ev.world.name(file, only))))
                })
        }
        Type::Sequence(of) => names_any(ev, file, *of, own),
        _ => false,
    }
}

/// `T` and what is passed for it; `List<T>` and a list, one level deep.
fn unify(ev: &Evaluator<'_>, (file, type_): (u32, TypeId), value: &Value, own: &[Name], known: &mut Known) {
    let world = ev.world;
    match (world.found_in(file).type_(type_), value) {
        (Type::Named { segments, arguments, .. }, value) => {
            if let [only] = segments[..]
                && own.contains(&world.name(file, only))
            {
                known.insert(world.name(file, only), value.clone());
                return;
            }
            let passed = match value {
                Value::Instance(_, passed) | Value::ExternalInstance(_, passed) => passed,
                _ => return,
            };
            if passed.len() == arguments.len() {
                for (argument, value) in arguments.iter().zip(passed.iter()) {
                    if let Type::Named { segments, .. } = world.found_in(file).type_(*argument)
                        && let [only] = segments[..]
                        && own.contains(&world.name(file, only))
                    {
                        known.insert(world.name(file, only), value.clone());
                    }
                }
            }
        }
        (Type::Sequence(of), Value::Iterable(value)) => unify(ev, (file, *of), value, own, known),
        _ => {}
    }
}
