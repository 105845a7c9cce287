//! Python's modules as the directories they are, and where an absolute import may begin.

use rustc_hash::{FxHashMap, FxHashSet};

use super::tables;
use crate::again::Notary;
use crate::again::keys::{self, Door};
use crate::again::reads;
use crate::names::Name;
use crate::world::{ModuleId, World};

/// Every directory with Python files below it, and every Python file, is a module.
#[derive(Default)]
pub(crate) struct PythonModules {
    modules: Vec<Module>,
    by_directory: FxHashMap<String, ModuleId>,
    of_file: FxHashMap<u32, ModuleId>,
    /// Directories under which absolute imports begin wherever they stand: stated by a project file, or by custom.
    declared_roots: Vec<ModuleId>,
    /// Top packages (with `__init__`) by name, and the directory they stand in.
    packages: FxHashMap<Name, Vec<ModuleId>>,
    /// Names that project files list as dependencies.
    dependencies: FxHashSet<String>,
}

#[derive(Default)]
struct Module {
    /// Of its path: the same in every run.
    hash: u64,
    /// The module's own file: `x.py`, or the `__init__.py` of a directory.
    file: Option<u32>,
    parent: Option<ModuleId>,
    children: FxHashMap<Name, ModuleId>,
    is_directory: bool,
}

impl PythonModules {
    pub(crate) fn new(world: &World<'_>) -> PythonModules {
        let mut all = PythonModules::default();
        all.directory(world, "");
        // `.py` before `.pyi`: where both exist, the code is the module and the stub is not.
        for extension in [".py", ".pyi"] {
            for file in world.files_of(&["python"]) {
                if world.path(file).ends_with(extension) {
                    all.add_file(world, file, extension);
                }
            }
        }
        all.add_roots(world);
        all
    }

    fn add_file(&mut self, world: &World<'_>, file: u32, extension: &str) {
        let path = world.path(file);
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.strip_suffix(extension).unwrap_or(name);
        let parent = self.directory(world, directory);
        if stem == "__init__" {
            let slot = &mut self.modules[parent.0 as usize].file;
            if slot.is_none() {
                *slot = Some(file);
            }
            self.of_file.insert(file, parent);
            return;
        }
        let hash = keys::file(path);
        let module = self.push(Module { hash, file: Some(file), parent: Some(parent), ..Module::default() });
        self.of_file.insert(file, module);
        if let Some(stem) = world.names.find(stem) {
            // A directory of the same name wins, as a package does over a module.
            self.modules[parent.0 as usize].children.entry(stem).or_insert(module);
        }
    }

    fn directory(&mut self, world: &World<'_>, path: &str) -> ModuleId {
        if let Some(&module) = self.by_directory.get(path) {
            return module;
        }
        let parent = match path.rsplit_once('/') {
            Some((parent, _)) => Some(self.directory(world, parent)),
            None if path.is_empty() => None,
            None => Some(self.directory(world, "")),
        };
        let hash = keys::text(keys::file("/"), path);
        let module = self.push(Module { hash, parent, is_directory: true, ..Module::default() });
        self.by_directory.insert(path.to_owned(), module);
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if let (Some(parent), Some(name)) = (parent, world.names.find(name)) {
            self.modules[parent.0 as usize].children.insert(name, module);
        }
        module
    }

    fn push(&mut self, module: Module) -> ModuleId {
        self.modules.push(module);
        ModuleId(self.modules.len() as u32 - 1)
    }

    fn add_roots(&mut self, world: &World<'_>) {
        let mut roots: Vec<String> = vec![String::new(), "src".into(), "lib".into()];
        for file in 0..world.n_files() as u32 {
            let Some(manifest) = &world.facts(file).manifest else { continue };
            if world.path(file).ends_with("Cargo.toml") {
                continue;
            }
            let directory = world.path(file).rsplit_once('/').map_or("", |(directory, _)| directory);
            let custom = [String::new(), "src".to_owned()];
            for root in manifest.source_roots.iter().chain(&custom) {
                roots.push(joined(directory, root));
            }
            for dependency in &manifest.dependencies {
                self.dependencies.insert(dependency.name.to_lowercase().replace('-', "_"));
            }
        }
        for root in roots {
            if let Some(&module) = self.by_directory.get(root.trim_end_matches('/'))
                && !self.declared_roots.contains(&module)
                && !self.is_package(module)
            {
                self.declared_roots.push(module);
            }
        }
        let mut packages: FxHashMap<Name, Vec<ModuleId>> = FxHashMap::default();
        for module in &self.modules {
            if !module.is_directory || module.file.is_some() {
                continue;
            }
            let mut children: Vec<(Name, ModuleId)> = module.children.iter().map(|(a, b)| (*a, *b)).collect();
            children.sort_unstable();
            for (name, child) in children {
                if self.is_package(child) {
                    packages.entry(name).or_default().push(child);
                }
            }
        }
        self.packages = packages;
    }

