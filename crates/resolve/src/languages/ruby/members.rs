//! Members in Ruby's order: prepended modules, the class itself, included modules, the superclass; of the class itself:
//! its own methods, what extends it, `ClassMethods` of what it includes.

use knowing_model::NodeKind;
use knowing_model::facts::{BaseRole, Modifiers};

use super::constants::TOP;
use super::requires::is_test_path;
use super::{Ruby, core, core_instance, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, World};

/// Whether a member is asked of a value or of the type itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Value,
    Type,
}

/// More types than this are not asked what a module they include may call.
const MAX_USERS: usize = 200;

/// What was met on the way to a member that is not found.
#[derive(Default)]
struct Way {
    externals: Vec<External>,
    unknown: bool,
}

impl Ruby {
    /// `of.name`, by the type of `of`.
    pub(super) fn find(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def, name: Name, side: Side) -> Value {
        let world = ev.world;
        let mut way = Way::default();
        if let Some(found) = lookup(world, type_, name, side, From::First, &mut way) {
            return certain(found, &way);
        }
        if let Some(found) = setter_of_accessor(world, type_, name, side) {
            return Value::Def(found);
        }
        if let Some(found) = self.everywhere(ev, frame, name, side) {
            return found;
        }
        if side == Side::Value && world.kind(type_) == NodeKind::Module {
            match users_member(world, frame, type_, name) {
                Value::Missing => {}
                value => return value,
            }
        }
        self.outside(ev, name, side, &way)
    }

    /// `super` in a method: the next of its name.
    pub(super) fn find_behind(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def, name: Name) -> Value {
        let world = ev.world;
        let Some(owner) = world.owner(method).filter(|it| world.kind(*it).is_type_like()) else {
            return Value::Unknown;
        };
        let side = side_of(world, method);
        let owner = world.hierarchy.whole(owner);
        let exact = frame.receiver.filter(|it| world.hierarchy.is_below(*it, owner)).unwrap_or(owner);
        let mut way = Way::default();
        if let Some(found) = lookup(world, exact, name, side, From::Behind(owner), &mut way) {
            return certain(found, &way);
        }
        let is_module = world.kind(owner) == NodeKind::Module;
        if is_module && side == Side::Value {
            // Which method comes next depends on who includes the module.
            let mut found: Vec<Def> = Vec::new();
            for user in users(world, frame, owner) {
                let next = lookup(world, user, name, Side::Value, From::Behind(owner), &mut way);
                found.extend(next.filter(|it| !found.contains(it)));
            }
            return match found[..] {
                [one] => doubtful(Value::Def(one)),
                _ => Value::Unknown,
            };
        }
        match self.outside(ev, name, side, &way) {
            Value::Missing => core(ev, "BasicObject", name),
            value => value,
        }
    }

    /// Methods that the project adds to every object.
    fn everywhere(&self, ev: &Evaluator<'_>, frame: Frame, name: Name, side: Side) -> Option<Value> {
        let world = ev.world;
        let modules = &world.modules.ruby;
        let classes: &[&str] =
            if side == Side::Type { &["Class", "Module", "Object", "Kernel"] } else { &["Object", "Kernel"] };
        for class in classes {
            let constant = world.names.find(class).and_then(|it| modules.child(TOP, it));
            let Some(def) = constant.and_then(|it| modules.seen(world, it, frame.file)) else { continue };
            if let Some(found) = own(world, def, name, Side::Value) {
                return Some(Value::Def(found));
            }
        }
        None
    }

    /// What a member is that no class of the project has.
    fn outside(&self, ev: &Evaluator<'_>, name: Name, side: Side, way: &Way) -> Value {
        let world = ev.world;
        let text = world.text(name);
        if let [only] = &way.externals[..]
            && !way.unknown
        {
            let is_everyones = tables::KERNEL.binary_search(&text).is_ok();
            if !is_everyones {
                return Value::External(only.member(name));
            }
        }
        if tables::KERNEL.binary_search(&text).is_ok() {
            return core(ev, "Kernel", name);
        }
        if side == Side::Type && tables::MODULE.binary_search(&text).is_ok() {
            return core(ev, "Module", name);
        }
        match (way.externals.len(), way.unknown) {
            (0, false) => Value::Missing,
            (0, true) => Value::Unknown,
            _ => Value::ExternalResult,
        }
    }

