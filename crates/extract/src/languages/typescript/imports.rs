//! `import` and `export`, `require` and `module.exports`.
//!
//! What a file offers under another name than it has, or from elsewhere, is an import marked as re-export: with a module
//! text for `export { a } from "m"`, without one for `export { a as b }`. `export=` is the name of `module.exports`.

use knowing_model::facts::{DeclId, Import, ImportKind, Str, Type};
use knowing_model::{NodeKind, Range};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Bound, ScopeKind};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Whether a name is bound here or offered to others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

impl Reader<'_, '_> {
    pub(super) fn import(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.is_module = true;
        if let Some(clause) = self.child_of_kind(node, Kind::ImportRequireClause) {
            let source = self.child(clause, Field::Source).and_then(|it| self.literal_text(it));
            let name = self.child_of_kind(clause, Kind::Identifier);
            if let (Some(source), Some(name)) = (source, name) {
                let module = self.module_segments(&source);
                let alias = self.b.name(name);
                self.note_import(name, module, ImportKind::Module { alias }, Way::In, cx);
            }
            return Step::Over;
        }
        let Some(source) = self.child(node, Field::Source) else { return Step::Over };
        let Some(text) = self.literal_text(source) else { return Step::Over };
        let module = self.module_segments(&text);
        let Some(clause) = self.child_of_kind(node, Kind::ImportClause) else {
            self.note_import(source, module, ImportKind::TopModule, Way::In, cx);
            return Step::Over;
        };
        for item in self.children(clause) {
            match self.kind(item) {
                Kind::Identifier => {
                    let alias = self.b.name(item);
                    let name = self.b.intern("default");
                    self.note_import(item, module.clone(), ImportKind::Member { name, alias }, Way::In, cx);
                }
                Kind::NamespaceImport => {
                    let Some(name) = self.first_child(item) else { continue };
                    let alias = self.b.name(name);
                    self.note_import(name, module.clone(), ImportKind::Module { alias }, Way::In, cx);
                }
                Kind::NamedImports => {
                    for specifier in self.children(item) {
                        let Some((name_node, kind)) = self.specifier(specifier) else { continue };
                        self.note_import(name_node, module.clone(), kind, Way::In, cx);
                    }
                }
                _ => {}
            }
        }
        Step::Over
    }

    /// `a as b`.
    fn specifier(&mut self, node: Node) -> Option<(Node, ImportKind)> {
        let name_node = self.child(node, Field::Name)?;
        let alias = self.child(node, Field::Alias).unwrap_or(name_node);
        let name = self.member_name(name_node);
        let alias = self.member_name(alias);
        Some((name_node, ImportKind::Member { name, alias }))
    }

    /// `import A = Space.B`.
    pub(super) fn import_alias(&mut self, node: Node, cx: Context) -> Step<Context> {
        let parts: Vec<Node> = self.children(node).collect();
        let [name, target] = parts[..] else { return Step::Over };
        let head = self.b.tree.range(node);
        if let Some(id) = self.declare_in_scope(node, name, NodeKind::TypeAlias, head, cx) {
            let all = self.b.tree.subtree(target);
            let names: Vec<Node> = all
                .filter(|it| matches!(self.kind(*it), Kind::Identifier | Kind::PropertyIdentifier))
                .collect();
            let segments: Vec<Str> = names.into_iter().map(|it| self.b.name(it)).collect();
            let at = self.b.tree.start(target);
            let type_ = self.b.type_(Type::Named { segments, arguments: Vec::new(), at });
            self.b.decl_mut(id).type_ = Some(type_);
        }
        Step::Over
    }

