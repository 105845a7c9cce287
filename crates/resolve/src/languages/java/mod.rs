//! Java: packages and imports, types in types, overloads, what the JDK is known to give.
//!
//! ```text
//! lookup    names of types, values and methods from where they stand outwards
//! tables    names that need no import, packages of the JDK, members too common to guess by
//! ```

mod lookup;
pub(in crate::languages) mod tables;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Import, ImportKind, Literal, Modifiers, Type, TypeId};

use super::nominal::generics::{self, Site};
use super::nominal::{Dialect, Packages, Standard, fits, lambdas, members, standard};
use super::{CallSite, ExternalName, Fit, Given, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, World};

pub(crate) struct Java;

pub(crate) const TABLE: &str = include_str!("standard.txt");

/// What the languages of the Java virtual machine share: one tree of packages, one standard library.
#[derive(Default)]
pub(crate) struct Jvm {
    pub(crate) packages: Packages,
    pub(crate) standard: Standard,
}

impl Jvm {
    pub(crate) fn new(world: &World<'_>) -> Jvm {
        Jvm {
            packages: Packages::new(world, &["java", "kotlin"], '.'),
            standard: Standard::new(&world.names, &[TABLE, super::kotlin::TABLE]),
        }
    }
}

const WORDS: &[&str] = &["<init>", "this", "super", "length", "java", "lang"];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    WORDS.iter().chain(tables::JAVA_LANG).chain(tables::PLAIN).copied().chain(standard::words(TABLE))
}

impl Dialect for Java {
    fn standard<'w>(&self, ev: &Evaluator<'w>) -> &'w Standard {
        &ev.world.modules.jvm.standard
    }

    fn root_type(&self) -> &'static str {
        "java.lang.Object"
    }

    fn root_members(&self) -> &'static [&'static str] {
        tables::OBJECT
    }

    fn plain_types(&self) -> &'static [&'static str] {
        tables::PLAIN
    }
}

impl Rules for Java {
    fn notes_tables(&self) -> bool {
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
        if space == Space::Type {
            return self.type_parameter(ev, frame, decl, name);
        }
        if ev.world.names.is_word(name, "this") {
            return Some(ev.enclosing_type(frame, decl).map_or(Value::Unknown, Value::instance));
        }
        None
    }

    fn binds_whole_callable(&self) -> bool {
        false
    }

    fn bare_member(&self, ev: &mut Evaluator<'_>, _: Frame, type_: Def, name: Name, space: Space) -> Value {
        let world = ev.world;
        let found = ev.java_members.bare.entry((type_, name, space)).or_insert_with(|| match space {
            Space::Type => members::nested_type(world, type_, name),
            Space::Value => {
                members::field(world, type_, name).or_else(|| members::nested_type(world, type_, name))
            }
            Space::Macro => None,
        });
        found.map_or(Value::Missing, Value::Def)
    }

