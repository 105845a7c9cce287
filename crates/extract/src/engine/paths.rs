//! Symbol paths: owners and name joined with `.`, and what tells equal ones apart.

use knowing_model::NodeKind;
use knowing_model::facts::{Decl, DeclId, FileFacts, Modifiers, ParameterKind, Str, Type, TypeId};
use knowing_model::name::bounded;
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives every declaration its path; owners come before what they own. `owner_path` says what stands before the name
/// where it is not the owner's path.
pub(crate) fn assign(facts: &mut FileFacts, owner_path: fn(&FileFacts, DeclId) -> Option<String>) {
    let overloaded = overloaded(facts);
    let mut interned: FxHashMap<String, Str> = FxHashMap::default();
    let mut taken: FxHashMap<String, Taken> = FxHashMap::default();
    for index in 0..facts.decls.len() {
        let id = DeclId(u32::try_from(index).unwrap_or(u32::MAX));
        let decl = &facts.decls[index];
        let owner =
            owner_path(facts, id).or_else(|| decl.owner.map(|it| facts.text(facts.decl(it).path).to_owned()));
        let name = facts.text(decl.name);
        let mut path = match owner {
            Some(owner) if !owner.is_empty() => format!("{owner}.{name}"),
            _ => name.to_owned(),
        };
        if overloaded.contains(&(decl.owner, decl.path, decl.name)) && decl.kind.is_callable() {
            path.push_str(&parameter_types(facts, decl));
        }
        let path = bounded(&path).into_owned();
        let path = distinct(path, decl.kind, &mut taken);
        let next = Str(u32::try_from(facts.strings.len()).unwrap_or(u32::MAX));
        let text = *interned.entry(path).or_insert_with_key(|path| {
            facts.strings.push(path);
            next
        });
        facts.decls[index].path = text;
    }
}

/// Callables that stand beside an overload of the same name; until paths are given, `path` holds what qualifies a name
/// besides its owner.
fn overloaded(facts: &FileFacts) -> FxHashSet<(Option<DeclId>, Str, Str)> {
    facts
        .decls
        .iter()
        .filter(|it| it.modifiers.contains(Modifiers::OVERLOAD))
        .map(|it| (it.owner, it.path, it.name))
        .collect()
}

/// How often a path was given: to callables and types, and to values.
#[derive(Default)]
struct Taken {
    symbols: u32,
    values: u32,
}

/// Second and later holders of a path get `#2`, `#3` ...; a field may share its path with a method, because the kind
/// tells them apart.
fn distinct(path: String, kind: NodeKind, taken: &mut FxHashMap<String, Taken>) -> String {
    let slot = taken.entry(path.clone()).or_default();
    let count = if is_value(kind) { &mut slot.values } else { &mut slot.symbols };
    *count += 1;
    let count = *count;
    if count == 1 { path } else { format!("{path}#{count}") }
}

fn is_value(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Field | NodeKind::Var | NodeKind::Const | NodeKind::EnumMember)
}

/// `(int,T)`: the receiver of a method left out, generic arguments erased, nothing for what has no type.
fn parameter_types(facts: &FileFacts, decl: &Decl) -> String {
    let types: Vec<String> = decl
        .parameters
        .iter()
        // The receiver of an extension method tells it apart as any other parameter does.
        .filter(|it| it.kind != ParameterKind::Receiver || decl.modifiers.contains(Modifiers::STATIC))
        .map(|it| {
            let text = it.type_.map_or_else(String::new, |type_| type_text(facts, type_, 0));
            if it.kind == ParameterKind::Rest { format!("{text}...") } else { text }
        })
        .collect();
    format!("({})", types.join(","))
}

fn type_text(facts: &FileFacts, type_: TypeId, depth: usize) -> String {
    let joined = |types: &[TypeId], separator: &str| {
        types.iter().map(|it| type_text(facts, *it, depth + 1)).collect::<Vec<_>>().join(separator)
    };
    if depth > 8 {
        return String::new();
    }
    match facts.type_(type_) {
        // A pointer.
        Type::Named { segments, arguments, .. } if matches!(segments.as_slice(), [only] if facts.text(*only) == "*") =>
        {
            format!("{}*", joined(arguments, ","))
        }
        Type::Named { segments, .. } => {
            segments.iter().map(|it| facts.text(*it)).collect::<Vec<_>>().join(".")
        }
        Type::Projection { name, .. } => facts.text(*name).to_owned(),
        Type::Union(types) => joined(types, "|"),
        Type::Tuple(types) => format!("({})", joined(types, ",")),
        Type::Sequence(of) => format!("{}[]", type_text(facts, *of, depth + 1)),
        Type::Bounds(types) => joined(types, "+"),
        Type::Function(_) => "fn".to_owned(),
        Type::Unknown => "?".to_owned(),
    }
}
