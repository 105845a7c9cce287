//! Namespaces, classes, interfaces, traits, enums and their members without a body.

use knowing_model::facts::{
    Base, BaseRole, DeclId, Modifiers, Namespace, ReferenceRole, ReferenceTarget, Str,
};
use knowing_model::{NodeFlags, NodeKind, Position, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// A declaration that is met.
pub(super) struct Met {
    pub(super) node: Node,
    pub(super) kind: NodeKind,
    pub(super) name: Str,
    pub(super) name_position: Position,
    pub(super) signature_end: u32,
}

impl Reader<'_, '_> {
    /// What all declarations have in common; none when the limit is reached.
    pub(super) fn declare(&mut self, met: Met, owner: Option<DeclId>) -> Option<DeclId> {
        let signature = self.head(met.node, met.signature_end);
        let id = self.b.declare(NewDecl {
            owner,
            name: met.name,
            kind: met.kind,
            node: met.node,
            name_position: met.name_position,
            signature,
        })?;
        let doc = self.doc_before(met.node);
        let comment = self.comment_before(met.node);
        let mut is_hidden = false;
        let mut is_static = false;
        let mut is_abstract = false;
        for child in self.children(met.node) {
            match self.kind(child) {
                Kind::VisibilityModifier => is_hidden = !self.b.bytes(child).starts_with(b"public"),
                Kind::StaticModifier => is_static = true,
                Kind::AbstractModifier => is_abstract = true,
                _ => {}
            }
        }
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        if !is_hidden {
            decl.flags.insert(NodeFlags::EXPORTED);
            decl.modifiers.insert(Modifiers::PUBLIC);
        }
        if is_static {
            decl.modifiers.insert(Modifiers::STATIC);
        }
        if is_abstract {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        if comment.is_some_and(|it| Self::has_tag(&it, "@deprecated")) {
            decl.flags.insert(NodeFlags::DEPRECATED);
        }
        self.decorated(met.node, id);
        Some(id)
    }

    fn head(&mut self, node: Node, end: u32) -> Str {
        let mut from = self.b.tree.start(node);
        if let Some(attributes) = self.child_of_kind(node, Kind::AttributeList) {
            from = self.b.tree.end(attributes);
        }
        let text = self.b.source.slice(Range { from: from.min(end), to: end });
        let text = text.trim().trim_end_matches([';', '{', '=', ',']).trim_end();
        let signature = signature(text, Comments::Slashes);
        self.b.intern(signature)
    }

    /// `#[Attribute]`: a use by what it stands on.
    fn decorated(&mut self, node: Node, id: DeclId) {
        let Some(list) = self.child_of_kind(node, Kind::AttributeList) else { return };
        let groups: Vec<Node> = self.children(list).collect();
        for attribute in groups.into_iter().flat_map(|it| self.children(it)).collect::<Vec<_>>() {
            let Some(name) = self.first_child(attribute) else { continue };
            let type_ = self.read_type(name, Some(id), None);
            let position = self.b.tree.position(self.last_name(name));
            self.refer(Some(id), ReferenceTarget::Type(type_), ReferenceRole::Decorator, position);
        }
    }

    pub(super) fn namespace(&mut self, node: Node) -> Step<Context> {
        let body = self.child(node, Field::Body);
        let range = match body {
            Some(body) => self.b.tree.range(body),
            None => Range { from: self.b.tree.start(node), to: self.b.source.len() },
        };
        // One without braces ends where the next begins.
        if body.is_none()
            && let Some(before) = self.b.facts.namespaces.last_mut()
        {
            before.range.to = before.range.to.min(range.from);
        }
        let text = self.child(node, Field::Name).map(|it| {
            self.b.consume(it);
            self.b.text(it).into_owned()
        });
        let name = self.b.intern(text.unwrap_or_default());
        self.b.facts.namespace.get_or_insert(name);
        self.b.facts.namespaces.push(Namespace { name, range });
        self.b.count();
        Step::Into
    }

    pub(super) fn class(&mut self, node: Node, cx: Context) -> Step<Context> {
        let kind = match self.kind(node) {
            Kind::InterfaceDeclaration => NodeKind::Interface,
            Kind::TraitDeclaration => NodeKind::Trait,
            Kind::EnumDeclaration => NodeKind::Enum,
            _ => NodeKind::Class,
        };
        let name_node = self.child(node, Field::Name);
        let name = match name_node {
            Some(name) => {
                self.b.consume(name);
                self.b.name(name)
            }
            None => self.b.intern("class@anonymous"),
        };
        let body = self.child(node, Field::Body);
        let met = Met {
            node,
            kind,
            name,
            name_position: self.b.tree.position(name_node.unwrap_or(node)),
            signature_end: body.map_or(self.b.tree.end(node), |it| self.b.tree.start(it)),
        };
        let owner = if name_node.is_some() { None } else { cx.decl };
        let Some(id) = self.declare(met, owner) else { return Step::Over };
        // Traits come before the parent: what they bring is nearer.
        if let Some(body) = body {
            for used in self.children(body) {
                if self.kind(used) == Kind::UseDeclaration {
                    self.bases(used, id, BaseRole::Implements);
                }
            }
        }
        for clause in self.children(node) {
            match self.kind(clause) {
                Kind::BaseClause => self.bases(clause, id, BaseRole::Extends),
                Kind::ClassInterfaces => self.bases(clause, id, BaseRole::Implements),
                _ => {}
            }
        }
        let range = self.b.tree.range(node);
        Step::Within(Context {
            decl: Some(id),
            class: Some(id),
            callable: range,
            block: range,
            in_closure: false,
        })
    }

    fn bases(&mut self, clause: Node, id: DeclId, role: BaseRole) {
        self.b.consume(clause);
        for name in self.children(clause) {
            if matches!(self.kind(name), Kind::Name | Kind::QualifiedName | Kind::RelativeName) {
                let type_ = self.read_type(name, Some(id), None);
                let position = self.b.tree.position(self.last_name(name));
                self.b.decl_mut(id).bases.push(Base { type_, role, position });
            }
        }
    }

    /// `private ?Cart $cart = null, $other;`
    pub(super) fn properties(&mut self, node: Node, cx: Context) -> Step<Context> {
        let type_node = self.child(node, Field::Type);
        for element in self.children(node) {
            if self.kind(element) != Kind::PropertyElement {
                continue;
            }
            let Some(variable) = self.child(element, Field::Name) else { continue };
            self.b.consume(variable);
            let met = Met {
                node,
                kind: NodeKind::Field,
                name: self.variable_text(variable),
                name_position: self.b.tree.position(variable),
                signature_end: self.b.tree.end(element),
            };
            let Some(id) = self.declare(met, cx.class) else { return Step::Over };
            let mut type_ = type_node.map(|it| self.read_type(it, Some(id), Some(ReferenceRole::Hint)));
            if type_.is_none()
                && let Some(comment) = self.comment_before(node)
            {
                type_ = self.stated(&comment, "@var", None, self.b.tree.start(node));
            }
            let value = self.child(element, Field::DefaultValue).map(|it| self.expr(it, Some(id)));
            let is_null = value
                .is_some_and(|it| matches!(self.b.facts.expr(it), knowing_model::facts::Expr::Literal(_)));
            let decl = self.b.decl_mut(id);
            decl.type_ = type_;
            decl.value = value.filter(|_| !is_null);
        }
        Step::Into
    }

    /// The name of a variable without its `$`.
    pub(super) fn variable_text(&mut self, variable: Node) -> Str {
        let text = self.b.text(variable);
        let text = text.trim_start_matches('&').trim_start_matches('$').to_owned();
        self.b.intern_name(text.into())
    }

    pub(super) fn constants(&mut self, node: Node, cx: Context) -> Step<Context> {
        for element in self.children(node) {
            if self.kind(element) != Kind::ConstElement {
                continue;
            }
            let Some(name) = self.first_child(element) else { continue };
            self.b.consume(name);
            let met = Met {
                node,
                kind: NodeKind::Const,
                name: self.b.name(name),
                name_position: self.b.tree.position(name),
                signature_end: self.b.tree.end(element).min(self.b.tree.end(name) + 100),
            };
            if self.declare(met, cx.class).is_none() {
                return Step::Over;
            }
        }
        Step::Into
    }

    pub(super) fn enum_case(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name);
        let met = Met {
            node,
            kind: NodeKind::EnumMember,
            name: self.b.name(name),
            name_position: self.b.tree.position(name),
            signature_end: self.b.tree.end(node),
        };
        let Some(id) = self.declare(met, cx.class) else { return Step::Over };
        self.b.decl_mut(id).modifiers.insert(Modifiers::STATIC);
        Step::Into
    }
}
