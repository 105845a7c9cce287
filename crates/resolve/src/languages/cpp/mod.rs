//! C and C++: what a file sees through its includes, namespaces and `using`, members through bases, one definition.

mod lookup;
mod members;
mod spaces;
mod standard;
mod tables;
mod types;
mod units;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, Import, ImportKind, Literal, Type, TypeId};

use super::{CallSite, ExternalName, Fit, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::overloads;
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId, World};

use spaces::{GLOBAL, SpaceId};
use units::{Included, is_include};

pub(crate) use spaces::CppUnits;

/// The rules of both: C has fewer of them.
pub(crate) struct Cpp;

/// Modules are namespaces below this number, and files from it on.
const FIRST_FILE: u32 = 1 << 31;

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    standard::WORDS.iter().copied().chain(tables::words())
}

impl Rules for Cpp {
    fn notes_tables(&self) -> bool {
        true
    }

    fn free_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let place = decl.map_or(FIRST_FILE | frame.file, |it| world.def(frame.file, it).0);
        ev.top_name(place, name, space, |ev| {
            let from = world.modules.cpp.space_around(world, frame.file, decl);
            match self.unqualified(ev, frame, from, name, space) {
                Value::Missing => self.outside_name(ev, frame, name, space),
                found => found,
            }
        })
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        let world = ev.world;
        match world.text(name) {
            "this" => {
                let class = self.class_around(ev, frame.file, decl);
                Some(class.map_or(Value::Unknown, |it| pointer_to(Value::instance(it))))
            }
            "" => Some(Value::Module(ModuleId(GLOBAL.0))),
            "std" if space == Space::Type => {
                Some(Value::External(External::new(Origin::StandardLibrary, &[name])))
            }
            _ if self.is_type_parameter(ev, frame.file, decl, name) => Some(Value::Unknown),
            _ => None,
        }
    }

    fn bare_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        type_: Def,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let mut at = Some(type_);
        while let Some(class) = at.filter(|it| is_class(world, *it)) {
            if space != Space::Macro {
                match self.class_member(ev, frame, class, name, space) {
                    Value::Missing | Value::Unknown | Value::External(_) => {}
                    found => return found,
                }
                let (file, _, decl) = world.decl(class);
                if world.name(file, decl.name) == name {
                    return Value::Def(class);
                }
            }
            at = world.owner(class);
        }
        // What is defined outside of its namespace sees that all the same.
        match lookup::space_of_type(world, type_) {
            GLOBAL => Value::Missing,
            around => self.unqualified(ev, frame, around, name, space),
        }
    }

    fn offered(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        import: &Import,
        name: Name,
        space: Space,
    ) -> Value {
        match self.import_path(ev, frame, import) {
            Value::Module(module) if module.0 < FIRST_FILE => {
                self.qualified(ev, frame, SpaceId(module.0), name, space)
            }
            _ => Value::Missing,
        }
    }

    fn call_operator(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        let Value::Instance(class, _) = of else { return Value::Unknown };
        let Some(name) = ev.world.names.find("operator()") else { return Value::Unknown };
        match self.class_member(ev, frame, *class, name, Space::Value) {
            found @ (Value::Def(_) | Value::External(_)) => found,
            _ => Value::Unknown,
        }
    }

    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            Value::Module(module) if module.0 >= FIRST_FILE => Some(module.0 - FIRST_FILE),
            _ => None,
        }
    }

    fn binds_whole_callable(&self) -> bool {
        false
    }

    fn has_bare_members(&self) -> bool {
        true
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, space: Space) -> Value {
        match import.kind {
            ImportKind::Member { name, .. } => {
                let name = ev.world.name(frame.file, name);
                let of = self.import_path(ev, frame, import);
                of.map(|it| self.scoped(ev, frame, it, name, space))
            }
            ImportKind::Module { .. } => self.import_path(ev, frame, import),
            _ => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let world = ev.world;
        if !is_include(import) {
            return Value::Unknown;
        }
        let facts = world.facts(frame.file);
        let place = facts.imports.iter().position(|it| std::ptr::eq(it, import));
        let Some(place) = place else { return Value::Unknown };
        match world.modules.cpp.units.included(frame.file, place as u32) {
            Included::File(file) => Value::Module(ModuleId(FIRST_FILE | file)),
            Included::Outside => {
                let header = import.module.first().map(|it| world.name(frame.file, *it));
                match (world.names.find("include"), header) {
                    (Some(include), Some(header)) => {
                        let is_standard = tables::is_standard_header(world.text(header));
                        let origin = if is_standard { Origin::StandardLibrary } else { Origin::ThirdParty };
                        Value::External(External::new(origin, &[include, header]))
                    }
                    _ => Value::Unknown,
                }
            }
            Included::Unknown => Value::Unknown,
        }
    }

    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        match ev.world.found_in(frame.file).type_(type_) {
            Type::Named { segments, arguments, .. } => match arguments.as_slice() {
                [of] if is_pointer(ev, frame.file, segments) => self.type_entity(ev, frame, decl, *of),
                _ => self.named(ev, frame, decl, type_),
            },
            Type::Sequence(of) => self.type_entity(ev, frame, decl, *of),
            _ => Value::Unknown,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        let world = ev.world;
        match world.found_in(frame.file).type_(type_) {
            Type::Named { segments, arguments, .. } => {
                if let [of] = arguments.as_slice()
                    && is_pointer(ev, frame.file, segments)
                {
                    return pointer_to(ev.typed(frame, decl, *of));
                }
                if let [only] = segments.as_slice()
                    && types::is_builtin(world.found_in(frame.file).text(*only))
                {
                    return standard::primitive(ev, world.found_in(frame.file).text(*only));
                }
                let entity = self.named(ev, frame, decl, type_);
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                entity.map(|it| self.instance_of(ev, frame, it, arguments.clone()))
            }
            // An array is used as a pointer to what is in it.
            Type::Sequence(of) => pointer_to(ev.typed(frame, decl, *of)),
            Type::Function(result) => {
                let result = result.map_or(Value::Nothing, |it| ev.typed(frame, decl, it));
                Value::Function(result.into())
            }
            _ => Value::Unknown,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        self.instance_member(ev, frame, of, name)
    }

    fn scoped(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name, space: Space) -> Value {
        let world = ev.world;
        match of {
            Value::Module(module) if module.0 < FIRST_FILE => {
                match self.qualified(ev, frame, SpaceId(module.0), name, space) {
                    Value::Missing if module.0 == GLOBAL.0 => self.outside_name(ev, frame, name, space),
                    found => found,
                }
            }
            Value::Def(def) | Value::Instance(def, _) => match world.kind(*def) {
                NodeKind::TypeAlias => {
                    if !ev.enter() {
                        return Value::Unknown;
                    }
                    let aliased = self.instance_of(ev, frame, &Value::Def(*def), Vec::new());
                    let found = aliased.map(|it| match it {
                        Value::Def(_) => Value::Unknown,
                        it => self.scoped(ev, frame, it, name, space),
                    });
                    ev.leave();
                    found
                }
                kind if kind.is_type_like() => self.class_member(ev, frame, *def, name, space),
                _ => Value::Unknown,
            },
            Value::ExternalInstance(external, arguments) if space == Space::Type => {
                Value::ExternalInstance(external.member(name), arguments.clone())
            }
            Value::External(external) | Value::ExternalInstance(external, _) => {
                Value::External(external.member(name))
            }
            Value::Missing => Value::Missing,
            _ => Value::Unknown,
        }
    }

    fn called_with(&self, ev: &mut Evaluator<'_>, frame: Frame, value: &Value, site: CallSite) -> Value {
        match value {
            Value::Def(def) => self.constructed(ev, frame, *def, site),
            Value::Missing => match self.by_arguments(ev, frame, site) {
                Value::Missing => Value::Missing,
                found => found,
            },
            other => other.clone(),
        }
    }

    fn definition(&self, world: &World<'_>, from: u32, def: Def) -> Def {
        lookup::definition(world, from, def)
    }

    fn overrides(&self, world: &World<'_>, below: Def, above: Def) -> bool {
        // Without one of these words it is hidden, not overridden.
        let is_virtual = |def: Def| {
            let (file, _, decl) = world.decl(def);
            let text = world.found_in(file).text(decl.signature);
            text.split(|it: char| !it.is_alphanumeric() && it != '_')
                .any(|it| matches!(it, "virtual" | "override" | "final"))
        };
        let n_parameters = |def: Def| world.decl(def).2.parameters.len();
        (is_virtual(below) || is_virtual(above)) && n_parameters(below) == n_parameters(above)
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::Constructor => match world.hierarchy.owner_type(world, *def) {
                    Some(class) => Value::instance(class),
                    None => Value::Unknown,
                },
                NodeKind::Macro => Value::Unknown,
                NodeKind::TypeAlias => self.instance_of(ev, frame, callee, Vec::new()),
                kind if kind.is_type_like() => Value::instance(*def),
                kind if kind.is_callable() => {
                    let on = self.called_on(ev, frame, site);
                    self.result_on(ev, frame, *def, &on)
                }
                _ => match ev.settled(frame, callee) {
                    Value::Function(result) => (*result).clone(),
                    instance @ Value::Instance(..) => match self.call_operator(ev, frame, &instance) {
                        Value::Def(operator) => self.result_on(ev, frame, operator, &instance),
                        _ => Value::Unknown,
                    },
                    _ => Value::Unknown,
                },
            },
            Value::External(external) => {
                let on = self.called_on(ev, frame, site);
                match on {
                    Value::ExternalInstance(..) => standard::called(ev, external, &on),
                    _ if is_type_name(ev, external) => {
                        Value::ExternalInstance(external.clone(), Value::none())
                    }
                    _ => Value::ExternalResult,
                }
            }
            Value::Function(result) => (**result).clone(),
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            Value::Instance(class, _) => {
                let Some(begin) = ev.world.names.find("begin") else { return Value::Unknown };
                match self.class_member(ev, frame, *class, begin, Space::Value) {
                    Value::Def(def) => self.result_on(ev, frame, def, of),
                    Value::Overloads(all) => self.result_on(ev, frame, all[0], of),
                    _ => Value::Unknown,
                }
            }
            of => standard::element(ev, of),
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            Value::Instance(class, _) => {
                for operator in ["operator[]", "operator*"] {
                    let Some(name) = ev.world.names.find(operator) else { continue };
                    match self.class_member(ev, frame, *class, name, Space::Value) {
                        Value::Def(def) => return self.result_on(ev, frame, def, of),
                        Value::Overloads(all) => return self.result_on(ev, frame, all[0], of),
                        Value::Missing => {}
                        _ => return Value::Unknown,
                    }
                }
                of.clone()
            }
            of => standard::indexed(ev, of),
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        standard::literal(ev, literal)
    }

    fn fits(&self, ev: &mut Evaluator<'_>, _: Frame, value: &Value, target: &Value) -> Fit {
        self.fit(ev, value, target)
    }

    fn is_common_member(&self, name: &str) -> bool {
        tables::COMMON_MEMBERS.binary_search(&name).is_ok()
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let segments: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
        let name = |repo, container: String, symbol: String| ExternalName { repo, container, symbol };
        match (external.origin, segments.as_slice()) {
            (Origin::StandardLibrary, ["include", header]) => {
                let language = if header.ends_with(".h") { "c" } else { "cpp" };
                name("stdlib", format!("{language}/{header}"), String::new())
            }
            (Origin::ThirdParty, ["include", header]) => match header.split_once('/') {
                Some((package, rest)) => name("external", format!("system/{package}"), rest.to_owned()),
                None => name("external", format!("system/{header}"), String::new()),
            },
            (Origin::StandardLibrary, ["std", rest @ ..]) => name("stdlib", "cpp/std".into(), rest.join(".")),
            (Origin::StandardLibrary, rest) => {
                let header = rest.first().and_then(|it| tables::header_of(it)).unwrap_or("libc");
                name("stdlib", format!("c/{header}.h"), rest.join("."))
            }
            (Origin::ThirdParty, [package, rest @ ..]) if !rest.is_empty() => {
                name("external", format!("system/{package}"), rest.join("."))
            }
            (Origin::ThirdParty, rest) => name("external", "system/?".into(), rest.join(".")),
        }
    }
}

