//! The facts of many files to edges: which declaration each call, type and name means, by scope, import and type.
//!
//! ```text
//! facts --> World: names, scopes, modules, then bases and implementations (Hierarchy), routes, names that files offer
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

use crate::again::{Changed, Changes, Reach};
use crate::emit::FileEdges;
use crate::tables::{OwnTables, Together};
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
    let changed = previous.map(|it| Changed::all(input.files, it)).unwrap_or_default();
    let (own, earlier) = OwnTables::new(input.files, std::mem::take(tables), previous);
    let reach = changed.iter().map(Changed::reach).max().unwrap_or(Reach::Nothing);
    let earlier =
        earlier.filter(|_| reach < Reach::Everything && !own.names.may_answer_otherwise()).map(|it| *it);
    let (world, shared, earlier) = match earlier {
        Some(Together { common, shared, leads, derived }) => {
            let world = World::with(*input, own, common, reach);
            let shared = if reach < Reach::Mentions { shared } else { again::shared(&world) };
            (world, shared, Some((leads, derived)))
        }
        None => {
            let world = World::new(*input, own, is_wanted)?;
            let shared = again::shared(&world);
            (world, shared, None)
        }
    };
    let mut files: Vec<Option<FileEdges>> = (0..input.files.len()).map(|_| None).collect();
    let concerned = previous.map(|it| Changes::new(&shared, *it, &changed).concerned(&world));
    resolve_files(&world, &mut files, |file| is_wanted() && concerned.as_ref().is_none_or(|it| it[file]));
    if !is_wanted() {
        return None;
    }
    if let Some(previous) = previous {
        let restated = again::restated(&files, previous);
        resolve_files(&world, &mut files, |file| restated.contains(&file));
    }
    let (leads, derived) = match (earlier, previous) {
        (Some((mut leads, derived)), Some(previous)) => {
            let other = again::renew_leads(&world, &files, &mut leads);
            let derived = derived.again(&world, &leads, other, previous);
            (leads, derived)
        }
        _ => {
            let leads = again::leads(&world, &files, previous);
            let derived = derive::derive(&world, &leads, previous);
            (leads, derived)
        }
    };
    if !is_wanted() {
        return None;
    }
    let parts = assemble::Parts { files, leads: &leads, derived: &derived, shared: shared.clone(), previous };
    let resolution = assemble::assemble(&world, parts);
    let (own, common) = world.into_parts();
    *tables = own.into_tables(Together { common, shared, leads, derived });
    Some(resolution)
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
