//! Functions that register what they are handed: the texts of their callers are routes.
//!
//! ```text
//! func add(r chi.Router, path string, f handler) { r.Get("/"+path, f) }     what registers its parameter
//! add(r, "ping", ping)                                                      GET /ping
//! ```

use knowing_model::facts::{
    BindingTarget, Decl, Expr, ExprId, HOLE, Parameter, ParameterKind, Route, Router, Str, Value as Bound,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Key, Mounts, Placed, filled, handler, joined, key};
use crate::evaluate::{Evaluator, Frame};
use crate::value::Value;
use crate::world::{Def, World};

/// Functions that hand a path on to each other.
const MAX_LEVELS: usize = 4;
/// Routes that one call may register.
const MAX_EACH: usize = 16;

pub(super) struct Helpers {
    by_parameter: FxHashMap<Place, Vec<Helper>>,
    used: FxHashSet<(u32, u32)>,
}

/// A function and one of its parameters.
type Place = (Def, u8);

/// What becomes of a path that is handed over.
#[derive(Clone, PartialEq, Eq)]
struct Helper {
    method: String,
    /// What is put around it.
    around: (String, String),
    below: Below,
    /// The registration: file and fact.
    registered: (u32, u32),
}

/// What the route stands below.
#[derive(Clone, PartialEq, Eq)]
enum Below {
    /// The router that is handed over with the path, behind a prefix.
    Callers(String),
    /// A router of the function's own: its prefixes.
    Own(Vec<String>),
}

impl Helpers {
    pub(super) fn new(world: &World<'_>, mounts: &Mounts, files: &[u32]) -> Helpers {
        let mut helpers = Helpers { by_parameter: FxHashMap::default(), used: FxHashSet::default() };
        // Most projects hand no path to anything.
        let hands = |it: &&u32| world.found_in(**it).routes.iter().any(|it| it.through.is_some());
        let handing: Vec<u32> = files.iter().filter(hands).copied().collect();
        if handing.is_empty() {
            return helpers;
        }
        for file in files {
            let mut ev = Evaluator::new(world);
            for (fact, route) in (0..).zip(&world.found_in(*file).routes) {
                let Some((parameter, around)) = parameter_of(world, *file, route) else { continue };
                if route.through.is_some() || !route.verified {
                    continue;
                }
                let below = below(&mut ev, mounts, *file, route, parameter.0, "");
                let method = world.found_in(*file).text(route.method).to_owned();
                helpers.add(parameter, Helper { method, around, below, registered: (*file, fact) });
            }
        }
        for _ in 0..MAX_LEVELS {
            let mut more = Vec::new();
            for file in &handing {
                helpers.handed_on(world, mounts, *file, &mut more);
            }
            let n_new = more.into_iter().filter(|it| helpers.add(it.0, it.1.clone())).count();
            if n_new == 0 {
                break;
            }
        }
        helpers
    }

    /// Whether it was not known.
    fn add(&mut self, parameter: Place, helper: Helper) -> bool {
        let known = self.by_parameter.entry(parameter).or_default();
        let is_new = known.len() < MAX_EACH && !known.contains(&helper);
        if is_new {
            known.push(helper);
        }
        is_new
    }

    /// Functions of a file that hand a parameter to one that registers it.
    fn handed_on(&self, world: &World<'_>, mounts: &Mounts, file: u32, more: &mut Vec<(Place, Helper)>) {
        let mut ev = Evaluator::new(world);
        for route in world.found_in(file).routes.iter().filter(|it| it.through.is_some()) {
            let Some((parameter, around)) = parameter_of(world, file, route) else { continue };
            for helper in self.called(&mut ev, file, route) {
                let below = match &helper.below {
                    Below::Callers(prefix) => below(&mut ev, mounts, file, route, parameter.0, prefix),
                    own => own.clone(),
                };
                let around = (helper.around.0.clone() + &around.0, around.1.clone() + &helper.around.1);
                more.push((parameter, Helper { around, below, ..helper.clone() }));
            }
        }
    }

    /// Whether callers say what a registration registers.
    pub(super) fn is_used(&self, file: u32, fact: u32) -> bool {
        self.used.contains(&(file, fact))
    }

