//! Which packages and modules there are: what a directory's files declare together, and where an import path leads.
//!
//! An import leads to a directory of the repository by the first of: the vendor directory, the module around the file,
//! what that module (or `go.work`) replaces, any other module of the repository, the repository's own url. Else it leads
//! outside: to the standard library when its first segment has no dot.

use knowing_model::facts::{DeclId, ImportKind};
use rustc_hash::FxHashMap;

use super::conditions::{Condition, Config};
use crate::again::keys::{self, Door};
use crate::again::{Notary, Table, reads};
use crate::names::Name;
use crate::paths::join;
use crate::value::Origin;
use crate::world::{Def, ModuleId, World};

mod renewed;

#[derive(Default)]
pub(crate) struct GoPackages {
    packages: Vec<Package>,
    file_hashes: Vec<u64>,
    /// By file.
    package_of: Vec<Option<ModuleId>>,
    /// What a directory offers to those who import it.
    by_directory: FxHashMap<String, ModuleId>,
    /// By file and place in its list of imports.
    targets: Vec<Vec<Target>>,
    /// As `targets`: what packages outside are usually called, where anything is called so.
    usual_names: Vec<Vec<Option<Name>>>,
    /// Files that are not always built.
    conditions: FxHashMap<u32, Condition>,
    /// What an update found to be other than in the run before.
    other: renewed::Other,
    modules: Vec<Module>,
    /// Paths of modules that are required, longest first.
    required: Vec<String>,
}

struct Package {
    /// Of directory and name: the same in every run.
    hash: u64,
    directory: String,
    name: Option<Name>,
    first_file: u32,
    /// What its files declare at their top, sorted.
    declared: Vec<(Name, Def)>,
}

impl Package {
    fn answers(&self, notary: &mut Notary<'_>) {
        notary.begin(Table::GoPackage.unit(self.hash));
        notary.push(Door::GoFirstFile, self.hash, None, notary.file(self.first_file));
        for same in self.declared.chunk_by(|one, other| one.0 == other.0) {
            let answer = same.iter().fold(0, |state, it| keys::mix(state, notary.def(it.1)));
            notary.push(Door::GoDeclared, self.hash, Some(same[0].0), answer);
        }
    }

    fn declared(&self, name: Name) -> &[(Name, Def)] {
        let begin = self.declared.partition_point(|it| it.0 < name);
        // A name is declared a few times at most: for several systems, or in several programs of one directory.
        let n = self.declared[begin..].iter().take_while(|it| it.0 == name).count();
        &self.declared[begin..begin + n]
    }
}

/// Where an import leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Package(ModuleId),
    Outside(Origin, Name),
}

/// What a `go.mod` or `go.work` says.
#[derive(PartialEq)]
struct Module {
    directory: String,
    path: Option<String>,
    /// Module path and the directory it is replaced by.
    replaced: Vec<(String, String)>,
}

impl GoPackages {
    pub(crate) fn new(world: &World<'_>) -> GoPackages {
        let mut found = GoPackages::of_files(world);
        (0..world.n_files() as u32).for_each(|it| found.declare(world, it));
        found.packages.iter_mut().for_each(|it| it.declared.sort_unstable());
        found.aim(world, |_| true);
        found
    }

    /// Everything but what packages declare, and where imports lead.
    fn of_files(world: &World<'_>) -> GoPackages {
        let mut found = GoPackages {
            file_hashes: (0..world.n_files() as u32).map(|it| world.file_hash(it)).collect(),
            package_of: vec![None; world.n_files()],
            targets: vec![Vec::new(); world.n_files()],
            usual_names: vec![Vec::new(); world.n_files()],
            ..GoPackages::default()
        };
        found.collect(world);
        if !found.packages.is_empty() {
            found.modules = found.modules(world);
        }
        found
    }

    /// Finds where the imports of files lead.
    fn aim(&mut self, world: &World<'_>, is_wanted: impl Fn(u32) -> bool) {
        let found = self;
        let modules = std::mem::take(&mut found.modules);
        // An import means the same to all files with the same modules around them, and those follow from the deepest.
        let mut known: FxHashMap<Option<usize>, FxHashMap<Name, Target>> = FxHashMap::default();
        for file in 0..world.n_files() as u32 {
            if is_wanted(file) && world.facts(file).language == "go" {
                let directory = directory_of(world.path(file));
                let deepest = modules.iter().position(|it| is_below(directory, &it.directory));
                let known = known.entry(deepest).or_default();
                let targets = found.targets_of(world, file, &modules, known);
                let usual = |it: &Target| match it {
                    Target::Outside(_, path) => world.names.find(usual_name(world.text(*path))),
                    Target::Package(_) => None,
                };
                found.usual_names[file as usize] = targets.iter().map(usual).collect();
                found.targets[file as usize] = targets;
            }
        }
        found.modules = modules;
    }

