//! Members of classes by method order, and names at the top of modules.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Modifiers};

use super::{Python, builtin_member, tables};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Value};
use crate::world::{Def, ModuleId};

impl Python {
    /// What the top of a file binds a name to, seen from anywhere in it: its declarations and imports, then what
    /// wildcards bring. `Missing` when nothing does.
    pub(super) fn top_name(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Value {
        ev.top_name(frame.file, name, Space::Value, |ev| self.find_top_name(ev, frame, name))
    }

    fn find_top_name(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
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
        for (scope, index) in scopes.wildcards() {
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
    pub(super) fn module_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        module: ModuleId,
        name: Name,
    ) -> Value {
        let world = ev.world;
        let own = match world.modules.python.file(module) {
            Some(file) => self.top_name(ev, Frame::in_file(frame, file), name),
            None => Value::Missing,
        };
        match own {
            Value::Missing | Value::Unknown => match world.modules.python.child(module, name) {
                Some(child) => Value::Module(child),
                None => own,
            },
            value => value,
        }
    }
}

/// Bases that give a class no members one would call: they do not make its members external.
const MARKER_BASES: &[&str] = &["ABC", "Generic", "Protocol", "object", "NamedTuple", "TypedDict"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    Included,
    LeftOut,
}

/// A member of a class by its method order. Behind an ancestor that nobody could resolve or that is from outside nothing
/// is certain; what no class of the project has is the outside one's.
pub(super) fn class_member(ev: &Evaluator<'_>, class: Def, name: Name, own: Own) -> Value {
    let world = ev.world;
    if own == Own::Included
        && let Some(found) = own_member(ev, class, name)
    {
        return Value::Def(found);
    }
    let mut unknown = false;
    let mut outside: Option<&External> = None;
    let is_common = Python.is_common_member(world.text(name));
    for ancestor in world.hierarchy.ancestors(class) {
        match ancestor {
            Ancestor::Project(base) => {
                if let Some(found) = own_member(ev, *base, name) {
                    return if unknown || outside.is_some() {
                        Value::OneOf([Value::Def(found), Value::Unknown].into())
                    } else {
                        Value::Def(found)
                    };
                }
            }
            Ancestor::External(external) => {
                let last = external.last().map_or("", |it| world.text(it));
                if MARKER_BASES.contains(&last) || unknown {
                    continue;
                }
                if is_common {
                    return Value::External(external.member(name));
                }
                // Behind it may stand a class of the project that is likelier to have a name of its own.
                outside.get_or_insert(external);
            }
            Ancestor::Unknown => unknown = true,
        }
    }
    if let Some(external) = outside {
        return Value::External(external.member(name));
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
    let facts = world.found_in(file);
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
