//! Syntax to `Expr`. Chains of members, calls and subscripts are followed in a loop, because they are as long as
//! somebody made them; what remains is bounded.

use knowing_model::facts::{Expr, ExprId, Literal};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

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
            Kind::Attribute => self.child(node, Field::Object),
            Kind::Call => self.child(node, Field::Function),
            Kind::Subscript | Kind::NamedExpression => self.child(node, Field::Value),
            Kind::Await | Kind::ParenthesizedExpression => self.first_child(node),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::Attribute => match self.child(node, Field::Attribute) {
                Some(name) => Expr::Member { of, name: self.b.name(name) },
                None => Expr::Unknown,
            },
            Kind::Call => self.called(node, of),
            Kind::Subscript if self.is_slice(node) => {
                self.b.remember(node, of);
                return of;
            }
            Kind::Subscript => Expr::Index { of },
            Kind::Await => Expr::Await { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// A part of a sequence is a sequence of the same kind.
    fn is_slice(&self, node: Node) -> bool {
        self.child(node, Field::Subscript).is_some_and(|it| self.kind(it) == Kind::Slice)
    }

    fn called(&mut self, node: Node, callee: ExprId) -> Expr {
        let Some(function) = self.child(node, Field::Function) else { return Expr::Unknown };
        if self.is_super(function) {
            return Expr::Super { at: self.b.tree.start(node) };
        }
        if let Some(type_) = self.cast_type(node, function) {
            return Expr::Instance(type_);
        }
        Expr::Call { callee }
    }

    pub(super) fn is_super(&self, function: Node) -> bool {
        self.kind(function) == Kind::Identifier && self.is(function, "super")
    }

    fn leaf(&mut self, node: Node, depth: usize) -> ExprId {
        let expr = match self.kind(node) {
            Kind::Identifier => Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) },
            Kind::String => Expr::Literal(self.string_literal(node)),
            Kind::ConcatenatedString => Expr::Literal(Literal::String),
            Kind::Integer => Expr::Literal(Literal::Integer),
            Kind::Float => Expr::Literal(Literal::Float),
            Kind::True | Kind::False | Kind::ComparisonOperator | Kind::NotOperator => {
                Expr::Literal(Literal::Bool)
            }
            Kind::None => Expr::Literal(Literal::None),
            Kind::List | Kind::ListComprehension => Expr::Literal(Literal::List),
            Kind::Tuple | Kind::ExpressionList | Kind::PatternList => Expr::Literal(Literal::Tuple),
            Kind::Dictionary | Kind::DictionaryComprehension => Expr::Literal(Literal::Dictionary),
            Kind::Set | Kind::SetComprehension => Expr::Literal(Literal::Set),
            Kind::GeneratorExpression => Expr::Literal(Literal::Generator),
            Kind::Lambda => Expr::Literal(Literal::Function),
            Kind::BinaryOperator => self.operation(node),
            Kind::UnaryOperator => match self.first_child(node).map(|it| self.kind(it)) {
                Some(Kind::Integer) => Expr::Literal(Literal::Integer),
                Some(Kind::Float) => Expr::Literal(Literal::Float),
                _ => Expr::Unknown,
            },
            Kind::BooleanOperator => return self.either(node, depth),
            Kind::ConditionalExpression => return self.conditional(node, depth),
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    fn string_literal(&self, node: Node) -> Literal {
        let prefix = self.b.bytes(node).iter().take_while(|it| it.is_ascii_alphabetic());
        let is_bytes = prefix.clone().any(|it| matches!(it, b'b' | b'B'));
        if is_bytes { Literal::Bytes } else { Literal::String }
    }

    /// Texts stay texts when they are formatted or joined; anything else depends on the operands.
    fn operation(&self, node: Node) -> Expr {
        match self.child(node, Field::Left).map(|it| self.kind(it)) {
            Some(Kind::String | Kind::ConcatenatedString) => Expr::Literal(Literal::String),
            _ => Expr::Unknown,
        }
    }

    /// `a or b` is one of both; `a and b` is used for what `b` gives.
    fn either(&mut self, node: Node, depth: usize) -> ExprId {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        if self.is_and(node) {
            let right = self.expr_at(right, depth + 1);
            self.b.remember(node, right);
            return right;
        }
        let one = self.expr_at(left, depth + 1);
        let other = self.expr_at(right, depth + 1);
        self.b.expr_of(node, Expr::Either { one, other })
    }

    /// `a if condition else b`: three children without fields.
    fn conditional(&mut self, node: Node, depth: usize) -> ExprId {
        let children: Vec<Node> = self.children(node).collect();
        let [one, _, other] = children[..] else { return self.b.expr_of(node, Expr::Unknown) };
        let one = self.expr_at(one, depth + 1);
        let other = self.expr_at(other, depth + 1);
        self.b.expr_of(node, Expr::Either { one, other })
    }

    pub(super) fn is_and(&self, node: Node) -> bool {
        self.children(node).any(|it| self.kind(it) == Kind::And)
    }
}
