//! Syntax to `Type`, and a reference for every name in it. References are looked through; a pointer is a type called `*`.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ReferenceRole, ReferenceTarget, Str, Type, TypeId};

use super::declarators::{Declared, Shape};
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
    /// Whether the outermost name is a use too; bases are noted elsewhere.
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

impl Reader<'_, '_> {
    /// The type at a node, read once. The walk passes over it, unless it declares what it names.
    pub(super) fn read_type(&mut self, node: Node, naming: Naming) -> TypeId {
        if let Some(known) = self.types.get(&node) {
            return *known;
        }
        if !self.declares(node) {
            self.b.consume(node);
        }
        let type_ = self.type_at(node, naming, 0);
        self.types.insert(node, type_);
        type_
    }

    /// A type as its declarator shapes it.
    pub(super) fn shaped(&mut self, type_: TypeId, declared: Declared) -> TypeId {
        // More than a few are as good as a few.
        let n_pointers = declared.n_pointers.min(4);
        let type_ = (0..n_pointers).fold(type_, |of, _| self.pointer(of));
        match declared.shape {
            Shape::Plain | Shape::Function => type_,
            Shape::Array => self.b.type_(Type::Sequence(type_)),
            Shape::FunctionPointer => self.b.type_(Type::Function(Some(type_))),
        }
    }

    /// `T *`: a type called `*`, with the other as its argument.
    pub(super) fn pointer(&mut self, of: TypeId) -> TypeId {
        let at = match self.b.facts.type_(of) {
            Type::Named { at, .. } => *at,
            _ => 0,
        };
        let segments = vec![self.b.intern("*")];
        self.b.type_(Type::Named { segments, arguments: vec![of], at })
    }

    /// `struct x { ... }`, where a type can be written.
    pub(super) fn declares(&self, node: Node) -> bool {
        let is_specifier = matches!(
            self.kind(node),
            Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier | Kind::EnumSpecifier
        );
        is_specifier && self.child(node, Field::Body).is_some()
    }

    /// A type that the walk comes to: an argument of a template, a cast, something of a broken declaration.
    pub(super) fn type_in_body(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !self.is_broken_name(node) {
            self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
        }
        Step::Over
    }

    /// What stands in an error as a type is as likely anything else.
    fn is_broken_name(&self, node: Node) -> bool {
        self.parent(node).is_some_and(|it| self.kind(it) == Kind::Error)
    }

