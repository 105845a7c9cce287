//! What gives a name a value: declarators, assignments, destructured or not, and where the name then stands for it.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Expr, ExprId, Literal, ReferenceRole, Str, Type, TypeId, Value,
};
use knowing_model::{NodeKind, Range};

use super::functions::Named;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, ScopeId, ScopeKind};
use crate::engine::build::MAX_NESTING;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What a target is given.
#[derive(Clone, Copy)]
pub(super) enum Given {
    Expr(ExprId),
    Value(Value),
}

/// Where a value holds.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) certain_to: u32,
    pub(super) type_: Option<TypeId>,
}

/// `this.x = ...` where the field is declared further down.
pub(super) struct PendingField {
    class: DeclId,
    name: Str,
    binding: Binding,
}

impl Reader<'_, '_> {
    pub(super) fn declarator(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let value = self.child(node, Field::Value);
        if let Some(value) = value
            && self.required(node, name, value, cx)
        {
            return Step::Into;
        }
        let is_var = self.parent_kind(node) == Kind::VariableDeclaration;
        let scope = if is_var { self.scopes.function_around(cx.scope) } else { cx.scope };
        let around = Context { scope, ..cx };
        let inside = value.map(|it| self.unwrapped(it));
        let is_name = self.kind(name) == Kind::Identifier;
        if is_name && let Some(inside) = inside {
            if self.is_function(inside) {
                return self.named_function(node, name, inside, around, cx);
            }
            if self.kind(inside) == Kind::Class {
                let head = self.head(inside);
                let head = Range { from: self.head_start(node), to: head.to };
                if let Some(id) = self.declare_in_scope(node, name, NodeKind::Class, head, around) {
                    self.functions.insert(inside, id);
                }
                return Step::Into;
            }
        }
        let object = inside.filter(|it| self.kind(*it) == Kind::Object);
        let written = self.child(node, Field::Type);
        let is_top = self.scopes.at(scope).kind == ScopeKind::Module;
        let holds = object.is_some_and(|it| self.holds_functions(it));
        if is_name && (is_top || holds) {
            return self.variable(node, name, value, object, around);
        }
        let (type_, fields) = match written {
            Some(written) => {
                let (type_, fields) = self.annotation_with_fields(written, cx, ReferenceRole::Hint);
                (Some(type_), fields)
            }
            None => {
                let tags = self.tags_at(self.head_start(node));
                (self.tag_type(&tags, &[b"type"], None, cx), Vec::new())
            }
        };
        let type_ = type_.filter(|it| !self.is_unknown(*it));
        let given = self.given(type_, value);
        let range = self.scopes.at(scope).range;
        let place = Place { from: range.from, to: range.to, certain_to: range.to, type_ };
        if is_top {
            self.top_pattern(node, name, given, around);
        } else {
            self.target_with_fields(name, given, &fields, place, around);
        }
        Step::Into
    }

    fn given(&mut self, type_: Option<TypeId>, value: Option<Node>) -> Given {
        match (type_, value) {
            (Some(type_), _) => Given::Value(Value::Type(type_)),
            (None, Some(value)) => Given::Expr(self.expr(value)),
            // Nothing yet: what is assigned later says what it is.
            (None, None) => Given::Expr(self.b.expr(Expr::Literal(Literal::None))),
        }
    }

    /// `const f = () => ...` is a function of that name.
    fn named_function(
        &mut self,
        node: Node,
        name: Node,
        function: Node,
        around: Context,
        cx: Context,
    ) -> Step<Context> {
        let head = Range { from: self.statement_start(node), to: self.head(function).to };
        if let Some(id) = self.declare_in_scope(node, name, NodeKind::Function, head, around) {
            self.functions.insert(function, id);
            if let Some(type_) = self.child(node, Field::Type) {
                let type_ = self.annotation(type_, Context { decl: Some(id), ..cx }, ReferenceRole::Hint);
                if let Some(properties) = self.properties_in(type_) {
                    self.properties.insert(id, properties);
                }
            }
        }
        Step::Into
    }

    /// `Properties` of `const Shop: React.FC<Properties> = (it) => ...`: what the function takes.
    fn properties_in(&self, type_: TypeId) -> Option<TypeId> {
        let Type::Named { segments, arguments, .. } = self.b.facts.type_(type_) else { return None };
        let is_component = matches!(self.b.str(*segments.last()?), "FC" | "FunctionComponent" | "VFC");
        arguments.first().copied().filter(|_| is_component)
    }

    /// Where `const` of a declarator stands, when it is the first one.
    fn statement_start(&self, node: Node) -> u32 {
        let parent = self.b.tree.parent(node);
        let first = parent.and_then(|it| self.first_child(it));
        match parent {
            Some(parent) if first == Some(node) => self.b.tree.start(parent),
            _ => self.b.tree.start(node),
        }
    }

