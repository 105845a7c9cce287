//! Types with their fields and methods, constants, variables.

use knowing_model::facts::{Base, BaseRole, DeclId, Expr, Impl, ReferenceRole, Str, TypeId, Value};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader, is_exported};
use super::types::Naming;
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Longest value of a constant or variable that its signature shows, in bytes.
const MAX_VALUE: u32 = 100;

pub(super) struct NewItem {
    /// The whole declaration.
    pub(super) node: Node,
    pub(super) name: Node,
    /// What its documentation stands before.
    pub(super) doc_at: Node,
    pub(super) kind: NodeKind,
    pub(super) signature: Str,
    pub(super) cx: Context,
}

impl Reader<'_, '_> {
    /// What all declarations have in common; none when the limit is reached.
    pub(super) fn item(&mut self, new: NewItem) -> Option<DeclId> {
        let name = self.b.name(new.name);
        let id = self.b.declare(NewDecl {
            owner: new.cx.decl,
            name,
            kind: new.kind,
            node: new.node,
            name_position: self.b.tree.position(new.name),
            signature: new.signature,
        })?;
        let (doc, is_deprecated) = self.doc_before(new.doc_at, new.kind);
        let is_exported = is_exported(self.b.str(name));
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        if is_exported {
            decl.flags.insert(NodeFlags::EXPORTED);
        }
        if is_deprecated {
            decl.flags.insert(NodeFlags::DEPRECATED);
        }
        Some(id)
    }

    /// A piece of text made fit to be a signature.
    pub(super) fn head(&mut self, before: &str, range: Range) -> Str {
        let text = self.b.source.slice(range);
        let text = text.trim_end();
        if before.is_empty() {
            let signature = signature(text, Comments::Slashes);
            return self.b.intern(signature);
        }
        let whole = format!("{before}{text}");
        let signature = signature(&whole, Comments::Slashes).into_owned();
        self.b.intern(signature)
    }

    /// `type A struct`, `type A interface`, `type A []B`, `type A = B`; also inside of functions.
    pub(super) fn type_spec(&mut self, node: Node, cx: Context) -> Step<Context> {
        let (Some(name), Some(type_node)) = (self.child(node, Field::Name), self.child(node, Field::Type))
        else {
            return Step::Into;
        };
        let kind = match (self.kind(node), self.kind(type_node)) {
            (Kind::TypeAlias, _) => NodeKind::TypeAlias,
            (_, Kind::StructType) => NodeKind::Struct,
            (_, Kind::InterfaceType) => NodeKind::Interface,
            _ => NodeKind::Type,
        };
        let range = self.b.tree.range(node);
        let end = match kind {
            NodeKind::Struct => self.b.tree.start(type_node) + "struct".len() as u32,
            NodeKind::Interface => self.b.tree.start(type_node) + "interface".len() as u32,
            _ => range.to,
        };
        let signature = self.head("type ", Range { from: range.from, to: end.min(range.to) });
        let doc_at = self.alone_in_declaration(node);
        let Some(id) = self.item(NewItem { node, name, doc_at, kind, signature, cx }) else {
            return Step::Over;
        };
        if cx.decl.is_some() {
            // A type may name itself.
            let visible = Range { from: range.from, to: cx.block.to.max(range.to) };
            let name = self.b.name(name);
            self.bind_str(name, Value::Decl(id), visible, cx);
        }
        let parameters = self.type_parameters(node, Some(id));
        self.b.decl_mut(id).type_parameters = parameters;
        let inner = Context { decl: Some(id), ..cx };
        match kind {
            NodeKind::Struct => self.struct_fields(type_node, id, inner),
            NodeKind::Interface => self.interface_members(type_node, id, inner),
            _ => {
                let type_ = self.read_type(type_node, Naming::new(Some(id), ReferenceRole::Type));
                self.b.decl_mut(id).type_ = Some(type_);
            }
        }
        Step::Over
    }

    /// The declaration around a spec that has no brackets: its documentation stands before the keyword.
    fn alone_in_declaration(&self, spec: Node) -> Node {
        match self.parent(spec) {
            Some(parent)
                if matches!(
                    self.kind(parent),
                    Kind::TypeDeclaration | Kind::ConstDeclaration | Kind::VarDeclaration
                ) && !self.b.bytes(parent).ends_with(b")")
                    || self.parent(spec).is_some_and(|it| self.is_plain_declaration(it, spec)) =>
            {
                parent
            }
            _ => spec,
        }
    }

    /// Whether nothing but a keyword stands between the begin of a declaration and its spec.
    fn is_plain_declaration(&self, declaration: Node, spec: Node) -> bool {
        let range = Range { from: self.b.tree.start(declaration), to: self.b.tree.start(spec) };
        matches!(self.b.source.bytes(range).trim_ascii(), b"type" | b"const" | b"var")
    }

