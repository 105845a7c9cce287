//! The programs that a project consists of, and where each begins: project files and the places that languages look at say
//! it, so that it takes all files together.

use std::collections::BTreeMap;

use knowing_model::facts::{DeclId, FileFacts, Manifest, TargetKind};
use knowing_model::name::is_code;
use knowing_model::{NodeFlags, NodeKind};

use crate::InputFile;
use crate::again::keys::{self, Door, mix};
use crate::again::{Notary, reads};
use crate::emit::End;
use crate::paths::join;
use crate::world::{Def, Update, World};

/// Programs by what they can be called.
#[derive(Default)]
pub(crate) struct Programs {
    /// By name; by `/path` of a script, with and without its ending; by `/directory` and import path where a package is one;
    /// by `@directory` of the project file.
    by_name: BTreeMap<String, Vec<Program>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Program {
    file: u32,
    /// None where all of the file is run.
    main: Option<Def>,
}

impl Programs {
    pub(crate) fn new(world: &World<'_>) -> Programs {
        let mut programs = Programs::default();
        for file in 0..world.n_files() as u32 {
            let facts = world.found_in(file);
            let (directory, base) = split(world.path(file));
            match (&facts.manifest, facts.language.as_str()) {
                (Some(manifest), "cargo") => programs.of_cargo(world, directory, manifest),
                (Some(manifest), "package_json") => programs.of_node(world, directory, manifest),
                (Some(manifest), "pyproject" | "setup_cfg") => programs.of_python(world, directory, manifest),
                (None, "go") => programs.of_go(world, file, facts, directory),
                (None, "ruby") if matches!(split(directory).1, "exe" | "bin") => {
                    let name = base.strip_suffix(".rb").unwrap_or(base);
                    programs.add(world, &[name], file, None);
                }
                _ => {}
            }
        }
        programs
    }

    /// As `new`, from those of the run before.
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> Programs {
        let is_program = |it: InputFile<'_>| {
            let is_of_go =
                it.facts.language == "go" && it.facts.namespace.map(|at| it.facts.text(at)) != Some("main");
            it.facts.manifest.is_some() || !is_of_go && is_code(&it.facts.language)
        };
        if !update.keeps_paths() || update.versions(world).any(is_program) {
            return Programs::new(world);
        }
        let mut programs = self;
        for program in programs.by_name.values_mut().flatten() {
            // Files stand where they stood, and none of these is another.
            program.main = program.main.and_then(|it| update.moves.def(it));
        }
        programs
    }

    pub(crate) fn answers(&self, notary: &mut Notary<'_>) {
        for (name, programs) in &self.by_name {
            let one = |it: &Program| mix(notary.file(it.file), it.main.map_or(0, |it| notary.def(it)));
            let answer = programs.iter().fold(0, |state, it| mix(state, one(it)));
            notary.push(Door::Program, keys::name(name), None, answer);
        }
    }

    /// What `LinkEnd::Program` means in a file; none where the project has no such program, or several.
    pub(crate) fn find(&self, world: &World<'_>, file: u32, text: &str) -> Option<End> {
        if let Some(module) = text.strip_prefix("-m ") {
            return python_module(world, split(world.path(file)).0, module).map(End::File);
        }
        if text == "." {
            let home = above(split(world.path(file)).0)
                .find(|it| world.file_at(&joined(it, "Cargo.toml")).is_some())?;
            return self.one(world, file, &format!("@{home}"));
        }
        if let Some(place) = text.strip_prefix('=') {
            return self.one(world, file, place);
        }
        if let Some(path) = text.strip_prefix('/') {
            return match script(world, path) {
                Some(file) => Some(End::File(file)),
                None => self.one(world, file, text),
            };
        }
        if !text.contains('/') {
            return self.one(world, file, text.strip_suffix(".exe").unwrap_or(text));
        }
        // What was built is called like the program it was built of.
        let name = split(text).1;
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let is_built = ["target", "bin", "build", "dist", "out", "_build", ".bin"];
        let directories = split(text).0.split('/').filter(|it| !matches!(*it, "." | ".." | ""));
        if directories.clone().all(|it| is_built.contains(&it) || matches!(it, "debug" | "release"))
            && let Some(program) = self.one(world, file, name)
        {
            return Some(program);
        }
        let written = text.trim_start_matches("./");
        let is_up = written.starts_with("../");
        let found = above(split(world.path(file)).0).find_map(|it| script(world, &join(it, written)?));
        match found {
            Some(file) => Some(End::File(file)),
            None if is_up => None,
            None => self.one(world, file, text),
        }
    }

