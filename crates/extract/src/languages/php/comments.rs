//! Documentation comments, and the types they state: `@param`, `@return`, `@var`.

use knowing_model::facts::{Str, Type, TypeId};

use super::reader::Reader;
use crate::engine::docs;
use crate::engine::tree::Node;

/// Where the search for the begin of a comment ends.
const MAX_BLOCK: usize = 8_000;

impl Reader<'_, '_> {
    pub(super) fn doc_before(&mut self, node: Node) -> Option<Str> {
        let text = docs::block_before(self.b.source.bytes, self.b.tree.start(node))?;
        // What tags state is in the types.
        let kept: Vec<&str> = text.lines().filter(|it| !it.trim_start().starts_with('@')).collect();
        let kept = kept.join("\n");
        let kept = kept.trim();
        (!kept.is_empty()).then(|| self.b.intern(docs::cut(kept, docs::MAX_DOC).to_owned()))
    }

    /// The comment that ends directly before a node, as it is written.
    pub(super) fn comment_before(&self, node: Node) -> Option<String> {
        let bytes = self.b.source.bytes;
        let end = bytes.get(..self.b.tree.start(node) as usize)?.trim_ascii_end().len();
        if !bytes[..end].ends_with(b"*/") {
            return None;
        }
        let floor = end.saturating_sub(MAX_BLOCK);
        let open = floor + bytes[floor..end].windows(3).rposition(|it| it == b"/**")?;
        Some(String::from_utf8_lossy(&bytes[open..end]).into_owned())
    }

    /// The type that a tag states: of a parameter where `name` is given, else the first.
    pub(super) fn stated(&mut self, comment: &str, tag: &str, name: Option<&str>, at: u32) -> Option<TypeId> {
        for line in comment.lines() {
            let line = line.trim_start_matches([' ', '\t', '*', '/']);
            let Some(rest) = line.strip_prefix(tag).and_then(|it| it.strip_prefix(char::is_whitespace))
            else {
                continue;
            };
            let rest = rest.trim();
            let (type_, after) = split_type(rest);
            if name.is_none_or(|name| after.trim_start().trim_start_matches(['&', '.']).starts_with(name)) {
                return self.type_from_text(type_, at, 0);
            }
        }
        None
    }

    pub(super) fn has_tag(comment: &str, tag: &str) -> bool {
        comment.lines().any(|it| it.trim_start_matches([' ', '\t', '*', '/']).trim_end().starts_with(tag))
    }

    /// `Cart|null`, `Cart[]`, `array<int, Cart>`, `\Shop\Cart`: the first part that is a class.
    fn type_from_text(&mut self, text: &str, at: u32, depth: usize) -> Option<TypeId> {
        if depth > 4 {
            return None;
        }
        let text = text.trim().trim_start_matches('?').trim_matches(['(', ')']);
        let alternatives = split_top(text, '|');
        if alternatives.len() > 1 {
            let kept: Vec<&str> = alternatives
                .into_iter()
                .filter(|it| !matches!(it.trim(), "null" | "false" | "void"))
                .collect();
            return match kept[..] {
                [one] => self.type_from_text(one, at, depth + 1),
                _ => None,
            };
        }
        if let Some(of) = text.strip_suffix("[]") {
            let of = self.type_from_text(of, at, depth + 1)?;
            return Some(self.b.type_(Type::Sequence(of)));
        }
        if let Some((base, arguments)) = text.split_once('<') {
            let arguments = arguments.strip_suffix('>').unwrap_or(arguments);
            let last = split_top(arguments, ',').pop()?;
            if matches!(
                base,
                "array" | "list" | "iterable" | "non-empty-array" | "non-empty-list" | "Generator"
            ) {
                let of = self.type_from_text(last, at, depth + 1)?;
                return Some(self.b.type_(Type::Sequence(of)));
            }
            if base == "class-string" {
                return None;
            }
            let base = self.named_from_text(base, at)?;
            return Some(base);
        }
        self.named_from_text(text, at)
    }

    fn named_from_text(&mut self, text: &str, at: u32) -> Option<TypeId> {
        let is_name = !text.is_empty()
            && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'\\') || it >= 0x80);
        let is_known = text == "$this";
        if !is_name && !is_known {
            return None;
        }
        let text = if is_known { "static" } else { text };
        let segments: Vec<Str> = text.split('\\').map(|it| self.b.intern(it.to_owned())).collect();
        Some(self.b.type_(Type::Named { segments, arguments: Vec::new(), at }))
    }
}

/// A type at the begin of a text, which may hold spaces in its brackets, and what follows.
fn split_type(text: &str) -> (&str, &str) {
    let mut depth = 0_i32;
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth -= 1,
            _ if character.is_whitespace() && depth <= 0 => return (&text[..at], &text[at..]),
            _ => {}
        }
    }
    (text, "")
}

/// Parts between separators that stand in no brackets.
fn split_top(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth -= 1,
            _ if character == separator && depth <= 0 => {
                parts.push(&text[from..at]);
                from = at + character.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}
