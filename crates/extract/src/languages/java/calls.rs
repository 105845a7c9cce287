//! Calls of methods and constructors, and what is passed to them.

use knowing_model::Position;
use knowing_model::facts::{Argument, Call, CallForm, Expr, ExprId, Passed, ReferenceRole, ReferenceTarget};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn method_invocation(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let called = self.expr(node);
        let Expr::Call { callee } = self.b.facts.expr(called) else { return Step::Into };
        let position = self.b.tree.position(name);
        self.call(node, callee, position, self.child(node, Field::Arguments), cx);
        self.method_site(node, name, cx);
        Step::Into
    }

    pub(super) fn object_creation(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(type_node) = self.child(node, Field::Type) else { return Step::Into };
        let type_ = self.type_at(type_node, cx, ReferenceRole::Type);
        if self.b.memo(node).is_none() {
            self.b.expr_of(node, Expr::Instance(type_));
        }
        let of = self.b.expr(Expr::TypePath(type_));
        let name = self.last_name(type_node).unwrap_or(type_node);
        self.construct(of, name, self.child(node, Field::Arguments), node, cx);
        self.constructor_site(node, name, cx);
        Step::Into
    }

    /// `this(...)`, `super(...)`.
    pub(super) fn explicit_constructor(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(which) = self.child(node, Field::Constructor) else { return Step::Into };
        let of = self.expr(which);
        self.construct(of, which, self.child(node, Field::Arguments), node, cx);
        Step::Into
    }

    pub(super) fn construct(
        &mut self,
        of: ExprId,
        name: Node,
        arguments: Option<Node>,
        node: Node,
        cx: Context,
    ) {
        let init = self.b.intern("<init>");
        let callee = self.b.expr(Expr::Member { of, name: init });
        let position = self.b.tree.position(name);
        self.call(node, callee, position, arguments, cx);
    }

    fn call(&mut self, node: Node, callee: ExprId, position: Position, list: Option<Node>, cx: Context) {
        let arguments: Vec<Node> = list.map(|it| self.children(it).collect()).unwrap_or_default();
        let mut passed = Vec::new();
        for &argument in &arguments {
            let value = self.expr(argument);
            match self.kind(argument) {
                Kind::LambdaExpression => {
                    self.callees.insert(node, callee);
                }
                Kind::MethodReference => {
                    self.b.consume(argument);
                    passed.push(Passed { expr: value, position: self.reference_position(argument) });
                }
                _ => {}
            }
            self.b.argument(Argument { callee, value, name: None, spread: false });
        }
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
            spread: false,
            passed,
            form: CallForm::Plain,
        });
    }

    /// One that is passed belongs to its call; others are values.
    pub(super) fn method_reference(&mut self, node: Node, cx: Context) -> Step<Context> {
        let expr = self.expr(node);
        if !self.b.is_consumed(node) {
            let position = self.reference_position(node);
            let target = ReferenceTarget::Expr(expr);
            let role = ReferenceRole::Value;
            self.b.reference(knowing_model::facts::Reference { decl: cx.decl, target, role, position });
        }
        if let Some(name) = self.referred_name(node) {
            self.b.consume(name);
        }
        Step::Into
    }

    fn reference_position(&self, node: Node) -> Position {
        match self.referred_name(node) {
            Some(name) => self.b.tree.position(name),
            None => self.b.position_at(node, self.b.tree.end(node).saturating_sub(3)),
        }
    }
}
