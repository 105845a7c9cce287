//! Calls: where each goes, or why nobody can tell.

use knowing_model::facts::{Call, CallForm, DeclId, Expr, ExprId, ReferenceRole};
use knowing_model::{
    ContainerClass, EdgeKind, NodeFlags, NodeKind, Position, Provenance, Reason, package_of,
};

use crate::emit::{Emitter, End, FileUnresolved, source};
use crate::hierarchy::Ancestor;
use crate::languages::Space;
use crate::value::{External, Value};
use crate::world::{Def, World};

/// Arguments of a call that spreads a list: as many as may be needed.
const ANY_NUMBER: u8 = u8::MAX;

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
    pub(crate) fn calls(&mut self) {
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
        if value == Value::Nothing && world.rules(self.file).has_closed_types() {
            // An interface or an array is made: there is no constructor to call.
            return;
        }
        if world.rules(self.file).is_conversion(&self.ev, &value) {
            if let Value::Def(def) = value {
                self.reference(call.decl, End::Def(def), ReferenceRole::Type, call.position);
            }
            return;
        }
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
        let (name, receiver) = match self.plain_callee(call) {
            Expr::Name { name, .. } => (facts.text(name).to_owned(), String::new()),
            Expr::Member { of, name } | Expr::Scoped { of, name } => {
                (facts.text(name).to_owned(), self.written(of))
            }
            _ => (String::new(), self.written(call.callee)),
        };
        let mut candidates = targets.defs;
        // By name: the order of declarations in another file must not matter.
        candidates.sort_by_cached_key(|it| {
            let (file, _, decl) = world.decl(*it);
            (file, world.found_in(file).text(decl.path), decl.kind)
        });
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
        let def = match value {
            Value::Def(def) => def,
            Value::Overloads(all) if all.len() == 1 => all[0],
            _ => return,
        };
        let def = self.world.rules(self.file).definition(self.world, self.file, def);
        let kind = self.world.kind(def);
        let calls_properties = self.world.rules(self.file).calls_properties();
        let is_called = kind.is_callable() && kind != NodeKind::Macro;
        if is_called || kind == NodeKind::Property && calls_properties {
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
                    let rules = self.world.rules(self.file);
                    if rules.is_called(self.world, *def) {
                        let def = rules.definition(self.world, self.file, *def);
                        if !targets.defs.contains(&def) {
                            targets.defs.push(def);
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
                Value::Overloads(all) => {
                    for def in all.iter().filter(|it| !targets.defs.contains(it)).copied().collect::<Vec<_>>()
                    {
                        targets.defs.push(def);
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

    /// What is called, its type arguments left out.
    fn plain_callee(&self, call: &Call) -> Expr {
        let facts = self.world.facts(self.file);
        match facts.expr(call.callee) {
            Expr::Generic { of, .. } => facts.expr(of),
            expr => expr,
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
        match self.plain_callee(call) {
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
        if targets.missing && world.rules(self.file).has_closed_types() {
            return None;
        }
        let facts = world.facts(self.file);
        let Expr::Member { of, name } = self.plain_callee(call) else { return None };
        let rules = world.rules(self.file);
        let is_own =
            matches!(facts.expr(of), Expr::Name { name, .. } if rules.names_receiver(facts.text(name)));
        if is_own || rules.is_common_member(facts.text(name)) {
            return None;
        }
        let mut found: Option<(Def, Def)> = None;
        for &def in world.members_named(world.name(self.file, name)) {
            if world.language(world.file_of(def)) != facts.language {
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
        // A method that calls its own name on something unknown hands the call on; it seldom calls itself.
        if call.decl.is_some_and(|it| world.def(self.file, it) == def) {
            return None;
        }
        // What an interface from outside asks for, types from outside have as well.
        let (there, _, decl) = world.decl(def);
        let block = decl.implementation.and_then(|it| world.hierarchy.implementation(there, it));
        if block.is_some_and(|it| matches!(it.interface, Some(Ancestor::External(_)))) {
            return None;
        }
        let from_test = facts.flags.contains(NodeFlags::TEST);
        if world.is_test_code(def) && !from_test {
            return None;
        }
        let same_package = package(world, there) == package(world, self.file);
        (there == self.file || same_package || world.hierarchy.imports(self.file, there)).then_some(def)
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
        // A receiver that nobody wrote has no name.
        let text = text.strip_prefix('.').unwrap_or(&text);
        text[..text.floor_char_boundary(MAX)].to_owned()
    }
}

fn package<'a>(world: &World<'a>, file: u32) -> &'a str {
    package_of(ContainerClass::File, world.path(file))
}
