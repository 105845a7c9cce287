//! Patterns: the names they bind, each to its part of the value, and what tests tell of a variable.

use knowing_model::Range;
use knowing_model::facts::{BindingTarget, Expr, ExprId, ReferenceRole, TypeId, Value};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::written::Naming;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// `of is pattern`: what it binds is seen to the end of the block around.
    pub(super) fn is_pattern(&mut self, node: Node, cx: Context) -> Step<Context> {
        let parts = (self.child(node, Field::Expression), self.child(node, Field::Pattern));
        let (Some(of), Some(pattern)) = parts else { return Step::Into };
        let of = self.expr(of, cx.decl);
        self.pattern(pattern, Some(of), cx, 0);
        Step::Into
    }

    /// A pattern of a `case` or an arm.
    pub(super) fn switched_pattern(&mut self, node: Node, cx: Context) -> Step<Context> {
        // Parts of a pattern were met with the whole of it; names that are compared with are read as the walk goes on.
        if self.b.memo(node).is_none() {
            let of = self.switched(node).map(|it| self.expr(it, cx.decl));
            self.pattern(node, of, cx, 0);
        }
        Step::Into
    }

    /// What a pattern that stands in a `switch` is compared with.
    fn switched(&self, pattern: Node) -> Option<Node> {
        let mut node = self.parent(pattern)?;
        for _ in 0..MAX_NESTING {
            match self.kind(node) {
                Kind::SwitchStatement => return self.child(node, Field::Value),
                Kind::SwitchExpression => return self.first_child(node),
                Kind::SwitchSection | Kind::SwitchBody | Kind::SwitchArm => node = self.parent(node)?,
                _ => return None,
            }
        }
        None
    }

    fn pattern(&mut self, node: Node, of: Option<ExprId>, cx: Context, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        let matched = of.unwrap_or_else(|| self.b.expr(Expr::Unknown));
        self.b.remember(node, matched);
        let end = self.b.tree.end(node);
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        match self.kind(node) {
            Kind::DeclarationPattern | Kind::RecursivePattern | Kind::VarPattern | Kind::ListPattern => {
                let type_node =
                    self.child(node, Field::Type).filter(|it| self.kind(*it) != Kind::ImplicitType);
                let type_ = type_node.map(|it| self.read_type(it, naming));
                let of = match type_ {
                    Some(type_) => Some(self.b.expr(Expr::Instance(type_))),
                    None => of,
                };
                if let Some(name) = self.child(node, Field::Name).filter(|it| !self.is(*it, "_")) {
                    let value = type_.map(Value::Type).or(of.map(Value::Expr)).unwrap_or(Value::Unknown);
                    self.bind_name(name, value, end, cx);
                }
                for part in self.children(node) {
                    match self.kind(part) {
                        Kind::PropertyPattern => self.properties(part, of, cx, depth + 1),
                        Kind::PositionalPattern => self.positions(part, of, cx, depth + 1),
                        Kind::ParenthesizedDesignation => self.tuple_pattern(part, of, end, cx, depth + 1),
                        Kind::Identifier => {}
                        _ if type_node == Some(part) => {}
                        _ => self.pattern(part, None, cx, depth + 1),
                    }
                }
            }
            Kind::OrPattern | Kind::AndPattern | Kind::ParenthesizedPattern | Kind::NegatedPattern => {
                for part in self.children(node) {
                    self.pattern(part, of, cx, depth + 1);
                }
            }
            Kind::TypePattern => {
                if let Some(type_) = self.child(node, Field::Type) {
                    self.read_type(type_, naming);
                }
            }
            _ => {}
        }
    }

    /// `{ Name: pattern }`.
    fn properties(&mut self, clause: Node, of: Option<ExprId>, cx: Context, depth: usize) {
        for part in self.children(clause) {
            let mut parts = self.children(part);
            let (Some(name), Some(pattern)) = (parts.next(), parts.next()) else {
                if let Some(only) = self.first_child(part) {
                    self.pattern(only, None, cx, depth + 1);
                }
                continue;
            };
            let member = match (self.kind(name), of) {
                (Kind::Identifier, Some(of)) => {
                    self.b.consume(name);
                    let text = self.b.name(name);
                    let member = self.b.expr(Expr::Member { of, name: text });
                    self.value(member, name, cx.decl);
                    Some(member)
                }
                // `A.B: pattern`
                _ => {
                    self.b.consume(name);
                    None
                }
            };
            self.pattern(pattern, member, cx, depth + 1);
        }
    }

    /// `(pattern, pattern)`.
    fn positions(&mut self, clause: Node, of: Option<ExprId>, cx: Context, depth: usize) {
        for (index, part) in self.children(clause).enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let item = of.map(|of| self.b.expr(Expr::Item { of, index }));
            if let Some(pattern) = self.last_child(part) {
                self.pattern(pattern, item, cx, depth + 1);
            }
        }
    }

    /// `if (x is T) ...`: in the branch, `x` is a `T`.
    pub(super) fn narrowed_branch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let parts = (self.child(node, Field::Condition), self.child(node, Field::Consequence));
        let (Some(condition), Some(branch)) = parts else { return Step::Into };
        let mut tests = vec![condition];
        while let Some(test) = tests.pop() {
            if self.kind(test) == Kind::BinaryExpression && self.between(test) == b"&&" {
                tests.extend(self.child(test, Field::Left));
                tests.extend(self.child(test, Field::Right));
            } else if let Some((name, type_)) = self.tested(test, cx) {
                let name = self.b.name(name);
                let visible: Range = self.b.tree.range(branch);
                self.bind(cx.decl, BindingTarget::Name(name), Value::Narrowed(type_), Scope { visible });
            }
            if tests.len() > MAX_NESTING {
                break;
            }
        }
        Step::Into
    }

    /// A local variable and the type it is tested for.
    fn tested(&mut self, test: Node, cx: Context) -> Option<(Node, TypeId)> {
        let (of, type_) = match self.kind(test) {
            Kind::IsExpression => (self.child(test, Field::Left)?, self.child(test, Field::Right)?),
            Kind::IsPattern => {
                let pattern = self.child(test, Field::Pattern)?;
                let type_ = match self.kind(pattern) {
                    Kind::TypePattern => self.child(pattern, Field::Type)?,
                    // A lone name may be a constant; constants are no types, and a test for one tells nothing.
                    Kind::ConstantPattern => {
                        self.first_child(pattern).filter(|it| self.kind(*it) == Kind::Identifier)?
                    }
                    _ => return None,
                };
                (self.child(test, Field::Expression)?, type_)
            }
            _ => return None,
        };
        if self.kind(of) != Kind::Identifier {
            return None;
        }
        let name = self.b.name(of);
        if !self.locals.contains(name, self.b.tree.start(of)) {
            return None;
        }
        let type_ = self.read_type(type_, Naming::new(cx.decl, ReferenceRole::Type));
        Some((of, type_))
    }

    /// What stands between the two sides.
    pub(super) fn between(&self, node: Node) -> &[u8] {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return b"";
        };
        let between = Range { from: self.b.tree.end(left), to: self.b.tree.start(right) };
        self.b.source.bytes(between).trim_ascii()
    }
}
