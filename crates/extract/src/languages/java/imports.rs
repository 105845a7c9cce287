//! The package clause and imports. Whether a path leads to a package or to a type is for resolution to find out.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind};

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn package(&mut self, node: Node) -> Step<Context> {
        let name = self
            .children(node)
            .find(|it| matches!(self.kind(*it), Kind::Identifier | Kind::ScopedIdentifier));
        if let Some(name) = name {
            let segments = self.segments(name);
            let text: Vec<&str> = segments.iter().map(|it| self.b.str(*it)).collect();
            let text = text.join(".");
            self.b.facts.namespace = Some(self.b.intern(text));
        }
        Step::Over
    }

    /// `import a.b.C`, `import static a.b.C.f`, `import a.b.*`.
    pub(super) fn import(&mut self, node: Node) -> Step<Context> {
        let name = self
            .children(node)
            .find(|it| matches!(self.kind(*it), Kind::Identifier | Kind::ScopedIdentifier));
        let Some(name) = name else { return Step::Over };
        let mut module = self.segments(name);
        let kind = if self.child_of_kind(node, Kind::Asterisk).is_some() {
            ImportKind::Wildcard
        } else {
            match module.pop() {
                Some(last) => ImportKind::Member { name: last, alias: last },
                None => return Step::Over,
            }
        };
        let visible = Range { from: 0, to: self.b.source.len() };
        let position = self.b.tree.position(name);
        self.b.import(Import { decl: None, module, level: 0, kind, reexport: false, visible, position });
        Step::Over
    }
}
