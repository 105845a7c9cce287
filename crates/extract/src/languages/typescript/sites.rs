//! Where a program reads its environment or starts another: known names, verified through the file's imports.

use knowing_model::facts::{Site, SiteKind};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Objects whose members are environment variables.
const ENVIRONMENTS: [&[u8]; 3] = [b"process.env", b"import.meta.env", b"Bun.env"];

/// Functions that read the variable their first argument names.
const READERS: [&[u8]; 2] = [b"Deno.env.get", b"process.env.hasOwnProperty"];

/// Modules and their functions that start the process their first argument names; none for the module itself.
const PROCESSES: [(&str, &[&str]); 5] = [
    ("child_process", &["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"]),
    ("execa", &["default", "execa", "execaCommand", "execaCommandSync", "execaSync", "execaNode"]),
    ("cross-spawn", &["default", "spawn", "sync"]),
    ("zx", &["$"]),
    ("shelljs", &["exec"]),
];

impl Reader<'_, '_> {
    /// `process.env.NAME`; `process.env` alone takes all of it.
    pub(super) fn maybe_environment(&mut self, node: Node, cx: Context) {
        if ENVIRONMENTS.contains(&self.b.bytes(node)) {
            let is_part =
                matches!(self.parent_kind(node), Kind::MemberExpression | Kind::SubscriptExpression);
            if !is_part {
                let position = self.b.tree.position(node);
                self.b.site(Site { decl: cx.decl, kind: SiteKind::ReadsEnv, name: None, position });
            }
            return;
        }
        let Some(object) = self.child(node, Field::Object) else { return };
        if !self.b.bytes(object).ends_with(b"env") || !ENVIRONMENTS.contains(&self.b.bytes(object)) {
            return;
        }
        let Some(name) = self.child(node, Field::Property) else { return };
        let text = self.b.name(name);
        self.b.site(Site {
            decl: cx.decl,
            kind: SiteKind::ReadsEnv,
            name: Some(text),
            position: self.b.tree.position(name),
        });
    }

    /// `process.env["NAME"]`.
    pub(super) fn subscript(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(object) = self.child(node, Field::Object) else { return Step::Into };
        if ENVIRONMENTS.contains(&self.b.bytes(object)) {
            let index = self.child(node, Field::Index);
            let text = index.and_then(|it| self.literal_text(it));
            let name = text.map(|it| self.b.intern(it));
            let position = self.b.tree.position(object);
            self.b.site(Site { decl: cx.decl, kind: SiteKind::ReadsEnv, name, position });
        }
        Step::Into
    }

    pub(super) fn maybe_process(&mut self, function: Node, arguments: Node, cx: Context) {
        if READERS.contains(&self.b.bytes(function)) {
            self.note_site(SiteKind::ReadsEnv, function, arguments, cx);
            return;
        }
        let Some(root) = self.root_of(function).filter(|it| self.kind(*it) == Kind::Identifier) else {
            return;
        };
        let root = self.b.name(root);
        let Some((module, member)) = self.imported.get(&root) else { return };
        let Some((_, names)) = PROCESSES.iter().find(|(it, _)| it == module) else { return };
        let called = match (self.kind(function), member) {
            (Kind::Identifier, Some(member)) => member.clone(),
            (Kind::Identifier, None) => "default".to_owned(),
            _ => self.terminal(function).map(|it| self.b.text(it).into_owned()).unwrap_or_default(),
        };
        if names.contains(&called.as_str()) {
            self.note_site(SiteKind::StartsProcess, function, arguments, cx);
        }
    }

    fn note_site(&mut self, kind: SiteKind, function: Node, arguments: Node, cx: Context) {
        let first = self.first_child(arguments);
        let text = first.and_then(|it| self.literal_text(it));
        let text = text.and_then(|it| match kind {
            SiteKind::ReadsEnv => Some(it),
            SiteKind::StartsProcess => it.split_whitespace().next().map(str::to_owned),
        });
        let name = text.filter(|it| !it.is_empty()).map(|it| self.b.intern(it));
        let last = self.terminal(function).unwrap_or(function);
        self.b.site(Site { decl: cx.decl, kind, name, position: self.b.tree.position(last) });
    }
}
