//! What `*.gemspec` and `Gemfile` state about the project: its name and the gems it needs.

use knowing_model::facts::{Dependency, Manifest};

use super::kinds::Field;
use super::reader::Reader;
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    fn is_project_file(&self) -> bool {
        let path = self.b.path;
        path.ends_with(".gemspec") || path.rsplit('/').next() == Some("Gemfile")
    }

    /// `gem "rack", "~> 3.0"`, `spec.add_dependency "rack"`.
    pub(super) fn maybe_dependency(&mut self, text: &str, arguments: &[Node]) {
        let is_dependency = matches!(
            text,
            "gem" | "add_dependency" | "add_runtime_dependency" | "add_development_dependency"
        );
        if !is_dependency || !self.is_project_file() {
            return;
        }
        let Some(name) = arguments.first().and_then(|it| self.literal_name(*it)) else { return };
        let version = arguments.get(1).and_then(|it| self.literal_name(*it)).map(str::to_owned);
        let path = self.keyword(arguments, "path").and_then(|it| self.literal_name(it)).map(str::to_owned);
        let dependency = Dependency {
            name: name.to_owned(),
            package: None,
            version,
            path,
            from_workspace: false,
            for_workspace: false,
        };
        self.b.facts.manifest.get_or_insert_with(Manifest::default).dependencies.push(dependency);
    }

    /// `spec.name = "shop"`.
    pub(super) fn maybe_package(&mut self, call: Node, text: &str) {
        if text != "name" || !self.b.path.ends_with(".gemspec") {
            return;
        }
        let value = self.b.tree.parent(call).and_then(|it| self.child(it, Field::Right));
        if let Some(name) = value.and_then(|it| self.literal_name(it)) {
            self.b.facts.manifest.get_or_insert_with(Manifest::default).package = Some(name.to_owned());
        }
    }
}
