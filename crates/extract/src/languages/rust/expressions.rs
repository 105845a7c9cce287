//! Syntax to `Expr`. Chains of members, calls and indices are followed in a loop, because they are as long as somebody
//! made them; what remains is bounded. References, dereferences and the pointers that only hold a value are looked
//! through.

use knowing_model::Range;
use knowing_model::facts::{DeclId, Expr, ExprId, Literal, ReferenceRole, Type};

use super::kinds::{Field, Kind};
use super::reader::{Reader, is_capital};
use super::types::Naming;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// How many arms of a `match` are looked at to tell its value.
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
            expr = self.around(outer, expr);
        }
        expr
    }

    /// What a link of a chain is taken from.
    fn inner_of(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::FieldExpression | Kind::ReferenceExpression => self.child(node, Field::Value),
            Kind::CallExpression => self.held(node).or_else(|| self.child(node, Field::Function)),
            Kind::GenericFunction => self.child(node, Field::Function),
            Kind::IndexExpression
            | Kind::TryExpression
            | Kind::AwaitExpression
            | Kind::ParenthesizedExpression
            | Kind::UnsafeBlock
            | Kind::ConstBlock => self.first_child(node),
            Kind::UnaryExpression if self.b.bytes(node).starts_with(b"*") => self.first_child(node),
            Kind::Block => self.tail(node),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::FieldExpression => match self.child(node, Field::Member) {
                Some(name) => Expr::Member { of, name: self.b.name(name) },
                None => Expr::Unknown,
            },
            Kind::CallExpression if self.held(node).is_none() => Expr::Call { callee: of },
            Kind::IndexExpression if !self.is_slice(node) => Expr::Index { of },
            Kind::TryExpression => Expr::Try { of },
            Kind::AwaitExpression => Expr::Await { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// `x` of `Box::new(x)`, `Arc::clone(&x)`: the pointer is used as what it holds.
    fn held(&self, call: Node) -> Option<Node> {
        let function = self.child(call, Field::Function)?;
        if self.kind(function) != Kind::ScopedIdentifier {
            return None;
        }
        let (name, path) = (self.child(function, Field::Name)?, self.child(function, Field::Path)?);
        let holds = matches!(
            (self.b.bytes(self.last_segment(path)), self.b.bytes(name)),
            (b"Box" | b"Arc" | b"Rc" | b"Pin", b"new") | (b"Box", b"pin") | (b"Arc" | b"Rc", b"clone")
        );
        let arguments = self.child(call, Field::Arguments)?;
        let mut arguments = self.children(arguments);
        match (arguments.next(), arguments.next()) {
            (Some(only), None) if holds => Some(only),
            _ => None,
        }
    }

    /// `x[1..]` is like `x`.
    fn is_slice(&self, node: Node) -> bool {
        self.children(node).nth(1).is_some_and(|it| self.kind(it) == Kind::RangeExpression)
    }

    /// What a block gives: its last expression, when no semicolon follows.
    fn tail(&self, block: Node) -> Option<Node> {
        let last = self.children(block).last()?;
        if self.kind(last) != Kind::ExpressionStatement {
            return Some(last);
        }
        if self.b.bytes(last).ends_with(b";") { None } else { self.first_child(last) }
    }

    fn leaf(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let expr = match self.kind(node) {
            Kind::Identifier | Kind::SelfWord | Kind::Super | Kind::Crate => {
                Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) }
            }
            Kind::ScopedIdentifier => return self.path_expr(node, decl),
            Kind::StringLiteral | Kind::RawStringLiteral => {
                let is_bytes = self.b.bytes(node).starts_with(b"b");
                Expr::Literal(if is_bytes { Literal::Bytes } else { Literal::String })
            }
            Kind::CharLiteral => Expr::Literal(Literal::Character),
            Kind::BooleanLiteral => Expr::Literal(Literal::Bool),
            Kind::IntegerLiteral => Expr::Literal(Literal::Integer),
            Kind::FloatLiteral => Expr::Literal(Literal::Float),
            Kind::TupleExpression => Expr::Literal(Literal::Tuple),
            Kind::ArrayExpression => {
                let element = self.b.type_(Type::Unknown);
                Expr::Instance(self.b.type_(Type::Sequence(element)))
            }
            // What a range gives is counted out, as by a generator.
            Kind::RangeExpression => Expr::Literal(Literal::Generator),
            Kind::ClosureExpression => Expr::Literal(Literal::Function),
            Kind::BinaryExpression if self.is_comparison(node) => Expr::Literal(Literal::Bool),
            Kind::LetCondition | Kind::LetChain => Expr::Literal(Literal::Bool),
            Kind::TypeCastExpression => match self.child(node, Field::Type) {
                Some(type_) => Expr::Instance(self.read_type(type_, Naming::new(decl, ReferenceRole::Type))),
                None => Expr::Unknown,
            },
            Kind::StructExpression => return self.instance(node, decl),
            Kind::MacroInvocation => self.macro_value(node),
            Kind::IfExpression => return self.conditional(node, decl, depth),
            Kind::MatchExpression => return self.matched(node, decl, depth),
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    /// A struct literal; one of a variant is of the variant's enum.
    fn instance(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        let Some(name) = self.child(node, Field::Name) else { return self.b.expr_of(node, Expr::Unknown) };
        if self.kind(name) == Kind::ScopedTypeIdentifier
            && let Some(path) = self.child(name, Field::Path)
            && is_capital(self.b.bytes(self.last_segment(path)))
        {
            let path = self.path_expr(name, decl);
            self.b.remember(node, path);
            return path;
        }
        let type_ = self.read_type(name, Naming::new(decl, ReferenceRole::Type));
        self.b.expr_of(node, Expr::Instance(type_))
    }

    fn macro_value(&mut self, node: Node) -> Expr {
        let Some(name) = self.child(node, Field::Macro) else { return Expr::Unknown };
        match self.b.bytes(self.last_segment(name)) {
            b"format" | b"concat" | b"stringify" | b"include_str" | b"env" | b"module_path" | b"file" => {
                Expr::Literal(Literal::String)
            }
            b"matches" | b"cfg" => Expr::Literal(Literal::Bool),
            b"vec" => {
                let (element, name) = (self.b.type_(Type::Unknown), self.b.intern("Vec"));
                let at = self.b.tree.start(node);
                Expr::Instance(self.b.type_(Type::Named {
                    segments: vec![name],
                    arguments: vec![element],
                    at,
                }))
            }
            _ => Expr::Unknown,
        }
    }

    fn is_comparison(&self, node: Node) -> bool {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return false;
        };
        let between = Range { from: self.b.tree.end(left), to: self.b.tree.start(right) };
        let operator = self.b.source.bytes(between).trim_ascii();
        matches!(operator, b"==" | b"!=" | b"<" | b"<=" | b">" | b">=" | b"&&" | b"||")
    }

    fn conditional(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let alternative = self.child(node, Field::Alternative).and_then(|it| self.first_child(it));
        let (Some(one), Some(other)) = (self.child(node, Field::Consequence), alternative) else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        self.one_of(node, &[one, other], decl, depth)
    }

    fn matched(&mut self, node: Node, decl: Option<DeclId>, depth: usize) -> ExprId {
        let Some(body) = self.child(node, Field::Body) else { return self.b.expr_of(node, Expr::Unknown) };
        let arms: Vec<Node> = self
            .children(body)
            .filter(|it| self.kind(*it) == Kind::MatchArm)
            .filter_map(|it| self.child(it, Field::Value))
            .filter(|it| !self.diverges(*it))
            .take(MAX_ARMS)
            .collect();
        self.one_of(node, &arms, decl, depth)
    }

    /// Those of several branches that come to an end.
    fn one_of(&mut self, node: Node, branches: &[Node], decl: Option<DeclId>, depth: usize) -> ExprId {
        let mut whole: Option<ExprId> = None;
        for branch in branches {
            if self.diverges(*branch) {
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

    /// Whether what comes after is never reached: `return`, `panic!`, a block that ends so.
    fn diverges(&self, node: Node) -> bool {
        let mut node = node;
        loop {
            match self.kind(node) {
                Kind::ReturnExpression | Kind::BreakExpression | Kind::ContinueExpression => return true,
                Kind::MacroInvocation => {
                    let name = self.child(node, Field::Macro);
                    return name.is_some_and(|it| is_panic(self.b.bytes(self.last_segment(it))));
                }
                Kind::Block => match self.children(node).last() {
                    Some(last) => node = last,
                    None => return false,
                },
                Kind::ExpressionStatement => match self.first_child(node) {
                    Some(inner) => node = inner,
                    None => return false,
                },
                _ => return false,
            }
        }
    }

    /// `a::b::c`, `Vec::<T>::new`, `<T as Trait>::f`, `::a::b`.
    pub(super) fn path_expr(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        let mut names: Vec<Node> = Vec::new();
        let mut at = Some(node);
        let mut known = None;
        let mut begin = None;
        while let Some(node) = at {
            if let Some(expr) = self.b.memo(node) {
                known = Some(expr);
                break;
            }
            at = match self.kind(node) {
                Kind::ScopedIdentifier | Kind::ScopedTypeIdentifier => {
                    names.push(node);
                    self.child(node, Field::Path)
                }
                _ => {
                    begin = Some(node);
                    None
                }
            };
        }
        let mut expr = match (known, begin) {
            (Some(known), _) => known,
            (None, Some(begin)) => self.path_begin(begin, decl),
            (None, None) => self.b.expr(Expr::Root),
        };
        for node in names.into_iter().rev() {
            let Some(name) = self.child(node, Field::Name) else { continue };
            let name = self.b.name(name);
            expr = self.b.expr_of(node, Expr::Scoped { of: expr, name });
        }
        expr
    }

    fn path_begin(&mut self, node: Node, decl: Option<DeclId>) -> ExprId {
        let naming = Naming::new(decl, ReferenceRole::Type);
        let expr = match self.kind(node) {
            Kind::GenericType | Kind::GenericTypeWithTurbofish | Kind::BracketedType => {
                Expr::TypePath(self.read_type(node, naming))
            }
            Kind::Metavariable if !self.is(node, "$crate") => Expr::Unknown,
            _ => Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) },
        };
        self.b.expr_of(node, expr)
    }
}

/// Macros after which nothing comes.
pub(super) fn is_panic(name: &[u8]) -> bool {
    matches!(name, b"panic" | b"unreachable" | b"todo" | b"unimplemented")
}
