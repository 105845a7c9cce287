//! Ruby: constants by scope, ancestors and top; reopened classes as one type; mixins in method order; `self` that nobody
//! wrote.

mod constants;
mod members;
mod requires;
mod results;
mod tables;

use knowing_model::NodeKind;
use knowing_model::facts::{BaseRole, DeclId, Expr, Import, ImportKind, Literal, Modifiers, Type, TypeId};

use super::{CallSite, ExternalName, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

pub(crate) use constants::RubyModules;
use constants::TOP;
use members::side_of;
pub(crate) use members::{Side, Stop};

pub(crate) struct Ruby;

const WORDS: &[&str] = &[
    "",
    "&",
    "self",
    "super",
    "initialize",
    "new",
    "call",
    "each",
    "[]",
    "class",
    "ClassMethods",
    "Object",
    "Kernel",
    "Module",
    "Class",
    "BasicObject",
    "Proc",
    "Array",
    "Hash",
    "String",
    "Symbol",
    "Integer",
    "Float",
    "TrueClass",
    "NilClass",
    "Set",
    "RSpec",
    "ActiveSupport",
    "TestCase",
    "Rake",
];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    WORDS.iter().copied()
}

impl Rules for Ruby {
    fn notes_tables(&self) -> bool {
        true
    }

    // Which of several files gives a reopened module hangs on more than that.
    fn has_shape(&self) -> bool {
        false
    }

    fn writes_inside(&self, role: BaseRole) -> bool {
        role != BaseRole::Extends
    }

    fn has_types_in_parts(&self) -> bool {
        true
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        _: Space,
    ) -> Option<Value> {
        let text = ev.world.text(name);
        let Some(first) = text.chars().next() else { return Some(self.receiver_at(ev, frame, decl)) };
        match first {
            '@' => Some(match self.receiver_at(ev, frame, decl) {
                Value::Instance(type_, _) => self.field(ev, type_, name, Side::Value),
                // Blocks of a body may run on values.
                Value::Def(type_) => match self.field(ev, type_, name, Side::Type) {
                    Value::Missing => self.field(ev, type_, name, Side::Value),
                    found => found,
                },
                _ => Value::Unknown,
            }),
            '&' => Some(match self.receiver_at(ev, frame, decl) {
                value @ (Value::Def(_) | Value::Module(_)) => Value::Bounded([value].into()),
                value => value,
            }),
            ':' => {
                let name = ev.world.names.find(text.strip_prefix("::")?);
                Some(match name {
                    Some(name) => self.top_constant(ev, frame, name),
                    None => Value::Unknown,
                })
            }
            '$' => Some(Value::Unknown),
            _ if first.is_uppercase() => Some(self.constant(ev, frame, decl, name)),
            _ if text == "self" => Some(self.receiver_at(ev, frame, decl)),
            _ if text == "super" => Some(match self.method_at(ev, frame, decl) {
                Some(method) => Value::Super(method),
                None => Value::Unknown,
            }),
            _ => None,
        }
    }

    fn binds_whole_callable(&self) -> bool {
        false
    }

    fn type_body_is_scope(&self) -> bool {
        true
    }

    fn top_is_scope(&self) -> bool {
        true
    }

    fn calls_properties(&self) -> bool {
        true
    }

    fn has_member_modules(&self) -> bool {
        true
    }

    fn decorates_from_inside(&self) -> bool {
        true
    }

