//! Local variables, loops, resources, caught errors, lambdas: what a name stands for, and where.

use knowing_model::facts::{Expr, ExprId, ITSELF, ReferenceRole, Type, Value};
use knowing_model::{NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn local_variable(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(type_node) = self.child(node, Field::Type) else { return Step::Into };
        let is_inferred = self.is_inferred(type_node);
        let written = if is_inferred {
            self.b.consume(type_node);
            None
        } else {
            Some(self.type_at(type_node, cx, ReferenceRole::Type))
        };
        let declarators: Vec<Node> =
            self.children(node).filter(|it| self.kind(*it) == Kind::VariableDeclarator).collect();
        for declarator in declarators {
            let Some(name_node) = self.child(declarator, Field::Name) else { continue };
            let name = self.b.name(name_node);
            let initial = self.child(declarator, Field::Value);
            let value = match (written, initial) {
                (Some(type_), _) => Value::Type(self.with_dimensions(type_, declarator)),
                (None, Some(initial)) => Value::Expr(self.expr(initial)),
                (None, None) => Value::Unknown,
            };
            let visible = Range { from: self.b.tree.end(declarator), to: cx.block_end };
            self.bind(name, value, visible, cx);
            if let Some(lambda) = initial.filter(|it| self.kind(*it) == Kind::LambdaExpression) {
                self.named_lambda(declarator, name_node, lambda, cx);
            }
        }
        Step::Into
    }

    /// A lambda that gets a name is a function of that name.
    fn named_lambda(&mut self, declarator: Node, name_node: Node, lambda: Node, cx: Context) {
        let name = self.b.name(name_node);
        let range = Range { from: self.b.tree.start(declarator), to: self.b.tree.end(declarator) };
        let head = self.b.source.slice(range);
        let head = head.lines().next().unwrap_or_default().trim_end().trim_end_matches('{').trim_end();
        let head = crate::engine::signature::signature(head, crate::engine::signature::Comments::Slashes)
            .into_owned();
        let signature = self.b.intern(head);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::Function,
            node: declarator,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        if let Some(id) = self.b.declare(new) {
            self.owners.insert(lambda, id);
        }
    }

    pub(super) fn enhanced_for(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), ..cx };
        if let (Some(name), Some(type_node), Some(over)) =
            (self.child(node, Field::Name), self.child(node, Field::Type), self.child(node, Field::Value))
        {
            let name = self.b.name(name);
            let value = if self.is_inferred(type_node) {
                self.b.consume(type_node);
                let of = self.expr(over);
                Value::Expr(self.b.expr(Expr::Element { of }))
            } else {
                let type_ = self.type_at(type_node, cx, ReferenceRole::Type);
                Value::Type(self.with_dimensions(type_, node))
            };
            let visible = Range { from: self.b.tree.end(over), to: inner.block_end };
            self.bind(name, value, visible, inner);
        }
        Step::Within(inner)
    }

    /// `try (var in = open())`.
    pub(super) fn resource(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let (Some(name), Some(type_node)) = (self.child(node, Field::Name), self.child(node, Field::Type))
        {
            let name = self.b.name(name);
            let value = if self.is_inferred(type_node) {
                self.b.consume(type_node);
                match self.child(node, Field::Value) {
                    Some(value) => Value::Expr(self.expr(value)),
                    None => Value::Unknown,
                }
            } else {
                Value::Type(self.type_at(type_node, cx, ReferenceRole::Type))
            };
            let visible = Range { from: self.b.tree.end(node), to: cx.block_end };
            self.bind(name, value, visible, cx);
        }
        Step::Into
    }

    pub(super) fn catch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), ..cx };
        if let Some(parameter) = self.child_of_kind(node, Kind::CatchParameter)
            && let Some(name) = self.child(parameter, Field::Name)
            && let Some(types) = self.child_of_kind(parameter, Kind::CatchType)
        {
            let name = self.b.name(name);
            let type_ = self.type_at(types, cx, ReferenceRole::Type);
            let visible = Range { from: self.b.tree.end(parameter), to: inner.block_end };
            self.bind(name, Value::Type(type_), visible, inner);
        }
        Step::Within(inner)
    }

    pub(super) fn lambda(&mut self, node: Node, cx: Context) -> Step<Context> {
        let decl = self.owners.get(&node).copied().or(cx.decl);
        let inner = Context { decl, block_end: self.b.tree.end(node), ..cx };
        let Some(parameters) = self.child(node, Field::Parameters) else { return Step::Within(inner) };
        let visible = Range { from: self.b.tree.end(parameters), to: inner.block_end };
        let nodes: Vec<Node> = match self.kind(parameters) {
            Kind::Identifier => vec![parameters],
            _ => self.children(parameters).collect(),
        };
        for (place, parameter) in nodes.into_iter().enumerate() {
            if self.kind(parameter) == Kind::Identifier {
                let name = self.b.name(parameter);
                let value = self.given(node, place);
                self.bind(name, value, visible, inner);
                continue;
            }
            let is_inferred = self.child(parameter, Field::Type).is_some_and(|it| self.is_inferred(it));
            if is_inferred && let Some(name) = self.child(parameter, Field::Name) {
                let name = self.b.name(name);
                let value = self.given(node, place);
                self.bind(name, value, visible, inner);
            } else if let Some((name, type_, kind)) = self.parameter(parameter, inner, ReferenceRole::Type) {
                let name = self.b.name(name);
                let type_ = match kind {
                    knowing_model::facts::ParameterKind::Rest => self.b.type_(Type::Sequence(type_)),
                    _ => type_,
                };
                self.bind(name, Value::Type(type_), visible, inner);
            }
        }
        Step::Within(inner)
    }

    /// What a lambda's parameter is, by the call it is passed to or the type it is written for.
    fn given(&mut self, lambda: Node, place: usize) -> Value {
        let Some((callee, argument)) = self.wanted(lambda) else { return Value::Unknown };
        match u8::try_from(place) {
            Ok(parameter) => Value::Expr(self.b.expr(Expr::Given { callee, argument, parameter })),
            Err(_) => Value::Unknown,
        }
    }

    /// The callee a lambda is an argument of and its number; or an expression of the type that is asked for.
    fn wanted(&mut self, lambda: Node) -> Option<(ExprId, u8)> {
        let parent = self.b.tree.parent(lambda)?;
        match self.kind(parent) {
            Kind::ArgumentList => {
                let call = self.b.tree.parent(parent)?;
                let callee = self.callees.get(&call).copied()?;
                let argument = self.children(parent).position(|it| it == lambda)?;
                Some((callee, u8::try_from(argument).ok().filter(|it| *it != ITSELF)?))
            }
            Kind::VariableDeclarator => {
                let declaration = self.b.tree.parent(parent)?;
                let type_node = self.child(declaration, Field::Type)?;
                let type_ = self.written_type(type_node);
                Some((self.b.expr(Expr::Instance(type_)), ITSELF))
            }
            Kind::CastExpression => Some((self.expr(parent), ITSELF)),
            Kind::AssignmentExpression => {
                let left = self.child(parent, Field::Left)?;
                Some((self.expr(left), ITSELF))
            }
            Kind::ReturnStatement => {
                let mut around = self.b.tree.parent(parent)?;
                while self.kind(around) != Kind::MethodDeclaration {
                    if matches!(self.kind(around), Kind::LambdaExpression | Kind::ClassBody) {
                        return None;
                    }
                    around = self.b.tree.parent(around)?;
                }
                let type_node = self.child(around, Field::Type)?;
                let type_ = self.written_type(type_node);
                Some((self.b.expr(Expr::Instance(type_)), ITSELF))
            }
            _ => None,
        }
    }
}
