//! Whether a value can be passed for a parameter, as far as names and types of both are known.

use super::{Dialect, Standard};
use crate::evaluate::Evaluator;
use crate::hierarchy::Ancestor;
use crate::languages::Fit;
use crate::value::{External, Origin, Value};
use crate::world::{Def, World};
use knowing_model::NodeKind;

pub(crate) fn fits(ev: &mut Evaluator<'_>, dialect: &dyn Dialect, value: &Value, target: &Value) -> Fit {
    let world = ev.world;
    let standard = dialect.standard(ev);
    let root = standard.external(dialect.root_type());
    let is_root = |it: &External| root.as_ref().is_some_and(|root| root.path == it.path);
    match (value, target) {
        (_, Value::ExternalInstance(it, _)) if is_root(it) => match value {
            Value::Unknown | Value::ExternalResult | Value::OneOf(_) => Fit::Unknown,
            Value::ExternalInstance(it, _) if is_plain(it) => Fit::Converted,
            Value::ExternalInstance(it, _) if is_root(it) => Fit::Exact,
            _ => Fit::Plain,
        },
        (_, Value::Bounded(bounds)) => to_bounds(ev, dialect, value, bounds),
        (Value::Nothing, Value::ExternalInstance(it, _)) if is_plain(it) => Fit::No,
        (Value::Nothing, Value::Instance(..) | Value::ExternalInstance(..) | Value::Iterable(_)) => {
            Fit::Plain
        }
        (Value::Instance(below, _), Value::Instance(above, _)) => below_project(world, *below, *above),
        (Value::Instance(below, _), Value::ExternalInstance(above, _)) => {
            below_outside(world, standard, *below, above)
        }
        (Value::ExternalInstance(it, _), Value::Instance(..)) => match it.origin {
            Origin::StandardLibrary => Fit::No,
            // Generated code may stand between.
            Origin::ThirdParty => Fit::Unknown,
        },
        (Value::ExternalInstance(below, _), Value::ExternalInstance(above, _)) => {
            between_outside(standard, below, above)
        }
        (Value::Iterable(one), Value::Iterable(other)) => match (&**one, &**other) {
            (one, other) if one == other => Fit::Exact,
            // Lists of plain values are nothing else, not even lists of a type parameter.
            (Value::ExternalInstance(it, _), other) | (other, Value::ExternalInstance(it, _))
                if is_plain(it) =>
            {
                match other {
                    Value::Unknown | Value::ExternalResult | Value::OneOf(_) => Fit::Unknown,
                    _ => Fit::No,
                }
            }
            (one, other) => fits(ev, dialect, one, other),
        },
        (Value::Iterable(_), Value::Instance(..) | Value::ExternalInstance(..))
        | (Value::Instance(..) | Value::ExternalInstance(..), Value::Iterable(_)) => Fit::No,
        (Value::Function(_), Value::Instance(def, _)) if world.kind(*def) != NodeKind::Interface => Fit::No,
        (Value::Function(_), Value::Instance(..)) => Fit::Plain,
        (Value::Function(_), Value::ExternalInstance(it, _)) => {
            if standard.function_arity(it).is_some() {
                Fit::Plain
            } else if standard.is_known(it) {
                Fit::No
            } else {
                Fit::Unknown
            }
        }
        (Value::Function(_), Value::Iterable(_)) => Fit::No,
        (Value::Bounded(bounds), _) => from_bounds(ev, dialect, bounds, target),
        _ => Fit::Unknown,
    }
}

/// `int` and the like have names of one word.
fn is_plain(external: &External) -> bool {
    external.path.len() == 1
}

/// A type parameter is whatever fulfils its bounds.
fn to_bounds(ev: &mut Evaluator<'_>, dialect: &dyn Dialect, value: &Value, bounds: &[Value]) -> Fit {
    if matches!(value, Value::Unknown | Value::ExternalResult) {
        return Fit::Unknown;
    }
    let mut worst = match value {
        Value::ExternalInstance(it, _) if is_plain(it) => Fit::Converted,
        _ => Fit::Plain,
    };
    for bound in bounds {
        let bound = match bound {
            Value::Def(def) => Value::instance(*def),
            Value::External(external) => Value::ExternalInstance(external.clone(), Value::none()),
            _ => return Fit::Unknown,
        };
        match fits(ev, dialect, value, &bound) {
            Fit::No => return Fit::No,
            fit => worst = worst.max(fit),
        }
    }
    worst
}

fn from_bounds(ev: &mut Evaluator<'_>, dialect: &dyn Dialect, bounds: &[Value], target: &Value) -> Fit {
    for bound in bounds {
        let bound = match bound {
            Value::Def(def) => Value::instance(*def),
            Value::External(external) => Value::ExternalInstance(external.clone(), Value::none()),
            _ => continue,
        };
        if fits(ev, dialect, &bound, target) <= Fit::Plain {
            return Fit::Plain;
        }
    }
    match target {
        // Nothing but a number is a number.
        Value::ExternalInstance(it, _) if is_plain(it) => Fit::No,
        _ => Fit::Unknown,
    }
}

fn below_project(world: &World<'_>, below: Def, above: Def) -> Fit {
    if world.hierarchy.whole(below) == world.hierarchy.whole(above) {
        Fit::Exact
    } else if world.hierarchy.is_below(below, above) {
        Fit::Plain
    } else if world.hierarchy.ancestors(below).contains(&Ancestor::Unknown) {
        Fit::Unknown
    } else {
        Fit::No
    }
}

fn below_outside(world: &World<'_>, standard: &Standard, below: Def, above: &External) -> Fit {
    if is_plain(above) || standard.is_final(above) {
        return Fit::No;
    }
    if let Some(implied) = implied(world, standard, below)
        && (implied.path == above.path || standard.is_below(&implied, above) == Some(true))
    {
        return Fit::Plain;
    }
    let mut unknown = false;
    for ancestor in world.hierarchy.ancestors(below) {
        match ancestor {
            Ancestor::Project(_) => {}
            Ancestor::Unknown => unknown = true,
            Ancestor::External(external) => match standard.is_below(external, above) {
                Some(true) => return Fit::Plain,
                Some(false) => {}
                None => unknown |= external.origin == Origin::ThirdParty || above.origin == external.origin,
            },
        }
    }
    if unknown { Fit::Unknown } else { Fit::No }
}

/// What a type is below without saying so.
fn implied(world: &World<'_>, standard: &Standard, def: Def) -> Option<External> {
    let (file, _, decl) = world.decl(def);
    match decl.kind {
        NodeKind::Enum => standard.external("java.lang.Enum"),
        NodeKind::Interface if world.found_in(file).text(decl.signature).contains("@interface") => {
            standard.external("java.lang.annotation.Annotation")
        }
        _ => None,
    }
}

fn between_outside(standard: &Standard, below: &External, above: &External) -> Fit {
    if below.path == above.path {
        return Fit::Exact;
    }
    if standard.is_below(below, above) == Some(true) {
        return Fit::Plain;
    }
    if is_plain(below) != is_plain(above) {
        // To the other side, then upwards.
        return match standard.boxed(below) {
            Some(boxed) if standard.is_below(boxed, above) == Some(true) => Fit::Converted,
            _ => Fit::No,
        };
    }
    // The table knows all that is above a type that it has; nothing is below a final one.
    if standard.is_known(below) || standard.is_final(above) { Fit::No } else { Fit::Unknown }
}