    /// Routes of a file whose paths are handed to functions that register them.
    pub(super) fn placed(&mut self, world: &World<'_>, mounts: &Mounts, file: u32) -> Vec<Placed> {
        let mut placed: Vec<Placed> = Vec::new();
        let mut ev = Evaluator::new(world);
        let facts = world.found_in(file);
        for (fact, route) in (0..).zip(&facts.routes) {
            if route.through.is_none() || parameter_of(world, file, route).is_some() {
                continue;
            }
            let found: Vec<Helper> = self.called(&mut ev, file, route).to_vec();
            if found.is_empty() {
                continue;
            }
            let own = route.pattern.and_then(|it| filled(&mut ev, file, route.decl, facts.text(it)));
            let Some(own) = own else { continue };
            let handler = handler(&mut ev, file, route);
            for helper in found {
                self.used.insert(helper.registered);
                let prefixes = match &helper.below {
                    Below::Own(prefixes) => prefixes.clone(),
                    Below::Callers(prefix) => prefixes_of(&mut ev, mounts, file, route, prefix),
                };
                let own = format!("{}{own}{}", helper.around.0, helper.around.1).replace("//", "/");
                for prefix in prefixes {
                    let whole = joined(&prefix, &own);
                    let slash = if whole.starts_with('/') { "" } else { "/" };
                    let name = format!("{} {slash}{whole}", helper.method);
                    let name = knowing_model::name::bounded(&name).into_owned();
                    if !placed.iter().any(|it| it.name == name && it.fact == fact) {
                        placed.push(Placed { symbol: String::new(), name, fact, handler });
                    }
                }
            }
        }
        placed
    }

    /// What the function that a path is handed to does with it.
    fn called(&self, ev: &mut Evaluator<'_>, file: u32, route: &Route) -> &[Helper] {
        let Some(through) = route.through else { return &[] };
        ev.begin();
        let def = match ev.callee(Frame::of_file(file), route.decl, through.callee) {
            Value::Def(def) => def,
            Value::Overloads(all) if all.len() == 1 => all[0],
            _ => return &[],
        };
        let parameter = self.by_parameter.get(&(def, through.argument)).or_else(|| {
            let rest = rest_of(ev.world, def).filter(|it| *it < through.argument)?;
            self.by_parameter.get(&(def, rest))
        });
        parameter.map_or(&[], Vec::as_slice)
    }
}

/// The parameter of the function around that a pattern is made of, and the texts around it.
fn parameter_of(world: &World<'_>, file: u32, route: &Route) -> Option<(Place, (String, String))> {
    let facts = world.found_in(file);
    let decl = route.decl?;
    let mut parts = facts.text(route.pattern?).split(HOLE);
    let (before, hole, after) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let Expr::Name { name, at } = facts.expr(ExprId(hole.parse().ok()?)) else { return None };
    let place = |name: Str| plain(facts.decl(decl)).position(|it| it.name == name);
    // One of the paths that a loop goes through.
    let listed = || {
        let binding = facts.bindings.iter().rfind(|it| {
            it.target == BindingTarget::Name(name) && it.visible.from <= at && at <= it.visible.to
        })?;
        let Bound::Expr(value) = binding.value else { return None };
        place(facts.list_of(value)?)
    };
    let at = place(name).or_else(listed)?;
    Some(((world.def(file, decl), u8::try_from(at).ok()?), (before.to_owned(), after.to_owned())))
}

fn plain(decl: &Decl) -> impl Iterator<Item = &Parameter> {
    decl.parameters.iter().filter(|it| it.kind != ParameterKind::Receiver)
}

/// The parameter of a function that takes all further arguments.
fn rest_of(world: &World<'_>, def: Def) -> Option<u8> {
    let (_, _, decl) = world.decl(def);
    u8::try_from(plain(decl).position(|it| it.kind == ParameterKind::Rest)?).ok()
}

fn below(ev: &mut Evaluator<'_>, mounts: &Mounts, file: u32, route: &Route, of: Def, prefix: &str) -> Below {
    let is_handed = matches!(route.router, Router::Parameter(decl, _) if ev.world.def(file, decl) == of);
    match is_handed {
        true => Below::Callers(joined(&stated(ev, file, route), prefix)),
        false => Below::Own(prefixes_of(ev, mounts, file, route, prefix)),
    }
}

/// What stands before the router of a route in its file.
fn stated(ev: &mut Evaluator<'_>, file: u32, route: &Route) -> String {
    let Some(through) = route.through else { return String::new() };
    let text = ev.world.found_in(file).text(through.prefix);
    filled(ev, file, route.decl, text).unwrap_or_default()
}

fn prefixes_of(
    ev: &mut Evaluator<'_>,
    mounts: &Mounts,
    file: u32,
    route: &Route,
    behind: &str,
) -> Vec<String> {
    ev.begin();
    let own = joined(&stated(ev, file, route), behind);
    let key: Option<Key> = key(ev, file, route.decl, route.router);
    let above = key.map_or_else(|| vec![String::new()], |it| mounts.prefixes(ev.world, it));
    above.iter().map(|it| joined(it, &own)).collect()
}
