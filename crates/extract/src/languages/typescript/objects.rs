//! Objects whose members are declarations, and what is added to functions, prototypes and objects later.

use knowing_model::facts::{DeclId, ExprId, Modifiers, Str};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::functions::{NOWHERE, Named};
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::Bound;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// How deep objects are looked into for functions.
const MAX_LEVELS: usize = 3;

impl Reader<'_, '_> {
    /// Whether an object has functions, itself or in an object that it holds.
    pub(super) fn holds_functions(&self, object: Node) -> bool {
        self.holds_functions_at(object, 0)
    }

    fn holds_functions_at(&self, object: Node, level: usize) -> bool {
        level < MAX_LEVELS
            && self.children(object).any(|it| match self.kind(it) {
                Kind::MethodDefinition => true,
                Kind::Pair => self.child(it, Field::Value).is_some_and(|value| {
                    let value = self.unwrapped(value);
                    self.is_function(value)
                        || self.kind(value) == Kind::Object && self.holds_functions_at(value, level + 1)
                }),
                _ => false,
            })
    }

    pub(super) fn object(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.written_keys(node, cx);
        let Some(owner) = self.objects.get(&node).copied() else { return Step::Into };
        // What a function gives back has many plain values; only what can be called is worth a name.
        let is_result = self.b.facts.decl(owner).kind.is_callable();
        for child in self.children(node) {
            match self.kind(child) {
                Kind::Pair => self.pair(child, owner, is_result, cx),
                Kind::ShorthandProperty => {
                    let name = self.b.name(child);
                    let is_symbol =
                        self.scopes.binder(cx.scope, name).is_some_and(|(_, it)| it == Bound::Symbol);
                    if !is_result || is_symbol {
                        let value = self.expr(child);
                        self.object_field(child, child, name, owner, Some(value));
                    }
                }
                _ => {}
            }
            if self.b.is_full() {
                return Step::Over;
            }
        }
        Step::Into
    }

    fn pair(&mut self, pair: Node, owner: DeclId, is_result: bool, cx: Context) {
        let (Some(key), Some(value)) = (self.child(pair, Field::Key), self.child(pair, Field::Value)) else {
            return;
        };
        if !matches!(self.kind(key), Kind::PropertyIdentifier | Kind::String) {
            return;
        }
        let name = self.member_name(key);
        let inside = self.unwrapped(value);
        match self.kind(inside) {
            Kind::ArrowFunction | Kind::FunctionExpression | Kind::GeneratorFunction => {
                let head = Range { from: self.b.tree.start(pair), to: self.head(inside).to };
                self.member_function(pair, key, name, inside, owner, head);
            }
            Kind::Class => {
                let named = self.member_named(key, name, NodeKind::Class, owner);
                let head = Range { from: self.b.tree.start(pair), to: self.head(inside).to };
                if let Some(id) = self.declare(pair, named, head) {
                    self.functions.insert(inside, id);
                }
            }
            Kind::Object if self.holds_functions(inside) => {
                let value = self.expr(value);
                if let Some(id) = self.object_field(pair, key, name, owner, Some(value)) {
                    self.objects.insert(inside, id);
                }
            }
            Kind::Identifier | Kind::MemberExpression | Kind::NewExpression | Kind::CallExpression
                if !is_result =>
            {
                let value = self.expr(value);
                self.object_field(pair, key, name, owner, Some(value));
            }
            Kind::Identifier => {
                let used = self.b.name(inside);
                let is_symbol = self.scopes.binder(cx.scope, used).is_some_and(|(_, it)| it == Bound::Symbol);
                if is_symbol {
                    let value = self.expr(value);
                    self.object_field(pair, key, name, owner, Some(value));
                }
            }
            _ => {}
        }
    }

    fn member_named(&mut self, key: Node, name: Str, kind: NodeKind, owner: DeclId) -> Named {
        let position = self.b.tree.position(key);
        Named { name, position, kind, owner: Some(owner), visible: Some(NOWHERE) }
    }

    fn member_function(
        &mut self,
        node: Node,
        key: Node,
        name: Str,
        function: Node,
        owner: DeclId,
        head: Range,
    ) -> Option<DeclId> {
        let named = self.member_named(key, name, NodeKind::Method, owner);
        let id = self.declare(node, named, head)?;
        self.b.decl_mut(id).flags.insert(NodeFlags::EXPORTED);
        self.functions.insert(function, id);
        self.members.insert((owner, name), None);
        Some(id)
    }

