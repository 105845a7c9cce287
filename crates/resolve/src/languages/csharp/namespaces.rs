//! Namespaces and the types in them, extension methods by name, usings that hold for many files, partial types.

use knowing_model::facts::{DeclId, ImportKind, ParameterKind};
use knowing_model::{NodeFlags, NodeKind};
use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::names::Name;
use crate::world::{Def, ModuleId, World};

/// The namespace without a name.
pub(super) const GLOBAL: ModuleId = ModuleId(0);

#[derive(Default)]
pub(crate) struct CsharpNamespaces {
    by_text: FxHashMap<String, ModuleId>,
    parents: Vec<Option<ModuleId>>,
    /// Of whole names: the same in every run.
    hashes: Vec<u64>,
    children: FxHashMap<(ModuleId, Name), ModuleId>,
    /// Types that stand in a namespace directly, in the order of files and lines.
    types: FxHashMap<(ModuleId, Name), Vec<Def>>,
    /// Extension methods and the namespace they are offered by.
    extensions: FxHashMap<Name, Vec<(ModuleId, Def)>>,
    /// Usings for all files of a directory and below: file, position in its imports.
    global_usings: FxHashMap<String, Vec<(u32, u32)>>,
    /// Files that declare something in a namespace, sorted.
    files: FxHashMap<ModuleId, Vec<u32>>,
    parts: Vec<Vec<Def>>,
}

impl CsharpNamespaces {
    pub(crate) fn new(world: &World<'_>) -> CsharpNamespaces {
        let mut all = CsharpNamespaces {
            parents: vec![None],
            hashes: vec![keys::name("")],
            ..CsharpNamespaces::default()
        };
        all.by_text.insert(String::new(), GLOBAL);
        let mut partial: FxHashMap<String, Vec<Def>> = FxHashMap::default();
        for file in world.files_of(&["csharp", "dotnet"]) {
            match world.facts(file).language.as_str() {
                "csharp" if !is_listing(world, file) => all.add_file(world, file, &mut partial),
                "dotnet" => all.add_usings(world, file),
                _ => {}
            }
        }
        all.parts = partial.into_values().filter(|it| it.len() > 1).collect();
        all.parts.sort_unstable();
        all
    }

    fn add_file(&mut self, world: &World<'_>, file: u32, partial: &mut FxHashMap<String, Vec<Def>>) {
        let facts = world.facts(file);
        for (index, decl) in facts.decls.iter().enumerate() {
            let def = world.def(file, DeclId(index as u32));
            if decl.kind.is_type_like() {
                let namespace = self.around(world, file, decl.range.from);
                if decl.owner.is_none() {
                    self.types.entry((namespace, world.name(file, decl.name))).or_default().push(def);
                    let files = self.files.entry(namespace).or_default();
                    if files.last() != Some(&file) {
                        files.push(file);
                    }
                }
                let is_partial = facts.text(decl.signature).split_whitespace().any(|it| it == "partial");
                if is_partial {
                    partial.entry(self.key(world, file, def, namespace)).or_default().push(def);
                }
            }
            if decl.parameters.first().is_some_and(|it| it.kind == ParameterKind::Receiver) {
                let namespace = self.around(world, file, decl.range.from);
                self.extensions.entry(world.name(file, decl.name)).or_default().push((namespace, def));
            }
        }
        self.add_usings(world, file);
    }

    /// Usings that hold for a project: written in one of its files, or in the project file.
    fn add_usings(&mut self, world: &World<'_>, file: u32) {
        for (index, import) in world.facts(file).imports.iter().enumerate() {
            if import.reexport {
                let directory = world.path(file).rsplit_once('/').map_or("", |it| it.0);
                self.global_usings.entry(directory.to_owned()).or_default().push((file, index as u32));
            }
        }
    }

    /// What tells a type apart: namespace, owners, names, numbers of type parameters. Types without a namespace are
    /// parts of one another in one directory only: every program may have its own.
    fn key(&self, world: &World<'_>, file: u32, def: Def, namespace: ModuleId) -> String {
        let mut key = match namespace {
            GLOBAL => format!("{}:", world.path(file).rsplit_once('/').map_or("", |it| it.0)),
            namespace => format!("{}.", namespace.0),
        };
        let mut chain = vec![def];
        while let Some(owner) = world.owner(chain[chain.len() - 1]) {
            chain.push(owner);
        }
        for def in chain.into_iter().rev() {
            let decl = world.decl(def).2;
            key += &format!("{}`{}.", world.found_in(file).text(decl.name), decl.type_parameters.len());
        }
        key
    }

    /// The namespace around an offset, made when it is new.
    fn around(&mut self, world: &World<'_>, file: u32, offset: u32) -> ModuleId {
        match world.facts(file).namespace_at(offset) {
            Some(text) => self.make(world, world.found_in(file).text(text)),
            None => GLOBAL,
        }
    }

