//! Members of types: fields, inherent and trait methods, `Deref`, what the standard library gives to all.

use knowing_model::NodeKind;
use knowing_model::facts::ImportKind;

use super::{Rust, standard, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Value};
use crate::world::Def;

impl Rust {
    /// A field or method of a value: own first, then by traits, then through `Deref`, then what the standard library
    /// gives to all.
    pub(super) fn instance_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        (def, arguments): (Def, &[Value]),
        name: Name,
    ) -> Value {
        let world = ev.world;
        if let Some(field) = child(ev, def, name)
            && world.kind(field) == NodeKind::Field
        {
            return Value::Def(field);
        }
        if let Some(field) = self.tuple_field(ev, frame, (def, arguments), name) {
            return field;
        }
        match self.associated(ev, frame, def, name) {
            Value::Missing => {}
            found => return found,
        }
        let dereferenced = world.names.find("Target").map(|it| world.hierarchy.impl_members(def, it));
        if let Some([target]) = dereferenced
            && ev.enter()
        {
            let (file, _, alias) = world.decl(*target);
            let inner = match alias.type_ {
                Some(type_) => ev.typed(Frame::in_file(frame, file), alias.owner, type_),
                None => Value::Unknown,
            };
            let found =
                if inner == Value::instance(def) { Value::Unknown } else { ev.member(frame, &inner, name) };
            ev.leave();
            return found;
        }
        Value::Missing
    }

    /// `0` of a tuple struct.
    pub(super) fn tuple_field(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        (def, arguments): (Def, &[Value]),
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        if !world.text(name).starts_with(|it: char| it.is_ascii_digit()) {
            return None;
        }
        let (file, id, decl) = world.decl(def);
        let type_ = decl.parameters.iter().find(|it| world.name(file, it.name) == name)?.type_?;
        let given = self.given_to(ev, def, arguments);
        Some(self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &given))
    }

    /// What `Type::name` or a method call finds: variants, inherent items, trait items, items of the standard traits.
    pub(super) fn associated(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, name: Name) -> Value {
        let world = ev.world;
        if let Some(member) = child(ev, def, name)
            && world.kind(member) != NodeKind::Field
        {
            return Value::Def(member);
        }
        let all = world.hierarchy.impl_members(def, name);
        if let Some(own) = all.iter().find(|it| is_inherent(ev, **it)) {
            return Value::Def(*own);
        }
        match all {
            [] => {}
            [one] => return Value::Def(*one),
            several => {
                let of = |def: &Def| {
                    let (file, _, decl) = world.decl(*def);
                    let target = world.hierarchy.implementation(file, decl.implementation?)?;
                    match target.interface {
                        Some(Ancestor::Project(interface)) => Some(interface),
                        _ => None,
                    }
                };
                return self.in_scope(ev, frame, several.iter().map(|it| (of(it), *it)).collect());
            }
        }
        let mut iterator = false;
        let mut defaults: Vec<(Option<Def>, Def)> = Vec::new();
        for interface in world.hierarchy.interfaces(def) {
            match interface {
                Ancestor::Project(interface) => {
                    if let Some(found) = trait_member(ev, *interface, name)
                        && !defaults.iter().any(|it| it.1 == found)
                    {
                        defaults.push((Some(*interface), found));
                    }
                }
                Ancestor::External(external) => {
                    iterator |= external.last().is_some_and(|it| world.text(it) == "Iterator");
                }
                Ancestor::Unknown => {}
            }
        }
        if !defaults.is_empty() {
            return self.in_scope(ev, frame, defaults);
        }
        if world.kind(def) == NodeKind::Trait
            && let Some(found) = trait_member(ev, def, name)
        {
            return Value::Def(found);
        }
        let text = world.text(name);
        if iterator && tables::ITERATOR_METHODS.binary_search(&text).is_ok() {
            return standard::item(ev, &["std", "iter", "Iterator", text]);
        }
        match world.hierarchy.blanket_members(name) {
            [one] => return Value::OneOf([Value::Def(*one), Value::Unknown].into()),
            [] => {}
            _ => return Value::Unknown,
        }
        standard::trait_method(ev, text).unwrap_or(Value::Missing)
    }

    /// Of members that several traits give, those whose trait the file can name; all of them where it names none.
    fn in_scope(&self, ev: &mut Evaluator<'_>, frame: Frame, members: Vec<(Option<Def>, Def)>) -> Value {
        let world = ev.world;
        let found: Vec<Value> = match (members.len(), world.modules.rust.module(world, frame.file, None)) {
            (2.., Some(module)) => members
                .iter()
                .filter(|(interface, _)| {
                    interface.is_some_and(|interface| {
                        let (file, _, decl) = world.decl(interface);
                        let name = world.name(file, decl.name);
                        self.module_item(ev, frame, module, name, Space::Type) == Value::Def(interface)
                    })
                })
                .map(|it| Value::Def(it.1))
                .collect(),
            _ => Vec::new(),
        };
        let all = || members.iter().map(|it| Value::Def(it.1)).collect();
        Value::join(if found.is_empty() { all() } else { found })
    }

    /// Whether a file can call what a trait of the project gives to a type from outside: it has the trait, or imports it.
    pub(super) fn is_in_reach(&self, ev: &mut Evaluator<'_>, frame: Frame, member: Def) -> bool {
        let world = ev.world;
        let (file, _, decl) = world.decl(member);
        let block = decl.implementation.and_then(|it| world.hierarchy.implementation(file, it));
        let Some(Ancestor::Project(interface)) = block.and_then(|it| it.interface.as_ref()) else {
            return true;
        };
        let (there, _, decl) = world.decl(*interface);
        if there == frame.file {
            return true;
        }
        let wanted = world.name(there, decl.name);
        world.facts(frame.file).imports.iter().any(|import| match import.kind {
            ImportKind::Member { name, .. } => world.name(frame.file, name) == wanted,
            // A module that cannot be found may offer anything.
            ImportKind::Wildcard => match self.imported_module(ev, frame, import) {
                Value::Module(_) => {
                    self.offered(ev, frame, import, wanted, Space::Type) == Value::Def(*interface)
                }
                Value::External(_) | Value::Def(_) => false,
                _ => true,
            },
            _ => false,
        })
    }

    /// `type Item = ...` of a type's trait implementation.
    pub(super) fn associated_type(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        def: Def,
        name: &str,
    ) -> Value {
        let world = ev.world;
        let Some(name) = world.names.find(name) else { return Value::Unknown };
        let [alias] = world.hierarchy.impl_members(def, name) else { return Value::Unknown };
        let (file, id, decl) = world.decl(*alias);
        match decl.type_ {
            Some(type_) => ev.typed(Frame::in_file(frame, file), Some(id), type_),
            None => Value::Unknown,
        }
    }
}

