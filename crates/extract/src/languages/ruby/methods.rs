//! `def`: its parameters, what it gives back, who may call it.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Expr, ExprId, Literal, Modifiers, Parameter, ParameterKind, Return,
    ReturnKind, Str, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::comments::Comment;
use super::kinds::{Field, Kind};
use super::reader::{Context, Level, Reader, Visibility, exported};
use crate::engine::build::{MAX_NESTING, NewDecl};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let level = match cx.level {
            Level::Singleton => Level::ClassMethod,
            Level::Top => Level::Top,
            // A `def` in a method of the type itself (`def self.included`) defines on values.
            _ => Level::Instance,
        };
        self.definition(node, level, cx)
    }

    /// `def self.x`; `def object.x` of others is a function that belongs to nobody known.
    pub(super) fn singleton_method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let object = self.child(node, Field::Object);
        let own = object.is_some_and(|it| {
            self.kind(it) == Kind::SelfWord
                || self.kind(it) == Kind::Constant
                    && cx
                        .type_
                        .is_some_and(|type_| self.b.text(it) == self.b.str(self.b.facts.decl(type_).name))
        });
        if let Some(object) = object {
            self.consume_constant(object);
        }
        let level = if own && cx.type_.is_some() { Level::ClassMethod } else { Level::Top };
        self.definition(node, level, cx)
    }

    fn definition(&mut self, node: Node, level: Level, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let name = self.b.name(name_node);
        let is_method = cx.type_.is_some() && level != Level::Top;
        let text = self.b.str(name);
        let is_test = self.b.is_test && is_method && text.starts_with("test_") && level == Level::Instance;
        let kind = match text {
            "initialize" if level == Level::Instance && is_method => NodeKind::Constructor,
            _ if is_test => NodeKind::Test,
            _ if is_method => NodeKind::Method,
            _ => NodeKind::Function,
        };
        let signature = self.head(node);
        let new = NewDecl {
            owner: if cx.level == Level::Top { cx.decl } else { cx.type_.or(cx.decl) },
            name,
            kind,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        self.b.consume(name_node);
        let comment = self.comment_above(self.statement_of(node));
        self.visible(id, node, level, cx);
        self.described(id, &comment);
        self.members.insert((cx.type_, name, level == Level::ClassMethod), id);
        let inner = Context {
            decl: Some(id),
            function: Some(id),
            level,
            certain_to: self.b.tree.end(node),
            in_block: false,
            ..cx
        };
        self.enter_scope(node, inner);
        self.signature_types(id, &comment, inner);
        if let Some(parameters) = self.child(node, Field::Parameters) {
            self.parameters(parameters, Some(id), self.b.tree.range(node), &comment, inner);
        }
        self.body_results(node, id);
        Step::Within(inner)
    }

    /// `private def x`: the comment stands above the whole.
    fn statement_of(&self, node: Node) -> Node {
        let mut at = node;
        while let Some(parent) = self.b.tree.parent(at)
            && matches!(self.kind(parent), Kind::ArgumentList | Kind::Call)
            && self.b.tree.position(parent).line == self.b.tree.position(node).line
        {
            at = parent;
        }
        at
    }

    pub(super) fn visible(&mut self, id: DeclId, node: Node, level: Level, cx: Context) {
        let key = (cx.type_, cx.level == Level::Singleton);
        let state = if cx.is_body() {
            self.visibility.get(&key).copied().unwrap_or_default()
        } else {
            Visibility::Public
        };
        let applies = level == Level::Instance || cx.level == Level::Singleton;
        let hidden = self.hidden.contains(&node) || applies && state == Visibility::Hidden;
        let decl = self.b.decl_mut(id);
        decl.flags.insert(exported(!hidden));
        if level == Level::ClassMethod {
            decl.modifiers.insert(Modifiers::CLASS_METHOD);
        }
        if applies && state == Visibility::ModuleFunction {
            decl.modifiers.insert(Modifiers::STATIC);
        }
    }

    pub(super) fn described(&mut self, id: DeclId, comment: &Comment) {
        let doc = comment.doc.as_ref().map(|it| self.b.intern(it.clone()));
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        if comment.deprecated {
            decl.flags.insert(NodeFlags::DEPRECATED);
        }
    }

    /// Parameters of a method or of the block that is its body.
    pub(super) fn parameters(
        &mut self,
        list: Node,
        of: Option<DeclId>,
        visible: Range,
        comment: &Comment,
        cx: Context,
    ) {
        for node in self.children(list) {
            let (name_node, kind) = match self.kind(node) {
                Kind::Identifier => (Some(node), ParameterKind::Plain),
                Kind::OptionalParameter => (self.child(node, Field::Name), ParameterKind::Plain),
                Kind::KeywordParameter => (self.child(node, Field::Name), ParameterKind::KeywordOnly),
                Kind::SplatParameter => (self.child(node, Field::Name), ParameterKind::Rest),
                Kind::HashSplatParameter => (self.child(node, Field::Name), ParameterKind::KeywordRest),
                Kind::BlockParameter => (self.child(node, Field::Name), ParameterKind::Plain),
                _ => (None, ParameterKind::Plain),
            };
            let Some(name_node) = name_node else { continue };
            self.b.consume(name_node);
            let name = self.b.name(name_node);
            let default = self.child(node, Field::Value).map(|it| self.expr(it));
            let type_ = if of.is_some() { self.parameter_type(name, comment, cx) } else { None };
            let value = match (kind, type_, default) {
                _ if self.kind(node) == Kind::BlockParameter => self.literal(Literal::Function),
                (ParameterKind::Rest, _, _) => self.literal(Literal::List),
                (ParameterKind::KeywordRest, _, _) => self.literal(Literal::Dictionary),
                (_, Some(type_), _) => Value::Type(type_),
                (_, None, Some(default)) => {
                    // What is passed may be something else.
                    let other = self.b.expr(Expr::Unknown);
                    Value::Expr(self.b.expr(Expr::Either { one: default, other }))
                }
                _ => Value::Unknown,
            };
            self.bind_name(name, value, visible, visible.to, cx);
            if let Some(of) = of {
                self.b.decl_mut(of).parameters.push(Parameter { name, type_, default, kind });
            }
        }
    }

    pub(super) fn bind_name(
        &mut self,
        name: Str,
        value: Value,
        visible: Range,
        certain_to: u32,
        cx: Context,
    ) {
        let target = BindingTarget::Name(name);
        self.b.bind(Binding { decl: cx.decl, target, value, visible, certain_to });
    }

    fn literal(&mut self, literal: Literal) -> Value {
        Value::Expr(self.b.expr(Expr::Literal(literal)))
    }
}

