//! Properties of types and files, and local variables.

use knowing_model::facts::{Expr, ExprId, Modifiers, ReferenceRole, Return, ReturnKind, TypeId, Value};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn property(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_member = cx.decl.is_none() || self.is_type_decl(cx.decl) && cx.in_type;
        if let Some(several) = self.child_of_kind(node, Kind::MultiVariableDeclaration) {
            let value = self.children(node).skip_while(|it| *it != several).nth(1);
            let visible = Range { from: self.b.tree.end(node), to: cx.block_end };
            self.destructure(several, value, visible, cx);
            return Step::Into;
        }
        let Some(variable) = self.child_of_kind(node, Kind::VariableDeclaration) else { return Step::Into };
        let Some(name_node) = self.child_of_kind(variable, Kind::Identifier) else { return Step::Into };
        self.b.consume(name_node);
        let initial = self.initial_value(node, variable);
        if is_member {
            return self.member(node, variable, name_node, initial, cx);
        }
        let written = self.type_child(variable).map(|it| self.type_at(it, cx, ReferenceRole::Type));
        let value = match (written, initial) {
            (Some(type_), _) => Value::Type(type_),
            (None, Some(initial)) => Value::Expr(self.initial_expr(initial)),
            (None, None) => Value::Unknown,
        };
        let name = self.name(name_node);
        let visible = Range { from: self.b.tree.end(node), to: cx.block_end };
        self.bind(name, value, visible, cx);
        Step::Into
    }

    /// What stands after `=` or `by`.
    fn initial_value(&self, node: Node, variable: Node) -> Option<Node> {
        let rest = self.children(node).skip_while(|it| *it != variable).skip(1);
        let mut rest =
            rest.filter(|it| !matches!(self.kind(*it), Kind::Getter | Kind::Setter | Kind::TypeConstraints));
        rest.next()
    }

    /// `by lazy { x }` is `x`; another delegate gives what nobody knows.
    fn initial_expr(&mut self, node: Node) -> ExprId {
        if self.kind(node) != Kind::PropertyDelegate {
            return self.expr(node);
        }
        let call = self.first_child(node);
        let lambda = call.and_then(|call| {
            let is_lazy = self.first_child(call).is_some_and(|it| self.is(it, "lazy"));
            let lambda = self.b.tree.subtree(call).find(|it| self.kind(*it) == Kind::LambdaLiteral);
            lambda.filter(|_| is_lazy)
        });
        match lambda.and_then(|it| self.last_child(it)) {
            Some(last) => self.expr(last),
            None => self.b.expr(Expr::Unknown),
        }
    }

    fn member(
        &mut self,
        node: Node,
        variable: Node,
        name_node: Node,
        initial: Option<Node>,
        cx: Context,
    ) -> Step<Context> {
        let mut marks = self.marks(node);
        let name = self.name(name_node);
        let getter = self.child_of_kind(node, Kind::Getter);
        let in_object = self.is_static_owner(cx);
        let kind = if marks.is_const {
            NodeKind::Const
        } else if getter.is_some() {
            NodeKind::Property
        } else if cx.decl.is_none() {
            NodeKind::Var
        } else {
            NodeKind::Field
        };
        if in_object {
            marks.modifiers.insert(Modifiers::STATIC);
        }
        if cx.is_interface && getter.is_none() {
            marks.flags.insert(NodeFlags::ABSTRACT);
        }
        let is_long = initial.is_some_and(|it| self.b.bytes(it).contains(&b'\n'));
        let to = match initial {
            Some(initial) if is_long => self.b.tree.start(initial),
            Some(initial) => self.b.tree.end(initial),
            None => self.b.tree.end(variable),
        };
        let signature = self.head(marks.from, to);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let inner =
            Context { decl: Some(id), block_end: self.b.tree.end(node), in_type: false, is_interface: false };
        let type_parameters = self.type_parameters(node, inner);
        let written: Option<TypeId> =
            self.type_child(variable).map(|it| self.type_at(it, inner, ReferenceRole::Hint));
        // `val Receiver.name`.
        let receiver = self.children(node).find(|it| self.is_type(*it) && *it < variable);
        if let Some(receiver) = receiver {
            let type_ = self.type_at(receiver, inner, ReferenceRole::Hint);
            let this = self.b.intern("this");
            let visible = Range { from: self.b.tree.end(name_node), to: inner.block_end };
            self.bind(this, Value::Type(type_), visible, inner);
        }
        let value = match (written, initial) {
            (None, Some(initial)) => Some(self.initial_expr(initial)),
            _ => None,
        };
        let decl = self.b.decl_mut(id);
        decl.type_ = written;
        decl.value = value;
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        decl.doc = doc;
        decl.type_parameters = type_parameters;
        self.decorate(id, &marks);
        if let (None, Some(getter)) = (written, getter) {
            let body = self.child_of_kind(getter, Kind::FunctionBody).and_then(|it| self.first_child(it));
            if let Some(body) = body.filter(|it| self.kind(*it) != Kind::Block) {
                let expr = self.expr(body);
                self.b.gives_back(Return { decl: id, expr, kind: ReturnKind::Return });
            }
        }
        Step::Within(inner)
    }

    /// `val (a, b) = pair`: parts by `componentN`, which only tuples are known to have.
    pub(super) fn destructure(&mut self, names: Node, value: Option<Node>, visible: Range, cx: Context) {
        let of = value.map(|it| self.expr(it));
        self.destructure_expr(names, of, visible, cx);
    }

    pub(super) fn destructure_expr(&mut self, names: Node, of: Option<ExprId>, visible: Range, cx: Context) {
        let parts: Vec<Node> = self.children(names).collect();
        for (place, part) in parts.into_iter().enumerate() {
            let Some(name_node) = self.child_of_kind(part, Kind::Identifier) else { continue };
            self.b.consume(name_node);
            let name = self.name(name_node);
            let written = self.type_child(part).map(|it| self.type_at(it, cx, ReferenceRole::Type));
            let value = match (written, of) {
                (Some(type_), _) => Value::Type(type_),
                (None, Some(of)) => {
                    let index = u32::try_from(place).unwrap_or(u32::MAX);
                    Value::Expr(self.b.expr(Expr::Item { of, index }))
                }
                (None, None) => Value::Unknown,
            };
            self.bind(name, value, visible, cx);
        }
    }
}
