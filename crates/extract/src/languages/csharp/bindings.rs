//! Local variables, the statements that bring them, and which names are local at a place.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, DeclId, Expr, ExprId, ReferenceRole, Str, Value};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::written::Naming;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Where a binding can be seen.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) visible: Range,
}

/// Local names by where they can be seen. The walk goes through the file once, so what has ended does not come back.
#[derive(Default)]
pub(super) struct Locals {
    by_name: FxHashMap<Str, Vec<Scope>>,
}

impl Locals {
    pub(super) fn add(&mut self, name: Str, scope: Scope) {
        self.by_name.entry(name).or_default().push(scope);
    }

    pub(super) fn contains(&mut self, name: Str, at: u32) -> bool {
        let Some(scopes) = self.by_name.get_mut(&name) else { return false };
        while scopes.last().is_some_and(|it| it.visible.to <= at) {
            scopes.pop();
        }
        scopes.iter().rev().any(|it| it.visible.contains(at))
    }
}

impl Reader<'_, '_> {
    pub(super) fn bind(&mut self, decl: Option<DeclId>, target: BindingTarget, value: Value, scope: Scope) {
        if let BindingTarget::Name(name) = target {
            self.locals.add(name, scope);
        }
        // What a variable is declared as holds as long as it can be seen.
        self.b.bind(Binding { decl, target, value, visible: scope.visible, certain_to: scope.visible.to });
    }

    pub(super) fn bind_name(&mut self, name: Node, value: Value, from: u32, cx: Context) {
        self.b.consume(name);
        let name = self.b.name(name);
        let visible = Range { from, to: cx.block.to.max(from) };
        self.bind(cx.decl, BindingTarget::Name(name), value, Scope { visible });
    }

    /// `int a = 1, b;` in a body, also that of `for`, `using` and `fixed`.
    pub(super) fn local_variables(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_field = self
            .parent(node)
            .is_some_and(|it| matches!(self.kind(it), Kind::FieldDeclaration | Kind::EventField));
        if is_field {
            return Step::Into;
        }
        let type_node = self.child(node, Field::Type);
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        let is_var = type_node.is_none_or(|it| self.kind(it) == Kind::ImplicitType);
        let type_ = type_node.filter(|_| !is_var).map(|it| self.read_type(it, naming));
        for declarator in self.children(node) {
            if self.kind(declarator) != Kind::VariableDeclarator {
                continue;
            }
            let value_node = self.declared_value(declarator);
            let end = self.b.tree.end(declarator);
            if let Some(pattern) = self.child_of_kind(declarator, Kind::TuplePattern) {
                let of = value_node.map(|it| self.expr(it, cx.decl));
                self.tuple_pattern(pattern, of, end, cx, 0);
                continue;
            }
            let Some(name) = self.child(declarator, Field::Name) else { continue };
            let is_lambda =
                value_node.is_some_and(|it| matches!(self.kind(it), Kind::Lambda | Kind::AnonymousMethod));
            if is_lambda {
                // It becomes a function of that name; the name is local all the same.
                self.b.consume(name);
                let name = self.b.name(name);
                self.locals.add(name, Scope { visible: cx.block });
                continue;
            }
            let value = match (type_, value_node) {
                (Some(type_), _) => Value::Type(type_),
                (None, Some(value)) => Value::Expr(self.expr(value, cx.decl)),
                (None, None) => Value::Unknown,
            };
            // In `for (var i = 0; ...)` and the like it is seen at once.
            self.bind_name(name, value, end, cx);
        }
        Step::Into
    }

