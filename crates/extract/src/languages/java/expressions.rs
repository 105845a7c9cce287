//! Syntax to `Expr`. Chains of members and calls are followed in a loop, because they are as long as somebody made
//! them; what remains is bounded.

use knowing_model::facts::{Expr, ExprId, Literal, Type};

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
            Kind::FieldAccess | Kind::MethodInvocation => self.child(node, Field::Object),
            Kind::ArrayAccess => self.child(node, Field::Array),
            Kind::AssignmentExpression => self.child(node, Field::Right),
            Kind::ParenthesizedExpression => self.first_child(node),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::FieldAccess => match self.child(node, Field::Accessed) {
                Some(name) => Expr::Member { of: self.qualified(node, of), name: self.b.name(name) },
                None => Expr::Unknown,
            },
            Kind::MethodInvocation => match self.child(node, Field::Name) {
                Some(name) => {
                    let of = self.qualified(node, of);
                    let callee = Expr::Member { of, name: self.b.name(name) };
                    Expr::Call { callee: self.b.expr(callee) }
                }
                None => Expr::Unknown,
            },
            Kind::ArrayAccess => Expr::Index { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// `Outer.super.f()`: what stands before the name is `Outer.super`. What an anonymous class has is known to nobody.
    fn qualified(&mut self, node: Node, of: ExprId) -> ExprId {
        if let Some(object) = self.child(node, Field::Object)
            && self.kind(object) == Kind::ObjectCreation
            && self.child_of_kind(object, Kind::ClassBody).is_some()
        {
            return self.b.expr(Expr::Unknown);
        }
        let has_super =
            self.children(node).any(|it| self.kind(it) == Kind::Super && self.field(it) != Field::Object);
        if !has_super {
            return of;
        }
        let name = self.b.intern("super");
        self.b.expr(Expr::Member { of, name })
    }

    fn leaf(&mut self, node: Node, depth: usize) -> ExprId {
        let at = self.b.tree.start(node);
        let expr = match self.kind(node) {
            Kind::Identifier | Kind::This => Expr::Name { name: self.b.name(node), at },
            Kind::Super => Expr::Super { at },
            // Without an object: a method of this type or one around it.
            Kind::MethodInvocation => match self.child(node, Field::Name) {
                Some(name) => {
                    let callee = Expr::Name { name: self.b.name(name), at: self.b.tree.start(name) };
                    Expr::Call { callee: self.b.expr(callee) }
                }
                None => Expr::Unknown,
            },
            Kind::StringLiteral => Expr::Literal(Literal::String),
            Kind::CharacterLiteral => Expr::Literal(Literal::Character),
            Kind::True | Kind::False | Kind::InstanceofExpression => Expr::Literal(Literal::Bool),
            Kind::NullLiteral => Expr::Literal(Literal::None),
            Kind::DecimalInteger | Kind::HexInteger | Kind::OctalInteger | Kind::BinaryInteger => {
                match self.b.bytes(node).last() {
                    Some(b'l' | b'L') => self.primitive("long", at),
                    _ => Expr::Literal(Literal::Integer),
                }
            }
            Kind::DecimalFloat | Kind::HexFloat => match self.b.bytes(node).last() {
                Some(b'f' | b'F') => self.primitive("float", at),
                _ => Expr::Literal(Literal::Float),
            },
            Kind::ObjectCreation | Kind::CastExpression => match self.child(node, Field::Type) {
                Some(type_) => {
                    let type_ = self.written_or_known(type_);
                    Expr::Instance(type_)
                }
                None => Expr::Unknown,
            },
            Kind::ArrayCreation => self.new_array(node),
            Kind::ClassLiteral => self.class_literal(node),
            Kind::LambdaExpression => return self.lambda_expr(node, depth),
            Kind::MethodReference => return self.method_reference_expr(node, depth),
            Kind::TernaryExpression => {
                let one = self.child(node, Field::Consequence);
                let other = self.child(node, Field::Alternative);
                return self.either(node, one, other, depth);
            }
            Kind::BinaryExpression => return self.operation(node, depth),
            Kind::UnaryExpression => match self.child(node, Field::Operand) {
                Some(operand) if !self.b.bytes(node).starts_with(b"!") => {
                    let of = self.expr_at(operand, depth + 1);
                    self.b.remember(node, of);
                    return of;
                }
                _ => Expr::Literal(Literal::Bool),
            },
            Kind::UpdateExpression => match self.first_child(node) {
                Some(operand) => {
                    let of = self.expr_at(operand, depth + 1);
                    self.b.remember(node, of);
                    return of;
                }
                None => Expr::Unknown,
            },
            Kind::SwitchExpression => return self.switch_value(node, depth),
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    /// The type is named where the walk meets it.
    fn written_or_known(&mut self, node: Node) -> knowing_model::facts::TypeId {
        let was_consumed = self.b.is_consumed(node);
        let type_ = self.written_type(node);
        if !was_consumed {
            self.unread.insert(node);
        }
        type_
    }

    fn primitive(&mut self, name: &'static str, at: u32) -> Expr {
        let name = self.b.intern(name);
        Expr::Instance(self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at }))
    }

    fn new_array(&mut self, node: Node) -> Expr {
        let Some(type_node) = self.child(node, Field::Type) else { return Expr::Unknown };
        let mut type_ = self.written_or_known(type_node);
        let n: usize = self
            .children(node)
            .filter(|it| matches!(self.kind(*it), Kind::Dimensions | Kind::DimensionsExpr))
            .map(|it| self.b.bytes(it).iter().filter(|it| **it == b'[').count())
            .sum();
        for _ in 0..n.clamp(1, 8) {
            type_ = self.b.type_(Type::Sequence(type_));
        }
        Expr::Instance(type_)
    }

    /// `T.class` is a `Class<T>`.
    fn class_literal(&mut self, node: Node) -> Expr {
        let Some(inner) = self.first_child(node) else { return Expr::Unknown };
        let of = self.written_or_known(inner);
        let name = self.b.intern("Class");
        let at = self.b.tree.start(node);
        Expr::Instance(self.b.type_(Type::Named { segments: vec![name], arguments: vec![of], at }))
    }

    fn either(&mut self, node: Node, one: Option<Node>, other: Option<Node>, depth: usize) -> ExprId {
        let (Some(one), Some(other)) = (one, other) else { return self.b.expr_of(node, Expr::Unknown) };
        let one = self.expr_at(one, depth + 1);
        let other = self.expr_at(other, depth + 1);
        self.b.expr_of(node, Expr::Either { one, other })
    }

    /// Texts stay texts when something is added; comparisons are true or false; numbers are as wide as the wider.
    fn operation(&mut self, node: Node, depth: usize) -> ExprId {
        let mut operands = Vec::new();
        let mut at = node;
        let mut is_test = false;
        while self.kind(at) == Kind::BinaryExpression
            && let (Some(left), Some(right)) = (self.child(at, Field::Left), self.child(at, Field::Right))
        {
            let between = knowing_model::Range { from: self.b.tree.end(left), to: self.b.tree.start(right) };
            if at == node {
                let operator = self.b.source.bytes(between).trim_ascii();
                is_test = matches!(operator, b"==" | b"!=" | b"<" | b">" | b"<=" | b">=" | b"&&" | b"||");
            }
            operands.push(right);
            at = left;
        }
        operands.push(at);
        if is_test {
            return self.b.expr_of(node, Expr::Literal(Literal::Bool));
        }
        if operands.iter().any(|it| self.kind(*it) == Kind::StringLiteral) {
            return self.b.expr_of(node, Expr::Literal(Literal::String));
        }
        // More than a handful of numbers is not worth following.
        if operands.len() > 4 {
            return self.b.expr_of(node, Expr::Unknown);
        }
        let mut value = None;
        for operand in operands {
            let operand = self.expr_at(operand, depth + 1);
            value = Some(match value {
                Some(other) => self.b.expr(Expr::Either { one: operand, other }),
                None => operand,
            });
        }
        let value = value.unwrap_or_else(|| self.b.expr(Expr::Unknown));
        self.b.remember(node, value);
        value
    }

    /// The value of a `switch` with an expression behind each arrow.
    fn switch_value(&mut self, node: Node, depth: usize) -> ExprId {
        let Some(body) = self.child(node, Field::Body) else { return self.b.expr_of(node, Expr::Unknown) };
        let rules: Vec<Node> = self.children(body).collect();
        let mut value = None;
        for rule in rules.into_iter().take(8) {
            let result = self
                .child_of_kind(rule, Kind::ExpressionStatement)
                .filter(|_| self.kind(rule) == Kind::SwitchRule)
                .and_then(|it| self.first_child(it));
            let Some(result) = result else { continue };
            let result = self.expr_at(result, depth + 1);
            value = Some(match value {
                Some(one) => self.b.expr(Expr::Either { one, other: result }),
                None => result,
            });
        }
        let value = value.unwrap_or_else(|| self.b.expr(Expr::Unknown));
        self.b.remember(node, value);
        value
    }

    fn lambda_expr(&mut self, node: Node, depth: usize) -> ExprId {
        let body = self.child(node, Field::Body);
        let result = match body {
            Some(block) if self.kind(block) == Kind::Block => self.first_return(block),
            other => other,
        };
        let n_parameters = match self.child(node, Field::Parameters) {
            Some(list) if self.kind(list) == Kind::Identifier => 1,
            Some(list) => u8::try_from(self.children(list).count()).unwrap_or(u8::MAX),
            None => 0,
        };
        let result = result.map(|it| self.expr_at(it, depth + 1));
        self.b.expr_of(node, Expr::Lambda { n_parameters, result })
    }

    /// What the first `return` of a block gives that is of the block itself.
    fn first_return(&self, block: Node) -> Option<Node> {
        let mut next = block;
        while next < self.b.tree.after(block) {
            match self.kind(next) {
                Kind::ReturnStatement => return self.first_child(next),
                Kind::LambdaExpression | Kind::ClassBody | Kind::ClassDeclaration => {
                    next = self.b.tree.after(next);
                    continue;
                }
                _ => {}
            }
            next = Node(next.0 + 1);
        }
        None
    }

    /// `this::f`, `Type::f`, `Type::new`.
    fn method_reference_expr(&mut self, node: Node, depth: usize) -> ExprId {
        let Some(object) = self.first_child(node) else { return self.b.expr_of(node, Expr::Unknown) };
        let name = match self.referred_name(node) {
            Some(name) => self.b.name(name),
            None => self.b.intern("<init>"),
        };
        let of = if self.is_type(object) {
            let type_ = self.written_or_known(object);
            self.b.expr(Expr::TypePath(type_))
        } else {
            self.expr_at(object, depth + 1)
        };
        let is_type = self.kind(object) == Kind::Identifier
            && self.b.bytes(object).first().is_some_and(u8::is_ascii_uppercase);
        let expr = if is_type { Expr::Scoped { of, name } } else { Expr::Member { of, name } };
        self.b.expr_of(node, expr)
    }

    /// The identifier after `::`; none for `new`.
    pub(super) fn referred_name(&self, node: Node) -> Option<Node> {
        self.children(node).skip(1).filter(|it| self.kind(*it) == Kind::Identifier).last()
    }
}