    pub(super) fn export(&mut self, node: Node, cx: Context) -> Step<Context> {
        self.is_module = true;
        let source = self.child(node, Field::Source).and_then(|it| self.literal_text(it));
        let module = source.map(|it| self.module_segments(&it)).unwrap_or_default();
        if let Some(clause) = self.child_of_kind(node, Kind::ExportClause) {
            for specifier in self.children(clause) {
                let Some((name, kind)) = self.specifier(specifier) else { continue };
                self.note_import(name, module.clone(), kind, Way::Out, cx);
            }
            return Step::Over;
        }
        if let Some(space) = self.child_of_kind(node, Kind::NamespaceExport) {
            if let Some(name) = self.first_child(space) {
                let alias = self.member_name(name);
                self.note_import(name, module, ImportKind::Module { alias }, Way::Out, cx);
            }
            return Step::Over;
        }
        if !module.is_empty() {
            self.note_import(node, module, ImportKind::Wildcard, Way::Out, cx);
            return Step::Over;
        }
        let head = self.b.bytes(node).get(6..).unwrap_or_default().trim_ascii_start();
        if head.starts_with(b"as") && self.child(node, Field::Declaration).is_none() {
            // `export as namespace X`
            return Step::Over;
        }
        let value = self.child(node, Field::Value);
        if let Some(value) = value {
            return self.exported_value(node, value, "default", cx);
        }
        if head.starts_with(b"=")
            && let Some(value) = self.first_child(node)
        {
            return self.exported_value(node, value, "export=", cx);
        }
        Step::Into
    }

    /// `export default value`, `module.exports = value`.
    fn exported_value(&mut self, node: Node, value: Node, alias: &str, cx: Context) -> Step<Context> {
        let inside = self.unwrapped(value);
        let alias = self.b.intern(alias.to_owned());
        match self.kind(inside) {
            Kind::Identifier => {
                let name = self.b.name(inside);
                self.note_import(inside, Vec::new(), ImportKind::Member { name, alias }, Way::Out, cx);
                return Step::Into;
            }
            Kind::CallExpression if self.note_required(inside, alias, cx) => return Step::Into,
            _ => {}
        }
        if let Some(id) = self.objects.get(&inside) {
            // `var app = module.exports = {}`
            let name = self.b.facts.decl(*id).name;
            self.note_import(node, Vec::new(), ImportKind::Member { name, alias }, Way::Out, cx);
            return Step::Into;
        }
        let own = self
            .child(inside, Field::Name)
            .filter(|_| self.is_function(inside) || self.kind(inside) == Kind::Class);
        let name = match own {
            Some(own) => self.b.name(own),
            None => self.b.intern("default"),
        };
        let kind = match self.kind(inside) {
            Kind::ArrowFunction | Kind::FunctionExpression | Kind::GeneratorFunction => NodeKind::Function,
            Kind::Class => NodeKind::Class,
            _ => NodeKind::Const,
        };
        let to = if kind == NodeKind::Const { self.b.tree.end(inside) } else { self.head(inside).to };
        let head = Range { from: self.b.tree.start(node), to };
        // The declaration is the function or class where it is one.
        let spanned = if kind == NodeKind::Class { inside } else { node };
        let Some(id) = self.declare_nameless(spanned, name, kind, head, cx) else { return Step::Over };
        self.mark_exported(id);
        self.note_import(node, Vec::new(), ImportKind::Member { name, alias }, Way::Out, cx);
        if kind != NodeKind::Const {
            self.functions.insert(inside, id);
            return Step::Into;
        }
        if self.kind(inside) == Kind::Object {
            self.objects.insert(inside, id);
        }
        let value = self.expr(value);
        self.b.decl_mut(id).value = Some(value);
        Step::Within(Context { decl: Some(id), function: None, ..cx })
    }

