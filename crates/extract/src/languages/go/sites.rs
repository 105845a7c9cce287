//! Environment variables that are read and processes that are started, by functions of the standard library.

use knowing_model::Range;
use knowing_model::facts::{Site, SiteKind, Str};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    pub(super) fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        if self.kind(function) != Kind::SelectorExpression {
            return;
        }
        let (Some(package), Some(name)) =
            (self.child(function, Field::Operand), self.child(function, Field::Member))
        else {
            return;
        };
        let (kind, place, path): (SiteKind, usize, &[&str]) = match self.b.bytes(name) {
            b"Getenv" | b"LookupEnv" | b"Environ" => (SiteKind::ReadsEnv, 0, &["os", "syscall"]),
            b"Command" => (SiteKind::StartsProcess, 0, &["os/exec", "golang.org/x/sys/execabs"]),
            b"CommandContext" => (SiteKind::StartsProcess, 1, &["os/exec", "golang.org/x/sys/execabs"]),
            b"StartProcess" => (SiteKind::StartsProcess, 0, &["os"]),
            b"Exec" | b"ForkExec" => (SiteKind::StartsProcess, 0, &["syscall"]),
            _ => return,
        };
        if self.kind(package) != Kind::Identifier || self.is_local(package) {
            return;
        }
        let alias = self.b.name(package);
        let is_it = self.packages.get(&alias).is_some_and(|it| path.contains(&self.b.str(*it)));
        if !is_it {
            return;
        }
        let argument = self.child(call, Field::Arguments).and_then(|it| self.children(it).nth(place));
        let text = argument.and_then(|it| self.string_value(it));
        let position = self.b.tree.position(name);
        self.b.site(Site { decl: cx.decl, kind, name: text, position });
    }

    /// The text of a literal, when there is any.
    pub(super) fn string_value(&mut self, node: Node) -> Option<Str> {
        if !matches!(self.kind(node), Kind::InterpretedString | Kind::RawString) {
            return None;
        }
        let range = self.b.tree.range(node);
        if range.to - range.from < 3 {
            return None;
        }
        let text = self.b.source.slice(Range { from: range.from + 1, to: range.to - 1 });
        Some(self.b.intern_name(text))
    }
}
