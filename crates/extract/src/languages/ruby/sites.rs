//! Environment variables and processes.

use knowing_model::facts::{Site, SiteKind};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    /// `ENV["X"]`, read.
    pub(super) fn element_reference(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(object) = self.child(node, Field::Object) else { return Step::Into };
        if !self.is(object, "ENV") {
            return Step::Into;
        }
        let is_written = self.field(node) == Field::Left && self.parent_kind(node) == Kind::Assignment;
        if !is_written {
            let argument = self.children(node).find(|it| *it != object);
            self.note_site(SiteKind::ReadsEnv, argument, object, cx);
        }
        Step::Into
    }

    /// `` `command` ``
    pub(super) fn subshell(&mut self, node: Node, cx: Context) -> Step<Context> {
        let text = self.b.text(node);
        let inner = text.trim_start_matches("%x").trim_matches(['`', '(', ')', '{', '}', '[', ']']);
        let program = inner.split_whitespace().next().filter(|it| !it.contains('#')).map(str::to_owned);
        let name = program.map(|it| self.b.intern(it));
        let position = self.b.tree.position(node);
        self.b.site(Site { decl: cx.decl, kind: SiteKind::StartsProcess, name, position });
        Step::Into
    }

    pub(super) fn maybe_site(
        &mut self,
        receiver: Option<Node>,
        method: Node,
        text: &str,
        arguments: &[Node],
        cx: Context,
    ) {
        let receiver = receiver.map(|it| self.b.text(it));
        let kind = match (receiver.as_deref(), text) {
            (Some("ENV"), "fetch" | "key?" | "has_key?" | "include?" | "values_at") => SiteKind::ReadsEnv,
            // All of it.
            (
                Some("ENV"),
                "to_h" | "to_hash" | "to_a" | "each" | "each_pair" | "map" | "select" | "inspect",
            ) => {
                self.note_site(SiteKind::ReadsEnv, None, method, cx);
                return;
            }
            (None | Some("Kernel" | "Process"), "system" | "spawn" | "exec") => SiteKind::StartsProcess,
            (Some("Open3"), _)
                if text.starts_with("popen")
                    || text.starts_with("capture")
                    || text.starts_with("pipeline") =>
            {
                SiteKind::StartsProcess
            }
            (Some("IO"), "popen") | (Some("PTY"), "spawn") => SiteKind::StartsProcess,
            _ => return,
        };
        // An environment may come first: `system({ "A" => "b" }, "command")`.
        let argument =
            arguments.iter().find(|it| !matches!(self.kind(**it), Kind::Hash | Kind::Pair)).copied();
        if argument.is_some() {
            self.note_site(kind, argument, method, cx);
        }
    }

    fn note_site(&mut self, kind: SiteKind, argument: Option<Node>, at: Node, cx: Context) {
        let argument = match argument {
            Some(it) if self.kind(it) == Kind::Array => self.first_child(it),
            it => it,
        };
        let text = argument.and_then(|it| self.literal_name(it));
        let text = match kind {
            SiteKind::ReadsEnv => text,
            SiteKind::StartsProcess => match (text, argument) {
                (Some(text), _) => text.split_whitespace().next(),
                // `"git #{arguments}"` starts with its program.
                (None, Some(it)) if self.kind(it) == Kind::String => {
                    let raw = std::str::from_utf8(self.b.bytes(it)).ok().map(|it| it.trim_matches('"'));
                    let program = raw.and_then(|it| it.split_whitespace().next());
                    program.filter(|it| !it.contains('#') && !it.contains('"'))
                }
                _ => None,
            },
        };
        let name = text.map(|it| self.b.intern(it));
        let position = self.b.tree.position(at);
        self.b.site(Site { decl: cx.decl, kind, name, position });
    }
}
