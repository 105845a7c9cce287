//! Which file a module text means: relative paths, `tsconfig` paths, workspace packages and what they offer.

use std::collections::BTreeMap;

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, FileFacts, Manifest, PathAlias, Str};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::paths::{directory_of, is_match, match_alias};
use super::tables;
use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::names::Name;
use crate::paths::join;
use crate::world::{Def, World};

/// What a module text means in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    File(u32),
    /// A package or a builtin module.
    Outside,
    /// A path of the project that is not there, or no code.
    Missing,
}

#[derive(Default)]
pub(crate) struct TypeScriptModules {
    /// By file: what the modules of its imports mean.
    targets: Vec<FxHashMap<Box<[Str]>, Target>>,
    /// Settings by directory.
    configs: BTreeMap<String, Vec<Config>>,
    /// Packages of the workspace by name.
    packages: FxHashMap<String, Package>,
    /// Every package by its directory.
    by_directory: BTreeMap<String, Package>,
    parts: Vec<Vec<Def>>,
    file_hashes: Vec<u64>,
    /// Of all that project files say.
    projects: u64,
    /// What `module.exports = value` is called: asked for by each name that a module may offer.
    pub(super) whole_export: Option<Name>,
}

/// Paths are from the top of the repository.
#[derive(Clone, Debug, Default)]
struct Config {
    base: Option<String>,
    aliases: Vec<PathAlias>,
}

#[derive(Clone, Debug)]
struct Package {
    name: String,
    directory: String,
    aliases: Vec<PathAlias>,
    /// Dependencies that are directories of the project.
    linked: Vec<(String, String)>,
}

const EXTENSIONS: [&str; 11] =
    [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".d.ts", ".d.mts"];

