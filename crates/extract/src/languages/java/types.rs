//! Written types, and what naming one means.

use knowing_model::facts::{DeclId, ReferenceRole, ReferenceTarget, Str, Type, TypeId};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    pub(super) fn is_type(&self, node: Node) -> bool {
        matches!(
            self.kind(node),
            Kind::TypeIdentifier
                | Kind::ScopedType
                | Kind::GenericType
                | Kind::ArrayType
                | Kind::AnnotatedType
                | Kind::IntegralType
                | Kind::FloatingPointType
                | Kind::BooleanType
                | Kind::VoidType
        )
    }

    /// A type; every type it names is a reference of `cx.decl`.
    pub(super) fn type_at(&mut self, node: Node, cx: Context, role: ReferenceRole) -> TypeId {
        self.type_in(node, Some((cx, role)), 0)
    }

    /// What is extended is joined by that; what its arguments name are references.
    pub(super) fn base_type(&mut self, node: Node, cx: Context) -> TypeId {
        self.b.consume(node);
        if self.kind(node) != Kind::GenericType {
            return self.written_type(node);
        }
        let arguments = self.arguments_of(node, Some((cx, ReferenceRole::Type)), 0);
        let segments = self.first_child(node).map(|it| self.segments(it)).unwrap_or_default();
        self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) })
    }

    /// A type whose names are references elsewhere, or none.
    pub(super) fn written_type(&mut self, node: Node) -> TypeId {
        self.type_in(node, None, 0)
    }

    pub(super) fn is_inferred(&self, type_node: Node) -> bool {
        self.kind(type_node) == Kind::TypeIdentifier && self.is(type_node, "var")
    }

    /// `int x[]`.
    pub(super) fn with_dimensions(&mut self, type_: TypeId, node: Node) -> TypeId {
        let n = self.child(node, Field::Dimensions).map_or(0, |it| self.n_dimensions(it));
        (0..n).fold(type_, |of, _| self.b.type_(Type::Sequence(of)))
    }

    /// A type by its declaration, as one inside it would write it.
    pub(super) fn type_of_decl(&mut self, decl: DeclId, at: u32) -> TypeId {
        let name = self.b.facts.decl(decl).name;
        self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at })
    }

    /// The identifier that a type's position is that of.
    pub(super) fn last_name(&self, node: Node) -> Option<Node> {
        let mut node = node;
        for _ in 0..MAX_NESTING {
            node = match self.kind(node) {
                Kind::TypeIdentifier | Kind::Identifier => return Some(node),
                Kind::GenericType | Kind::AnnotatedType => {
                    self.children(node).find(|it| self.is_type(*it))?
                }
                Kind::ScopedType => {
                    self.children(node).filter(|it| self.kind(*it) == Kind::TypeIdentifier).last()?
                }
                Kind::ScopedIdentifier => self.child(node, Field::Name)?,
                Kind::ArrayType => self.child(node, Field::Element)?,
                _ => return None,
            };
        }
        None
    }

    /// Names of `a.b.C`, as identifiers or as types.
    pub(super) fn segments(&mut self, node: Node) -> Vec<Str> {
        let mut out = Vec::new();
        let mut next = node;
        // Leaves in source order; what stands in `<...>` and annotations are no segments.
        while next < self.b.tree.after(node) {
            match self.kind(next) {
                Kind::TypeIdentifier | Kind::Identifier => out.push(self.b.name(next)),
                Kind::TypeArguments | Kind::Annotation | Kind::MarkerAnnotation => {
                    next = self.b.tree.after(next);
                    continue;
                }
                _ => {}
            }
            next = Node(next.0 + 1);
        }
        out
    }

    fn n_dimensions(&self, node: Node) -> usize {
        self.b.bytes(node).iter().filter(|it| **it == b'[').count().min(8)
    }

    fn type_in(&mut self, node: Node, naming: Option<(Context, ReferenceRole)>, depth: usize) -> TypeId {
        self.b.consume(node);
        if naming.is_some() {
            self.unread.remove(&node);
        }
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.b.type_(Type::Unknown);
        }
        let at = self.b.tree.start(node);
        match self.kind(node) {
            Kind::TypeIdentifier | Kind::ScopedType | Kind::GenericType => {
                let generic = self.kind(node) == Kind::GenericType;
                let base = if generic { self.first_child(node).unwrap_or(node) } else { node };
                let segments = self.segments(base);
                let mention = self.last_name(base);
                // The type itself is a reference before its arguments are.
                let place = self.b.facts.references.len();
                let arguments = if generic { self.arguments_of(node, naming, depth) } else { Vec::new() };
                let type_ = self.b.type_(Type::Named { segments, arguments, at });
                if let (Some((cx, role)), Some(name)) = (naming, mention) {
                    self.refer(ReferenceTarget::Type(type_), role, name, cx);
                    self.b.facts.references[place..].rotate_right(1);
                }
                type_
            }
            Kind::IntegralType | Kind::FloatingPointType | Kind::BooleanType => {
                let name = self.b.name(node);
                self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at })
            }
            Kind::VoidType => self.b.type_(Type::Tuple(Vec::new())),
            Kind::ArrayType => {
                let Some(element) = self.child(node, Field::Element) else {
                    return self.b.type_(Type::Unknown);
                };
                let of = self.type_in(element, naming, depth + 1);
                let n = self.child(node, Field::Dimensions).map_or(1, |it| self.n_dimensions(it));
                (0..n).fold(of, |of, _| self.b.type_(Type::Sequence(of)))
            }
            Kind::AnnotatedType | Kind::Wildcard => {
                // `? extends T` is used as a `T`.
                match self.b.tree.children(node).find(|it| self.is_type(*it)) {
                    Some(inner) => self.type_in(inner, naming, depth + 1),
                    None => self.b.type_(Type::Unknown),
                }
            }
            Kind::CatchType => {
                let parts: Vec<Node> = self.children(node).collect();
                let types: Vec<TypeId> =
                    parts.into_iter().map(|it| self.type_in(it, naming, depth + 1)).collect();
                match types[..] {
                    [only] => only,
                    _ => self.b.type_(Type::Union(types)),
                }
            }
            _ => self.b.type_(Type::Unknown),
        }
    }

    fn arguments_of(
        &mut self,
        generic: Node,
        naming: Option<(Context, ReferenceRole)>,
        depth: usize,
    ) -> Vec<TypeId> {
        let Some(list) = self.child_of_kind(generic, Kind::TypeArguments) else { return Vec::new() };
        let arguments: Vec<Node> = self.children(list).collect();
        arguments.into_iter().map(|it| self.type_in(it, naming, depth + 1)).collect()
    }
}
