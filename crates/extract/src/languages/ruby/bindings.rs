//! What gives a name or an instance variable a value, and where it then stands for it.

use knowing_model::facts::{Binding, BindingTarget, DeclId, Expr, ExprId, Literal, Modifiers, Type, Value};
use knowing_model::{NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Level, Reader, exported};
use crate::engine::build::{MAX_NESTING, NewDecl};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What a target is given.
#[derive(Clone, Copy)]
enum Given {
    Node(Node),
    Expr(ExprId),
    Unknown,
}

impl Reader<'_, '_> {
    pub(super) fn assignment(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(left) = self.child(node, Field::Left) else { return Step::Into };
        let mut right = self.child(node, Field::Right);
        // `a = b = value`: both are the value.
        while let Some(chained) = right
            && self.kind(chained) == Kind::Assignment
        {
            right = self.child(chained, Field::Right);
        }
        let Some(right) = right else { return Step::Into };
        if self.made_type(node, left, right, cx).is_some() {
            return Step::Into;
        }
        if matches!(self.kind(left), Kind::Identifier | Kind::Constant)
            && let Some(lambda) = self.lambda_of(right)
            && self.named_lambda(node, left, lambda, cx).is_some()
        {
            return Step::Into;
        }
        let given = match self.type_comment(node) {
            Some(type_) => Given::Expr(self.b.expr(Expr::Instance(type_))),
            None => Given::Node(right),
        };
        self.target(left, given, node, cx, 0);
        Step::Into
    }

    /// `x ||= value` may be what it was before; `x += 1` stays what it was.
    pub(super) fn operator_assignment(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        let operator = self.between(left, right);
        let is_default = matches!(operator, b"||=" | b"&&=");
        match self.kind(left) {
            Kind::Identifier => {
                self.b.consume(left);
                if is_default {
                    let maybe = Context { certain_to: self.b.tree.end(node), ..cx };
                    self.target(left, Given::Node(right), node, maybe, 0);
                }
            }
            Kind::InstanceVariable | Kind::ClassVariable if is_default => {
                self.target(left, Given::Node(right), node, cx, 0);
            }
            Kind::Constant => self.target(left, Given::Node(right), node, cx, 0),
            _ => {}
        }
        Step::Into
    }

    /// Gives every name of a target its part of the value.
    fn target(&mut self, node: Node, given: Given, statement: Node, cx: Context, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(node) {
            Kind::Identifier => self.local(node, given, statement, cx),
            Kind::InstanceVariable | Kind::ClassVariable => self.field_value(node, given, statement, cx),
            Kind::Constant => self.constant_value(node, given, statement, cx),
            Kind::LeftAssignmentList | Kind::DestructuredLeftAssignment => {
                self.destructure(node, given, statement, cx, depth);
            }
            Kind::RestAssignment => {
                let Some(inner) = self.first_child(node) else { return };
                let list = self.b.expr(Expr::Literal(Literal::List));
                self.target(inner, Given::Expr(list), statement, cx, depth + 1);
            }
            _ => {}
        }
    }

    fn destructure(&mut self, node: Node, given: Given, statement: Node, cx: Context, depth: usize) {
        let targets: Vec<Node> = self.children(node).collect();
        if let Given::Node(right) = given
            && matches!(self.kind(right), Kind::RightAssignmentList | Kind::Array)
        {
            let values: Vec<Node> = self.children(right).collect();
            let is_plain = |it: &Node| !matches!(self.kind(*it), Kind::RestAssignment | Kind::SplatArgument);
            if values.len() == targets.len() && targets.iter().chain(&values).all(is_plain) {
                for (target, value) in targets.into_iter().zip(values) {
                    self.target(target, Given::Node(value), statement, cx, depth + 1);
                }
                return;
            }
        }
        let of = match given {
            Given::Node(right) => Some(self.expr(right)),
            Given::Expr(expr) => Some(expr),
            Given::Unknown => None,
        };
        for (index, target) in targets.into_iter().enumerate() {
            let part = match of {
                Some(of) => {
                    let index = u32::try_from(index).unwrap_or(u32::MAX);
                    Given::Expr(self.b.expr(Expr::Item { of, index }))
                }
                None => Given::Unknown,
            };
            self.target(target, part, statement, cx, depth + 1);
        }
    }

    fn value_of(&mut self, given: Given) -> Value {
        match given {
            Given::Node(node) => Value::Expr(self.expr(node)),
            Given::Expr(expr) => Value::Expr(expr),
            Given::Unknown => Value::Unknown,
        }
    }

