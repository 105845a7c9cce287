//! Texts as words and lines of GCF.

use std::fmt::Write as _;

/// A word: no space, no control character.
pub(super) fn push_word(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\0'..=' ' | '\x7f' | '%' => {
                write!(out, "%{:02X}", u32::from(character)).expect("a string takes all");
            }
            _ => out.push(character),
        }
    }
}

/// None when a `%` is not followed by two digits, or the bytes are no text.
pub(super) fn word(escaped: &str) -> Option<String> {
    if !escaped.contains('%') {
        return Some(escaped.to_owned());
    }
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        let digit = |it: u8| char::from(it).to_digit(16);
        bytes.push((digit(*high)? * 16 + digit(*low)?) as u8);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// The rest of a line.
pub(super) fn push_text(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            _ => out.push(character),
        }
    }
}

/// None when a backslash stands before anything but itself and `n`.
pub(super) fn text(escaped: &str) -> Option<String> {
    let mut text = String::with_capacity(escaped.len());
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.push(match characters.next()? {
                '\\' => '\\',
                'n' => '\n',
                _ => return None,
            }),
            _ => text.push(character),
        }
    }
    Some(text)
}

pub(super) fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim_end().to_owned()
}
