//! Classes, interfaces, enums, records, annotation types; anonymous classes, which are named after what they extend.

use knowing_model::facts::{Base, BaseRole, ReferenceRole, Str, TypeId, TypeParameter};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{ClassTraits, Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::docs;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn type_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let kind = match self.kind(node) {
            Kind::InterfaceDeclaration | Kind::AnnotationTypeDeclaration => NodeKind::Interface,
            Kind::EnumDeclaration => NodeKind::Enum,
            _ => NodeKind::Class,
        };
        let mut marks = self.marks(node);
        if cx.class.is_interface && !marks.is_private {
            marks.flags.insert(NodeFlags::EXPORTED);
        }
        let name = self.b.name(name_node);
        let signature = self.head(node, marks.from);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let mut class = ClassTraits {
            is_interface: kind == NodeKind::Interface,
            is_test_case: false,
            all_tests: marks.has_test,
        };
        let inner = Context { decl: Some(id), block_end: self.b.tree.end(node), class };
        let type_parameters = self.type_parameters(node, inner);
        let bases = self.bases(node, Context { decl: Some(id), ..cx });
        class.is_test_case = bases.iter().any(|it| {
            it.role == BaseRole::Extends
                && kind == NodeKind::Class
                && self.last_segment(it.type_).is_some_and(|it| it.ends_with("TestCase"))
        });
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        decl.doc = doc;
        decl.type_parameters = type_parameters;
        decl.bases = bases;
        self.decorate(id, &marks);
        let inner = Context { class, ..inner };
        if self.kind(node) == Kind::RecordDeclaration
            && let Some(components) = self.child(node, Field::Parameters)
        {
            self.components(components, id, inner);
        }
        Step::Within(inner)
    }

    /// The body of an anonymous class is a class; that of a named one was read with it.
    pub(super) fn class_body(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(parent) = self.b.tree.parent(node) else { return Step::Into };
        let base = match self.kind(parent) {
            Kind::ObjectCreation => self.child(parent, Field::Type).map(|it| self.written_type(it)),
            Kind::EnumConstant => cx.decl.map(|it| self.type_of_decl(it, self.b.tree.start(parent))),
            _ => return Step::Into,
        };
        let text = base.and_then(|it| self.last_segment(it)).unwrap_or("?");
        let text = format!("<{text}>");
        let name = self.b.intern_name(text.into());
        let from = self.b.tree.start(parent);
        let head = self.b.source.slice(Range { from, to: self.b.tree.start(node) });
        let head = signature(&head, Comments::Slashes).into_owned();
        let signature = self.b.intern(head);
        let type_node = self.child(parent, Field::Type).unwrap_or(parent);
        let position = self.b.tree.position(type_node);
        // A member of an enum with a body of its own is what the class stands in.
        let owner = match self.kind(parent) {
            Kind::EnumConstant => self.owners.get(&node).copied(),
            _ => cx.decl,
        };
        let new =
            NewDecl { owner, name, kind: NodeKind::Class, node: parent, name_position: position, signature };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        self.b.decl_mut(id).bases =
            base.into_iter().map(|type_| Base { type_, role: BaseRole::Extends, position }).collect();
        let block_end = self.b.tree.end(node);
        Step::Within(Context { decl: Some(id), block_end, class: ClassTraits::default() })
    }

    fn bases(&mut self, node: Node, cx: Context) -> Vec<Base> {
        let is_interface = matches!(self.kind(node), Kind::InterfaceDeclaration);
        let mut out = Vec::new();
        for part in self.children(node) {
            let role = match self.kind(part) {
                Kind::Superclass => BaseRole::Extends,
                Kind::SuperInterfaces => BaseRole::Implements,
                Kind::ExtendsInterfaces if is_interface => BaseRole::Extends,
                _ => continue,
            };
            let list = self.child_of_kind(part, Kind::TypeList).unwrap_or(part);
            for written in self.children(list) {
                if let Some(last) = self.last_name(written) {
                    let type_ = self.base_type(written, cx);
                    out.push(Base { type_, role, position: self.b.tree.position(last) });
                }
            }
        }
        out
    }

    pub(super) fn type_parameters(&mut self, node: Node, cx: Context) -> Vec<TypeParameter> {
        let Some(list) = self.child(node, Field::TypeParameters) else { return Vec::new() };
        let mut out = Vec::new();
        for parameter in self.children(list) {
            let Some(name) = self.child_of_kind(parameter, Kind::TypeIdentifier) else { continue };
            self.b.consume(name);
            let name = self.b.name(name);
            let mut bounds = Vec::new();
            if let Some(bound) = self.child_of_kind(parameter, Kind::TypeBound) {
                for type_ in self.children(bound) {
                    bounds.push(self.type_at(type_, cx, ReferenceRole::Hint));
                }
            }
            out.push(TypeParameter { name, bounds });
        }
        out
    }

    /// A declaration up to its body, on one line, annotations left out.
    pub(super) fn head(&mut self, node: Node, from: u32) -> Str {
        let to = self.child(node, Field::Body).map_or(self.b.tree.end(node), |it| self.b.tree.start(it));
        self.signature_of(Range { from, to })
    }

    pub(super) fn signature_of(&mut self, range: Range) -> Str {
        let head = self.b.source.slice(range);
        let head = head.trim().trim_end_matches(';').trim_end();
        let text = signature(head, Comments::Slashes).into_owned();
        self.b.intern(text)
    }

    pub(super) fn doc(&mut self, node: Node) -> Option<Str> {
        let text = docs::block_before(self.b.source.bytes, self.b.tree.start(node))?;
        Some(self.b.intern(text))
    }

    pub(super) fn last_segment(&self, type_: TypeId) -> Option<&str> {
        match self.b.facts.type_(type_) {
            knowing_model::facts::Type::Named { segments, .. } => segments.last().map(|it| self.b.str(*it)),
            _ => None,
        }
    }
}
