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

    /// Without a name of its own an import is known by what its package calls itself, which its path mostly ends with.
    pub(super) fn import_spec(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(path_node) = self.child(node, Field::Path) else { return Step::Over };
        let Some(path) = self.string_value(path_node) else { return Step::Over };
        let name = self.child(node, Field::Name);
        let kind = match name {
            Some(name) if self.kind(name) == Kind::Dot => ImportKind::Wildcard,
            Some(name) => ImportKind::Module { alias: self.b.name(name) },
            None => {
                let alias = usual_name(self.b.str(path)).to_owned();
                ImportKind::Module { alias: self.b.intern(alias) }
            }
        };
        if let ImportKind::Module { alias } = kind {
            self.packages.insert(alias, path);
        }
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

/// What the package at a path is called, by custom: `yaml` of `gopkg.in/yaml.v3`, `chi` of `github.com/go-chi/chi/v5`.
fn usual_name(path: &str) -> &str {
    let is_version = |it: &str| {
        it.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit()))
    };
    let mut segments = path.rsplit('/');
    let mut last = segments.next().unwrap_or(path);
    if is_version(last)
        && let Some(before) = segments.next()
    {
        last = before;
    }
    if let Some((name, version)) = last.rsplit_once('.')
        && is_version(version)
    {
        last = name;
    }
    let last = last.strip_prefix("go-").unwrap_or(last);
    let last = last.strip_suffix("-go").or_else(|| last.strip_suffix(".go")).unwrap_or(last);
    last.rsplit(['-', '.']).next().filter(|it| !it.is_empty()).unwrap_or(last)
}
