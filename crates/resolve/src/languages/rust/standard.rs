//! What the standard containers do to the types inside them: `unwrap`, `iter`, `lock`, `?` and the like.

use knowing_model::facts::Literal;

use super::tables;
use crate::evaluate::Evaluator;
use crate::value::{External, Origin, Value};

/// Pointers and guards that are looked through: a method call on one reaches what it points to.
const POINTERS: &[&str] = &[
    "Arc",
    "Box",
    "Cow",
    "LazyCell",
    "LazyLock",
    "ManuallyDrop",
    "MappedMutexGuard",
    "MutexGuard",
    "Pin",
    "Rc",
    "Ref",
    "RefMut",
    "RwLockReadGuard",
    "RwLockWriteGuard",
];

pub(super) fn item(ev: &Evaluator<'_>, path: &[&str]) -> Value {
    let names: Option<Vec<_>> = path.iter().map(|it| ev.world.names.find(it)).collect();
    names.map_or(Value::Unknown, |names| Value::External(External::new(Origin::StandardLibrary, &names)))
}

pub(super) fn item_at(ev: &Evaluator<'_>, path: &str) -> Value {
    item(ev, &path.split("::").collect::<Vec<_>>())
}

pub(super) fn instance<const N: usize>(ev: &Evaluator<'_>, path: &[&str], arguments: [Value; N]) -> Value {
    match item(ev, path) {
        Value::External(external) => Value::ExternalInstance(external, arguments.into()),
        other => other,
    }
}

/// Last segment of an external's path.
pub(super) fn type_name<'w>(ev: &Evaluator<'w>, external: &External) -> &'w str {
    external.last().map_or("", |it| ev.world.text(it))
}

pub(super) fn instance_of(ev: &Evaluator<'_>, external: &External, arguments: &[Value]) -> Value {
    let name = type_name(ev, external);
    if external.origin == Origin::StandardLibrary
        && POINTERS.contains(&name)
        && let Some(inner) = arguments.first()
    {
        return inner.clone();
    }
    if name == "Iterator" || name == "IntoIterator" {
        return Value::Unknown;
    }
    Value::ExternalInstance(external.clone(), arguments.into())
}

/// A method of a standard trait that any type may have, as that trait's.
pub(super) fn trait_method(ev: &Evaluator<'_>, method: &str) -> Option<Value> {
    let at = tables::TRAIT_METHODS.binary_search_by_key(&method, |(name, _)| name).ok()?;
    let path: Vec<&str> =
        ["std"].into_iter().chain(tables::TRAIT_METHODS[at].1.split("::")).chain([method]).collect();
    Some(item(ev, &path))
}

pub(super) fn literal(ev: &Evaluator<'_>, literal: Literal) -> Value {
    let name = match literal {
        Literal::None | Literal::Tuple => return Value::Unknown,
        Literal::Function => return Value::Function(Value::Unknown.into()),
        // A range.
        Literal::Generator => return Value::Iterable(Value::ExternalResult.into()),
        Literal::Bool => "bool",
        Literal::String => "str",
        Literal::Character => "char",
        // The width of a number depends on where it goes.
        _ => return Value::ExternalResult,
    };
    instance(ev, &["std", "primitive", name], [])
}

