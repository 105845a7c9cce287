//! One file's edges and unresolved sites.

mod order;

use knowing_model::facts::{BaseRole, DeclId, Expr, ExprId, ReferenceRole, ReferenceTarget, SiteKind};
use knowing_model::name::container_of;
use knowing_model::{
    ContainerClass, EdgeKind, MAX_SITES, NodeKind, Position, Provenance, Reason, Sites, package_of,
};
use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door, mix};
use crate::again::reads;
use crate::evaluate::{Evaluator, Frame};
use crate::hierarchy::Ancestor;
use crate::languages::{ExternalName, Space};
use crate::names::Name;
use crate::value::{External, Value};
use crate::world::{Def, World};

/// What one file gives, before all files are put together.
#[derive(Default)]
pub(crate) struct FileEdges {
    pub(crate) edges: Vec<FileEdge>,
    pub(crate) unresolved: Vec<FileUnresolved>,
    /// Things without a place in the repository, each once; `End::Outside` points here.
    pub(crate) outside: Vec<Outside>,
    /// Keys of what was looked up.
    pub(crate) reads: Vec<u32>,
    /// Which types fulfil which interfaces: other files may state the same.
    pub(crate) stated: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum End {
    File(u32),
    Def(Def),
    Outside(u32),
    /// The directory of a file.
    Directory(u32),
    /// A route by the file that registers it and its place there.
    Route(u32, u32),
}

pub(crate) struct FileEdge {
    pub(crate) source: End,
    pub(crate) target: End,
    pub(crate) kind: EdgeKind,
    pub(crate) provenance: Provenance,
    pub(crate) confidence_bp: u16,
    pub(crate) sites: Sites,
    pub(crate) n_sites: u32,
}

pub(crate) struct FileUnresolved {
    pub(crate) source: End,
    pub(crate) name: String,
    pub(crate) receiver: String,
    pub(crate) n_arguments: u8,
    pub(crate) position: Position,
    pub(crate) reason: Reason,
    pub(crate) candidates: Vec<Def>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Outside {
    pub(crate) name: ExternalName,
    pub(crate) kind: NodeKind,
}

pub(crate) fn resolve_file(world: &World<'_>, file: u32) -> FileEdges {
    let (mut edges, reads) = reads::recorded(world.file_hash(file), &world.names, || {
        let edges = edges_of(world, file);
        note_symbols(world, file, &edges);
        edges
    });
    edges.reads = reads;
    edges
}

/// Where a directory holds what its files declare, symbols depend on what other files declare.
fn note_symbols(world: &World<'_>, file: u32, edges: &FileEdges) {
    let own = (0..world.found_in(file).decls.len() as u32).map(|it| world.def(file, DeclId(it)));
    let ends = edges.edges.iter().flat_map(|it| [it.source, it.target]).filter_map(|it| match it {
        End::Def(def) => Some(def),
        _ => None,
    });
    let candidates = edges.unresolved.iter().flat_map(|it| &it.candidates).copied();
    for def in own.chain(ends).chain(candidates) {
        let of = world.file_of(def);
        if container_of(&world.found_in(of).language, world.path(of)).0 == ContainerClass::Dir {
            reads::note(Door::Repeated, world.hash(def), None);
        }
    }
}

fn edges_of(world: &World<'_>, file: u32) -> FileEdges {
    let facts = world.facts(file);
    // About as many as come of it.
    let n_drafts = facts.calls.len() + facts.references.len() + 2 * facts.imports.len();
    let mut emitter = Emitter {
        world,
        file,
        frame: Frame::of_file(file),
        ev: Evaluator::of_file(world, file),
        drafts: Vec::with_capacity(n_drafts),
        unresolved: Vec::new(),
        outside: Vec::new(),
        outside_ids: FxHashMap::default(),
        externals: FxHashMap::default(),
    };
    emitter.imports();
    emitter.bases();
    emitter.calls();
    emitter.references();
    emitter.sites();
    emitter.links();
    emitter.routes();
    emitter.finish()
}

struct Draft {
    source: End,
    target: End,
    kind: EdgeKind,
    provenance: Provenance,
    confidence_bp: u16,
    position: Position,
}

pub(crate) struct Emitter<'w> {
    pub(crate) world: &'w World<'w>,
    pub(crate) file: u32,
    pub(crate) frame: Frame,
    pub(crate) ev: Evaluator<'w>,
    drafts: Vec<Draft>,
    pub(crate) unresolved: Vec<FileUnresolved>,
    pub(crate) outside: Vec<Outside>,
    outside_ids: FxHashMap<Outside, u32>,
    /// Ends that were given: a file speaks of few things outside, and of those often.
    externals: FxHashMap<External, End>,
}

impl Emitter<'_> {
    fn imports(&mut self) {
        let rules = self.world.rules(self.file);
        for import in &self.world.facts(self.file).imports {
            if import.reexport && import.module.is_empty() && import.visible.from == import.visible.to {
                // The file's own declaration under another name.
                continue;
            }
            self.ev.begin();
            let module = rules.imported_module(&mut self.ev, self.frame, import);
            let mut member = self.ev.imported(self.frame, import, Space::Value);
            if !member.is_known() {
                member = self.ev.imported(self.frame, import, Space::Type);
            }
            if !member.is_known() {
                member = self.ev.imported(self.frame, import, Space::Macro);
            }
            if let Value::Overloads(all) = &member {
                for def in all.iter() {
                    let file = End::File(self.world.file_of(*def));
                    self.push(None, file, EdgeKind::Imports, import.position);
                    self.push(None, End::Def(*def), EdgeKind::Imports, import.position);
                }
            }
            for value in member.parts().iter().chain(module.parts()) {
                let end = match value {
                    Value::Def(def) => {
                        self.push(
                            None,
                            End::File(self.world.file_of(*def)),
                            EdgeKind::Imports,
                            import.position,
                        );
                        End::Def(*def)
                    }
                    Value::External(external)
                        if member.is_known() && value == &member || !member.is_known() =>
                    {
                        self.external(external)
                    }
                    value => match (rules.directory_of(&self.ev, value), rules.file_of(&self.ev, value)) {
                        (Some(file), _) => End::Directory(file),
                        (None, Some(file)) => End::File(file),
                        (None, None) => continue,
                    },
                };
                self.push(None, end, EdgeKind::Imports, import.position);
            }
        }
    }

