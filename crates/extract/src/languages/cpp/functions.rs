//! Functions, methods, constructors and operators, in and out of their classes; parameters; lambdas; tests.

use knowing_model::facts::{
    Binding, BindingTarget, DeclId, Modifiers, Parameter, ParameterKind, ReferenceRole, Type, TypeId, Value,
};
use knowing_model::{NodeFlags, NodeKind, Range};

use super::declarators::{Declared, Shape};
use super::kinds::{Field, Kind};
use super::reader::{Access, Context, Place, Reader};
use super::types::Naming;
use crate::engine::build::NewDecl;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What is known of a declaration besides its name.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) node: Node,
    pub(super) kind: NodeKind,
    /// Where the signature ends.
    pub(super) end: Option<u32>,
}

impl Reader<'_, '_> {
    /// What all declarations have in common; none when the limit is reached.
    pub(super) fn declare(&mut self, name_node: Node, head: Head, cx: Context) -> Option<DeclId> {
        let terminal = self.last_name(name_node);
        let name = match self.kind(terminal) {
            Kind::OperatorName | Kind::OperatorCast | Kind::DestructorName => {
                let range = self.b.tree.range(terminal);
                let list = self.child(terminal, Field::Declarator);
                let to = list.map_or(range.to, |it| self.b.tree.start(it));
                let text = operator_text(&self.b.source.slice(Range { from: range.from, to }));
                self.b.intern_name(text.into())
            }
            _ => self.b.name(terminal),
        };
        let outer = cx.template.unwrap_or(head.node);
        let signature = self.head_text(outer, head.node, head.end);
        let new = NewDecl {
            owner: cx.decl,
            name,
            kind: head.kind,
            node: head.node,
            name_position: self.b.tree.position(terminal),
            signature,
        };
        let id = self.b.declare(new)?;
        let doc = self.doc_around(self.b.tree.start(outer), self.b.tree.end(head.node));
        let is_public = cx.place != Place::Class
            || cx.decl.is_none_or(|it| self.access.get(&it).is_none_or(|it| *it == Access::Public));
        let is_static = self.has_specifier(head.node, "static") && cx.place != Place::Class;
        let is_deprecated = self.is_deprecated(head.node)
            || doc.is_some_and(|it| {
                let text = self.b.str(it);
                text.contains("@deprecated") || text.contains("\\deprecated")
            });
        let decl = self.b.decl_mut(id);
        decl.doc = doc;
        if !is_static && !cx.is_hidden && cx.place != Place::Body {
            decl.modifiers.insert(Modifiers::PUBLIC);
            if is_public {
                decl.flags.insert(NodeFlags::EXPORTED);
            }
        }
        if is_deprecated {
            decl.flags.insert(NodeFlags::DEPRECATED);
        }
        Some(id)
    }

    fn is_deprecated(&self, node: Node) -> bool {
        self.children(node).any(|it| {
            matches!(self.kind(it), Kind::AttributeDeclaration | Kind::AttributeSpecifier)
                && memchr::memmem::find(self.b.bytes(it), b"deprecated").is_some()
        })
    }

    /// The text from a declaration's begin to its body.
    fn head_text(&mut self, outer: Node, node: Node, end: Option<u32>) -> knowing_model::facts::Str {
        let (from, to) = (self.b.tree.start(outer), end.unwrap_or(self.b.tree.end(node)));
        let text = self.b.source.slice(Range { from, to: to.max(from) });
        let text = text.trim_end().trim_end_matches([';', '{', '=', ',', ':']);
        let signature = signature(text, Comments::Slashes);
        self.b.intern(signature)
    }