    fn called_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        _: u32,
    ) -> Option<Value> {
        Some(self.bare_call(ev, frame, decl, name))
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, space: Space) -> Value {
        let ImportKind::Member { name, .. } = import.kind else { return Value::Unknown };
        let name = ev.world.name(frame.file, name);
        match self.imported_module(ev, frame, import) {
            Value::Def(type_) => self.static_member(ev, type_, name, space),
            Value::Module(package) => self.package_member(ev, frame, package, name),
            Value::External(external) => Value::External(external.member(name)),
            _ => Value::Unknown,
        }
    }

    /// The package or the type that an import names members of.
    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        ev.module_of(import, |ev| {
            let path: Vec<Name> = import.module.iter().map(|it| ev.world.name(frame.file, *it)).collect();
            self.path(ev, frame, &path)
        })
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
            Value::Module(package) => {
                let found = ev.world.modules.jvm.packages.type_named(ev.world, frame.file, package, name);
                found.map_or(Value::Missing, Value::Def)
            }
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
        let Some((first, rest)) = segments.split_first() else { return Value::Unknown };
        let mut value = ev.name(frame, decl, ev.world.name(frame.file, *first), *at, Space::Type);
        if rest.is_empty() {
            return value;
        }
        let names: Vec<Name> = segments.iter().map(|it| ev.world.name(frame.file, *it)).collect();
        let rest = &names[1..];
        if !value.is_known() {
            return self.path(ev, frame, &names);
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
                if let [only] = segments[..]
                    && let name = ev.world.name(frame.file, only)
                    && ev.world.names.is_any_word(name, tables::PLAIN)
                {
                    return Value::ExternalInstance(
                        External::new(Origin::StandardLibrary, &[name]),
                        Value::none(),
                    );
                }
                let entity = self.type_entity(ev, frame, decl, type_);
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                instance_of(&entity, arguments)
            }
            Type::Sequence(of) => Value::Iterable(ev.typed(frame, decl, *of).into()),
            Type::Union(types) => {
                let types = types.iter().map(|it| ev.typed(frame, decl, *it)).collect::<Vec<_>>();
                Value::join(types)
            }
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
            Value::Def(type_) if world.kind(*type_).is_type_like() => match name {
                it if world.names.is_word(it, "this") => Value::instance(*type_),
                it if world.names.is_word(it, "super") => self.qualified_super(ev, frame, *type_),
                _ => match self.static_member(ev, *type_, name, Space::Value) {
                    Value::Missing => members::outside(ev, self, *type_, name),
                    value => value,
                },
            },
            Value::Instance(type_, _) | Value::Super(type_) => {
                if let Some(field) = members::field(world, *type_, name) {
                    return Value::Def(field);
                }
                self.methods(ev, *type_, name).unwrap_or_else(|| members::outside(ev, self, *type_, name))
            }
            Value::Bounded(bounds) => self.of_bounds(bounds, |bound| self.member(ev, frame, bound, name)),
            Value::Module(package) => self.package_member(ev, frame, *package, name),
            Value::Iterable(_) if world.names.is_word(name, "length") => {
                self.standard(ev).instance("int", Value::none())
            }
            Value::External(external) => {
                let is_constant =
                    world.text(name).chars().all(|it| it.is_uppercase() || it == '_' || it.is_numeric());
                let constant = if is_constant { self.standard(ev).constant(external, name) } else { None };
                constant.unwrap_or_else(|| Value::External(external.member(name)))
            }
            Value::ExternalInstance(external, _) if external.path.len() > 1 => {
                Value::External(external.member(name))
            }
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn method(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let world = ev.world;
        if world.names.is_word(name, self.constructor_name()) {
            return match of {
                Value::Instance(type_, _) | Value::Def(type_) => members::constructors(world, *type_, name),
                Value::Super(type_) => members::super_constructors(world, *type_, name),
                Value::External(external) | Value::ExternalInstance(external, _) => {
                    match self.standard(ev).function_arity(external) {
                        Some(_) => Value::Nothing,
                        None => Value::External(external.member(name)),
                    }
                }
                Value::Iterable(_) => Value::Nothing,
                other => other.clone(),
            };
        }
        match of {
            Value::Instance(type_, _) | Value::Def(type_) if world.kind(*type_).is_type_like() => {
                self.methods(ev, *type_, name).unwrap_or_else(|| self.implied(ev, *type_, name))
            }
            Value::Super(type_) => match members::inherited_methods(world, self, *type_, name) {
                found if found.is_empty() => members::outside(ev, self, *type_, name),
                found => members::overloads(found),
            },
            Value::Bounded(bounds) => self.of_bounds(bounds, |bound| self.method(ev, frame, bound, name)),
            Value::Iterable(_) => match self.standard(ev).external(self.root_type()) {
                Some(root) => Value::External(root.member(name)),
                None => Value::ExternalResult,
            },
            Value::External(external) => Value::External(external.member(name)),
            _ => self.member(ev, frame, of, name),
        }
    }

    /// `Type::method`.
    fn scoped(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name, _: Space) -> Value {
        self.method(ev, frame, of, name)
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
                // The part of a record, by its accessor.
                _ => ev.settled(frame, callee),
            },
            Value::External(external) => {
                let receiver = lambdas::receiver_of(ev, frame, site.decl, site.callee);
                let receiver = match &receiver {
                    Value::Instance(..) => {
                        generics::as_outside(ev, frame, &receiver).unwrap_or(Value::Unknown)
                    }
                    Value::Iterable(_) => receiver,
                    other => other.clone(),
                };
                // `array.clone()`.
                if let Value::Iterable(_) = receiver {
                    return receiver;
                }
                self.standard(ev).called(ev, self, external, &receiver, place)
            }
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn given(&self, ev: &mut Evaluator<'_>, frame: Frame, given: Given) -> Value {
        lambdas::given(ev, self, frame, given)
    }

    fn fits(&self, ev: &mut Evaluator<'_>, _: Frame, value: &Value, target: &Value) -> Fit {
        fits::fits(ev, self, value, target)
    }

    fn lambda_arity(&self, ev: &mut Evaluator<'_>, _: Frame, target: &Value) -> Option<u8> {
        lambdas::arity(ev, self, target)
    }

    fn is_called(&self, world: &World<'_>, def: Def) -> bool {
        let kind = world.kind(def);
        kind.is_callable() || kind.is_type_like() || is_component(world, def)
    }

    fn overrides(&self, world: &World<'_>, below: Def, above: Def) -> bool {
        let is_static = |it: Def| world.decl(it).2.modifiers.contains(Modifiers::STATIC);
        world.kind(below) != NodeKind::Constructor
            && !is_static(below)
            && !is_static(above)
            && members::overrides(world, below, above, tables::PLAIN)
    }

    fn lists_bases_together(&self) -> bool {
        true
    }

    fn has_closed_types(&self) -> bool {
        true
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(element) => (**element).clone(),
            Value::ExternalInstance(external, arguments) => {
                self.standard(ev).argument_above(external, arguments, "java.lang.Iterable", 0)
            }
            Value::Instance(..) => match generics::as_outside(ev, frame, of) {
                Some(outside) => self.element(ev, frame, &outside),
                None => Value::Unknown,
            },
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn indexed(&self, _: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(element) => (**element).clone(),
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        let name = match literal {
            Literal::String => "java.lang.String",
            Literal::Integer => "int",
            Literal::Float => "double",
            Literal::Bool => "boolean",
            Literal::Character => "char",
            Literal::None => return Value::Nothing,
            _ => return Value::Unknown,
        };
        self.standard(ev).instance(name, Value::none())
    }

    fn is_common_member(&self, name: &str) -> bool {
        tables::OBJECT.contains(&name) || tables::COMMON.contains(&name)
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        external_name(ev, external)
    }
}

