//! Functions, methods, closures, their parameters and what they give back; tests.

use knowing_model::facts::{
    BindingTarget, DeclId, Expr, Modifiers, Parameter, ParameterKind, ReferenceRole, Return, ReturnKind,
    Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::types::Met;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn function(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.callable(node, NodeKind::Function, cx)
    }

    pub(super) fn method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let kind = if self.is(name, "__construct") {
            NodeKind::Constructor
        } else if self.is_test_method(node, name, cx) {
            NodeKind::Test
        } else {
            NodeKind::Method
        };
        self.callable(node, kind, cx)
    }

    /// `testX`, `@test`, `#[Test]` in a class that says to be a test.
    fn is_test_method(&self, node: Node, name: Node, cx: Context) -> bool {
        let Some(class) = cx.class.map(|it| self.b.facts.decl(it)) else { return false };
        let head = self.b.str(class.signature);
        if !head.contains("Test") {
            return false;
        }
        let attributes = self.child_of_kind(node, Kind::AttributeList).map(|it| self.b.text(it));
        self.b.bytes(name).starts_with(b"test")
            || self.comment_before(node).is_some_and(|it| Self::has_tag(&it, "@test"))
            || attributes.is_some_and(|it| it.contains("#[Test"))
    }

    fn callable(&mut self, node: Node, kind: NodeKind, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        self.b.consume(name);
        let body = self.child(node, Field::Body);
        let met = Met {
            node,
            kind,
            name: self.b.name(name),
            name_position: self.b.tree.position(name),
            signature_end: body.map_or(self.b.tree.end(node), |it| self.b.tree.start(it)),
        };
        // A function in a function is a function of the file.
        let owner = if kind == NodeKind::Function { None } else { cx.class };
        let Some(id) = self.declare(met, owner) else { return Step::Over };
        let range = self.b.tree.range(node);
        let comment = self.comment_before(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, Some(id), cx.class, range, comment.as_deref());
        }
        let mut result = self
            .child(node, Field::ReturnType)
            .map(|it| self.read_type(it, Some(id), Some(ReferenceRole::Hint)));
        let is_vague = result.is_none_or(|it| self.is_vague(it));
        if is_vague
            && let Some(comment) = &comment
            && let Some(stated) = self.stated(comment, "@return", None, range.from)
        {
            result = Some(stated);
        }
        let is_interface = cx.class.is_some_and(|it| self.b.facts.decl(it).kind == NodeKind::Interface);
        let decl = self.b.decl_mut(id);
        decl.type_ = result;
        if kind == NodeKind::Test {
            decl.flags.insert(NodeFlags::TEST);
        }
        if body.is_none() && is_interface {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        Step::Within(Context {
            decl: Some(id),
            class: cx.class,
            callable: range,
            block: range,
            in_closure: false,
        })
    }

    /// `array`, `iterable`, `object`, `mixed`: a comment says more.
    fn is_vague(&self, type_: knowing_model::facts::TypeId) -> bool {
        match self.b.facts.type_(type_) {
            knowing_model::facts::Type::Named { segments, .. } => segments.last().is_some_and(|it| {
                matches!(self.b.str(*it), "array" | "iterable" | "object" | "mixed" | "Generator")
            }),
            _ => false,
        }
    }

    fn parameters(
        &mut self,
        list: Node,
        decl: Option<DeclId>,
        class: Option<DeclId>,
        visible: Range,
        comment: Option<&str>,
    ) {
        for node in self.children(list) {
            let kind = match self.kind(node) {
                Kind::SimpleParameter | Kind::PromotedParameter => ParameterKind::Plain,
                Kind::VariadicParameter => ParameterKind::Rest,
                _ => continue,
            };
            let Some(variable) = self.child(node, Field::Name) else { continue };
            self.b.consume(variable);
            let mut type_ =
                self.child(node, Field::Type).map(|it| self.read_type(it, decl, Some(ReferenceRole::Hint)));
            if type_.is_none_or(|it| self.is_vague(it))
                && let Some(comment) = comment
            {
                let name = self.b.text(variable).into_owned();
                let stated = self.stated(comment, "@param", Some(&name), self.b.tree.start(node));
                type_ = stated.or(type_);
            }
            let default = self.child(node, Field::DefaultValue).map(|it| self.expr(it, decl));
            let name = self.b.name(variable);
            if let Some(id) = decl {
                self.b.decl_mut(id).parameters.push(Parameter { name, type_, default, kind });
            }
            let value = type_.map_or(Value::Unknown, Value::Type);
            self.bind(decl, BindingTarget::Name(name), value, visible, visible.to);
            if self.kind(node) == Kind::PromotedParameter && class.is_some() {
                let met = Met {
                    node,
                    kind: NodeKind::Field,
                    name: self.variable_text(variable),
                    name_position: self.b.tree.position(variable),
                    signature_end: self.b.tree.end(node),
                };
                if let Some(field) = self.declare(met, class) {
                    self.b.decl_mut(field).type_ = type_;
                }
            }
        }
    }

    /// Closures belong to what is around them, but for tests that have a title.
    pub(super) fn closure(&mut self, node: Node, cx: Context) -> Step<Context> {
        let range = self.b.tree.range(node);
        let decl = self.titles.get(&node).copied().or(cx.decl);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, None, None, range, None);
            // They are variables of the declaration around.
            let n = self.b.facts.bindings.len();
            let added = self.children(list).count().min(n);
            for binding in &mut self.b.facts.bindings[n - added..] {
                if binding.visible == range {
                    binding.decl = decl;
                }
            }
        }
        Step::Within(Context { decl, block: range, in_closure: true, ..cx })
    }

    /// `it('adds', function () { ... })`, `test('adds', fn () => ...)`.
    pub(super) fn titled_test(&mut self, call: Node, function: Node, cx: Context) {
        if !self.b.is_test || cx.decl.is_some() || !matches!(self.b.bytes(function), b"it" | b"test") {
            return;
        }
        let Some(arguments) = self.child(call, Field::Arguments) else { return };
        let mut values = self.children(arguments).filter_map(|it| self.children(it).last());
        let (Some(title), Some(closure)) = (values.next(), values.next()) else { return };
        let is_closure = matches!(self.kind(closure), Kind::AnonymousFunction | Kind::ArrowFunction);
        if !is_closure || !matches!(self.kind(title), Kind::String | Kind::Encapsed) {
            return;
        }
        let text = self.b.text(title).trim_matches(['\'', '"']).to_owned();
        let met = Met {
            node: call,
            kind: NodeKind::Test,
            name: self.b.intern_name(text.into()),
            name_position: self.b.tree.position(title),
            signature_end: self.b.tree.end(title),
        };
        if let Some(id) = self.declare(met, None) {
            self.b.decl_mut(id).flags.insert(NodeFlags::TEST);
            self.b.decl_mut(id).modifiers.insert(Modifiers::PUBLIC);
            self.titles.insert(closure, id);
        }
    }

    /// What a callable without a stated result gives back.
    pub(super) fn returned(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let (Some(id), Some(value)) = (cx.decl, self.first_child(node))
            && !cx.in_closure
            && self.b.facts.decl(id).type_.is_none()
            && self.b.facts.decl(id).kind.is_callable()
        {
            let expr = self.expr(value, cx.decl);
            if !matches!(self.b.facts.expr(expr), Expr::Literal(_)) {
                self.b.gives_back(Return { decl: id, expr, kind: ReturnKind::Return });
            }
        }
        Step::Into
    }
}