    /// The only program of a name; of several the one whose package is nearest around the file that asks.
    fn one(&self, world: &World<'_>, file: u32, name: &str) -> Option<End> {
        reads::note(Door::Program, keys::name(name), None);
        let all = self.by_name.get(name)?;
        let own = world.path(file);
        let in_common = |it: &Program| {
            let path = world.path(it.file);
            path.split('/').zip(own.split('/')).take_while(|(one, other)| one == other).count()
        };
        let most = all.iter().map(in_common).max()?;
        let mut nearest = all.iter().filter(|it| in_common(it) == most);
        let one = nearest.next()?;
        if nearest.next().is_some() || one.file == file {
            return None;
        }
        Some(one.main.map_or(End::File(one.file), End::Def))
    }

    fn add(&mut self, world: &World<'_>, names: &[&str], file: u32, main: Option<Def>) {
        if world.found_in(file).flags.contains(NodeFlags::TEST) {
            return;
        }
        let program = Program { file, main };
        for name in names.iter().filter(|it| !it.is_empty()) {
            let all = self.by_name.entry((*name).to_owned()).or_default();
            if !all.contains(&program) {
                all.push(program);
            }
        }
    }

    /// `[[bin]]`, `src/main.rs`, `src/bin/*`.
    fn of_cargo(&mut self, world: &World<'_>, directory: &str, manifest: &Manifest) {
        let Some(package) = &manifest.package else { return };
        let mut found: Vec<(String, String)> = Vec::new();
        for target in manifest.targets.iter().filter(|it| it.kind == TargetKind::Binary) {
            let Some(name) = &target.name else { continue };
            let places = match &target.path {
                Some(path) => vec![path.clone()],
                None => vec![
                    format!("src/bin/{name}.rs"),
                    format!("src/bin/{name}/main.rs"),
                    "src/main.rs".to_owned(),
                ],
            };
            let place = places.iter().filter_map(|it| join(directory, it)).find(|it| is_there(world, it));
            found.extend(place.map(|it| (name.clone(), it)));
        }
        let mut conventional = vec![(package.clone(), joined(directory, "src/main.rs"))];
        let prefix = joined(directory, "src/bin/");
        let first = world.input.files.partition_point(|it| it.path < prefix.as_str());
        for file in &world.input.files[first..] {
            let Some(rest) = file.path.strip_prefix(&prefix) else { break };
            let name = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"));
            let name = name.filter(|it| !it.contains('/'));
            conventional.extend(name.map(|it| (it.to_owned(), file.path.to_owned())));
        }
        for (name, path) in conventional {
            if !found.iter().any(|it| it.1 == path) {
                found.push((name, path));
            }
        }
        let found: Vec<(String, u32)> =
            found.into_iter().filter_map(|(name, path)| Some((name, world.file_at(&path)?))).collect();
        // The program of a package is the only one, or the one that is called like it.
        let own = match found.as_slice() {
            [one] => Some(one.1),
            several => several.iter().find(|it| it.0 == *package).map(|it| it.1),
        };
        for (name, file) in found {
            let main = top(world, file, "main");
            let home = if own == Some(file) { format!("@{directory}") } else { String::new() };
            self.add(world, &[&name, &home], file, main);
        }
    }

    /// `bin` of a `package.json`. What is built of TypeScript lies in `src`.
    fn of_node(&mut self, world: &World<'_>, directory: &str, manifest: &Manifest) {
        for target in manifest.targets.iter().filter(|it| it.kind == TargetKind::Binary) {
            let (Some(name), Some(path)) = (&target.name, &target.path) else { continue };
            let Some(file) = join(directory, path).and_then(|it| script(world, &it)) else { continue };
            let place = format!("/{}", world.path(file));
            let written = place.rsplit_once('.').map_or("", |it| it.0);
            self.add(world, &[name, &place, written], file, None);
        }
    }

