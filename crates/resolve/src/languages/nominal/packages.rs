//! Packages (or namespaces) as a tree of names, and what stands at the top of each.

use knowing_model::NodeKind;
use knowing_model::facts::DeclId;
use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::names::Name;
use crate::world::{Def, ModuleId, World};

/// The packages of the files of one family of languages. A package is a `ModuleId`; 0 is the one without a name.
#[derive(Default)]
pub(crate) struct Packages {
    children: FxHashMap<(ModuleId, Name), ModuleId>,
    members: FxHashMap<(ModuleId, Name), Vec<Def>>,
    of_file: Vec<ModuleId>,
    paths: Vec<Vec<Name>>,
    /// Of paths: the same in every run.
    hashes: Vec<u64>,
    file_hashes: Vec<u64>,
    parts: Vec<Vec<Def>>,
}

pub(crate) const ROOT: ModuleId = ModuleId(0);

impl Packages {
    /// `separator` stands between the segments of a package clause.
    pub(crate) fn new(world: &World<'_>, languages: &[&str], separator: char) -> Packages {
        let mut packages = Packages {
            paths: vec![Vec::new()],
            hashes: vec![1],
            file_hashes: (0..world.n_files() as u32).map(|it| world.file_hash(it)).collect(),
            ..Packages::default()
        };
        for file in 0..world.n_files() as u32 {
            let facts = world.facts(file);
            if !languages.contains(&facts.language.as_str()) {
                packages.of_file.push(ROOT);
                continue;
            }
            let clause = facts.namespace.map_or("", |it| facts.text(it));
            let package = packages.open(world, ROOT, clause, separator);
            packages.of_file.push(package);
            for (index, decl) in facts.decls.iter().enumerate() {
                if decl.owner.is_none() && decl.implementation.is_none() && decl.kind != NodeKind::Module {
                    let def = world.def(file, DeclId(index as u32));
                    packages.members.entry((package, world.name(file, decl.name))).or_default().push(def);
                }
            }
        }
        packages.parts = packages.of_platforms(world);
        packages
    }

    /// Types that are expected by code that several platforms share, with what each platform has of them.
    fn of_platforms(&self, world: &World<'_>) -> Vec<Vec<Def>> {
        let is_marked = |it: Def, mark| world.kind(it).is_type_like() && is_marked(world, it, mark);
        let of_name = |all: &Vec<Def>| {
            let is_part = |it: &Def| is_marked(*it, "expect") || is_marked(*it, "actual");
            let parts: Vec<Def> = all.iter().copied().filter(is_part).collect();
            (parts.len() > 1 && parts.iter().any(|it| is_marked(*it, "expect"))).then_some(parts)
        };
        let mut found: Vec<Vec<Def>> =
            self.members.values().filter(|it| it.len() > 1).filter_map(of_name).collect();
        found.sort_unstable();
        found
    }

    pub(crate) fn types_in_parts(&self) -> &[Vec<Def>] {
        &self.parts
    }

    /// The package of a path below another, made when it is new. A segment that no file names stays without a way to it.
    fn open(&mut self, world: &World<'_>, from: ModuleId, path: &str, separator: char) -> ModuleId {
        let mut at = from;
        for segment in path.split(separator).filter(|it| !it.is_empty()) {
            let Some(name) = world.names.find(segment) else { continue };
            let next = ModuleId(self.paths.len() as u32);
            let found = *self.children.entry((at, name)).or_insert(next);
            if found == next {
                let path = self.paths[at.0 as usize].iter().copied().chain([name]).collect();
                self.paths.push(path);
                self.hashes.push(keys::mix(self.hashes[at.0 as usize], world.names.hash(name)));
            }
            at = found;
        }
        at
    }

    pub(crate) fn of_file(&self, file: u32) -> ModuleId {
        reads::note(Door::PackageOf, self.file_hashes.get(file as usize).copied().unwrap_or(0), None);
        self.of_file.get(file as usize).copied().unwrap_or(ROOT)
    }

    pub(crate) fn child(&self, package: ModuleId, name: Name) -> Option<ModuleId> {
        reads::note(Door::Child, self.hashes[package.0 as usize], Some(name));
        self.children.get(&(package, name)).copied()
    }

    /// What is asked here, and what the answers are.
    pub(crate) fn answers(&self, _: &World<'_>, notary: &mut Notary<'_>) {
        let hash = |it: ModuleId| self.hashes[it.0 as usize];
        for (file, package) in self.file_hashes.iter().zip(&self.of_file) {
            notary.push(Door::PackageOf, *file, None, hash(*package));
        }
        self.children.iter().for_each(|((package, name), child)| {
            notary.push(Door::Child, hash(*package), Some(*name), hash(*child));
        });
        self.members.iter().for_each(|((package, name), members)| {
            notary.push(Door::PackageMembers, hash(*package), Some(*name), notary.all(members));
        });
    }

    pub(crate) fn path(&self, package: ModuleId) -> &[Name] {
        &self.paths[package.0 as usize]
    }

    /// Whether the package itself, not only one below it, declares something.
    pub(crate) fn members(&self, package: ModuleId, name: Name) -> &[Def] {
        reads::note(Door::PackageMembers, self.hashes[package.0 as usize], Some(name));
        self.members.get(&(package, name)).map_or(&[], Vec::as_slice)
    }

    /// The type of a name, seen from a file: where several source trees declare it, the one that is nearest.
    pub(crate) fn type_named(
        &self,
        world: &World<'_>,
        from: u32,
        package: ModuleId,
        name: Name,
    ) -> Option<Def> {
        let types =
            || self.members(package, name).iter().copied().filter(|it| world.kind(*it).is_type_like());
        let first = types().next()?;
        if types().nth(1).is_none() {
            return Some(first);
        }
        types().max_by_key(|it| {
            let near = near(world.path(from), world.path(world.file_of(*it)));
            (near, is_marked(world, *it, "expect"), std::cmp::Reverse(*it))
        })
    }
}

/// Whether a word stands before what is declared: `expect class A`.
fn is_marked(world: &World<'_>, def: Def, mark: &str) -> bool {
    let (file, _, decl) = world.decl(def);
    world.found_in(file).text(decl.signature).split_whitespace().take(8).any(|it| it == mark)
}

/// How many directories two paths share from the top.
pub(crate) fn near(one: &str, other: &str) -> usize {
    let mut segments = one.split('/').zip(other.split('/'));
    let mut n = 0;
    while segments.next().is_some_and(|(one, other)| one == other) {
        n += 1;
    }
    n
}
