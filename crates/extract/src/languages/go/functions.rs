//! Functions, methods with their receivers, parameters, and function literals.

use knowing_model::facts::{
    DeclId, FileFacts, Impl, ImplId, Parameter, ParameterKind, ReferenceRole, ReferenceTarget, Type, TypeId,
    TypeParameter, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::declarations::NewItem;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What stands before a name: the receiver's type, and the package of tests that stand outside of what they test.
pub(super) fn owner_path(facts: &FileFacts, id: DeclId) -> Option<String> {
    let decl = facts.decl(id);
    if decl.owner.is_some() {
        return None;
    }
    let package = facts.namespace.map(|it| facts.text(it));
    let tests = package.filter(|it| it.ends_with("_test") && facts.flags.contains(NodeFlags::TEST));
    let receiver = decl.implementation.map(|it| receiver_name(facts, &facts.impls[it.index()]));
    match (tests, receiver) {
        (None, receiver) => receiver.map(str::to_owned),
        (Some(package), None) => Some(package.to_owned()),
        (Some(package), Some(receiver)) => Some(format!("{package}.{receiver}")),
    }
}

fn receiver_name<'f>(facts: &'f FileFacts, it: &Impl) -> &'f str {
    match facts.type_(it.type_) {
        Type::Named { segments, .. } => segments.last().map_or("_", |it| facts.text(*it)),
        _ => "_",
    }
}

/// How a list of parameters is to be taken.
#[derive(Clone, Copy)]
enum Part {
    Parameters,
    Results,
}

