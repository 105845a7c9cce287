//! Calls, what is passed to them, and names that are used as values.

use knowing_model::facts::{
    Argument, Call, CallForm, Expr, ExprId, Passed, ReferenceRole, ReferenceTarget, Site, SiteKind,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn call(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(parent) = self.b.tree.parent(node)
            && self.kind(parent) == Kind::CallExpression
            && self.is_trailing(parent)
            && self.first_child(parent) == Some(node)
        {
            // Noted with the lambda that follows it.
            return Step::Into;
        }
        let called = self.expr(node);
        let Expr::Call { callee } = self.b.facts.expr(called) else { return Step::Into };
        let inner = if self.is_trailing(node) { self.first_child(node).unwrap_or(node) } else { node };
        let Some(function) = self.first_child(inner) else { return Step::Into };
        let mut arguments: Vec<(Option<Node>, Node)> = Vec::new();
        if let Some(list) = self.child_of_kind(inner, Kind::ValueArguments) {
            arguments = self.arguments_of(list);
        }
        for lambda in self.children(node).filter(|it| self.kind(*it) == Kind::AnnotatedLambda) {
            arguments.extend(self.child_of_kind(lambda, Kind::LambdaLiteral).map(|it| (None, it)));
        }
        let last = match self.kind(function) {
            Kind::NavigationExpression => self.last_child(function).unwrap_or(function),
            _ => function,
        };
        if self.kind(last) == Kind::Identifier {
            self.b.consume(last);
        }
        let form = match self.b.facts.expr(callee) {
            Expr::Name { .. } | Expr::Member { .. } => CallForm::Plain,
            _ => CallForm::Dynamic,
        };
        self.note(callee, last, arguments, form, cx);
        self.maybe_site(function, inner, last, cx);
        Step::Into
    }

    fn arguments_of(&self, list: Node) -> Vec<(Option<Node>, Node)> {
        let mut out = Vec::new();
        for argument in self.children(list) {
            let parts: Vec<Node> = self.children(argument).collect();
            match parts[..] {
                [value] => out.push((None, value)),
                [name, value] if self.kind(name) == Kind::Identifier => out.push((Some(name), value)),
                _ => {}
            }
        }
        out
    }

    fn note(
        &mut self,
        callee: ExprId,
        at: Node,
        arguments: Vec<(Option<Node>, Node)>,
        form: CallForm,
        cx: Context,
    ) {
        let mut passed = Vec::new();
        let mut n = 0_u8;
        let mut spread = false;
        for (place, (name, value)) in arguments.into_iter().enumerate() {
            if let Some(name) = name {
                self.b.consume(name);
            }
            let is_spread = self.kind(value) == Kind::SpreadExpression;
            spread |= is_spread;
            n = n.saturating_add(u8::from(!is_spread));
            let inner = if is_spread { self.first_child(value).unwrap_or(value) } else { value };
            if self.kind(inner) == Kind::LambdaLiteral
                && let Ok(place) = u8::try_from(place)
            {
                self.callees.insert(inner, (callee, place));
            }
            let expr = self.expr(inner);
            if self.is_reference(inner)
                && let Some(last) = self.last_child(inner)
            {
                self.b.consume(inner);
                passed.push(Passed { expr, position: self.b.tree.position(last) });
            }
            let name = name.map(|it| self.name(it));
            self.b.argument(Argument { callee, value: expr, name, spread: is_spread });
        }
        let position = self.b.tree.position(at);
        self.b.call(Call { decl: cx.decl, callee, position, n_arguments: n, spread, passed, form });
    }

    /// `::f`, `x::f`.
    fn is_reference(&self, node: Node) -> bool {
        match self.kind(node) {
            Kind::CallableReference => true,
            Kind::NavigationExpression => {
                let mut parts = self.children(node);
                match (parts.next(), parts.next()) {
                    (Some(one), Some(other)) => self.between(one, other) == b"::" && !self.is(other, "class"),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// `a to b` calls `to`.
    pub(super) fn infix_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let parts: Vec<Node> = self.children(node).collect();
        let [_, name, value] = parts[..] else { return Step::Into };
        self.b.consume(name);
        let called = self.expr(node);
        if let Expr::Call { callee } = self.b.facts.expr(called) {
            self.note(callee, name, vec![(None, value)], CallForm::Plain, cx);
        }
        Step::Into
    }

    pub(super) fn construct(&mut self, of: ExprId, at: Node, list: Option<Node>, cx: Context) {
        let init = self.b.intern("<init>");
        let callee = self.b.expr(Expr::Member { of, name: init });
        let arguments = list.map(|it| self.arguments_of(it)).unwrap_or_default();
        self.note(callee, at, arguments, CallForm::Plain, cx);
    }

    /// `: this(...)`, `: super(...)` of a constructor.
    pub(super) fn delegation_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let at = self.b.tree.start(node);
        let is_super = self.b.bytes(node).starts_with(b"super");
        let of = if is_super {
            self.b.expr(Expr::Super { at })
        } else {
            let name = self.b.intern("this");
            self.b.expr(Expr::Name { name, at })
        };
        let list = self.child_of_kind(node, Kind::ValueArguments);
        self.construct(of, node, list, cx);
        Step::Into
    }

    pub(super) fn callable_reference(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(name) = self.last_child(node).filter(|it| self.kind(*it) == Kind::Identifier) {
            if !self.b.is_consumed(node) {
                let expr = self.expr(node);
                self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Value, name, cx);
            }
            self.b.consume(name);
        }
        Step::Into
    }

    /// A name that is no local variable: a property, an object, a type before a dot.
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_label = matches!(self.field(node), Field::Name | Field::Label)
            || matches!(
                self.parent_kind(node),
                Kind::Error
                    | Kind::EnumEntry
                    | Kind::VariableDeclaration
                    | Kind::Parameter
                    | Kind::ClassParameter
                    | Kind::TypeParameter
                    | Kind::ThisExpression
                    | Kind::SuperExpression
                    | Kind::QualifiedIdentifier
            );
        let is_word = matches!(self.b.bytes(node), b"null" | b"true" | b"false" | b"field" | b"class");
        if is_label || is_word || self.b.is_consumed(node) || self.is_local(node) {
            return Step::Over;
        }
        let expr = self.expr(node);
        let is_capital = self.b.bytes(node).first().is_some_and(u8::is_ascii_uppercase);
        let before_dot = self.parent_kind(node) == Kind::NavigationExpression;
        let role = if is_capital && before_dot { ReferenceRole::Value } else { ReferenceRole::Field };
        self.refer(ReferenceTarget::Expr(expr), role, node, cx);
        Step::Over
    }

    pub(super) fn navigation(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.last_child(node).filter(|it| self.kind(*it) == Kind::Identifier) else {
            return Step::Into;
        };
        if self.first_child(node) == Some(name) {
            return Step::Into;
        }
        let was_consumed = self.b.is_consumed(name) || self.b.is_consumed(node);
        self.b.consume(name);
        if !was_consumed && !self.is(name, "class") {
            let expr = self.expr(node);
            let object = self.first_child(node).map(|it| self.kind(it));
            let is_own = matches!(object, Some(Kind::ThisExpression | Kind::SuperExpression));
            let role = if is_own { ReferenceRole::Field } else { ReferenceRole::Value };
            self.refer(ReferenceTarget::Expr(expr), role, name, cx);
        }
        Step::Into
    }

    pub(super) fn throw(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.first_child(node) else { return Step::Into };
        let thrown = match self.kind(value) {
            Kind::CallExpression => self.first_child(value).unwrap_or(value),
            _ => value,
        };
        let expr = self.expr(thrown);
        self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Raise, thrown, cx);
        Step::Into
    }

    /// `System.getenv("X")`, `ProcessBuilder("git")`, `Runtime.getRuntime().exec("...")`.
    fn maybe_site(&mut self, function: Node, call: Node, last: Node, cx: Context) {
        let of = self.b.bytes(function);
        let kind = match self.b.bytes(last) {
            b"getenv" if of.starts_with(b"System.") => SiteKind::ReadsEnv,
            b"exec" if of.starts_with(b"Runtime.getRuntime()") => SiteKind::StartsProcess,
            b"ProcessBuilder" => SiteKind::StartsProcess,
            _ => return,
        };
        let first = self
            .child_of_kind(call, Kind::ValueArguments)
            .and_then(|it| self.first_child(it))
            .and_then(|it| self.first_child(it));
        let text = first.filter(|it| self.kind(*it) == Kind::StringLiteral).and_then(|it| {
            let raw = self.b.text(it);
            let text = raw.strip_prefix('"')?.strip_suffix('"')?;
            let text = match kind {
                SiteKind::ReadsEnv => text,
                SiteKind::StartsProcess => text.split_whitespace().next()?,
            };
            (!text.is_empty() && !text.contains(['$', '\\', '"'])).then(|| text.to_owned())
        });
        let name = text.map(|it| self.b.intern(it));
        self.b.site(Site { decl: cx.decl, kind, name, position: self.b.tree.position(last) });
    }
}
