//! Classes, interfaces, objects, companions, enums, anonymous objects; what they extend.

use knowing_model::facts::{
    Base, BaseRole, DeclId, Expr, Modifiers, Parameter, ParameterKind, ReferenceRole, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn type_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let mut marks = self.marks(node);
        let is_companion = self.kind(node) == Kind::CompanionObject;
        let name_node = self.child(node, Field::Name);
        if name_node.is_none() && !is_companion {
            return Step::Into;
        }
        let name = match name_node {
            Some(it) => self.name(it),
            None => self.b.intern("Companion"),
        };
        let is_interface = self.kind(node) == Kind::ClassDeclaration && self.is_interface(node, marks.from);
        let kind = if is_interface || marks.is_annotation {
            NodeKind::Interface
        } else if marks.is_enum {
            NodeKind::Enum
        } else {
            NodeKind::Class
        };
        match self.kind(node) {
            Kind::ObjectDeclaration => marks.modifiers.insert(Modifiers::STATIC),
            Kind::CompanionObject => {
                marks.modifiers.insert(Modifiers::STATIC);
                marks.modifiers.insert(Modifiers::CLASS_METHOD);
            }
            _ => {}
        }
        let body = self.body_of(node);
        let to = body.map_or(self.b.tree.end(node), |it| self.b.tree.start(it));
        let signature = self.head(marks.from, to);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind,
            node,
            name_position: self.b.tree.position(name_node.unwrap_or(node)),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let inner = Context { decl: Some(id), block_end: self.b.tree.end(node), in_type: true, is_interface };
        let type_parameters = self.type_parameters(node, inner);
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        decl.doc = doc;
        decl.type_parameters = type_parameters;
        self.decorate(id, &marks);
        self.bases(node, id, inner);
        Step::Within(inner)
    }

    fn is_interface(&self, node: Node, from: u32) -> bool {
        let Some(name) = self.child(node, Field::Name) else { return false };
        let words = self.b.source.bytes(Range { from, to: self.b.tree.start(name) });
        words.split(|it| !it.is_ascii_alphabetic()).any(|it| it == b"interface")
    }

    fn body_of(&self, node: Node) -> Option<Node> {
        self.children(node).find(|it| matches!(self.kind(*it), Kind::ClassBody | Kind::EnumClassBody))
    }

    /// What is extended; its constructor is called.
    fn bases(&mut self, node: Node, id: DeclId, cx: Context) {
        let Some(list) = self.child_of_kind(node, Kind::DelegationSpecifiers) else { return };
        let specifiers: Vec<Node> = self.children(list).collect();
        for specifier in specifiers {
            let made = self.child_of_kind(specifier, Kind::ConstructorInvocation);
            let delegated = self.child_of_kind(specifier, Kind::ExplicitDelegation);
            let holder = made.or(delegated).unwrap_or(specifier);
            let Some(written) = self.type_child(holder) else { continue };
            let last = self.children(written).filter(|it| self.kind(*it) == Kind::Identifier).last();
            let Some(last) = last else { continue };
            let type_ = self.base_type(written, cx);
            let position = self.b.tree.position(last);
            self.b.decl_mut(id).bases.push(Base { type_, role: BaseRole::Extends, position });
            if let Some(made) = made {
                let of = self.b.expr(Expr::TypePath(type_));
                let arguments = self.child_of_kind(made, Kind::ValueArguments);
                self.construct(of, last, arguments, cx);
            }
        }
    }

    /// What its arguments name are references; it is joined itself by being extended.
    fn base_type(&mut self, written: Node, cx: Context) -> knowing_model::facts::TypeId {
        let n_before = self.b.facts.references.len();
        let type_ = self.type_at(written, cx, ReferenceRole::Type);
        if self.b.facts.references.len() > n_before {
            self.b.facts.references.remove(n_before);
        }
        type_
    }

    /// `object : Base() { ... }`: a class that is named after what it extends.
    pub(super) fn object_literal(&mut self, node: Node, cx: Context) -> Step<Context> {
        let base = self
            .b
            .tree
            .subtree(node)
            .find(|it| self.kind(*it) == Kind::UserType || matches!(self.kind(*it), Kind::ClassBody));
        let base = base.filter(|it| self.kind(*it) == Kind::UserType);
        let text = match base {
            Some(base) => {
                let last = self.children(base).filter(|it| self.kind(*it) == Kind::Identifier).last();
                last.map_or_else(|| "?".into(), |it| self.b.text(it))
            }
            None => "object".into(),
        };
        let text = format!("<{text}>");
        let name = self.b.intern_name(text.into());
        self.anonymous(node, node, name, cx)
    }

    /// The body of a member of an enum.
    pub(super) fn entry_body(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(owner) = cx.decl else { return Step::Into };
        let enum_ = self.b.facts.decl(owner).owner.unwrap_or(owner);
        let base = self.b.facts.decl(enum_).name;
        let text = format!("<{}>", self.b.str(base));
        let name = self.b.intern_name(text.into());
        let step = self.anonymous(node, node, name, cx);
        if let Step::Within(Context { decl: Some(id), .. }) = step {
            let type_ = self.named(base, self.b.tree.start(node));
            let position = self.b.tree.position(node);
            self.b.decl_mut(id).bases.push(Base { type_, role: BaseRole::Extends, position });
        }
        step
    }

    fn anonymous(
        &mut self,
        node: Node,
        head: Node,
        name: knowing_model::facts::Str,
        cx: Context,
    ) -> Step<Context> {
        let from = self.b.tree.start(head);
        let to = self.body_of(node).map_or(from, |it| self.b.tree.start(it));
        let signature = self.head(from, to);
        let position = self.b.tree.position(node);
        let new =
            NewDecl { owner: cx.decl, name, kind: NodeKind::Class, node, name_position: position, signature };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let inner =
            Context { decl: Some(id), block_end: self.b.tree.end(node), in_type: true, is_interface: false };
        self.bases(node, id, inner);
        Step::Within(inner)
    }

    /// `class C(val x: Int, y: String)`: a constructor, and properties for some of its parameters.
    pub(super) fn primary_constructor(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(class) = cx.decl else { return Step::Into };
        let marks = self.marks(node);
        let name = self.b.intern("<init>");
        let signature = self.head(self.b.tree.start(node), self.b.tree.end(node));
        let new = NewDecl {
            owner: Some(class),
            name,
            kind: NodeKind::Constructor,
            node,
            name_position: self.b.tree.position(node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.modifiers = marks.modifiers;
        self.decorate(id, &marks);
        let list = self.child_of_kind(node, Kind::ClassParameters);
        let parameters: Vec<Node> = list.map(|it| self.children(it).collect()).unwrap_or_default();
        let mut out = Vec::new();
        for parameter in parameters {
            if let Some(it) = self.class_parameter(parameter, class, cx) {
                out.push(it);
            }
        }
        self.b.decl_mut(id).parameters = out;
        Step::Into
    }

    fn class_parameter(&mut self, node: Node, class: DeclId, cx: Context) -> Option<Parameter> {
        let name_node = self.child_of_kind(node, Kind::Identifier)?;
        let type_node = self.type_child(node)?;
        let mut marks = self.marks(node);
        let name = self.name(name_node);
        let type_ = self.type_at(type_node, cx, ReferenceRole::Hint);
        let value = self.children(node).skip_while(|it| *it != type_node).nth(1);
        let default = value.map(|it| self.expr(it));
        let modifiers = self.child_of_kind(node, Kind::Modifiers);
        let is_rest = modifiers.is_some_and(|it| {
            self.b.bytes(it).split(|it| !it.is_ascii_alphabetic()).any(|it| it == b"vararg")
        });
        let words = self.b.source.bytes(Range { from: marks.from, to: self.b.tree.start(name_node) });
        let is_property = words.split(|it| !it.is_ascii_alphabetic()).any(|it| it == b"val" || it == b"var");
        let visible = Range { from: self.b.tree.end(node), to: cx.block_end };
        if is_property {
            let signature = self.head(marks.from, self.b.tree.end(node));
            let new = NewDecl {
                owner: Some(class),
                name,
                kind: NodeKind::Field,
                node,
                name_position: self.b.tree.position(name_node),
                signature,
            };
            let id = self.b.declare(new)?;
            marks.flags.insert(NodeFlags::default());
            let decl = self.b.decl_mut(id);
            decl.type_ = Some(type_);
            decl.flags = marks.flags;
            decl.modifiers = marks.modifiers;
            self.decorate(id, &marks);
        } else {
            // Seen in initialisers and in what is passed to the base.
            self.b.bind(knowing_model::facts::Binding {
                decl: Some(class),
                target: knowing_model::facts::BindingTarget::Name(name),
                value: Value::Type(type_),
                visible,
                certain_to: visible.to,
            });
        }
        let kind = if is_rest { ParameterKind::Rest } else { ParameterKind::Plain };
        Some(Parameter { name, type_: Some(type_), default, kind })
    }

    pub(super) fn enum_entry(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child_of_kind(node, Kind::Identifier) else { return Step::Into };
        let marks = self.marks(node);
        let name = self.name(name_node);
        self.b.consume(name_node);
        let to = self.body_of(node).map_or(self.b.tree.end(node), |it| self.b.tree.start(it));
        let signature = self.head(marks.from, to);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::EnumMember,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let doc = self.doc(node);
        let decl = self.b.decl_mut(id);
        decl.flags = marks.flags;
        decl.doc = doc;
        self.decorate(id, &marks);
        if let (Some(arguments), Some(enum_)) = (self.child_of_kind(node, Kind::ValueArguments), cx.decl) {
            let name = self.b.facts.decl(enum_).name;
            let type_ = self.named(name, self.b.tree.start(node));
            let of = self.b.expr(Expr::TypePath(type_));
            self.construct(of, name_node, Some(arguments), cx);
        }
        Step::Within(Context { decl: Some(id), ..cx })
    }

    pub(super) fn type_alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Type) else { return Step::Into };
        let Some(written) = self.type_child(node) else { return Step::Into };
        let marks = self.marks(node);
        let name = self.name(name_node);
        self.b.consume(name_node);
        let signature = self.head(marks.from, self.b.tree.end(node));
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: NodeKind::TypeAlias,
            node,
            name_position: self.b.tree.position(name_node),
            signature,
        };
        let Some(id) = self.b.declare(new) else { return Step::Over };
        let inner = Context { decl: Some(id), ..cx };
        let type_parameters = self.type_parameters(node, inner);
        let type_ = self.type_at(written, inner, ReferenceRole::Type);
        let doc = self.doc(node);
        let decl = self.b.decl_mut(id);
        decl.type_parameters = type_parameters;
        decl.type_ = Some(type_);
        decl.flags = marks.flags;
        decl.doc = doc;
        Step::Over
    }
}
