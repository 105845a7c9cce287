//! Functions: their parameters and results, `this`, what callbacks are given.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Expr, ExprId, Modifiers, Parameter, ParameterKind, ReferenceRole, Return,
    ReturnKind, Str, Value,
};
use knowing_model::{NodeFlags, NodeKind, Position, Range};

use super::documentation::Tag;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, Scope, ScopeKind, This};
use super::variables::{Given, Place};
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What a declaration is called and where it belongs.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) name: Str,
    pub(super) position: Position,
    pub(super) kind: NodeKind,
    pub(super) owner: Option<DeclId>,
    /// The part of the owner in which its bare name means it; none for all of it.
    pub(super) visible: Option<Range>,
}

/// Bare names never mean members.
pub(super) const NOWHERE: Range = Range { from: 0, to: 0 };

impl<'s> Reader<'_, 's> {
    /// A declaration with its documentation; `head` is what its signature shows.
    pub(super) fn declare(&mut self, node: Node, named: Named, head: Range) -> Option<DeclId> {
        let text = self.b.source.slice(head);
        let text = text.trim_end().trim_end_matches(['{', ';', ',']).trim_end();
        let text = signature(text, Comments::Slashes);
        let signature = self.b.intern(text);
        let (doc, flags) = self.doc_at(self.head_start(node));
        let id = self.b.declare(NewDecl {
            owner: named.owner,
            name: named.name,
            kind: named.kind,
            node,
            name_position: named.position,
            signature,
        })?;
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        decl.flags.insert(flags);
        decl.visible = named.visible;
        Some(id)
    }

    /// A name of the scope around: where it is known, and whether others see it.
    pub(super) fn declare_in_scope(
        &mut self,
        node: Node,
        name_node: Node,
        kind: NodeKind,
        head: Range,
        cx: Context,
    ) -> Option<DeclId> {
        let name = self.b.name(name_node);
        let position = self.b.tree.position(name_node);
        let visible = self.visible_in(cx);
        let id = self.declare(node, Named { name, position, kind, owner: cx.decl, visible }, head)?;
        self.scopes.bind(cx.scope, name, Bound::Symbol);
        self.symbols.entry((cx.scope, name)).or_insert(id);
        if self.is_exported(node, cx) {
            self.mark_exported(id);
        }
        Some(id)
    }

    pub(super) fn visible_in(&self, cx: Context) -> Option<Range> {
        let scope = self.scopes.at(cx.scope);
        (!scope.is_whole).then_some(scope.range)
    }

    pub(super) fn mark_exported(&mut self, id: DeclId) {
        let decl = self.b.decl_mut(id);
        decl.flags.insert(NodeFlags::EXPORTED);
        decl.modifiers.insert(Modifiers::PUBLIC);
    }

    /// From the begin of a declaration to its body.
    pub(super) fn head(&self, node: Node) -> Range {
        let from = self.b.tree.start(node);
        let body = self.child(node, Field::Body).filter(|it| self.kind(*it) != Kind::ObjectType);
        let to = body.map_or_else(|| self.b.tree.end(node), |it| self.b.tree.start(it));
        // Decorators are no part of the head.
        let decorators = self.children(node).take_while(|it| self.kind(*it) == Kind::Decorator);
        let from = decorators.last().map_or(from, |it| self.b.tree.end(it));
        let blank = self.between(from, to).iter().take_while(|it| it.is_ascii_whitespace()).count();
        Range { from: from + u32::try_from(blank).unwrap_or(0), to }
    }

    pub(super) fn function_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let head = self.head(node);
        let scope = Context { scope: self.scopes.function_around(cx.scope), ..cx };
        let around = if self.scopes.at(scope.scope).kind == ScopeKind::Module { cx } else { scope };
        let Some(id) = self.declare_in_scope(node, name, NodeKind::Function, head, around) else {
            return Step::Over;
        };
        if self.kind(node) == Kind::FunctionSignature {
            self.signatures.insert(id);
        }
        self.default_export(node, Some(id));
        let is_constructor = self.b.bytes(name).first().is_some_and(u8::is_ascii_uppercase);
        let this = if is_constructor { This::Of(id) } else { This::Unknown };
        Step::Within(self.function_scope(node, Some(id), this, cx))
    }

    pub(super) fn function_value(&mut self, node: Node, cx: Context) -> Step<Context> {
        let named = self.functions.get(&node).copied();
        let is_arrow = self.kind(node) == Kind::ArrowFunction;
        let field_of = named.and_then(|it| self.b.facts.decl(it).owner);
        let is_field = field_of.is_some_and(|it| self.b.facts.decl(it).kind == NodeKind::Class);
        let this = match named {
            _ if is_arrow && !is_field => This::Inherited,
            Some(id) => match self.b.facts.decl(id).kind {
                NodeKind::Method | NodeKind::Property | NodeKind::Constructor => {
                    self.b.facts.decl(id).owner.map_or(This::Unknown, This::Of)
                }
                NodeKind::Test => This::Inherited,
                _ => {
                    let name = self.b.facts.decl(id).name;
                    let is_constructor = self.b.str(name).starts_with(|it: char| it.is_ascii_uppercase());
                    if is_constructor { This::Of(id) } else { This::Unknown }
                }
            },
            None => This::Unknown,
        };
        Step::Within(self.function_scope(node, named, this, cx))
    }

    /// Opens the scope of a function: parameters, `this`, its own name.
    pub(super) fn function_scope(
        &mut self,
        node: Node,
        named: Option<DeclId>,
        this: This,
        cx: Context,
    ) -> Context {
        let range = self.b.tree.range(node);
        let decl = named.or(cx.decl);
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Function,
            parent: Some(cx.scope),
            decl,
            is_whole: named.is_some(),
            range,
            this,
        });
        let inner = Context { decl, function: named, scope, certain_to: range.to, ..cx };
        let tags = self.function_tags(node, named);
        if let Some(id) = named {
            self.function_nature(node, id);
            self.type_parameters(node, id, inner);
            let result = match self.child(node, Field::ReturnType) {
                Some(type_) => Some(self.annotation(type_, inner, ReferenceRole::Hint)),
                None => self.tag_type(&tags, &[b"returns", b"return"], None, inner),
            };
            let decl = self.b.decl_mut(id);
            decl.type_ = result;
            if result.is_some() {
                // The declared type says `Promise` and `Generator` itself.
                decl.modifiers.0 &= !(Modifiers::ASYNC.0 | Modifiers::GENERATOR.0);
            }
        } else if let Some(type_) = self.child(node, Field::ReturnType) {
            self.annotation(type_, inner, ReferenceRole::Hint);
        }
        self.bind_this(this, named, range, inner, cx);
        let is_expression = matches!(self.kind(node), Kind::FunctionExpression | Kind::GeneratorFunction);
        if let Some(name) = self.child(node, Field::Name).filter(|_| is_expression) {
            self.b.consume(name);
            let name = self.b.name(name);
            self.bind_local(name, Value::Unknown, range, inner);
        }
        let given = self.callback_arguments(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.parameters(list, &tags, &given, range, named, inner);
        } else if let Some(only) = self.child(node, Field::Parameter) {
            self.parameter(only, 0, &tags, &given, range, named, inner);
        }
        let body = self.child(node, Field::Body);
        if let (Some(decl), Some(body)) = (named, body)
            && self.kind(body) != Kind::StatementBlock
            && self.b.facts.decl(decl).type_.is_none()
        {
            let expr = self.returned_expr(body, decl);
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Return });
        }
        inner
    }

    fn function_tags(&self, node: Node, named: Option<DeclId>) -> Vec<Tag<'s>> {
        if named.is_none() || !self.has_comment_types() {
            return Vec::new();
        }
        let statement = match self.parent_kind(node) {
            Kind::VariableDeclarator | Kind::AssignmentExpression | Kind::Pair => {
                self.b.tree.parent(node).unwrap_or(node)
            }
            _ => node,
        };
        self.tags_at(self.head_start(statement))
    }

    fn function_nature(&mut self, node: Node, id: DeclId) {
        let until = self
            .child(node, Field::Name)
            .or_else(|| self.child(node, Field::Parameters))
            .or_else(|| self.child(node, Field::Parameter))
            .map_or(self.b.tree.start(node), |it| self.b.tree.start(it));
        let words = self.between(self.head(node).from, until);
        let is_async = words.split(|it| it.is_ascii_whitespace()).any(|it| it == b"async");
        let is_generator = words.contains(&b'*');
        let decl = self.b.decl_mut(id);
        if is_async {
            decl.flags.insert(NodeFlags::ASYNC);
            decl.modifiers.insert(Modifiers::ASYNC);
        }
        if is_generator {
            decl.modifiers.insert(Modifiers::GENERATOR);
        }
    }

    fn bind_this(&mut self, this: This, named: Option<DeclId>, range: Range, inner: Context, cx: Context) {
        let value = match (this, named) {
            (This::Of(_), Some(id)) if self.b.facts.decl(id).modifiers.contains(Modifiers::STATIC) => {
                Value::ReceiverType
            }
            (This::Of(_), _) => Value::Receiver,
            (This::Unknown, _) if self.scopes.this(cx.scope).is_some() => Value::Unknown,
            _ => return,
        };
        let name = self.b.intern("this");
        self.b.bind(Binding {
            decl: inner.decl,
            target: BindingTarget::Name(name),
            value,
            visible: range,
            certain_to: range.to,
        });
    }

    /// What a callback's parameters are, where the method it is passed to tells.
    fn callback_arguments(&mut self, node: Node) -> Vec<Option<ExprId>> {
        let Some(arguments) = self.b.tree.parent(node).filter(|it| self.kind(*it) == Kind::Arguments) else {
            return Vec::new();
        };
        let Some(call) = self.b.tree.parent(arguments) else { return Vec::new() };
        let Some(function) = self.function_of(call) else { return Vec::new() };
        if self.kind(function) != Kind::MemberExpression || self.first_child(arguments) != Some(node) {
            return Vec::new();
        }
        let (Some(object), Some(method)) =
            (self.child(function, Field::Object), self.child(function, Field::Property))
        else {
            return Vec::new();
        };
        let places: &[usize] = match self.b.bytes(method) {
            b"forEach" | b"map" | b"filter" | b"find" | b"findIndex" | b"findLast" | b"findLastIndex"
            | b"some" | b"every" | b"flatMap" => &[0],
            b"reduce" | b"reduceRight" => &[1],
            b"sort" | b"toSorted" => &[0, 1],
            b"then" => {
                let of = self.expr(object);
                return vec![Some(self.b.expr(Expr::Await { of }))];
            }
            _ => return Vec::new(),
        };
        let of = self.expr(object);
        let element = self.b.expr(Expr::Element { of });
        (0..2).map(|at| places.contains(&at).then_some(element)).collect()
    }

    fn parameters(
        &mut self,
        list: Node,
        tags: &[Tag<'_>],
        given: &[Option<ExprId>],
        range: Range,
        of: Option<DeclId>,
        cx: Context,
    ) {
        for (at, node) in self.children(list).enumerate() {
            self.parameter(node, at, tags, given, range, of, cx);
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a parameter is read with all that is known of its function"
    )]
    fn parameter(
        &mut self,
        node: Node,
        at: usize,
        tags: &[Tag<'_>],
        given: &[Option<ExprId>],
        range: Range,
        of: Option<DeclId>,
        cx: Context,
    ) {
        let (mut pattern, mut default) = match self.kind(node) {
            Kind::RequiredParameter | Kind::OptionalParameter => {
                (self.child(node, Field::Pattern), self.child(node, Field::Value))
            }
            Kind::AssignmentPattern => (self.child(node, Field::Left), self.child(node, Field::Right)),
            Kind::Identifier | Kind::ObjectPattern | Kind::ArrayPattern | Kind::RestPattern => {
                (Some(node), None)
            }
            _ => return,
        };
        if let Some(inner) = pattern.filter(|it| self.kind(*it) == Kind::AssignmentPattern) {
            default = self.child(inner, Field::Right);
            pattern = self.child(inner, Field::Left);
        }
        let Some(mut pattern) = pattern else { return };
        let mut kind = ParameterKind::Plain;
        if self.kind(pattern) == Kind::RestPattern {
            kind = ParameterKind::Rest;
            let Some(inner) = self.first_child(pattern) else { return };
            pattern = inner;
        }
        let is_name = self.kind(pattern) == Kind::Identifier;
        let name = if is_name { self.b.name(pattern) } else { self.b.intern("{}") };
        let written = self.child(node, Field::Type);
        let (mut type_, fields) = match written {
            Some(written) => {
                let (type_, fields) = self.annotation_with_fields(written, cx, ReferenceRole::Hint);
                (Some(type_), fields)
            }
            None => (None, Vec::new()),
        };
        if type_.is_none() && is_name && !tags.is_empty() {
            let about = self.b.bytes(pattern);
            type_ = self.tag_type(tags, &[b"param", b"arg"], Some(about), cx);
        }
        if type_.is_none() && at == 0 {
            type_ = of.and_then(|it| self.properties.get(&it).copied());
        }
        let default = default.map(|it| self.expr(it));
        if self.kind(pattern) == Kind::This {
            let this = self.b.intern("this");
            if let Some(type_) = type_ {
                self.bind_local(this, Value::Type(type_), range, cx);
            }
            return;
        }
        let value = match (type_, default, given.get(at).copied().flatten()) {
            (Some(type_), ..) if !self.is_unknown(type_) => Value::Type(type_),
            (None, Some(default), _) => Value::Expr(default),
            (None, None, Some(given)) => Value::Expr(given),
            _ => Value::Unknown,
        };
        let place = Place { from: range.from, to: range.to, certain_to: range.to, type_: None };
        self.parameter_pattern(pattern, value, &fields, place, cx);
        self.parameter_decorators(node, of);
        if let Some(of) = of {
            self.b.decl_mut(of).parameters.push(Parameter { name, type_, default, kind });
            self.parameter_property(node, pattern, of, type_);
        }
    }

    fn parameter_pattern(
        &mut self,
        pattern: Node,
        value: Value,
        fields: &[(Str, knowing_model::facts::TypeId)],
        place: Place,
        cx: Context,
    ) {
        if self.kind(pattern) == Kind::Identifier {
            self.b.consume(pattern);
            let name = self.b.name(pattern);
            let bound = if matches!(value, Value::Type(_)) { Bound::Typed } else { Bound::Variable };
            self.bind_local(name, value, Range { from: place.from, to: place.to }, cx);
            self.scopes.bind(cx.scope, name, bound);
            return;
        }
        self.target_with_fields(pattern, Given::Value(value), fields, place, cx);
    }

    pub(super) fn returned(&mut self, node: Node, cx: Context) -> Step<Context> {
        let undeclared = cx.function.filter(|it| self.b.facts.decl(*it).type_.is_none());
        if let (Some(decl), Some(value)) = (undeclared, self.first_child(node)) {
            let expr = self.returned_expr(value, decl);
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Return });
        }
        Step::Into
    }

    pub(super) fn yielded(&mut self, node: Node, cx: Context) -> Step<Context> {
        let undeclared = cx.function.filter(|it| self.b.facts.decl(*it).type_.is_none());
        if let (Some(decl), Some(value)) = (undeclared, self.first_child(node)) {
            let mut expr = self.expr(value);
            if self.b.bytes(node)[5..].trim_ascii_start().starts_with(b"*") {
                expr = self.b.expr(Expr::Element { of: expr });
            }
            self.b.gives_back(Return { decl, expr, kind: ReturnKind::Yield });
        }
        Step::Into
    }

    /// A signature beside others of its name is an overload.
    pub(super) fn finish_overloads(&mut self) {
        let mut counts: rustc_hash::FxHashMap<(Option<DeclId>, Str), u32> = rustc_hash::FxHashMap::default();
        for decl in self.b.facts.decls.iter().filter(|it| it.kind.is_callable()) {
            *counts.entry((decl.owner, decl.name)).or_default() += 1;
        }
        for (index, decl) in self.b.facts.decls.iter_mut().enumerate() {
            let id = DeclId(u32::try_from(index).unwrap_or(u32::MAX));
            let n_named = counts.get(&(decl.owner, decl.name)).copied().unwrap_or(0);
            if n_named > 1 && self.signatures.contains(&id) {
                decl.modifiers.insert(Modifiers::OVERLOAD);
            }
        }
    }
}
