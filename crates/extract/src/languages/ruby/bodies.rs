//! Classes and modules: written, reopened, made by `Class.new`, `Module.new`, `Struct.new` and `Data.define`.

use knowing_model::facts::{Base, BaseRole, DeclId, Str, Type, TypeId};
use knowing_model::{NodeKind, Range};

use super::blocks::Role;
use super::kinds::{Field, Kind};
use super::reader::{Context, Level, Reader, exported};
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn class(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(id) = self.body(node, NodeKind::Class, cx) else { return Step::Into };
        if let Some(superclass) = self.child(node, Field::Superclass)
            && let Some(value) = self.first_child(superclass)
        {
            self.superclass(value, id, cx);
        }
        Step::Within(self.inside(node, id, cx))
    }

    pub(super) fn module(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(id) = self.body(node, NodeKind::Module, cx) else { return Step::Into };
        Step::Within(self.inside(node, id, cx))
    }

    /// `class << self` is the same type, seen from its other side; of other objects nobody knows the type.
    pub(super) fn singleton_class(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.enter_scope(node, cx);
        let is_self = self.child(node, Field::Value).is_some_and(|it| self.kind(it) == Kind::SelfWord);
        if is_self && cx.is_body() {
            Step::Within(Context { level: Level::Singleton, decl: cx.type_, ..cx })
        } else {
            Step::Into
        }
    }

    fn body(&mut self, node: Node, kind: NodeKind, cx: Context) -> Option<DeclId> {
        let name_node = self.child(node, Field::Name)?;
        let last = self.last_constant(name_node)?;
        let name = self.b.name(last);
        let signature = self.head(node);
        let id = self.b.declare(NewDecl {
            owner: cx.type_,
            name,
            kind,
            node,
            name_position: self.b.tree.position(last),
            signature,
        })?;
        let written =
            if self.kind(name_node) == Kind::ScopeResolution { self.named_type(name_node) } else { None };
        let comment = self.comment_above(node);
        let doc = comment.doc.map(|it| self.b.intern(it));
        let decl = self.b.decl_mut(id);
        decl.type_ = written;
        decl.flags = exported(true);
        decl.doc = doc;
        self.consume_constant(name_node);
        Some(id)
    }

    fn inside(&mut self, node: Node, id: DeclId, cx: Context) -> Context {
        let inner = Context {
            decl: Some(id),
            type_: Some(id),
            function: None,
            level: Level::Body,
            certain_to: self.b.tree.end(node),
            in_block: false,
            ..cx
        };
        self.enter_scope(node, inner);
        inner
    }

    fn superclass(&mut self, value: Node, id: DeclId, cx: Context) {
        let position = self.b.tree.position(self.last_constant(value).unwrap_or(value));
        let type_ = match self.kind(value) {
            Kind::Constant | Kind::ScopeResolution => {
                self.consume_constant(value);
                self.named_type(value)
            }
            // `ActiveRecord::Migration[7.0]`.
            Kind::ElementReference => self.child(value, Field::Object).and_then(|it| self.named_type(it)),
            // `class Point < Struct.new(:x, :y)`.
            Kind::Call => match self.maker(value) {
                Some(maker) if maker != Maker::Class && maker != Maker::Module => {
                    self.struct_members(value, id, cx);
                    self.child(value, Field::Receiver).and_then(|it| self.named_type(it))
                }
                _ => None,
            },
            _ => None,
        };
        let type_ = type_.unwrap_or_else(|| self.b.type_(Type::Unknown));
        self.mix_in(id, super::macros::Mixin::Superclass, Base { type_, role: BaseRole::Extends, position });
    }

    /// `Name = Class.new(Base) do ... end` and its like declare a type; others are none of this.
    pub(super) fn made_type(&mut self, node: Node, left: Node, right: Node, cx: Context) -> Option<DeclId> {
        if self.kind(left) != Kind::Constant || !matches!(cx.level, Level::Top | Level::Body) {
            return None;
        }
        let maker = self.maker(right)?;
        let name = self.b.name(left);
        let kind = if maker == Maker::Module { NodeKind::Module } else { NodeKind::Class };
        let block = self.child(right, Field::Block);
        let signature = self.head_up_to(node, block);
        let id = self.b.declare(NewDecl {
            owner: cx.type_,
            name,
            kind,
            node,
            name_position: self.b.tree.position(left),
            signature,
        })?;
        self.b.consume(left);
        let comment = self.comment_above(node);
        let doc = comment.doc.map(|it| self.b.intern(it));
        let decl = self.b.decl_mut(id);
        decl.flags = exported(true);
        decl.doc = doc;
        let arguments = self.arguments(right);
        match maker {
            Maker::Class => {
                if let Some(base) = arguments.first() {
                    self.superclass(*base, id, cx);
                }
            }
            Maker::Module => {}
            Maker::Struct | Maker::Data => {
                self.struct_members(right, id, cx);
                if let Some(receiver) = self.child(right, Field::Receiver) {
                    self.superclass(receiver, id, cx);
                }
            }
        }
        if let Some(block) = block {
            self.blocks.insert(block, Role::Body { decl: id, level: Level::Body });
        }
        Some(id)
    }

    /// Every literal name among the arguments is a member to read, and to write if it is no `Data`.
    fn struct_members(&mut self, call: Node, id: DeclId, cx: Context) {
        let arguments = self.arguments(call);
        let is_data = self.maker(call) == Some(Maker::Data);
        let inner = Context { decl: Some(id), type_: Some(id), level: Level::Body, ..cx };
        for (node, name) in self.literal_names(&arguments) {
            // `Struct.new("Name", :member)`.
            if name.starts_with(|it: char| it.is_ascii_uppercase()) {
                continue;
            }
            self.property(call, node, name, !is_data, inner);
        }
    }

    pub(super) fn maker(&self, call: Node) -> Option<Maker> {
        if self.kind(call) != Kind::Call {
            return None;
        }
        let receiver = self.child(call, Field::Receiver)?;
        let method = self.child(call, Field::Method)?;
        if !matches!(self.kind(receiver), Kind::Constant | Kind::ScopeResolution) {
            return None;
        }
        let receiver = self.b.bytes(receiver);
        match (receiver.strip_prefix(b"::").unwrap_or(receiver), self.b.bytes(method)) {
            (b"Class", b"new") => Some(Maker::Class),
            (b"Module", b"new") => Some(Maker::Module),
            (b"Struct", b"new") => Some(Maker::Struct),
            (b"Data", b"define") => Some(Maker::Data),
            _ => None,
        }
    }

    /// All before the body, on one line.
    pub(super) fn head(&mut self, node: Node) -> Str {
        let body = self.child(node, Field::Body);
        let mut last = None;
        for child in self.children(node) {
            if Some(child) == body
                || self.b.tree.start(child) >= body.map_or(u32::MAX, |it| self.b.tree.start(it))
            {
                break;
            }
            last = Some(child);
        }
        let from = self.b.tree.start(node);
        let mut to = last.map_or_else(|| self.b.tree.end(node), |it| self.b.tree.end(it));
        // `def a()` has no node for the empty list.
        if self.b.source.bytes(Range { from: to, to: to + 2 }) == b"()" {
            to += 2;
        }
        let text = self.b.source.slice(Range { from, to });
        let signature = signature(text.trim_end(), Comments::Hash);
        self.b.intern(signature)
    }

    pub(super) fn head_up_to(&mut self, node: Node, body: Option<Node>) -> Str {
        let from = self.b.tree.start(node);
        let to = body.map_or_else(|| self.b.tree.end(node), |it| self.b.tree.start(it));
        let text = self.b.source.slice(Range { from, to });
        let signature = signature(text.trim_end(), Comments::Hash);
        self.b.intern(signature)
    }
}

