//! What calls give, what blocks get, what containers hold.

use knowing_model::NodeKind;
use knowing_model::facts::{Expr, ReturnKind};

use super::members::Side;
use super::{Ruby, core_instance, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::CallSite;
use crate::value::{External, Origin, Value};
use crate::world::Def;

impl Ruby {
    pub(super) fn result(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        callee: &Value,
        site: CallSite,
    ) -> Value {
        let world = ev.world;
        let called = match world.found_in(frame.file).expr(site.callee) {
            Expr::Member { name, .. } => world.found_in(frame.file).text(name),
            _ => "",
        };
        match callee {
            Value::Def(def) => {
                let kind = world.kind(*def);
                let on = self.called_on(ev, frame, site);
                if called == "new" && (kind == NodeKind::Constructor || kind.is_type_like()) {
                    return made(ev, &on);
                }
                let receiver = on.parts().iter().find_map(|it| match it {
                    Value::Instance(type_, _) => Some(*type_),
                    Value::Def(type_) if world.kind(*type_).is_type_like() => Some(*type_),
                    _ => None,
                });
                if kind.is_callable() || kind == NodeKind::Property {
                    ev.result_of(*def, Evaluator::with_receiver(frame, receiver))
                } else {
                    Value::Unknown
                }
            }
            Value::External(external) => self.outside_result(ev, frame, external, called, site),
            Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
            Value::Function(result) => (**result).clone(),
            _ => Value::Unknown,
        }
    }

    /// What methods from outside give: themselves, elements, well-known classes.
    fn outside_result(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        external: &External,
        called: &str,
        site: CallSite,
    ) -> Value {
        match called {
            "new" => {
                let on = self.called_on(ev, frame, site);
                return made(ev, &on);
            }
            "class" => {
                let on = self.called_on(ev, frame, site);
                return on.map(|it| match it {
                    Value::Instance(type_, _) => Value::Def(*type_),
                    Value::ExternalInstance(class, _) => Value::External(class.clone()),
                    Value::Unknown => Value::Unknown,
                    _ => Value::ExternalResult,
                });
            }
            "tap" | "freeze" | "dup" | "clone" | "itself" | "extend" | "deep_dup" | "presence" => {
                return self.called_on(ev, frame, site);
            }
            _ => {}
        }
        if external.origin == Origin::ThirdParty {
            return Value::ExternalResult;
        }
        let on = self.called_on(ev, frame, site);
        // `Data#with` gives another of its kind.
        if called == "with" {
            return on;
        }
        if tables::SAME_LIST.contains(&called)
            && matches!(on, Value::ExternalInstance(..) | Value::Iterable(_))
        {
            return on;
        }
        if tables::ELEMENT.contains(&called) {
            return on.map(|it| self.each(ev, frame, it));
        }
        if called.ends_with('?') {
            return core_instance(ev, "TrueClass");
        }
        let class = match tables::RESULTS.binary_search_by_key(&called, |it| it.0) {
            Ok(at) => tables::RESULTS[at].1,
            // A container of Ruby holds whatever the project put there.
            Err(_) => return Value::Unknown,
        };
        core_instance(ev, class)
    }

    pub(super) fn each(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            Value::ExternalInstance(_, arguments) if arguments.len() == 1 => arguments[0].clone(),
            Value::ExternalInstance(external, _) if external.origin == Origin::StandardLibrary => {
                Value::Unknown
            }
            Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
            Value::Instance(type_, _) => self.yielded_by(ev, frame, *type_, Side::Value),
            Value::Def(type_) if ev.world.kind(*type_).is_type_like() => {
                self.yielded_by(ev, frame, *type_, Side::Type)
            }
            _ => Value::Unknown,
        }
    }

    /// What the project's own `each` gives to its block.
    fn yielded_by(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def, side: Side) -> Value {
        let Some(each) = ev.world.names.find("each") else { return Value::Unknown };
        match self.find(ev, frame, type_, each, side) {
            Value::Def(def) => self.yields(ev, frame, def),
            _ => Value::Unknown,
        }
    }

    pub(super) fn at_index(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        let world = ev.world;
        let (type_, side) = match of {
            Value::Iterable(inner) => return (**inner).clone(),
            // A mapping's last argument is what it holds, a sequence has one.
            Value::ExternalInstance(_, arguments) if !arguments.is_empty() => {
                return arguments[arguments.len() - 1].clone();
            }
            Value::ExternalInstance(external, _) if external.origin == Origin::StandardLibrary => {
                return Value::Unknown;
            }
            Value::ExternalInstance(..) | Value::ExternalResult | Value::External(_) => {
                return Value::ExternalResult;
            }
            Value::Instance(type_, _) => (*type_, Side::Value),
            Value::Def(type_) if world.kind(*type_).is_type_like() => (*type_, Side::Type),
            _ => return Value::Unknown,
        };
        let Some(name) = world.names.find("[]") else { return Value::Unknown };
        match self.find(ev, frame, type_, name, side) {
            Value::Def(def) => ev.result_of(def, Evaluator::with_receiver(frame, Some(type_))),
            _ => Value::Unknown,
        }
    }

    pub(super) fn given_to_block(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value) -> Value {
        match callee {
            Value::Def(def) if ev.world.kind(*def).is_callable() => self.yields(ev, frame, *def),
            Value::External(external) => {
                let root = external.path.first().map_or("", |it| ev.world.text(*it));
                // Containers and the words of the language hand over what the project gave them.
                if tables::PASSING_ON.contains(&root) { Value::Unknown } else { Value::ExternalResult }
            }
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    /// What a method hands to its block.
    fn yields(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def) -> Value {
        let world = ev.world;
        let (file, id, _) = world.decl(method);
        if !ev.enter() {
            return Value::Unknown;
        }
        let inner = Frame::in_file(Evaluator::with_receiver(frame, None), file);
        let mut values = Vec::new();
        for at in world.scopes[file as usize].returns(id) {
            let it = world.found_in(file).returns[at as usize];
            if it.kind == ReturnKind::Yield {
                values.push(ev.settled_expr(inner, Some(id), it.expr));
            }
        }
        ev.leave();
        Value::join(values)
    }
}

/// What `new` gives, called on this.
fn made(ev: &Evaluator<'_>, on: &Value) -> Value {
    on.map(|it| match it {
        Value::Def(type_) if ev.world.kind(*type_).is_type_like() => Value::instance(*type_),
        Value::External(class) => Value::ExternalInstance(class.clone(), Value::none()),
        Value::Unknown => Value::Unknown,
        _ => Value::ExternalResult,
    })
}
