//! What `instanceof`, `typeof` and `Array.isArray` say about a name, and over which part of the code it holds.

use knowing_model::Range;
use knowing_model::facts::{Binding, BindingTarget, Str, Type, TypeId, Value};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
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
    pub(super) fn if_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(condition), Some(body)) =
            (self.child(node, Field::Condition), self.child(node, Field::Consequence))
        else {
            return Step::Into;
        };
        if self.tests_types(condition) {
            self.narrow_when(condition, Outcome::True, self.b.tree.range(body), cx);
            match self.child(node, Field::Alternative) {
                Some(other) => self.narrow_when(condition, Outcome::False, self.b.tree.range(other), cx),
                None if self.leaves(body) => {
                    let rest = Range { from: self.b.tree.end(node), to: cx.certain_to };
                    self.narrow_when(condition, Outcome::False, rest, cx);
                }
                None => {}
            }
        }
        Step::Within(Context { certain_to: self.b.tree.end(node), ..cx })
    }

    pub(super) fn while_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let (Some(condition), Some(body)) =
            (self.child(node, Field::Condition), self.child(node, Field::Body))
        {
            self.narrow_when(condition, Outcome::True, self.b.tree.range(body), cx);
        }
        Step::Within(Context { certain_to: self.b.tree.end(node), ..cx })
    }

    /// `condition ? a : b`.
    pub(super) fn ternary(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(condition) = self.child(node, Field::Condition) {
            for (field, outcome) in
                [(Field::Consequence, Outcome::True), (Field::Alternative, Outcome::False)]
            {
                if let Some(branch) = self.child(node, field) {
                    self.narrow_when(condition, outcome, self.b.tree.range(branch), cx);
                }
            }
        }
        Step::Into
    }

    /// The right side of `&&` runs when the left one holds, that of `||` when it does not.
    pub(super) fn binary(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (left, right) = (self.child(node, Field::Left), self.child(node, Field::Right));
        if let (Some(left), Some(right)) = (left, right)
            && self.tests_types(left)
        {
            let outcome = match self.operator(node) {
                b"&&" => Outcome::True,
                b"||" => Outcome::False,
                _ => return Step::Into,
            };
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
            Kind::UnaryExpression if self.b.bytes(condition).starts_with(b"!") => {
                if let Some(inner) = self.first_child(condition) {
                    let opposite = if outcome == Outcome::True { Outcome::False } else { Outcome::True };
                    self.collect(inner, opposite, over, cx, depth + 1);
                }
            }
            Kind::BinaryExpression => self.collect_binary(condition, outcome, over, cx, depth),
            Kind::CallExpression if outcome == Outcome::True => {
                if let Some(name) = self.array_test(condition) {
                    let of = self.b.type_(Type::Unknown);
                    let type_ = self.b.type_(Type::Sequence(of));
                    self.narrowed(name, type_, over, cx);
                }
            }
            _ => {}
        }
    }

    fn collect_binary(&mut self, node: Node, outcome: Outcome, over: Range, cx: Context, depth: usize) {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return;
        };
        let holds = outcome == Outcome::True;
        match self.operator(node) {
            // All parts of a true `&&` are true, all of a false `||` are false; else nothing is known of a part.
            b"&&" if holds => {}
            b"||" if !holds => {}
            b"instanceof" if holds => {
                if self.kind(left) == Kind::Identifier && self.root_of(right).is_some() {
                    let segments = self.chain_segments(right);
                    let at = self.b.tree.start(right);
                    let type_ = self.b.type_(Type::Named { segments, arguments: Vec::new(), at });
                    let name = self.b.name(left);
                    self.narrowed(name, type_, over, cx);
                }
                return;
            }
            b"===" | b"==" if holds => return self.typeof_test(left, right, over, cx),
            b"!==" | b"!=" if !holds => return self.typeof_test(left, right, over, cx),
            _ => return,
        }
        self.collect(left, outcome, over, cx, depth + 1);
        self.collect(right, outcome, over, cx, depth + 1);
    }

    /// `typeof x === "string"`.
    fn typeof_test(&mut self, left: Node, right: Node, over: Range, cx: Context) {
        let Some(tested) = self.first_child(left) else { return };
        let is_test = self.kind(left) == Kind::UnaryExpression && self.b.bytes(left).starts_with(b"typeof");
        let Some(text) = self.literal_text(right) else { return };
        if !is_test || self.kind(tested) != Kind::Identifier {
            return;
        }
        if !matches!(text.as_str(), "string" | "number" | "boolean" | "bigint" | "symbol") {
            return;
        }
        let segment = self.b.intern(text);
        let type_ = self.b.type_(Type::Named { segments: vec![segment], arguments: Vec::new(), at: 0 });
        let name = self.b.name(tested);
        self.narrowed(name, type_, over, cx);
    }

    /// `Array.isArray(x)`: what it holds is not known by that.
    fn array_test(&mut self, call: Node) -> Option<Str> {
        let function = self.child(call, Field::Function)?;
        let argument = self.first_child(self.child(call, Field::Arguments)?)?;
        let is_test = self.is(function, "Array.isArray") && self.kind(argument) == Kind::Identifier;
        is_test.then(|| self.b.name(argument))
    }

    fn narrowed(&mut self, name: Str, type_: TypeId, over: Range, cx: Context) {
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

    /// Whether a statement never reaches its end.
    fn leaves(&self, body: Node) -> bool {
        let last = match self.kind(body) {
            Kind::StatementBlock => self.children(body).last(),
            _ => Some(body),
        };
        last.is_some_and(|it| {
            matches!(
                self.kind(it),
                Kind::ReturnStatement | Kind::ThrowStatement | Kind::ContinueStatement | Kind::BreakStatement
            )
        })
    }
}
