//! What the grammar does not know, made fit for it.
//!
//! ```text
//! @Resource("/api") data object Root       without `data`: it would be a value that `object` is called on
//! context(session: Session) fun f()        without what is in sight there
//! $$"a $b"                                 without the dollars before the quote
//! class A                                  without modifiers of a constructor on a line of its own
//! internal constructor(x: Int) { }
//! @Entity                                  without `@` where the file ends here
//! ```

use memchr::memmem;

use crate::engine::refit::{Refit, is_part_of_name};

pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    let mut refit = Refit::new(source);
    for at in memmem::find_iter(source, b"data object ") {
        if source[..at].trim_ascii_end().ends_with(b")") {
            refit.blank(at..at + 4);
        }
    }
    for at in memmem::find_iter(source, b"context(") {
        if let Some(n) = context_of(&source[at..]).filter(|_| begins_line(source, at)) {
            refit.blank(at..at + n);
        }
    }
    for at in memmem::find_iter(source, b"$$\"") {
        let n = source[..at].iter().rev().take_while(|it| **it == b'$').count();
        refit.blank(at - n..at + 2);
    }
    for at in memmem::find_iter(source, b" constructor(") {
        let from = source[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        let are_words = source[from..at].iter().all(|&it| is_part_of_name(it) || it == b' ');
        if are_words && is_head_of_class(source[..from].trim_ascii_end()) {
            refit.blank(from..at);
        }
    }
    let last_line = source.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    for at in memchr::memchr_iter(b'@', &source[last_line..]).map(|it| last_line + it) {
        if is_unfinished(&source[at..]) {
            refit.blank(at..at + 1);
        }
    }
    refit.finish()
}

/// Whether the file ends in an annotation: the grammar's scanner looks for white space behind it, and would look forever.
fn is_unfinished(annotation: &[u8]) -> bool {
    let mut is_in_parentheses = false;
    for &byte in annotation {
        match byte {
            b'(' => is_in_parentheses = true,
            b')' => is_in_parentheses = false,
            _ if byte.is_ascii_whitespace() && !is_in_parentheses => return false,
            _ => {}
        }
    }
    true
}

fn begins_line(source: &[u8], at: usize) -> bool {
    source[..at].iter().rev().find(|it| !matches!(it, b' ' | b'\t')).is_none_or(|it| *it == b'\n')
}

/// How long `context(...)` is, where a declaration follows.
fn context_of(text: &[u8]) -> Option<usize> {
    const MAX_BYTES: usize = 400;
    const WORDS: &[&[u8]] = &[
        b"abstract",
        b"class",
        b"fun",
        b"infix",
        b"inline",
        b"interface",
        b"internal",
        b"open",
        b"operator",
        b"override",
        b"private",
        b"protected",
        b"public",
        b"suspend",
        b"tailrec",
        b"val",
        b"var",
    ];
    let end = memchr::memchr(b')', &text[..text.len().min(MAX_BYTES)])?;
    let inside = &text[b"context(".len()..end];
    let is_type = inside.first().is_some_and(u8::is_ascii_uppercase);
    let next = text[end + 1..].trim_ascii_start();
    let n = next.iter().take_while(|&&it| is_part_of_name(it)).count();
    let declares = next.starts_with(b"@") || WORDS.contains(&&next[..n]);
    (declares && !inside.contains(&b'(') && (is_type || inside.contains(&b':'))).then_some(end + 1)
}

/// Whether the last line names a class and no more.
fn is_head_of_class(before: &[u8]) -> bool {
    let line = before.rsplit(|it| *it == b'\n').next().unwrap_or_default();
    memmem::find(line, b"class ").is_some()
        && line.last().is_some_and(|&it| is_part_of_name(it) || it == b'>')
}
