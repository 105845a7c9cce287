//! Environment variables that are read and processes that are started, by the paths that the imports give to names.

use knowing_model::Position;
use knowing_model::facts::{DeclId, ImportKind, Site, SiteKind, Str};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;

/// A call that reads a variable or starts a process, if its path says so.
pub(super) struct MaybeSite {
    decl: Option<DeclId>,
    kind: SiteKind,
    /// The path as written.
    path: Vec<Str>,
    name: Option<Str>,
    position: Position,
}

impl Reader<'_, '_> {
    /// Other names that imports give to what is looked for.
    pub(super) fn note_alias(&mut self, name: Str, alias: Str) {
        if name != alias && matches!(self.b.str(name), "var" | "var_os" | "vars" | "vars_os" | "Command") {
            self.aliases.push(alias);
        }
    }

    fn is_called(&self, node: Node, names: &[&str]) -> bool {
        names.iter().any(|it| self.is(node, it))
            || self.aliases.iter().any(|it| self.is(node, self.b.str(*it)))
    }

    /// Imports may come after the call, so that it is decided at the end.
    pub(super) fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        let last = match self.kind(function) {
            Kind::Identifier => function,
            Kind::ScopedIdentifier => self.last_segment(function),
            _ => return,
        };
        let kind = if self.is_called(last, &["var", "var_os", "vars", "vars_os"]) {
            SiteKind::ReadsEnv
        } else if self.is(last, "new")
            && let Some(type_) = self.child(function, Field::Path)
            && self.is_called(self.last_segment(type_), &["Command"])
        {
            SiteKind::StartsProcess
        } else {
            return;
        };
        let mut path = Vec::new();
        let mut at = Some(function);
        while let Some(node) = at {
            let is_scoped = self.kind(node) == Kind::ScopedIdentifier;
            let name = if is_scoped { self.child(node, Field::Name) } else { Some(node) };
            path.extend(name.map(|it| self.b.name(it)));
            at = if is_scoped { self.child(node, Field::Path) } else { None };
        }
        path.reverse();
        let argument = self.child(call, Field::Arguments).and_then(|it| self.first_child(it));
        let name = argument.and_then(|it| self.string_value(it));
        let position = self.b.tree.position(last);
        self.b.count();
        self.sites.push(MaybeSite { decl: cx.decl, kind, path, name, position });
    }

    /// `env!("X")`, `option_env!("X")`.
    pub(super) fn macro_site(&mut self, macro_name: Node, tokens: Node, cx: Context) {
        if !matches!(self.b.bytes(macro_name), b"env" | b"option_env") {
            return;
        }
        let name = self.first_child(tokens).and_then(|it| self.string_value(it));
        let position = self.b.tree.position(macro_name);
        self.b.site(Site { decl: cx.decl, kind: SiteKind::ReadsEnv, name, position });
    }

    pub(super) fn finish_sites(&mut self) {
        if self.sites.is_empty() {
            return;
        }
        let mut imported: FxHashMap<Str, Vec<&str>> = FxHashMap::default();
        let facts = &self.b.facts;
        for import in &facts.imports {
            if let ImportKind::Member { name, alias } = import.kind {
                let path = import.module.iter().chain([&name]).map(|it| facts.text(*it));
                imported.insert(alias, path.collect());
            }
        }
        let mut found = Vec::new();
        for site in &self.sites {
            let Some((first, rest)) = site.path.split_first() else { continue };
            let begin = imported.get(first).cloned().unwrap_or_else(|| vec![facts.text(*first)]);
            let path: Vec<&str> = begin.into_iter().chain(rest.iter().map(|it| facts.text(*it))).collect();
            let fits = match path.as_slice() {
                ["std", "env", "var" | "var_os" | "vars" | "vars_os"] => site.kind == SiteKind::ReadsEnv,
                ["std" | "tokio", "process", "Command", "new"] => site.kind == SiteKind::StartsProcess,
                _ => false,
            };
            if fits {
                found.push(Site {
                    decl: site.decl,
                    kind: site.kind,
                    name: site.name,
                    position: site.position,
                });
            }
        }
        self.b.facts.sites.extend(found);
        self.b.facts.sites.sort_by_key(|it| it.position);
    }
}
