//! Functions of files, types and functions; constructors; their parameters and results.

use knowing_model::facts::{
    Modifiers, Parameter, ParameterKind, ReferenceRole, Return, ReturnKind, Type, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let mut marks = self.marks(node);
        let body = self.child_of_kind(node, Kind::FunctionBody);
        let in_type = self.is_type_decl(cx.decl) && cx.in_type;
        if cx.is_interface && in_type && body.is_none() {
            marks.flags.insert(NodeFlags::ABSTRACT);
        }
        let kind = match (marks.is_test, in_type) {
            (true, _) => NodeKind::Test,
            (false, true) => NodeKind::Method,
            (false, false) => NodeKind::Function,
        };
        if kind == NodeKind::Test {
            marks.flags.insert(NodeFlags::TEST);
        }
        if self.is(name_node, "main") && cx.decl.is_none() {
            marks.flags.insert(NodeFlags::ENTRY);
        }
        let name = self.name(name_node);
        let to = body.map_or(self.b.tree.end(node), |it| self.b.tree.start(it));
        let signature = self.head(marks.from, to);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let block_end = self.b.tree.end(node);
        let inner = Context { decl: Some(id), block_end, in_type: false, is_interface: false };
        let type_parameters = self.type_parameters(node, inner);
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        decl.doc = doc;
        decl.type_parameters = type_parameters;
        self.decorate(id, &marks);
        let mut parameters = Vec::new();
        let types: Vec<Node> = self.children(node).filter(|it| self.is_type(*it)).collect();
        for written in types {
            let type_ = self.type_at(written, inner, ReferenceRole::Hint);
            if written < name_node {
                // `fun Receiver.name()`.
                let this = self.b.intern("this");
                let visible = Range { from: self.b.tree.end(name_node), to: block_end };
                self.bind(this, Value::Type(type_), visible, inner);
                let kind = ParameterKind::Receiver;
                parameters.push(Parameter { name: this, type_: Some(type_), default: None, kind });
            } else {
                self.b.decl_mut(id).type_ = Some(type_);
            }
        }
        if let Some(list) = self.child_of_kind(node, Kind::FunctionValueParameters) {
            let visible = Range { from: self.b.tree.end(list), to: block_end };
            parameters.extend(self.parameter_list(list, visible, inner));
        }
        self.b.decl_mut(id).parameters = parameters;
        self.result(body, inner);
        Step::Within(inner)
    }

    /// A result that is not declared: nothing for a block, what the expression gives for one.
    pub(super) fn result(&mut self, body: Option<Node>, cx: Context) {
        let Some(id) = cx.decl else { return };
        if self.b.facts.decl(id).type_.is_some() {
            return;
        }
        let expression = body.and_then(|it| self.first_child(it)).filter(|it| self.kind(*it) != Kind::Block);
        match expression {
            Some(expression) => {
                let expr = self.expr(expression);
                self.b.gives_back(Return { decl: id, expr, kind: ReturnKind::Return });
            }
            None => {
                let nothing = self.b.type_(Type::Tuple(Vec::new()));
                self.b.decl_mut(id).type_ = Some(nothing);
            }
        }
    }

    /// Modifiers stand before a parameter, its default value after it.
    pub(super) fn parameter_list(&mut self, list: Node, visible: Range, cx: Context) -> Vec<Parameter> {
        let mut out: Vec<Parameter> = Vec::new();
        let mut is_rest = false;
        let parts: Vec<Node> = self.children(list).collect();
        for part in parts {
            match self.kind(part) {
                Kind::ParameterModifiers => {
                    let words = self.b.bytes(part);
                    is_rest = words.split(|it| !it.is_ascii_alphabetic()).any(|it| it == b"vararg");
                }
                Kind::Parameter => {
                    let Some(name_node) = self.child_of_kind(part, Kind::Identifier) else { continue };
                    self.b.consume(name_node);
                    let name = self.name(name_node);
                    let type_ = self.type_child(part).map(|it| self.type_at(it, cx, ReferenceRole::Hint));
                    let kind = if is_rest { ParameterKind::Rest } else { ParameterKind::Plain };
                    let value = match type_ {
                        Some(type_) if is_rest => Value::Type(self.b.type_(Type::Sequence(type_))),
                        Some(type_) => Value::Type(type_),
                        None => Value::Unknown,
                    };
                    self.bind(name, value, visible, cx);
                    out.push(Parameter { name, type_, default: None, kind });
                    is_rest = false;
                }
                _ => {
                    let value = self.expr(part);
                    if let Some(last) = out.last_mut() {
                        last.default = Some(value);
                    }
                }
            }
        }
        out
    }

    pub(super) fn secondary_constructor(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks(node);
        let name = self.b.intern("<init>");
        let list = self.child_of_kind(node, Kind::FunctionValueParameters);
        let to = list.map_or(self.b.tree.end(node), |it| self.b.tree.end(it));
        let signature = self.head(marks.from, to);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::Constructor,
            node,
            name_position: self.b.tree.position(node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let block_end = self.b.tree.end(node);
        let inner = Context { decl: Some(id), block_end, in_type: false, is_interface: false };
        let parameters = match list {
            Some(list) => {
                let visible = Range { from: self.b.tree.end(list), to: block_end };
                self.parameter_list(list, visible, inner)
            }
            None => Vec::new(),
        };
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        decl.doc = doc;
        decl.parameters = parameters;
        self.decorate(id, &marks);
        Step::Within(inner)
    }

    /// `set(value) { ... }` of a property.
    pub(super) fn setter(&mut self, node: Node, cx: Context) -> Step<Context> {
        let block_end = self.b.tree.end(node);
        let inner = Context { block_end, ..cx };
        if let Some(name_node) = self.child_of_kind(node, Kind::Identifier) {
            self.b.consume(name_node);
            let name = self.name(name_node);
            let type_ = cx.decl.and_then(|it| self.b.facts.decl(it).type_);
            let value = type_.map_or(Value::Unknown, Value::Type);
            let visible = Range { from: self.b.tree.end(name_node), to: block_end };
            self.bind(name, value, visible, inner);
        }
        Step::Within(inner)
    }

    pub(super) fn anonymous_function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = Context { block_end: self.b.tree.end(node), in_type: false, ..cx };
        if let Some(list) = self.child_of_kind(node, Kind::FunctionValueParameters) {
            let visible = Range { from: self.b.tree.end(list), to: inner.block_end };
            self.parameter_list(list, visible, inner);
        }
        Step::Within(inner)
    }

    pub(super) fn is_static_owner(&self, cx: Context) -> bool {
        cx.decl.is_some_and(|it| self.b.facts.decl(it).modifiers.contains(Modifiers::STATIC))
    }
}
