//! Documentation comments. Comments are no nodes of the flat tree; they are found in the text before a declaration,
//! directly above it, or behind a field or constant on its line.

use knowing_model::NodeKind;
use knowing_model::facts::Str;

use super::kinds::Kind;
use super::reader::Reader;
use crate::engine::docs::dedent;
use crate::engine::tree::Node;

/// Where the search for the begin of a line ends, and that for the begin of a block comment.
const MAX_LINE: usize = 2_000;
const MAX_BLOCK: usize = 8_000;

impl Reader<'_, '_> {
    /// What the comment above a declaration says, and whether it calls it deprecated.
    pub(super) fn doc_before(&mut self, node: Node, kind: NodeKind) -> (Option<Str>, bool) {
        let at = self.b.tree.start(node) as usize;
        let mut text = self.comment_before(at);
        if text.is_empty() && matches!(kind, NodeKind::Field | NodeKind::Const | NodeKind::Var) {
            text = self.comment_behind(self.b.tree.end(node) as usize);
        }
        let is_deprecated = text.lines().any(|it| it.trim_start().starts_with("Deprecated:"));
        let doc = dedent(&text);
        ((!doc.is_empty()).then(|| self.b.intern(doc)), is_deprecated)
    }

    /// The comment above the package clause.
    pub(super) fn file_docs(&mut self, root: Node) {
        let clause = self.children(root).find(|it| self.kind(*it) == Kind::PackageClause);
        if let Some(clause) = clause {
            let text = self.comment_before(self.b.tree.start(clause) as usize);
            let doc = dedent(&text);
            self.b.facts.doc = (!doc.is_empty()).then(|| self.b.intern(doc));
        }
    }

    /// Comments that end on the line above an offset, without a blank line between.
    fn comment_before(&self, at: usize) -> String {
        let bytes = self.b.source.bytes;
        let mut pieces: Vec<String> = Vec::new();
        let mut at = at;
        loop {
            let end = bytes[..at].trim_ascii_end().len();
            let n_breaks = bytes[end..at].iter().filter(|it| **it == b'\n').count();
            if n_breaks != 1 || end == 0 {
                break;
            }
            let floor = end.saturating_sub(MAX_LINE);
            let begin =
                bytes[floor..end].iter().rposition(|it| *it == b'\n').map_or(floor, |it| floor + it + 1);
            let line = bytes[begin..end].trim_ascii_start();
            if let Some(text) = line.strip_prefix(b"//") {
                if !is_directive(text) {
                    pieces.push(String::from_utf8_lossy(text).into_owned());
                }
                at = end - line.len();
            } else if line.ends_with(b"*/") {
                let floor = end.saturating_sub(MAX_BLOCK);
                let Some(open) = bytes[floor..end].windows(2).rposition(|it| it == b"/*") else { break };
                let open = floor + open;
                let is_alone =
                    bytes[..open].iter().rev().take_while(|it| **it != b'\n').all(u8::is_ascii_whitespace);
                if is_alone && end - open >= 4 {
                    pieces.push(block_text(&bytes[open + 2..end - 2]));
                }
                at = open;
            } else {
                break;
            }
        }
        pieces.reverse();
        joined(&pieces)
    }

    /// A comment on the same line.
    fn comment_behind(&self, at: usize) -> String {
        let rest = self.b.source.bytes.get(at..).unwrap_or_default();
        let line = rest.split(|it| *it == b'\n').next().unwrap_or_default().trim_ascii();
        let line = line.strip_prefix(b",").unwrap_or(line).trim_ascii();
        match line.strip_prefix(b"//") {
            Some(text) if !is_directive(text) => joined(&[String::from_utf8_lossy(text).into_owned()]),
            _ => String::new(),
        }
    }
}

fn joined(pieces: &[String]) -> String {
    let lines: Vec<&str> = pieces.iter().map(|it| it.strip_prefix(' ').unwrap_or(it)).collect();
    lines.join("\n")
}

/// `//go:embed x`, `//nolint`, `// +build x`: for tools.
fn is_directive(text: &[u8]) -> bool {
    let word_end = text.iter().position(|it| !it.is_ascii_lowercase() && !it.is_ascii_digit());
    let is_tool = word_end
        .is_some_and(|it| it > 0 && text[it] == b':' && text.get(it + 1).is_some_and(u8::is_ascii_lowercase));
    is_tool
        || text.starts_with(b"nolint")
        || text.trim_ascii_start().starts_with(b"+build ")
        || text.trim_ascii_start().starts_with(b"+k8s:")
        || text.starts_with(b"export ")
}

/// The inside of a block comment without the stars at the begin of its lines.
fn block_text(inside: &[u8]) -> String {
    let text = String::from_utf8_lossy(inside);
    let lines: Vec<&str> = text
        .trim()
        .lines()
        .map(|line| {
            let line = line.trim_end();
            let trimmed = line.trim_start();
            trimmed.strip_prefix("* ").or_else(|| trimmed.strip_prefix('*')).unwrap_or(line)
        })
        .collect();
    lines.join("\n")
}
