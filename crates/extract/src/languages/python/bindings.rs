//! What gives a name a value: assignments, destructured or not, and where the name then stands for it.

use knowing_model::Range;
use knowing_model::facts::{
    Binding, BindingTarget, Expr, ExprId, Literal, ReferenceRole, Str, TypeId, Value,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, ScopeKind};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What a target is given.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// What stands on the right, so that `a, b = f(), g()` is taken apart.
    Node(Node),
    Expr(ExprId),
    Value(Value),
}

/// The statement a target stands in and where its value holds.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// What becomes a declaration's span, when it is one.
    pub(super) statement: Node,
    pub(super) from: u32,
    pub(super) certain_to: u32,
    /// Whether new names at the top of a file or class are declarations.
    pub(super) declares: bool,
    pub(super) type_: Option<TypeId>,
}

impl Reader<'_, '_> {
    pub(super) fn assignment(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(left) = self.child(node, Field::Left) else { return Step::Into };
        let mut right = self.child(node, Field::Right);
        // `a = b = value`: both are the value.
        while let Some(chained) = right
            && self.kind(chained) == Kind::Assignment
        {
            right = self.child(chained, Field::Right);
        }
        if let Some(right) = right
            && self.kind(left) == Kind::Identifier
            && self.kind(right) == Kind::Lambda
            && self.named_lambda(node, left, right, cx)
        {
            return Step::Into;
        }
        let written = self.child(node, Field::Type);
        if let (Some(written), Some(right)) = (written, right)
            && self.is_type_alias(written)
            && self.kind(left) == Kind::Identifier
        {
            self.alias(node, left, right, cx);
            return Step::Into;
        }
        let type_ = match written {
            Some(written) => Some(self.annotation(written, cx, ReferenceRole::Hint)),
            None => self.type_comment(node, cx),
        };
        let type_ = type_.filter(|it| !self.is_unknown(*it));
        let given = match (type_, right) {
            (Some(type_), _) => Given::Value(Value::Type(type_)),
            (None, Some(right)) => Given::Node(right),
            (None, None) => Given::Value(Value::Unknown),
        };
        let place = Place {
            statement: node,
            from: self.b.tree.end(node),
            certain_to: cx.certain_to,
            declares: true,
            type_,
        };
        self.note_exports(left, right, Exports::Set, cx);
        self.target(left, given, place, cx, 0);
        Step::Into
    }

    /// `x += 1` keeps what the name stands for.
    pub(super) fn augmented(&mut self, node: Node) -> Step<Context> {
        if let Some(left) = self.child(node, Field::Left) {
            let right = self.child(node, Field::Right);
            let is_top = self.b.tree.parent(node).and_then(|it| self.b.tree.parent(it)) == self.b.tree.root();
            if is_top {
                self.add_exports(left, right);
            }
            if self.kind(left) == Kind::Identifier {
                self.b.consume(left);
            }
        }
        Step::Into
    }

    pub(super) fn walrus(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let (Some(name), Some(value)) = (self.child(node, Field::Name), self.child(node, Field::Value)) {
            let place = Place {
                statement: node,
                from: self.b.tree.end(node),
                certain_to: cx.certain_to,
                declares: false,
                type_: None,
            };
            self.target(name, Given::Node(value), place, cx, 0);
        }
        Step::Into
    }

    /// Gives every name of a target its part of the value.
    pub(super) fn target(&mut self, node: Node, given: Given, place: Place, cx: Context, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(node) {
            Kind::Identifier => {
                self.b.consume(node);
                self.bind_name(node, given, place, cx);
            }
            Kind::Attribute => self.bind_member(node, given, place, cx),
            Kind::TuplePattern | Kind::ListPattern | Kind::PatternList | Kind::Tuple | Kind::List => {
                self.destructure(node, given, place, cx, depth);
            }
            Kind::ListSplatPattern | Kind::ListSplat => {
                let Some(inner) = self.first_child(node) else { return };
                let list = self.b.expr(Expr::Literal(Literal::List));
                self.target(inner, Given::Expr(list), place, cx, depth + 1);
            }
            Kind::ParenthesizedExpression => {
                let Some(inner) = self.first_child(node) else { return };
                self.target(inner, given, place, cx, depth + 1);
            }
            _ => {}
        }
    }

    fn destructure(&mut self, node: Node, given: Given, place: Place, cx: Context, depth: usize) {
        let targets: Vec<Node> = self.children(node).collect();
        if let [only] = targets[..]
            && self.kind(node) == Kind::TuplePattern
            && !self.b.bytes(node).contains(&b',')
        {
            // `(x) = value` is only a name in parentheses.
            self.target(only, given, place, cx, depth + 1);
            return;
        }
        if let Given::Node(right) = given
            && let Some(values) = self.items_of(right)
            && values.len() == targets.len()
            && !targets
                .iter()
                .chain(&values)
                .any(|it| matches!(self.kind(*it), Kind::ListSplatPattern | Kind::ListSplat))
        {
            for (target, value) in targets.into_iter().zip(values) {
                self.target(target, Given::Node(value), place, cx, depth + 1);
            }
            return;
        }
        let of = match given {
            Given::Node(right) => Some(self.expr(right)),
            Given::Expr(expr) | Given::Value(Value::Expr(expr)) => Some(expr),
            Given::Value(_) => None,
        };
        for (index, target) in targets.into_iter().enumerate() {
            let part = match of {
                Some(of) => {
                    let index = u32::try_from(index).unwrap_or(u32::MAX);
                    Given::Expr(self.b.expr(Expr::Item { of, index }))
                }
                None => Given::Value(Value::Unknown),
            };
            self.target(target, part, place, cx, depth + 1);
        }
    }

