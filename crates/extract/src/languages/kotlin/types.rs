//! Written types, and what naming one means. A function type is a `kotlin.FunctionN`, as the compiler has it; one that is
//! applied to something is a `kotlin.ExtensionN`.

use knowing_model::facts::{ReferenceRole, ReferenceTarget, Str, Type, TypeId, TypeParameter};

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    pub(super) fn is_type(&self, node: Node) -> bool {
        matches!(
            self.kind(node),
            Kind::UserType
                | Kind::NullableType
                | Kind::NonNullableType
                | Kind::FunctionType
                | Kind::ParenthesizedType
        )
    }

    pub(super) fn type_child(&self, node: Node) -> Option<Node> {
        self.children(node).find(|it| self.is_type(*it))
    }

    /// A type; every type it names is a reference of `cx.decl`.
    pub(super) fn type_at(&mut self, node: Node, cx: Context, role: ReferenceRole) -> TypeId {
        self.type_in(node, Some((cx, role)), 0)
    }

    /// A type whose names are references elsewhere, or none.
    pub(super) fn written_type(&mut self, node: Node) -> TypeId {
        let was_consumed = self.b.is_consumed(node);
        let type_ = self.type_in(node, None, 0);
        if !was_consumed {
            self.unread.insert(node);
        }
        type_
    }

    pub(super) fn segments(&mut self, node: Node) -> Vec<Str> {
        let names: Vec<Node> = self.children(node).filter(|it| self.kind(*it) == Kind::Identifier).collect();
        names.into_iter().map(|it| self.name(it)).collect()
    }

    pub(super) fn named(&mut self, name: Str, at: u32) -> TypeId {
        self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at })
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
        match self.kind(node) {
            Kind::UserType => {
                let segments = self.segments(node);
                let last = self.children(node).filter(|it| self.kind(*it) == Kind::Identifier).last();
                if let (Some((cx, role)), Some(last)) = (naming, last) {
                    // Its arguments come after it, so that it is noted with a copy of its own.
                    let at = self.b.tree.start(node);
                    let bare =
                        self.b.type_(Type::Named { segments: segments.clone(), arguments: Vec::new(), at });
                    self.refer(ReferenceTarget::Type(bare), role, last, cx);
                }
                let lists: Vec<Node> =
                    self.children(node).filter(|it| self.kind(*it) == Kind::TypeArguments).collect();
                let mut arguments = Vec::new();
                for list in lists.into_iter().last().into_iter() {
                    for projection in self.children(list) {
                        arguments.push(match self.type_child(projection) {
                            Some(inner) => self.type_in(inner, naming, depth + 1),
                            None => self.b.type_(Type::Unknown),
                        });
                    }
                }
                self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) })
            }
            Kind::FunctionType => self.function_type(node, naming, depth),
            _ => match self.type_child(node) {
                Some(inner) => self.type_in(inner, naming, depth + 1),
                None => self.b.type_(Type::Unknown),
            },
        }
    }

    fn function_type(
        &mut self,
        node: Node,
        naming: Option<(Context, ReferenceRole)>,
        depth: usize,
    ) -> TypeId {
        let mut arguments = Vec::new();
        let mut result = None;
        let mut is_applied = false;
        for part in self.children(node) {
            if self.kind(part) == Kind::FunctionTypeParameters {
                for parameter in self.children(part) {
                    let written =
                        if self.is_type(parameter) { Some(parameter) } else { self.type_child(parameter) };
                    if let Some(written) = written {
                        arguments.push(self.type_in(written, naming, depth + 1));
                    }
                }
            } else if self.is_type(part) {
                // Before the parameters it is the receiver.
                let type_ = self.type_in(part, naming, depth + 1);
                match self.children(node).find(|it| self.kind(*it) == Kind::FunctionTypeParameters) {
                    Some(list) if part < list => {
                        is_applied = true;
                        arguments.push(type_);
                    }
                    _ => result = Some(type_),
                }
            }
        }
        let n = arguments.len();
        arguments.extend(result);
        let kind = if is_applied { "Extension" } else { "Function" };
        let segments = vec![self.b.intern("kotlin"), self.b.intern(format!("{kind}{n}"))];
        self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) })
    }

    pub(super) fn type_parameters(&mut self, node: Node, cx: Context) -> Vec<TypeParameter> {
        let Some(list) = self.child_of_kind(node, Kind::TypeParameters) else { return Vec::new() };
        let mut out = Vec::new();
        for parameter in self.children(list) {
            let Some(name) = self.child_of_kind(parameter, Kind::Identifier) else { continue };
            self.b.consume(name);
            let name = self.name(name);
            let bounds = match self.type_child(parameter) {
                Some(bound) => vec![self.type_at(bound, cx, ReferenceRole::Hint)],
                None => Vec::new(),
            };
            out.push(TypeParameter { name, bounds });
        }
        let Some(constraints) = self.child_of_kind(node, Kind::TypeConstraints) else { return out };
        for constraint in self.children(constraints) {
            let (Some(name), Some(bound)) =
                (self.child_of_kind(constraint, Kind::Identifier), self.type_child(constraint))
            else {
                continue;
            };
            self.b.consume(name);
            let name = self.name(name);
            let bound = self.type_at(bound, cx, ReferenceRole::Hint);
            if let Some(found) = out.iter_mut().find(|it| it.name == name) {
                found.bounds.push(bound);
            }
        }
        out
    }
}