    /// A member of a value or class from outside; the project may have opened its class.
    pub(super) fn outside_member(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        external: &External,
        name: Name,
        side: Side,
    ) -> Value {
        let world = ev.world;
        let modules = &world.modules.ruby;
        let mut at = Some(TOP);
        for part in external.path.iter() {
            at = at.and_then(|it| modules.child(it, *part));
        }
        if let Some(opened) = at.and_then(|it| modules.seen(world, it, frame.file))
            && let Some(found) = own(world, opened, name, side)
        {
            return Value::Def(found);
        }
        if external.origin == Origin::StandardLibrary
            && let Some(found) = self.everywhere(ev, frame, name, side)
        {
            return found;
        }
        Value::External(external.member(name))
    }

    /// The functions at the top of files, and what every object has.
    pub(super) fn top_member(&self, ev: &mut Evaluator<'_>, frame: Frame, file: u32, name: Name) -> Value {
        let world = ev.world;
        let all = world.modules.ruby.functions.get(&name).map_or(&[][..], Vec::as_slice);
        if let Some(own) = all.iter().find(|it| world.file_of(**it) == file) {
            return Value::Def(*own);
        }
        let from_test = is_test_path(world, file);
        let in_reach: Vec<Def> = all
            .iter()
            .copied()
            .filter(|it| {
                let there = world.file_of(*it);
                world.hierarchy.imports(file, there) && (from_test || !is_test_path(world, there))
            })
            .collect();
        if let [only] = in_reach[..] {
            return Value::Def(only);
        }
        if let Some(found) = self.everywhere(ev, frame, name, Side::Value) {
            return found;
        }
        if tables::KERNEL.binary_search(&world.text(name)).is_ok() {
            return core(ev, "Kernel", name);
        }
        if all.is_empty() && !from_test { Value::Missing } else { Value::Unknown }
    }

    /// Fields of a type by name, with those of its ancestors.
    pub(super) fn field(&self, ev: &Evaluator<'_>, type_: Def, name: Name, side: Side) -> Value {
        let world = ev.world;
        let is_shared = world.text(name).starts_with("@@");
        let fields = |of: Def| {
            let all = world.modules.ruby.fields.get(&(of, name)).map_or(&[][..], Vec::as_slice);
            let fits = move |it: &&Def| {
                let of_type = world.decl(**it).2.modifiers.contains(Modifiers::STATIC);
                is_shared || of_type == (side == Side::Type)
            };
            all.iter().filter(fits).map(|it| Value::Def(*it)).collect::<Vec<_>>()
        };
        let mut found = fields(world.hierarchy.whole(type_));
        for ancestor in world.hierarchy.ancestors(type_) {
            if let Ancestor::Project(def) = ancestor {
                found.extend(fields(*def));
            }
        }
        if found.is_empty() { Value::Missing } else { Value::join(found) }
    }

    /// What a literal's class has, by its name.
    pub(super) fn core_member(&self, ev: &Evaluator<'_>, frame: Frame, class: &str, name: Name) -> Value {
        match core_instance(ev, class) {
            Value::ExternalInstance(external, _) => self.outside_member(ev, frame, &external, name, Side::Value),
            _ => Value::Unknown,
        }
    }
}

/// Where a search begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    First,
    /// After this one in the order.
    Behind(Def),
}

fn certain(found: Def, way: &Way) -> Value {
    if way.unknown { doubtful(Value::Def(found)) } else { Value::Def(found) }
}

fn doubtful(value: Value) -> Value {
    Value::join([value, Value::Unknown])
}

