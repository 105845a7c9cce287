//! Facts in the making: pools of texts, expressions and types, and the lists, all bounded.

use std::borrow::Cow;

use knowing_model::facts::{
    Argument, Binding, Call, Decl, DeclId, Expr, ExprId, FileFacts, Impl, ImplId, Import, Modifiers,
    ModuleDecl, Partial, PartialReason, Reference, Return, Site, Str, Type, TypeId,
};
use knowing_model::{NodeFlags, NodeKind, Position, Span};
use rustc_hash::FxHashMap;

use super::scratch::Scratch;
use super::source::Source;
use super::tree::{Node, Tree};
use crate::limits::Limits;

/// Where recursion over expressions, types and patterns ends.
pub(crate) const MAX_NESTING: usize = 150;

pub(crate) struct Builder<'s> {
    pub(crate) source: Source<'s>,
    pub(crate) tree: &'s Tree,
    pub(crate) path: &'s str,
    /// Whether the path says that this is a test file.
    pub(crate) is_test: bool,
    pub(crate) facts: FileFacts,
    scratch: &'s mut Scratch,
    limits: Limits,
    n_facts: usize,
    full: Option<PartialReason>,
    too_deep: bool,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(
        path: &'s str,
        source: Source<'s>,
        tree: &'s Tree,
        scratch: &'s mut Scratch,
        limits: Limits,
    ) -> Builder<'s> {
        scratch.prepare(tree.len());
        Builder {
            path,
            source,
            tree,
            is_test: false,
            facts: FileFacts::default(),
            scratch,
            limits,
            n_facts: 0,
            full: None,
            too_deep: false,
        }
    }

    /// A limit was reached: nothing more is taken in.
    pub(crate) fn is_full(&self) -> bool {
        self.full.is_some()
    }

    pub(crate) fn too_deep(&mut self) {
        self.too_deep = true;
    }

    /// Counts one more fact, also one that is only remembered for the end of the walk.
    pub(crate) fn count(&mut self) {
        self.n_facts += 1;
        if self.n_facts >= self.limits.max_facts && self.full.is_none() {
            self.full = Some(PartialReason::TooManyFacts);
        }
    }

    pub(crate) fn finish(mut self) -> FileFacts {
        // A call is entered before those among its arguments.
        self.facts.arguments.sort_by_key(|it| it.callee);
        let line = self.tree.first_error;
        let worst = match self.full {
            Some(reason) => Some(Partial { reason, line: None }),
            None if self.too_deep || self.tree.too_deep => {
                Some(Partial { reason: PartialReason::TooDeep, line: None })
            }
            None if !self.source.is_valid() => {
                Some(Partial { reason: PartialReason::InvalidUtf8, line: self.source.first_invalid_line() })
            }
            None => line.map(|it| Partial { reason: PartialReason::SyntaxError, line: Some(it) }),
        };
        self.facts.partial = worst;
        self.facts
    }
}

/// Texts.
impl<'s> Builder<'s> {
    pub(crate) fn text(&self, node: Node) -> Cow<'s, str> {
        self.source.slice(self.tree.range(node))
    }

    pub(crate) fn bytes(&self, node: Node) -> &'s [u8] {
        self.source.bytes(self.tree.range(node))
    }

    pub(crate) fn intern<'t>(&mut self, text: impl Into<Cow<'t, str>>) -> Str {
        let text = text.into();
        let (id, is_new) = self.scratch.intern(&text, &self.facts.strings);
        if is_new {
            self.facts.strings.push(&text);
        }
        id
    }

    /// The text of a node, bounded as names are.
    pub(crate) fn name(&mut self, node: Node) -> Str {
        self.intern_name(self.text(node))
    }

    pub(crate) fn intern_name(&mut self, text: Cow<'_, str>) -> Str {
        if text.len() > knowing_model::name::MAX_NAME {
            let bounded = knowing_model::name::bounded(&text).into_owned();
            return self.intern(bounded);
        }
        self.intern(text)
    }

    pub(crate) fn str(&self, it: Str) -> &str {
        self.facts.text(it)
    }
}

/// Marks on nodes.
impl Builder<'_> {
    pub(crate) fn consume(&mut self, node: Node) {
        self.scratch.consumed[node.index()] = true;
    }

    pub(crate) fn is_consumed(&self, node: Node) -> bool {
        self.scratch.consumed[node.index()]
    }
}

