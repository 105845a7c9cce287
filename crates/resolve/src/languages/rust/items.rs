//! Items by path: what a module declares, imports and re-exports, and what crate names mean.

use knowing_model::facts::{DeclId, Import, Modifiers, Type, TypeId};

use super::crates::Crate;
use super::{Rust, tables};
use crate::evaluate::{Evaluator, Frame, fits};
use crate::languages::{Rules, Space};
use crate::names::Name;
use crate::scopes::{Entry, Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

/// Who looks for an item of a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    Inside,
    Outside,
}

impl Rust {
    /// An item of a module: declared there, a module below it, imported by name, or brought by a wildcard.
    pub(super) fn module_item(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        module: ModuleId,
        name: Name,
        space: Space,
    ) -> Value {
        ev.top_name(module.0, name, space, |ev| {
            if !ev.enter_module(module, name, space) {
                return Value::Missing;
            }
            let value = self.module_item_in(ev, frame, (module, View::Inside), (name, space));
            ev.leave_module();
            value
        })
    }

    /// An item that a wildcard brings to `to`: a private one only to the module itself and those below it.
    pub(super) fn item_offered(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        (module, to): (ModuleId, ModuleId),
        (name, space): (Name, Space),
    ) -> Value {
        if ev.world.modules.rust.is_within(to, module) {
            return self.module_item(ev, frame, module, name, space);
        }
        if !ev.enter_module(module, name, space) {
            return Value::Missing;
        }
        let value = self.module_item_in(ev, frame, (module, View::Outside), (name, space));
        ev.leave_module();
        value
    }

    fn module_item_in(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        (module, view): (ModuleId, View),
        (name, space): (Name, Space),
    ) -> Value {
        let world = ev.world;
        let (file, decl) = world.modules.rust.place(module);
        let frame = Frame::in_file(frame, file);
        let facts = world.found_in(frame.file);
        let scope = Scope::of(decl);
        let scopes = &world.scopes[frame.file as usize];
        let inside = view == View::Inside || space == Space::Macro;
        let is_seen = |it: &&Entry| match it.item {
            Item::Decl(decl) => inside || facts.decl(decl).modifiers.contains(Modifiers::PUBLIC),
            Item::Import(index) => inside || facts.imports[index as usize].reexport,
            _ => true,
        };
        let all = scopes.find(scope, name);
        let entries: Vec<Entry> = all.iter().filter(is_seen).copied().collect();
        // A private module below is none for those outside.
        let hides_child = entries.len() < all.len();
        let declared = entries.iter().filter_map(|it| match it.item {
            Item::Decl(decl) if fits(facts.decl(decl).kind, space) => Some(decl),
            _ => None,
        });
        // In the value space a function comes before a module or type of its name.
        let rank = |it: &DeclId| space == Space::Value && facts.decl(*it).kind.is_type_like();
        if let Some(found) = declared.min_by_key(|it| (rank(it), *it)) {
            let def = world.def(frame.file, found);
            return match world.modules.rust.of_decl(def) {
                Some(inner) => Value::Module(inner),
                None => Value::Def(def),
            };
        }
        let child = || world.modules.rust.child(module, name).filter(|_| !hides_child);
        if space == Space::Type
            && let Some(child) = child()
        {
            return Value::Module(child);
        }
        for entry in &entries {
            if let Item::Import(index) = entry.item {
                let value = ev.imported(frame, &facts.imports[index as usize], space);
                if value.is_known() {
                    return value;
                }
            }
        }
        if let Some(child) = child() {
            return Value::Module(child);
        }
        let is_imported = entries.iter().any(|it| matches!(it.item, Item::Import(_)));
        let mut doubt = is_imported;
        for (at, index) in scopes.wildcards() {
            if *at != scope || !(inside || facts.imports[*index as usize].reexport) {
                continue;
            }
            match self.offered(ev, frame, &facts.imports[*index as usize], name, space) {
                Value::Missing => {}
                // An outside module's wildcard: a prelude name is likelier its own.
                Value::Unknown => doubt = true,
                value => return value,
            }
        }
        // `#[macro_export]` puts a macro at the root of its crate, wherever it stands.
        if space == Space::Macro
            && world.modules.rust.root(module) == module
            && let Some(found) = world.modules.rust.macro_of_crate(world, module, name)
            && self.is_meant(ev, found, module)
        {
            return Value::Def(found);
        }
        let text = world.text(name);
        let prelude = match space {
            Space::Macro => tables::MACROS.binary_search(&text).is_ok(),
            // A crate's name is likelier the crate than what an outside module's wildcard brings.
            Space::Type if !is_imported && world.modules.rust.depends_on(module, text) => true,
            _ => tables::PRELUDE.binary_search_by_key(&text, |(name, _)| name).is_ok(),
        };
        if doubt && !prelude { Value::Unknown } else { Value::Missing }
    }

