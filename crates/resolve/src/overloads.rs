//! Which of several callables of one name a call means: by the number of arguments, then by their types where they are
//! known. What cannot be told apart stays several, and the call is ambiguous.

use std::sync::Arc;

use knowing_model::facts::{Argument, Decl, DeclId, Expr, ExprId, Modifiers, Parameter, ParameterKind};

use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::Fit;
use crate::value::Value;
use crate::world::{Def, World};

/// One declaration, several that cannot be told apart, or `Missing` when none takes such arguments.
pub(crate) fn choose(
    ev: &mut Evaluator<'_>,
    frame: Frame,
    decl: Option<DeclId>,
    callee: ExprId,
    candidates: &Arc<[Def]>,
) -> Value {
    let world = ev.world;
    let arguments = world.found_in(frame.file).arguments_of(callee);
    let by_count: Vec<Def> =
        candidates.iter().copied().filter(|it| takes(world, *it, frame.file, arguments)).collect();
    match by_count[..] {
        [] if candidates.iter().any(|it| has_outside_ancestor(world, *it)) => Value::ExternalResult,
        [] => Value::Missing,
        [one] => Value::Def(one),
        _ => by_types(ev, frame, decl, arguments, &by_count),
    }
}

/// Whether a callable can be seen and called with so many arguments, and with those of these names.
pub(crate) fn takes(world: &World<'_>, def: Def, from: u32, arguments: &[Argument]) -> bool {
    let (file, _, decl) = world.decl(def);
    if file != from && decl.modifiers.contains(Modifiers::PRIVATE) {
        return false;
    }
    let has_rest = parameters(decl).any(|it| it.kind == ParameterKind::Rest);
    let n_all = parameters(decl).count();
    let n_needed =
        parameters(decl).filter(|it| it.default.is_none() && it.kind != ParameterKind::Rest).count();
    let n_given = arguments.iter().filter(|it| !it.spread).count();
    let is_spread = n_given < arguments.len();
    let names_fit = arguments.iter().filter_map(|it| it.name).all(|name| {
        let name = world.name(from, name);
        parameters(decl).any(|it| world.name(file, it.name) == name)
    });
    names_fit && (n_given >= n_needed || is_spread) && (n_given <= n_all || has_rest)
}

/// How many arguments a callable can be called with.
pub(crate) fn n_parameters(world: &World<'_>, def: Def) -> std::ops::RangeInclusive<usize> {
    let (_, _, decl) = world.decl(def);
    let has_rest = parameters(decl).any(|it| it.kind == ParameterKind::Rest);
    let n_needed =
        parameters(decl).filter(|it| it.default.is_none() && it.kind != ParameterKind::Rest).count();
    n_needed..=if has_rest { usize::MAX } else { parameters(decl).count() }
}

fn parameters(decl: &Decl) -> impl Iterator<Item = &Parameter> {
    decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver)
}

fn has_outside_ancestor(world: &World<'_>, def: Def) -> bool {
    let owner = world.hierarchy.owner_type(world, def);
    owner.is_some_and(|it| world.hierarchy.ancestors(it).iter().any(|it| !matches!(it, Ancestor::Project(_))))
}

/// What a candidate asks for at each argument.
struct Candidate {
    def: Def,
    targets: Vec<Target>,
    fits: Vec<Fit>,
    /// Takes some arguments as a list, which is tried last.
    gathers: bool,
}

#[derive(PartialEq)]
struct Target {
    type_: Value,
    /// The one argument for it may be a list itself.
    is_rest: bool,
    /// `...` without a type: whatever is given goes there, where nothing else takes it.
    takes_all: bool,
}

