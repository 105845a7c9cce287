//! Functions and methods: what their decorators make of them, their parameters, what they give back.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Literal, Modifiers, Parameter, ParameterKind, ReferenceRole, Return,
    ReturnKind, Str, Type, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, ClassTraits, Scope, ScopeId, ScopeKind};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What decorators and name make of a function.
struct Nature {
    kind: NodeKind,
    flags: NodeFlags,
    modifiers: Modifiers,
}

impl Reader<'_, '_> {
    pub(super) fn function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let name = self.b.name(name_node);
        let around = self.scopes.at(cx.scope);
        let nature = self.nature(node, name, around);
        let signature = self.head(node);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: nature.kind,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        self.scopes.bind(cx.scope, name, Bound::Symbol);
        let doc = self.child(node, Field::Body).and_then(|it| self.docstring(it));
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        decl.flags = nature.flags;
        decl.modifiers = nature.modifiers;
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Function,
            parent: Some(cx.scope),
            decl: Some(id),
            end: self.b.tree.end(node),
            receiver: None,
            class: ClassTraits::default(),
        });
        let inner = Context { decl: Some(id), function: Some(id), body_scope: scope, ..cx };
        self.type_parameters(node, id, inner);
        let receiver = self.receiver_of(nature.modifiers, around);
        if let Some(parameters) = self.child(node, Field::Parameters) {
            let start = self.b.tree.end(parameters);
            let place = Range { from: start, to: self.b.tree.end(node) };
            self.parameters(parameters, receiver, place, Some(id), Context { scope, ..inner });
            self.note_receiver(Some(id), scope, around);
        }
        if let Some(type_) = self.child(node, Field::ReturnType) {
            let type_ = self.annotation(type_, inner, ReferenceRole::Hint);
            self.b.decl_mut(id).type_ = Some(type_);
        }
        self.decorated(node, id, cx);
        Step::Within(inner)
    }

    fn nature(&mut self, node: Node, name: Str, around: Scope) -> Nature {
        let in_class = around.kind == ScopeKind::Class;
        let text = self.b.str(name).to_owned();
        let mut modifiers = Modifiers::default();
        let mut flags = NodeFlags::default();
        let mut is_property = false;
        for decorator in self.decorators_of(node) {
            let Some(terminal) = self.terminal(decorator) else { continue };
            match &*self.b.text(terminal) {
                "staticmethod" => modifiers.insert(Modifiers::STATIC),
                "classmethod" => modifiers.insert(Modifiers::CLASS_METHOD),
                "overload" => modifiers.insert(Modifiers::OVERLOAD),
                "contextmanager" | "asynccontextmanager" => modifiers.insert(Modifiers::CONTEXT_MANAGER),
                "abstractmethod" => flags.insert(NodeFlags::ABSTRACT),
                "deprecated" => flags.insert(NodeFlags::DEPRECATED),
                "property" | "cached_property" | "hybrid_property" | "classproperty" | "reify" => {
                    is_property = true
                }
                "abstractproperty" => {
                    is_property = true;
                    flags.insert(NodeFlags::ABSTRACT);
                }
                "setter" | "getter" | "deleter" => is_property |= self.kind(decorator) == Kind::Attribute,
                _ => {}
            }
        }
        if self.b.bytes(node).starts_with(b"async") {
            flags.insert(NodeFlags::ASYNC);
            modifiers.insert(Modifiers::ASYNC);
        }
        if is_public(&text) && around.kind != ScopeKind::Function {
            flags.insert(NodeFlags::EXPORTED);
        }
        if in_class && matches!(text.as_str(), "__new__" | "__init_subclass__" | "__class_getitem__") {
            modifiers.insert(Modifiers::CLASS_METHOD);
        }
        let kind = match (in_class, text.as_str()) {
            (true, _) if is_property => NodeKind::Property,
            (true, "__init__") => NodeKind::Constructor,
            (true, it) if around.class.has_tests && it.starts_with("test") => NodeKind::Test,
            (true, _) => NodeKind::Method,
            (false, it) if self.is_test_function(it, around) => NodeKind::Test,
            (false, _) => NodeKind::Function,
        };
        if kind == NodeKind::Property {
            modifiers.insert(Modifiers::PROPERTY);
        }
        if kind == NodeKind::Test {
            flags.insert(NodeFlags::TEST);
        }
        Nature { kind, flags, modifiers }
    }

    fn is_test_function(&self, name: &str, around: Scope) -> bool {
        self.b.is_test && around.kind == ScopeKind::Module && (name.starts_with("test_") || name == "test")
    }

    fn receiver_of(&self, modifiers: Modifiers, around: Scope) -> Option<Value> {
        match around.kind {
            ScopeKind::Class if modifiers.contains(Modifiers::CLASS_METHOD) => Some(Value::ReceiverType),
            ScopeKind::Class if !modifiers.contains(Modifiers::STATIC) => Some(Value::Receiver),
            _ => None,
        }
    }

    fn note_receiver(&mut self, of: Option<DeclId>, scope: ScopeId, around: Scope) {
        let first = of.and_then(|it| self.b.facts.decl(it).parameters.first());
        let receiver = first.filter(|it| it.kind == ParameterKind::Receiver).map(|it| it.name);
        if let (Some(name), Some(class)) = (receiver, around.decl) {
            self.scopes.set_receiver(scope, name, class);
        }
    }

    pub(super) fn lambda(&mut self, node: Node, cx: Context) -> Step<Context> {
        let named = self.lambdas.get(&node).copied();
        let decl = named.or(cx.decl);
        let end = self.b.tree.end(node);
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Function,
            parent: Some(cx.scope),
            decl,
            end,
            receiver: None,
            class: ClassTraits::default(),
        });
        let inner = Context { decl, function: named, scope, body_scope: scope, certain_to: end, ..cx };
        if let Some(parameters) = self.child(node, Field::Parameters) {
            // A named lambda of a class is a method.
            let around = self.scopes.at(cx.scope);
            let is_method = named.is_some() && around.kind == ScopeKind::Class;
            let receiver = is_method.then_some(Value::Receiver);
            self.parameters(parameters, receiver, self.b.tree.range(node), named, inner);
            self.note_receiver(named, scope, around);
        }
        if let (Some(decl), Some(body)) = (named, self.child(node, Field::Body)) {
            let expr = self.expr(body);
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Return });
        }
        Step::Within(inner)
    }

    /// Parameters become a part of the declaration, where there is one, and bindings in its body.
    fn parameters(
        &mut self,
        list: Node,
        receiver: Option<Value>,
        place: Range,
        of: Option<DeclId>,
        cx: Context,
    ) {
        let mut after_star = false;
        let mut receiver = receiver;
        for node in self.children(list) {
            if self.kind(node) == Kind::KeywordSeparator {
                after_star = true;
                continue;
            }
            let Some(mut parameter) = self.parameter(node, cx) else { continue };
            match parameter.kind {
                ParameterKind::Rest => after_star = true,
                ParameterKind::Plain if after_star => parameter.kind = ParameterKind::KeywordOnly,
                _ => {}
            }
            let mut value = match (parameter.kind, parameter.type_, parameter.default) {
                (ParameterKind::Rest, Some(type_), _) => Value::Type(self.b.type_(Type::Sequence(type_))),
                (ParameterKind::Rest, None, _) => self.rest_literal(Literal::Tuple),
                (ParameterKind::KeywordRest, ..) => self.rest_literal(Literal::Dictionary),
                (_, Some(type_), _) if !self.is_unknown(type_) => Value::Type(type_),
                (_, _, Some(default)) => Value::Expr(default),
                _ => Value::Unknown,
            };
            if let Some(given) = receiver.take()
                && parameter.kind == ParameterKind::Plain
            {
                parameter.kind = ParameterKind::Receiver;
                value = given;
            }
            self.scopes.bind(cx.scope, parameter.name, Bound::Variable);
            self.b.bind(Binding {
                decl: cx.decl,
                target: BindingTarget::Name(parameter.name),
                value,
                visible: place,
                certain_to: place.to,
            });
            if let Some(of) = of {
                self.b.decl_mut(of).parameters.push(parameter);
            }
        }
    }

    fn parameter(&mut self, node: Node, cx: Context) -> Option<Parameter> {
        let kind = self.kind(node);
        let target = match kind {
            Kind::Identifier | Kind::ListSplatPattern | Kind::DictionarySplatPattern => node,
            Kind::DefaultParameter | Kind::TypedDefaultParameter => self.child(node, Field::Name)?,
            Kind::TypedParameter => self.first_child(node)?,
            _ => return None,
        };
        let (name_node, kind) = match self.kind(target) {
            Kind::ListSplatPattern => (self.first_child(target)?, ParameterKind::Rest),
            Kind::DictionarySplatPattern => (self.first_child(target)?, ParameterKind::KeywordRest),
            Kind::Identifier => (target, ParameterKind::Plain),
            _ => return None,
        };
        self.b.consume(name_node);
        let name = self.b.name(name_node);
        let type_ = self.child(node, Field::Type).map(|it| self.annotation(it, cx, ReferenceRole::Hint));
        let default = self.child(node, Field::Value).map(|it| self.expr(it));
        Some(Parameter { name, type_, default, kind })
    }

    pub(super) fn returned(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let (Some(decl), Some(value)) = (self.undeclared(cx), self.first_child(node)) {
            let expr = self.expr(value);
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Return });
        }
        Step::Into
    }

    pub(super) fn yielded(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(function) = cx.function {
            self.b.decl_mut(function).modifiers.insert(Modifiers::GENERATOR);
        }
        if let (Some(decl), Some(value)) = (self.undeclared(cx), self.first_child(node)) {
            let mut expr = self.expr(value);
            let delegates = self.b.bytes(node)[5..].trim_ascii_start().starts_with(b"from");
            if delegates {
                expr = self.b.expr(knowing_model::facts::Expr::Element { of: expr });
            }
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Yield });
        }
        Step::Into
    }

    /// The function around, if it does not declare what it gives back.
    fn undeclared(&self, cx: Context) -> Option<DeclId> {
        cx.function.filter(|it| self.b.facts.decl(*it).type_.is_none())
    }
}

/// No leading underscore, or a name with a meaning to the language.
pub(super) fn is_public(name: &str) -> bool {
    !name.starts_with('_') || (name.len() > 4 && name.starts_with("__") && name.ends_with("__"))
}
