//! The package clause and imports.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn package_clause(&mut self, node: Node) -> Step<Context> {
        if let Some(name) = self.first_child(node)
            && self.b.facts.namespace.is_none()
        {
            let name = self.b.name(name);
            self.b.facts.namespace = Some(name);
        }
        Step::Over
    }

    /// Without a name of its own an import is known by what its package calls itself, which this file does not say.
    pub(super) fn import_spec(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(path_node) = self.child(node, Field::Path) else { return Step::Over };
        let Some(path) = self.string_value(path_node) else { return Step::Over };
        let name = self.child(node, Field::Name);
        let kind = match name {
            Some(name) if self.kind(name) == Kind::Dot => ImportKind::Wildcard,
            Some(name) => ImportKind::Module { alias: self.b.name(name) },
            None => ImportKind::TopModule,
        };
        let used_as = match kind {
            ImportKind::Module { alias } => alias,
            _ => {
                let last = self.b.str(path).rsplit('/').next().unwrap_or_default().to_owned();
                self.b.intern(last)
            }
        };
        self.packages.insert(used_as, path);
        self.b.import(Import {
            decl: cx.decl,
            module: vec![path],
            level: 0,
            kind,
            reexport: false,
            visible: Range { from: 0, to: self.b.source.len() },
            position: self.b.tree.position(path_node),
        });
        Step::Over
    }
}