    fn is_package(&self, module: ModuleId) -> bool {
        self.modules[module.0 as usize].is_directory && self.file(module).is_some()
    }

    pub(crate) fn file(&self, module: ModuleId) -> Option<u32> {
        let module = &self.modules[module.0 as usize];
        reads::note(Door::ModuleFile, module.hash, None);
        module.file
    }

    pub(crate) fn of_file(&self, file: u32) -> Option<ModuleId> {
        self.of_file.get(&file).copied()
    }

    pub(crate) fn child(&self, module: ModuleId, name: Name) -> Option<ModuleId> {
        let module = &self.modules[module.0 as usize];
        reads::note(Door::Child, module.hash, Some(name));
        module.children.get(&name).copied()
    }

    fn descend(&self, from: ModuleId, path: &[Name]) -> Option<ModuleId> {
        path.iter().try_fold(from, |module, name| self.child(module, *name))
    }

    /// `from ..a.b import`: `level` dots and the path behind them.
    pub(crate) fn relative(&self, file: u32, level: u8, path: &[Name]) -> Option<ModuleId> {
        let mut module = self.of_file(file)?;
        if !self.modules[module.0 as usize].is_directory {
            module = self.modules[module.0 as usize].parent?;
        }
        for _ in 1..level {
            module = self.modules[module.0 as usize].parent?;
        }
        self.descend(module, path)
    }

    /// The module an absolute import in `file` means, when it is one of the project's.
    ///
    /// First the directories around the file that are no packages, nearest first; then declared roots; then the only
    /// package of that name anywhere. A directory that merely lies somewhere else never shadows the outside.
    pub(crate) fn absolute(&self, world: &World<'_>, file: u32, path: &[Name]) -> Option<ModuleId> {
        let first = *path.first()?;
        let text = world.text(first);
        let standard = tables::MODULES.binary_search(&text).is_ok();
        let own = self.of_file(file)?;
        let mut around = Some(own);
        while let Some(root) = around {
            let module = &self.modules[root.0 as usize];
            around = module.parent;
            if !module.is_directory || self.is_package(root) {
                continue;
            }
            if let Some(child) = self.child(root, first)
                && child != own
                && (!standard || self.is_package(child) && self.roots().contains(&root))
                && let Some(found) = self.descend(root, path)
                && self.is_importable(found)
            {
                return Some(found);
            }
        }
        if standard {
            return None;
        }
        for &root in self.roots() {
            if let Some(found) = self.descend(root, path)
                && self.is_importable(found)
            {
                return Some(found);
            }
        }
        let package = text.to_lowercase();
        reads::note(Door::Dependency, keys::name(&package), None);
        if self.dependencies.contains(&package) {
            return None;
        }
        reads::note(Door::Package, 0, Some(first));
        match self.packages.get(&first).map(Vec::as_slice) {
            Some([package]) => self.descend(*package, &path[1..]),
            _ => None,
        }
    }

    fn roots(&self) -> &[ModuleId] {
        reads::note(Door::Roots, 0, None);
        &self.declared_roots
    }

    /// What is asked above, and what the answers are.
    pub(crate) fn answers(&self, notary: &mut Notary<'_>) {
        let hash = |it: &ModuleId| self.modules[it.0 as usize].hash;
        for module in &self.modules {
            if let Some(file) = module.file {
                notary.push(Door::ModuleFile, module.hash, None, notary.file(file));
            }
            module.children.iter().for_each(|(name, child)| {
                notary.push(Door::Child, module.hash, Some(*name), hash(child));
            });
        }
        let fold = |all: &[ModuleId]| all.iter().fold(0, |state, it| keys::mix(state, hash(it)));
        self.packages.iter().for_each(|(name, packages)| {
            notary.push(Door::Package, 0, Some(*name), fold(packages));
        });
        notary.push(Door::Roots, 0, None, fold(&self.declared_roots));
        self.dependencies.iter().for_each(|it| notary.push(Door::Dependency, keys::name(it), None, 1));
    }

    /// A directory without any Python file right below it is a namespace only if something under it is a module; all
    /// directories here have one, so only the top itself is no module.
    fn is_importable(&self, module: ModuleId) -> bool {
        self.modules[module.0 as usize].parent.is_some()
    }
}

fn joined(directory: &str, relative: &str) -> String {
    let relative = relative.trim_start_matches("./").trim_matches('/');
    match (directory.is_empty(), relative.is_empty() || relative == ".") {
        (_, true) => directory.to_owned(),
        (true, false) => relative.to_owned(),
        (false, false) => format!("{directory}/{relative}"),
    }
}