    /// `tool = "package.module:function"`.
    fn of_python(&mut self, world: &World<'_>, directory: &str, manifest: &Manifest) {
        for target in manifest.targets.iter().filter(|it| it.kind == TargetKind::Binary) {
            let (Some(name), Some(path)) = (&target.name, &target.path) else { continue };
            let (module, function) = path.split_once(':').unwrap_or((path, ""));
            let roots = manifest.source_roots.iter().map(String::as_str).chain(["", "src", "lib"]);
            let file = roots.filter_map(|it| join(directory, it)).find_map(|root| {
                let path = joined(&root, &module.replace('.', "/"));
                world.file_at(&format!("{path}.py")).or_else(|| world.file_at(&joined(&path, "__init__.py")))
            });
            let Some(file) = file else { continue };
            let function = function.split('.').next().unwrap_or_default();
            self.add(world, &[name], file, top(world, file, function));
        }
    }

    /// `package main` with a function `main`, called like its directory, or like the module at whose top it stands.
    fn of_go(&mut self, world: &World<'_>, file: u32, facts: &FileFacts, directory: &str) {
        if facts.namespace.map(|it| facts.text(it)) != Some("main") {
            return;
        }
        let Some(main) = top(world, file, "main") else { return };
        let home = above(directory).find_map(|it| {
            let manifest = world.found_in(world.file_at(&joined(it, "go.mod"))?).manifest.as_ref()?;
            Some((it, manifest.package.as_deref()?))
        });
        let import = home.map(|(home, module)| {
            let below = directory.strip_prefix(home).unwrap_or(directory).trim_start_matches('/');
            joined(module, below).trim_end_matches('/').to_owned()
        });
        let last = import.as_deref().unwrap_or(directory);
        let is_version = |it: &str| {
            it.strip_prefix('v').is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
        };
        let name = last.rsplit('/').find(|it| !is_version(it)).unwrap_or_default();
        let place = format!("/{directory}");
        self.add(world, &[name, &place, import.as_deref().unwrap_or_default()], file, Some(main));
    }
}

/// The directory, empty at the top, and the last part of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn joined(directory: &str, path: &str) -> String {
    if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") }
}

/// A directory and those around it, the top last.
fn above(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |it| if it.is_empty() { None } else { Some(split(it).0) })
}

fn is_there(world: &World<'_>, path: &str) -> bool {
    world.file_at(path).is_some()
}

/// The file that is run where a path is: itself, with an ending, or what it is built of.
fn script(world: &World<'_>, path: &str) -> Option<u32> {
    if let Some(file) = world.file_at(path) {
        return is_run(world, file).then_some(file);
    }
    const ENDINGS: [&str; 6] = [".js", ".cjs", ".mjs", ".ts", ".mts", ".cts"];
    let stem = ENDINGS.iter().find_map(|it| path.strip_suffix(it)).unwrap_or(path);
    let with_ending = |stem: &str| ENDINGS.iter().find_map(|it| world.file_at(&format!("{stem}{it}")));
    if let Some(file) = with_ending(stem) {
        return Some(file);
    }
    let parts: Vec<&str> = stem.split('/').collect();
    (0..parts.len()).rev().find_map(|at| {
        if !matches!(parts[at], "dist" | "lib" | "build" | "out") {
            return None;
        }
        let mut source = parts.clone();
        source[at] = "src";
        with_ending(&source.join("/"))
    })
}

fn is_run(world: &World<'_>, file: u32) -> bool {
    is_code(world.language(file))
}

/// `python -m package` runs `package/__main__.py`, `python -m module` runs the module. Modules lie below a directory around
/// the file that asks, or below one of the usual places of sources there.
fn python_module(world: &World<'_>, directory: &str, module: &str) -> Option<u32> {
    let path = module.replace('.', "/");
    above(directory).find_map(|it| {
        ["", "src", "lib"].iter().find_map(|root| {
            let place = joined(&joined(it, root), &path);
            let place = place.trim_start_matches('/').replace("//", "/");
            world.file_at(&format!("{place}/__main__.py")).or_else(|| world.file_at(&format!("{place}.py")))
        })
    })
}

/// A function at the top of a file.
fn top(world: &World<'_>, file: u32, name: &str) -> Option<Def> {
    let facts = world.found_in(file);
    let fits = |it: &knowing_model::facts::Decl| {
        it.owner.is_none()
            && it.implementation.is_none()
            && it.kind == NodeKind::Function
            && facts.text(it.name) == name
    };
    let place = facts.decls.iter().position(fits)?;
    Some(world.def(file, DeclId(u32::try_from(place).ok()?)))
}
