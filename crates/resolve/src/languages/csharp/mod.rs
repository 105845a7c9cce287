//! C#: namespaces and usings, partial types, overloads, extension methods in scope, type arguments one level deep, and
//! what is known of the base library.
//!
//! ```text
//! namespaces  which types stand where, extension methods by name, partial types
//! lookup      what a name means: nested types, namespaces around, aliases, usings
//! types       written types to values, with what type parameters stand for
//! members     own and inherited members, and those from outside
//! overloads   which of several callables a call means; extension methods
//! fit         whether a value can be handed over for a parameter
//! results     what calls give, and what lambdas get
//! standard    what is known of types from outside, by `tables`
//! ```

mod fit;
mod lookup;
mod members;
mod namespaces;
mod overloads;
mod results;
mod standard;
mod tables;
mod types;

use std::sync::Arc;

use knowing_model::facts::{DeclId, Import, ImportKind, Literal, TypeId};

use super::{CallSite, ExternalName, Given, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, World};

use lookup::{Asked, STATIC_LEVEL, namespace_at, nested_type};
use members::{Wanted, declared_member, own_members};

pub(crate) use namespaces::CsharpNamespaces;

pub(crate) struct Csharp;

/// What constructors are called.
const INIT: &str = "<init>";
/// The root of what nobody knows the namespace of.
const NOWHERE: &str = "?";
/// A callee that stands for the constructor of what it is a member of.
const NEW: &str = "new";

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    [INIT, NEW, NOWHERE, "this[]"].into_iter().chain(tables::words())
}

impl Rules for Csharp {
    fn notes_tables(&self) -> bool {
        true
    }

    fn has_types_in_parts(&self) -> bool {
        true
    }

    fn lists_bases_together(&self) -> bool {
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
        match self.found_outside_types(ev, frame, name, space) {
            Value::Missing => {}
            value => return value,
        }
        // The root of a namespace from outside.
        if is_namespace_root(ev, frame.file, name) {
            return Value::External(standard::named(ev, &[name]));
        }
        // Written like a type: one from outside.
        if ev.world.text(name).starts_with(|it: char| it.is_uppercase()) {
            return Value::External(self.outside_type(ev, frame.file, name));
        }
        Value::Unknown
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        _: Space,
    ) -> Option<Value> {
        if ev.world.text(name) != "this" {
            return None;
        }
        let type_ = ev.enclosing_type(frame, decl)?;
        Some(self.own_instance(ev, frame, type_))
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
        let type_ = world.hierarchy.whole(type_);
        if space == Space::Type {
            let asked = Asked { file: frame.file, at: None, name, arity: None };
            return nested_type(world, type_, asked).map_or(Value::Missing, Value::Def);
        }
        if let Some(found) = declared_member(world, type_, name, Wanted::Any) {
            return self.as_callable(ev, found);
        }
        // What is not written like a type is a field of a class from outside.
        if self.outside_base(ev, type_).is_some()
            && !world.text(name).starts_with(|it: char| it.is_uppercase())
            && !self.is_found_around(ev, frame, type_, name)
        {
            return Value::ExternalResult;
        }
        Value::Missing
    }