    fn type_at(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.b.type_(Type::Unknown);
        }
        match self.kind(node) {
            Kind::TypeIdentifier
            | Kind::Identifier
            | Kind::NamespaceIdentifier
            | Kind::QualifiedIdentifier
            | Kind::TemplateType
            | Kind::TemplateFunction => self.named(node, naming, depth),
            Kind::PrimitiveType | Kind::SizedTypeSpecifier => {
                let text = self.b.text(node).split_whitespace().collect::<Vec<_>>().join(" ");
                let segments = vec![self.b.intern_name(text.into())];
                self.b.type_(Type::Named { segments, arguments: Vec::new(), at: self.b.tree.start(node) })
            }
            Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier | Kind::EnumSpecifier => {
                let given = self.given_names.get(&node).copied();
                match self.child(node, Field::Name).or(given) {
                    Some(name) if self.declares(node) => self.unnoted(name),
                    Some(name) => self.named(name, naming, depth),
                    None => self.b.type_(Type::Unknown),
                }
            }
            Kind::DependentType => match self.first_child(node) {
                Some(inner) => self.type_at(inner, naming, depth + 1),
                None => self.b.type_(Type::Unknown),
            },
            Kind::MacroTypeSpecifier => match self.child(node, Field::Type) {
                Some(inner) => self.type_at(inner, naming, depth + 1),
                None => self.b.type_(Type::Unknown),
            },
            Kind::TypeDescriptor => self.described(node, naming, depth),
            _ => self.b.type_(Type::Unknown),
        }
    }

    /// The name of a type that is declared on the spot.
    fn unnoted(&mut self, name: Node) -> TypeId {
        let last = self.last_name(name);
        let segments = vec![self.b.name(last)];
        self.b.type_(Type::Named { segments, arguments: Vec::new(), at: self.b.tree.start(last) })
    }

    /// `T *`, `T[]`, `T (*)(int)`, `T(int)`.
    fn described(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let Some(inner) = self.child(node, Field::Type) else { return self.b.type_(Type::Unknown) };
        let type_ = self.type_at(inner, naming, depth + 1);
        let mut at = self.child(node, Field::Declarator);
        let mut type_ = type_;
        while let Some(declarator) = at {
            type_ = match self.kind(declarator) {
                Kind::AbstractArrayDeclarator => self.b.type_(Type::Sequence(type_)),
                Kind::AbstractPointerDeclarator => self.pointer(type_),
                Kind::AbstractFunctionDeclarator => {
                    if let Some(list) = self.child(declarator, Field::Parameters) {
                        for parameter in self.children(list) {
                            if let Some(inner) = self.child(parameter, Field::Type) {
                                self.type_at(inner, naming.inner(), depth + 1);
                            }
                        }
                    }
                    self.b.type_(Type::Function(Some(type_)))
                }
                _ => type_,
            };
            at = self.child(declarator, Field::Declarator).or_else(|| {
                let is_nested = matches!(
                    self.kind(declarator),
                    Kind::AbstractParenthesizedDeclarator | Kind::AbstractReferenceDeclarator
                );
                self.first_child(declarator).filter(|_| is_nested)
            });
        }
        type_
    }

    fn named(&mut self, node: Node, naming: Naming, depth: usize) -> TypeId {
        let (parts, is_absolute) = self.qualifiers(node);
        let mut segments: Vec<Str> = Vec::new();
        if is_absolute {
            segments.push(self.b.intern(""));
        }
        let mut last = node;
        let mut arguments = Vec::new();
        let mut around = Vec::new();
        for part in parts {
            if let Some(list) = self.child(part, Field::Arguments) {
                around = self.type_arguments(list, naming.inner(), depth + 1);
            }
            let name = self.last_name(part);
            segments.push(self.b.name(name));
        }
        while self.kind(last) == Kind::QualifiedIdentifier {
            match self.children(last).filter(|it| self.field(*it) == Field::Name).last() {
                Some(inner) => last = inner,
                None => break,
            }
        }
        while matches!(self.kind(last), Kind::DependentName | Kind::DependentType)
            && let Some(inner) = self.first_child(last)
        {
            last = inner;
        }
        if let Some(list) = self.child(last, Field::Arguments) {
            arguments = self.type_arguments(list, naming.inner(), depth + 1);
        }
        let name = self.last_name(last);
        segments.push(self.b.name(name));
        // `vector<T>::iterator` is of `T`.
        if arguments.is_empty() && is_member_type(&self.b.text(name)) {
            arguments = around;
        }
        let at = self.b.tree.start(node);
        let is_parameter = matches!(segments.as_slice(), [only] if self.generics.contains(*only, at));
        let type_ = self.b.type_(Type::Named { segments, arguments, at });
        if naming.outermost && !is_parameter {
            let position = self.b.tree.position(name);
            self.refer(naming.decl, ReferenceTarget::Type(type_), naming.role, position);
        }
        type_
    }

    /// Types between `<` and `>`; what is a value is an unknown type, so that the others keep their places.
    pub(super) fn type_arguments(&mut self, list: Node, naming: Naming, depth: usize) -> Vec<TypeId> {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return Vec::new();
        }
        let mut arguments = Vec::new();
        for node in self.children(list) {
            let type_ = match self.kind(node) {
                Kind::TypeDescriptor => self.type_at(node, naming, depth + 1),
                Kind::ParameterPackExpansion => self.b.type_(Type::Unknown),
                _ => {
                    self.value_in_type(node, naming.decl);
                    self.b.type_(Type::Unknown)
                }
            };
            arguments.push(type_);
        }
        arguments
    }

    /// What stands between two nodes.
    pub(super) fn between(&self, one: Node, other: Node) -> &[u8] {
        self.b.source.bytes(Range { from: self.b.tree.end(one), to: self.b.tree.start(other) })
    }
}

/// Types that containers of the standard library, and those that are made like them, have as members.
fn is_member_type(name: &str) -> bool {
    matches!(
        name,
        "iterator"
            | "const_iterator"
            | "reverse_iterator"
            | "const_reverse_iterator"
            | "value_type"
            | "reference"
            | "const_reference"
            | "pointer"
            | "const_pointer"
            | "mapped_type"
            | "key_type"
    )
}
