//! Namespaces, types, and their members without a body: fields, properties, events, members of enums.

use knowing_model::facts::{
    Base, BaseRole, DeclId, Modifiers, Namespace, ReferenceRole, ReferenceTarget, Str, Type,
};
use knowing_model::{NodeFlags, NodeKind, Position, Range};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::written::Naming;
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Longest value of a constant that its signature shows, in bytes.
const MAX_VALUE: u32 = 100;

/// A declaration that is met: how it is called, where, and where its head ends.
pub(super) struct Met {
    pub(super) node: Node,
    pub(super) kind: NodeKind,
    pub(super) name: Str,
    pub(super) name_position: Position,
    pub(super) signature_end: u32,
}

impl Reader<'_, '_> {
    /// What all declarations have in common; none when the limit is reached.
    pub(super) fn declare(&mut self, met: Met, cx: Context) -> Option<DeclId> {
        let signature = self.head(met.node, met.signature_end);
        let id = self.b.declare(NewDecl {
            owner: cx.decl,
            name: met.name,
            kind: met.kind,
            node: met.node,
            name_position: met.name_position,
            signature,
        })?;
        self.describe(met.node, id, cx);
        Some(id)
    }

    /// Documentation, attributes and modifiers of a declaration.
    pub(super) fn describe(&mut self, node: Node, id: DeclId, cx: Context) {
        let doc = self.doc_before(node);
        let marks = self.marks(node);
        let in_interface = cx.place == Place::Type { is_interface: true };
        let (mut is_public, mut is_private) = (false, false);
        let (mut is_internal, mut is_static, mut is_abstract, mut is_async) = (false, false, false, false);
        for modifier in self.children(node).filter(|it| self.kind(*it) == Kind::Modifier) {
            match self.b.bytes(modifier) {
                b"public" | b"protected" => is_public = true,
                b"private" => is_private = true,
                b"internal" => is_internal = true,
                b"static" | b"const" => is_static = true,
                b"abstract" => is_abstract = true,
                b"async" => is_async = true,
                _ => {}
            }
        }
        is_public |= in_interface && !is_private;
        let kind = self.b.facts.decl(id).kind;
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        if is_public && !is_private || kind == NodeKind::EnumMember {
            decl.flags.insert(NodeFlags::EXPORTED);
            decl.modifiers.insert(Modifiers::PUBLIC);
        } else if is_internal || cx.place == Place::Namespace && !is_private {
            decl.modifiers.insert(Modifiers::PUBLIC);
        }
        if is_static || kind == NodeKind::EnumMember {
            decl.modifiers.insert(Modifiers::STATIC);
        }
        if is_abstract {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        if is_async {
            decl.flags.insert(NodeFlags::ASYNC);
        }
        if marks.is_deprecated {
            decl.flags.insert(NodeFlags::DEPRECATED);
        }
        if marks.is_test {
            decl.flags.insert(NodeFlags::TEST);
        }
        self.decorated(node, id);
    }

    /// The text of a declaration's head, attributes left out.
    fn head(&mut self, node: Node, end: u32) -> Str {
        let mut from = self.b.tree.start(node);
        for child in self.children(node) {
            if matches!(self.kind(child), Kind::AttributeList | Kind::PreprocIfAttribute) {
                from = self.b.tree.end(child);
            } else {
                break;
            }
        }
        let text = self.b.source.slice(Range { from: from.min(end), to: end });
        let text = text.trim().trim_end_matches([';', '{', '=', ',']).trim_end_matches("=>");
        let signature = signature(text.trim(), Comments::Slashes);
        self.b.intern(signature)
    }

    /// Where a head ends: before the body, or with the declaration.
    pub(super) fn head_end(&self, node: Node) -> u32 {
        for field in [Field::Body, Field::Accessors, Field::Value] {
            if let Some(body) = self.child(node, field) {
                return self.b.tree.start(body);
            }
        }
        self.b.tree.end(node)
    }

    /// Namespaces are no nodes: what stands in them is found by the name they give.
    pub(super) fn namespace(&mut self, node: Node) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name);
        let mut range = self.b.tree.range(node);
        if self.kind(node) == Kind::FileScopedNamespace {
            range.to = self.b.source.len();
        }
        let written: String = self.b.text(name).chars().filter(|it| !it.is_whitespace()).collect();
        let whole = match self.b.facts.namespace_at(range.from) {
            Some(outer) => format!("{}.{written}", self.b.str(outer)),
            None => written,
        };
        let name = self.b.intern(whole);
        self.b.facts.namespace.get_or_insert(name);
        self.b.facts.namespaces.push(Namespace { name, range });
        self.b.count();
        Step::Into
    }

    pub(super) fn type_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let kind = match self.kind(node) {
            Kind::InterfaceDeclaration => NodeKind::Interface,
            Kind::EnumDeclaration => NodeKind::Enum,
            Kind::StructDeclaration => NodeKind::Struct,
            Kind::RecordDeclaration if self.is_record_struct(node) => NodeKind::Struct,
            _ => NodeKind::Class,
        };
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let met = Met {
            node,
            kind,
            name: self.b.name(name_node),
            name_position: self.b.tree.position(name_node),
            signature_end: self.head_end(node),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        let type_parameters = self.type_parameters(node, id);
        self.b.decl_mut(id).type_parameters = type_parameters;
        let inner = Context {
            decl: Some(id),
            place: Place::Type { is_interface: kind == NodeKind::Interface },
            block: self.b.tree.range(node),
        };
        if let Some(list) = self.child_of_kind(node, Kind::ParameterList) {
            self.primary_constructor(node, list, inner);
        }
        if let Some(bases) = self.child_of_kind(node, Kind::BaseList) {
            self.bases(bases, id, kind, inner);
        }
        Step::Within(inner)
    }

    fn is_record_struct(&self, node: Node) -> bool {
        let Some(name) = self.child(node, Field::Name) else { return false };
        let head = Range { from: self.b.tree.start(node), to: self.b.tree.start(name) };
        self.b.source.bytes(head).trim_ascii_end().ends_with(b"struct")
    }

    /// A class comes first; whether the first is one is told by its name, as everybody writes interfaces.
    fn bases(&mut self, list: Node, id: DeclId, kind: NodeKind, cx: Context) {
        let mut place = 0;
        let mut before = None;
        for node in self.children(list) {
            let named = match self.kind(node) {
                Kind::ArgumentList => {
                    if let Some(base) = before {
                        self.construction(base, Some(node), cx);
                    }
                    continue;
                }
                Kind::PrimaryBase => match self.child(node, Field::Type) {
                    Some(type_) => type_,
                    None => continue,
                },
                _ => node,
            };
            let last = self.last_name(named);
            let position = self.b.tree.position(last);
            let is_interface = match self.b.bytes(last) {
                [b'I', second, ..] => second.is_ascii_uppercase(),
                _ => false,
            };
            let role = match kind {
                NodeKind::Interface => BaseRole::Extends,
                NodeKind::Class if place == 0 && !is_interface => BaseRole::Extends,
                NodeKind::Enum => BaseRole::Metaclass,
                _ => BaseRole::Implements,
            };
            let type_ = self.read_type(named, Naming::silent(Some(id), ReferenceRole::Type));
            if kind != NodeKind::Enum {
                self.b.decl_mut(id).bases.push(Base { type_, role, position });
            }
            if self.kind(node) == Kind::PrimaryBase {
                self.construction(named, self.child_of_kind(node, Kind::ArgumentList), cx);
            }
            before = Some(named);
            place += 1;
        }
    }

    pub(super) fn delegate(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let met = Met {
            node,
            kind: NodeKind::Type,
            name: self.b.name(name_node),
            name_position: self.b.tree.position(name_node),
            signature_end: self.b.tree.end(node),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        let type_parameters = self.type_parameters(node, id);
        let scope = Scope { visible: self.b.tree.range(node) };
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, id, scope);
        }
        let result = self.child(node, Field::Type);
        let result = result.map(|it| self.read_type(it, Naming::new(Some(id), ReferenceRole::Hint)));
        let result = self.b.type_(Type::Function(result));
        let decl = self.b.decl_mut(id);
        decl.type_parameters = type_parameters;
        decl.type_ = Some(result);
        Step::Within(Context { decl: Some(id), place: Place::Body, ..cx })
    }

    pub(super) fn enum_member(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let met = Met {
            node,
            kind: NodeKind::EnumMember,
            name: self.b.name(name_node),
            name_position: self.b.tree.position(name_node),
            signature_end: self.b.tree.end(node),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        Step::Within(Context { decl: Some(id), place: Place::Body, ..cx })
    }

    /// `static readonly int a = 1, b;`: one declaration each, the first with the whole line as its place.
    pub(super) fn fields(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(variables) = self.child_of_kind(node, Kind::VariableDeclaration) else { return Step::Into };
        let is_const = self.has_modifier(node, "const");
        let type_node = self.child(variables, Field::Type);
        let mut type_ = None;
        for declarator in self.children(variables) {
            if self.kind(declarator) != Kind::VariableDeclarator {
                continue;
            }
            let Some(name_node) = self.child(declarator, Field::Name) else { continue };
            let value = self.declared_value(declarator);
            let long = value.map(|it| self.b.tree.range(it)).filter(|it| it.to - it.from > MAX_VALUE);
            let end = self.b.tree.end(declarator);
            let met = Met {
                node,
                kind: if is_const { NodeKind::Const } else { NodeKind::Field },
                name: self.b.name(name_node),
                name_position: self.b.tree.position(name_node),
                signature_end: long.map_or(end, |it| it.from),
            };
            let Some(id) = self.declare(met, cx) else { return Step::Over };
            if let Some(type_node) = type_node {
                let naming = Naming::new(Some(id), ReferenceRole::Hint);
                type_ = Some(match type_ {
                    // The second of a list names the same type.
                    Some(known) if self.kind(type_node) == Kind::PredefinedType => known,
                    Some(known) => {
                        let position = self.b.tree.position(self.last_name(type_node));
                        self.refer(Some(id), ReferenceTarget::Type(known), ReferenceRole::Hint, position);
                        known
                    }
                    None => self.read_type(type_node, naming),
                });
                self.b.decl_mut(id).type_ = type_;
            }
            self.b.consume(name_node);
            self.declarators.insert(declarator, id);
        }
        Step::Within(Context { block: self.b.tree.range(node), ..cx })
    }

    /// What a field starts as is read as its own.
    pub(super) fn declarator(&mut self, node: Node, cx: Context) -> Step<Context> {
        match self.declarators.get(&node) {
            Some(id) => Step::Within(Context { decl: Some(*id), place: Place::Body, ..cx }),
            None => Step::Into,
        }
    }

    /// The value of a declarator: what is neither its name nor what it is indexed with.
    pub(super) fn declared_value(&self, declarator: Node) -> Option<Node> {
        let last = self.last_child(declarator)?;
        let is_value = self.field(last) != Field::Name && self.kind(last) != Kind::TuplePattern;
        is_value.then_some(last)
    }

    pub(super) fn property(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (name, name_position) = match self.child(node, Field::Name) {
            Some(name_node) => {
                self.b.consume(name_node);
                (self.b.name(name_node), self.b.tree.position(name_node))
            }
            None if self.kind(node) == Kind::IndexerDeclaration => {
                let this = self.child_of_kind(node, Kind::This).unwrap_or(node);
                (self.b.intern("this[]"), self.b.tree.position(this))
            }
            None => return Step::Into,
        };
        let signature_end = self.head_end(node);
        let met = Met { node, kind: NodeKind::Property, name, name_position, signature_end };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        let range = self.b.tree.range(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, id, Scope { visible: range });
        }
        self.explicit_interface(node, id);
        if let Some(type_node) = self.child(node, Field::Type) {
            let type_ = self.read_type(type_node, Naming::new(Some(id), ReferenceRole::Hint));
            self.b.decl_mut(id).type_ = Some(type_);
        }
        let has_body = self.child(node, Field::Value).is_some()
            || self.child(node, Field::Accessors).is_some_and(|accessors| {
                self.children(accessors).any(|it| self.child(it, Field::Body).is_some())
            });
        if !has_body && cx.place == (Place::Type { is_interface: true }) {
            self.b.decl_mut(id).flags.insert(NodeFlags::ABSTRACT);
        }
        Step::Within(Context { decl: Some(id), place: Place::Body, block: range })
    }

    /// `IThing.Name`: a use of the interface.
    pub(super) fn explicit_interface(&mut self, node: Node, id: DeclId) {
        let Some(specifier) = self.child_of_kind(node, Kind::ExplicitInterface) else { return };
        self.b.consume(specifier);
        if let Some(type_) = self.first_child(specifier) {
            self.read_type(type_, Naming::new(Some(id), ReferenceRole::Type));
        }
    }
}
