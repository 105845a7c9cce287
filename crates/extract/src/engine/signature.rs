//! A declaration's head on one line: white space folded, comments left out, keys masked, at most 400 bytes.

use std::borrow::Cow;

use super::secrets;

pub(crate) const MAX_SIGNATURE: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comments {
    /// `# ...`
    Hash,
    /// `// ...` and `/* ... */`
    Slashes,
}

/// The text of a head, made fit to be a signature.
pub(crate) fn signature(text: &str, comments: Comments) -> Cow<'_, str> {
    // A head may be as long as the file; what is folded away is mostly white space.
    let end = text.floor_char_boundary(text.len().min(MAX_SIGNATURE * 8));
    let text = &text[..end];
    if is_folded(text) {
        return Cow::Borrowed(text[..text.floor_char_boundary(MAX_SIGNATURE)].trim_end());
    }
    let mut folded = fold(text, comments);
    if let Some(masked) = secrets::mask(&folded, if comments == Comments::Hash { b"\"'" } else { b"\"" }) {
        folded = masked;
    }
    folded.truncate(folded.floor_char_boundary(MAX_SIGNATURE));
    folded.truncate(folded.trim_end().len());
    Cow::Owned(folded)
}

/// Whether a text is what folding it gives, as most heads are: one line, single spaces, no literals or comments.
fn is_folded(text: &str) -> bool {
    let mut before = b' ';
    for &byte in text.as_bytes() {
        if !matches!(byte, b' '..=b'~')
            || matches!(byte, b'"' | b'\'' | b'#' | b'\\' | b'/')
            || byte == b' ' && before == b' '
        {
            return false;
        }
        before = byte;
    }
    before != b' '
}

fn fold(text: &str, comments: Comments) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_SIGNATURE));
    let mut rest = text.chars().peekable();
    let mut quote: Option<char> = None;
    let mut pending = Gap::None;
    while let Some(character) = rest.next() {
        if quote.is_none() {
            if character.is_whitespace() {
                let broken = character == '\n';
                pending = if broken || pending == Gap::Break { Gap::Break } else { Gap::Space };
                continue;
            }
            if starts_comment(character, rest.peek().copied(), comments) {
                skip_comment(character, &mut rest, comments);
                pending = Gap::Break;
                continue;
            }
        }
        write_gap(&mut out, pending, character);
        pending = Gap::None;
        match character {
            '\\' if quote.is_some() => {
                out.push(character);
                out.extend(rest.next());
                continue;
            }
            '\\' if rest.peek().is_some_and(|it| *it == '\n' || *it == '\r') => continue,
            '"' | '\'' if quote.is_none() && (character == '"' || comments == Comments::Hash) => {
                quote = Some(character)
            }
            _ if quote == Some(character) => quote = None,
            '\n' | '\r' => {
                out.push(' ');
                continue;
            }
            _ => {}
        }
        out.push(character);
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Space,
    Break,
}

/// Where a line was broken inside brackets, nothing is put in; a comma before the closing one goes.
fn write_gap(out: &mut String, gap: Gap, next: char) {
    if gap == Gap::None || out.is_empty() {
        return;
    }
    if gap == Gap::Break {
        if matches!(next, ')' | ']' | '>') {
            if out.ends_with(',') {
                out.pop();
            }
            return;
        }
        if out.ends_with(['(', '[', '<']) || next == ',' {
            return;
        }
    }
    out.push(' ');
}

fn starts_comment(character: char, next: Option<char>, comments: Comments) -> bool {
    match comments {
        Comments::Hash => character == '#',
        Comments::Slashes => character == '/' && matches!(next, Some('/' | '*')),
    }
}

fn skip_comment(first: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>, comments: Comments) {
    let block = comments == Comments::Slashes && first == '/' && rest.peek() == Some(&'*');
    let mut before = ' ';
    for character in rest.by_ref() {
        let ends = if block { before == '*' && character == '/' } else { character == '\n' };
        if ends {
            return;
        }
        before = character;
    }
}
