//! Interfaces, aliases, enums, namespaces; where types are written, and what naming one means.

use knowing_model::facts::{BaseRole, DeclId, Reference, ReferenceRole, ReferenceTarget, Str, Type, TypeId};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::annotation::{Mention, parse, parse_arguments, parse_parameters};
use super::functions::{NOWHERE, Named};
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Scope, ScopeKind, This};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// A declared type; every type it names is a reference of `cx.decl`.
    pub(super) fn annotation(&mut self, node: Node, cx: Context, role: ReferenceRole) -> TypeId {
        self.annotation_with_fields(node, cx, role).0
    }

    pub(super) fn annotation_with_fields(
        &mut self,
        node: Node,
        cx: Context,
        role: ReferenceRole,
    ) -> (TypeId, Vec<(Str, TypeId)>) {
        let parsed = parse(self.b, self.b.tree.range(node));
        for mention in &parsed.mentions {
            self.mention(node, mention, cx, role);
        }
        (parsed.type_, parsed.fields)
    }

    /// A type in a comment.
    pub(super) fn annotation_at(&mut self, range: Range, cx: Context, role: ReferenceRole) -> TypeId {
        let parsed = parse(self.b, range);
        if let Some(root) = self.b.tree.root() {
            for mention in &parsed.mentions {
                self.mention(root, mention, cx, role);
            }
        }
        parsed.type_
    }

    pub(super) fn mention(&mut self, node: Node, mention: &Mention, cx: Context, role: ReferenceRole) {
        let position = self.b.position_at(node, mention.at);
        let target = ReferenceTarget::Type(mention.type_);
        self.b.reference(Reference { decl: cx.decl, target, role, position });
    }

    pub(super) fn argument_types(&mut self, node: Node, cx: Context) -> Vec<TypeId> {
        let (types, mentions) = parse_arguments(self.b, self.b.tree.range(node));
        for mention in &mentions {
            self.mention(node, mention, cx, ReferenceRole::Type);
        }
        self.b.consume(node);
        types
    }

    /// Arguments that nobody asked for.
    pub(super) fn type_arguments(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !self.b.is_consumed(node) {
            self.argument_types(node, cx);
        }
        Step::Over
    }

    pub(super) fn is_unknown(&self, type_: TypeId) -> bool {
        match self.b.facts.type_(type_) {
            Type::Unknown => true,
            Type::Named { segments, .. } => {
                segments.len() == 1 && matches!(self.b.str(segments[0]), "any" | "unknown" | "const")
            }
            _ => false,
        }
    }

    pub(super) fn type_parameters(&mut self, node: Node, of: DeclId, cx: Context) {
        let Some(list) = self.child(node, Field::TypeParameters) else { return };
        let (parameters, mentions) = parse_parameters(self.b, self.b.tree.range(list));
        for mention in &mentions {
            self.mention(list, mention, cx, ReferenceRole::Type);
        }
        self.b.decl_mut(of).type_parameters = parameters;
    }

    /// `x as T`, `x satisfies T`.
    pub(super) fn cast(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(type_) = self.children(node).nth(1) {
            let parsed = parse(self.b, self.b.tree.range(type_));
            for mention in &parsed.mentions {
                self.mention(type_, mention, cx, ReferenceRole::Type);
            }
            self.b.consume(type_);
        }
        // What is cast is walked; the type beside it is not.
        Step::Into
    }

    pub(super) fn interface(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Over };
        let head = self.head(node);
        let Some(id) = self.declare_in_scope(node, name, NodeKind::Interface, head, cx) else {
            return Step::Over;
        };
        self.default_export(node, Some(id));
        let inner = Context { decl: Some(id), function: None, ..cx };
        self.type_parameters(node, id, inner);
        let mut bases = Vec::new();
        if let Some(clause) = self.child_of_kind(node, Kind::ExtendsTypeClause) {
            self.base_types(clause, BaseRole::Extends, inner, &mut bases);
        }
        self.b.decl_mut(id).bases = bases;
        if let Some(body) = self.child(node, Field::Body) {
            self.type_members(body, id, inner);
        }
        Step::Over
    }

    /// Members of an interface or of a type that is written out.
    fn type_members(&mut self, body: Node, owner: DeclId, cx: Context) {
        for node in self.children(body) {
            let kind = match self.kind(node) {
                Kind::PropertySignature => NodeKind::Field,
                Kind::MethodSignature => NodeKind::Method,
                Kind::CallSignature | Kind::ConstructSignature | Kind::IndexSignature => {
                    self.mentions_of(node, cx);
                    continue;
                }
                _ => continue,
            };
            let Some(name_node) = self.child(node, Field::Name) else { continue };
            let name = self.member_name(name_node);
            let position = self.b.tree.position(name_node);
            let named = Named { name, position, kind, owner: Some(owner), visible: Some(NOWHERE) };
            let Some(id) = self.declare(node, named, self.head(node)) else { return };
            let decl = self.b.decl_mut(id);
            decl.flags.insert(NodeFlags::EXPORTED);
            let inner = Context { decl: Some(id), ..cx };
            if kind == NodeKind::Method {
                self.signatures.insert(id);
                self.function_scope(node, Some(id), This::Unknown, inner);
            } else if let Some(type_) = self.child(node, Field::Type) {
                let type_ = self.annotation(type_, inner, ReferenceRole::Hint);
                self.b.decl_mut(id).type_ = Some(type_);
            }
        }
    }

    /// The types named in something that has no node.
    fn mentions_of(&mut self, node: Node, cx: Context) {
        for child in self.b.tree.subtree(node) {
            let is_type = matches!(self.kind(child), Kind::TypeAnnotation | Kind::TypePredicateAnnotation);
            if is_type {
                self.annotation(child, cx, ReferenceRole::Hint);
            }
        }
    }

    pub(super) fn type_alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Over };
        let head = self.b.tree.range(node);
        let Some(id) = self.declare_in_scope(node, name, NodeKind::TypeAlias, head, cx) else {
            return Step::Over;
        };
        self.shorten(id);
        let inner = Context { decl: Some(id), function: None, ..cx };
        self.type_parameters(node, id, inner);
        if let Some(value) = self.child(node, Field::Value) {
            match self.kind(value) {
                Kind::ObjectType => self.type_members(value, id, inner),
                Kind::IntersectionType => {
                    let written: Vec<Node> =
                        self.children(value).filter(|it| self.kind(*it) == Kind::ObjectType).collect();
                    for object in written {
                        self.type_members(object, id, inner);
                    }
                    let parsed = parse(self.b, self.b.tree.range(value));
                    for type_ in self.children(value) {
                        if self.kind(type_) != Kind::ObjectType {
                            self.annotation(type_, inner, ReferenceRole::Type);
                        }
                    }
                    self.b.decl_mut(id).type_ = Some(parsed.type_);
                }
                _ => {
                    let type_ = self.annotation(value, inner, ReferenceRole::Type);
                    self.b.decl_mut(id).type_ = Some(type_);
                }
            }
        }
        Step::Over
    }

    pub(super) fn enumeration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let head = self.head(node);
        let Some(id) = self.declare_in_scope(node, name, NodeKind::Enum, head, cx) else {
            return Step::Over;
        };
        self.default_export(node, Some(id));
        let Some(body) = self.child(node, Field::Body) else { return Step::Over };
        for member in self.children(body) {
            let name_node = match self.kind(member) {
                Kind::EnumAssignment => self.child(member, Field::Name),
                _ => Some(member),
            };
            let Some(name_node) = name_node else { continue };
            let name = self.member_name(name_node);
            let position = self.b.tree.position(name_node);
            let named =
                Named { name, position, kind: NodeKind::EnumMember, owner: Some(id), visible: Some(NOWHERE) };
            let Some(member) = self.declare(member, named, self.b.tree.range(member)) else { break };
            self.b.decl_mut(member).flags.insert(NodeFlags::EXPORTED);
        }
        Step::Within(Context { decl: Some(id), function: None, ..cx })
    }

    pub(super) fn namespace(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let head = self.head(node);
        // `namespace a.b.c` is three; the last holds what is inside.
        let parts: Vec<Node> = match self.kind(name_node) {
            Kind::NestedIdentifier => {
                let all = self.b.tree.subtree(name_node);
                all.filter(|it| matches!(self.kind(*it), Kind::Identifier | Kind::PropertyIdentifier))
                    .collect()
            }
            _ => vec![name_node],
        };
        let mut inner = cx;
        for part in parts {
            self.b.consume(part);
            let Some(id) = self.declare_in_scope(node, part, NodeKind::Module, head, inner) else {
                return Step::Over;
            };
            if inner.decl != cx.decl {
                self.mark_exported(id);
            }
            let scope = self.scopes.open(Scope {
                kind: ScopeKind::Module,
                parent: Some(inner.scope),
                decl: Some(id),
                is_whole: true,
                range: self.b.tree.range(node),
                this: This::Unknown,
            });
            let certain_to = self.b.tree.end(node);
            inner = Context { decl: Some(id), function: None, scope, certain_to, ..inner };
        }
        Step::Within(inner)
    }

    pub(super) fn ambient(&mut self, cx: Context) -> Step<Context> {
        Step::Within(Context { is_ambient: true, ..cx })
    }

    /// A long value is cut short in a signature.
    pub(super) fn shorten(&mut self, id: DeclId) {
        const MAX_SHOWN: usize = 120;
        let signature = self.b.facts.decl(id).signature;
        let text = self.b.str(signature);
        if text.len() > MAX_SHOWN {
            let text = format!("{}...", &text[..text.floor_char_boundary(MAX_SHOWN)]);
            let text = self.b.intern(text);
            self.b.decl_mut(id).signature = text;
        }
    }
}