/// What a call of something outside gives, when it is known from what it was called on.
pub(super) fn called(ev: &Evaluator<'_>, external: &External, on: &Value) -> Value {
    let method = type_name(ev, external);
    if let Value::OneOf(_) = on {
        return on.map(|it| called(ev, external, it));
    }
    if tables::SAME_TYPE_METHODS.binary_search(&method).is_ok() && on.is_known() {
        return on.clone();
    }
    match on {
        Value::Iterable(inner) => iterated(ev, method, inner),
        Value::ExternalInstance(type_, arguments) => {
            let held = arguments.first().cloned().unwrap_or(Value::Unknown);
            let last = arguments.last().cloned().unwrap_or(Value::Unknown);
            match (type_name(ev, type_), method) {
                (
                    "Option" | "Result",
                    "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" | "insert"
                    | "get_or_insert" | "get_or_insert_with" | "unwrap_unchecked",
                ) => held,
                ("Result", "ok") | ("Option", "ok_or" | "ok_or_else") => option(ev, held),
                ("Result", "err") => option(ev, last),
                ("Result", "unwrap_err" | "expect_err") => last,
                ("Mutex" | "RwLock", "lock" | "read" | "write") => result(ev, held),
                ("RefCell" | "Cell", "borrow" | "borrow_mut" | "get" | "take") => held,
                ("OnceCell" | "OnceLock", "get") => option(ev, held),
                ("OnceCell" | "OnceLock", "get_or_init") => held,
                (
                    "HashMap" | "BTreeMap" | "IndexMap" | "FxHashMap",
                    "get" | "get_mut" | "remove" | "insert",
                ) => option(ev, last),
                (
                    "HashMap" | "BTreeMap" | "IndexMap" | "FxHashMap",
                    "values" | "values_mut" | "into_values",
                ) => Value::Iterable(last.into()),
                ("HashMap" | "BTreeMap" | "IndexMap" | "FxHashMap", "keys" | "into_keys") => {
                    Value::Iterable(held.into())
                }
                (
                    "HashMap" | "BTreeMap" | "IndexMap" | "FxHashMap",
                    "iter" | "iter_mut" | "into_iter" | "drain",
                ) => Value::Iterable(Value::Tuple(arguments.clone()).into()),
                (_, "iter" | "iter_mut" | "into_iter" | "drain") if !arguments.is_empty() => {
                    Value::Iterable(held.into())
                }
                (
                    "Vec" | "slice" | "VecDeque" | "BTreeSet" | "BinaryHeap" | "IndexSet",
                    "first" | "last" | "get" | "get_mut" | "pop" | "pop_front" | "pop_back" | "first_mut"
                    | "last_mut" | "front" | "back" | "peek",
                ) => option(ev, held),
                ("Vec" | "VecDeque", "remove" | "swap_remove") => held,
                _ => made(ev, external),
            }
        }
        _ => made(ev, external),
    }
}

/// Whether a function of a standard trait gives a value of the type it was asked of.
pub(super) fn gives_own_type(ev: &Evaluator<'_>, external: &External) -> bool {
    external.origin == Origin::StandardLibrary
        && matches!(type_name(ev, external), "default" | "from" | "clone" | "from_iter")
}

/// `Type::new(...)` of something outside is a `Type`.
fn made(ev: &Evaluator<'_>, external: &External) -> Value {
    let [.., type_, method] = external.path.as_ref() else { return Value::ExternalResult };
    let is_type = ev.world.text(*type_).starts_with(|it: char| it.is_ascii_uppercase());
    if is_type
        && matches!(ev.world.text(*method), "new" | "default" | "with_capacity" | "from" | "open" | "create")
    {
        let path = &external.path[..external.path.len() - 1];
        return Value::ExternalInstance(External::new(external.origin, path), Value::none());
    }
    Value::ExternalResult
}

fn iterated(ev: &Evaluator<'_>, method: &str, inner: &std::sync::Arc<Value>) -> Value {
    let held = || (**inner).clone();
    match method {
        "next" | "last" | "nth" | "find" | "min" | "max" | "min_by_key" | "max_by_key" | "min_by"
        | "max_by" | "next_back" | "peek" | "reduce" | "rfind" => option(ev, held()),
        "enumerate" => {
            let number = instance(ev, &["std", "primitive", "usize"], []);
            Value::Iterable(Value::Tuple([number, held()].into()).into())
        }
        "into_iter" | "take" | "inspect" => Value::Iterable(inner.clone()),
        "map" | "filter_map" | "flat_map" | "zip" | "scan" => Value::Iterable(Value::Unknown.into()),
        "flatten" => Value::Iterable(element(ev, inner).into()),
        _ => Value::ExternalResult,
    }
}

fn option(ev: &Evaluator<'_>, held: Value) -> Value {
    instance(ev, &["std", "option", "Option"], [held])
}

fn result(ev: &Evaluator<'_>, held: Value) -> Value {
    instance(ev, &["std", "result", "Result"], [held, Value::Unknown])
}

pub(super) fn element(ev: &Evaluator<'_>, of: &Value) -> Value {
    match of {
        Value::Iterable(inner) => (**inner).clone(),
        Value::ExternalInstance(external, arguments) => match (type_name(ev, external), arguments.len()) {
            (_, 2) if type_name(ev, external).ends_with("Map") => Value::Tuple(arguments.clone()),
            (_, 1..) => arguments[0].clone(),
            _ => Value::ExternalResult,
        },
        Value::ExternalResult => Value::ExternalResult,
        _ => Value::Unknown,
    }
}

pub(super) fn indexed(_: &Evaluator<'_>, of: &Value) -> Value {
    match of {
        Value::ExternalInstance(_, arguments) if !arguments.is_empty() => {
            arguments[arguments.len() - 1].clone()
        }
        Value::ExternalInstance(..) | Value::ExternalResult => Value::ExternalResult,
        _ => Value::Unknown,
    }
}
