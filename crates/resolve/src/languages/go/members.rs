//! Fields and methods of values: own ones first, then those of what is embedded, level by level.

use knowing_model::NodeKind;
use knowing_model::facts::DeclId;

use super::types::{is_open, parameter_name, substituted};
use super::{Go, is_interface, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::CallSite;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::value::{Arguments, External, Value};
use crate::world::{Def, World};

/// How many levels of embedding are looked through.
const MAX_LEVELS: usize = 8;

impl Go {
    /// What `value.name` means: on the shallowest level that has the name, if one type there has it.
    pub(super) fn instance_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        def: Def,
        arguments: &Arguments,
        name: Name,
    ) -> Value {
        if !ev.enter() {
            return Value::Unknown;
        }
        let value = self.promoted(ev, frame, def, arguments, name);
        ev.leave();
        value
    }

    fn promoted(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        def: Def,
        arguments: &Arguments,
        name: Name,
    ) -> Value {
        let world = ev.world;
        let mut level = vec![def];
        let mut seen = vec![def];
        let mut outside: Vec<External> = Vec::new();
        let mut unknown = false;
        for depth in 0..MAX_LEVELS {
            let mut found: Vec<Value> = Vec::new();
            for type_ in &level {
                for member in own_members(world, frame.file, *type_, name) {
                    let value = if depth == 0 {
                        self.with_arguments(ev, frame, def, arguments, member)
                    } else {
                        Value::Def(member)
                    };
                    found.push(value);
                }
            }
            if !found.is_empty() {
                // Something from outside that is embedded above may have the name, too.
                if found.len() > 1 && is_interface(ev, def) {
                    // Interfaces may embed the same method twice.
                    found.truncate(1);
                }
                let hidden = outside.iter().any(|it| !lacks(ev, it, name)) || unknown;
                if hidden && depth > 1 {
                    found.push(Value::Unknown);
                }
                return Value::join(found);
            }
            let mut next = Vec::new();
            for type_ in &level {
                for ancestor in self.embedded(ev, frame, *type_) {
                    match ancestor {
                        Ancestor::Project(inner) if !seen.contains(&inner) => {
                            seen.push(inner);
                            next.push(inner);
                        }
                        Ancestor::Project(_) => {}
                        Ancestor::External(external) => outside.push(external),
                        Ancestor::Unknown => unknown = true,
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        if unknown {
            return Value::Unknown;
        }
        outside.retain(|it| !lacks(ev, it, name));
        match outside.as_slice() {
            [] => Value::Missing,
            [only] => Value::External(only.member(name)),
            several => match several.iter().find(|it| standard::members(ev, it).is_some()) {
                Some(known) => Value::External(known.member(name)),
                None => Value::ExternalResult,
            },
        }
    }

    /// What a type embeds, aliases looked through; a type made of a struct has that one's fields.
    fn embedded(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def) -> Vec<Ancestor> {
        let world = ev.world;
        let mut all = Vec::new();
        for ancestor in world.hierarchy.direct(def) {
            match ancestor {
                Ancestor::Project(inner) => all.push(self.unaliased(ev, frame, *inner)),
                other => all.push(other.clone()),
            }
        }
        if world.kind(def) == NodeKind::Type {
            match self.underlying_type(ev, frame, def) {
                Some(Value::Instance(inner, _)) => all.push(Ancestor::Project(inner)),
                Some(Value::ExternalInstance(external, _)) if !is_plain(ev, &external) => {
                    all.push(Ancestor::External(external));
                }
                _ => {}
            }
        }
        all
    }

    fn underlying_type(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def) -> Option<Value> {
        let (file, id, decl) = ev.world.decl(def);
        let type_ = decl.type_?;
        Some(ev.typed(Frame::in_file(frame, file), Some(id), type_))
    }

    /// What an alias stands for.
    pub(super) fn unaliased(&self, ev: &mut Evaluator<'_>, frame: Frame, def: Def) -> Ancestor {
        if ev.world.kind(def) != NodeKind::TypeAlias {
            return Ancestor::Project(def);
        }
        match self.instance_of(ev, frame, &Value::Def(def), &[]) {
            Value::Instance(inner, _) => Ancestor::Project(inner),
            Value::ExternalInstance(external, _) => Ancestor::External(external),
            _ => Ancestor::Unknown,
        }
    }

    /// A field of a generic type holds what the value's type arguments say.
    fn with_arguments(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        type_: Def,
        arguments: &Arguments,
        member: Def,
    ) -> Value {
        let plain = Value::Def(member);
        let is_field = ev.world.kind(member) == NodeKind::Field;
        if arguments.is_empty() || !is_field || arguments.iter().all(|it| is_open(ev, it, 0)) {
            return plain;
        }
        let held = ev.settled(frame, &plain);
        if !is_open(ev, &held, 0) {
            return plain;
        }
        let names = self.names_at(ev, member, type_);
        substituted(ev, &held, &names, arguments)
    }

    /// Members of structs without a name are known; others stay outside.
    pub(super) fn external_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        external: &External,
        arguments: &Arguments,
        name: Name,
    ) -> Value {
        let world = ev.world;
        if external.path.first().is_none_or(|it| world.text(*it) != "struct") {
            return Value::External(external.member(name));
        }
        let text = world.text(name);
        let fields = external.path[1..].iter().zip(arguments.iter());
        let mut embedded = Vec::new();
        for (field, value) in fields {
            let field = world.text(*field);
            if field == text || field.strip_prefix('*') == Some(text) {
                return value.clone();
            }
            if field.starts_with('*') {
                embedded.push(value.clone());
            }
        }
        let found: Vec<Value> = embedded
            .iter()
            .map(|it| ev.member(frame, it, name))
            .filter(|it| !matches!(it, Value::Missing | Value::Unknown))
            .collect();
        if found.is_empty() { Value::Missing } else { Value::join(found) }
    }

    /// A member of what fulfils all of these interfaces.
    pub(super) fn bounded_member(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        bounds: &[Value],
        name: Name,
    ) -> Value {
        let skipped = usize::from(parameter_name(ev, bounds).is_some());
        let mut outside = None;
        for bound in &bounds[skipped..] {
            match bound {
                Value::Def(def) if is_interface(ev, *def) => {
                    match self.instance_member(ev, frame, *def, &Value::none(), name) {
                        Value::Missing | Value::Unknown => {}
                        found => return found,
                    }
                }
                Value::External(external) => outside = Some(external.member(name)),
                _ => {}
            }
        }
        outside.map_or(Value::Unknown, Value::External)
    }

    /// What something outside gives, where that can be told.
    pub(super) fn external_called(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        external: &External,
        site: CallSite,
    ) -> Value {
        // `atomic.Pointer[T].Load()`.
        let world = ev.world;
        let is_load = external.last().is_some_and(|it| matches!(world.text(it), "Load" | "Swap"));
        if is_load
            && let Value::ExternalInstance(type_, arguments) = self.called_on(ev, frame, site)
            && type_.last().is_some_and(|it| world.text(it) == "Pointer")
            && let Some(held) = arguments.first()
        {
            return held.clone();
        }
        Value::ExternalResult
    }
}

/// Whether a type of the library is known not to have a member.
fn lacks(ev: &Evaluator<'_>, external: &External, name: Name) -> bool {
    standard::members(ev, external).is_some_and(|it| !it.contains(&ev.world.text(name)))
}

/// Types without members: numbers, texts, maps.
fn is_plain(ev: &Evaluator<'_>, external: &External) -> bool {
    let first = external.path.first().map_or("", |it| ev.world.text(*it));
    matches!(first, "builtin" | "struct")
}

/// Fields and methods that a type itself has under a name.
pub(super) fn own_members(world: &World<'_>, from: u32, def: Def, name: Name) -> Vec<Def> {
    let (file, id, _) = world.decl(def);
    let field =
        world.scopes[file as usize].find(Scope::of(Some(id)), name).iter().find_map(|it| match it.item {
            Item::Decl(decl) => Some(world.def(file, decl)),
            _ => None,
        });
    if let Some(field) = field {
        return vec![field];
    }
    let methods = world.hierarchy.impl_members(def, name);
    world.modules.go.built_with(world, from, methods.to_vec())
}

/// All methods that a type itself declares, by name.
pub(super) fn declared_in(world: &World<'_>, def: Def) -> impl Iterator<Item = Def> {
    let (file, id, _) = world.decl(def);
    let facts = world.facts(file);
    let first = id.index() + 1;
    let rest = facts.decls.get(first..).unwrap_or_default();
    // What a type declares comes directly after it.
    rest.iter()
        .enumerate()
        .take_while(move |(_, it)| it.owner == Some(id))
        .filter(|(_, it)| it.kind == NodeKind::Method)
        .map(move |(at, _)| world.def(file, DeclId((first + at) as u32)))
}
