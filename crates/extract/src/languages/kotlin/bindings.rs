//! Loops, caught errors, lambdas, and what `is` says about a name.

use knowing_model::Range;
use knowing_model::facts::{Expr, ExprId, ITSELF, ReferenceRole, TypeId, Value};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn for_loop(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), ..cx };
        let parts: Vec<Node> = self.children(node).collect();
        let at = parts.iter().position(|it| {
            matches!(self.kind(*it), Kind::VariableDeclaration | Kind::MultiVariableDeclaration)
        });
        if let Some(at) = at
            && let Some(over) = parts.get(at + 1)
        {
            let of = self.expr(*over);
            let element = self.b.expr(Expr::Element { of });
            let visible = Range { from: self.b.tree.end(*over), to: inner.block_end };
            if self.kind(parts[at]) == Kind::MultiVariableDeclaration {
                self.destructure_expr(parts[at], Some(element), visible, inner);
            } else {
                self.bind_variable(parts[at], Some(element), visible, inner);
            }
        }
        Step::Within(inner)
    }

    fn bind_variable(&mut self, variable: Node, of: Option<ExprId>, visible: Range, cx: Context) {
        let Some(name_node) = self.child_of_kind(variable, Kind::Identifier) else { return };
        self.b.consume(name_node);
        let name = self.name(name_node);
        let written = self.type_child(variable).map(|it| self.type_at(it, cx, ReferenceRole::Type));
        let value = match (written, of) {
            (Some(type_), _) => Value::Type(type_),
            (None, Some(of)) => Value::Expr(of),
            (None, None) => Value::Unknown,
        };
        self.bind(name, value, visible, cx);
    }

    pub(super) fn catch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), ..cx };
        if let (Some(name_node), Some(written)) =
            (self.child_of_kind(node, Kind::Identifier), self.type_child(node))
        {
            self.b.consume(name_node);
            let name = self.name(name_node);
            let type_ = self.type_at(written, cx, ReferenceRole::Type);
            let visible = Range { from: self.b.tree.end(written), to: inner.block_end };
            self.bind(name, Value::Type(type_), visible, inner);
        }
        Step::Within(inner)
    }

    /// A lambda: its parameters, or `it`; what it is applied to as `this` where the call is known to do so.
    pub(super) fn lambda(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), in_type: false, ..cx };
        let passed = self.callees.get(&node).copied();
        let parameters = self.child_of_kind(node, Kind::LambdaParameters);
        let from = parameters.map_or(self.b.tree.start(node), |it| self.b.tree.end(it));
        let visible = Range { from, to: inner.block_end };
        let given = |this: &mut Self, place: usize| match (passed, u8::try_from(place)) {
            (Some((callee, argument)), Ok(parameter)) => {
                Some(this.b.expr(Expr::Given { callee, argument, parameter }))
            }
            _ => None,
        };
        match parameters {
            Some(list) => {
                let parts: Vec<Node> = self.children(list).collect();
                for (place, part) in parts.into_iter().enumerate() {
                    let of = given(self, place);
                    if self.kind(part) == Kind::MultiVariableDeclaration {
                        self.destructure_expr(part, of, visible, inner);
                    } else {
                        self.bind_variable(part, of, visible, inner);
                    }
                }
            }
            None => {
                let name = self.b.intern("it");
                let value = given(self, 0).map_or(Value::Unknown, Value::Expr);
                self.bind(name, value, visible, inner);
            }
        }
        if let Some((callee, argument)) = passed {
            match self.applied_to(callee) {
                Some(receiver) => {
                    let this = self.b.intern("this");
                    self.bind(this, Value::Expr(receiver), visible, inner);
                }
                // Whether it is applied to something is for resolution to find out.
                None => {
                    let this = self.b.intern("<this>");
                    let receiver = self.b.expr(Expr::Given { callee, argument, parameter: ITSELF });
                    self.bind(this, Value::Expr(receiver), visible, inner);
                }
            }
        }
        Step::Within(inner)
    }

    /// `x.apply { ... }`, `x.run { ... }`, `with(x) { ... }`: what `this` is inside.
    fn applied_to(&self, callee: ExprId) -> Option<ExprId> {
        match self.b.facts.expr(callee) {
            Expr::Member { of, name } if matches!(self.b.str(name), "apply" | "run") => Some(of),
            Expr::Name { name, .. } if self.b.str(name) == "with" => {
                let first = self.b.facts.arguments.iter().find(|it| it.callee == callee);
                first.map(|it| it.value)
            }
            _ => None,
        }
    }

    /// `when (x) { is T -> ... }`.
    pub(super) fn when(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), ..cx };
        let subject = self.child_of_kind(node, Kind::WhenSubject);
        let variable = subject.and_then(|it| self.child_of_kind(it, Kind::VariableDeclaration));
        if let (Some(subject), Some(variable)) = (subject, variable) {
            let value = self.last_child(subject).filter(|it| *it != variable).map(|it| self.expr(it));
            let visible = Range { from: self.b.tree.end(subject), to: inner.block_end };
            self.bind_variable(variable, value, visible, inner);
        }
        let name = match variable {
            Some(variable) => self.child_of_kind(variable, Kind::Identifier),
            None => {
                subject.and_then(|it| self.first_child(it)).filter(|it| self.kind(*it) == Kind::Identifier)
            }
        };
        if let Some(name) = name {
            let entries: Vec<Node> =
                self.children(node).filter(|it| self.kind(*it) == Kind::WhenEntry).collect();
            for entry in entries {
                let tests: Vec<Node> =
                    self.children(entry).filter(|it| self.field(*it) == Field::Condition).collect();
                let [test] = tests[..] else { continue };
                if self.kind(test) == Kind::TypeTest
                    && !self.b.bytes(test).starts_with(b"!")
                    && let Some(written) = self.type_child(test)
                {
                    let type_ = self.written_type(written);
                    let visible = Range { from: self.b.tree.end(test), to: self.b.tree.end(entry) };
                    self.narrow(name, type_, visible, inner);
                }
            }
        }
        Step::Within(inner)
    }

    fn narrow(&mut self, name: Node, type_: TypeId, visible: Range, cx: Context) {
        let name = self.name(name);
        if visible.from < visible.to {
            self.bind(name, Value::Narrowed(type_), visible, cx);
        }
    }

    /// `x is T` in a condition: in what follows it, and in what is done then. `x !is T` with a way out: after it.
    pub(super) fn is_test(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        if self.kind(left) != Kind::Identifier {
            return Step::Into;
        }
        let is_negated = self.between(left, right).starts_with(b"!");
        let type_ = self.written_type(right);
        let mut at = node;
        let mut in_or = false;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::BinaryExpression => {
                    let operator = match (self.child(parent, Field::Left), self.child(parent, Field::Right)) {
                        (Some(left), Some(right)) => self.between(left, right),
                        _ => b"",
                    };
                    in_or |= operator == b"||";
                }
                Kind::ParenthesizedExpression => {}
                Kind::IfExpression if self.field(at) == Field::Condition => {
                    let then = self.children(parent).skip_while(|it| *it != at).nth(1);
                    let Some(then) = then else { break };
                    let from = self.b.tree.end(node);
                    if is_negated {
                        // Where it leaves, it does so soon.
                        let leaves = self.b.tree.subtree(then).take(200).any(|it| {
                            matches!(self.kind(it), Kind::ReturnExpression | Kind::ThrowExpression)
                        });
                        if leaves {
                            let visible = Range { from: self.b.tree.end(parent), to: cx.block_end };
                            self.narrow(left, type_, visible, cx);
                        }
                    } else if !in_or {
                        self.narrow(left, type_, Range { from, to: self.b.tree.end(then) }, cx);
                    }
                    break;
                }
                Kind::WhenEntry if self.field(at) == Field::Condition && !is_negated && !in_or => {
                    let visible = Range { from: self.b.tree.end(node), to: self.b.tree.end(parent) };
                    self.narrow(left, type_, visible, cx);
                    break;
                }
                _ => {
                    if !is_negated && !in_or {
                        let visible = Range { from: self.b.tree.end(node), to: self.b.tree.end(at) };
                        self.narrow(left, type_, visible, cx);
                    }
                    break;
                }
            }
            at = parent;
        }
        Step::Into
    }
}