impl Reader<'_, '_> {
    pub(super) fn function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let is_test = self.b.is_test && is_test_name(&self.b.text(name));
        let kind = if is_test { NodeKind::Test } else { NodeKind::Function };
        let Some(id) = self.callable(node, name, kind, cx) else { return Step::Over };
        let is_entry = self.is(name, "init")
            || self.is(name, "main") && self.b.facts.namespace.is_some_and(|it| self.b.str(it) == "main");
        let flags = &mut self.b.decl_mut(id).flags;
        if is_test {
            flags.insert(NodeFlags::TEST);
        }
        if is_entry {
            flags.insert(NodeFlags::ENTRY);
        }
        let parameters = self.type_parameters(node, Some(id));
        self.b.decl_mut(id).type_parameters = parameters;
        self.signature_of(node, id, cx)
    }

    pub(super) fn method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let Some(id) = self.callable(node, name, NodeKind::Method, cx) else { return Step::Over };
        let list = self.child(node, Field::Receiver);
        let receiver = list.and_then(|it| self.first_child(it));
        if let Some(list) = list {
            self.b.consume(list);
        }
        if let Some(receiver) = receiver
            && let Some(type_node) = self.child(receiver, Field::Type)
        {
            let implementation = self.receiver_block(node, type_node);
            let type_ = self.b.facts.impls[implementation.index()].type_;
            self.b.decl_mut(id).implementation = Some(implementation);
            let name = self.child(receiver, Field::Name);
            let text = match name {
                Some(name) => self.b.name(name),
                None => self.b.intern("_"),
            };
            let parameter =
                Parameter { name: text, type_: Some(type_), default: None, kind: ParameterKind::Receiver };
            self.b.decl_mut(id).parameters.push(parameter);
            if let Some(name) = name {
                let visible = self.body_range(node);
                self.bind_name(name, Value::Type(type_), visible, Context { decl: Some(id), ..cx });
            }
        }
        self.signature_of(node, id, cx)
    }

    fn callable(&mut self, node: Node, name: Node, kind: NodeKind, cx: Context) -> Option<DeclId> {
        let end = self.child(node, Field::Body).map(|it| self.b.tree.start(it));
        let end = end.unwrap_or_else(|| self.b.tree.end(node));
        let from = self.b.tree.start(node);
        let signature = self.head("", Range { from, to: end });
        self.item(NewItem { node, name, doc_at: node, kind, signature, cx })
    }

    /// Methods of one receiver type share a block.
    fn receiver_block(&mut self, method: Node, type_node: Node) -> ImplId {
        let mut named = type_node;
        while matches!(self.kind(named), Kind::PointerType | Kind::ParenthesizedType)
            && let Some(inner) = self.first_child(named)
        {
            named = inner;
        }
        let range = self.b.tree.range(method);
        let mut parameters = Vec::new();
        if let Some(list) = self.child(named, Field::TypeArguments) {
            for argument in self.children(list) {
                let name = self.last_segment(argument);
                let name = self.known_parameter(name, range);
                parameters.push(TypeParameter { name, bounds: Vec::new() });
            }
        }
        let text = self.b.text(named).into_owned();
        if let Some(known) = self.receivers.get(&text) {
            return *known;
        }
        let naming = Naming { outermost: false, ..Naming::new(None, ReferenceRole::Type) };
        let type_ = self.read_type(named, naming);
        let position = self.b.tree.position(self.last_segment(named));
        let id = self.b.implement(Impl {
            owner: None,
            type_,
            interface: None,
            type_parameters: parameters,
            range,
            position,
        });
        self.receivers.insert(text, id);
        id
    }

    fn body_range(&self, node: Node) -> Range {
        self.b.tree.range(self.child(node, Field::Body).unwrap_or(node))
    }

    /// Parameters and results of a function with a declaration of its own; goes on in its body.
    fn signature_of(&mut self, node: Node, id: DeclId, cx: Context) -> Step<Context> {
        let inner = Context { decl: Some(id), ..cx };
        let visible = self.body_range(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, Part::Parameters, Some(id), visible, inner);
        }
        let result = self.child(node, Field::Result);
        let type_ = result.and_then(|it| self.result(it, Some(id), visible, inner));
        self.b.decl_mut(id).type_ = type_;
        if let Some(result) = result {
            self.error_result(result, id);
        }
        let gives_error = result.is_some_and(|it| self.is_error_result(it));
        Step::Within(Context { decl: Some(id), gives_error, block: visible })
    }

    /// Binds the names in a list, and notes those of a declaration.
    fn parameters(&mut self, list: Node, part: Part, id: Option<DeclId>, visible: Range, cx: Context) {
        self.b.consume(list);
        let role = if id.is_some() { ReferenceRole::Hint } else { ReferenceRole::Type };
        for node in self.children(list) {
            let Some(type_node) = self.child(node, Field::Type) else { continue };
            let mut type_ = self.read_type(type_node, Naming::new(cx.decl, role));
            let mut kind = ParameterKind::Plain;
            if self.kind(node) == Kind::VariadicParameter {
                type_ = self.b.type_(Type::Sequence(type_));
                kind = ParameterKind::Rest;
            }
            let names = self.children_in(node, Field::Name);
            if let (Some(id), Part::Parameters) = (id, part) {
                self.note_parameters(id, &names, type_, kind);
            }
            for name in names {
                self.bind_name(name, Value::Type(type_), visible, cx);
            }
        }
    }

    fn note_parameters(&mut self, id: DeclId, names: &[Node], type_: TypeId, kind: ParameterKind) {
        let mut texts: Vec<_> = names.iter().map(|it| self.b.name(*it)).collect();
        if texts.is_empty() {
            texts.push(self.b.intern("_"));
        }
        for name in texts {
            let parameter = Parameter { name, type_: Some(type_), default: None, kind };
            self.b.decl_mut(id).parameters.push(parameter);
        }
    }

    fn result(&mut self, node: Node, id: Option<DeclId>, visible: Range, cx: Context) -> Option<TypeId> {
        let role = if id.is_some() { ReferenceRole::Hint } else { ReferenceRole::Type };
        let naming = Naming::new(cx.decl, role);
        if self.kind(node) == Kind::ParameterList {
            self.parameters(node, Part::Results, id, visible, cx);
        }
        self.read_result(node, naming)
    }

    /// Parameters and results of a method of an interface, which has no body.
    pub(super) fn method_signature(&mut self, node: Node, id: DeclId, cx: Context) {
        let inner = Context { decl: Some(id), ..cx };
        // Nobody sees the names.
        let end = self.b.tree.end(node);
        let visible = Range { from: end, to: end };
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, Part::Parameters, Some(id), visible, inner);
        }
        let result = self.child(node, Field::Result);
        let type_ = result.and_then(|it| self.result(it, Some(id), visible, inner));
        self.b.decl_mut(id).type_ = type_;
    }

    /// A function without a name: what it does belongs to who has it.
    pub(super) fn func_literal(&mut self, node: Node, cx: Context) -> Step<Context> {
        let visible = self.body_range(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, Part::Parameters, None, visible, cx);
        }
        let result = self.child(node, Field::Result);
        if let Some(result) = result {
            // The type may be known already, as that of an expression; the names are not.
            if self.kind(result) == Kind::ParameterList {
                self.parameters(result, Part::Results, None, visible, cx);
            } else {
                self.read_type(result, Naming::new(cx.decl, ReferenceRole::Type));
            }
        }
        let gives_error = result.is_some_and(|it| self.is_error_result(it));
        Step::Within(Context { block: visible, gives_error, ..cx })
    }

    /// `name := func(...) {...}`: a function of its own. Its body is walked from here on when the walk comes to it.
    pub(super) fn local_function(&mut self, name: Node, literal: Node, visible: Range, cx: Context) -> bool {
        if self.kind(name) != Kind::Identifier || self.is(name, "_") {
            return false;
        }
        let Some(id) = self.named_literal(name, literal, NodeKind::Function, cx) else { return false };
        self.bind_name(name, Value::Decl(id), visible, cx);
        true
    }

    /// Declares a function literal under a name and remembers it for the walk.
    pub(super) fn named_literal(
        &mut self,
        name: Node,
        literal: Node,
        kind: NodeKind,
        cx: Context,
    ) -> Option<DeclId> {
        let text = self.b.text(name).into_owned();
        let body = self.child(literal, Field::Body)?;
        let range = Range { from: self.b.tree.start(literal), to: self.b.tree.start(body) };
        let signature = self.head(&format!("{text} := "), range);
        let id = self.item(NewItem { node: literal, name, doc_at: name, kind, signature, cx })?;
        self.literals.insert(literal, id);
        Some(id)
    }

    /// The walk has come to a function literal.
    pub(super) fn literal(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(id) = self.literals.get(&node).copied() else { return self.func_literal(node, cx) };
        self.signature_of(node, id, cx)
    }

    /// `error` as the last result is what a function throws.
    fn error_result(&mut self, result: Node, id: DeclId) {
        if let Some(node) = self.error_node(result) {
            let naming = Naming::new(Some(id), ReferenceRole::Hint);
            let type_ = self.read_type(node, naming);
            let position = self.b.tree.position(self.last_segment(node));
            self.refer(Some(id), ReferenceTarget::Type(type_), ReferenceRole::Raise, position);
        }
    }
}

/// `Test`, `TestX`, `Test_x`; `Testify` is none.
fn is_test_name(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|prefix| {
        name.strip_prefix(prefix).is_some_and(|rest| !rest.chars().next().is_some_and(char::is_lowercase))
    })
}
