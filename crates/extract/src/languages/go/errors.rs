//! What functions throw: error types among their results, errors that they return by name or make, and `panic`.

use knowing_model::facts::{Expr, ReferenceRole, ReferenceTarget};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// The type of the last result, when it is an error.
    pub(super) fn error_node(&self, result: Node) -> Option<Node> {
        let last = match self.kind(result) {
            Kind::ParameterList => {
                let last = self.children(result).last()?;
                self.child(last, Field::Type)?
            }
            _ => result,
        };
        let name = self.last_segment(last);
        let text = self.b.text(name);
        (self.is(name, "error") || text.ends_with("Error")).then_some(last)
    }

    pub(super) fn is_error_result(&self, result: Node) -> bool {
        self.error_node(result).is_some()
    }

    /// `return nil, ErrGone`, `return &NotFound{}`: the last value of a function that gives an error.
    pub(super) fn return_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !cx.gives_error {
            return Step::Into;
        }
        let last = self.first_child(node).and_then(|list| self.children(list).last());
        if let Some(last) = last {
            self.raised(last, cx);
        }
        Step::Into
    }

    /// An error that is named or made where it is thrown.
    fn raised(&mut self, value: Node, cx: Context) {
        let mut value = value;
        while matches!(self.kind(value), Kind::UnaryExpression | Kind::ParenthesizedExpression)
            && let Some(inner) = self.first_child(value)
        {
            value = inner;
        }
        let (target, named) = match self.kind(value) {
            Kind::Identifier if is_error_name(self.b.bytes(value)) && !self.is_local(value) => {
                (ReferenceTarget::Expr(self.expr(value, cx.decl)), value)
            }
            Kind::SelectorExpression => {
                let Some(name) = self.child(value, Field::Member) else { return };
                if !is_error_name(self.b.bytes(name)) {
                    return;
                }
                (ReferenceTarget::Expr(self.expr(value, cx.decl)), name)
            }
            Kind::CompositeLiteral => {
                let Some(type_) = self.child(value, Field::Type) else { return };
                let named = self.last_segment(type_);
                let expr = self.expr(value, cx.decl);
                let Expr::Instance(type_) = self.b.facts.expr(expr) else { return };
                (ReferenceTarget::Type(type_), named)
            }
            _ => return,
        };
        let position = self.b.tree.position(named);
        self.refer(cx.decl, target, ReferenceRole::Raise, position);
    }

    /// `panic(x)`.
    pub(super) fn panics(&mut self, call: Node, function: Node, cx: Context) {
        if self.kind(function) != Kind::Identifier || !self.is(function, "panic") || self.is_local(function) {
            return;
        }
        let expr = self.expr(function, cx.decl);
        let position = self.b.tree.position(function);
        self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Raise, position);
        let argument = self.child(call, Field::Arguments).and_then(|it| self.first_child(it));
        if let Some(argument) = argument {
            self.raised(argument, cx);
        }
    }
}

/// `ErrGone`, `errGone`, `io.EOF`.
fn is_error_name(name: &[u8]) -> bool {
    let rest = name.strip_prefix(b"Err").or_else(|| name.strip_prefix(b"err"));
    rest.is_some_and(|it| it.first().is_some_and(u8::is_ascii_uppercase)) || name == b"EOF"
}
