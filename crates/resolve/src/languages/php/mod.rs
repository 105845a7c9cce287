//! PHP: namespaces and `use`, classes with parents, traits and interfaces, types from declarations and comments.

mod names;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, Import, ImportKind, Literal, Type, TypeId};

use super::{CallSite, ExternalName, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::paths::join;
use crate::scopes::{Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId, World};

use names::{Sort, whole_names};

pub(crate) use names::PhpNames;

pub(crate) struct Php;

const CONSTRUCTOR: &str = "__construct";
/// The root of what is in no namespace.
const GLOBAL: &str = "?";
/// A level that no `use` has: the module is the path of a file.
const FILE_LEVEL: u8 = 1;

const WORDS: &[&str] = &[
    CONSTRUCTOR,
    GLOBAL,
    "array",
    "string",
    "int",
    "Closure",
    "getIterator",
    "current",
    "__call",
    "__get",
    "__callStatic",
];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    WORDS.iter().copied()
}

impl Rules for Php {
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
        let text = ev.world.text(name);
        if text.starts_with('$') {
            return Value::Unknown;
        }
        let sort = if space == Space::Type { Sort::Type } else { Sort::Constant };
        self.named(ev, frame.file, None, text, sort, name)
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        _: Space,
    ) -> Option<Value> {
        if ev.world.text(name) != "$this" {
            return None;
        }
        Some(self.own(ev, frame, decl).map_or(Value::Unknown, Value::instance))
    }

    fn called_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        _: Option<DeclId>,
        name: Name,
        at: u32,
    ) -> Option<Value> {
        let text = ev.world.text(name);
        if text.starts_with('$') {
            return None;
        }
        Some(self.named(ev, frame.file, Some(at), text, Sort::Function, name))
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, _: Space) -> Value {
        let world = ev.world;
        let ImportKind::Member { name, .. } = import.kind else { return Value::Unknown };
        let facts = world.facts(frame.file);
        let mut path: Vec<&str> = import.module.iter().map(|it| facts.text(*it)).collect();
        path.push(facts.text(name));
        let whole = path.join("\\");
        let found = [Sort::Type, Sort::Function, Sort::Constant]
            .into_iter()
            .find_map(|sort| world.modules.php.find(world, frame.file, sort, &whole));
        match found {
            Some(def) => Value::Def(def),
            None => {
                let mut path: Vec<Name> =
                    import.module.iter().map(|it| world.name(frame.file, *it)).collect();
                path.push(world.name(frame.file, name));
                Value::External(outside(ev, &path))
            }
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        if import.level != FILE_LEVEL {
            return Value::Unknown;
        }
        let world = ev.world;
        let Some(path) = import.module.first().map(|it| world.found_in(frame.file).text(*it)) else {
            return Value::Unknown;
        };
        let directory = world.path(frame.file).rsplit_once('/').map_or("", |it| it.0);
        // From the file, or from the top where the program was started.
        let near = join(directory, path).and_then(|it| world.file_at(&it));
        let found = near.or_else(|| join("", path).and_then(|it| world.file_at(&it)));
        found.map_or(Value::Unknown, |file| Value::Module(ModuleId(file)))
    }

    /// A module is a file that is included.
    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            Value::Module(file) => Some(file.0),
            _ => None,
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
        let Some(last) = names.last().copied() else { return Value::Unknown };
        match world.text(last) {
            "self" | "static" if names.len() == 1 => {
                return self.own(ev, frame, decl).map_or(Value::Unknown, Value::Def);
            }
            "parent" if names.len() == 1 => {
                let Some(own) = self.own(ev, frame, decl) else { return Value::Unknown };
                return match parent_class(world, own) {
                    Some(Ancestor::Project(above)) => Value::Def(above),
                    Some(Ancestor::External(external)) => Value::External(external),
                    _ => Value::Unknown,
                };
            }
            text if names.len() == 1 && is_builtin_type(text) => return Value::Unknown,
            _ => {}
        }
        let written: Vec<&str> = names.iter().map(|it| world.text(*it)).collect();
        self.named(ev, frame.file, Some(*at), &written.join("\\"), Sort::Type, last)
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        let world = ev.world;
        match world.found_in(frame.file).type_(type_) {
            Type::Named { segments, .. } => {
                if let [only] = segments.as_slice()
                    && is_builtin_type(world.found_in(frame.file).text(*only))
                {
                    return match world.found_in(frame.file).text(*only) {
                        "void" | "null" | "never" => Value::Nothing,
                        "object" | "mixed" | "callable" | "iterable" => Value::Unknown,
                        word => word_instance(ev, word),
                    };
                }
                let is_static = matches!(segments.as_slice(), [only] if world.found_in(frame.file).text(*only) == "static");
                if is_static && let Some(receiver) = frame.receiver {
                    return Value::instance(receiver);
                }
                match self.type_entity(ev, frame, decl, type_) {
                    Value::Def(def) => Value::instance(def),
                    Value::External(external) => Value::ExternalInstance(external, Value::none()),
                    _ => Value::Unknown,
                }
            }
            Type::Sequence(of) => {
                let of = ev.typed(frame, decl, *of);
                Value::Iterable(of.into())
            }
            Type::Union(parts) => {
                let parts: Vec<Value> = parts.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::join(parts)
            }
            Type::Bounds(parts) => {
                let parts: Vec<Value> = parts.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::Bounded(parts.into())
            }
            _ => Value::Unknown,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value, name: Name) -> Value {
        self.member_of(ev, of, name, false)
    }

    fn has_methods_apart(&self) -> bool {
        true
    }

    fn method(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value, name: Name) -> Value {
        self.member_of(ev, of, name, true)
    }

    /// `new T`.
    fn scoped(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value, _: Name, _: Space) -> Value {
        let world = ev.world;
        match of {
            Value::Instance(def, _) | Value::Def(def) => {
                let constructor =
                    world.names.find(CONSTRUCTOR).and_then(|it| declared(world, *def, it, true));
                Value::Def(constructor.unwrap_or(*def))
            }
            Value::ExternalInstance(external, _) | Value::External(external) => {
                Value::External(external.clone())
            }
            _ => Value::Unknown,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) if world.kind(*def) == NodeKind::Constructor => Value::Unknown,
            Value::Def(def) if world.kind(*def).is_callable() => {
                let receiver = match world.found_in(frame.file).expr(site.callee) {
                    Expr::Member { of, .. } => match ev.settled_expr(frame, site.decl, of) {
                        Value::Instance(def, _) => Some(def),
                        Value::Super(_) => self.own(ev, frame, site.decl),
                        _ => None,
                    },
                    _ => None,
                };
                ev.result_of(*def, Evaluator::with_receiver(frame, receiver))
            }
            Value::External(_) | Value::ExternalResult | Value::Missing | Value::Unknown => {
                match self.made_by_class(ev, frame, site) {
                    Some(value) => value,
                    None if matches!(callee, Value::External(_) | Value::ExternalResult) => {
                        Value::ExternalResult
                    }
                    None => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(of) => (**of).clone(),
            Value::Instance(def, _) => {
                let method =
                    ev.world.names.find("getIterator").and_then(|it| declared(ev.world, *def, it, true));
                match method.map(|it| ev.result_of(it, frame)) {
                    Some(Value::Iterable(of)) => (*of).clone(),
                    _ => Value::Unknown,
                }
            }
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(_) => self.element(ev, frame, of),
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        match literal {
            Literal::String => word_instance(ev, "string"),
            Literal::Integer | Literal::Float | Literal::Bool => word_instance(ev, "int"),
            Literal::List => word_instance(ev, "array"),
            Literal::Function => word_instance(ev, "Closure"),
            Literal::None => Value::Nothing,
            _ => Value::Unknown,
        }
    }

    fn is_common_member(&self, name: &str) -> bool {
        COMMON.binary_search(&name).is_ok()
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let texts: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
        let (root, rest) = texts.split_first().map_or((GLOBAL, &texts[..]), |(root, rest)| (*root, rest));
        match external.origin {
            Origin::StandardLibrary => {
                ExternalName { repo: "stdlib", container: "php/core".to_owned(), symbol: rest.join(".") }
            }
            Origin::ThirdParty => ExternalName {
                repo: "external",
                container: format!("composer/{root}"),
                symbol: rest.join("."),
            },
        }
    }
}

impl Php {
    /// The class around, the first part of what `$this` is; the receiver where it is known.
    fn own(&self, ev: &Evaluator<'_>, frame: Frame, decl: Option<DeclId>) -> Option<Def> {
        let around = ev.enclosing_type(frame, decl)?;
        match frame.receiver {
            Some(receiver) if ev.world.hierarchy.is_below(receiver, around) => Some(receiver),
            _ => Some(around),
        }
    }

    fn named(
        &self,
        ev: &Evaluator<'_>,
        file: u32,
        at: Option<u32>,
        written: &str,
        sort: Sort,
        name: Name,
    ) -> Value {
        let world = ev.world;
        let candidates = whole_names(world.facts(file), at, written, sort);
        for whole in &candidates {
            if let Some(def) = world.modules.php.find(world, file, sort, whole) {
                return Value::Def(def);
            }
        }
        let Some(last) = candidates.last() else { return Value::Unknown };
        // Generated, or not there yet: nothing from outside in any case.
        if world.modules.php.is_own(last) {
            return Value::Missing;
        }
        let path: Vec<Name> = last.split('\\').filter_map(|it| world.names.find(it)).collect();
        match (sort, path.len()) {
            // A constant that is nowhere is none of the project's.
            (Sort::Constant, _) => Value::Missing,
            // A function without a namespace is the language's own, or nowhere.
            (Sort::Function, _) if !last.contains('\\') => {
                let path: Vec<Name> = world.names.find(GLOBAL).into_iter().chain([name]).collect();
                Value::External(External::new(Origin::StandardLibrary, &path))
            }
            (_, 0) => Value::Unknown,
            _ => Value::External(outside(ev, &path)),
        }
    }

    fn member_of(&self, ev: &mut Evaluator<'_>, of: &Value, name: Name, is_call: bool) -> Value {
        let world = ev.world;
        match of {
            Value::Instance(def, _) | Value::Def(def) if world.kind(*def).is_type_like() => {
                match declared(world, *def, name, is_call) {
                    Some(found) => Value::Def(found),
                    None => missing(ev, *def, name, is_call),
                }
            }
            Value::Super(def) => {
                let ancestors = world.hierarchy.ancestors(*def);
                let found = ancestors.iter().find_map(|it| match it {
                    Ancestor::Project(above) => own_member(world, *above, name, is_call),
                    _ => None,
                });
                found.map_or_else(|| missing(ev, *def, name, is_call), Value::Def)
            }
            Value::Bounded(bounds) => {
                let mut outside = Value::Unknown;
                for bound in bounds.iter() {
                    match self.member_of(ev, bound, name, is_call) {
                        found @ Value::Def(_) => return found,
                        found @ Value::External(_) => outside = found,
                        _ => {}
                    }
                }
                outside
            }
            Value::External(external) | Value::ExternalInstance(external, _) => {
                if is_call {
                    Value::External(external.member(name))
                } else {
                    Value::ExternalResult
                }
            }
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    /// `$container->get(Cart::class)`, `$this->createMock(Cart::class)`: what is asked for by its class.
    fn made_by_class(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Option<Value> {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let name = match facts.expr(site.callee) {
            Expr::Member { name, .. } | Expr::Name { name, .. } => facts.text(name),
            _ => return None,
        };
        if !matches!(
            name,
            "app"
                | "resolve"
                | "make"
                | "get"
                | "createMock"
                | "createStub"
                | "mock"
                | "partialMock"
                | "spy"
                | "prophesize"
        ) {
            return None;
        }
        let argument = facts.arguments_of(site.callee).first()?;
        let Expr::Member { of, name } = facts.expr(argument.value) else { return None };
        if facts.text(name) != "class" {
            return None;
        }
        match ev.expr(frame, site.decl, of) {
            value @ (Value::Instance(..) | Value::ExternalInstance(..)) => Some(value),
            _ => None,
        }
    }
}

/// A member of a class: its own, its traits', its parents', its interfaces'.
fn declared(world: &World<'_>, def: Def, name: Name, is_call: bool) -> Option<Def> {
    own_member(world, def, name, is_call).or_else(|| {
        world.hierarchy.ancestors(def).iter().find_map(|it| match it {
            Ancestor::Project(above) => own_member(world, *above, name, is_call),
            _ => None,
        })
    })
}

fn own_member(world: &World<'_>, def: Def, name: Name, is_call: bool) -> Option<Def> {
    let (file, id, _) = world.decl(def);
    world.scopes[file as usize].find(Scope::of(Some(id)), name).iter().find_map(|it| match it.item {
        Item::Decl(decl) if world.found_in(file).decl(decl).kind.is_callable() == is_call => {
            Some(world.def(file, decl))
        }
        _ => None,
    })
}

/// What a member is that no class of the project declares.
fn missing(ev: &Evaluator<'_>, def: Def, name: Name, is_call: bool) -> Value {
    let world = ev.world;
    for magic in ["__call", "__callStatic", "__get"] {
        if let Some(magic) = world.names.find(magic)
            && declared(world, def, magic, true).is_some()
        {
            return Value::Unknown;
        }
    }
    let mut doubt = false;
    for ancestor in world.hierarchy.ancestors(def) {
        match ancestor {
            Ancestor::External(external) if is_call => return Value::External(external.member(name)),
            Ancestor::External(_) => return Value::ExternalResult,
            Ancestor::Unknown => doubt = true,
            Ancestor::Project(_) => {}
        }
    }
    // A trait is used by classes that have more.
    if doubt || world.kind(def) == NodeKind::Trait { Value::Unknown } else { Value::Missing }
}

/// The class that another extends.
fn parent_class(world: &World<'_>, def: Def) -> Option<Ancestor> {
    let (_, _, decl) = world.decl(def);
    let direct = world.hierarchy.direct(def);
    let at = decl.bases.iter().position(|it| it.role == knowing_model::facts::BaseRole::Extends)?;
    direct.get(at).cloned()
}

fn outside(ev: &Evaluator<'_>, path: &[Name]) -> External {
    match path {
        [only] => {
            let path: Vec<Name> = ev.world.names.find(GLOBAL).into_iter().chain([*only]).collect();
            External::new(Origin::StandardLibrary, &path)
        }
        _ => External::new(Origin::ThirdParty, path),
    }
}

fn word_instance(ev: &Evaluator<'_>, word: &str) -> Value {
    let path: Vec<Name> = [GLOBAL, word].iter().filter_map(|it| ev.world.names.find(it)).collect();
    Value::ExternalInstance(External::new(Origin::StandardLibrary, &path), Value::none())
}

fn is_builtin_type(text: &str) -> bool {
    matches!(
        text,
        "array"
            | "bool"
            | "boolean"
            | "callable"
            | "false"
            | "float"
            | "int"
            | "integer"
            | "iterable"
            | "mixed"
            | "never"
            | "null"
            | "object"
            | "resource"
            | "scalar"
            | "string"
            | "true"
            | "void"
            | "double"
            | "number"
    )
}

/// Members that values of common types have.
const COMMON: &[&str] = &[
    "add",
    "all",
    "append",
    "call",
    "clear",
    "close",
    "contains",
    "count",
    "create",
    "current",
    "delete",
    "each",
    "execute",
    "exists",
    "fetch",
    "filter",
    "find",
    "first",
    "flush",
    "format",
    "get",
    "getCode",
    "getContents",
    "getIterator",
    "getMessage",
    "getName",
    "handle",
    "has",
    "init",
    "isEmpty",
    "key",
    "keys",
    "last",
    "load",
    "log",
    "make",
    "map",
    "next",
    "open",
    "parse",
    "pop",
    "prepare",
    "push",
    "put",
    "query",
    "read",
    "remove",
    "render",
    "reset",
    "run",
    "save",
    "send",
    "set",
    "start",
    "stop",
    "toArray",
    "toString",
    "update",
    "validate",
    "value",
    "values",
    "with",
    "write",
];
