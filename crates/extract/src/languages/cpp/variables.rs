//! Variables and fields: of files and namespaces, of classes, of functions.

use knowing_model::facts::{Call, CallForm, DeclId, Expr, ExprId, Modifiers, ReferenceRole, TypeId, Value};
use knowing_model::{NodeKind, Range};

use super::declarators::{Declared, Shape};
use super::functions::Head;
use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Longest value of a variable that its signature shows, in bytes.
const MAX_VALUE: u32 = 100;

impl Reader<'_, '_> {
    pub(super) fn declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let declarators: Vec<Node> =
            self.children(node).filter(|it| self.field(*it) == Field::Declarator).collect();
        let written = self.child(node, Field::Type);
        self.name_unnamed(written, &declarators);
        for declarator in declarators {
            let Some(declared) = self.declared(declarator) else { continue };
            let is_function = declared.shape == Shape::Function;
            match cx.place {
                Place::Body if is_function => self.variable_like_function(declared, written, cx),
                Place::Body => self.local(node, declarator, declared, cx),
                _ if is_function && self.is_macro_use(node, declared, cx) => {
                    self.used_macro(declared, cx);
                }
                _ if is_function => self.prototype(node, declarator, declared, cx),
                _ => self.variable(node, declarator, declared, cx),
            }
        }
        Step::Within(Context { template: None, ..cx })
    }

    /// `struct { int a; } place;`: the type is called as what it is the type of.
    fn name_unnamed(&mut self, written: Option<Node>, declarators: &[Node]) {
        let Some(written) = written.filter(|it| self.declares(*it)) else { return };
        if self.child(written, Field::Name).is_none()
            && let Some(declared) = declarators.first().and_then(|it| self.declared(*it))
        {
            self.given_names.insert(written, declared.name);
        }
    }

    /// `DECLARE_THINGS(Shop);` in a class is no constructor.
    fn is_macro_use(&self, node: Node, declared: Declared, cx: Context) -> bool {
        if self.child(node, Field::Type).is_some() || self.kind(declared.name) != Kind::Identifier {
            return false;
        }
        let name = self.b.bytes(declared.name);
        let class = cx.decl.filter(|_| cx.place == Place::Class);
        let is_constructor =
            class.is_some_and(|it| self.b.str(self.b.facts.decl(it).name).as_bytes() == name);
        !is_constructor && super::macros::is_constant_case(name)
    }

    fn used_macro(&mut self, declared: Declared, cx: Context) {
        let callee = self.expr(declared.name, cx.decl);
        let position = self.b.tree.position(declared.name);
        self.b.consume(declared.name);
        let form = CallForm::Plain;
        let decl = cx.decl;
        self.b.call(Call { decl, callee, position, n_arguments: 0, spread: true, passed: Vec::new(), form });
        if let Some(function) = declared.function {
            self.b.consume(function);
        }
    }

    /// A variable of a file or namespace, or a static one of a class that is defined outside of it.
    fn variable(&mut self, node: Node, declarator: Node, declared: Declared, cx: Context) {
        let is_const = self.has_specifier(node, "const") && !declared.is_pointer
            || self.has_specifier(node, "constexpr");
        let kind = match cx.place {
            Place::Class => NodeKind::Field,
            _ if is_const => NodeKind::Const,
            _ => NodeKind::Var,
        };
        let implementation = self.implementation(declared.name, cx);
        let Some(id) = self.declare_value(node, declarator, declared, kind, cx) else { return };
        if let Some((implementation, path)) = implementation {
            let decl = self.b.decl_mut(id);
            decl.implementation = Some(implementation);
            decl.path = path;
        }
        if self.has_specifier(node, "extern") && declared.value.is_none() {
            self.b.decl_mut(id).modifiers.insert(Modifiers::DECLARED);
        }
        let naming = Naming::new(Some(id), ReferenceRole::Hint);
        let type_ = self.declared_type(node, declared, naming);
        self.b.decl_mut(id).type_ = type_;
        if let Some(value) = declared.value {
            if type_.is_none() {
                let expr = self.expr(value, Some(id));
                self.b.decl_mut(id).value = Some(expr);
            }
            if self.kind(value) == Kind::LambdaExpression {
                self.b.decl_mut(id).kind = NodeKind::Function;
                self.decl_of.insert(value, id);
            }
            self.construction(node, value, Some(id));
            self.decl_of.insert(declarator, id);
        }
    }

    fn declare_value(
        &mut self,
        node: Node,
        declarator: Node,
        declared: Declared,
        kind: NodeKind,
        cx: Context,
    ) -> Option<DeclId> {
        let n_declared = self.children(node).filter(|it| self.field(*it) == Field::Declarator).count();
        let whole = if n_declared > 1 { declarator } else { node };
        let value = declared.value.or_else(|| self.value_after(declarator));
        let long = value.map(|it| self.b.tree.range(it)).filter(|it| it.to - it.from > MAX_VALUE);
        let written = self.child(node, Field::Type).filter(|it| self.declares(*it));
        let body = written.and_then(|it| self.child(it, Field::Body)).filter(|_| n_declared == 1);
        let end = body.map(|it| self.b.tree.start(it)).or(long.map(|it| it.from));
        let id = self.declare(declared.name, Head { node: whole, kind, end }, cx)?;
        self.b.consume(declared.name);
        if whole == declarator && self.has_specifier(node, "static") && cx.place != Place::Class {
            let decl = self.b.decl_mut(id);
            decl.modifiers = Modifiers::default();
            decl.flags = knowing_model::NodeFlags::default();
        }
        Some(id)
    }

    /// `= value` of a field stands beside its declarator.
    fn value_after(&self, declarator: Node) -> Option<Node> {
        let next = self.b.tree.after(declarator);
        let fits = next.index() < self.b.tree.len()
            && self.field(next) == Field::DefaultValue
            && self.parent(next) == self.parent(declarator);
        fits.then_some(next)
    }

    fn declared_type(&mut self, node: Node, declared: Declared, naming: Naming) -> Option<TypeId> {
        let written = self.child(node, Field::Type)?;
        if self.kind(written) == Kind::PlaceholderTypeSpecifier {
            self.b.consume(written);
            return None;
        }
        let type_ = self.read_type(written, naming);
        if let Some(function) = declared.function {
            // The types of its parameters are named too; its parameters are no variables.
            if let Some(list) = self.child(function, Field::Parameters) {
                for parameter in self.children(list) {
                    if let Some(inner) = self.child(parameter, Field::Type) {
                        self.read_type(inner, naming);
                    }
                }
                self.b.consume(list);
            }
        }
        Some(self.shaped(type_, declared))
    }

    pub(super) fn field_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let declarators: Vec<Node> =
            self.children(node).filter(|it| self.field(*it) == Field::Declarator).collect();
        let written = self.child(node, Field::Type);
        self.name_unnamed(written, &declarators);
        for declarator in declarators {
            let Some(declared) = self.declared(declarator) else { continue };
            if declared.shape == Shape::Function {
                if self.is_macro_use(node, declared, cx) {
                    self.used_macro(declared, cx);
                } else {
                    self.prototype(node, declarator, declared, cx);
                }
                continue;
            }
            let Some(id) = self.declare_value(node, declarator, declared, NodeKind::Field, cx) else {
                return Step::Over;
            };
            let naming = Naming::new(Some(id), ReferenceRole::Hint);
            let type_ = self.declared_type(node, declared, naming);
            let is_static = self.has_specifier(node, "static");
            let value = self.value_after(declarator);
            let decl = self.b.decl_mut(id);
            decl.type_ = type_;
            if is_static {
                decl.modifiers.insert(Modifiers::STATIC);
            }
            if let Some(value) = value
                && type_.is_none()
            {
                let expr = self.expr(value, Some(id));
                self.b.decl_mut(id).value = Some(expr);
            }
        }
        Step::Within(Context { template: None, ..cx })
    }

    /// `Shop shop(name);` and `Shop shop(make());` in a function are variables, whatever they look like.
    fn variable_like_function(&mut self, declared: Declared, written: Option<Node>, cx: Context) {
        let list = declared.function.and_then(|it| self.child(it, Field::Parameters));
        let (Some(list), Some(written)) = (list, written) else { return };
        let arguments: Vec<Node> = self.children(list).collect();
        self.b.consume(list);
        // A parameter with a name is one; so is what C takes.
        let is_parameter = |it: &Node| {
            let declarator = self.child(*it, Field::Declarator);
            let is_bare = declarator.is_none_or(|it| self.kind(it) == Kind::AbstractFunctionDeclarator);
            let type_ = self.child(*it, Field::Type).map(|it| self.kind(it));
            !is_bare || !matches!(type_, Some(Kind::TypeIdentifier | Kind::QualifiedIdentifier))
        };
        if !self.has_overloads
            || arguments.is_empty()
            || arguments.iter().any(is_parameter)
            || self.kind(written) == Kind::PrimitiveType
        {
            return;
        }
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        let type_ = self.read_type(written, naming);
        let visible = Range { from: self.b.tree.end(list), to: cx.block.to.max(self.b.tree.end(list)) };
        self.b.consume(declared.name);
        self.bind_name(declared.name, Value::Type(type_), cx.decl, visible);
        for argument in &arguments {
            let named = self.child(*argument, Field::Type);
            if self.child(*argument, Field::Declarator).is_some()
                && let Some(named) = named
            {
                let callee = self.path_expr(named, cx.decl);
                let position = self.b.tree.position(self.last_name(named));
                let (decl, form) = (cx.decl, CallForm::Plain);
                self.b.call(Call {
                    decl,
                    callee,
                    position,
                    n_arguments: 0,
                    spread: false,
                    passed: Vec::new(),
                    form,
                });
            }
        }
        self.constructed(written, &arguments, cx.decl);
    }

    fn local(&mut self, node: Node, declarator: Node, declared: Declared, cx: Context) {
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        let type_ = self.declared_type(node, declared, naming);
        // What is declared with its type is known in its own value; what has its type from there is not.
        let known = if type_.is_some() { declared.name } else { declarator };
        let from = self.b.tree.end(known);
        let visible = Range { from, to: cx.block.to.max(from) };
        self.b.consume(declared.name);
        if let Some(value) = declared.value {
            self.construction(node, value, cx.decl);
        }
        if self.kind(declared.name) == Kind::StructuredBindingDeclarator {
            let of = declared.value.map(|it| self.expr(it, cx.decl));
            self.unpack(declared.name, of, cx.decl, visible);
            return;
        }
        if let Some(value) = declared.value.filter(|it| self.kind(*it) == Kind::LambdaExpression)
            && self.kind(declared.name) == Kind::Identifier
        {
            self.named_lambda(node, declared.name, value, cx);
            return;
        }
        let value = match (type_, declared.value) {
            (Some(type_), _) => Value::Type(type_),
            (None, Some(value)) => Value::Expr(self.expr(value, cx.decl)),
            (None, None) => Value::Unknown,
        };
        self.bind_name(declared.name, value, cx.decl, visible);
    }

    fn named_lambda(&mut self, node: Node, name: Node, lambda: Node, cx: Context) {
        let end = self.child(lambda, Field::Body).map(|it| self.b.tree.start(it));
        let head = Head { node, kind: NodeKind::Function, end };
        if let Some(id) = self.declare(name, head, Context { template: None, ..cx }) {
            self.decl_of.insert(lambda, id);
            let name = self.b.name(name);
            self.locals.add(name, cx.block);
        }
    }

    fn unpack(&mut self, names: Node, of: Option<ExprId>, decl: Option<DeclId>, visible: Range) {
        for (index, name) in self.children(names).enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let value = match of {
                Some(of) => Value::Expr(self.b.expr(Expr::Item { of, index })),
                None => Value::Unknown,
            };
            self.b.consume(name);
            self.bind_name(name, value, decl, visible);
        }
    }

    /// `Shop shop(1)`, `Shop shop{1}`: a call of the constructor.
    fn construction(&mut self, node: Node, value: Node, decl: Option<DeclId>) {
        let Some(written) = self.child(node, Field::Type) else { return };
        if !matches!(self.kind(value), Kind::ArgumentList | Kind::InitializerList) {
            return;
        }
        // `= { ... }` fills a struct; without `=` it is as good as a call.
        let before = &self.b.source.bytes[..self.b.tree.start(value) as usize];
        if before.trim_ascii_end().ends_with(b"=") {
            return;
        }
        let arguments: Vec<Node> = self.children(value).collect();
        self.constructed(written, &arguments, decl);
    }

    /// A call of the constructor of a written type.
    pub(super) fn constructed(&mut self, written: Node, arguments: &[Node], decl: Option<DeclId>) {
        if !matches!(
            self.kind(written),
            Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType | Kind::TypeDescriptor
        ) {
            return;
        }
        let written = match self.kind(written) {
            Kind::TypeDescriptor => match self.child(written, Field::Type) {
                Some(inner) if self.child(written, Field::Declarator).is_none() => inner,
                _ => return,
            },
            _ => written,
        };
        if !matches!(
            self.kind(written),
            Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType
        ) {
            return;
        }
        let last = self.last_name(written);
        let name = self.b.name(last);
        if self.generics.contains(name, self.b.tree.start(written)) {
            return;
        }
        let callee = self.path_expr(written, decl);
        let position = self.b.tree.position(last);
        let form = CallForm::Plain;
        let n_arguments = u8::try_from(arguments.len()).unwrap_or(u8::MAX);
        self.note_arguments(callee, arguments, decl);
        self.b.call(Call { decl, callee, position, n_arguments, spread: false, passed: Vec::new(), form });
    }

    pub(super) fn range_loop(&mut self, node: Node, cx: Context) -> Step<Context> {
        let block = self.b.tree.range(node);
        let declared = self.child(node, Field::Declarator).and_then(|it| self.declared(it));
        let visible = self.child(node, Field::Body).map_or(block, |it| self.b.tree.range(it));
        if let Some(declared) = declared {
            let naming = Naming::new(cx.decl, ReferenceRole::Type);
            let type_ = self.declared_type(node, declared, naming);
            let of = self.child(node, Field::Right).map(|it| self.expr(it, cx.decl));
            let element = of.map(|of| self.b.expr(Expr::Element { of }));
            self.b.consume(declared.name);
            if self.kind(declared.name) == Kind::StructuredBindingDeclarator {
                self.unpack(declared.name, element, cx.decl, visible);
            } else {
                let value = match (type_, element) {
                    (Some(type_), _) => Value::Type(type_),
                    (None, Some(element)) => Value::Expr(element),
                    (None, None) => Value::Unknown,
                };
                self.bind_name(declared.name, value, cx.decl, visible);
            }
        }
        Step::Within(Context { block, ..cx })
    }
}
