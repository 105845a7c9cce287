//! `setup.py`: the arguments of `setup(...)` that are written out.

use knowing_model::facts::Manifest;

use super::classes::unquoted;
use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::tree::Node;
use crate::manifests::pyproject::requirement;

impl Reader<'_, '_> {
    pub(super) fn setup_script(&mut self) {
        let is_script = self.b.path.rsplit('/').next() == Some("setup.py");
        let Some(root) = self.b.tree.root().filter(|_| is_script) else { return };
        let mut calls = self.b.tree.subtree(root).filter(|it| self.kind(*it) == Kind::Call);
        let setup = calls.find(|it| {
            let function = self.child(*it, Field::Function).and_then(|it| self.terminal(it));
            function.is_some_and(|it| self.is(it, "setup"))
        });
        let Some(arguments) = setup.and_then(|it| self.child(it, Field::Arguments)) else { return };
        let mut manifest = Manifest::default();
        for argument in self.children(arguments) {
            let (name, value) = (self.child(argument, Field::Name), self.child(argument, Field::Value));
            let (Some(name), Some(value)) = (name, value) else { continue };
            match self.b.bytes(name) {
                b"name" => manifest.package = self.literal(value),
                b"package_dir" => manifest.source_roots.extend(self.top_directory(value)),
                b"packages" => manifest.source_roots.extend(self.found_in(value)),
                b"install_requires" => {
                    let listed = self.children(value).filter_map(|it| self.literal(it));
                    manifest.dependencies.extend(listed.filter_map(|it| requirement(&it)));
                }
                _ => {}
            }
        }
        manifest.source_roots.dedup();
        self.b.facts.manifest = Some(manifest);
    }

    fn literal(&self, node: Node) -> Option<String> {
        let is_literal = self.kind(node) == Kind::String && self.first_child(node).is_none();
        is_literal.then(|| unquoted(&self.b.text(node)).map(str::to_owned))?
    }

    /// `{"": "src"}`.
    fn top_directory(&self, dictionary: Node) -> Option<String> {
        self.children(dictionary).find_map(|pair| {
            let mut parts = self.children(pair);
            let (key, value) = (parts.next()?, parts.next()?);
            if self.literal(key)?.is_empty() { self.literal(value) } else { None }
        })
    }

    /// `find_packages("src")`, `find_packages(where="src")`.
    fn found_in(&self, call: Node) -> Option<String> {
        let function = self.child(call, Field::Function).and_then(|it| self.terminal(it))?;
        if !self.b.bytes(function).starts_with(b"find_") {
            return None;
        }
        let first = self.first_child(self.child(call, Field::Arguments)?)?;
        match self.kind(first) {
            Kind::KeywordArgument => {
                let is_where = self.child(first, Field::Name).is_some_and(|it| self.is(it, "where"));
                if is_where { self.literal(self.child(first, Field::Value)?) } else { None }
            }
            _ => self.literal(first),
        }
    }
}
