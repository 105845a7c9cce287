//! Calls in the body of a class that declare something: `attr_*`, mixins, `define_method`, `alias_method`, `delegate`,
//! and who may call what. Any other call there is a decorator of the class, and the symbols it is given may name methods.

use knowing_model::facts::{
    Base, BaseRole, DeclId, Expr, ExprId, Modifiers, Parameter, ParameterKind, Passed, ReferenceRole,
    ReferenceTarget, Type,
};
use knowing_model::{NodeFlags, NodeKind};

use super::blocks::Role;
use super::kinds::{Field, Kind};
use super::reader::{Context, Level, Reader, Visibility, exported};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// How a module or class comes into a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mixin {
    Prepend,
    Include,
    Superclass,
    Extend,
}

impl Reader<'_, '_> {
    /// A call without a receiver in the body of a class or module.
    pub(super) fn body_call(&mut self, node: Node, text: &str, arguments: &[Node], cx: Context) {
        match text {
            "attr_reader" | "attr" | "attr_writer" | "attr_accessor" => {
                self.attributes(node, text, arguments, cx);
            }
            "cattr_accessor"
            | "cattr_reader"
            | "cattr_writer"
            | "mattr_accessor"
            | "mattr_reader"
            | "mattr_writer"
            | "class_attribute"
            | "thread_mattr_accessor"
            | "thread_cattr_accessor" => {
                self.class_attributes(node, text, arguments, cx);
            }
            "include" | "extend" | "prepend" => self.mixins(text, arguments, cx),
            "private"
            | "protected"
            | "public"
            | "private_class_method"
            | "public_class_method"
            | "module_function" => self.change_visibility(text, arguments, cx),
            "define_method" | "define_singleton_method" => self.defined_method(node, text, arguments, cx),
            "alias_method" => self.alias_method(node, arguments, cx),
            "delegate" => self.delegate(node, arguments, cx),
            "def_delegators" | "def_instance_delegators" | "def_delegator" | "def_instance_delegator" => {
                self.forwardable(node, text, arguments, cx);
            }
            // `def_node_matcher :name, "..."`: macros that define are called so.
            _ if text.starts_with("def_") => self.defined_method(node, text, arguments, cx),
            "scope" => self.scope_method(node, arguments, cx),
            "class_methods" => self.class_methods(node, cx),
            "included" | "prepended" | "class_eval" | "instance_eval" | "with_options" | "concerning" => {
                if let Some(block) = self.child(node, Field::Block) {
                    self.blocks.insert(block, Role::Same);
                }
            }
            "raise" | "require" | "require_relative" | "autoload" | "private_constant" | "puts"
            | "lambda" | "proc" => {}
            _ => self.decorates(node, arguments, cx),
        }
    }

    fn attributes(&mut self, node: Node, text: &str, arguments: &[Node], cx: Context) {
        for (at, name) in self.literal_names(arguments) {
            match text {
                "attr_writer" => {
                    let name = format!("{name}=");
                    self.property(node, at, &name, true, cx);
                }
                _ => {
                    self.property(node, at, name, text == "attr_accessor", cx);
                }
            }
        }
    }

    /// Of the class and of its values alike.
    fn class_attributes(&mut self, node: Node, text: &str, arguments: &[Node], cx: Context) {
        let writable = !text.ends_with("reader");
        for (at, name) in self.literal_names(arguments) {
            if let Some(id) = self.property(node, at, name, writable, cx) {
                self.b.decl_mut(id).modifiers.insert(Modifiers::STATIC);
            }
        }
    }

