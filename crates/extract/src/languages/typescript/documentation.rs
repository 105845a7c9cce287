//! Comments before declarations: their text, and what JSDoc says about types.

use knowing_model::facts::{ReferenceRole, Str, TypeId};
use knowing_model::{NodeFlags, Range};
use rustc_hash::FxHashMap;

use super::kinds::Kind;
use super::reader::{Context, Reader};
use crate::engine::docs::{MAX_DOC, cut, dedent};
use crate::engine::tree::Node;

/// Where the head of a member begins when decorators stand before it.
#[derive(Default)]
pub(super) struct Documentation {
    pub(super) heads: FxHashMap<Node, u32>,
}

/// `@param {T} name`, `@returns {T}`, `@type {T}`.
pub(super) struct Tag<'s> {
    pub(super) name: &'s [u8],
    pub(super) type_: Range,
    /// The name behind the type.
    pub(super) about: &'s [u8],
}

impl<'s> Reader<'_, 's> {
    /// The comment a file begins with, when it is about the file.
    pub(super) fn file_doc(&mut self) {
        let bytes = self.b.source.bytes;
        let start = skip_head(bytes);
        let Some(rest) = bytes.get(start..).filter(|it| it.starts_with(b"/**")) else { return };
        let Some(end) = memchr::memmem::find(rest, b"*/") else { return };
        let is_apart = rest[end + 2..].trim_ascii_start().len() + 2 < rest[end + 2..].len()
            && rest[end + 2..]
                .iter()
                .take_while(|it| it.is_ascii_whitespace())
                .filter(|&&it| it == b'\n')
                .count()
                > 1;
        let text = String::from_utf8_lossy(&rest[..end + 2]);
        let lower = text.to_ascii_lowercase();
        let is_about_file = ["@file", "@module", "@packagedocumentation"].iter().any(|it| lower.contains(it));
        let is_licence = lower.contains("copyright") || lower.contains("licens");
        if is_about_file || is_apart && !is_licence {
            let doc = block_text(&text);
            if !doc.is_empty() {
                self.b.facts.doc = Some(self.b.intern(doc));
            }
        }
    }

    /// Where the statement begins that a declaration is the first of.
    pub(super) fn head_start(&self, node: Node) -> u32 {
        let mut node = node;
        let mut start = self.b.tree.start(node);
        while let Some(parent) = self.b.tree.parent(node) {
            if let Some(head) = self.documentation.heads.get(&node) {
                return *head;
            }
            let holds = matches!(
                self.kind(parent),
                Kind::LexicalDeclaration
                    | Kind::VariableDeclaration
                    | Kind::ExportStatement
                    | Kind::AmbientDeclaration
                    | Kind::ExpressionStatement
                    | Kind::AssignmentExpression
                    | Kind::Pair
            );
            if !holds
                || self.first_child(parent).is_some_and(|it| it != node && self.is_sibling(parent, it, node))
            {
                break;
            }
            node = parent;
            start = self.b.tree.start(node);
        }
        start
    }

    /// Whether another declarator stands before this one.
    fn is_sibling(&self, parent: Node, first: Node, node: Node) -> bool {
        matches!(self.kind(parent), Kind::LexicalDeclaration | Kind::VariableDeclaration) && first != node
    }

    /// The comment that ends right before an offset.
    pub(super) fn comment_before(&self, offset: u32) -> Option<Range> {
        let before = &self.b.source.bytes[..offset as usize];
        let text = before.trim_ascii_end();
        let gap = &before[text.len()..];
        if gap.iter().filter(|&&it| it == b'\n').count() > 1 {
            return None;
        }
        if text.ends_with(b"*/") {
            let start = memchr::memmem::rfind(&text[..text.len() - 2], b"/*")?;
            return text[start..].starts_with(b"/**").then(|| range(start, text.len()));
        }
        let mut start = text.len();
        let mut n_lines = 0;
        // Lines that are comments and nothing else, without a gap.
        while n_lines < 40 {
            let line_start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |it| it + 1);
            if !text[line_start..start].trim_ascii_start().starts_with(b"//") {
                break;
            }
            n_lines += 1;
            start = line_start;
            if line_start == 0 {
                break;
            }
            // The line above, without its own end.
            let above = &text[..line_start - 1];
            let above_start = memchr::memrchr(b'\n', above).map_or(0, |it| it + 1);
            if !above[above_start..].trim_ascii_start().starts_with(b"//") {
                break;
            }
            start = above.len();
        }
        (n_lines > 0 && start < text.len()).then(|| range(start, text.len()))
    }

    /// The documentation of what begins at an offset, and the flags it gives.
    pub(super) fn doc_at(&mut self, offset: u32) -> (Option<Str>, NodeFlags) {
        let mut flags = NodeFlags::default();
        let Some(comment) = self.comment_before(offset) else { return (None, flags) };
        let text = self.b.source.slice(comment);
        let doc = if text.starts_with("/*") { block_text(&text) } else { line_text(&text) };
        if doc.contains("@deprecated") {
            flags.insert(NodeFlags::DEPRECATED);
        }
        if doc.is_empty() {
            return (None, flags);
        }
        (Some(self.b.intern(doc)), flags)
    }

    /// Types that comments state count where the language has no others.
    pub(super) fn has_comment_types(&self) -> bool {
        let path = self.b.path;
        [".js", ".jsx", ".mjs", ".cjs", ".vue"].iter().any(|it| path.ends_with(it))
    }

    pub(super) fn tags_at(&self, offset: u32) -> Vec<Tag<'s>> {
        let mut out = Vec::new();
        if !self.has_comment_types() {
            return out;
        }
        let Some(comment) = self.comment_before(offset) else { return out };
        let bytes = self.b.source.bytes(comment);
        for at in memchr::memchr_iter(b'@', bytes) {
            let rest = &bytes[at + 1..];
            let n_name = rest.iter().take_while(|it| it.is_ascii_alphabetic()).count();
            let name = &rest[..n_name];
            if !matches!(name, b"param" | b"arg" | b"return" | b"returns" | b"type" | b"this") {
                continue;
            }
            let n_blank = rest[n_name..].iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
            let open = n_name + n_blank;
            if rest.get(open) != Some(&b'{') {
                continue;
            }
            let Some(length) = balanced(&rest[open..]) else { continue };
            let from = comment.from + number(at + 1 + open + 1);
            let to = comment.from + number(at + 1 + open + length - 1);
            let behind = rest[open + length..].trim_ascii_start();
            let behind = behind.strip_prefix(b"[").unwrap_or(behind);
            let n_about = behind
                .iter()
                .take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$'))
                .count();
            out.push(Tag { name, type_: Range { from, to }, about: &behind[..n_about] });
        }
        out
    }

    pub(super) fn tag_type(
        &mut self,
        tags: &[Tag<'_>],
        names: &[&[u8]],
        about: Option<&[u8]>,
        cx: Context,
    ) -> Option<TypeId> {
        let tag =
            tags.iter().find(|it| names.contains(&it.name) && about.is_none_or(|about| it.about == about))?;
        let type_ = self.annotation_at(tag.type_, cx, ReferenceRole::Hint);
        (!self.is_unknown(type_)).then_some(type_)
    }
}

