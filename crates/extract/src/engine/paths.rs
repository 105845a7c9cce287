//! Symbol paths: owners and name joined with `.`, and what tells equal ones apart.

use knowing_model::NodeKind;
use knowing_model::facts::{Decl, DeclId, FileFacts, Modifiers, ParameterKind, Str, Type, TypeId};
use knowing_model::name::bounded;
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives every declaration its path; owners come before what they own. `owner_path` says what stands before the name
/// where it is not the owner's path.
///
/// What tells equal ones apart stands at the end alone: the members of a second `Cart<T>` are `Cart.add` like those of the
/// first, and one that both have is `Cart.add#2` there.
pub(crate) fn assign(facts: &mut FileFacts, owner_path: fn(&FileFacts, DeclId) -> Option<String>) {
    let overloaded = overloaded(facts);
    let mut interned: FxHashMap<String, Str> = FxHashMap::default();
    for index in 0..facts.decls.len() {
        let id = DeclId(u32::try_from(index).unwrap_or(u32::MAX));
        let decl = &facts.decls[index];
        let owner = owner_path(facts, id)
            .or_else(|| named(facts, decl.owner).map(|it| facts.text(facts.decl(it).path).to_owned()));
        let name = facts.text(decl.name);
        let mut path = match owner {
            Some(owner) if !owner.is_empty() => format!("{owner}.{name}"),
            _ => name.to_owned(),
        };
        if overloaded.contains(&(decl.owner, decl.path, decl.name)) && decl.kind.is_callable() {
            path.push_str(&parameter_types(facts, decl));
        }
        let path = bounded(&path).into_owned();
        facts.decls[index].path = intern(facts, &mut interned, path);
    }
    number(facts, &mut interned);
}

/// What stands around a class without a name, where it is one: `Shop.open.run` is told by what it is in, not by `<Runnable>`.
fn named(facts: &FileFacts, mut owner: Option<DeclId>) -> Option<DeclId> {
    while let Some(decl) = owner.map(|it| facts.decl(it))
        && decl.kind.is_type_like()
        && facts.text(decl.name).starts_with('<')
    {
        owner = decl.owner;
    }
    owner
}

/// Second and later holders of a path get `#2`, `#3` ...; a field may share its path with a method, and a class with an
/// interface that adds to it, because the kind tells them apart.
fn number(facts: &mut FileFacts, interned: &mut FxHashMap<String, Str>) {
    let mut n_holders: FxHashMap<(Str, NodeKind), u32> = FxHashMap::default();
    for index in 0..facts.decls.len() {
        let (path, kind) = (facts.decls[index].path, facts.decls[index].kind);
        let count = n_holders.entry((path, kind)).or_default();
        *count += 1;
        if *count > 1 {
            let path = format!("{}#{count}", facts.text(path));
            facts.decls[index].path = intern(facts, interned, path);
        }
    }
}

fn intern(facts: &mut FileFacts, interned: &mut FxHashMap<String, Str>, path: String) -> Str {
    *interned.entry(path).or_insert_with_key(|path| {
        let next = Str(u32::try_from(facts.strings.len()).unwrap_or(u32::MAX));
        facts.strings.push(path);
        next
    })
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
