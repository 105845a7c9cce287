//! The facts of many files to edges: which declaration each call, type and name means, by scope, import and type.
//!
//! ```text
//! facts --> World (names, scopes, modules) --> Hierarchy (bases, implementations)
//!       --> each file on its own, in parallel (Evaluator: what does this expression stand for?)
//!           again/: all of them, or those alone that a change concerns
//!       --> derived edges over all of it --> one list of symbols, two units a file
//! ```
//!
//! A call that cannot be resolved is kept with its reason; nothing is ever bound by name alone, save for the one rule
//! called *inferred* (`calls.rs`). What a language means by its names is in `languages/`.

mod again;
mod assemble;
mod calls;
mod derive;
mod emit;
mod evaluate;
mod hierarchy;
mod languages;
mod links;
mod names;
mod overloads;
mod paths;
mod routes;
mod scopes;
mod tables;
mod value;
mod world;

#[cfg(test)]
mod tests;

use knowing_model::facts::FileFacts;
use knowing_model::{Symbol, Unit, UnitLayer};
use rayon::prelude::*;

pub use crate::again::{FileRecord, Previous, Record};
pub use crate::tables::Tables;

use crate::again::Changes;
use crate::emit::FileEdges;
use crate::hierarchy::Hierarchy;
use crate::languages::programs::Programs;
use crate::links::Offers;
use crate::routes::Routes;
use crate::tables::OwnTables;
use crate::world::World;

/// All files of a snapshot that have facts, sorted by path.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The repository's url: the first part of every name.
    pub url: &'a str,
    pub files: &'a [InputFile<'a>],
}

#[derive(Clone, Copy)]
pub struct InputFile<'a> {
    pub path: &'a str,
    pub facts: &'a FileFacts,
}

/// Everything the snapshot's graph consists of. Rows point into `symbols`; `Unit::file` points into the input's files.
#[derive(Debug, Default)]
pub struct Resolution {
    /// Those that units speak of.
    pub symbols: Vec<Symbol>,
    pub units: Vec<Unit>,
    /// Units that are those of the run before: of these files, all of which were there in the same version.
    pub kept: Vec<(u32, UnitLayer)>,
    /// The unit of what has no file is that of the run before, too.
    pub keeps_packages: bool,
    /// How many files were resolved.
    pub n_resolved: usize,
    /// For the next run.
    pub record: Record,
}

/// Runs on the current rayon pool; the result depends neither on its size nor on `previous`, but for what is kept instead
/// of made anew.
pub fn resolve(input: &Input<'_>, previous: Option<&Previous<'_>>) -> Resolution {
    resolve_while(input, previous, &mut Tables::default(), &|| true).expect("it is wanted to the end")
}

/// As `resolve`; none when it is not wanted any more. `tables` are those of the run before, where it was one of this
/// process, and become those of this run.
pub fn resolve_while(
    input: &Input<'_>,
    previous: Option<&Previous<'_>>,
    tables: &mut Tables,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Option<Resolution> {
    if let Some(unchanged) = previous.and_then(again::unchanged) {
        return Some(unchanged);
    }
    let own = OwnTables::new(input.files, std::mem::take(tables), previous);
    let mut world = World::new(*input, own);
    if !is_wanted() {
        return None;
    }
    world.hierarchy = Hierarchy::of_parts(&world);
    let (of_files, offers) = rayon::join(|| Hierarchy::of_files(&world), || Offers::new(&world));
    world.hierarchy = std::mem::take(&mut world.hierarchy).with_files(&world, of_files);
    world.offers = offers;
    world.routes = Routes::new(&world);
    world.programs = Programs::new(&world);
    let shared = again::shared(&world);
    let mut files: Vec<Option<FileEdges>> = (0..input.files.len()).map(|_| None).collect();
    let concerned = previous.map(|it| Changes::new(&world, &shared, *it).concerned(&world));
    resolve_files(&world, &mut files, |file| is_wanted() && concerned.as_ref().is_none_or(|it| it[file]));
    if !is_wanted() {
        return None;
    }
    if let Some(previous) = previous {
        let restated = again::restated(&files, previous);
        resolve_files(&world, &mut files, |file| restated.contains(&file));
    }
    let leads = again::leads(&world, &files, previous);
    let derived = derive::derive(&world, &leads, previous);
    let parts = assemble::Parts { files, leads, derived, shared, previous };
    let resolution = is_wanted().then(|| assemble::assemble(&world, parts));
    *tables = world.into_tables();
    resolution
}

fn resolve_files(
    world: &World<'_>,
    files: &mut [Option<FileEdges>],
    is_wanted: impl Fn(usize) -> bool + Sync,
) {
    files.par_iter_mut().enumerate().for_each(|(file, result)| {
        if result.is_none() && is_wanted(file) {
            *result = Some(emit::resolve_file(world, file as u32));
        }
    });
}
