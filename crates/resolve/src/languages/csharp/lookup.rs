//! What a simple or qualified name means: type parameters, nested types, namespaces around, aliases, usings.

use knowing_model::facts::{DeclId, Import, ImportKind};

use super::members::own_members;
use super::namespaces::{GLOBAL, is_type};
use super::{Csharp, standard};
use crate::evaluate::{Evaluator, TopType};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId, World};

/// Dots that stand for `static` in an import.
pub(super) const STATIC_LEVEL: u8 = 1;

/// A name where it stands.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) file: u32,
    /// Where it stands; none when only the file is known.
    pub(super) at: Option<u32>,
    pub(super) name: Name,
    /// Number of type arguments; none when it does not matter.
    pub(super) arity: Option<usize>,
}

impl Csharp {
    /// A type or namespace by its simple name, seen from a declaration.
    pub(super) fn type_named(&self, ev: &mut Evaluator<'_>, decl: Option<DeclId>, asked: Asked) -> Value {
        let world = ev.world;
        let facts = world.facts(asked.file);
        let mut scope = decl;
        while let Some(id) = scope {
            let around = facts.decl(id);
            if is_type(around.kind) {
                let def = world.def(asked.file, id);
                if let Some(found) = nested_type(world, def, asked) {
                    return Value::Def(found);
                }
            }
            scope = around.owner;
        }
        self.top_type(ev, asked)
    }

    /// A type or namespace by its simple name, seen from outside of all types.
    pub(super) fn top_type(&self, ev: &mut Evaluator<'_>, asked: Asked) -> Value {
        let Asked { file, at, name, arity } = asked;
        let namespace = at.map(|it| ev.world.facts(file).namespace_at(it));
        let key = TopType { file, namespace, name, arity };
        if let Some(known) = ev.top_types.get(&key) {
            return known.clone();
        }
        let found = self.find_top_type(ev, asked);
        if ev.has_room() {
            ev.top_types.insert(key, found.clone());
        }
        found
    }

    fn find_top_type(&self, ev: &mut Evaluator<'_>, asked: Asked) -> Value {
        let world = ev.world;
        let table = &world.modules.csharp;
        let chains = chains(world, asked);
        for chain in &chains {
            for namespace in chain {
                let found = fitting(world, asked, table.types(*namespace, asked.name));
                if !found.is_empty() {
                    return chosen(world, asked.file, found);
                }
                if let Some(inner) = table.child(*namespace, asked.name)
                    && asked.arity.unwrap_or(0) == 0
                {
                    return Value::Module(inner);
                }
            }
        }
        match self.aliased(ev, asked) {
            Value::Missing => {}
            value => return value,
        }
        let mut found: Vec<Def> = Vec::new();
        for namespace in used_namespaces(world, asked.file) {
            for def in fitting(world, asked, table.types(namespace, asked.name)) {
                if !found.contains(&def) {
                    found.push(def);
                }
            }
        }
        if !found.is_empty() {
            return chosen(world, asked.file, found);
        }
        Value::Missing
    }

    /// `using Name = A.B;`
    fn aliased(&self, ev: &mut Evaluator<'_>, asked: Asked) -> Value {
        let world = ev.world;
        for (in_file, import) in imports_of(world, asked.file) {
            if let ImportKind::Member { alias, .. } = import.kind
                && world.name(in_file, alias) == asked.name
            {
                return self.alias_target(ev, in_file, import);
            }
        }
        Value::Missing
    }

    pub(super) fn alias_target(&self, ev: &mut Evaluator<'_>, file: u32, import: &Import) -> Value {
        let ImportKind::Member { name, .. } = import.kind else { return Value::Unknown };
        let mut path: Vec<Name> = import.module.iter().map(|it| ev.world.name(file, *it)).collect();
        path.push(ev.world.name(file, name));
        self.path(ev, file, &path)
    }