impl Cpp {
    /// A name that no project file declares where it could be seen.
    fn outside_name(&self, ev: &Evaluator<'_>, frame: Frame, name: Name, space: Space) -> Value {
        let world = ev.world;
        let text = world.text(name);
        if space == Space::Type && types::is_builtin(text) {
            return Value::Unknown;
        }
        if tables::header_of(text).is_some() {
            return Value::External(External::new(Origin::StandardLibrary, &[name]));
        }
        // A file of the project may have it all the same, where includes lead astray.
        if world.modules.cpp.is_known(name) {
            return Value::Missing;
        }
        let units = &world.modules.cpp.units;
        if space == Space::Type || units.sees_outside(frame.file) {
            return Value::External(External::new(Origin::ThirdParty, &[name]));
        }
        Value::Missing
    }

    /// The namespace or class that an import names before its last word.
    fn import_path(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let world = ev.world;
        if is_include(import) {
            return Value::Missing;
        }
        let mut segments = import.module.iter().map(|it| world.name(frame.file, *it));
        let Some(first) = segments.next() else { return Value::Missing };
        if !ev.enter() {
            return Value::Unknown;
        }
        let mut value = match world.text(first) {
            "" => Value::Module(ModuleId(GLOBAL.0)),
            "std" => Value::External(External::new(Origin::StandardLibrary, &[first])),
            _ => {
                // The import itself must not be asked for its own path: namespaces and classes are.
                let class = self.class_around(ev, frame.file, import.decl);
                let found =
                    class.map_or(Value::Missing, |it| self.class_member(ev, frame, it, first, Space::Type));
                match found {
                    Value::Missing | Value::Unknown | Value::External(_) => {
                        let from = world.modules.cpp.space_around(world, frame.file, import.decl);
                        self.declared_outwards(ev, frame, from, first)
                    }
                    found => found,
                }
            }
        };
        for segment in segments {
            value = value.map(|it| self.scoped(ev, frame, it, segment, Space::Type));
        }
        ev.leave();
        value
    }

