//! What the standard library does to the types it is given: smart pointers, containers, pairs.

use knowing_model::facts::Literal;

use crate::evaluate::Evaluator;
use crate::names::Name;
use crate::value::{Arguments, External, Origin, Value};

pub(super) const WORDS: &[&str] = &[
    "*",
    "operator*",
    "std",
    "include",
    "pair",
    "int",
    "char",
    "bool",
    "double",
    "operator->",
    "operator()",
    "operator[]",
    "begin",
];

/// Last word of an external's path.
pub(super) fn type_name<'w>(ev: &Evaluator<'w>, external: &External) -> &'w str {
    external.last().map_or("", |it| ev.world.text(it))
}

pub(super) fn is_pointer(name: &str) -> bool {
    matches!(
        name,
        "unique_ptr"
            | "shared_ptr"
            | "weak_ptr"
            | "optional"
            | "reference_wrapper"
            | "auto_ptr"
            | "scoped_ptr"
            | "scoped_refptr"
            | "intrusive_ptr"
            | "observer_ptr"
            | "not_null"
            | "atomic"
    )
}

/// What pointers have themselves; all else is of what they point to.
pub(super) fn is_pointer_member(name: &str) -> bool {
    matches!(
        name,
        "get"
            | "reset"
            | "release"
            | "swap"
            | "use_count"
            | "unique"
            | "lock"
            | "expired"
            | "owner_before"
            | "get_deleter"
            | "value"
            | "has_value"
            | "value_or"
            | "emplace"
            | "load"
            | "store"
            | "exchange"
            | "fetch_add"
            | "fetch_sub"
            | "compare_exchange_strong"
            | "compare_exchange_weak"
    )
}

fn is_sequence(name: &str) -> bool {
    matches!(
        name,
        "vector"
            | "list"
            | "deque"
            | "set"
            | "multiset"
            | "unordered_set"
            | "unordered_multiset"
            | "array"
            | "span"
            | "initializer_list"
            | "stack"
            | "queue"
            | "priority_queue"
            | "forward_list"
            | "valarray"
    )
}

fn is_map(name: &str) -> bool {
    matches!(name, "map" | "multimap" | "unordered_map" | "unordered_multimap")
}

fn pair(ev: &Evaluator<'_>, arguments: &Arguments) -> Value {
    let names: Option<Vec<Name>> = ["std", "pair"].iter().map(|it| ev.world.names.find(it)).collect();
    match (names, arguments.get(..2)) {
        (Some(names), Some(two)) => {
            Value::ExternalInstance(External::new(Origin::StandardLibrary, &names), two.into())
        }
        _ => Value::Unknown,
    }
}

pub(super) fn pair_member(type_name: &str, member: &str, arguments: &Arguments) -> Option<Value> {
    match (type_name, member) {
        ("pair", "first") => arguments.first().cloned(),
        ("pair", "second") => arguments.get(1).cloned(),
        _ => None,
    }
}

/// What a loop over it gives.
pub(super) fn element(ev: &Evaluator<'_>, of: &Value) -> Value {
    let Value::ExternalInstance(external, arguments) = of else { return Value::Unknown };
    match type_name(ev, external) {
        name if is_sequence(name) => arguments.first().cloned().unwrap_or(Value::ExternalResult),
        name if is_map(name) => pair(ev, arguments),
        _ => Value::ExternalResult,
    }
}

/// What a value of a container's member type is: `vector<T>::iterator`. Iterators are as good as pointers.
pub(super) fn member_type(ev: &Evaluator<'_>, member: &External, arguments: &Arguments) -> Option<Value> {
    let [.., of, member] = member.path.as_ref() else { return None };
    let (of, member) = (ev.world.text(*of), ev.world.text(*member));
    let (first, second) = (arguments.first(), arguments.get(1));
    match member {
        "iterator"
        | "const_iterator"
        | "reverse_iterator"
        | "const_reverse_iterator"
        | "value_type"
        | "reference"
        | "const_reference"
        | "pointer"
        | "const_pointer" => match of {
            of if is_sequence(of) => first.cloned(),
            of if is_map(of) => Some(pair(ev, arguments)),
            _ => None,
        },
        "key_type" if is_map(of) || is_sequence(of) => first.cloned(),
        "mapped_type" if is_map(of) => second.cloned(),
        _ => None,
    }
}

pub(super) fn indexed(ev: &Evaluator<'_>, of: &Value) -> Value {
    let Value::ExternalInstance(external, arguments) = of else { return Value::Unknown };
    match type_name(ev, external) {
        name if is_map(name) => arguments.get(1).cloned().unwrap_or(Value::ExternalResult),
        name if is_sequence(name) || is_pointer(name) => {
            arguments.first().cloned().unwrap_or(Value::ExternalResult)
        }
        // A pointer to something from outside.
        _ => of.clone(),
    }
}

/// What a member of a standard type gives; `on` is what it was called on. Iterators are as good as pointers.
pub(super) fn called(ev: &Evaluator<'_>, member: &External, on: &Value) -> Value {
    let Value::ExternalInstance(external, arguments) = on else { return Value::ExternalResult };
    let first = || arguments.first().cloned().unwrap_or(Value::ExternalResult);
    match (type_name(ev, external), type_name(ev, member)) {
        (name, "get" | "value" | "value_or" | "release" | "load") if is_pointer(name) => first(),
        ("weak_ptr", "lock") => first(),
        (name, "front" | "back" | "at" | "top" | "emplace_back" | "data") if is_sequence(name) => first(),
        (name, member) if is_sequence(name) && gives_iterator(member) => first(),
        (name, "at") if is_map(name) => arguments.get(1).cloned().unwrap_or(Value::ExternalResult),
        (name, member) if is_map(name) && gives_iterator(member) => pair(ev, arguments),
        _ => Value::ExternalResult,
    }
}

fn gives_iterator(member: &str) -> bool {
    matches!(
        member,
        "begin"
            | "end"
            | "cbegin"
            | "cend"
            | "rbegin"
            | "rend"
            | "crbegin"
            | "crend"
            | "find"
            | "lower_bound"
            | "upper_bound"
            | "erase"
    )
}

pub(super) fn primitive(ev: &Evaluator<'_>, name: &str) -> Value {
    match ev.world.names.find(name) {
        Some(name) => Value::ExternalInstance(External::new(Origin::StandardLibrary, &[name]), Value::none()),
        None => Value::Unknown,
    }
}

pub(super) fn literal(ev: &Evaluator<'_>, literal: Literal) -> Value {
    match literal {
        Literal::Integer => primitive(ev, "int"),
        Literal::Float => primitive(ev, "double"),
        Literal::Bool => primitive(ev, "bool"),
        Literal::Character => primitive(ev, "char"),
        Literal::String => Value::Iterable(primitive(ev, "char").into()),
        Literal::None => Value::Nothing,
        Literal::Function => Value::Function(Value::Unknown.into()),
        _ => Value::Unknown,
    }
}
