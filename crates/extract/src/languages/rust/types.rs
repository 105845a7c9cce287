//! Syntax to `Type`, and a reference for every name in it. Lifetimes, references and pointers are looked through.

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
    /// Whether the outermost name is a use too; bases and what an `impl` block is for are noted elsewhere.
    pub(super) outermost: bool,
}

impl Naming {
    pub(super) fn new(decl: Option<DeclId>, role: ReferenceRole) -> Naming {
        Naming { decl, role, outermost: true }
    }

    fn inner(self) -> Naming {
        Naming { outermost: true, ..self }
    }
}

/// A path as written: its segments from the left, and what it begins with.
struct TypePath {
    root: Root,
    segments: Vec<Str>,
    /// Where the last segment stands.
    last: Node,
    arguments: Vec<TypeId>,
}

enum Root {
    None,
    /// A leading `::`.
    Absolute,
    /// `<T as Trait>` or `<T>`.
    Type {
        of: TypeId,
        interface: Option<TypeId>,
    },
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

    /// A type that the walk comes to: a turbofish, or something of a broken item.
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
            return self.b.type_(Type::Unknown);
        }
        match self.kind(node) {
            Kind::TypeIdentifier | Kind::Identifier if self.is(node, "_") => self.b.type_(Type::Unknown),
            Kind::TypeIdentifier
            | Kind::Identifier
            | Kind::ScopedTypeIdentifier
            | Kind::ScopedIdentifier
            | Kind::GenericType
            | Kind::GenericTypeWithTurbofish
            | Kind::SelfWord
            | Kind::Super
            | Kind::Crate => self.named(node, naming, depth),
            Kind::PrimitiveType => {
                let segments = vec![self.b.name(node)];
                self.b.type_(Type::Named { segments, arguments: Vec::new(), at: self.b.tree.start(node) })
            }
            Kind::ReferenceType | Kind::PointerType | Kind::HigherRankedTraitBound => {
                match self.child(node, Field::Type) {
                    Some(inner) => self.type_at(inner, naming, depth + 1),
                    None => self.b.type_(Type::Unknown),
                }
            }
            Kind::BracketedType => match self.first_child(node) {
                Some(inner) => self.type_at(inner, naming, depth + 1),
                None => self.b.type_(Type::Unknown),
            },
            Kind::QualifiedType => self.qualified(node, naming, depth).0,
            Kind::TupleType => self.tuple_type(node, naming, depth),
            Kind::UnitType => self.b.type_(Type::Tuple(Vec::new())),
            Kind::ArrayType => self.array_type(node, naming, depth),
            Kind::FunctionType => self.function_type(node, naming, depth),
            Kind::AbstractType | Kind::DynamicType | Kind::BoundedType => {
                let mut bounds = Vec::new();
                self.bounds_at(node, naming, depth, &mut bounds);
                self.bounds_type(bounds)
            }
            _ => self.b.type_(Type::Unknown),
        }
    }

    /// `A + B` as a type; what can be called is that before all else.
    pub(super) fn bounds_type(&mut self, bounds: Vec<TypeId>) -> TypeId {
        let function = bounds.iter().find(|it| matches!(self.b.facts.type_(**it), Type::Function(_)));
        match function {
            Some(function) => *function,
            None => self.b.type_(Type::Bounds(bounds)),
        }
    }

    fn bounds_at(&mut self, node: Node, naming: Naming, depth: usize, out: &mut Vec<TypeId>) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(node) {
            Kind::AbstractType | Kind::DynamicType => {
                if let Some(inner) = self.child(node, Field::Trait) {
                    self.bounds_at(inner, naming, depth + 1, out);
                }
            }
            Kind::BoundedType => {
                for part in self.children(node) {
                    self.bounds_at(part, naming, depth + 1, out);
                }
            }
            Kind::RemovedTraitBound => {}
            _ => {
                let type_ = self.type_at(node, naming, depth + 1);
                out.push(type_);
            }
        }
    }

    /// What stands after `:`, each trait with the node it was read from.
    pub(super) fn bounds_list(&mut self, list: Node, naming: Naming) -> Vec<(Node, TypeId)> {
        let mut out = Vec::new();
        for node in self.children(list) {
            if self.kind(node) != Kind::RemovedTraitBound {
                let type_ = self.read_type(node, naming);
                out.push((node, type_));
            }
        }
        out
    }

    fn tuple_type(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let items: Vec<Node> = self.children(node).collect();
        if let [only] = items[..]
            && !self.has_comma_after(only, node)
        {
            return self.type_at(only, naming, depth + 1);
        }
        let types = items.into_iter().map(|it| self.type_at(it, naming.inner(), depth + 1)).collect();
        self.b.type_(Type::Tuple(types))
    }

    /// `(T,)` is a tuple, `(T)` is not.
    fn has_comma_after(&self, inner: Node, outer: Node) -> bool {
        let range = knowing_model::Range { from: self.b.tree.end(inner), to: self.b.tree.end(outer) };
        self.b.source.bytes(range).contains(&b',')
    }

    fn array_type(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let element = match self.child(node, Field::Element) {
            Some(element) => self.type_at(element, naming.inner(), depth + 1),
            None => self.b.type_(Type::Unknown),
        };
        if let Some(length) = self.child(node, Field::Length) {
            self.value_in_type(length, naming.decl);
        }
        self.b.type_(Type::Sequence(element))
    }

    /// `fn(A) -> B`, `Fn(A) -> B`.
    fn function_type(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        if let Some(parameters) = self.child(node, Field::Parameters) {
            for parameter in self.children(parameters) {
                let type_ = match self.kind(parameter) {
                    Kind::Parameter => self.child(parameter, Field::Type),
                    Kind::Underscore | Kind::AttributeItem | Kind::VariadicParameter => None,
                    _ => Some(parameter),
                };
                if let Some(type_) = type_ {
                    self.type_at(type_, naming.inner(), depth + 1);
                }
            }
        }
        let result = self.child(node, Field::ReturnType);
        let result = result.map(|it| self.type_at(it, naming.inner(), depth + 1));
        self.b.type_(Type::Function(result))
    }

    /// `T as Trait`.
    fn qualified(&mut self, node: Node, naming: Naming, depth: usize) -> (TypeId, Option<TypeId>) {
        let of = match self.child(node, Field::Type) {
            Some(of) => self.type_at(of, naming.inner(), depth + 1),
            None => self.b.type_(Type::Unknown),
        };
        let interface = self.child(node, Field::Alias);
        (of, interface.map(|it| self.type_at(it, naming.inner(), depth + 1)))
    }

    fn named(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let path = self.type_path(node, naming, depth);
        let type_ = match path.root {
            Root::Type { of, interface } => {
                let mut interface = interface;
                path.segments.iter().fold(of, |of, name| {
                    self.b.type_(Type::Projection { of, interface: interface.take(), name: *name })
                })
            }
            Root::None | Root::Absolute => {
                let mut segments = path.segments;
                if matches!(path.root, Root::Absolute) {
                    segments.insert(0, self.b.intern(""));
                }
                let at = self.b.tree.start(node);
                self.b.type_(Type::Named { segments, arguments: path.arguments, at })
            }
        };
        if naming.outermost
            && matches!(self.b.facts.type_(type_), Type::Named { .. })
            && !self.is_parameter(type_)
        {
            let position = self.b.tree.position(path.last);
            self.refer(naming.decl, ReferenceTarget::Type(type_), naming.role, position);
        }
        type_
    }

    /// `T` of an item around: a name of its own, nothing that could be looked for.
    fn is_parameter(&mut self, type_: TypeId) -> bool {
        match self.b.facts.type_(type_) {
            Type::Named { segments, at, .. } => match segments.as_slice() {
                [only] => self.generics.contains(*only, None, *at),
                _ => false,
            },
            _ => false,
        }
    }

    /// Follows a path from its end to its begin.
    fn type_path(&mut self, node: Node, naming: Naming, depth: usize) -> TypePath {
        let mut path = TypePath { root: Root::None, segments: Vec::new(), last: node, arguments: Vec::new() };
        let mut at = Some(node);
        while let Some(node) = at {
            at = match self.kind(node) {
                Kind::ScopedTypeIdentifier | Kind::ScopedIdentifier => {
                    if let Some(name) = self.child(node, Field::Name) {
                        if path.segments.is_empty() {
                            path.last = name;
                        }
                        path.segments.push(self.b.name(name));
                    }
                    let before = self.child(node, Field::Path);
                    if before.is_none() {
                        path.root = Root::Absolute;
                    }
                    before
                }
                Kind::GenericType | Kind::GenericTypeWithTurbofish => {
                    if let Some(arguments) = self.child(node, Field::TypeArguments) {
                        let arguments = self.type_arguments(arguments, naming.inner(), depth + 1);
                        // Those of the last segment count; where it has none, the last that were written.
                        if path.arguments.is_empty() {
                            path.arguments = arguments;
                        }
                    }
                    self.child(node, Field::Type)
                }
                Kind::BracketedType => {
                    if let Some(inner) = self.first_child(node) {
                        let (of, interface) = match self.kind(inner) {
                            Kind::QualifiedType => self.qualified(inner, naming.inner(), depth + 1),
                            _ => (self.type_at(inner, naming.inner(), depth + 1), None),
                        };
                        path.root = Root::Type { of, interface };
                    }
                    None
                }
                _ => {
                    if path.segments.is_empty() {
                        path.last = node;
                    }
                    path.segments.push(self.b.name(node));
                    None
                }
            };
        }
        path.segments.reverse();
        path
    }

    /// Types between `<` and `>`; the types of `Item = T` come after those by position.
    pub(super) fn type_arguments(&mut self, list: Node, naming: Naming, depth: usize) -> Vec<TypeId> {
        let mut arguments = Vec::new();
        let mut bound = Vec::new();
        for node in self.children(list) {
            match self.kind(node) {
                Kind::TypeBinding => {
                    if let Some(type_) = self.child(node, Field::Type) {
                        bound.push(self.type_at(type_, naming, depth + 1));
                    }
                }
                Kind::TraitBounds => {
                    for bound in self.children(node) {
                        self.type_at(bound, naming, depth + 1);
                    }
                }
                Kind::Block
                | Kind::IntegerLiteral
                | Kind::StringLiteral
                | Kind::RawStringLiteral
                | Kind::CharLiteral
                | Kind::BooleanLiteral
                | Kind::FloatLiteral => {}
                _ => arguments.push(self.type_at(node, naming, depth + 1)),
            }
        }
        arguments.extend(bound);
        arguments
    }

    /// The node of the last segment of a type's name.
    pub(super) fn last_segment(&self, node: Node) -> Node {
        let mut node = node;
        loop {
            let inner = match self.kind(node) {
                Kind::ScopedTypeIdentifier | Kind::ScopedIdentifier => self.child(node, Field::Name),
                Kind::GenericType
                | Kind::GenericTypeWithTurbofish
                | Kind::ReferenceType
                | Kind::PointerType
                | Kind::HigherRankedTraitBound => self.child(node, Field::Type),
                Kind::DynamicType | Kind::AbstractType | Kind::FunctionType => self.child(node, Field::Trait),
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }
}
