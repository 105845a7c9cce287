//! Variables: what is assigned, gone through, caught, tested for.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, DeclId, Expr, ExprId, ReferenceRole, TypeId, Value};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader, SetField};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn bind(
        &mut self,
        decl: Option<DeclId>,
        target: BindingTarget,
        value: Value,
        visible: Range,
        certain_to: u32,
    ) {
        self.b.bind(Binding { decl, target, value, visible, certain_to });
    }

    fn bind_variable(&mut self, variable: Node, value: Value, from: u32, cx: Context) {
        if self.kind(variable) != Kind::VariableName || self.is(variable, "$this") {
            return;
        }
        let name = self.b.name(variable);
        let to = cx.callable.to.max(from);
        let certain = cx.block.to.clamp(from, to);
        self.bind(cx.decl, BindingTarget::Name(name), value, Range { from, to }, certain);
    }

    pub(super) fn assignment(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        let end = self.b.tree.end(node);
        match self.kind(left) {
            Kind::VariableName => {
                let stated = self.parent(node).and_then(|it| self.comment_before(it));
                let stated = stated.and_then(|it| self.stated(&it, "@var", None, self.b.tree.start(node)));
                let value = match stated {
                    Some(type_) => Value::Type(type_),
                    None => Value::Expr(self.expr(right, cx.decl)),
                };
                self.bind_variable(left, value, end, cx);
            }
            Kind::ListLiteral | Kind::ArrayCreation => {
                let of = self.expr(right, cx.decl);
                self.taken_apart(left, of, end, cx, 0);
            }
            Kind::MemberAccess => self.field_set(left, right, cx),
            _ => {}
        }
        Step::Into
    }

    /// `$this->name = value`.
    fn field_set(&mut self, left: Node, right: Node, cx: Context) {
        let is_own = self.child(left, Field::Object).is_some_and(|it| self.is(it, "$this"));
        let (Some(class), Some(name)) = (cx.class, self.child(left, Field::Name)) else { return };
        if !is_own || self.kind(name) != Kind::Name {
            return;
        }
        let value = self.expr(right, cx.decl);
        if matches!(self.b.facts.expr(value), Expr::Literal(_)) {
            return;
        }
        let name = self.b.name(name);
        self.b.count();
        self.set_fields.push(SetField { class, name, value, decl: cx.decl, at: self.b.tree.start(left) });
    }

    /// `[$a, $b] = of`.
    fn taken_apart(&mut self, list: Node, of: ExprId, from: u32, cx: Context, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        for (index, part) in self.children(list).enumerate() {
            let part = match self.kind(part) {
                Kind::ArrayElement => match self.children(part).last() {
                    Some(value) => value,
                    None => continue,
                },
                _ => part,
            };
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            match self.kind(part) {
                Kind::VariableName => {
                    let item = self.b.expr(Expr::Item { of, index });
                    self.bind_variable(part, Value::Expr(item), from, cx);
                }
                Kind::ListLiteral | Kind::ArrayCreation => {
                    let item = self.b.expr(Expr::Item { of, index });
                    self.taken_apart(part, item, from, cx, depth + 1);
                }
                _ => {}
            }
        }
    }

    pub(super) fn foreach(&mut self, node: Node, cx: Context) -> Step<Context> {
        let body = self.child(node, Field::Body);
        let mut parts = self.children(node).filter(|it| Some(*it) != body);
        let (Some(source), Some(target)) = (parts.next(), parts.next()) else { return Step::Into };
        let of = self.expr(source, cx.decl);
        let element = self.b.expr(Expr::Element { of });
        let from = self.b.tree.end(target);
        let target = match self.kind(target) {
            Kind::Pair => {
                if let Some(key) = self.first_child(target) {
                    self.bind_variable(key, Value::Unknown, from, cx);
                }
                self.children(target).last().unwrap_or(target)
            }
            _ => target,
        };
        let target = match self.kind(target) {
            Kind::ByRef => self.first_child(target).unwrap_or(target),
            _ => target,
        };
        match self.kind(target) {
            Kind::ListLiteral | Kind::ArrayCreation => self.taken_apart(target, element, from, cx, 0),
            _ => self.bind_variable(target, Value::Expr(element), from, cx),
        }
        Step::Into
    }

    pub(super) fn catch_clause(&mut self, node: Node, cx: Context) -> Step<Context> {
        let type_ = self.child(node, Field::Type);
        let type_ = type_.map(|it| self.read_type(it, cx.decl, Some(ReferenceRole::Type)));
        if let (Some(name), Some(body)) = (self.child(node, Field::Name), self.child(node, Field::Body)) {
            let inner = Context { block: self.b.tree.range(body), ..cx };
            let value = type_.map_or(Value::Unknown, Value::Type);
            self.bind_variable(name, value, self.b.tree.start(body), inner);
        }
        Step::Into
    }

    pub(super) fn static_variable(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let (Some(name), Some(value)) = (self.child(node, Field::Name), self.child(node, Field::Value)) {
            let value = self.expr(value, cx.decl);
            self.bind_variable(name, Value::Expr(value), self.b.tree.end(node), cx);
        }
        Step::Into
    }

    /// `if ($x instanceof T) { ... }`.
    pub(super) fn narrowed_branch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let parts = (self.child(node, Field::Condition), self.child(node, Field::Body));
        let (Some(condition), Some(body)) = parts else { return Step::Into };
        let mut tests: Vec<Node> = vec![condition];
        while let Some(test) = tests.pop() {
            match self.kind(test) {
                Kind::Parenthesized => tests.extend(self.first_child(test)),
                Kind::BinaryExpression => match self.between(test) {
                    b"&&" | b"and" => {
                        tests.extend(self.child(test, Field::Left));
                        tests.extend(self.child(test, Field::Right));
                    }
                    b"instanceof" => {
                        if let Some((variable, type_)) = self.tested(test, cx) {
                            let name = self.b.name(variable);
                            let range = self.b.tree.range(body);
                            let value = Value::Narrowed(type_);
                            self.bind(cx.decl, BindingTarget::Name(name), value, range, range.to);
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
            if tests.len() > MAX_NESTING {
                break;
            }
        }
        Step::Into
    }

    fn tested(&mut self, test: Node, cx: Context) -> Option<(Node, TypeId)> {
        let variable = self.child(test, Field::Left).filter(|it| self.kind(*it) == Kind::VariableName)?;
        let right = self.child(test, Field::Right)?;
        let is_name = matches!(self.kind(right), Kind::Name | Kind::QualifiedName | Kind::RelativeName);
        is_name.then(|| (variable, self.read_type(right, cx.decl, Some(ReferenceRole::Type))))
    }

    /// What stands between the two sides.
    pub(super) fn between(&self, node: Node) -> &[u8] {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return b"";
        };
        let range = Range { from: self.b.tree.end(left), to: self.b.tree.start(right) };
        self.b.source.bytes(range).trim_ascii()
    }
}
