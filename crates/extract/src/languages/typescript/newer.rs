//! What the grammars do not know yet, made fit for them. Nothing moves, and texts are read from the file itself.
//!
//! ```text
//! export type * from './all'            without the `type`
//! f<typeof import('./lazy')>()          the whole is one name
//! class A { accessor: B }               another name, because `accessor` is a keyword there
//! ```

use memchr::memmem;

pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    let mut fitting = Fitting { source, out: None };
    for at in memmem::find_iter(source, b"export type") {
        let word = at + b"export ".len()..at + b"export type".len();
        if source[word.end..].trim_ascii_start().starts_with(b"*") {
            fitting.out()[word].fill(b' ');
        }
    }
    for at in memmem::find_iter(source, b"typeof import(") {
        let inside = &source[at + b"typeof import(".len()..];
        let end = memchr::memchr2(b')', b'\n', inside).filter(|&it| inside[it] == b')');
        if let Some(end) = end.filter(|&it| it > 0 && matches!(inside[it - 1], b'\'' | b'"')) {
            let out = &mut fitting.out()[at..at + b"typeof import(".len() + end + 1];
            out.fill(b' ');
            out[..b"typeof".len()].copy_from_slice(b"typeOf");
        }
    }
    for at in memmem::find_iter(source, b"accessor") {
        let end = at + b"accessor".len();
        let is_name =
            matches!(source[end..].trim_ascii_start().first(), Some(b':' | b'?' | b'!' | b'=' | b';'));
        if is_name && source[..at].last().is_none_or(u8::is_ascii_whitespace) {
            fitting.out()[end - 1] = b'R';
        }
    }
    fitting.out
}

struct Fitting<'a> {
    source: &'a [u8],
    out: Option<Vec<u8>>,
}

impl Fitting<'_> {
    fn out(&mut self) -> &mut [u8] {
        self.out.get_or_insert_with(|| self.source.to_vec())
    }
}
