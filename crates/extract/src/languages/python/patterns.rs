//! Statements with targets of their own: loops, comprehensions, `with`, `except`, `match`.

use knowing_model::Range;
use knowing_model::facts::{Expr, ReferenceRole, Value};

use super::bindings::{Given, Place};
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{ClassTraits, Scope, ScopeKind};
use super::types::Besides;
use super::uses::{MaybeUse, Used};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn for_loop(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (left, right) = (self.child(node, Field::Left), self.child(node, Field::Right));
        if let (Some(left), Some(right)) = (left, right) {
            let body = self.child(node, Field::Body).unwrap_or(node);
            let place = Place {
                statement: node,
                from: self.b.tree.end(right),
                certain_to: self.b.tree.end(body),
                declares: false,
                type_: None,
            };
            let of = self.expr(right);
            let element = self.b.expr(Expr::Element { of });
            self.target(left, Given::Expr(element), place, cx, 0);
        }
        Step::Into
    }

    /// A comprehension has a scope of its own, and its targets are known in all of it.
    pub(super) fn comprehension(&mut self, node: Node, cx: Context) -> Step<Context> {
        let range = self.b.tree.range(node);
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Comprehension,
            parent: Some(cx.scope),
            decl: cx.decl,
            end: range.to,
            receiver: None,
            class: ClassTraits::default(),
        });
        let inner = Context { scope, certain_to: range.to, ..cx };
        for clause in self.children(node) {
            match self.kind(clause) {
                Kind::ForInClause => self.clause(clause, range, inner),
                Kind::IfClause => {
                    let body = self.child(node, Field::Body);
                    if let (Some(condition), Some(body)) = (self.first_child(clause), body) {
                        self.narrow(condition, self.b.tree.range(body), inner);
                    }
                }
                _ => {}
            }
        }
        Step::Within(inner)
    }

    fn clause(&mut self, clause: Node, range: Range, cx: Context) {
        let (left, right) = (self.child(clause, Field::Left), self.child(clause, Field::Right));
        if let (Some(left), Some(right)) = (left, right) {
            let of = self.expr(right);
            let element = self.b.expr(Expr::Element { of });
            self.captures(left, Given::Expr(element), range, cx);
        }
    }

    /// Targets that bind in the very scope of `cx`.
    fn captures(&mut self, node: Node, given: Given, range: Range, cx: Context) {
        if self.kind(node) == Kind::Identifier {
            self.b.consume(node);
            let name = self.b.name(node);
            let value = self.value_of(given);
            self.bind_within(name, value, range, cx);
            return;
        }
        let of = match self.value_of(given) {
            Value::Expr(expr) => Some(expr),
            _ => None,
        };
        // Nested targets are rare enough to be known by name only.
        let direct: Vec<Node> = self.children(node).collect();
        for target in self.b.tree.subtree(node) {
            if self.kind(target) != Kind::Identifier || self.field(target) == Field::Attribute {
                continue;
            }
            let place = direct.iter().position(|it| *it == target);
            let value = match (of, place.and_then(|it| u32::try_from(it).ok())) {
                (Some(of), Some(index)) => Value::Expr(self.b.expr(Expr::Item { of, index })),
                _ => Value::Unknown,
            };
            self.b.consume(target);
            let name = self.b.name(target);
            self.bind_within(name, value, range, cx);
        }
    }

    /// `with value as target`.
    pub(super) fn as_pattern(&mut self, node: Node, cx: Context) -> Step<Context> {
        let target = self.child(node, Field::Alias).and_then(|it| self.first_child(it));
        if self.b.is_consumed(node) {
            return Step::Into;
        }
        if let (Some(value), Some(target)) = (self.first_child(node), target) {
            let of = self.expr(value);
            let entered = self.b.expr(Expr::Enter { of });
            let place = Place {
                statement: node,
                from: self.b.tree.end(node),
                certain_to: cx.certain_to,
                declares: false,
                type_: None,
            };
            self.target(target, Given::Expr(entered), place, cx, 0);
        }
        Step::Into
    }

    pub(super) fn except(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.child(node, Field::Value) else { return Step::Into };
        let is_named = self.kind(value) == Kind::AsPattern;
        let caught = if is_named { self.first_child(value) } else { Some(value) };
        let alias = if is_named { self.child(value, Field::Alias) } else { self.child(node, Field::Alias) };
        let Some(caught) = caught else { return Step::Into };
        let type_ = self.type_in_expression(caught, cx, Besides::Nothing);
        if let Some(alias) = alias {
            let name_node =
                if self.kind(alias) == Kind::Identifier { Some(alias) } else { self.first_child(alias) };
            if let Some(name_node) = name_node.filter(|it| self.kind(*it) == Kind::Identifier) {
                self.b.consume(name_node);
                let name = self.b.name(name_node);
                let visible = Range { from: self.b.tree.end(alias), to: self.b.tree.end(node) };
                let certain_to = visible.to;
                let scope = self.scopes.assigned_in(cx.scope, name);
                let value = if self.is_unknown(type_) { Value::Unknown } else { Value::Type(type_) };
                self.bind_within(name, value, visible, Context { scope, certain_to, ..cx });
            }
        }
        // An alias is bound here, not as `with` would do it: mark what was seen, and go on below.
        if is_named {
            self.b.consume(value);
        }
        Step::Into
    }

    /// Names in a pattern are captured, dotted ones are values, called ones are types.
    pub(super) fn case(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(body) = self.child(node, Field::Consequence) else { return Step::Into };
        let cx = Context { certain_to: self.b.tree.end(node), ..cx };
        let visible = Range { from: self.b.tree.start(node), to: self.scopes.at(cx.scope).end };
        for pattern in self.children(node) {
            if pattern == body || self.kind(pattern) != Kind::CasePattern {
                continue;
            }
            self.narrow_subject(node, pattern, body, cx);
            for part in self.b.tree.subtree(pattern) {
                match self.kind(part) {
                    Kind::DottedName => self.pattern_name(part, visible, cx),
                    Kind::AsPattern => {
                        self.b.consume(part);
                        self.pattern_alias(part, visible, cx);
                    }
                    Kind::SplatPattern => {
                        if let Some(name) = self.first_child(part) {
                            self.capture(name, Value::Unknown, visible, cx);
                        }
                    }
                    Kind::KeywordPattern => {
                        if let Some(keyword) = self.first_child(part) {
                            self.b.consume(keyword);
                        }
                    }
                    _ => {}
                }
            }
        }
        Step::Into
    }

    fn pattern_name(&mut self, node: Node, visible: Range, cx: Context) {
        let parts: Vec<Node> = self.children(node).collect();
        for part in &parts {
            self.b.consume(*part);
        }
        if self.parent_kind(node) == Kind::ClassPattern {
            self.type_in_expression(node, cx, Besides::Nothing);
            return;
        }
        match parts[..] {
            [name] => self.capture(name, Value::Unknown, visible, cx),
            [first, .., last] => {
                let name = self.b.name(first);
                let mut expr = self.b.expr(Expr::Name { name, at: self.b.tree.start(first) });
                for part in &parts[1..] {
                    let name = self.b.name(*part);
                    expr = self.b.expr(Expr::Member { of: expr, name });
                }
                self.b.count();
                self.uses.push(MaybeUse {
                    decl: cx.decl,
                    scope: cx.scope,
                    name,
                    used: Used::Expr(expr),
                    role: ReferenceRole::Value,
                    position: self.b.tree.position(last),
                });
            }
            [] => {}
        }
    }

    fn capture(&mut self, name_node: Node, value: Value, visible: Range, cx: Context) {
        self.b.consume(name_node);
        if !self.is(name_node, "_") && self.kind(name_node) == Kind::Identifier {
            let name = self.b.name(name_node);
            self.bind_within(name, value, visible, cx);
        }
    }

    fn pattern_alias(&mut self, node: Node, visible: Range, cx: Context) {
        let children: Vec<Node> = self.children(node).collect();
        let [pattern, name] = children[..] else { return };
        let value = match self.class_of_pattern(pattern) {
            Some(class) => Value::Narrowed(self.type_in_expression(class, cx, Besides::Nothing)),
            None => Value::Unknown,
        };
        self.capture(name, value, visible, cx);
    }

    /// `case T():` says what the subject is.
    fn narrow_subject(&mut self, clause: Node, pattern: Node, body: Node, cx: Context) {
        let statement = self.b.tree.parent(clause).and_then(|it| self.b.tree.parent(it));
        let Some(subject) = statement.and_then(|it| self.child(it, Field::Subject)) else { return };
        if self.kind(subject) != Kind::Identifier {
            return;
        }
        if let Some(class) = self.class_of_pattern(pattern) {
            let type_ = self.type_in_expression(class, cx, Besides::Nothing);
            let name = self.b.name(subject);
            self.narrowed(name, type_, self.b.tree.range(body), cx);
        }
    }

    /// The class named by a pattern that is nothing else.
    fn class_of_pattern(&self, pattern: Node) -> Option<Node> {
        let mut node = pattern;
        while matches!(self.kind(node), Kind::CasePattern | Kind::AsPattern) {
            node = self.first_child(node)?;
        }
        (self.kind(node) == Kind::ClassPattern).then(|| self.first_child(node))?
    }
}
