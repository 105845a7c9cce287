//! Kotlin: the packages and the standard library of Java, functions and properties of files, companions, extensions,
//! properties for getters.
//!
//! ```text
//! lookup    names of types, values and functions from where they stand outwards; extensions
//! tables    types that need no import, members that every value has
//! ```

mod lookup;
mod tables;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, ITSELF, Import, ImportKind, Literal, Modifiers, Type, TypeId};

use super::java::{self, Java};
use super::nominal::generics::{self, Site};
use super::nominal::{Dialect, Standard, fits, lambdas, members, standard};
use super::{CallSite, ExternalName, Fit, Given, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{External, Value};
use crate::world::{Def, World};

pub(crate) struct Kotlin;

pub(crate) const TABLE: &str = include_str!("standard.txt");

const WORDS: &[&str] = &["kotlin", "this", "<this>", "it", "Companion", "invoke", "get", "component1"];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    let paths = tables::TYPES.iter().flat_map(|(name, path)| path.split('.').chain([*name]));
    let arrays = tables::ARRAYS.iter().map(|(name, _)| *name);
    WORDS.iter().chain(tables::ANY).copied().chain(paths).chain(arrays).chain(standard::words(TABLE))
}

impl Dialect for Kotlin {
    fn standard<'w>(&self, ev: &Evaluator<'w>) -> &'w Standard {
        &ev.world.modules.jvm.standard
    }

    fn root_type(&self) -> &'static str {
        "java.lang.Object"
    }

    fn root_members(&self) -> &'static [&'static str] {
        tables::ANY
    }
}

impl Rules for Kotlin {
    fn notes_tables(&self) -> bool {
        true
    }

    fn has_types_in_parts(&self) -> bool {
        true
    }