    /// Whether a macro can be the one that is called in a module: one with the name of a standard macro only where it is
    /// in reach by its place.
    pub(super) fn is_meant(&self, ev: &Evaluator<'_>, found: Def, module: ModuleId) -> bool {
        let world = ev.world;
        let (file, _, decl) = world.decl(found);
        let text = world.text(world.name(file, decl.name));
        tables::MACROS.binary_search(&text).is_err()
            || world
                .modules
                .rust
                .module(world, file, decl.owner)
                .is_some_and(|it| world.modules.rust.is_within(module, it))
    }

    /// The first segment of a `use`: a word, a crate, or an item of the module that is not this very import.
    pub(super) fn import_root(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        import: &Import,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let Some(module) = world.modules.rust.module(world, frame.file, import.decl) else {
            return Value::Unknown;
        };
        match world.text(name) {
            "crate" | "$crate" => return Value::Module(world.modules.rust.root(module)),
            "self" => return Value::Module(module),
            "super" => return world.modules.rust.parent(module).map_or(Value::Missing, Value::Module),
            _ => {}
        }
        if let Some(child) = world.modules.rust.child(module, name) {
            return Value::Module(child);
        }
        if let Some(value) = self.named_crate(ev, module, name) {
            return value;
        }
        self.module_item(ev, frame, module, name, space)
    }

    pub(super) fn named_crate(&self, ev: &Evaluator<'_>, module: ModuleId, name: Name) -> Option<Value> {
        let text = ev.world.text(name);
        if matches!(text, "std" | "core" | "alloc" | "proc_macro" | "test") {
            // `core` and `alloc` offer under other names what `std` offers.
            let name = if matches!(text, "core" | "alloc") { ev.world.names.find("std")? } else { name };
            return Some(Value::External(External::new(Origin::StandardLibrary, &[name])));
        }
        match ev.world.modules.rust.named(module, text)? {
            Crate::Project(library) => Some(Value::Module(library)),
            Crate::Outside if text.starts_with(|it: char| it.is_ascii_lowercase() || it == '_') => {
                Some(Value::External(External::new(Origin::ThirdParty, &[name])))
            }
            Crate::Outside => None,
        }
    }

    /// What a written path names, its last segment in the given space.
    pub(super) fn path_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let Type::Named { segments, at, .. } = world.found_in(frame.file).type_(type_) else {
            return Value::Unknown;
        };
        let names: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
        let Some((first, rest)) = names.split_first() else { return Value::Unknown };
        let space_of = |left: usize| if left == 0 { space } else { Space::Type };
        if world.text(*first).is_empty() {
            let Some((krate, rest)) = rest.split_first() else { return Value::Unknown };
            let module = world.modules.rust.module(world, frame.file, decl);
            let root = module.and_then(|it| self.named_crate(ev, it, *krate)).unwrap_or(Value::Unknown);
            return rest.iter().enumerate().fold(root, |value, (at, name)| {
                value.map(|it| self.scoped(ev, frame, it, *name, space_of(rest.len() - at - 1)))
            });
        }
        let mut value = ev.name(frame, decl, *first, *at, space_of(rest.len()));
        for (at, name) in rest.iter().enumerate() {
            let left = rest.len() - at - 1;
            value = value.map(|it| self.scoped(ev, frame, it, *name, space_of(left)));
        }
        value
    }
}
