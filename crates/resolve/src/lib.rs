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

use std::sync::Arc;

use knowing_model::facts::FileFacts;
use knowing_model::{Symbol, Unit, UnitLayer};
use rayon::prelude::*;

pub use crate::again::{FileRecord, Previous, Record};
pub use crate::tables::Tables;

use crate::again::{Answers, Changed, Changes, Ledger, OtherLeads, Reach};
use crate::derive::{Derived, Lead};
use crate::emit::FileEdges;
use crate::tables::{OwnTables, Together};
use crate::world::{Update, World};

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
    let reach = again::reach_of(&changed);
    let changes = previous.map(|it| Changes::of_files(*it, &changed));
    let Begun { world, shared, ledger, earlier } = begin(input, (own, earlier), reach, &changes, is_wanted)?;
    let mut files: Vec<Option<FileEdges>> = (0..input.files.len()).map(|_| None).collect();
    let concerned = changes.map(|it| it.concerned(&shared, &world));
    resolve_files(&world, &mut files, |file| is_wanted() && concerned.as_ref().is_none_or(|it| it[file]));
    if !is_wanted() {
        return None;
    }
    if let Some(previous) = previous {
        let restated = again::restated(&files, previous);
        resolve_files(&world, &mut files, |file| restated.contains(&file));
    }
    let (leads, derived) = match (earlier, previous) {
        (Some(Earlier { mut leads, derived, update: None }), Some(previous)) => {
            let mut other = OtherLeads::default();
            again::renew_leads(&world, &files, &mut leads, &mut other);
            let derived = derived.again(&world, &leads, &other, previous);
            (leads, derived)
        }
        (Some(Earlier { leads, derived, update: Some(update) }), Some(previous)) => {
            let (mut leads, mut other) = again::moved_leads(&world, &update, leads);
            again::renew_leads(&world, &files, &mut leads, &mut other);
            let derived = derived.renewed(&world, &leads, &other, &update, previous);
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
    *tables = own.into_tables(Together { common, shared, ledger, leads, derived });
    Some(resolution)
}

/// What is known before files are resolved.
struct Begun<'a> {
    world: World<'a>,
    shared: Answers,
    ledger: Option<Ledger>,
    /// None that is of use where there is none.
    earlier: Option<Earlier<'a>>,
}

/// What the run before derived, and the edges that it derived it from.
struct Earlier<'a> {
    leads: Vec<Arc<[Lead]>>,
    derived: Derived,
    /// What differs since, where both have the numbers of then. Without it nothing is another but the inside of callables.
    update: Option<Update<'a>>,
}

/// Makes what all files are made of together, of what the run before made as far as that goes.
fn begin<'a>(
    input: &Input<'a>,
    (mut own, earlier): (OwnTables<'a>, Option<Box<Together>>),
    reach: Reach,
    changes: &Option<Changes<'a>>,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Option<Begun<'a>> {
    // A process that makes one run alone has no use for what costs the next one less.
    let records = earlier.is_some();
    let earlier = earlier.filter(|_| !own.names.may_answer_otherwise()).map(|it| *it);
    match (earlier, changes) {
        (Some(Together { common, shared, ledger, leads, derived }), _) if reach < Reach::Everything => {
            let world = World::with(*input, own, common, reach, ledger.is_some());
            let (shared, ledger) = match (reach < Reach::Mentions, ledger) {
                (true, ledger) => (shared, ledger),
                (false, ledger) => {
                    let (shared, made) = again::shared(&world);
                    (shared, ledger.map(|_| made))
                }
            };
            return Some(Begun {
                world,
                shared,
                ledger,
                earlier: Some(Earlier { leads, derived, update: None }),
            });
        }
        (Some(Together { common, ledger: Some(mut ledger), leads, derived, .. }), Some(changes)) => {
            match World::renewed(*input, own, (common, &mut ledger), changes) {
                Ok((world, update)) => {
                    let (shared, ledger) = (ledger.settle(), Some(ledger));
                    return Some(Begun {
                        world,
                        shared,
                        ledger,
                        earlier: Some(Earlier { leads, derived, update: Some(update) }),
                    });
                }
                Err(tables) => own = *tables,
            }
        }
        _ => {}
    }
    let world = World::new(*input, own, records, is_wanted)?;
    let (shared, ledger) = again::shared(&world);
    Some(Begun { world, shared, ledger: records.then_some(ledger), earlier: None })
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
