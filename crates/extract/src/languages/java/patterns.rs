//! `instanceof` and `switch` patterns, and where the names they bind hold.

use knowing_model::Range;
use knowing_model::facts::{Expr, ReferenceRole, ReferenceTarget, Value};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// `x instanceof T t`.
    pub(super) fn instanceof(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(type_node) = self.child(node, Field::Right) else { return Step::Into };
        let type_ = self.type_at(type_node, cx, ReferenceRole::Type);
        if let Some(name_node) = self.child(node, Field::Name) {
            let name = self.b.name(name_node);
            let visible = Range { from: self.b.tree.end(name_node), to: self.reach(node, cx) };
            self.bind(name, Value::Type(type_), visible, cx);
        }
        Step::Into
    }

    /// `case T t`, and a typed part of a record.
    pub(super) fn type_pattern(&mut self, node: Node, cx: Context) -> Step<Context> {
        let type_node = self.children(node).find(|it| self.is_type(*it));
        let name_node = self.children(node).filter(|it| self.kind(*it) == Kind::Identifier).last();
        let (Some(type_node), Some(name_node)) = (type_node, name_node) else { return Step::Into };
        let value = if self.is_inferred(type_node) {
            self.b.consume(type_node);
            Value::Unknown
        } else {
            Value::Type(self.type_at(type_node, cx, ReferenceRole::Type))
        };
        let name = self.b.name(name_node);
        let visible = Range { from: self.b.tree.end(name_node), to: self.reach(node, cx) };
        self.bind(name, value, visible, cx);
        Step::Over
    }

    /// `Point(int x, var y)`: the record is named, and its parts are patterns.
    pub(super) fn record_pattern(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(name) = self.first_child(node)
            && self.kind(name) == Kind::Identifier
        {
            let expr = self.expr(name);
            self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Type, name, cx);
            self.b.consume(name);
        }
        Step::Into
    }

    /// A bare name in `case NAME` is one of the enum that is looked at, or a constant.
    pub(super) fn switch_label(&mut self, node: Node, cx: Context) -> Step<Context> {
        let mut switch = node;
        for _ in 0..3 {
            if let Some(parent) = self.b.tree.parent(switch)
                && self.kind(switch) != Kind::SwitchExpression
            {
                switch = parent;
            }
        }
        let Some(condition) = self.child(switch, Field::Condition) else { return Step::Into };
        let names: Vec<Node> = self.children(node).filter(|it| self.kind(*it) == Kind::Identifier).collect();
        for name in names {
            let of = self.expr(condition);
            let text = self.b.name(name);
            // One of both means something, the other nothing.
            let member = self.b.expr(Expr::Member { of, name: text });
            self.refer(ReferenceTarget::Expr(member), ReferenceRole::Value, name, cx);
            let constant = self.expr(name);
            self.refer(ReferenceTarget::Expr(constant), ReferenceRole::Value, name, cx);
            self.b.consume(name);
        }
        Step::Into
    }

    /// Where a pattern's names end. Positive in the condition of `if` or `while`: with what is done then. Negated there:
    /// with the block around, which is only reached when it matched. Else with the statement or the arm.
    fn reach(&self, pattern: Node, cx: Context) -> u32 {
        let mut is_negated = false;
        let mut at = pattern;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::UnaryExpression => is_negated = true,
                Kind::IfStatement | Kind::WhileStatement if self.field(at) == Field::Condition => {
                    let then = match self.kind(parent) {
                        Kind::IfStatement => self.child(parent, Field::Consequence),
                        _ => self.child(parent, Field::Body),
                    };
                    return match then {
                        Some(then) if !is_negated => self.b.tree.end(then),
                        _ => cx.block_end,
                    };
                }
                Kind::SwitchRule
                | Kind::SwitchGroup
                | Kind::LambdaExpression
                | Kind::ExpressionStatement
                | Kind::ReturnStatement
                | Kind::LocalVariable
                | Kind::FieldDeclaration
                | Kind::YieldStatement => {
                    return self.b.tree.end(parent);
                }
                Kind::Block | Kind::ClassBody | Kind::MethodDeclaration => return self.b.tree.end(at),
                _ => {}
            }
            at = parent;
        }
        cx.block_end
    }
}
