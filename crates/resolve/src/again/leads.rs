//! Edges that others are derived from, for files that keep their result too.

use std::sync::Arc;

use knowing_model::EdgeKind;
use knowing_model::facts::DeclId;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::changes::Previous;
use crate::derive::Lead;
use crate::emit::FileEdges;
use crate::world::{Def, Update, World};

/// Those of each file: of its result, or as they were recorded.
pub(crate) fn leads(
    world: &World<'_>,
    files: &[Option<FileEdges>],
    previous: Option<&Previous<'_>>,
) -> Vec<Arc<[Lead]>> {
    let is_any_kept = files.iter().any(Option::is_none);
    let defs = if is_any_kept { by_digest(world) } else { FxHashMap::default() };
    let all = files.par_iter().enumerate().map(|(at, file)| match file {
        Some(file) => Lead::all(world, file).into(),
        None => {
            let place = previous.and_then(|it| it.same[at]).map_or(usize::MAX, |it| it as usize);
            let record = previous.and_then(|it| it.record.files().get(place));
            let leads = record.into_iter().flat_map(|it| it.leads.iter());
            // What a kept result speaks of is there: else the file would have been resolved again.
            leads.filter_map(|it| read(world, at as u32, *it, &defs)).collect()
        }
    });
    all.collect()
}

/// Files of which the leads of a kind are others.
pub(crate) type OtherLeads = FxHashMap<EdgeKind, FxHashSet<u32>>;

/// Those of the run before under the numbers of now, and where some are gone.
pub(crate) fn moved_leads(
    world: &World<'_>,
    update: &Update<'_>,
    before: Vec<Arc<[Lead]>>,
) -> (Vec<Arc<[Lead]>>, OtherLeads) {
    let moves = &update.moves;
    let mut leads: Vec<Arc<[Lead]>> = vec![Arc::default(); world.n_files()];
    let mut gone = OtherLeads::default();
    for (then, mut of_file) in (0..).zip(before) {
        let moved =
            |it: &Lead| Some(Lead { source: moves.def(it.source)?, target: moves.def(it.target)?, ..*it });
        let file = moves.file(then);
        let is_there = |it: &Lead| file.is_some() && moved(it).is_some();
        if !of_file.iter().all(is_there) {
            for lead in of_file.iter().filter(|it| !is_there(it)) {
                gone.entry(lead.kind).or_default().extend(file);
            }
            of_file = of_file.iter().filter(|it| is_there(it)).copied().collect();
        }
        let Some(file) = file else { continue };
        match Arc::get_mut(&mut of_file) {
            Some(own) => own.iter_mut().for_each(|it| *it = moved(it).unwrap_or(*it)),
            None => of_file = of_file.iter().filter_map(moved).collect(),
        }
        leads[file as usize] = of_file;
    }
    (leads, gone)
}

/// Puts in those of files that were resolved, and tells which are others than before.
pub(crate) fn renew_leads(
    world: &World<'_>,
    files: &[Option<FileEdges>],
    leads: &mut [Arc<[Lead]>],
    other: &mut OtherLeads,
) {
    for ((file, result), leads) in (0..).zip(files).zip(leads) {
        let Some(result) = result else { continue };
        let new: Arc<[Lead]> = Lead::all(world, result).into();
        for kind in [EdgeKind::TypeHintOf, EdgeKind::Calls] {
            let of_kind = |it: &&Lead| it.kind == kind;
            if !leads.iter().filter(of_kind).eq(new.iter().filter(of_kind)) {
                other.entry(kind).or_default().insert(file);
            }
        }
        *leads = new;
    }
}

/// As they are kept: in an order that does not hang on the numbers of declarations, so that files that keep their result
/// have theirs as a full run would.
pub(crate) fn recorded_leads(world: &World<'_>, leads: &[Lead]) -> Arc<[(u64, u64)]> {
    let recorded = leads.iter().map(|it| {
        let source = world.decl(it.source).1;
        (u64::from(it.kind.id()) << 32 | u64::from(source.0), world.digest(it.target))
    });
    let mut recorded: Vec<(u64, u64)> = recorded.collect();
    recorded.sort_unstable();
    recorded.into()
}

fn read(
    world: &World<'_>,
    file: u32,
    (lead, target): (u64, u64),
    defs: &FxHashMap<u64, Def>,
) -> Option<Lead> {
    let kind = EdgeKind::from_id((lead >> 32) as u8)?;
    let source = world.def(file, DeclId(lead as u32));
    Some(Lead { kind, source, target: *defs.get(&target)? })
}

fn by_digest(world: &World<'_>) -> FxHashMap<u64, Def> {
    (0..world.n_defs() as u32).map(|it| (world.digest(Def(it)), Def(it))).collect()
}