    pub(super) fn function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let declared = self.child(node, Field::Declarator).and_then(|it| self.declared(it));
        let Some(declared) = declared.filter(|it| it.shape == Shape::Function) else {
            // What stands in the body is read all the same.
            return Step::Into;
        };
        if cx.place != Place::Class
            && self.child(node, Field::Type).is_none()
            && let Some(step) = self.macro_function(node, declared, cx)
        {
            return step;
        }
        if self.is_statement(node, declared) { Step::Into } else { self.defined(node, declared, cx) }
    }

    /// `while (x) { ... }` and the like, where the parser was led astray.
    fn is_statement(&self, node: Node, declared: Declared) -> bool {
        self.child(node, Field::Type).is_none()
            && matches!(self.b.bytes(declared.name), b"if" | b"while" | b"for" | b"switch" | b"return")
    }

    fn defined(&mut self, node: Node, declared: Declared, cx: Context) -> Step<Context> {
        let body = self.child(node, Field::Body);
        let begins = [Kind::FieldInitializerList, Kind::DefaultMethodClause, Kind::DeleteMethodClause];
        let clause = self.children(node).find(|it| begins.contains(&self.kind(*it)));
        let end = clause.or(body).map(|it| self.b.tree.start(it));
        let Some(id) = self.callable(node, declared, end, cx) else { return Step::Over };
        let is_pure = self.child_of_kind(node, Kind::PureVirtualClause).is_some();
        let decl = self.b.decl_mut(id);
        if is_pure {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        let visible = self.b.tree.range(body.unwrap_or(node));
        // Initialisers of a constructor see its parameters.
        let visible = Range { from: end.unwrap_or(visible.from).min(visible.from), to: visible.to };
        self.signature_types(node, declared, id, visible);
        if let Some(body) = body {
            self.decl_of.insert(body, id);
        }
        Step::Within(Context {
            decl: Some(id),
            place: Place::Body,
            block: self.b.tree.range(node),
            template: None,
            ..cx
        })
    }

    /// `void f(int);` in a class, a namespace or a file.
    pub(super) fn prototype(&mut self, node: Node, declarator: Node, declared: Declared, cx: Context) {
        let n_declared = self.children(node).filter(|it| self.field(*it) == Field::Declarator).count();
        let whole = if n_declared > 1 { declarator } else { node };
        let Some(id) = self.callable(whole, declared, None, cx) else { return };
        let is_pure = declared.value.is_some()
            || self.child(node, Field::DefaultValue).is_some()
            || self.child_of_kind(node, Kind::PureVirtualClause).is_some();
        let decl = self.b.decl_mut(id);
        decl.modifiers.insert(Modifiers::DECLARED);
        if is_pure && cx.place == Place::Class {
            decl.flags.insert(NodeFlags::ABSTRACT);
        }
        let visible = self.b.tree.range(whole);
        self.signature_types(node, declared, id, visible);
        self.b.consume(declarator);
    }

    /// A function that the parser found in code that it could not read as a whole.
    pub(super) fn stray_function(&mut self, node: Node, cx: Context) -> Step<Context> {
        let is_stray = self.parent(node).is_some_and(|it| self.kind(it) == Kind::Error);
        if !is_stray || cx.place == Place::Body {
            return Step::Into;
        }
        let Some(declared) = self.declared(node).filter(|it| it.shape == Shape::Function) else {
            return Step::Into;
        };
        if self.kind(declared.name) == Kind::Identifier
            && super::macros::is_constant_case(self.b.bytes(declared.name))
        {
            return Step::Over;
        }
        if let Some(id) = self.callable(node, declared, None, cx) {
            self.b.decl_mut(id).modifiers.insert(Modifiers::DECLARED);
            let visible = self.b.tree.range(node);
            self.signature_types(node, declared, id, visible);
        }
        Step::Over
    }

    fn callable(&mut self, node: Node, declared: Declared, end: Option<u32>, cx: Context) -> Option<DeclId> {
        let implementation = self.implementation(declared.name, cx);
        let terminal = self.last_name(declared.name);
        let class_name = match implementation {
            Some((_, path)) => {
                Some(self.b.str(path).rsplit('.').next().unwrap_or_default().as_bytes().to_vec())
            }
            None if cx.place == Place::Class => {
                cx.decl.map(|it| self.b.str(self.b.facts.decl(it).name).as_bytes().to_vec())
            }
            None => None,
        };
        let is_member = class_name.is_some();
        let is_constructor = class_name.is_some_and(|it| it == self.b.bytes(terminal));
        let kind = match is_member {
            _ if is_constructor => NodeKind::Constructor,
            true => NodeKind::Method,
            false => NodeKind::Function,
        };
        let id = self.declare(declared.name, Head { node, kind, end }, cx)?;
        self.b.consume(declared.name);
        let type_parameters = self.template_parameters(cx);
        let is_static = self.has_specifier(node, "static");
        let is_main = cx.decl.is_none() && !is_member && self.is(declared.name, "main");
        let decl = self.b.decl_mut(id);
        decl.type_parameters = type_parameters;
        if let Some((implementation, path)) = implementation {
            decl.implementation = Some(implementation);
            decl.path = path;
        }
        if is_static && is_member {
            decl.modifiers.insert(Modifiers::STATIC);
        }
        if is_main {
            decl.flags.insert(NodeFlags::ENTRY);
        }
        Some(id)
    }

    /// Result and parameters of a function.
    fn signature_types(&mut self, node: Node, declared: Declared, id: DeclId, visible: Range) {
        let naming = Naming::new(Some(id), ReferenceRole::Hint);
        let last = self.last_name(declared.name);
        let converted =
            if self.kind(last) == Kind::OperatorCast { self.child(last, Field::Type) } else { None };
        let trailing = declared.function.and_then(|it| self.child_of_kind(it, Kind::TrailingReturnType));
        let written = match trailing.and_then(|it| self.first_child(it)) {
            Some(trailing) => {
                if let Some(placeholder) = self.child(node, Field::Type) {
                    self.b.consume(placeholder);
                }
                Some(trailing)
            }
            None => converted.or_else(|| self.child(node, Field::Type)),
        };
        if let Some(written) = written
            && self.kind(written) != Kind::PlaceholderTypeSpecifier
        {
            let result = self.read_type(written, naming);
            let is_trailing = self.kind(written) == Kind::TypeDescriptor;
            let result = if is_trailing { result } else { self.shaped(result, declared) };
            self.b.decl_mut(id).type_ = Some(result);
        }
        if let Some(function) = declared.function {
            self.parameters(function, id, visible);
            self.b.consume(function);
        }
    }

    fn parameters(&mut self, function: Node, id: DeclId, visible: Range) {
        let Some(list) = self.child(function, Field::Parameters) else { return };
        for node in self.children(list) {
            match self.kind(node) {
                Kind::ParameterDeclaration
                | Kind::OptionalParameterDeclaration
                | Kind::VariadicParameterDeclaration => self.parameter(node, id, visible),
                // Of old: their types follow after the list.
                Kind::Identifier => {
                    let name = self.b.name(node);
                    let parameter =
                        Parameter { name, type_: None, default: None, kind: ParameterKind::Plain };
                    self.b.decl_mut(id).parameters.push(parameter);
                }
                Kind::VariadicParameter | Kind::Dots => {
                    let name = self.b.intern("...");
                    let parameter = Parameter { name, type_: None, default: None, kind: ParameterKind::Rest };
                    self.b.decl_mut(id).parameters.push(parameter);
                }
                _ => {}
            }
        }
        self.only_void(id);
    }

    /// `f(void)` has no parameters.
    fn only_void(&mut self, id: DeclId) {
        let is_void = match self.b.facts.decl(id).parameters.as_slice() {
            [only] if self.b.str(only.name) == "_" => only.type_.is_some_and(|it| self.is_void(it)),
            _ => false,
        };
        if is_void {
            self.b.decl_mut(id).parameters.clear();
        }
    }

    fn is_void(&self, type_: TypeId) -> bool {
        matches!(self.b.facts.type_(type_), Type::Named { segments, .. }
            if matches!(segments.as_slice(), [only] if self.b.str(*only) == "void"))
    }

    fn parameter(&mut self, node: Node, id: DeclId, visible: Range) {
        let naming = Naming::new(Some(id), ReferenceRole::Hint);
        let declarator = self.child(node, Field::Declarator);
        let declared = declarator.and_then(|it| self.declared(it));
        let is_pointer = declarator.is_some_and(|it| {
            declared.is_none_or(|it| it.is_pointer || it.shape != Shape::Plain)
                && self.kind(it) != Kind::Identifier
        });
        let written = self.child(node, Field::Type);
        let written = written.filter(|it| self.kind(*it) != Kind::PlaceholderTypeSpecifier);
        let mut type_ = written.map(|it| self.read_type(it, naming));
        if let (Some(known), None, Some(declarator)) = (type_, declared, declarator) {
            type_ = Some(self.abstract_shape(known, declarator));
        }
        if let (Some(known), Some(declared)) = (type_, declared) {
            // A function as a parameter is a pointer to one.
            let is_function = declared.shape == Shape::Function;
            let shape = if is_function { Shape::FunctionPointer } else { declared.shape };
            type_ = Some(self.shaped(known, Declared { shape, ..declared }));
        }
        let name = match declared {
            Some(declared) if self.kind(declared.name) == Kind::Identifier => self.b.name(declared.name),
            // `void *` is something, `void` is nothing.
            _ if is_pointer => self.b.intern("*"),
            _ => self.b.intern("_"),
        };
        let default = self.child(node, Field::DefaultValue).map(|it| self.expr(it, Some(id)));
        let is_rest = self.kind(node) == Kind::VariadicParameterDeclaration;
        let kind = if is_rest { ParameterKind::Rest } else { ParameterKind::Plain };
        self.b.decl_mut(id).parameters.push(Parameter { name, type_, default, kind });
        if let Some(declared) = declared {
            let value = type_.map_or(Value::Unknown, Value::Type);
            self.bind_name(declared.name, value, Some(id), visible);
        }
    }

    /// The type of a parameter without a name: `T *`.
    fn abstract_shape(&mut self, type_: TypeId, declarator: Node) -> TypeId {
        let mut type_ = type_;
        let mut at = Some(declarator);
        while let Some(node) = at {
            match self.kind(node) {
                Kind::AbstractPointerDeclarator => type_ = self.pointer(type_),
                Kind::AbstractArrayDeclarator => type_ = self.b.type_(Type::Sequence(type_)),
                Kind::AbstractFunctionDeclarator => type_ = self.b.type_(Type::Function(Some(type_))),
                _ => {}
            }
            at = self.child(node, Field::Declarator);
        }
        type_
    }

    pub(super) fn bind_name(&mut self, name: Node, value: Value, decl: Option<DeclId>, visible: Range) {
        if self.kind(name) != Kind::Identifier {
            return;
        }
        let name = self.b.name(name);
        self.locals.add(name, visible);
        self.b.bind(Binding {
            decl,
            target: BindingTarget::Name(name),
            value,
            visible,
            certain_to: visible.to,
        });
    }

    /// A lambda that has a name is a function; of others the calls belong to what is around.
    pub(super) fn lambda(&mut self, node: Node, cx: Context) -> Step<Context> {
        let decl = self.decl_of.get(&node).copied().or(cx.decl);
        if let Some(list) =
            self.child(node, Field::Declarator).and_then(|it| self.child(it, Field::Parameters))
        {
            let visible = self.b.tree.range(node);
            self.b.consume(list);
            for parameter in self.children(list) {
                let declared = self.child(parameter, Field::Declarator).and_then(|it| self.declared(it));
                let written = self.child(parameter, Field::Type);
                let written = written.filter(|it| self.kind(*it) != Kind::PlaceholderTypeSpecifier);
                let type_ = written.map(|it| self.read_type(it, Naming::new(decl, ReferenceRole::Type)));
                if let Some(declared) = declared {
                    let value = type_.map_or(Value::Unknown, Value::Type);
                    self.bind_name(declared.name, value, decl, visible);
                }
            }
        }
        Step::Within(Context { decl, place: Place::Body, block: self.b.tree.range(node), ..cx })
    }

    pub(super) fn catch(&mut self, node: Node, cx: Context) -> Step<Context> {
        let block = self.b.tree.range(node);
        if let Some(list) = self.child(node, Field::Parameters) {
            self.b.consume(list);
            for parameter in self.children(list) {
                let Some(written) = self.child(parameter, Field::Type) else { continue };
                let type_ = self.read_type(written, Naming::new(cx.decl, ReferenceRole::Type));
                let declared = self.child(parameter, Field::Declarator).and_then(|it| self.declared(it));
                if let Some(declared) = declared {
                    self.bind_name(declared.name, Value::Type(type_), cx.decl, block);
                }
            }
        }
        Step::Within(Context { block, ..cx })
    }
}

/// `operator ==` and `operator==` are one name; `operator bool` needs its space.
fn operator_text(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut out = String::new();
    for word in words {
        let needs_space = out.ends_with(|it: char| it.is_alphanumeric() || it == '_')
            && word.starts_with(|it: char| it.is_alphanumeric() || it == '_');
        if needs_space {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