    /// A method that reads (and, with a parameter, writes) the instance variable of its name.
    pub(super) fn property(
        &mut self,
        call: Node,
        at: Node,
        name: &str,
        writable: bool,
        cx: Context,
    ) -> Option<DeclId> {
        let type_ = cx.type_?;
        let text = self.b.intern(name);
        let signature = self.head_up_to(call, self.child(call, Field::Block));
        let id = self.b.declare(NewDecl {
            owner: Some(type_),
            name: text,
            kind: NodeKind::Property,
            node: at,
            name_position: self.b.tree.position(at),
            signature,
        })?;
        let level = if cx.level == Level::Singleton { Level::ClassMethod } else { Level::Instance };
        self.visible(id, call, level, cx);
        let comment = self.comment_above(call);
        self.described(id, &comment);
        self.attribute_type(id, &comment, cx);
        if writable {
            let parameter = Parameter { name: text, type_: None, default: None, kind: ParameterKind::Plain };
            self.b.decl_mut(id).parameters.push(parameter);
        }
        if !name.ends_with('=') && self.b.facts.decl(id).type_.is_none() {
            let field = self.b.intern(format!("@{name}"));
            let expr = self.b.expr(Expr::Name { name: field, at: self.b.tree.start(at) });
            self.gives_back(id, expr);
        }
        self.members.insert((Some(type_), text, level == Level::ClassMethod), id);
        Some(id)
    }

    fn mixins(&mut self, text: &str, arguments: &[Node], cx: Context) {
        let Some(id) = cx.type_ else { return };
        let is_singleton = cx.level == Level::Singleton;
        let (mixin, role) = match text {
            "extend" => (Mixin::Extend, BaseRole::Extended),
            _ if is_singleton => (Mixin::Extend, BaseRole::Extended),
            "prepend" => (Mixin::Prepend, BaseRole::Prepended),
            _ => (Mixin::Include, BaseRole::Implements),
        };
        // `include A, B` puts `A` before `B`; what is written later comes before both.
        for argument in arguments.iter().rev() {
            let type_ = match self.kind(*argument) {
                Kind::SelfWord => self.own_type(*argument, cx),
                _ => {
                    self.consume_constant(*argument);
                    self.named_type(*argument)
                }
            };
            let type_ = type_.unwrap_or_else(|| self.b.type_(Type::Unknown));
            let at = self.last_constant(*argument).unwrap_or(*argument);
            let position = self.b.tree.position(at);
            self.mix_in(id, mixin, Base { type_, role, position });
        }
    }

    pub(super) fn mix_in(&mut self, id: DeclId, mixin: Mixin, base: Base) {
        self.b.count();
        self.mixins.entry(id).or_default().push((mixin, base));
    }

    /// Bases in the order in which members are looked for: the last prepended first, the superclass last.
    pub(super) fn finish_mixins(&mut self) {
        let mut all: Vec<(DeclId, Vec<(Mixin, Base)>)> =
            std::mem::take(&mut self.mixins).into_iter().collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        for (id, mixins) in all {
            let of =
                |wanted: Mixin| mixins.iter().rev().filter(move |(it, _)| *it == wanted).map(|(_, it)| it);
            let bases = of(Mixin::Prepend)
                .chain(of(Mixin::Include))
                .chain(of(Mixin::Superclass))
                .chain(of(Mixin::Extend))
                .cloned()
                .collect();
            self.b.decl_mut(id).bases = bases;
        }
    }

    /// `private` and its like on a line of their own.
    pub(super) fn set_visibility(&mut self, text: &str, cx: Context) -> bool {
        let visibility = match text {
            "private" | "protected" => Visibility::Hidden,
            "public" => Visibility::Public,
            "module_function" => Visibility::ModuleFunction,
            _ => return false,
        };
        self.visibility.insert((cx.type_, cx.level == Level::Singleton), visibility);
        true
    }

    fn change_visibility(&mut self, text: &str, arguments: &[Node], cx: Context) {
        let of_type =
            matches!(text, "private_class_method" | "public_class_method") || cx.level == Level::Singleton;
        for argument in arguments {
            if matches!(self.kind(*argument), Kind::Method | Kind::SingletonMethod | Kind::Call)
                && matches!(text, "private" | "protected" | "private_class_method")
            {
                self.hidden.insert(*argument);
            }
        }
        for (_, name) in self.literal_names(arguments) {
            let name = self.b.intern(name);
            let Some(id) = self.members.get(&(cx.type_, name, of_type)).copied() else { continue };
            let decl = self.b.decl_mut(id);
            match text {
                "module_function" => decl.modifiers.insert(Modifiers::STATIC),
                "public" | "public_class_method" => decl.flags.insert(exported(true)),
                _ => decl.flags = NodeFlags(decl.flags.0 & !NodeFlags::EXPORTED.0),
            }
        }
    }

