//! What is known of types from outside: where the common ones are, what holds what, what gives what.

use super::tables::{
    COLLECTIONS, COMMON_MEMBERS, DELEGATES, GIVES_ARGUMENT, KEYWORDS, NUMBERS, ONE_ELEMENT, SAME_ELEMENTS,
    SEALED, TAKES_ELEMENT, TYPES,
};
use crate::evaluate::Evaluator;
use crate::names::Name;
use crate::value::{External, Origin, Value};

/// `int`, `string`: the type they stand for.
pub(super) fn keyword(ev: &Evaluator<'_>, text: &str) -> Option<Value> {
    if text == "dynamic" {
        return Some(Value::Unknown);
    }
    let at = KEYWORDS.binary_search_by_key(&text, |it| it.0).ok()?;
    Some(entity(ev, KEYWORDS[at].1))
}

/// A type of the base library by its simple name.
pub(super) fn entity(ev: &Evaluator<'_>, name: &str) -> Value {
    match path_of_type(ev, name) {
        Some(path) => Value::External(External::new(Origin::StandardLibrary, &path)),
        None => Value::Unknown,
    }
}

pub(super) fn instance(ev: &Evaluator<'_>, name: &str, arguments: Vec<Value>) -> Value {
    match entity(ev, name) {
        Value::External(external) => Value::ExternalInstance(external, arguments.into()),
        other => other,
    }
}

pub(super) fn member(ev: &Evaluator<'_>, type_: &str, name: Name) -> Value {
    match entity(ev, type_) {
        Value::External(external) => Value::External(external.member(name)),
        other => other,
    }
}

/// The whole path of a common type: `System Collections Generic List`.
pub(super) fn path_of_type(ev: &Evaluator<'_>, name: &str) -> Option<Vec<Name>> {
    let at = TYPES.binary_search_by_key(&name, |it| it.0).ok()?;
    let (type_, namespace) = TYPES[at];
    namespace.split('.').chain([type_]).map(|it| ev.world.names.find(it)).collect()
}

/// Something outside by a path as written.
pub(super) fn named(ev: &Evaluator<'_>, path: &[Name]) -> External {
    let is_standard = path.first().is_some_and(|it| ev.world.text(*it) == "System");
    External::new(if is_standard { Origin::StandardLibrary } else { Origin::ThirdParty }, path)
}

/// How many leading segments of a path from outside are its namespace.
pub(super) fn n_namespace(texts: &[&str]) -> usize {
    let known = |at: &usize| TYPES.binary_search_by_key(&texts[*at], |it| it.0).is_ok();
    let type_ = (0..texts.len()).skip(1).find(known);
    type_.unwrap_or_else(|| texts.len().saturating_sub(1).max(1))
}

fn last<'w>(ev: &Evaluator<'w>, external: &External) -> &'w str {
    external.last().map_or("", |it| ev.world.text(it))
}

pub(super) fn is_object_member(name: &str) -> bool {
    matches!(name, "ToString" | "Equals" | "GetHashCode" | "GetType" | "MemberwiseClone" | "ReferenceEquals")
}

pub(super) fn is_sealed(name: &str) -> bool {
    SEALED.binary_search(&name).is_ok() || is_number(name)
}

/// Whether a value of this type is never missing.
pub(super) fn is_value_type(name: &str) -> bool {
    is_number(name)
        || matches!(
            name,
            "Boolean" | "Char" | "DateTime" | "DateTimeOffset" | "Guid" | "TimeSpan" | "CancellationToken"
        )
}

