//! The facts of many files to edges: which declaration each call, type and name means, by scope, import and type.
//!
//! ```text
//! facts --> World (names, scopes, modules) --> Hierarchy (bases, implementations)
//!       --> each file on its own, in parallel (Evaluator: what does this expression stand for?)
//!       --> derived edges over all of it --> one list of symbols, two units a file
//! ```
//!
//! A call that cannot be resolved is kept with its reason; nothing is ever bound by name alone, save for the one rule
//! called *inferred* (`calls.rs`). What a language means by its names is in `languages/`.

mod assemble;
mod calls;
mod derive;
mod emit;
mod evaluate;
mod hierarchy;
mod languages;
mod names;
mod overloads;
mod scopes;
mod value;
mod world;

#[cfg(test)]
mod tests;

use knowing_model::facts::FileFacts;
use knowing_model::{Symbol, Unit};
use rayon::prelude::*;

use crate::hierarchy::Hierarchy;
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
    pub symbols: Vec<Symbol>,
    pub units: Vec<Unit>,
}

/// Runs on the current rayon pool; the result does not depend on its size.
pub fn resolve(input: &Input<'_>) -> Resolution {
    let mut world = World::new(*input);
    world.hierarchy = Hierarchy::build(&world);
    let resolved: Vec<emit::FileEdges> =
        (0..input.files.len()).into_par_iter().map(|file| emit::resolve_file(&world, file)).collect();
    let derived = derive::derive(&world, &resolved);
    assemble::assemble(&world, resolved, derived)
}
