//! Which of several callables of one name a call means: by level, number, names and types of its arguments; and
//! extension methods in scope.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Expr, ExprId, Literal, Modifiers, Parameter, ParameterKind, Type};

use super::Csharp;
use super::fit::{Fit, fit};
use super::lookup::{STATIC_LEVEL, imports_of, used_namespaces};
use super::members::own_members;
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::CallSite;
use crate::names::Name;
use crate::value::Value;
use crate::world::{Def, World};

/// What a call is made with: each argument's name, where it has one, and value.
pub(super) struct Made {
    pub(super) arguments: Vec<(Option<Name>, Value)>,
    /// Parameters of the arguments that are lambdas.
    lambdas: Vec<Option<u8>>,
    /// Number of written type arguments.
    pub(super) n_types: usize,
}

/// A callable that may be meant, and how far from the receiver's type it is declared.
struct Candidate {
    def: Def,
    level: usize,
    /// Called on its first parameter.
    as_extension: bool,
}

impl Csharp {
    /// Of the callables that share the name of `found`, those that the call can mean best.
    pub(super) fn meant_of(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, found: Def) -> Value {
        let world = ev.world;
        let candidates = self.candidates(ev, frame, site, found);
        if let [only] = &candidates[..]
            && !only.as_extension
        {
            return Value::Def(only.def);
        }
        let made = self.made(ev, frame, site);
        let mut best: Vec<(i32, Def)> = Vec::new();
        let mut by_number: Vec<Def> = Vec::new();
        let mut levels: Vec<usize> = candidates.iter().map(|it| it.level).collect();
        levels.sort_unstable();
        levels.dedup();
        for level in levels {
            for candidate in candidates.iter().filter(|it| it.level == level) {
                if !takes(ev, candidate, &made) {
                    continue;
                }
                by_number.push(candidate.def);
                if let Some(score) = self.score(ev, frame, candidate, &made) {
                    best.push((score, candidate.def));
                }
            }
            if !best.is_empty() {
                break;
            }
        }
        if best.is_empty() && candidates.iter().all(|it| it.as_extension) {
            // Something else of that name is meant, which the receiver has.
            return Value::ExternalResult;
        }
        let top = best.iter().map(|it| it.0).max();
        let chosen: Vec<Def> = match top {
            Some(top) => best.iter().filter(|it| it.0 == top).map(|it| it.1).collect(),
            None if by_number.is_empty() => candidates.iter().map(|it| it.def).collect(),
            None => by_number,
        };
        // One behind `#if` and one behind its `#else`: the first stands for both.
        let same = |one: &Def, other: &Def| {
            let ((file, _, a), (there, _, b)) = (world.decl(*one), world.decl(*other));
            file == there
                && a.owner == b.owner
                && world.found_in(file).text(a.signature) == world.found_in(there).text(b.signature)
        };
        if chosen.iter().all(|it| same(&chosen[0], it)) {
            return Value::Def(chosen[0]);
        }
        Value::join(chosen.into_iter().map(Value::Def))
    }

