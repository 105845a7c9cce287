//! Syntax to `Type`, and a reference for every name in it.

use knowing_model::facts::{DeclId, ReferenceRole, ReferenceTarget, Str, Type, TypeId};

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// The type at a node, read once; the walk passes over it. `role` is what its names are uses as, if they are.
    pub(super) fn read_type(
        &mut self,
        node: Node,
        decl: Option<DeclId>,
        role: Option<ReferenceRole>,
    ) -> TypeId {
        if let Some(known) = self.types.get(&node) {
            return *known;
        }
        self.b.consume(node);
        let type_ = self.type_at(node, decl, role, 0);
        self.types.insert(node, type_);
        type_
    }

    pub(super) fn type_in_body(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.read_type(node, cx.decl, Some(ReferenceRole::Type));
        Step::Over
    }

    fn type_at(
        &mut self,
        node: Node,
        decl: Option<DeclId>,
        role: Option<ReferenceRole>,
        depth: usize,
    ) -> TypeId {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.b.type_(Type::Unknown);
        }
        match self.kind(node) {
            Kind::NamedType | Kind::OptionalType => match self.first_child(node) {
                Some(inner) => self.type_at(inner, decl, role, depth + 1),
                None => self.b.type_(Type::Unknown),
            },
            Kind::UnionType | Kind::TypeList => {
                let parts: Vec<TypeId> =
                    self.children(node).map(|it| self.type_at(it, decl, role, depth + 1)).collect();
                match parts[..] {
                    [one] => one,
                    _ => self.b.type_(Type::Union(parts)),
                }
            }
            Kind::IntersectionType => {
                let parts = self.children(node).map(|it| self.type_at(it, decl, role, depth + 1)).collect();
                self.b.type_(Type::Bounds(parts))
            }
            Kind::PrimitiveType => {
                let segments = vec![self.b.name(node)];
                self.b.type_(Type::Named { segments, arguments: Vec::new(), at: self.b.tree.start(node) })
            }
            Kind::Name | Kind::QualifiedName | Kind::RelativeName | Kind::RelativeScope => {
                let segments = self.segments(node);
                let at = self.b.tree.start(node);
                let type_ = self.b.type_(Type::Named { segments, arguments: Vec::new(), at });
                if let Some(role) = role
                    && !matches!(self.b.bytes(node), b"self" | b"static" | b"parent")
                {
                    let position = self.b.tree.position(self.last_name(node));
                    self.refer(decl, ReferenceTarget::Type(type_), role, position);
                }
                type_
            }
            _ => self.b.type_(Type::Unknown),
        }
    }

    /// `A\B\C` in its parts; a leading `\` gives an empty first one, `namespace\` the word.
    pub(super) fn segments(&mut self, node: Node) -> Vec<Str> {
        let text: String = self.b.text(node).chars().filter(|it| !it.is_whitespace()).collect();
        text.split('\\').map(|it| self.b.intern_name(it.to_owned().into())).collect()
    }

    pub(super) fn last_name(&self, node: Node) -> Node {
        if self.kind(node) == Kind::Name {
            return node;
        }
        let names = self.children(node).filter(|it| self.kind(*it) == Kind::Name);
        names.last().unwrap_or(node)
    }
}