    /// A variable that is a declaration: at the top of a file or namespace, or an object with functions.
    fn variable(
        &mut self,
        node: Node,
        name: Node,
        value: Option<Node>,
        object: Option<Node>,
        cx: Context,
    ) -> Step<Context> {
        let kind = self.variable_kind(node);
        let head = Range { from: self.statement_start(node), to: self.b.tree.end(node) };
        let Some(id) = self.declare_in_scope(node, name, kind, head, cx) else { return Step::Over };
        self.shorten(id);
        let inner = Context { decl: Some(id), function: None, ..cx };
        let type_ = match self.child(node, Field::Type) {
            Some(written) => Some(self.annotation(written, inner, ReferenceRole::Hint)),
            None => {
                let tags = self.tags_at(self.head_start(node));
                self.tag_type(&tags, &[b"type"], None, inner)
            }
        };
        let value = value.map(|it| self.expr(it));
        let decl = self.b.decl_mut(id);
        decl.type_ = type_;
        decl.value = value;
        if let Some(object) = object {
            self.objects.insert(object, id);
        }
        Step::Within(inner)
    }

    fn variable_kind(&self, node: Node) -> NodeKind {
        let parent = self.b.tree.parent(node);
        let is_const = parent.is_some_and(|it| self.b.bytes(it).starts_with(b"const"));
        if is_const { NodeKind::Const } else { NodeKind::Var }
    }

    /// `const { a, b } = f()` at the top: each name is a declaration.
    fn top_pattern(&mut self, node: Node, pattern: Node, given: Given, cx: Context) {
        let kind = self.variable_kind(node);
        let mut parts = Vec::new();
        self.parts_of(pattern, given, &[], &mut parts, cx, 0);
        for (name_node, given) in parts {
            self.b.consume(name_node);
            let head = Range { from: self.statement_start(node), to: self.b.tree.end(node) };
            let Some(id) = self.declare_in_scope(node, name_node, kind, head, cx) else { return };
            self.shorten(id);
            let value = match given {
                Given::Expr(expr) => Some(expr),
                Given::Value(Value::Type(type_)) => {
                    self.b.decl_mut(id).type_ = Some(type_);
                    None
                }
                Given::Value(_) => None,
            };
            self.b.decl_mut(id).value = value;
        }
    }

    pub(super) fn target_with_fields(
        &mut self,
        node: Node,
        given: Given,
        fields: &[(Str, TypeId)],
        place: Place,
        cx: Context,
    ) {
        let mut parts = Vec::new();
        self.parts_of(node, given, fields, &mut parts, cx, 0);
        for (name_node, given) in parts {
            self.b.consume(name_node);
            let name = self.b.name(name_node);
            let value = match given {
                Given::Expr(expr) => Value::Expr(expr),
                Given::Value(value) => value,
            };
            self.bind_value(name, value, place, cx);
        }
    }