/// The side a method is on.
pub(super) fn side_of(world: &World<'_>, method: Def) -> Side {
    let modifiers = world.decl(method).2.modifiers;
    if modifiers.contains(Modifiers::CLASS_METHOD) { Side::Type } else { Side::Value }
}

fn lookup(world: &World<'_>, type_: Def, name: Name, side: Side, from: From, way: &mut Way) -> Option<Def> {
    match side {
        Side::Value => lookup_value(world, type_, name, from, way),
        Side::Type => lookup_type(world, type_, name, from, way),
    }
}

fn lookup_value(world: &World<'_>, type_: Def, name: Name, from: From, way: &mut Way) -> Option<Def> {
    let whole = world.hierarchy.whole(type_);
    let prepended = beside(world, whole, BaseRole::Prepended);
    let mut order: Vec<&Ancestor> = Vec::new();
    order.extend(prepended.iter().copied());
    let own_place = Ancestor::Project(whole);
    order.push(&own_place);
    order.extend(world.hierarchy.ancestors(whole).iter().filter(|it| !prepended.contains(it)));
    let mut is_open = from == From::First;
    for ancestor in order {
        match ancestor {
            Ancestor::Project(def) => {
                if is_open && let Some(found) = own(world, *def, name, Side::Value) {
                    return Some(found);
                }
                if from == From::Behind(world.hierarchy.whole(*def)) {
                    is_open = true;
                }
            }
            _ if !is_open => {}
            Ancestor::External(external) => note_external(world, external, name, way),
            Ancestor::Unknown => way.unknown = true,
        }
    }
    None
}

fn lookup_type(world: &World<'_>, type_: Def, name: Name, from: From, way: &mut Way) -> Option<Def> {
    let whole = world.hierarchy.whole(type_);
    let own_place = Ancestor::Project(whole);
    let order = std::iter::once(&own_place).chain(world.hierarchy.ancestors(whole));
    let mut is_open = from == From::First;
    for ancestor in order {
        match ancestor {
            Ancestor::Project(def) => {
                let is_module = world.kind(*def) == NodeKind::Module && *def != whole;
                if is_open && !is_module && let Some(found) = own(world, *def, name, Side::Type) {
                    return Some(found);
                }
                if from == From::Behind(*def) {
                    is_open = true;
                }
                if !is_open {
                    continue;
                }
                for extended in beside(world, *def, BaseRole::Extended) {
                    if is_module {
                        break;
                    }
                    match extended {
                        Ancestor::Project(module) => {
                            if let Some(found) = lookup_value(world, *module, name, From::First, way) {
                                return Some(found);
                            }
                        }
                        Ancestor::External(external) => note_extension(world, external, name, way),
                        Ancestor::Unknown => way.unknown = true,
                    }
                }
                // A concern gives its `ClassMethods` to whoever includes it.
                if is_module
                    && let Some(found) = class_methods(world, *def)
                        .and_then(|it| lookup_value(world, it, name, From::First, way))
                {
                    return Some(found);
                }
            }
            _ if !is_open => {}
            Ancestor::External(external) => note_external(world, external, name, way),
            Ancestor::Unknown => way.unknown = true,
        }
    }
    // In a module that is no one's yet, the methods that it will give to classes are in reach.
    if world.kind(whole) == NodeKind::Module && from == From::First {
        return class_methods(world, whole).and_then(|it| lookup_value(world, it, name, From::First, way));
    }
    None
}

/// Core classes and marker modules have members that are known; all others may have any.
fn note_external(world: &World<'_>, external: &External, name: Name, way: &mut Way) {
    let last = external.last().map_or("", |it| world.text(it));
    if tables::CLOSED.contains(&last) && tables::COMMON_MEMBERS.binary_search(&world.text(name)).is_err() {
        return;
    }
    if !way.externals.contains(external) {
        way.externals.push(external.clone());
    }
}

