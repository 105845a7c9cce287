//! Constants whose text may be a part of a path: `API = "/api/v1"`. Patterns of other files are built of them.
//!
//! Only what reads like a path is kept, so that neither keys nor messages are.

use knowing_model::NodeKind;
use knowing_model::facts::DeclId;

use super::{Found, Pass, literal};

/// A longer declaration is no short text.
const MAX_LENGTH: usize = 240;

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    if matches!(pass.facts.language.as_str(), "ruby" | "php" | "c" | "cpp") {
        return;
    }
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        use NodeKind::{Const, EnumMember, Field, Property, Var};
        if !matches!(decl.kind, Const | Var | Field | Property | EnumMember) {
            continue;
        }
        let (from, to) = (decl.range.from as usize, decl.range.to as usize);
        if to.saturating_sub(from) > MAX_LENGTH {
            continue;
        }
        let is_of_function = decl.owner.is_some_and(|it| pass.facts.decl(it).kind.is_callable());
        let Some(bytes) = pass.bytes.get(from..to).filter(|_| !is_of_function) else { continue };
        let Some(equals) = memchr::memchr(b'=', bytes) else { continue };
        let text = pass.text(from + equals + 1, to);
        let text = text.trim().trim_end_matches([';', ',']).trim_end_matches(" as const");
        if let Some(text) = literal(text, &pass.facts.language, &|_| None).filter(|it| is_path(it)) {
            found.constants.push((DeclId(index), super::routes::normalised(&text)));
        }
    }
}

/// A path, or a word that may be a segment of one.
fn is_path(text: &str) -> bool {
    let is_part =
        |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, b'/' | b'-' | b'_' | b'.');
    let is_word = text.len() <= 32 && text.bytes().all(|it| is_part(it) && !it.is_ascii_digit());
    let is_path = text.len() <= 100
        && text.contains('/')
        && text.bytes().all(|it| is_part(it) || it.is_ascii_alphabetic() || b"{}:<>*".contains(&it));
    !text.is_empty() && !text.contains("//") && (is_word || is_path)
}
