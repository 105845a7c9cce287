//! Methods, constructors, operators, local functions, accessors, lambdas, and their parameters.

use knowing_model::facts::{
    BindingTarget, DeclId, Expr, ExprId, Modifiers, Parameter, ParameterKind, ReferenceRole, Return,
    ReturnKind, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::types::Met;
use super::written::Naming;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let kind = match self.marks(node).is_test {
            true => NodeKind::Test,
            false if cx.place == Place::Body || cx.decl.is_none() => NodeKind::Function,
            false => NodeKind::Method,
        };
        let name = self.b.name(name_node);
        let name_position = self.b.tree.position(name_node);
        let met = Met { node, kind, name, name_position, signature_end: self.head_end(node) };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        let is_main = self.is(name_node, "Main") && self.has_modifier(node, "static");
        let is_open =
            self.child(node, Field::Body).is_none() && cx.place == (Place::Type { is_interface: true });
        let decl = self.b.decl_mut(id);
        if is_main {
            decl.flags.insert(NodeFlags::ENTRY);
        }
        if is_open {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        self.explicit_interface(node, id);
        self.callable(node, id)
    }

    pub(super) fn constructor(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let met = Met {
            node,
            kind: NodeKind::Constructor,
            name: self.b.intern(INIT),
            name_position: self.b.tree.position(name_node),
            signature_end: self
                .child_of_kind(node, Kind::ConstructorInitializer)
                .map_or_else(|| self.head_end(node), |it| self.b.tree.start(it)),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        self.callable(node, id)
    }

    /// `class C(int a)`: a constructor, and a field for each parameter, which all members see; properties in a record.
    pub(super) fn primary_constructor(&mut self, node: Node, list: Node, cx: Context) {
        let Some(name_node) = self.child(node, Field::Name) else { return };
        let is_record = self.kind(node) == Kind::RecordDeclaration;
        let met = Met {
            node: list,
            kind: NodeKind::Constructor,
            name: self.b.intern(INIT),
            name_position: self.b.tree.position(name_node),
            signature_end: self.b.tree.end(list),
        };
        let Some(id) = self.declare(met, cx) else { return };
        let head = Range { from: self.b.tree.start(name_node), to: self.b.tree.end(list) };
        let text = self.b.source.slice(head);
        let signature = signature(&text, Comments::Slashes);
        let signature = self.b.intern(signature);
        let decl = self.b.decl_mut(id);
        decl.signature = signature;
        decl.modifiers.insert(Modifiers::PUBLIC);
        decl.flags.insert(NodeFlags::EXPORTED);
        self.parameters(list, id, Scope { visible: self.b.tree.range(list) });
        for parameter in self.children(list) {
            if self.kind(parameter) != Kind::Parameter {
                continue;
            }
            let Some(name) = self.child(parameter, Field::Name) else { continue };
            let type_ = self.child(parameter, Field::Type).and_then(|it| self.types.get(&it).copied());
            let met = Met {
                node: parameter,
                kind: if is_record { NodeKind::Property } else { NodeKind::Field },
                name: self.b.name(name),
                name_position: self.b.tree.position(name),
                signature_end: self.b.tree.end(parameter),
            };
            let Some(field) = self.declare(met, cx) else { return };
            let decl = self.b.decl_mut(field);
            decl.type_ = type_;
            if is_record {
                decl.flags.insert(NodeFlags::EXPORTED);
                decl.modifiers.insert(Modifiers::PUBLIC);
            }
        }
    }

    pub(super) fn destructor(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let name = format!("~{}", self.b.text(name_node));
        let met = Met {
            node,
            kind: NodeKind::Method,
            name: self.b.intern(name),
            name_position: self.b.tree.position(name_node),
            signature_end: self.head_end(node),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        self.callable(node, id)
    }

    /// `operator +`, `implicit operator Money`.
    pub(super) fn operator(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(list) = self.child(node, Field::Parameters) else { return Step::Into };
        let head = Range { from: self.b.tree.start(node), to: self.b.tree.start(list) };
        let text = self.b.source.slice(head).into_owned();
        let Some(at) = text.find("operator") else { return Step::Into };
        let mut name = text[at..].split_whitespace().collect::<Vec<_>>().join(" ");
        for word in ["implicit", "explicit"] {
            if text[..at].trim_end().ends_with(word) {
                name = format!("{word} {name}");
            }
        }
        let offset = head.from + u32::try_from(at).unwrap_or(0);
        let met = Met {
            node,
            kind: NodeKind::Method,
            name: self.b.intern_name(name.into()),
            name_position: self.b.position_at(node, offset),
            signature_end: self.head_end(node),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        self.callable(node, id)
    }

    pub(super) fn local_function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name_node);
        let met = Met {
            node,
            kind: NodeKind::Function,
            name: self.b.name(name_node),
            name_position: self.b.tree.position(name_node),
            signature_end: self.head_end(node),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        self.callable(node, id)
    }

    /// Type parameters, parameters, result and body of a callable.
    fn callable(&mut self, node: Node, id: DeclId) -> Step<Context> {
        let type_parameters = self.type_parameters(node, id);
        self.b.decl_mut(id).type_parameters = type_parameters;
        let range = self.b.tree.range(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, id, Scope { visible: range });
        }
        let result = self.child(node, Field::Returns).or_else(|| self.child(node, Field::Type));
        if let Some(result) = result {
            let type_ = self.read_type(result, Naming::new(Some(id), ReferenceRole::Hint));
            self.b.decl_mut(id).type_ = Some(type_);
        }
        Step::Within(Context { decl: Some(id), place: Place::Body, block: range })
    }

    /// `get`, `set`: parts of their property; `value` is what is set.
    pub(super) fn accessor(&mut self, node: Node, cx: Context) -> Step<Context> {
        let visible = self.b.tree.range(node);
        if let Some(name) = self.child(node, Field::Name) {
            self.b.consume(name);
        }
        let is_reader = self.b.bytes(node).trim_ascii_start().starts_with(b"get");
        if !is_reader && self.child(node, Field::Body).is_some() {
            let type_ = cx.decl.and_then(|it| self.b.facts.decl(it).type_);
            let name = self.b.intern("value");
            let value = type_.map_or(Value::Unknown, Value::Type);
            self.bind(cx.decl, BindingTarget::Name(name), value, Scope { visible });
        }
        Step::Within(Context { block: visible, ..cx })
    }

    /// Parameters of a callable, bound in its body.
    pub(super) fn parameters(&mut self, list: Node, id: DeclId, scope: Scope) {
        let naming = Naming::new(Some(id), ReferenceRole::Hint);
        let mut loose_type = None;
        for node in self.children(list) {
            let (name, type_node, kind, default) = match (self.kind(node), self.field(node)) {
                (Kind::Parameter, _) => {
                    let Some(name) = self.child(node, Field::Name) else { continue };
                    let kind = if self.has_modifier(node, "this") {
                        // An extension method: static, and called on its first parameter.
                        self.b.decl_mut(id).modifiers.insert(Modifiers::STATIC);
                        ParameterKind::Receiver
                    } else if self.has_modifier(node, "params") {
                        ParameterKind::Rest
                    } else {
                        ParameterKind::Plain
                    };
                    let last = self.last_child(node);
                    let default = last.filter(|it| {
                        !matches!(self.field(*it), Field::Name | Field::Type)
                            && !matches!(self.kind(*it), Kind::Modifier | Kind::AttributeList)
                    });
                    (name, self.child(node, Field::Type), kind, default)
                }
                // `params` stands without a node of its own.
                (_, Field::Type) => {
                    loose_type = Some(node);
                    continue;
                }
                (_, Field::Name) => (node, loose_type.take(), ParameterKind::Rest, None),
                _ => continue,
            };
            self.b.consume(name);
            let type_ = type_node.map(|it| self.read_type(it, naming));
            let default = default.map(|it| self.expr(it, Some(id)));
            let name = self.b.name(name);
            self.b.decl_mut(id).parameters.push(Parameter { name, type_, default, kind });
            let value = type_.map_or(Value::Unknown, Value::Type);
            self.bind(Some(id), BindingTarget::Name(name), value, scope);
        }
    }

    /// A lambda that gets a name is a function of that name; others belong to what is around them.
    pub(super) fn lambda(&mut self, node: Node, cx: Context) -> Step<Context> {
        let visible = self.b.tree.range(node);
        let scope = Scope { visible };
        let inner = Context { block: visible, ..cx };
        let named = self.named_by(node).filter(|_| cx.place == Place::Body);
        let Some(name_node) = named else {
            self.lambda_parameters(node, cx.decl, scope);
            return Step::Within(inner);
        };
        let met = Met {
            node,
            kind: NodeKind::Function,
            name: self.b.name(name_node),
            name_position: self.b.tree.position(name_node),
            signature_end: self.child(node, Field::Body).map_or(visible.to, |it| self.b.tree.start(it)),
        };
        let Some(id) = self.declare(met, cx) else { return Step::Over };
        let head = Range {
            from: self.b.tree.start(name_node),
            to: self.child(node, Field::Body).map_or(visible.to, |it| self.b.tree.start(it)),
        };
        let text = self.b.source.slice(head);
        let text = signature(text.trim_end().trim_end_matches("=>").trim_end(), Comments::Slashes);
        let signature = self.b.intern(text);
        self.b.decl_mut(id).signature = signature;
        self.lambda_parameters(node, Some(id), scope);
        if let Some(body) = self.child(node, Field::Body).filter(|it| self.kind(*it) != Kind::Block) {
            let expr = self.expr(body, Some(id));
            self.b.gives_back(Return { decl: id, expr, kind: ReturnKind::Return });
        }
        Step::Within(Context { decl: Some(id), ..inner })
    }

    /// The variable that a lambda is what it starts as.
    pub(super) fn named_by(&self, lambda: Node) -> Option<Node> {
        let declarator = self.parent(lambda).filter(|it| self.kind(*it) == Kind::VariableDeclarator)?;
        // What a field holds belongs to the field.
        if self.declarators.contains_key(&declarator) {
            return None;
        }
        self.child(declarator, Field::Name)
    }

    fn lambda_parameters(&mut self, node: Node, decl: Option<DeclId>, scope: Scope) {
        let Some(list) = self.child(node, Field::Parameters) else { return };
        self.b.consume(list);
        if self.kind(list) == Kind::ImplicitParameter {
            self.lambda_parameter(list, list, None, 0, decl, scope);
            return;
        }
        let is_parameter = |it: &Node| self.kind(*it) == Kind::Parameter;
        let parameters: Vec<Node> = self.children(list).filter(is_parameter).collect();
        for (index, parameter) in parameters.into_iter().enumerate() {
            let Some(name) = self.child(parameter, Field::Name) else { continue };
            let type_node = self.child(parameter, Field::Type);
            self.lambda_parameter(node, name, type_node, index, decl, scope);
        }
    }

    fn lambda_parameter(
        &mut self,
        lambda: Node,
        name: Node,
        type_node: Option<Node>,
        index: usize,
        decl: Option<DeclId>,
        scope: Scope,
    ) {
        let lambda = if self.kind(lambda) == Kind::ImplicitParameter {
            self.parent(lambda).unwrap_or(lambda)
        } else {
            lambda
        };
        let value = match type_node {
            Some(type_node) => Value::Type(self.read_type(type_node, Naming::new(decl, ReferenceRole::Type))),
            None => self.given(lambda, index, decl).map_or(Value::Unknown, Value::Expr),
        };
        let name = self.b.name(name);
        self.bind(decl, BindingTarget::Name(name), value, scope);
    }

    /// What a lambda that is an argument gets from whoever calls it.
    fn given(&mut self, lambda: Node, index: usize, decl: Option<DeclId>) -> Option<ExprId> {
        let argument = self.parent(lambda).filter(|it| self.kind(*it) == Kind::Argument)?;
        let list = self.parent(argument)?;
        let call = self.parent(list)?;
        let place = self
            .children(list)
            .filter(|it| self.kind(*it) == Kind::Argument)
            .position(|it| it == argument)?;
        let callee = self.callee_of(call, decl)?;
        Some(self.b.expr(Expr::Given {
            callee,
            argument: u8::try_from(place).ok()?,
            parameter: u8::try_from(index).ok()?,
        }))
    }
}

/// What constructors are called.
const INIT: &str = "<init>";
