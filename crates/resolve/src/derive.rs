//! What follows from all files together: members of types, what overrides what, what fulfils a hinted interface, what
//! tests exercise, and what is alike.

mod hints;
mod similar;
mod tested;

use std::sync::Arc;

use knowing_model::facts::BaseRole;
use knowing_model::{EdgeKind, NodeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::again::Previous;
use crate::again::keys::mix;
use crate::emit::{End, FileEdges};
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::world::{Def, World};

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
    /// What types consist of, what their members override, what fulfils an interface.
    structure: Vec<DerivedEdge>,
    hints: Vec<DerivedEdge>,
    tested: Vec<DerivedEdge>,
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
        other: FxHashSet<EdgeKind>,
        previous: &Previous<'_>,
    ) -> Derived {
        let changed: Vec<u32> = (0..).zip(previous.same).filter(|it| it.1.is_none()).map(|it| it.0).collect();
        let mut touched: FxHashSet<u32> = changed.iter().copied().collect();
        if other.contains(&EdgeKind::TypeHintOf) {
            let hints = sorted(hints::propagate(world, leads, &self.structure));
            touched.extend(differing(world, &self.hints, &hints));
            self.hints = hints;
        }
        if other.contains(&EdgeKind::Calls) {
            let tested = sorted(tested::tested(world, leads));
            touched.extend(differing(world, &self.tested, &tested));
            self.tested = tested;
        }
        self.similar.retain(|it| !changed.contains(&world.file_of(it.source)));
        for file in changed {
            self.similar.extend(similar_of(world, file));
            self.keeps_similar[file as usize] = false;
        }
        self.similar = sorted(self.similar);
        Derived { touched: Some(touched), ..self }
    }

    /// Those whose source is in a file.
    pub(crate) fn of_file(&self, world: &World<'_>, file: u32) -> impl Iterator<Item = &DerivedEdge> + Clone {
        let (first, end) = world.def_range(file);
        [&self.structure, &self.hints, &self.tested, &self.similar].into_iter().flat_map(move |layer| {
            let begin = layer.partition_point(|it| it.source < first);
            layer[begin..].iter().take_while(move |it| it.source < end)
        })
    }

    pub(crate) fn keeps_similar(&self, file: u32) -> bool {
        self.keeps_similar[file as usize]
    }

    /// Whether the edges of a file may be others than in the run before.
    pub(crate) fn is_touched(&self, file: u32) -> bool {
        self.touched.as_ref().is_none_or(|it| it.contains(&file))
    }
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
    let ((structure, hints), (tested, (similar, keeps_similar))) = rayon::join(
        || {
            let structure = structure(world);
            let hints = hints::propagate(world, leads, &structure);
            rayon::join(|| sorted(structure), || sorted(hints))
        },
        || {
            rayon::join(
                || sorted(tested::tested(world, leads)),
                || {
                    let (similar, keeps_similar) = similar::similar(world, previous);
                    (sorted(similar), keeps_similar)
                },
            )
        },
    );
    Derived { structure, hints, tested, similar, keeps_similar, touched: None }
}

/// In order, and each once: what is stated first is what counts.
fn sorted(mut edges: Vec<DerivedEdge>) -> Vec<DerivedEdge> {
    edges.par_sort_by_key(|it| (it.source, it.target, it.kind));
    edges.dedup_by_key(|it| (it.source, it.target, it.kind));
    edges
}

/// What types consist of, and what their members override.
fn structure(world: &World<'_>) -> Vec<DerivedEdge> {
    let files = (0..world.n_files() as u32).into_par_iter();
    let of_files = files.map(|file| {
        let mut edges = Vec::new();
        for def in world.defs_of(file) {
            let owner = world.hierarchy.owner_type(world, def);
            if let Some(owner) = owner.filter(|it| *it != def) {
                let provenance = Provenance::Structural;
                edges.push(DerivedEdge::new(owner, def, EdgeKind::Contains, provenance));
                edges.push(DerivedEdge::new(def, owner, EdgeKind::MemberOf, provenance));
                overrides(world, def, owner, &mut edges);
            }
        }
        edges
    });
    let mut edges = of_files.collect::<Vec<_>>().concat();
    for parts in world.hierarchy.types_in_parts() {
        let (kind, provenance) = (EdgeKind::References, Provenance::Structural);
        edges.extend(parts[1..].iter().map(|it| DerivedEdge::new(*it, parts[0], kind, provenance)));
    }
    crate::languages::derived(world, &mut edges);
    edges
}

fn overrides(world: &World<'_>, def: Def, owner: Def, edges: &mut Vec<DerivedEdge>) {
    let (file, _, decl) = world.decl(def);
    if !matches!(decl.kind, NodeKind::Method | NodeKind::Test | NodeKind::Property | NodeKind::Constructor) {
        return;
    }
    let name = world.name(file, decl.name);
    let provenance = Provenance::InterfacePropagation;
    if let Some(id) = decl.implementation {
        // A method of `impl Interface for Type` fulfils that interface's and no other's.
        let interface = world.hierarchy.implementation(file, id).and_then(|it| it.interface.as_ref());
        if let Some(Ancestor::Project(interface)) = interface
            && let Some(target) = own_callable(world, *interface, name, def)
        {
            edges.push(DerivedEdge::new(def, target, EdgeKind::Overrides, provenance));
        }
        return;
    }
    for place in world.hierarchy.ancestors(owner) {
        if let Ancestor::Project(ancestor) = place
            && let Some(target) = own_callable(world, *ancestor, name, def)
        {
            if is_prepended(world, owner, place) {
                edges.push(DerivedEdge::new(target, def, EdgeKind::Overrides, provenance));
            } else {
                edges.push(DerivedEdge::new(def, target, EdgeKind::Overrides, provenance));
                return;
            }
        }
    }
}

/// Whether members of a base come before the type's own.
fn is_prepended(world: &World<'_>, owner: Def, base: &Ancestor) -> bool {
    world.hierarchy.parts(&owner).iter().any(|part| {
        let bases = &world.decl(*part).2.bases;
        let resolved = world.hierarchy.direct(*part);
        bases.iter().zip(resolved).any(|(written, it)| written.role == BaseRole::Prepended && it == base)
    })
}

/// The callable of a type that one below it overrides.
fn own_callable(world: &World<'_>, owner: Def, name: Name, below: Def) -> Option<Def> {
    world.hierarchy.parts(&owner).iter().find_map(|part| callable_of_part(world, *part, name, below))
}

fn callable_of_part(world: &World<'_>, part: Def, name: Name, below: Def) -> Option<Def> {
    let (file, id, _) = world.decl(part);
    let facts = world.facts(file);
    let rules = world.rules(file);
    world.scopes[file as usize].find(Scope::of(Some(id)), name).iter().find_map(|entry| match entry.item {
        Item::Decl(decl) => {
            let kind = facts.decl(decl).kind;
            let above = world.def(file, decl);
            let fits = kind.is_callable() || kind == NodeKind::Property;
            (fits && rules.overrides(world, below, above)).then_some(above)
        }
        _ => None,
    })
}