    /// `export default` before a function or class.
    pub(super) fn default_export(&mut self, node: Node, id: Option<DeclId>) {
        let Some(parent) = self.b.tree.parent(node).filter(|it| self.kind(*it) == Kind::ExportStatement)
        else {
            return;
        };
        let words = self.between(self.b.tree.start(parent), self.b.tree.start(node));
        let is_default = words.split(|it| it.is_ascii_whitespace()).any(|it| it == b"default");
        let Some(id) = id.filter(|_| is_default) else { return };
        let name = self.b.facts.decl(id).name;
        let alias = self.b.intern("default");
        let scope = self.top;
        let cx = Context { decl: None, function: None, scope, certain_to: 0, is_ambient: false };
        self.note_import(node, Vec::new(), ImportKind::Member { name, alias }, Way::Out, cx);
    }

    /// Whether a declaration can be seen from other files by its name.
    pub(super) fn is_exported(&self, node: Node, cx: Context) -> bool {
        let mut at = node;
        while let Some(parent) = self.b.tree.parent(at) {
            match self.kind(parent) {
                Kind::ExportStatement => {
                    let words = self.between(self.b.tree.start(parent), self.b.tree.start(at));
                    return !words.split(|it| it.is_ascii_whitespace()).any(|it| it == b"default");
                }
                Kind::LexicalDeclaration | Kind::VariableDeclaration | Kind::AmbientDeclaration => {
                    at = parent
                }
                _ => break,
            }
        }
        let is_inside = cx.decl.is_some_and(|it| self.b.facts.decl(it).kind == NodeKind::Module);
        cx.is_ambient && is_inside
    }

    fn note_import(&mut self, item: Node, module: Vec<Str>, kind: ImportKind, way: Way, cx: Context) {
        let range = self.scopes.at(cx.scope).range;
        let bound = match kind {
            ImportKind::Module { alias } | ImportKind::Member { alias, .. } => Some(alias),
            ImportKind::TopModule | ImportKind::Wildcard => None,
        };
        if let Some(name) = bound.filter(|_| way == Way::In) {
            self.scopes.bind(cx.scope, name, Bound::Symbol);
            let text = self.joined(&module);
            let member = match kind {
                ImportKind::Member { name, .. } => Some(self.b.str(name).to_owned()),
                _ => None,
            };
            self.imported.insert(name, (text, member));
        }
        let visible = if way == Way::In { range } else { Range { from: 0, to: 0 } };
        let position = self.b.tree.position(item);
        let reexport = way == Way::Out;
        // What is offered belongs to the file or namespace, whatever it stands in.
        let around = self.scopes.function_around(cx.scope);
        let decl = if reexport { self.scopes.at(around).decl } else { cx.decl };
        self.b.import(Import { decl, module, level: 0, kind, reexport, visible, position });
    }

    fn joined(&self, module: &[Str]) -> String {
        module.iter().map(|it| self.b.str(*it)).collect::<Vec<_>>().join("/")
    }

    /// A package and the path in it; anything else in one piece.
    fn module_segments(&mut self, text: &str) -> Vec<Str> {
        let text = text.split(['?', '!']).next_back().filter(|_| text.contains('!')).unwrap_or(text);
        let text = text.split('?').next().unwrap_or(text);
        if let Some(builtin) = text.strip_prefix("node:") {
            return vec![self.b.intern(builtin.to_owned())];
        }
        let is_package = !text.starts_with(['.', '/', '#', '~']) && !text.contains(':');
        if !is_package {
            return vec![self.b.intern(text.to_owned())];
        }
        let n_parts = if text.starts_with('@') { 2 } else { 1 };
        match text.match_indices('/').nth(n_parts - 1) {
            Some((at, _)) => {
                let package = self.b.intern(text[..at].to_owned());
                let rest = self.b.intern(text[at + 1..].to_owned());
                vec![package, rest]
            }
            None => vec![self.b.intern(text.to_owned())],
        }
    }

