//! Rust's crates and modules: which file is which module, and what a crate's name means where.

use knowing_model::NodeKind;
use knowing_model::facts::{DeclId, Dependency, Manifest, TargetKind};
use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door};
use crate::again::{Notary, place, reads};
use crate::names::Name;
use crate::world::{Def, ModuleId, World};

#[derive(Default)]
pub(crate) struct RustCrates {
    modules: Vec<Module>,
    of_file: FxHashMap<u32, ModuleId>,
    of_decl: FxHashMap<Def, ModuleId>,
    packages: Vec<Package>,
    /// `macro_rules!` by name: they are found by text order, not by path.
    macros: FxHashMap<Name, Vec<Def>>,
}

struct Module {
    /// Of its place: the same in every run.
    hash: u64,
    file: u32,
    /// The inline module; none for a file's own.
    decl: Option<DeclId>,
    parent: Option<ModuleId>,
    root: ModuleId,
    package: Option<u32>,
    children: FxHashMap<Name, ModuleId>,
}

struct Package {
    directory: String,
    name: String,
    library_name: String,
    library: Option<ModuleId>,
    /// By the name code uses: the package's directory in the project, or none for one from outside.
    dependencies: FxHashMap<String, Option<String>>,
    /// All names that mean a crate in this package.
    crates: FxHashMap<String, Crate>,
}

/// What a crate's name means.
#[derive(Clone, Copy)]
pub(crate) enum Crate {
    Project(ModuleId),
    Outside,
}

impl RustCrates {
    pub(crate) fn new(world: &World<'_>) -> RustCrates {
        let mut all = RustCrates::default();
        all.add_packages(world);
        for index in 0..all.packages.len() {
            all.add_targets(world, index as u32);
        }
        all.name_crates();
        // Files that no crate reaches (fixtures, templates) are roots of their own.
        for file in 0..world.n_files() as u32 {
            if world.facts(file).language == "rust" && !all.of_file.contains_key(&file) {
                let package = all.package_around(world.path(file));
                all.add_root(world, file, package);
            }
        }
        for file in 0..world.n_files() as u32 {
            for (index, decl) in world.facts(file).decls.iter().enumerate() {
                if decl.kind == NodeKind::Macro {
                    let name = world.name(file, decl.name);
                    all.macros.entry(name).or_default().push(world.def(file, DeclId(index as u32)));
                }
            }
        }
        all
    }

    fn add_packages(&mut self, world: &World<'_>) {
        let manifests: Vec<(String, &Manifest)> = (0..world.n_files() as u32)
            .filter_map(|file| {
                let directory = world.path(file).strip_suffix("Cargo.toml")?.trim_end_matches('/');
                Some((directory.to_owned(), world.facts(file).manifest.as_ref()?))
            })
            .collect();
        for (directory, manifest) in &manifests {
            let Some(name) = &manifest.package else { continue };
            let library = manifest.targets.iter().find(|it| it.kind == TargetKind::Library);
            let library_name =
                library.and_then(|it| it.name.clone()).unwrap_or_else(|| name.clone()).replace('-', "_");
            let mut dependencies = FxHashMap::default();
            for dependency in manifest.dependencies.iter().filter(|it| !it.for_workspace) {
                let path = match (&dependency.path, dependency.from_workspace) {
                    (Some(path), _) => Some(joined(directory, path)),
                    (None, true) => workspace_path(&manifests, directory, &dependency.name),
                    (None, false) => patched_path(&manifests, directory, dependency),
                };
                dependencies.insert(dependency.name.replace('-', "_"), path);
            }
            self.packages.push(Package {
                directory: directory.clone(),
                name: name.clone(),
                library_name,
                library: None,
                dependencies,
                crates: FxHashMap::default(),
            });
        }
    }

