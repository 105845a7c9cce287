//! Keywords and annotations before a declaration: flags, and which methods are tests.

use knowing_model::NodeFlags;
use knowing_model::facts::{DeclId, Modifiers, Reference, ReferenceRole, ReferenceTarget, Type};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What stands before a declaration.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) flags: NodeFlags,
    pub(super) modifiers: Modifiers,
    pub(super) is_final: bool,
    pub(super) is_private: bool,
    pub(super) is_public: bool,
    /// JUnit 4, 5 and TestNG.
    pub(super) is_test: bool,
    /// The annotation is `@Test` itself.
    pub(super) has_test: bool,
    annotations: Vec<Node>,
    /// Where the declaration begins when its annotations are left out.
    pub(super) from: u32,
}

impl Reader<'_, '_> {
    pub(super) fn marks(&self, declaration: Node) -> Marks {
        let mut marks = Marks { from: self.b.tree.start(declaration), ..Marks::default() };
        let Some(list) = self.child_of_kind(declaration, Kind::Modifiers) else { return marks };
        for annotation in self.children(list) {
            if !matches!(self.kind(annotation), Kind::Annotation | Kind::MarkerAnnotation) {
                continue;
            }
            marks.annotations.push(annotation);
            marks.from = self.b.tree.end(annotation);
            match self.annotation_name(annotation) {
                b"Deprecated" => marks.flags.insert(NodeFlags::DEPRECATED),
                b"Test" => {
                    marks.is_test = true;
                    marks.has_test = true;
                }
                name => marks.is_test |= is_test_annotation(name),
            }
        }
        // Keywords are tokens, which the flat tree does not keep; they stand before, between and after annotations.
        let mut at = self.b.tree.start(list);
        let ends = marks.annotations.iter().map(|it| (self.b.tree.start(*it), self.b.tree.end(*it)));
        let ends: Vec<(u32, u32)> = ends.chain([(self.b.tree.end(list), 0)]).collect();
        for (to, next) in ends {
            let words = self.b.source.bytes(knowing_model::Range { from: at, to });
            for word in words.split(|it| !it.is_ascii_alphabetic()) {
                match word {
                    b"public" => {
                        marks.is_public = true;
                        marks.flags.insert(NodeFlags::EXPORTED);
                    }
                    b"protected" => marks.flags.insert(NodeFlags::EXPORTED),
                    b"abstract" => marks.flags.insert(NodeFlags::ABSTRACT),
                    b"static" => marks.modifiers.insert(Modifiers::STATIC),
                    b"final" => marks.is_final = true,
                    b"private" => {
                        marks.is_private = true;
                        marks.modifiers.insert(Modifiers::PRIVATE);
                    }
                    _ => {}
                }
            }
            at = next;
        }
        marks
    }

    /// The annotations of a declaration are applied to it.
    pub(super) fn decorate(&mut self, id: DeclId, marks: &Marks) {
        for annotation in marks.annotations.clone() {
            self.b.consume(annotation);
            self.annotation_reference(annotation, Some(id), ReferenceRole::Decorator);
        }
    }

    /// One that stands at a parameter, a local variable or a type.
    pub(super) fn annotation(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !self.b.is_consumed(node) {
            self.annotation_reference(node, cx.decl, ReferenceRole::Type);
        }
        Step::Into
    }

    fn annotation_reference(&mut self, annotation: Node, decl: Option<DeclId>, role: ReferenceRole) {
        let Some(name) = self.child(annotation, Field::Name) else { return };
        let segments = self.segments(name);
        let at = self.b.tree.start(name);
        let type_ = self.b.type_(Type::Named { segments, arguments: Vec::new(), at });
        let last = self.child(name, Field::Name).unwrap_or(name);
        let position = self.b.tree.position(last);
        self.b.reference(Reference { decl, target: ReferenceTarget::Type(type_), role, position });
    }

    fn annotation_name(&self, annotation: Node) -> &[u8] {
        let Some(name) = self.child(annotation, Field::Name) else { return b"" };
        self.b.bytes(self.child(name, Field::Name).unwrap_or(name))
    }
}

/// Also a project's own, which are mostly made of `@TestTemplate`: `@ClusterTest`. Not `@BeforeTest`.
fn is_test_annotation(name: &[u8]) -> bool {
    matches!(name, b"TestFactory" | b"TestTemplate" | b"Theory")
        || name.ends_with(b"Test") && !name.starts_with(b"Before") && !name.starts_with(b"After")
}