    /// Local declarations that are offered by `export { a }` or `exports.a = a`.
    pub(super) fn finish_exports(&mut self) {
        let names: Vec<Str> = self
            .b
            .facts
            .imports
            .iter()
            .filter(|it| it.reexport && it.module.is_empty())
            .filter_map(|it| match it.kind {
                ImportKind::Member { name, .. } => Some(name),
                _ => None,
            })
            .collect();
        let names: rustc_hash::FxHashSet<Str> = names.into_iter().collect();
        for decl in self.b.facts.decls.iter_mut().filter(|it| it.owner.is_none()) {
            if names.contains(&decl.name) {
                decl.flags.insert(knowing_model::NodeFlags::EXPORTED);
            }
        }
    }
}

/// `require` and `module.exports`.
impl Reader<'_, '_> {
    /// `const x = require("m")`, `const { a, b: c } = require("m")`, `const x = require("m").a`.
    pub(super) fn required(&mut self, node: Node, pattern: Node, value: Node, cx: Context) -> bool {
        let inside = self.unwrapped(value);
        let (call, member) = match self.kind(inside) {
            Kind::CallExpression => (Some(inside), None),
            Kind::MemberExpression => {
                (self.child(inside, Field::Object), self.child(inside, Field::Property))
            }
            Kind::AwaitExpression => (self.first_child(inside), None),
            _ => return false,
        };
        let Some(call) = call.filter(|it| self.kind(*it) == Kind::CallExpression) else { return false };
        let Some(loaded) = self.module_call(call) else { return false };
        // `import("m")` has to be awaited.
        let is_awaited = self.kind(inside) == Kind::AwaitExpression;
        let Some((_, text)) = loaded.split_once(':').filter(|(way, _)| (*way == "import") == is_awaited)
        else {
            return false;
        };
        self.loads.insert(call);
        let module = self.module_segments(text);
        let is_var = self.parent_kind(node) == Kind::VariableDeclaration;
        let scope = if is_var { self.scopes.function_around(cx.scope) } else { cx.scope };
        let cx = Context { scope, ..cx };
        if self.kind(pattern) == Kind::Identifier {
            let alias = self.b.name(pattern);
            let kind = match member {
                Some(member) => ImportKind::Member { name: self.b.name(member), alias },
                None => ImportKind::Module { alias },
            };
            self.note_import(pattern, module, kind, Way::In, cx);
            self.b.consume(pattern);
            return true;
        }
        if self.kind(pattern) != Kind::ObjectPattern || member.is_some() {
            return false;
        }
        for part in self.children(pattern) {
            let (key, target) = match self.kind(part) {
                Kind::ShorthandPropertyPattern => (Some(part), Some(part)),
                Kind::PairPattern => (self.child(part, Field::Key), self.child(part, Field::Value)),
                Kind::ObjectAssignmentPattern => {
                    (self.child(part, Field::Left), self.child(part, Field::Left))
                }
                _ => (None, None),
            };
            let (Some(key), Some(target)) = (key, target) else { continue };
            if !matches!(self.kind(target), Kind::ShorthandPropertyPattern | Kind::Identifier) {
                continue;
            }
            let name = self.member_name(key);
            let alias = self.b.name(target);
            self.b.consume(target);
            self.note_import(target, module.clone(), ImportKind::Member { name, alias }, Way::In, cx);
        }
        true
    }

    /// `require("m")` and `import("m")` where nothing is bound: the file is loaded all the same.
    pub(super) fn loaded(&mut self, call: Node, arguments: Node, cx: Context) {
        let Some(source) = self.first_child(arguments) else { return };
        let is_noted = self.loads.contains(&call);
        let Some(text) = self.literal_text(source).filter(|_| !is_noted) else { return };
        let module = self.module_segments(&text);
        self.note_import(source, module, ImportKind::TopModule, Way::In, cx);
    }

    /// `exports.a = require("m")`.
    fn note_required(&mut self, call: Node, alias: Str, cx: Context) -> bool {
        let Some(loaded) = self.module_call(call) else { return false };
        let Some(text) = loaded.strip_prefix("require:") else { return false };
        self.loads.insert(call);
        let module = self.module_segments(text);
        self.note_import(call, module, ImportKind::Module { alias }, Way::Out, cx);
        true
    }

