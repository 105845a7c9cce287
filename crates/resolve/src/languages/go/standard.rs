//! What the language and its library give without being asked: names of the universe, and a few types whose members
//! matter because they are embedded or iterated everywhere.

use knowing_model::facts::Literal;

use crate::evaluate::Evaluator;
use crate::names::Name;
use crate::value::{External, Origin, Value};

/// Functions of the universe.
const FUNCTIONS: [&str; 18] = [
    "append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len", "make", "max", "min",
    "new", "panic", "print", "println", "real", "recover",
];

/// Types of the universe.
const TYPES: [&str; 22] = [
    "any",
    "bool",
    "byte",
    "comparable",
    "complex128",
    "complex64",
    "error",
    "float32",
    "float64",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "rune",
    "string",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];

/// Words that types without a name are written under, and what else the rules look for.
const WORDS: [&str; 9] =
    ["builtin", "map", "chan", "struct", "type parameter", "iter", "Seq", "Seq2", "Pointer"];

/// Types of the library that are called like functions to convert something.
const CONVERSIONS: [(&str, &str); 20] = [
    ("context", "CancelFunc"),
    ("encoding/json", "Number"),
    ("encoding/json", "RawMessage"),
    ("flag", "ErrorHandling"),
    ("html/template", "HTML"),
    ("html/template", "JS"),
    ("html/template", "URL"),
    ("io/fs", "FileMode"),
    ("net", "IP"),
    ("net/http", "Dir"),
    ("net/http", "HandlerFunc"),
    ("net/http", "Header"),
    ("net/url", "Values"),
    ("os", "FileMode"),
    ("reflect", "Kind"),
    ("sort", "Float64Slice"),
    ("sort", "IntSlice"),
    ("sort", "StringSlice"),
    ("time", "Duration"),
    ("time", "Month"),
];

/// Members of types that are often embedded, or fulfilled.
const MEMBERS: [(&str, &str, &[&str]); 22] = [
    ("builtin", "error", &["Error"]),
    ("context", "Context", &["Deadline", "Done", "Err", "Value"]),
    ("encoding", "TextMarshaler", &["MarshalText"]),
    ("encoding", "TextUnmarshaler", &["UnmarshalText"]),
    ("encoding/json", "Marshaler", &["MarshalJSON"]),
    ("encoding/json", "Unmarshaler", &["UnmarshalJSON"]),
    ("fmt", "Stringer", &["String"]),
    ("io", "Closer", &["Close"]),
    ("io", "ReadCloser", &["Close", "Read"]),
    ("io", "ReadWriteCloser", &["Close", "Read", "Write"]),
    ("io", "ReadWriter", &["Read", "Write"]),
    ("io", "Reader", &["Read"]),
    ("io", "ReaderAt", &["ReadAt"]),
    ("io", "Seeker", &["Seek"]),
    ("io", "WriteCloser", &["Close", "Write"]),
    ("io", "Writer", &["Write"]),
    ("net/http", "Handler", &["ServeHTTP"]),
    ("net/http", "RoundTripper", &["RoundTrip"]),
    ("sort", "Interface", &["Len", "Less", "Swap"]),
    ("sync", "Locker", &["Lock", "Unlock"]),
    ("sync", "Mutex", &["Lock", "TryLock", "Unlock"]),
    ("sync", "RWMutex", &["Lock", "RLock", "RLocker", "RUnlock", "TryLock", "TryRLock", "Unlock"]),
];

pub(super) fn vocabulary() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter().chain(TYPES).chain(WORDS)
}

/// A function, type or value of the universe.
pub(super) fn universe(ev: &Evaluator<'_>, name: Name) -> Option<Value> {
    let text = ev.world.text(name);
    if FUNCTIONS.binary_search(&text).is_ok() || TYPES.binary_search(&text).is_ok() {
        return Some(Value::External(builtin(ev, text)?));
    }
    matches!(text, "nil" | "true" | "false" | "iota").then_some(Value::Nothing)
}

fn builtin(ev: &Evaluator<'_>, name: &str) -> Option<External> {
    let names = &ev.world.names;
    Some(External::new(Origin::StandardLibrary, &[names.find("builtin")?, names.find(name)?]))
}

pub(super) fn instance(ev: &Evaluator<'_>, name: &str, arguments: &[Value]) -> Value {
    match builtin(ev, name) {
        Some(external) => Value::ExternalInstance(external, arguments.into()),
        None => Value::Unknown,
    }
}

pub(super) fn is_builtin(ev: &Evaluator<'_>, external: &External, name: &str) -> bool {
    match external.path[..] {
        [builtin, last] => ev.world.text(builtin) == "builtin" && ev.world.text(last) == name,
        _ => false,
    }
}

/// Whether calling something outside converts a value.
pub(super) fn is_type(ev: &Evaluator<'_>, external: &External) -> bool {
    match external.path[..] {
        [package, name] => {
            let (package, name) = (ev.world.text(package), ev.world.text(name));
            package == "builtin" && TYPES.binary_search(&name).is_ok()
                || CONVERSIONS.binary_search(&(package, name)).is_ok()
        }
        _ => false,
    }
}

/// The members of a type of the library, when they are known here.
pub(super) fn members(ev: &Evaluator<'_>, external: &External) -> Option<&'static [&'static str]> {
    let [package, name] = external.path[..] else { return None };
    let key = (ev.world.text(package), ev.world.text(name));
    let at = MEMBERS.binary_search_by_key(&key, |(package, name, _)| (*package, *name)).ok()?;
    Some(MEMBERS[at].2)
}

pub(super) fn literal(ev: &Evaluator<'_>, literal: Literal) -> Value {
    let name = match literal {
        Literal::None => return Value::Nothing,
        Literal::Bool => "bool",
        Literal::Integer => "int",
        Literal::Float => "float64",
        Literal::String => "string",
        Literal::Character => "rune",
        _ => return Value::Unknown,
    };
    instance(ev, name, &[])
}

/// What a range over a value from outside gives: key and value, or what an iterator says.
pub(super) fn element(ev: &Evaluator<'_>, external: &External, arguments: &[Value]) -> Value {
    let last = external.last().map_or("", |it| ev.world.text(it));
    match last {
        "map" | "Seq2" | "Seq" => Value::Tuple(arguments.into()),
        "string" => Value::Tuple([instance(ev, "int", &[]), instance(ev, "rune", &[])].into()),
        "int" => Value::Tuple([instance(ev, "int", &[])].into()),
        _ => Value::Tuple([Value::ExternalResult, Value::ExternalResult].into()),
    }
}
