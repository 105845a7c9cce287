//! Where `require` finds files: below `lib`, `app/*`, `test`, `spec`, and beside the file itself.

use knowing_model::NodeFlags;
use knowing_model::facts::Import;
use rustc_hash::{FxHashMap, FxHashSet};

use super::tables;
use crate::again::keys::{self, Door};
use crate::again::{Notary, reads};
use crate::world::World;

#[derive(Default)]
pub(crate) struct LoadPaths {
    /// Files by the path that `require` gives, without the extension.
    files: FxHashMap<String, Vec<u32>>,
    /// Names of files that are required by their name alone, by their letters.
    stems: FxHashSet<String>,
    /// First parts of required paths that are no files here: names of gems, by their letters alone.
    gems: FxHashMap<String, String>,
}

pub(super) fn is_test_path(world: &World<'_>, file: u32) -> bool {
    world.flags(file).contains(NodeFlags::TEST)
}

impl LoadPaths {
    pub(super) fn new(world: &World<'_>, files: &[u32]) -> LoadPaths {
        let mut paths = LoadPaths::default();
        for file in files {
            let path = world.path(*file);
            let stem = path.rsplit_once('.').map_or(path, |it| it.0);
            for key in below_roots(stem) {
                if !key.contains('/') && !is_test_path(world, *file) && key != stem {
                    paths.stems.insert(letters(key));
                }
                paths.files.entry(key.to_owned()).or_default().push(*file);
            }
        }
        for file in files {
            let facts = world.facts(*file);
            for import in facts.imports.iter().filter(|it| it.level == 0) {
                let Some(first) = import.module.first().map(|it| facts.text(*it)) else { continue };
                let key = joined(import, facts);
                if !paths.files.contains_key(&key) {
                    paths.gems.insert(letters(first), first.to_owned());
                }
            }
        }
        for file in files {
            let stated = world.facts(*file).manifest.iter().flat_map(|it| &it.dependencies);
            for dependency in stated.filter(|it| it.path.is_none()) {
                paths.gems.insert(letters(&dependency.name), dependency.name.clone());
            }
        }
        paths
    }

    /// The file that an import loads; of several the one nearest to the importing file.
    pub(super) fn find(&self, world: &World<'_>, file: u32, import: &Import) -> Option<u32> {
        let facts = world.found_in(file);
        if import.level > 0 {
            let (directory, _) = world.path(file).rsplit_once('/').unwrap_or(("", ""));
            let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
            for segment in &import.module {
                match facts.text(*segment) {
                    ".." => {
                        parts.pop()?;
                    }
                    name => parts.push(name),
                }
            }
            return world.file_at(&format!("{}.rb", parts.join("/")));
        }
        let key = joined(import, facts);
        reads::note(Door::RubyFiles, keys::name(&key), None);
        let candidates = self.files.get(&key)?;
        let here = world.path(file);
        let common = |other: &str| here.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        candidates
            .iter()
            .filter(|it| is_test_path(world, file) || !is_test_path(world, **it))
            .max_by_key(|it| (common(world.path(**it)), std::cmp::Reverse(**it)))
            .copied()
    }

    /// Whether a constant at the top is of a gem: it is known for that or required, and no file of the project has its
    /// name.
    pub(super) fn is_outside(&self, constant: &str) -> bool {
        let is_known = tables::FRAMEWORKS.binary_search(&constant).is_ok() || self.gem(constant).is_some();
        let stem = letters(constant);
        reads::note(Door::RubyStem, keys::name(&stem), None);
        is_known && !self.stems.contains(&stem)
    }

    /// Whether `require` of this finds a file of the project.
    pub(super) fn provides(&self, library: &str) -> bool {
        reads::note(Door::RubyFiles, keys::name(library), None);
        self.files.contains_key(library)
    }

    /// The gem that a constant of this name is of, when some file requires it.
    pub(super) fn gem(&self, constant: &str) -> Option<&str> {
        let gem = letters(constant);
        reads::note(Door::RubyGem, keys::name(&gem), None);
        self.gems.get(&gem).map(String::as_str)
    }

    /// What is asked here, and what the answers are.
    pub(super) fn answers(&self, notary: &mut Notary<'_>) {
        self.files.iter().for_each(|(key, files)| {
            notary.push(Door::RubyFiles, keys::name(key), None, notary.files(files));
        });
        self.stems.iter().for_each(|it| notary.push(Door::RubyStem, keys::name(it), None, 1));
        self.gems.iter().for_each(|(key, gem)| {
            notary.push(Door::RubyGem, keys::name(key), None, keys::name(gem));
        });
    }
}

fn joined(import: &Import, facts: &knowing_model::facts::FileFacts) -> String {
    import.module.iter().map(|it| facts.text(*it)).collect::<Vec<_>>().join("/")
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect()
}

/// What a path is called below each directory that `require` may look in.
fn below_roots(stem: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut is_after_app = false;
    for segment in stem.split('/') {
        at += segment.len() + 1;
        let rest = stem.get(at..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        if is_after_app || matches!(segment, "lib" | "test" | "tests" | "spec" | "specs") {
            out.push(rest);
        }
        is_after_app = segment == "app";
    }
    out.push(stem);
    out
}