/// Past a byte order mark, `#!` and `"use strict"`.
fn skip_head(bytes: &[u8]) -> usize {
    let mut at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    loop {
        let rest = &bytes[at..];
        let n_blank = rest.iter().take_while(|it| it.is_ascii_whitespace()).count();
        let rest = &rest[n_blank..];
        let is_head = [&b"#!"[..], b"'use ", b"\"use ", b"// @"].iter().any(|it| rest.starts_with(it));
        at += n_blank;
        if !is_head {
            return at;
        }
        at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }
}

fn block_text(text: &str) -> String {
    let inner = text.trim_start_matches('/').trim_start_matches('*');
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let mut out = String::with_capacity(inner.len().min(MAX_DOC * 2));
    for line in inner.lines() {
        if out.len() > MAX_DOC * 4 {
            break;
        }
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line);
        out.push_str(line.strip_prefix(' ').unwrap_or(line));
        out.push('\n');
    }
    dedent(out.trim_matches('\n'))
}

/// Lines after `//`; those that talk to tools are left out.
fn line_text(text: &str) -> String {
    const TOOLS: [&str; 10] = [
        "eslint",
        "@ts-",
        "prettier-",
        "istanbul",
        "tslint",
        "#region",
        "#endregion",
        "biome-",
        "c8 ",
        "v8 ",
    ];
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches('/');
        let line = line.strip_prefix(' ').unwrap_or(line);
        let is_rule = line.bytes().all(|it| matches!(it, b'-' | b'=' | b'*' | b'#' | b' '));
        if is_rule || TOOLS.iter().any(|it| line.trim_start().starts_with(it)) {
            continue;
        }
        out.push_str(line);
        out.push('\n');
    }
    cut(out.trim(), MAX_DOC).to_owned()
}

/// The length of what stands in braces, them included.
fn balanced(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in bytes.iter().enumerate().take(2_000) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn range(from: usize, to: usize) -> Range {
    Range { from: number(from), to: number(to) }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
