//! What a declarator declares: the name inside of pointers, arrays and parameter lists.

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::tree::Node;

#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    /// An identifier, a qualified name, an operator, a destructor, a list of names in brackets.
    pub(super) name: Node,
    pub(super) shape: Shape,
    /// The list of parameters that belongs to the name.
    pub(super) function: Option<Node>,
    /// `= value`, `(arguments)` or `{arguments}`.
    pub(super) value: Option<Node>,
    /// Behind a pointer or a reference.
    pub(super) is_pointer: bool,
    /// How many pointers lead to the written type: from a variable, or from what a function gives.
    pub(super) n_pointers: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// A value of the written type, or a pointer to one.
    Plain,
    Array,
    Function,
    /// `(*f)(int)`: a variable that can be called.
    FunctionPointer,
}

impl Reader<'_, '_> {
    /// None for a declarator without a name.
    pub(super) fn declared(&self, declarator: Node) -> Option<Declared> {
        let mut node = declarator;
        let mut value = None;
        let mut is_pointer = false;
        let mut n_pointers = 0_u8;
        // The wrapping next to the name says what it is; what is further out says what that gives.
        let mut nearest = Shape::Plain;
        let mut function = None;
        loop {
            let inner = match self.kind(node) {
                Kind::InitDeclarator => {
                    value = self.child(node, Field::Value);
                    self.child(node, Field::Declarator)
                }
                Kind::PointerDeclarator | Kind::PointerTypeDeclarator => {
                    is_pointer = true;
                    if matches!(nearest, Shape::Plain | Shape::Array) {
                        n_pointers = n_pointers.saturating_add(1);
                    }
                    if nearest == Shape::Function {
                        nearest = Shape::FunctionPointer;
                    }
                    self.child(node, Field::Declarator)
                }
                Kind::ReferenceDeclarator => {
                    is_pointer = true;
                    self.last_child(node)
                }
                Kind::ArrayDeclarator => {
                    if nearest != Shape::FunctionPointer {
                        nearest = Shape::Array;
                    }
                    self.child(node, Field::Declarator)
                }
                Kind::FunctionDeclarator => {
                    nearest = Shape::Function;
                    function = Some(node);
                    self.child(node, Field::Declarator)
                }
                Kind::ParenthesizedDeclarator | Kind::VariadicDeclarator => self.last_child(node),
                Kind::AttributedDeclarator => self.first_child(node),
                Kind::OperatorCast => {
                    let function = self.child(node, Field::Declarator);
                    return Some(Declared {
                        name: node,
                        shape: Shape::Function,
                        function,
                        value,
                        is_pointer,
                        n_pointers,
                    });
                }
                Kind::Identifier
                | Kind::FieldIdentifier
                | Kind::TypeIdentifier
                | Kind::PrimitiveType
                | Kind::QualifiedIdentifier
                | Kind::OperatorName
                | Kind::DestructorName
                | Kind::TemplateFunction
                | Kind::TemplateMethod
                | Kind::StructuredBindingDeclarator => break,
                _ => return None,
            };
            node = inner?;
        }
        let last = self.last_name(node);
        if self.kind(last) == Kind::OperatorCast {
            function = self.child(last, Field::Declarator);
            nearest = Shape::Function;
        }
        Some(Declared { name: node, shape: nearest, function, value, is_pointer, n_pointers })
    }

    fn last_child(&self, node: Node) -> Option<Node> {
        self.children(node).filter(|it| !matches!(self.kind(*it), Kind::TypeQualifier | Kind::Error)).last()
    }

    /// The last part of a qualified name, without template arguments.
    pub(super) fn last_name(&self, node: Node) -> Node {
        let mut node = node;
        loop {
            let inner = match self.kind(node) {
                Kind::QualifiedIdentifier => self.last_named(node),
                Kind::TemplateFunction | Kind::TemplateMethod | Kind::TemplateType => {
                    self.child(node, Field::Name)
                }
                Kind::DependentName | Kind::DependentType => self.first_child(node),
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => return node,
            }
        }
    }

    /// `a::b` has its name last; broken ones have two.
    fn last_named(&self, node: Node) -> Option<Node> {
        self.children(node).filter(|it| self.field(*it) == Field::Name).last()
    }

    /// The parts of a qualified name before the last, from the left; with whether it begins with `::`.
    pub(super) fn qualifiers(&self, name: Node) -> (Vec<Node>, bool) {
        let mut parts = Vec::new();
        let mut is_absolute = false;
        let mut node = name;
        while self.kind(node) == Kind::QualifiedIdentifier {
            match self.child(node, Field::Scope) {
                Some(scope) => parts.push(scope),
                None => is_absolute |= parts.is_empty(),
            }
            match self.last_named(node) {
                Some(next) => node = next,
                None => break,
            }
        }
        (parts, is_absolute)
    }
}
