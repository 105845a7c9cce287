//! Members in Ruby's order: prepended modules, the class itself, included modules, the superclass; of the class itself:
//! its own methods, what extends it, `ClassMethods` of what it includes.

use knowing_model::NodeKind;
use knowing_model::facts::{BaseRole, Modifiers};

use super::constants::TOP;
use super::requires::is_test_path;
use super::{Ruby, core, core_instance, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, World};

/// Whether a member is asked of a value or of the type itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Side {
    Value,
    Type,
}

/// More types than this are not asked what a module they include may call.
const MAX_USERS: usize = 200;

/// What was met on the way to a member that is not found.
#[derive(Default)]
struct Way {
    /// Types from outside that may have any member.
    open: Vec<External>,
    /// Types of Ruby that have a member of the name, or may.
    core: Vec<External>,
    unknown: bool,
}

impl Ruby {
    /// `of.name`, by the type of `of`.
    pub(super) fn find(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        type_: Def,
        name: Name,
        side: Side,
    ) -> Value {
        /// Numbers of declarations are smaller.
        const SEEN_FROM_TEST: u32 = 1 << 31;
        let place = if is_test_path(ev.world, frame.file) { type_.0 | SEEN_FROM_TEST } else { type_.0 };
        let space = if side == Side::Value { Space::Value } else { Space::Type };
        ev.top_name(place, name, space, |ev| self.find_anew(ev, frame, type_, name, side))
    }

    fn find_anew(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def, name: Name, side: Side) -> Value {
        let world = ev.world;
        let mut way = Way::default();
        if let Some(found) = lookup(ev, type_, name, side, &mut way) {
            return certain(found, &way);
        }
        if let Some(found) = setter_of_accessor(ev, type_, name, side) {
            return Value::Def(found);
        }
        if let Some(found) = opened_test_case(ev, frame, name, &way) {
            return Value::Def(found);
        }
        if let Some(found) = self.everywhere(ev, frame, name, side) {
            return found;
        }
        if side == Side::Value && world.kind(type_) == NodeKind::Module {
            match users_member(ev, frame, type_, name) {
                Value::Missing => {}
                value => return value,
            }
        }
        match self.outside(ev, name, side, &way) {
            Value::Missing if is_test_path(world, frame.file) && is_test_word(world, name) => {
                test_word(world, name).unwrap_or(Value::Missing)
            }
            Value::Missing if side == Side::Value && world.kind(type_) == NodeKind::Module => {
                self.guessed(ev, frame, name)
            }
            value => value,
        }
    }

