//! Macros that only wrap items: `cfg_rt! { ... }`, `pin_project! { ... }`, `bitflags! { ... }`.
//!
//! Nobody parses the inside of a macro, so what such a wrapper declares would be lost. The parser gets the file with the
//! wrapper's own text blanked, byte by byte, so that the items inside stand at their places; everything else still reads
//! the file as it is.

use memchr::memmem;

use crate::engine::refit::{Refit, is_part_of_name};

/// The text for the parser, when it is not the file's own.
pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    // Few files have any, and looking for a word is cheap.
    let hints: [&[u8]; 4] = [b"cfg_", b"pin_project!", b"bitflags!", b"feature!"];
    if !hints.iter().any(|it| memmem::find(source, it).is_some()) {
        return None;
    }
    let mut blanker = Blanker { source, refit: Refit::new(source) };
    let mut at = 0;
    while at < source.len() {
        at = blanker.step(at);
    }
    blanker.refit.finish()
}

struct Blanker<'s> {
    source: &'s [u8],
    refit: Refit<'s>,
}

impl Blanker<'_> {
    /// Looks at what begins at an offset and gives the next one to look at.
    fn step(&mut self, at: usize) -> usize {
        if let Some(after) = skipped(self.source, at) {
            return after;
        }
        if !is_name_start(self.source[at]) {
            return at + 1;
        }
        let end = name_end(self.source, at);
        let Some(open) = opened(self.source, end) else { return end };
        let name = &self.source[at..end];
        let wraps = name.starts_with(b"cfg_") || matches!(name, b"pin_project" | b"feature");
        let flags = name == b"bitflags";
        if !wraps && !flags {
            return end;
        }
        let Some(close) = closed(self.source, open) else { return end };
        if wraps && !holds_items(&self.source[open + 1..close]) {
            return end;
        }
        // A path before it goes with it: `pin_project_lite::pin_project!`.
        let mut from = at;
        while from > 0 && (is_part_of_name(self.source[from - 1]) || self.source[from - 1] == b':') {
            from -= 1;
        }
        self.refit.blank(from..open + 1);
        self.refit.blank(close..close + 1);
        if flags {
            self.flag_types(open + 1, close);
            return close + 1;
        }
        open + 1
    }

    /// `struct Name: u32 { const A = 1; }` becomes `struct Name;`, all else of the body goes.
    fn flag_types(&mut self, from: usize, to: usize) {
        let (mut at, mut done) = (from, from);
        while at < to {
            if let Some(after) = skipped(self.source, at) {
                at = after;
                continue;
            }
            if self.source[at] != b'{' {
                at += 1;
                continue;
            }
            let Some(close) = closed(self.source, at).filter(|it| *it < to) else { return };
            match memmem::rfind(&self.source[done..at], b"struct ") {
                Some(word) => {
                    let mut name = done + word + b"struct ".len();
                    while self.source[name].is_ascii_whitespace() {
                        name += 1;
                    }
                    let end = name_end(self.source, name);
                    self.refit.blank(end..close + 1);
                    self.refit.put(end, b";");
                }
                None => self.refit.blank(done..close + 1),
            }
            at = close + 1;
            done = at;
        }
    }
}

/// Whether the body of a wrapper begins like an item.
fn holds_items(body: &[u8]) -> bool {
    const WORDS: [&[u8]; 16] = [
        b"pub",
        b"struct",
        b"enum",
        b"fn",
        b"impl",
        b"mod",
        b"use",
        b"trait",
        b"const",
        b"static",
        b"type",
        b"unsafe",
        b"async",
        b"macro_rules",
        b"extern",
        b"union",
    ];
    let mut at = 0;
    while at < body.len() {
        if body[at].is_ascii_whitespace() {
            at += 1;
        } else if let Some(after) = comment(body, at) {
            at = after;
        } else {
            break;
        }
    }
    let rest = &body[at..];
    rest.starts_with(b"#[")
        || rest.starts_with(b"#![")
        || WORDS
            .iter()
            .any(|it| rest.starts_with(it) && rest.get(it.len()).is_none_or(|it| !is_part_of_name(*it)))
        || rest.starts_with(b"cfg_")
}

/// The brace that a name and `!` open.
fn opened(source: &[u8], end: usize) -> Option<usize> {
    let mut at = end;
    if source.get(at) != Some(&b'!') {
        return None;
    }
    at += 1;
    while source.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    (source.get(at) == Some(&b'{')).then_some(at)
}

/// The brace that closes the one at an offset.
fn closed(source: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = open;
    while at < source.len() {
        if let Some(after) = skipped(source, at) {
            at = after;
            continue;
        }
        match source[at] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The end of a comment, text or character that begins at an offset.
fn skipped(source: &[u8], at: usize) -> Option<usize> {
    if let Some(end) = comment(source, at) {
        return Some(end);
    }
    match source[at] {
        b'"' => Some(text_end(source, at + 1)),
        b'r' if at == 0 || !is_part_of_name(source[at - 1]) => {
            let n_hashes = source[at + 1..].iter().take_while(|it| **it == b'#').count();
            let quote = at + 1 + n_hashes;
            if source.get(quote) != Some(&b'"') {
                return None;
            }
            let mut end = vec![b'"'];
            end.resize(n_hashes + 1, b'#');
            let found = memmem::find(&source[quote + 1..], &end);
            Some(found.map_or(source.len(), |it| quote + 1 + it + end.len()))
        }
        b'\'' => match source.get(at + 1..)? {
            [b'\\', _, rest @ ..] => {
                let close = rest.iter().take(12).position(|it| *it == b'\'')?;
                Some(at + 3 + close + 1)
            }
            [_, b'\'', ..] => Some(at + 3),
            // A lifetime, or a letter of several bytes, which holds no brace.
            _ => None,
        },
        _ => None,
    }
}

fn comment(source: &[u8], at: usize) -> Option<usize> {
    let rest = &source[at..];
    if rest.starts_with(b"//") {
        return Some(memchr::memchr(b'\n', rest).map_or(source.len(), |it| at + it));
    }
    if !rest.starts_with(b"/*") {
        return None;
    }
    let (mut depth, mut at) = (1, at + 2);
    while depth > 0 && at < source.len() {
        match &source[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    Some(at)
}

fn text_end(source: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < source.len() {
        match source[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    source.len()
}

fn name_end(source: &[u8], at: usize) -> usize {
    let n = source[at..].iter().take_while(|it| is_part_of_name(**it)).count();
    at + n
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}