    fn bind_value(&mut self, name: Str, value: Value, place: Place, cx: Context) {
        let bound = if place.type_.is_some() { Bound::Typed } else { Bound::Variable };
        self.scopes.bind(cx.scope, name, bound);
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Name(name),
            value,
            visible: Range { from: place.from, to: place.to },
            certain_to: place.certain_to,
        });
    }

    /// A name with a value in all of a range.
    pub(super) fn bind_local(&mut self, name: Str, value: Value, range: Range, cx: Context) {
        let place = Place { from: range.from, to: range.to, certain_to: range.to, type_: None };
        self.bind_value(name, value, place, cx);
    }

    /// Every name of a pattern with its part of the value.
    fn parts_of(
        &mut self,
        node: Node,
        given: Given,
        fields: &[(Str, TypeId)],
        out: &mut Vec<(Node, Given)>,
        cx: Context,
        depth: usize,
    ) {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return;
        }
        match self.kind(node) {
            Kind::Identifier | Kind::ShorthandPropertyPattern | Kind::ShorthandProperty => {
                out.push((node, given));
            }
            Kind::ObjectPattern => {
                for child in self.children(node) {
                    self.part_of_object(child, given, fields, out, cx, depth);
                }
            }
            Kind::ArrayPattern => {
                let mut index = 0;
                let mut end = self.b.tree.start(node);
                for child in self.children(node) {
                    // Places that are left out have nothing but their comma.
                    let gap = self.between(end, self.b.tree.start(child));
                    index += gap.iter().filter(|&&it| it == b',').count();
                    end = self.b.tree.end(child);
                    let part = match self.whole(given) {
                        Some(of) if self.kind(child) == Kind::RestPattern => Given::Expr(of),
                        Some(of) => {
                            let index = u32::try_from(index).unwrap_or(u32::MAX);
                            Given::Expr(self.b.expr(Expr::Item { of, index }))
                        }
                        None => Given::Value(Value::Unknown),
                    };
                    self.parts_of(child, part, &[], out, cx, depth + 1);
                }
            }
            Kind::RestPattern => {
                if let Some(inner) = self.first_child(node) {
                    self.parts_of(inner, given, &[], out, cx, depth + 1);
                }
            }
            Kind::AssignmentPattern | Kind::ObjectAssignmentPattern => {
                let (Some(left), Some(right)) =
                    (self.child(node, Field::Left), self.child(node, Field::Right))
                else {
                    return;
                };
                let given = match given {
                    Given::Expr(one) => {
                        let other = self.expr(right);
                        Given::Expr(self.b.expr(Expr::Either { one, other }))
                    }
                    other => other,
                };
                self.parts_of(left, given, fields, out, cx, depth + 1);
            }
            Kind::NonNullExpression | Kind::ParenthesizedExpression => {
                if let Some(inner) = self.first_child(node) {
                    self.parts_of(inner, given, fields, out, cx, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn part_of_object(
        &mut self,
        child: Node,
        given: Given,
        fields: &[(Str, TypeId)],
        out: &mut Vec<(Node, Given)>,
        cx: Context,
        depth: usize,
    ) {
        let (key, target) = match self.kind(child) {
            Kind::ShorthandPropertyPattern => (Some(child), Some(child)),
            Kind::ObjectAssignmentPattern => (self.child(child, Field::Left), Some(child)),
            Kind::PairPattern => (self.child(child, Field::Key), self.child(child, Field::Value)),
            Kind::RestPattern => (None, self.first_child(child)),
            _ => (None, None),
        };
        let Some(target) = target else { return };
        let Some(key) = key else {
            self.parts_of(target, Given::Value(Value::Unknown), &[], out, cx, depth + 1);
            return;
        };
        let is_named = matches!(
            self.kind(key),
            Kind::ShorthandPropertyPattern | Kind::PropertyIdentifier | Kind::Identifier | Kind::String
        );
        let name = self.member_name(key);
        let part = match fields.iter().find(|(field, _)| *field == name) {
            Some((_, type_)) => Given::Value(Value::Type(*type_)),
            None => match self.whole(given) {
                Some(of) if is_named => {
                    let member = self.b.expr(Expr::Member { of, name });
                    self.refer_to_member(member, key, cx);
                    Given::Expr(member)
                }
                _ => Given::Value(Value::Unknown),
            },
        };
        self.parts_of(target, part, &[], out, cx, depth + 1);
    }

    /// What is taken apart, as an expression.
    fn whole(&mut self, given: Given) -> Option<ExprId> {
        match given {
            Given::Expr(expr) | Given::Value(Value::Expr(expr)) => Some(expr),
            Given::Value(Value::Type(type_)) => Some(self.b.expr(Expr::Instance(type_))),
            Given::Value(_) => None,
        }
    }
}

/// Assignments.
impl Reader<'_, '_> {
    pub(super) fn assignment(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(left), Some(right)) = (self.child(node, Field::Left), self.child(node, Field::Right))
        else {
            return Step::Into;
        };
        match self.kind(left) {
            Kind::MemberExpression => return self.member_assignment(node, left, right, cx),
            Kind::Identifier => {
                self.b.consume(left);
                let name = self.b.name(left);
                let value = Value::Expr(self.expr(right));
                self.assign(name, value, node, cx);
            }
            Kind::ObjectPattern | Kind::ArrayPattern => {
                let expr = self.expr(right);
                let mut parts = Vec::new();
                self.parts_of(left, Given::Expr(expr), &[], &mut parts, cx, 0);
                for (target, given) in parts {
                    self.b.consume(target);
                    let name = self.b.name(target);
                    if let Given::Expr(expr) = given {
                        self.assign(name, Value::Expr(expr), node, cx);
                    }
                }
            }
            _ => {}
        }
        Step::Into
    }

    /// Where the name was declared decides how far the value reaches.
    fn assign(&mut self, name: Str, value: Value, node: Node, cx: Context) {
        let Some((scope, bound)) = self.scopes.binder(cx.scope, name) else { return };
        match bound {
            Bound::Typed => {}
            Bound::Symbol => {
                let Some(id) = self.symbols.get(&(scope, name)).copied() else { return };
                let decl = self.b.facts.decl(id);
                if matches!(decl.kind, NodeKind::Var | NodeKind::Const) && decl.type_.is_none() {
                    self.bind_field(id, value, cx);
                }
            }
            Bound::Variable => self.assign_local(scope, name, value, node, cx),
        }
    }

    fn assign_local(&mut self, scope: ScopeId, name: Str, value: Value, node: Node, cx: Context) {
        let declared = self.scopes.at(scope);
        if declared.decl != cx.decl {
            // A value of another function's names cannot be looked up from here.
            return;
        }
        let is_same_function = self.scopes.frame_of(scope) == self.scopes.frame_of(cx.scope);
        let from = self.b.tree.end(node);
        let (from, certain_to) = if is_same_function {
            (from, cx.certain_to.min(declared.range.to))
        } else {
            // Whoever runs the closure: it may hold anywhere.
            (declared.range.from, 0)
        };
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Name(name),
            value,
            visible: Range { from, to: declared.range.to },
            certain_to,
        });
    }

    pub(super) fn bind_field(&mut self, field: DeclId, value: Value, cx: Context) {
        let range = self.scopes.at(cx.scope).range;
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Field(field),
            value,
            visible: range,
            certain_to: cx.certain_to,
        });
    }

    /// `this.x = value`.
    pub(super) fn own_assignment(&mut self, node: Node, left: Node, right: Node, class: DeclId, cx: Context) {
        let field = self.own_field_of(left, class, node);
        let value = Value::Expr(self.expr(right));
        match field {
            Some(field) if self.b.facts.decl(field).type_.is_none() => self.bind_field(field, value, cx),
            Some(_) => {}
            None => {
                let Some(name) = self.child(left, Field::Property) else { return };
                let name = self.b.name(name);
                if self.members.contains_key(&(class, name)) {
                    return;
                }
                let range = self.scopes.at(cx.scope).range;
                // The field's own number is put in when it is known.
                let target = BindingTarget::Field(class);
                let certain_to = cx.certain_to;
                let binding = Binding { decl: cx.decl, target, value, visible: range, certain_to };
                self.pending_fields.push(PendingField { class, name, binding });
            }
        }
    }

    pub(super) fn finish_fields(&mut self) {
        for it in std::mem::take(&mut self.pending_fields) {
            if let Some(Some(field)) = self.members.get(&(it.class, it.name)).copied()
                && self.b.facts.decl(field).type_.is_none()
            {
                self.b.bind(Binding { target: BindingTarget::Field(field), ..it.binding });
            }
        }
    }
}