    /// What a file declares at its top, for its package.
    fn declare(&mut self, world: &World<'_>, file: u32) {
        let Some(package) = self.package_of[file as usize] else { return };
        let decls = (0..).zip(&world.facts(file).decls);
        let at_top = decls.filter(|it| it.1.owner.is_none() && it.1.implementation.is_none());
        let declared = at_top.map(|(at, it)| (world.name(file, it.name), world.def(file, DeclId(at))));
        self.packages[package.0 as usize].declared.extend(declared);
    }

    fn collect(&mut self, world: &World<'_>) {
        let mut ids: FxHashMap<(&str, Option<Name>), ModuleId> = FxHashMap::default();
        // Packages of a directory with the number of files each has, to tell what an import of it means.
        let mut sizes: FxHashMap<ModuleId, u32> = FxHashMap::default();
        for file in 0..world.n_files() as u32 {
            let facts = world.facts(file);
            if facts.language != "go" {
                continue;
            }
            let directory = directory_of(world.path(file));
            let name = facts.namespace.map(|it| world.name(file, it));
            let next = ModuleId(self.packages.len() as u32);
            let id = *ids.entry((directory, name)).or_insert(next);
            if id == next {
                let hash = keys::text(name.map_or(0, |it| world.names.hash(it)), directory);
                let directory = directory.to_owned();
                self.packages.push(Package { hash, directory, name, first_file: file, declared: Vec::new() });
            }
            self.package_of[file as usize] = Some(id);
            let condition = Condition::of(world.path(file), facts.condition.map(|it| facts.text(it)));
            let is_default = condition.as_ref().is_none_or(|it| it.holds(&Config::default()));
            if let Some(condition) = condition {
                self.conditions.insert(file, condition);
            }
            // A package of tests cannot be imported, and what is never built is no reason to import it.
            if !is_test(world, file) {
                *sizes.entry(id).or_default() += if is_default { 1_000 } else { 1 };
            }
        }
        for (index, package) in self.packages.iter().enumerate() {
            let id = ModuleId(index as u32);
            let Some(size) = sizes.get(&id) else { continue };
            let best = self.by_directory.entry(package.directory.clone()).or_insert(id);
            if sizes.get(best).is_none_or(|it| it < size) {
                *best = id;
            }
        }
    }

    fn modules(&mut self, world: &World<'_>) -> Vec<Module> {
        let mut modules = Vec::new();
        for file in 0..world.n_files() as u32 {
            let facts = world.facts(file);
            let Some(manifest) = &facts.manifest else { continue };
            if !matches!(facts.language.as_str(), "gomod" | "gowork") {
                continue;
            }
            let directory = directory_of(world.path(file)).to_owned();
            let mut replaced: Vec<(String, String)> = Vec::new();
            for it in &manifest.dependencies {
                self.required.push(it.name.clone());
                if let Some(path) = it.path.as_deref().and_then(|path| joined(&directory, path)) {
                    replaced.push((it.name.clone(), path));
                }
            }
            modules.push(Module { directory, path: manifest.package.clone(), replaced });
        }
        self.required.sort_unstable_by_key(|it| (std::cmp::Reverse(it.len()), it.clone()));
        self.required.dedup();
        // The module around a file is the deepest one.
        modules.sort_by_key(|it| (std::cmp::Reverse(it.directory.len()), it.directory.clone()));
        modules
    }

    /// `known` is what imports lead to that are not relative, as far as it was found out.
    fn targets_of(
        &self,
        world: &World<'_>,
        file: u32,
        modules: &[Module],
        known: &mut FxHashMap<Name, Target>,
    ) -> Vec<Target> {
        let facts = world.facts(file);
        let directory = directory_of(world.path(file));
        let target = |path: Name| match self.directory_at(world, directory, world.text(path), modules) {
            Some(package) => Target::Package(package),
            None => Target::Outside(origin_of(world.text(path)), path),
        };
        let mut known = |path: Name| match is_relative(world.text(path)) {
            true => target(path),
            false => *known.entry(path).or_insert_with(|| target(path)),
        };
        facts.imports.iter().map(|it| known(world.name(file, it.module[0]))).collect()
    }

