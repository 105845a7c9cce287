//! What follows from all files together: members of types, what overrides what, what fulfils a hinted interface, what
//! tests exercise, and what is alike.

mod hints;
mod similar;
mod spoken_of;
mod structure;
mod tested;

use std::sync::Arc;

use knowing_model::{EdgeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::again::keys::mix;
use crate::again::{Moves, OtherLeads, Previous};
use crate::emit::{End, FileEdges};
use crate::languages::Relations;
use crate::world::{Def, Update, World};

use hints::Hints;
use structure::Structure;
use tested::Tested;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct DerivedEdge {
    pub(crate) source: Def,
    pub(crate) target: Def,
    pub(crate) kind: EdgeKind,
    pub(crate) provenance: Provenance,
    pub(crate) confidence_bp: u16,
}

impl DerivedEdge {
    /// With the usual confidence of its provenance.
    pub(crate) fn new(source: Def, target: Def, kind: EdgeKind, provenance: Provenance) -> DerivedEdge {
        DerivedEdge { source, target, kind, provenance, confidence_bp: provenance.usual_confidence() }
    }
}

impl DerivedEdge {
    /// Gives it the numbers of now; whether it still can be.
    pub(crate) fn moved(&mut self, moves: &Moves) -> bool {
        let (source, target) = (moves.def(self.source), moves.def(self.target));
        if let (Some(source), Some(target)) = (source, target) {
            (self.source, self.target) = (source, target);
        }
        source.is_some() && target.is_some()
    }

    /// The same in every run.
    pub(crate) fn digest(&self, world: &World<'_>) -> u64 {
        let what = u64::from(self.kind.id()) << 8 | u64::from(self.provenance.id());
        let what = what << 16 | u64::from(self.confidence_bp);
        mix(mix(world.digest(self.source), world.digest(self.target)), what)
    }
}

/// An edge of a file that something is derived from: a hint, or what a test calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lead {
    pub(crate) kind: EdgeKind,
    pub(crate) source: Def,
    pub(crate) target: Def,
}

impl Lead {
    pub(crate) fn all(world: &World<'_>, file: &FileEdges) -> Vec<Lead> {
        let leads = file.edges.iter().filter_map(|edge| {
            let (End::Def(source), End::Def(target)) = (edge.source, edge.target) else { return None };
            let is_lead = match edge.kind {
                EdgeKind::TypeHintOf => true,
                EdgeKind::Calls => {
                    edge.provenance == Provenance::AstResolved && tested::test_around(world, source).is_some()
                }
                _ => false,
            };
            is_lead.then_some(Lead { kind: edge.kind, source, target })
        });
        leads.collect()
    }
}

/// What is derived of a run: layers that have no kind of edge in common, each sorted by source, target and kind.
pub(crate) struct Derived {
    structure: Structure,
    relations: Relations,
    /// What is stated by no file alone: what fulfils an interface, parts of types.
    fulfilled: Vec<DerivedEdge>,
    hints: Hints,
    tested: Tested,
    similar: Vec<DerivedEdge>,
    /// For each file whether its `similar_to` edges are those of the run before; they are not among the edges.
    keeps_similar: Vec<bool>,
    /// Files whose edges may be others than in the run before; all of them where this is none.
    touched: Option<FxHashSet<u32>>,
}

impl Derived {
    /// The edges of a run after which nothing is another but the inside of callables, and with it leads of the kinds `other`.
    pub(crate) fn again(
        mut self,
        world: &World<'_>,
        leads: &[Arc<[Lead]>],
        other: &OtherLeads,
        previous: &Previous<'_>,
    ) -> Derived {
        let changed: Vec<u32> = (0..).zip(previous.same).filter(|it| it.1.is_none()).map(|it| it.0).collect();
        let mut touched: FxHashSet<u32> = changed.iter().copied().collect();
        if let Some(files) = other.get(&EdgeKind::TypeHintOf) {
            let before = self.hints.edges.clone();
            self.hints = self.hints.again(world, leads, files);
            touched.extend(differing(world, &before, &self.hints.edges));
        }
        if let Some(files) = other.get(&EdgeKind::Calls) {
            let (edges, named) = (self.tested.edges.clone(), self.tested.named.clone());
            self.tested = self.tested.again(world, leads, files);
            touched.extend(differing(world, &edges, &self.tested.edges));
            touched.extend(differing(world, &named, &self.tested.named));
        }
        self.similar.retain(|it| !changed.contains(&world.file_of(it.source)));
        for file in changed {
            self.similar.extend(similar_of(world, file));
            self.keeps_similar[file as usize] = false;
        }
        self.similar = sorted(self.similar);
        Derived { touched: Some(touched), ..self }
    }

