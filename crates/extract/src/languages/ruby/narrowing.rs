//! What `is_a?` and `case` say about a name, and over which part of the code it holds.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, Str, Type, TypeId, Value};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// `if`, `unless`, `elsif` and `a ? b : c`.
    pub(super) fn conditional(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(condition) = self.child(node, Field::Condition) else { return Step::Into };
        if !self.tests_types(condition) {
            return Step::Into;
        }
        let is_negated = self.kind(node) == Kind::Unless;
        let (when_true, when_false) = (Field::Consequence, Field::Alternative);
        if let Some(branch) = self.child(node, when_true) {
            self.collect(condition, !is_negated, self.b.tree.range(branch), cx, 0);
        }
        if let Some(branch) = self.child(node, when_false) {
            self.collect(condition, is_negated, self.b.tree.range(branch), cx, 0);
        } else if self.child(node, when_true).is_some_and(|it| self.leaves(it)) {
            let rest = Range { from: self.b.tree.end(node), to: cx.certain_to };
            self.collect(condition, is_negated, rest, cx, 0);
        }
        Step::Into
    }

    /// `x if y`, `return unless x.is_a?(T)`.
    pub(super) fn modifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { certain_to: self.b.tree.end(node), ..cx };
        let (Some(condition), Some(body)) =
            (self.child(node, Field::Condition), self.child(node, Field::Body))
        else {
            return Step::Within(inner);
        };
        if self.tests_types(condition) {
            let is_if = self.kind(node) == Kind::IfModifier;
            self.collect(condition, is_if, self.b.tree.range(body), cx, 0);
            if self.ends(body) {
                let rest = Range { from: self.b.tree.end(node), to: cx.certain_to };
                self.collect(condition, !is_if, rest, cx, 0);
            }
        }
        Step::Within(inner)
    }

    /// The right side of `&&` runs when the left one holds, that of `||` when it does not.
    pub(super) fn conjunction(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (left, right) = (self.child(node, Field::Left), self.child(node, Field::Right));
        if let (Some(left), Some(right)) = (left, right)
            && self.tests_types(left)
        {
            match self.between(left, right) {
                b"&&" | b"and" => self.collect(left, true, self.b.tree.range(right), cx, 0),
                b"||" | b"or" => self.collect(left, false, self.b.tree.range(right), cx, 0),
                _ => {}
            }
        }
        Step::Into
    }

    fn collect(&mut self, condition: Node, holds: bool, over: Range, cx: Context, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(condition) {
            Kind::ParenthesizedStatements => {
                if let Some(inner) = self.first_child(condition) {
                    self.collect(inner, holds, over, cx, depth + 1);
                }
            }
            Kind::Unary => {
                if self.b.bytes(condition).starts_with(b"!")
                    && let Some(inner) = self.child(condition, Field::Operand)
                {
                    self.collect(inner, !holds, over, cx, depth + 1);
                }
            }
            Kind::Binary => {
                let sides = (self.child(condition, Field::Left), self.child(condition, Field::Right));
                let (Some(left), Some(right)) = sides else { return };
                let is_and = matches!(self.between(left, right), b"&&" | b"and");
                let is_or = matches!(self.between(left, right), b"||" | b"or");
                // All parts of a true `and` are true, all of a false `or` are false; else nothing is known of a part.
                if is_and && holds || is_or && !holds {
                    self.collect(left, holds, over, cx, depth + 1);
                    self.collect(right, holds, over, cx, depth + 1);
                }
            }
            Kind::Call if holds => {
                if let Some((name, type_)) = self.type_test(condition, cx) {
                    self.narrowed(name, type_, over, cx);
                }
            }
            _ => {}
        }
    }

    /// `x.is_a?(T)`.
    fn type_test(&mut self, call: Node, cx: Context) -> Option<(Str, TypeId)> {
        let method = self.child(call, Field::Method)?;
        if !matches!(self.b.bytes(method), b"is_a?" | b"kind_of?" | b"instance_of?") {
            return None;
        }
        let value = self.child(call, Field::Receiver)?;
        if !self.locals.is_local(value) {
            return None;
        }
        let type_ = *self.arguments(call).first()?;
        let type_ =
            if self.is(type_, "self.class") { self.own_type(type_, cx)? } else { self.named_type(type_)? };
        Some((self.b.name(value), type_))
    }

    fn narrowed(&mut self, name: Str, type_: TypeId, over: Range, cx: Context) {
        if over.from < over.to {
            let target = BindingTarget::Name(name);
            let value = Value::Narrowed(type_);
            self.b.bind(Binding { decl: cx.decl, target, value, visible: over, certain_to: over.to });
        }
    }

    /// `case x when A, B`: in the branch it is one of them.
    pub(super) fn case(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.child(node, Field::Value).filter(|it| self.locals.is_local(*it)) else {
            return Step::Into;
        };
        let name = self.b.name(value);
        for branch in self.children(node) {
            if self.kind(branch) != Kind::When {
                continue;
            }
            let Some(body) = self.child(branch, Field::Body) else { continue };
            let patterns: Vec<Node> =
                self.children(branch).filter(|it| self.kind(*it) == Kind::Pattern).collect();
            let mut types = Vec::new();
            for pattern in &patterns {
                let type_ = self.first_child(*pattern).and_then(|it| self.named_type(it));
                types.extend(type_);
            }
            if types.len() == patterns.len() && !types.is_empty() {
                let type_ = if types.len() == 1 { types[0] } else { self.b.type_(Type::Union(types)) };
                self.narrowed(name, type_, self.b.tree.range(body), cx);
            }
        }
        Step::Into
    }

    /// `in Type => name` and what else a pattern binds.
    pub(super) fn in_clause(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { certain_to: self.b.tree.end(node).min(cx.certain_to), ..cx };
        let Some(pattern) = self.child(node, Field::Pattern) else { return Step::Within(inner) };
        let visible = Range { from: self.b.tree.start(pattern), to: self.b.tree.end(node) };
        for it in self.b.tree.subtree(pattern) {
            let Some(scope) = self.locals.scope_of(it) else { continue };
            let is_read = self.parent_kind(it) == Kind::VariableReferencePattern;
            if is_read || !matches!(self.kind(it), Kind::Identifier | Kind::HashKeySymbol) {
                continue;
            }
            let parent = self.b.tree.parent(it).filter(|it| self.kind(*it) == Kind::AsPattern);
            let type_ = parent.and_then(|it| self.child(it, Field::Value)).and_then(|it| self.named_type(it));
            let value = type_.map_or(Value::Unknown, Value::Type);
            let name = self.b.name(it);
            let decl = self.locals.scopes[scope].decl;
            let target = BindingTarget::Name(name);
            self.b.bind(Binding { decl, target, value, visible, certain_to: inner.certain_to });
        }
        Step::Within(inner)
    }

    /// A quick look before a condition is taken apart.
    fn tests_types(&self, condition: Node) -> bool {
        let Range { from, to } = self.b.tree.range(condition);
        let next = self.type_tests.partition_point(|it| *it < from);
        self.type_tests.get(next).is_some_and(|it| *it < to)
    }

    /// Whether a branch never reaches its end.
    fn leaves(&self, branch: Node) -> bool {
        self.children(branch).last().is_some_and(|it| self.ends(it))
    }

    fn ends(&self, statement: Node) -> bool {
        match self.kind(statement) {
            Kind::Return | Kind::Next | Kind::Break => true,
            Kind::Call => {
                let method = self.child(statement, Field::Method);
                self.child(statement, Field::Receiver).is_none()
                    && method.is_some_and(|it| matches!(self.b.bytes(it), b"raise" | b"fail"))
            }
            _ => false,
        }
    }
}
