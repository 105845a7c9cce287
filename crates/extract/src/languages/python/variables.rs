//! Variables that are declarations: at the top of a file, in a class, on `self`; named lambdas; type aliases.

use knowing_model::facts::{DeclId, ReferenceRole, Str, Value};
use knowing_model::{NodeFlags, NodeKind};

use super::bindings::{Given, Place};
use super::functions::is_public;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, ScopeKind};
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// A value is shown in a signature up to here.
const MAX_SHOWN: usize = 120;

impl Reader<'_, '_> {
    /// The first assignment of a name at the top of a file.
    pub(super) fn module_variable(&mut self, node: Node, name: Str, given: Given, place: Place, cx: Context) {
        if self.scopes.bound(cx.scope, name).is_some() {
            return;
        }
        let kind = if is_constant(self.b.str(name)) { NodeKind::Const } else { NodeKind::Var };
        self.variable(node, name, kind, given, place, None);
    }

    /// A name assigned in a class body.
    pub(super) fn class_field(&mut self, node: Node, name: Str, given: Given, place: Place, cx: Context) {
        let scope = self.scopes.at(cx.scope);
        let Some(class) = scope.decl else { return };
        if let Some(known) = self.members.get(&(class, name)) {
            if let Some(id) = *known {
                self.annotated(id, node, place);
            }
            return;
        }
        let is_member = scope.class.is_enum && place.type_.is_none() && !self.b.str(name).starts_with('_');
        let kind = if is_member { NodeKind::EnumMember } else { NodeKind::Field };
        let field = self.variable(node, name, kind, given, place, Some(class));
        self.members.insert((class, name), field);
    }

    /// `name: T` in a class whose methods have set `self.name` further up: the class declares it.
    fn annotated(&mut self, id: DeclId, node: Node, place: Place) {
        let decl = self.b.decl_mut(id);
        if decl.kind != NodeKind::Field || decl.type_.is_some() || place.type_.is_none() {
            return;
        }
        decl.type_ = place.type_;
        let signature = self.shown(place.statement);
        let position = self.b.tree.position(node);
        self.b.declare_at(id, place.statement, position, signature);
    }

    fn variable(
        &mut self,
        node: Node,
        name: Str,
        kind: NodeKind,
        given: Given,
        place: Place,
        owner: Option<DeclId>,
    ) -> Option<DeclId> {
        let value = match given {
            Given::Value(Value::Type(_) | Value::Unknown) => {
                let right = self.child(place.statement, Field::Right);
                right.map(|it| self.expr(it))
            }
            _ => match self.value_of(given) {
                Value::Expr(expr) => Some(expr),
                _ => None,
            },
        };
        let id = self.declare_variable(node, name, kind, place.statement, owner)?;
        let decl = self.b.decl_mut(id);
        decl.type_ = place.type_;
        decl.value = value;
        Some(id)
    }

    fn declare_variable(
        &mut self,
        name_node: Node,
        name: Str,
        kind: NodeKind,
        statement: Node,
        owner: Option<DeclId>,
    ) -> Option<DeclId> {
        let signature = self.shown(statement);
        let name_position = self.b.tree.position(name_node);
        let id = self.b.declare(NewDecl { owner, name, kind, node: statement, name_position, signature })?;
        if is_public(self.b.str(name)) {
            self.b.decl_mut(id).flags.insert(NodeFlags::EXPORTED);
        }
        Some(id)
    }

    /// The statement as a signature, a long value cut short.
    fn shown(&mut self, statement: Node) -> Str {
        let text = self.b.text(statement);
        let mut text = signature(&text, Comments::Hash).into_owned();
        if text.len() > MAX_SHOWN {
            text.truncate(text.floor_char_boundary(MAX_SHOWN));
            text.push_str("...");
        }
        self.b.intern(text)
    }

    /// The field that `self.x = ...` means: declared here when it is the first of its class.
    pub(super) fn instance_field(&mut self, node: Node, class: DeclId, place: Place) -> Option<DeclId> {
        let name_node = self.child(node, Field::Attribute)?;
        let name = self.b.name(name_node);
        if let Some(known) = self.members.get(&(class, name)) {
            return *known;
        }
        let id = self.declare_variable(name_node, name, NodeKind::Field, place.statement, Some(class))?;
        self.b.decl_mut(id).type_ = place.type_;
        self.members.insert((class, name), Some(id));
        Some(id)
    }

    /// `name = lambda ...` is a function of that name; false when the name has a meaning already.
    pub(super) fn named_lambda(&mut self, statement: Node, left: Node, lambda: Node, cx: Context) -> bool {
        let name = self.b.name(left);
        let scope = self.scopes.at(cx.scope);
        if scope.kind == ScopeKind::Comprehension || self.scopes.bound(cx.scope, name).is_some() {
            return false;
        }
        let kind = if scope.kind == ScopeKind::Class { NodeKind::Method } else { NodeKind::Function };
        let Some(id) = self.declare_variable(left, name, kind, statement, cx.decl) else { return false };
        if scope.kind == ScopeKind::Function {
            self.b.decl_mut(id).flags = NodeFlags::default();
        }
        if let Some(class) = scope.decl.filter(|_| scope.kind == ScopeKind::Class) {
            self.members.insert((class, name), None);
        }
        self.b.consume(left);
        self.scopes.bind(cx.scope, name, Bound::Symbol);
        self.lambdas.insert(lambda, id);
        true
    }

    pub(super) fn is_type_alias(&self, written: Node) -> bool {
        let text = self.b.bytes(written);
        text == b"TypeAlias" || text.ends_with(b".TypeAlias")
    }

    /// `X: TypeAlias = ...`.
    pub(super) fn alias(&mut self, statement: Node, left: Node, right: Node, cx: Context) {
        let name = self.b.name(left);
        self.b.consume(left);
        let owner = cx.decl;
        let Some(id) = self.declare_variable(left, name, NodeKind::TypeAlias, statement, owner) else {
            return;
        };
        self.scopes.bind(cx.scope, name, Bound::Symbol);
        let type_ = self.type_in_expression(right, cx, super::types::Besides::Nothing);
        self.b.decl_mut(id).type_ = Some(type_);
    }

    /// `type X[T] = ...`.
    pub(super) fn type_alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let left = self.child(node, Field::Left);
        let name_node =
            left.and_then(|it| self.b.tree.subtree(it).find(|it| self.kind(*it) == Kind::Identifier));
        if let (Some(name_node), Some(right)) = (name_node, self.child(node, Field::Right)) {
            let name = self.b.name(name_node);
            let Some(id) = self.declare_variable(name_node, name, NodeKind::TypeAlias, node, cx.decl) else {
                return Step::Over;
            };
            self.scopes.bind(cx.scope, name, Bound::Symbol);
            let list =
                left.and_then(|it| self.b.tree.subtree(it).find(|it| self.kind(*it) == Kind::TypeParameter));
            if let Some(list) = list {
                self.type_parameter_list(list, id, cx);
            }
            let type_ = self.annotation(right, cx, ReferenceRole::Type);
            self.b.decl_mut(id).type_ = Some(type_);
        }
        Step::Into
    }
}

fn is_constant(name: &str) -> bool {
    name.bytes().any(|it| it.is_ascii_uppercase()) && !name.bytes().any(|it| it.is_ascii_lowercase())
}