/// Extensions that are written for files which have others.
const WRITTEN: [&str; 8] = [".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".jsx", ".ts"];

/// Directories that hold what is built of the sources.
const BUILT: [&str; 15] = [
    "dist", "lib", "build", "out", "es", "esm", "cjs", "types", "module", "commonjs", "node", "browser",
    "src", "output", "umd",
];

impl TypeScriptModules {
    pub(crate) fn new(world: &World<'_>) -> TypeScriptModules {
        let is_ours = |facts: &FileFacts| facts.language == super::LANGUAGE;
        if world.files_of(&[super::LANGUAGE]).is_empty() {
            return TypeScriptModules::default();
        }
        let mut modules = TypeScriptModules {
            file_hashes: (0..world.n_files() as u32).map(|it| world.file_hash(it)).collect(),
            whole_export: world.names.find("export="),
            ..TypeScriptModules::default()
        };
        modules.read_projects(world);
        let targets: Vec<FxHashMap<Box<[Str]>, Target>> = (0..world.n_files() as u32)
            .into_par_iter()
            .map(|file| {
                let facts = world.facts(file);
                let mut targets = FxHashMap::default();
                if is_ours(facts) {
                    for import in facts.imports.iter().filter(|it| !it.module.is_empty()) {
                        let text = texts(facts, &import.module).join("/");
                        targets
                            .entry(import.module.clone().into_boxed_slice())
                            .or_insert_with(|| modules.find(world, file, &text));
                    }
                }
                targets
            })
            .collect();
        modules.targets = targets;
        modules.parts = merged(world);
        modules
    }

    pub(crate) fn types_in_parts(&self) -> &[Vec<Def>] {
        &self.parts
    }

    pub(super) fn target(&self, file: u32, module: &[Str]) -> Target {
        reads::note(Door::TypeScriptTargets, self.file_hashes.get(file as usize).copied().unwrap_or(0), None);
        self.targets.get(file as usize).and_then(|it| it.get(module)).copied().unwrap_or(Target::Missing)
    }

    /// What is asked here, and what the answers are.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        for (file, targets) in (0..).zip(&self.targets).filter(|it| !it.1.is_empty()) {
            // In whatever order the table has them.
            let answer = targets.iter().fold(0_u64, |sum, (module, target)| {
                let text = module.iter().fold(0, |state, it| keys::text(state, world.facts(file).text(*it)));
                let target = match target {
                    Target::File(file) => notary.file(*file),
                    Target::Outside => 1,
                    Target::Missing => 2,
                };
                sum.wrapping_add(keys::mix(text, target))
            });
            notary.push(Door::TypeScriptTargets, notary.file(file), None, answer);
        }
        notary.push(Door::TypeScriptProjects, 0, None, self.projects);
    }

    fn read_projects(&mut self, world: &World<'_>) {
        let mut members: Vec<(String, String)> = Vec::new();
        let mut packages: Vec<Package> = Vec::new();
        for file in 0..world.n_files() as u32 {
            let facts = world.facts(file);
            let Some(manifest) = &facts.manifest else { continue };
            let directory = directory_of(world.path(file)).to_owned();
            let said = format!("{} {} {manifest:?}", world.path(file), facts.language);
            self.projects = keys::text(self.projects, &said);
            match facts.language.as_str() {
                "package_json" | "lerna" | "pnpm_workspace" => {
                    members.extend(manifest.members.iter().map(|it| (directory.clone(), it.clone())));
                    if facts.language == "package_json" {
                        packages.push(package_of(&directory, manifest));
                    }
                }
                "tsconfig" => {
                    let config = config_of(world, file, manifest, 0);
                    let is_main = matches!(
                        world.path(file).rsplit('/').next(),
                        Some("tsconfig.json" | "jsconfig.json")
                    );
                    let list = self.configs.entry(directory).or_default();
                    // What is called `tsconfig.json` comes first.
                    list.insert(if is_main { 0 } else { list.len() }, config);
                }
                _ => {}
            }
        }
        for package in packages {
            if is_member(&members, &package.directory) && !package.name.is_empty() {
                self.packages.entry(package.name.clone()).or_insert_with(|| package.clone());
            }
            self.by_directory.insert(package.directory.clone(), package);
        }
    }

    /// What a module text means in a file.
    pub(super) fn find(&self, world: &World<'_>, file: u32, text: &str) -> Target {
        reads::note(Door::TypeScriptProjects, 0, None);
        let directory = directory_of(world.path(file));
        let found = |file: Option<u32>| file.map_or(Target::Missing, Target::File);
        if text.starts_with('.') {
            return found(join(directory, text).and_then(|it| self.file_for(world, &it)));
        }
        if let Some(text) = text.strip_prefix('/') {
            return found(join("", text).and_then(|it| self.file_for(world, &it)));
        }
        if text.starts_with('#') {
            let own = self.package_around(directory);
            return found(own.and_then(|it| self.offered(world, it, text)));
        }
        if let Some(file) = self.by_config(world, directory, text) {
            return Target::File(file);
        }
        if tables::MODULES.binary_search(&text).is_ok() {
            return Target::Outside;
        }
        if let Some(file) = self.by_package(world, directory, text) {
            return Target::File(file);
        }
        match self.by_convention(world, directory, text) {
            Some(file) => Target::File(file),
            None if self.is_of_project(directory, text) => Target::Missing,
            None => Target::Outside,
        }
    }

    /// `paths` and `baseUrl` of the settings around a file, the nearest first.
    fn by_config(&self, world: &World<'_>, directory: &str, text: &str) -> Option<u32> {
        for around in ancestors(directory) {
            for config in self.configs.get(around).into_iter().flatten() {
                let mut aliases: Vec<&PathAlias> =
                    config.aliases.iter().filter(|it| match_alias(&it.pattern, text).is_some()).collect();
                // The longest text before the star wins.
                aliases.sort_by_key(|it| std::cmp::Reverse(it.pattern.find('*').unwrap_or(usize::MAX)));
                for alias in aliases {
                    let Some(star) = match_alias(&alias.pattern, text) else { continue };
                    for target in &alias.targets {
                        let path = target.replacen('*', star, 1);
                        if let Some(file) = self.file_for(world, &path) {
                            return Some(file);
                        }
                        if let Some(file) = self.source_of(world, around, &path) {
                            return Some(file);
                        }
                    }
                }
                if let Some(base) = &config.base
                    && let Some(path) = join(base, text)
                    && let Some(file) = self.file_for(world, &path)
                {
                    return Some(file);
                }
            }
        }
        None
    }

    fn by_package(&self, world: &World<'_>, directory: &str, text: &str) -> Option<u32> {
        let own = self.package_around(directory);
        let n_parts = if text.starts_with('@') { 2 } else { 1 };
        let split = text.match_indices('/').nth(n_parts - 1).map(|(at, _)| at);
        let (name, rest) = match split {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let linked = own.and_then(|it| it.linked.iter().find(|(it, _)| it == name));
        let package = match linked {
            Some((_, directory)) => self.by_directory.get(directory),
            None => self.packages.get(name).or_else(|| own.filter(|it| it.name == name)),
        }?;
        match rest {
            None => self.offered(world, package, ".").or_else(|| self.main_of(world, package)),
            Some(rest) => self
                .offered(world, package, &format!("./{rest}"))
                .or_else(|| join(&package.directory, rest).and_then(|it| self.file_for(world, &it)))
                .or_else(|| {
                    self.source_of(world, &package.directory, &format!("{}/{rest}", package.directory))
                }),
        }
    }

    /// `@/x` and `~/x`, which bundlers take for the sources of the package.
    fn by_convention(&self, world: &World<'_>, directory: &str, text: &str) -> Option<u32> {
        let rest = text.strip_prefix("@/").or_else(|| text.strip_prefix("~/"))?;
        let own = self.package_around(directory).map_or("", |it| it.directory.as_str());
        ["src", "app", ""].iter().find_map(|below| {
            let base = join(own, below)?;
            self.file_for(world, &join(&base, rest)?)
        })
    }

    /// Whether a text means something of the project that has no file here: built, generated, vendored.
    fn is_of_project(&self, directory: &str, text: &str) -> bool {
        let n_parts = if text.starts_with('@') { 2 } else { 1 };
        let end = text.match_indices('/').nth(n_parts - 1).map_or(text.len(), |(at, _)| at);
        let name = &text[..end];
        let is_alias = |it: &PathAlias| it.pattern != "*" && match_alias(&it.pattern, text).is_some();
        text.starts_with("@/")
            || text.starts_with("~/")
            || self.packages.contains_key(name)
            || self.package_around(directory).is_some_and(|it| it.name == name)
            || ancestors(directory)
                .filter_map(|it| self.configs.get(it))
                .flatten()
                .any(|it| it.aliases.iter().any(is_alias))
    }

    fn package_around(&self, directory: &str) -> Option<&Package> {
        ancestors(directory).find_map(|it| self.by_directory.get(it))
    }

    /// What `exports`, `imports` or `main` say.
    fn offered(&self, world: &World<'_>, package: &Package, pattern: &str) -> Option<u32> {
        for alias in &package.aliases {
            let Some(star) = match_alias(&alias.pattern, pattern) else { continue };
            for target in &alias.targets {
                let Some(path) = join(&package.directory, &target.replacen('*', star, 1)) else { continue };
                let file = self.file_for(world, &path);
                if let Some(file) = file.or_else(|| self.source_of(world, &package.directory, &path)) {
                    return Some(file);
                }
            }
        }
        None
    }

    fn main_of(&self, world: &World<'_>, package: &Package) -> Option<u32> {
        ["index", "src/index", "lib/index", "src/main", "src"].iter().find_map(|it| {
            let path = join(&package.directory, it)?;
            self.file_for(world, &path)
        })
    }

    /// The source of a built file: the same path below `src`, or without the directory it is built to.
    fn source_of(&self, world: &World<'_>, directory: &str, path: &str) -> Option<u32> {
        let mut rest = path.strip_prefix(directory)?.trim_start_matches('/');
        for _ in 0..4 {
            for below in ["src", "", "lib", "source"] {
                let candidate = join(&join(directory, below)?, rest)?;
                if candidate != directory
                    && let Some(file) = self.file_for(world, &candidate)
                {
                    return Some(file);
                }
            }
            let (first, behind) = rest.split_once('/')?;
            if !BUILT.contains(&first) {
                return None;
            }
            rest = behind;
        }
        None
    }

    /// The file of a path that may lack its extension, have another one's, or be a directory.
    fn file_for(&self, world: &World<'_>, path: &str) -> Option<u32> {
        let ours = |path: &str| {
            let file = world.file_at(path)?;
            (world.language(file) == super::LANGUAGE).then_some(file)
        };
        if let Some(file) = ours(path) {
            return Some(file);
        }
        let mut candidate = String::with_capacity(path.len() + 12);
        let mut with = |stem: &str, ending: &str| {
            candidate.clear();
            candidate.push_str(stem);
            candidate.push_str(ending);
            ours(&candidate)
        };
        if !path.is_empty() {
            for extension in EXTENSIONS {
                if let Some(file) = with(path, extension) {
                    return Some(file);
                }
            }
            for written in WRITTEN {
                let Some(stem) = path.strip_suffix(written) else { continue };
                for extension in EXTENSIONS {
                    if let Some(file) = with(stem, extension) {
                        return Some(file);
                    }
                }
            }
        }
        let slash = if path.is_empty() { "" } else { "/" };
        for extension in EXTENSIONS {
            if let Some(file) = with(path, &format!("{slash}index{extension}")) {
                return Some(file);
            }
        }
        let package = self.by_directory.get(path)?;
        let main = package.aliases.iter().find(|it| it.pattern == ".")?;
        main.targets.iter().find_map(|it| {
            let target = join(path, it)?;
            if target == path {
                None
            } else {
                EXTENSIONS
                    .iter()
                    .find_map(|it| ours(&format!("{target}{it}")))
                    .or_else(|| ours(&target))
                    .or_else(|| self.source_of_main(world, path, &target))
            }
        })
    }

    /// As `source_of`, for the one file that a directory stands for.
    fn source_of_main(&self, world: &World<'_>, directory: &str, target: &str) -> Option<u32> {
        let file = target.rsplit('/').next()?;
        let stem = file.split('.').next()?;
        for below in ["src", "lib"] {
            for extension in EXTENSIONS {
                let path = join(directory, &format!("{below}/{stem}{extension}"))?;
                if let Some(file) = world.file_at(&path) {
                    return Some(file);
                }
            }
        }
        None
    }
}

