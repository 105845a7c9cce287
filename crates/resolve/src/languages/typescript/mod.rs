//! TypeScript and JavaScript: modules by path and package, what files offer, merged declarations, builtins.
//!
//! ```text
//! modules   which file a module text means
//! paths     paths and patterns of project files
//! exports   what a file binds at its top, and what it offers under which name
//! members   members of classes, objects, functions and namespaces
//! types     written types as values
//! calls     what calls give
//! tables    what Node and browsers bring
//! ```

mod calls;
mod exports;
mod members;
mod modules;
mod paths;
mod tables;
pub(crate) mod types;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, Import, ImportKind, Literal, Modifiers, Type, TypeId};

use super::{CallSite, ExternalName, Rules, Space};
use crate::evaluate::{Evaluator, Frame};
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

pub(crate) use modules::TypeScriptModules;

use modules::Target;

pub(crate) struct TypeScript;

const LANGUAGE: &str = "typescript";

/// Where builtin names live.
const GLOBAL: &str = "globals";

const WORDS: &[&str] = &[GLOBAL, "?", "default", "export=", "constructor", "this", "{}", "prototype"];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    WORDS.iter().chain(tables::GLOBALS).chain(tables::PROVIDED).chain(tables::MODULES).copied()
}

impl Rules for TypeScript {
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
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        match self.name_in_space(ev, frame, decl, name, space) {
            Value::Missing => {}
            value => return value,
        }
        let text = ev.world.text(name);
        if text == "this" {
            return Value::Unknown;
        }
        if tables::GLOBALS.binary_search(&text).is_ok() {
            return builtin(ev, text);
        }
        if tables::PROVIDED.binary_search(&text).is_ok() {
            return Value::External(External::new(Origin::ThirdParty, &[word(ev, "?"), name]));
        }
        Value::Missing
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        let text = ev.world.text(name);
        if text == "{}" {
            return decl.map(|it| Value::instance(ev.world.def(frame.file, it)));
        }
        if let Some(module) = text.strip_prefix("require:") {
            return Some(self.loaded(ev, frame, module));
        }
        if let Some(module) = text.strip_prefix("import:") {
            let value = self.loaded(ev, frame, module);
            return Some(if space == Space::Value { Value::Awaitable(value.into()) } else { value });
        }
        if space == Space::Type { self.type_parameter(ev, frame, decl, name) } else { None }
    }

    fn binds_whole_callable(&self) -> bool {
        false
    }

    fn has_blocks_at_top(&self) -> bool {
        true
    }

    /// For `this` in initial values alone: members are never known by their bare names.
    fn type_body_is_scope(&self) -> bool {
        true
    }

    fn is_object(&self, ev: &Evaluator<'_>, def: Def) -> bool {
        let (file, _, decl) = ev.world.decl(def);
        decl.value
            .is_some_and(|it| matches!(ev.world.found_in(file).expr(it), Expr::Literal(Literal::Dictionary)))
    }

    fn awaited(&self, _: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        // Anything can be awaited, and what is no promise is itself then.
        of.clone()
    }

    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            Value::Module(module) => Some(module.0),
            _ => None,
        }
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, space: Space) -> Value {
        let world = ev.world;
        if import.module.is_empty() {
            let ImportKind::Member { name, .. } = import.kind else { return Value::Unknown };
            let name = world.name(frame.file, name);
            return self.local_name(ev, frame, import.decl, name, space);
        }
        match (world.modules.typescript.target(frame.file, &import.module), import.kind) {
            (Target::File(file), ImportKind::Module { .. }) => self.module_value(ev, frame, file, space),
            (Target::File(file), ImportKind::Member { name, .. }) => {
                let name = world.name(frame.file, name);
                match self.offer(ev, frame, file, name, space) {
                    Value::Missing if world.text(name) == "default" => {
                        self.without_default(ev, frame, file, space)
                    }
                    value => value,
                }
            }
            (Target::Outside, ImportKind::Module { .. }) => outside(ev, frame, import),
            (Target::Outside, ImportKind::Member { name, .. }) => {
                let name = world.name(frame.file, name);
                match outside(ev, frame, import) {
                    // The default export goes by the name of the package.
                    Value::External(external) if world.text(name) != "default" => {
                        Value::External(external.member(name))
                    }
                    other => other,
                }
            }
            _ => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        if import.module.is_empty() {
            return Value::Unknown;
        }
        match ev.world.modules.typescript.target(frame.file, &import.module) {
            Target::File(file) => Value::Module(ModuleId(file)),
            Target::Outside => outside(ev, frame, import),
            Target::Missing => Value::Unknown,
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
        match world.found_in(frame.file).type_(type_) {
            Type::Named { segments, at, .. } => {
                let names: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
                self.named_type(ev, frame, decl, &names, *at)
            }
            Type::Projection { of, name, .. } if world.found_in(frame.file).text(*name) == "typeof" => {
                let Type::Named { segments, at, .. } = world.found_in(frame.file).type_(*of) else {
                    return Value::Unknown;
                };
                let names: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
                self.named_value(ev, frame, decl, &names, *at)
            }
            _ => Value::Unknown,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        self.typed_with(ev, frame, decl, type_, &[])
    }

    fn receiver(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def) -> Value {
        let world = ev.world;
        let kind = world.kind(method);
        // `this` in a constructor function or in the body of a class.
        if kind == NodeKind::Function || kind.is_type_like() {
            return Value::instance(method);
        }
        let Some(owner) = world.owner(method) else { return Value::Unknown };
        match world.kind(owner) {
            NodeKind::Class | NodeKind::Interface | NodeKind::TypeAlias => match frame.receiver {
                Some(exact) if world.hierarchy.is_below(exact, owner) => Value::instance(exact),
                _ => Value::instance(owner),
            },
            NodeKind::Function | NodeKind::Method => Value::instance(owner),
            NodeKind::Var | NodeKind::Const | NodeKind::Field => Value::Def(owner),
            _ => Value::Unknown,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let world = ev.world;
        match of {
            Value::Module(module) => self.module_member(ev, frame, module.0, name, Space::Value),
            Value::Instance(def, _) => self.instance_member(ev, frame, *def, name),
            Value::Def(def) => self.static_member(ev, frame, *def, name),
            Value::Super(class) => self.inherited(ev, *class, name),
            Value::External(external) | Value::ExternalInstance(external, _) => {
                Value::External(external.member(name))
            }
            Value::ExternalResult => Value::ExternalResult,
            Value::Iterable(_) | Value::Tuple(_) => builtin_member(ev, "Array", name),
            Value::Awaitable(_) => builtin_member(ev, "Promise", name),
            Value::Function(_) => match world.text(name) {
                "apply" | "bind" | "call" => builtin_member(ev, "Function", name),
                _ => Value::Unknown,
            },
            Value::Bounded(parts) => {
                let mut doubt = false;
                for part in parts.iter() {
                    match self.member(ev, frame, part, name) {
                        Value::Missing => {}
                        Value::Unknown => doubt = true,
                        value => return value,
                    }
                }
                if doubt { Value::Unknown } else { Value::Missing }
            }
            _ => Value::Unknown,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        self.result(ev, frame, callee, site)
    }

    fn for_parameter(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, argument: u8) -> Value {
        let callee = ev.callee(frame, site.decl, site.callee);
        callee.map(|it| match it {
            Value::Def(def) => self.taken_by(ev, frame, *def, usize::from(argument)),
            Value::Overloads(all) => {
                Value::join(all.iter().map(|it| self.taken_by(ev, frame, *it, usize::from(argument))))
            }
            _ => Value::Unknown,
        })
    }

    fn element(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            Value::Tuple(items) => Value::join(items.iter().cloned()),
            Value::ExternalInstance(external, arguments) => {
                match (builtin_name(ev, external), &arguments[..]) {
                    (Some("Map" | "ReadonlyMap"), [_, _]) => Value::Tuple(arguments.clone()),
                    (Some("Set" | "ReadonlySet"), [item]) => item.clone(),
                    (Some(_), _) => Value::Unknown,
                    (None, _) => Value::ExternalResult,
                }
            }
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        match of {
            Value::Iterable(inner) => (**inner).clone(),
            Value::ExternalInstance(external, arguments) => {
                match (builtin_name(ev, external), &arguments[..]) {
                    (Some("Record"), [_, item]) => item.clone(),
                    (Some(_), _) => Value::Unknown,
                    (None, _) => Value::ExternalResult,
                }
            }
            Value::External(_) | Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn item(&self, _: &mut Evaluator<'_>, of: &Value, index: u32) -> Value {
        match of {
            Value::Tuple(items) => items.get(index as usize).cloned().unwrap_or(Value::Unknown),
            Value::Iterable(inner) => (**inner).clone(),
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        let type_name = match literal {
            Literal::None => return Value::Nothing,
            Literal::Function => return Value::Function(Value::Unknown.into()),
            // What a plain list or object holds is not known; it holds something.
            Literal::List => return Value::Iterable(Value::Unknown.into()),
            Literal::Dictionary => return Value::Unknown,
            Literal::Bool => "Boolean",
            Literal::Integer | Literal::Float => "Number",
            Literal::String => "String",
            _ => return Value::Unknown,
        };
        instance_of_builtin(ev, type_name, &[])
    }

    fn is_common_member(&self, name: &str) -> bool {
        tables::COMMON_MEMBERS.binary_search(&name).is_ok()
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let segments: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
        let (first, rest) = segments.split_first().map_or(("?", &[][..]), |(first, rest)| (*first, rest));
        let (repo, container) = match external.origin {
            Origin::ThirdParty => ("external", format!("npm/{first}")),
            Origin::StandardLibrary => ("stdlib", format!("{LANGUAGE}/{first}")),
        };
        ExternalName { repo, container, symbol: rest.join(".") }
    }
}

fn word(ev: &Evaluator<'_>, text: &str) -> Name {
    ev.world.names.find(text).expect("the vocabulary holds the words of the rules")
}

fn builtin_type(ev: &Evaluator<'_>, name: &str) -> External {
    External::new(Origin::StandardLibrary, &[word(ev, GLOBAL), word(ev, name)])
}

fn builtin(ev: &Evaluator<'_>, name: &str) -> Value {
    Value::External(builtin_type(ev, name))
}

fn builtin_member(ev: &Evaluator<'_>, type_name: &str, name: Name) -> Value {
    Value::External(builtin_type(ev, type_name).member(name))
}

fn instance_of_builtin(ev: &Evaluator<'_>, type_name: &str, arguments: &[Value]) -> Value {
    Value::ExternalInstance(builtin_type(ev, type_name), arguments.into())
}

/// The name of a builtin type, none for what packages bring.
fn builtin_name<'w>(ev: &Evaluator<'w>, external: &External) -> Option<&'w str> {
    match external.path[..] {
        [space, name] if ev.world.text(space) == GLOBAL && external.origin == Origin::StandardLibrary => {
            Some(ev.world.text(name))
        }
        _ => None,
    }
}

/// A package or builtin module as it is imported.
fn outside(ev: &Evaluator<'_>, frame: Frame, import: &Import) -> Value {
    let path: Vec<Name> = import.module.iter().map(|it| ev.world.name(frame.file, *it)).collect();
    let text = path.iter().map(|it| ev.world.text(*it)).collect::<Vec<_>>().join("/");
    let is_builtin = tables::MODULES.binary_search(&text.as_str()).is_ok();
    if is_builtin && let Some(name) = ev.world.names.find(&text) {
        return Value::External(External::new(Origin::StandardLibrary, &[name]));
    }
    Value::External(External::new(Origin::ThirdParty, &path))
}

fn is_static(ev: &Evaluator<'_>, def: Def) -> bool {
    ev.world.decl(def).2.modifiers.contains(Modifiers::STATIC)
}
