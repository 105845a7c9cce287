//! Names used as values, and errors that are thrown.

use knowing_model::facts::{Expr, ReferenceRole, ReferenceTarget};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// A name that is no local variable: a field, a constant, a type before a dot.
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_label =
            matches!(self.field(node), Field::Name | Field::Accessed | Field::Key | Field::Parameters)
                || matches!(
                    self.parent_kind(node),
                    Kind::BreakStatement
                        | Kind::ContinueStatement
                        | Kind::LabeledStatement
                        | Kind::TypePattern
                        | Kind::RecordPattern
                        | Kind::RecordPatternComponent
                        | Kind::ScopedIdentifier
                        | Kind::Error
                );
        if is_label || self.b.is_consumed(node) || self.is_local(node) {
            return Step::Over;
        }
        let expr = self.expr(node);
        let is_before_dot =
            self.field(node) == Field::Object || self.parent_kind(node) == Kind::MethodReference;
        let role =
            if self.is_capital(node) && is_before_dot { ReferenceRole::Value } else { ReferenceRole::Field };
        self.refer(ReferenceTarget::Expr(expr), role, node, cx);
        Step::Over
    }

    pub(super) fn field_access(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(name), Some(object)) = (self.child(node, Field::Accessed), self.child(node, Field::Object))
        else {
            return Step::Into;
        };
        if self.kind(name) != Kind::Identifier {
            // `Outer.this`.
            return Step::Into;
        }
        let is_own = matches!(self.kind(object), Kind::This | Kind::Super);
        let expr = self.expr(node);
        let role = if is_own { ReferenceRole::Field } else { ReferenceRole::Value };
        self.refer(ReferenceTarget::Expr(expr), role, name, cx);
        Step::Into
    }

    pub(super) fn is_local(&mut self, node: Node) -> bool {
        let at = self.b.tree.start(node);
        let name = self.b.name(node);
        self.locals.get(&name).is_some_and(|it| it.iter().any(|it| it.contains(at)))
    }

    fn is_capital(&self, node: Node) -> bool {
        self.b.bytes(node).first().is_some_and(u8::is_ascii_uppercase)
    }

    pub(super) fn throw(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.first_child(node) else { return Step::Into };
        let type_node = match self.kind(value) {
            Kind::ObjectCreation => self.child(value, Field::Type),
            _ => None,
        };
        match type_node {
            Some(type_node) => {
                let expr = self.expr(value);
                if let (Expr::Instance(type_), Some(name)) =
                    (self.b.facts.expr(expr), self.last_name(type_node))
                {
                    self.refer(ReferenceTarget::Type(type_), ReferenceRole::Raise, name, cx);
                }
            }
            None => {
                let expr = self.expr(value);
                self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Raise, value, cx);
            }
        }
        Step::Into
    }

    /// `throws A, B` of a method.
    pub(super) fn throws(&mut self, node: Node, cx: Context) -> Step<Context> {
        for type_ in self.children(node) {
            self.type_at(type_, cx, ReferenceRole::Raise);
        }
        Step::Over
    }
}
