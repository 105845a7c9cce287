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
    /// Imports may come after the call, so that it is decided at the end.
    pub(super) fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        let last = match self.kind(function) {
            Kind::Identifier => function,
            Kind::ScopedIdentifier => self.last_segment(function),
            _ => return,
        };
        let kind = match self.b.bytes(last) {
            b"var" | b"var_os" => SiteKind::ReadsEnv,
            b"new" if self.kind(function) == Kind::ScopedIdentifier => {
                let path = self.child(function, Field::Path).map(|it| self.last_segment(it));
                if !path.is_some_and(|it| self.b.bytes(it).ends_with(b"Command")) {
                    return;
                }
                SiteKind::StartsProcess
            }
            _ => return,
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
                ["std", "env", "var" | "var_os"] => site.kind == SiteKind::ReadsEnv,
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
