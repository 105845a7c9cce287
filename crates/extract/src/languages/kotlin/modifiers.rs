//! Keywords and annotations before a declaration: flags, and which functions are tests.

use knowing_model::NodeFlags;
use knowing_model::facts::{DeclId, Modifiers, Reference, ReferenceRole, ReferenceTarget, Type};

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

#[derive(Default)]
pub(super) struct Marks {
    pub(super) flags: NodeFlags,
    pub(super) modifiers: Modifiers,
    pub(super) is_test: bool,
    pub(super) is_const: bool,
    pub(super) is_enum: bool,
    pub(super) is_annotation: bool,
    annotations: Vec<Node>,
    /// Where the declaration begins when its annotations are left out.
    pub(super) from: u32,
}

impl Reader<'_, '_> {
    pub(super) fn marks(&mut self, declaration: Node) -> Marks {
        let mut marks = Marks { from: self.b.tree.start(declaration), ..Marks::default() };
        marks.flags.insert(NodeFlags::EXPORTED);
        let Some(list) = self.child_of_kind(declaration, Kind::Modifiers) else { return marks };
        for it in self.children(list) {
            if self.kind(it) == Kind::Annotation {
                marks.annotations.push(it);
                marks.from = self.b.tree.end(it);
                match self.annotation_type(it).map(|it| self.b.bytes(it)) {
                    Some(b"Deprecated") => marks.flags.insert(NodeFlags::DEPRECATED),
                    Some(name) => {
                        marks.is_test |= matches!(name, b"TestFactory" | b"TestTemplate" | b"Theory")
                            || name.ends_with(b"Test")
                                && !name.starts_with(b"Before")
                                && !name.starts_with(b"After");
                    }
                    None => {}
                }
                continue;
            }
            match self.b.bytes(it) {
                b"private" => {
                    marks.flags = without_exported(marks.flags);
                    marks.modifiers.insert(Modifiers::PRIVATE);
                }
                b"internal" => marks.flags = without_exported(marks.flags),
                b"abstract" | b"sealed" => marks.flags.insert(NodeFlags::ABSTRACT),
                b"suspend" => marks.flags.insert(NodeFlags::ASYNC),
                b"const" => marks.is_const = true,
                b"enum" => marks.is_enum = true,
                b"annotation" => marks.is_annotation = true,
                _ => {}
            }
        }
        marks
    }

    pub(super) fn decorate(&mut self, id: DeclId, marks: &Marks) {
        for annotation in marks.annotations.clone() {
            self.b.consume(annotation);
            self.annotation_reference(annotation, Some(id), ReferenceRole::Decorator);
        }
    }

    pub(super) fn annotation(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !self.b.is_consumed(node) {
            self.annotation_reference(node, cx.decl, ReferenceRole::Type);
        }
        Step::Into
    }

    fn annotation_reference(&mut self, annotation: Node, decl: Option<DeclId>, role: ReferenceRole) {
        let Some(last) = self.annotation_type(annotation) else { return };
        let Some(type_node) = self.b.tree.parent(last) else { return };
        self.b.consume(type_node);
        let segments = self.segments(type_node);
        let at = self.b.tree.start(type_node);
        let type_ = self.b.type_(Type::Named { segments, arguments: Vec::new(), at });
        let position = self.b.tree.position(last);
        self.b.reference(Reference { decl, target: ReferenceTarget::Type(type_), role, position });
    }

    /// The last name of an annotation's type.
    fn annotation_type(&self, annotation: Node) -> Option<Node> {
        let type_ = self.b.tree.subtree(annotation).find(|it| self.kind(*it) == Kind::UserType)?;
        self.children(type_).filter(|it| self.kind(*it) == Kind::Identifier).last()
    }
}

fn without_exported(flags: NodeFlags) -> NodeFlags {
    NodeFlags(flags.0 & !NodeFlags::EXPORTED.0)
}
