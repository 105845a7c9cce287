//! The package header and imports. What a path leads to is for resolution to find out.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind};

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn package(&mut self, node: Node) -> Step<Context> {
        if let Some(name) = self.child_of_kind(node, Kind::QualifiedIdentifier) {
            let segments = self.segments(name);
            let text: Vec<&str> = segments.iter().map(|it| self.b.str(*it)).collect();
            let text = text.join(".");
            self.b.facts.namespace = Some(self.b.intern(text));
        }
        Step::Over
    }

    /// `import a.b.c`, `import a.b.*`, `import a.b.c as d`.
    pub(super) fn import(&mut self, node: Node) -> Step<Context> {
        let Some(path) = self.child_of_kind(node, Kind::QualifiedIdentifier) else { return Step::Over };
        let mut module = self.segments(path);
        let is_wildcard = self.b.bytes(node).trim_ascii_end().ends_with(b"*");
        let alias = self.children(node).find(|it| self.kind(*it) == Kind::Identifier);
        let kind = if is_wildcard {
            ImportKind::Wildcard
        } else {
            let Some(last) = module.pop() else { return Step::Over };
            let alias = alias.map_or(last, |it| self.name(it));
            ImportKind::Member { name: last, alias }
        };
        let visible = Range { from: 0, to: self.b.source.len() };
        let position = self.b.tree.position(path);
        self.b.import(Import { decl: None, module, level: 0, kind, reexport: false, visible, position });
        Step::Over
    }
}