    fn bases(&mut self) {
        let world = self.world;
        for (index, decl) in world.facts(self.file).decls.iter().enumerate() {
            if decl.bases.is_empty() {
                continue;
            }
            let id = DeclId(index as u32);
            let resolved = world.hierarchy.direct(world.def(self.file, id));
            for (base, ancestor) in decl.bases.iter().zip(resolved) {
                let (end, is_interface) = match ancestor {
                    Ancestor::Project(def) => (End::Def(*def), is_interface(world, *def)),
                    Ancestor::External(external) => (self.external(external), false),
                    Ancestor::Unknown => continue,
                };
                // Where one list names both (and before an anonymous class) only the declaration tells which it is.
                let fulfils = world.rules(self.file).lists_bases_together()
                    && decl.kind != NodeKind::Interface
                    && matches!(end, End::Def(def) if world.kind(def) == NodeKind::Interface);
                match base.role {
                    BaseRole::Extends if fulfils => {
                        self.push(Some(id), end, EdgeKind::Implements, base.position)
                    }
                    BaseRole::Extends => {
                        self.push(Some(id), end, EdgeKind::Extends, base.position);
                        if is_interface && decl.kind == NodeKind::Class {
                            self.push(Some(id), end, EdgeKind::Implements, base.position);
                        }
                    }
                    BaseRole::Implements | BaseRole::Prepended | BaseRole::Extended => {
                        self.push(Some(id), end, EdgeKind::Implements, base.position)
                    }
                    BaseRole::Metaclass => self.push(Some(id), end, EdgeKind::References, base.position),
                }
            }
        }
        for (index, implementation) in world.facts(self.file).impls.iter().enumerate() {
            let id = knowing_model::facts::ImplId(index as u32);
            let Some(target) = world.hierarchy.implementation(self.file, id) else { continue };
            let (Ancestor::Project(type_), Some(interface)) = (&target.type_, &target.interface) else {
                continue;
            };
            let end = match interface {
                Ancestor::Project(def) => End::Def(*def),
                Ancestor::External(external) => self.external(external),
                Ancestor::Unknown => continue,
            };
            self.draft(
                End::Def(*type_),
                end,
                EdgeKind::Implements,
                Provenance::AstResolved,
                implementation.position,
            );
        }
    }