    fn make(&mut self, world: &World<'_>, text: &str) -> ModuleId {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let (parent, last) = match text.rsplit_once('.') {
            Some((outer, last)) => (self.make(world, outer), last),
            None => (GLOBAL, text),
        };
        let id = ModuleId(self.parents.len() as u32);
        self.parents.push(Some(parent));
        self.hashes.push(keys::name(text));
        self.by_text.insert(text.to_owned(), id);
        // A segment that no file names by itself cannot be asked for by itself.
        if let Some(name) = world.names.find(last) {
            self.children.insert((parent, name), id);
        }
        id
    }

    pub(crate) fn types_in_parts(&self) -> &[Vec<Def>] {
        &self.parts
    }

    /// The namespace that an offset stands in, and those around it, inside out; the nameless one is the last.
    pub(super) fn chain(&self, world: &World<'_>, file: u32, offset: u32) -> Vec<ModuleId> {
        let text = world.facts(file).namespace_at(offset).map(|it| world.found_in(file).text(it));
        let mut at = text.and_then(|it| {
            reads::note(Door::CsharpNamespace, keys::name(it), None);
            self.by_text.get(it).copied()
        });
        let mut chain = Vec::new();
        while let Some(namespace) = at {
            chain.push(namespace);
            at = self.parents[namespace.0 as usize];
        }
        if chain.last() != Some(&GLOBAL) {
            chain.push(GLOBAL);
        }
        chain
    }

    pub(super) fn child(&self, of: ModuleId, name: Name) -> Option<ModuleId> {
        reads::note(Door::Child, self.hashes[of.0 as usize], Some(name));
        self.children.get(&(of, name)).copied()
    }

    pub(super) fn types(&self, of: ModuleId, name: Name) -> &[Def] {
        reads::note(Door::CsharpTypes, self.hashes[of.0 as usize], Some(name));
        self.types.get(&(of, name)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn extensions(&self, name: Name) -> &[(ModuleId, Def)] {
        reads::note(Door::CsharpExtensions, 0, Some(name));
        self.extensions.get(&name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn files(&self, of: ModuleId) -> &[u32] {
        reads::note(Door::CsharpFiles, self.hashes[of.0 as usize], None);
        self.files.get(&of).map_or(&[], Vec::as_slice)
    }

    /// What is asked here, and what the answers are.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        let hash = |it: ModuleId| self.hashes[it.0 as usize];
        for namespace in &self.hashes {
            notary.push(Door::CsharpNamespace, *namespace, None, 1);
        }
        self.children.iter().for_each(|((of, name), child)| {
            notary.push(Door::Child, hash(*of), Some(*name), hash(*child));
        });
        self.types.iter().for_each(|((of, name), types)| {
            notary.push(Door::CsharpTypes, hash(*of), Some(*name), notary.all(types));
        });
        self.extensions.iter().for_each(|(name, all)| {
            let one =
                |state, (of, def): &(ModuleId, Def)| keys::mix(keys::mix(state, hash(*of)), notary.def(*def));
            notary.push(Door::CsharpExtensions, 0, Some(*name), all.iter().fold(0, one));
        });
        self.files.iter().for_each(|(of, files)| {
            notary.push(Door::CsharpFiles, hash(*of), None, notary.files(files));
        });
        let mut usings: Vec<(u32, u32)> = self.global_usings.values().flatten().copied().collect();
        usings.sort_unstable();
        let usings = usings.iter().fold(0, |state, (file, at)| {
            let facts = world.facts(*file);
            let import = &facts.imports[*at as usize];
            let text = |state, it: &knowing_model::facts::Str| keys::text(state, facts.text(*it));
            let bound = match &import.kind {
                ImportKind::Member { name, alias } => [name, alias].into_iter().fold(0, text),
                _ => u64::from(import.level),
            };
            import.module.iter().fold(keys::mix(keys::mix(state, notary.file(*file)), bound), text)
        });
        notary.push(Door::CsharpUsings, 0, None, usings);
    }

    /// Usings of other files that hold for a file, those of the outermost directory first: (file, position in its
    /// imports).
    pub(super) fn global_usings<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (u32, u32)> + 'a {
        reads::note(Door::CsharpUsings, 0, None);
        let below = path.match_indices('/').map(move |(at, _)| &path[..at]);
        let all = &self.global_usings;
        std::iter::once("").chain(below).filter_map(|it| all.get(it)).flatten().copied()
    }
}

/// A listing of what an assembly offers, which declares all of it once more.
fn is_listing(world: &World<'_>, file: u32) -> bool {
    world.facts(file).flags.contains(NodeFlags::GENERATED)
        && world.path(file).split('/').any(|it| matches!(it, "api" | "ref"))
}

/// Whether a declaration is a type that has members.
pub(super) fn is_type(kind: NodeKind) -> bool {
    kind.is_type_like() && kind != NodeKind::Module
}