    /// `define_method(:name) { |x| ... }`.
    fn defined_method(&mut self, node: Node, text: &str, arguments: &[Node], cx: Context) {
        let Some((at, name)) = arguments.first().and_then(|it| Some((*it, self.literal_name(*it)?))) else {
            return;
        };
        let is_singleton = text == "define_singleton_method" || cx.level == Level::Singleton;
        let level = if is_singleton { Level::ClassMethod } else { Level::Instance };
        let block = self
            .child(node, Field::Block)
            .or_else(|| arguments.get(1).copied().filter(|it| self.lambda_of(*it).is_some()));
        let Some(id) = self.synthetic(node, at, name, level, cx) else { return };
        if let Some(block) = block {
            self.blocks.insert(block, Role::Body { decl: id, level });
        }
    }

    /// A method that a call makes.
    fn synthetic(&mut self, node: Node, at: Node, name: &str, level: Level, cx: Context) -> Option<DeclId> {
        let type_ = cx.type_?;
        let name = self.b.intern(name);
        let signature = self.head_up_to(node, self.child(node, Field::Block));
        let id = self.b.declare(NewDecl {
            owner: Some(type_),
            name,
            kind: NodeKind::Method,
            node: if self.child(node, Field::Block).is_some() { node } else { at },
            name_position: self.b.tree.position(at),
            signature,
        })?;
        self.visible(id, node, level, cx);
        let comment = self.comment_above(node);
        self.described(id, &comment);
        self.members.insert((Some(type_), name, level == Level::ClassMethod), id);
        Some(id)
    }

