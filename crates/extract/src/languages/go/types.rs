//! Syntax to `Type`, and a reference for every name in it. Pointers and parentheses are looked through.
//!
//! Types without a name of their own are written as if they had one, under words that no type can be called:
//!
//! ```text
//! map[K]V               Named map [K, V]
//! chan T                Named chan [T]
//! struct { a A; B }     Named struct.a.*B [A, B]      `*` marks what is embedded
//! []T, [n]T             Sequence T
//! func(...) (A, B)      Function (A, B)
//! interface { A; B }    Bounds {A + B}                Unknown, if it has methods of its own or nothing at all
//! ```

use knowing_model::facts::{DeclId, ReferenceRole, ReferenceTarget, Str, Type, TypeId};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Who names the types, and as what.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    pub(super) decl: Option<DeclId>,
    pub(super) role: ReferenceRole,
    /// Whether the outermost name is a use too; what is embedded and what a receiver is are noted elsewhere.
    pub(super) outermost: bool,
}

impl Naming {
    pub(super) fn new(decl: Option<DeclId>, role: ReferenceRole) -> Naming {
        Naming { decl, role, outermost: true }
    }

    pub(super) fn inner(self) -> Naming {
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

    /// A type that the walk comes to: a type argument, an argument of `new`, something of a broken declaration.
    pub(super) fn type_in_body(&mut self, node: Node, cx: Context) -> Step<Context> {
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        if self.kind(node) == Kind::TypeArguments {
            self.type_arguments(node, naming, 0);
        } else {
            self.read_type(node, naming);
        }
        Step::Over
    }

    fn type_at(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.unknown_type();
        }
        match self.kind(node) {
            Kind::TypeIdentifier | Kind::Identifier | Kind::QualifiedType | Kind::GenericType => {
                self.named(node, naming, depth)
            }
            Kind::PointerType | Kind::ParenthesizedType | Kind::NegatedType => match self.first_child(node) {
                Some(inner) => self.type_at(inner, naming, depth + 1),
                None => self.unknown_type(),
            },
            Kind::ArrayType | Kind::SliceType | Kind::ImplicitLengthArrayType => {
                let element = self.part(node, Field::Element, naming, depth);
                if let Some(length) = self.child(node, Field::Length) {
                    self.value_in_type(length, naming.decl);
                }
                self.b.type_(Type::Sequence(element))
            }
            Kind::MapType => {
                let key = self.part(node, Field::Key, naming, depth);
                let value = self.part(node, Field::Value, naming, depth);
                self.pseudo("map", node, vec![key, value])
            }
            Kind::ChannelType => {
                let value = self.part(node, Field::Value, naming, depth);
                self.pseudo("chan", node, vec![value])
            }
            Kind::FunctionType => {
                if let Some(parameters) = self.child(node, Field::Parameters) {
                    self.parameter_types(parameters, naming, depth);
                }
                let result = self.child(node, Field::Result);
                let result = result.and_then(|it| self.result_at(it, naming, depth));
                self.b.type_(Type::Function(result))
            }
            Kind::StructType => self.anonymous_struct(node, naming, depth),
            Kind::InterfaceType => self.anonymous_interface(node, naming, depth),
            Kind::TypeElem | Kind::TypeConstraint => {
                let parts: Vec<Node> = self.children(node).collect();
                if let [only] = parts[..] {
                    return self.type_at(only, naming, depth + 1);
                }
                let types = parts.into_iter().map(|it| self.type_at(it, naming.inner(), depth + 1)).collect();
                self.b.type_(Type::Union(types))
            }
            _ => self.unknown_type(),
        }
    }

    fn unknown_type(&mut self) -> TypeId {
        self.b.type_(Type::Unknown)
    }

    fn part(&mut self, node: Node, field: Field, naming: Naming, depth: usize) -> TypeId {
        match self.child(node, field) {
            Some(part) => self.type_at(part, naming.inner(), depth + 1),
            None => self.unknown_type(),
        }
    }

