//! Syntax to `Type`, and a reference for every name in it. Nullability, pointers and `ref` are looked through.

use knowing_model::facts::{DeclId, ReferenceRole, ReferenceTarget, Type, TypeId};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// Who names the types, and as what.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    pub(super) decl: Option<DeclId>,
    pub(super) role: ReferenceRole,
    /// Whether the outermost name is a use too; bases and attributes are noted elsewhere.
    pub(super) outermost: bool,
}

impl Naming {
    pub(super) fn new(decl: Option<DeclId>, role: ReferenceRole) -> Naming {
        Naming { decl, role, outermost: true }
    }

    pub(super) fn silent(decl: Option<DeclId>, role: ReferenceRole) -> Naming {
        Naming { decl, role, outermost: false }
    }

    fn inner(self) -> Naming {
        Naming { outermost: true, ..self }
    }
}

impl Reader<'_, '_> {
    /// The type at a node, read once; the walk passes over it.
    pub(super) fn read_type(&mut self, node: Node, naming: Naming) -> TypeId {
        if let Some(known) = self.types.get(&node) {
            return *known;
        }
        self.b.consume(node);
        let type_ = self.type_at(node, naming, 0);
        self.types.insert(node, type_);
        type_
    }

    fn type_at(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.b.type_(Type::Unknown);
        }
        match self.kind(node) {
            Kind::Identifier | Kind::GenericName | Kind::QualifiedName | Kind::AliasQualifiedName => {
                self.named(node, naming, depth)
            }
            Kind::PredefinedType => {
                let segments = vec![self.b.name(node)];
                self.b.type_(Type::Named { segments, arguments: Vec::new(), at: self.b.tree.start(node) })
            }
            Kind::NullableType | Kind::PointerType | Kind::RefType | Kind::ScopedType => {
                match self.child(node, Field::Type) {
                    Some(inner) => self.type_at(inner, naming, depth + 1),
                    None => self.b.type_(Type::Unknown),
                }
            }
            Kind::ArrayType => {
                let of = match self.child(node, Field::Type) {
                    Some(inner) => self.type_at(inner, naming, depth + 1),
                    None => self.b.type_(Type::Unknown),
                };
                self.b.type_(Type::Sequence(of))
            }
            Kind::TupleType => {
                let mut types = Vec::new();
                for element in self.children(node) {
                    if let Some(element) = self.child(element, Field::Type) {
                        types.push(self.type_at(element, naming.inner(), depth + 1));
                    }
                }
                self.b.type_(Type::Tuple(types))
            }
            Kind::FunctionPointerType => self.b.type_(Type::Function(None)),
            _ => self.b.type_(Type::Unknown),
        }
    }

    /// `A.B<X>.C<Y>`: arguments are those of the last segment that has some.
    fn named(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let mut segments = Vec::new();
        let mut arguments = Vec::new();
        let mut last = None;
        let mut at = Some(node);
        while let Some(node) = at {
            let (name, before) = match self.kind(node) {
                Kind::QualifiedName => (self.child(node, Field::Name), self.child(node, Field::Qualifier)),
                // `global::A` is `A`.
                Kind::AliasQualifiedName => (self.child(node, Field::Name), None),
                _ => (Some(node), None),
            };
            if let Some(name) = name {
                let (name, list) = self.simple_name(name);
                last.get_or_insert(name);
                segments.push(self.b.name(name));
                if let Some(list) = list {
                    let inner = self.type_arguments(list, naming.inner(), depth + 1);
                    if arguments.is_empty() {
                        arguments = inner;
                    }
                }
            }
            at = before;
        }
        segments.reverse();
        let is_parameter = match segments.as_slice() {
            [only] => self.generics.contains(*only, self.b.tree.start(node)),
            _ => false,
        };
        let type_ = self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) });
        if naming.outermost
            && !is_parameter
            && let Some(last) = last
        {
            let position = self.b.tree.position(last);
            self.refer(naming.decl, ReferenceTarget::Type(type_), naming.role, position);
        }
        type_
    }

    /// Identifier and type arguments of `Name<X>`; a plain name is its own identifier.
    pub(super) fn simple_name(&self, node: Node) -> (Node, Option<Node>) {
        if self.kind(node) != Kind::GenericName {
            return (node, None);
        }
        let name = self.first_child(node).unwrap_or(node);
        (name, self.child_of_kind(node, Kind::TypeArgumentList))
    }

    pub(super) fn type_arguments(&mut self, list: Node, naming: Naming, depth: usize) -> Vec<TypeId> {
        self.b.consume(list);
        self.children(list).map(|it| self.type_at(it, naming, depth)).collect()
    }

    /// The identifier that a type's name ends with.
    pub(super) fn last_name(&self, node: Node) -> Node {
        let mut node = node;
        loop {
            let inner = match self.kind(node) {
                Kind::QualifiedName | Kind::AliasQualifiedName => self.child(node, Field::Name),
                Kind::GenericName => self.first_child(node),
                Kind::NullableType
                | Kind::ArrayType
                | Kind::PointerType
                | Kind::RefType
                | Kind::ScopedType => self.child(node, Field::Type),
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }
}