fn note_extension(world: &World<'_>, external: &External, name: Name, way: &mut Way) {
    let last = external.last().map_or("", |it| world.text(it));
    if !tables::EXTENSIONS.contains(&last) {
        note_external(world, external, name, way);
    }
}

fn class_methods(world: &World<'_>, module: Def) -> Option<Def> {
    let modules = &world.modules.ruby;
    let name = world.names.find("ClassMethods")?;
    let constant = modules.child(modules.constant_of(module)?, name)?;
    let found = modules.seen(world, constant, world.file_of(module))?;
    (world.kind(found) == NodeKind::Module).then_some(found)
}

/// Bases of one role, over all parts.
fn beside<'w>(world: &'w World<'_>, whole: Def, role: BaseRole) -> Vec<&'w Ancestor> {
    let mut out = Vec::new();
    let parts = match world.modules.ruby.groups_of(whole) {
        Some(parts) => parts,
        None => std::slice::from_ref(&whole),
    };
    for part in parts {
        let bases = &world.decl(*part).2.bases;
        let resolved = world.hierarchy.direct(*part);
        out.extend(bases.iter().zip(resolved).filter(|(base, _)| base.role == role).map(|(_, it)| it));
    }
    out
}

/// The member a type itself declares: the last definition counts, a method before an attribute.
fn own(world: &World<'_>, type_: Def, name: Name, side: Side) -> Option<Def> {
    let all = world.modules.ruby.members.get(&(world.modules.ruby.whole(type_), name))?;
    let fits = |def: &&Def| {
        let modifiers = world.decl(**def).2.modifiers;
        let of_type = modifiers.contains(Modifiers::CLASS_METHOD);
        let both = modifiers.contains(Modifiers::STATIC);
        both || of_type == (side == Side::Type)
    };
    let from_test = is_test_path(world, world.file_of(type_));
    all.iter()
        .filter(fits)
        .filter(|it| from_test || !is_test_path(world, world.file_of(**it)))
        .min_by_key(|it| (world.kind(**it) == NodeKind::Property, **it))
        .copied()
}

/// `x.name = value`, where `attr_accessor :name` gives both.
fn setter_of_accessor(world: &World<'_>, type_: Def, name: Name, side: Side) -> Option<Def> {
    let reader = world.names.find(world.text(name).strip_suffix('=')?)?;
    let found = lookup(world, type_, reader, side, From::First, &mut Way::default())?;
    let decl = world.decl(found).2;
    (decl.kind == NodeKind::Property && !decl.parameters.is_empty()).then_some(found)
}

/// Types that include a module, as far as this file may know of them.
fn users(world: &World<'_>, frame: Frame, module: Def) -> Vec<Def> {
    let from_test = is_test_path(world, frame.file);
    let all = world.hierarchy.mixed_into(module);
    let seen = all.iter().copied().filter(|it| from_test || !is_test_path(world, world.file_of(*it)));
    seen.take(MAX_USERS + 1).collect()
}

/// What a module calls on itself is a method of those that include it: where they agree, that one.
fn users_member(world: &World<'_>, frame: Frame, module: Def, name: Name) -> Value {
    let users = users(world, frame, module);
    if users.is_empty() || users.len() > MAX_USERS {
        return if users.is_empty() { Value::Missing } else { Value::Unknown };
    }
    let mut found: Vec<Def> = Vec::new();
    let mut doubt = false;
    for user in users {
        if world.kind(user) == NodeKind::Module {
            // It is included further on, or never.
            continue;
        }
        let mut way = Way::default();
        match lookup_value(world, user, name, From::First, &mut way) {
            Some(it) if found.contains(&it) => doubt |= way.unknown,
            Some(it) => {
                found.push(it);
                doubt |= way.unknown;
            }
            None => doubt = true,
        }
    }
    match found[..] {
        [] => Value::Missing,
        [one] if !doubt => Value::Def(one),
        [one] => doubtful(Value::Def(one)),
        _ => Value::Unknown,
    }
}