    fn references(&mut self) {
        let world = self.world;
        let rules = world.rules(self.file);
        for reference in &world.facts(self.file).references {
            self.ev.begin();
            let mut alias = None;
            let value = match reference.target {
                ReferenceTarget::Type(type_) => {
                    alias = rules.alias_in_type(&mut self.ev, self.frame, reference.decl, type_);
                    rules.type_entity(&mut self.ev, self.frame, reference.decl, type_)
                }
                ReferenceTarget::Expr(expr) => {
                    let scope = match reference.role {
                        // A decorator stands outside what it decorates. `@x.setter` is the property's own.
                        ReferenceRole::Decorator if !rules.decorates_from_inside() => {
                            let scope = reference.decl.and_then(|it| world.facts(self.file).decl(it).owner);
                            if self.is_of_property(scope, expr) {
                                continue;
                            }
                            scope
                        }
                        _ => reference.decl,
                    };
                    let value = self.ev.expr(self.frame, scope, expr);
                    match (value, reference.role) {
                        // `panic!` is a macro, as many attributes are.
                        (value, ReferenceRole::Decorator | ReferenceRole::Raise) if !value.is_known() => {
                            self.ev.expr_in(self.frame, scope, expr, Space::Macro)
                        }
                        // What a field or property holds is thrown, not the field.
                        (Value::Def(def), ReferenceRole::Raise)
                            if matches!(self.world.kind(def), NodeKind::Field | NodeKind::Property) =>
                        {
                            self.ev.settled(self.frame, &Value::Def(def))
                        }
                        (value, _) => value,
                    }
                }
            };
            if let Some(alias) = alias {
                self.push(reference.decl, End::Def(alias), EdgeKind::References, reference.position);
            }
            let parts = value.parts();
            // A member of one type or another: which one is not known.
            let is_one_of_many = parts.len() > 1 && reference.role == ReferenceRole::Field;
            for part in parts {
                let end = match part {
                    Value::Def(def) => End::Def(rules.definition(world, self.file, *def)),
                    Value::Overloads(all) if all.len() == 1 => End::Def(all[0]),
                    Value::External(external) => self.external(external),
                    Value::Module(_) => match rules.file_of(&self.ev, part) {
                        Some(file) if file != self.file => End::File(file),
                        _ => continue,
                    },
                    // A raised variable: its type is what is thrown.
                    Value::Instance(def, _) if reference.role == ReferenceRole::Raise => End::Def(*def),
                    Value::ExternalInstance(external, _) if reference.role == ReferenceRole::Raise => {
                        self.external(external)
                    }
                    _ => continue,
                };
                // A bare name that means a field of the type around.
                let role = match reference.role {
                    ReferenceRole::Value if self.is_own_field(reference.decl, end) => ReferenceRole::Field,
                    role => role,
                };
                let (decl, position) = (reference.decl, reference.position);
                match role {
                    // The alias is what is used; what it stands for is what is taken or given.
                    ReferenceRole::Hint if alias.is_some() => {
                        self.push(decl, end, EdgeKind::TypeHintOf, position);
                    }
                    ReferenceRole::Type if alias.is_some() => {}
                    _ if is_one_of_many => {
                        if let Some(kind) = self.field_use(decl, end) {
                            let from = source(decl, self);
                            self.draft(from, end, kind, Provenance::AstInferred, position);
                        }
                    }
                    role => self.reference(decl, end, role, position),
                }
            }
        }
    }

    pub(crate) fn reference(
        &mut self,
        decl: Option<DeclId>,
        end: End,
        role: ReferenceRole,
        position: Position,
    ) {
        let from = source(decl, self);
        match role {
            ReferenceRole::Type | ReferenceRole::Value => {
                self.push(decl, end, EdgeKind::References, position)
            }
            ReferenceRole::Hint => {
                self.push(decl, end, EdgeKind::TypeHintOf, position);
                // Types from outside are joined by the hint alone; the project's own are uses like any other.
                if matches!(end, End::Def(_)) {
                    self.push(decl, end, EdgeKind::References, position);
                }
            }
            ReferenceRole::Field => {
                if let Some(kind) = self.field_use(decl, end) {
                    self.push(decl, end, kind, position);
                }
            }
            ReferenceRole::Decorator => {
                self.draft(end, from, EdgeKind::Decorates, Provenance::AstResolved, position);
            }
            ReferenceRole::Raise => self.push(decl, end, EdgeKind::Throws, position),
            ReferenceRole::Root => {
                if matches!(end, End::Def(_)) {
                    self.push(decl, end, EdgeKind::References, position);
                }
            }
        }
    }