    /// A module is made to be mixed into something that nobody may see here. What it calls then is guessed as it is for
    /// any unknown receiver: one type alone has such a method, near by, and the name is rare.
    fn guessed(&self, ev: &Evaluator<'_>, frame: Frame, name: Name) -> Value {
        let world = ev.world;
        if self.is_common_member(world.text(name)) {
            return Value::Missing;
        }
        let directory = |file: u32| world.path(file).rsplit_once('/').map_or("", |it| it.0);
        let from_test = is_test_path(world, frame.file);
        let mut found = None;
        for &def in world.members_named(name) {
            let there = world.file_of(def);
            if world.language(there) != "ruby" || is_test_path(world, there) && !from_test {
                continue;
            }
            if found.is_some() {
                return Value::Missing;
            }
            let near =
                directory(there) == directory(frame.file) || world.hierarchy.imports(frame.file, there);
            found = near.then_some(def);
            if !near {
                return Value::Missing;
            }
        }
        found.map_or(Value::Missing, |it| doubtful(Value::Def(it)))
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
        if let Some(found) = lookup_behind(world, exact, name, side, owner, &mut way) {
            return certain(found, &way);
        }
        let is_module = world.kind(owner) == NodeKind::Module;
        if is_module && side == Side::Value {
            // Which method comes next depends on who includes the module.
            let mut found: Vec<Def> = Vec::new();
            for user in users(world, frame, owner) {
                let next = lookup_behind(world, user, name, Side::Value, owner, &mut way);
                found.extend(next.filter(|it| !found.contains(it)));
            }
            for user in world.hierarchy.extended_by(owner) {
                let next = own(world, *user, name, Side::Type);
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
        if !modules.is_member(name) {
            return None;
        }
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
        if tables::KERNEL.binary_search(&text).is_ok() {
            return core(ev, "Kernel", name);
        }
        if side == Side::Type && tables::MODULE.binary_search(&text).is_ok() {
            return core(ev, "Module", name);
        }
        if let [only] = &way.open[..]
            && !way.unknown
        {
            return Value::External(only.member(name));
        }
        if let Some(value) = conversion(world, name) {
            return value;
        }
        match (way.open.len(), way.unknown, way.core.first()) {
            (0, false, Some(only)) => Value::External(only.member(name)),
            (0, false, None) => Value::Missing,
            (0, true, _) => Value::Unknown,
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
        if !modules.is_member(name) {
            return Value::External(external.member(name));
        }
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
        let all = world.modules.ruby.functions(name);
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
        if from_test
            && is_test_word(world, name)
            && let Some(value) = test_word(world, name)
        {
            return value;
        }
        let is_rake = world.path(file).ends_with(".rake") || world.path(file).ends_with("Rakefile");
        if is_rake && tables::RAKE_WORDS.contains(&world.text(name)) {
            return core(ev, "Rake", name);
        }
        if let Some(value) = conversion(world, name) {
            return value;
        }
        if all.is_empty() && !from_test { Value::Missing } else { Value::Unknown }
    }

    /// Fields of a type by name, with those of its ancestors.
    pub(super) fn field(&self, ev: &Evaluator<'_>, type_: Def, name: Name, side: Side) -> Value {
        let world = ev.world;
        let is_shared = world.text(name).starts_with("@@");
        let fields = |of: Def| {
            let all = world.modules.ruby.fields(of, name);
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
            Value::ExternalInstance(external, _) => {
                self.outside_member(ev, frame, &external, name, Side::Value)
            }
            _ => Value::Unknown,
        }
    }
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

/// What a search for a member comes by, one after the other.
pub(crate) enum Stop {
    /// What a type itself has on a side; it and its first part.
    Own(Def, Def, Side),
    Outside(External),
    /// An outside module whose members go to the type itself.
    Extension(External),
    Unknown,
}

/// The first member of a name. Where a search goes does not depend on the name, and a file asks the same types again and
/// again, so that the way is remembered; most members are found at its begin, before there is any.
fn lookup(ev: &mut Evaluator<'_>, type_: Def, name: Name, side: Side, way: &mut Way) -> Option<Def> {
    let world = ev.world;
    if let Some(stops) = ev.ruby_stops.get(&(type_, side)) {
        return walk(world, stops, name, way);
    }
    let whole = world.hierarchy.whole(type_);
    let is_first = side == Side::Type || beside(world, whole, BaseRole::Prepended).is_empty();
    if is_first && let Some(found) = own(world, whole, name, side) {
        return Some(found);
    }
    let stops = stops(world, type_, side, None);
    let found = walk(world, &stops, name, way);
    ev.ruby_stops.insert((type_, side), stops);
    found
}

/// The first member of a name after the one that `first` has.
fn lookup_behind(
    world: &World<'_>,
    type_: Def,
    name: Name,
    side: Side,
    first: Def,
    way: &mut Way,
) -> Option<Def> {
    walk(world, &stops(world, type_, side, Some(first)), name, way)
}

fn walk(world: &World<'_>, stops: &[Stop], name: Name, way: &mut Way) -> Option<Def> {
    let is_member = world.modules.ruby.is_member(name);
    for stop in stops {
        match stop {
            Stop::Own(def, whole, side) => {
                if is_member && let Some(found) = own_of_parts(world, *def, *whole, name, *side) {
                    return Some(found);
                }
            }
            Stop::Outside(external) => note_external(world, external, name, way),
            Stop::Extension(external) => note_extension(world, external, name, way),
            Stop::Unknown => way.unknown = true,
        }
    }
    None
}

/// `behind` is the type after which a search begins; none for all of the way.
fn stops(world: &World<'_>, type_: Def, side: Side, behind: Option<Def>) -> Vec<Stop> {
    let mut stops = Vec::new();
    match side {
        Side::Value => stops_of_value(world, type_, behind, &mut stops),
        Side::Type => stops_of_type(world, type_, behind, &mut stops),
    }
    stops
}

fn stops_of_value(world: &World<'_>, type_: Def, behind: Option<Def>, stops: &mut Vec<Stop>) {
    let whole = world.hierarchy.whole(type_);
    let prepended = beside(world, whole, BaseRole::Prepended);
    let own_place = Ancestor::Project(whole);
    let others = world.hierarchy.ancestors(whole).iter().filter(|it| !prepended.contains(it));
    let order = prepended.iter().copied().chain([&own_place]).chain(others);
    let mut is_open = behind.is_none();
    for ancestor in order {
        match ancestor {
            Ancestor::Project(def) => {
                if is_open {
                    stops.push(Stop::Own(*def, world.modules.ruby.whole(*def), Side::Value));
                }
                is_open |= behind.is_some_and(|it| it == world.hierarchy.whole(*def));
                if is_open && let Some(external) = world.modules.ruby.opened_from_outside(*def) {
                    stops.push(Stop::Outside(external.clone()));
                }
            }
            _ if !is_open => {}
            Ancestor::External(external) => stops.push(Stop::Outside(external.clone())),
            Ancestor::Unknown => stops.push(Stop::Unknown),
        }
    }
}

fn stops_of_type(world: &World<'_>, type_: Def, behind: Option<Def>, stops: &mut Vec<Stop>) {
    let whole = world.hierarchy.whole(type_);
    let own_place = Ancestor::Project(whole);
    let order = std::iter::once(&own_place).chain(world.hierarchy.ancestors(whole));
    let mut is_open = behind.is_none();
    for ancestor in order {
        match ancestor {
            Ancestor::Project(def) => {
                let is_module = world.kind(*def) == NodeKind::Module && *def != whole;
                if is_open && !is_module {
                    stops.push(Stop::Own(*def, world.modules.ruby.whole(*def), Side::Type));
                }
                is_open |= behind == Some(*def);
                if !is_open {
                    continue;
                }
                if let Some(external) = world.modules.ruby.opened_from_outside(*def) {
                    stops.push(Stop::Outside(external.clone()));
                }
                if is_module {
                    // A concern gives its `ClassMethods` to whoever includes it.
                    if let Some(given) = class_methods(world, *def) {
                        stops_of_value(world, given, None, stops);
                    }
                    continue;
                }
                for extended in beside(world, *def, BaseRole::Extended) {
                    match extended {
                        Ancestor::Project(module) => stops_of_value(world, *module, None, stops),
                        Ancestor::External(external) => stops.push(Stop::Extension(external.clone())),
                        Ancestor::Unknown => stops.push(Stop::Unknown),
                    }
                }
            }
            _ if !is_open => {}
            Ancestor::External(external) => stops.push(Stop::Outside(external.clone())),
            Ancestor::Unknown => stops.push(Stop::Unknown),
        }
    }
    // In a module that is no one's yet, the methods that it will give to classes are in reach.
    if world.kind(whole) == NodeKind::Module
        && behind.is_none()
        && let Some(given) = class_methods(world, whole)
    {
        stops_of_value(world, given, None, stops);
    }
}

/// Core classes and marker modules have members that are known; all others may have any.
fn note_external(world: &World<'_>, external: &External, name: Name, way: &mut Way) {
    let last = external.last().map_or("", |it| world.text(it));
    if tables::CLOSED.contains(&last) {
        if tables::COMMON_MEMBERS.binary_search(&world.text(name)).is_ok() {
            way.core.push(external.clone());
        }
    } else if !way.open.contains(external) {
        way.open.push(external.clone());
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
    let constant = modules.child(modules.constant_of(module)?, modules.class_methods?)?;
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
    own_of_parts(world, type_, world.modules.ruby.whole(type_), name, side)
}

fn own_of_parts(world: &World<'_>, type_: Def, whole: Def, name: Name, side: Side) -> Option<Def> {
    let all = world.modules.ruby.members(whole, name);
    if all.is_empty() {
        return None;
    }
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
fn setter_of_accessor(ev: &mut Evaluator<'_>, type_: Def, name: Name, side: Side) -> Option<Def> {
    let world = ev.world;
    let reader = world.names.find(world.text(name).strip_suffix('=')?)?;
    let found = lookup(ev, type_, reader, side, &mut Way::default())?;
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

/// What a module calls on itself is a method of those that include it, or that it extends: where they agree, that one.
fn users_member(ev: &mut Evaluator<'_>, frame: Frame, module: Def, name: Name) -> Value {
    let world = ev.world;
    let from_test = is_test_path(world, frame.file);
    let seen = |it: &Def| from_test || !is_test_path(world, world.file_of(*it));
    let mut all: Vec<(Def, Side)> =
        users(world, frame, module).into_iter().map(|it| (it, Side::Value)).collect();
    let extended = world.hierarchy.extended_by(module).iter().copied().filter(seen);
    all.extend(extended.filter(|it| *it != module).map(|it| (it, Side::Type)));
    // `ClassMethods` of a concern goes to the classes that include the concern.
    let is_class_methods =
        world.found_in(world.file_of(module)).text(world.decl(module).2.name) == "ClassMethods";
    if is_class_methods && let Some(concern) = world.owner(module) {
        all.extend(users(world, frame, concern).into_iter().map(|it| (it, Side::Type)));
    }
    if all.len() > MAX_USERS {
        return Value::Unknown;
    }
    if !world.modules.ruby.is_member(name) {
        return Value::Missing;
    }
    let mut found: Vec<Def> = Vec::new();
    let mut doubt = false;
    for (user, side) in all {
        if world.kind(user) == NodeKind::Module && side == Side::Value {
            // It is included further on, or never.
            continue;
        }
        let mut way = Way::default();
        match lookup(ev, user, name, side, &mut way) {
            Some(it) => {
                doubt |= way.unknown;
                if !found.contains(&it) {
                    found.push(it);
                }
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

/// Test cases of frameworks are below `ActiveSupport::TestCase`, which tests like to open.
fn opened_test_case(ev: &mut Evaluator<'_>, frame: Frame, name: Name, way: &Way) -> Option<Def> {
    let world = ev.world;
    let is_test_case = |it: &External| {
        let last = it.last().map_or("", |it| world.text(it));
        last.ends_with("TestCase") || last == "IntegrationTest"
    };
    let modules = &world.modules.ruby;
    if !way.open.iter().any(is_test_case) || !modules.is_member(name) {
        return None;
    }
    let mut at = Some(TOP);
    for part in ["ActiveSupport", "TestCase"] {
        at = at.and_then(|it| modules.child(it, world.names.find(part)?));
    }
    let opened = modules.seen(world, at?, frame.file)?;
    lookup(ev, opened, name, Side::Value, &mut Way::default())
}

fn is_test_word(world: &World<'_>, name: Name) -> bool {
    tables::TEST_WORDS.binary_search(&world.text(name)).is_ok()
}

/// A word of a test framework.
fn test_word(world: &World<'_>, name: Name) -> Option<Value> {
    let root = world.names.find("RSpec")?;
    Some(Value::External(External::new(Origin::ThirdParty, &[root, name])))
}

/// `Pathname("x")`: a function that is called as the class it makes values of.
fn conversion(world: &World<'_>, name: Name) -> Option<Value> {
    let text = world.text(name);
    if !text.starts_with(|it: char| it.is_uppercase()) {
        return None;
    }
    let is_standard = tables::LIBRARIES.iter().any(|it| it.0 == text);
    let origin = if is_standard { Origin::StandardLibrary } else { Origin::ThirdParty };
    Some(Value::External(External::new(origin, &[name])))
}