    fn add_targets(&mut self, world: &World<'_>, package: u32) {
        let directory = self.packages[package as usize].directory.clone();
        let manifest_path = joined(&directory, "Cargo.toml");
        let manifest = world.file_at(&manifest_path).and_then(|it| world.facts(it).manifest.as_ref());
        let Some(manifest) = manifest else { return };
        let mut roots: Vec<(TargetKind, String)> = Vec::new();
        for target in &manifest.targets {
            let path = match (&target.path, target.kind, &target.name) {
                (Some(path), ..) => path.clone(),
                (None, TargetKind::Library, _) => "src/lib.rs".to_owned(),
                (None, TargetKind::BuildScript, _) => "build.rs".to_owned(),
                (None, kind, Some(name)) => format!("{}/{name}.rs", target_directory(kind)),
                (None, ..) => continue,
            };
            roots.push((target.kind, joined(&directory, &path)));
        }
        roots.push((TargetKind::Library, joined(&directory, "src/lib.rs")));
        roots.push((TargetKind::Binary, joined(&directory, "src/main.rs")));
        roots.push((TargetKind::BuildScript, joined(&directory, "build.rs")));
        for kind in [TargetKind::Binary, TargetKind::Test, TargetKind::Example, TargetKind::Bench] {
            let prefix = format!("{}/", joined(&directory, target_directory(kind)));
            // Files are sorted by path, so those below a directory stand together.
            let first = world.input.files.partition_point(|it| it.path < prefix.as_str()) as u32;
            for file in first..world.n_files() as u32 {
                let Some(rest) = world.path(file).strip_prefix(&prefix) else { break };
                let is_root = match rest.split_once('/') {
                    None => rest.ends_with(".rs"),
                    Some((_, file)) => file == "main.rs",
                };
                if is_root {
                    roots.push((kind, world.path(file).to_owned()));
                }
            }
        }
        roots.sort();
        for (kind, path) in roots {
            let Some(file) = world.file_at(&path) else { continue };
            let root = match self.of_file.get(&file) {
                Some(root) => *root,
                None => self.add_root(world, file, Some(package)),
            };
            if kind == TargetKind::Library {
                self.packages[package as usize].library.get_or_insert(root);
            }
        }
    }

    fn add_root(&mut self, world: &World<'_>, file: u32, package: Option<u32>) -> ModuleId {
        let root = ModuleId(self.modules.len() as u32);
        self.modules.push(Module {
            hash: place(world, file, None),
            file,
            decl: None,
            parent: None,
            root,
            package,
            children: FxHashMap::default(),
        });
        self.of_file.insert(file, root);
        // A queue, not recursion: modules may nest as deep as a hostile file likes.
        let mut queue = vec![root];
        while let Some(module) = queue.pop() {
            self.add_children(world, module, &mut queue);
        }
        root
    }

    fn add_children(&mut self, world: &World<'_>, module: ModuleId, queue: &mut Vec<ModuleId>) {
        let (file, owner) = (self.modules[module.0 as usize].file, self.modules[module.0 as usize].decl);
        let facts = world.facts(file);
        for (index, decl) in facts.decls.iter().enumerate() {
            if decl.kind == NodeKind::Module && decl.owner == owner {
                let id = DeclId(index as u32);
                let child = self.push_child(world, module, (file, Some(id)), world.name(file, decl.name));
                self.of_decl.insert(world.def(file, id), child);
                queue.push(child);
            }
        }
        for declared in facts.modules.iter().filter(|it| it.owner == owner) {
            let name = world.name(file, declared.name);
            let explicit = declared.file.map(|it| facts.text(it));
            let Some(target) = self.module_file(world, module, world.text(name), explicit) else { continue };
            match self.of_file.get(&target) {
                Some(&known) => {
                    self.modules[module.0 as usize].children.entry(name).or_insert(known);
                }
                None => {
                    let child = self.push_child(world, module, (target, None), name);
                    self.of_file.insert(target, child);
                    queue.push(child);
                }
            }
        }
    }

    fn push_child(
        &mut self,
        world: &World<'_>,
        parent: ModuleId,
        (file, decl): (u32, Option<DeclId>),
        name: Name,
    ) -> ModuleId {
        let child = ModuleId(self.modules.len() as u32);
        let (root, package) = (self.modules[parent.0 as usize].root, self.modules[parent.0 as usize].package);
        self.modules.push(Module {
            hash: place(world, file, decl),
            file,
            decl,
            parent: Some(parent),
            root,
            package,
            children: FxHashMap::default(),
        });
        self.modules[parent.0 as usize].children.entry(name).or_insert(child);
        child
    }

