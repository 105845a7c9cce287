//! Methods as interfaces ask for them: names, and a number for each type of parameters and results.

use std::hash::{Hash, Hasher};

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, ParameterKind, Type, TypeId};
use rustc_hash::FxHasher;

use super::Go;
use super::types::names_of;
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::Rules;
use crate::names::Name;
use crate::value::Value;
use crate::world::{Def, World};

/// Where nesting of types ends.
const MAX_DEPTH: u32 = 8;

/// A method as others of its name have to match it. A type that nobody can tell is 0, and fits any. Numbers are the same in
/// all runs of one process.
#[derive(PartialEq)]
pub(super) struct Signature {
    is_typed: bool,
    n_parameters: usize,
    types: Vec<u64>,
}

impl Signature {
    pub(super) fn fits(&self, other: &Signature) -> bool {
        self.n_parameters == other.n_parameters
            && self.types.len() == other.types.len()
            && self.types.iter().zip(&other.types).all(|(one, two)| one == two || *one == 0 || *two == 0)
    }

    /// Of a method that nothing has to match.
    pub(super) fn untyped() -> Signature {
        Signature { is_typed: false, n_parameters: 0, types: Vec::new() }
    }

    pub(super) fn is_typed(&self) -> bool {
        self.is_typed
    }

    /// `arguments` are the numbers of what stands for the type parameters of `owner`, whose method it is.
    pub(super) fn of(ev: &mut Evaluator<'_>, def: Def, owner: Def, arguments: &[u64]) -> Signature {
        let world = ev.world;
        let (file, id, decl) = world.decl(def);
        let names = Go.names_at(ev, def, owner);
        let place = Place { frame: Frame::of_file(file), decl: id, names: &names, arguments };
        let parameters: Vec<Option<TypeId>> = decl
            .parameters
            .iter()
            .filter(|it| it.kind != ParameterKind::Receiver)
            .map(|it| it.type_)
            .collect();
        let results: &[TypeId] = match &decl.type_ {
            None => &[],
            Some(result) => match world.found_in(file).type_(*result) {
                Type::Tuple(all) => all,
                _ => std::slice::from_ref(result),
            },
        };
        let all = parameters.iter().copied().chain(results.iter().map(|it| Some(*it)));
        let types = all.map(|it| it.map_or(0, |it| place.number_of(ev, it, 0))).collect();
        Signature { is_typed: true, n_parameters: parameters.len(), types }
    }
}

/// What a type embeds, with the numbers of the type arguments it gives.
pub(super) fn embedded(ev: &mut Evaluator<'_>, def: Def, arguments: &[u64]) -> Vec<(Ancestor, Vec<u64>)> {
    let world = ev.world;
    let (file, id, decl) = world.decl(def);
    let names = names_of(ev, file, &decl.type_parameters);
    let place = Place { frame: Frame::of_file(file), decl: id, names: &names, arguments };
    let mut all = Vec::new();
    for (base, ancestor) in decl.bases.iter().zip(world.hierarchy.direct(def)) {
        ev.begin();
        let given = match world.found_in(file).type_(base.type_) {
            Type::Named { arguments, .. } => arguments.iter().map(|it| place.number_of(ev, *it, 0)).collect(),
            _ => Vec::new(),
        };
        let ancestor = match ancestor {
            Ancestor::Project(inner) => unaliased(ev, *inner),
            other => other.clone(),
        };
        all.push((ancestor, given));
    }
    all
}

fn unaliased(ev: &mut Evaluator<'_>, def: Def) -> Ancestor {
    let frame = Frame::of_file(ev.world.file_of(def));
    Go.unaliased(ev, frame, def)
}

/// Where types are written, and what type parameters stand for there.
struct Place<'a> {
    frame: Frame,
    decl: DeclId,
    names: &'a [Name],
    arguments: &'a [u64],
}

impl Place<'_> {
    /// A number that is the same wherever the same type is meant.
    fn number_of(&self, ev: &mut Evaluator<'_>, type_: TypeId, depth: u32) -> u64 {
        let world = ev.world;
        if depth > MAX_DEPTH {
            return 0;
        }
        if depth == 0 {
            ev.begin();
        }
        let mut hasher = FxHasher::default();
        match world.found_in(self.frame.file).type_(type_) {
            Type::Named { segments, arguments, .. } => {
                let first = segments.first().map(|it| world.name(self.frame.file, *it));
                if let Some(index) = self.names.iter().position(|it| Some(*it) == first)
                    && segments.len() == 1
                {
                    // An open one is like others at its place, and unlike all types.
                    return self.arguments.get(index).copied().unwrap_or_else(|| hashed(("open", index)));
                }
                match first.map_or("", |it| world.text(it)) {
                    word @ ("map" | "chan") => word.hash(&mut hasher),
                    "struct" => return 0,
                    "any" if segments.len() == 1 => return hashed("any"),
                    _ => match self.entity(ev, type_) {
                        Ancestor::Project(def) => world.digest(def).hash(&mut hasher),
                        Ancestor::External(external) => match last_text(world, &external.path) {
                            "byte" => "uint8".hash(&mut hasher),
                            "rune" => "int32".hash(&mut hasher),
                            _ => external.path.hash(&mut hasher),
                        },
                        Ancestor::Unknown => return 0,
                    },
                }
                for argument in arguments {
                    match self.number_of(ev, *argument, depth + 1) {
                        0 => return 0,
                        number => number.hash(&mut hasher),
                    }
                }
            }
            Type::Sequence(of) => match self.number_of(ev, *of, depth + 1) {
                0 => return 0,
                number => ("sequence", number).hash(&mut hasher),
            },
            // Parameters of functions are not kept, so that functions fit functions.
            Type::Function(_) => "function".hash(&mut hasher),
            // `interface{}`.
            Type::Unknown => return hashed("any"),
            _ => return 0,
        }
        hasher.finish() | 1
    }

    fn entity(&self, ev: &mut Evaluator<'_>, type_: TypeId) -> Ancestor {
        match Go.type_entity(ev, self.frame, Some(self.decl), type_) {
            Value::Def(def) if ev.world.kind(def) == NodeKind::TypeAlias => unaliased(ev, def),
            Value::Def(def) => Ancestor::Project(def),
            Value::External(external) => Ancestor::External(external),
            _ => Ancestor::Unknown,
        }
    }
}

fn last_text<'a>(world: &World<'a>, path: &[Name]) -> &'a str {
    path.last().map_or("", |it| world.text(*it))
}

fn hashed(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish() | 1
}
