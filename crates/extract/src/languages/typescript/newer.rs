//! What the grammars do not know yet, made fit for them.
//!
//! ```text
//! export type * from './all'            without the `type`
//! f<typeof import('./lazy')>()          the whole is one name
//! class A { accessor: B }               another name, because `accessor` is a keyword there
//! ```

use memchr::memmem;

use crate::engine::refit::Refit;

pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    let mut refit = Refit::new(source);
    for at in memmem::find_iter(source, b"export type") {
        let word = at + b"export ".len()..at + b"export type".len();
        if source[word.end..].trim_ascii_start().starts_with(b"*") {
            refit.blank(word);
        }
    }
    for at in memmem::find_iter(source, b"typeof import(") {
        let inside = &source[at + b"typeof import(".len()..];
        let end = memchr::memchr2(b')', b'\n', inside).filter(|&it| inside[it] == b')');
        if let Some(end) = end.filter(|&it| it > 0 && matches!(inside[it - 1], b'\'' | b'"')) {
            refit.blank(at..at + b"typeof import(".len() + end + 1);
            refit.put(at, b"typeOf");
        }
    }
    for at in memmem::find_iter(source, b"accessor") {
        let end = at + b"accessor".len();
        let is_name =
            matches!(source[end..].trim_ascii_start().first(), Some(b':' | b'?' | b'!' | b'=' | b';'));
        if is_name && source[..at].last().is_none_or(u8::is_ascii_whitespace) {
            refit.put(at, b"accessoR");
        }
    }
    refit.finish()
}
