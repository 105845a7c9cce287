//! Namespaces, aliases, `using`, friends, concepts and includes.

use knowing_model::facts::{DeclId, Import, ImportKind, ReferenceRole, Str};
use knowing_model::{NodeKind, Range};

use super::declarators::{Declared, Shape};
use super::functions::Head;
use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// How an include is written, as the level of its import: none of the others has one.
const QUOTED: u8 = 1;
const ANGLED: u8 = 2;

impl Reader<'_, '_> {
    pub(super) fn namespace(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else {
            return Step::Within(Context { is_hidden: true, ..cx });
        };
        self.b.consume(name);
        let names: Vec<Node> = match self.kind(name) {
            Kind::NestedNamespaceSpecifier => {
                let subtree = self.b.tree.subtree(name);
                subtree.filter(|it| self.kind(*it) == Kind::NamespaceIdentifier).collect()
            }
            _ => vec![name],
        };
        let is_inline = self.b.bytes(node).starts_with(b"inline");
        let end = self.child(node, Field::Body).map(|it| self.b.tree.start(it));
        let mut cx = Context { place: Place::Namespace, template: None, ..cx };
        for name in names {
            let text = self.b.name(name);
            let known = self.namespaces.get(&(cx.decl, text)).copied();
            let id = match known {
                Some(id) => id,
                None => {
                    let head = Head { node, kind: NodeKind::Module, end };
                    let Some(id) = self.declare(name, head, cx) else { return Step::Over };
                    self.namespaces.insert((cx.decl, text), id);
                    if is_inline {
                        // What it has, its parent has too.
                        let visible = self.b.tree.range(node);
                        self.note_import(cx.decl, vec![text], ImportKind::Wildcard, (0, visible), name);
                    }
                    id
                }
            };
            cx = Context { decl: Some(id), space: Some(id), ..cx };
        }
        Step::Within(Context { block: self.b.tree.range(node), ..cx })
    }

    fn note_import(
        &mut self,
        decl: Option<DeclId>,
        module: Vec<Str>,
        kind: ImportKind,
        (level, visible): (u8, Range),
        at: Node,
    ) {
        let position = self.b.tree.position(at);
        self.b.import(Import { decl, module, level, kind, reexport: false, visible, position });
    }

    fn rest_of_block(&self, node: Node, cx: Context) -> Range {
        let from = self.b.tree.end(node);
        Range { from, to: cx.block.to.max(from) }
    }

    /// The words of a path, with an empty one for a leading `::`.
    fn path(&mut self, node: Node) -> Vec<Str> {
        let mut segments = Vec::new();
        if self.b.bytes(node).starts_with(b"::") {
            segments.push(self.b.intern(""));
        }
        if self.kind(node) == Kind::NestedNamespaceSpecifier {
            for inner in self.b.tree.subtree(node) {
                if self.kind(inner) == Kind::NamespaceIdentifier {
                    segments.push(self.b.name(inner));
                }
            }
            return segments;
        }
        for part in self.qualifiers(node).0 {
            let name = self.last_name(part);
            segments.push(self.b.name(name));
        }
        let last = self.last_name(node);
        segments.push(self.b.name(last));
        segments
    }

