//! Syntax to `Expr`. Chains are followed in a loop; what remains is bounded.

use knowing_model::facts::{DeclId, Expr, ExprId, Literal, ReferenceRole, TypeId};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// How many arms of a `match` are looked at to tell its value.
const MAX_ARMS: usize = 4;

impl Reader<'_, '_> {
    /// One expression per node, however often it is asked for.
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
            expr = self.around(outer, expr);
        }
        expr
    }

    /// What a link of a chain is taken from.
    fn inner_of(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::MemberAccess | Kind::NullsafeAccess | Kind::MemberCall | Kind::NullsafeCall => {
                self.child(node, Field::Object)
            }
            Kind::Assignment => self.child(node, Field::Right),
            Kind::Subscript | Kind::Parenthesized | Kind::CloneExpression | Kind::ErrorSuppression => {
                self.first_child(node)
            }
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::MemberAccess | Kind::NullsafeAccess => self.member_of(node, of),
            Kind::MemberCall | Kind::NullsafeCall => {
                let member = self.member_of(node, of);
                let callee = self.b.expr(member);
                // The call's callee is asked for again by who notes the call.
                if let Some(arguments) = self.child(node, Field::Arguments) {
                    self.b.remember(arguments, callee);
                }
                Expr::Call { callee }
            }
            Kind::Subscript => Expr::Index { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    fn member_of(&mut self, node: Node, of: ExprId) -> Expr {
        match self.child(node, Field::Name) {
            Some(name) if self.kind(name) == Kind::Name => Expr::Member { of, name: self.b.name(name) },
            _ => Expr::Unknown,
        }
    }

    fn leaf(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let expr = match self.kind(node) {
            Kind::VariableName => Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) },
            Kind::Name | Kind::QualifiedName | Kind::RelativeName => return self.constant(node),
            Kind::FunctionCall => {
                let Some(function) = self.child(node, Field::Function) else {
                    return self.b.expr_of(node, Expr::Unknown);
                };
                let callee = self.expr_at(function, decl, depth + 1);
                Expr::Call { callee }
            }
            Kind::ScopedCall => {
                let callee = self.scoped_callee(node, decl);
                Expr::Call { callee }
            }
            Kind::ScopedProperty | Kind::ClassConstant => return self.class_member_expr(node, decl),
            Kind::ObjectCreation => match self.created_type(node, decl) {
                Some((type_, _)) => Expr::Instance(type_),
                None => Expr::Unknown,
            },
            Kind::String | Kind::Encapsed | Kind::Heredoc | Kind::Nowdoc => Expr::Literal(Literal::String),
            Kind::Integer => Expr::Literal(Literal::Integer),
            Kind::Float => Expr::Literal(Literal::Float),
            Kind::Boolean => Expr::Literal(Literal::Bool),
            Kind::Null => Expr::Literal(Literal::None),
            Kind::ArrayCreation => Expr::Literal(Literal::List),
            Kind::AnonymousFunction | Kind::ArrowFunction => Expr::Literal(Literal::Function),
            Kind::BinaryExpression if self.between(node) == b"??" => {
                let sides = [self.child(node, Field::Left), self.child(node, Field::Right)];
                return self.one_of(node, sides.into_iter().flatten().collect(), decl, depth);
            }
            Kind::Conditional => {
                let body = self.child(node, Field::Body).or_else(|| self.child(node, Field::Condition));
                let branches = [body, self.child(node, Field::Alternative)];
                return self.one_of(node, branches.into_iter().flatten().collect(), decl, depth);
            }
            Kind::MatchExpression => {
                let arms: Vec<Node> = self
                    .child(node, Field::Body)
                    .into_iter()
                    .flat_map(|it| self.children(it))
                    .filter_map(|it| self.child(it, Field::ReturnExpression))
                    .take(MAX_ARMS)
                    .collect();
                return self.one_of(node, arms, decl, depth);
            }
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    /// A bare name, with its whole path: a constant, or a function where it is called.
    fn constant(&mut self, node: Node) -> ExprId {
        let text: String = self.b.text(node).chars().filter(|it| !it.is_whitespace()).collect();
        let name = self.b.intern_name(text.into());
        self.b.expr_of(node, Expr::Name { name, at: self.b.tree.start(node) })
    }

    /// The class of `new T(...)`, and where its name stands; none for a computed one.
    pub(super) fn created_type(&mut self, node: Node, decl: Option<DeclId>) -> Option<(TypeId, Node)> {
        let name = self.children(node).find(|it| {
            matches!(
                self.kind(*it),
                Kind::Name | Kind::QualifiedName | Kind::RelativeName | Kind::RelativeScope
            )
        })?;
        let type_ = self.read_type(name, decl, Some(ReferenceRole::Type));
        Some((type_, name))
    }

    /// The left side of `::`.
    pub(super) fn scope(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        if let Some(known) = self.b.memo(node) {
            return known;
        }
        let expr = match self.kind(node) {
            Kind::Name | Kind::QualifiedName | Kind::RelativeName | Kind::RelativeScope => {
                if self.is(node, "parent") {
                    Expr::Super { at: self.b.tree.start(node) }
                } else {
                    Expr::TypePath(self.read_type(node, decl, Some(ReferenceRole::Type)))
                }
            }
            _ => return self.expr(node, decl),
        };
        self.b.expr_of(node, expr)
    }

    pub(super) fn scoped_callee(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        if let Some(arguments) = self.child(node, Field::Arguments)
            && let Some(known) = self.b.memo(arguments)
        {
            return known;
        }
        let of = match self.child(node, Field::Scope) {
            Some(scope) => self.scope(scope, decl),
            None => self.b.expr(Expr::Unknown),
        };
        let expr = match self.child(node, Field::Name) {
            Some(name) if self.kind(name) == Kind::Name => Expr::Member { of, name: self.b.name(name) },
            _ => Expr::Unknown,
        };
        let callee = self.b.expr(expr);
        if let Some(arguments) = self.child(node, Field::Arguments) {
            self.b.remember(arguments, callee);
        }
        callee
    }

    /// `A::$x`, `A::B`, `A::class`.
    pub(super) fn class_member_expr(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        if let Some(known) = self.b.memo(node) {
            return known;
        }
        let mut parts = self.children(node);
        let (Some(scope), Some(name)) = (parts.next(), parts.next()) else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        let of = self.scope(scope, decl);
        let name = self.variable_text(name);
        self.b.expr_of(node, Expr::Member { of, name })
    }

    fn one_of(&mut self, node: Node, branches: Vec<Node>, decl: Option<DeclId>, depth: usize) -> ExprId {
        let mut whole: Option<ExprId> = None;
        for branch in branches {
            if self.kind(branch) == Kind::Throw {
                continue;
            }
            let other = self.expr_at(branch, decl, depth + 1);
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
}
