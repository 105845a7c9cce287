//! Members: own and inherited ones, extension methods in scope, what types from outside have.

use knowing_model::NodeKind;
use knowing_model::facts::DeclId;

use super::lookup::{Asked, in_namespace, nested_type};
use super::{Csharp, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Value};
use crate::world::{Def, World};

/// What is looked for: a method is called, anything else is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Method,
    Any,
}

impl Csharp {
    pub(super) fn member_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: &Value,
        name: Name,
        wanted: Wanted,
    ) -> Value {
        let world = ev.world;
        match of {
            Value::Module(namespace) => match in_namespace(world, frame.file, *namespace, name, None) {
                Value::Missing => Value::Unknown,
                value => value,
            },
            Value::Def(def) if world.kind(*def).is_type_like() => {
                self.type_member(ev, frame, *def, name, wanted, true)
            }
            // `handler.Invoke()`
            Value::Def(def) if world.kind(*def).is_callable() => {
                if world.text(name) == "Invoke" {
                    Value::Def(*def)
                } else {
                    Value::Unknown
                }
            }
            Value::Instance(def, _) => self.type_member(ev, frame, *def, name, wanted, false),
            Value::Super(def) => self.inherited_member(ev, *def, name, wanted),
            Value::Bounded(bounds) => self.bounded_member(ev, frame, bounds, name, wanted),
            Value::External(external) => Value::External(external.member(name)),
            Value::ExternalInstance(external, _) => {
                if let Some(value) = standard::property(ev, of, name) {
                    return value;
                }
                // What a property of it holds is of a type that nobody here knows.
                let otherwise = match wanted {
                    Wanted::Method => Value::External(external.member(name)),
                    Wanted::Any => Value::ExternalResult,
                };
                self.extension_or(ev, frame, of, name, wanted, otherwise)
            }
            Value::Awaitable(result) => match world.text(name) {
                "Result" => (**result).clone(),
                _ => {
                    let outside = standard::member(ev, "Task", name);
                    self.extension_or(ev, frame, of, name, wanted, outside)
                }
            },
            Value::Iterable(_) => {
                let outside = standard::member(ev, "IEnumerable", name);
                self.extension_or(ev, frame, of, name, wanted, outside)
            }
            Value::Tuple(items) => {
                match world.text(name).strip_prefix("Item").and_then(|it| it.parse::<usize>().ok()) {
                    Some(number @ 1..) => items.get(number - 1).cloned().unwrap_or(Value::Unknown),
                    _ => Value::Unknown,
                }
            }
            Value::Function(_) if world.text(name) == "Invoke" => of.clone(),
            Value::ExternalResult => self.extension_or(ev, frame, of, name, wanted, Value::ExternalResult),
            _ => Value::Unknown,
        }
    }

    /// An extension method in scope that fits the receiver, else what is said otherwise.
    fn extension_or(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: &Value,
        name: Name,
        wanted: Wanted,
        otherwise: Value,
    ) -> Value {
        if wanted != Wanted::Method {
            return otherwise;
        }
        match self.extension(ev, frame, of, name) {
            Value::Missing => otherwise,
            found => found,
        }
    }

    fn type_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        def: Def,
        name: Name,
        wanted: Wanted,
        is_static: bool,
    ) -> Value {
        let world = ev.world;
        if let Some(found) = declared_member(world, def, name, wanted) {
            return Value::Def(found);
        }
        if is_static && wanted == Wanted::Any {
            let asked = Asked { file: frame.file, at: None, name, arity: None };
            if let Some(found) = nested_type(world, def, asked) {
                return Value::Def(found);
            }
        }
        if !is_static && wanted == Wanted::Method {
            match self.extension(ev, frame, &Value::instance(def), name) {
                Value::Missing => {}
                found => return found,
            }
        }
        inherited_from_outside(ev, def, name)
    }

    /// `base.Name`.
    fn inherited_member(&self, ev: &mut Evaluator<'_>, def: Def, name: Name, wanted: Wanted) -> Value {
        let world = ev.world;
        for ancestor in world.hierarchy.ancestors(def) {
            if let Ancestor::Project(above) = ancestor
                && world.kind(*above) != NodeKind::Interface
                && let Some(found) = pick(world, own_members(world, *above, name), wanted)
            {
                return Value::Def(found);
            }
        }
        inherited_from_outside(ev, def, name)
    }

    fn bounded_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        bounds: &[Value],
        name: Name,
        wanted: Wanted,
    ) -> Value {
        let mut outside = None;
        for bound in bounds {
            match self.member_of(ev, frame, bound, name, wanted) {
                found @ Value::Def(_) => return found,
                found @ Value::External(_) => outside = Some(found),
                _ => {}
            }
        }
        match self.extension_or(ev, frame, &Value::Bounded(bounds.into()), name, wanted, Value::Missing) {
            Value::Missing => outside.unwrap_or(Value::Unknown),
            found => found,
        }
    }
}

/// A member by its name, own or inherited from the project: of several callables the first stands for all.
pub(super) fn declared_member(world: &World<'_>, def: Def, name: Name, wanted: Wanted) -> Option<Def> {
    if let Some(found) = pick(world, own_members(world, def, name), wanted) {
        return Some(found);
    }
    world.hierarchy.ancestors(def).iter().find_map(|it| match it {
        Ancestor::Project(above) => pick(world, own_members(world, *above, name), wanted),
        _ => None,
    })
}

fn pick(world: &World<'_>, members: Vec<Def>, wanted: Wanted) -> Option<Def> {
    let kind = |it: &Def| world.kind(*it);
    if wanted == Wanted::Method
        && let Some(found) = members.iter().find(|it| kind(it).is_callable())
    {
        return Some(*found);
    }
    let value = members.iter().find(|it| !kind(it).is_type_like());
    value.or(members.first()).copied()
}

/// What all parts of a type declare by a name.
pub(super) fn own_members(world: &World<'_>, def: Def, name: Name) -> Vec<Def> {
    let mut found = Vec::new();
    for part in world.hierarchy.parts(&def) {
        let (file, id, _) = world.decl(*part);
        for entry in world.scopes[file as usize].find(Scope::of(Some(id)), name) {
            if let Item::Decl(decl) = entry.item {
                found.push(world.def(file, decl));
            }
        }
    }
    found
}

/// What a type that the project does not declare the member of may have it from.
fn inherited_from_outside(ev: &Evaluator<'_>, def: Def, name: Name) -> Value {
    let world = ev.world;
    let mut doubt = false;
    let mut outside: Option<&External> = None;
    for ancestor in world.hierarchy.ancestors(def) {
        match ancestor {
            Ancestor::External(external) => outside = outside.or(Some(external)),
            Ancestor::Unknown => doubt = true,
            Ancestor::Project(_) => {}
        }
    }
    if standard::is_object_member(world.text(name)) {
        return standard::member(ev, "Object", name);
    }
    match world.kind(def) {
        NodeKind::Enum => return standard::member(ev, "Enum", name),
        NodeKind::Type => return standard::member(ev, "Delegate", name),
        _ => {}
    }
    match outside {
        Some(external) => Value::External(external.member(name)),
        None if doubt => Value::Unknown,
        None => Value::Missing,
    }
}

/// The innermost type around a declaration.
pub(super) fn type_around(world: &World<'_>, file: u32, decl: Option<DeclId>) -> Option<Def> {
    let facts = world.facts(file);
    let mut at = decl;
    while let Some(id) = at {
        if facts.decl(id).kind.is_type_like() {
            return Some(world.hierarchy.whole(world.def(file, id)));
        }
        at = facts.decl(id).owner;
    }
    None
}