    /// What the use of a member is; none where it is not the project's.
    fn field_use(&self, decl: Option<DeclId>, end: End) -> Option<EdgeKind> {
        let End::Def(def) = end else { return None };
        let is_own = self.world.kind(def).is_value() && self.is_own(decl, end);
        Some(if is_own { EdgeKind::AccessesField } else { EdgeKind::References })
    }

    fn is_own_field(&self, decl: Option<DeclId>, end: End) -> bool {
        match end {
            End::Def(def) => {
                self.world.kind(def) == NodeKind::Field
                    && self.world.hierarchy.owner_type(self.world, def).is_some()
                    && self.is_own(decl, end)
            }
            _ => false,
        }
    }

    /// Whether a member belongs to one of the types around a declaration, or to one above them.
    fn is_own(&self, decl: Option<DeclId>, end: End) -> bool {
        let End::Def(member) = end else { return false };
        let Some(owner) = self.world.hierarchy.owner_type(self.world, member) else { return true };
        let facts = self.world.facts(self.file);
        let mut at = decl;
        while let Some(id) = at {
            let around = facts.decl(id);
            let type_ = match around.implementation {
                Some(_) => self.world.hierarchy.owner_type(self.world, self.world.def(self.file, id)),
                None => around.kind.is_type_like().then(|| self.world.def(self.file, id)),
            };
            if type_.is_some_and(|it| self.world.hierarchy.is_below(it, owner)) {
                return true;
            }
            at = around.owner;
        }
        false
    }

    /// Whether an expression is a member of a property itself, not of what it gives: `x.setter`.
    fn is_of_property(&mut self, scope: Option<DeclId>, expr: ExprId) -> bool {
        let Expr::Member { of, .. } = self.world.facts(self.file).expr(expr) else { return false };
        let of = self.ev.expr(self.frame, scope, of);
        of.parts()
            .iter()
            .all(|it| matches!(it, Value::Def(def) if self.world.kind(*def) == NodeKind::Property))
    }

    fn sites(&mut self) {
        /// Environment reads and process starts are recognised patterns, and sure ones.
        const CONFIDENCE_BP: u16 = 9_000;
        let facts = self.world.facts(self.file);
        for site in &facts.sites {
            let (repo, node_kind, kind) = match site.kind {
                SiteKind::ReadsEnv => ("env", NodeKind::EnvVar, EdgeKind::ReadsEnv),
                SiteKind::StartsProcess => ("process", NodeKind::Process, EdgeKind::ExecutesProcess),
            };
            let symbol = site.name.map_or("?", |it| facts.text(it)).to_owned();
            let name = ExternalName { repo, container: String::new(), symbol };
            let target = self.outside(Outside { name, kind: node_kind });
            self.drafts.push(Draft {
                source: source(site.decl, self),
                target,
                kind,
                provenance: Provenance::AstInferred,
                confidence_bp: CONFIDENCE_BP,
                position: site.position,
            });
        }
    }

    pub(crate) fn external(&mut self, external: &External) -> End {
        if let Some(end) = self.externals.get(external) {
            return *end;
        }
        let name = self.world.rules(self.file).external_name(&self.ev, external);
        let end = self.outside(Outside { name, kind: NodeKind::External });
        self.externals.insert(external.clone(), end);
        end
    }

    pub(crate) fn outside(&mut self, outside: Outside) -> End {
        if let Some(id) = self.outside_ids.get(&outside) {
            return End::Outside(*id);
        }
        let id = self.outside.len() as u32;
        self.outside.push(outside.clone());
        self.outside_ids.insert(outside, id);
        End::Outside(id)
    }

    pub(crate) fn push(&mut self, decl: Option<DeclId>, target: End, kind: EdgeKind, position: Position) {
        self.draft(source(decl, self), target, kind, Provenance::AstResolved, position);
    }

