//! Calls, and names that are used without being called.
//!
//! Whether a name means something outside of its function is known only when the whole function was read, so uses are
//! remembered and become references at the end of the file.

use knowing_model::Position;
use knowing_model::facts::{
    Call, CallForm, DeclId, Expr, ExprId, Passed, Reference, ReferenceRole, ReferenceTarget, Str, TypeId,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::ScopeId;
use super::types::Besides;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// A reference, unless its name turns out to be a local variable.
pub(super) struct MaybeUse {
    pub(super) decl: Option<DeclId>,
    pub(super) scope: ScopeId,
    /// The name it begins with.
    pub(super) name: Str,
    pub(super) used: Used,
    pub(super) role: ReferenceRole,
    pub(super) position: Position,
}

#[derive(Clone, Copy)]
pub(super) enum Used {
    Node(Node),
    Expr(ExprId),
    Type(TypeId),
}

/// An argument that may be a function.
pub(super) struct MaybePassed {
    call: usize,
    node: Node,
    name: Str,
    scope: ScopeId,
}

impl Reader<'_, '_> {
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_label = matches!(self.field(node), Field::Name | Field::Attribute | Field::Alias);
        if !is_label && !cx.in_type && !self.b.is_consumed(node) {
            let name = self.b.name(node);
            // `__name__` and the like belong to the language.
            let is_special = self.b.str(name).starts_with("__") && self.b.str(name).ends_with("__");
            if !is_special && self.scopes.receiver(cx.scope, name).is_none() {
                self.use_value(node, node, name, ReferenceRole::Value, cx);
            }
        }
        Step::Over
    }

    /// Every name of a chain after the first is a use of a member; what is called is a call and nothing else.
    pub(super) fn attribute(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_used_up = self.b.is_consumed(node);
        let Some(root) = self.root_of(node) else {
            if !cx.in_type && !is_used_up {
                self.use_member(node, cx);
            }
            return Step::Into;
        };
        if cx.in_type {
            return Step::Over;
        }
        self.maybe_environment(node, cx);
        let name = self.b.name(root);
        let mut inner = self.child(node, Field::Object);
        while let Some(object) = inner.filter(|it| self.kind(*it) == Kind::Attribute) {
            self.use_member(object, cx);
            inner = self.child(object, Field::Object);
        }
        let is_own = self.scopes.receiver(cx.scope, name).is_some();
        if !is_own {
            self.use_value(root, root, name, ReferenceRole::Root, cx);
        }
        if !is_used_up && is_own {
            self.use_member(node, cx);
        } else if !is_used_up && let Some(last) = self.terminal(node) {
            self.use_value(node, last, name, ReferenceRole::Value, cx);
        }
        Step::Over
    }

    /// `x.name`, whatever `x` is.
    fn use_member(&mut self, node: Node, cx: Context) {
        let Some(attribute) = self.child(node, Field::Attribute) else { return };
        if self.b.bytes(attribute).starts_with(b"__") {
            return;
        }
        let position = self.b.tree.position(attribute);
        let name = self.b.name(attribute);
        let (used, role) = (Used::Node(node), ReferenceRole::Field);
        self.b.count();
        self.uses.push(MaybeUse { decl: cx.decl, scope: cx.scope, name, used, role, position });
    }

    /// Of a local variable, members alone are uses.
    pub(super) fn use_value(&mut self, node: Node, last: Node, name: Str, role: ReferenceRole, cx: Context) {
        if self.scopes.is_local_variable(cx.scope, name) {
            if node != last && role == ReferenceRole::Value {
                self.use_member(node, cx);
            }
            return;
        }
        let position = self.b.tree.position(last);
        self.b.count();
        self.uses.push(MaybeUse {
            decl: cx.decl,
            scope: cx.scope,
            name,
            used: Used::Node(node),
            role,
            position,
        });
    }

    pub(super) fn call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let below = if cx.in_type { Step::Within(Context { in_type: false, ..cx }) } else { Step::Into };
        let (Some(function), Some(arguments)) =
            (self.child(node, Field::Function), self.child(node, Field::Arguments))
        else {
            return below;
        };
        if matches!(self.kind(function), Kind::Identifier | Kind::Attribute) {
            self.b.consume(function);
        }
        if self.is_super(function) {
            return below;
        }
        self.type_arguments(function, arguments, cx);
        let callee = self.expr(function);
        let position = match self.terminal(function) {
            Some(name) => self.b.tree.position(name),
            None => self.b.tree.position(arguments),
        };
        let (n_arguments, spread) = self.count_arguments(arguments);
        let form = self.form(function, callee);
        let call = self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments,
            spread,
            passed: Vec::new(),
            form,
        });
        self.note_passed(call, arguments, cx);
        self.maybe_site(node, function, cx);
        if cx.in_main && self.kind(function) == Kind::Identifier {
            let name = self.b.name(function);
            self.entries.insert(name);
        }
        self.maybe_exports(function, arguments, cx);
        below
    }

    /// `__all__.extend([...])`.
    fn maybe_exports(&mut self, function: Node, arguments: Node, cx: Context) {
        if cx.scope == self.module && self.b.bytes(function).starts_with(b"__all__.") {
            let method = self.terminal(function);
            if method.is_some_and(|it| self.is(it, "extend") || self.is(it, "append")) {
                self.export(arguments, super::bindings::Exports::Add);
            }
        }
    }

    /// `getattr(x, name)(...)` and calls of what is computed on the spot.
    fn form(&self, function: Node, callee: ExprId) -> CallForm {
        match self.b.facts.expr(callee) {
            Expr::Name { .. } | Expr::Member { .. } | Expr::Index { .. } | Expr::Super { .. } => {
                CallForm::Plain
            }
            Expr::Call { .. } => {
                let inner = self.child(function, Field::Function);
                let is_getattr = inner.is_some_and(|it| self.is(it, "getattr"));
                if is_getattr { CallForm::Dynamic } else { CallForm::Plain }
            }
            _ => CallForm::Dynamic,
        }
    }

    /// Arguments that are types: of `isinstance`, `issubclass` and `cast`.
    fn type_arguments(&mut self, function: Node, arguments: Node, cx: Context) {
        let place = match self.terminal(function).map(|it| self.b.bytes(it)) {
            Some(b"isinstance" | b"issubclass") if self.kind(function) == Kind::Identifier => 1,
            Some(b"cast") if self.is_typing(function) => 0,
            _ => return,
        };
        if let Some(node) = self.children(arguments).nth(place) {
            self.type_in_expression(node, cx, Besides::Nothing);
        }
    }

    fn count_arguments(&self, arguments: Node) -> (u8, bool) {
        if self.kind(arguments) == Kind::GeneratorExpression {
            return (1, false);
        }
        let mut count = 0_u8;
        let mut spread = false;
        for argument in self.children(arguments) {
            if matches!(self.kind(argument), Kind::ListSplat | Kind::DictionarySplat) {
                spread = true;
            } else {
                count = count.saturating_add(1);
            }
        }
        (count, spread)
    }

    fn note_passed(&mut self, call: usize, arguments: Node, cx: Context) {
        if self.kind(arguments) != Kind::ArgumentList {
            return;
        }
        for argument in self.children(arguments) {
            let node = match self.kind(argument) {
                Kind::KeywordArgument => self.child(argument, Field::Value),
                _ => Some(argument),
            };
            let Some(node) = node.filter(|it| !self.b.is_consumed(*it)) else { continue };
            let Some(root) = self.root_of(node) else { continue };
            let name = self.b.name(root);
            let is_plain = node == root;
            if is_plain && self.scopes.receiver(cx.scope, name).is_some() {
                continue;
            }
            self.b.count();
            self.passed.push(MaybePassed { call, node, name, scope: cx.scope });
        }
    }

    /// The class (or what makes the error) of a `raise`.
    pub(super) fn raised(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.first_child(node) else { return Step::Into };
        let error = match self.kind(value) {
            Kind::Call => self.child(value, Field::Function),
            // `raise Error, "text"` of Python 2.
            Kind::ExpressionList => self.first_child(value),
            _ => Some(value),
        };
        let Some(error) = error else { return Step::Into };
        if let (Some(root), Some(last)) = (self.root_of(error), self.terminal(error)) {
            let name = self.b.name(root);
            if self.scopes.receiver(cx.scope, name).is_none() {
                self.b.consume(error);
                self.use_value(error, last, name, ReferenceRole::Raise, cx);
            }
        }
        Step::Into
    }

    /// All uses that are not of local variables themselves, in source order.
    pub(super) fn finish_uses(&mut self) {
        for it in std::mem::take(&mut self.uses) {
            let is_member = matches!(it.used, Used::Node(node) if self.kind(node) == Kind::Attribute);
            let role = match it.role {
                ReferenceRole::Field => it.role,
                role if !self.scopes.is_local_variable(it.scope, it.name) => role,
                ReferenceRole::Value if is_member => ReferenceRole::Field,
                _ => continue,
            };
            let target = match it.used {
                Used::Node(node) => ReferenceTarget::Expr(self.expr(node)),
                Used::Expr(expr) => ReferenceTarget::Expr(expr),
                Used::Type(type_) => ReferenceTarget::Type(type_),
            };
            let reference = Reference { decl: it.decl, target, role, position: it.position };
            self.b.facts.references.push(reference);
        }
        self.b.facts.references.sort_by_key(|it| it.position);
    }

    /// Chains stay, since they may be methods; plain names only when they are not local variables.
    pub(super) fn finish_passed(&mut self) {
        for it in std::mem::take(&mut self.passed) {
            let is_plain = self.kind(it.node) == Kind::Identifier;
            if is_plain && self.scopes.is_local_variable(it.scope, it.name) {
                continue;
            }
            let expr = self.expr(it.node);
            let Some(last) = self.terminal(it.node) else { continue };
            let position = self.b.tree.position(last);
            self.b.facts.calls[it.call].passed.push(Passed { expr, position });
        }
        // A call is entered before those it is made on; only now their numbers are no longer needed.
        self.b.facts.calls.sort_by_key(|it| it.position);
        self.b.facts.bindings.sort_by_key(|it| it.visible.from);
    }
}
