//! GraphQL in code: ``gql`type Query { ... }` `` and its like. What stands there is read as a file of its own would be.

use knowing_model::NodeFlags;

use super::{Found, Pass};
use crate::formats::{Sheet, graphql};
use crate::limits::Limits;

/// What stands before a text of GraphQL, up to its quote or with it.
const MARKS: &[&str] =
    &["gql`", "graphql`", "gql(`", "graphql(`", "/* GraphQL */ `", "/* GraphQL */`", "`#graphql"];

/// What its names begin with, so that they are none of the code's.
const BEGIN: &str = "gql.";

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    // Schemas of tests are others than the one that is served.
    if pass.facts.language != "typescript" || pass.facts.flags.contains(NodeFlags::TEST) {
        return;
    }
    let mut text: Option<Vec<u8>> = None;
    for mark in MARKS {
        for at in memchr::memmem::find_iter(pass.bytes, mark.as_bytes()) {
            let is_word = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$');
            if at > 0 && is_word(pass.bytes[at - 1]) && is_word(mark.as_bytes()[0]) {
                continue;
            }
            let from = at + mark.find('`').map_or(0, |it| it + 1);
            let text = text.get_or_insert_with(|| blank(pass.bytes));
            copy(pass.bytes, from, text);
        }
    }
    let Some(text) = text else { return };
    // Places are those of the file, so that no byte may become several.
    let text = String::from_utf8(text).unwrap_or_else(|error| ascii(error.into_bytes()));
    let limits = Limits::default();
    let mut sheet = Sheet::new(pass.path, &text, &limits);
    graphql::read_as(&mut sheet, BEGIN);
    let facts = sheet.finish();
    if !facts.links.is_empty() || !facts.decls.is_empty() {
        found.embedded = Some(facts);
    }
}

/// As many spaces, in lines as before.
fn blank(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|it| if *it == b'\n' { b'\n' } else { b' ' }).collect()
}

/// What stands up to the closing quote; values that are put in stay blank.
fn copy(bytes: &[u8], from: usize, text: &mut [u8]) {
    let mut at = from;
    while at < bytes.len() && bytes[at] != b'`' {
        if bytes[at..].starts_with(b"${") {
            at += memchr::memchr(b'}', &bytes[at..]).map_or(bytes.len() - at, |it| it + 1);
            continue;
        }
        text[at] = bytes[at];
        let is_escaped = bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(u8::is_ascii);
        at += if is_escaped { 2 } else { 1 };
    }
}

/// Blanks for all that is none.
fn ascii(bytes: Vec<u8>) -> String {
    bytes.into_iter().map(|it| if it.is_ascii() { char::from(it) } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn places_are_right_behind_what_is_no_text() {
        for odd in [&b"\\\xc3\xa9"[..], b"\xff\xfe", b"\\"] {
            let source = [b"const a = gql`\n# ", odd, b"\ntype Query { me: Int }\n`;\n"].concat();
            let facts = crate::extract("a.ts", &source);
            let query = facts.decls.iter().find(|it| facts.text(it.path) == "gql.Query").unwrap();
            assert!(
                source[query.range.from as usize..].starts_with(b"Query {"),
                "{odd:?}: {:?}",
                query.range
            );
        }
    }
}