    pub(super) fn namespace_alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Over };
        let target = self.children(node).filter(|it| *it != name).last();
        if let Some(target) = target {
            let alias = self.b.name(name);
            let module = self.path(target);
            let visible = self.rest_of_block(node, cx);
            self.note_import(cx.decl, module, ImportKind::Module { alias }, (0, visible), target);
        }
        Step::Over
    }

    /// `using namespace a;`, `using a::b;`, also of a base's member.
    pub(super) fn using(&mut self, node: Node, cx: Context) -> Step<Context> {
        let visible = self.rest_of_block(node, cx);
        for target in self.children(node) {
            if !matches!(self.kind(target), Kind::Identifier | Kind::QualifiedIdentifier) {
                continue;
            }
            let before = Range { from: self.b.tree.start(node), to: self.b.tree.start(target) };
            let words = self.b.source.slice(before);
            let is_directive = words.split_whitespace().any(|it| it == "namespace");
            let mut module = self.path(target);
            if is_directive {
                self.note_import(cx.decl, module, ImportKind::Wildcard, (0, visible), target);
            } else if let Some(name) = module.pop()
                && !module.is_empty()
            {
                let kind = ImportKind::Member { name, alias: name };
                let last = self.last_name(target);
                self.note_import(cx.decl, module, kind, (0, visible), last);
            }
        }
        Step::Over
    }

    /// What a class trusts: a type is named, a function is declared in the namespace around.
    pub(super) fn friend(&mut self, node: Node, cx: Context) -> Step<Context> {
        for inner in self.children(node) {
            match self.kind(inner) {
                Kind::TypeIdentifier | Kind::QualifiedIdentifier | Kind::TemplateType => {
                    self.read_type(inner, Naming::new(cx.decl, ReferenceRole::Type));
                }
                _ => {}
            }
        }
        let block = cx.block;
        Step::Within(Context { decl: cx.space, place: Place::Namespace, block, ..cx })
    }

    pub(super) fn concept(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let head = Head { node, kind: NodeKind::Trait, end: None };
        let Some(id) = self.declare(name, head, cx) else { return Step::Over };
        self.b.consume(name);
        Step::Within(Context { decl: Some(id), place: Place::Body, template: None, ..cx })
    }

    /// `using a = b;`
    pub(super) fn alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name) = self.child(node, Field::Name) else { return Step::Into };
        let head = Head { node, kind: NodeKind::TypeAlias, end: None };
        let Some(id) = self.declare(name, head, cx) else { return Step::Over };
        self.b.consume(name);
        let type_parameters = self.template_parameters(cx);
        self.b.decl_mut(id).type_parameters = type_parameters;
        if let Some(type_) = self.child(node, Field::Type) {
            let type_ = self.read_type(type_, Naming::new(Some(id), ReferenceRole::Type));
            self.b.decl_mut(id).type_ = Some(type_);
        }
        Step::Over
    }

    /// `typedef a b;`. A type that has no name gets it from here; one that is called the same needs no alias.
    pub(super) fn type_definition(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(written) = self.child(node, Field::Type) else { return Step::Into };
        let declares = self.declares(written);
        let tag = self.child(written, Field::Name).filter(|_| self.kind(written) != Kind::TemplateType);
        let declarators: Vec<Node> =
            self.children(node).filter(|it| self.field(*it) == Field::Declarator).collect();
        for declarator in declarators {
            let Some(declared) = self.declared(declarator) else { continue };
            if declared.shape == Shape::Plain && !declared.is_pointer && declares {
                if tag.is_none() && !self.given_names.contains_key(&written) {
                    self.given_names.insert(written, declared.name);
                    continue;
                }
                if tag.is_some_and(|it| self.b.bytes(it) == self.b.bytes(declared.name)) {
                    self.b.consume(declared.name);
                    continue;
                }
            }
            let is_repeat = tag.is_some_and(|it| self.b.bytes(it) == self.b.bytes(declared.name));
            if is_repeat && self.is_defined_here(declared.name) {
                self.b.consume(declared.name);
                continue;
            }
            let head =
                Head { node, kind: NodeKind::TypeAlias, end: declares.then(|| self.b.tree.start(written)) };
            let Some(id) = self.declare(declared.name, head, cx) else { return Step::Over };
            self.b.consume(declared.name);
            if let Some(function) = declared.function {
                self.b.consume(function);
                self.parameter_types(function, id);
            }
            let type_ = self.read_type(written, Naming::new(Some(id), ReferenceRole::Type));
            let is_function = declared.shape == Shape::Function;
            let shape = if is_function { Shape::FunctionPointer } else { declared.shape };
            let type_ = self.shaped(type_, Declared { shape, ..declared });
            self.b.decl_mut(id).type_ = Some(type_);
        }
        Step::Into
    }

    fn parameter_types(&mut self, function: Node, id: DeclId) {
        let Some(list) = self.child(function, Field::Parameters) else { return };
        for parameter in self.children(list) {
            if let Some(type_) = self.child(parameter, Field::Type) {
                self.read_type(type_, Naming::new(Some(id), ReferenceRole::Type));
            }
        }
    }

    /// Whether a struct of this name has its body in the file.
    fn is_defined_here(&self, name: Node) -> bool {
        let wanted = self.b.bytes(name);
        ["struct ", "union ", "enum "].iter().any(|keyword| {
            let text = [keyword.as_bytes(), wanted].concat();
            memchr::memmem::find_iter(self.b.source.bytes, &text).any(|at| {
                let rest = &self.b.source.bytes[at + text.len()..];
                let is_whole = rest.first().is_some_and(|it| !it.is_ascii_alphanumeric() && *it != b'_');
                is_whole && rest.trim_ascii_start().starts_with(b"{")
            })
        })
    }

    pub(super) fn include(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(path) = self.child(node, Field::Path) else { return Step::Over };
        let level = match self.kind(path) {
            Kind::StringLiteral => QUOTED,
            Kind::SystemLibString => ANGLED,
            // A macro says which.
            _ => return Step::Over,
        };
        let text = self.b.text(path);
        let text = text.trim_matches(['"', '<', '>', ' ']);
        if text.is_empty() {
            return Step::Over;
        }
        let module = vec![self.b.intern_name(text.into())];
        let visible = self.rest_of_block(node, cx);
        self.note_import(None, module, ImportKind::Wildcard, (level, visible), path);
        Step::Over
    }
}