    fn items_of(&self, node: Node) -> Option<Vec<Node>> {
        matches!(self.kind(node), Kind::Tuple | Kind::List | Kind::ExpressionList | Kind::PatternList)
            .then(|| self.children(node).collect())
    }

    pub(super) fn value_of(&mut self, given: Given) -> Value {
        match given {
            Given::Node(node) => Value::Expr(self.expr(node)),
            Given::Expr(expr) => Value::Expr(expr),
            Given::Value(value) => value,
        }
    }

    fn bind_name(&mut self, node: Node, given: Given, place: Place, cx: Context) {
        let name = self.b.name(node);
        let scope = self.scopes.assigned_in(cx.scope, name);
        if place.declares && scope == cx.scope {
            match self.scopes.at(scope).kind {
                ScopeKind::Module => self.module_variable(node, name, given, place, cx),
                ScopeKind::Class => self.class_field(node, name, given, place, cx),
                _ => {}
            }
        }
        self.scopes.bind(scope, name, Bound::Variable);
        if self.scopes.at(scope).kind == ScopeKind::Class {
            // The field is declared; functions inside do not see the name.
            return;
        }
        let value = self.value_of(given);
        let within = self.scopes.at(scope);
        // `global x`: in this function it surely holds, after it perhaps.
        let visible = Range { from: place.from, to: within.end };
        let certain_to = place.certain_to.min(within.end);
        let decl = if scope == cx.scope { cx.decl } else { within.decl };
        self.b.bind(Binding { decl, target: BindingTarget::Name(name), value, visible, certain_to });
    }

    /// A name with a value in the very scope of `cx`: targets of comprehensions, captures, caught errors.
    pub(super) fn bind_within(&mut self, name: Str, value: Value, visible: Range, cx: Context) {
        self.scopes.bind(cx.scope, name, Bound::Variable);
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Name(name),
            value,
            visible,
            certain_to: cx.certain_to.min(visible.to),
        });
    }

    /// `self.x = value` makes or fills a field.
    fn bind_member(&mut self, node: Node, given: Given, place: Place, cx: Context) {
        let Some(object) = self.child(node, Field::Object) else { return };
        if self.kind(object) != Kind::Identifier {
            return;
        }
        let object = self.b.name(object);
        let Some(class) = self.scopes.receiver(cx.scope, object) else { return };
        let Some(field) = self.instance_field(node, class, place) else { return };
        let value = self.value_of(given);
        let visible = Range { from: place.from, to: self.scopes.at(cx.scope).end };
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Field(field),
            value,
            visible,
            certain_to: place.certain_to,
        });
    }

    pub(super) fn outer_names(&mut self, node: Node, cx: Context) -> Step<Context> {
        let bound = if self.kind(node) == Kind::GlobalStatement { Bound::Global } else { Bound::Nonlocal };
        for name in self.children(node) {
            let name = self.b.name(name);
            self.scopes.bind(cx.scope, name, bound);
        }
        Step::Over
    }
}

/// How `__all__` is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exports {
    Set,
    Add,
}

impl Reader<'_, '_> {
    fn note_exports(&mut self, left: Node, right: Option<Node>, how: Exports, cx: Context) {
        let is_all = self.kind(left) == Kind::Identifier && self.is(left, "__all__");
        if is_all
            && cx.scope == self.module
            && let Some(right) = right
        {
            self.export(right, how);
        }
    }

    fn add_exports(&mut self, left: Node, right: Option<Node>) {
        if let (true, Some(right)) = (self.kind(left) == Kind::Identifier && self.is(left, "__all__"), right)
        {
            self.export(right, Exports::Add);
        }
    }

    /// All texts of a list (or of a sum of lists); `*` for parts that are computed.
    pub(super) fn export(&mut self, list: Node, how: Exports) {
        let mut names = match how {
            Exports::Set => Vec::new(),
            Exports::Add => self.b.facts.exports.take().unwrap_or_default(),
        };
        for node in self.b.tree.subtree(list) {
            if matches!(self.kind(node), Kind::Identifier | Kind::Call) {
                names.push(self.b.intern("*"));
            } else if self.kind(node) == Kind::String {
                let raw = self.b.text(node);
                if let Some(name) = super::classes::unquoted(&raw) {
                    let name = name.to_owned();
                    names.push(self.b.intern(name));
                }
            }
        }
        self.b.facts.exports = Some(names);
    }
}
