//! Calls, and uses that are no calls: values, fields, the types that paths begin with.

use knowing_model::Position;
use knowing_model::facts::{
    Argument, Call, CallForm, DeclId, Expr, ExprId, Passed, Reference, ReferenceRole, ReferenceTarget,
    Return, ReturnKind,
};

use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// How many lists in lists are looked through.
const MAX_LISTS: usize = 6;

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
        if let Some(type_) = self.cast(function) {
            self.read_type(type_, Naming::new(cx.decl, ReferenceRole::Type));
            self.b.consume(function);
            return Step::Into;
        }
        let mut named = function;
        while matches!(self.kind(named), Kind::TemplateFunction | Kind::DependentName) {
            let inner = self.child(named, Field::Name).or_else(|| self.first_child(named));
            match inner {
                Some(inner) => named = inner,
                None => break,
            }
        }
        let (terminal, form) = match self.kind(named) {
            Kind::Identifier | Kind::QualifiedIdentifier | Kind::TypeIdentifier | Kind::TemplateType => {
                (self.last_name(named), CallForm::Plain)
            }
            Kind::FieldExpression => {
                let member = self.child(named, Field::Member).unwrap_or(named);
                (self.last_name(member), CallForm::Plain)
            }
            Kind::PrimitiveType | Kind::LambdaExpression => return Step::Into,
            _ => (self.computed(named), CallForm::Dynamic),
        };
        if matches!(self.b.bytes(terminal), b"defined" | b"__attribute__" | b"sizeof" | b"__typeof__") {
            return Step::Into;
        }
        // A parameter of the template is called, or made: nobody knows which.
        if self.kind(named) == Kind::Identifier {
            let name = self.b.name(named);
            if self.generics.contains(name, self.b.tree.start(named)) {
                return Step::Into;
            }
        }
        let callee = self.expr(function, cx.decl);
        let position = self.b.tree.position(terminal);
        let mut n_arguments = 0_usize;
        let mut spread = false;
        let mut passed = Vec::new();
        let arguments = self.child(node, Field::Arguments);
        let arguments: Vec<Node> = arguments.into_iter().flat_map(|it| self.children(it)).collect();
        for argument in &arguments {
            n_arguments += 1;
            spread |= self.kind(*argument) == Kind::ParameterPackExpansion;
            passed.extend(self.passed(*argument, cx));
        }
        self.note_arguments(callee, &arguments, cx.decl);
        let n_arguments = u8::try_from(n_arguments).unwrap_or(u8::MAX);
        self.maybe_site(node, named, cx);
        self.b.call(Call { decl: cx.decl, callee, position, n_arguments, spread, passed, form });
        if let Some((type_, _)) = self.made(function) {
            self.read_type(type_, Naming::new(cx.decl, ReferenceRole::Type));
            self.constructed(type_, &arguments, cx.decl);
        }
        Step::Into
    }

    /// What a call is made with, where callables of one name can differ in it.
    pub(super) fn note_arguments(&mut self, callee: ExprId, arguments: &[Node], decl: Option<DeclId>) {
        if !self.has_overloads {
            return;
        }
        for argument in arguments {
            let value = self.expr(*argument, decl);
            let spread = self.kind(*argument) == Kind::ParameterPackExpansion;
            self.b.argument(Argument { callee, value, name: None, spread });
        }
    }

    /// The field's name in `(*shop->handler)(x)`.
    fn computed(&self, callee: Node) -> Node {
        let mut node = callee;
        for _ in 0..8 {
            let inner = match self.kind(node) {
                Kind::ParenthesizedExpression => self.first_child(node),
                Kind::PointerExpression | Kind::SubscriptExpression => self.child(node, Field::Argument),
                Kind::FieldExpression => self.child(node, Field::Member),
                _ => None,
            };
            match inner {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node
    }

    /// A name that may be a function: `on_open`, `&on_open`, `Shop::on_open`.
    fn passed(&mut self, argument: Node, cx: Context) -> Option<Passed> {
        let mut named = argument;
        while matches!(
            self.kind(named),
            Kind::PointerExpression | Kind::ParenthesizedExpression | Kind::CastExpression
        ) {
            named = match self.kind(named) {
                Kind::CastExpression => self.child(named, Field::Value)?,
                Kind::PointerExpression => {
                    // What a pointer points to is no function.
                    if self.b.bytes(named).starts_with(b"*") {
                        return None;
                    }
                    self.child(named, Field::Argument)?
                }
                _ => self.first_child(named)?,
            };
        }
        let last = match self.kind(named) {
            Kind::Identifier if !self.is_local(named) => named,
            Kind::QualifiedIdentifier => self.last_name(named),
            _ => return None,
        };
        let expr = self.expr(named, cx.decl);
        Some(Passed { expr, position: self.b.tree.position(last) })
    }

    pub(super) fn is_local(&mut self, identifier: Node) -> bool {
        let name = self.b.name(identifier);
        let at = self.b.tree.start(identifier);
        self.locals.contains(name, at) || self.generics.contains(name, at)
    }

    /// A name that stands for something outside of the function.
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_broken = self.parent(node).is_some_and(|it| self.kind(it) == Kind::Error);
        if !matches!(self.field(node), Field::Name | Field::Function) && !is_broken && !self.is_local(node) {
            self.value(node, cx.decl);
        }
        Step::Over
    }

    fn value(&mut self, node: Node, decl: Option<DeclId>) {
        let expr = self.expr(node, decl);
        let position = self.b.tree.position(self.last_name(node));
        self.refer(decl, ReferenceTarget::Expr(expr), ReferenceRole::Value, position);
    }

    /// A constant between `<` and `>`.
    pub(super) fn value_in_type(&mut self, node: Node, decl: Option<DeclId>) {
        match self.kind(node) {
            Kind::Identifier if !self.is_local(node) => self.value(node, decl),
            Kind::QualifiedIdentifier => self.value(node, decl),
            _ => {}
        }
    }

    pub(super) fn scoped(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.field(node) == Field::Type {
            self.read_type(node, Naming::new(cx.decl, ReferenceRole::Type));
            return Step::Over;
        }
        if self.field(node) == Field::Function {
            self.path_expr(node, cx.decl);
        } else {
            self.value(node, cx.decl);
        }
        Step::Over
    }

    /// `f<T>` where a value stands.
    pub(super) fn templated(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(list) = self.child(node, Field::Arguments)
            && !self.b.is_consumed(list)
        {
            self.b.consume(list);
            self.type_arguments(list, Naming::new(cx.decl, ReferenceRole::Type), 0);
        }
        if let Some(name) = self.child(node, Field::Name).filter(|it| self.kind(*it) == Kind::Identifier)
            && self.field(node) != Field::Function
            && !self.is_local(name)
        {
            self.value(name, cx.decl);
        }
        Step::Over
    }

    /// `new Shop(1)`: the constructor is called.
    pub(super) fn creation(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(written) = self.child(node, Field::Type) {
            self.read_type(written, Naming::new(cx.decl, ReferenceRole::Type));
            let is_array = self.child(node, Field::Declarator).is_some();
            if !is_array {
                let arguments = self.child(node, Field::Arguments);
                let arguments: Vec<Node> = arguments.into_iter().flat_map(|it| self.children(it)).collect();
                self.constructed(written, &arguments, cx.decl);
            }
        }
        Step::Into
    }

    /// `x.name` and `x->name`, when it is not called.
    pub(super) fn field_access(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.field(node) != Field::Function
            && let Some(name) = self.child(node, Field::Member)
        {
            let expr = self.expr(node, cx.decl);
            let position = self.b.tree.position(name);
            self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Field, position);
        }
        Step::Into
    }

    /// `.name = value` in braces: a field of what the braces make.
    pub(super) fn designator(&mut self, node: Node, cx: Context) -> Step<Context> {
        let list = self.parent(node).and_then(|it| self.parent(it));
        if let (Some(name), Some(list)) = (self.first_child(node), list)
            && let Some(of) = self.made_by(list, cx.decl, 0)
        {
            let position = self.b.tree.position(name);
            let name = self.b.name(name);
            let expr = self.b.expr(Expr::Member { of, name });
            self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Field, position);
        }
        Step::Over
    }

    /// What a list in braces makes: the variable it is given to, a value of the type before it, a part of braces around.
    fn made_by(&mut self, list: Node, decl: Option<DeclId>, level: usize) -> Option<ExprId> {
        if level > MAX_LISTS {
            return None;
        }
        let around = self.parent(list)?;
        match self.kind(around) {
            Kind::InitDeclarator => {
                let mut name = self.child(around, Field::Declarator)?;
                while let Some(inner) = self.child(name, Field::Declarator) {
                    name = inner;
                }
                let (name, at) = (self.b.name(name), self.b.tree.end(around));
                Some(self.b.expr(Expr::Name { name, at }))
            }
            Kind::CompoundLiteralExpression => Some(self.expr(around, decl)),
            Kind::InitializerList => {
                let of = self.made_by(around, decl, level + 1)?;
                Some(self.b.expr(Expr::Index { of }))
            }
            Kind::InitializerPair => {
                let outer = self.parent(around)?;
                let of = self.made_by(outer, decl, level + 1)?;
                let designator = self.child(around, Field::Designator)?;
                if self.kind(designator) != Kind::FieldDesignator {
                    return Some(self.b.expr(Expr::Index { of }));
                }
                let name = self.first_child(designator)?;
                let name = self.b.name(name);
                Some(self.b.expr(Expr::Member { of, name }))
            }
            _ => None,
        }
    }

    /// `Shop() : Base(1), n_(2)`: a call of the base's constructor, or a field that gets its value.
    pub(super) fn field_initializer(&mut self, node: Node, cx: Context) -> Step<Context> {
        let mut parts = self.children(node);
        let (Some(name), arguments) = (parts.next(), parts.next()) else { return Step::Into };
        self.b.consume(name);
        let last = self.last_name(name);
        let position = self.b.tree.position(last);
        let text = self.b.name(last);
        if self.kind(name) == Kind::FieldIdentifier && !self.is_base(text, cx) {
            let this = self.b.intern("this");
            let of = self.b.expr(Expr::Name { name: this, at: self.b.tree.start(name) });
            let expr = self.b.expr(Expr::Member { of, name: text });
            self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Field, position);
            return Step::Into;
        }
        let callee = match self.kind(name) {
            Kind::QualifiedIdentifier => self.path_expr(name, cx.decl),
            _ => self.b.expr(Expr::Name { name: text, at: self.b.tree.start(last) }),
        };
        let arguments: Vec<Node> = arguments.into_iter().flat_map(|it| self.children(it)).collect();
        self.note_arguments(callee, &arguments, cx.decl);
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments: u8::try_from(arguments.len()).unwrap_or(u8::MAX),
            spread: false,
            passed: Vec::new(),
            form: CallForm::Plain,
        });
        Step::Into
    }

    /// Whether a name is that of the constructor's own class or of one of its bases, as far as this file says.
    fn is_base(&self, name: knowing_model::facts::Str, cx: Context) -> bool {
        let Some(constructor) = cx.decl.map(|it| self.b.facts.decl(it)) else { return false };
        if constructor.name == name {
            return true;
        }
        let class = match (constructor.implementation, constructor.owner) {
            (None, Some(owner)) => Some(self.b.facts.decl(owner)),
            _ => self.b.facts.decls.iter().find(|it| it.name == constructor.name && !it.bases.is_empty()),
        };
        class.is_some_and(|it| {
            it.bases.iter().any(|base| match self.b.facts.type_(base.type_) {
                knowing_model::facts::Type::Named { segments, .. } => segments.last() == Some(&name),
                _ => false,
            })
        })
    }

    pub(super) fn throw(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(thrown) = self.first_child(node) {
            let named = match self.kind(thrown) {
                Kind::CallExpression => self.child(thrown, Field::Function).unwrap_or(thrown),
                _ => thrown,
            };
            if matches!(
                self.kind(thrown),
                Kind::CallExpression | Kind::Identifier | Kind::QualifiedIdentifier | Kind::NewExpression
            ) {
                // What is made on the spot is named; what a function gives is known by its result.
                let last = self.last_name(named);
                let text = self.b.bytes(last);
                let is_type = text.first().is_some_and(u8::is_ascii_uppercase)
                    || text.ends_with(b"_error")
                    || text.ends_with(b"exception");
                let expr = self.expr(if is_type { named } else { thrown }, cx.decl);
                let position = self.b.tree.position(last);
                self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Raise, position);
            }
        }
        Step::Into
    }

    /// What a function gives that does not say so: `auto f() { return x; }`.
    pub(super) fn return_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(decl) = cx.decl.filter(|_| cx.place == Place::Body)
            && self.b.facts.decl(decl).kind.is_callable()
            && self.b.facts.decl(decl).type_.is_none()
            && let Some(value) = self.first_child(node)
        {
            let expr = self.expr(value, cx.decl);
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Return });
        }
        Step::Into
    }
}