    fn candidates(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite, found: Def) -> Vec<Candidate> {
        let world = ev.world;
        let (file, _, decl) = world.decl(found);
        let name = world.name(file, decl.name);
        let owner = world.owner(found);
        let plain = |def: Def, level: usize| Candidate { def, level, as_extension: false };
        let Some(owner) = owner.filter(|it| world.kind(*it).is_type_like()) else {
            return vec![plain(found, 0)];
        };
        if decl.kind == NodeKind::Constructor {
            // What makes the type itself is never called.
            let is_static = |it: &Def| world.decl(*it).2.modifiers.contains(Modifiers::STATIC);
            let all = own_members(world, owner, name).into_iter().filter(|it| !is_static(it));
            return all.map(|it| plain(it, 0)).collect();
        }
        let is_extension = decl.parameters.first().is_some_and(|it| it.kind == ParameterKind::Receiver);
        let receiver = self.receiver_of(ev, frame, site);
        if is_extension && !matches!(receiver, Some(Value::Def(_)) | None) {
            let receiver = receiver.unwrap_or(Value::Unknown);
            let all = self.extensions_for(ev, frame, &receiver, name);
            let best = all.iter().map(|it| it.1).max().unwrap_or(Fit::Maybe);
            let all = all.into_iter().filter(|it| it.1 == best || it.1 >= Fit::Wide);
            return all
                .map(|(def, fit)| Candidate {
                    def,
                    level: usize::from(fit != Fit::Exact),
                    as_extension: true,
                })
                .collect();
        }
        let from = match &receiver {
            Some(Value::Instance(def, _) | Value::Def(def)) if world.kind(*def).is_type_like() => *def,
            Some(Value::Super(def)) => *def,
            None => super::members::type_around(world, frame.file, site.decl)
                .filter(|it| world.hierarchy.is_below(*it, owner))
                .unwrap_or(owner),
            _ => owner,
        };
        let skip_own = matches!(receiver, Some(Value::Super(_)));
        let is_callable = |it: &Def| world.kind(*it).is_callable();
        let mut all: Vec<Candidate> = Vec::new();
        if !skip_own {
            all.extend(own_members(world, from, name).into_iter().filter(is_callable).map(|it| plain(it, 0)));
        }
        for (level, ancestor) in world.hierarchy.ancestors(from).iter().enumerate() {
            if let Ancestor::Project(above) = ancestor {
                // Interfaces of an interface are all as near.
                let level = if world.kind(from) == NodeKind::Interface { 1 } else { level + 1 };
                let members = own_members(world, *above, name).into_iter().filter(is_callable);
                all.extend(members.map(|it| plain(it, level)));
            }
        }
        if !all.iter().any(|it| it.def == found) {
            return vec![plain(found, 0)];
        }
        // `void IShape.Draw()` is called through the interface alone, and what an interface declares not on a class that has
        // it itself.
        let is_interface = |it: Def| world.owner(it).is_some_and(|it| world.kind(it) == NodeKind::Interface);
        let is_open = |it: &Candidate| {
            !is_explicit(world, it.def) && (world.kind(from) == NodeKind::Interface || !is_interface(it.def))
        };
        if all.iter().any(is_open) {
            all.retain(is_open);
        }
        if let Some(receiver @ (Value::Instance(..) | Value::Bounded(_))) = &receiver {
            for (def, fit) in self.extensions_for(ev, frame, receiver, name) {
                if fit >= Fit::Wide {
                    all.push(Candidate { def, level: 1_000, as_extension: true });
                }
            }
        }
        all
    }

