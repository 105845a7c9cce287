//! Go: packages and modules, methods by receiver, embedding, interfaces that are fulfilled without being named.
//!
//! ```text
//! packages     which directories are packages, where imports lead
//! conditions   which files are built together
//! members      fields and methods, own and promoted
//! types        written types as values, type arguments
//! standard     what the language and its library give
//! signatures   methods as interfaces ask for them
//! implements   which types fulfil which interfaces, by their method sets
//! ```
//!
//! Values of types without a name: a slice is `Iterable`, a channel `Awaitable`, a map an instance of `builtin.map`, a
//! struct without a name an instance of `struct` whose path goes on with the names of its fields.

mod conditions;
mod implements;
mod members;
mod packages;
mod signatures;
mod standard;
mod types;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, Import, ImportKind, Literal, Type, TypeId};

use super::{CallSite, ExternalName, Rules, Space};
use crate::evaluate::{Evaluator, Frame, fits};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

pub(crate) use implements::Fulfilments;
pub(crate) use packages::GoPackages;
use packages::Target;

pub(crate) struct Go;

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    standard::vocabulary()
}

impl Rules for Go {
    fn notes_tables(&self) -> bool {
        true
    }

    fn notes_parts(&self) -> bool {
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
        let world = ev.world;
        let go = &world.modules.go;
        let Some(package) = go.package(frame.file) else { return Value::Unknown };
        if let Some(value) = self.declared(ev, frame, package, name, space) {
            return value;
        }
        let facts = world.found_in(frame.file);
        for index in 0..facts.imports.len() {
            if go.is_called(world, frame.file, index, name) {
                return self.target(ev, frame, index);
            }
        }
        let mut doubt = false;
        for (index, import) in facts.imports.iter().enumerate() {
            if import.kind != ImportKind::Wildcard {
                continue;
            }
            match go.target(frame.file, index) {
                Some(Target::Package(package)) => {
                    if let Some(value) = self.declared(ev, frame, package, name, space) {
                        return value;
                    }
                }
                _ => doubt = true,
            }
        }
        if let Some(value) = standard::universe(ev, name) {
            return value;
        }
        if doubt {
            return Value::ExternalResult;
        }
        self.misnamed(ev, frame, name).unwrap_or(Value::Missing)
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        // `T(x)` converts to a type parameter, so that it counts among values, too.
        match space {
            Space::Type | Space::Value => self.type_parameter(ev, frame, decl, name),
            Space::Macro => None,
        }
    }

    fn binds_whole_callable(&self) -> bool {
        false
    }

