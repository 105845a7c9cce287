//! GraphQL in code: ``gql`type Query { ... }` `` and its like. What stands there is read as a file of its own would be.

use knowing_model::NodeFlags;
use knowing_model::facts::{DeclId, FileFacts};

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
    let text = String::from_utf8_lossy(&text);
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
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
}

/// The innermost declaration of code around an offset.
pub(super) fn holder(facts: &FileFacts, offset: u32) -> Option<DeclId> {
    let around = (0..).zip(&facts.decls).filter(|(_, it)| it.range.from <= offset && offset < it.range.to);
    around.min_by_key(|(_, it)| it.range.to - it.range.from).map(|(at, _)| DeclId(at))
}
