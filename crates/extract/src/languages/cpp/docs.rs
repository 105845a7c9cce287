//! Comments as documentation: those directly before a declaration, `///<` behind a member, and what the first comment
//! of a file says before its licence. Comments are no nodes of the flat tree; they are found in the text.

use knowing_model::facts::Str;

use super::reader::Reader;
use crate::engine::docs::dedent;

/// Where the search for the begin of a line ends, and that for the begin of a block comment.
const MAX_LINE: usize = 2_000;
const MAX_BLOCK: usize = 16_000;
const MAX_LINES: usize = 200;

impl Reader<'_, '_> {
    /// The comment that ends on the line before `from`, or behind a declaration that ends at `to`.
    pub(super) fn doc_around(&mut self, from: u32, to: u32) -> Option<Str> {
        self.doc_before(from).or_else(|| self.doc_behind(to))
    }

    pub(super) fn doc_before(&mut self, from: u32) -> Option<Str> {
        let bytes = self.b.source.bytes;
        let mut at = bytes.get(..from as usize)?;
        // A macro before the declaration is no part of it to the parser.
        let floor = at.len().saturating_sub(MAX_LINE);
        let line = at[floor..].iter().rposition(|it| *it == b'\n').map_or(floor, |it| floor + it + 1);
        let is_macro = |it: &u8| it.is_ascii_alphanumeric() || b"_()\", \t".contains(it);
        if at[line..].iter().all(is_macro) {
            at = &at[..line];
        }
        let mut pieces: Vec<String> = Vec::new();
        for _ in 0..MAX_LINES {
            let before = at.trim_ascii_end();
            // A blank line between a comment and what follows parts them.
            let n_breaks = at[before.len()..].iter().filter(|it| **it == b'\n').count();
            if n_breaks > 1 {
                break;
            }
            let floor = before.len().saturating_sub(MAX_LINE);
            let begin =
                before[floor..].iter().rposition(|it| *it == b'\n').map_or(floor, |it| floor + it + 1);
            let line = before[begin..].trim_ascii_start();
            if line.starts_with(b"//") {
                if is_behind(line) {
                    break;
                }
                pieces.push(line_text(line));
                at = &before[..begin];
            } else if before.ends_with(b"*/") && pieces.is_empty() {
                let floor = before.len().saturating_sub(MAX_BLOCK);
                let open = memchr::memmem::rfind(&before[floor..], b"/*")? + floor;
                let is_own_line = before[..open].trim_ascii_end().len() < before[..open].len()
                    && !before[..open]
                        .rsplit(|it| *it == b'\n')
                        .next()?
                        .iter()
                        .any(|it| !it.is_ascii_whitespace())
                    || open == 0;
                if !is_own_line || is_behind(&before[open..]) {
                    break;
                }
                pieces.push(block_text(&before[open..]));
                break;
            } else {
                break;
            }
        }
        pieces.reverse();
        self.doc_of(&pieces.join("\n"))
    }

    /// `int n; ///< How many.`
    fn doc_behind(&mut self, to: u32) -> Option<Str> {
        let rest = self.b.source.bytes.get(to as usize..)?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest[..end].trim_ascii();
        let line = line.strip_prefix(b";").or_else(|| line.strip_prefix(b",")).unwrap_or(line).trim_ascii();
        if line.starts_with(b"/*") {
            let close = memchr::memmem::find(&rest[..rest.len().min(MAX_BLOCK)], b"*/")?;
            let open = memchr::memmem::find(rest, b"/*")?;
            let comment = rest.get(open..close + 2)?;
            return self.doc_of(&block_text(comment));
        }
        if !line.starts_with(b"//") {
            return None;
        }
        self.doc_of(&line_text(line))
    }

    /// The first comment of the file, up to where it speaks of rights; none when it speaks of nothing else.
    pub(super) fn file_doc(&mut self) -> Option<Str> {
        let rest = self.b.source.bytes.trim_ascii_start();
        let rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        let text = if rest.starts_with(b"/*") {
            let close = memchr::memmem::find(&rest[..rest.len().min(MAX_BLOCK)], b"*/")?;
            block_text(&rest[..close + 2])
        } else {
            let lines = rest.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
            let lines: Vec<String> =
                lines.take_while(|it| it.starts_with(b"//")).take(MAX_LINES).map(line_text).collect();
            lines.join("\n")
        };
        let is_legal = |line: &&str| {
            let line = line.to_ascii_lowercase();
            ["copyright", "license", "spdx", "all rights", "(c) "].iter().any(|it| line.contains(it))
        };
        let kept: Vec<&str> = text.lines().take_while(|it| !is_legal(it)).collect();
        self.doc_of(&kept.join("\n"))
    }

    fn doc_of(&mut self, text: &str) -> Option<Str> {
        let doc = dedent(
            &text.replace("\\brief ", "").replace("@brief ", "").replace("\\file", "").replace("@file", ""),
        );
        let says_something = doc.chars().any(char::is_alphabetic);
        says_something.then(|| self.b.intern(doc))
    }
}

/// A comment about what stands before it.
fn is_behind(comment: &[u8]) -> bool {
    comment.get(2..4).is_some_and(|it| matches!(it, b"/<" | b"!<" | b"*<"))
}

fn line_text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = line[2..].trim_ascii_start();
    let skip = text.iter().take_while(|it| matches!(it, b'/' | b'!' | b'<')).count();
    let text = String::from_utf8_lossy(&text[skip..]).into_owned();
    text.strip_prefix(' ').map_or(text.clone(), str::to_owned)
}

/// The inside of a block comment without the stars at the begin of its lines and without rules of stars or lines.
fn block_text(comment: &[u8]) -> String {
    let inside = &comment[2..comment.len().saturating_sub(2).max(2)];
    let text = String::from_utf8_lossy(inside);
    let text = text.trim_start_matches(['*', '!', '<']).trim_end_matches('*');
    let lines: Vec<&str> = text
        .trim()
        .lines()
        .map(|line| {
            let line = line.trim();
            line.strip_prefix("* ").or_else(|| line.strip_prefix('*')).unwrap_or(line)
        })
        .filter(|line| {
            line.is_empty() || !line.chars().all(|it| matches!(it, '-' | '=' | '*' | '/' | ' ' | '#'))
        })
        .collect();
    lines.join("\n")
}
