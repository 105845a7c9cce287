//! Calls, constants, instance variables, raised names.

use knowing_model::facts::{
    Call, CallForm, Expr, ExprId, Passed, Reference, ReferenceRole, ReferenceTarget, Str, Type, TypeId,
};

use super::blocks::Role;
use super::kinds::{Field, Kind};
use super::reader::{Context, Level, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Calls that are said otherwise, or are no more than syntax.
const SILENT: [&str; 19] = [
    "abstract!",
    "alias_method",
    "attr",
    "attr_accessor",
    "attr_reader",
    "attr_writer",
    "autoload",
    "lambda",
    "load",
    "module_function",
    "private",
    "private_class_method",
    "private_constant",
    "proc",
    "protected",
    "public",
    "public_class_method",
    "require",
    "require_relative",
];

impl Reader<'_, '_> {
    pub(super) fn identifier(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_name = match self.field(node) {
            Field::Method => self.parent_kind(node) == Kind::Call,
            Field::Name => {
                matches!(self.parent_kind(node), Kind::Method | Kind::SingletonMethod | Kind::Setter)
            }
            _ => false,
        };
        if is_name || self.b.is_consumed(node) || self.locals.is_local(node) {
            return Step::Over;
        }
        let text = self.b.text(node);
        if cx.is_body() && self.set_visibility(&text, cx) {
            return Step::Over;
        }
        if text.starts_with("__") || self.unnamed_parameter(node).is_some() || SILENT.contains(&&*text) {
            return Step::Over;
        }
        let expr = self.expr(node);
        if let Expr::Call { callee } = self.b.facts.expr(expr) {
            self.note_call(callee, node, &[], cx);
        }
        Step::Over
    }

    pub(super) fn call(&mut self, node: Node, cx: Context) -> Step<Context> {
        let receiver = self.child(node, Field::Receiver);
        let arguments = self.arguments(node);
        let Some(method) = self.child(node, Field::Method) else {
            // `callable.(x)`
            if let Some(callee) = self.callee(node) {
                let at = self.child(node, Field::Arguments).unwrap_or(node);
                self.note_call(callee, at, &arguments, cx);
            }
            return Step::Into;
        };
        let text = self.b.text(method).into_owned();
        if self.runs_elsewhere(node)
            && let Some(block) = self.child(node, Field::Block)
            && !self.blocks.contains_key(&block)
        {
            self.blocks.insert(block, Role::Elsewhere);
        }
        if self.example(node, &text, cx) {
            return Step::Into;
        }
        if text == "sig" && receiver.is_none() && cx.is_body() {
            // Its types are read with the method that follows.
            self.sig = Some(node);
            return Step::Over;
        }
        if receiver.is_none() {
            self.required(&text, &arguments, cx);
            if matches!(&*text, "raise" | "fail") {
                self.raised(&arguments, cx);
            }
            if cx.is_body() {
                self.body_call(node, &text, &arguments, cx);
            }
        }
        if let Some(receiver) = receiver
            && cx.is_body()
            && text.starts_with("attr_")
            && self.is(receiver, "singleton_class")
        {
            self.body_call(node, &text, &arguments, Context { level: Level::Singleton, ..cx });
        }
        self.maybe_dependency(&text, &arguments);
        self.maybe_site(receiver, method, &text, &arguments, cx);
        self.named_methods(receiver, &text, &arguments, cx);
        if receiver.is_none() && (SILENT.contains(&&*text) || self.lambda_of(node).is_some()) {
            return Step::Into;
        }
        let parent = self.parent_kind(node);
        let is_left = self.field(node) == Field::Left;
        let is_set = match parent {
            Kind::LeftAssignmentList | Kind::DestructuredLeftAssignment => true,
            Kind::Assignment | Kind::OperatorAssignment => is_left,
            _ => false,
        };
        if is_set && receiver.is_some() {
            self.setter_call(node, method, &text, cx);
            self.maybe_package(node, &text);
            // `x.name += 1` reads it first.
            if parent != Kind::OperatorAssignment {
                return Step::Into;
            }
        }
        if let Some(callee) = self.callee(node) {
            let call = self.note_call(callee, method, &arguments, cx);
            self.note_passed(call, node, &arguments);
            if let Some(passed) = self.symbols.remove(&node) {
                self.b.facts.calls[call].passed.extend(passed);
            }
        }
        Step::Into
    }

    /// `x.name = value` calls `name=`.
    fn setter_call(&mut self, node: Node, method: Node, text: &str, cx: Context) {
        let Some(receiver) = self.child(node, Field::Receiver) else { return };
        let of = self.expr(receiver);
        let name = self.b.intern(format!("{text}="));
        let callee = self.b.expr(Expr::Member { of, name });
        let call = self.note_call(callee, method, &[], cx);
        self.b.facts.calls[call].n_arguments = 1;
    }

    pub(super) fn super_call(&mut self, node: Node, cx: Context) -> Step<Context> {
        // `super(x)` has both a word and a call.
        let callee = if self.parent_kind(node) == Kind::Call && self.field(node) == Field::Method {
            self.b.tree.parent(node).and_then(|it| self.callee(it))
        } else {
            let expr = self.expr(node);
            match self.b.facts.expr(expr) {
                Expr::Call { callee } => Some(callee),
                _ => None,
            }
        };
        let is_counted = self.parent_kind(node) == Kind::Call && self.field(node) == Field::Method;
        if !is_counted && let Some(callee) = callee {
            self.note_call(callee, node, &[], cx);
        }
        Step::Over
    }

    pub(super) fn note_call(&mut self, callee: ExprId, at: Node, arguments: &[Node], cx: Context) -> usize {
        let mut n_arguments = 0_u8;
        let mut spread = false;
        let mut has_keywords = false;
        for argument in arguments {
            match self.kind(*argument) {
                Kind::SplatArgument | Kind::HashSplatArgument => spread = true,
                Kind::Pair => has_keywords = true,
                Kind::BlockArgument => {}
                _ => n_arguments = n_arguments.saturating_add(1),
            }
        }
        n_arguments = n_arguments.saturating_add(u8::from(has_keywords));
        let form = match self.b.facts.expr(callee) {
            Expr::Unknown => CallForm::Dynamic,
            _ => CallForm::Plain,
        };
        let position = self.b.tree.position(at);
        self.b.call(Call { decl: cx.decl, callee, position, n_arguments, spread, passed: Vec::new(), form })
    }

    /// `&:name` calls the method on what the block would get, `&method(:name)` the method itself.
    fn note_passed(&mut self, call: usize, node: Node, arguments: &[Node]) {
        for argument in arguments {
            if self.kind(*argument) != Kind::BlockArgument {
                continue;
            }
            let Some(value) = self.first_child(*argument) else { continue };
            let position = self.b.tree.position(value);
            if let (Kind::SimpleSymbol, Some(receiver)) =
                (self.kind(value), self.child(node, Field::Receiver))
            {
                let Some(name) = self.literal_name(value) else { continue };
                let of = self.expr(receiver);
                let of = self.b.expr(Expr::Element { of });
                let name = self.b.intern(name);
                let expr = self.b.expr(Expr::Member { of, name });
                self.b.facts.calls[call].passed.push(Passed { expr, position });
            }
        }
    }

    /// Symbols that name methods of the receiver: `method(:name)`, `send(:name)`.
    fn named_methods(&mut self, receiver: Option<Node>, text: &str, arguments: &[Node], cx: Context) {
        if !matches!(text, "method" | "send" | "public_send" | "__send__" | "instance_method") {
            return;
        }
        let Some(argument) = arguments.first() else { return };
        let Some(name) = self.literal_name(*argument).filter(|_| self.kind(*argument) == Kind::SimpleSymbol)
        else {
            return;
        };
        let of = match receiver {
            Some(receiver) => self.expr(receiver),
            None => match self.unwritten_receiver(*argument) {
                Some(of) => of,
                None => return,
            },
        };
        let name = self.b.intern(name);
        let callee = self.b.expr(Expr::Member { of, name });
        let position = self.b.tree.position(*argument);
        if text == "method" || text == "instance_method" {
            self.refer(ReferenceTarget::Expr(callee), ReferenceRole::Value, *argument, cx);
        } else {
            let n_arguments = u8::try_from(arguments.len() - 1).unwrap_or(u8::MAX);
            let form = CallForm::Plain;
            let passed = Vec::new();
            self.b.call(Call { decl: cx.decl, callee, position, n_arguments, spread: false, passed, form });
        }
    }

    pub(super) fn refer(&mut self, target: ReferenceTarget, role: ReferenceRole, at: Node, cx: Context) {
        let position = self.b.tree.position(at);
        self.b.reference(Reference { decl: cx.decl, target, role, position });
    }

    pub(super) fn constant(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_part = match self.parent_kind(node) {
            Kind::Call => self.field(node) == Field::Method,
            Kind::ScopeResolution => self.field(node) == Field::Name,
            _ => false,
        };
        if is_part || self.b.is_consumed(node) {
            return Step::Over;
        }
        let Some(last) = self.last_constant(node) else { return Step::Into };
        let expr = self.expr(node);
        self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Value, last, cx);
        let root = self.root_of(node);
        if self.kind(root) == Kind::Constant || root == node { Step::Over } else { Step::Into }
    }

    fn root_of(&self, node: Node) -> Node {
        let mut at = node;
        while self.kind(at) == Kind::ScopeResolution
            && let Some(scope) = self.child(at, Field::Scope)
        {
            at = scope;
        }
        // `::Name` ends in itself.
        if self.kind(at) == Kind::ScopeResolution { node } else { at }
    }

    pub(super) fn instance_variable(&mut self, node: Node, cx: Context) -> Step<Context> {
        if cx.type_.is_some() {
            let expr = self.expr(node);
            self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Field, node, cx);
        }
        Step::Over
    }

    /// `raise Type`, `raise Type, "text"`, `raise Type.new(...)`.
    fn raised(&mut self, arguments: &[Node], cx: Context) {
        let Some(first) = arguments.first() else { return };
        let class = match self.kind(*first) {
            Kind::Constant | Kind::ScopeResolution => Some(*first),
            Kind::Call => self.child(*first, Field::Receiver),
            _ => None,
        };
        let Some(class) = class else { return };
        if let Some(last) = self.last_constant(class) {
            let expr = self.expr(class);
            self.refer(ReferenceTarget::Expr(expr), ReferenceRole::Raise, last, cx);
            self.consume_constant(class);
        }
    }

    /// A member of values of the type around, by name.
    pub(super) fn own_member(&mut self, name: Str, at: Node, cx: Context) -> Option<ExprId> {
        let type_ = self.own_type(at, cx)?;
        let of = self.b.expr(Expr::Instance(type_));
        Some(self.b.expr(Expr::Member { of, name }))
    }

    /// The type around, as it is written.
    pub(super) fn own_type(&mut self, at: Node, cx: Context) -> Option<TypeId> {
        let own = self.b.facts.decl(cx.type_?);
        if own.type_.is_some() {
            return own.type_;
        }
        let segments = vec![own.name];
        let at = self.b.tree.start(at);
        Some(self.b.type_(Type::Named { segments, arguments: Vec::new(), at }))
    }
}
