//! Whether a value can be handed over where a type is asked for.

use knowing_model::NodeKind;

use super::standard;
use crate::evaluate::Evaluator;
use crate::hierarchy::Ancestor;
use crate::value::{External, Value};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Fit {
    No,
    /// Nobody here can tell.
    Maybe,
    /// Through a base, an interface, a conversion, a type parameter.
    Wide,
    Exact,
}

pub(super) fn fit(ev: &Evaluator<'_>, asked: &Value, given: &Value) -> Fit {
    let world = ev.world;
    match (asked, given) {
        (Value::Unknown | Value::Missing, _)
        | (_, Value::Unknown | Value::Missing | Value::ExternalResult) => Fit::Maybe,
        (_, Value::OneOf(parts)) => parts.iter().map(|it| fit(ev, asked, it)).max().unwrap_or(Fit::Maybe),
        (Value::Bounded(bounds), given) => {
            let worst = bounds.iter().map(|it| fit(ev, it, given)).min().unwrap_or(Fit::Wide);
            worst.min(Fit::Wide)
        }
        (asked, Value::Bounded(bounds)) => match bounds.iter().map(|it| fit(ev, asked, it)).max() {
            Some(Fit::No) | None => {
                if is_object(ev, asked) {
                    Fit::Wide
                } else {
                    Fit::Maybe
                }
            }
            Some(best) => best.min(Fit::Wide),
        },
        (Value::ExternalInstance(external, _), Value::Nothing) => {
            if standard::is_value_type(last(ev, external)) { Fit::No } else { Fit::Maybe }
        }
        (_, Value::Nothing) => Fit::Maybe,
        // A constant of a type from outside is mostly one of its own values.
        (Value::ExternalInstance(asked, _), Value::External(given)) => match given.path[..] {
            [.., of, _] if ev.world.text(of) == last(ev, asked) => Fit::Wide,
            _ => Fit::Maybe,
        },
        (_, Value::External(_)) => Fit::Maybe,
        (Value::Instance(asked, _), Value::Instance(given, _)) => {
            let hierarchy = &world.hierarchy;
            if hierarchy.whole(*asked) == hierarchy.whole(*given) {
                Fit::Exact
            } else if hierarchy.is_below(*given, *asked) {
                Fit::Wide
            } else if hierarchy.ancestors(*given).contains(&Ancestor::Unknown) {
                Fit::Maybe
            } else {
                Fit::No
            }
        }
        (Value::Instance(asked, _), Value::Function(_) | Value::Def(_) | Value::Overloads(_)) => {
            if world.kind(*asked) == NodeKind::Type { Fit::Wide } else { Fit::No }
        }
        (Value::Instance(..), _) => Fit::No,
        (Value::ExternalInstance(asked, _), Value::Instance(given, _)) => {
            let name = last(ev, asked);
            if name == "Object" {
                return Fit::Wide;
            }
            let ancestors = world.hierarchy.ancestors(*given);
            let is_same = |it: &Ancestor| matches!(it, Ancestor::External(above) if last(ev, above) == name);
            if ancestors.iter().any(is_same) {
                Fit::Wide
            } else if standard::is_sealed(name)
                || ancestors.iter().all(|it| matches!(it, Ancestor::Project(_)))
                    && !matches!(name, "ValueType" | "Enum" | "IEquatable" | "Delegate")
            {
                Fit::No
            } else {
                Fit::Maybe
            }
        }
        (Value::ExternalInstance(asked, _), Value::Function(_) | Value::Def(_) | Value::Overloads(_)) => {
            let name = last(ev, asked);
            if standard::is_delegate(name) {
                Fit::Wide
            } else if standard::is_sealed(name) || standard::is_collection(name) {
                Fit::No
            } else {
                Fit::Maybe
            }
        }
        (Value::ExternalInstance(asked, of), Value::ExternalInstance(given, with)) => {
            outside_fit(ev, (asked, of), (given, with))
        }
        (Value::ExternalInstance(asked, _), Value::Awaitable(_) | Value::Tuple(_)) => {
            if is_named(ev, asked, "Object") { Fit::Wide } else { Fit::No }
        }
        (Value::ExternalInstance(asked, _), Value::Iterable(_)) => {
            let name = last(ev, asked);
            if standard::is_collection(name) || name == "Object" { Fit::Wide } else { Fit::No }
        }
        (Value::Awaitable(asked), Value::Awaitable(given)) => match fit(ev, asked, given) {
            Fit::No => Fit::No,
            Fit::Maybe => Fit::Wide,
            other => other,
        },
        (Value::Awaitable(_), _) => Fit::No,
        (Value::Tuple(asked), Value::Tuple(given)) => {
            if asked.len() == given.len() {
                Fit::Wide
            } else {
                Fit::No
            }
        }
        _ => Fit::Maybe,
    }
}

fn outside_fit(ev: &Evaluator<'_>, asked: (&External, &[Value]), given: (&External, &[Value])) -> Fit {
    let (want, have) = (last(ev, asked.0), last(ev, given.0));
    let arguments = |best: Fit| {
        let pairs = asked.1.iter().zip(given.1);
        let worst = pairs.map(|(asked, given)| fit(ev, asked, given)).min().unwrap_or(best);
        match worst {
            Fit::No => Fit::No,
            Fit::Maybe => Fit::Wide.min(best),
            _ => best,
        }
    };
    if want == have {
        // `Action<A>` and `Action<A, B>` are two types.
        if asked.1.len() != given.1.len() && !asked.1.is_empty() && !given.1.is_empty()
            || standard::is_delegate(want) && asked.1.len() != given.1.len()
        {
            return Fit::No;
        }
        return arguments(Fit::Exact);
    }
    if want == "Object" {
        return Fit::Wide;
    }
    if standard::is_collection(want) && standard::is_collection(have) {
        return if standard::is_wider_collection(want, have) { arguments(Fit::Wide) } else { Fit::No };
    }
    if standard::is_number(want) && standard::is_number(have) {
        return if standard::widens(have, want) { Fit::Wide } else { Fit::No };
    }
    if let Some(is_below) = standard::reads_as(have, want) {
        return if is_below { Fit::Wide } else { Fit::No };
    }
    if have == "String" && want == "ReadOnlySpan" {
        return Fit::Wide;
    }
    let closed = |name: &str| standard::is_sealed(name) || standard::is_delegate(name);
    if closed(want) || closed(have) && (standard::is_collection(want) && have != "String") {
        return Fit::No;
    }
    Fit::Maybe
}

fn is_object(ev: &Evaluator<'_>, value: &Value) -> bool {
    matches!(value, Value::ExternalInstance(external, _) if is_named(ev, external, "Object"))
}

fn is_named(ev: &Evaluator<'_>, external: &External, name: &str) -> bool {
    last(ev, external) == name
}

fn last<'w>(ev: &Evaluator<'w>, external: &External) -> &'w str {
    external.last().map_or("", |it| ev.world.text(it))
}
