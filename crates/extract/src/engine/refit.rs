//! Another text of the same length for the parser, where a grammar does not know what a file says. Nothing moves, and
//! texts are read from the file itself.

use std::ops::Range;

pub(crate) struct Refit<'s> {
    pub(crate) source: &'s [u8],
    /// A copy, once something is another.
    out: Option<Vec<u8>>,
}

impl<'s> Refit<'s> {
    pub(crate) fn new(source: &'s [u8]) -> Refit<'s> {
        Refit { source, out: None }
    }

    pub(crate) fn blank(&mut self, range: Range<usize>) {
        let line_ends = |it: &&mut u8| matches!(it, b'\n' | b'\r');
        self.out()[range].iter_mut().filter(|it| !line_ends(it)).for_each(|it| *it = b' ');
    }

    /// Writes over what stands at an offset.
    pub(crate) fn put(&mut self, at: usize, text: &[u8]) {
        self.out()[at..at + text.len()].copy_from_slice(text);
    }

    /// None when the file is fit as it is.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        self.out
    }

    fn out(&mut self) -> &mut [u8] {
        self.out.get_or_insert_with(|| self.source.to_vec())
    }
}

pub(crate) fn is_part_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}