    /// As `derive`, from what the run before derived; leads of the kinds `other` are others.
    pub(crate) fn renewed(
        self,
        world: &World<'_>,
        leads: &[Arc<[Lead]>],
        other: &OtherLeads,
        update: &Update<'_>,
        previous: &Previous<'_>,
    ) -> Derived {
        let mut touched: FxHashSet<u32> = update.came.iter().copied().collect();
        let mut before: Vec<Vec<DerivedEdge>> =
            self.layers().into_iter().map(|it| moved(world, update, it.to_vec(), &mut touched)).collect();
        // `similar_to` is told by directory.
        before.pop();
        let Derived { structure, relations, hints, tested, .. } = self;
        let structure = structure.renewed(world, update, &mut touched);
        let ((relations, fulfilled, hints), (tested, (similar, keeps_similar))) = rayon::join(
            || {
                let relations = relations.renewed(world, update);
                let fulfilled = sorted(fulfilled(world, &relations));
                let hints = hints.renewed(world, leads, other.get(&EdgeKind::TypeHintOf), update, &fulfilled);
                (relations, fulfilled, hints)
            },
            || {
                let tested = tested.renewed(world, leads, other.get(&EdgeKind::Calls), update);
                (tested, similar::similar(world, Some(previous)))
            },
        );
        touched.extend((0..).zip(&keeps_similar).filter(|it| !it.1).map(|it| it.0));
        let similar = sorted(similar);
        let mut now =
            Derived { structure, relations, fulfilled, hints, tested, similar, keeps_similar, touched: None };
        for (was, is) in before.iter().zip(now.layers()) {
            touched.extend(differing(world, was, is));
        }
        now.touched = Some(touched);
        now
    }

    /// Edges of all files but those of the structure, each layer sorted.
    fn layers(&self) -> [&[DerivedEdge]; 5] {
        [&self.fulfilled, &self.hints.edges, &self.tested.edges, &self.tested.named, &self.similar]
    }

    /// Those whose source is in a file, sorted.
    pub(crate) fn of_file(&self, world: &World<'_>, file: u32) -> Vec<DerivedEdge> {
        let (first, end) = world.def_range(file);
        let mut edges = self.structure.of_file(world, file);
        for layer in self.layers() {
            let begin = layer.partition_point(|it| it.source < first);
            edges.extend(layer[begin..].iter().take_while(|it| it.source < end));
        }
        edges.sort_by_key(|it| (it.source, it.target, it.kind));
        edges.dedup_by_key(|it| (it.source, it.target, it.kind));
        edges
    }

    pub(crate) fn keeps_similar(&self, file: u32) -> bool {
        self.keeps_similar[file as usize]
    }

    /// Whether the edges of a file may be others than in the run before.
    pub(crate) fn is_touched(&self, file: u32) -> bool {
        self.touched.as_ref().is_none_or(|it| it.contains(&file))
    }
}

/// A layer of the run before under the numbers of now. Files of which edges are gone are `touched`.
fn moved(
    world: &World<'_>,
    update: &Update<'_>,
    mut layer: Vec<DerivedEdge>,
    touched: &mut FxHashSet<u32>,
) -> Vec<DerivedEdge> {
    let moves = &update.moves;
    layer.retain_mut(|it| {
        let is_there = it.moved(moves);
        if !is_there {
            touched.extend(moves.def(it.source).map(|it| world.file_of(it)));
        }
        is_there
    });
    if moves.keeps_order() { layer } else { sorted(layer) }
}

/// Files that have edges which only one of two sorted lists has.
fn differing(world: &World<'_>, one: &[DerivedEdge], other: &[DerivedEdge]) -> Vec<u32> {
    let key = |it: &DerivedEdge| (it.source, it.target, it.kind);
    let (mut one, mut other) = (one, other);
    let mut files = Vec::new();
    while let (Some(first), Some(second)) = (one.first(), other.first()) {
        if first == second {
            (one, other) = (&one[1..], &other[1..]);
        } else if key(first) <= key(second) {
            files.push(world.file_of(first.source));
            one = &one[1..];
        } else {
            files.push(world.file_of(second.source));
            other = &other[1..];
        }
    }
    files.extend(one.iter().chain(other).map(|it| world.file_of(it.source)));
    files
}

/// `similar_to` edges of a file.
pub(crate) fn similar_of(world: &World<'_>, file: u32) -> impl Iterator<Item = DerivedEdge> {
    similar::around(world, file).into_iter().filter(move |it| world.file_of(it.source) == file)
}

/// `leads` are those of each file.
pub(crate) fn derive(world: &World<'_>, leads: &[Arc<[Lead]>], previous: Option<&Previous<'_>>) -> Derived {
    let ((relations, fulfilled, hints), (structure, tested, (similar, keeps_similar))) = rayon::join(
        || {
            let relations = Relations::new(world);
            let fulfilled = sorted(fulfilled(world, &relations));
            let hints = Hints::new(world, leads, &fulfilled);
            (relations, fulfilled, hints)
        },
        || {
            let structure = Structure::new(world);
            let (tested, similar) = rayon::join(
                || Tested::new(world, leads),
                || {
                    let (similar, keeps_similar) = similar::similar(world, previous);
                    (sorted(similar), keeps_similar)
                },
            );
            (structure, tested, similar)
        },
    );
    Derived { structure, relations, fulfilled, hints, tested, similar, keeps_similar, touched: None }
}

/// In order, and each once: what is stated first is what counts.
fn sorted(mut edges: Vec<DerivedEdge>) -> Vec<DerivedEdge> {
    edges.par_sort_by_key(|it| (it.source, it.target, it.kind));
    edges.dedup_by_key(|it| (it.source, it.target, it.kind));
    edges
}

/// What no file states alone.
fn fulfilled(world: &World<'_>, relations: &Relations) -> Vec<DerivedEdge> {
    let mut edges = Vec::new();
    for parts in world.hierarchy.types_in_parts() {
        let (kind, provenance) = (EdgeKind::References, Provenance::Structural);
        edges.extend(parts[1..].iter().map(|it| DerivedEdge::new(*it, parts[0], kind, provenance)));
    }
    edges.extend(relations.edges());
    edges
}