    fn object_field(
        &mut self,
        node: Node,
        key: Node,
        name: Str,
        owner: DeclId,
        value: Option<ExprId>,
    ) -> Option<DeclId> {
        let named = self.member_named(key, name, NodeKind::Field, owner);
        let id = self.declare(node, named, self.b.tree.range(node))?;
        self.shorten(id);
        let decl = self.b.decl_mut(id);
        decl.value = value;
        decl.flags.insert(NodeFlags::EXPORTED);
        self.members.insert((owner, name), Some(id));
        Some(id)
    }

    /// What a returned object is: the members of the function that makes it.
    pub(super) fn returned_expr(&mut self, value: Node, decl: DeclId) -> ExprId {
        let inside = self.unwrapped(value);
        let is_cast = matches!(self.kind(value), Kind::AsExpression);
        if self.kind(inside) == Kind::Object && !is_cast {
            self.objects.insert(inside, decl);
            let name = self.b.intern("{}");
            let at = self.b.tree.start(inside);
            return self.b.expr_of(inside, knowing_model::facts::Expr::Name { name, at });
        }
        self.expr(value)
    }

    /// `a.b = value`: exports, own fields, and what is added to something that was declared here.
    pub(super) fn member_assignment(
        &mut self,
        node: Node,
        left: Node,
        right: Node,
        cx: Context,
    ) -> Step<Context> {
        if self.common_export(node, left, right, cx) {
            return Step::Into;
        }
        let Some(object) = self.child(left, Field::Object) else { return Step::Into };
        if self.kind(object) == Kind::This {
            if let Some(owner) = self.scopes.this(cx.scope) {
                let inside = self.unwrapped(right);
                let key = self.child(left, Field::Property);
                let name = key.map(|it| self.b.name(it));
                let is_new = name.is_some_and(|it| {
                    !self.members.contains_key(&(owner, it)) && !self.declared.contains(&(owner, it))
                });
                if let (Some(key), Some(name), true) = (key, name, is_new && self.is_function(inside)) {
                    let head = Range { from: self.b.tree.start(node), to: self.head(inside).to };
                    self.member_function(node, key, name, inside, owner, head);
                } else {
                    self.own_assignment(node, left, right, owner, cx);
                }
            }
            return Step::Into;
        }
        self.added_member(node, left, object, right, cx);
        Step::Into
    }

    /// `F.prototype.m = function`, `F.prototype = {...}`, `F.m = ...`.
    fn added_member(&mut self, node: Node, left: Node, object: Node, right: Node, cx: Context) {
        let Some(key) = self.child(left, Field::Property) else { return };
        let inside = self.unwrapped(right);
        let is_prototype = self.is(key, "prototype");
        if is_prototype && self.kind(object) == Kind::Identifier {
            if let (Some(owner), Kind::Object) = (self.symbol_of(object, cx), self.kind(inside)) {
                self.objects.insert(inside, owner);
            }
            return;
        }
        let (of, is_instance) = match self.kind(object) {
            Kind::MemberExpression => {
                let property = self.child(object, Field::Property);
                if !property.is_some_and(|it| self.is(it, "prototype")) {
                    return;
                }
                (self.child(object, Field::Object), true)
            }
            Kind::Identifier => (Some(object), false),
            _ => return,
        };
        let Some(owner) =
            of.filter(|it| self.kind(*it) == Kind::Identifier).and_then(|it| self.symbol_of(it, cx))
        else {
            return;
        };
        let name = self.b.name(key);
        if self.members.contains_key(&(owner, name)) {
            return;
        }
        self.b.consume(left);
        let is_static =
            !is_instance && matches!(self.b.facts.decl(owner).kind, NodeKind::Class | NodeKind::Function);
        let id = if self.is_function(inside) {
            let head = Range { from: self.b.tree.start(node), to: self.head(inside).to };
            self.member_function(node, key, name, inside, owner, head)
        } else if matches!(
            self.kind(inside),
            Kind::Identifier | Kind::NewExpression | Kind::CallExpression | Kind::MemberExpression
        ) {
            let value = self.expr(right);
            self.object_field(node, key, name, owner, Some(value))
        } else {
            None
        };
        if let (Some(id), true) = (id, is_static) {
            self.b.decl_mut(id).modifiers.insert(Modifiers::STATIC);
        }
    }

    /// The declaration of this file that a name means here.
    fn symbol_of(&mut self, name: Node, cx: Context) -> Option<DeclId> {
        let name = self.b.name(name);
        let (scope, _) = self.scopes.binder(cx.scope, name)?;
        self.symbols.get(&(scope, name)).copied()
    }
}
