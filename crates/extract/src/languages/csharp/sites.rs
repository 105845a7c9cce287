//! Environment variables that are read and processes that are started.

use knowing_model::facts::{Site, SiteKind, Str};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    /// `Environment.GetEnvironmentVariable("X")`, `Process.Start("x")`.
    pub(super) fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        if self.kind(function) != Kind::MemberAccess {
            return;
        }
        let (Some(of), Some(name)) =
            (self.child(function, Field::Expression), self.child(function, Field::Name))
        else {
            return;
        };
        let of = match self.kind(of) {
            Kind::MemberAccess => self.child(of, Field::Name).unwrap_or(of),
            _ => of,
        };
        let kind = match (self.b.bytes(of), self.b.bytes(name)) {
            (b"Environment", b"GetEnvironmentVariable") => SiteKind::ReadsEnv,
            (b"Process", b"Start") => SiteKind::StartsProcess,
            _ => return,
        };
        self.site(kind, self.child(call, Field::Arguments), name, cx);
    }

    /// `new ProcessStartInfo("x")`.
    pub(super) fn construction_site(&mut self, creation: Node, type_: Node, cx: Context) {
        let last = self.last_name(type_);
        if self.is(last, "ProcessStartInfo") {
            self.site(SiteKind::StartsProcess, self.child(creation, Field::Arguments), last, cx);
        }
    }

    fn site(&mut self, kind: SiteKind, arguments: Option<Node>, name: Node, cx: Context) {
        let position = self.b.tree.position(name);
        let argument = arguments.and_then(|it| self.first_child(it)).and_then(|it| self.last_child(it));
        let name = argument.and_then(|it| self.string_value(it));
        self.b.site(Site { decl: cx.decl, kind, name, position });
    }

    /// The text of a plain string literal as it is written.
    fn string_value(&mut self, node: Node) -> Option<Str> {
        if !matches!(self.kind(node), Kind::StringLiteral | Kind::VerbatimStringLiteral) {
            return None;
        }
        let text = self.b.text(node);
        let text = text.trim_start_matches('@').strip_prefix('"')?;
        let text = text.strip_suffix('"').unwrap_or(text).to_owned();
        Some(self.b.intern(text))
    }
}