    /// A namespace by name first, then a type.
    fn declared_outwards(&self, ev: &mut Evaluator<'_>, frame: Frame, from: SpaceId, name: Name) -> Value {
        let units = &ev.world.modules.cpp;
        let mut at = Some(from);
        while let Some(here) = at {
            if let Some(child) = units.child(here, name) {
                return Value::Module(ModuleId(child.0));
            }
            at = units.parent(here);
        }
        match self.unqualified(ev, frame, from, name, Space::Type) {
            Value::Missing => self.outside_name(ev, frame, name, Space::Type),
            found => found,
        }
    }

    /// The constructors of a type that is called.
    fn constructed(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, site: CallSite) -> Value {
        let world = ev.world;
        let class = match world.kind(def) {
            NodeKind::TypeAlias => match self.instance_of(ev, frame, &Value::Def(def), Vec::new()) {
                Value::Instance(class, _) => class,
                Value::ExternalInstance(external, _) => return Value::External(external),
                _ => return Value::Def(def),
            },
            kind if kind.is_type_like() => def,
            _ => return Value::Def(def),
        };
        let all = members::constructors(world, class);
        let n_arguments = world.found_in(frame.file).arguments_of(site.callee).len();
        // A copy needs no constructor of its own.
        if n_arguments == 1 && !all.iter().any(|it| overloads::n_parameters(world, *it).contains(&1)) {
            return Value::Def(class);
        }
        match all[..] {
            [] => Value::Def(class),
            [one] => Value::Def(one),
            _ => lookup::overloads(world, &all),
        }
    }