/// What makes a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    Class,
    Module,
    Struct,
    Data,
}

/// Constants and paths of them.
impl Reader<'_, '_> {
    /// The last name of `A::B::C`.
    pub(super) fn last_constant(&self, node: Node) -> Option<Node> {
        match self.kind(node) {
            Kind::Constant => Some(node),
            Kind::ScopeResolution => self.child(node, Field::Name),
            Kind::Call | Kind::ElementReference => None,
            _ => None,
        }
    }

    /// `A::B::C` as a type; none when something computed stands in it.
    pub(super) fn named_type(&mut self, node: Node) -> Option<TypeId> {
        let mut segments = Vec::new();
        let mut at = node;
        loop {
            match self.kind(at) {
                Kind::Constant => {
                    segments.push(self.b.name(at));
                    break;
                }
                Kind::ScopeResolution => {
                    let name = self.child(at, Field::Name)?;
                    segments.push(self.b.name(name));
                    match self.child(at, Field::Scope) {
                        Some(scope) => at = scope,
                        None => {
                            segments.push(self.b.intern(""));
                            break;
                        }
                    }
                }
                _ => return None,
            }
        }
        segments.reverse();
        let at = self.b.tree.start(node);
        Some(self.b.type_(Type::Named { segments, arguments: Vec::new(), at }))
    }

    /// A path of constants that was read as something else is no use by itself.
    pub(super) fn consume_constant(&mut self, node: Node) {
        if matches!(self.kind(node), Kind::Constant | Kind::ScopeResolution) {
            self.b.consume(node);
        }
    }
}
