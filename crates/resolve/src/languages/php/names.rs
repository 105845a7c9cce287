//! What is declared by which whole name, and what a written name may stand for.

use std::collections::BTreeSet;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, FileFacts, ImportKind};
use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::world::{Def, World};

#[derive(Default)]
pub(crate) struct PhpNames {
    types: FxHashMap<String, Vec<Def>>,
    functions: FxHashMap<String, Vec<Def>>,
    constants: FxHashMap<String, Vec<Def>>,
    /// Namespaces that project files say are the project's own, each with its last `\`.
    own: Vec<String>,
    /// Namespaces that files declare something in.
    namespaces: BTreeSet<String>,
}

/// What kind of thing a name is looked for as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Type,
    Function,
    Constant,
}

impl PhpNames {
    pub(crate) fn new(world: &World<'_>) -> PhpNames {
        let mut names = PhpNames::default();
        for file in world.files_of(&["composer", "php"]) {
            let facts = world.facts(file);
            if facts.language == "composer" {
                let aliases = facts.manifest.iter().flat_map(|it| &it.aliases);
                names.own.extend(aliases.map(|it| it.pattern.clone()).filter(|it| !it.is_empty()));
            }
            if facts.language != "php" {
                continue;
            }
            for (index, decl) in facts.decls.iter().enumerate() {
                if decl.owner.is_some() {
                    continue;
                }
                let table = match decl.kind {
                    NodeKind::Function => &mut names.functions,
                    NodeKind::Const => &mut names.constants,
                    kind if kind.is_type_like() => &mut names.types,
                    _ => continue,
                };
                let namespace = facts.namespace_at(decl.range.from).map_or("", |it| facts.text(it));
                if !names.namespaces.contains(namespace) {
                    names.namespaces.insert(namespace.to_owned());
                }
                let whole = joined(namespace, facts.text(decl.name));
                table.entry(whole).or_default().push(world.def(file, DeclId(index as u32)));
            }
        }
        names
    }

    /// What is asked here, and what the answers are.
    pub(crate) fn answers(&self, notary: &mut Notary<'_>) {
        let tables =
            [(Sort::Type, &self.types), (Sort::Function, &self.functions), (Sort::Constant, &self.constants)];
        for (sort, table) in tables {
            table.iter().for_each(|(whole, defs)| {
                notary.push(Door::PhpName, keys::text(sort as u64, whole), None, notary.all(defs));
            });
        }
        let own = self.own.iter().chain(&self.namespaces).fold(0, |state, it| keys::text(state, it));
        notary.push(Door::PhpOwn, 0, None, own);
    }

    /// Whether a name stands in a namespace of the project's own. Packages of one vendor share the begin of their
    /// namespaces, so that there must be something else in it.
    pub(super) fn is_own(&self, whole: &str) -> bool {
        reads::note(Door::PhpOwn, 0, None);
        self.own.iter().any(|it| whole.starts_with(it.as_str()))
            && self.namespaces.contains(whole.rsplit_once('\\').map_or("", |it| it.0))
    }

    /// The class of a whole name.
    pub(crate) fn class(&self, world: &World<'_>, from: u32, whole: &str) -> Option<Def> {
        self.find(world, from, Sort::Type, whole)
    }

    /// What is declared by a whole name; of several the nearest by path, and no test's for other code.
    pub(super) fn find(&self, world: &World<'_>, from: u32, sort: Sort, whole: &str) -> Option<Def> {
        let table = match sort {
            Sort::Type => &self.types,
            Sort::Function => &self.functions,
            Sort::Constant => &self.constants,
        };
        reads::note(Door::PhpName, keys::text(sort as u64, whole), None);
        let all = table.get(whole)?;
        let shared = |def: &Def| {
            let path = world.path(world.file_of(*def));
            world.path(from).split('/').zip(path.split('/')).take_while(|(a, b)| a == b).count()
        };
        all.iter().copied().max_by_key(|it| (!world.is_test_code(*it), shared(it), std::cmp::Reverse(*it)))
    }
}

fn joined(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}\\{name}") }
}

/// The whole names that a written one can stand for, the first that exists counts.
pub(super) fn whole_names(facts: &FileFacts, at: Option<u32>, written: &str, sort: Sort) -> Vec<String> {
    if let Some(absolute) = written.strip_prefix('\\') {
        return vec![absolute.to_owned()];
    }
    let namespace = match at {
        Some(at) => facts.namespace_at(at),
        None => facts.namespaces.first().map(|it| it.name).or(facts.namespace),
    };
    let namespace = namespace.map_or("", |it| facts.text(it));
    if let Some(rest) = written.strip_prefix("namespace\\") {
        return vec![joined(namespace, rest)];
    }
    let (first, rest) = written.split_once('\\').map_or((written, None), |(first, rest)| (first, Some(rest)));
    for import in &facts.imports {
        if let ImportKind::Member { name, alias } = import.kind
            && facts.text(alias) == first
            && (at.is_none_or(|at| import.visible.contains(at)))
        {
            let mut whole: Vec<&str> = import.module.iter().map(|it| facts.text(*it)).collect();
            whole.push(facts.text(name));
            whole.extend(rest);
            return vec![whole.join("\\")];
        }
    }
    let own = joined(namespace, written);
    // Functions and constants of no namespace are seen everywhere.
    if sort != Sort::Type && rest.is_none() && !namespace.is_empty() {
        return vec![own, written.to_owned()];
    }
    vec![own]
}