    /// A function by its bare name in the namespaces of what it is called with.
    fn by_arguments(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Value {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let Expr::Name { name, .. } = facts.expr(site.callee) else { return Value::Missing };
        let name = world.name(frame.file, name);
        let mut seen: Vec<SpaceId> = Vec::new();
        for argument in facts.arguments_of(site.callee) {
            let value = ev.settled_expr(frame, site.decl, argument.value);
            for part in value.parts() {
                let inner = match part {
                    Value::Iterable(inner) => inner,
                    part => part,
                };
                if let Value::Instance(class, _) = inner {
                    let space = lookup::space_of_type(world, *class);
                    if space != GLOBAL && !seen.contains(&space) {
                        seen.push(space);
                    }
                }
            }
        }
        let found: Vec<Value> = seen
            .into_iter()
            .map(|it| self.qualified(ev, frame, it, name, Space::Value))
            .filter(Value::is_known)
            .collect();
        if found.is_empty() { Value::Missing } else { Value::join(found) }
    }

    /// What a method was called on; `Unknown` for functions.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Value {
        match ev.world.found_in(frame.file).expr(site.callee) {
            Expr::Member { of, .. } => match ev.settled_expr(frame, site.decl, of) {
                Value::Iterable(inner) => (*inner).clone(),
                of => of,
            },
            _ => Value::Unknown,
        }
    }
}

/// A pointer, and what it points to. An array is used as one.
fn pointer_to(value: Value) -> Value {
    match value {
        Value::Unknown | Value::Missing => value,
        value => Value::Iterable(value.into()),
    }
}

fn is_pointer(ev: &Evaluator<'_>, file: u32, segments: &[knowing_model::facts::Str]) -> bool {
    matches!(segments, [only] if ev.world.found_in(file).text(*only) == "*")
}

fn is_class(world: &World<'_>, def: Def) -> bool {
    let kind = world.kind(def);
    kind.is_type_like() && kind != NodeKind::Module
}

/// `std::string(x)` makes a string; `std::max(x, y)` does not make a `max`.
fn is_type_name(ev: &Evaluator<'_>, external: &External) -> bool {
    let name = external.last().map_or("", |it| ev.world.text(it));
    matches!(
        name,
        "string" | "vector" | "map" | "set" | "pair" | "unique_ptr" | "shared_ptr" | "unordered_map"
    )
}
