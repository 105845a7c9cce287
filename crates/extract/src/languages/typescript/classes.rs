//! Classes: their members, bases and decorators; fields that constructors make.

use knowing_model::facts::{Base, BaseRole, DeclId, Modifiers, ReferenceRole, Str, Type, TypeId};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::functions::{NOWHERE, Named};
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Scope, ScopeKind, This};
use super::uses::MaybeUse;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl<'s> Reader<'_, 's> {
    pub(super) fn class(&mut self, node: Node, cx: Context) -> Step<Context> {
        let id = match self.functions.get(&node) {
            Some(known) => *known,
            None => match self.declare_class(node, cx) {
                Some(id) => id,
                None => return if self.b.is_full() { Step::Over } else { Step::Into },
            },
        };
        if let Some(name) = self.child(node, Field::Name) {
            self.b.consume(name);
        }
        let inner = Context { decl: Some(id), function: None, ..cx };
        self.type_parameters(node, id, inner);
        if self.kind(node) == Kind::AbstractClassDeclaration {
            self.b.decl_mut(id).flags.insert(NodeFlags::ABSTRACT);
        }
        if let Some(heritage) = self.child_of_kind(node, Kind::ClassHeritage) {
            let bases = self.bases(heritage, inner);
            self.b.decl_mut(id).bases = bases;
        }
        let range = self.b.tree.range(node);
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Class,
            parent: Some(cx.scope),
            decl: Some(id),
            is_whole: true,
            range,
            this: This::Of(id),
        });
        if let Some(body) = self.child(node, Field::Body) {
            self.note_members(body, id);
            self.bind_class_this(body, id);
        }
        let parent = self.b.tree.parent(node).filter(|it| self.kind(*it) == Kind::ExportStatement);
        for holder in [Some(node), parent].into_iter().flatten() {
            let decorators: Vec<Node> =
                self.children(holder).filter(|it| self.kind(*it) == Kind::Decorator).collect();
            self.decorated(&decorators, id, cx);
        }
        Step::Within(Context { scope, certain_to: range.to, ..inner })
    }

    fn declare_class(&mut self, node: Node, cx: Context) -> Option<DeclId> {
        let name = self.child(node, Field::Name)?;
        let head = self.head(node);
        if self.kind(node) == Kind::Class {
            // The name of a class expression is known inside of it only.
            let (text, position) = (self.b.name(name), self.b.tree.position(name));
            let visible = Some(self.b.tree.range(node));
            let named = Named { name: text, position, kind: NodeKind::Class, owner: cx.decl, visible };
            return self.declare(node, named, head);
        }
        let id = self.declare_in_scope(node, name, NodeKind::Class, head, cx)?;
        self.default_export(node, Some(id));
        Some(id)
    }

    /// `this` in initial values and static blocks.
    fn bind_class_this(&mut self, body: Node, id: DeclId) {
        let name = self.b.intern("this");
        let visible = self.b.tree.range(body);
        self.b.bind(knowing_model::facts::Binding {
            decl: Some(id),
            target: knowing_model::facts::BindingTarget::Name(name),
            value: knowing_model::facts::Value::Receiver,
            visible,
            certain_to: visible.to,
        });
    }

    /// Which names the body declares, and which decorators stand before which member.
    fn note_members(&mut self, body: Node, class: DeclId) {
        let mut decorators: Vec<Node> = Vec::new();
        for node in self.children(body) {
            if self.kind(node) == Kind::Decorator {
                decorators.push(node);
                continue;
            }
            let name = self.child(node, Field::Name).or_else(|| self.child(node, Field::Property));
            if let Some(name) = name {
                let name = self.member_name(name);
                self.declared.insert((class, name));
            }
            if let Some(first) = decorators.first() {
                self.documentation.heads.insert(node, self.b.tree.start(*first));
                self.decorators.insert(node, std::mem::take(&mut decorators));
            }
        }
    }

    /// Names that are words come without quotes, so that they are found however they are written.
    pub(super) fn member_name(&mut self, node: Node) -> Str {
        let text = self.b.text(node);
        let plain = text.trim_matches(['"', '\'']);
        let is_word = !plain.is_empty()
            && plain.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$'));
        if self.kind(node) == Kind::String && is_word {
            return self.b.intern(plain.to_owned());
        }
        self.b.name(node)
    }

    pub(super) fn method(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Into };
        let in_class = self.parent_kind(node) == Kind::ClassBody;
        let owner = match self.b.tree.parent(node) {
            Some(object) if !in_class => self.objects.get(&object).copied().or(cx.decl),
            _ => cx.decl,
        };
        let name = self.member_name(name_node);
        let head = self.head(node);
        let words = self.words_before(head.from, name_node);
        let is_accessor = words.iter().any(|it| matches!(*it, b"get" | b"set"));
        let kind = match self.b.str(name) {
            _ if is_accessor => NodeKind::Property,
            "constructor" if in_class => NodeKind::Constructor,
            _ => NodeKind::Method,
        };
        let position = self.b.tree.position(name_node);
        let named = Named { name, position, kind, owner, visible: Some(NOWHERE) };
        let Some(id) = self.declare(node, named, head) else { return Step::Over };
        self.member_nature(id, &words);
        if self.exported_methods.contains(&node) {
            self.mark_exported(id);
        }
        if kind == NodeKind::Property {
            self.b.decl_mut(id).modifiers.insert(Modifiers::PROPERTY);
        }
        if self.kind(node) != Kind::MethodDefinition {
            self.signatures.insert(id);
        }
        if let Some(owner) = owner {
            self.members.insert((owner, name), None);
        }
        let mut decorators = self.decorators.remove(&node).unwrap_or_default();
        decorators.extend(self.children(node).filter(|it| self.kind(*it) == Kind::Decorator));
        self.decorated(&decorators, id, cx);
        let has_object = self.b.tree.parent(node).is_some_and(|it| self.objects.contains_key(&it));
        let this = match owner {
            Some(owner) if in_class || has_object => This::Of(owner),
            _ => This::Unknown,
        };
        Step::Within(self.function_scope(node, Some(id), this, cx))
    }

    pub(super) fn words_before(&self, from: u32, name: Node) -> Vec<&'s [u8]> {
        let text = self.between(from, self.b.tree.start(name));
        text.split(|it| it.is_ascii_whitespace() || *it == b'*').filter(|it| !it.is_empty()).collect()
    }

    fn member_nature(&mut self, id: DeclId, words: &[&[u8]]) {
        let has = |word: &[u8]| words.contains(&word);
        let (is_static, is_abstract) = (has(b"static"), has(b"abstract"));
        let is_hidden = has(b"private") || has(b"protected");
        let name = self.b.facts.decl(id).name;
        let is_hidden = is_hidden || self.b.str(name).starts_with('#');
        let decl = self.b.decl_mut(id);
        if is_static {
            decl.modifiers.insert(Modifiers::STATIC);
        }
        if is_abstract {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        if !is_hidden {
            decl.flags.insert(NodeFlags::EXPORTED);
        }
    }

    pub(super) fn field_definition(&mut self, node: Node, cx: Context) -> Step<Context> {
        let name_node = self.child(node, Field::Name).or_else(|| self.child(node, Field::Property));
        let (Some(name_node), Some(class)) = (name_node, cx.decl) else { return Step::Into };
        let name = self.member_name(name_node);
        let value = self.child(node, Field::Value);
        let function = value.map(|it| self.unwrapped(it)).filter(|it| self.is_function(*it));
        let kind = if function.is_some() { NodeKind::Method } else { NodeKind::Field };
        let head = match function {
            Some(function) => Range { to: self.head(function).to, ..self.head(node) },
            None => self.head(node),
        };
        let words = self.words_before(head.from, name_node);
        let position = self.b.tree.position(name_node);
        let named = Named { name, position, kind, owner: Some(class), visible: Some(NOWHERE) };
        let Some(id) = self.declare(node, named, head) else { return Step::Over };
        self.member_nature(id, &words);
        self.shorten(id);
        let mut decorators = self.decorators.remove(&node).unwrap_or_default();
        decorators.extend(self.children(node).filter(|it| self.kind(*it) == Kind::Decorator));
        self.decorated(&decorators, id, cx);
        let inner = Context { decl: Some(id), ..cx };
        let mut type_ =
            self.child(node, Field::Type).map(|it| self.annotation(it, inner, ReferenceRole::Hint));
        if let Some(function) = function {
            self.functions.insert(function, id);
            self.members.insert((class, name), None);
            return Step::Into;
        }
        if type_.is_none() {
            let tags = self.tags_at(self.head_start(node));
            type_ = self.tag_type(&tags, &[b"type"], None, inner);
        }
        self.members.insert((class, name), Some(id));
        let object = value.map(|it| self.unwrapped(it)).filter(|it| self.kind(*it) == Kind::Object);
        let value = value.map(|it| self.expr(it));
        let decl = self.b.decl_mut(id);
        decl.type_ = type_;
        decl.value = value;
        if let Some(object) = object.filter(|it| self.holds_functions(*it)) {
            self.objects.insert(object, id);
        }
        Step::Into
    }

    /// `constructor(private readonly store: Store)`: a field beside the parameter.
    pub(super) fn parameter_property(
        &mut self,
        node: Node,
        pattern: Node,
        of: DeclId,
        type_: Option<TypeId>,
    ) {
        if self.b.facts.decl(of).kind != NodeKind::Constructor || self.kind(pattern) != Kind::Identifier {
            return;
        }
        let head = self.head(node);
        let words = self.words_before(head.from, pattern);
        let is_property = words
            .iter()
            .any(|it| matches!(*it, b"private" | b"public" | b"protected" | b"readonly" | b"override"));
        let Some(class) = self.b.facts.decl(of).owner.filter(|_| is_property) else { return };
        let name = self.b.name(pattern);
        let position = self.b.tree.position(pattern);
        let named =
            Named { name, position, kind: NodeKind::Field, owner: Some(class), visible: Some(NOWHERE) };
        let Some(id) = self.declare(node, named, head) else { return };
        self.member_nature(id, &words);
        self.b.decl_mut(id).type_ = type_;
        self.members.insert((class, name), Some(id));
    }

    pub(super) fn parameter_decorators(&mut self, node: Node, of: Option<DeclId>) {
        let Some(of) = of else { return };
        let decorators: Vec<Node> =
            self.children(node).filter(|it| self.kind(*it) == Kind::Decorator).collect();
        if !decorators.is_empty() {
            let scope = self.top;
            let cx = Context { decl: Some(of), function: None, scope, certain_to: 0, is_ambient: false };
            self.decorated(&decorators, of, cx);
        }
    }

    fn bases(&mut self, heritage: Node, cx: Context) -> Vec<Base> {
        let mut out = Vec::new();
        for clause in self.children(heritage) {
            match self.kind(clause) {
                Kind::ExtendsClause => {
                    if let Some(value) = self.child(clause, Field::Value) {
                        let arguments = self.child(clause, Field::TypeArguments);
                        self.base(value, arguments, cx, &mut out);
                    }
                }
                Kind::ImplementsClause => self.base_types(clause, BaseRole::Implements, cx, &mut out),
                // JavaScript has the expression alone.
                _ => self.base(clause, None, cx, &mut out),
            }
        }
        out
    }

    fn base(&mut self, value: Node, arguments: Option<Node>, cx: Context, out: &mut Vec<Base>) {
        let (Some(_), Some(last)) = (self.root_of(value), self.terminal(value)) else { return };
        if self.kind(value) == Kind::This {
            return;
        }
        let segments = self.chain_segments(value);
        let arguments = arguments.map(|it| self.argument_types(it, cx)).unwrap_or_default();
        let at = self.b.tree.start(value);
        let type_ = self.b.type_(Type::Named { segments, arguments, at });
        self.b.consume(value);
        out.push(Base { type_, role: BaseRole::Extends, position: self.b.tree.position(last) });
    }

    /// The names of `a.b.c`.
    pub(super) fn chain_segments(&mut self, node: Node) -> Vec<Str> {
        let mut names = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at {
            at = match self.kind(node) {
                Kind::MemberExpression => {
                    let name = self.child(node, Field::Property).map(|it| self.b.name(it));
                    names.extend(name);
                    self.child(node, Field::Object)
                }
                Kind::NonNullExpression => self.first_child(node),
                _ => {
                    names.push(self.b.name(node));
                    None
                }
            };
        }
        names.reverse();
        names
    }

    /// Written super types, one child each.
    pub(super) fn base_types(&mut self, clause: Node, role: BaseRole, cx: Context, out: &mut Vec<Base>) {
        for node in self.children(clause) {
            let parsed = super::annotation::parse(self.b, self.b.tree.range(node));
            let mut at = self.b.tree.start(node);
            for mention in &parsed.mentions {
                if mention.type_ == parsed.type_ {
                    at = mention.at;
                    continue;
                }
                self.mention(node, mention, cx, ReferenceRole::Type);
            }
            if let Type::Named { .. } = self.b.facts.type_(parsed.type_) {
                let position = self.b.position_at(node, at);
                out.push(Base { type_: parsed.type_, role, position });
            }
            self.b.consume(node);
        }
    }

    /// What `extends` calls is code; the types were read.
    pub(super) fn heritage(&mut self, node: Node, _: Context) -> Step<Context> {
        for clause in self.children(node) {
            if self.kind(clause) == Kind::ImplementsClause {
                self.b.consume(clause);
            }
        }
        Step::Into
    }

    /// A decorator is a use by what it is applied to.
    pub(super) fn decorated(&mut self, decorators: &[Node], id: DeclId, cx: Context) {
        for decorator in decorators {
            let Some(inner) = self.first_child(*decorator) else { continue };
            let callee = match self.kind(inner) {
                Kind::CallExpression => self.child(inner, Field::Function),
                _ => Some(inner),
            };
            let Some(callee) = callee else { continue };
            let (Some(root), Some(last)) = (self.root_of(callee), self.terminal(callee)) else { continue };
            let name = self.b.name(root);
            let position = self.b.tree.position(last);
            self.b.count();
            self.uses.push(MaybeUse {
                decl: Some(id),
                scope: cx.scope,
                name,
                node: callee,
                role: ReferenceRole::Decorator,
                position,
            });
        }
    }

    /// A decorator without arguments is noted where its declaration is; one with arguments is a call too.
    pub(super) fn decorator(&mut self, node: Node) -> Step<Context> {
        let is_chain = self.first_child(node).is_some_and(|it| self.root_of(it).is_some());
        if is_chain { Step::Over } else { Step::Into }
    }

    /// The field that `this.x = ...` means; none when it has code or is declared further down.
    pub(super) fn own_field_of(&mut self, target: Node, class: DeclId, statement: Node) -> Option<DeclId> {
        let name_node = self.child(target, Field::Property)?;
        let name = self.b.name(name_node);
        if let Some(known) = self.members.get(&(class, name)) {
            return *known;
        }
        if self.declared.contains(&(class, name)) {
            return None;
        }
        let position = self.b.tree.position(name_node);
        let named =
            Named { name, position, kind: NodeKind::Field, owner: Some(class), visible: Some(NOWHERE) };
        let id = self.declare(statement, named, self.b.tree.range(statement))?;
        self.shorten(id);
        let tags = self.tags_at(self.head_start(statement));
        let scope = self.top;
        let cx = Context { decl: Some(id), function: None, scope, certain_to: 0, is_ambient: false };
        let type_ = self.tag_type(&tags, &[b"type"], None, cx);
        let decl = self.b.decl_mut(id);
        decl.type_ = type_;
        decl.flags.insert(NodeFlags::EXPORTED);
        self.members.insert((class, name), Some(id));
        Some(id)
    }
}