    fn names_receiver(&self, word: &str) -> bool {
        matches!(word, "" | "&" | "self" | "super")
    }

    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            Value::Module(file) => Some(file.0),
            _ => None,
        }
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, _: Space) -> Value {
        match import.kind {
            ImportKind::Member { name, .. } => {
                let name = ev.world.name(frame.file, name);
                match self.constant(ev, frame, import.decl, name) {
                    Value::Def(def) => Value::Def(def),
                    _ => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let world = ev.world;
        if let Some(file) = world.modules.ruby.load_paths.find(world, frame.file, import) {
            return Value::Module(ModuleId(file));
        }
        let path: Vec<Name> = import.module.iter().map(|it| world.name(frame.file, *it)).collect();
        if import.level > 0 || path.is_empty() {
            return Value::Missing;
        }
        let first = world.text(path[0]);
        let is_standard = tables::LIBRARIES.iter().any(|it| it.1 == first);
        let origin = if is_standard { Origin::StandardLibrary } else { Origin::ThirdParty };
        Value::External(External::new(origin, &path))
    }

    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        let world = ev.world;
        let Type::Named { segments, .. } = world.found_in(frame.file).type_(type_) else {
            return Value::Unknown;
        };
        let mut names = segments.iter().map(|it| world.name(frame.file, *it));
        let Some(first) = names.next() else { return Value::Unknown };
        let mut value = if world.text(first).is_empty() {
            match names.next() {
                Some(name) => self.top_constant(ev, frame, name),
                None => Value::Unknown,
            }
        } else {
            self.constant(ev, frame, decl, first)
        };
        for name in names {
            let of = ev.settled(frame, &value);
            value = of.map(|it| self.scoped(ev, frame, it, name, Space::Type));
        }
        match value {
            // `Alias = Other`: a constant that holds a type names that type.
            Value::Def(def) if !world.kind(def).is_type_like() => ev.settled(frame, &value),
            value => value,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        let world = ev.world;
        match world.found_in(frame.file).type_(type_) {
            Type::Named { arguments, .. } => {
                let entity = self.type_entity(ev, frame, decl, type_);
                let arguments = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                let arguments = Value::arguments(arguments);
                entity.map(|it| match it {
                    Value::Def(def) if world.kind(*def).is_type_like() => {
                        Value::Instance(*def, arguments.clone())
                    }
                    Value::External(external) => Value::ExternalInstance(external.clone(), arguments.clone()),
                    _ => Value::Unknown,
                })
            }
            Type::Union(types) => {
                let values: Vec<Value> = types.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::join(values)
            }
            _ => Value::Unknown,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let world = ev.world;
        match of {
            Value::Instance(type_, _) => self.find(ev, frame, *type_, name, Side::Value),
            Value::Def(def) => match world.kind(*def) {
                kind if kind.is_type_like() => self.class_member(ev, frame, *def, name),
                kind if kind.is_callable() => match world.text(name) {
                    "call" | "()" | "[]" | "yield" | "===" | "to_proc" => Value::Def(*def),
                    _ => core(ev, "Proc", name),
                },
                _ => Value::Unknown,
            },
            Value::Bounded(types) => match types.first() {
                Some(Value::Def(type_)) => self.block_member(ev, frame, *type_, name),
                Some(Value::Module(file)) => match self.top_member(ev, frame, file.0, name) {
                    Value::Def(def) => Value::join([Value::Def(def), Value::Unknown]),
                    value => value,
                },
                _ => Value::Unknown,
            },
            Value::Super(method) => self.find_behind(ev, frame, *method, name),
            Value::Module(file) => self.top_member(ev, frame, file.0, name),
            Value::External(external) => self.outside_member(ev, frame, external, name, Side::Type),
            Value::ExternalInstance(external, _) => {
                self.outside_member(ev, frame, external, name, Side::Value)
            }
            Value::ExternalResult => Value::ExternalResult,
            Value::Iterable(_) | Value::Tuple(_) => self.core_member(ev, frame, "Array", name),
            Value::Function(_) => core(ev, "Proc", name),
            _ => Value::Unknown,
        }
    }

    fn scoped(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name, _: Space) -> Value {
        let world = ev.world;
        match of {
            Value::Def(def) if world.kind(*def).is_type_like() => {
                match self.constant_in(ev, frame, *def, name) {
                    Value::Missing if self.is_open(ev, *def) => Value::Unknown,
                    value => value,
                }
            }
            Value::Def(_) => {
                let held = ev.settled(frame, of);
                if held == *of {
                    Value::Unknown
                } else {
                    held.map(|it| self.scoped_once(ev, frame, it, name))
                }
            }
            Value::External(external) => self.outside_constant(ev, frame, external, name),
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        self.result(ev, frame, callee, site)
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        self.each(ev, frame, of)
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        self.at_index(ev, frame, of)
    }

    /// What the block of a call gets first; `of` is what is called.
    fn entered(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        self.given_to_block(ev, frame, of)
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        let class = match literal {
            Literal::None => return Value::Nothing,
            Literal::Function => return Value::Function(Value::Unknown.into()),
            Literal::Bool => "TrueClass",
            Literal::Integer => "Integer",
            Literal::Float => "Float",
            Literal::String | Literal::Bytes => "String",
            Literal::Character => "Symbol",
            Literal::List | Literal::Tuple | Literal::Generator => "Array",
            Literal::Dictionary => "Hash",
            Literal::Set => "Set",
        };
        core_instance(ev, class)
    }

    fn is_common_member(&self, name: &str) -> bool {
        let bare = name.strip_suffix('=').unwrap_or(name);
        tables::COMMON_MEMBERS.binary_search(&bare).is_ok()
            || tables::KERNEL.binary_search(&bare).is_ok()
            || tables::MODULE.binary_search(&bare).is_ok()
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let world = ev.world;
        let segments: Vec<&str> = external.path.iter().map(|it| world.text(*it)).collect();
        let root = segments.first().copied().unwrap_or_default();
        if !root.starts_with(|it: char| it.is_uppercase()) {
            // A path that is required.
            let (repo, ecosystem) = match external.origin {
                Origin::StandardLibrary => ("stdlib", "ruby"),
                Origin::ThirdParty => ("external", "gem"),
            };
            return ExternalName { repo, container: format!("{ecosystem}/{root}"), symbol: String::new() };
        }
        let symbol = segments.join(".");
        match external.origin {
            Origin::StandardLibrary => {
                let library = tables::LIBRARIES.iter().find(|it| it.0 == root).map_or("core", |it| it.1);
                ExternalName { repo: "stdlib", container: format!("ruby/{library}"), symbol }
            }
            Origin::ThirdParty => {
                let gem = world.modules.ruby.load_paths.gem(root).unwrap_or("?");
                ExternalName { repo: "external", container: format!("gem/{gem}"), symbol }
            }
        }
    }
}

/// Constants.
impl Ruby {
    /// A constant by its name, as it is seen from a place in a file. What stands around the place decides, whichever method
    /// it is in, and files name the same constants again and again.
    fn constant(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, name: Name) -> Value {
        /// Numbers of declarations are smaller.
        const TOP_OF_FILE: u32 = 1 << 31;
        let facts = ev.world.found_in(frame.file);
        let mut innermost = decl;
        while let Some(id) = innermost
            && !facts.decl(id).kind.is_type_like()
        {
            innermost = facts.decl(id).owner;
        }
        let place = match innermost {
            Some(id) => ev.world.def(frame.file, id).0,
            None => frame.file | TOP_OF_FILE,
        };
        // Members are remembered in the other spaces.
        ev.top_name(place, name, Space::Macro, |ev| self.constant_anew(ev, frame, innermost, name))
    }

    /// From the innermost body outwards, then of the ancestors of the innermost, then at the top.
    fn constant_anew(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        innermost: Option<DeclId>,
        name: Name,
    ) -> Value {
        let world = ev.world;
        let modules = &world.modules.ruby;
        let facts = world.found_in(frame.file);
        let mut at = innermost;
        while let Some(id) = at {
            if facts.decl(id).kind.is_type_like() {
                let inside =
                    modules.constant_of(world.def(frame.file, id)).and_then(|it| modules.child(it, name));
                if let Some(found) = inside.and_then(|it| modules.seen(world, it, frame.file)) {
                    return Value::Def(found);
                }
            }
            at = facts.decl(id).owner;
        }
        if let Some(type_) = innermost.map(|it| world.def(frame.file, it))
            && let Some(found) = self.inherited_constant(ev, frame, type_, name)
        {
            return Value::Def(found);
        }
        self.top_constant(ev, frame, name)
    }

    fn inherited_constant(&self, ev: &Evaluator<'_>, frame: Frame, type_: Def, name: Name) -> Option<Def> {
        let world = ev.world;
        let modules = &world.modules.ruby;
        world.hierarchy.ancestors(type_).iter().find_map(|ancestor| {
            let Ancestor::Project(def) = ancestor else { return None };
            let inside = modules.constant_of(*def).and_then(|it| modules.child(it, name))?;
            modules.seen(world, inside, frame.file)
        })
    }

    fn top_constant(&self, ev: &Evaluator<'_>, frame: Frame, name: Name) -> Value {
        let world = ev.world;
        let modules = &world.modules.ruby;
        let text = world.text(name);
        let constant = modules.child(TOP, name);
        // A repository that makes such a library itself has a file of its name.
        let is_library = |it: &&(&str, &str)| it.0 == text && !modules.load_paths.provides(it.1);
        let is_core =
            tables::CORE.binary_search(&text).is_ok() || tables::LIBRARIES.iter().find(is_library).is_some();
        // A core class that the project opens is still the core class.
        if let Some(found) = constant.and_then(|it| modules.seen(world, it, frame.file))
            && !is_core
        {
            return Value::Def(found);
        }
        if !is_core && constant.is_some_and(|it| modules.is_made(it)) {
            // Of tests alone, or of too many of them.
            return Value::Unknown;
        }
        let origin = if is_core { Origin::StandardLibrary } else { Origin::ThirdParty };
        Value::External(External::new(origin, &[name]))
    }

    /// `Type::NAME`, also of an ancestor.
    fn constant_in(&self, ev: &Evaluator<'_>, frame: Frame, type_: Def, name: Name) -> Value {
        let world = ev.world;
        let modules = &world.modules.ruby;
        let inside = modules.constant_of(type_).and_then(|it| modules.child(it, name));
        if let Some(found) = inside.and_then(|it| modules.seen(world, it, frame.file)) {
            return Value::Def(found);
        }
        match self.inherited_constant(ev, frame, type_, name) {
            Some(found) => Value::Def(found),
            None => Value::Missing,
        }
    }

    /// `Outside::NAME`, which the project may have made (`module ActiveRecord; class Mine`).
    fn outside_constant(&self, ev: &Evaluator<'_>, frame: Frame, external: &External, name: Name) -> Value {
        let world = ev.world;
        let modules = &world.modules.ruby;
        let mut at = Some(TOP);
        for part in external.path.iter().chain([&name]) {
            at = at.and_then(|it| modules.child(it, *part));
        }
        match at.and_then(|it| modules.seen(world, it, frame.file)) {
            Some(found) => Value::Def(found),
            None => Value::External(external.member(name)),
        }
    }

    fn scoped_once(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        match of {
            Value::Def(def) if ev.world.kind(*def).is_type_like() => self.constant_in(ev, frame, *def, name),
            Value::External(external) => self.outside_constant(ev, frame, external, name),
            _ => Value::Unknown,
        }
    }

    /// Whether some ancestor is not in the project, so that a name may be its.
    fn is_open(&self, ev: &Evaluator<'_>, type_: Def) -> bool {
        ev.world.hierarchy.ancestors(type_).iter().any(|it| !matches!(it, Ancestor::Project(_)))
    }
}

/// `self`.
impl Ruby {
    /// The method around, which `super` and `self` belong to; blocks and named lambdas are looked through.
    fn method_at(&self, ev: &Evaluator<'_>, frame: Frame, decl: Option<DeclId>) -> Option<Def> {
        let facts = ev.world.found_in(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let it = facts.decl(id);
            if it.kind.is_type_like() {
                return None;
            }
            let in_type = it.owner.is_some_and(|it| facts.decl(it).kind.is_type_like());
            let is_method = it.kind.is_callable() || it.kind == NodeKind::Property;
            if is_method && in_type {
                return Some(ev.world.def(frame.file, id));
            }
            at = it.owner;
        }
        None
    }

    /// What `self` is: a value of the type in its methods, the type itself in its body and its own methods, else the
    /// object that all files share.
    fn receiver_at(&self, ev: &Evaluator<'_>, frame: Frame, decl: Option<DeclId>) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let it = facts.decl(id);
            let def = world.def(frame.file, id);
            if it.kind.is_type_like() {
                return Value::Def(world.modules.ruby.whole(def));
            }
            if let Some(owner) = it.owner
                && facts.decl(owner).kind.is_type_like()
            {
                let owner = world.modules.ruby.whole(world.def(frame.file, owner));
                let exact = frame.receiver.filter(|it| world.hierarchy.is_below(*it, owner)).unwrap_or(owner);
                let of_type = side_of(world, def) == Side::Type
                    || matches!(it.kind, NodeKind::Function | NodeKind::Const)
                    || it.kind == NodeKind::Field && it.modifiers.contains(Modifiers::STATIC);
                return if of_type { Value::Def(exact) } else { Value::instance(exact) };
            }
            at = it.owner;
        }
        Value::Module(ModuleId(frame.file))
    }

    /// A method of a class, called on the class: `new` is `initialize` of its values.
    fn class_member(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def, name: Name) -> Value {
        let world = ev.world;
        let found = self.find(ev, frame, type_, name, Side::Type);
        if world.text(name) != "new" || world.kind(type_) != NodeKind::Class {
            return found;
        }
        if found.parts().iter().any(|it| matches!(it, Value::Def(_))) {
            return found;
        }
        let Some(initialize) = world.names.find("initialize") else { return found };
        match self.find(ev, frame, type_, initialize, Side::Value) {
            Value::Def(def) => Value::Def(def),
            _ => Value::Def(type_),
        }
    }

    /// A member in a block of a body, which runs on values or on the type itself: it is what one of them has.
    fn block_member(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def, name: Name) -> Value {
        let is_def = |it: &Value| it.parts().iter().any(|it| matches!(it, Value::Def(_)));
        let of_value = self.find(ev, frame, type_, name, Side::Value);
        let of_type = self.find(ev, frame, type_, name, Side::Type);
        match (is_def(&of_value), is_def(&of_type)) {
            (true, true) => Value::Unknown,
            // On the type itself it would fail.
            (true, false) => of_value,
            (false, true) => of_type,
            (false, false) if of_type == Value::Missing => of_value,
            (false, false) => of_type,
        }
    }

    /// The exact type a call is made on, for results that depend on it.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Value {
        match ev.world.found_in(frame.file).expr(site.callee) {
            Expr::Member { of, .. } => ev.settled_expr(frame, site.decl, of),
            _ => Value::Unknown,
        }
    }
}

/// A member of a class that Ruby itself has.
fn core(ev: &Evaluator<'_>, class: &str, name: Name) -> Value {
    match ev.world.names.find(class) {
        Some(class) => Value::External(External::new(Origin::StandardLibrary, &[class, name])),
        None => Value::ExternalResult,
    }
}

fn core_instance(ev: &Evaluator<'_>, class: &str) -> Value {
    match ev.world.names.find(class) {
        Some(class) => {
            Value::ExternalInstance(External::new(Origin::StandardLibrary, &[class]), Value::none())
        }
        None => Value::ExternalResult,
    }
}
