//! Rust: crates and modules, `use` and re-exports, inherent and trait methods, `Deref`, the standard containers.

mod crates;
mod standard;
mod tables;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, Import, ImportKind, Literal, Type, TypeId, TypeParameter};

use super::{CallSite, ExternalName, Payload, Rules, Space};
use crate::evaluate::{Evaluator, Frame, fits};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{External, Origin, Value};
use crate::world::{Def, ModuleId};

use crates::Crate;
pub(crate) use crates::RustCrates;

pub(crate) struct Rust;

const WORDS: &[&str] = &["std", "core", "alloc", "slice", "Iterator", "Target", "Item", "0", "1"];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    let segments = |path: &'static str| path.split("::");
    WORDS
        .iter()
        .chain(tables::MACROS)
        .copied()
        .chain(tables::PRELUDE.iter().flat_map(move |(_, path)| segments(path)))
        .chain(tables::TRAIT_METHODS.iter().flat_map(move |(method, path)| segments(path).chain([*method])))
        .chain(tables::ITERATOR_METHODS.iter().copied())
}

impl Rules for Rust {
    fn free_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let Some(module) = world.rust.module(world, frame.file, decl) else { return Value::Unknown };
        match self.module_item(ev, frame, module, name, space) {
            Value::Missing => {}
            value => return value,
        }
        let text = world.text(name);
        if space == Space::Macro {
            if let Some(def) = world.rust.macro_named(world, module, name) {
                return Value::Def(def);
            }
            return match tables::MACROS.binary_search(&text) {
                Ok(_) => standard::item(ev, &["std", text]),
                Err(_) => Value::Missing,
            };
        }
        if let Ok(at) = tables::PRELUDE.binary_search_by_key(&text, |(name, _)| name) {
            return standard::item_at(ev, tables::PRELUDE[at].1);
        }
        if space == Space::Type
            && let Some(value) = self.named_crate(ev, module, name)
        {
            return value;
        }
        if tables::ATTRIBUTES.binary_search(&text).is_ok() { Value::Unknown } else { Value::Missing }
    }

    fn binds_whole_callable(&self) -> bool {
        false
    }

    fn special_name(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
        space: Space,
    ) -> Option<Value> {
        let world = ev.world;
        match world.text(name) {
            "Self" => Some(self.self_type(ev, frame, decl)),
            "crate" | "$crate" => {
                let module = world.rust.module(world, frame.file, decl)?;
                Some(Value::Module(world.rust.root(module)))
            }
            "self" if space == Space::Type => {
                Some(Value::Module(world.rust.module(world, frame.file, decl)?))
            }
            "super" => {
                let module = world.rust.module(world, frame.file, decl)?;
                Some(world.rust.parent(module).map_or(Value::Missing, Value::Module))
            }
            _ if space == Space::Type => self.type_parameter(ev, frame, decl, name),
            _ => None,
        }
    }

    fn offered(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        import: &Import,
        name: Name,
        space: Space,
    ) -> Value {
        match self.imported_module(ev, frame, import) {
            Value::Module(module) => self.module_item(ev, frame, module, name, space),
            Value::Def(def) => match child(ev, def, name) {
                Some(member) if fits(ev.world.kind(member), space) => Value::Def(member),
                _ => Value::Missing,
            },
            Value::External(_) => Value::Unknown,
            _ => Value::Missing,
        }
    }

    fn file_of(&self, ev: &Evaluator<'_>, value: &Value) -> Option<u32> {
        match value {
            Value::Def(def) => Some(ev.world.file_of(*def)),
            Value::Module(module) => Some(ev.world.rust.place(*module).0),
            _ => None,
        }
    }

    fn imported_value(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import, space: Space) -> Value {
        match import.kind {
            ImportKind::Member { name, .. } => {
                let name = ev.world.name(frame.file, name);
                if import.module.is_empty() {
                    return self.import_root(ev, frame, import, name, space);
                }
                let of = self.imported_module(ev, frame, import);
                of.map(|it| self.scoped(ev, frame, it, name, space))
            }
            ImportKind::Module { .. } | ImportKind::TopModule => self.imported_module(ev, frame, import),
            ImportKind::Wildcard => Value::Unknown,
        }
    }

    fn imported_module(&self, ev: &mut Evaluator<'_>, frame: Frame, import: &Import) -> Value {
        let world = ev.world;
        let mut segments = import.module.iter().map(|it| world.name(frame.file, *it));
        let Some(mut first) = segments.next() else { return Value::Missing };
        if world.text(first).is_empty() {
            match segments.next() {
                Some(second) => first = second,
                None => return Value::Missing,
            }
        }
        let mut value = self.import_root(ev, frame, import, first, Space::Type);
        for segment in segments {
            value = match world.text(segment) {
                "self" => value,
                _ => value.map(|it| self.scoped(ev, frame, it, segment, Space::Type)),
            };
        }
        value
    }

    fn type_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        match ev.world.facts(frame.file).type_(type_) {
            Type::Named { .. } => self.path_entity(ev, frame, decl, type_, Space::Type),
            Type::Bounds(bounds) => match bounds.first() {
                Some(first) => self.type_entity(ev, frame, decl, *first),
                None => Value::Unknown,
            },
            Type::Sequence(_) => standard::item(ev, &["std", "slice"]),
            _ => Value::Unknown,
        }
    }

    fn typed(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, type_: TypeId) -> Value {
        match ev.world.facts(frame.file).type_(type_) {
            Type::Named { arguments, .. } => {
                let entity = self.type_entity(ev, frame, decl, type_);
                let arguments: Vec<Value> = arguments.iter().map(|it| ev.typed(frame, decl, *it)).collect();
                entity.map(|it| self.instance_of(ev, frame, it, &arguments))
            }
            Type::Tuple(types) if types.is_empty() => Value::Nothing,
            Type::Tuple(types) => {
                Value::Tuple(types.iter().map(|it| ev.typed(frame, decl, *it)).collect::<Vec<_>>().into())
            }
            Type::Sequence(of) => {
                let of = ev.typed(frame, decl, *of);
                standard::instance(ev, &["std", "slice"], [of])
            }
            Type::Bounds(bounds) => {
                if let Some(value) = self.iterated(ev, frame, decl, bounds) {
                    return value;
                }
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

    fn receiver(&self, ev: &mut Evaluator<'_>, frame: Frame, method: Def) -> Value {
        let (_, _, decl) = ev.world.decl(method);
        if let Some(id) = decl.implementation {
            let implementation = &ev.world.facts(frame.file).impls[id.index()];
            return ev.typed(frame, implementation.owner, implementation.type_);
        }
        match (ev.world.owner(method), frame.receiver) {
            (Some(_), Some(exact)) => Value::instance(exact),
            (Some(interface), None) => Value::Bounded([Value::Def(interface)].into()),
            (None, _) => Value::Unknown,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        match of {
            Value::Instance(def, _) => self.instance_member(ev, frame, *def, name),
            // A unit struct is written as its name.
            Value::Def(def) if ev.world.kind(*def) == NodeKind::Struct => {
                self.instance_member(ev, frame, *def, name)
            }
            Value::Bounded(bounds) => bounded_member(ev, bounds, name),
            Value::ExternalInstance(external, _) => match ev.world.hierarchy.external_members(external, name)
            {
                [one] => Value::Def(*one),
                [] => Value::External(external.member(name)),
                several => Value::OneOf(several.iter().map(|it| Value::Def(*it)).collect::<Vec<_>>().into()),
            },
            Value::Iterable(_) => standard::item(ev, &["std", "iter", "Iterator"]).map(|it| match it {
                Value::External(iterator) => Value::External(iterator.member(name)),
                other => other.clone(),
            }),
            Value::Tuple(items) => match ev.world.text(name).parse::<usize>() {
                Ok(index) => items.get(index).cloned().unwrap_or(Value::Unknown),
                Err(_) => Value::Unknown,
            },
            Value::ExternalResult => Value::ExternalResult,
            Value::External(external) => Value::External(external.member(name)),
            _ => Value::Unknown,
        }
    }

    fn has_methods_apart(&self) -> bool {
        true
    }

    fn method(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        if let Value::Instance(def, _) | Value::Def(def) = of
            && ev.world.kind(*def).is_type_like()
            && let found = self.associated(ev, *def, name)
            && found != Value::Missing
        {
            return found;
        }
        self.member(ev, frame, of, name)
    }

    fn scoped(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name, space: Space) -> Value {
        let world = ev.world;
        match of {
            Value::Module(module) => match world.text(name) {
                "super" => world.rust.parent(*module).map_or(Value::Missing, Value::Module),
                "self" => of.clone(),
                _ => self.module_item(ev, frame, *module, name, space),
            },
            Value::Def(def) | Value::Instance(def, _) => match world.kind(*def) {
                NodeKind::TypeAlias => {
                    let (file, _, alias) = world.decl(*def);
                    let Some(type_) = alias.type_ else { return Value::Unknown };
                    let aliased = ev.typed(Frame::in_file(frame, file), alias.owner, type_);
                    aliased.map(|it| match it {
                        Value::Def(again) if again == def => Value::Unknown,
                        it => self.scoped(ev, frame, it, name, space),
                    })
                }
                _ => self.associated(ev, *def, name),
            },
            Value::Bounded(bounds) => bounded_member(ev, bounds, name),
            Value::External(external) => match world.hierarchy.external_members(external, name) {
                [one] => Value::Def(*one),
                _ => Value::External(external.member(name)),
            },
            Value::ExternalInstance(external, _) => Value::External(external.member(name)),
            Value::Missing => Value::Missing,
            _ => Value::Unknown,
        }
    }

    fn called(&self, ev: &mut Evaluator<'_>, frame: Frame, callee: &Value, site: CallSite) -> Value {
        let world = ev.world;
        match callee {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::EnumMember => world.owner(*def).map_or(Value::Unknown, Value::instance),
                kind if kind.is_type_like() => Value::instance(*def),
                kind if kind.is_callable() => {
                    let receiver = match self.called_on(ev, frame, site) {
                        Value::Instance(def, _) => Some(def),
                        _ => None,
                    };
                    ev.result_of(*def, Evaluator::with_receiver(frame, receiver))
                }
                _ => match ev.settled(frame, callee) {
                    Value::Function(result) => (*result).clone(),
                    _ => Value::Unknown,
                },
            },
            Value::External(external) => {
                let on = self.called_on(ev, frame, site);
                standard::called(ev, external, &on)
            }
            Value::Function(result) => (**result).clone(),
            Value::ExternalResult | Value::ExternalInstance(..) => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn element(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Instance(def, _) => self.associated_type(ev, frame, *def, "Item"),
            of => standard::element(ev, of),
        }
    }

    fn indexed(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        standard::indexed(ev, of)
    }

    fn tried(&self, ev: &mut Evaluator<'_>, _: Frame, of: &Value) -> Value {
        match of {
            Value::ExternalInstance(external, _) => match standard::type_name(ev, external) {
                "Result" | "Option" => of.argument(0),
                _ => Value::Unknown,
            },
            Value::ExternalResult => Value::ExternalResult,
            _ => Value::Unknown,
        }
    }

    fn payload(&self, ev: &mut Evaluator<'_>, frame: Frame, payload: Payload<'_>) -> Value {
        let world = ev.world;
        let entity = self.path_entity(ev, frame, payload.decl, payload.variant, Space::Value);
        match entity {
            Value::External(external) => match standard::type_name(ev, &external) {
                "Some" | "Ok" => payload.of.map(|it| it.argument(0)),
                "Err" => payload.of.map(|it| it.argument(1)),
                _ => Value::Unknown,
            },
            Value::Def(def) => {
                let (file, _, decl) = world.decl(def);
                let parameter = decl.parameters.iter().find(|it| world.name(file, it.name) == payload.field);
                if let Some(type_) = parameter.and_then(|it| it.type_) {
                    return ev.typed(Frame::in_file(frame, file), decl.owner, type_);
                }
                match child(ev, def, payload.field) {
                    Some(field) => ev.settled(frame, &Value::Def(field)),
                    None => Value::Unknown,
                }
            }
            _ => Value::Unknown,
        }
    }

    fn literal(&self, ev: &Evaluator<'_>, literal: Literal) -> Value {
        standard::literal(ev, literal)
    }

    fn is_common_member(&self, name: &str) -> bool {
        tables::COMMON_MEMBERS.binary_search(&name).is_ok()
    }

    fn external_name(&self, ev: &Evaluator<'_>, external: &External) -> ExternalName {
        let segments: Vec<&str> = external.path.iter().map(|it| ev.world.text(*it)).collect();
        match external.origin {
            Origin::ThirdParty => ExternalName {
                repo: "external",
                container: format!("cargo/{}", segments.first().copied().unwrap_or("?")),
                symbol: segments.get(1..).unwrap_or_default().join("."),
            },
            Origin::StandardLibrary => {
                // Modules are in lower case, and the last segment is never one.
                let is_module = |it: &&str| it.starts_with(|it: char| it.is_ascii_lowercase());
                let n_module = segments.iter().take_while(|it| is_module(it)).count();
                let n_module = n_module.min(segments.len().saturating_sub(1)).max(1);
                // `std::primitive::str.len`: the primitive is the type, not a module.
                let n_module = if segments.get(1) == Some(&"primitive") { 2 } else { n_module };
                ExternalName {
                    repo: "stdlib",
                    container: format!("rust/{}", segments[..n_module.min(segments.len())].join("::")),
                    symbol: segments[n_module.min(segments.len())..].join("."),
                }
            }
        }
    }
}

impl Rust {
    /// An item of a module: declared there, a module below it, imported by name, or brought by a wildcard.
    fn module_item(
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
            let (file, decl) = ev.world.rust.place(module);
            let value = self.module_item_in(ev, Frame::in_file(frame, file), module, decl, (name, space));
            ev.leave_module();
            value
        })
    }

    fn module_item_in(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        module: ModuleId,
        decl: Option<DeclId>,
        (name, space): (Name, Space),
    ) -> Value {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let scope = Scope::of(decl);
        let scopes = &world.scopes[frame.file as usize];
        let entries = scopes.find(scope, name);
        let declared = entries.iter().filter_map(|it| match it.item {
            Item::Decl(decl) if fits(facts.decl(decl).kind, space) => Some(decl),
            _ => None,
        });
        // In the value space a function comes before a module or type of its name.
        let rank = |it: &DeclId| space == Space::Value && facts.decl(*it).kind.is_type_like();
        if let Some(found) = declared.min_by_key(|it| (rank(it), *it)) {
            let def = world.def(frame.file, found);
            return match world.rust.of_decl(def) {
                Some(inner) => Value::Module(inner),
                None => Value::Def(def),
            };
        }
        if space == Space::Type
            && let Some(child) = world.rust.child(module, name)
        {
            return Value::Module(child);
        }
        for entry in entries {
            if let Item::Import(index) = entry.item {
                let value = ev.imported(frame, &facts.imports[index as usize], space);
                if value.is_known() {
                    return value;
                }
            }
        }
        if let Some(child) = world.rust.child(module, name) {
            return Value::Module(child);
        }
        let mut doubt = entries.iter().any(|it| matches!(it.item, Item::Import(_)));
        for (at, index) in &scopes.wildcards {
            if *at != scope {
                continue;
            }
            match self.offered(ev, frame, &facts.imports[*index as usize], name, space) {
                Value::Missing => {}
                // An outside module's wildcard: a prelude name is likelier its own.
                Value::Unknown => doubt = true,
                value => return value,
            }
        }
        let text = world.text(name);
        let prelude = match space {
            Space::Macro => tables::MACROS.binary_search(&text).is_ok(),
            _ => tables::PRELUDE.binary_search_by_key(&text, |(name, _)| name).is_ok(),
        };
        if doubt && !prelude { Value::Unknown } else { Value::Missing }
    }

    /// The first segment of a `use`: a word, a crate, or an item of the module that is not this very import.
    fn import_root(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        import: &Import,
        name: Name,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let Some(module) = world.rust.module(world, frame.file, import.decl) else { return Value::Unknown };
        match world.text(name) {
            "crate" | "$crate" => return Value::Module(world.rust.root(module)),
            "self" => return Value::Module(module),
            "super" => return world.rust.parent(module).map_or(Value::Missing, Value::Module),
            _ => {}
        }
        if let Some(child) = world.rust.child(module, name) {
            return Value::Module(child);
        }
        if let Some(value) = self.named_crate(ev, module, name) {
            return value;
        }
        self.module_item(ev, frame, module, name, space)
    }

    fn named_crate(&self, ev: &Evaluator<'_>, module: ModuleId, name: Name) -> Option<Value> {
        let text = ev.world.text(name);
        if matches!(text, "std" | "core" | "alloc" | "proc_macro" | "test") {
            // `core` and `alloc` offer under other names what `std` offers.
            let name = if matches!(text, "core" | "alloc") { ev.world.names.find("std")? } else { name };
            return Some(Value::External(External::new(Origin::StandardLibrary, &[name])));
        }
        match ev.world.rust.named(module, text)? {
            Crate::Project(library) => Some(Value::Module(library)),
            Crate::Outside if text.starts_with(|it: char| it.is_ascii_lowercase() || it == '_') => {
                Some(Value::External(External::new(Origin::ThirdParty, &[name])))
            }
            Crate::Outside => None,
        }
    }

    /// What a written path names, its last segment in the given space.
    fn path_entity(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        space: Space,
    ) -> Value {
        let world = ev.world;
        let Type::Named { segments, at, .. } = world.facts(frame.file).type_(type_) else {
            return Value::Unknown;
        };
        let names: Vec<Name> = segments.iter().map(|it| world.name(frame.file, *it)).collect();
        let Some((first, rest)) = names.split_first() else { return Value::Unknown };
        let space_of = |left: usize| if left == 0 { space } else { Space::Type };
        if world.text(*first).is_empty() {
            let Some((krate, rest)) = rest.split_first() else { return Value::Unknown };
            let module = world.rust.module(world, frame.file, decl);
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

    fn instance_of(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        entity: &Value,
        arguments: &[Value],
    ) -> Value {
        let world = ev.world;
        match entity {
            Value::Def(def) => match world.kind(*def) {
                NodeKind::Trait => Value::Bounded([entity.clone()].into()),
                NodeKind::TypeAlias => {
                    let (file, _, alias) = world.decl(*def);
                    match alias.type_ {
                        Some(type_) if ev.enter() => {
                            let value = ev.typed(Frame::in_file(frame, file), alias.owner, type_);
                            ev.leave();
                            with_arguments(value, arguments)
                        }
                        _ => Value::Unknown,
                    }
                }
                kind if kind.is_type_like() => Value::Instance(*def, arguments.into()),
                _ => Value::Unknown,
            },
            Value::External(external) => standard::instance_of(ev, external, arguments),
            // `Self` and type parameters are values already.
            Value::Instance(..) | Value::ExternalInstance(..) | Value::Bounded(_) => entity.clone(),
            _ => Value::Unknown,
        }
    }

    /// `impl Iterator<Item = T>` and `impl Future<Output = T>`.
    fn iterated(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        bounds: &[TypeId],
    ) -> Option<Value> {
        let first = *bounds.first()?;
        let Type::Named { arguments, .. } = ev.world.facts(frame.file).type_(first) else { return None };
        let given = *arguments.last()?;
        let Value::External(external) = self.type_entity(ev, frame, decl, first) else { return None };
        match standard::type_name(ev, &external) {
            "Iterator" | "IntoIterator" | "DoubleEndedIterator" | "ExactSizeIterator" => {
                Some(Value::Iterable(ev.typed(frame, decl, given).into()))
            }
            "Future" => Some(Value::Awaitable(ev.typed(frame, decl, given).into())),
            _ => None,
        }
    }

    /// What `Self` names around a declaration.
    fn self_type(&self, ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>) -> Value {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let mut at = decl;
        while let Some(id) = at {
            let decl = facts.decl(id);
            if let Some(id) = decl.implementation {
                let implementation = &facts.impls[id.index()];
                return self.type_entity(ev, frame, implementation.owner, implementation.type_);
            }
            if decl.kind == NodeKind::Trait {
                return match frame.receiver {
                    Some(exact) => Value::Def(exact),
                    None => Value::Bounded([Value::Def(world.def(frame.file, id))].into()),
                };
            }
            if decl.kind.is_type_like() && decl.kind != NodeKind::Module {
                return Value::Def(world.def(frame.file, id));
            }
            at = decl.owner;
        }
        Value::Unknown
    }

    /// A type parameter of a declaration around, as what fulfils its bounds.
    fn type_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let is_it = |it: &&TypeParameter| world.name(frame.file, it.name) == name;
        let mut at = decl;
        while let Some(id) = at {
            let decl = facts.decl(id);
            let implementation = decl.implementation.map(|it| &facts.impls[it.index()]);
            let found = decl
                .type_parameters
                .iter()
                .chain(implementation.into_iter().flat_map(|it| &it.type_parameters))
                .find(is_it);
            if let Some(parameter) = found {
                if !ev.enter() {
                    return Some(Value::Unknown);
                }
                let bounds = parameter.bounds.iter().map(|it| self.type_entity(ev, frame, decl.owner, *it));
                let bounds: Vec<Value> = bounds.collect();
                ev.leave();
                return Some(Value::Bounded(bounds.into()));
            }
            at = decl.owner;
        }
        None
    }

    /// A field or method of a value: own first, then by traits, then through `Deref`, then what the standard library
    /// gives to all.
    fn instance_member(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, name: Name) -> Value {
        let world = ev.world;
        if let Some(field) = child(ev, def, name)
            && world.kind(field) == NodeKind::Field
        {
            return Value::Def(field);
        }
        if let Some(field) = self.tuple_field(ev, frame, def, name) {
            return field;
        }
        match self.associated(ev, def, name) {
            Value::Missing => {}
            found => return found,
        }
        let dereferenced = world.names.find("Target").map(|it| world.hierarchy.impl_members(def, it));
        if let Some([target]) = dereferenced
            && ev.enter()
        {
            let (file, _, alias) = world.decl(*target);
            let inner = match alias.type_ {
                Some(type_) => ev.typed(Frame::in_file(frame, file), alias.owner, type_),
                None => Value::Unknown,
            };
            let found =
                if inner == Value::instance(def) { Value::Unknown } else { ev.member(frame, &inner, name) };
            ev.leave();
            return found;
        }
        Value::Missing
    }

    /// `0` of a tuple struct.
    fn tuple_field(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, name: Name) -> Option<Value> {
        let world = ev.world;
        if !world.text(name).starts_with(|it: char| it.is_ascii_digit()) {
            return None;
        }
        let (file, id, decl) = world.decl(def);
        let type_ = decl.parameters.iter().find(|it| world.name(file, it.name) == name)?.type_?;
        Some(ev.typed(Frame::in_file(frame, file), Some(id), type_))
    }

    /// What `Type::name` or a method call finds: variants, inherent items, trait items, items of the standard traits.
    fn associated(&self, ev: &mut Evaluator<'_>, def: Def, name: Name) -> Value {
        let world = ev.world;
        if let Some(member) = child(ev, def, name)
            && world.kind(member) != NodeKind::Field
        {
            return Value::Def(member);
        }
        let all = world.hierarchy.impl_members(def, name);
        let inherent = |def: &Def| {
            let (file, _, decl) = world.decl(*def);
            let target = decl.implementation.and_then(|it| world.hierarchy.implementation(file, it));
            target.is_some_and(|it| it.interface.is_none())
        };
        if let Some(own) = all.iter().find(|it| inherent(it)) {
            return Value::Def(*own);
        }
        match all {
            [] => {}
            [one] => return Value::Def(*one),
            several => {
                return Value::OneOf(several.iter().map(|it| Value::Def(*it)).collect::<Vec<_>>().into());
            }
        }
        let mut iterator = false;
        for interface in world.hierarchy.interfaces(def) {
            match interface {
                Ancestor::Project(interface) => {
                    if let Some(found) = trait_member(ev, *interface, name) {
                        return Value::Def(found);
                    }
                }
                Ancestor::External(external) => {
                    iterator |= external.last().is_some_and(|it| world.text(it) == "Iterator");
                }
                Ancestor::Unknown => {}
            }
        }
        if world.kind(def) == NodeKind::Trait
            && let Some(found) = trait_member(ev, def, name)
        {
            return Value::Def(found);
        }
        let text = world.text(name);
        if iterator && tables::ITERATOR_METHODS.binary_search(&text).is_ok() {
            return standard::item(ev, &["std", "iter", "Iterator", text]);
        }
        match world.hierarchy.blanket_members(name) {
            [one] => return Value::OneOf([Value::Def(*one), Value::Unknown].into()),
            [] => {}
            _ => return Value::Unknown,
        }
        standard::trait_method(ev, text).unwrap_or(Value::Missing)
    }

    /// `type Item = ...` of a type's trait implementation.
    fn associated_type(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def, name: &str) -> Value {
        let world = ev.world;
        let Some(name) = world.names.find(name) else { return Value::Unknown };
        let [alias] = world.hierarchy.impl_members(def, name) else { return Value::Unknown };
        let (file, id, decl) = world.decl(*alias);
        match decl.type_ {
            Some(type_) => ev.typed(Frame::in_file(frame, file), Some(id), type_),
            None => Value::Unknown,
        }
    }

    /// What a method was called on; `Unknown` for functions.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Value {
        match ev.world.facts(frame.file).expr(site.callee) {
            Expr::Member { of, .. } => ev.settled_expr(frame, site.decl, of),
            _ => Value::Unknown,
        }
    }
}

/// A member a declaration itself holds.
fn child(ev: &Evaluator<'_>, def: Def, name: Name) -> Option<Def> {
    let world = ev.world;
    let (file, id, _) = world.decl(def);
    world.scopes[file as usize].find(Scope::of(Some(id)), name).iter().find_map(|it| match it.item {
        Item::Decl(decl) => Some(world.def(file, decl)),
        _ => None,
    })
}

/// A member of a trait or of one above it.
fn trait_member(ev: &Evaluator<'_>, interface: Def, name: Name) -> Option<Def> {
    child(ev, interface, name).or_else(|| {
        ev.world.hierarchy.ancestors(interface).iter().find_map(|it| match it {
            Ancestor::Project(above) => child(ev, *above, name),
            _ => None,
        })
    })
}

/// A member of what fulfils all of these traits.
fn bounded_member(ev: &Evaluator<'_>, bounds: &[Value], name: Name) -> Value {
    let mut outside: Option<External> = None;
    let mut unknown = bounds.is_empty();
    for bound in bounds {
        match bound {
            Value::Def(interface) => {
                if let Some(found) = trait_member(ev, *interface, name) {
                    return Value::Def(found);
                }
                for above in ev.world.hierarchy.ancestors(*interface) {
                    if let Ancestor::External(external) = above {
                        outside.get_or_insert_with(|| external.clone());
                    }
                }
            }
            Value::External(external) => {
                let last = external.last().map_or("", |it| ev.world.text(it));
                if !matches!(last, "Send" | "Sync" | "Sized" | "Copy" | "Clone" | "Debug" | "Unpin" | "Any") {
                    outside.get_or_insert_with(|| external.clone());
                }
            }
            _ => unknown = true,
        }
    }
    if let Some(value) = standard::trait_method(ev, ev.world.text(name)) {
        return value;
    }
    match (outside, unknown) {
        (Some(external), false) => Value::External(external.member(name)),
        (None, false) => Value::Missing,
        (_, true) => Value::Unknown,
    }
}

/// An alias's type with the arguments it was given, put where the alias left them open.
fn with_arguments(value: Value, arguments: &[Value]) -> Value {
    let mut given = arguments.iter();
    let mut fill = |open: &[Value]| -> Vec<Value> {
        open.iter()
            .map(|it| match it {
                Value::Unknown => given.next().cloned().unwrap_or(Value::Unknown),
                Value::Bounded(bounds) if bounds.is_empty() => {
                    given.next().cloned().unwrap_or(Value::Unknown)
                }
                it => it.clone(),
            })
            .collect()
    };
    match value {
        Value::ExternalInstance(external, open) => Value::ExternalInstance(external, fill(&open).into()),
        Value::Instance(def, open) => Value::Instance(def, fill(&open).into()),
        other => other,
    }
}
