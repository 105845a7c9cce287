//! Python: packages and relative imports, `__init__` re-exports, C3 method order, builtins.

mod members;
mod modules;
mod tables;
mod types;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Import, ImportKind, Literal, ParameterKind, Type, TypeId};

use super::{CallSite, ExternalName, Payload, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::Def;

use members::{Own, class_member};

pub(crate) use modules::PythonModules;

pub(crate) struct Python;

const WORDS: &[&str] = &[
    "builtins",
    "typing",
    "__call__",
    "__aenter__",
    "__enter__",
    "__iter__",
    "__next__",
    "__get__",
    "__getitem__",
    "None",
];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    WORDS.iter().chain(tables::BUILTINS).copied()
}

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

    fn notes_tables(&self) -> bool {
        true
    }

    fn type_body_is_scope(&self) -> bool {
        true
    }

    /// What `from module import *` makes of a name.
    fn offered(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, name: Name, _: Space) -> Value {
        let world = ev.world;
        let Value::Module(module) = self.imported_module(ev, frame, import) else { return Value::Unknown };
        let Some(file) = world.modules.python.file(module) else { return Value::Missing };
        let offered = match world.exports(file) {
            Some(exports) if exports.iter().any(|it| world.name(file, *it) == name) => true,
            Some(exports) if exports.iter().all(|it| world.found_in(file).text(*it) != "*") => false,
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
            Value::Module(module) => ev.world.modules.python.file(*module),
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
                match world.modules.python.absolute(world, frame.file, &[first]) {
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
            return match world.modules.python.relative(frame.file, import.level, &path) {
                Some(module) => Value::Module(module),
                None => Value::Missing,
            };
        }
        match world.modules.python.absolute(world, frame.file, &path) {
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
        match self.written_name(ev, frame, decl, type_) {
            // `Alias = Other`: a variable that holds a type names that type.
            Value::Def(def) if !ev.world.kind(def).is_type_like() => ev.settled(frame, &Value::Def(def)),
            value => value,
        }
    }

    fn alias_in_type(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Option<Def> {
        match self.written_name(ev, frame, decl, type_) {
            Value::Def(def) if matches!(ev.world.kind(def), NodeKind::Var | NodeKind::Const) => Some(def),
            _ => None,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        let world = ev.world;
        match world.found_in(frame.file).type_(type_) {
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

    /// Reading a class's descriptor through an instance gives what its `__get__` says, and not the descriptor.
    fn held_by(&self, ev: &mut Evaluator<'_>, frame: Frame, of: CallSite, def: Def) -> Option<Value> {
        let world = ev.world;
        let (_, _, field) = world.decl(def);
        if field.kind != NodeKind::Field || field.value.is_none() || field.type_.is_some() {
            return None;
        }
        let Value::Instance(descriptor, _) = ev.settled(frame, &Value::Def(def)) else { return None };
        let Value::Def(getter) = class_member(ev, descriptor, world.names.find("__get__")?, Own::Included)
        else {
            return None;
        };
        match ev.settled_expr(frame, of.decl, of.callee) {
            Value::Instance(..) if world.decl(getter).2.type_.is_some() => {
                Some(ev.result_of(getter, Evaluator::with_receiver(frame, Some(descriptor))))
            }
            Value::Instance(..) => Some(Value::Unknown),
            _ => None,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) => match world.kind(*def) {
                kind if kind.is_type_like() => Value::instance(*def),
                kind if kind.is_callable() => {
                    let receiver = self.called_on(ev, frame, site);
                    if let Some(class) = receiver.filter(|_| gives_its_receiver(ev, *def)) {
                        return Value::instance(class);
                    }
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
            Value::Instance(class, _) => match self.protocol(ev, frame, *class, "__enter__") {
                Value::Unknown => match self.protocol(ev, frame, *class, "__aenter__") {
                    Value::Awaitable(inner) => (*inner).clone(),
                    other => other,
                },
                entered => entered,
            },
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
        (name.starts_with("__") && name.ends_with("__"))
            || tables::COMMON_MEMBERS.binary_search(&name).is_ok()
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
    /// What the name of a written type means: a class, or a variable that may hold one.
    fn written_name(
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
        let mut names = segments.iter().map(|it| world.name(frame.file, *it));
        let Some(first) = names.next() else { return Value::Unknown };
        let mut value = ev.name(frame, decl, first, *at, Space::Value);
        for name in names {
            let of = ev.settled(frame, &value);
            value = ev.member(frame, &of, name);
        }
        value
    }

    /// The exact type a method was called on, for results that depend on it.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Option<Def> {
        let knowing_model::facts::Expr::Member { of, .. } = ev.world.found_in(frame.file).expr(site.callee)
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
        let knowing_model::facts::Expr::Member { of, .. } = ev.world.found_in(frame.file).expr(site.callee)
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
            Value::Def(def) if gives_its_receiver(ev, def) => Value::instance(class),
            Value::Def(def) => ev.result_of(def, Evaluator::with_receiver(frame, Some(class))),
            Value::External(_) if matches!(method, "__enter__" | "__aenter__") => Value::instance(class),
            _ => Value::Unknown,
        }
    }
}

/// `def f(self: T) -> T`: the type variable stands for the type it was called on.
fn gives_its_receiver(ev: &Evaluator<'_>, def: Def) -> bool {
    let (file, _, decl) = ev.world.decl(def);
    let facts = ev.world.facts(file);
    let named = |type_: Option<TypeId>| match facts.type_(type_?) {
        Type::Named { segments, arguments, .. } if arguments.is_empty() => Some(segments.as_slice()),
        _ => None,
    };
    let receiver = decl.parameters.first().filter(|it| it.kind == ParameterKind::Receiver);
    let result = named(decl.type_);
    result.is_some() && receiver.is_some_and(|it| named(it.type_) == result)
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