    fn directory_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Module(package) => Some(ev.world.modules.go.first_file(*package)),
            _ => None,
        }
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, _: Space) -> Value {
        self.imported_module(ev, frame, import)
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let imports = &ev.world.found_in(frame.file).imports;
        match imports.iter().position(|it| it.position == import.position) {
            Some(index) => self.target(ev, frame, index),
            None => Value::Unknown,
        }
    }

    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        let world = ev.world;
        let Type::Named { segments, at, .. } = world.found_in(frame.file).type_(type_) else {
            return Value::Unknown;
        };
        let names: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
        match names[..] {
            [only] if matches!(world.text(only), "map" | "chan" | "struct") => Value::Unknown,
            [only] => ev.name(frame, decl, only, *at, Space::Type),
            [first, ..] if world.text(first) == "struct" => Value::Unknown,
            [package, name] => {
                let package = ev.name(frame, decl, package, *at, Space::Type);
                package.map(|it| self.member(ev, frame, it, name))
            }
            _ => Value::Unknown,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        match ev.world.found_in(frame.file).type_(type_) {
            Type::Named { segments, arguments, .. } => {
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                if let Some(value) = self.unnamed(ev, frame, segments, &arguments) {
                    return value;
                }
                let entity = self.type_entity(ev, frame, decl, type_);
                entity.map(|it| self.instance_of(ev, frame, it, &arguments))
            }
            Type::Tuple(types) => {
                Value::Tuple(types.iter().map(|it| ev.typed(frame, decl, *it)).collect::<Vec<_>>().into())
            }
            Type::Sequence(of) => Value::Iterable(ev.typed(frame, decl, *of).into()),
            Type::Bounds(bounds) => {
                let bounds: Vec<Value> =
                    bounds.iter().map(|it| self.type_entity(ev, frame, decl, *it)).collect();
                Value::Bounded(bounds.into())
            }
            Type::Function(result) => {
                let result = result.map_or(Value::Nothing, |it| ev.typed(frame, decl, it));
                Value::Function(result.into())
            }
            Type::Projection { .. } | Type::Union(_) | Type::Unknown => Value::Unknown,
        }
    }

    fn implemented(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        match self.type_entity(ev, frame, decl, type_) {
            Value::Def(def) => match self.unaliased(ev, frame, def) {
                Ancestor::Project(def) => Value::Def(def),
                Ancestor::External(external) => Value::External(external),
                Ancestor::Unknown => Value::Unknown,
            },
            other => other,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        match of {
            Value::Module(package) => {
                self.declared(ev, frame, *package, name, Space::Value).unwrap_or(Value::Missing)
            }
            Value::Instance(def, arguments) => self.instance_member(ev, frame, *def, arguments, name),
            // `Type.Method` as a value.
            Value::Def(def) if ev.world.kind(*def).is_type_like() => {
                self.instance_member(ev, frame, *def, &Value::none(), name)
            }
            Value::External(external) => Value::External(external.member(name)),
            Value::ExternalInstance(external, arguments) => {
                self.external_member(ev, frame, external, arguments, name)
            }
            Value::Bounded(bounds) => self.bounded_member(ev, frame, bounds, name),
            Value::ExternalResult => Value::ExternalResult,
            Value::Missing => Value::Missing,
            _ => Value::Unknown,
        }
    }

    fn is_conversion(&self, ev: &Evaluator<'_>, callee: &Value) -> bool {
        match callee {
            Value::Def(def) => ev.world.kind(*def).is_type_like(),
            Value::External(external) => standard::is_type(ev, external),
            // `[]byte(x)`, `T(x)` of a type parameter: a type, written where a function may stand.
            Value::Iterable(_) | Value::Bounded(_) => true,
            _ => false,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) => match world.kind(*def) {
                kind if kind.is_type_like() => self.instance_of(ev, frame, callee, &[]),
                kind if kind.is_callable() => {
                    let result = ev.result_of(*def, frame);
                    self.with_arguments_of_receiver(ev, frame, *def, site, result)
                }
                _ => match ev.settled(frame, callee) {
                    held if held == *callee => Value::Unknown,
                    held => ev.called(frame, &held, site),
                },
            },
            Value::Instance(def, arguments) => match self.underlying(ev, frame, *def, arguments) {
                Value::Function(result) => (*result).clone(),
                _ => Value::Unknown,
            },
            Value::External(external) if standard::is_type(ev, external) => {
                Value::ExternalInstance(external.clone(), Value::none())
            }
            Value::Function(result) => (**result).clone(),
            // A conversion to a type without a name.
            Value::Iterable(_) | Value::Bounded(_) => callee.clone(),
            Value::External(external) => self.external_called(ev, frame, external, site),
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(element) => {
                Value::Tuple([standard::instance(ev, "int", &[]), (**element).clone()].into())
            }
            Value::Awaitable(element) => Value::Tuple([(**element).clone()].into()),
            Value::ExternalInstance(external, arguments) => standard::element(ev, external, arguments),
            Value::Instance(def, arguments) => match self.underlying(ev, frame, *def, arguments) {
                Value::Unknown | Value::Instance(..) => Value::Unknown,
                value => ev.element(frame, &value),
            },
            Value::ExternalResult | Value::External(_) => {
                Value::Tuple([Value::ExternalResult, Value::ExternalResult].into())
            }
            _ => Value::Unknown,
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(element) => (**element).clone(),
            Value::ExternalInstance(external, arguments) if standard::is_builtin(ev, external, "map") => {
                arguments.get(1).cloned().unwrap_or(Value::Unknown)
            }
            Value::Instance(def, arguments) => match self.underlying(ev, frame, *def, arguments) {
                Value::Unknown | Value::Instance(..) => Value::Unknown,
                value => self.indexed(ev, frame, &value),
            },
            // `f[int]`: an instance of a generic function or type.
            Value::Def(_) | Value::External(_) => of.clone(),
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn item(&self, _: &mut Evaluator<'_>, of: &Value, index: u32) -> Value {
        match of {
            Value::Tuple(items) => items.get(index as usize).cloned().unwrap_or(Value::Unknown),
            Value::ExternalResult | Value::External(_) | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        standard::literal(ev, literal)
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let world = ev.world;
        let segments: Vec<&str> = external.path.iter().map(|it| world.text(*it)).collect();
        let (path, names) = segments.split_first().map_or(("?", &[][..]), |(first, rest)| (*first, rest));
        let symbol = names.join(".");
        if external.origin == Origin::StandardLibrary {
            return ExternalName { repo: "stdlib", container: format!("go/{path}"), symbol };
        }
        let module = world.modules.go.module_of_path(path);
        let below = path[module.len()..].trim_start_matches('/');
        let dot = if below.is_empty() || symbol.is_empty() { "" } else { "." };
        ExternalName {
            repo: "external",
            container: format!("go/{module}"),
            symbol: format!("{below}{dot}{symbol}"),
        }
    }
}

impl Go {
    /// What a package declares under a name; none when it does not.
    fn declared(
        &self,
        ev: &Evaluator<'_>,
        frame: Frame,
        package: ModuleId,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        let world = ev.world;
        let found = world.modules.go.declared(world, frame.file, package, name);
        let found: Vec<Value> =
            found.into_iter().filter(|it| fits(world.kind(*it), space)).map(Value::Def).collect();
        (!found.is_empty()).then(|| Value::join(found))
    }

    fn target(&self, ev: &Evaluator<'_>, frame: Frame, import: usize) -> Value {
        match ev.world.modules.go.target(frame.file, import) {
            Some(Target::Package(package)) => Value::Module(package),
            Some(Target::Outside(origin, path)) => Value::External(External::new(origin, &[path])),
            None => Value::Unknown,
        }
    }

    /// A package from outside that calls itself otherwise than its path lets expect: `yaml` of `.../goyaml.v2`.
    fn misnamed(&self, ev: &Evaluator<'_>, frame: Frame, name: Name) -> Option<Value> {
        let world = ev.world;
        let text = world.text(name);
        for index in 0..world.found_in(frame.file).imports.len() {
            if let Some(Target::Outside(_, path)) = world.modules.go.target(frame.file, index)
                && world.text(path).rsplit('/').take(2).any(|it| it.contains(text))
            {
                return Some(self.target(ev, frame, index));
            }
        }
        None
    }

    /// What a method was called on; `Unknown` for functions.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Value {
        match ev.world.found_in(frame.file).expr(site.callee) {
            Expr::Member { of, .. } => ev.settled_expr(frame, site.decl, of),
            _ => Value::Unknown,
        }
    }
}

/// Whether a declaration is a type that others fulfil.
fn is_interface(ev: &Evaluator<'_>, def: Def) -> bool {
    ev.world.kind(def) == NodeKind::Interface
}