    /// What a method is called on; none for a bare name.
    pub(super) fn receiver_of(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Option<Value> {
        match plain_callee(ev, frame, site.callee) {
            Expr::Member { of, .. } => Some(ev.settled_expr(frame, site.decl, of)),
            _ => None,
        }
    }

    pub(super) fn made(&self, ev: &mut Evaluator<'_>, frame: Frame, site: CallSite) -> Made {
        let world = ev.world;
        let facts = world.facts(frame.file);
        let mut arguments = Vec::new();
        let mut lambdas = Vec::new();
        for argument in facts.arguments_of(site.callee) {
            let mut lambda = None;
            let value = match facts.expr(argument.value) {
                Expr::Lambda { n_parameters, .. } => {
                    lambda = Some(n_parameters);
                    Value::Function(Value::Unknown.into())
                }
                Expr::Literal(Literal::Function) => Value::Function(Value::Unknown.into()),
                _ => {
                    let value = ev.settled_expr(frame, site.decl, argument.value);
                    match value {
                        Value::Def(def) if !world.kind(def).is_callable() => Value::Unknown,
                        value => value,
                    }
                }
            };
            arguments.push((argument.name.map(|it| world.name(frame.file, it)), value));
            lambdas.push(lambda);
        }
        let n_types = match facts.expr(site.callee) {
            Expr::Generic { arguments, .. } => match facts.type_(arguments) {
                Type::Tuple(types) => types.len(),
                _ => 0,
            },
            _ => 0,
        };
        Made { arguments, lambdas, n_types }
    }

    /// How well types fit; none when they do not.
    fn score(&self, ev: &mut Evaluator<'_>, frame: Frame, candidate: &Candidate, made: &Made) -> Option<i32> {
        let world = ev.world;
        let (file, id, decl) = world.decl(candidate.def);
        let parameters = parameters(&decl.parameters, candidate.as_extension);
        let mut score = 0;
        let mut n_rest = 0;
        for (index, (name, value)) in made.arguments.iter().enumerate() {
            let parameter = match name {
                Some(name) => parameters.iter().find(|it| world.name(file, it.name) == *name),
                None => parameters.get(index).or(parameters.last()),
            };
            let Some(parameter) = parameter else { continue };
            let Some(type_) = parameter.type_ else { continue };
            let inner = Frame::in_file(frame, file);
            let asked = self.typed_with(ev, inner, Some(id), type_, &Vec::new());
            let mut fits = match (value, made.lambdas[index]) {
                (Value::Overloads(all), _) => self.group_fit(ev, frame, &asked, all),
                (_, Some(n)) if self.n_inputs(ev, &asked).is_some_and(|it| it != usize::from(n)) => Fit::No,
                _ => fit(ev, &asked, value),
            };
            if parameter.kind == ParameterKind::Rest {
                let element = asked.argument(0);
                let one = fit(ev, &element, value);
                if one >= fits || index + 1 > parameters.len() {
                    fits = one;
                    n_rest += 1;
                }
            }
            score += match fits {
                Fit::No => return None,
                Fit::Maybe => 10,
                Fit::Wide => 20,
                Fit::Exact => 30,
            };
        }
        let n_left = parameters.len().saturating_sub(made.arguments.len());
        score -= i32::try_from(n_left).unwrap_or(0).min(8);
        score -= i32::from(n_rest > 0) * 4;
        score -= i32::from(!decl.type_parameters.is_empty() && made.n_types == 0) * 2;
        Some(score)
    }

    /// How many parameters a delegate of this type has.
    fn n_inputs(&self, ev: &Evaluator<'_>, delegate: &Value) -> Option<usize> {
        match delegate {
            Value::ExternalInstance(external, arguments) => {
                match (external.last().map_or("", |it| ev.world.text(it)), &arguments[..]) {
                    ("Func", [inputs @ .., _]) => Some(inputs.len()),
                    ("Action", inputs) => Some(inputs.len()),
                    ("Predicate", _) => Some(1),
                    ("Comparison", _) => Some(2),
                    ("Expression", [inner]) => self.n_inputs(ev, inner),
                    _ => None,
                }
            }
            Value::Instance(def, _) if ev.world.kind(*def) == NodeKind::Type => {
                Some(ev.world.decl(*def).2.parameters.len())
            }
            _ => None,
        }
    }

    /// Whether one of these methods can be handed over for a delegate.
    fn group_fit(&self, ev: &mut Evaluator<'_>, frame: Frame, asked: &Value, all: &[Def]) -> Fit {
        let plain = fit(ev, asked, &Value::Function(Value::Unknown.into()));
        let Some(n) = self.n_inputs(ev, asked) else { return plain };
        let inputs: Vec<Value> = match asked {
            Value::ExternalInstance(_, arguments) => arguments.iter().take(n).cloned().collect(),
            _ => vec![Value::Unknown; n],
        };
        let mut best = Fit::No;
        for def in all {
            let (file, id, decl) = ev.world.decl(*def);
            if decl.parameters.len() != n {
                continue;
            }
            let mut fits = plain;
            for (parameter, input) in decl.parameters.iter().zip(&inputs) {
                if let Some(type_) = parameter.type_ {
                    let taken =
                        self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &Vec::new());
                    fits = fits.min(fit(ev, &taken, input));
                }
            }
            best = best.max(fits);
        }
        best
    }

    /// Extension methods of this name that the file can see, with how well they fit a receiver.
    pub(super) fn extensions_for(
        &self,
        ev: &mut Evaluator<'_>,
        frame: Frame,
        receiver: &Value,
        name: Name,
    ) -> Vec<(Def, Fit)> {
        let world = ev.world;
        let all = world.modules.csharp.extensions(name);
        if all.is_empty() {
            return Vec::new();
        }
        let facts = world.facts(frame.file);
        let mut seen = used_namespaces(world, frame.file);
        let places = facts.namespaces.iter().map(|it| it.range.from).chain([0]);
        for at in places {
            for namespace in world.modules.csharp.chain(world, frame.file, at) {
                if !seen.contains(&namespace) {
                    seen.push(namespace);
                }
            }
        }
        let mut statics: Vec<Def> = Vec::new();
        for (in_file, import) in imports_of(world, frame.file) {
            if import.level == STATIC_LEVEL {
                let path: Vec<Name> = import.module.iter().map(|it| world.name(in_file, *it)).collect();
                if let Value::Def(type_) = self.path(ev, in_file, &path) {
                    statics.push(type_);
                }
            }
        }
        let from_test = facts.flags.contains(knowing_model::NodeFlags::TEST);
        let mut found = Vec::new();
        for (namespace, def) in all {
            let by_type = world.owner(*def).is_some_and(|it| statics.contains(&it));
            if !seen.contains(namespace) && !by_type || world.is_test_code(*def) && !from_test {
                continue;
            }
            let (file, id, decl) = world.decl(*def);
            let Some(type_) = decl.parameters.first().and_then(|it| it.type_) else { continue };
            let asked = self.typed_with(ev, Frame::in_file(frame, file), Some(id), type_, &Vec::new());
            let fits = fit(ev, &asked, receiver);
            if fits != Fit::No {
                found.push((*def, fits));
            }
        }
        found
    }

