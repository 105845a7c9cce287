//! What a file binds at its top, and what it offers to others under which name.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Modifiers};

use super::modules::Target;
use super::{Origin, TypeScript};
use crate::evaluate::{Evaluator, Frame};
use crate::languages::Space;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Value};
use crate::world::{ModuleId, World};

/// Names that are offered are remembered beside those that are bound.
const OFFERED: u32 = 1 << 31;

impl TypeScript {
    /// A name seen from a namespace, outwards to the file.
    pub(super) fn name_in_space(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        let mut at = decl;
        while let Some(id) = at {
            let owner = ev.world.def(frame.file, id);
            let parts = ev.world.hierarchy.parts(&owner).to_vec();
            for part in parts {
                let (file, id, _) = ev.world.decl(part);
                match self.bound_in(ev, Frame::in_file(frame, file), Some(id), name, space) {
                    Value::Missing => {}
                    value => return value,
                }
            }
            at = ev.world.found_in(frame.file).decl(id).owner;
        }
        self.local_name(ev, frame, None, name, space)
    }

    /// What the top of a file (or a namespace) binds a name to.
    pub(super) fn local_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        if decl.is_some() {
            return self.bound_in(ev, frame, decl, name, space);
        }
        ev.top_name(frame.file, name, space, |ev| self.bound_in(ev, frame, None, name, space))
    }

    fn bound_in(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let mut decls: Vec<DeclId> = Vec::new();
        let mut imports = Vec::new();
        for entry in world.scopes[frame.file as usize].find(Scope::of(decl), name) {
            match entry.item {
                Item::Import(index) if !facts.imports[index as usize].reexport => imports.push(index),
                Item::Decl(id) if facts.decl(id).visible.is_none() => decls.push(id),
                // The value of `export default` and the like is reached by its name alone.
                Item::Decl(id) if is_nameless(world, name) => decls.push(id),
                _ => {}
            }
        }
        if let Some(chosen) = self.chosen(ev, frame, &decls, space) {
            return chosen;
        }
        for index in imports {
            match ev.imported(frame, &facts.imports[index as usize], space) {
                Value::Missing => {}
                value => return value,
            }
        }
        Value::Missing
    }

    /// Of several declarations of a name the one that the name space means.
    fn chosen(&self, ev: &Evaluator<'_>, frame: Frame, decls: &[DeclId], space: Space) -> Option<Value> {
        let facts = ev.world.found_in(frame.file);
        let rank = |id: &DeclId| {
            let decl = facts.decl(*id);
            let kind = match (space, decl.kind) {
                (
                    Space::Type,
                    NodeKind::Class | NodeKind::Interface | NodeKind::TypeAlias | NodeKind::Enum,
                ) => 0,
                (Space::Type, NodeKind::Module) => 1,
                (Space::Type, _) => return None,
                (_, NodeKind::Interface | NodeKind::TypeAlias) if decl.value.is_none() => return None,
                (_, NodeKind::Module) => 1,
                _ => 0,
            };
            Some((kind, decl.modifiers.contains(Modifiers::OVERLOAD), *id))
        };
        let best = decls.iter().filter_map(rank).min()?;
        Some(Value::Def(ev.world.def(frame.file, best.2)))
    }

    /// What a file offers under a name, remembered: one look may lead through many files that only pass names on.
    pub(super) fn offer(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        file: u32,
        name: Name,
        space: Space,
    ) -> Value {
        ev.top_name(file | OFFERED, name, space, |ev| self.exported(ev, frame, file, name, space))
    }

    fn exported(&self, ev: &mut Evaluator<'_>, frame: Frame, file: u32, name: Name, space: Space) -> Value {
        let inner = Frame::in_file(frame, file);
        if !ev.enter_module(ModuleId(file), name, space) {
            return Value::Missing;
        }
        let value = self.find_exported(ev, inner, name, space);
        ev.leave_module();
        value
    }

    fn find_exported(&self, ev: &mut Evaluator<'_>, frame: Frame, name: Name, space: Space) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let scopes = &world.scopes[frame.file as usize];
        let mut decls: Vec<DeclId> = Vec::new();
        let mut imports = Vec::new();
        for entry in scopes.find(Scope::TOP, name) {
            match entry.item {
                Item::Import(index) if facts.imports[index as usize].reexport => imports.push(index),
                Item::Decl(id) if facts.decl(id).modifiers.contains(Modifiers::PUBLIC) => decls.push(id),
                _ => {}
            }
        }
        if decls.is_empty() && imports.is_empty() && world.path(frame.file).ends_with(".d.ts") {
            // Everything at the top of a declaration file is offered.
            match self.bound_in(ev, frame, None, name, space) {
                Value::Missing => {}
                value => return value,
            }
        }
        if let Some(chosen) = self.chosen(ev, frame, &decls, space) {
            return chosen;
        }
        let mut doubt = false;
        for index in imports {
            match ev.imported(frame, &facts.imports[index as usize], space) {
                Value::Missing => {}
                Value::Unknown => doubt = true,
                value => return value,
            }
        }
        if !world.names.is_word(name, "default") {
            for (scope, index) in scopes.wildcards() {
                let import = &facts.imports[*index as usize];
                if *scope != Scope::TOP || !import.reexport {
                    continue;
                }
                match world.modules.typescript.target(frame.file, &import.module) {
                    Target::File(other) => match self.exported(ev, frame, other, name, space) {
                        Value::Missing => {}
                        Value::Unknown => doubt = true,
                        value => return value,
                    },
                    Target::Outside | Target::Missing => doubt = true,
                }
            }
        }
        if !is_nameless(world, name) {
            match self.whole_export(ev, frame, space) {
                Value::Missing | Value::Unknown => {}
                whole => {
                    let of = ev.settled(frame, &whole);
                    return ev.member(frame, &of, name);
                }
            }
        }
        if doubt { Value::Unknown } else { Value::Missing }
    }

    /// What `module.exports = value` offers.
    fn whole_export(&self, ev: &mut Evaluator<'_>, frame: Frame, space: Space) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let Some(name) = world.modules.typescript.whole_export else { return Value::Missing };
        let mut found = Value::Missing;
        for entry in world.scopes[frame.file as usize].find(Scope::TOP, name) {
            if let Item::Import(index) = entry.item {
                found = ev.imported(frame, &facts.imports[index as usize], space);
            }
        }
        found
    }

    /// A module as a value: itself, or what it offers as a whole.
    pub(super) fn module_value(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        file: u32,
        space: Space,
    ) -> Value {
        let module = Value::Module(ModuleId(file));
        let Some(name) = ev.world.modules.typescript.whole_export else { return module };
        if ev.world.scopes[file as usize].find(Scope::TOP, name).is_empty()
            || !ev.enter_module(ModuleId(file), name, space)
        {
            return module;
        }
        let value = self.whole_export(ev, Frame::in_file(frame, file), space);
        ev.leave_module();
        if value.is_known() { value } else { module }
    }

    /// The default import of a file that has no default export: all of a CommonJS module.
    pub(super) fn without_default(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        file: u32,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let facts = world.facts(file);
        let path = world.path(file);
        let is_script = [".js", ".cjs", ".jsx"].iter().any(|it| path.ends_with(it));
        let whole = world.modules.typescript.whole_export;
        let has_exports =
            whole.is_some_and(|it| !world.scopes[file as usize].find(Scope::TOP, it).is_empty());
        let has_own = facts.imports.iter().any(|it| it.reexport)
            || facts.decls.iter().any(|it| it.modifiers.contains(Modifiers::PUBLIC));
        if has_exports || is_script && has_own {
            return self.module_value(ev, frame, file, space);
        }
        Value::Unknown
    }

    pub(super) fn module_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        file: u32,
        name: Name,
        space: Space,
    ) -> Value {
        if !ev.enter() {
            return Value::Unknown;
        }
        let value = self.offer(ev, frame, file, name, space);
        ev.leave();
        value
    }

    /// `require("x")` where it stands.
    pub(super) fn loaded(&self, ev: &mut Evaluator<'_>, frame: Frame, text: &str) -> Value {
        let text = text.strip_prefix("node:").unwrap_or(text);
        match ev.world.modules.typescript.find(ev.world, frame.file, text) {
            Target::File(file) => self.module_value(ev, frame, file, Space::Value),
            Target::Outside => {
                let is_builtin = super::tables::MODULES.binary_search(&text).is_ok();
                let origin = if is_builtin { Origin::StandardLibrary } else { Origin::ThirdParty };
                let n_parts = if text.starts_with('@') { 2 } else { 1 };
                let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
                let package = if is_builtin { text } else { &text[..end] };
                match ev.world.names.find(package) {
                    Some(name) => Value::External(External::new(origin, &[name])),
                    None => Value::ExternalResult,
                }
            }
            Target::Missing => Value::Unknown,
        }
    }
}

fn is_nameless(world: &World<'_>, name: Name) -> bool {
    Some(name) == world.modules.typescript.whole_export || world.names.is_word(name, "default")
}
