//! Syntax to `Expr`. Chains of members, calls and subscripts are followed in a loop, because they are as long as
//! somebody made them; what remains is bounded.

use knowing_model::facts::{Expr, ExprId, Literal, Type};

use super::annotation::parse;
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
            Kind::MemberExpression | Kind::SubscriptExpression => self.child(node, Field::Object),
            Kind::CallExpression if self.module_call(node).is_some() => None,
            Kind::CallExpression | Kind::InstantiationExpression => self.function_of(node),
            Kind::NewExpression => {
                let has_arguments = self.child(node, Field::TypeArguments).is_some();
                self.child(node, Field::Constructor)
                    .filter(|it| !has_arguments || self.root_of(*it).is_none())
            }
            Kind::AsExpression if self.cast_of(node).is_some() => None,
            Kind::AwaitExpression
            | Kind::ParenthesizedExpression
            | Kind::NonNullExpression
            | Kind::AsExpression
            | Kind::SatisfiesExpression => self.first_child(node),
            Kind::AssignmentExpression => self.child(node, Field::Right),
            _ => None,
        }
    }

    /// What a call calls. The grammars read `await f<T>()`, `!f<T>()` and `1 + f<T>()` as calls of `await f`, `!f` and `1 + f`.
    pub(super) fn function_of(&self, call: Node) -> Option<Node> {
        let mut function = self.child(call, Field::Function)?;
        while self.is_torn(function)
            && let Some(last) = self.children(function).last()
        {
            function = last;
        }
        Some(function)
    }

    /// The operator before a whole chain of calls that the grammars put inside its first one.
    fn operator_of(&self, call: Node) -> Option<Kind> {
        let mut inner = call;
        let is_link = |node: Node| self.b.tree.parent(node).is_some_and(|it| self.inner_of(it) == Some(node));
        loop {
            inner = match self.kind(inner) {
                Kind::CallExpression => self.child(inner, Field::Function)?,
                Kind::MemberExpression | Kind::SubscriptExpression => self.child(inner, Field::Object)?,
                Kind::NonNullExpression => self.first_child(inner)?,
                operator => return (self.is_torn(inner) && !is_link(call)).then_some(operator),
            };
        }
    }

    fn is_torn(&self, function: Node) -> bool {
        matches!(self.kind(function), Kind::AwaitExpression | Kind::UnaryExpression | Kind::BinaryExpression)
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::MemberExpression => match self.child(node, Field::Property) {
                Some(name) => Expr::Member { of, name: self.b.name(name) },
                None => Expr::Unknown,
            },
            Kind::SubscriptExpression => match self.child(node, Field::Index) {
                Some(index) if self.kind(index) == Kind::String => {
                    Expr::Member { of, name: self.member_name(index) }
                }
                _ => Expr::Index { of },
            },
            Kind::CallExpression => match self.operator_of(node) {
                None => Expr::Call { callee: of },
                Some(Kind::AwaitExpression) => Expr::Await { of: self.b.expr(Expr::Call { callee: of }) },
                Some(_) => Expr::Unknown,
            },
            Kind::NewExpression => Expr::Call { callee: of },
            Kind::AwaitExpression => Expr::Await { of },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// The type of `x as T`, unless it says nothing.
    pub(super) fn cast_of(&self, node: Node) -> Option<Node> {
        let type_ = self.children(node).nth(1)?;
        (!matches!(self.b.bytes(type_), b"any" | b"unknown" | b"const")).then_some(type_)
    }

    fn leaf(&mut self, node: Node, depth: usize) -> ExprId {
        let expr = match self.kind(node) {
            Kind::Identifier | Kind::ShorthandProperty | Kind::This => {
                Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) }
            }
            Kind::Super => Expr::Super { at: self.b.tree.start(node) },
            Kind::String | Kind::TemplateString => Expr::Literal(Literal::String),
            Kind::Number => Expr::Literal(Literal::Float),
            Kind::True | Kind::False => Expr::Literal(Literal::Bool),
            Kind::Null | Kind::Undefined => Expr::Literal(Literal::None),
            Kind::Array => Expr::Literal(Literal::List),
            Kind::Object => Expr::Literal(Literal::Dictionary),
            Kind::ArrowFunction | Kind::FunctionExpression | Kind::GeneratorFunction => {
                Expr::Literal(Literal::Function)
            }
            Kind::Regex => Expr::Instance(self.plain_type("RegExp")),
            Kind::UnaryExpression => self.unary(node),
            Kind::BinaryExpression => return self.binary_expr(node, depth),
            Kind::TernaryExpression => {
                let one = self.child(node, Field::Consequence);
                let other = self.child(node, Field::Alternative);
                return self.either(node, one, other, depth);
            }
            Kind::AugmentedAssignment => {
                let left = self.child(node, Field::Left);
                let right = self.child(node, Field::Right);
                return self.either(node, left, right, depth);
            }
            Kind::SequenceExpression => match self.children(node).last() {
                Some(last) => {
                    let expr = self.expr_at(last, depth + 1);
                    self.b.remember(node, expr);
                    return expr;
                }
                None => Expr::Unknown,
            },
            Kind::CallExpression => match self.module_call(node) {
                Some(name) => {
                    let at = self.b.tree.start(node);
                    Expr::Name { name: self.b.intern(name), at }
                }
                None => Expr::Unknown,
            },
            Kind::NewExpression => self.new_generic(node),
            Kind::AsExpression => match self.cast_of(node) {
                Some(type_) => Expr::Instance(parse(self.b, self.b.tree.range(type_)).type_),
                None => Expr::Unknown,
            },
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    fn plain_type(&mut self, name: &'static str) -> knowing_model::facts::TypeId {
        let name = self.b.intern(name);
        self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at: 0 })
    }

    /// `require("x")` and `import("x")` as names that mean modules.
    pub(super) fn module_call(&self, node: Node) -> Option<String> {
        let function = self.child(node, Field::Function)?;
        let prefix = match self.kind(function) {
            Kind::Import => "import:",
            Kind::Identifier if self.is(function, "require") => "require:",
            _ => return None,
        };
        let argument = self.first_child(self.child(node, Field::Arguments)?)?;
        let text = self.literal_text(argument)?;
        Some(format!("{prefix}{text}"))
    }

    /// `new Map<A, B>()`.
    fn new_generic(&mut self, node: Node) -> Expr {
        let constructor = self.child(node, Field::Constructor);
        let arguments = self.child(node, Field::TypeArguments);
        let (Some(constructor), Some(arguments)) = (constructor, arguments) else { return Expr::Unknown };
        let segments = self.chain_segments(constructor);
        let (arguments, _) = super::annotation::parse_arguments(self.b, self.b.tree.range(arguments));
        let at = self.b.tree.start(constructor);
        Expr::Instance(self.b.type_(Type::Named { segments, arguments, at }))
    }

    fn unary(&self, node: Node) -> Expr {
        match self.b.bytes(node).first() {
            Some(b'!') => Expr::Literal(Literal::Bool),
            Some(b'-' | b'+' | b'~') => Expr::Literal(Literal::Float),
            Some(b't') => Expr::Literal(Literal::String),
            Some(b'v') => Expr::Literal(Literal::None),
            _ => Expr::Unknown,
        }
    }

    /// The operator between both sides.
    pub(super) fn operator(&self, node: Node) -> &[u8] {
        match (self.child(node, Field::Left), self.child(node, Field::Right)) {
            (Some(left), Some(right)) => {
                self.between(self.b.tree.end(left), self.b.tree.start(right)).trim_ascii()
            }
            _ => b"",
        }
    }

    /// `a || b` is one of both; `a && b` is used for what `b` gives.
    fn binary_expr(&mut self, node: Node, depth: usize) -> ExprId {
        let (left, right) = (self.child(node, Field::Left), self.child(node, Field::Right));
        let expr = match self.operator(node) {
            b"||" | b"??" => return self.either(node, left, right, depth),
            b"&&" => match right {
                Some(right) => {
                    let right = self.expr_at(right, depth + 1);
                    self.b.remember(node, right);
                    return right;
                }
                None => Expr::Unknown,
            },
            b"+" => {
                let is_text = |it: Option<Node>| {
                    it.is_some_and(|it| matches!(self.kind(it), Kind::String | Kind::TemplateString))
                };
                if is_text(left) || is_text(right) { Expr::Literal(Literal::String) } else { Expr::Unknown }
            }
            b"-" | b"*" | b"/" | b"%" | b"**" | b"|" | b"&" | b"^" | b"<<" | b">>" | b">>>" => {
                Expr::Literal(Literal::Float)
            }
            b"" => Expr::Unknown,
            _ => Expr::Literal(Literal::Bool),
        };
        self.b.expr_of(node, expr)
    }

    fn either(&mut self, node: Node, one: Option<Node>, other: Option<Node>, depth: usize) -> ExprId {
        let (Some(one), Some(other)) = (one, other) else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        let one = self.expr_at(one, depth + 1);
        let other = self.expr_at(other, depth + 1);
        self.b.expr_of(node, Expr::Either { one, other })
    }

    /// A text without parts that are computed.
    pub(super) fn literal_text(&self, node: Node) -> Option<String> {
        if !matches!(self.kind(node), Kind::String | Kind::TemplateString) {
            return None;
        }
        let raw = self.b.text(node);
        if self.kind(node) == Kind::TemplateString && raw.contains("${") {
            return None;
        }
        let inner = raw.get(1..raw.len().saturating_sub(1))?;
        Some(inner.to_owned())
    }
}