    fn struct_fields(&mut self, struct_type: Node, id: DeclId, cx: Context) {
        self.b.consume(struct_type);
        let Some(list) = self.first_child(struct_type) else { return };
        let mut bases = Vec::new();
        for field in self.children(list) {
            if self.kind(field) != Kind::FieldDeclaration {
                continue;
            }
            let Some(type_node) = self.child(field, Field::Type) else { continue };
            let end = self.b.tree.end(type_node);
            let signature = self.head("", Range { from: self.b.tree.start(field), to: end });
            let names = self.children_in(field, Field::Name);
            let is_embedded = names.is_empty();
            let names = if is_embedded { vec![self.last_segment(type_node)] } else { names };
            let mut type_ = None;
            for name in names {
                let new = NewItem { node: field, name, doc_at: field, kind: NodeKind::Field, signature, cx };
                let Some(field_id) = self.item(new) else { return };
                let naming =
                    Naming { outermost: !is_embedded, ..Naming::new(Some(field_id), ReferenceRole::Hint) };
                let read = *type_.get_or_insert_with(|| self.read_type(type_node, naming));
                self.b.decl_mut(field_id).type_ = Some(read);
            }
            if let Some(type_) = type_.filter(|_| is_embedded) {
                bases.push(self.base(type_, type_node));
            }
        }
        self.b.decl_mut(id).bases = bases;
    }

    fn base(&self, type_: TypeId, type_node: Node) -> Base {
        let position = self.b.tree.position(self.last_segment(type_node));
        Base { type_, role: BaseRole::Extends, position }
    }

    fn interface_members(&mut self, interface: Node, id: DeclId, cx: Context) {
        self.b.consume(interface);
        self.b.decl_mut(id).flags.insert(NodeFlags::ABSTRACT);
        let mut bases = Vec::new();
        for part in self.children(interface) {
            match self.kind(part) {
                Kind::MethodElem => self.interface_method(part, cx),
                Kind::TypeElem => {
                    let parts: Vec<Node> = self.children(part).collect();
                    let naming = Naming::new(Some(id), ReferenceRole::Type);
                    match parts[..] {
                        [only]
                            if matches!(
                                self.kind(only),
                                Kind::TypeIdentifier | Kind::QualifiedType | Kind::GenericType
                            ) =>
                        {
                            let type_ = self.read_type(only, Naming { outermost: false, ..naming });
                            bases.push(self.base(type_, only));
                        }
                        _ => {
                            let type_ = self.read_type(part, naming);
                            // What the type has to be one of.
                            self.b.decl_mut(id).type_ = Some(type_);
                        }
                    }
                }
                _ => {}
            }
        }
        self.b.decl_mut(id).bases = bases;
    }

    fn interface_method(&mut self, node: Node, cx: Context) {
        let Some(name) = self.child(node, Field::Name) else { return };
        let signature = self.head("", self.b.tree.range(node));
        let new = NewItem { node, name, doc_at: node, kind: NodeKind::Method, signature, cx };
        let Some(id) = self.item(new) else { return };
        self.b.decl_mut(id).flags.insert(NodeFlags::ABSTRACT);
        self.method_signature(node, id, cx);
    }

    pub(super) fn constants(&mut self, _: Node, _: Context) -> Step<Context> {
        self.constant_type = None;
        Step::Into
    }

    /// One line of constants; without a value it is like the one before.
    pub(super) fn const_spec(&mut self, node: Node, cx: Context) -> Step<Context> {
        let values: Vec<Node> =
            self.child(node, Field::Value).map(|it| self.children(it).collect()).unwrap_or_default();
        let names: Vec<Node> = self
            .children_in(node, Field::Name)
            .into_iter()
            .filter(|it| self.kind(*it) == Kind::Identifier)
            .collect();
        if self.child(node, Field::Type).is_some() || !values.is_empty() {
            self.constant_type = None;
        }
        self.values(node, &names, &values, NodeKind::Const, cx)
    }

    pub(super) fn var_spec(&mut self, node: Node, cx: Context) -> Step<Context> {
        let values: Vec<Node> =
            self.child(node, Field::Value).map(|it| self.children(it).collect()).unwrap_or_default();
        let names = self.children_in(node, Field::Name);
        let type_node = self.child(node, Field::Type);
        if cx.decl.is_none()
            && let ([name], Some(interface), [value]) = (&names[..], type_node, &values[..])
            && self.is(*name, "_")
        {
            self.stated_interface(node, interface, *value, cx);
        }
        self.constant_type = None;
        self.values(node, &names, &values, NodeKind::Var, cx)
    }

