//! Members: own first, then of bases in order; through smart pointers and `operator->`.

use knowing_model::NodeKind;
use knowing_model::facts::{ImportKind, Modifiers, Type, TypeId};

use super::lookup::overloads;
use super::{Cpp, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{Arguments, Value};
use crate::world::{Def, World};

impl Cpp {
    /// A member of a class by name, inherited ones too. `Missing` when all of its bases are known and none has it.
    pub(super) fn class_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        class: Def,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        match self.own_member(ev, frame, class, name, space) {
            Value::Missing => {}
            found => return found,
        }
        let mut doubt = None;
        for ancestor in world.hierarchy.ancestors(class) {
            match ancestor {
                Ancestor::Project(base) => match self.own_member(ev, frame, *base, name, space) {
                    Value::Missing => {}
                    found => return found,
                },
                Ancestor::External(external) => {
                    doubt.get_or_insert(Value::External(external.member(name)));
                }
                Ancestor::Unknown => {
                    doubt.get_or_insert(Value::Unknown);
                }
            }
        }
        doubt.unwrap_or(Value::Missing)
    }

    fn own_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        class: Def,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let (file, id, _) = world.decl(class);
        let facts = world.facts(file);
        let mut callables: Vec<Def> = Vec::new();
        let mut values: Vec<Def> = Vec::new();
        let mut types: Vec<Def> = Vec::new();
        let mut brought = None;
        for entry in world.scopes[file as usize].find(Scope::of(Some(id)), name) {
            match entry.item {
                Item::Decl(decl) => {
                    let def = world.def(file, decl);
                    match facts.decl(decl).kind {
                        kind if kind.is_type_like() => types.push(def),
                        kind if kind.is_callable() => callables.push(def),
                        _ => values.push(def),
                    }
                }
                Item::Import(index) => brought = Some(&facts.imports[index as usize]),
                Item::Binding(_) | Item::Module(_) => {}
            }
        }
        if types.is_empty() {
            types.extend(world.modules.cpp.nested(world, class, name));
        }
        if space == Space::Type {
            return match (types.first(), brought) {
                (Some(one), _) => Value::Def(*one),
                (None, Some(import)) => self.imported_value(ev, Frame::in_file(frame, file), import, space),
                (None, None) => Value::Missing,
            };
        }
        if callables.is_empty() {
            // What is only defined outside: the class itself could not be read in full, or the test is its member.
            let outside = world.hierarchy.impl_members(class, name).iter();
            callables.extend(outside.filter(|it| world.kind(**it).is_callable()));
        }
        if !callables.is_empty() {
            let mut found = overloads(world, &callables);
            if let Some(import) = brought {
                found = self.with_brought(ev, Frame::in_file(frame, file), &callables, import);
            }
            return found;
        }
        if let Some(value) = values.first() {
            return Value::Def(*value);
        }
        if let Some(member) = enumerator(world, class, name) {
            return Value::Def(member);
        }
        if let Some(import) = brought {
            // `using Base::f;`
            return self.imported_value(ev, Frame::in_file(frame, file), import, space);
        }
        types.first().map_or(Value::Missing, |it| Value::Def(*it))
    }

    /// Own callables, and those of a base that `using Base::f;` puts beside them.
    fn with_brought(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        own: &[Def],
        import: &knowing_model::facts::Import,
    ) -> Value {
        let mut all = own.to_vec();
        if matches!(import.kind, ImportKind::Member { .. }) && ev.enter() {
            match self.imported_value(ev, frame, import, Space::Value) {
                Value::Def(def) => all.push(def),
                Value::Overloads(defs) => all.extend(defs.iter()),
                _ => {}
            }
            ev.leave();
        }
        overloads(ev.world, &all)
    }

    /// `of.name` and `of->name`.
    pub(super) fn instance_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: &Value,
        name: Name,
    ) -> Value {
        match of {
            Value::Instance(class, _) => {
                let found = self.class_member(ev, frame, *class, name, Space::Value);
                if found != Value::Missing {
                    return found;
                }
                match self.pointed_to(ev, frame, of) {
                    Some(inner) if inner != *of && ev.enter() => {
                        let found = self.instance_member(ev, frame, &inner, name);
                        ev.leave();
                        found
                    }
                    Some(_) => Value::Unknown,
                    None => Value::Missing,
                }
            }
            Value::ExternalInstance(external, arguments) => {
                let type_name = standard::type_name(ev, external);
                let text = ev.world.text(name);
                if let Some(value) = standard::pair_member(type_name, text, arguments) {
                    return value;
                }
                if standard::is_pointer(type_name)
                    && !standard::is_pointer_member(text)
                    && let Some(inner) = arguments.first().cloned()
                    && ev.enter()
                {
                    let found = self.instance_member(ev, frame, &inner, name);
                    ev.leave();
                    return found;
                }
                Value::External(external.member(name))
            }
            // `p->name`
            Value::Iterable(inner) => inner.map(|it| self.instance_member(ev, frame, it, name)),
            Value::External(external) => Value::External(external.member(name)),
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    /// What `operator->` of a class of the project leads to.
    fn pointed_to(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Option<Value> {
        let Value::Instance(class, _) = of else { return None };
        let arrow = ev.world.names.find("operator->")?;
        match self.class_member(ev, frame, *class, arrow, Space::Value) {
            Value::Def(def) => Some(unwrapped(self.result_on(ev, frame, def, of))),
            Value::Overloads(all) => Some(unwrapped(self.result_on(ev, frame, *all.first()?, of))),
            _ => None,
        }
    }

    /// The argument of the class that a type names by its parameter: `T`, `T *`.
    fn argument_named(
        &self,
        ev: &Evaluator<'_>,
        (file, type_): (u32, TypeId),
        class: Def,
        arguments: &Arguments,
    ) -> Option<Value> {
        let world = ev.world;
        let Type::Named { segments, arguments: inner, .. } = world.found_in(file).type_(type_) else {
            return None;
        };
        let [only] = segments.as_slice() else { return None };
        if let ([of], "*") = (inner.as_slice(), world.found_in(file).text(*only)) {
            let inner = self.argument_named(ev, (file, *of), class, arguments)?;
            return Some(Value::Iterable(inner.into()));
        }
        let wanted = world.name(file, *only);
        let (class_file, _, class) = world.decl(class);
        let place = class.type_parameters.iter().position(|it| world.name(class_file, it.name) == wanted)?;
        arguments.get(place).cloned()
    }

    /// What a method gives, with the class's own template arguments put in.
    pub(super) fn result_on(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def, of: &Value) -> Value {
        let world = ev.world;
        let (file, _, decl) = world.decl(method);
        if let (Some(type_), Value::Instance(class, arguments)) = (decl.type_, of)
            && !arguments.is_empty()
            && let Some(argument) = self.argument_named(ev, (file, type_), *class, arguments)
        {
            return argument;
        }
        ev.result_of(method, frame)
    }
}

fn unwrapped(value: Value) -> Value {
    match value {
        Value::Iterable(inner) => (*inner).clone(),
        value => value,
    }
}

/// A member of an unscoped enum in a class.
fn enumerator(world: &World<'_>, class: Def, name: Name) -> Option<Def> {
    let (file, id, decl) = world.decl(class);
    if decl.kind == NodeKind::Enum {
        return None;
    }
    let facts = world.facts(file);
    // Declarations of a class stand behind it, up to its end.
    let begin = id.index() + 1;
    let inside = facts.decls[begin..].iter().enumerate().take_while(|(_, it)| it.range.from < decl.range.to);
    for (index, member) in inside {
        if member.kind == NodeKind::EnumMember
            && member.modifiers.contains(Modifiers::PUBLIC)
            && world.name(file, member.name) == name
            && member.owner.is_some_and(|it| facts.decl(it).owner == Some(id))
        {
            return Some(world.def(file, knowing_model::facts::DeclId((begin + index) as u32)));
        }
    }
    None
}

/// Constructors of a class.
pub(super) fn constructors(world: &World<'_>, class: Def) -> Vec<Def> {
    let (file, id, decl) = world.decl(class);
    let facts = world.facts(file);
    let name = world.name(file, decl.name);
    let entries = world.scopes[file as usize].find(Scope::of(Some(id)), name);
    let own = entries.iter().filter_map(|it| match it.item {
        Item::Decl(decl) if facts.decl(decl).kind == NodeKind::Constructor => Some(world.def(file, decl)),
        _ => None,
    });
    own.collect()
}