    /// The package of the repository that an import path means, seen from a directory.
    fn directory_at(
        &self,
        world: &World<'_>,
        from: &str,
        path: &str,
        modules: &[Module],
    ) -> Option<ModuleId> {
        let at = |directory: &str| self.by_directory.get(directory).copied();
        if is_relative(path) {
            return at(&joined(from, path)?);
        }
        let around: Vec<&Module> = modules.iter().filter(|it| is_below(from, &it.directory)).collect();
        for module in &around {
            if let Some(found) = at(&below(&below(&module.directory, "vendor"), path)) {
                return Some(found);
            }
        }
        for module in around {
            if let Some(rest) = module.path.as_deref().and_then(|it| under(path, it))
                && let Some(found) = at(&below(&module.directory, rest))
            {
                return Some(found);
            }
            let replaced =
                module.replaced.iter().filter_map(|(it, to)| Some((it.len(), to, under(path, it)?)));
            if let Some((_, directory, rest)) = replaced.max_by_key(|it| it.0)
                && let Some(found) = at(&below(directory, rest))
            {
                return Some(found);
            }
        }
        let mut found = None;
        for module in modules {
            let Some(rest) = module.path.as_deref().and_then(|it| under(path, it)) else { continue };
            let Some(package) = at(&below(&module.directory, rest)) else { continue };
            match found {
                // Two modules of one path (copies in test data): nobody can tell.
                Some(other) if other != package => return None,
                _ => found = Some(package),
            }
        }
        if found.is_some() || !modules.is_empty() {
            return found;
        }
        at(under(path, world.input.url)?)
    }
}

impl GoPackages {
    pub(super) fn package(&self, file: u32) -> Option<ModuleId> {
        reads::note(Door::GoPackageOf, self.file_hashes.get(file as usize).copied().unwrap_or(0), None);
        self.package_of.get(file as usize).copied().flatten()
    }

    pub(super) fn first_file(&self, package: ModuleId) -> u32 {
        let package = &self.packages[package.0 as usize];
        reads::note(Door::GoFirstFile, package.hash, None);
        package.first_file
    }

    pub(super) fn target(&self, file: u32, import: usize) -> Option<Target> {
        reads::note(Door::GoTargets, self.file_hashes.get(file as usize).copied().unwrap_or(0), None);
        self.targets.get(file as usize)?.get(import).copied()
    }

    /// Whether an import is used under this name: its own, else what the package calls itself.
    pub(super) fn is_called(&self, world: &World<'_>, file: u32, import: usize, name: Name) -> bool {
        reads::note(Door::GoTargets, self.file_hashes[file as usize], None);
        match (world.found_in(file).imports[import].kind, self.targets[file as usize][import]) {
            (ImportKind::Module { alias }, _) => world.name(file, alias) == name,
            (ImportKind::TopModule, Target::Package(package)) => {
                self.packages[package.0 as usize].name == Some(name)
            }
            (ImportKind::TopModule, Target::Outside(..)) => {
                self.usual_names[file as usize][import] == Some(name)
            }
            _ => false,
        }
    }

    /// What a package declares under a name, as a file sees it: of several, those that are built together with it.
    pub(super) fn declared(&self, world: &World<'_>, file: u32, package: ModuleId, name: Name) -> Vec<Def> {
        reads::note(Door::GoDeclared, self.packages[package.0 as usize].hash, Some(name));
        let all = self.packages[package.0 as usize].declared(name);
        if all.is_empty() {
            return Vec::new();
        }
        let own = self.package(file) == Some(package);
        // Tests of a directory see what its other tests declare, others do not.
        let sees_tests = is_test(world, file)
            && (own || self.packages[package.0 as usize].directory == directory_of(world.path(file)));
        let seen: Vec<Def> = all
            .iter()
            .map(|it| it.1)
            .filter(|it| sees_tests || !is_test(world, world.file_of(*it)))
            .collect();
        self.built_with(world, file, seen)
    }

    /// Of declarations that exclude each other by build constraints, those that are built when `file` is.
    pub(super) fn built_with(&self, world: &World<'_>, file: u32, all: Vec<Def>) -> Vec<Def> {
        if all.len() < 2 {
            return all;
        }
        // Conditions are what files say of themselves.
        for file in all.iter().map(|it| world.file_of(*it)).chain([file]) {
            let hash = self.file_hashes[file as usize];
            reads::note_in(hash, Door::Top, hash, None);
        }
        let config = self.conditions.get(&file).map_or_else(Config::default, Condition::config);
        let is_built =
            |def: &Def| self.conditions.get(&world.file_of(*def)).is_none_or(|it| it.holds(&config));
        let built: Vec<Def> = all.iter().copied().filter(is_built).collect();
        let mut built = if built.is_empty() { all } else { built };
        // What stands in the same file comes first: several programs may lie in one directory.
        if built.iter().any(|it| world.file_of(*it) == file) {
            built.retain(|it| world.file_of(*it) == file);
        }
        built
    }

