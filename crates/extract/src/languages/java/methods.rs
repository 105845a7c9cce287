//! Methods and constructors, and their parameters.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Modifiers, Parameter, ParameterKind, ReferenceRole, Type, TypeId, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::modifiers::Marks;
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let is_constructor =
            matches!(self.kind(node), Kind::ConstructorDeclaration | Kind::CompactConstructor);
        let mut marks = self.marks(node);
        let has_body = self.child(node, Field::Body).is_some();
        if cx.class.is_interface {
            if !marks.is_private {
                marks.flags.insert(NodeFlags::EXPORTED);
            }
            if !has_body {
                marks.flags.insert(NodeFlags::ABSTRACT);
            }
        }
        let kind = self.method_kind(name_node, is_constructor, &marks, cx);
        if kind == NodeKind::Test {
            marks.flags.insert(NodeFlags::TEST);
        }
        if self.is(name_node, "main") && marks.modifiers.contains(Modifiers::STATIC) {
            marks.flags.insert(NodeFlags::ENTRY);
        }
        let name = if is_constructor { self.b.intern("<init>") } else { self.b.name(name_node) };
        let signature = self.head(node, marks.from);
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
        let inner = Context { decl: Some(id), block_end, ..cx };
        let type_parameters = self.type_parameters(node, inner);
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        decl.doc = doc;
        decl.type_parameters = type_parameters;
        self.decorate(id, &marks);
        if let Some(type_) = self.child(node, Field::Type) {
            let type_ = self.type_at(type_, inner, ReferenceRole::Hint);
            let type_ = self.with_dimensions(type_, node);
            self.b.decl_mut(id).type_ = Some(type_);
        }
        match self.child(node, Field::Parameters) {
            Some(list) => {
                let visible = Range { from: self.b.tree.end(list), to: block_end };
                let parameters = self.parameter_list(list, visible, inner);
                self.b.decl_mut(id).parameters = parameters;
            }
            None if self.kind(node) == Kind::CompactConstructor => self.take_components(id, cx, inner),
            None => {}
        }
        Step::Within(inner)
    }

    fn method_kind(&self, name: Node, is_constructor: bool, marks: &Marks, cx: Context) -> NodeKind {
        let is_instance = !marks.modifiers.contains(Modifiers::STATIC);
        let by_name = cx.class.is_test_case && marks.is_public && self.b.bytes(name).starts_with(b"test");
        let by_class = cx.class.all_tests && marks.is_public;
        if is_constructor {
            NodeKind::Constructor
        } else if marks.is_test || is_instance && (by_name || by_class) {
            NodeKind::Test
        } else {
            NodeKind::Method
        }
    }

    /// Declares nothing; binds each name in `visible`.
    pub(super) fn parameter_list(&mut self, list: Node, visible: Range, cx: Context) -> Vec<Parameter> {
        let mut out = Vec::new();
        for node in self.children(list) {
            let Some((name_node, type_, kind)) = self.parameter(node, cx, ReferenceRole::Hint) else {
                continue;
            };
            let name = self.b.name(name_node);
            let bound = match kind {
                ParameterKind::Rest => self.b.type_(Type::Sequence(type_)),
                _ => type_,
            };
            self.bind(name, Value::Type(bound), visible, cx);
            out.push(Parameter { name, type_: Some(type_), default: None, kind });
        }
        out
    }

    /// Name and type of a formal parameter; what a spread one takes many of.
    pub(super) fn parameter(
        &mut self,
        node: Node,
        cx: Context,
        role: ReferenceRole,
    ) -> Option<(Node, TypeId, ParameterKind)> {
        match self.kind(node) {
            Kind::FormalParameter => {
                let name = self.child(node, Field::Name)?;
                let type_ = self.child(node, Field::Type)?;
                let type_ = self.type_at(type_, cx, role);
                let type_ = self.with_dimensions(type_, node);
                Some((name, type_, ParameterKind::Plain))
            }
            Kind::SpreadParameter => {
                let declarator = self.child_of_kind(node, Kind::VariableDeclarator)?;
                let name = self.child(declarator, Field::Name)?;
                let type_ = self.children(node).find(|it| self.is_type(*it))?;
                let type_ = self.type_at(type_, cx, role);
                Some((name, type_, ParameterKind::Rest))
            }
            _ => None,
        }
    }

    /// `record Point(int x, int y)`: a field for each component.
    pub(super) fn components(&mut self, list: Node, record: DeclId, cx: Context) {
        let mut parameters = Vec::new();
        for node in self.children(list) {
            let Some((name_node, type_, kind)) = self.parameter(node, cx, ReferenceRole::Hint) else {
                continue;
            };
            let name = self.b.name(name_node);
            parameters.push(Parameter { name, type_: Some(type_), default: None, kind });
            let signature = self.signature_of(self.b.tree.range(node));
            let new = NewDecl {
                owner: Some(record),
                name,
                kind: NodeKind::Field,
                node,
                name_position: self.b.tree.position(name_node),
                signature,
            };
            let Some(id) = self.b.declare(new) else { return };
            let held = if kind == ParameterKind::Rest { self.b.type_(Type::Sequence(type_)) } else { type_ };
            let decl = self.b.decl_mut(id);
            decl.type_ = Some(held);
            decl.flags.insert(NodeFlags::EXPORTED);
        }
        self.b.decl_mut(record).parameters = parameters;
    }

    /// A compact constructor takes what the record is made of.
    fn take_components(&mut self, id: DeclId, around: Context, cx: Context) {
        let Some(record) = around.decl else { return };
        let parameters = self.b.facts.decl(record).parameters.clone();
        let range = self.b.facts.decl(id).range;
        for it in &parameters {
            if let Some(type_) = it.type_ {
                self.bind(it.name, Value::Type(type_), range, cx);
            }
        }
        self.b.decl_mut(id).parameters = parameters;
    }

    pub(super) fn bind(
        &mut self,
        name: knowing_model::facts::Str,
        value: Value,
        visible: Range,
        cx: Context,
    ) {
        self.locals.entry(name).or_default().push(visible);
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Name(name),
            value,
            visible,
            certain_to: visible.to,
        });
    }
}
