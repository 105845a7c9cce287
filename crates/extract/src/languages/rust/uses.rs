//! Calls, and uses that are no calls: values, fields, the types that paths begin with.

use knowing_model::Position;
use knowing_model::facts::{
    Call, CallForm, DeclId, Expr, Passed, Reference, ReferenceRole, ReferenceTarget, TypeId,
};

use super::expressions::is_panic;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader, is_capital};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn refer(
        &mut self,
        decl: Option<DeclId>,
        target: ReferenceTarget,
        role: ReferenceRole,
        position: Position,
    ) {
        self.b.reference(Reference { decl, target, role, position });
    }

    pub(super) fn call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(function) = self.child(node, Field::Function) else { return Step::Into };
        let mut named = function;
        if self.kind(named) == Kind::GenericFunction
            && let Some(inner) = self.child(named, Field::Function)
        {
            named = inner;
        }
        let (terminal, form) = match self.kind(named) {
            Kind::Identifier => (named, CallForm::Plain),
            Kind::ScopedIdentifier => (self.last_segment(named), CallForm::Plain),
            Kind::FieldExpression => (self.child(named, Field::Member).unwrap_or(named), CallForm::Plain),
            _ => (self.computed(named), CallForm::Dynamic),
        };
        let callee = self.expr(function, cx.decl);
        let position = self.b.tree.position(terminal);
        let mut n_arguments = 0_usize;
        let mut passed = Vec::new();
        if let Some(arguments) = self.child(node, Field::Arguments) {
            for argument in self.children(arguments) {
                if self.kind(argument) != Kind::AttributeItem {
                    n_arguments += 1;
                    passed.extend(self.passed(argument, cx));
                }
            }
        }
        self.maybe_site(node, named, cx);
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::try_from(n_arguments).unwrap_or(u8::MAX),
            spread: false,
            passed,
            form,
        });
        Step::Into
    }

    /// The field's name in `(self.handler)(x)`.
    fn computed(&self, callee: Node) -> Node {
        let inner = self.first_child(callee).filter(|_| self.kind(callee) == Kind::ParenthesizedExpression);
        let field = inner.and_then(|it| self.child(it, Field::Member));
        field.unwrap_or(callee)
    }

    /// A name or path that may be a function: `parse`, `Self::parse`, `text::parse`.
    fn passed(&mut self, argument: Node, cx: Context) -> Option<Passed> {
        let last = match self.kind(argument) {
            Kind::Identifier => argument,
            Kind::ScopedIdentifier => self.child(argument, Field::Name)?,
            _ => return None,
        };
        if is_capital(self.b.bytes(last)) || (last == argument && self.is_local(argument, cx.decl)) {
            return None;
        }
        let expr = self.expr(argument, cx.decl);
        Some(Passed { expr, position: self.b.tree.position(last) })
    }

    fn is_local(&mut self, identifier: Node, decl: Option<DeclId>) -> bool {
        let name = self.b.name(identifier);
        self.locals.contains(name, decl, self.b.tree.start(identifier))
    }

    /// A name that stands for something outside of the function.
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !matches!(self.field(node), Field::Name | Field::Function) && !self.is_local(node, cx.decl) {
            self.value(node, cx.decl);
        }
        Step::Over
    }

    fn value(&mut self, node: Node, decl: Option<DeclId>) {
        let expr = self.expr(node, decl);
        let position = self.b.tree.position(self.last_segment(node));
        self.refer(decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
    }

    /// The length of an array, where it is a constant.
    pub(super) fn value_in_type(&mut self, node: Node, decl: Option<DeclId>) {
        match self.kind(node) {
            Kind::Identifier => {
                let name = self.b.name(node);
                if !self.generics.contains(name, None, self.b.tree.start(node)) {
                    self.value(node, decl);
                }
            }
            Kind::ScopedIdentifier => {
                self.value(node, decl);
                self.qualifier(node, decl);
            }
            _ => {}
        }
    }

    pub(super) fn scoped(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.field(node) == Field::Function {
            // The types in it, too.
            self.path_expr(node, cx.decl);
        } else {
            self.value(node, cx.decl);
        }
        self.qualifier(node, cx.decl);
        Step::Over
    }

    /// The type a path goes through: `Shop` of `Shop::new`.
    pub(super) fn qualifier(&mut self, node: Node, decl: Option<DeclId>) {
        if !matches!(self.kind(node), Kind::ScopedIdentifier | Kind::ScopedTypeIdentifier) {
            return;
        }
        let Some(path) = self.child(node, Field::Path) else { return };
        if !matches!(self.kind(path), Kind::Identifier | Kind::ScopedIdentifier) {
            return;
        }
        let last = self.last_segment(path);
        if is_capital(self.b.bytes(last)) && !self.is(last, "Self") {
            let expr = self.path_expr(path, decl);
            let position = self.b.tree.position(last);
            self.refer(decl, ReferenceTarget::Expr(expr), ReferenceRole::Type, position);
        }
    }

    /// `x.name`, when it is not called.
    pub(super) fn field_access(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.field(node) != Field::Function
            && let Some(name) = self.child(node, Field::Member)
        {
            let expr = self.expr(node, cx.decl);
            let position = self.b.tree.position(name);
            self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Field, position);
        }
        Step::Into
    }

    pub(super) fn struct_literal(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(name) = self.child(node, Field::Name) {
            let type_ = self.read_type(name, Naming::new(cx.decl, ReferenceRole::Type));
            self.qualifier(name, cx.decl);
            if let Some(default) = self.default_of_rest(node) {
                self.b.expr_of(default, Expr::TypePath(type_));
            }
            self.written_fields(node, type_, cx);
        }
        Step::Into
    }

    /// `name: value` and `name` in the braces of a literal.
    fn written_fields(&mut self, literal: Node, type_: TypeId, cx: Context) {
        let Some(fields) = self.child(literal, Field::Body) else { return };
        for field in self.children(fields) {
            let name = match self.kind(field) {
                Kind::FieldInitializer => self.child(field, Field::Member),
                Kind::ShorthandFieldInitializer => self.first_child(field),
                _ => None,
            };
            if let Some(name) = name {
                self.field_of(type_, name, cx.decl);
            }
        }
    }

    /// A field that is used by its name alone, of a type that is known otherwise.
    pub(super) fn field_of(&mut self, type_: TypeId, name: Node, decl: Option<DeclId>) {
        let of = self.b.expr(Expr::Instance(type_));
        let position = self.b.tree.position(name);
        let name = self.b.name(name);
        let expr = self.b.expr(Expr::Member { of, name });
        self.refer(decl, ReferenceTarget::Expr(expr), ReferenceRole::Field, position);
    }

    /// `Default` of `Type { x, ..Default::default() }`: the rest is of the same type, so that it is `Type::default()`.
    fn default_of_rest(&self, literal: Node) -> Option<Node> {
        let fields = self.child(literal, Field::Body)?;
        let rest = self.children(fields).last().filter(|it| self.kind(*it) == Kind::BaseFieldInitializer)?;
        let call = self.first_child(rest).filter(|it| self.kind(*it) == Kind::CallExpression)?;
        let function = self.child(call, Field::Function)?;
        let path = self.child(function, Field::Path)?;
        let is_default = self.kind(function) == Kind::ScopedIdentifier
            && self.b.bytes(self.last_segment(path)) == b"Default"
            && self.child(function, Field::Name).is_some_and(|it| self.is(it, "default"));
        is_default.then_some(path)
    }

    /// `name!(...)`: a call of the macro, and what its tokens let see.
    pub(super) fn macro_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Macro) else { return Step::Into };
        self.b.consume(name);
        let callee = self.path_expr(name, cx.decl);
        let last = self.last_segment(name);
        let position = self.b.tree.position(last);
        let tokens = self.child_of_kind(node, Kind::TokenTree);
        let n_arguments = tokens.map_or(0, |it| self.n_groups(it));
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments,
            spread: false,
            passed: Vec::new(),
            form: CallForm::Macro,
        });
        if is_panic(self.b.bytes(last)) {
            self.refer(cx.decl, ReferenceTarget::Expr(callee), ReferenceRole::Raise, position);
        }
        if let Some(tokens) = tokens {
            self.macro_site(last, tokens, cx);
        }
        Step::Into
    }
}
