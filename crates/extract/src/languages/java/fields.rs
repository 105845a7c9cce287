//! Fields, constants, members of enums.

use knowing_model::facts::{Expr, Modifiers, ReferenceRole};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn field_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(type_node) = self.child(node, Field::Type) else { return Step::Into };
        let mut marks = self.marks(node);
        let is_constant = self.kind(node) == Kind::ConstantDeclaration;
        if is_constant {
            marks.flags.insert(NodeFlags::EXPORTED);
            marks.modifiers.insert(Modifiers::STATIC);
        }
        let is_static = marks.modifiers.contains(Modifiers::STATIC);
        let kind = if is_constant || is_static && marks.is_final { NodeKind::Const } else { NodeKind::Field };
        let doc = self.doc(node);
        let mut type_ = None;
        let declarators: Vec<Node> =
            self.children(node).filter(|it| self.kind(*it) == Kind::VariableDeclarator).collect();
        for declarator in declarators {
            let Some(name_node) = self.child(declarator, Field::Name) else { continue };
            let name = self.b.name(name_node);
            let value = self.child(declarator, Field::Value);
            let signature = self.field_signature(marks.from, type_node, declarator, value);
            let new = NewDecl {
                owner: cx.decl,
                name,
                kind,
                node,
                name_position: self.b.tree.position(name_node),
                signature,
            };
            let Some(id) = self.b.declare(new) else { return Step::Over };
            let inner = Context { decl: Some(id), ..cx };
            // Read once, so that naming the type is one use of the first field.
            let written = match type_ {
                Some(it) => it,
                None => self.type_at(type_node, inner, ReferenceRole::Hint),
            };
            type_ = Some(written);
            let own = self.with_dimensions(written, declarator);
            let decl = self.b.decl_mut(id);
            decl.type_ = Some(own);
            decl.flags = marks.flags;
            decl.modifiers = marks.modifiers;
            decl.doc = doc;
            self.decorate(id, &marks);
            if let Some(value) = value.filter(|it| self.kind(*it) == Kind::LambdaExpression) {
                self.owners.insert(value, id);
            }
        }
        Step::Into
    }

    /// What a field starts as is part of its signature where it is short.
    fn field_signature(
        &mut self,
        from: u32,
        type_node: Node,
        declarator: Node,
        value: Option<Node>,
    ) -> knowing_model::facts::Str {
        let is_long = value.is_some_and(|it| self.b.bytes(it).contains(&b'\n'));
        let to = match value {
            Some(value) if is_long => self.b.tree.start(value),
            _ => self.b.tree.end(declarator),
        };
        let start = self.b.tree.start(declarator);
        let head = self.b.source.slice(Range { from, to: self.b.tree.end(type_node) });
        let own = self.b.source.slice(Range { from: start, to });
        let own = if is_long { own.trim_end().trim_end_matches('=') } else { &own };
        let text = format!("{} {}", head.trim(), own.trim());
        let text = crate::engine::signature::signature(&text, crate::engine::signature::Comments::Slashes);
        self.b.intern(text.into_owned())
    }

    pub(super) fn enum_constant(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let mut marks = self.marks(node);
        marks.flags.insert(NodeFlags::EXPORTED);
        let name = self.b.name(name_node);
        let body = self.child(node, Field::Body);
        let to = body.map_or(self.b.tree.end(node), |it| self.b.tree.start(it));
        let signature = self.signature_of(Range { from: marks.from, to });
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::EnumMember,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.doc = doc;
        self.decorate(id, &marks);
        if let Some(body) = body {
            self.owners.insert(body, id);
        }
        if let (Some(arguments), Some(type_)) = (self.child(node, Field::Arguments), cx.decl) {
            let type_ = self.type_of_decl(type_, self.b.tree.start(node));
            let of = self.b.expr(Expr::TypePath(type_));
            self.construct(of, name_node, Some(arguments), node, cx);
        }
        Step::Into
    }
}