fn by_types(
    ev: &mut Evaluator<'_>,
    frame: Frame,
    decl: Option<DeclId>,
    arguments: &[Argument],
    by_count: &[Def],
) -> Value {
    let mut candidates: Vec<Candidate> = by_count
        .iter()
        .map(|def| {
            let (targets, gathers) = targets(ev, frame, *def, arguments);
            Candidate { def: *def, targets, fits: Vec::new(), gathers }
        })
        .collect();
    for (place, argument) in arguments.iter().enumerate() {
        let first = &candidates[0].targets[place];
        if candidates.iter().all(|it| it.targets[place] == *first) {
            // It tells nobody apart; and one of the candidates takes it.
            candidates.iter_mut().for_each(|it| it.fits.push(Fit::Exact));
            continue;
        }
        for candidate in &mut candidates {
            let target = &candidate.targets[place];
            if target.takes_all {
                candidate.fits.push(Fit::Converted);
                continue;
            }
            let found = fit(ev, frame, decl, argument.value, &target.type_);
            if target.is_rest {
                // A list goes before single values.
                let list = Value::Iterable(target.type_.clone().into());
                match fit(ev, frame, decl, argument.value, &list) {
                    whole @ (Fit::Exact | Fit::Plain) => candidate.fits.push(whole),
                    _ => {
                        candidate.gathers = true;
                        candidate.fits.push(found);
                    }
                }
            } else {
                candidate.fits.push(found);
            }
        }
    }
    candidates.retain(|it| !it.fits.contains(&Fit::No));
    if candidates.is_empty() {
        return several(by_count);
    }
    for place in 0..arguments.len() {
        let (first, others) = candidates.split_first_mut().expect("one is left");
        // What all that are left ask for alike tells them apart no longer.
        if others.iter().all(|it| it.targets[place] == first.targets[place]) {
            first.fits[place] = Fit::Exact;
            others.iter_mut().for_each(|it| it.fits[place] = Fit::Exact);
        }
    }
    // One that takes the very types is meant, whatever the others take.
    let is_exact = |it: &&Candidate| !it.gathers && it.fits.iter().all(|it| *it == Fit::Exact);
    if let Some(one) = candidates.iter().find(is_exact)
        && candidates.iter().filter(is_exact).count() == 1
    {
        return Value::Def(one.def);
    }
    // Where nothing is doubtful, what fits as it is goes before what is converted, and that before what is gathered.
    if !candidates.iter().any(|it| it.fits.contains(&Fit::Unknown)) {
        let phase = |it: &Candidate| (it.gathers, it.fits.contains(&Fit::Converted));
        let best = candidates.iter().map(phase).min().unwrap_or_default();
        candidates.retain(|it| phase(it) == best);
        if candidates.len() > 1
            && let Some(one) = most_specific(ev, frame, &candidates)
        {
            return Value::Def(one);
        }
    }
    let left: Vec<Def> = candidates.iter().map(|it| it.def).collect();
    several(&left)
}

fn several(defs: &[Def]) -> Value {
    Value::join(defs.iter().map(|it| Value::Def(*it)))
}

/// The types of the parameters that the arguments go to, and whether some are gathered into a list.
fn targets(ev: &mut Evaluator<'_>, frame: Frame, def: Def, arguments: &[Argument]) -> (Vec<Target>, bool) {
    let world = ev.world;
    let (file, id, decl) = world.decl(def);
    let all: Vec<&Parameter> = parameters(decl).collect();
    let there = Frame::in_file(frame, file);
    let has_rest = all.iter().any(|it| it.kind == ParameterKind::Rest);
    let gathers = has_rest && arguments.len() != all.len();
    let mut out = Vec::with_capacity(arguments.len());
    for (place, argument) in arguments.iter().enumerate() {
        let named = argument.name.and_then(|name| {
            let name = world.name(frame.file, name);
            all.iter().find(|it| world.name(file, it.name) == name)
        });
        let parameter = named.or_else(|| all.get(place)).or_else(|| all.last());
        let type_ = match parameter.and_then(|it| it.type_) {
            Some(type_) => ev.typed(there, Some(id), type_),
            None => Value::Unknown,
        };
        let rest = parameter.filter(|it| it.kind == ParameterKind::Rest);
        let takes_all = rest.is_some_and(|it| it.type_.is_none());
        out.push(Target { type_, is_rest: !gathers && rest.is_some(), takes_all });
    }
    (out, gathers)
}

fn fit(ev: &mut Evaluator<'_>, frame: Frame, decl: Option<DeclId>, argument: ExprId, target: &Value) -> Fit {
    let world = ev.world;
    let rules = world.rules(frame.file);
    if let Expr::Lambda { n_parameters, .. } = world.facts(frame.file).expr(argument)
        && let Some(arity) = rules.lambda_arity(ev, frame, target)
    {
        // One that names no parameters may have none, or one.
        let fits = arity == n_parameters || n_parameters == u8::MAX && arity < 2;
        return if fits { Fit::Plain } else { Fit::No };
    }
    let value = ev.settled_expr(frame, decl, argument);
    all_fit(ev, frame, &value, target)
}

/// Over all alternatives of a value: they agree, or nothing is known.
fn all_fit(ev: &mut Evaluator<'_>, frame: Frame, value: &Value, target: &Value) -> Fit {
    let rules = ev.world.rules(frame.file);
    let mut found: Option<Fit> = None;
    for part in value.parts() {
        let fit = rules.fits(ev, frame, part, target);
        match found {
            Some(other) if other != fit => return Fit::Unknown,
            _ => found = Some(fit),
        }
    }
    found.unwrap_or(Fit::Unknown)
}

/// The one whose every parameter could be passed on to each of the others.
fn most_specific(ev: &mut Evaluator<'_>, frame: Frame, candidates: &[Candidate]) -> Option<Def> {
    let mut best = None;
    for (at, one) in candidates.iter().enumerate() {
        let below_all = candidates.iter().enumerate().all(|(other_at, other)| {
            at == other_at
                || one.targets.iter().zip(&other.targets).all(|(narrow, wide)| {
                    narrow == wide || all_fit(ev, frame, &narrow.type_, &wide.type_) <= Fit::Plain
                })
        });
        if below_all {
            if best.is_some() {
                return None;
            }
            best = Some(one.def);
        }
    }
    best
}
