//! Syntax to `Expr`. Chains of calls are followed in a loop, because they are as long as somebody made them; what
//! remains is bounded.

use knowing_model::facts::{Expr, ExprId, Literal};

use super::blocks::Role;
use super::bodies::Maker;
use super::kinds::{Field, Kind};
use super::reader::{Level, Reader};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// What `self` is somewhere.
enum SelfAt {
    /// What it is in the method or body around.
    Around,
    /// The same, or what a framework runs the block on.
    InBlock,
    /// What this gives.
    Of(Node),
    Unknown,
}

/// More branches than this are not told apart.
const MAX_BRANCHES: usize = 6;

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
            Kind::Call => self.child(node, Field::Receiver),
            Kind::ElementReference => self.child(node, Field::Object),
            Kind::ScopeResolution => self.child(node, Field::Scope),
            Kind::Assignment => self.child(node, Field::Right),
            Kind::RescueModifier => self.child(node, Field::Body),
            _ => None,
        }
    }

    fn around(&mut self, node: Node, of: ExprId) -> ExprId {
        let expr = match self.kind(node) {
            Kind::Call => {
                let callee = self.member_of(node, of);
                match (self.maker(node), self.arguments(node).first()) {
                    // A class like its base, as far as anyone can say.
                    (Some(Maker::Class), Some(base)) => {
                        let base = self.expr(*base);
                        self.b.remember(node, base);
                        return base;
                    }
                    (Some(_), _) => Expr::Unknown,
                    (None, _) => Expr::Call { callee },
                }
            }
            Kind::ElementReference => Expr::Index { of },
            Kind::ScopeResolution => match self.child(node, Field::Name) {
                Some(name) => Expr::Scoped { of, name: self.b.name(name) },
                None => Expr::Unknown,
            },
            _ => {
                self.b.remember(node, of);
                return of;
            }
        };
        self.b.expr_of(node, expr)
    }

    /// What a call with this receiver calls; shared by all who ask.
    fn member_of(&mut self, call: Node, of: ExprId) -> ExprId {
        let Some(method) = self.child(call, Field::Method) else {
            // `callable.(x)`
            let name = self.b.intern("call");
            return self.b.expr(Expr::Member { of, name });
        };
        if let Some(known) = self.b.memo(method) {
            return known;
        }
        let name = self.b.name(method);
        self.b.expr_of(method, Expr::Member { of, name })
    }

    /// What a call calls; none where nobody can say on what.
    pub(super) fn callee(&mut self, call: Node) -> Option<ExprId> {
        let expr = self.expr(call);
        if self.maker(call).is_some() {
            return self.child(call, Field::Method).and_then(|it| self.b.memo(it));
        }
        match self.b.facts.expr(expr) {
            Expr::Call { callee } => Some(callee),
            _ => None,
        }
    }

    /// A member of the receiver that nobody wrote.
    fn implicit(&mut self, name_node: Node) -> Expr {
        match self.unwritten_receiver(name_node) {
            Some(of) => Expr::Member { of, name: self.b.name(name_node) },
            None => Expr::Unknown,
        }
    }

    /// The receiver that nobody wrote; none where a block runs with a `self` that nobody knows.
    pub(super) fn unwritten_receiver(&mut self, at: Node) -> Option<ExprId> {
        let name = match self.self_at(at) {
            SelfAt::Around => "",
            SelfAt::InBlock => "&",
            SelfAt::Of(node) => return Some(self.expr(node)),
            SelfAt::Unknown => return None,
        };
        let name = self.b.intern(name);
        Some(self.b.expr(Expr::Name { name, at: self.b.tree.start(at) }))
    }

    /// What `self` is at a node, by the blocks around it.
    fn self_at(&self, node: Node) -> SelfAt {
        let mut in_block = false;
        let mut at = node;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::Method if self.is_elsewhere(parent) => return SelfAt::Unknown,
                Kind::Method if !in_block => return SelfAt::Around,
                Kind::Method => {
                    // In a method of the type itself a block may run on values.
                    return if self.is_in_singleton(parent) { SelfAt::InBlock } else { SelfAt::Around };
                }
                Kind::SingletonMethod | Kind::Class | Kind::Module | Kind::SingletonClass => {
                    return if in_block { SelfAt::InBlock } else { SelfAt::Around };
                }
                Kind::Call if self.field(at) == Field::Block && self.runs_elsewhere(parent) => {
                    return self.self_of_block(parent, at);
                }
                Kind::Block | Kind::DoBlock | Kind::Lambda => match self.blocks.get(&parent) {
                    Some(Role::Body { level: Level::Body, .. }) if in_block => return SelfAt::InBlock,
                    Some(Role::Body { level: Level::Top, .. } | Role::Same | Role::Group(_)) => {}
                    Some(Role::Body { .. }) => return SelfAt::Around,
                    _ => in_block |= self.is_without_receiver(parent),
                },
                _ => {}
            }
            at = parent;
        }
        // At the top of a test blocks run wherever the framework wants.
        if in_block && self.b.is_test { SelfAt::InBlock } else { SelfAt::Around }
    }

    /// `list.each { ... }` runs its block where it stands; `configure { ... }` perhaps not.
    fn is_without_receiver(&self, block: Node) -> bool {
        let call = self.b.tree.parent(block).filter(|it| self.kind(*it) == Kind::Call);
        call.is_none_or(|it| self.child(it, Field::Receiver).is_none())
    }

    /// Whether a method stands in a block of `Class.new` and the like, so that it is of a type without a name.
    fn is_elsewhere(&self, method: Node) -> bool {
        let mut at = method;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::Class | Kind::Module | Kind::SingletonClass => return false,
                Kind::Block | Kind::DoBlock => match self.blocks.get(&parent) {
                    Some(Role::Elsewhere) => return true,
                    Some(Role::Body { .. }) => return false,
                    _ => {}
                },
                _ => {}
            }
            at = parent;
        }
        false
    }

    fn is_in_singleton(&self, method: Node) -> bool {
        let body = self.b.tree.parent(method);
        body.is_some_and(|it| self.parent_kind(it) == Kind::SingletonClass)
    }

    /// `x.instance_eval { ... }` runs on `x`, `Class.new(Base) { ... }` on a class like `Base`.
    fn self_of_block(&self, call: Node, block: Node) -> SelfAt {
        if matches!(self.blocks.get(&block), Some(Role::Body { .. })) {
            return SelfAt::Around;
        }
        let of = match self.maker(call) {
            Some(Maker::Class) => self.arguments(call).first().copied(),
            Some(_) => None,
            None => self.child(call, Field::Receiver),
        };
        of.map_or(SelfAt::Unknown, SelfAt::Of)
    }

    /// Calls whose block runs with another `self`.
    pub(super) fn runs_elsewhere(&self, call: Node) -> bool {
        let Some(method) = self.child(call, Field::Method) else { return false };
        match self.b.bytes(method) {
            b"instance_eval" | b"instance_exec" | b"class_eval" | b"class_exec" | b"module_eval"
            | b"module_exec" => {
                self.child(call, Field::Receiver).is_some_and(|it| self.kind(it) != Kind::SelfWord)
            }
            b"new" | b"define" => self.maker(call).is_some(),
            _ => false,
        }
    }

    fn leaf(&mut self, node: Node, depth: usize) -> ExprId {
        let expr = match self.kind(node) {
            Kind::Identifier if self.locals.is_local(node) => {
                Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) }
            }
            Kind::Identifier => return self.word(node),
            Kind::Call => {
                let Some(method) = self.child(node, Field::Method) else {
                    return self.b.expr_of(node, Expr::Unknown);
                };
                if self.lambda_of(node).is_some() {
                    return self.b.expr_of(node, Expr::Literal(Literal::Function));
                }
                let callee = match self.b.memo(method) {
                    Some(known) => known,
                    None => {
                        let member = if self.kind(method) == Kind::Super {
                            self.super_member(method)
                        } else {
                            self.implicit(method)
                        };
                        self.b.expr_of(method, member)
                    }
                };
                Expr::Call { callee }
            }
            Kind::Super => {
                let member = self.super_member(node);
                let callee = self.b.expr(member);
                Expr::Call { callee }
            }
            Kind::SelfWord | Kind::InstanceVariable | Kind::ClassVariable | Kind::Constant => {
                Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) }
            }
            // `::Name` is looked for at the top alone; its name says so.
            Kind::ScopeResolution => match self.child(node, Field::Name) {
                Some(name) => {
                    let text = format!("::{}", self.b.text(name));
                    let name = self.b.intern_name(text.into());
                    Expr::Name { name, at: self.b.tree.start(node) }
                }
                None => Expr::Unknown,
            },
            Kind::String
            | Kind::ChainedString
            | Kind::HeredocBeginning
            | Kind::Subshell
            | Kind::Character => Expr::Literal(Literal::String),
            // The nearest that all languages share.
            Kind::SimpleSymbol | Kind::DelimitedSymbol => Expr::Literal(Literal::Character),
            Kind::Integer => Expr::Literal(Literal::Integer),
            Kind::Float => Expr::Literal(Literal::Float),
            Kind::True | Kind::False => Expr::Literal(Literal::Bool),
            Kind::Nil => Expr::Literal(Literal::None),
            Kind::Array | Kind::StringArray | Kind::SymbolArray | Kind::RightAssignmentList => {
                Expr::Literal(Literal::List)
            }
            Kind::Hash => Expr::Literal(Literal::Dictionary),
            Kind::Lambda => Expr::Literal(Literal::Function),
            Kind::Unary => self.unary(node),
            Kind::Binary => return self.binary(node, depth),
            Kind::OperatorAssignment => return self.defaulted(node, depth),
            Kind::If
            | Kind::Unless
            | Kind::Elsif
            | Kind::Conditional
            | Kind::Case
            | Kind::CaseMatch
            | Kind::Begin
            | Kind::ParenthesizedStatements
            | Kind::IfModifier
            | Kind::UnlessModifier => return self.branches(node, depth),
            _ => Expr::Unknown,
        };
        self.b.expr_of(node, expr)
    }

    /// A bare word that is no variable: a call, or the parameter of a block that nobody named.
    fn word(&mut self, node: Node) -> ExprId {
        if let Some(block) = self.unnamed_parameter(node) {
            let expr = self.first_given(block, 1).unwrap_or_else(|| self.b.expr(Expr::Unknown));
            self.b.remember(node, expr);
            return expr;
        }
        if self.b.is_test
            && matches!(self.b.bytes(node), b"described_class" | b"subject")
            && let Some(class) = self.class_under_test(node)
        {
            let class = self.expr(class);
            if self.is(node, "described_class") {
                self.b.remember(node, class);
                return class;
            }
            // A subject that nobody defined is a new value of the class.
            let name = self.b.intern("new");
            let callee = self.b.expr(Expr::Member { of: class, name });
            return self.b.expr_of(node, Expr::Call { callee });
        }
        let callee = self.implicit(node);
        let callee = self.b.expr(callee);
        self.b.expr_of(node, Expr::Call { callee })
    }

    /// `_1` and `it`: the block around, which has no parameters of its own.
    pub(super) fn unnamed_parameter(&self, node: Node) -> Option<Node> {
        if !matches!(self.b.bytes(node), b"_1" | b"it") {
            return None;
        }
        let mut at = node;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::Block | Kind::DoBlock => {
                    return self.child(parent, Field::Parameters).is_none().then_some(parent);
                }
                Kind::Method | Kind::SingletonMethod | Kind::Class | Kind::Module => return None,
                _ => at = parent,
            }
        }
        None
    }

    /// `super` is the method of the same name behind this one.
    fn super_member(&mut self, word: Node) -> Expr {
        let mut at = word;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::Method | Kind::SingletonMethod => {
                    let Some(name) = self.child(parent, Field::Name) else { break };
                    let name = self.b.name(name);
                    let super_ = self.b.intern("super");
                    let of = self.b.expr(Expr::Name { name: super_, at: self.b.tree.start(word) });
                    return Expr::Member { of, name };
                }
                Kind::Class | Kind::Module => break,
                _ => at = parent,
            }
        }
        Expr::Unknown
    }

    fn unary(&self, node: Node) -> Expr {
        let text = self.b.bytes(node);
        if text.starts_with(b"!") || text.starts_with(b"not") || text.starts_with(b"defined?") {
            return Expr::Literal(Literal::Bool);
        }
        match self.child(node, Field::Operand).map(|it| self.kind(it)) {
            Some(Kind::Integer) => Expr::Literal(Literal::Integer),
            Some(Kind::Float) => Expr::Literal(Literal::Float),
            _ => Expr::Unknown,
        }
    }

    /// `a || b` is one of both; `a && b` is used for what `b` gives; comparisons give a truth value.
    fn binary(&mut self, node: Node, depth: usize) -> ExprId {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        let expr = match self.between(left, right) {
            b"||" | b"or" => {
                let one = self.expr_at(left, depth + 1);
                let other = self.expr_at(right, depth + 1);
                Expr::Either { one, other }
            }
            b"&&" | b"and" => {
                let right = self.expr_at(right, depth + 1);
                self.b.remember(node, right);
                return right;
            }
            b"==" | b"!=" | b"<" | b"<=" | b">" | b">=" | b"===" | b"!~" => Expr::Literal(Literal::Bool),
            _ => match self.kind(left) {
                Kind::String | Kind::HeredocBeginning => Expr::Literal(Literal::String),
                Kind::Array | Kind::StringArray | Kind::SymbolArray => Expr::Literal(Literal::List),
                _ => Expr::Unknown,
            },
        };
        self.b.expr_of(node, expr)
    }

    /// `x ||= value` gives what was there, or the value.
    fn defaulted(&mut self, node: Node, depth: usize) -> ExprId {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return self.b.expr_of(node, Expr::Unknown);
        };
        let operator = self.between(left, right);
        if !matches!(operator, b"||=" | b"&&=") {
            return self.b.expr_of(node, Expr::Unknown);
        }
        match self.kind(left) {
            // What a field holds is looked for where it is set, here among other places.
            Kind::InstanceVariable | Kind::ClassVariable => {
                let expr = self.expr_at(left, depth + 1);
                self.b.remember(node, expr);
                expr
            }
            Kind::Identifier => {
                let one = self.expr_at(left, depth + 1);
                let other = self.expr_at(right, depth + 1);
                self.b.expr_of(node, Expr::Either { one, other })
            }
            _ => {
                let expr = self.expr_at(right, depth + 1);
                self.b.remember(node, expr);
                expr
            }
        }
    }

    /// What the branches of a statement end with.
    fn branches(&mut self, node: Node, depth: usize) -> ExprId {
        let mut tails = Vec::new();
        self.tails(node, &mut tails, depth);
        // A branch that stands for itself has no value anyone knows.
        if tails.is_empty() || tails.len() > MAX_BRANCHES || tails.contains(&node) {
            return self.b.expr_of(node, Expr::Unknown);
        }
        let mut expr = self.expr_at(tails[0], depth + 1);
        for tail in &tails[1..] {
            let other = self.expr_at(*tail, depth + 1);
            expr = self.b.expr(Expr::Either { one: expr, other });
        }
        self.b.remember(node, expr);
        expr
    }
}
