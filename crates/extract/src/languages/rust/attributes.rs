//! What attributes say about an item: tests, conditions, derives, and uses of what others define.

use knowing_model::facts::{DeclId, Expr, ExprId, ReferenceRole, ReferenceTarget, Str};

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::tree::Node;

/// What the attributes before an item say.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) is_test: bool,
    /// Compiled for tests only.
    pub(super) is_cfg_test: bool,
    pub(super) is_deprecated: bool,
    /// Called from outside: `#[tokio::main]`, `#[no_mangle]`.
    pub(super) is_entry: bool,
    pub(super) is_macro_export: bool,
    /// `#[path = "..."]`.
    pub(super) path: Option<Str>,
}

/// Attributes of the language and its tools, which nobody else defines.
const BUILT_IN: [&str; 48] = [
    "allow",
    "automatically_derived",
    "bench",
    "cfg",
    "cfg_attr",
    "cfg_eval",
    "clippy",
    "cold",
    "coverage",
    "crate_name",
    "crate_type",
    "debugger_visualizer",
    "default",
    "deny",
    "deprecated",
    "derive",
    "diagnostic",
    "doc",
    "expect",
    "export_name",
    "feature",
    "forbid",
    "global_allocator",
    "ignore",
    "inline",
    "instruction_set",
    "link",
    "link_name",
    "link_section",
    "macro_export",
    "macro_use",
    "must_use",
    "no_mangle",
    "no_std",
    "non_exhaustive",
    "panic_handler",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "recursion_limit",
    "repr",
    "rustfmt",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "used",
    "warn",
];

impl Reader<'_, '_> {
    /// What the attributes before the item that was just entered say.
    pub(super) fn marks(&mut self) -> Marks {
        let mut marks = Marks::default();
        for index in 0..self.attributes.len() {
            self.mark(self.attributes[index], &mut marks);
        }
        marks
    }

    fn mark(&mut self, item: Node, marks: &mut Marks) {
        let Some((attribute, path)) = self.attribute(item) else { return };
        let last = self.last_segment(path);
        match self.b.bytes(last) {
            b"deprecated" => marks.is_deprecated = true,
            b"no_mangle" | b"main" => marks.is_entry = true,
            // `#[unsafe(no_mangle)]`
            b"unsafe" => marks.is_entry |= self.arguments_contain(attribute, "no_mangle"),
            b"macro_export" => marks.is_macro_export = true,
            b"cfg" => marks.is_cfg_test |= self.is_cfg_test(attribute),
            b"path" => {
                if let Some(value) = self.child(attribute, Field::Value) {
                    marks.path = self.string_value(value);
                }
            }
            name => marks.is_test |= is_test_attribute(name),
        }
    }

    fn attribute(&self, item: Node) -> Option<(Node, Node)> {
        let attribute = self.child_of_kind(item, Kind::Attribute)?;
        Some((attribute, self.first_child(attribute)?))
    }

    /// `#[cfg(test)]`, `#[cfg(all(test, unix))]`; not `#[cfg(not(test))]`.
    fn is_cfg_test(&self, attribute: Node) -> bool {
        if !self.arguments_contain(attribute, "test") {
            return false;
        }
        let text: String = self.b.text(attribute).chars().filter(|it| !it.is_whitespace()).collect();
        !text.contains("not(test")
    }

    fn arguments_contain(&self, attribute: Node, word: &str) -> bool {
        let Some(arguments) = self.child(attribute, Field::Arguments) else { return false };
        let mut subtree = self.b.tree.subtree(arguments);
        subtree.any(|it| self.kind(it) == Kind::Identifier && self.is(it, word))
    }

    /// `#![cfg(test)]` at the begin of a file or a module's body.
    pub(super) fn is_inside_cfg_test(&self, body: Node) -> bool {
        self.children(body).take_while(|it| self.kind(*it) == Kind::InnerAttributeItem).any(|item| {
            self.attribute(item)
                .is_some_and(|(attribute, path)| self.is(path, "cfg") && self.is_cfg_test(attribute))
        })
    }

    /// Attributes and derives are uses by what they stand before.
    pub(super) fn decorated(&mut self, decl: DeclId) {
        for index in 0..self.attributes.len() {
            let item = self.attributes[index];
            let Some((attribute, path)) = self.attribute(item) else { continue };
            if self.is(path, "derive") {
                if let Some(list) = self.child(attribute, Field::Arguments) {
                    self.derived(list, decl);
                }
                continue;
            }
            let first = self.first_segment(path);
            let is_built_in = BUILT_IN.iter().any(|it| self.is(first, it));
            if !is_built_in && matches!(self.kind(path), Kind::Identifier | Kind::ScopedIdentifier) {
                let expr = self.path_expr(path, Some(decl));
                let position = self.b.tree.position(self.last_segment(path));
                self.refer(Some(decl), ReferenceTarget::Expr(expr), ReferenceRole::Decorator, position);
            }
        }
    }

    /// `derive(Debug, serde::Serialize)`: one use each.
    fn derived(&mut self, list: Node, decl: DeclId) {
        let mut path: Option<(ExprId, Node)> = None;
        for node in self.children(list) {
            let is_part = path.is_some_and(|(_, last)| self.gap(last, node).ends_with(b"::"));
            let name = self.b.name(node);
            let expr = match path {
                Some((of, _)) if is_part => Expr::Scoped { of, name },
                _ => {
                    self.derive(path, decl);
                    Expr::Name { name, at: self.b.tree.start(node) }
                }
            };
            path = Some((self.b.expr(expr), node));
        }
        self.derive(path, decl);
    }

    fn derive(&mut self, path: Option<(ExprId, Node)>, decl: DeclId) {
        if let Some((expr, last)) = path {
            let position = self.b.tree.position(last);
            self.refer(Some(decl), ReferenceTarget::Expr(expr), ReferenceRole::Decorator, position);
        }
    }

    /// The text of a string literal as it is written.
    pub(super) fn string_value(&mut self, node: Node) -> Option<Str> {
        if !matches!(self.kind(node), Kind::StringLiteral | Kind::RawStringLiteral) {
            return None;
        }
        let text = self.b.text(node);
        let text = text.trim_start_matches(|it: char| it.is_ascii_alphabetic()).trim_matches('#');
        let text = text.strip_prefix('"')?;
        let text = text.strip_suffix('"').unwrap_or(text).to_owned();
        Some(self.b.intern(text))
    }

    fn first_segment(&self, path: Node) -> Node {
        let mut node = path;
        while self.kind(node) == Kind::ScopedIdentifier
            && let Some(before) = self.child(node, Field::Path)
        {
            node = before;
        }
        node
    }
}

/// `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[cargo_test]`, `#[test_case(1)]`.
fn is_test_attribute(name: &[u8]) -> bool {
    matches!(name, b"test" | b"bench" | b"rstest" | b"quickcheck" | b"proptest" | b"parameterized")
        || name.ends_with(b"_test")
        || name.starts_with(b"test_")
}
