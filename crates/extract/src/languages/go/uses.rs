//! Calls, and uses that are no calls: values, fields, keys of literals.

use knowing_model::Position;
use knowing_model::facts::{Call, CallForm, DeclId, Expr, Passed, Reference, ReferenceRole, ReferenceTarget};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::types::{Naming, is_basic};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn refer(
        &mut self,
        decl: Option<DeclId>,
        target: ReferenceTarget,
        role: ReferenceRole,
        position: Position,
    ) {
        self.b.reference(Reference { decl, target, role, position });
    }

    pub(super) fn call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(function) = self.child(node, Field::Function) else { return Step::Into };
        let (terminal, form) = self.called_name(function);
        if form == CallForm::Plain && terminal == function && is_conversion(self.b.bytes(function)) {
            // `string(x)`, `len(x)`: nothing that anybody declared.
            self.b.consume(function);
            return Step::Into;
        }
        if self.kind(terminal) == Kind::FuncLiteral {
            // `go func() {...}()`: what it does belongs to who has it.
            return Step::Into;
        }
        let callee = self.expr(function, cx.decl);
        let position = self.b.tree.position(terminal);
        let mut n_arguments = 0_usize;
        let mut passed = Vec::new();
        let mut spread = false;
        if let Some(arguments) = self.child(node, Field::Arguments) {
            for argument in self.children(arguments) {
                n_arguments += 1;
                spread |= self.kind(argument) == Kind::VariadicArgument;
                passed.extend(self.passed(argument, cx));
            }
        }
        self.maybe_site(node, function, cx);
        self.panics(node, function, cx);
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::try_from(n_arguments).unwrap_or(u8::MAX),
            spread,
            passed,
            form,
        });
        Step::Into
    }

    /// `f[T](x)` looks like a conversion to a generic type, and is mostly a call of a generic function.
    pub(super) fn conversion(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(type_) = self.child(node, Field::Type) else { return Step::Into };
        if self.kind(type_) != Kind::GenericType {
            return Step::Into;
        }
        let Some(callee) = self.generic_callee(type_) else { return Step::Into };
        let position = self.b.tree.position(self.last_segment(type_));
        let argument = self.child(node, Field::Operand);
        let passed = argument.and_then(|it| self.passed(it, cx));
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::from(argument.is_some()),
            spread: false,
            passed: passed.into_iter().collect(),
            form: CallForm::Plain,
        });
        Step::Into
    }

    /// Where the called name stands: `f` of `f[T](x)`, `m` of `x.m(y)`.
    fn called_name(&self, function: Node) -> (Node, CallForm) {
        let mut named = function;
        loop {
            named = match self.kind(named) {
                Kind::Identifier => return (named, CallForm::Plain),
                Kind::SelectorExpression => {
                    return (self.child(named, Field::Member).unwrap_or(named), CallForm::Plain);
                }
                Kind::IndexExpression => match self.child(named, Field::Operand) {
                    Some(inner) => inner,
                    None => return (function, CallForm::Dynamic),
                },
                Kind::TypeInstantiation => match self.child(named, Field::Type) {
                    Some(inner) => return (self.last_segment(inner), CallForm::Plain),
                    None => return (function, CallForm::Dynamic),
                },
                Kind::ParenthesizedExpression => match self.first_child(named) {
                    Some(inner) => inner,
                    None => return (function, CallForm::Dynamic),
                },
                _ => return (named, CallForm::Dynamic),
            };
        }
    }

    /// A name or chain that may be a function: `parse`, `text.Parse`, `s.handle`.
    fn passed(&mut self, argument: Node, cx: Context) -> Option<Passed> {
        let last = match self.kind(argument) {
            Kind::Identifier if !self.is_local(argument) => argument,
            Kind::SelectorExpression => self.child(argument, Field::Member)?,
            _ => return None,
        };
        let expr = self.expr(argument, cx.decl);
        Some(Passed { expr, position: self.b.tree.position(last) })
    }

    pub(super) fn is_local(&mut self, identifier: Node) -> bool {
        let name = self.b.name(identifier);
        self.locals.contains(name, self.b.tree.start(identifier))
    }

    /// A name that stands for something outside of the function.
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        if !matches!(self.field(node), Field::Name | Field::Function)
            && !is_universal(self.b.bytes(node))
            && !self.is_package(node)
            && !self.is_local(node)
        {
            self.value(node, node, cx.decl);
        }
        Step::Over
    }

    /// `pkg` of `pkg.Name`: the member says it all.
    fn is_package(&mut self, node: Node) -> bool {
        let name = self.b.name(node);
        self.field(node) == Field::Operand && self.packages.contains_key(&name)
    }

    fn value(&mut self, node: Node, last: Node, decl: Option<DeclId>) {
        let expr = self.expr(node, decl);
        let position = self.b.tree.position(last);
        self.refer(decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
    }

    /// The length of an array, where it is a constant.
    pub(super) fn value_in_type(&mut self, node: Node, decl: Option<DeclId>) {
        match self.kind(node) {
            Kind::Identifier => self.value(node, node, decl),
            Kind::SelectorExpression => {
                if let Some(name) = self.child(node, Field::Member) {
                    self.value(node, name, decl);
                }
            }
            _ => {}
        }
    }

    /// `pkg.Name` as a value, and members of values: `x.Name`, `f().Name`. What is called is a call and nothing else.
    pub(super) fn selector(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(operand), Some(name)) = (self.child(node, Field::Operand), self.child(node, Field::Member))
        else {
            return Step::Into;
        };
        let is_name = self.kind(operand) == Kind::Identifier;
        let is_of_value = !is_name || self.is_local(operand);
        if self.field(node) != Field::Function {
            let expr = self.expr(node, cx.decl);
            let position = self.b.tree.position(name);
            let role = if is_of_value { ReferenceRole::Field } else { ReferenceRole::Value };
            self.refer(cx.decl, ReferenceTarget::Expr(expr), role, position);
        }
        if is_name && is_of_value { Step::Over } else { Step::Into }
    }

    /// `T{...}`: the type is used; what stands in it is walked through.
    pub(super) fn composite(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(type_) = self.child(node, Field::Type) {
            self.read_type(type_, Naming::new(cx.decl, ReferenceRole::Type));
        }
        Step::Into
    }

    /// `Name: value` in braces: a field of the literal's type, unless the type is a map or a list as written.
    pub(super) fn keyed_element(&mut self, node: Node, cx: Context) -> Step<Context> {
        let key = self.child(node, Field::Key).and_then(|it| self.first_child(it));
        let (Some(key), Some(literal)) = (key, self.parent(node)) else { return Step::Into };
        if self.kind(key) != Kind::Identifier || self.has_written_keys(literal) {
            return Step::Into;
        }
        self.b.consume(key);
        let of = self.literal_expr(literal, cx.decl);
        let name = self.b.name(key);
        let expr = self.b.expr(Expr::Member { of, name });
        let position = self.b.tree.position(key);
        self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
        Step::Into
    }

    fn has_written_keys(&self, literal: Node) -> bool {
        let Some(parent) = self.parent(literal) else { return false };
        let type_ = self.child(parent, Field::Type);
        self.kind(parent) == Kind::CompositeLiteral
            && type_.is_some_and(|it| {
                matches!(
                    self.kind(it),
                    Kind::MapType | Kind::SliceType | Kind::ArrayType | Kind::ImplicitLengthArrayType
                )
            })
    }
}

/// Conversions and functions of the language that tell nothing about a program.
fn is_conversion(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(is_basic)
}

/// Values that every file has.
fn is_universal(name: &[u8]) -> bool {
    matches!(name, b"_" | b"nil" | b"true" | b"false" | b"iota" | b"new" | b"make") || is_conversion(name)
}