    /// What a whole path from the root means.
    pub(super) fn path(&self, ev: &mut Evaluator<'_>, file: u32, path: &[Name]) -> Value {
        let mut value = Value::Module(GLOBAL);
        for name in path {
            value = match &value {
                Value::Module(namespace) => in_namespace(ev.world, file, *namespace, *name, None),
                Value::Def(def) => {
                    let asked = Asked { file, at: None, name: *name, arity: None };
                    nested_type(ev.world, *def, asked).map_or(Value::Missing, Value::Def)
                }
                _ => Value::Missing,
            };
        }
        match value {
            Value::Missing | Value::Unknown => Value::External(standard::named(ev, path)),
            value => value,
        }
    }

    /// A name that is a member of a type that a `using static` names.
    pub(super) fn static_member(&self, ev: &mut Evaluator<'_>, file: u32, name: Name) -> Value {
        let world = ev.world;
        for (in_file, import) in imports_of(world, file) {
            if import.level == STATIC_LEVEL && import.kind == ImportKind::Wildcard {
                let path: Vec<Name> = import.module.iter().map(|it| world.name(in_file, *it)).collect();
                if let Value::Def(type_) = self.path(ev, in_file, &path)
                    && let Some(found) = own_members(world, type_, name).first()
                {
                    return Value::Def(*found);
                }
            }
        }
        Value::Missing
    }

    /// A type that is nowhere in the project.
    pub(super) fn outside_type(&self, ev: &Evaluator<'_>, file: u32, name: Name) -> External {
        let world = ev.world;
        let text = world.text(name);
        if let Some(path) = standard::path_of_type(ev, text) {
            return External::new(Origin::StandardLibrary, &path);
        }
        // The one namespace from outside that it can come from, where there is one.
        let mut only: Option<Vec<Name>> = None;
        for (in_file, import) in imports_of(world, file) {
            if import.kind != ImportKind::Wildcard || import.level != 0 {
                continue;
            }
            let path: Vec<Name> = import.module.iter().map(|it| world.name(in_file, *it)).collect();
            if namespace_at(world, &path).is_some()
                || path.first().is_some_and(|it| world.text(*it) == "System")
            {
                continue;
            }
            match &only {
                Some(known) if *known != path => {
                    only = None;
                    break;
                }
                _ => only = Some(path),
            }
        }
        let nowhere = || world.names.find(super::NOWHERE).into_iter().collect();
        let mut path: Vec<Name> = only.unwrap_or_else(nowhere);
        path.push(name);
        External::new(Origin::ThirdParty, &path)
    }
}

/// A type or namespace of a namespace.
pub(super) fn in_namespace(
    world: &World<'_>,
    file: u32,
    namespace: ModuleId,
    name: Name,
    arity: Option<usize>,
) -> Value {
    let asked = Asked { file, at: None, name, arity };
    let found = fitting(world, asked, world.modules.csharp.types(namespace, name));
    if !found.is_empty() {
        return chosen(world, file, found);
    }
    world.modules.csharp.child(namespace, name).map_or(Value::Missing, Value::Module)
}

/// A type that stands in another, or in one that it inherits from.
pub(super) fn nested_type(world: &World<'_>, of: Def, asked: Asked) -> Option<Def> {
    let own = |def: Def| {
        let members = own_members(world, def, asked.name);
        members.into_iter().find(|it| {
            let decl = world.decl(*it).2;
            is_type(decl.kind) && asked.arity.is_none_or(|it| it == decl.type_parameters.len())
        })
    };
    own(of).or_else(|| {
        world.hierarchy.ancestors(of).iter().find_map(|it| match it {
            Ancestor::Project(above) => own(*above),
            _ => None,
        })
    })
}

/// Those with the asked number of type parameters, each type once.
fn fitting(world: &World<'_>, asked: Asked, defs: &[Def]) -> Vec<Def> {
    let mut found: Vec<Def> = Vec::new();
    for def in defs {
        let decl = world.decl(*def).2;
        let fits = match asked.arity {
            Some(arity) => decl.type_parameters.len() == arity,
            // A bare name in an expression is the type without parameters, if there is one.
            None => true,
        };
        let whole = world.hierarchy.whole(*def);
        if fits && !found.contains(&whole) {
            found.push(whole);
        }
    }
    if asked.arity.is_none() && found.len() > 1 {
        let plain: Vec<Def> =
            found.iter().copied().filter(|it| world.decl(*it).2.type_parameters.is_empty()).collect();
        if !plain.is_empty() {
            return plain;
        }
    }
    found
}