    /// `alias new old`.
    pub(super) fn alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(new), Some(old)) = (self.child(node, Field::Name), self.child(node, Field::Alias)) else {
            return Step::Over;
        };
        let is_variable = self.kind(new) == Kind::GlobalVariable;
        if cx.type_.is_some() && !is_variable {
            let (new_name, old_name) = (self.method_name(new), self.method_name(old));
            self.aliased(node, new, &new_name, (old, &old_name), cx);
        }
        Step::Over
    }

    fn method_name(&self, node: Node) -> String {
        self.b.text(node).trim_start_matches(':').to_owned()
    }

    fn alias_method(&mut self, node: Node, arguments: &[Node], cx: Context) {
        if let [new, old, ..] = arguments[..]
            && let (Some(new_name), Some(old_name)) = (self.literal_name(new), self.literal_name(old))
        {
            self.aliased(node, new, new_name, (old, old_name), cx);
        }
    }

    /// The old method stands behind the new name.
    fn aliased(&mut self, node: Node, at: Node, new: &str, old: (Node, &str), cx: Context) {
        let level = if cx.level == Level::Singleton { Level::ClassMethod } else { Level::Instance };
        let Some(id) = self.synthetic(node, at, new, level, cx) else { return };
        let member = self.implicit_member(old.0, old.1);
        let inner = Context { decl: Some(id), ..cx };
        self.refer(ReferenceTarget::Expr(member), ReferenceRole::Value, old.0, inner);
        let expr = self.b.expr(Expr::Call { callee: member });
        self.gives_back(id, expr);
    }

    fn implicit_member(&mut self, at: Node, name: &str) -> ExprId {
        let nobody = self.b.intern("");
        let of = self.b.expr(Expr::Name { name: nobody, at: self.b.tree.start(at) });
        let name = self.b.intern(name);
        self.b.expr(Expr::Member { of, name })
    }

    /// `delegate :a, :b, to: :target, prefix: true`.
    fn delegate(&mut self, node: Node, arguments: &[Node], cx: Context) {
        let Some(to) = self.keyword(arguments, "to") else { return };
        let Some(target) = self.literal_name(to) else { return };
        let prefix = self.keyword(arguments, "prefix").map(|it| match self.literal_name(it) {
            Some(prefix) => prefix.to_owned(),
            None => target.trim_start_matches('@').to_owned(),
        });
        for (at, name) in self.literal_names(arguments) {
            let own = prefix.as_ref().map_or_else(|| name.to_owned(), |it| format!("{it}_{name}"));
            self.forwarded(node, (at, &own), (to, target), name, cx);
        }
    }

    /// `def_delegators :@target, :a, :b`, `def_delegator :@target, :name, :own_name`.
    fn forwardable(&mut self, node: Node, text: &str, arguments: &[Node], cx: Context) {
        let Some((to, target)) = arguments.first().and_then(|it| Some((*it, self.literal_name(*it)?))) else {
            return;
        };
        let names = self.literal_names(&arguments[1..]);
        if text.ends_with('s') {
            for (at, name) in names {
                self.forwarded(node, (at, name), (to, target), name, cx);
            }
        } else if let Some(&(at, name)) = names.first() {
            let own = names.get(1).copied().unwrap_or((at, name));
            self.forwarded(node, own, (to, target), name, cx);
        }
    }

    /// A method that calls another on what `to` gives.
    fn forwarded(&mut self, node: Node, own: (Node, &str), to: (Node, &str), name: &str, cx: Context) {
        let level = if cx.level == Level::Singleton { Level::ClassMethod } else { Level::Instance };
        let Some(id) = self.synthetic(node, own.0, own.1, level, cx) else { return };
        let inner = Context { decl: Some(id), ..cx };
        let of = if to.1.starts_with(|it: char| it == '@' || it.is_ascii_uppercase()) {
            let text = self.b.intern(to.1);
            self.b.expr(Expr::Name { name: text, at: self.b.tree.start(to.0) })
        } else {
            let callee = self.implicit_member(to.0, to.1);
            self.b.expr(Expr::Call { callee })
        };
        let name = self.b.intern(name);
        let callee = self.b.expr(Expr::Member { of, name });
        self.note_call(callee, own.0, &[], inner);
        let expr = self.b.expr(Expr::Call { callee });
        self.gives_back(id, expr);
    }

    /// `scope :name, -> { ... }` of Active Record is a method of the class.
    fn scope_method(&mut self, node: Node, arguments: &[Node], cx: Context) {
        let lambda = arguments.get(1).and_then(|it| self.lambda_of(*it));
        let (Some((at, name)), Some(lambda)) =
            (arguments.first().and_then(|it| Some((*it, self.literal_name(*it)?))), lambda)
        else {
            return self.decorates(node, arguments, cx);
        };
        if let Some(id) = self.synthetic(node, at, name, Level::ClassMethod, cx) {
            self.blocks.insert(lambda, Role::Body { decl: id, level: Level::ClassMethod });
        }
    }

    /// `class_methods do ... end` of a concern makes its module `ClassMethods`.
    fn class_methods(&mut self, node: Node, cx: Context) {
        let (Some(block), Some(method)) = (self.child(node, Field::Block), self.child(node, Field::Method))
        else {
            return;
        };
        let name = self.b.intern("ClassMethods");
        let signature = self.head_up_to(node, Some(block));
        let id = self.b.declare(NewDecl {
            owner: cx.type_,
            name,
            kind: NodeKind::Module,
            node,
            name_position: self.b.tree.position(method),
            signature,
        });
        if let Some(id) = id {
            self.b.decl_mut(id).flags = exported(true);
            self.blocks.insert(block, Role::Body { decl: id, level: Level::Body });
        }
    }

    /// `before_action :check, if: :ready?`: the class is marked by the call, and the symbols may name its methods.
    fn decorates(&mut self, node: Node, arguments: &[Node], cx: Context) {
        let Some(method) = self.child(node, Field::Method) else { return };
        let Some(callee) = self.callee(node) else { return };
        self.refer(ReferenceTarget::Expr(callee), ReferenceRole::Decorator, method, cx);
        let mut names = self.literal_names(arguments);
        for argument in arguments.iter().filter(|it| self.kind(**it) == Kind::Pair) {
            if let Some(value) = self.child(*argument, Field::Value) {
                names.extend(self.literal_names(&[value]));
            }
        }
        names.retain(|(at, _)| matches!(self.kind(*at), Kind::SimpleSymbol | Kind::BareSymbol));
        let mut passed = Vec::new();
        for (at, name) in names {
            let name = self.b.intern(name);
            if let Some(expr) = self.own_member(name, at, cx) {
                passed.push(Passed { expr, position: self.b.tree.position(at) });
            }
        }
        if !passed.is_empty() {
            self.symbols.insert(node, passed);
        }
    }
}
