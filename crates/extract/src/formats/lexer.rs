//! Words, strings and signs of formats with braces: enough to read them without a grammar each, and never stuck.

/// One word, string or sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    /// Strings without their quotes.
    pub(super) text: &'t str,
    pub(super) offset: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    Word,
    Text,
    Sign,
}

pub(super) struct Manner {
    /// What begins a comment to the end of the line.
    pub(super) comments: &'static [&'static str],
    pub(super) block_comments: bool,
    /// Signs that are part of words.
    pub(super) word_signs: &'static [u8],
    pub(super) quotes: &'static [u8],
    /// `<<EOF` up to a line with that word.
    pub(super) heredocs: bool,
    /// A quote is written twice inside of a text; `\` means nothing in some dialects, see `is_escaped`.
    pub(super) doubled: bool,
}

/// Tokens of one file; beyond, the rest is not read.
pub(super) const MAX_TOKENS: usize = 1_000_000;

pub(super) fn tokens<'t>(text: &'t str, manner: &Manner) -> Vec<Token<'t>> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() && out.len() < MAX_TOKENS {
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if manner.comments.iter().any(|it| bytes[at..].starts_with(it.as_bytes())) {
            at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it);
        } else if manner.block_comments && bytes[at..].starts_with(b"/*") {
            at = memchr::memmem::find(&bytes[at..], b"*/").map_or(bytes.len(), |it| at + it + 2);
        } else if manner.heredocs && bytes[at..].starts_with(b"<<") {
            let from = at;
            let begin = at + 2 + usize::from(bytes.get(at + 2) == Some(&b'-'));
            let n = bytes[begin..].iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
            let end = (n > 0).then(|| heredoc_end(text, begin + n, &text[begin..begin + n])).flatten();
            match end {
                Some(end) => {
                    out.push(Token { kind: TokenKind::Text, text: "", offset: from });
                    at = end;
                }
                None => at += 2,
            }
        } else if manner.quotes.contains(&byte) {
            let (inner, end) = quoted(text, at, manner);
            out.push(Token { kind: TokenKind::Text, text: inner, offset: at });
            at = end;
        } else if is_word(byte, manner) {
            let n = bytes[at..].iter().take_while(|it| is_word(**it, manner)).count();
            out.push(Token { kind: TokenKind::Word, text: &text[at..at + n], offset: at });
            at += n;
        } else {
            out.push(Token {
                kind: TokenKind::Sign,
                text: text.get(at..at + 1).unwrap_or_default(),
                offset: at,
            });
            at += 1;
        }
    }
    out
}

fn is_word(byte: u8, manner: &Manner) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 || manner.word_signs.contains(&byte)
}

fn quoted<'t>(text: &'t str, from: usize, manner: &Manner) -> (&'t str, usize) {
    let bytes = text.as_bytes();
    let quote = bytes[from];
    let triple = [quote; 3];
    if quote == b'"' && bytes[from..].starts_with(&triple) {
        let end = memchr::memmem::find(&bytes[from + 3..], &triple).map_or(bytes.len(), |it| from + 3 + it);
        return (text.get(from + 3..end).unwrap_or_default(), (end + 3).min(bytes.len()));
    }
    let mut at = from + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if !manner.doubled => at += 2,
            byte if byte == quote => {
                if manner.doubled && bytes.get(at + 1) == Some(&quote) {
                    at += 2;
                    continue;
                }
                if manner.doubled && is_escaped(bytes, from, at) {
                    at += 1;
                    continue;
                }
                return (text.get(from + 1..at).unwrap_or_default(), at + 1);
            }
            // A text that does not end on its line was none, but where texts may have lines.
            b'\n' if !manner.doubled => return (text.get(from + 1..at).unwrap_or_default(), at),
            _ => at += 1,
        }
    }
    (text.get(from + 1..).unwrap_or_default(), bytes.len())
}

/// Whether a quote of SQL is part of its text. MySQL writes `'it\'s'`, in others `'C:\'` is a whole text: behind the quote of
/// one that ends nothing but a sign or a blank can stand.
pub(super) fn is_escaped(bytes: &[u8], begin: usize, quote: usize) -> bool {
    let marks = bytes[begin + 1..quote].iter().rev().take_while(|it| **it == b'\\').count();
    let next = bytes.get(quote + 1).copied().unwrap_or(b';');
    marks % 2 == 1 && !matches!(next, b',' | b')' | b';' | b':' | b' ' | b'\t' | b'\r' | b'\n')
}

fn heredoc_end(text: &str, from: usize, name: &str) -> Option<usize> {
    let mut at = from + text[from..].find('\n')? + 1;
    for line in text[at..].split_inclusive('\n') {
        at += line.len();
        if line.trim() == name {
            return Some(at);
        }
    }
    None
}

/// The place of the sign that closes the one at `at`, or the end.
pub(super) fn closing(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        if token.kind == TokenKind::Sign {
            match token.text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return place;
                    }
                }
                _ => {}
            }
        }
    }
    tokens.len()
}

/// The place where a block ends, and where what follows begins. One that nothing closes ends before the next statement:
/// a word of `heads` at the begin of a line.
pub(super) fn block(text: &str, tokens: &[Token<'_>], open: usize, heads: &[&str]) -> (usize, usize) {
    let close = closing(tokens, open);
    if close < tokens.len() {
        return (close, close + 1);
    }
    let is_first = |it: &Token<'_>| it.offset == 0 || text.as_bytes()[it.offset - 1] == b'\n';
    let is_head = |it: &usize| {
        let token = &tokens[*it];
        token.is_word() && heads.contains(&token.text) && is_first(token)
    };
    let next = (open + 1..tokens.len()).find(is_head).unwrap_or(close);
    (next, next)
}

impl Token<'_> {
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == TokenKind::Sign && self.text == sign
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }
}