/// Of several types of one name the nearest by path: other projects of the repository may have their own. Code that is
/// no test does not mean a test's.
fn chosen(world: &World<'_>, file: u32, mut found: Vec<Def>) -> Value {
    let from_test = world.flags(file).contains(knowing_model::NodeFlags::TEST);
    if found.len() > 1 && !from_test {
        let production: Vec<Def> = found.iter().copied().filter(|it| !world.is_test_code(*it)).collect();
        if !production.is_empty() {
            found = production;
        }
    }
    if found.len() > 1 {
        let near = |def: &Def| common_directories(world.path(file), world.path(world.file_of(*def)));
        let nearest = found.iter().map(near).max().unwrap_or(0);
        found.retain(|it| near(it) == nearest);
    }
    Value::join(found.into_iter().map(Value::Def))
}

/// How many leading directories two paths share.
fn common_directories(one: &str, other: &str) -> usize {
    let directories = |path: &'_ str| path.rsplit_once('/').map_or("", |it| it.0).to_owned();
    let (one, other) = (directories(one), directories(other));
    one.split('/').zip(other.split('/')).take_while(|(a, b)| a == b && !a.is_empty()).count()
}

/// Namespaces around the place of a name, inside out; all of the file's where the place is not known.
fn chains(world: &World<'_>, asked: Asked) -> Vec<Vec<ModuleId>> {
    let table = &world.modules.csharp;
    let facts = world.facts(asked.file);
    match asked.at {
        Some(at) => vec![table.chain(world, asked.file, at)],
        None if facts.namespaces.is_empty() => vec![vec![GLOBAL]],
        None => facts.namespaces.iter().map(|it| table.chain(world, asked.file, it.range.from)).collect(),
    }
}

/// A file's own imports and those that hold for many files, each with the file it is written in.
pub(super) fn imports_of<'w>(world: &'w World<'w>, file: u32) -> impl Iterator<Item = (u32, &'w Import)> {
    let own = world.facts(file).imports.iter().map(move |it| (file, it));
    let global = world.modules.csharp.global_usings(world.path(file));
    let global = global.filter(move |it| it.0 != file);
    own.chain(global.map(|(file, at)| (file, &world.facts(file).imports[at as usize])))
}

/// Project namespaces that a file's usings bring.
pub(super) fn used_namespaces(world: &World<'_>, file: u32) -> Vec<ModuleId> {
    let mut found = Vec::new();
    for (in_file, import) in imports_of(world, file) {
        if import.kind != ImportKind::Wildcard || import.level != 0 {
            continue;
        }
        let path: Vec<Name> = import.module.iter().map(|it| world.name(in_file, *it)).collect();
        let mut namespace = namespace_at(world, &path);
        if namespace.is_none() {
            // Inside of a namespace, a using may be written from there.
            let around = world.facts(in_file).namespaces.iter().find(|it| it.range == import.visible);
            if let Some(around) = around {
                let chain = world.modules.csharp.chain(world, in_file, around.range.from);
                namespace = chain.iter().find_map(|it| namespace_below(world, *it, &path));
            }
        }
        if let Some(namespace) = namespace
            && !found.contains(&namespace)
        {
            found.push(namespace);
        }
    }
    found
}

pub(super) fn namespace_at(world: &World<'_>, path: &[Name]) -> Option<ModuleId> {
    namespace_below(world, GLOBAL, path)
}

fn namespace_below(world: &World<'_>, from: ModuleId, path: &[Name]) -> Option<ModuleId> {
    path.iter().try_fold(from, |at, name| world.modules.csharp.child(at, *name))
}