    /// What is asked here, and what the answers are.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        (0..world.n_files() as u32).for_each(|it| self.answers_of_file(world, notary, it));
        self.packages.iter().for_each(|it| it.answers(notary));
        self.answers_of_all(notary);
    }

    fn answers_of_file(&self, world: &World<'_>, notary: &mut Notary<'_>, file: u32) {
        let hash = |it: ModuleId| self.packages[it.0 as usize].hash;
        notary.begin(Table::GoFile.unit(notary.file(file)));
        let Some(package) = self.package_of[file as usize] else { return };
        notary.push(Door::GoPackageOf, notary.file(file), None, hash(package));
        let imports = world.facts(file).imports.iter().zip(&self.targets[file as usize]);
        let answer = imports.fold(1, |state, (import, target)| {
            let bound = match import.kind {
                ImportKind::Module { alias } => world.names.hash(world.name(file, alias)),
                ImportKind::Member { .. } => 1,
                ImportKind::TopModule => 2,
                ImportKind::Wildcard => 3,
            };
            let target = match target {
                Target::Package(package) => hash(*package),
                Target::Outside(origin, path) => {
                    keys::mix(u64::from(*origin == Origin::StandardLibrary), world.names.hash(*path))
                }
            };
            keys::mix(keys::mix(state, bound), target)
        });
        notary.push(Door::GoTargets, notary.file(file), None, answer);
    }

    fn answers_of_all(&self, notary: &mut Notary<'_>) {
        notary.begin(Table::GoPackage.whole());
        self.required.iter().for_each(|it| notary.push(Door::GoRequired, keys::name(it), None, 1));
    }

    /// The module a path outside belongs to, by what is required, else by custom.
    pub(super) fn module_of_path<'p>(&self, path: &'p str) -> &'p str {
        // A module that is required matters to paths that begin with its own.
        let ends = path.match_indices('/').map(|it| it.0).chain([path.len()]);
        ends.for_each(|end| reads::note(Door::GoRequired, keys::name(&path[..end]), None));
        if let Some(known) = self.required.iter().find(|it| under(path, it).is_some()) {
            return &path[..known.len()];
        }
        let n_segments = match path.split('/').next().unwrap_or_default() {
            "github.com" | "gitlab.com" | "bitbucket.org" | "golang.org" | "google.golang.org" => 3,
            "gopkg.in" | "k8s.io" | "sigs.k8s.io" | "go.uber.org" => 2,
            _ => usize::MAX,
        };
        match path.match_indices('/').nth(n_segments.saturating_sub(1)) {
            Some((end, _)) => &path[..end],
            None => path,
        }
    }
}

pub(super) fn is_test(world: &World<'_>, file: u32) -> bool {
    world.path(file).ends_with("_test.go")
}

/// Paths without a dot in their first segment are kept for the standard library.
fn origin_of(path: &str) -> Origin {
    let first = path.split('/').next().unwrap_or(path);
    if first.contains('.') { Origin::ThirdParty } else { Origin::StandardLibrary }
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// What stands behind a path's begin, on a border of segments.
fn under<'p>(path: &'p str, begin: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(begin)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

fn is_relative(path: &str) -> bool {
    path.starts_with("./") || path.starts_with("../")
}

fn is_below(directory: &str, above: &str) -> bool {
    above.is_empty() || under(directory, above).is_some()
}

fn below(directory: &str, rest: &str) -> String {
    match (directory, rest) {
        ("", rest) => rest.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, rest) => format!("{directory}/{rest}"),
    }
}

/// A relative path made one from the top of the repository; none when it leads out of it.
fn joined(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') { None } else { join(directory, path) }
}

/// What the package at a path is called, by custom: `yaml` of `gopkg.in/yaml.v3`, `chi` of `github.com/go-chi/chi/v5`.
fn usual_name(path: &str) -> &str {
    let is_version = |it: &str| {
        it.strip_prefix('v')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit()))
    };
    let mut segments = path.rsplit('/');
    let mut last = segments.next().unwrap_or(path);
    if is_version(last)
        && let Some(before) = segments.next()
    {
        last = before;
    }
    if let Some((name, version)) = last.rsplit_once('.')
        && is_version(version)
    {
        last = name;
    }
    let last = last.strip_prefix("go-").unwrap_or(last);
    let last = last.strip_suffix("-go").or_else(|| last.strip_suffix(".go")).unwrap_or(last);
    last.rsplit(['-', '.']).next().filter(|it| !it.is_empty()).unwrap_or(last)
}