fn texts<'f>(facts: &'f FileFacts, module: &[Str]) -> Vec<&'f str> {
    module.iter().map(|it| facts.text(*it)).collect()
}

/// The directory and all above it, `""` at last.
fn ancestors(directory: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(directory);
    std::iter::from_fn(move || {
        let it = next?;
        next = if it.is_empty() { None } else { Some(directory_of(it)) };
        Some(it)
    })
}

fn package_of(directory: &str, manifest: &Manifest) -> Package {
    let linked = manifest.dependencies.iter().filter_map(|it| {
        let path = join(directory, it.path.as_deref()?)?;
        Some((it.name.clone(), path))
    });
    Package {
        name: manifest.package.clone().unwrap_or_default(),
        directory: directory.to_owned(),
        aliases: manifest.aliases.clone(),
        linked: linked.collect(),
    }
}

/// Whether a directory is a member of some workspace around it.
fn is_member(members: &[(String, String)], directory: &str) -> bool {
    let relative = |root: &str| match root {
        "" => Some(directory),
        root => directory.strip_prefix(root)?.strip_prefix('/'),
    };
    let listed = |excluded: bool| {
        members.iter().any(|(root, pattern)| {
            let (is_out, pattern) = match pattern.strip_prefix('!') {
                Some(pattern) => (true, pattern),
                None => (false, pattern.as_str()),
            };
            let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
            is_out == excluded && relative(root).is_some_and(|it| is_match(pattern, it))
        })
    };
    listed(false) && !listed(true)
}