/// A value of what a type names. A type that is written and not found is not of the project.
pub(crate) fn instance_of(entity: &Value, arguments: Vec<Value>) -> Value {
    let arguments = Value::arguments(arguments);
    entity.map(|it| match it {
        Value::Def(def) => Value::Instance(*def, arguments.clone()),
        Value::External(external) => Value::ExternalInstance(external.clone(), arguments.clone()),
        Value::Bounded(_) => it.clone(),
        _ => Value::ExternalResult,
    })
}

/// Packages have names in lower case, types do not.
pub(crate) fn external_name(ev: &Evaluator<'_>, external: &External) -> ExternalName {
    let texts: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
    let is_package = |it: &&str| !it.starts_with(|it: char| it.is_uppercase() || it == '<');
    let n_package = texts.iter().take_while(|it| is_package(it)).count();
    let n_package = if n_package == texts.len() { n_package.saturating_sub(1) } else { n_package };
    let (repo, ecosystem) = match external.origin {
        Origin::StandardLibrary => ("stdlib", "java"),
        Origin::ThirdParty => ("external", "maven"),
    };
    let package = if n_package == 0 { "?".to_owned() } else { texts[..n_package].join(".") };
    ExternalName { repo, container: format!("{ecosystem}/{package}"), symbol: texts[n_package..].join(".") }
}

/// Whether a field is a part of a record, which is read by a method of its name.
pub(in crate::languages) fn is_component(world: &World<'_>, def: Def) -> bool {
    let (file, _, decl) = world.decl(def);
    let owner = decl.owner.map(|it| world.found_in(file).decl(it));
    decl.kind == NodeKind::Field
        && owner.is_some_and(|it| {
            it.kind == NodeKind::Class && it.parameters.iter().any(|it| it.name == decl.name)
        })
}