    fn called_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        at: u32,
    ) -> Option<Value> {
        let world = ev.world;
        let found = ev.name(frame, decl, name, at, Space::Value);
        let Value::External(_) = &found else { return Some(found) };
        // Nothing in the project: a class from outside that one around is below may have it.
        let mut around = members::type_around(world, frame.file, decl);
        while let Some(type_) = around {
            if let Some(external) = self.outside_base(ev, type_) {
                return Some(Value::External(external.member(name)));
            }
            around = world.owner(type_);
        }
        // All types have these.
        if standard::is_object_member(world.text(name)) {
            return Some(standard::member(ev, "Object", name));
        }
        Some(Value::Missing)
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, _: Space) -> Value {
        match import.kind {
            ImportKind::Member { .. } => self.alias_target(ev, frame.file, import),
            _ => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let path: Vec<Name> = import.module.iter().map(|it| ev.world.name(frame.file, *it)).collect();
        if import.level == STATIC_LEVEL {
            return self.path(ev, frame.file, &path);
        }
        match (import.kind, namespace_at(ev.world, &path)) {
            (ImportKind::Wildcard, Some(namespace)) => Value::Module(namespace),
            (ImportKind::Wildcard, None) => Value::External(standard::named(ev, &path)),
            _ => Value::Unknown,
        }
    }

    fn reached_files(&self, ev: &Evaluator<'_>, frame: Frame, import: &Import) -> Vec<u32> {
        let path: Vec<Name> = import.module.iter().map(|it| ev.world.name(frame.file, *it)).collect();
        match (import.kind, namespace_at(ev.world, &path)) {
            (ImportKind::Wildcard, Some(namespace)) => ev.world.modules.csharp.files(namespace).to_vec(),
            _ => Vec::new(),
        }
    }

    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        self.entity(ev, frame.file, decl, type_)
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        self.typed_with(ev, frame, decl, type_, &Vec::new())
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        match self.member_of(ev, frame, of, name, Wanted::Any) {
            Value::Def(found) => self.as_callable(ev, found),
            value => value,
        }
    }

    fn has_methods_apart(&self) -> bool {
        true
    }

    fn method(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        if ev.world.text(name) == NEW {
            return self.constructor(ev, of);
        }
        let found = self.member_of(ev, frame, of, name, Wanted::Method);
        found.map(|it| match it {
            Value::Def(found) => self.as_callable(ev, *found),
            other => other.clone(),
        })
    }

    fn scoped(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value, _: Name, _: Space) -> Value {
        self.constructor(ev, of)
    }

    fn meant(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, all: &[Def]) -> Option<Value> {
        all.first().map(|first| self.meant_of(ev, frame, site, *first))
    }

    fn held_by(&self, ev: &mut Evaluator<'_>, frame: Frame, of: CallSite, def: Def) -> Option<Value> {
        self.held_in(ev, frame, of, def)
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        self.result(ev, frame, callee, site)
    }

    fn given(&self, ev: &mut Evaluator<'_>, frame: Frame, given: Given) -> Value {
        self.lambda_gets(ev, frame, given)
    }

    fn for_parameter(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, argument: u8) -> Value {
        self.comes_out(ev, frame, site, argument)
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Instance(..) => self.own_element(ev, frame, of),
            _ => standard::element(ev, of),
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        let world = ev.world;
        let Value::Instance(def, arguments) = of else { return standard::indexed(ev, of) };
        let indexer = world.names.find("this[]").and_then(|it| declared_member(world, *def, it, Wanted::Any));
        match indexer {
            Some(indexer) => self.typed_member(ev, frame, (*def, arguments), indexer),
            None => Value::Unknown,
        }
    }

    fn call_operator(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        // A delegate from outside is called; one of the project is a call of nobody knows what.
        match of {
            Value::ExternalInstance(external, _) => Value::External(external.clone()),
            _ => {
                let _ = ev;
                Value::Unknown
            }
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        let name = match literal {
            Literal::String => "String",
            Literal::Integer => "Int32",
            Literal::Float => "Double",
            Literal::Bool => "Boolean",
            Literal::Character => "Char",
            Literal::None => return Value::Nothing,
            Literal::Function => return Value::Function(Value::Unknown.into()),
            Literal::List => return standard::instance(ev, "Array", vec![Value::Unknown]),
            _ => return Value::Unknown,
        };
        standard::instance(ev, name, vec![])
    }

    fn is_called(&self, world: &World<'_>, def: Def) -> bool {
        let kind = world.kind(def);
        kind.is_callable() || kind.is_type_like()
    }

    fn has_closed_types(&self) -> bool {
        true
    }

    fn is_common_member(&self, name: &str) -> bool {
        standard::is_common_member(name)
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let texts: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
        match external.origin {
            Origin::StandardLibrary => {
                let n = standard::n_namespace(&texts).min(texts.len());
                let container = format!("csharp/{}", texts[..n].join("."));
                ExternalName { repo: "stdlib", container, symbol: texts[n..].join(".") }
            }
            Origin::ThirdParty => {
                // The package is the root of the namespace, where one is known.
                let (package, rest) =
                    texts.split_first().map_or((NOWHERE, &texts[..]), |(root, rest)| (*root, rest));
                ExternalName {
                    repo: "external",
                    container: format!("nuget/{package}"),
                    symbol: rest.join("."),
                }
            }
        }
    }
}