/// Whether a member stands in an `impl` block of no trait.
fn is_inherent(ev: &Evaluator<'_>, def: Def) -> bool {
    let (file, _, decl) = ev.world.decl(def);
    let target = decl.implementation.and_then(|it| ev.world.hierarchy.implementation(file, it));
    target.is_some_and(|it| it.interface.is_none())
}

/// A member a declaration itself holds.
pub(super) fn child(ev: &Evaluator<'_>, def: Def, name: Name) -> Option<Def> {
    let world = ev.world;
    let (file, id, _) = world.decl(def);
    world.scopes[file as usize].find(Scope::of(Some(id)), name).iter().find_map(|it| match it.item {
        Item::Decl(decl) => Some(world.def(file, decl)),
        _ => None,
    })
}

/// A member of a trait or of one above it.
fn trait_member(ev: &Evaluator<'_>, interface: Def, name: Name) -> Option<Def> {
    child(ev, interface, name).or_else(|| {
        ev.world.hierarchy.ancestors(interface).iter().find_map(|it| match it {
            Ancestor::Project(above) => child(ev, *above, name),
            _ => None,
        })
    })
}

/// A member of what fulfils all of these traits.
pub(super) fn bounded_member(ev: &Evaluator<'_>, bounds: &[Value], name: Name) -> Value {
    let mut outside: Option<External> = None;
    let mut unknown = bounds.is_empty();
    for bound in bounds {
        match bound {
            Value::Def(interface) => {
                if let Some(found) = trait_member(ev, *interface, name) {
                    return Value::Def(found);
                }
                // `impl dyn Interface { .. }`
                let own = ev.world.hierarchy.impl_members(*interface, name);
                if let Some(own) = own.iter().find(|it| is_inherent(ev, **it)) {
                    return Value::Def(*own);
                }
                for above in ev.world.hierarchy.ancestors(*interface) {
                    if let Ancestor::External(external) = above {
                        outside.get_or_insert_with(|| external.clone());
                    }
                }
            }
            Value::External(external) => {
                let last = external.last().map_or("", |it| ev.world.text(it));
                if !matches!(last, "Send" | "Sync" | "Sized" | "Copy" | "Clone" | "Debug" | "Unpin" | "Any") {
                    outside.get_or_insert_with(|| external.clone());
                }
            }
            _ => unknown = true,
        }
    }
    if let Some(value) = standard::trait_method(ev, ev.world.text(name)) {
        return value;
    }
    match (outside, unknown) {
        (Some(external), false) => Value::External(external.member(name)),
        (None, false) => Value::Missing,
        (_, true) => Value::Unknown,
    }
}
