//! Written types to values, with what type parameters stand for.

use knowing_model::facts::{DeclId, Type, TypeId};

use super::lookup::{Asked, nested_type};
use super::{Csharp, standard};
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::value::{External, Origin, Value};
use crate::world::Def;

/// What type parameters stand for, innermost last.
pub(super) type Given = Vec<(Name, Value)>;

impl Csharp {
    /// The type or namespace that a written type names; arguments left out.
    pub(super) fn entity(
        &self,
        ev: &mut Evaluator<'_>,
        file: u32,
        decl: Option<DeclId>,
        type_: TypeId,
    ) -> Value {
        let world = ev.world;
        let facts = world.facts(file);
        match facts.type_(type_) {
            Type::Named { segments, arguments, at } => {
                let names: Vec<Name> = segments.iter().map(|it| world.name(file, *it)).collect();
                self.named_entity(
                    ev,
                    decl,
                    &names,
                    Asked { file, at: Some(*at), name: names[0], arity: Some(arguments.len()) },
                )
            }
            // `[Name]`: the type `NameAttribute`, else `Name`.
            Type::Projection { of, .. } => self.attribute(ev, file, decl, *of),
            Type::Sequence(_) => standard::entity(ev, "Array"),
            _ => Value::Unknown,
        }
    }

    fn named_entity(
        &self,
        ev: &mut Evaluator<'_>,
        decl: Option<DeclId>,
        names: &[Name],
        asked: Asked,
    ) -> Value {
        let world = ev.world;
        let Some((last, first)) = names.split_last() else { return Value::Unknown };
        let Some((root, inner)) = first.split_first() else {
            if let Some(value) = standard::keyword(ev, world.text(*last)) {
                return value;
            }
            let found = self.type_named(ev, decl, asked);
            return match found {
                Value::Missing => Value::External(self.outside_type(ev, asked.file, *last)),
                value => value,
            };
        };
        let mut value = self.type_named(ev, decl, Asked { name: *root, arity: None, ..asked });
        for (index, name) in inner.iter().chain([last]).enumerate() {
            let is_last = index == inner.len();
            let arity = if is_last { asked.arity } else { None };
            value = match &value {
                Value::Module(namespace) => {
                    super::lookup::in_namespace(world, asked.file, *namespace, *name, arity)
                }
                Value::Def(def) => {
                    let inner = Asked { name: *name, arity, ..asked };
                    let any = Asked { arity: None, ..inner };
                    let found = nested_type(world, *def, inner).or_else(|| nested_type(world, *def, any));
                    found.map_or(Value::Missing, Value::Def)
                }
                Value::External(external) => Value::External(external.member(*name)),
                _ => Value::Missing,
            };
        }
        match value {
            Value::Missing | Value::Unknown => Value::External(standard::named(ev, names)),
            value => value,
        }
    }

    fn attribute(&self, ev: &mut Evaluator<'_>, file: u32, decl: Option<DeclId>, of: TypeId) -> Value {
        let world = ev.world;
        let Type::Named { segments, at, arguments } = world.found_in(file).type_(of) else {
            return Value::Unknown;
        };
        let mut names: Vec<Name> = segments.iter().map(|it| world.name(file, *it)).collect();
        let Some(last) = names.last().copied() else { return Value::Unknown };
        let asked = Asked { file, at: Some(*at), name: names[0], arity: Some(arguments.len()) };
        if let Some(long) = world.names.find(&format!("{}Attribute", world.text(last))) {
            let at = names.len() - 1;
            names[at] = long;
            let found = self.named_entity(ev, decl, &names, Asked { name: names[0], ..asked });
            let is_standard = |it: &External| it.origin == Origin::StandardLibrary;
            if matches!(&found, Value::Def(_)) || matches!(&found, Value::External(it) if is_standard(it)) {
                return found;
            }
            names[at] = last;
        }
        self.named_entity(ev, decl, &names, asked)
    }

    /// What a written type says a value is.
    pub(super) fn typed_with(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        given: &Given,
    ) -> Value {
        if !ev.enter() {
            return Value::Unknown;
        }
        let value = self.typed_uncounted(ev, frame, decl, type_, given);
        ev.leave();
        value
    }