impl Csharp {
    /// What a name means that is no member of any type around.
    fn found_outside_types(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name, space: Space) -> Value {
        if space == Space::Value {
            match self.static_member(ev, frame.file, name) {
                Value::Def(found) => return self.as_callable(ev, found),
                Value::Missing => {}
                value => return value,
            }
        }
        self.top_type(ev, Asked { file: frame.file, at: None, name, arity: None })
    }

    /// The class from outside that a type is below.
    fn outside_base<'w>(&self, ev: &Evaluator<'w>, type_: Def) -> Option<&'w External> {
        ev.world.hierarchy.ancestors(type_).iter().find_map(|it| match it {
            Ancestor::External(external) if !is_interface_name(ev, external) => Some(external),
            _ => None,
        })
    }

    /// Whether a name is declared by a type around `type_`, or is that of a type or namespace.
    fn is_found_around(&self, ev: &mut Evaluator<'_>, frame: Frame, type_: Def, name: Name) -> bool {
        let world = ev.world;
        let mut around = world.owner(type_);
        while let Some(outer) = around {
            if declared_member(world, outer, name, Wanted::Any).is_some() {
                return true;
            }
            around = world.owner(outer);
        }
        self.found_outside_types(ev, frame, name, Space::Value) != Value::Missing
    }

    /// A callable comes with all of its name in its type; the call says which is meant.
    fn as_callable(&self, ev: &Evaluator<'_>, found: Def) -> Value {
        let world = ev.world;
        if !world.kind(found).is_callable() {
            return Value::Def(found);
        }
        let (file, _, decl) = world.decl(found);
        let all: Vec<Def> = match world.owner(found) {
            Some(owner) if world.kind(owner).is_type_like() => {
                own_members(world, owner, world.name(file, decl.name))
            }
            _ => vec![found],
        };
        let mut all: Vec<Def> = all.into_iter().filter(|it| world.kind(*it).is_callable()).collect();
        // The one that was found is the first.
        all.retain(|it| *it != found);
        all.insert(0, found);
        Value::Overloads(Arc::from(all))
    }

    /// What `new` calls: the constructors of a type, or the type where it has none of its own.
    fn constructor(&self, ev: &Evaluator<'_>, of: &Value) -> Value {
        let world = ev.world;
        match of {
            Value::Instance(def, _) | Value::Def(def) => {
                let all = world.names.find(INIT).map(|it| own_members(world, *def, it)).unwrap_or_default();
                // A static constructor is nothing that can be called.
                let is_static =
                    |it: &Def| world.decl(*it).2.modifiers.contains(knowing_model::facts::Modifiers::STATIC);
                let all: Vec<Def> = all.into_iter().filter(|it| !is_static(it)).collect();
                if all.is_empty() { Value::Def(*def) } else { Value::Overloads(Arc::from(all)) }
            }
            Value::Super(def) => {
                for ancestor in world.hierarchy.ancestors(*def) {
                    match ancestor {
                        Ancestor::Project(above)
                            if world.kind(*above) != knowing_model::NodeKind::Interface =>
                        {
                            return self.constructor(ev, &Value::Def(*above));
                        }
                        Ancestor::External(external) if !is_interface_name(ev, external) => {
                            return Value::External(external.clone());
                        }
                        _ => {}
                    }
                }
                Value::Unknown
            }
            Value::ExternalInstance(external, _) | Value::External(external) => {
                Value::External(external.clone())
            }
            Value::Awaitable(_) => standard::entity(ev, "Task"),
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }
}

fn is_namespace_root(ev: &Evaluator<'_>, file: u32, name: Name) -> bool {
    ev.world.text(name) == "System"
        || lookup::imports_of(ev.world, file)
            .any(|(at, import)| import.module.first().is_some_and(|it| ev.world.name(at, *it) == name))
}

/// `IThing`: interfaces are written so.
fn is_interface_name(ev: &Evaluator<'_>, external: &External) -> bool {
    let text = external.last().map_or("", |it| ev.world.text(it));
    matches!(text.as_bytes(), [b'I', second, ..] if second.is_ascii_uppercase())
}