    fn pseudo(&mut self, word: &'static str, node: Node, arguments: Vec<TypeId>) -> TypeId {
        let segments = vec![self.b.intern(word)];
        self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) })
    }

    fn parameter_types(&mut self, list: Node, naming: Naming, depth: usize) -> Vec<TypeId> {
        let mut types = Vec::new();
        for parameter in self.children(list) {
            let Some(node) = self.child(parameter, Field::Type) else { continue };
            let type_ = self.type_at(node, naming.inner(), depth + 1);
            let n_names = self.children(parameter).filter(|it| self.field(*it) == Field::Name).count();
            types.extend(std::iter::repeat_n(type_, n_names.max(1)));
        }
        types
    }

    /// What a function gives: a type, or a tuple when there are several. Each type is read once.
    pub(super) fn read_result(&mut self, node: Node, naming: Naming) -> Option<TypeId> {
        self.b.consume(node);
        if self.kind(node) != Kind::ParameterList {
            return Some(self.read_type(node, naming));
        }
        let mut types = Vec::new();
        for parameter in self.children(node) {
            let Some(type_) = self.child(parameter, Field::Type) else { continue };
            let type_ = self.read_type(type_, naming);
            let n_names = self.children(parameter).filter(|it| self.field(*it) == Field::Name).count();
            types.extend(std::iter::repeat_n(type_, n_names.max(1)));
        }
        self.tuple(types)
    }

    fn tuple(&mut self, types: Vec<TypeId>) -> Option<TypeId> {
        match types[..] {
            [] => None,
            [only] => Some(only),
            _ => Some(self.b.type_(Type::Tuple(types))),
        }
    }

    fn result_at(&mut self, node: Node, naming: Naming, depth: usize) -> Option<TypeId> {
        if self.kind(node) != Kind::ParameterList {
            return Some(self.type_at(node, naming, depth + 1));
        }
        let types = self.parameter_types(node, naming, depth);
        self.tuple(types)
    }

    fn anonymous_struct(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let mut segments = vec![self.b.intern("struct")];
        let mut arguments = Vec::new();
        let fields = self.first_child(node).into_iter().flat_map(|list| self.children(list));
        for field in fields.collect::<Vec<_>>() {
            let Some(type_node) = self.child(field, Field::Type) else { continue };
            let type_ = self.type_at(type_node, naming.inner(), depth + 1);
            let names = self.children_in(field, Field::Name);
            if names.is_empty() {
                let name = format!("*{}", self.b.text(self.last_segment(type_node)));
                segments.push(self.b.intern(name));
                arguments.push(type_);
            }
            for name in names {
                segments.push(self.b.name(name));
                arguments.push(type_);
            }
        }
        self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) })
    }

    fn anonymous_interface(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let mut embedded = Vec::new();
        let mut is_more = false;
        for part in self.children(node).collect::<Vec<_>>() {
            if self.kind(part) == Kind::MethodElem {
                is_more = true;
                if let Some(parameters) = self.child(part, Field::Parameters) {
                    self.parameter_types(parameters, naming, depth);
                }
                if let Some(result) = self.child(part, Field::Result) {
                    self.result_at(result, naming, depth);
                }
            } else {
                embedded.push(self.type_at(part, naming.inner(), depth + 1));
            }
        }
        let type_ = if is_more || embedded.is_empty() { Type::Unknown } else { Type::Bounds(embedded) };
        self.b.type_(type_)
    }

    fn named(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let mut arguments = Vec::new();
        let mut name = node;
        if self.kind(node) == Kind::GenericType {
            if let Some(list) = self.child(node, Field::TypeArguments) {
                arguments = self.type_arguments(list, naming.inner(), depth + 1);
            }
            name = self.child(node, Field::Type).unwrap_or(node);
        }
        let mut segments: Vec<Str> = Vec::with_capacity(2);
        if self.kind(name) == Kind::QualifiedType {
            segments.extend(self.child(name, Field::Package).map(|it| self.b.name(it)));
        }
        let last = self.last_segment(name);
        segments.push(self.b.name(last));
        let is_own_word = segments.len() == 1 && {
            let at = self.b.tree.start(last);
            is_basic(self.b.str(segments[0])) || self.generics.contains(segments[0], at)
        };
        let type_ = self.b.type_(Type::Named { segments, arguments, at: self.b.tree.start(node) });
        if naming.outermost && !is_own_word {
            let position = self.b.tree.position(last);
            self.refer(naming.decl, ReferenceTarget::Type(type_), naming.role, position);
        }
        type_
    }

    /// Types between `[` and `]`.
    pub(super) fn type_arguments(&mut self, list: Node, naming: Naming, depth: usize) -> Vec<TypeId> {
        self.b.consume(list);
        self.children(list).map(|it| self.type_at(it, naming, depth + 1)).collect()
    }

    /// The node of the last segment of a type's name.
    pub(super) fn last_segment(&self, node: Node) -> Node {
        let mut node = node;
        loop {
            let inner = match self.kind(node) {
                Kind::QualifiedType => self.child(node, Field::Name),
                Kind::GenericType => self.child(node, Field::Type),
                Kind::PointerType | Kind::ParenthesizedType | Kind::NegatedType => self.first_child(node),
                Kind::TypeElem => self.first_child(node),
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }
}

/// Types that every file has without importing them, and that no one would look for.
pub(super) fn is_basic(name: &str) -> bool {
    matches!(
        name,
        "any"
            | "bool"
            | "byte"
            | "comparable"
            | "complex128"
            | "complex64"
            | "error"
            | "float32"
            | "float64"
            | "int"
            | "int16"
            | "int32"
            | "int64"
            | "int8"
            | "rune"
            | "string"
            | "uint"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint8"
            | "uintptr"
    )
}
