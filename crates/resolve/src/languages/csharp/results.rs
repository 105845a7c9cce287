//! What calls give, what lambdas get, and what comes out of arguments.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, ParameterKind, Type, TypeId};

use super::overloads::{parameter_for, plain_callee};
use super::types::Given as TypeArguments;
use super::{Csharp, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{CallSite, Given};
use crate::names::Name;
use crate::value::Value;
use crate::world::Def;

impl Csharp {
    /// `this`: an instance whose type arguments are its own parameters.
    pub(super) fn own_instance(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def) -> Value {
        let world = ev.world;
        let type_ = world.hierarchy.whole(type_);
        let (file, id, decl) = world.decl(type_);
        let inner = Frame::in_file(frame, file);
        let mut arguments = Vec::new();
        for parameter in &decl.type_parameters {
            let bounds: Vec<Value> =
                parameter.bounds.iter().map(|it| ev.typed(inner, Some(id), *it)).collect();
            arguments.push(Value::Bounded(bounds.into()));
        }
        Value::Instance(type_, arguments.into())
    }

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
                NodeKind::Constructor => match world.found_in(frame.file).expr(site.callee) {
                    Expr::Scoped { of, .. } => ev.expr(frame, site.decl, of),
                    _ => world.owner(*def).map_or(Value::Unknown, Value::instance),
                },
                kind if kind.is_type_like() => Value::instance(*def),
                kind if kind.is_callable() => self.method_result(ev, frame, *def, site),
                _ => {
                    let held = ev.settled(frame, callee);
                    held.map(|it| self.value_called(ev, frame, it))
                }
            },
            Value::Overloads(all) => {
                all.first().map_or(Value::Unknown, |it| self.method_result(ev, frame, *it, site))
            }
            Value::External(external) => {
                let name = external.last().map_or("", |it| world.text(it));
                let on = self.receiver_of(ev, frame, site).unwrap_or(Value::Unknown);
                let types = self.written_types(ev, frame, site);
                match name {
                    "Select" | "SelectMany" | "ConvertAll" => self.selected(ev, frame, site, name),
                    "FromResult" => {
                        let made = self.made(ev, frame, site);
                        let value = made.arguments.first().map_or(Value::Unknown, |it| it.1.clone());
                        Value::Awaitable(value.into())
                    }
                    "Run" | "StartNew" if types.len() == 1 => Value::Awaitable(types[0].clone().into()),
                    _ => match standard::made_by(ev, external) {
                        Some(value) => value,
                        None => standard::called(ev, name, &on, &types),
                    },
                }
            }
            Value::Instance(..) | Value::ExternalInstance(..) | Value::Function(_) => {
                self.value_called(ev, frame, callee)
            }
            Value::ExternalResult => match plain_callee(ev, frame, site.callee) {
                Expr::Member { name, .. } => {
                    let types = self.written_types(ev, frame, site);
                    let name = world.text(world.name(frame.file, name));
                    standard::called(ev, name, &Value::ExternalResult, &types)
                }
                _ => Value::ExternalResult,
            },
            _ => Value::Unknown,
        }
    }

    /// What calling a delegate gives.
    fn value_called(&self, ev: &mut Evaluator<'_>, frame: Frame, value: &Value) -> Value {
        let world = ev.world;
        match value {
            Value::Function(result) => (**result).clone(),
            Value::ExternalInstance(external, arguments) => {
                match (external.last().map_or("", |it| world.text(it)), &arguments[..]) {
                    ("Func", [.., result]) => result.clone(),
                    ("Action", _) => Value::Nothing,
                    _ => Value::ExternalResult,
                }
            }
            Value::Instance(def, arguments) if world.kind(*def) == NodeKind::Type => {
                match self.typed_member(ev, frame, (*def, arguments), *def) {
                    Value::Function(result) => (*result).clone(),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    fn selected(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, name: &str) -> Value {
        let facts = ev.world.facts(frame.file);
        let Some(argument) = facts.arguments_of(site.callee).first() else { return Value::ExternalResult };
        let result = match facts.expr(argument.value) {
            Expr::Lambda { result: Some(result), .. } => ev.settled_expr(frame, site.decl, result),
            Expr::Lambda { .. } => Value::Unknown,
            // A method that is handed over.
            _ => match ev.expr(frame, site.decl, argument.value) {
                Value::Overloads(all) => ev.result_of(all[0], frame),
                _ => Value::Unknown,
            },
        };
        match (result, name) {
            (Value::Unknown | Value::Missing, _) => Value::ExternalResult,
            (result, "SelectMany") => {
                let element = self.element_of(ev, frame, &result);
                Value::Iterable(element.into())
            }
            (result, _) => Value::Iterable(result.into()),
        }
    }

    fn element_of(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Instance(..) => self.own_element(ev, frame, of),
            of => standard::element(ev, of),
        }
    }

    fn method_result(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, site: CallSite) -> Value {
        let world = ev.world;
        let (file, id, decl) = world.decl(def);
        let Some(type_) = decl.type_ else { return ev.result_of(def, frame) };
        let given = self.given_at(ev, frame, def, site);
        self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &given)
    }

    /// What type parameters stand for at a call: those of the receiver's type, and those of the method.
    fn given_at(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, site: CallSite) -> TypeArguments {
        let world = ev.world;
        let (file, _, decl) = world.decl(def);
        let receiver = self.receiver_of(ev, frame, site);
        let mut given = TypeArguments::new();
        if let (Some(Value::Instance(type_, arguments)), Some(owner)) = (&receiver, world.owner(def))
            && world.hierarchy.is_below(*type_, owner)
        {
            given = self.given_by(ev, frame, (*type_, arguments), owner, 0);
        } else if receiver.is_none()
            && let Some(owner) = world.owner(def)
            && let Some(around) = super::members::type_around(world, frame.file, site.decl)
            && world.hierarchy.whole(around) != world.hierarchy.whole(owner)
            && world.hierarchy.is_below(around, owner)
        {
            // A bare name of an inherited method.
            if let Value::Instance(type_, arguments) = self.own_instance(ev, frame, around) {
                given = self.given_by(ev, frame, (type_, &arguments), owner, 0);
            }
        }
        if decl.type_parameters.is_empty() {
            return given;
        }
        let written = self.written_types(ev, frame, site);
        let names: Vec<Name> = decl.type_parameters.iter().map(|it| world.name(file, it.name)).collect();
        if !written.is_empty() {
            given.extend(names.into_iter().zip(written));
            return given;
        }
        let is_extension = decl.parameters.first().is_some_and(|it| it.kind == ParameterKind::Receiver);
        let as_extension = is_extension && !matches!(receiver, Some(Value::Def(_)) | None);
        let mut values: Vec<(Option<Name>, Value)> = Vec::new();
        if as_extension {
            values.push((None, receiver.unwrap_or(Value::Unknown)));
        }
        values.extend(self.made(ev, frame, site).arguments);
        for (parameter, (_, value)) in decl.parameters.iter().zip(&values) {
            if let Some(type_) = parameter.type_ {
                self.infer(ev, frame, file, type_, value, &names, &mut given);
            }
        }
        given
    }

    /// `T` or `List<T>` against what is handed over.
    #[expect(clippy::too_many_arguments, reason = "a step of one search, which is all there is to it")]
    fn infer(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        file: u32,
        type_: TypeId,
        value: &Value,
        names: &[Name],
        given: &mut TypeArguments,
    ) {
        let world = ev.world;
        let facts = world.facts(file);
        let mut learn = |name: Name, value: Value| {
            if names.contains(&name) && value.is_known() && !given.iter().any(|it| it.0 == name) {
                given.push((name, value));
            }
        };
        let single = |type_: TypeId| match facts.type_(type_) {
            Type::Named { segments, arguments, .. } => match (segments.as_slice(), arguments.is_empty()) {
                ([only], true) => Some(world.name(file, *only)),
                _ => None,
            },
            _ => None,
        };
        if let Some(name) = single(type_) {
            learn(name, value.clone());
            return;
        }
        let inner: Vec<TypeId> = match facts.type_(type_) {
            Type::Named { arguments, .. } => arguments.clone(),
            Type::Sequence(of) => vec![*of],
            _ => return,
        };
        for (index, argument) in inner.iter().enumerate() {
            let Some(name) = single(*argument) else { continue };
            let part = match value {
                Value::Awaitable(result) => (**result).clone(),
                Value::Iterable(of) => (**of).clone(),
                Value::Instance(_, arguments) | Value::ExternalInstance(_, arguments)
                    if arguments.len() == inner.len() =>
                {
                    arguments[index].clone()
                }
                other if inner.len() == 1 => self.element_of(ev, frame, other),
                _ => Value::Unknown,
            };
            learn(name, part);
        }
    }

    /// The type arguments that a call is written with.
    pub(super) fn written_types(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Vec<Value> {
        let facts = ev.world.facts(frame.file);
        let Expr::Generic { arguments, .. } = facts.expr(site.callee) else { return Vec::new() };
        match facts.type_(arguments) {
            Type::Tuple(types) => types.iter().map(|it| ev.typed(frame, site.decl, *it)).collect(),
            _ => Vec::new(),
        }
    }

    /// What a field or property is declared as, in a value of a type with these arguments.
    pub(super) fn typed_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: (Def, &[Value]),
        member: Def,
    ) -> Value {
        let world = ev.world;
        let (file, id, decl) = world.decl(member);
        let Some(type_) = decl.type_ else { return Value::Unknown };
        let owner = if decl.kind.is_type_like() { Some(member) } else { world.owner(member) };
        let given = match owner {
            Some(owner) => self.given_by(ev, frame, of, owner, 0),
            None => TypeArguments::new(),
        };
        self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &given)
    }

    pub(super) fn held_in(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: CallSite,
        def: Def,
    ) -> Option<Value> {
        let world = ev.world;
        if !matches!(world.kind(def), NodeKind::Field | NodeKind::Property) {
            return None;
        }
        let owner = world.owner(def)?;
        // Nothing to be learnt where nothing is generic.
        if world.decl(owner).2.type_parameters.is_empty() {
            return None;
        }
        match ev.settled_expr(frame, of.decl, of.callee) {
            Value::Instance(type_, arguments) => Some(self.typed_member(ev, frame, (type_, &arguments), def)),
            _ => None,
        }
    }

    /// What going through a value of the project gives: by the interface it is written to have, or by its enumerator.
    pub(super) fn own_element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        let world = ev.world;
        let Value::Instance(def, arguments) = of else { return Value::Unknown };
        let chain =
            std::iter::once(*def).chain(world.hierarchy.ancestors(*def).iter().filter_map(|it| match it {
                Ancestor::Project(above) => Some(*above),
                _ => None,
            }));
        for type_ in chain.collect::<Vec<_>>() {
            for part in world.hierarchy.parts(&type_).to_vec() {
                let (file, id, decl) = world.decl(part);
                for (base, ancestor) in decl.bases.iter().zip(world.hierarchy.direct(part)) {
                    let Ancestor::External(external) = ancestor else { continue };
                    let name = external.last().map_or("", |it| world.text(it));
                    if standard::is_collection(name) {
                        let given = self.given_by(ev, frame, (*def, arguments), type_, 0);
                        let inner = Frame::in_file(frame, file);
                        let written = self.typed_with(ev, inner, Some(id), base.type_, &given);
                        let element = standard::element(ev, &written);
                        if element.is_known() && element != Value::ExternalResult {
                            return element;
                        }
                    }
                }
            }
        }
        Value::Unknown
    }

    /// What a lambda gets from who it is handed to.
    pub(super) fn lambda_gets(&self, ev: &mut Evaluator<'_>, frame: Frame, given: Given) -> Value {
        if !ev.enter() {
            return Value::Unknown;
        }
        let site = CallSite { callee: given.callee, decl: given.decl };
        let callee = ev.callee(frame, given.decl, given.callee);
        let mut all = Vec::new();
        for part in callee.parts() {
            all.push(self.lambda_gets_from(ev, frame, site, part, given));
        }
        ev.leave();
        Value::join(all)
    }

    fn lambda_gets_from(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        site: CallSite,
        callee: &Value,
        given: Given,
    ) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) if world.kind(*def).is_callable() => {
                let arguments = world.found_in(frame.file).arguments_of(site.callee);
                let name = arguments.get(usize::from(given.argument)).and_then(|it| it.name);
                let name = name.map(|it| world.name(frame.file, it));
                let receiver = self.receiver_of(ev, frame, site);
                let is_extension = world
                    .decl(*def)
                    .2
                    .parameters
                    .first()
                    .is_some_and(|it| it.kind == ParameterKind::Receiver);
                let as_extension = is_extension && !matches!(receiver, Some(Value::Def(_)) | None);
                let found = parameter_for(ev, *def, as_extension, usize::from(given.argument), name);
                let Some((file, id, parameter)) = found else { return Value::Unknown };
                let Some(type_) = parameter.type_ else { return Value::Unknown };
                let types = self.given_at(ev, frame, *def, site);
                self.delegate_parameter(
                    ev,
                    Frame::in_file(frame, file),
                    Some(id),
                    type_,
                    (&types, given.parameter),
                )
            }
            Value::External(external) => {
                let name = external.last().map_or("", |it| world.text(it));
                let on = self.receiver_of(ev, frame, site).unwrap_or(Value::Unknown);
                if standard::takes_element(name, given.parameter) {
                    let element = self.element_of(ev, frame, &on);
                    if element.is_known() {
                        return element;
                    }
                }
                let types = self.written_types(ev, frame, site);
                match (name, &on, &types[..]) {
                    // What a mock is set up for, what is configured.
                    (
                        "Setup" | "Verify" | "SetupGet" | "SetupSet" | "VerifyGet" | "SetupSequence"
                        | "SetupProperty",
                        Value::ExternalInstance(_, arguments),
                        _,
                    ) if arguments.len() == 1 => arguments[0].clone(),
                    ("Configure" | "PostConfigure" | "AddOptions", _, [options]) => options.clone(),
                    _ => Value::ExternalResult,
                }
            }
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    /// The type of a parameter of a delegate type.
    fn delegate_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        asked: (&TypeArguments, u8),
    ) -> Value {
        let world = ev.world;
        let (given, index) = asked;
        match self.typed_with(ev, frame, decl, type_, given) {
            Value::ExternalInstance(external, arguments) => {
                let name = external.last().map_or("", |it| world.text(it));
                match (name, &arguments[..]) {
                    ("Expression", [Value::ExternalInstance(_, inner)]) => {
                        inner.get(usize::from(index)).cloned().unwrap_or(Value::Unknown)
                    }
                    ("Func", [inputs @ .., _]) => {
                        inputs.get(usize::from(index)).cloned().unwrap_or(Value::Unknown)
                    }
                    ("Action" | "Predicate" | "Comparison", inputs) => {
                        let index = if name == "Comparison" { 0 } else { usize::from(index) };
                        inputs.get(index).cloned().unwrap_or(Value::Unknown)
                    }
                    _ => Value::ExternalResult,
                }
            }
            Value::Instance(def, arguments) if world.kind(def) == NodeKind::Type => {
                let (file, id, delegate) = world.decl(def);
                let Some(type_) = delegate.parameters.get(usize::from(index)).and_then(|it| it.type_) else {
                    return Value::Unknown;
                };
                let names = delegate.type_parameters.iter().map(|it| world.name(file, it.name));
                let given: TypeArguments = names.zip(arguments.iter().cloned()).collect();
                self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &given)
            }
            _ => Value::Unknown,
        }
    }

    /// What comes out of a call through `out var x`.
    pub(super) fn comes_out(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        site: CallSite,
        argument: u8,
    ) -> Value {
        let world = ev.world;
        let callee = ev.callee(frame, site.decl, site.callee);
        match &callee {
            Value::Def(def) if world.kind(*def).is_callable() => {
                let receiver = self.receiver_of(ev, frame, site);
                let is_extension = world
                    .decl(*def)
                    .2
                    .parameters
                    .first()
                    .is_some_and(|it| it.kind == ParameterKind::Receiver);
                let as_extension = is_extension && !matches!(receiver, Some(Value::Def(_)) | None);
                let found = parameter_for(ev, *def, as_extension, usize::from(argument), None);
                let Some((file, id, parameter)) = found else { return Value::Unknown };
                let Some(type_) = parameter.type_ else { return Value::Unknown };
                let given = self.given_at(ev, frame, *def, site);
                self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &given)
            }
            Value::External(external) => {
                let name = external.last().map_or("", |it| world.text(it));
                let on = match plain_callee(ev, frame, site.callee) {
                    Expr::Member { of, .. } => ev.settled_expr(frame, site.decl, of),
                    _ => Value::Unknown,
                };
                standard::put_out(ev, name, &on)
            }
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }
}
