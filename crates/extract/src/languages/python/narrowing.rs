//! What `isinstance` says about a name, and over which part of the code it holds.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, Str, TypeId, Value};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::types::Besides;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Whether a condition holds or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    True,
    False,
}

impl Reader<'_, '_> {
    /// Binds names to what a condition says when it is true.
    pub(super) fn narrow(&mut self, condition: Node, over: Range, cx: Context) {
        self.narrow_when(condition, Outcome::True, over, cx);
    }

    pub(super) fn narrow_if(&mut self, node: Node, cx: Context) {
        let Some(condition) = self.child(node, Field::Condition) else { return };
        if !self.tests_types(condition) {
            return;
        }
        let Some(body) = self.child(node, Field::Consequence) else { return };
        self.narrow(condition, self.b.tree.range(body), cx);
        let alternatives: Vec<Node> =
            self.children(node).filter(|it| self.field(*it) == Field::Alternative).collect();
        match alternatives.first() {
            Some(first) => {
                let from = self.b.tree.start(*first);
                self.narrow_when(condition, Outcome::False, Range { from, to: self.b.tree.end(node) }, cx);
            }
            None if self.leaves(body) => {
                let rest = Range { from: self.b.tree.end(node), to: cx.certain_to };
                self.narrow_when(condition, Outcome::False, rest, cx);
            }
            None => {}
        }
    }

    /// `elif` and `while`.
    pub(super) fn condition(&mut self, node: Node, cx: Context) -> Step<Context> {
        let body = self.child(node, Field::Consequence).or_else(|| self.child(node, Field::Body));
        if let (Some(condition), Some(body)) = (self.child(node, Field::Condition), body) {
            self.narrow(condition, self.b.tree.range(body), cx);
        }
        Step::Into
    }

    pub(super) fn assert(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(condition) = self.first_child(node) {
            self.narrow(condition, Range { from: self.b.tree.end(node), to: cx.certain_to }, cx);
        }
        Step::Into
    }

    /// `a if condition else b`.
    pub(super) fn ternary(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.tests_types(node) {
            let children: Vec<Node> = self.children(node).collect();
            if let [one, condition, other] = children[..] {
                self.narrow_when(condition, Outcome::True, self.b.tree.range(one), cx);
                self.narrow_when(condition, Outcome::False, self.b.tree.range(other), cx);
            }
        }
        Step::Into
    }

    /// The right side of `and` runs when the left one holds, that of `or` when it does not.
    pub(super) fn conjunction(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (left, right) = (self.child(node, Field::Left), self.child(node, Field::Right));
        if let (Some(left), Some(right)) = (left, right)
            && self.tests_types(left)
        {
            let outcome = if self.is_and(node) { Outcome::True } else { Outcome::False };
            self.narrow_when(left, outcome, self.b.tree.range(right), cx);
        }
        Step::Into
    }

    fn narrow_when(&mut self, condition: Node, outcome: Outcome, over: Range, cx: Context) {
        if self.tests_types(condition) {
            self.collect(condition, outcome, over, cx, 0);
        }
    }

    fn collect(&mut self, condition: Node, outcome: Outcome, over: Range, cx: Context, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(condition) {
            Kind::ParenthesizedExpression => {
                if let Some(inner) = self.first_child(condition) {
                    self.collect(inner, outcome, over, cx, depth + 1);
                }
            }
            Kind::NotOperator => {
                if let Some(inner) = self.first_child(condition) {
                    let opposite = if outcome == Outcome::True { Outcome::False } else { Outcome::True };
                    self.collect(inner, opposite, over, cx, depth + 1);
                }
            }
            // All parts of a true `and` are true, all of a false `or` are false; else nothing is known of a part.
            Kind::BooleanOperator if self.is_and(condition) == (outcome == Outcome::True) => {
                let sides = [self.child(condition, Field::Left), self.child(condition, Field::Right)];
                for part in sides.into_iter().flatten() {
                    self.collect(part, outcome, over, cx, depth + 1);
                }
            }
            Kind::Call if outcome == Outcome::True => {
                if let Some((name, type_)) = self.type_test(condition, cx) {
                    self.narrowed(name, type_, over, cx);
                }
            }
            _ => {}
        }
    }

    fn type_test(&mut self, call: Node, cx: Context) -> Option<(Str, TypeId)> {
        let function = self.child(call, Field::Function)?;
        if !self.is(function, "isinstance") {
            return None;
        }
        let mut arguments = self.children(self.child(call, Field::Arguments)?);
        let (value, type_) = (arguments.next()?, arguments.next()?);
        if self.kind(value) != Kind::Identifier {
            return None;
        }
        let type_ = self.type_in_expression(type_, cx, Besides::Nothing);
        (!self.is_unknown(type_)).then(|| (self.b.name(value), type_))
    }

    pub(super) fn narrowed(&mut self, name: Str, type_: TypeId, over: Range, cx: Context) {
        if over.from < over.to {
            self.b.bind(Binding {
                decl: cx.decl,
                target: BindingTarget::Name(name),
                value: Value::Narrowed(type_),
                visible: over,
                certain_to: over.to,
            });
        }
    }

    /// A quick look before a condition is taken apart.
    fn tests_types(&self, condition: Node) -> bool {
        let Range { from, to } = self.b.tree.range(condition);
        let next = self.type_tests.partition_point(|it| *it < from);
        self.type_tests.get(next).is_some_and(|it| *it < to)
    }

    /// Whether a block never reaches its end.
    fn leaves(&self, block: Node) -> bool {
        let last = self.children(block).last();
        last.is_some_and(|it| {
            matches!(
                self.kind(it),
                Kind::ReturnStatement | Kind::RaiseStatement | Kind::ContinueStatement | Kind::BreakStatement
            )
        })
    }
}
