//! Whether a header is C++: by words that C does not have, outside of what only a C++ compiler sees.

use super::scan::{Token, TokenKind, tokens};

pub(crate) fn is_cpp(bytes: &[u8]) -> bool {
    // Without one of these no token below can be found.
    const WORDS: [&[u8]; 6] = [b"class", b"namespace", b"template", b"::", b"public:", b"using "];
    if !WORDS.iter().any(|it| memchr::memmem::find(bytes, it).is_some()) {
        return false;
    }
    let tokens = tokens(bytes);
    // Conditionals around, each with whether only C++ sees its present branch.
    let mut around: Vec<bool> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == TokenKind::Directive {
            conditional(token.text(bytes), &mut around);
        } else if !around.contains(&true) && says_cpp(bytes, &tokens[at..]) {
            return true;
        }
    }
    false
}

fn conditional(text: &[u8], around: &mut Vec<bool>) {
    let text = text[1..].trim_ascii_start();
    let names = |text: &[u8]| memchr::memmem::find(text, b"__cplusplus").is_some();
    if text.starts_with(b"ifndef") {
        around.push(false);
    } else if text.starts_with(b"if") {
        around.push(names(text) && !text.contains(&b'!'));
    } else if text.starts_with(b"el") {
        if let Some(last) = around.last_mut() {
            *last = false;
        }
    } else if text.starts_with(b"endif") {
        around.pop();
    }
}

fn says_cpp(bytes: &[u8], tokens: &[Token]) -> bool {
    let Some(first) = tokens.first() else { return false };
    if first.kind == TokenKind::Scope {
        return true;
    }
    if !first.is_word() {
        return false;
    }
    let is_word = |at: usize| tokens.get(at).is_some_and(Token::is_word);
    let is_mark = |at: usize, marks: &[u8]| {
        tokens.get(at).is_some_and(|it| matches!(it.kind, TokenKind::Mark(mark) if marks.contains(&mark)))
    };
    match first.text(bytes) {
        b"class" => is_word(1) && (is_mark(2, b"{:;") || is_word(2) && (is_mark(3, b"{:;") || is_word(3))),
        b"namespace" => is_mark(1, b"{") || is_word(1) && is_mark(2, b"{:"),
        b"template" => is_mark(1, b"<"),
        b"public" | b"private" | b"protected" => is_mark(1, b":"),
        b"using" => is_word(1) && (is_word(2) || is_mark(2, b"=")),
        _ => false,
    }
}