    /// An extension method that can be meant; `Missing` when there is none.
    pub(super) fn extension(&self, ev: &mut Evaluator<'_>, frame: Frame, of: &Value, name: Name) -> Value {
        let found = self.extensions_for(ev, frame, of, name);
        let Some(best) = found.iter().map(|it| it.1).max() else { return Value::Missing };
        let is_sure = best >= Fit::Wide;
        // What everybody has is not guessed.
        if !is_sure && super::standard::is_common_member(ev.world.text(name)) {
            return Value::Missing;
        }
        // `Add` of a list is the list's own, whatever else could be called on any sequence.
        if best == Fit::Wide
            && matches!(of, Value::ExternalInstance(..) | Value::Iterable(_))
            && super::standard::is_common_member(ev.world.text(name))
            && !found.iter().any(|it| it.1 == Fit::Wide && takes_more(ev, it.0))
        {
            return Value::Missing;
        }
        let chosen = found.iter().find(|it| it.1 == best).map(|it| Value::Def(it.0));
        match chosen {
            Some(found) if is_sure => found,
            Some(found) => Value::OneOf([found, Value::Unknown].into()),
            None => Value::Missing,
        }
    }
}

/// Whether a member says which interface it fulfils.
fn is_explicit(world: &World<'_>, def: Def) -> bool {
    let (file, _, decl) = world.decl(def);
    let facts = world.found_in(file);
    let (signature, name) = (facts.text(decl.signature), facts.text(decl.name));
    let before = signature.split_once('(').map_or(signature, |it| it.0).trim_end();
    let before = before.split_once('<').map_or(before, |it| if it.0.ends_with(name) { it.0 } else { before });
    before.strip_suffix(name).is_some_and(|it| it.ends_with('.'))
}

/// Whether an extension method takes something besides its receiver.
fn takes_more(ev: &Evaluator<'_>, def: Def) -> bool {
    ev.world.decl(def).2.parameters.len() > 2
}

/// A callee without its type arguments.
pub(super) fn plain_callee(ev: &Evaluator<'_>, frame: Frame, callee: ExprId) -> Expr {
    let facts = ev.world.facts(frame.file);
    match facts.expr(callee) {
        Expr::Generic { of, .. } => facts.expr(of),
        expr => expr,
    }
}

/// The parameters that arguments are for.
fn parameters(all: &[Parameter], as_extension: bool) -> &[Parameter] {
    if as_extension { all.get(1..).unwrap_or_default() } else { all }
}

/// Whether numbers and names of arguments fit.
fn takes(ev: &Evaluator<'_>, candidate: &Candidate, made: &Made) -> bool {
    let world = ev.world;
    let (file, _, decl) = world.decl(candidate.def);
    let parameters = parameters(&decl.parameters, candidate.as_extension);
    if made.n_types > 0 && made.n_types != decl.type_parameters.len() {
        return false;
    }
    let has_rest = parameters.last().is_some_and(|it| it.kind == ParameterKind::Rest);
    if made.arguments.len() > parameters.len() && !has_rest {
        return false;
    }
    let n_positional = made.arguments.iter().filter(|it| it.0.is_none()).count();
    let is_named = |it: &Parameter| {
        let name = world.name(file, it.name);
        made.arguments.iter().any(|argument| argument.0 == Some(name))
    };
    let names_fit = made
        .arguments
        .iter()
        .filter_map(|it| it.0)
        .all(|name| parameters.iter().any(|it| world.name(file, it.name) == name));
    let filled = parameters.iter().enumerate().all(|(index, it)| {
        index < n_positional || it.default.is_some() || it.kind == ParameterKind::Rest || is_named(it)
    });
    names_fit && filled
}

/// The parameter that an argument of a call is for.
pub(super) fn parameter_for(
    ev: &Evaluator<'_>,
    def: Def,
    as_extension: bool,
    argument: usize,
    name: Option<Name>,
) -> Option<(u32, DeclId, Parameter)> {
    let (file, id, decl) = ev.world.decl(def);
    let parameters = parameters(&decl.parameters, as_extension);
    let parameter = match name {
        Some(name) => parameters.iter().find(|it| ev.world.name(file, it.name) == name),
        None => parameters.get(argument).or(parameters.last().filter(|it| it.kind == ParameterKind::Rest)),
    };
    parameter.map(|it| (file, id, it.clone()))
}
