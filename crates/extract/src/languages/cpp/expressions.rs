//! Syntax to `Expr`. Chains of members, calls and indices are followed in a loop, because they are as long as somebody
//! made them; what remains is bounded. Pointers, references and casts that keep the type are looked through.

use knowing_model::facts::{DeclId, Expr, ExprId, Literal, ReferenceRole, Type};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use super::types::Naming;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

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
            expr = self.around(outer, expr);
        }
        expr
    }

    /// What a link of a chain is taken from.
    fn inner_of(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::FieldExpression | Kind::SubscriptExpression | Kind::PointerExpression => {
                self.child(node, Field::Argument)
            }
            Kind::CallExpression => match self.child(node, Field::Function) {
                Some(function) if self.cast(function).is_some() || self.made(function).is_some() => None,
                Some(function) if self.is_handed_on(function) => self.only_argument(node),
                Some(function) if self.kind(function) == Kind::PrimitiveType => None,
                function => function,
            },
            Kind::TemplateFunction => self.child(node, Field::Name),
            Kind::ParenthesizedExpression => self.first_child(node),
            Kind::AssignmentExpression => self.child(node, Field::Left),
            Kind::CommaExpression => self.child(node, Field::Right),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::FieldExpression => match self.child(node, Field::Member) {
                Some(name) => {
                    let last = self.last_name(name);
                    Expr::Member { of, name: self.b.name(last) }
                }
                None => Expr::Unknown,
            },
            Kind::CallExpression
                if self.child(node, Field::Function).is_some_and(|it| !self.is_handed_on(it)) =>
            {
                Expr::Call { callee: of }
            }
            Kind::SubscriptExpression => Expr::Index { of },
            // `*p` is `p[0]`; `&x` is used as `x` is.
            Kind::PointerExpression if self.b.bytes(node).starts_with(b"*") => Expr::Index { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// The type of `static_cast<T>` and its like.
    pub(super) fn cast(&self, function: Node) -> Option<Node> {
        if self.kind(function) != Kind::TemplateFunction {
            return None;
        }
        let is_cast = self.child(function, Field::Name).is_some_and(|it| {
            matches!(self.b.bytes(it), b"static_cast" | b"dynamic_cast" | b"reinterpret_cast" | b"const_cast")
        });
        let list = self.child(function, Field::Arguments).filter(|_| is_cast)?;
        self.first_child(list)
    }

    /// The type of `std::make_unique<T>` and its like, with whether it is shared.
    pub(super) fn made(&self, function: Node) -> Option<(Node, bool)> {
        let named = match self.kind(function) {
            Kind::QualifiedIdentifier => {
                self.children(function).filter(|it| self.field(*it) == Field::Name).last()?
            }
            _ => function,
        };
        if self.kind(named) != Kind::TemplateFunction {
            return None;
        }
        let is_shared = match self.child(named, Field::Name).map(|it| self.b.bytes(it)) {
            Some(b"make_unique") => false,
            Some(b"make_shared") => true,
            _ => return None,
        };
        let list = self.child(named, Field::Arguments)?;
        Some((self.first_child(list).filter(|it| self.kind(*it) == Kind::TypeDescriptor)?, is_shared))
    }

    /// `std::move(x)` is `x`.
    fn is_handed_on(&self, function: Node) -> bool {
        let last = self.last_name(function);
        self.kind(function) == Kind::QualifiedIdentifier
            && self.b.bytes(function).starts_with(b"std::")
            && matches!(
                self.b.bytes(last),
                b"move" | b"forward" | b"ref" | b"cref" | b"as_const" | b"launder"
            )
    }

    fn only_argument(&self, call: Node) -> Option<Node> {
        let list = self.child(call, Field::Arguments)?;
        let mut arguments = self.children(list);
        let first = arguments.next()?;
        arguments.next().is_none().then_some(first)
    }

    fn leaf(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let naming = Naming::new(decl, ReferenceRole::Type);
        let expr = match self.kind(node) {
            Kind::Identifier
            | Kind::This
            | Kind::FieldIdentifier
            | Kind::TypeIdentifier
            | Kind::NamespaceIdentifier => {
                Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) }
            }
            Kind::QualifiedIdentifier | Kind::TemplateType => return self.path_expr(node, decl),
            // What looked like a parameter is a name, or a call without arguments.
            Kind::ParameterDeclaration => {
                let Some(named) = self.child(node, Field::Type) else {
                    return self.b.expr_of(node, Expr::Unknown);
                };
                let callee = self.path_expr(named, decl);
                match self.child(node, Field::Declarator) {
                    Some(_) => Expr::Call { callee },
                    None => return callee,
                }
            }
            Kind::StringLiteral | Kind::RawStringLiteral | Kind::ConcatenatedString => {
                Expr::Literal(Literal::String)
            }
            Kind::CharLiteral => Expr::Literal(Literal::Character),
            Kind::True | Kind::False => Expr::Literal(Literal::Bool),
            Kind::Null => Expr::Literal(Literal::None),
            Kind::NumberLiteral => {
                let is_float = !self.b.bytes(node).starts_with(b"0x") && self.b.bytes(node).contains(&b'.');
                Expr::Literal(if is_float { Literal::Float } else { Literal::Integer })
            }
            Kind::SizeofExpression => Expr::Literal(Literal::Integer),
            Kind::LambdaExpression => Expr::Literal(Literal::Function),
            Kind::NewExpression => match self.child(node, Field::Type) {
                Some(type_) => {
                    let type_ = self.read_type(type_, naming);
                    Expr::Instance(self.pointer(type_))
                }
                None => Expr::Unknown,
            },
            Kind::CastExpression | Kind::CompoundLiteralExpression => match self.child(node, Field::Type) {
                Some(type_) => Expr::Instance(self.read_type(type_, naming)),
                None => Expr::Unknown,
            },
            Kind::CallExpression => self.special_call(node, naming),
            Kind::BinaryExpression if self.is_comparison(node) => Expr::Literal(Literal::Bool),
            Kind::ConditionalExpression => return self.conditional(node, decl, depth),
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    /// `static_cast<T>(x)`, `std::make_unique<T>(x)`, `int(x)`.
    fn special_call(&mut self, node: Node, naming: Naming) -> Expr {
        let Some(function) = self.child(node, Field::Function) else { return Expr::Unknown };
        if let Some(type_) = self.cast(function) {
            return Expr::Instance(self.read_type(type_, naming));
        }
        if let Some((type_, is_shared)) = self.made(function) {
            let argument = self.read_type(type_, naming);
            let pointer = if is_shared { "shared_ptr" } else { "unique_ptr" };
            let segments = vec![self.b.intern("std"), self.b.intern(pointer)];
            let at = self.b.tree.start(node);
            return Expr::Instance(self.b.type_(Type::Named { segments, arguments: vec![argument], at }));
        }
        Expr::Unknown
    }

    fn is_comparison(&self, node: Node) -> bool {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return false;
        };
        let operator = self.between(left, right).trim_ascii();
        matches!(operator, b"==" | b"!=" | b"<" | b"<=" | b">" | b">=" | b"&&" | b"||")
    }

    fn conditional(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let other = self.child(node, Field::Alternative);
        let (Some(one), Some(other)) = (self.child(node, Field::Consequence), other) else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        let one = self.expr_at(one, decl, depth + 1);
        let other = self.expr_at(other, decl, depth + 1);
        self.b.expr_of(node, Expr::Either { one, other })
    }

    /// `a::b::c`, `::a`, `Shelf<T>::make`.
    pub(super) fn path_expr(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        if let Some(known) = self.b.memo(node) {
            return known;
        }
        let naming = Naming::new(decl, ReferenceRole::Type);
        let (parts, is_absolute) = self.qualifiers(node);
        let at = self.b.tree.start(node);
        // The global namespace is the one without a name.
        let mut expr = is_absolute.then(|| {
            let name = self.b.intern("");
            self.b.expr(Expr::Name { name, at })
        });
        for part in parts {
            if let Some(list) = self.child(part, Field::Arguments)
                && !self.b.is_consumed(list)
            {
                self.b.consume(list);
                self.type_arguments(list, naming, 0);
            }
            expr = Some(self.segment(part, expr));
        }
        let mut last = node;
        while self.kind(last) == Kind::QualifiedIdentifier {
            match self.children(last).filter(|it| self.field(*it) == Field::Name).last() {
                Some(inner) => last = inner,
                None => break,
            }
        }
        if let Some(list) = self.child(last, Field::Arguments)
            && !self.b.is_consumed(list)
        {
            self.b.consume(list);
            self.type_arguments(list, naming, 0);
        }
        let expr = self.segment(last, expr);
        self.b.remember(node, expr);
        expr
    }

    fn segment(&mut self, part: Node, of: Option<ExprId>) -> ExprId {
        let last = self.last_name(part);
        let name = self.b.name(last);
        match of {
            Some(of) => self.b.expr(Expr::Scoped { of, name }),
            None => self.b.expr(Expr::Name { name, at: self.b.tree.start(last) }),
        }
    }
}