    fn local(&mut self, node: Node, given: Given, statement: Node, cx: Context) {
        self.b.consume(node);
        let Some(scope) = self.locals.scope_of(node) else { return };
        let scope = self.locals.scopes[scope];
        let value = self.value_of(given);
        let name = self.b.name(node);
        let visible = Range { from: self.b.tree.end(statement), to: scope.end };
        let target = BindingTarget::Name(name);
        let certain_to = cx.certain_to.min(scope.end);
        self.b.bind(Binding { decl: scope.decl, target, value, visible, certain_to });
    }

    /// `@x = value` makes or fills a field of the type.
    fn field_value(&mut self, node: Node, given: Given, statement: Node, cx: Context) {
        let Some(field) = self.declared_field(node, statement, cx) else { return };
        let value = self.value_of(given);
        let visible =
            Range { from: self.b.tree.end(statement), to: cx.certain_to.max(self.b.tree.end(statement)) };
        let target = BindingTarget::Field(field);
        self.b.bind(Binding { decl: cx.decl, target, value, visible, certain_to: visible.to });
    }

    fn declared_field(&mut self, node: Node, statement: Node, cx: Context) -> Option<DeclId> {
        let type_ = cx.type_?;
        let is_shared = self.kind(node) == Kind::ClassVariable;
        // A framework runs the blocks of a body on values.
        let of_type = is_shared || cx.level != Level::Instance && !cx.in_block;
        let name = self.b.name(node);
        let key = (Some(type_), name, of_type);
        if let Some(known) = self.fields.get(&key) {
            return Some(*known);
        }
        let signature = self.head_up_to(statement, None);
        let id = self.b.declare(NewDecl {
            owner: Some(type_),
            name,
            kind: NodeKind::Field,
            node: statement,
            name_position: self.b.tree.position(node),
            signature,
        })?;
        if of_type {
            self.b.decl_mut(id).modifiers.insert(Modifiers::STATIC);
        }
        self.fields.insert(key, id);
        Some(id)
    }

    /// `NAME = value` in a body or at the top.
    fn constant_value(&mut self, node: Node, given: Given, statement: Node, cx: Context) {
        self.b.consume(node);
        if !matches!(cx.level, Level::Top | Level::Body | Level::Singleton) {
            return;
        }
        let name = self.b.name(node);
        let signature = self.head_up_to(statement, None);
        let new = NewDecl {
            owner: cx.type_,
            name,
            kind: NodeKind::Const,
            node: statement,
            name_position: self.b.tree.position(node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return };
        let value = match self.value_of(given) {
            Value::Expr(expr) => Some(expr),
            _ => None,
        };
        let comment = self.comment_above(statement);
        self.described(id, &comment);
        let decl = self.b.decl_mut(id);
        decl.value = value;
        decl.flags.insert(exported(true));
    }

    pub(super) fn for_loop(&mut self, node: Node, cx: Context) -> Step<Context> {
        let value = self.child(node, Field::Value).and_then(|it| self.first_child(it));
        if let (Some(pattern), Some(value)) = (self.child(node, Field::Pattern), value) {
            let of = self.expr(value);
            let element = self.b.expr(Expr::Element { of });
            self.target(pattern, Given::Expr(element), value, cx, 0);
        }
        Step::Into
    }

    /// `rescue A, B => error`.
    pub(super) fn rescue(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { certain_to: self.b.tree.end(node).min(cx.certain_to), ..cx };
        let variable = self.child(node, Field::Variable).and_then(|it| self.first_child(it));
        let Some(variable) = variable else { return Step::Within(inner) };
        let mut types = Vec::new();
        let mut all_known = true;
        if let Some(exceptions) = self.child(node, Field::Exceptions) {
            for exception in self.children(exceptions) {
                match self.named_type(exception) {
                    Some(type_) => types.push(type_),
                    None => all_known = false,
                }
            }
        } else {
            let segments = vec![self.b.intern(""), self.b.intern("StandardError")];
            let at = self.b.tree.start(node);
            types.push(self.b.type_(Type::Named { segments, arguments: Vec::new(), at }));
        }
        if self.kind(variable) != Kind::Identifier {
            return Step::Within(inner);
        }
        self.b.consume(variable);
        let value = match (types.len(), all_known) {
            (1, true) => Value::Type(types[0]),
            (2.., true) => Value::Type(self.b.type_(Type::Union(types))),
            _ => Value::Unknown,
        };
        let name = self.b.name(variable);
        let visible = Range { from: self.b.tree.end(variable), to: self.b.tree.end(node) };
        self.bind_name(name, value, visible, visible.to, inner);
        Step::Within(inner)
    }
}