    pub(crate) fn draft(
        &mut self,
        source: End,
        target: End,
        kind: EdgeKind,
        provenance: Provenance,
        position: Position,
    ) {
        // Recursion is worth knowing, other relations of a thing to itself are not.
        if source == target && kind != EdgeKind::Calls {
            return;
        }
        let confidence_bp = provenance.usual_confidence();
        self.push_draft(source, target, kind, provenance, confidence_bp, position);
    }

    pub(crate) fn push_draft(
        &mut self,
        source: End,
        target: End,
        kind: EdgeKind,
        provenance: Provenance,
        confidence_bp: u16,
        position: Position,
    ) {
        self.drafts.push(Draft { source, target, kind, provenance, confidence_bp, position });
    }

    fn finish(self) -> FileEdges {
        let drafts = order::in_order(&self.drafts);
        let ends = |it: &Draft| (it.source, it.target, it.kind);
        let n_edges = drafts.chunk_by(|one, other| ends(one) == ends(other)).count();
        let mut edges: Vec<FileEdge> = Vec::with_capacity(n_edges);
        for draft in drafts {
            let same = edges.last_mut().filter(|it| (it.source, it.target, it.kind) == ends(draft));
            match same {
                Some(edge) => {
                    if edge.sites.last() == Some(&draft.position) {
                        continue;
                    }
                    edge.n_sites += 1;
                    if edge.sites.len() < MAX_SITES {
                        edge.sites.push(draft.position);
                    }
                    if draft.confidence_bp > edge.confidence_bp {
                        edge.confidence_bp = draft.confidence_bp;
                        edge.provenance = draft.provenance;
                    }
                }
                None => edges.push(FileEdge {
                    source: draft.source,
                    target: draft.target,
                    kind: draft.kind,
                    provenance: draft.provenance,
                    confidence_bp: draft.confidence_bp,
                    sites: Sites::from_slice(&[draft.position]),
                    n_sites: 1,
                }),
            }
        }
        let mut result = FileEdges {
            edges,
            unresolved: self.unresolved,
            outside: self.outside,
            reads: Vec::new(),
            stated: Vec::new(),
        };
        result.stated =
            result.edges.iter().filter_map(|it| result.stated(self.world, self.file, it)).collect();
        result
    }
}

impl FileEdges {
    /// What an edge is known by to other files that may state it too; none for one that no other file can.
    pub(crate) fn stated(&self, world: &World<'_>, file: u32, edge: &FileEdge) -> Option<u64> {
        let is_elsewhere = match edge.source {
            End::File(of) | End::Route(of, _) => of != file,
            End::Def(def) => world.file_of(def) != file,
            End::Directory(_) | End::Outside(_) => true,
        };
        let is_shared = match edge.kind {
            // A type is said to fulfil something where it stands and elsewhere.
            EdgeKind::Implements => true,
            // What is decorated stands in the file, and one file alone names owners.
            EdgeKind::Decorates | EdgeKind::OwnedBy => false,
            _ => is_elsewhere,
        };
        let ends = || [edge.source, edge.target].map(|it| self.end(world, it)).into_iter();
        is_shared.then(|| ends().fold(keys::through(Door::Stated, u64::from(edge.kind.id())), mix))
    }

    /// A digest of what an end is: the same in every run.
    pub(crate) fn end(&self, world: &World<'_>, end: End) -> u64 {
        match end {
            End::File(file) => world.file_hash(file),
            End::Directory(file) => mix(1, keys::file(package_of(ContainerClass::File, world.path(file)))),
            End::Def(def) => world.digest(def),
            End::Route(file, index) => crate::links::route_digest(world, file, index),
            End::Outside(at) => {
                let Outside { name, kind } = &self.outside[at as usize];
                let texts = [name.repo, &name.container, &name.symbol];
                texts.into_iter().fold(u64::from(kind.id()), keys::text)
            }
        }
    }
}

pub(crate) fn source(decl: Option<DeclId>, emitter: &Emitter<'_>) -> End {
    match decl {
        Some(decl) => End::Def(emitter.world.def(emitter.file, decl)),
        None => End::File(emitter.file),
    }
}

/// A class that others fulfil rather than extend: a protocol or an abstract base.
pub(crate) fn is_interface(world: &World<'_>, def: Def) -> bool {
    world.hierarchy.direct(def).iter().any(|it| match it {
        Ancestor::External(external) => {
            external.last().is_some_and(|it: Name| matches!(world.text(it), "Protocol" | "ABC" | "ABCMeta"))
        }
        _ => false,
    })
}
