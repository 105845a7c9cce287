//! Rust: crates and modules, `use` and re-exports, inherent and trait methods, `Deref`, the standard containers.

mod crates;
mod items;
mod members;
mod standard;
mod tables;
mod types;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, Import, ImportKind, Literal, Type, TypeId};

use super::{CallSite, ExternalName, Payload, Rules, Space};
use crate::evaluate::{Evaluator, Frame, fits};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::Def;

use members::{bounded_member, child};

pub(crate) use crates::RustCrates;

pub(crate) struct Rust;

const WORDS: &[&str] =
    &["std", "core", "alloc", "slice", "Iterator", "Target", "Item", "Output", "Self", "0", "1"];

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
        let Some(module) = world.modules.rust.module(world, frame.file, decl) else { return Value::Unknown };
        let found = self.module_item(ev, frame, module, name, space);
        // A wildcard from outside may bring a macro, but one of the crate is likelier.
        if space == Space::Macro
            && !found.is_known()
            && let Some(def) = world.modules.rust.macro_named(world, module, name)
            && self.is_meant(ev, def, module)
        {
            return Value::Def(def);
        }
        if found != Value::Missing {
            return found;
        }
        let text = world.text(name);
        if space == Space::Macro {
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

    fn notes_tables(&self) -> bool {
        true
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
                let module = world.modules.rust.module(world, frame.file, decl)?;
                Some(Value::Module(world.modules.rust.root(module)))
            }
            "self" if space == Space::Type => {
                Some(Value::Module(world.modules.rust.module(world, frame.file, decl)?))
            }
            "super" => {
                let module = world.modules.rust.module(world, frame.file, decl)?;
                Some(world.modules.rust.parent(module).map_or(Value::Missing, Value::Module))
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
            Value::Module(module) => match ev.world.modules.rust.module(ev.world, frame.file, import.decl) {
                Some(to) => self.item_offered(ev, frame, (module, to), (name, space)),
                None => self.module_item(ev, frame, module, name, space),
            },
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
            Value::Module(module) => Some(ev.world.modules.rust.place(*module).0),
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
        match ev.world.found_in(frame.file).type_(type_) {
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
        match ev.world.found_in(frame.file).type_(type_) {
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
        let (_, method_id, decl) = ev.world.decl(method);
        if let Some(id) = decl.implementation {
            let type_ = ev.world.found_in(frame.file).impls[id.index()].type_;
            // Seen from the method, so that the parameters of the block are known.
            return types::or_more(ev.typed(frame, Some(method_id), type_));
        }
        match (ev.world.owner(method), frame.receiver) {
            (Some(_), Some(exact)) => Value::instance(exact),
            (Some(interface), None) => Value::Bounded([Value::Def(interface)].into()),
            (None, _) => Value::Unknown,
        }
    }

    fn member(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        match of {
            Value::Instance(def, arguments) => self.instance_member(ev, frame, (*def, arguments), name),
            // A unit struct is written as its name.
            Value::Def(def) if ev.world.kind(*def) == NodeKind::Struct => {
                self.instance_member(ev, frame, (*def, &[]), name)
            }
            Value::Bounded(bounds) => bounded_member(ev, bounds, name),
            Value::ExternalInstance(external, _) => {
                let all = ev.world.hierarchy.external_members(external, name);
                let found: Vec<Def> =
                    all.iter().copied().filter(|it| self.is_in_reach(ev, frame, *it)).collect();
                match found[..] {
                    [one] => Value::Def(one),
                    [] => Value::External(external.member(name)),
                    _ => Value::OneOf(found.into_iter().map(Value::Def).collect::<Vec<_>>().into()),
                }
            }
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

    /// A field of a generic type, by what its parameters were given.
    fn held_by(&self, ev: &mut Evaluator<'_>, frame: Frame, of: CallSite, def: Def) -> Option<Value> {
        let (file, _, field) = ev.world.decl(def);
        let type_ = field.type_.filter(|_| field.kind == NodeKind::Field)?;
        let Value::Instance(class, arguments) = ev.settled_expr(frame, of.decl, of.callee) else {
            return None;
        };
        if ev.world.owner(def) != Some(class) {
            return None;
        }
        let given = self.given_to(ev, class, &arguments);
        if given.is_empty() {
            return None;
        }
        Some(self.typed_with(ev, Frame::in_file(frame, file), field.owner, type_, &given))
    }

    /// `fn stop(&self) { self.stop() }` for a type from outside: that type's own method, which comes before a trait's.
    fn called_with(&self, ev: &mut Evaluator<'_>, frame: Frame, value: &Value, site: CallSite) -> Value {
        let world = ev.world;
        let facts = world.found_in(frame.file);
        let (Value::Def(def), Some(around)) = (value, site.decl) else { return value.clone() };
        if world.def(frame.file, around) != *def {
            return value.clone();
        }
        let Expr::Member { of, name } = facts.expr(site.callee) else { return value.clone() };
        let on_self = matches!(facts.expr(of), Expr::Name { name, .. } if facts.text(name) == "self");
        let block = facts.decl(around).implementation.filter(|_| on_self);
        match block.and_then(|it| world.hierarchy.implementation(frame.file, it)).map(|it| &it.type_) {
            Some(Ancestor::External(type_)) => Value::External(type_.member(world.name(frame.file, name))),
            _ => value.clone(),
        }
    }

    fn has_methods_apart(&self) -> bool {
        true
    }

    fn method(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        if let Value::Instance(def, _) | Value::Def(def) = of
            && ev.world.kind(*def).is_type_like()
            && let found = self.associated(ev, frame, *def, name)
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
                "super" => world.modules.rust.parent(*module).map_or(Value::Missing, Value::Module),
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
                _ => self.associated(ev, frame, *def, name),
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
                    let on = self.called_on(ev, frame, site);
                    if let Some(result) = self.result_on(ev, frame, *def, &on) {
                        return result;
                    }
                    let receiver = match on {
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
            Value::External(external) => match self.made_of(ev, frame, site) {
                Some(own) if standard::gives_own_type(ev, external) => own,
                _ => {
                    let on = self.called_on(ev, frame, site);
                    standard::called(ev, external, &on)
                }
            },
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

    /// By `Future` or `IntoFuture`.
    fn awaited(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value) -> Value {
        match of {
            Value::Instance(def, _) => self.associated_type(ev, frame, *def, "Output"),
            _ => Value::Unknown,
        }
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
                    let item = world.owner(def).filter(|_| decl.kind == NodeKind::EnumMember).unwrap_or(def);
                    let given = match payload.of {
                        Value::Instance(of, arguments) if *of == item => self.given_to(ev, item, arguments),
                        _ => Vec::new(),
                    };
                    return self.typed_with(ev, Frame::in_file(frame, file), decl.owner, type_, &given);
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
    /// A value of the project's type that a path goes through: `Shop` of `Shop::default()`, whose function is derived.
    fn made_of(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Option<Value> {
        let facts = ev.world.facts(frame.file);
        let Expr::Scoped { of, .. } = facts.expr(site.callee) else { return None };
        match ev.expr_in(frame, site.decl, of, Space::Type) {
            own @ Value::Instance(..) => Some(own),
            Value::Def(def) if matches!(ev.world.kind(def), NodeKind::Struct | NodeKind::Enum) => {
                Some(Value::instance(def))
            }
            _ => None,
        }
    }

    /// What a method was called on; `Unknown` for functions.
    fn called_on(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Value {
        match ev.world.found_in(frame.file).expr(site.callee) {
            Expr::Member { of, .. } => ev.settled_expr(frame, site.decl, of),
            _ => Value::Unknown,
        }
    }
}