/// Settings with those they extend, which come after their own.
fn config_of(world: &World<'_>, file: u32, manifest: &Manifest, depth: usize) -> Config {
    let directory = directory_of(world.path(file));
    let base = manifest.source_roots.first().and_then(|it| join(directory, it));
    let around = base.clone().unwrap_or_else(|| directory.to_owned());
    let aliases = manifest.aliases.iter().map(|it| PathAlias {
        pattern: it.pattern.clone(),
        targets: it.targets.iter().filter_map(|it| join(&around, it)).collect(),
    });
    let mut config = Config { base, aliases: aliases.collect() };
    if depth > 8 {
        return config;
    }
    for extended in manifest.extends.iter().rev() {
        if !extended.starts_with('.') {
            continue;
        }
        let Some(path) = join(directory, extended) else { continue };
        let candidates = [path.clone(), format!("{path}.json"), format!("{path}/tsconfig.json")];
        let found = candidates.iter().find_map(|it| world.file_at(it));
        let Some(other) = found.filter(|it| *it != file) else { continue };
        let Some(manifest) = &world.facts(other).manifest else { continue };
        let inherited = config_of(world, other, manifest, depth + 1);
        if config.base.is_none() {
            config.base = inherited.base;
        }
        if config.aliases.is_empty() {
            config.aliases = inherited.aliases;
        }
    }
    config
}

/// Interfaces, classes, enums and namespaces of one name in one scope are one type.
fn merged(world: &World<'_>) -> Vec<Vec<Def>> {
    let mut groups = Vec::new();
    for file in 0..world.n_files() as u32 {
        let facts = world.facts(file);
        if facts.language != super::LANGUAGE {
            continue;
        }
        let mut by_name: BTreeMap<(Option<DeclId>, Str), Vec<Def>> = BTreeMap::new();
        for (index, decl) in facts.decls.iter().enumerate() {
            let is_part = matches!(
                decl.kind,
                NodeKind::Interface | NodeKind::Class | NodeKind::Enum | NodeKind::Module
            );
            if is_part && decl.visible.is_none() {
                let def = world.def(file, DeclId(index as u32));
                by_name.entry((decl.owner, decl.name)).or_default().push(def);
            }
        }
        groups.extend(by_name.into_values().filter(|it| it.len() > 1));
    }
    groups
}