/// What a body gives back.
impl Reader<'_, '_> {
    /// The last expression of a body, through the branches it may end in.
    pub(super) fn body_results(&mut self, node: Node, id: DeclId) {
        if self.b.facts.decl(id).type_.is_some() {
            return;
        }
        if let Some(body) = self.child(node, Field::Body) {
            let mut tails = Vec::new();
            self.tails(body, &mut tails, 0);
            for tail in tails {
                let expr = self.expr(tail);
                self.gives_back(id, expr);
            }
        }
    }

    pub(super) fn gives_back(&mut self, id: DeclId, expr: ExprId) {
        self.b.gives_back(Return { decl: id, expr, kind: ReturnKind::Return });
    }

    /// Expressions a statement may end with.
    pub(super) fn tails(&self, node: Node, out: &mut Vec<Node>, depth: usize) {
        if depth > MAX_NESTING || out.len() > 32 {
            return;
        }
        match self.kind(node) {
            Kind::BodyStatement
            | Kind::BlockBody
            | Kind::Then
            | Kind::Else
            | Kind::ParenthesizedStatements
            | Kind::Begin
            | Kind::Do => {
                let mut last = None;
                for child in self.children(node) {
                    match self.kind(child) {
                        // What an error or a heredoc leaves behind is no result.
                        Kind::Rescue => {
                            if let Some(body) = self.child(child, Field::Body) {
                                self.tails(body, out, depth + 1);
                            }
                        }
                        Kind::Ensure | Kind::HeredocBody | Kind::Else => {}
                        _ => last = Some(child),
                    }
                }
                if let Some(last) = last {
                    self.tails(last, out, depth + 1);
                }
            }
            Kind::If | Kind::Unless | Kind::Elsif | Kind::Conditional => {
                for field in [Field::Consequence, Field::Alternative] {
                    if let Some(branch) = self.child(node, field) {
                        self.tails(branch, out, depth + 1);
                    }
                }
            }
            Kind::Case | Kind::CaseMatch => {
                for branch in self.children(node) {
                    match self.kind(branch) {
                        Kind::When | Kind::InClause => {
                            if let Some(body) = self.child(branch, Field::Body) {
                                self.tails(body, out, depth + 1);
                            }
                        }
                        Kind::Else => self.tails(branch, out, depth + 1),
                        _ => {}
                    }
                }
            }
            Kind::IfModifier | Kind::UnlessModifier | Kind::RescueModifier => {
                if let Some(body) = self.child(node, Field::Body) {
                    self.tails(body, out, depth + 1);
                }
            }
            // Noted where they stand, or never coming back.
            Kind::Return | Kind::While | Kind::Until | Kind::For | Kind::Next | Kind::Break => {}
            Kind::Call if self.raises(node) => {}
            _ => out.push(node),
        }
    }

    fn raises(&self, call: Node) -> bool {
        let method = self.child(call, Field::Method);
        self.child(call, Field::Receiver).is_none()
            && method.is_some_and(|it| {
                matches!(self.b.bytes(it), b"raise" | b"fail" | b"throw" | b"abort" | b"exit")
            })
    }

    pub(super) fn returned(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(function) = cx.function.filter(|it| self.b.facts.decl(*it).type_.is_none()) else {
            return Step::Into;
        };
        let values: Vec<Node> =
            self.first_child(node).map(|it| self.children(it).collect()).unwrap_or_default();
        let expr = match values[..] {
            [] => self.b.expr(Expr::Literal(Literal::None)),
            [one] => self.expr(one),
            _ => self.b.expr(Expr::Literal(Literal::List)),
        };
        self.gives_back(function, expr);
        Step::Into
    }

    /// `yield x` says what blocks get.
    pub(super) fn yielded(&mut self, node: Node, cx: Context) -> Step<Context> {
        if let Some(function) = cx.function
            && let Some(first) = self.first_child(node).and_then(|it| self.first_child(it))
        {
            let expr = self.expr(first);
            self.b.gives_back(Return { decl: function, expr, kind: ReturnKind::Yield });
        }
        Step::Into
    }
}