    /// `module.exports = ...`, `module.exports.a = ...`, `exports.a = ...` at the top of a file.
    pub(super) fn common_export(&mut self, node: Node, left: Node, right: Node, cx: Context) -> bool {
        let text = self.b.bytes(left);
        let name = match text {
            b"module.exports" => None,
            _ => match text.strip_prefix(b"module.exports.").or_else(|| text.strip_prefix(b"exports.")) {
                Some(rest) if !rest.contains(&b'.') => Some(rest),
                _ => return false,
            },
        };
        let scope = self.scopes.function_around(cx.scope);
        if self.scopes.at(scope).kind != ScopeKind::Module {
            return false;
        }
        self.b.consume(left);
        let inside = self.unwrapped(right);
        let Some(_) = name else {
            if self.kind(inside) == Kind::Object && !self.objects.contains_key(&inside) {
                self.exported_object(inside, cx);
            } else {
                self.exported_value(node, right, "export=", cx);
            }
            return true;
        };
        let Some(key) = self.child(left, Field::Property) else { return true };
        let alias = self.b.name(key);
        self.exported_member(node, key, alias, right, cx);
        true
    }

    fn exported_object(&mut self, object: Node, cx: Context) {
        for child in self.children(object) {
            match self.kind(child) {
                Kind::ShorthandProperty => {
                    let name = self.b.name(child);
                    self.note_import(
                        child,
                        Vec::new(),
                        ImportKind::Member { name, alias: name },
                        Way::Out,
                        cx,
                    );
                }
                Kind::Pair => {
                    let (key, value) = (self.child(child, Field::Key), self.child(child, Field::Value));
                    if let (Some(key), Some(value)) = (key, value)
                        && matches!(self.kind(key), Kind::PropertyIdentifier | Kind::String)
                    {
                        let alias = self.member_name(key);
                        self.exported_member(child, key, alias, value, cx);
                    }
                }
                Kind::MethodDefinition => self.exported_methods.push(child),
                Kind::SpreadElement => {
                    let of = self.first_child(child).and_then(|it| self.module_call(it));
                    if let Some(text) = of.as_deref().and_then(|it| it.strip_prefix("require:")) {
                        let module = self.module_segments(text);
                        self.note_import(child, module, ImportKind::Wildcard, Way::Out, cx);
                    }
                }
                _ => {}
            }
        }
    }

    /// `exports.alias = value`.
    fn exported_member(&mut self, node: Node, key: Node, alias: Str, value: Node, cx: Context) {
        let inside = self.unwrapped(value);
        let kind = match self.kind(inside) {
            Kind::Identifier => {
                let name = self.b.name(inside);
                self.note_import(inside, Vec::new(), ImportKind::Member { name, alias }, Way::Out, cx);
                return;
            }
            Kind::CallExpression if self.note_required(inside, alias, cx) => return,
            Kind::Undefined | Kind::UnaryExpression => return,
            Kind::ArrowFunction | Kind::FunctionExpression | Kind::GeneratorFunction => NodeKind::Function,
            Kind::Class => NodeKind::Class,
            _ => NodeKind::Const,
        };
        let to = if kind == NodeKind::Const { self.b.tree.end(inside) } else { self.head(inside).to };
        let head = Range { from: self.b.tree.start(node), to };
        let Some(id) = self.declare_nameless(node, alias, kind, head, cx) else { return };
        self.b.decl_mut(id).span.name = self.b.tree.position(key);
        self.mark_exported(id);
        if kind != NodeKind::Const {
            self.functions.insert(inside, id);
            return;
        }
        if self.kind(inside) == Kind::Object {
            self.objects.insert(inside, id);
        }
        let value = self.expr(value);
        self.b.decl_mut(id).value = Some(value);
    }
}
