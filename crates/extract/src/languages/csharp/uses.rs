//! Calls, and uses that are no calls: values, fields, what is thrown.

use knowing_model::Position;
use knowing_model::facts::{
    Argument, Call, CallForm, DeclId, Expr, ExprId, Passed, Reference, ReferenceRole, ReferenceTarget,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::written::Naming;
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

    pub(super) fn value(&mut self, expr: ExprId, name: Node, decl: Option<DeclId>) {
        let position = self.b.tree.position(name);
        self.refer(decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
    }

    pub(super) fn invocation(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(function) = self.child(node, Field::Function) else { return Step::Into };
        if self.kind(function) == Kind::Identifier && self.is(function, "nameof") {
            self.b.consume(function);
            return Step::Into;
        }
        let (terminal, form) = match self.kind(function) {
            Kind::Identifier => (function, CallForm::Plain),
            Kind::GenericName => (self.simple_name(function).0, CallForm::Plain),
            Kind::MemberAccess => match self.child(function, Field::Name) {
                Some(name) => (self.simple_name(name).0, CallForm::Plain),
                None => (function, CallForm::Dynamic),
            },
            Kind::ConditionalAccess => {
                let name = self.binding_of(function).and_then(|it| self.child(it, Field::Name));
                match name {
                    Some(name) => (self.simple_name(name).0, CallForm::Plain),
                    None => (function, CallForm::Dynamic),
                }
            }
            _ => (function, CallForm::Dynamic),
        };
        let callee = self.expr(function, cx.decl);
        let position = self.b.tree.position(terminal);
        if form == CallForm::Plain {
            self.b.consume(terminal);
        }
        self.maybe_site(node, function, cx);
        self.emit_call(callee, self.child(node, Field::Arguments), position, form, cx);
        Step::Into
    }

    fn emit_call(
        &mut self,
        callee: ExprId,
        arguments: Option<Node>,
        position: Position,
        form: CallForm,
        cx: Context,
    ) {
        let mut n_arguments = 0_usize;
        let mut passed = Vec::new();
        if let Some(arguments) = arguments {
            for argument in self.children(arguments) {
                if self.kind(argument) != Kind::Argument {
                    continue;
                }
                n_arguments += 1;
                let Some(value) = self.last_child(argument) else { continue };
                let name = self.child(argument, Field::Name).filter(|it| *it != value);
                let name = name.map(|it| self.b.name(it));
                passed.extend(self.passed(value, cx));
                let value = self.argument_value(value, cx.decl);
                self.b.argument(Argument { callee, value, name, spread: false });
            }
        }
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::try_from(n_arguments).unwrap_or(u8::MAX),
            spread: false,
            passed,
            form,
        });
    }

    /// `out Foo x` hands over a `Foo`.
    fn argument_value(&mut self, value: Node, decl: Option<DeclId>) -> ExprId {
        if self.kind(value) != Kind::DeclarationExpression {
            return self.expr(value, decl);
        }
        let type_node = self.child(value, Field::Type).filter(|it| self.kind(*it) != Kind::ImplicitType);
        match type_node {
            Some(type_node) => {
                let type_ = self.read_type(type_node, Naming::new(decl, ReferenceRole::Type));
                self.b.expr(Expr::Instance(type_))
            }
            None => self.b.expr(Expr::Unknown),
        }
    }

    /// A name that may be a method: `Parse`, `this.Parse`, `Text.Parse`.
    fn passed(&mut self, value: Node, cx: Context) -> Option<Passed> {
        let name = match self.kind(value) {
            Kind::Identifier if !self.is_local(value) => value,
            Kind::MemberAccess => self.simple_name(self.child(value, Field::Name)?).0,
            _ => return None,
        };
        let expr = self.expr(value, cx.decl);
        Some(Passed { expr, position: self.b.tree.position(name) })
    }

    /// What is called at a call, a creation or a constructor's initialiser.
    pub(super) fn callee_of(&mut self, call: Node, decl: Option<DeclId>) -> Option<ExprId> {
        match self.kind(call) {
            Kind::Invocation => {
                let function = self.child(call, Field::Function)?;
                Some(self.expr(function, decl))
            }
            Kind::ObjectCreation => {
                let type_ = self.child(call, Field::Type)?;
                Some(self.constructor_of(type_, decl))
            }
            Kind::ImplicitObject => self.implicit_callee(call, decl),
            Kind::ConstructorInitializer => Some(self.initializer_callee(call)),
            _ => None,
        }
    }

    /// `T` of `new T(...)` as what is called.
    fn constructor_of(&mut self, type_: Node, decl: Option<DeclId>) -> ExprId {
        if let Some(known) = self.b.memo(type_) {
            return known;
        }
        let name = self.type_name(type_);
        let written = self.read_type(type_, Naming::new(decl, ReferenceRole::Type));
        let of = self.b.expr(Expr::TypePath(written));
        self.b.expr_of(type_, Expr::Scoped { of, name })
    }

    pub(super) fn creation(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(type_) = self.child(node, Field::Type) else { return Step::Into };
        self.construction_site(node, type_, cx);
        self.construction(type_, self.child(node, Field::Arguments), cx);
        if let Some(initializer) = self.child(node, Field::Initializer) {
            let of = self.expr(node, cx.decl);
            self.members_set(initializer, of, cx);
        }
        Step::Into
    }

    /// `new T(...)`, `: T(...)`.
    pub(super) fn construction(&mut self, type_: Node, arguments: Option<Node>, cx: Context) {
        if matches!(self.kind(type_), Kind::ArrayType | Kind::PredefinedType) {
            return;
        }
        let callee = self.constructor_of(type_, cx.decl);
        let position = self.b.tree.position(self.last_name(type_));
        self.emit_call(callee, arguments, position, CallForm::Plain, cx);
    }

    /// `new(...)`.
    pub(super) fn implicit_creation(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(callee) = self.implicit_callee(node, cx.decl) {
            let position = self.b.tree.position(node);
            self.emit_call(
                callee,
                self.child_of_kind(node, Kind::ArgumentList),
                position,
                CallForm::Plain,
                cx,
            );
        }
        if let Some(initializer) = self.child_of_kind(node, Kind::Initializer) {
            let of = self.expr(node, cx.decl);
            self.members_set(initializer, of, cx);
        }
        Step::Into
    }

    fn implicit_callee(&mut self, node: Node, decl: Option<DeclId>) -> Option<ExprId> {
        let key = self.child_of_kind(node, Kind::ArgumentList)?;
        if let Some(known) = self.b.memo(key) {
            return Some(known);
        }
        let name = self.b.intern("new");
        let callee = match self.target_type(node, decl) {
            Some(type_) => {
                let of = self.b.expr(Expr::TypePath(type_));
                Expr::Scoped { of, name }
            }
            None => {
                let parent = self.parent(node).filter(|it| self.kind(*it) == Kind::Assignment)?;
                let left = self.child(parent, Field::Left)?;
                // In an initialiser the left side is a member of what is made.
                if self.parent(parent).is_some_and(|it| self.kind(it) == Kind::Initializer) {
                    return None;
                }
                let of = self.expr(left, decl);
                Expr::Member { of, name }
            }
        };
        Some(self.b.expr_of(key, callee))
    }

    /// `: base(...)`, `: this(...)`.
    pub(super) fn constructor_initializer(&mut self, node: Node, cx: Context) -> Step<Context> {
        let callee = self.initializer_callee(node);
        let word = self.first_child(node).unwrap_or(node);
        let position = self.b.tree.position(word);
        self.b.consume(word);
        self.emit_call(callee, self.child_of_kind(node, Kind::ArgumentList), position, CallForm::Plain, cx);
        Step::Into
    }

    fn initializer_callee(&mut self, node: Node) -> ExprId {
        if let Some(known) = self.b.memo(node) {
            return known;
        }
        let word = self.first_child(node).unwrap_or(node);
        let at = self.b.tree.start(word);
        let of = if self.kind(word) == Kind::Base {
            self.b.expr(Expr::Super { at })
        } else {
            let name = self.b.intern("this");
            self.b.expr(Expr::Name { name, at })
        };
        let name = self.b.intern("new");
        self.b.expr_of(node, Expr::Member { of, name })
    }

    /// `{ Name = value }`: uses of the members of what is made.
    fn members_set(&mut self, initializer: Node, of: ExprId, cx: Context) {
        for part in self.children(initializer) {
            if self.kind(part) != Kind::Assignment {
                continue;
            }
            let Some(left) = self.child(part, Field::Left).filter(|it| self.kind(*it) == Kind::Identifier)
            else {
                continue;
            };
            self.b.consume(left);
            let name = self.b.name(left);
            let member = self.b.expr_of(left, Expr::Member { of, name });
            self.value(member, left, cx.decl);
        }
    }

    pub(super) fn with_expression(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(first) = self.first_child(node) else { return Step::Into };
        let of = self.expr(first, cx.decl);
        for part in self.children(node) {
            if self.kind(part) == Kind::WithInitializer
                && let Some(name_node) =
                    self.first_child(part).filter(|it| self.kind(*it) == Kind::Identifier)
            {
                self.b.consume(name_node);
                let name = self.b.name(name_node);
                let member = self.b.expr(Expr::Member { of, name });
                self.value(member, name_node, cx.decl);
            }
        }
        Step::Into
    }

    /// In an initialiser of a nested object the left side is a member of something that is not made here.
    pub(super) fn assignment(&mut self, node: Node, _: Context) -> Step<Context> {
        let in_initializer = self.parent(node).is_some_and(|it| self.kind(it) == Kind::Initializer);
        if in_initializer
            && let Some(left) = self.child(node, Field::Left)
            && self.kind(left) == Kind::Identifier
        {
            self.b.consume(left);
        }
        Step::Into
    }

    fn is_local(&mut self, identifier: Node) -> bool {
        let name = self.b.name(identifier);
        self.locals.contains(name, self.b.tree.start(identifier))
    }

    /// A bare name that is no local variable: a member of the type around, or a type.
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.is_local(node) || self.is(node, "_") {
            return Step::Over;
        }
        match self.field(node) {
            Field::Type | Field::Returns => {
                self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
            }
            Field::Right if self.is_type_side(node) => {
                self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
            }
            Field::Name => {}
            _ => {
                let expr = self.expr(node, cx.decl);
                let position = self.b.tree.position(node);
                self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Field, position);
            }
        }
        Step::Over
    }

    /// Whether a node is the type of `x as T` or `x is T`.
    fn is_type_side(&self, node: Node) -> bool {
        self.parent(node).is_some_and(|it| matches!(self.kind(it), Kind::AsExpression | Kind::IsExpression))
    }

    pub(super) fn generic_name(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_type = matches!(self.field(node), Field::Type | Field::Returns | Field::Expression)
            || self.is_type_side(node);
        if is_type {
            self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
        } else {
            let expr = self.expr(node, cx.decl);
            if self.field(node) != Field::Function {
                let name = self.simple_name(node).0;
                self.value(expr, name, cx.decl);
            }
        }
        Step::Over
    }

    /// `of.Name`, when it is not called; `this.Name` is a field of its own.
    pub(super) fn member_access(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let is_own = self.first_child(node).is_some_and(|it| self.kind(it) == Kind::This);
        self.accessed(node, name, is_own, cx);
        Step::Into
    }

    pub(super) fn conditional_access(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(name) = self.binding_of(node).and_then(|it| self.child(it, Field::Name)) {
            self.accessed(node, name, false, cx);
        }
        Step::Into
    }

    fn accessed(&mut self, node: Node, name: Node, is_own: bool, cx: Context) {
        // Its type arguments are read with it.
        let expr = self.expr(node, cx.decl);
        let name = self.simple_name(name).0;
        if self.field(node) != Field::Function {
            let position = self.b.tree.position(name);
            let role = if is_own { ReferenceRole::Field } else { ReferenceRole::Value };
            self.refer(cx.decl, ReferenceTarget::Expr(expr), role, position);
        }
    }

    /// `throw new T()`, `throw e`.
    pub(super) fn throw(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(thrown) = self.first_child(node) else { return Step::Into };
        let (target, position) = match self.kind(thrown) {
            Kind::ObjectCreation => {
                let Some(type_) = self.child(thrown, Field::Type) else { return Step::Into };
                let position = self.b.tree.position(self.last_name(type_));
                let type_ = self.read_type(type_, Naming::new(cx.decl, ReferenceRole::Type));
                (ReferenceTarget::Type(type_), position)
            }
            _ => (ReferenceTarget::Expr(self.expr(thrown, cx.decl)), self.b.tree.position(thrown)),
        };
        self.refer(cx.decl, target, ReferenceRole::Raise, position);
        Step::Into
    }
}
