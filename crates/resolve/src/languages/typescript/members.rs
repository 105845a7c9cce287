//! Members of classes, interfaces, objects, functions and namespaces.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Modifiers};

use super::{TypeScript, builtin_member, builtin_name, is_static};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::Space;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::Value;
use crate::world::Def;

/// Which members are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Instance,
    Static,
}

impl TypeScript {
    /// A member of a value of a type.
    pub(super) fn instance_member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: Def, name: Name) -> Value {
        let world = ev.world;
        if let Some(found) = own_member(ev, of, name, Side::Instance) {
            return Value::Def(found);
        }
        match world.kind(of) {
            NodeKind::TypeAlias => {
                let (file, id, alias) = world.decl(of);
                let Some(type_) = alias.type_ else { return Value::Missing };
                let value = ev.typed(Frame::in_file(frame, file), Some(id), type_);
                match value {
                    Value::Instance(other, _) if other == of => Value::Missing,
                    value => ev.member(frame, &value, name),
                }
            }
            NodeKind::Enum => Value::Unknown,
            // What a function made may have more than it shows.
            NodeKind::Function | NodeKind::Method => Value::Unknown,
            _ => self.ancestor_member(ev, of, name, Side::Instance),
        }
    }

    pub(super) fn static_member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: Def, name: Name) -> Value {
        let world = ev.world;
        let kind = world.kind(of);
        match kind {
            NodeKind::Module => return self.space_member(ev, frame, of, name, Space::Value),
            NodeKind::Var | NodeKind::Const | NodeKind::Field => {
                return own_member(ev, of, name, Side::Instance).map_or(Value::Unknown, Value::Def);
            }
            _ => {}
        }
        if let Some(found) = own_member(ev, of, name, Side::Static) {
            return Value::Def(found);
        }
        // A namespace that is merged with a class or function.
        for part in self.spaces_of(ev, of) {
            match self.space_member(ev, frame, part, name, Space::Value) {
                Value::Missing => {}
                value => return value,
            }
        }
        match world.text(name) {
            "apply" | "bind" | "call" | "name" | "toString"
                if kind.is_callable() || kind == NodeKind::Class =>
            {
                builtin_member(ev, "Function", name)
            }
            // Instances of what stands behind it.
            "prototype" => Value::instance(of),
            _ if kind == NodeKind::Class => self.ancestor_member(ev, of, name, Side::Static),
            _ if kind == NodeKind::Enum => Value::Missing,
            _ => Value::Unknown,
        }
    }

    fn spaces_of(&self, ev: &Evaluator<'_>, of: Def) -> Vec<Def> {
        let world = ev.world;
        let (file, id, decl) = world.decl(of);
        let name = world.name(file, decl.name);
        let entries = world.scopes[file as usize].find(Scope::of(decl.owner), name);
        let spaces = entries.iter().filter_map(|entry| match entry.item {
            Item::Decl(other) if other != id && world.found_in(file).decl(other).kind == NodeKind::Module => {
                Some(world.def(file, other))
            }
            _ => None,
        });
        spaces.collect()
    }

    /// What a namespace offers.
    pub(super) fn space_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: Def,
        name: Name,
        space: Space,
    ) -> Value {
        let parts = ev.world.hierarchy.parts(&of).to_vec();
        for part in parts {
            let (file, id, _) = ev.world.decl(part);
            if !ev.enter() {
                return Value::Unknown;
            }
            let value = self.local_name(ev, Frame::in_file(frame, file), Some(id), name, space);
            ev.leave();
            match value {
                Value::Missing => {}
                value => return value,
            }
        }
        Value::Missing
    }

    /// `super.name`, and `super(...)` as the constructor.
    pub(super) fn inherited(&self, ev: &Evaluator<'_>, class: Def, name: Name) -> Value {
        let found = self.ancestor_member(ev, class, name, Side::Instance);
        match found {
            Value::Missing if ev.world.text(name) == "constructor" => {
                // The class above has no constructor of its own.
                match ev.world.hierarchy.ancestors(class).first() {
                    Some(Ancestor::Project(base)) => Value::Def(*base),
                    _ => Value::Missing,
                }
            }
            Value::External(external) if ev.world.text(name) == "constructor" => {
                let path = &external.path[..external.path.len() - 1];
                Value::External(crate::value::External::new(external.origin, path))
            }
            value => value,
        }
    }

    fn ancestor_member(&self, ev: &Evaluator<'_>, of: Def, name: Name, side: Side) -> Value {
        let world = ev.world;
        let mut unknown = false;
        // Types without bases of their own in the list have them unresolved.
        if world.decl(of).2.bases.is_empty() && world.kind(of) == NodeKind::Class {
            let has_heritage =
                world.found_in(world.file_of(of)).text(world.decl(of).2.signature).contains(" extends ");
            unknown = has_heritage;
        }
        for ancestor in world.hierarchy.ancestors(of) {
            match ancestor {
                Ancestor::Project(base) => {
                    if let Some(found) = own_member(ev, *base, name, side) {
                        return if unknown {
                            Value::OneOf([Value::Def(found), Value::Unknown].into())
                        } else {
                            Value::Def(found)
                        };
                    }
                    if world.kind(*base) == NodeKind::TypeAlias {
                        unknown = true;
                    }
                }
                Ancestor::External(external) => {
                    // Many interfaces of packages are fulfilled without adding members.
                    let is_marker = builtin_name(ev, external).is_some_and(|it| it == "Object");
                    if !is_marker && !unknown {
                        return Value::External(external.member(name));
                    }
                }
                Ancestor::Unknown => unknown = true,
            }
        }
        if unknown { Value::Unknown } else { Value::Missing }
    }
}

/// The member a type, object or function itself declares, in any of its parts. A method comes before a field of its
/// name, a getter before its setter, an implementation before its signatures.
fn own_member(ev: &Evaluator<'_>, of: Def, name: Name, side: Side) -> Option<Def> {
    let world = ev.world;
    let is_function = world.kind(of).is_callable();
    world.hierarchy.parts(&of).iter().find_map(|part| {
        let (file, id, _) = world.decl(*part);
        let facts = world.found_in(file);
        if facts.decl(id).kind == NodeKind::Module && world.kind(of) != NodeKind::Module {
            return None;
        }
        let rank = |decl: DeclId| {
            let decl = facts.decl(decl);
            let is_field = decl.kind == NodeKind::Field && decl.value.is_none();
            (is_field, decl.modifiers.contains(Modifiers::OVERLOAD))
        };
        world.scopes[file as usize]
            .find(Scope::of(Some(id)), name)
            .iter()
            .filter_map(|entry| match entry.item {
                Item::Decl(decl) => Some(decl),
                _ => None,
            })
            .filter(|decl| {
                let member = facts.decl(*decl);
                let is_member = matches!(
                    member.kind,
                    NodeKind::Method
                        | NodeKind::Field
                        | NodeKind::Property
                        | NodeKind::Constructor
                        | NodeKind::EnumMember
                        | NodeKind::Class
                );
                let def = world.def(file, *decl);
                let fits =
                    member.kind == NodeKind::EnumMember || (side == Side::Static) == is_static(ev, def);
                is_member && (fits || !is_function && member.kind == NodeKind::Class)
            })
            .min_by_key(|it| (rank(*it), *it))
            .map(|decl| world.def(file, decl))
    })
}