    fn free_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        _: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        ev.top_name(frame.file, name, space, |ev| self.top(ev, frame, name, space))
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        if space == Space::Type { self.type_parameter(ev, frame, decl, name) } else { None }
    }

    fn binds_whole_callable(&self) -> bool {
        false
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
        if space == Space::Value && world.text(name) == "this" {
            return Value::instance(type_);
        }
        if space == Space::Value
            && let Some(value) = self.constructor_parameter(ev, frame, type_, name)
        {
            return value;
        }
        match self.static_member(ev, type_, name, space) {
            Value::Overloads(_) => Value::Missing,
            found => found,
        }
    }

    fn called_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        at: u32,
    ) -> Option<Value> {
        self.bare_call(ev, frame, decl, name, at)
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, space: Space) -> Value {
        let ImportKind::Member { name, .. } = import.kind else { return Value::Unknown };
        let name = ev.world.name(frame.file, name);
        match self.imported_module(ev, frame, import) {
            Value::Def(type_) => self.static_member(ev, type_, name, space),
            Value::Module(package) => self.package_member(ev, frame, package, name, space),
            Value::External(external) => Value::External(external.member(name)),
            _ => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        Java.imported_module(ev, frame, import)
    }

    fn offered(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        import: &Import,
        name: Name,
        space: Space,
    ) -> Value {
        match self.imported_module(ev, frame, import) {
            Value::Def(type_) => self.static_member(ev, type_, name, space),
            Value::Module(package) => self.declared_in(ev, frame, package, name, space),
            _ => Value::Missing,
        }
    }

    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        let Type::Named { segments, at, .. } = ev.world.found_in(frame.file).type_(type_) else {
            return Value::Unknown;
        };
        let names: Vec<Name> = segments.iter().map(|it| ev.world.name(frame.file, *it)).collect();
        let Some((first, rest)) = names.split_first() else { return Value::Unknown };
        let mut value = ev.name(frame, decl, *first, *at, Space::Type);
        if !value.is_known() && !rest.is_empty() {
            return Java.path(ev, frame, &names);
        }
        for name in rest {
            value = value.map(|it| match it {
                Value::Def(type_) => {
                    members::nested_type(ev.world, *type_, *name).map_or(Value::Missing, Value::Def)
                }
                Value::External(external) => Value::External(external.member(*name)),
                _ => Value::Unknown,
            });
        }
        value
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        match ev.world.found_in(frame.file).type_(type_) {
            Type::Named { segments, arguments, .. } => {
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                if let [only] = segments[..]
                    && let Some(array) = self.array(ev, ev.world.found_in(frame.file).text(only), &arguments)
                {
                    return array;
                }
                match self.type_entity(ev, frame, decl, type_) {
                    Value::Def(alias) if ev.world.kind(alias) == NodeKind::TypeAlias => {
                        self.aliased(ev, frame, alias)
                    }
                    entity => java::instance_of(&entity, arguments),
                }
            }
            Type::Sequence(of) => Value::Iterable(ev.typed(frame, decl, *of).into()),
            Type::Tuple(types) if types.is_empty() => Value::Nothing,
            _ => Value::Unknown,
        }
    }

    fn has_methods_apart(&self) -> bool {
        true
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let world = ev.world;
        match of {
            Value::Def(type_) if world.kind(*type_).is_type_like() => match world.text(name) {
                "this" => Value::instance(*type_),
                _ => match self.static_member(ev, *type_, name, Space::Value) {
                    Value::Missing => members::outside(ev, self, *type_, name),
                    value => value,
                },
            },
            Value::Instance(type_, _) | Value::Super(type_) => {
                if let Some(field) = members::field(world, *type_, name) {
                    return Value::Def(field);
                }
                if let Some(value) = self.by_getter(ev, frame, of, *type_, name) {
                    return value;
                }
                match self.methods(ev, *type_, name) {
                    Some(found) => Value::Overloads(found),
                    None => members::outside(ev, self, *type_, name),
                }
            }
            Value::Module(package) => self.package_member(ev, frame, *package, name, Space::Value),
            Value::Iterable(_) if matches!(world.text(name), "size" | "lastIndex") => {
                self.standard(ev).instance("int", Value::none())
            }
            // Properties of the standard library are in the table as if they were called.
            Value::ExternalInstance(external, _) if self.standard(ev).declares(external, name) => {
                let site = Site { frame, decl: None, arguments: &[] };
                self.standard(ev).called(ev, self, &external.member(name), of, site)
            }
            _ => Java.member(ev, frame, of, name),
        }
    }

    fn method(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let world = ev.world;
        if world.text(name) == self.constructor_name() {
            return Java.method(ev, frame, of, name);
        }
        match of {
            Value::Instance(type_, _) | Value::Def(type_) if world.kind(*type_).is_type_like() => {
                let found = match of {
                    Value::Def(_) => self.called_member(ev, *type_, name),
                    _ => self.methods(ev, *type_, name).map(Value::Overloads),
                };
                if let Some(found) = found {
                    return found;
                }
                // `Outer.Inner(...)`.
                if matches!(of, Value::Def(_))
                    && let Some(inner) = members::nested_type(world, *type_, name)
                    && let Some(init) = world.names.find("<init>")
                {
                    return members::constructors(world, inner, init);
                }
                match self.extensions(ev, frame, of, name) {
                    Some(found) => found,
                    None => self.held_or_outside(ev, *type_, name),
                }
            }
            Value::Super(type_) => match members::inherited_methods(world, self, *type_, name) {
                found if found.is_empty() => members::outside(ev, self, *type_, name),
                found => members::overloads(found),
            },
            Value::Module(package) => self.called_in(ev, frame, *package, name),
            Value::ExternalInstance(..) | Value::Iterable(_) | Value::ExternalResult => {
                match self.extensions(ev, frame, of, name) {
                    Some(found) => found,
                    None => {
                        self.plain_member(ev, of, name).unwrap_or_else(|| Java.method(ev, frame, of, name))
                    }
                }
            }
            Value::Bounded(bounds) => Java.of_bounds(bounds, |bound| self.method(ev, frame, bound, name)),
            _ => Java.method(ev, frame, of, name),
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        let arguments = world.found_in(frame.file).arguments_of(site.callee);
        let place = Site { frame, decl: site.decl, arguments };
        match callee {
            Value::Def(def) => match world.kind(*def) {
                kind if kind.is_type_like() => Value::instance(*def),
                NodeKind::Constructor => world.owner(*def).map_or(Value::Unknown, Value::instance),
                kind if kind.is_callable() => {
                    let receiver = lambdas::receiver_of(ev, frame, site.decl, site.callee);
                    generics::result(ev, self, place, *def, &receiver)
                }
                _ => Value::Unknown,
            },
            Value::External(external) => {
                let receiver = lambdas::receiver_of(ev, frame, site.decl, site.callee);
                let outside = match &receiver {
                    Value::Instance(..) => generics::as_outside(ev, frame, &receiver),
                    _ => None,
                };
                let receiver = outside.unwrap_or(receiver);
                // A type from outside is made by its name.
                let is_type = external
                    .last()
                    .is_some_and(|it| world.text(it).starts_with(|it: char| it.is_uppercase()));
                if is_type {
                    return Value::ExternalInstance(external.clone(), Value::none());
                }
                self.standard(ev).called(ev, self, external, &receiver, place)
            }
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn given(&self, ev: &mut Evaluator<'_>, frame: Frame, given: Given) -> Value {
        if given.parameter == ITSELF {
            return self.applied_to(ev, frame, given);
        }
        lambdas::given(ev, self, frame, given)
    }

    fn fits(&self, ev: &mut Evaluator<'_>, _: Frame, value: &Value, target: &Value) -> Fit {
        fits::fits(ev, self, value, target)
    }

    fn lambda_arity(&self, ev: &mut Evaluator<'_>, _: Frame, target: &Value) -> Option<u8> {
        lambdas::arity(ev, self, target)
    }

    fn overrides(&self, world: &World<'_>, below: Def, above: Def) -> bool {
        let is_static = |it: Def| world.decl(it).2.modifiers.contains(Modifiers::STATIC);
        world.kind(below) != NodeKind::Constructor
            && !is_static(above)
            && members::overrides(world, below, above, &[])
    }

    fn is_called(&self, world: &World<'_>, def: Def) -> bool {
        let kind = world.kind(def);
        kind.is_callable() || kind.is_type_like() || java::is_component(world, def)
    }

    fn lists_bases_together(&self) -> bool {
        true
    }

    fn has_closed_types(&self) -> bool {
        true
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            // What iterates gives `Map.Entry`s.
            Value::ExternalInstance(external, arguments) => {
                let standard = self.standard(ev);
                let element = standard.argument_above(external, arguments, "java.lang.Iterable", 0);
                if element.is_known() {
                    return element;
                }
                let of_sequence =
                    standard.argument_above(external, arguments, "kotlin.sequences.Sequence", 0);
                if of_sequence.is_known() {
                    return of_sequence;
                }
                let key = standard.argument_above(external, arguments, "java.util.Map", 0);
                let value = standard.argument_above(external, arguments, "java.util.Map", 1);
                if key.is_known() || value.is_known() {
                    return standard.instance("java.util.Map.Entry", [key, value].into());
                }
                Value::Unknown
            }
            _ => Java.element(ev, frame, of),
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::ExternalInstance(external, arguments) => {
                let standard = self.standard(ev);
                let of_list = standard.argument_above(external, arguments, "java.util.List", 0);
                if of_list.is_known() {
                    return of_list;
                }
                standard.argument_above(external, arguments, "java.util.Map", 1)
            }
            _ => Java.indexed(ev, frame, of),
        }
    }

    fn item(&self, ev: &mut Evaluator<'_>, of: &Value, index: u32) -> Value {
        self.part(ev, of, index)
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        Java.literal(ev, literal)
    }

    fn is_common_member(&self, name: &str) -> bool {
        tables::ANY.contains(&name) || tables::DATA.contains(&name) || Java.is_common_member(name)
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        java::external_name(ev, external)
    }
}
