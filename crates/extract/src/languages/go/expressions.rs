//! Syntax to `Expr`. Chains of members, calls and indices are followed in a loop, because they are as long as somebody
//! made them; what remains is bounded. `&x`, `*x`, parentheses and slices of a value are looked through.

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
                None => break self.leaf(inner, decl),
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
            Kind::SelectorExpression | Kind::IndexExpression | Kind::SliceExpression => {
                self.child(node, Field::Operand)
            }
            Kind::CallExpression => self.alike(node).or_else(|| {
                let function = self.child(node, Field::Function)?;
                (!self.makes(node, function)).then_some(function)
            }),
            Kind::ParenthesizedExpression | Kind::LiteralElement | Kind::VariadicArgument => {
                self.first_child(node)
            }
            Kind::UnaryExpression => match self.b.bytes(node).first() {
                Some(b'&' | b'*' | b'<') => self.child(node, Field::Operand),
                _ => None,
            },
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::SelectorExpression => match self.child(node, Field::Member) {
                Some(name) => Expr::Member { of, name: self.b.name(name) },
                None => Expr::Unknown,
            },
            Kind::CallExpression if self.alike(node).is_none() => Expr::Call { callee: of },
            Kind::IndexExpression => Expr::Index { of },
            // What a channel gives has to be waited for.
            Kind::UnaryExpression if self.b.bytes(node).starts_with(b"<") => Expr::Await { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// `x` of `append(x, ...)`: the result is of the same type.
    fn alike(&self, call: Node) -> Option<Node> {
        let function = self.child(call, Field::Function)?;
        let is_alike = self.kind(function) == Kind::Identifier
            && matches!(self.b.bytes(function), b"append" | b"min" | b"max");
        if !is_alike {
            return None;
        }
        self.child(call, Field::Arguments).and_then(|it| self.first_child(it))
    }

    /// `new` and `make` of a type; `new` takes values, too.
    fn makes(&self, call: Node, function: Node) -> bool {
        let first = || self.first_child(self.child(call, Field::Arguments)?);
        self.kind(function) == Kind::Identifier
            && matches!(self.b.bytes(function), b"new" | b"make")
            && first().is_none_or(|it| is_type(self.kind(it)))
    }

    fn leaf(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        let naming = Naming::new(decl, ReferenceRole::Type);
        let expr = match self.kind(node) {
            Kind::Identifier => Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) },
            Kind::InterpretedString | Kind::RawString => Expr::Literal(Literal::String),
            Kind::RuneLiteral => Expr::Literal(Literal::Character),
            Kind::True | Kind::False => Expr::Literal(Literal::Bool),
            Kind::IntLiteral | Kind::Iota => Expr::Literal(Literal::Integer),
            Kind::FloatLiteral | Kind::ImaginaryLiteral => Expr::Literal(Literal::Float),
            Kind::Nil => Expr::Literal(Literal::None),
            Kind::BinaryExpression => self.operation(node, decl),
            Kind::TypeConversion if self.generic_of(node).is_some() => {
                match self.generic_of(node).and_then(|it| self.generic_callee(it)) {
                    Some(callee) => Expr::Call { callee },
                    None => Expr::Unknown,
                }
            }
            Kind::CompositeLiteral | Kind::TypeAssertion | Kind::TypeConversion => {
                match self.child(node, Field::Type) {
                    Some(type_) => Expr::Instance(self.read_type(type_, naming)),
                    None => Expr::Unknown,
                }
            }
            Kind::CallExpression => {
                let type_ = self.child(node, Field::Arguments).and_then(|it| self.first_child(it));
                match type_ {
                    Some(type_) => Expr::Instance(self.read_type(type_, naming)),
                    None => Expr::Unknown,
                }
            }
            Kind::TypeInstantiation => match self.child(node, Field::Type) {
                Some(type_) => Expr::TypePath(self.read_type(type_, naming)),
                None => Expr::Unknown,
            },
            Kind::FuncLiteral => {
                let result = self.child(node, Field::Result).and_then(|it| self.read_result(it, naming));
                Expr::Instance(self.b.type_(Type::Function(result)))
            }
            Kind::LiteralValue => return self.literal_expr(node, decl),
            // A type where a value may stand: `(*T)(nil)`, `[]T(x)`.
            kind if is_type(kind) => Expr::TypePath(self.read_type(node, naming)),
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    fn generic_of(&self, conversion: Node) -> Option<Node> {
        self.child(conversion, Field::Type).filter(|it| self.kind(*it) == Kind::GenericType)
    }

    /// `f[T]` that was read as a type, as the function it may be.
    pub(super) fn generic_callee(&mut self, generic: Node) -> Option<ExprId> {
        if let Some(known) = self.b.memo(generic) {
            return Some(known);
        }
        let named = self.child(generic, Field::Type)?;
        let at = self.b.tree.start(named);
        let of = match self.kind(named) {
            Kind::QualifiedType => {
                let (package, name) = (self.child(named, Field::Package)?, self.child(named, Field::Name)?);
                let package = self.b.name(package);
                let of = self.b.expr(Expr::Name { name: package, at });
                let name = self.b.name(name);
                self.b.expr(Expr::Member { of, name })
            }
            _ => {
                let name = self.b.name(named);
                self.b.expr(Expr::Name { name, at })
            }
        };
        Some(self.b.expr_of(generic, Expr::Index { of }))
    }

    /// A comparison, or a sum that is of the type of its left side.
    fn operation(&mut self, node: Node, _: Option<DeclId>) -> Expr {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Expr::Unknown;
        };
        match self.between(left, right) {
            b"==" | b"!=" | b"<" | b"<=" | b">" | b">=" | b"&&" | b"||" => Expr::Literal(Literal::Bool),
            _ => {
                // `a + b` of named types has members too; of a constant and a value, the value says which.
                let side = |it: Node| matches!(self.kind(it), Kind::Identifier | Kind::CallExpression);
                let named = [left, right].into_iter().find(|it| side(*it));
                match named {
                    Some(it) if self.kind(it) == Kind::Identifier => {
                        Expr::Name { name: self.b.name(it), at: self.b.tree.start(it) }
                    }
                    _ => Expr::Unknown,
                }
            }
        }
    }

    /// What stands in braces: of the type before them, or an element of the literal around.
    pub(super) fn literal_expr(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        let mut levels = Vec::new();
        let mut at = node;
        let mut expr = loop {
            if let Some(known) = self.b.memo(at) {
                break known;
            }
            let Some(parent) = self.parent(at) else { break self.b.expr(Expr::Unknown) };
            match self.kind(parent) {
                Kind::CompositeLiteral => {
                    let whole = self.expr(parent, decl);
                    self.b.remember(at, whole);
                    break whole;
                }
                Kind::LiteralElement => {
                    let around = self.parent(parent);
                    let around = match around {
                        Some(it) if self.kind(it) == Kind::KeyedElement => self.parent(it),
                        it => it,
                    };
                    let Some(around) = around else { break self.b.expr(Expr::Unknown) };
                    levels.push(at);
                    at = around;
                }
                _ => break self.b.expr(Expr::Unknown),
            }
        };
        for level in levels.into_iter().rev() {
            expr = self.b.expr_of(level, Expr::Index { of: expr });
        }
        expr
    }
}

fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TypeIdentifier
            | Kind::QualifiedType
            | Kind::GenericType
            | Kind::PointerType
            | Kind::ParenthesizedType
            | Kind::SliceType
            | Kind::MapType
            | Kind::ArrayType
            | Kind::ChannelType
            | Kind::FunctionType
            | Kind::StructType
            | Kind::InterfaceType
    )
}
