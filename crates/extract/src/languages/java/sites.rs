//! Environment variables that are read and processes that are started: `System.getenv`, `Runtime.exec`,
//! `ProcessBuilder`. Their types need no import, or have names of their own.

use knowing_model::facts::{Site, SiteKind};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    pub(super) fn method_site(&mut self, call: Node, name: Node, cx: Context) {
        let kind = match self.b.bytes(name) {
            b"getenv" => SiteKind::ReadsEnv,
            b"exec" => SiteKind::StartsProcess,
            _ => return,
        };
        let Some(object) = self.child(call, Field::Object) else { return };
        let of: Vec<u8> =
            self.b.bytes(object).iter().copied().filter(|it| !it.is_ascii_whitespace()).collect();
        let is_known = match kind {
            SiteKind::ReadsEnv => matches!(&of[..], b"System" | b"java.lang.System"),
            SiteKind::StartsProcess => of.ends_with(b"Runtime.getRuntime()"),
        };
        if is_known {
            self.site(call, name, kind, cx);
        }
    }

    pub(super) fn constructor_site(&mut self, call: Node, name: Node, cx: Context) {
        if self.is(name, "ProcessBuilder") {
            self.site(call, name, SiteKind::StartsProcess, cx);
        }
    }

    fn site(&mut self, call: Node, name: Node, kind: SiteKind, cx: Context) {
        let list = self.child(call, Field::Arguments);
        let first = list.and_then(|it| self.first_child(it));
        let text = first.and_then(|it| self.literal_text(it)).and_then(|it| match kind {
            SiteKind::ReadsEnv => Some(it),
            SiteKind::StartsProcess => it.split_whitespace().next().map(str::to_owned),
        });
        let text = text.filter(|it| !it.is_empty()).map(|it| self.b.intern(it));
        self.b.site(Site { decl: cx.decl, kind, name: text, position: self.b.tree.position(name) });
    }

    /// A literal, or the first of `List.of("a", "b")`, `Arrays.asList(...)`, `new String[] { ... }`.
    fn literal_text(&self, node: Node) -> Option<String> {
        let mut node = node;
        for _ in 0..3 {
            node = match self.kind(node) {
                Kind::StringLiteral => {
                    let raw = self.b.text(node);
                    let text = raw.strip_prefix('"')?.strip_suffix('"')?;
                    return (!text.contains(['"', '\\', '\n'])).then(|| text.to_owned());
                }
                Kind::MethodInvocation => {
                    let is_list = matches!(
                        self.child(node, Field::Name).map(|it| self.b.bytes(it)),
                        Some(b"of" | b"asList")
                    );
                    self.child(node, Field::Arguments)
                        .filter(|_| is_list)
                        .and_then(|it| self.first_child(it))?
                }
                Kind::ArrayCreation => self.child(node, Field::Value).and_then(|it| self.first_child(it))?,
                _ => return None,
            };
        }
        None
    }
}