/// Pools.
impl Builder<'_> {
    pub(crate) fn expr(&mut self, expr: Expr) -> ExprId {
        let id = ExprId(u32::try_from(self.facts.exprs.len()).unwrap_or(u32::MAX));
        self.facts.exprs.push(expr);
        id
    }

    /// The expression that was made for a node before.
    pub(crate) fn memo(&self, node: Node) -> Option<ExprId> {
        self.scratch.memo[node.index()].checked_sub(1).map(ExprId)
    }

    pub(crate) fn remember(&mut self, node: Node, expr: ExprId) {
        self.scratch.memo[node.index()] = expr.0 + 1;
    }

    /// Makes an expression for a node and remembers it.
    pub(crate) fn expr_of(&mut self, node: Node, expr: Expr) -> ExprId {
        let id = self.expr(expr);
        self.remember(node, id);
        id
    }

    pub(crate) fn type_(&mut self, type_: Type) -> TypeId {
        let id = TypeId(u32::try_from(self.facts.types.len()).unwrap_or(u32::MAX));
        self.facts.types.push(type_);
        id
    }
}

/// What is known of a declaration when it is met; the rest is filled in through `decl_mut`.
pub(crate) struct NewDecl {
    pub(crate) owner: Option<DeclId>,
    pub(crate) name: Str,
    pub(crate) kind: NodeKind,
    /// The whole declaration.
    pub(crate) node: Node,
    pub(crate) name_position: Position,
    pub(crate) signature: Str,
}

/// Lists.
impl Builder<'_> {
    /// None when the limit of declarations is reached.
    pub(crate) fn declare(&mut self, new: NewDecl) -> Option<DeclId> {
        if self.facts.decls.len() >= self.limits.max_decls {
            self.full = Some(PartialReason::TooManyNodes);
            return None;
        }
        self.count();
        let id = DeclId(u32::try_from(self.facts.decls.len()).unwrap_or(u32::MAX));
        self.facts.decls.push(Decl {
            owner: new.owner,
            implementation: None,
            name: new.name,
            // Paths are given at the end, when all declarations are known.
            path: new.name,
            kind: new.kind,
            span: self.span(new.node, new.name_position),
            range: self.tree.range(new.node),
            signature: new.signature,
            doc: None,
            flags: NodeFlags::default(),
            modifiers: Modifiers::default(),
            type_parameters: Vec::new(),
            parameters: Vec::new(),
            type_: None,
            value: None,
            bases: Vec::new(),
            visible: None,
        });
        Some(id)
    }

    fn span(&self, node: Node, name: Position) -> Span {
        Span { first_line: self.tree.position(node).line, last_line: self.tree.last_line(node), name }
    }

    /// Says that a declaration stands elsewhere than where its name was met first.
    pub(crate) fn declare_at(&mut self, id: DeclId, node: Node, name_position: Position, signature: Str) {
        let (span, range) = (self.span(node, name_position), self.tree.range(node));
        let decl = self.decl_mut(id);
        (decl.span, decl.range, decl.signature) = (span, range, signature);
    }

    pub(crate) fn decl_mut(&mut self, id: DeclId) -> &mut Decl {
        &mut self.facts.decls[id.index()]
    }

    pub(crate) fn implement(&mut self, it: Impl) -> ImplId {
        self.count();
        let id = ImplId(u32::try_from(self.facts.impls.len()).unwrap_or(u32::MAX));
        self.facts.impls.push(it);
        id
    }

    pub(crate) fn bind(&mut self, it: Binding) {
        self.count();
        self.facts.bindings.push(it);
    }

    /// The call's number, so that what is known of it later can be added.
    pub(crate) fn call(&mut self, it: Call) -> usize {
        self.count();
        self.facts.calls.push(it);
        self.facts.calls.len() - 1
    }

    pub(crate) fn argument(&mut self, it: Argument) {
        self.count();
        self.facts.arguments.push(it);
    }

    /// Marks callables that share their name with another of the same owner, so that their paths carry what they take.
    pub(crate) fn mark_overloads(&mut self) {
        let mut n_of: FxHashMap<(Option<DeclId>, Str), u32> = FxHashMap::default();
        for decl in self.facts.decls.iter().filter(|it| it.kind.is_callable()) {
            *n_of.entry((decl.owner, decl.name)).or_default() += 1;
        }
        for decl in self.facts.decls.iter_mut().filter(|it| it.kind.is_callable()) {
            if n_of.get(&(decl.owner, decl.name)).is_some_and(|it| *it > 1) {
                decl.modifiers.insert(Modifiers::OVERLOAD);
            }
        }
    }

    pub(crate) fn reference(&mut self, it: Reference) {
        self.count();
        self.facts.references.push(it);
    }

    pub(crate) fn import(&mut self, it: Import) {
        self.count();
        self.facts.imports.push(it);
    }

    pub(crate) fn module(&mut self, it: ModuleDecl) {
        self.count();
        self.facts.modules.push(it);
    }

    pub(crate) fn gives_back(&mut self, it: Return) {
        self.count();
        self.facts.returns.push(it);
    }

    pub(crate) fn site(&mut self, it: Site) {
        self.count();
        self.facts.sites.push(it);
    }

    /// Where an offset at or after `node` stands.
    pub(crate) fn position_at(&self, node: Node, offset: u32) -> Position {
        self.tree.position_at(node, offset)
    }
}
