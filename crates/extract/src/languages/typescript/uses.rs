//! Calls, elements, and names that are used without being called.
//!
//! Whether a name means something outside of its function is known only when the whole file was read, so uses are
//! remembered and become references at the end.

use knowing_model::Position;
use knowing_model::facts::{
    Call, CallForm, DeclId, Expr, ExprId, Passed, Reference, ReferenceRole, ReferenceTarget, Str,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::ScopeId;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// A reference, unless its name turns out to be a local variable.
pub(super) struct MaybeUse {
    pub(super) decl: Option<DeclId>,
    pub(super) scope: ScopeId,
    /// The name it begins with.
    pub(super) name: Str,
    pub(super) node: Node,
    pub(super) role: ReferenceRole,
    pub(super) position: Position,
}

/// An argument that may be a function.
pub(super) struct MaybePassed {
    call: usize,
    node: Node,
    name: Str,
    scope: ScopeId,
}

impl Reader<'_, '_> {
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_label = self.field(node) == Field::Name;
        if !is_label && !self.b.is_consumed(node) {
            let name = self.b.name(node);
            self.use_value(node, node, name, ReferenceRole::Value, cx);
        }
        Step::Over
    }

    /// Every name of a chain after the first is a use of a member; what is called is a call and nothing else.
    pub(super) fn member_expression(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.maybe_environment(node, cx);
        let is_used_up = self.b.is_consumed(node);
        let Some(root) = self.root_of(node) else {
            if !is_used_up {
                self.use_member(node, cx);
            }
            return Step::Into;
        };
        if self.kind(root) == Kind::This && self.scopes.this(cx.scope).is_none() {
            return Step::Over;
        }
        let mut inner = self.object_of(node);
        while let Some(object) = inner {
            if self.kind(object) == Kind::MemberExpression {
                self.use_member(object, cx);
            }
            inner = self.object_of(object);
        }
        if self.kind(root) == Kind::Identifier {
            let name = self.b.name(root);
            self.use_value(root, root, name, ReferenceRole::Root, cx);
        }
        if !is_used_up && self.kind(root) == Kind::This {
            self.use_member(node, cx);
        } else if !is_used_up && let Some(last) = self.terminal(node) {
            let name = self.b.name(root);
            self.use_value(node, last, name, ReferenceRole::Value, cx);
        }
        Step::Over
    }

    /// What stands before the last dot of a chain.
    fn object_of(&self, chain: Node) -> Option<Node> {
        match self.kind(chain) {
            Kind::MemberExpression => self.child(chain, Field::Object),
            Kind::NonNullExpression => self.first_child(chain),
            _ => None,
        }
    }

    /// `x.name`, whatever `x` is.
    fn use_member(&mut self, node: Node, cx: Context) {
        let Some(property) = self.child(node, Field::Property) else { return };
        let position = self.b.tree.position(property);
        let name = self.b.name(property);
        let role = ReferenceRole::Field;
        self.b.count();
        self.uses.push(MaybeUse { decl: cx.decl, scope: cx.scope, name, node, role, position });
    }

    /// A member by its name alone, of what is known otherwise.
    pub(super) fn refer_to_member(&mut self, member: ExprId, name: Node, cx: Context) {
        let position = self.b.tree.position(name);
        let target = ReferenceTarget::Expr(member);
        self.b.reference(Reference { decl: cx.decl, target, role: ReferenceRole::Field, position });
    }

    /// Of a local variable, members alone are uses.
    pub(super) fn use_value(&mut self, node: Node, last: Node, name: Str, role: ReferenceRole, cx: Context) {
        if self.scopes.is_local_variable(cx.scope, name) {
            if node != last && role == ReferenceRole::Value {
                self.use_member(node, cx);
            }
            return;
        }
        let position = self.b.tree.position(last);
        self.b.count();
        self.uses.push(MaybeUse { decl: cx.decl, scope: cx.scope, name, node, role, position });
    }

    pub(super) fn call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(function), Some(arguments)) = (self.function_of(node), self.child(node, Field::Arguments))
        else {
            return Step::Into;
        };
        if self.module_call(node).is_some() {
            self.b.consume(function);
            self.loaded(node, arguments, cx);
            return Step::Into;
        }
        if let Some(inner) = self.test_block(node, function, arguments, cx) {
            self.note_call(node, function, Some(arguments), cx);
            return Step::Within(inner);
        }
        self.note_call(node, function, Some(arguments), cx);
        self.maybe_process(function, arguments, cx);
        Step::Into
    }

    pub(super) fn new_expression(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(constructor) = self.child(node, Field::Constructor) {
            let arguments = self.child(node, Field::Arguments);
            self.note_call(node, constructor, arguments, cx);
        }
        Step::Into
    }

    fn note_call(&mut self, node: Node, function: Node, arguments: Option<Node>, cx: Context) {
        if matches!(self.kind(function), Kind::Identifier | Kind::MemberExpression) {
            self.b.consume(function);
        }
        let mut inner = function;
        while matches!(
            self.kind(inner),
            Kind::NonNullExpression | Kind::ParenthesizedExpression | Kind::InstantiationExpression
        ) && let Some(below) = self.first_child(inner)
        {
            inner = below;
            self.b.consume(inner);
        }
        let mut callee = self.expr(function);
        let position = match (self.terminal(function), arguments) {
            (Some(name), _) => self.b.tree.position(name),
            (None, Some(arguments)) => self.b.tree.position(arguments),
            (None, None) => self.b.tree.position(node),
        };
        if self.kind(function) == Kind::Super {
            // `super(...)` runs the constructor of the class above.
            let name = self.b.intern("constructor");
            callee = self.b.expr(Expr::Member { of: callee, name });
        }
        let (n_arguments, spread) = arguments.map_or((0, false), |it| self.count_arguments(it));
        let form = self.form(callee);
        let call = self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments,
            spread,
            passed: Vec::new(),
            form,
        });
        if let Some(arguments) = arguments.filter(|it| self.kind(*it) == Kind::Arguments) {
            for argument in self.children(arguments) {
                self.note_passed(call, argument, cx, 0);
            }
        }
    }

    /// `<Component property={value} />` is a call of the component.
    pub(super) fn element(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        if !self.is_component(name) {
            self.b.consume(name);
            return Step::Into;
        }
        self.b.consume(name);
        let callee = self.expr(name);
        let Some(last) = self.terminal(name) else { return Step::Into };
        let position = self.b.tree.position(last);
        let form = CallForm::Plain;
        let call =
            Call { decl: cx.decl, callee, position, n_arguments: 1, spread: false, passed: Vec::new(), form };
        let call = self.b.call(call);
        self.written_attributes(node, callee, cx);
        for attribute in self.children(node) {
            if self.kind(attribute) != Kind::JsxAttribute {
                continue;
            }
            let value = self.child_of_kind(attribute, Kind::JsxExpression);
            if let Some(value) = value.and_then(|it| self.first_child(it)) {
                self.note_passed(call, value, cx, 0);
            }
        }
        Step::Into
    }

    /// Whether an element is one of the project's, by its name, and none of the browser's.
    pub(super) fn is_component(&self, name: Node) -> bool {
        match self.kind(name) {
            Kind::Identifier => {
                let first = self.b.bytes(name).first();
                first.is_some_and(|it| it.is_ascii_uppercase() || matches!(it, b'_' | b'$'))
            }
            Kind::MemberExpression => true,
            _ => false,
        }
    }

    fn form(&self, callee: ExprId) -> CallForm {
        match self.b.facts.expr(callee) {
            Expr::Name { .. }
            | Expr::Member { .. }
            | Expr::Index { .. }
            | Expr::Super { .. }
            | Expr::Call { .. } => CallForm::Plain,
            _ => CallForm::Dynamic,
        }
    }

    fn count_arguments(&self, arguments: Node) -> (u8, bool) {
        let mut count = 0_u8;
        let mut spread = false;
        for argument in self.children(arguments) {
            if self.kind(argument) == Kind::SpreadElement {
                spread = true;
            } else {
                count = count.saturating_add(1);
            }
        }
        (count, spread)
    }

    /// Names and chains handed over, also in an object: `on({ open: start, stop })`.
    fn note_passed(&mut self, call: usize, argument: Node, cx: Context, level: usize) {
        let node = match self.kind(argument) {
            Kind::Object if level == 0 => {
                for child in self.children(argument) {
                    match self.kind(child) {
                        Kind::ShorthandProperty => self.note_passed(call, child, cx, 1),
                        Kind::Pair => {
                            if let Some(value) = self.child(child, Field::Value) {
                                self.note_passed(call, value, cx, 1);
                            }
                        }
                        _ => {}
                    }
                }
                return;
            }
            Kind::CallExpression if level == 0 => match self.bound_method(argument) {
                Some(method) => method,
                None => return,
            },
            _ => argument,
        };
        let Some(root) = self.root_of(node).filter(|_| !self.b.is_consumed(node)) else { return };
        if self.kind(node) == Kind::This {
            return;
        }
        let name = self.b.name(root);
        self.b.count();
        self.passed.push(MaybePassed { call, node, name, scope: cx.scope });
    }

    /// `x.method` of `x.method.bind(x)`.
    fn bound_method(&self, call: Node) -> Option<Node> {
        let function = self.child(call, Field::Function)?;
        let property = self.child(function, Field::Property)?;
        if !self.is(property, "bind") {
            return None;
        }
        self.child(function, Field::Object)
    }

    /// The class of `throw new Error(...)`, or what else is thrown.
    pub(super) fn thrown(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.first_child(node) else { return Step::Into };
        let error = match self.kind(value) {
            Kind::NewExpression => self.child(value, Field::Constructor),
            Kind::CallExpression => self.child(value, Field::Function),
            _ => Some(value),
        };
        if let Some(error) = error
            && let (Some(root), Some(last)) = (self.root_of(error), self.terminal(error))
            && self.kind(root) != Kind::This
        {
            let name = self.b.name(root);
            self.use_value(error, last, name, ReferenceRole::Raise, cx);
        }
        Step::Into
    }

    /// All uses that are not of local variables themselves, in source order.
    pub(super) fn finish_uses(&mut self) {
        for it in std::mem::take(&mut self.uses) {
            let is_member = self.kind(it.node) == Kind::MemberExpression;
            let role = match it.role {
                ReferenceRole::Field => it.role,
                role if !self.scopes.is_local_variable(it.scope, it.name) => role,
                ReferenceRole::Value if is_member => ReferenceRole::Field,
                _ => continue,
            };
            let target = ReferenceTarget::Expr(self.expr(it.node));
            let reference = Reference { decl: it.decl, target, role, position: it.position };
            self.b.facts.references.push(reference);
        }
        self.b.facts.references.sort_by_key(|it| it.position);
    }

    /// Chains stay, since they may be methods; plain names only when they are not local variables.
    pub(super) fn finish_passed(&mut self) {
        for it in std::mem::take(&mut self.passed) {
            let is_plain = self.kind(it.node) != Kind::MemberExpression;
            if is_plain && self.scopes.is_local_variable(it.scope, it.name) {
                continue;
            }
            let expr = self.expr(it.node);
            let Some(last) = self.terminal(it.node) else { continue };
            let position = self.b.tree.position(last);
            self.b.facts.calls[it.call].passed.push(Passed { expr, position });
        }
        // A call is entered before those it is made on; only now their numbers are no longer needed.
        self.b.facts.calls.sort_by_key(|it| it.position);
        self.b.facts.bindings.sort_by_key(|it| it.visible.from);
    }
}
