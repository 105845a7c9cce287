//! Syntax to `Expr`. Chains of members and calls are followed in a loop, because they are as long as somebody made
//! them; what remains is bounded.

use knowing_model::facts::{Expr, ExprId, Literal, Type};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// How many parameters a lambda has that names none: none, or `it`.
pub(super) const ANY_NUMBER: u8 = u8::MAX;

impl Reader<'_, '_> {
    /// One expression per node, however often it is asked for.
    pub(super) fn expr(&mut self, node: Node) -> ExprId {
        self.expr_at(node, 0)
    }

    fn expr_at(&mut self, node: Node, depth: usize) -> ExprId {
        if let Some(known) = self.b.memo(node) {
            return known;
        }
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.b.expr_of(node, Expr::Unknown);
        }
        let base = self.spine.len();
        let mut inner = node;
        let mut expr = loop {
            if let Some(known) = self.b.memo(inner) {
                break known;
            }
            match self.inner_of(inner) {
                Some(next) => {
                    self.spine.push(inner);
                    inner = next;
                }
                None => break self.leaf(inner, depth),
            }
        };
        while self.spine.len() > base
            && let Some(outer) = self.spine.pop()
        {
            expr = self.around(outer, expr);
        }
        expr
    }

    /// What a link of a chain is taken from.
    fn inner_of(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::NavigationExpression
            | Kind::CallExpression
            | Kind::IndexExpression
            | Kind::ParenthesizedExpression => self.first_child(node),
            Kind::InfixExpression => self.first_child(node),
            Kind::UnaryExpression => self.child(node, Field::Argument),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::NavigationExpression => match self.last_child(node) {
                Some(name) if self.is(name, "class") => Expr::Unknown,
                Some(name) if self.kind(name) == Kind::Identifier => {
                    Expr::Member { of, name: self.name(name) }
                }
                _ => Expr::Unknown,
            },
            Kind::CallExpression => match self.b.facts.expr(of) {
                // `f(x) { ... }`: the lambda is one more argument of the same call.
                Expr::Call { .. } if self.is_trailing(node) => {
                    self.b.remember(node, of);
                    return of;
                }
                _ => Expr::Call { callee: of },
            },
            Kind::InfixExpression => match self.children(node).nth(1) {
                Some(name) => {
                    let name = self.name(name);
                    let callee = self.b.expr(Expr::Member { of, name });
                    Expr::Call { callee }
                }
                None => Expr::Unknown,
            },
            Kind::IndexExpression => Expr::Index { of },
            Kind::UnaryExpression if self.b.bytes(node).starts_with(b"!") => Expr::Literal(Literal::Bool),
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// Whether a call is another call with a lambda after it.
    pub(super) fn is_trailing(&self, node: Node) -> bool {
        let mut parts = self.children(node);
        let inner = parts.next();
        let is_call = inner.is_some_and(|it| {
            self.kind(it) == Kind::CallExpression
                && self.child_of_kind(it, Kind::ValueArguments).is_some()
                && self.child_of_kind(it, Kind::AnnotatedLambda).is_none()
        });
        is_call && parts.all(|it| self.kind(it) == Kind::AnnotatedLambda)
    }

    fn leaf(&mut self, node: Node, depth: usize) -> ExprId {
        let at = self.b.tree.start(node);
        let expr = match self.kind(node) {
            Kind::Identifier => match self.b.bytes(node) {
                b"null" => Expr::Literal(Literal::None),
                b"true" | b"false" => Expr::Literal(Literal::Bool),
                _ => Expr::Name { name: self.name(node), at },
            },
            Kind::ThisExpression => match self.child_of_kind(node, Kind::Identifier) {
                // `this@Outer`.
                Some(label) => {
                    self.b.consume(label);
                    let of = self.name(label);
                    let of = self.b.expr(Expr::Name { name: of, at });
                    Expr::Member { of, name: self.b.intern("this") }
                }
                None => Expr::Name { name: self.b.intern("this"), at },
            },
            Kind::SuperExpression => Expr::Super { at },
            Kind::StringLiteral | Kind::MultilineString => Expr::Literal(Literal::String),
            Kind::CharacterLiteral => Expr::Literal(Literal::Character),
            Kind::IsExpression => Expr::Literal(Literal::Bool),
            Kind::NumberLiteral => match self.b.bytes(node).last() {
                Some(b'L') => self.instance("Long", at),
                _ => Expr::Literal(Literal::Integer),
            },
            Kind::FloatLiteral => match self.b.bytes(node).last() {
                Some(b'f' | b'F') => self.instance("Float", at),
                _ => Expr::Literal(Literal::Float),
            },
            Kind::AsExpression => match self.child(node, Field::Right) {
                Some(type_) => Expr::Instance(self.written_type(type_)),
                None => Expr::Unknown,
            },
            Kind::ObjectLiteral => {
                let base = self
                    .b
                    .tree
                    .subtree(node)
                    .find(|it| matches!(self.kind(*it), Kind::UserType | Kind::ClassBody));
                match base.filter(|it| self.kind(*it) == Kind::UserType) {
                    Some(base) => Expr::Instance(self.written_type(base)),
                    None => Expr::Unknown,
                }
            }
            Kind::LambdaLiteral => return self.lambda_expr(node, depth),
            Kind::CallableReference => match self.last_child(node) {
                Some(name) if self.kind(name) == Kind::Identifier => {
                    let text = self.name(name);
                    match self.type_child(node) {
                        Some(type_) => {
                            let type_ = self.written_type(type_);
                            let of = self.b.expr(Expr::TypePath(type_));
                            Expr::Member { of, name: text }
                        }
                        None => Expr::Name { name: text, at: self.b.tree.start(name) },
                    }
                }
                _ => Expr::Unknown,
            },
            Kind::BinaryExpression => return self.operation(node, depth),
            Kind::IfExpression => {
                let branches: Vec<Node> =
                    self.children(node).filter(|it| self.field(*it) != Field::Condition).collect();
                return self.branches(node, branches, depth);
            }
            Kind::WhenExpression => {
                let entries = self.children(node).filter(|it| self.kind(*it) == Kind::WhenEntry);
                let branches: Vec<Node> = entries.filter_map(|it| self.last_child(it)).collect();
                return self.branches(node, branches, depth);
            }
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    fn instance(&mut self, name: &'static str, at: u32) -> Expr {
        let name = self.b.intern(name);
        Expr::Instance(self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at }))
    }

    fn operation(&mut self, node: Node, depth: usize) -> ExprId {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        match self.between(left, right) {
            b"==" | b"!=" | b"===" | b"!==" | b"<" | b">" | b"<=" | b">=" | b"&&" | b"||" => {
                self.b.expr_of(node, Expr::Literal(Literal::Bool))
            }
            b"?:" => {
                let one = self.expr_at(left, depth + 1);
                if matches!(self.kind(right), Kind::ReturnExpression | Kind::ThrowExpression) {
                    self.b.remember(node, one);
                    return one;
                }
                let other = self.expr_at(right, depth + 1);
                self.b.expr_of(node, Expr::Either { one, other })
            }
            _ if matches!(self.kind(left), Kind::StringLiteral | Kind::MultilineString) => {
                self.b.expr_of(node, Expr::Literal(Literal::String))
            }
            _ => self.b.expr_of(node, Expr::Unknown),
        }
    }

    /// One of several values; the last expression of a block is its value.
    fn branches(&mut self, node: Node, branches: Vec<Node>, depth: usize) -> ExprId {
        let mut value = None;
        for branch in branches.into_iter().take(8) {
            let last = match self.kind(branch) {
                Kind::Block => self.last_child(branch),
                _ => Some(branch),
            };
            let Some(last) = last else { continue };
            if matches!(self.kind(last), Kind::ReturnExpression | Kind::ThrowExpression) {
                continue;
            }
            let other = self.expr_at(last, depth + 1);
            value = Some(match value {
                Some(one) => self.b.expr(Expr::Either { one, other }),
                None => other,
            });
        }
        let value = value.unwrap_or_else(|| self.b.expr(Expr::Unknown));
        self.b.remember(node, value);
        value
    }

    fn lambda_expr(&mut self, node: Node, depth: usize) -> ExprId {
        let parameters = self.child_of_kind(node, Kind::LambdaParameters);
        let n_parameters =
            parameters.map_or(ANY_NUMBER, |it| u8::try_from(self.children(it).count()).unwrap_or(ANY_NUMBER));
        let last = self.last_child(node).filter(|it| Some(*it) != parameters);
        let result = last.map(|it| self.expr_at(it, depth + 1));
        self.b.expr_of(node, Expr::Lambda { n_parameters, result })
    }
}
