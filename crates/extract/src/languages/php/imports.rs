//! `use` of classes, functions and constants.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind, Str};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// `use A\B;`, `use A\B as C;`, `use A\{B, C as D};`, `use function A\f;`
    pub(super) fn namespace_use(&mut self, node: Node) -> Step<Context> {
        let group = self.child_of_kind(node, Kind::NamespaceUseGroup);
        let prefix = match (group, self.child_of_kind(node, Kind::NamespaceName)) {
            (Some(_), Some(prefix)) => self.segments(prefix),
            _ => Vec::new(),
        };
        let clauses: Vec<Node> = self
            .children(group.unwrap_or(node))
            .filter(|it| self.kind(*it) == Kind::NamespaceUseClause)
            .collect();
        for clause in clauses {
            self.use_clause(clause, &prefix);
        }
        Step::Over
    }

    fn use_clause(&mut self, clause: Node, prefix: &[Str]) {
        let alias = self.child(clause, Field::Alias);
        let path = self.children(clause).find(|it| {
            Some(*it) != alias
                && matches!(self.kind(*it), Kind::Name | Kind::QualifiedName | Kind::NamespaceName)
        });
        let Some(path) = path else { return };
        let mut segments = prefix.to_vec();
        segments.extend(self.segments(path));
        segments.retain(|it| !self.b.str(*it).is_empty());
        let Some(name) = segments.pop() else { return };
        let alias = alias.map_or(name, |it| self.b.name(it));
        let from = self.b.tree.start(clause);
        let inner = self.b.facts.namespaces.iter().rev().find(|it| it.range.contains(from));
        let visible = inner.map_or(Range { from: 0, to: self.b.source.len() }, |it| it.range);
        let position = self.b.tree.position(path);
        self.b.import(Import {
            decl: None,
            module: segments,
            level: 0,
            kind: ImportKind::Member { name, alias },
            reexport: false,
            visible,
            position,
        });
    }
}
