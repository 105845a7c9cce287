//! The text of a file, which may be no valid UTF-8.

use std::borrow::Cow;

use knowing_model::Range;

#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) bytes: &'s [u8],
    /// The same, when all of it is valid.
    text: Option<&'s str>,
}

impl<'s> Source<'s> {
    pub(crate) fn new(bytes: &'s [u8]) -> Source<'s> {
        Source { bytes, text: std::str::from_utf8(bytes).ok() }
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.text.is_some()
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn slice(&self, range: Range) -> Cow<'s, str> {
        let (from, to) = (range.from as usize, range.to as usize);
        match self.text.and_then(|text| text.get(from..to)) {
            Some(text) => Cow::Borrowed(text),
            None => String::from_utf8_lossy(self.bytes(range)),
        }
    }

    pub(crate) fn bytes(&self, range: Range) -> &'s [u8] {
        self.bytes.get(range.from as usize..range.to as usize).unwrap_or_default()
    }

    /// Where a text occurs, in order.
    pub(crate) fn occurrences(&self, wanted: &str) -> Vec<u32> {
        let offset = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        match self.text {
            Some(text) => text.match_indices(wanted).map(|(at, _)| offset(at)).collect(),
            None => {
                let windows = self.bytes.windows(wanted.len()).enumerate();
                windows.filter(|(_, it)| *it == wanted.as_bytes()).map(|(at, _)| offset(at)).collect()
            }
        }
    }

    pub(crate) fn n_lines(&self) -> u32 {
        let n_ends = memchr::memchr_iter(b'\n', self.bytes).count();
        let unfinished = self.bytes.last().is_some_and(|&it| it != b'\n');
        u32::try_from(n_ends + usize::from(unfinished)).unwrap_or(u32::MAX)
    }

    /// Line of the first byte that is no UTF-8.
    pub(crate) fn first_invalid_line(&self) -> Option<u32> {
        let valid = std::str::from_utf8(self.bytes).err()?.valid_up_to();
        let before = self.bytes[..valid].iter().filter(|&&it| it == b'\n').count();
        u32::try_from(before + 1).ok()
    }
}
