//! Syntax to `Expr`. Chains of members, calls and indices are followed in a loop, because they are as long as somebody
//! made them; what remains is bounded. Parentheses, `!` and `ref` are looked through.

use knowing_model::facts::{DeclId, Expr, ExprId, Literal, ReferenceRole, Str, Type, TypeId};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use super::written::Naming;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// How many arms of a `switch` are looked at to tell its value.
const MAX_ARMS: usize = 4;

impl Reader<'_, '_> {
    /// One expression per node, however often it is asked for; `decl` is who names the types in it.
    pub(super) fn expr(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        self.expr_at(node, decl, 0)
    }

    fn expr_at(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
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
                None => break self.leaf(inner, decl, depth),
            }
        };
        while self.spine.len() > base
            && let Some(outer) = self.spine.pop()
        {
            expr = self.around(outer, expr, decl);
        }
        expr
    }

    /// What a link of a chain is taken from.
    fn inner_of(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::MemberAccess | Kind::ElementAccess => {
                self.child(node, Field::Expression).or_else(|| self.first_child(node))
            }
            Kind::ConditionalAccess => self.child(node, Field::Condition),
            Kind::Invocation => self.child(node, Field::Function),
            Kind::Assignment => self.child(node, Field::Right),
            Kind::AwaitExpression
            | Kind::ParenthesizedExpression
            | Kind::PostfixUnary
            | Kind::RefExpression
            | Kind::CheckedExpression
            | Kind::WithExpression => self.first_child(node),
            Kind::PrefixUnary if !self.b.bytes(node).starts_with(b"!") => self.first_child(node),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId, decl: Option<DeclId>) -> ExprId {
        let expr = match self.kind(node) {
            Kind::MemberAccess => match self.child(node, Field::Name) {
                Some(name) => return self.member_of(node, of, name, decl),
                None => Expr::Unknown,
            },
            Kind::ConditionalAccess => match self.binding_of(node) {
                Some(binding) if self.kind(binding) == Kind::MemberBinding => {
                    match self.child(binding, Field::Name) {
                        Some(name) => return self.member_of(node, of, name, decl),
                        None => Expr::Unknown,
                    }
                }
                _ => Expr::Index { of },
            },
            Kind::Invocation => Expr::Call { callee: of },
            Kind::ElementAccess => Expr::Index { of },
            Kind::AwaitExpression => Expr::Await { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// `.Name` of `x?.Name`.
    pub(super) fn binding_of(&self, node: Node) -> Option<Node> {
        let kinds = [Kind::MemberBinding, Kind::ElementBinding];
        self.children(node).find(|it| kinds.contains(&self.kind(*it)))
    }

    fn member_of(&mut self, node: Node, of: ExprId, name: Node, decl: Option<DeclId>) -> ExprId {
        let (identifier, list) = self.simple_name(name);
        self.b.consume(name);
        let text = self.b.name(identifier);
        let member = self.b.expr(Expr::Member { of, name: text });
        let whole = self.with_arguments(member, list, decl);
        self.b.remember(node, whole);
        whole
    }

    fn with_arguments(&mut self, of: ExprId, list: Option<Node>, decl: Option<DeclId>) -> ExprId {
        let Some(list) = list else { return of };
        let types = self.type_arguments(list, Naming::new(decl, ReferenceRole::Type), 0);
        let arguments = self.b.type_(Type::Tuple(types));
        self.b.expr(Expr::Generic { of, arguments })
    }

    fn leaf(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let naming = Naming::new(decl, ReferenceRole::Type);
        let expr = match self.kind(node) {
            Kind::Identifier | Kind::This => {
                Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) }
            }
            Kind::Base => Expr::Super { at: self.b.tree.start(node) },
            Kind::AliasQualifiedName => match self.child(node, Field::Name) {
                Some(name) => Expr::Name { name: self.b.name(name), at: self.b.tree.start(name) },
                None => Expr::Unknown,
            },
            Kind::GenericName => return self.generic_expr(node, decl),
            Kind::PredefinedType | Kind::QualifiedName => Expr::TypePath(self.read_type(node, naming)),
            Kind::StringLiteral
            | Kind::VerbatimStringLiteral
            | Kind::RawStringLiteral
            | Kind::InterpolatedString => Expr::Literal(Literal::String),
            Kind::CharacterLiteral => Expr::Literal(Literal::Character),
            Kind::BooleanLiteral | Kind::PrefixUnary | Kind::IsExpression | Kind::IsPattern => {
                Expr::Literal(Literal::Bool)
            }
            Kind::IntegerLiteral => Expr::Literal(Literal::Integer),
            Kind::RealLiteral => Expr::Literal(Literal::Float),
            Kind::NullLiteral => Expr::Literal(Literal::None),
            Kind::TupleExpression => Expr::Literal(Literal::Tuple),
            Kind::Lambda | Kind::AnonymousMethod => {
                let body = self.child(node, Field::Body).filter(|it| self.kind(*it) != Kind::Block);
                let result = body.map(|it| self.expr_at(it, decl, depth + 1));
                Expr::Lambda { n_parameters: self.n_parameters(node), result }
            }
            Kind::CastExpression | Kind::ObjectCreation | Kind::DefaultExpression | Kind::ArrayCreation => {
                match self.child(node, Field::Type) {
                    Some(type_) => Expr::Instance(self.read_type(type_, naming)),
                    None => Expr::Unknown,
                }
            }
            Kind::AsExpression => match self.child(node, Field::Right) {
                Some(type_) => Expr::Instance(self.read_type(type_, naming)),
                None => Expr::Unknown,
            },
            Kind::ImplicitObject => match self.target_type(node, decl) {
                Some(type_) => Expr::Instance(type_),
                None => Expr::Unknown,
            },
            Kind::ImplicitArray => {
                let first = self.child_of_kind(node, Kind::Initializer).and_then(|it| self.first_child(it));
                match first {
                    Some(first) => return self.array_of(node, first, decl, depth),
                    None => Expr::Literal(Literal::List),
                }
            }
            Kind::TypeofExpression => {
                let segments = vec![self.b.intern("Type")];
                let at = self.b.tree.start(node);
                Expr::Instance(self.b.type_(Type::Named { segments, arguments: Vec::new(), at }))
            }
            Kind::BinaryExpression => return self.binary(node, decl, depth),
            Kind::ConditionalExpression => {
                let branches = [self.child(node, Field::Consequence), self.child(node, Field::Alternative)];
                let branches: Vec<Node> = branches.into_iter().flatten().collect();
                return self.one_of(node, &branches, decl, depth);
            }
            Kind::SwitchExpression => {
                let arms = self.children(node).filter(|it| self.kind(*it) == Kind::SwitchArm);
                let values: Vec<Node> = arms.filter_map(|it| self.last_child(it)).take(MAX_ARMS).collect();
                return self.one_of(node, &values, decl, depth);
            }
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    fn n_parameters(&self, lambda: Node) -> u8 {
        match self.child(lambda, Field::Parameters) {
            Some(list) if self.kind(list) == Kind::ImplicitParameter => 1,
            Some(list) => {
                let n = self.children(list).filter(|it| self.kind(*it) == Kind::Parameter).count();
                u8::try_from(n).unwrap_or(u8::MAX)
            }
            None => 0,
        }
    }

    /// `Name<X>`: a type where a member of it follows, else something generic.
    fn generic_expr(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        if self.field(node) == Field::Expression {
            let type_ = self.read_type(node, Naming::new(decl, ReferenceRole::Type));
            return self.b.expr_of(node, Expr::TypePath(type_));
        }
        let (identifier, list) = self.simple_name(node);
        self.b.consume(node);
        let name = self.b.name(identifier);
        let of = self.b.expr(Expr::Name { name, at: self.b.tree.start(identifier) });
        let whole = self.with_arguments(of, list, decl);
        self.b.remember(node, whole);
        whole
    }

    /// `new[] { first, ... }`: as if the first were handed to a list.
    fn array_of(&mut self, node: Node, first: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        match self.kind(first) {
            Kind::ObjectCreation => {
                let type_ = self.child(first, Field::Type);
                let of = match type_ {
                    Some(type_) => self.read_type(type_, Naming::new(decl, ReferenceRole::Type)),
                    None => self.b.type_(Type::Unknown),
                };
                let type_ = self.b.type_(Type::Sequence(of));
                self.b.expr_of(node, Expr::Instance(type_))
            }
            _ => {
                self.expr_at(first, decl, depth + 1);
                self.b.expr_of(node, Expr::Literal(Literal::List))
            }
        }
    }

    fn binary(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let operator = self.between(node);
        let literal = match operator {
            b"??" => {
                let sides = [self.child(node, Field::Left), self.child(node, Field::Right)];
                let sides: Vec<Node> = sides.into_iter().flatten().collect();
                return self.one_of(node, &sides, decl, depth);
            }
            b"==" | b"!=" | b"<" | b"<=" | b">" | b">=" | b"&&" | b"||" => Literal::Bool,
            b"+" if self.has_text(node) => Literal::String,
            _ => return self.b.expr_of(node, Expr::Unknown),
        };
        self.b.expr_of(node, Expr::Literal(literal))
    }

    /// Whether a sum begins or ends with a text.
    fn has_text(&self, node: Node) -> bool {
        let is_text = |it: Node| {
            let kinds = [Kind::StringLiteral, Kind::InterpolatedString, Kind::VerbatimStringLiteral];
            kinds.contains(&self.kind(it))
        };
        let mut node = node;
        while self.kind(node) == Kind::BinaryExpression {
            if self.child(node, Field::Right).is_some_and(is_text) {
                return true;
            }
            match self.child(node, Field::Left) {
                Some(left) => node = left,
                None => return false,
            }
        }
        is_text(node)
    }

    /// One of several branches; those that throw are none.
    fn one_of(&mut self, node: Node, branches: &[Node], decl: Option<DeclId>, depth: usize) -> ExprId {
        let mut whole: Option<ExprId> = None;
        for branch in branches {
            if self.kind(*branch) == Kind::ThrowExpression {
                continue;
            }
            let other = self.expr_at(*branch, decl, depth + 1);
            whole = Some(match whole {
                Some(one) => self.b.expr(Expr::Either { one, other }),
                None => other,
            });
        }
        match whole {
            Some(whole) => {
                self.b.remember(node, whole);
                whole
            }
            None => self.b.expr_of(node, Expr::Unknown),
        }
    }

    /// The type that `new(...)` makes, where what it is for is written down.
    pub(super) fn target_type(&mut self, node: Node, decl: Option<DeclId>) -> Option<TypeId> {
        let naming = Naming::new(decl, ReferenceRole::Type);
        let parent = self.parent(node)?;
        match self.kind(parent) {
            Kind::VariableDeclarator => {
                let variables = self.parent(parent)?;
                let type_ = self.child(variables, Field::Type)?;
                (self.kind(type_) != Kind::ImplicitType).then(|| self.read_type(type_, naming))
            }
            Kind::PropertyDeclaration => {
                let type_ = self.child(parent, Field::Type)?;
                Some(self.read_type(type_, naming))
            }
            Kind::ArrowClause | Kind::ReturnStatement => self.b.facts.decl(decl?).type_,
            Kind::CastExpression => {
                let type_ = self.child(parent, Field::Type)?;
                Some(self.read_type(type_, naming))
            }
            _ => None,
        }
    }

    /// The name that a written type ends with.
    pub(super) fn type_name(&mut self, type_: Node) -> Str {
        let last = self.last_name(type_);
        self.b.name(last)
    }
}
