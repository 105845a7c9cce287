//! Documentation comments. Comments are no nodes of the flat tree, so that lists hold nothing but what they list; they
//! are found in the text before an item, and at the begin of a file or a module.

use knowing_model::Range;
use knowing_model::facts::Str;

use super::kinds::{Field, Kind};
use super::reader::Reader;
use crate::engine::docs::dedent;
use crate::engine::tree::Node;

/// Where the search for the begin of a line ends, and that for the begin of a block comment.
const MAX_LINE: usize = 2_000;
const MAX_BLOCK: usize = 8_000;

impl Reader<'_, '_> {
    /// What `///`, `/** */` and `#[doc = "..."]` before an item say.
    pub(super) fn outer_doc(&mut self, item: Node) -> Option<Str> {
        let bytes = self.b.source.bytes;
        let mut attributes = self.attributes.iter().rev().copied().peekable();
        let mut at = self.b.tree.start(item) as usize;
        // From the item upwards.
        let mut pieces: Vec<String> = Vec::new();
        loop {
            let end = bytes[..at].trim_ascii_end().len();
            if let Some(attribute) = attributes.next_if(|it| self.b.tree.end(*it) as usize == end) {
                pieces.extend(self.doc_attribute(attribute));
                at = self.b.tree.start(attribute) as usize;
                continue;
            }
            let floor = end.saturating_sub(MAX_LINE);
            let begin =
                bytes[floor..end].iter().rposition(|it| *it == b'\n').map_or(floor, |it| floor + it + 1);
            let line = bytes[begin..end].trim_ascii_start();
            if line.starts_with(b"//!") {
                break;
            } else if line.starts_with(b"//") {
                if line.starts_with(b"///") && !line.starts_with(b"////") {
                    pieces.push(String::from_utf8_lossy(&line[3..]).into_owned());
                }
                at = begin;
            } else if line.ends_with(b"*/") {
                let floor = end.saturating_sub(MAX_BLOCK);
                let Some(open) = bytes[floor..end].windows(2).rposition(|it| it == b"/*") else { break };
                let open = floor + open;
                let comment = &bytes[open..end];
                if comment.starts_with(b"/*!") {
                    break;
                }
                if comment.len() > 4 && comment.starts_with(b"/**") && !comment.starts_with(b"/***") {
                    pieces.push(block_text(&comment[3..comment.len() - 2]));
                }
                at = open;
            } else {
                break;
            }
        }
        pieces.reverse();
        self.doc_of(&pieces)
    }

    /// What `//!` and `/*! */` say at the begin of a file, or of a module after its brace.
    pub(super) fn inner_doc(&mut self, from: u32) -> Option<Str> {
        let rest = self.b.source.bytes.get(from as usize..).unwrap_or_default();
        // A byte order mark may stand before all else.
        let mut rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        let mut pieces: Vec<String> = Vec::new();
        loop {
            rest = rest.trim_ascii_start();
            if rest.starts_with(b"#!") {
                let is_attribute = rest[2..].trim_ascii_start().starts_with(b"[");
                rest = if is_attribute { after_brackets(rest) } else { after_line(rest).1 };
            } else if rest.starts_with(b"//") && !is_outer_doc(rest) {
                let (line, after) = after_line(rest);
                if let Some(text) = line.strip_prefix(b"//!") {
                    pieces.push(String::from_utf8_lossy(text).into_owned());
                }
                rest = after;
            } else if rest.starts_with(b"/*") && !is_outer_doc(rest) {
                let Some(close) = rest.windows(2).position(|it| it == b"*/") else { break };
                if rest.starts_with(b"/*!") && close >= 3 {
                    pieces.push(block_text(&rest[3..close]));
                }
                rest = &rest[close + 2..];
            } else {
                break;
            }
        }
        self.doc_of(&pieces)
    }

    fn doc_attribute(&self, item: Node) -> Option<String> {
        let attribute = self.child_of_kind(item, Kind::Attribute)?;
        let path = self.first_child(attribute)?;
        if !self.is(path, "doc") {
            return None;
        }
        let value = self.child(attribute, Field::Value)?;
        let range = self.b.tree.range(value);
        let text = self.b.source.slice(Range { from: range.from + 1, to: range.to.saturating_sub(1) });
        (self.kind(value) == Kind::StringLiteral).then(|| text.replace("\\n", "\n").replace("\\\"", "\""))
    }

    fn doc_of(&mut self, pieces: &[String]) -> Option<Str> {
        let lines: Vec<&str> = pieces.iter().map(|it| it.strip_prefix(' ').unwrap_or(it)).collect();
        let doc = dedent(&lines.join("\n"));
        (!doc.is_empty()).then(|| self.b.intern(doc))
    }
}

/// The inside of a block comment without the stars at the begin of its lines.
fn block_text(inside: &[u8]) -> String {
    let text = String::from_utf8_lossy(inside);
    let lines: Vec<&str> = text
        .trim()
        .lines()
        .map(|line| {
            let line = line.trim();
            line.strip_prefix("* ").or_else(|| line.strip_prefix('*')).unwrap_or(line)
        })
        .collect();
    lines.join("\n")
}

fn is_outer_doc(text: &[u8]) -> bool {
    text.starts_with(b"///") && !text.starts_with(b"////")
        || text.starts_with(b"/**") && !text.starts_with(b"/***") && !text.starts_with(b"/**/")
}

/// The line without its end, and what comes after it.
fn after_line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|it| *it == b'\n') {
        Some(end) => (&text[..end], &text[end..]),
        None => (text, &[]),
    }
}

/// What comes after the first pair of brackets.
fn after_brackets(text: &[u8]) -> &[u8] {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth <= 1 => return &text[at + 1..],
            b']' => depth -= 1,
            _ => {}
        }
    }
    &[]
}
