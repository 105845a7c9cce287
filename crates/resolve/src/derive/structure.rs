//! What types consist of, and what their members override, as far as one file says it.

use knowing_model::facts::BaseRole;
use knowing_model::{EdgeKind, NodeKind, Provenance};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::DerivedEdge;
use crate::hierarchy::Ancestor;
use crate::names::Name;
use crate::scopes::{Item, Scope};
use crate::world::{Def, Update, World};

/// Of all files.
pub(super) struct Structure {
    files: Vec<Part>,
    /// Edges whose source stands in another file than the one that states them, with the latter; sorted by source.
    elsewhere: Vec<(DerivedEdge, u32)>,
}

/// What one file states.
#[derive(Default)]
struct Part {
    /// Of its own declarations.
    edges: Vec<DerivedEdge>,
    /// Keys of what was looked up for it, where that is noted.
    reads: Vec<u32>,
}

impl Structure {
    pub(super) fn new(world: &World<'_>) -> Structure {
        let files = (0..world.n_files() as u32).into_par_iter().map(|it| Part::recorded(world, it));
        let mut structure = Structure { files: files.collect(), elsewhere: Vec::new() };
        for (file, part) in (0..).zip(&mut structure.files) {
            structure.elsewhere.extend(part.take_elsewhere(world, file));
        }
        structure.put_in_order();
        structure
    }

    /// As `new`, from that of the run before. Files of which something is another are `touched`.
    pub(super) fn renewed(
        self,
        world: &World<'_>,
        update: &Update<'_>,
        touched: &mut FxHashSet<u32>,
    ) -> Structure {
        let moves = &update.moves;
        let mut files: Vec<Option<Part>> = (0..world.n_files()).map(|_| None).collect();
        for (then, part) in (0..).zip(self.files) {
            if let Some(file) = moves.file(then).filter(|_| moves.is_kept(then)) {
                files[file as usize] = Some(part);
            }
        }
        let concerned: Vec<bool> = files
            .par_iter_mut()
            .zip(0..world.n_files() as u32)
            .map(|(part, file)| {
                let is_there = part.as_mut().is_some_and(|it| {
                    world.rules(file).notes_parts()
                        && !update.concerns(&it.reads)
                        && it.edges.iter_mut().all(|it| it.moved(moves))
                });
                if !is_there {
                    *part = None;
                }
                !is_there
            })
            .collect();
        let mut concerned = concerned;
        let mut elsewhere: Vec<(DerivedEdge, u32)> = Vec::with_capacity(self.elsewhere.len());
        for (mut edge, then) in self.elsewhere {
            let file = moves.file(then).filter(|_| moves.is_kept(then));
            // What is stated again is touched below, what is not any more is here.
            touched.extend(
                moves
                    .def(edge.source)
                    .map(|it| world.file_of(it))
                    .filter(|_| file.is_none_or(|it| concerned[it as usize])),
            );
            if let Some(file) = file.filter(|it| !concerned[*it as usize]) {
                match edge.moved(moves) {
                    true => elsewhere.push((edge, file)),
                    false => concerned[file as usize] = true,
                }
            }
        }
        elsewhere.retain(|(edge, file)| {
            let is_again = concerned[*file as usize];
            touched.extend(is_again.then(|| world.file_of(edge.source)));
            !is_again
        });
        let again = files.par_iter_mut().zip(0..world.n_files() as u32).filter(|it| concerned[it.1 as usize]);
        again.for_each(|(part, file)| *part = Some(Part::recorded(world, file)));
        let mut structure = Structure { files: files.into_iter().flatten().collect(), elsewhere };
        for (file, part) in (0..).zip(&mut structure.files).filter(|it| concerned[it.0 as usize]) {
            let stated = part.take_elsewhere(world, file);
            touched.extend(stated.iter().map(|it| world.file_of(it.0.source)));
            touched.insert(file);
            structure.elsewhere.extend(stated);
        }
        structure.put_in_order();
        structure
    }

    fn put_in_order(&mut self) {
        self.elsewhere.sort_by_key(|(it, file)| (it.source, it.target, it.kind, *file));
    }

    pub(super) fn of_file(&self, world: &World<'_>, file: u32) -> Vec<DerivedEdge> {
        let mut edges = self.files[file as usize].edges.clone();
        let (first, end) = world.def_range(file);
        let begin = self.elsewhere.partition_point(|it| it.0.source < first);
        edges.extend(self.elsewhere[begin..].iter().map(|it| it.0).take_while(|it| it.source < end));
        edges
    }
}

impl Part {
    fn recorded(world: &World<'_>, file: u32) -> Part {
        let (edges, reads) = world.noted(file, || stated(world, file));
        Part { edges, reads }
    }

    fn take_elsewhere(&mut self, world: &World<'_>, file: u32) -> Vec<(DerivedEdge, u32)> {
        let is_own = |it: &DerivedEdge| world.file_of(it.source) == file;
        let elsewhere = self.edges.iter().filter(|it| !is_own(it)).map(|it| (*it, file)).collect();
        self.edges.retain(is_own);
        elsewhere
    }
}

fn stated(world: &World<'_>, file: u32) -> Vec<DerivedEdge> {
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