    /// The file of `mod name;`: `name.rs` or `name/mod.rs` in the directory of the module.
    fn module_file(
        &self,
        world: &World<'_>,
        module: ModuleId,
        name: &str,
        explicit: Option<&str>,
    ) -> Option<u32> {
        let mut inline: Vec<&str> = Vec::new();
        let mut at = module;
        while let Some(decl) = self.modules[at.0 as usize].decl {
            let file = self.modules[at.0 as usize].file;
            inline.push(world.facts(file).text(world.facts(file).decl(decl).name));
            at = self.modules[at.0 as usize].parent?;
        }
        inline.reverse();
        let path = world.path(self.modules[at.0 as usize].file);
        let (directory, file_name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_root = self.modules[at.0 as usize].parent.is_none();
        let own = match file_name {
            "mod.rs" | "lib.rs" | "main.rs" => directory.to_owned(),
            _ if is_root => directory.to_owned(),
            _ => joined(directory, file_name.strip_suffix(".rs").unwrap_or(file_name)),
        };
        if let Some(explicit) = explicit {
            let base = if inline.is_empty() { directory.to_owned() } else { joined(&own, &inline.join("/")) };
            return world.file_at(&joined(&base, explicit));
        }
        let base = inline.iter().fold(own, |base, part| joined(&base, part));
        let name = name.strip_prefix("r#").unwrap_or(name);
        world
            .file_at(&joined(&base, &format!("{name}.rs")))
            .or_else(|| world.file_at(&joined(&base, &format!("{name}/mod.rs"))))
    }

    fn package_around(&self, path: &str) -> Option<u32> {
        let around = |it: &Package| {
            it.directory.is_empty()
                || path.strip_prefix(&it.directory).is_some_and(|rest| rest.starts_with('/'))
        };
        (0..self.packages.len())
            .filter(|it| around(&self.packages[*it]))
            .max_by_key(|it| self.packages[*it].directory.len())
            .map(|it| it as u32)
    }

    /// The module a declaration's names are looked up in: an inline module, or the file's.
    pub(crate) fn module(&self, world: &World<'_>, file: u32, decl: Option<DeclId>) -> Option<ModuleId> {
        let facts = world.found_in(file);
        let mut at = decl;
        while let Some(id) = at {
            if facts.decl(id).kind == NodeKind::Module {
                return self.of_decl.get(&world.def(file, id)).copied();
            }
            at = facts.decl(id).owner;
        }
        self.of_file.get(&file).copied()
    }

    pub(crate) fn of_decl(&self, def: Def) -> Option<ModuleId> {
        self.of_decl.get(&def).copied()
    }

    pub(crate) fn place(&self, module: ModuleId) -> (u32, Option<DeclId>) {
        let module = &self.modules[module.0 as usize];
        (module.file, module.decl)
    }

    pub(crate) fn root(&self, module: ModuleId) -> ModuleId {
        self.around(module).root
    }

    pub(crate) fn parent(&self, module: ModuleId) -> Option<ModuleId> {
        self.around(module).parent
    }

    /// Whether a module is `around` or stands somewhere below it.
    pub(crate) fn is_within(&self, module: ModuleId, around: ModuleId) -> bool {
        std::iter::successors(Some(module), |it| self.parent(*it)).any(|it| it == around)
    }

    pub(crate) fn child(&self, module: ModuleId, name: Name) -> Option<ModuleId> {
        let module = &self.modules[module.0 as usize];
        reads::note(Door::Child, module.hash, Some(name));
        module.children.get(&name).copied()
    }

    /// A module whose parent, root or package is looked at.
    fn around(&self, module: ModuleId) -> &Module {
        let module = &self.modules[module.0 as usize];
        reads::note(Door::Around, module.hash, None);
        module
    }

    /// What is asked here, and what the answers are. That a file or an inline module is a module follows from itself.
    pub(crate) fn answers(&self, world: &World<'_>, notary: &mut Notary<'_>) {
        let hash = |it: ModuleId| self.modules[it.0 as usize].hash;
        let directory = |it: u32| keys::file(&self.packages[it as usize].directory);
        for module in &self.modules {
            let parts =
                [module.parent.map_or(0, hash), hash(module.root), module.package.map_or(0, directory)];
            let around = parts.into_iter().fold(0, keys::mix);
            notary.push(Door::Around, module.hash, None, around);
            module.children.iter().for_each(|(name, child)| {
                notary.push(Door::Child, module.hash, Some(*name), hash(*child));
            });
        }
        for package in &self.packages {
            let directory = keys::file(&package.directory);
            package.crates.iter().for_each(|(name, meaning)| {
                let answer = match meaning {
                    Crate::Project(library) => hash(*library),
                    Crate::Outside => 1,
                };
                notary.push(Door::Crate, keys::text(directory, name), None, answer);
            });
        }
        self.macros.iter().for_each(|(name, all)| {
            let answer = all.iter().fold(0, |state, it| keys::mix(state, world.digest(*it)));
            notary.push(Door::Macro, 0, Some(*name), answer);
        });
    }

    /// What a crate's name means in a module's crate: a dependency, the package's own library, or nothing.
    pub(crate) fn named(&self, module: ModuleId, name: &str) -> Option<Crate> {
        let Some(package) = self.around(module).package else {
            // Without a project file every crate is from outside.
            return Some(Crate::Outside);
        };
        let package = &self.packages[package as usize];
        reads::note(Door::Crate, keys::text(keys::file(&package.directory), name), None);
        match package.crates.get(name) {
            Some(Crate::Project(own)) if *own == self.root(module) => None,
            found => found.copied(),
        }
    }

    /// Whether a project file says that a name is a crate's.
    pub(crate) fn depends_on(&self, module: ModuleId, name: &str) -> bool {
        self.around(module).package.is_some() && self.named(module, name).is_some()
    }

    /// Puts together what crate names mean in each package, once all libraries are known.
    fn name_crates(&mut self) {
        let libraries: FxHashMap<&str, &Package> =
            self.packages.iter().map(|it| (it.directory.as_str(), it)).collect();
        let mut all: Vec<FxHashMap<String, Crate>> = Vec::with_capacity(self.packages.len());
        for package in &self.packages {
            let mut crates: FxHashMap<String, Crate> = FxHashMap::default();
            if let Some(library) = package.library {
                crates.insert(package.library_name.clone(), Crate::Project(library));
            }
            let mut dependencies: Vec<(&String, &Option<String>)> = package.dependencies.iter().collect();
            dependencies.sort_unstable();
            // A library may be named unlike its package.
            for (_, path) in &dependencies {
                let other = path.as_ref().and_then(|it| libraries.get(it.as_str()));
                if let Some((other, library)) = other.and_then(|it| Some((it, it.library?))) {
                    crates.insert(other.library_name.clone(), Crate::Project(library));
                    crates.insert(other.name.replace('-', "_"), Crate::Project(library));
                }
            }
            // The name that the package itself uses comes before all others.
            for (name, path) in dependencies {
                let other = path.as_ref().and_then(|it| libraries.get(it.as_str()));
                let meaning = other.and_then(|it| it.library).map_or(Crate::Outside, Crate::Project);
                crates.insert(name.clone(), meaning);
            }
            all.push(crates);
        }
        for (package, crates) in self.packages.iter_mut().zip(all) {
            package.crates = crates;
        }
    }

    /// The one macro of a name that a module can mean: of its own crate, else the only one anywhere.
    pub(crate) fn macro_named(&self, world: &World<'_>, module: ModuleId, name: Name) -> Option<Def> {
        if let Some(own) = self.macro_of_crate(world, module, name) {
            return Some(own);
        }
        reads::note(Door::Macro, 0, Some(name));
        match self.macros.get(&name)?.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The macro of a name in a module's crate. Several in one file are one under different conditions.
    pub(crate) fn macro_of_crate(&self, world: &World<'_>, module: ModuleId, name: Name) -> Option<Def> {
        reads::note(Door::Macro, 0, Some(name));
        let root = self.root(module);
        let mut own = self.macros.get(&name)?.iter().copied().filter(|def| {
            let (file, _, decl) = world.decl(*def);
            self.module(world, file, decl.owner).is_some_and(|it| self.root(it) == root)
        });
        let first = own.next()?;
        own.all(|it| world.file_of(it) == world.file_of(first)).then_some(first)
    }
}

fn target_directory(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Binary => "src/bin",
        TargetKind::Test => "tests",
        TargetKind::Example => "examples",
        TargetKind::Bench => "benches",
        TargetKind::Library | TargetKind::BuildScript => "src",
    }
}

/// The directory a workspace states for a dependency that a member takes from it.
fn workspace_path(manifests: &[(String, &Manifest)], directory: &str, name: &str) -> Option<String> {
    let states = |it: &Manifest| it.dependencies.iter().any(|it| it.for_workspace);
    let (root, manifest) = innermost_around(manifests, directory, states)?;
    let dependency = manifest.dependencies.iter().find(|it| it.for_workspace && it.name == name)?;
    match &dependency.path {
        Some(path) => Some(joined(root, path)),
        None => patched_path(manifests, directory, dependency),
    }
}

/// The directory that a workspace puts in the place of what a registry has.
fn patched_path(
    manifests: &[(String, &Manifest)],
    directory: &str,
    dependency: &Dependency,
) -> Option<String> {
    let (root, manifest) = innermost_around(manifests, directory, |it| !it.patches.is_empty())?;
    let package = dependency.package.as_ref().unwrap_or(&dependency.name);
    let patch = manifest.patches.iter().find(|it| it.package == *package)?;
    Some(joined(root, &patch.path))
}

fn innermost_around<'m>(
    manifests: &'m [(String, &'m Manifest)],
    directory: &str,
    is_wanted: impl Fn(&Manifest) -> bool,
) -> Option<(&'m str, &'m Manifest)> {
    let is_around = |root: &str| {
        root.is_empty() || directory.strip_prefix(root).is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    let roots = manifests.iter().filter(|(root, manifest)| is_around(root) && is_wanted(manifest));
    roots.max_by_key(|(root, _)| root.len()).map(|(root, manifest)| (root.as_str(), *manifest))
}

/// `relative` seen from `directory`, with `.` and `..` worked out.
fn joined(directory: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