pub(super) fn is_number(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// Whether a number of one type is taken for another without being asked.
pub(super) fn widens(from: &str, to: &str) -> bool {
    let rank = |name: &str| NUMBERS.iter().position(|it| *it == name);
    match (rank(from), rank(to)) {
        // A literal is an `Int32`, and small ones fit everywhere.
        (Some(_), Some(_)) if from == "Int32" => true,
        (Some(from), Some(to)) => from < to && to != NUMBERS.len() - 1,
        _ => false,
    }
}

pub(super) fn is_delegate(name: &str) -> bool {
    DELEGATES.binary_search(&name).is_ok()
}

pub(super) fn is_collection(name: &str) -> bool {
    COLLECTIONS.binary_search(&name).is_ok()
}

/// Whether every `narrow` is a `wide`.
pub(super) fn is_wider_collection(wide: &str, narrow: &str) -> bool {
    match wide {
        "IEnumerable" => narrow != "IAsyncEnumerable",
        "ICollection" | "IReadOnlyCollection" => {
            !matches!(narrow, "IEnumerable" | "IAsyncEnumerable" | "IQueryable")
        }
        "IReadOnlyList" | "IList" => {
            matches!(narrow, "List" | "Array" | "ImmutableArray" | "ImmutableList" | "Collection")
        }
        "ReadOnlySpan" | "Span" | "ReadOnlyMemory" | "Memory" => narrow == "Array" || narrow == "Span",
        "IDictionary" | "IReadOnlyDictionary" => {
            matches!(
                narrow,
                "Dictionary"
                    | "ConcurrentDictionary"
                    | "SortedDictionary"
                    | "ImmutableDictionary"
                    | "FrozenDictionary"
            )
        }
        "ISet" | "IReadOnlySet" => matches!(narrow, "HashSet" | "SortedSet" | "ImmutableHashSet"),
        _ => false,
    }
}

/// What a value from outside can be gone through for.
pub(super) fn element(ev: &Evaluator<'_>, of: &Value) -> Value {
    match of {
        Value::Iterable(of) => (**of).clone(),
        Value::ExternalInstance(external, arguments) => {
            let name = last(ev, external);
            match (name, arguments.len()) {
                ("String", _) => instance(ev, "Char", vec![]),
                (name, 2) if name.contains("Dictionary") => instance(ev, "KeyValuePair", arguments.to_vec()),
                (_, 1) if is_collection(name) => arguments[0].clone(),
                _ => Value::ExternalResult,
            }
        }
        Value::ExternalResult => Value::ExternalResult,
        _ => Value::Unknown,
    }
}

/// Whether one of the types that data is read from and written to is below another; none when one of them is no such
/// type.
pub(super) fn reads_as(have: &str, want: &str) -> Option<bool> {
    const BASES: [&str; 5] = ["BinaryReader", "BinaryWriter", "Stream", "TextReader", "TextWriter"];
    let above = |name: &str| match name {
        "BrotliStream" | "BufferedStream" | "CryptoStream" | "DeflateStream" | "FileStream"
        | "GZipStream" | "MemoryStream" | "NetworkStream" | "SslStream" => Some("Stream"),
        "StreamReader" | "StringReader" => Some("TextReader"),
        "StreamWriter" | "StringWriter" => Some("TextWriter"),
        _ => BASES.into_iter().find(|it| *it == name),
    };
    above(want)?;
    above(have).map(|it| it == want)
}

/// What brackets give.
pub(super) fn indexed(ev: &Evaluator<'_>, of: &Value) -> Value {
    match of {
        Value::ExternalInstance(external, arguments) => match (last(ev, external), arguments.len()) {
            ("String", _) => instance(ev, "Char", vec![]),
            (_, 2) => arguments[1].clone(),
            (name, 1) if is_collection(name) => arguments[0].clone(),
            _ => Value::ExternalResult,
        },
        Value::ExternalResult => Value::ExternalResult,
        _ => Value::Unknown,
    }
}

/// Properties that give back what a value was made of.
pub(super) fn property(ev: &Evaluator<'_>, of: &Value, name: Name) -> Option<Value> {
    let Value::ExternalInstance(external, arguments) = of else { return None };
    let text = ev.world.text(name);
    let type_ = last(ev, external);
    match (type_, text, &arguments[..]) {
        ("KeyValuePair" | "DictionaryEntry", "Key", [key, _]) => Some(key.clone()),
        ("KeyValuePair", "Value", [_, value]) => Some(value.clone()),
        ("IGrouping", "Key", [key, _]) => Some(key.clone()),
        (_, "Keys", [key, _]) => Some(Value::Iterable(key.clone().into())),
        (_, "Values", [_, value]) => Some(Value::Iterable(value.clone().into())),
        ("Mock", "Object", [of]) => Some(of.clone()),
        (
            "Lazy" | "IOptions" | "IOptionsSnapshot" | "AsyncLocal" | "ThreadLocal" | "StrongBox"
            | "Nullable",
            "Value",
            [of],
        ) => Some(of.clone()),
        ("IOptionsMonitor", "CurrentValue", [of]) | ("IEnumerator", "Current", [of]) => Some(of.clone()),
        ("LinkedListNode" | "IMemoryOwner", "Value", [of]) => Some(of.clone()),
        _ => None,
    }
}

/// What a method from outside gives, by what it is called on.
pub(super) fn called(ev: &Evaluator<'_>, name: &str, on: &Value, types: &[Value]) -> Value {
    if let [only] = types
        && GIVES_ARGUMENT.binary_search(&name).is_ok()
    {
        return match name {
            "Cast" | "OfType" | "GetServices" => Value::Iterable(only.clone().into()),
            name if name.ends_with("Async") => Value::Awaitable(only.clone().into()),
            _ => only.clone(),
        };
    }
    match name {
        "ToString" | "Trim" | "TrimStart" | "TrimEnd" | "Substring" | "ToLowerInvariant"
        | "ToUpperInvariant" | "ToLower" | "ToUpper" => return instance(ev, "String", vec![]),
        "Join" | "Format" | "Concat" if is_text(ev, on) => return instance(ev, "String", vec![]),
        "GetHashCode" | "IndexOf" | "CompareTo" => return instance(ev, "Int32", vec![]),
        "Equals" | "StartsWith" | "EndsWith" | "IsNullOrEmpty" | "IsNullOrWhiteSpace" => {
            return instance(ev, "Boolean", vec![]);
        }
        "AsSpan" if is_text(ev, on) => {
            let character = instance(ev, "Char", vec![]);
            return instance(ev, "ReadOnlySpan", vec![character]);
        }
        "GetType" => return instance(ev, "Type", vec![]),
        _ => {}
    }
    match (name, on) {
        ("ConfigureAwait" | "WaitAsync" | "AsTask", Value::Awaitable(_)) => on.clone(),
        ("GetAwaiter", Value::Awaitable(_)) => on.clone(),
        ("GetResult", Value::Awaitable(result)) => (**result).clone(),
        _ if matches!(on, Value::Iterable(_) | Value::ExternalInstance(..)) => {
            let element = element(ev, on);
            if !element.is_known() || element == Value::ExternalResult {
                return held(ev, name, on).unwrap_or(Value::ExternalResult);
            }
            if ONE_ELEMENT.binary_search(&name).is_ok() {
                return element;
            }
            if SAME_ELEMENTS.binary_search(&name).is_ok() {
                return Value::Iterable(element.into());
            }
            held(ev, name, on).unwrap_or(Value::ExternalResult)
        }
        _ => Value::ExternalResult,
    }
}

/// `TimeSpan.FromSeconds()`, `Guid.NewGuid()`, `int.Parse()`: a static method that makes a value of its own type.
pub(super) fn made_by(ev: &Evaluator<'_>, external: &External) -> Option<Value> {
    let [.., type_, name] = external.path[..] else { return None };
    let (type_, name) = (ev.world.text(type_), ev.world.text(name));
    match (type_, name) {
        ("Task" | "ValueTask", "Delay" | "WhenAll" | "Yield") => {
            Some(Value::Awaitable(Value::Nothing.into()))
        }
        _ if is_sealed(type_) && ["From", "Parse", "New", "Create"].iter().any(|it| name.starts_with(it)) => {
            Some(instance(ev, type_, vec![]))
        }
        _ => None,
    }
}

fn is_text(ev: &Evaluator<'_>, value: &Value) -> bool {
    match value {
        Value::ExternalInstance(external, _) | Value::External(external) => last(ev, external) == "String",
        _ => false,
    }
}

/// What methods of containers hand out.
fn held(ev: &Evaluator<'_>, name: &str, on: &Value) -> Option<Value> {
    let Value::ExternalInstance(external, arguments) = on else { return None };
    match (last(ev, external), name, &arguments[..]) {
        (_, "GetValueOrDefault" | "GetOrAdd" | "AddOrUpdate", [_, value]) => Some(value.clone()),
        (_, "Dequeue" | "Peek" | "Pop" | "Get" | "Rent" | "GetValueOrDefault" | "Take", [of]) => {
            Some(of.clone())
        }
        ("Func", "Invoke", [.., result]) => Some(result.clone()),
        ("String", "Replace" | "Insert" | "Remove" | "PadLeft" | "PadRight" | "Normalize", _) => {
            Some(instance(ev, "String", vec![]))
        }
        _ => None,
    }
}

/// What comes out through `out var x` of a method from outside.
pub(super) fn put_out(ev: &Evaluator<'_>, name: &str, on: &Value) -> Value {
    match (name, on) {
        ("TryGetValue" | "TryRemove" | "Remove", Value::ExternalInstance(_, arguments)) => {
            arguments.last().cloned().unwrap_or(Value::ExternalResult)
        }
        ("TryDequeue" | "TryPeek" | "TryPop" | "TryTake" | "TryRead", _) => element(ev, on),
        _ => Value::ExternalResult,
    }
}

/// Whether a lambda handed to this method gets an element as its parameter number `index`.
pub(super) fn takes_element(name: &str, index: u8) -> bool {
    match name {
        "Aggregate" => index == 1,
        "Zip" | "Join" | "GroupJoin" => index == 0,
        _ => index == 0 && TAKES_ELEMENT.binary_search(&name).is_ok(),
    }
}

pub(super) fn is_common_member(name: &str) -> bool {
    COMMON_MEMBERS.binary_search(&name).is_ok()
}
