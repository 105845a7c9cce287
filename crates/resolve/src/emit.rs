//! One file's edges and unresolved sites.

use knowing_model::facts::{
    BaseRole, Call, CallForm, DeclId, Expr, ExprId, ReferenceRole, ReferenceTarget, SiteKind,
};
use knowing_model::{ContainerClass, NodeFlags};
use knowing_model::{EdgeKind, MAX_SITES, NodeKind, Position, Provenance, Reason, package_of};
use rustc_hash::FxHashMap;

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
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum End {
    File(u32),
    Def(Def),
    Outside(u32),
}

pub(crate) struct FileEdge {
    pub(crate) source: End,
    pub(crate) target: End,
    pub(crate) kind: EdgeKind,
    pub(crate) provenance: Provenance,
    pub(crate) confidence_bp: u16,
    pub(crate) sites: Vec<Position>,
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

/// Arguments of a call that spreads a list: as many as may be needed.
const ANY_NUMBER: u8 = u8::MAX;

pub(crate) fn resolve_file(world: &World<'_>, file: usize) -> FileEdges {
    let file = file as u32;
    let mut emitter = Emitter {
        world,
        file,
        frame: Frame::of_file(file),
        ev: Evaluator::new(world),
        drafts: Vec::new(),
        unresolved: Vec::new(),
        outside: Vec::new(),
        outside_ids: FxHashMap::default(),
    };
    emitter.imports();
    emitter.bases();
    emitter.calls();
    emitter.references();
    emitter.sites();
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

struct Emitter<'w> {
    world: &'w World<'w>,
    file: u32,
    frame: Frame,
    ev: Evaluator<'w>,
    drafts: Vec<Draft>,
    unresolved: Vec<FileUnresolved>,
    outside: Vec<Outside>,
    outside_ids: FxHashMap<Outside, u32>,
}

/// What a callee turned out to be, over all its alternatives.
#[derive(Default)]
struct Targets {
    defs: Vec<Def>,
    externals: Vec<External>,
    /// Some alternative is not known, or what is called is what a variable or field holds at the moment.
    doubt: bool,
    /// Variables and fields that hold what is called.
    holders: Vec<Def>,
    external_result: bool,
    dynamic: bool,
    missing: bool,
}

impl Emitter<'_> {
    fn imports(&mut self) {
        let rules = self.world.rules(self.file);
        for import in &self.world.facts(self.file).imports {
            self.ev.begin();
            let module = rules.imported_module(&mut self.ev, self.frame, import);
            let mut member = self.ev.imported(self.frame, import, Space::Value);
            if !member.is_known() {
                member = self.ev.imported(self.frame, import, Space::Type);
            }
            if !member.is_known() {
                member = self.ev.imported(self.frame, import, Space::Macro);
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
                    value => match rules.file_of(&self.ev, value) {
                        Some(file) => End::File(file),
                        None => continue,
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
                match base.role {
                    BaseRole::Extends => {
                        self.push(Some(id), end, EdgeKind::Extends, base.position);
                        if is_interface && decl.kind == NodeKind::Class {
                            self.push(Some(id), end, EdgeKind::Implements, base.position);
                        }
                    }
                    BaseRole::Implements => self.push(Some(id), end, EdgeKind::Implements, base.position),
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

    fn calls(&mut self) {
        for call in &self.world.facts(self.file).calls {
            self.ev.begin();
            self.call(call);
            for passed in &call.passed {
                self.ev.begin();
                self.passed(call.decl, passed.expr, passed.position);
            }
        }
    }

    fn call(&mut self, call: &Call) {
        let world = self.world;
        let value = match call.form {
            // `(self.handler)(x)`
            CallForm::Dynamic => self.ev.expr(self.frame, call.decl, call.callee),
            CallForm::Macro => self.ev.expr_in(self.frame, call.decl, call.callee, Space::Macro),
            CallForm::Plain | CallForm::InMacro => self.ev.callee(self.frame, call.decl, call.callee),
        };
        let targets = self.targets(&value);
        for holder in &targets.holders {
            self.reference(call.decl, End::Def(*holder), ReferenceRole::Value, call.position);
        }
        let provenance = if targets.doubt { Provenance::AstInferred } else { Provenance::AstResolved };
        let reason = match (targets.defs.as_slice(), targets.externals.as_slice()) {
            ([def], []) => {
                self.draft(
                    source(call.decl, self),
                    End::Def(*def),
                    EdgeKind::Calls,
                    provenance,
                    call.position,
                );
                return;
            }
            ([], [external]) => {
                let end = self.external(external);
                self.draft(source(call.decl, self), end, EdgeKind::Calls, provenance, call.position);
                return;
            }
            ([], []) => match self.inferred(call, &targets) {
                Some(def) => {
                    let from = source(call.decl, self);
                    self.draft(from, End::Def(def), EdgeKind::Calls, Provenance::AstInferred, call.position);
                    return;
                }
                None => self.reason(call, &targets),
            },
            _ => Reason::Ambiguous,
        };
        let facts = world.facts(self.file);
        let (name, receiver) = match facts.expr(call.callee) {
            Expr::Name { name, .. } => (facts.text(name).to_owned(), String::new()),
            Expr::Member { of, name } | Expr::Scoped { of, name } => {
                (facts.text(name).to_owned(), self.written(of))
            }
            _ => (String::new(), self.written(call.callee)),
        };
        let mut candidates = targets.defs;
        candidates.sort_unstable();
        candidates.truncate(5);
        self.unresolved.push(FileUnresolved {
            source: source(call.decl, self),
            name,
            receiver,
            n_arguments: if call.spread { ANY_NUMBER } else { call.n_arguments },
            position: call.position,
            reason,
            candidates,
        });
    }

    /// A callable that is handed over is called by whoever gets it.
    fn passed(&mut self, decl: Option<DeclId>, expr: ExprId, position: Position) {
        let value = self.ev.expr(self.frame, decl, expr);
        if let Value::Def(def) = value
            && self.world.kind(def).is_callable()
        {
            self.push(decl, End::Def(def), EdgeKind::Calls, position);
        }
    }

    fn targets(&mut self, value: &Value) -> Targets {
        let mut targets = Targets::default();
        self.collect(value, &mut targets, 0);
        targets
    }

    fn collect(&mut self, value: &Value, targets: &mut Targets, depth: u32) {
        for part in value.parts() {
            match part {
                Value::Def(def) => {
                    let kind = self.world.kind(*def);
                    if kind.is_callable() || kind.is_type_like() || kind == NodeKind::EnumMember {
                        if !targets.defs.contains(def) {
                            targets.defs.push(*def);
                        }
                    } else if depth < 3 {
                        // What a variable, field or property holds is called: by its first value, likely.
                        targets.holders.push(*def);
                        targets.doubt = true;
                        let held = self.ev.settled(self.frame, part);
                        match held {
                            Value::Unknown | Value::Missing | Value::Nothing => targets.dynamic = true,
                            held => self.collect(&held, targets, depth + 1),
                        }
                    } else {
                        targets.dynamic = true;
                    }
                }
                Value::Instance(..) => {
                    let rules = self.world.rules(self.file);
                    match rules.call_operator(&mut self.ev, self.frame, part) {
                        Value::Def(def) => targets.defs.push(def),
                        Value::External(_) => targets.external_result = true,
                        _ => targets.dynamic = true,
                    }
                }
                Value::External(external) => {
                    if !targets.externals.contains(external) {
                        targets.externals.push(external.clone());
                    }
                }
                Value::ExternalResult | Value::ExternalInstance(..) => targets.external_result = true,
                Value::Unknown => targets.doubt = true,
                Value::Missing => targets.missing = true,
                _ => targets.dynamic = true,
            }
        }
    }

    fn reason(&mut self, call: &Call, targets: &Targets) -> Reason {
        if call.form == CallForm::InMacro {
            return Reason::Macro;
        }
        if call.form == CallForm::Dynamic {
            return Reason::Dynamic;
        }
        if targets.external_result {
            return Reason::ExternalResult;
        }
        if targets.dynamic {
            return Reason::Dynamic;
        }
        match self.world.facts(self.file).expr(call.callee) {
            // The type that is known has no such member, but others have: the receiver is more than it seems (a mixin,
            // a proxy).
            Expr::Member { name, .. } if targets.missing => {
                let elsewhere = self.world.members_named(self.world.name(self.file, name));
                if elsewhere.is_empty() { Reason::NotFound } else { Reason::ReceiverUnknown }
            }
            _ if targets.missing => Reason::NotFound,
            Expr::Member { .. } => Reason::ReceiverUnknown,
            Expr::Scoped { .. } => Reason::NotFound,
            _ => Reason::Dynamic,
        }
    }

    /// The one guess that is made: the receiver is unknown or has no such member by itself, one project type alone has such a member, this
    /// file has that type in reach, and no standard type has a member of the name.
    fn inferred(&mut self, call: &Call, targets: &Targets) -> Option<Def> {
        if targets.external_result || targets.dynamic {
            return None;
        }
        let world = self.world;
        let facts = world.facts(self.file);
        let Expr::Member { name, .. } = facts.expr(call.callee) else { return None };
        if world.rules(self.file).is_common_member(facts.text(name)) {
            return None;
        }
        let mut found: Option<(Def, Def)> = None;
        for &def in world.members_named(world.name(self.file, name)) {
            if world.facts(world.file_of(def)).language != facts.language {
                continue;
            }
            let owner = world.hierarchy.owner_type(world, def)?;
            match found {
                Some((_, other)) if other != owner => return None,
                Some(_) => {}
                None => found = Some((def, owner)),
            }
        }
        let (def, _) = found?;
        let there = world.file_of(def);
        let from_test = facts.flags.contains(NodeFlags::TEST);
        if world.is_test_code(def) && !from_test {
            return None;
        }
        let same_package = package(world, there) == package(world, self.file);
        (there == self.file || same_package || world.hierarchy.imports(self.file, there)).then_some(def)
    }

    fn references(&mut self) {
        let world = self.world;
        let rules = world.rules(self.file);
        for reference in &world.facts(self.file).references {
            self.ev.begin();
            let value = match reference.target {
                ReferenceTarget::Type(type_) => {
                    rules.type_entity(&mut self.ev, self.frame, reference.decl, type_)
                }
                ReferenceTarget::Expr(expr) => {
                    let scope = match reference.role {
                        // A decorator stands outside what it decorates.
                        ReferenceRole::Decorator => {
                            reference.decl.and_then(|it| world.facts(self.file).decl(it).owner)
                        }
                        _ => reference.decl,
                    };
                    let value = self.ev.expr(self.frame, scope, expr);
                    match (value, reference.role) {
                        // `panic!` is a macro, as many attributes are.
                        (value, ReferenceRole::Decorator | ReferenceRole::Raise) if !value.is_known() => {
                            self.ev.expr_in(self.frame, scope, expr, Space::Macro)
                        }
                        (value, _) => value,
                    }
                }
            };
            for part in value.parts() {
                let end = match part {
                    Value::Def(def) => End::Def(*def),
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
                self.reference(reference.decl, end, reference.role, reference.position);
            }
        }
    }

    fn reference(&mut self, decl: Option<DeclId>, end: End, role: ReferenceRole, position: Position) {
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
                let is_field = match end {
                    End::Def(def) => matches!(
                        self.world.kind(def),
                        NodeKind::Field
                            | NodeKind::Property
                            | NodeKind::Var
                            | NodeKind::Const
                            | NodeKind::EnumMember
                    ),
                    _ => return,
                };
                let kind = if is_field { EdgeKind::AccessesField } else { EdgeKind::References };
                self.push(decl, end, kind, position);
            }
            ReferenceRole::Decorator => {
                self.draft(end, from, EdgeKind::Decorates, Provenance::AstResolved, position);
            }
            ReferenceRole::Raise => self.push(decl, end, EdgeKind::Throws, position),
        }
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

    fn external(&mut self, external: &External) -> End {
        let name = self.world.rules(self.file).external_name(&self.ev, external);
        self.outside(Outside { name, kind: NodeKind::External })
    }

    fn outside(&mut self, outside: Outside) -> End {
        if let Some(id) = self.outside_ids.get(&outside) {
            return End::Outside(*id);
        }
        let id = self.outside.len() as u32;
        self.outside.push(outside.clone());
        self.outside_ids.insert(outside, id);
        End::Outside(id)
    }

    fn push(&mut self, decl: Option<DeclId>, target: End, kind: EdgeKind, position: Position) {
        self.draft(source(decl, self), target, kind, Provenance::AstResolved, position);
    }

    fn draft(
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
        self.drafts.push(Draft { source, target, kind, provenance, confidence_bp, position });
    }

    /// The receiver's text, put together from its names.
    fn written(&self, expr: ExprId) -> String {
        const MAX: usize = 80;
        let facts = self.world.facts(self.file);
        let mut parts: Vec<&str> = Vec::new();
        let mut at = expr;
        for _ in 0..32 {
            at = match facts.expr(at) {
                Expr::Name { name, .. } => {
                    parts.push(facts.text(name));
                    break;
                }
                Expr::Member { of, name } => {
                    parts.extend([facts.text(name), "."]);
                    of
                }
                Expr::Scoped { of, name } => {
                    parts.extend([facts.text(name), "::"]);
                    of
                }
                Expr::Call { callee } => {
                    parts.push("()");
                    callee
                }
                Expr::Index { of } => {
                    parts.push("[]");
                    of
                }
                Expr::Await { of } => {
                    parts.push(".await");
                    of
                }
                Expr::Try { of } => {
                    parts.push("?");
                    of
                }
                Expr::Super { .. } => {
                    parts.push("super()");
                    break;
                }
                _ => {
                    parts.push("_");
                    break;
                }
            };
        }
        parts.reverse();
        let text = parts.concat();
        text[..text.floor_char_boundary(MAX)].to_owned()
    }

    fn finish(mut self) -> FileEdges {
        self.drafts.sort_by_key(|it| (it.source, it.target, it.kind, it.position));
        let mut edges: Vec<FileEdge> = Vec::new();
        for draft in self.drafts {
            let same = edges
                .last_mut()
                .filter(|it| (it.source, it.target, it.kind) == (draft.source, draft.target, draft.kind));
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
                    sites: vec![draft.position],
                    n_sites: 1,
                }),
            }
        }
        FileEdges { edges, unresolved: self.unresolved, outside: self.outside }
    }
}

fn source(decl: Option<DeclId>, emitter: &Emitter<'_>) -> End {
    match decl {
        Some(decl) => End::Def(emitter.world.def(emitter.file, decl)),
        None => End::File(emitter.file),
    }
}

fn package<'a>(world: &World<'a>, file: u32) -> &'a str {
    package_of(ContainerClass::File, world.path(file))
}

/// A class that others fulfil rather than extend: a protocol or an abstract base.
fn is_interface(world: &World<'_>, def: Def) -> bool {
    world.hierarchy.direct(def).iter().any(|it| match it {
        Ancestor::External(external) => {
            external.last().is_some_and(|it: Name| matches!(world.text(it), "Protocol" | "ABC" | "ABCMeta"))
        }
        _ => false,
    })
}
