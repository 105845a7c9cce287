//! The packages of a run from those of the run before: what they declare, and where imports lead, is found out again for
//! packages in which a file changed, and for files that changed.

use knowing_model::facts::FileFacts;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{GoPackages, Target};
use crate::InputFile;
use crate::again::keys;
use crate::again::{Notary, Table};
use crate::world::{ModuleId, Update, World};

/// What may be answered otherwise than in the run before.
#[derive(Default)]
pub(super) struct Other {
    /// Hashes of packages.
    packages: FxHashSet<u64>,
    /// Imports of all files may lead elsewhere.
    roads: bool,
}

/// Whether two versions of a file are of one package and built alike, and say the same of modules.
fn has_same_frame(was: &InputFile<'_>, is: &InputFile<'_>) -> bool {
    let frame = |it: &InputFile<'_>| {
        let text = |it: Option<&str>| it.map(str::to_owned);
        let FileFacts { language, namespace, condition, .. } = it.facts;
        let (namespace, condition) =
            (namespace.map(|at| it.facts.text(at)), condition.map(|at| it.facts.text(at)));
        (language.clone(), text(namespace), text(condition))
    };
    was.facts.manifest.is_none() && is.facts.manifest.is_none() && frame(was) == frame(is)
}

impl GoPackages {
    pub(crate) fn renewed(self, world: &World<'_>, update: &Update<'_>) -> GoPackages {
        if update.keeps_paths()
            && update.replaced().all(|(was, is)| has_same_frame(was, &world.input.files[is as usize]))
        {
            return self.renewed_within(world, update);
        }
        let mut before = self;
        let mut found = GoPackages::of_files(world);
        let hash_then = |it: ModuleId| before.packages[it.0 as usize].hash;
        let hash_now = |it: ModuleId| found.packages[it.0 as usize].hash;

        let mut other: FxHashSet<u64> = FxHashSet::default();
        other.extend(update.came.iter().filter_map(|it| found.package_of[*it as usize]).map(hash_now));
        other.extend(update.went.iter().filter_map(|it| before.package_of[it.0 as usize]).map(hash_then));
        let leads = |to: Option<&ModuleId>| to.map(|it| hash_then(*it));
        let same_directories = before.by_directory.len() == found.by_directory.len()
            && found.by_directory.iter().all(|(directory, package)| {
                leads(before.by_directory.get(directory)) == Some(hash_now(*package))
            });
        let roads = !same_directories || before.modules != found.modules;

        let by_hash: FxHashMap<u64, u32> = found.packages.iter().map(|it| it.hash).zip(0..).collect();
        let now: Vec<Option<u32>> = before.packages.iter().map(|it| by_hash.get(&it.hash).copied()).collect();
        let mut is_declared = vec![false; found.packages.len()];
        for (package, now) in before.packages.iter_mut().zip(&now) {
            let Some(now) = now.map(|it| it as usize).filter(|_| !other.contains(&package.hash)) else {
                continue;
            };
            let mut declared = std::mem::take(&mut package.declared);
            let is_there = declared.iter_mut().all(|(_, def)| {
                let now = update.moves.def(*def);
                *def = now.unwrap_or(*def);
                now.is_some()
            });
            if is_there {
                found.packages[now].declared = declared;
                is_declared[now] = true;
            }
        }
        for file in 0..world.n_files() as u32 {
            if found.package_of[file as usize].is_some_and(|it| !is_declared[it.0 as usize]) {
                found.declare(world, file);
            }
        }
        let again = found.packages.iter_mut().zip(&is_declared).filter(|it| !it.1);
        again.for_each(|it| it.0.declared.sort_unstable());

        let mut is_aimed = vec![false; world.n_files()];
        if !roads {
            for then in 0..before.targets.len() as u32 {
                let Some(file) = update.moves.file(then).filter(|_| update.moves.is_kept(then)) else {
                    continue;
                };
                let mut targets = std::mem::take(&mut before.targets[then as usize]);
                let is_there = targets.iter_mut().all(|it| match it {
                    Target::Package(package) => {
                        let now = now[package.0 as usize];
                        *package = ModuleId(now.unwrap_or_default());
                        now.is_some()
                    }
                    Target::Outside(..) => true,
                });
                if is_there {
                    let (then, file) = (then as usize, file as usize);
                    found.targets[file] = targets;
                    found.usual_names[file] = std::mem::take(&mut before.usual_names[then]);
                    is_aimed[file] = true;
                }
            }
        }
        found.aim(world, |file| !is_aimed[file as usize]);
        found.other = Other { packages: other, roads };
        found
    }

    /// Where all files are of the packages of before.
    fn renewed_within(mut self, world: &World<'_>, update: &Update<'_>) -> GoPackages {
        let of_files = update.came.iter().filter_map(|it| self.package_of[*it as usize]);
        let other: FxHashSet<ModuleId> = of_files.collect();
        for (package, id) in self.packages.iter_mut().zip((0..).map(ModuleId)) {
            if other.contains(&id) {
                package.declared.clear();
            } else {
                // What is left of packages without a change is what they declare.
                package.declared.retain_mut(|(_, def)| update.moves.def(*def).map(|it| *def = it).is_some());
            }
        }
        for file in 0..world.n_files() as u32 {
            if self.package_of[file as usize].is_some_and(|it| other.contains(&it)) {
                self.declare(world, file);
            }
        }
        let changed = self.packages.iter_mut().zip((0..).map(ModuleId)).filter(|it| other.contains(&it.1));
        let mut packages = FxHashSet::default();
        for (package, _) in changed {
            package.declared.sort_unstable();
            packages.insert(package.hash);
        }
        for file in &update.came {
            self.targets[*file as usize].clear();
            self.usual_names[*file as usize].clear();
        }
        self.aim(world, |file| update.came.binary_search(&file).is_ok());
        self.other = Other { packages, roads: false };
        self
    }

    /// As `answers`, of what may be answered otherwise.
    pub(crate) fn answers_again(&self, world: &World<'_>, update: &Update<'_>, notary: &mut Notary<'_>) {
        for (then, file) in &update.went {
            if update.moves.file(*then).is_none() {
                notary.begin(Table::GoFile.unit(keys::file(file.path)));
            }
        }
        match self.other.roads {
            true => (0..world.n_files() as u32).for_each(|it| self.answers_of_file(world, notary, it)),
            false => update.came.iter().for_each(|it| self.answers_of_file(world, notary, *it)),
        }
        let mut gone = self.other.packages.clone();
        for package in self.packages.iter().filter(|it| self.other.packages.contains(&it.hash)) {
            gone.remove(&package.hash);
            package.answers(notary);
        }
        #[expect(clippy::iter_over_hash_type, reason = "units have no order")]
        for hash in gone {
            notary.begin(Table::GoPackage.unit(hash));
        }
        self.answers_of_all(notary);
    }
}
