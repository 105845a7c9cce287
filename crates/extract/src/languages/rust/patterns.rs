//! Patterns: the names they bind, each to its part of the value, and the variants and constants they name.

use knowing_model::facts::{
    Binding, BindingTarget, Expr, ExprId, ReferenceRole, ReferenceTarget, Str, Type, TypeId, Value,
};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::reader::{Reader, is_capital};
use super::types::Naming;
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;

/// What a pattern is matched with.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// An expression that is only read when something is bound to it.
    Node(Node),
    Expr(ExprId),
    Type(TypeId),
    Unknown,
    /// Another alternative binds the names.
    Nothing,
}

impl Reader<'_, '_> {
    /// Binds what a pattern binds; the walk passes over it.
    pub(super) fn pattern(&mut self, node: Node, given: Given, scope: Scope) {
        self.b.consume(node);
        self.pattern_at(node, given, scope, 0);
    }

    fn pattern_at(&mut self, node: Node, given: Given, scope: Scope, depth: usize) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(node) {
            Kind::Identifier if is_capital(self.b.bytes(node)) => self.named_value(node, scope),
            Kind::Identifier | Kind::ShorthandFieldIdentifier => self.bind_name(node, given, scope),
            Kind::ScopedIdentifier => self.named_value(node, scope),
            Kind::TuplePattern => self.tuple_pattern(node, given, scope, depth),
            Kind::TupleStructPattern => self.tuple_struct_pattern(node, given, scope, depth),
            Kind::StructPattern => self.struct_pattern(node, given, scope, depth),
            Kind::SlicePattern => self.slice_pattern(node, given, scope, depth),
            Kind::OrPattern => self.or_pattern(node, given, scope, depth),
            Kind::CapturedPattern => {
                let mut parts = self.children(node);
                if let Some(name) = parts.next() {
                    self.bind_name(name, given, scope);
                }
                if let Some(inner) = parts.next() {
                    self.pattern_at(inner, given, scope, depth + 1);
                }
            }
            Kind::RefPattern | Kind::MutPattern | Kind::ReferencePattern | Kind::GenericPattern => {
                if let Some(inner) = self.first_child(node) {
                    self.pattern_at(inner, given, scope, depth + 1);
                }
            }
            Kind::RangePattern => {
                for end in self.children(node) {
                    if matches!(self.kind(end), Kind::Identifier | Kind::ScopedIdentifier) {
                        self.named_value(end, scope);
                    }
                }
            }
            _ => {}
        }
    }

    fn bind_name(&mut self, node: Node, given: Given, scope: Scope) {
        let value = match given {
            Given::Nothing => return,
            Given::Unknown => Value::Unknown,
            Given::Type(type_) => Value::Type(type_),
            Given::Expr(expr) => Value::Expr(expr),
            Given::Node(node) => Value::Expr(self.expr(node, scope.decl)),
        };
        let name = self.b.name(node);
        self.locals.add(name, scope);
        self.b.bind(Binding {
            decl: scope.decl,
            target: BindingTarget::Name(name),
            value,
            visible: scope.visible,
            certain_to: scope.visible.to,
        });
    }

    /// A constant or a variant that a pattern names.
    fn named_value(&mut self, node: Node, scope: Scope) {
        let expr = self.path_expr(node, scope.decl);
        let position = self.b.tree.position(self.last_segment(node));
        self.refer(scope.decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
        self.qualifier(node, scope.decl);
    }

    fn tuple_pattern(&mut self, node: Node, given: Given, scope: Scope, depth: usize) {
        let mut is_exact = true;
        for (index, item) in self.children(node).enumerate() {
            if self.kind(item) == Kind::RemainingFieldPattern {
                is_exact = false;
                continue;
            }
            if self.kind(item) == Kind::Underscore {
                continue;
            }
            let part = if is_exact { self.item_of(given, index, scope) } else { self.unknown(given) };
            self.pattern_at(item, part, scope, depth + 1);
        }
    }

    /// What cannot be told of a part.
    fn unknown(&self, given: Given) -> Given {
        if matches!(given, Given::Nothing) { Given::Nothing } else { Given::Unknown }
    }

    fn item_of(&mut self, given: Given, index: usize, scope: Scope) -> Given {
        let of = match given {
            Given::Nothing | Given::Unknown => return given,
            Given::Expr(of) => of,
            Given::Type(type_) => match self.b.facts.type_(type_) {
                Type::Tuple(items) => return items.get(index).map_or(Given::Unknown, |it| Given::Type(*it)),
                _ => self.b.expr(Expr::Instance(type_)),
            },
            Given::Node(node) => {
                let node = self.inside_parentheses(node);
                if self.kind(node) == Kind::TupleExpression {
                    return self.children(node).nth(index).map_or(Given::Unknown, Given::Node);
                }
                self.expr(node, scope.decl)
            }
        };
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        Given::Expr(self.b.expr(Expr::Item { of, index }))
    }

    fn inside_parentheses(&self, node: Node) -> Node {
        let mut node = node;
        while matches!(self.kind(node), Kind::ParenthesizedExpression | Kind::ReferenceExpression)
            && let Some(inner) = self.first_child(node)
        {
            node = inner;
        }
        node
    }

    fn tuple_struct_pattern(&mut self, node: Node, given: Given, scope: Scope, depth: usize) {
        let Some(path) = self.child(node, Field::Type) else { return };
        let variant = self.variant_type(path, scope);
        let mut is_exact = true;
        for (index, item) in self.children(node).skip(1).enumerate() {
            match self.kind(item) {
                Kind::RemainingFieldPattern => is_exact = false,
                Kind::Underscore => {}
                _ => {
                    let field = self.digit(index);
                    let part = if is_exact {
                        self.payload_of(given, variant, field, scope)
                    } else {
                        self.unknown(given)
                    };
                    self.pattern_at(item, part, scope, depth + 1);
                }
            }
        }
    }

    fn struct_pattern(&mut self, node: Node, given: Given, scope: Scope, depth: usize) {
        let Some(path) = self.child(node, Field::Type) else { return };
        let variant = self.variant_type(path, scope);
        for item in self.children(node) {
            if self.kind(item) != Kind::FieldPattern {
                continue;
            }
            let Some(name) = self.child(item, Field::Name) else { continue };
            let field = self.b.name(name);
            let part = self.payload_of(given, variant, field, scope);
            self.field_of(variant, name, scope.decl);
            let inner = self.child(item, Field::Pattern);
            if inner.is_some_and(|it| self.kind(it) == Kind::Underscore) {
                continue;
            }
            self.pattern_at(inner.unwrap_or(name), part, scope, depth + 1);
        }
    }

    /// The type or variant a pattern names: a use of a value, and what its fields are looked up in.
    fn variant_type(&mut self, path: Node, scope: Scope) -> TypeId {
        let naming = Naming { outermost: false, ..Naming::new(scope.decl, ReferenceRole::Type) };
        let variant = self.read_type(path, naming);
        if !self.is(path, "Self") {
            self.named_value(path, scope);
        }
        variant
    }

    fn payload_of(&mut self, given: Given, variant: TypeId, field: Str, scope: Scope) -> Given {
        let of = match given {
            Given::Nothing => return given,
            Given::Unknown => self.b.expr(Expr::Unknown),
            Given::Expr(of) => of,
            Given::Type(type_) => self.b.expr(Expr::Instance(type_)),
            Given::Node(node) => self.expr(node, scope.decl),
        };
        Given::Expr(self.b.expr(Expr::Payload { of, variant, field }))
    }

    fn slice_pattern(&mut self, node: Node, given: Given, scope: Scope, depth: usize) {
        for item in self.children(node) {
            let is_rest = self.kind(item) == Kind::CapturedPattern
                && self.children(item).nth(1).is_some_and(|it| self.kind(it) == Kind::RemainingFieldPattern);
            let part = if is_rest { given } else { self.element_of(given, scope) };
            self.pattern_at(item, part, scope, depth + 1);
        }
    }

    /// What a loop over it gives, or a part of a slice.
    pub(super) fn element_of(&mut self, given: Given, scope: Scope) -> Given {
        let of = match given {
            Given::Nothing | Given::Unknown => return given,
            Given::Expr(of) => of,
            Given::Type(type_) => self.b.expr(Expr::Instance(type_)),
            Given::Node(node) => {
                let inner = self.inside_parentheses(node);
                if self.kind(inner) == Kind::ArrayExpression {
                    // All elements are of one type.
                    return self.first_child(inner).map_or(Given::Unknown, Given::Node);
                }
                self.expr(node, scope.decl)
            }
        };
        Given::Expr(self.b.expr(Expr::Element { of }))
    }

    /// All alternatives bind the same names, so that the first says what they are. The left ones nest.
    fn or_pattern(&mut self, node: Node, given: Given, scope: Scope, depth: usize) {
        let mut alternatives = Vec::new();
        let mut at = node;
        while self.kind(at) == Kind::OrPattern {
            let parts: Vec<Node> = self.children(at).collect();
            let Some((first, rest)) = parts.split_first() else { return };
            alternatives.extend(rest.iter().rev().copied());
            at = *first;
        }
        self.pattern_at(at, given, scope, depth + 1);
        for alternative in alternatives.into_iter().rev() {
            self.pattern_at(alternative, Given::Nothing, scope, depth + 1);
        }
    }
}
