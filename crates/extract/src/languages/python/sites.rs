//! Where a program reads its environment or starts another: known functions, verified through the file's imports.

use knowing_model::Range;
use knowing_model::facts::{Site, SiteKind};

use super::classes::unquoted;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Functions that read an environment variable named by their first argument.
const ENVIRONMENT: [&str; 11] = [
    "os.environ",
    "os.environ.copy",
    "os.environ.get",
    "os.environ.items",
    "os.environ.keys",
    "os.environ.pop",
    "os.environ.setdefault",
    "os.environ.values",
    "os.environb.get",
    "os.getenv",
    "os.getenvb",
];

/// Functions that start the process their first argument (or that after a mode) names.
const PROCESSES: [(&str, usize); 27] = [
    ("asyncio.create_subprocess_exec", 0),
    ("asyncio.create_subprocess_shell", 0),
    ("os.execl", 0),
    ("os.execle", 0),
    ("os.execlp", 0),
    ("os.execlpe", 0),
    ("os.execv", 0),
    ("os.execve", 0),
    ("os.execvp", 0),
    ("os.execvpe", 0),
    ("os.popen", 0),
    ("os.posix_spawn", 0),
    ("os.posix_spawnp", 0),
    ("os.spawnl", 1),
    ("os.spawnle", 1),
    ("os.spawnlp", 1),
    ("os.spawnv", 1),
    ("os.spawnvp", 1),
    ("os.system", 0),
    ("pty.spawn", 0),
    ("subprocess.Popen", 0),
    ("subprocess.call", 0),
    ("subprocess.check_call", 0),
    ("subprocess.check_output", 0),
    ("subprocess.getoutput", 0),
    ("subprocess.getstatusoutput", 0),
    ("subprocess.run", 0),
];

impl Reader<'_, '_> {
    pub(super) fn maybe_site(&mut self, call: Node, function: Node, cx: Context) {
        let Some(last) = self.terminal(function) else { return };
        let name = self.b.bytes(last);
        let may_be = |path: &str| path.as_bytes().ends_with(name);
        let is_candidate =
            ENVIRONMENT.iter().any(|it| may_be(it)) || PROCESSES.iter().any(|(it, _)| may_be(it));
        // An imported function may have any name.
        let is_bare = self.kind(function) == Kind::Identifier;
        if !is_candidate && !is_bare {
            return;
        }
        let Some(path) = self.imported_path(function) else { return };
        let place = PROCESSES.iter().find(|(it, _)| *it == path).map(|(_, place)| *place);
        if place.is_none() && !ENVIRONMENT.contains(&path.as_str()) {
            return;
        }
        let arguments = self.child(call, Field::Arguments);
        let argument = arguments.and_then(|it| self.children(it).nth(place.unwrap_or(0)));
        let kind = if place.is_some() { SiteKind::StartsProcess } else { SiteKind::ReadsEnv };
        self.note_site(kind, argument, last, cx);
    }

    /// `dict(os.environ)`: all of it is taken. To ask whether a name is in it takes nothing.
    pub(super) fn maybe_environment(&mut self, node: Node, cx: Context) {
        let Some(last) = self.terminal(node).filter(|it| self.is(*it, "environ")) else { return };
        let is_part = matches!(
            self.parent_kind(node),
            Kind::Attribute | Kind::Subscript | Kind::ComparisonOperator | Kind::Call
        );
        let is_written = self.field(node) == Field::Left;
        if !is_part && !is_written && self.imported_path(node).as_deref() == Some("os.environ") {
            self.note_site(SiteKind::ReadsEnv, None, last, cx);
        }
    }

    /// `os.environ["X"]`, read.
    pub(super) fn subscript(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(value) = self.child(node, Field::Value) else { return Step::Into };
        let Some(last) = self.terminal(value) else { return Step::Into };
        let may_be = self.kind(value) == Kind::Identifier || self.is(last, "environ");
        let is_written = self.field(node) == Field::Left || self.parent_kind(node) == Kind::DeleteStatement;
        if may_be && !is_written && self.imported_path(value).as_deref() == Some("os.environ") {
            let argument = self.child(node, Field::Subscript);
            self.note_site(SiteKind::ReadsEnv, argument, last, cx);
        }
        Step::Into
    }

    fn note_site(&mut self, kind: SiteKind, argument: Option<Node>, last: Node, cx: Context) {
        let text = argument.and_then(|it| self.literal_text(it, kind));
        let name = text.map(|it| self.b.intern(it));
        self.b.site(Site { decl: cx.decl, kind, name, position: self.b.tree.position(last) });
    }

    /// The dotted path a chain of names means by the imports of the file.
    fn imported_path(&mut self, node: Node) -> Option<String> {
        let root = self.root_of(node)?;
        let name = self.b.name(root);
        let meaning = self.imported.get(&name)?;
        let rest = self.b.source.slice(Range { from: self.b.tree.end(root), to: self.b.tree.end(node) });
        Some(format!("{meaning}{rest}"))
    }

    /// A literal name; of a command, its program.
    fn literal_text(&self, node: Node, kind: SiteKind) -> Option<String> {
        let node = match self.kind(node) {
            Kind::List | Kind::Tuple if kind == SiteKind::StartsProcess => self.first_child(node)?,
            _ => node,
        };
        // A text with parts that are computed has children.
        if self.kind(node) != Kind::String || self.first_child(node).is_some() {
            return None;
        }
        let raw = self.b.text(node);
        let text = unquoted(&raw)?;
        let text = match kind {
            SiteKind::ReadsEnv => text,
            SiteKind::StartsProcess => text.split_whitespace().next()?,
        };
        (!text.is_empty()).then(|| text.to_owned())
    }
}
