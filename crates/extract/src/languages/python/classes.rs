//! Classes, and what functions and classes have in common: decorators, docstrings, heads, type parameters.

use knowing_model::facts::{Base, BaseRole, DeclId, ReferenceRole, Str, Type, TypeParameter};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::functions::is_public;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, ClassTraits, Scope, ScopeKind};
use super::types::Besides;
use super::uses::{MaybeUse, Used};
use crate::engine::build::NewDecl;
use crate::engine::docs::dedent;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Base classes of the standard library and of Django whose subclasses list members.
const ENUMS: [&str; 9] =
    ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum", "Choices", "TextChoices", "IntegerChoices"];

impl Reader<'_, '_> {
    pub(super) fn class(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let name = self.b.name(name_node);
        let signature = self.head(node);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::Class,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        self.scopes.bind(cx.scope, name, Bound::Symbol);
        let inner = Context { decl: Some(id), function: None, ..cx };
        self.type_parameters(node, id, inner);
        let bases = self.child(node, Field::Superclasses).map(|it| self.bases(it, inner)).unwrap_or_default();
        let traits = self.traits(name, &bases);
        let mut flags = NodeFlags::default();
        let is_abstract = bases.iter().any(|it| {
            let name = self.last_segment(it.type_);
            matches!(name, Some("ABC" | "Protocol"))
                || it.role == BaseRole::Metaclass && name == Some("ABCMeta")
        });
        if is_abstract {
            flags.insert(NodeFlags::ABSTRACT);
        }
        if self.scopes.at(cx.scope).kind != ScopeKind::Function && is_public(self.b.str(name)) {
            flags.insert(NodeFlags::EXPORTED);
        }
        if self.has_decorator(node, "deprecated") {
            flags.insert(NodeFlags::DEPRECATED);
        }
        let body = self.child(node, Field::Body);
        let doc = body.and_then(|it| self.docstring(it));
        let decl = self.b.decl_mut(id);
        decl.bases = bases;
        decl.flags = flags;
        decl.doc = doc;
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Class,
            parent: Some(cx.scope),
            decl: Some(id),
            end: self.b.tree.end(node),
            receiver: None,
            class: traits,
        });
        if let Some(body) = body {
            self.note_methods(body, id);
        }
        self.decorated(node, id, cx);
        Step::Within(Context { body_scope: scope, ..inner })
    }

    fn bases(&mut self, list: Node, cx: Context) -> Vec<Base> {
        let mut out = Vec::new();
        for node in self.children(list) {
            match self.kind(node) {
                Kind::KeywordArgument => {
                    let is_metaclass =
                        self.child(node, Field::Name).is_some_and(|it| self.is(it, "metaclass"));
                    if let (true, Some(value)) = (is_metaclass, self.child(node, Field::Value)) {
                        self.base(value, BaseRole::Metaclass, cx, &mut out);
                    }
                }
                Kind::Call => self.bases_of_call(node, cx, &mut out),
                _ => self.base(node, BaseRole::Extends, cx, &mut out),
            }
        }
        out
    }

    fn base(&mut self, node: Node, role: BaseRole, cx: Context, out: &mut Vec<Base>) {
        if !matches!(self.kind(node), Kind::Identifier | Kind::Attribute | Kind::Subscript | Kind::String) {
            return;
        }
        let type_ = self.type_in_expression(node, cx, Besides::Itself);
        if let Type::Named { .. } = self.b.facts.type_(type_) {
            let named =
                if self.kind(node) == Kind::Subscript { self.child(node, Field::Value) } else { Some(node) };
            let last = named.and_then(|it| self.terminal(it)).unwrap_or(node);
            out.push(Base { type_, role, position: self.b.tree.position(last) });
        }
    }

    /// `with_metaclass(Meta, Base)` of `six` and others.
    fn bases_of_call(&mut self, node: Node, cx: Context, out: &mut Vec<Base>) {
        let function = self.child(node, Field::Function).and_then(|it| self.terminal(it));
        let arguments = self.child(node, Field::Arguments);
        if let (true, Some(arguments)) = (function.is_some_and(|it| self.is(it, "with_metaclass")), arguments)
        {
            for (place, argument) in self.children(arguments).enumerate() {
                let role = if place == 0 { BaseRole::Metaclass } else { BaseRole::Extends };
                self.base(argument, role, cx, out);
            }
        }
    }

    fn traits(&self, name: Str, bases: &[Base]) -> ClassTraits {
        let any_base = |fits: &dyn Fn(&str) -> bool| {
            bases
                .iter()
                .any(|it| it.role == BaseRole::Extends && self.last_segment(it.type_).is_some_and(fits))
        };
        ClassTraits {
            is_enum: any_base(&|it| ENUMS.contains(&it)),
            // In a test file a test method of any class runs, through a subclass if not by itself.
            has_tests: self.b.is_test
                || self.b.str(name).starts_with("Test")
                || any_base(&|it| it.ends_with("TestCase")),
        }
    }

    /// Names defined with `def`, so that an assignment to `self.x` does not make a field beside a property.
    fn note_methods(&mut self, body: Node, class: DeclId) {
        for node in self.children(body) {
            let definition = match self.kind(node) {
                Kind::FunctionDefinition => Some(node),
                Kind::DecoratedDefinition => {
                    self.children(node).find(|it| self.kind(*it) == Kind::FunctionDefinition)
                }
                _ => None,
            };
            if let Some(name) = definition.and_then(|it| self.child(it, Field::Name)) {
                let name = self.b.name(name);
                self.members.insert((class, name), None);
            }
        }
    }

    /// `[T: Base, *Rest]` after a name.
    pub(super) fn type_parameters(&mut self, node: Node, of: DeclId, cx: Context) {
        if let Some(list) = self.child(node, Field::TypeParameters) {
            self.type_parameter_list(list, of, cx);
        }
    }

    pub(super) fn type_parameter_list(&mut self, list: Node, of: DeclId, cx: Context) {
        for item in self.children(list) {
            let constrained = self.first_child(item).filter(|it| self.kind(*it) == Kind::Other);
            let parts: Vec<Node> = match constrained {
                Some(it) => self.children(it).collect(),
                None => vec![item],
            };
            let Some(first) = parts.first() else { continue };
            let text = self.b.text(*first).trim_start_matches('*').to_owned();
            let name = self.b.intern(text);
            let bounds = parts[1..].iter().map(|it| self.annotation(*it, cx, ReferenceRole::Type)).collect();
            self.b.decl_mut(of).type_parameters.push(TypeParameter { name, bounds });
        }
    }

    /// What the decorators of a definition call or name.
    pub(super) fn decorators_of(&self, definition: Node) -> Vec<Node> {
        let Some(parent) = self.b.tree.parent(definition) else { return Vec::new() };
        if self.kind(parent) != Kind::DecoratedDefinition {
            return Vec::new();
        }
        let decorators = self.children(parent).filter(|it| self.kind(*it) == Kind::Decorator);
        decorators.filter_map(|it| self.first_child(it)).filter_map(|it| self.callee_of(it)).collect()
    }

    /// `f` of `f(...)` and of `f`.
    fn callee_of(&self, node: Node) -> Option<Node> {
        if self.kind(node) == Kind::Call { self.child(node, Field::Function) } else { Some(node) }
    }

    fn has_decorator(&self, definition: Node, name: &str) -> bool {
        let mut terminals = self.decorators_of(definition).into_iter().filter_map(|it| self.terminal(it));
        terminals.any(|it| self.is(it, name))
    }

    /// A decorator is a use by what it is applied to.
    pub(super) fn decorated(&mut self, definition: Node, id: DeclId, cx: Context) {
        for callee in self.decorators_of(definition) {
            let (Some(root), Some(last)) = (self.root_of(callee), self.terminal(callee)) else { continue };
            let name = self.b.name(root);
            let position = self.b.tree.position(last);
            self.b.count();
            self.uses.push(MaybeUse {
                decl: Some(id),
                scope: cx.scope,
                name,
                used: Used::Node(callee),
                role: ReferenceRole::Decorator,
                position,
            });
        }
    }

    /// A decorator without arguments is noted where its definition is; one with arguments is a call too.
    pub(super) fn decorator(&mut self, node: Node) -> Step<Context> {
        let is_chain = self.first_child(node).is_some_and(|it| self.root_of(it).is_some());
        if is_chain { Step::Over } else { Step::Into }
    }

    /// All before the body, without its colon.
    pub(super) fn head(&mut self, node: Node) -> Str {
        let from = self.b.tree.start(node);
        let body = self.child(node, Field::Body);
        let last = self.children(node).filter(|it| Some(*it) != body).last();
        let to = match (last, body) {
            (Some(last), _) => self.b.tree.end(last),
            (None, Some(body)) => self.b.tree.start(body),
            (None, None) => self.b.tree.end(node),
        };
        let text = self.b.source.slice(Range { from, to });
        let signature = signature(text.trim_end().trim_end_matches(':'), Comments::Hash);
        self.b.intern(signature)
    }

    /// The text that a body begins with.
    pub(super) fn docstring(&mut self, body: Node) -> Option<Str> {
        let statement = self.first_child(body)?;
        if self.kind(statement) != Kind::ExpressionStatement {
            return None;
        }
        let text = self.first_child(statement)?;
        if self.kind(text) != Kind::String {
            return None;
        }
        let raw = self.b.text(text);
        let inner = unquoted(&raw)?;
        let doc = dedent(inner);
        if doc.is_empty() { None } else { Some(self.b.intern(doc)) }
    }
}

/// The inside of a text literal as it is written.
pub(super) fn unquoted(raw: &str) -> Option<&str> {
    let raw = raw.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(rest) = raw.strip_prefix(quote) {
            return Some(rest.strip_suffix(quote).unwrap_or(rest));
        }
    }
    None
}
