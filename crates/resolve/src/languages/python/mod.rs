//! Python: packages and relative imports, `__init__` re-exports, C3 method order, builtins.

mod modules;
mod tables;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Import, ImportKind, Literal, Modifiers, Type, TypeId};

use super::{CallSite, ExternalName, Payload, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

pub(crate) use modules::PythonModules;

pub(crate) struct Python;

const WORDS: &[&str] =
    &["builtins", "typing", "__call__", "__enter__", "__iter__", "__next__", "__getitem__", "None"];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    WORDS.iter().chain(tables::BUILTINS).copied()
}

/// Bases that give a class no members one would call: they do not make its members external.
const MARKER_BASES: &[&str] = &["ABC", "Generic", "Protocol", "object", "NamedTuple", "TypedDict"];

impl Rules for Python {
    fn free_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        _: Option<DeclId>,
        name: Name,
        _: Space,
    ) -> Value {
        match self.top_name(ev, frame, name) {
            Value::Missing => {}
            value => return value,
        }
        match ev.world.text(name) {
            "None" => Value::Nothing,
            text if tables::BUILTINS.binary_search(&text).is_ok() => builtin(ev, text),
            _ => Value::Missing,
        }
    }

    fn type_body_is_scope(&self) -> bool {
        true
    }

    /// What `from module import *` makes of a name.
    fn offered(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, name: Name, _: Space) -> Value {
        let world = ev.world;
        let Value::Module(module) = self.imported_module(ev, frame, import) else { return Value::Unknown };
        let Some(file) = world.python.file(module) else { return Value::Missing };
        let offered = match &world.facts(file).exports {
            Some(exports) if exports.iter().any(|it| world.name(file, *it) == name) => true,
            Some(exports) if exports.iter().all(|it| world.facts(file).text(*it) != "*") => false,
            _ => !world.text(name).starts_with('_'),
        };
        if !offered || !ev.enter_module(module, name, Space::Value) {
            return Value::Missing;
        }
        let value = self.module_member(ev, frame, module, name);
        ev.leave_module();
        value
    }

    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            Value::Module(module) => ev.world.python.file(*module),
            _ => None,
        }
    }

    fn call_operator(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        let Value::Instance(class, _) = of else { return Value::Unknown };
        match ev.world.names.find("__call__") {
            Some(name) => class_member(ev, *class, name, Own::Included),
            None => Value::Unknown,
        }
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, _: Space) -> Value {
        let world = ev.world;
        let name_of = |text| world.name(frame.file, text);
        match import.kind {
            ImportKind::Module { .. } => self.imported_module(ev, frame, import),
            ImportKind::TopModule => {
                let first = import.module.first().map(|it| name_of(*it));
                let Some(first) = first else { return Value::Unknown };
                match world.python.absolute(world, frame.file, &[first]) {
                    Some(module) => Value::Module(module),
                    None => outside(ev, &[first]),
                }
            }
            ImportKind::Member { name, .. } => {
                let name = name_of(name);
                match self.imported_module(ev, frame, import) {
                    Value::Module(module) => self.module_member(ev, frame, module, name),
                    Value::External(external) => Value::External(external.member(name)),
                    other => other,
                }
            }
            ImportKind::Wildcard => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let world = ev.world;
        let path: Vec<Name> = import.module.iter().map(|it| world.name(frame.file, *it)).collect();
        if import.level > 0 {
            return match world.python.relative(frame.file, import.level, &path) {
                Some(module) => Value::Module(module),
                None => Value::Missing,
            };
        }
        match world.python.absolute(world, frame.file, &path) {
            Some(module) => Value::Module(module),
            None => outside(ev, &path),
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
        match world.facts(frame.file).type_(type_) {
            Type::Named { segments, at, .. } => {
                let mut names = segments.iter().map(|it| world.name(frame.file, *it));
                let Some(first) = names.next() else { return Value::Unknown };
                let mut value = ev.name(frame, decl, first, *at, Space::Value);
                for name in names {
                    let of = ev.settled(frame, &value);
                    value = ev.member(frame, &of, name);
                }
                match value {
                    // `Alias = Other`: a variable that holds a type names that type.
                    Value::Def(def) if !world.kind(def).is_type_like() => ev.settled(frame, &value),
                    value => value,
                }
            }
            _ => Value::Unknown,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        let world = ev.world;
        match world.facts(frame.file).type_(type_) {
            Type::Named { arguments, .. } => {
                let entity = self.type_entity(ev, frame, decl, type_);
                entity.map(|it| self.instance_of(ev, frame, decl, it, arguments))
            }
            Type::Union(types) => {
                let values: Vec<Value> = types.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::join(values)
            }
            Type::Tuple(types) => {
                Value::Tuple(types.iter().map(|it| ev.typed(frame, decl, *it)).collect::<Vec<_>>().into())
            }
            Type::Function(result) => {
                let result = result.map_or(Value::Unknown, |it| ev.typed(frame, decl, it));
                Value::Function(result.into())
            }
            Type::Sequence(of) => {
                let of = ev.typed(frame, decl, *of);
                Value::Iterable(of.into())
            }
            Type::Projection { .. } | Type::Bounds(_) | Type::Unknown => Value::Unknown,
        }
    }

    fn receiver(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def) -> Value {
        let Some(owner) = ev.world.owner(method) else { return Value::Unknown };
        match frame.receiver {
            Some(exact) if ev.world.hierarchy.is_below(exact, owner) => Value::instance(exact),
            _ => Value::instance(owner),
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let world = ev.world;
        match of {
            Value::Module(module) => self.module_member(ev, frame, *module, name),
            Value::Instance(class, _) | Value::Def(class) if world.kind(*class).is_type_like() => {
                class_member(ev, *class, name, Own::Included)
            }
            Value::Super(class) => {
                // `super()` in a method of a mixin follows the order of the class it is used in, which nobody knows
                // here; its own order is what a reader means.
                class_member(ev, *class, name, Own::LeftOut)
            }
            Value::External(external) | Value::ExternalInstance(external, _) => {
                Value::External(external.member(name))
            }
            Value::ExternalResult => Value::ExternalResult,
            Value::Tuple(_) => builtin_member(ev, "tuple", name),
            _ => Value::Unknown,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) => match world.kind(*def) {
                kind if kind.is_type_like() => Value::instance(*def),
                kind if kind.is_callable() => {
                    let receiver = self.called_on(ev, frame, site);
                    let inner = Evaluator::with_receiver(frame, receiver);
                    ev.result_of(*def, inner)
                }
                _ => {
                    let held = ev.settled(frame, callee);
                    if held == *callee { Value::Unknown } else { ev.called(frame, &held, site) }
                }
            },
            Value::Instance(class, _) => {
                let Some(operator) = world.names.find("__call__") else { return Value::Unknown };
                match class_member(ev, *class, operator, Own::Included) {
                    Value::Def(def) => ev.result_of(def, Evaluator::with_receiver(frame, Some(*class))),
                    _ => Value::Unknown,
                }
            }
            Value::External(external) => self.called_outside(ev, frame, external, site),
            Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
            Value::Function(result) => (**result).clone(),
            _ => Value::Unknown,
        }
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            Value::Tuple(items) => Value::join(items.iter().cloned()),
            Value::ExternalInstance(_, arguments) if !arguments.is_empty() => arguments[0].clone(),
            // A plain list holds whatever the project put there.
            Value::ExternalInstance(external, _) if is_builtin(ev, external) => Value::Unknown,
            Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
            Value::Def(class) if ev.world.kind(*class) == NodeKind::Class => {
                // Iterating over an enumeration gives its members.
                let is_enum = ev.world.hierarchy.has_external_base(ev.world, *class, "Enum");
                if is_enum { Value::instance(*class) } else { Value::Unknown }
            }
            Value::Instance(class, arguments) => match self.protocol(ev, frame, *class, "__iter__") {
                Value::Unknown => arguments.first().cloned().unwrap_or(Value::Unknown),
                Value::Instance(iterator, _) => self.protocol(ev, frame, iterator, "__next__"),
                iterator => self.element(ev, frame, &iterator),
            },
            _ => Value::Unknown,
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            // A mapping's last argument is what it holds, a sequence has one.
            Value::ExternalInstance(_, arguments) if !arguments.is_empty() => {
                arguments[arguments.len() - 1].clone()
            }
            Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
            Value::Instance(class, _) => self.protocol(ev, frame, *class, "__getitem__"),
            // `Class[T]`: the class itself.
            Value::Def(class) if ev.world.kind(*class).is_type_like() => of.clone(),
            Value::External(_) => of.clone(),
            _ => Value::Unknown,
        }
    }

    fn entered(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Instance(class, _) => self.protocol(ev, frame, *class, "__enter__"),
            // A `@contextmanager` function gives what it yields.
            Value::Iterable(inner) => (**inner).clone(),
            Value::ExternalInstance(external, _) => match external.last().map(|it| ev.world.text(it)) {
                // Files and the like enter as themselves.
                Some(_) => of.clone(),
                None => Value::ExternalResult,
            },
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn payload(&self, ev: &mut Evaluator<'_>, frame: Frame, payload: Payload<'_>) -> Value {
        let of = ev.typed(frame, payload.decl, payload.variant);
        let member = ev.member(frame, &of, payload.field);
        ev.settled(frame, &member)
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        let type_name = match literal {
            Literal::None => return Value::Nothing,
            Literal::Function => return Value::Function(Value::Unknown.into()),
            Literal::Bool => "bool",
            Literal::Integer => "int",
            Literal::Float => "float",
            Literal::String | Literal::Character => "str",
            Literal::Bytes => "bytes",
            Literal::List => "list",
            Literal::Tuple => "tuple",
            Literal::Dictionary => "dict",
            Literal::Set => "set",
            Literal::Generator => return Value::ExternalResult,
        };
        instance(builtin(ev, type_name))
    }

    fn is_common_member(&self, name: &str) -> bool {
        tables::COMMON_MEMBERS.binary_search(&name).is_ok()
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let segments: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
        match external.origin {
            Origin::ThirdParty => ExternalName {
                repo: "external",
                container: format!("pypi/{}", segments.first().copied().unwrap_or("?")),
                symbol: segments.get(1..).unwrap_or_default().join("."),
            },
            Origin::StandardLibrary => {
                let mut n_module = 1.min(segments.len());
                while n_module < segments.len()
                    && tables::SUBMODULES.binary_search(&segments[..=n_module].join(".").as_str()).is_ok()
                {
                    n_module += 1;
                }
                ExternalName {
                    repo: "stdlib",
                    container: format!("python/{}", segments[..n_module].join(".")),
                    symbol: segments[n_module..].join("."),
                }
            }
        }
    }
}

impl Python {
    /// What the top of a file binds a name to, seen from anywhere in it: its declarations and imports, then what
    /// wildcards bring. `Missing` when nothing does.
    fn top_name(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Value {
        ev.top_name(frame.file, name, Space::Value, |ev| self.find_top_name(ev, frame, name))
    }

    fn find_top_name(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Value {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        let mut imports = Vec::new();
        let mut decls: Vec<DeclId> = Vec::new();
        let mut bound = false;
        for entry in scopes.find(Scope::TOP, name) {
            match entry.item {
                Item::Import(index) => {
                    let value = ev.imported(frame, &facts.imports[index as usize], Space::Value);
                    if value != Value::Missing {
                        imports.push(value);
                    }
                }
                Item::Decl(decl) => decls.push(decl),
                Item::Binding(_) | Item::Module(_) => bound = true,
            }
        }
        // A variable beside an import is what stands in when the import fails.
        let import_wins = imports.iter().any(Value::is_known);
        let stand_in = |decl: &DeclId| matches!(facts.decl(*decl).kind, NodeKind::Var | NodeKind::Const);
        if import_wins {
            decls.retain(|it| !stand_in(it));
        }
        // Of several definitions the first has the plain name; `@overload` signatures are not the function.
        let chosen = decls
            .iter()
            .find(|it| !facts.decl(**it).modifiers.contains(Modifiers::OVERLOAD))
            .or(decls.first());
        let values: Vec<Value> =
            imports.into_iter().chain(chosen.map(|it| Value::Def(world.def(frame.file, *it)))).collect();
        if !values.is_empty() {
            return Value::join(values);
        }
        if bound {
            return Value::Unknown;
        }
        let mut doubt = false;
        for (scope, index) in &scopes.wildcards {
            if *scope != Scope::TOP {
                continue;
            }
            match self.offered(ev, frame, &facts.imports[*index as usize], name, Space::Value) {
                Value::Missing => {}
                Value::Unknown => doubt = true,
                value => return value,
            }
        }
        // Something unseen may have brought it, unless it is a builtin, which is likelier by far.
        let builtin = tables::BUILTINS.binary_search(&ev.world.text(name)).is_ok();
        if doubt && !builtin { Value::Unknown } else { Value::Missing }
    }

    /// `module.name`: what its file binds, else a module below it.
    fn module_member(&self, ev: &mut Evaluator<'_>, frame: Frame, module: ModuleId, name: Name) -> Value {
        let world = ev.world;
        let own = match world.python.file(module) {
            Some(file) => self.top_name(ev, Frame::in_file(frame, file), name),
            None => Value::Missing,
        };
        match own {
            Value::Missing | Value::Unknown => match world.python.child(module, name) {
                Some(child) => Value::Module(child),
                None => own,
            },
            value => value,
        }
    }

    fn instance_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        entity: &Value,
        arguments: &[TypeId],
    ) -> Value {
        let world = ev.world;
        match entity {
            Value::Def(def) if world.kind(*def) == NodeKind::TypeAlias => {
                let (file, _, alias) = world.decl(*def);
                match alias.type_ {
                    Some(type_) => ev.typed(Frame::in_file(frame, file), alias.owner, type_),
                    None => ev.settled(frame, entity),
                }
            }
            Value::Def(def) if world.kind(*def).is_type_like() => {
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::Instance(*def, arguments.into())
            }
            Value::External(external) => {
                let text = external.last().map_or("", |it| world.text(it));
                let first = external.path.first().map_or("", |it| world.text(*it));
                if matches!(first, "typing" | "typing_extensions" | "collections" | "types" | "builtins") {
                    return self.special_form(ev, frame, decl, external, text, arguments);
                }
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                Value::ExternalInstance(external.clone(), arguments.into())
            }
            Value::Nothing => Value::Nothing,
            _ => Value::Unknown,
        }
    }

    fn special_form(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        external: &External,
        text: &str,
        arguments: &[TypeId],
    ) -> Value {
        let mut values = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect::<Vec<_>>();
        match text {
            "Optional" => Value::join(values.into_iter().chain([Value::Nothing])),
            "Union" => Value::join(values),
            "Annotated" | "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "TypeGuard" => {
                if values.is_empty() {
                    Value::Unknown
                } else {
                    values.swap_remove(0)
                }
            }
            "Type" | "type" => match values.first() {
                Some(Value::Instance(class, _)) => Value::Def(*class),
                Some(Value::ExternalInstance(class, _)) => Value::External(class.clone()),
                _ => Value::Unknown,
            },
            "Self" => match ev.enclosing_type(frame, decl) {
                Some(owner) => match frame.receiver {
                    Some(exact) if ev.world.hierarchy.is_below(exact, owner) => Value::instance(exact),
                    _ => Value::instance(owner),
                },
                None => Value::Unknown,
            },
            "Any" | "object" | "TypeVar" | "Callable" | "Literal" | "NoReturn" | "Never" => Value::Unknown,
            "Iterator"
            | "Iterable"
            | "Generator"
            | "AsyncIterator"
            | "AsyncIterable"
            | "AsyncGenerator"
            | "ContextManager"
            | "AbstractContextManager" => match values.first() {
                Some(first) => Value::Iterable(first.clone().into()),
                None => Value::Unknown,
            },
            "Awaitable" => values.first().map_or(Value::Unknown, |it| Value::Awaitable(it.clone().into())),
            "Coroutine" => values.last().map_or(Value::Unknown, |it| Value::Awaitable(it.clone().into())),
            "Tuple" | "tuple" if !values.is_empty() => Value::Tuple(values.into()),
            "List" => Value::ExternalInstance(builtin_type(ev, "list"), values.into()),
            "Dict" => Value::ExternalInstance(builtin_type(ev, "dict"), values.into()),
            "Set" => Value::ExternalInstance(builtin_type(ev, "set"), values.into()),
            _ => Value::ExternalInstance(external.clone(), values.into()),
        }
    }

    /// The exact type a method was called on, for results that depend on it.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Option<Def> {
        let knowing_model::facts::Expr::Member { of, .. } = ev.world.facts(frame.file).expr(site.callee)
        else {
            return frame.receiver;
        };
        match ev.settled_expr(frame, site.decl, of) {
            Value::Instance(class, _) => Some(class),
            Value::Def(class) if ev.world.kind(class).is_type_like() => Some(class),
            Value::Super(_) => frame.receiver,
            _ => None,
        }
    }

    fn called_outside(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        external: &External,
        site: CallSite,
    ) -> Value {
        let Some(last) = external.last() else { return Value::ExternalResult };
        let text = ev.world.text(last);
        let is_type = text.starts_with(|it: char| it.is_ascii_uppercase())
            || (is_builtin(ev, external) && tables::BUILTIN_TYPES.binary_search(&text).is_ok())
            || matches!(
                text,
                "defaultdict" | "deque" | "datetime" | "date" | "timedelta" | "partial" | "local"
            );
        if is_type {
            return instance(Value::External(external.clone()));
        }
        // Methods of the builtin containers that hand out what they hold.
        let knowing_model::facts::Expr::Member { of, .. } = ev.world.facts(frame.file).expr(site.callee)
        else {
            return Value::ExternalResult;
        };
        let of = ev.settled_expr(frame, site.decl, of);
        let Value::ExternalInstance(type_, arguments) = &of else { return Value::ExternalResult };
        match (text, arguments.len()) {
            ("get" | "pop" | "setdefault" | "values" | "keys" | "items" | "popitem", 0)
                if is_builtin(ev, type_) =>
            {
                Value::Unknown
            }
            ("get" | "pop" | "setdefault", 2) => arguments[1].clone(),
            ("pop", 1) => arguments[0].clone(),
            ("values", 2) => Value::Iterable(arguments[1].clone().into()),
            ("keys", 2) => Value::Iterable(arguments[0].clone().into()),
            ("items", 2) => Value::Iterable(Value::Tuple(arguments.clone()).into()),
            ("copy", _) => of.clone(),
            _ => Value::ExternalResult,
        }
    }

    /// What a special method of a class gives.
    fn protocol(&self, ev: &mut Evaluator<'_>, frame: Frame, class: Def, method: &str) -> Value {
        let Some(name) = ev.world.names.find(method) else { return Value::Unknown };
        match class_member(ev, class, name, Own::Included) {
            Value::Def(def) => ev.result_of(def, Evaluator::with_receiver(frame, Some(class))),
            Value::External(_) if method == "__enter__" => Value::instance(class),
            _ => Value::Unknown,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    Included,
    LeftOut,
}

/// A member of a class by its method order. Behind an ancestor that nobody could resolve nothing is certain; behind one
/// from outside the member is that one's.
fn class_member(ev: &Evaluator<'_>, class: Def, name: Name, own: Own) -> Value {
    let world = ev.world;
    if own == Own::Included
        && let Some(found) = own_member(ev, class, name)
    {
        return Value::Def(found);
    }
    let mut unknown = false;
    for ancestor in world.hierarchy.ancestors(class) {
        match ancestor {
            Ancestor::Project(base) => {
                if let Some(found) = own_member(ev, *base, name) {
                    return if unknown {
                        Value::OneOf([Value::Def(found), Value::Unknown].into())
                    } else {
                        Value::Def(found)
                    };
                }
            }
            Ancestor::External(external) => {
                let last = external.last().map_or("", |it| world.text(it));
                if !MARKER_BASES.contains(&last) && !unknown {
                    return Value::External(external.member(name));
                }
            }
            Ancestor::Unknown => unknown = true,
        }
    }
    match world.text(name) {
        _ if unknown => Value::Unknown,
        text if OBJECT_MEMBERS.contains(&text) => builtin_member(ev, "object", name),
        _ => Value::Missing,
    }
}

/// What every class has from `object`.
const OBJECT_MEMBERS: &[&str] = &[
    "__class__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__eq__",
    "__format__",
    "__getattribute__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__ne__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
];

/// The member a class itself declares. A method comes before a field of its name, a getter before its setter.
fn own_member(ev: &Evaluator<'_>, class: Def, name: Name) -> Option<Def> {
    let world = ev.world;
    let (file, id, _) = world.decl(class);
    let facts = world.facts(file);
    let rank = |decl: DeclId| {
        let decl = facts.decl(decl);
        (decl.kind == NodeKind::Field, decl.modifiers.contains(Modifiers::OVERLOAD))
    };
    world.scopes[file as usize]
        .find(Scope::of(Some(id)), name)
        .iter()
        .filter_map(|entry| match entry.item {
            Item::Decl(decl) => Some(decl),
            _ => None,
        })
        .min_by_key(|it| (rank(*it), *it))
        .map(|decl| world.def(file, decl))
}

fn builtin_type(ev: &Evaluator<'_>, name: &str) -> External {
    let names =
        ["builtins", name].map(|it| ev.world.names.find(it).expect("the vocabulary holds the builtins"));
    External::new(Origin::StandardLibrary, &names)
}

fn builtin(ev: &Evaluator<'_>, name: &str) -> Value {
    Value::External(builtin_type(ev, name))
}

fn builtin_member(ev: &Evaluator<'_>, type_name: &str, name: Name) -> Value {
    Value::External(builtin_type(ev, type_name).member(name))
}

fn is_builtin(ev: &Evaluator<'_>, external: &External) -> bool {
    external.path.len() == 2 && ev.world.text(external.path[0]) == "builtins"
}

fn instance(value: Value) -> Value {
    match value {
        Value::External(external) => Value::ExternalInstance(external, Value::none()),
        other => other,
    }
}

fn outside(ev: &Evaluator<'_>, path: &[Name]) -> Value {
    let Some(first) = path.first() else { return Value::Unknown };
    let standard = tables::MODULES.binary_search(&ev.world.text(*first)).is_ok();
    let origin = if standard { Origin::StandardLibrary } else { Origin::ThirdParty };
    Value::External(External::new(origin, path))
}