    /// `var (a, (b, c)) = of`.
    pub(super) fn tuple_pattern(
        &mut self,
        pattern: Node,
        of: Option<ExprId>,
        from: u32,
        cx: Context,
        depth: usize,
    ) {
        self.b.consume(pattern);
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        for (index, part) in self.children(pattern).enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let item = of.map(|of| self.b.expr(Expr::Item { of, index }));
            match self.kind(part) {
                Kind::TuplePattern | Kind::ParenthesizedDesignation => {
                    self.tuple_pattern(part, item, from, cx, depth + 1);
                }
                Kind::Identifier if !self.is(part, "_") => {
                    self.bind_name(part, item.map_or(Value::Unknown, Value::Expr), from, cx);
                }
                _ => {}
            }
        }
    }

    pub(super) fn foreach_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block: self.b.tree.range(node), ..cx };
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Within(inner);
        };
        let from = self.b.tree.end(right);
        let type_node = self.child(node, Field::Type).filter(|it| self.kind(*it) != Kind::ImplicitType);
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        let type_ = type_node.map(|it| self.read_type(it, naming));
        let of = self.expr(right, cx.decl);
        let element = self.b.expr(Expr::Element { of });
        match self.kind(left) {
            Kind::TuplePattern => self.tuple_pattern(left, Some(element), from, inner, 0),
            Kind::Identifier => {
                let value = type_.map_or(Value::Expr(element), Value::Type);
                self.bind_name(left, value, from, inner);
            }
            _ => {}
        }
        Step::Within(inner)
    }

    pub(super) fn catch_clause(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block: self.b.tree.range(node), ..cx };
        if let Some(declaration) = self.child_of_kind(node, Kind::CatchDeclaration) {
            let naming = Naming::new(cx.decl, ReferenceRole::Type);
            let type_ = self.child(declaration, Field::Type).map(|it| self.read_type(it, naming));
            if let Some(name) = self.child(declaration, Field::Name) {
                let from = self.b.tree.end(declaration);
                self.bind_name(name, type_.map_or(Value::Unknown, Value::Type), from, inner);
            }
        }
        Step::Within(inner)
    }

    /// `out Foo x`, `out var x`, `(var a, int b) = ...`.
    pub(super) fn declaration_expression(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let type_node = self.child(node, Field::Type).filter(|it| self.kind(*it) != Kind::ImplicitType);
        let value = match type_node {
            Some(type_node) => {
                Value::Type(self.read_type(type_node, Naming::new(cx.decl, ReferenceRole::Type)))
            }
            None => self.put_out(node, cx).map_or(Value::Unknown, Value::Expr),
        };
        self.bind_name(name, value, self.b.tree.end(node), cx);
        Step::Over
    }

    /// What a call puts out through an argument, or the item of a tuple that is taken apart.
    fn put_out(&mut self, node: Node, cx: Context) -> Option<ExprId> {
        let argument = self.parent(node).filter(|it| self.kind(*it) == Kind::Argument)?;
        let list = self.parent(argument)?;
        let place = self
            .children(list)
            .filter(|it| self.kind(*it) == Kind::Argument)
            .position(|it| it == argument)?;
        let around = self.parent(list)?;
        if self.kind(list) == Kind::TupleExpression {
            let value = self.child(around, Field::Right).filter(|_| self.kind(around) == Kind::Assignment)?;
            let of = self.expr(value, cx.decl);
            return Some(self.b.expr(Expr::Item { of, index: u32::try_from(place).ok()? }));
        }
        let callee = self.callee_of(around, cx.decl)?;
        Some(self.b.expr(Expr::Parameter { callee, argument: u8::try_from(place).ok()? }))
    }

    /// `from x in xs`, `join y in ys on ...`, `let z = ...`.
    pub(super) fn query_clause(&mut self, node: Node, cx: Context) -> Step<Context> {
        let mut parts = self.children(node).filter(|it| self.field(*it) != Field::Type);
        let Some(name) = parts.next().filter(|it| self.kind(*it) == Kind::Identifier) else {
            return Step::Into;
        };
        let type_node = self.child(node, Field::Type);
        let source = parts.next();
        let value = match (type_node, source) {
            (Some(type_node), _) => {
                Value::Type(self.read_type(type_node, Naming::new(cx.decl, ReferenceRole::Type)))
            }
            (None, Some(source)) => {
                let of = self.expr(source, cx.decl);
                Value::Expr(if self.kind(node) == Kind::LetClause {
                    of
                } else {
                    self.b.expr(Expr::Element { of })
                })
            }
            (None, None) => Value::Unknown,
        };
        self.bind_name(name, value, self.b.tree.end(name), cx);
        Step::Into
    }
}