    /// `var _ Interface = (*Type)(nil)`.
    fn stated_interface(&mut self, node: Node, interface: Node, value: Node, cx: Context) {
        let expr = self.expr(value, cx.decl);
        let type_ = match self.b.facts.expr(expr) {
            Expr::Instance(type_) => type_,
            Expr::Call { callee } => match self.b.facts.expr(callee) {
                Expr::Name { name, at } => {
                    let segments = vec![name];
                    self.b.type_(knowing_model::facts::Type::Named { segments, arguments: Vec::new(), at })
                }
                Expr::Member { of, name } => match self.b.facts.expr(of) {
                    Expr::Name { name: package, at } => {
                        let segments = vec![package, name];
                        self.b.type_(knowing_model::facts::Type::Named {
                            segments,
                            arguments: Vec::new(),
                            at,
                        })
                    }
                    _ => return,
                },
                Expr::TypePath(type_) => type_,
                _ => return,
            },
            _ => return,
        };
        let position = self.b.tree.position(self.last_segment(interface));
        let interface = self.read_type(interface, Naming::new(cx.decl, ReferenceRole::Type));
        self.b.implement(Impl {
            owner: None,
            type_,
            interface: Some(interface),
            type_parameters: Vec::new(),
            range: self.b.tree.range(node),
            position,
        });
    }

    /// Names of a spec: declarations at the top of a file, bindings below.
    fn values(
        &mut self,
        node: Node,
        names: &[Node],
        values: &[Node],
        kind: NodeKind,
        cx: Context,
    ) -> Step<Context> {
        let type_node = self.child(node, Field::Type);
        if cx.decl.is_some() {
            let naming = Naming::new(cx.decl, ReferenceRole::Type);
            let type_ = type_node.map(|it| self.read_type(it, naming)).or(self.constant_type);
            self.constant_type = type_;
            self.local_values(node, names, values, type_, cx);
            return Step::Into;
        }
        let mut first = None;
        for (index, name) in names.iter().enumerate() {
            if self.is(*name, "_") && !self.holds_functions(values) {
                continue;
            }
            self.b.consume(*name);
            let literal = values.get(index).copied().filter(|it| {
                names.len() == values.len() && self.kind(*it) == Kind::FuncLiteral && type_node.is_none()
            });
            let kind = if literal.is_some() { NodeKind::Function } else { kind };
            let signature = self.value_signature(node, values, kind);
            let doc_at = self.alone_in_declaration(node);
            let Some(id) = self.item(NewItem { node, name: *name, doc_at, kind, signature, cx }) else {
                return Step::Over;
            };
            first.get_or_insert(id);
            if let Some(literal) = literal {
                self.literals.insert(literal, id);
                continue;
            }
            let naming = Naming::new(Some(id), ReferenceRole::Hint);
            let type_ = type_node.map(|it| self.read_type(it, naming)).or(self.constant_type);
            self.constant_type = type_;
            self.b.decl_mut(id).type_ = type_;
            if type_.is_none()
                && let Value::Expr(expr) =
                    self.value_of(index, names.len(), values, Context { decl: Some(id), ..cx })
            {
                self.b.decl_mut(id).value = Some(expr);
            }
        }
        match first {
            Some(id) if !values.is_empty() => Step::Within(Context { decl: Some(id), ..cx }),
            _ => Step::Into,
        }
    }

    /// `var _ = Describe("...", func() {...})`: a place that code belongs to, though it has no name.
    fn holds_functions(&self, values: &[Node]) -> bool {
        let mut below = values.iter().flat_map(|it| self.b.tree.subtree(*it));
        below.any(|it| self.kind(it) == Kind::FuncLiteral)
    }

    fn local_values(
        &mut self,
        node: Node,
        names: &[Node],
        values: &[Node],
        type_: Option<TypeId>,
        cx: Context,
    ) {
        let visible = self.visible_after(node, cx);
        for (index, name) in names.iter().enumerate() {
            if type_.is_none()
                && let Some(function) = values.get(index).filter(|_| names.len() == values.len())
                && self.kind(*function) == Kind::FuncLiteral
                && self.local_function(*name, *function, visible, cx)
            {
                continue;
            }
            let value = match type_ {
                Some(type_) => Value::Type(type_),
                None => self.value_of(index, names.len(), values, cx),
            };
            self.bind_name(*name, value, visible, cx);
        }
    }

    fn value_signature(&mut self, node: Node, values: &[Node], kind: NodeKind) -> Str {
        let word = if kind == NodeKind::Const { "const " } else { "var " };
        let mut range = self.b.tree.range(node);
        let value = values.first().map(|it| self.b.tree.start(*it));
        if let Some(value) = value
            && (range.to - value > MAX_VALUE || kind == NodeKind::Function)
        {
            range.to = match values.first().and_then(|it| self.child(*it, Field::Body)) {
                // The head of a function or of a literal is worth showing.
                Some(body) if self.b.tree.start(body) - value <= 3 * MAX_VALUE => self.b.tree.start(body),
                _ => value,
            };
            let text = self.b.source.slice(range);
            let text = text.trim_end().trim_end_matches('=').trim_end();
            let whole = format!("{word}{text}");
            let signature = signature(&whole, Comments::Slashes).into_owned();
            return self.b.intern(signature);
        }
        self.head(word, range)
    }
}