    fn typed_uncounted(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        type_: TypeId,
        given: &Given,
    ) -> Value {
        let world = ev.world;
        let facts = world.facts(frame.file);
        match facts.type_(type_) {
            Type::Named { segments, arguments, .. } => {
                if let [only] = segments.as_slice() {
                    let name = world.name(frame.file, *only);
                    if let Some((_, value)) = given.iter().rev().find(|it| it.0 == name) {
                        return value.clone();
                    }
                    if arguments.is_empty()
                        && let Some(value) = self.type_parameter(ev, frame, decl, name)
                    {
                        return value;
                    }
                }
                let arguments: Vec<Value> =
                    arguments.iter().map(|it| self.typed_with(ev, frame, decl, *it, given)).collect();
                let entity = self.entity(ev, frame.file, decl, type_);
                entity.map(|it| self.instance_of(ev, it, &arguments))
            }
            Type::Tuple(types) => {
                let items: Vec<Value> =
                    types.iter().map(|it| self.typed_with(ev, frame, decl, *it, given)).collect();
                Value::Tuple(items.into())
            }
            Type::Sequence(of) => {
                let of = self.typed_with(ev, frame, decl, *of, given);
                standard::instance(ev, "Array", vec![of])
            }
            Type::Function(result) => {
                let result = result.map_or(Value::Unknown, |it| self.typed_with(ev, frame, decl, it, given));
                Value::Function(result.into())
            }
            _ => Value::Unknown,
        }
    }

    /// A value of a type: what has to be awaited is kept apart.
    pub(super) fn instance_of(&self, ev: &Evaluator<'_>, entity: &Value, arguments: &[Value]) -> Value {
        match entity {
            Value::Def(def) => Value::Instance(ev.world.hierarchy.whole(*def), arguments.into()),
            Value::External(external) => {
                let last = external.last().map_or("", |it| ev.world.text(it));
                match (last, arguments) {
                    ("Task" | "ValueTask", [result]) => Value::Awaitable(result.clone().into()),
                    ("Task" | "ValueTask", []) => Value::Awaitable(Value::Nothing.into()),
                    ("Void", _) => Value::Nothing,
                    // A value that may be missing is used as the value.
                    ("Nullable", [of]) => of.clone(),
                    _ => Value::ExternalInstance(external.clone(), arguments.into()),
                }
            }
            Value::Nothing => Value::Nothing,
            _ => Value::Unknown,
        }
    }

    /// A type parameter of something around: a value of which its constraints are known.
    fn type_parameter(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        decl: Option<DeclId>,
        name: Name,
    ) -> Option<Value> {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let mut scope = decl;
        while let Some(id) = scope {
            let around = facts.decl(id);
            let parameter = around.type_parameters.iter().find(|it| world.name(frame.file, it.name) == name);
            if let Some(parameter) = parameter {
                let bounds: Vec<Value> = parameter
                    .bounds
                    .iter()
                    .map(|it| self.typed_with(ev, frame, Some(id), *it, &vec![]))
                    .collect();
                return Some(Value::Bounded(bounds.into()));
            }
            scope = around.owner;
        }
        None
    }

    /// What the type parameters of `owner` stand for in a value of type `of` with these arguments: its own, or those
    /// that a base is written with.
    pub(super) fn given_by(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        of: (Def, &[Value]),
        owner: Def,
        depth: u32,
    ) -> Given {
        let world = ev.world;
        let (type_, arguments) = of;
        let (file, _, decl) = world.decl(type_);
        let given: Given = decl
            .type_parameters
            .iter()
            .map(|it| world.name(file, it.name))
            .zip(arguments.iter().cloned())
            .collect();
        let hierarchy = &world.hierarchy;
        if hierarchy.whole(type_) == hierarchy.whole(owner) || depth > 6 {
            return given;
        }
        let parts: Vec<Def> = hierarchy.parts(&type_).to_vec();
        for part in parts {
            let (file, id, decl) = world.decl(part);
            for (base, ancestor) in decl.bases.iter().zip(hierarchy.direct(part)) {
                let Ancestor::Project(above) = ancestor else { continue };
                if !hierarchy.is_below(*above, owner) {
                    continue;
                }
                let Type::Named { arguments, .. } = world.found_in(file).type_(base.type_) else { continue };
                let inner = Frame::in_file(frame, file);
                let arguments: Vec<Value> =
                    arguments.iter().map(|it| self.typed_with(ev, inner, Some(id), *it, &given)).collect();
                return self.given_by(ev, frame, (*above, &arguments), owner, depth + 1);
            }
        }
        Vec::new()
    }
}
