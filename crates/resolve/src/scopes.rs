//! What each scope of a file binds, by name: one sorted list per file, searched by (scope, name).

use knowing_model::facts::{BindingTarget, DeclId, FileFacts, ImportKind, Value};
use rustc_hash::FxHashSet;

use crate::again::keys::{self, Door};
use crate::again::reads;
use crate::names::Name;

/// A scope of a file: its top, or one of its declarations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Scope(u32);

impl Scope {
    pub(crate) const TOP: Scope = Scope(0);

    pub(crate) fn of(decl: Option<DeclId>) -> Scope {
        Scope(decl.map_or(0, |it| it.0 + 1))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) scope: Scope,
    pub(crate) name: Name,
    /// Where the binding begins to hold, for those that care.
    pub(crate) from: u32,
    pub(crate) item: Item,
}

/// Position of what is bound, in the list of its kind in `FileFacts`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Item {
    Decl(DeclId),
    Import(u32),
    Binding(u32),
    /// `mod name;`.
    Module(u32),
}

#[derive(Default)]
pub(crate) struct Scopes {
    /// Hash of the file's path, then those of its declarations: by scope.
    hashes: Vec<u64>,
    entries: Vec<Entry>,
    /// Where the entries of each scope begin, and the end of the last: most scopes have none.
    firsts: Vec<u32>,
    /// Wildcard imports, by scope.
    wildcards: Vec<(Scope, u32)>,
    /// `self.x = ...` by the field it is about: (field, binding).
    field_bindings: Vec<(DeclId, u32)>,
    /// Functions that state no result and what they give back: (function, position in `returns`).
    returns: Vec<(DeclId, u32)>,
}

impl Scopes {
    /// `names` maps the file's own texts to names.
    pub(crate) fn new(path: &str, facts: &FileFacts, names: &[Name]) -> Scopes {
        let hash = keys::file(path);
        let of_decls = facts.decls.iter().map(|it| keys::decl(hash, facts.text(it.path)));
        let mut scopes = Scopes { hashes: [hash].into_iter().chain(of_decls).collect(), ..Scopes::default() };
        let mut push = |scope: Scope, name: Name, from: u32, item: Item| {
            scopes.entries.push(Entry { scope, name, from, item });
        };
        let in_blocks: FxHashSet<DeclId> = facts
            .bindings
            .iter()
            .filter_map(|it| match it.value {
                Value::Decl(id) => Some(id),
                _ => None,
            })
            .collect();
        for (index, decl) in facts.decls.iter().enumerate() {
            let id = DeclId(index as u32);
            // What stands in an impl block is a member of a type, not a name of the scope around it.
            if decl.implementation.is_none() && !in_blocks.contains(&id) {
                push(Scope::of(decl.owner), names[decl.name.index()], decl.range.from, Item::Decl(id));
            }
        }
        for (index, binding) in facts.bindings.iter().enumerate() {
            match binding.target {
                BindingTarget::Name(name) => push(
                    Scope::of(binding.decl),
                    names[name.index()],
                    binding.visible.from,
                    Item::Binding(index as u32),
                ),
                BindingTarget::Field(field) => scopes.field_bindings.push((field, index as u32)),
            }
        }
        for (index, module) in facts.modules.iter().enumerate() {
            push(Scope::of(module.owner), names[module.name.index()], 0, Item::Module(index as u32));
        }
        for (index, import) in facts.imports.iter().enumerate() {
            let scope = Scope::of(import.decl);
            let bound = match import.kind {
                ImportKind::Module { alias } | ImportKind::Member { alias, .. } => alias,
                ImportKind::TopModule => match import.module.first() {
                    Some(first) => *first,
                    None => continue,
                },
                ImportKind::Wildcard => {
                    scopes.wildcards.push((scope, index as u32));
                    continue;
                }
            };
            push(scope, names[bound.index()], import.visible.from, Item::Import(index as u32));
        }
        scopes.entries.sort_unstable_by_key(|it| (it.scope, it.name, it.from, it.item));
        scopes.firsts = firsts(&scopes.entries, scopes.hashes.len());
        scopes.field_bindings.sort_unstable();
        scopes.returns = facts.returns.iter().enumerate().map(|(at, it)| (it.decl, at as u32)).collect();
        scopes.returns.sort_unstable();
        scopes
    }

    /// Of the file's path.
    pub(crate) fn hash(&self) -> u64 {
        self.hashes[0]
    }

    /// Of a declaration's file and symbol path.
    pub(crate) fn hash_of(&self, decl: DeclId) -> u64 {
        self.hashes[decl.index() + 1]
    }

    /// As `hash_of`, of all declarations.
    pub(crate) fn hashes_of_decls(&self) -> &[u64] {
        &self.hashes[1..]
    }

    pub(crate) fn find(&self, scope: Scope, name: Name) -> &[Entry] {
        reads::note_in(self.hash(), Door::Scope, self.hashes[scope.0 as usize], Some(name));
        let [from, to] = [self.firsts[scope.0 as usize], self.firsts[scope.0 as usize + 1]];
        let entries = &self.entries[from as usize..to as usize];
        let begin = entries.partition_point(|it| it.name < name);
        // A name is bound a few times at most.
        let n = entries[begin..].iter().take_while(|it| it.name == name).count();
        &entries[begin..begin + n]
    }

    /// Wildcard imports: their scopes and positions in `FileFacts::imports`.
    pub(crate) fn wildcards(&self) -> &[(Scope, u32)] {
        reads::note_in(self.hash(), Door::Top, self.hash(), None);
        &self.wildcards
    }

    pub(crate) fn field_bindings(&self, field: DeclId) -> impl Iterator<Item = u32> {
        reads::note_in(self.hash(), Door::Decl, self.hash_of(field), None);
        range(&self.field_bindings, field)
    }

    /// Positions in `FileFacts::returns`.
    pub(crate) fn returns(&self, decl: DeclId) -> impl Iterator<Item = u32> {
        reads::note_in(self.hash(), Door::Body, self.hash_of(decl), None);
        range(&self.returns, decl)
    }
}

fn firsts(entries: &[Entry], n_scopes: usize) -> Vec<u32> {
    let mut firsts = vec![0; n_scopes + 1];
    for entry in entries {
        firsts[entry.scope.0 as usize + 1] += 1;
    }
    for scope in 0..n_scopes {
        firsts[scope + 1] += firsts[scope];
    }
    firsts
}

fn range(pairs: &[(DeclId, u32)], decl: DeclId) -> impl Iterator<Item = u32> {
    let begin = pairs.partition_point(|it| it.0 < decl);
    pairs[begin..].iter().take_while(move |it| it.0 == decl).map(|it| it.1)
}