/// Statements with names of their own.
impl Reader<'_, '_> {
    pub(super) fn for_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        Step::Within(Context { certain_to: cx.certain_to, ..self.inner_block(node, cx) })
    }

    pub(super) fn for_in(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = self.inner_block(node, cx);
        let (left, right) = (self.child(node, Field::Left), self.child(node, Field::Right));
        if let (Some(left), Some(right)) = (left, right) {
            let between = self.between(self.b.tree.end(left), self.b.tree.start(right));
            let is_of = between.split(|it| it.is_ascii_whitespace()).any(|it| it == b"of");
            let given = if is_of {
                let of = self.expr(right);
                let head = self.between(self.b.tree.start(node), self.b.tree.start(left));
                let is_async = head.windows(5).any(|it| it == b"await");
                let element = self.b.expr(Expr::Element { of });
                let expr = if is_async { self.b.expr(Expr::Await { of: element }) } else { element };
                Given::Expr(expr)
            } else {
                Given::Expr(self.b.expr(Expr::Literal(Literal::String)))
            };
            let head = self.between(self.b.tree.start(node), self.b.tree.start(left));
            let declares = [&b"const"[..], b"let", b"var"]
                .iter()
                .any(|word| head.windows(word.len()).any(|it| it == *word));
            if declares {
                let range = self.b.tree.range(node);
                let place = Place { from: range.from, to: range.to, certain_to: range.to, type_: None };
                self.target_with_fields(left, given, &[], place, inner);
            }
        }
        Step::Within(Context { certain_to: cx.certain_to, ..inner })
    }

    pub(super) fn catch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let inner = self.inner_block(node, cx);
        if let Some(parameter) = self.child(node, Field::Parameter) {
            let range = self.b.tree.range(node);
            let place = Place { from: range.from, to: range.to, certain_to: range.to, type_: None };
            self.target_with_fields(parameter, Given::Value(Value::Unknown), &[], place, inner);
        }
        Step::Within(inner)
    }

    /// A declaration that has no name of its own.
    pub(super) fn declare_nameless(
        &mut self,
        node: Node,
        name: Str,
        kind: NodeKind,
        head: Range,
        cx: Context,
    ) -> Option<DeclId> {
        let position = self.b.tree.position(node);
        let visible = Some(super::functions::NOWHERE);
        let id = self.declare(node, Named { name, position, kind, owner: cx.decl, visible }, head)?;
        self.shorten(id);
        Some(id)
    }
}
