//! What lambdas get and give, by the types they are passed for.

use knowing_model::facts::{DeclId, Expr, ExprId, ITSELF, ParameterKind};

use super::generics::{self, Lambdas, Site};
use super::{Dialect, members};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::Given;
use crate::value::Value;
use crate::world::Def;

/// The parameter of a lambda that is an argument of a call.
pub(crate) fn given(ev: &mut Evaluator<'_>, dialect: &dyn Dialect, frame: Frame, it: Given) -> Value {
    let world = ev.world;
    if it.argument == ITSELF {
        let function = ev.settled_expr(frame, it.decl, it.callee);
        return function.map(|function| parameter_of(ev, dialect, frame, function, it.parameter));
    }
    let callee = ev.callee(frame, it.decl, it.callee);
    let receiver = receiver_of(ev, frame, it.decl, it.callee);
    callee.map(|target| match target {
        Value::Def(method) if world.kind(*method).is_callable() => {
            let function = passed_for(ev, dialect, frame, it, *method, &receiver);
            function.map(|function| parameter_of(ev, dialect, frame, function, it.parameter))
        }
        Value::External(external) => {
            let receiver = match &receiver {
                Value::Instance(..) => {
                    generics::as_outside(ev, frame, &receiver).unwrap_or_else(|| receiver.clone())
                }
                other => other.clone(),
            };
            dialect.standard(ev).lambda_parameter(external, &receiver, it.parameter)
        }
        _ => Value::Unknown,
    })
}

/// The type of the parameter that a lambda is passed for, with what the call says of type parameters.
pub(crate) fn passed_for(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    frame: Frame,
    it: Given,
    method: Def,
    receiver: &Value,
) -> Value {
    let world = ev.world;
    let (file, id, decl) = world.decl(method);
    let all: Vec<_> = decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver).collect();
    let parameter = all.get(usize::from(it.argument)).or(all.last());
    let Some(type_) = parameter.and_then(|it| it.type_) else { return Value::Unknown };
    let arguments = world.found_in(frame.file).arguments_of(it.callee);
    let site = Site { frame, decl: it.decl, arguments };
    let known = generics::known_at(ev, dialect, site, method, receiver, Lambdas::LeftOut);
    generics::written(ev, Frame::in_file(frame, file), Some(id), type_, &known)
}

/// What a call is made on: what stands before the dot.
pub(crate) fn receiver_of(
    ev: &mut Evaluator<'_>,
    frame: Frame,
    decl: Option<DeclId>,
    callee: ExprId,
) -> Value {
    match ev.world.found_in(frame.file).expr(callee) {
        Expr::Member { of, .. } => ev.settled_expr(frame, decl, of),
        _ => Value::Unknown,
    }
}

/// Parameter number `place` of a function type.
fn parameter_of(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    frame: Frame,
    function: &Value,
    place: u8,
) -> Value {
    let world = ev.world;
    match function {
        Value::Instance(type_, _) => {
            let Some(method) = members::functional_method(world, *type_) else { return Value::Unknown };
            let (file, id, decl) = world.decl(method);
            let all: Vec<_> =
                decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver).collect();
            let Some(parameter) = all.get(usize::from(place)).and_then(|it| it.type_) else {
                return Value::Unknown;
            };
            let Some(owner) = world.hierarchy.owner_type(world, method) else { return Value::Unknown };
            let known = generics::at_receiver(ev, frame, function, owner);
            generics::written(ev, Frame::in_file(frame, file), Some(id), parameter, &known)
        }
        Value::ExternalInstance(external, arguments) => {
            dialect.standard(ev).function_parameter(external, arguments, place)
        }
        _ => Value::Unknown,
    }
}

/// What a lambda or a method reference gives when it is called.
pub(crate) fn gives(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    frame: Frame,
    decl: Option<DeclId>,
    function: ExprId,
) -> Value {
    match ev.world.found_in(frame.file).expr(function) {
        Expr::Lambda { result: Some(result), .. } => ev.settled_expr(frame, decl, result),
        Expr::Lambda { .. } => Value::Nothing,
        Expr::Scoped { .. } | Expr::Member { .. } => {
            let target = ev.expr(frame, decl, function);
            target.map(|it| match it {
                Value::Overloads(all) if all.len() == 1 => result_of(ev, dialect, frame, decl, all[0]),
                Value::Def(def) => result_of(ev, dialect, frame, decl, *def),
                _ => Value::Unknown,
            })
        }
        _ => Value::Unknown,
    }
}

fn result_of(
    ev: &mut Evaluator<'_>,
    dialect: &dyn Dialect,
    frame: Frame,
    decl: Option<DeclId>,
    def: Def,
) -> Value {
    let kind = ev.world.kind(def);
    if kind.is_type_like() {
        return Value::instance(def);
    }
    if kind == knowing_model::NodeKind::Constructor {
        return ev.world.owner(def).map_or(Value::Unknown, Value::instance);
    }
    if !kind.is_callable() {
        return ev.settled(frame, &Value::Def(def));
    }
    generics::result(ev, dialect, Site { frame, decl, arguments: &[] }, def, &Value::Unknown)
}

/// How many parameters a lambda has that is passed for a value of this type.
pub(crate) fn arity(ev: &mut Evaluator<'_>, dialect: &dyn Dialect, target: &Value) -> Option<u8> {
    match target {
        Value::Instance(type_, _) => {
            let method = members::functional_method(ev.world, *type_)?;
            let (_, _, decl) = ev.world.decl(method);
            let n = decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver).count();
            u8::try_from(n).ok()
        }
        Value::ExternalInstance(external, _) => dialect.standard(ev).function_arity(external),
        _ => None,
    }
}
