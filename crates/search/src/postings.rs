//! How often a term occurs in the fields of a document, and lists of such counts.
//!
//! ```text
//! list     (delta of the key, counts)*         keys ascend: documents of a term, or terms of a document
//! counts   0 fff tttt                         one field f, t + 1 times
//!          1 nnnnnnn, mask, a varint a field  anything else, in n bytes
//! ```

use crate::fields::N_FIELDS;
use crate::varint;

/// Occurrences by field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) mask: u8,
    pub(crate) of: [u32; N_FIELDS],
}

/// More times than fit in the short form.
const MAX_SHORT: u32 = 16;
const LONG: u8 = 0x80;

impl Counts {
    pub(crate) fn add(&mut self, field: usize, count: u32) {
        self.mask |= u8::from(count > 0) << field;
        self.of[field] = self.of[field].saturating_add(count);
    }

    /// The short form, where there is one.
    pub(crate) fn code(&self) -> Option<u8> {
        let field = self.mask.trailing_zeros();
        let count = *self.of.get(field as usize)?;
        let is_short = self.mask.is_power_of_two() && count <= MAX_SHORT;
        is_short.then(|| (field << 4) as u8 | (count - 1) as u8)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self.code() {
            Some(code) => out.push(code),
            None => {
                let start = out.len();
                out.extend([LONG, self.mask]);
                for field in fields_of(self.mask) {
                    varint::write(out, self.of[field]);
                }
                // At most a mask and eight numbers of five bytes.
                out[start] |= (out.len() - start - 1) as u8;
            }
        }
    }

    fn read_long(bytes: &[u8]) -> Option<Counts> {
        let (&mask, _) = bytes.split_first()?;
        let mut counts = Counts { mask, of: [0; N_FIELDS] };
        let mut at = 1;
        for field in fields_of(mask) {
            counts.of[field] = varint::read(bytes, &mut at)?;
        }
        Some(counts)
    }
}

/// Set bits, lowest first.
pub(crate) fn fields_of(mask: u8) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let field = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (field < N_FIELDS).then_some(field)
    })
}

/// Walks a list: `key` is where it stands, `END` when it is through. Ends early where the bytes make no sense, and says so.
#[derive(Clone)]
pub(crate) struct Cursor<'b> {
    bytes: &'b [u8],
    pub(crate) key: u32,
    /// The first byte of this key's counts, where the others begin, and where the next key does.
    code: u8,
    counts: usize,
    at: usize,
    n_left: u32,
    n_keys: u32,
    is_damaged: bool,
}

/// Larger than any key.
pub(crate) const END: u32 = u32::MAX;

impl<'b> Cursor<'b> {
    /// At the first of a list of `n_items` keys below `n_keys`.
    pub(crate) fn new(bytes: &'b [u8], n_items: u32, n_keys: u32) -> Cursor<'b> {
        // The first step leads from the end to the first key: numbers wrap around.
        let mut cursor = Cursor {
            bytes,
            key: END,
            code: LONG,
            counts: 0,
            at: 0,
            n_left: n_items,
            n_keys,
            is_damaged: false,
        };
        cursor.advance();
        cursor
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    #[inline]
    pub(crate) fn advance(&mut self) {
        if self.n_left == 0 {
            self.key = END;
            return;
        }
        self.n_left -= 1;
        if self.step().is_none() {
            self.is_damaged = true;
            self.n_left = 0;
            self.key = END;
        }
    }

    /// Up to the first key that is not below `key`.
    pub(crate) fn advance_to(&mut self, key: u32) {
        while self.key < key {
            self.advance();
        }
    }

    /// The one field that has the term and how often, where the short form says so.
    #[inline]
    pub(crate) fn short(&self) -> Option<(usize, u32)> {
        (self.code < LONG).then(|| (usize::from(self.code >> 4 & 7), u32::from(self.code & 15) + 1))
    }

    /// Visits the fields that have the term and how often, in the long form; what makes no sense ends it.
    #[inline(always)]
    pub(crate) fn each_count(&self, mut visit: impl FnMut(usize, u32)) {
        let Some((&mask, rest)) = self.bytes.get(self.counts..self.at).and_then(|it| it.split_first()) else {
            return;
        };
        let mut at = 0;
        for field in fields_of(mask) {
            let Some(count) = varint::read(rest, &mut at) else { return };
            visit(field, count);
        }
    }

    /// What the key has; nothing at the end.
    #[inline]
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        match self.short() {
            _ if self.key == END => {}
            Some((field, count)) => counts.add(field, count),
            None => {
                let long = self.bytes.get(self.counts..self.at).and_then(Counts::read_long);
                counts = long.unwrap_or_default();
            }
        }
        counts
    }

    #[inline]
    fn step(&mut self) -> Option<()> {
        let delta = varint::read(self.bytes, &mut self.at)?;
        let key = self.key.wrapping_add(1).checked_add(delta)?;
        if key >= self.n_keys {
            return None;
        }
        self.key = key;
        self.code = *self.bytes.get(self.at)?;
        self.counts = self.at + 1;
        self.at = self.counts + if self.code < LONG { 0 } else { usize::from(self.code & !LONG) };
        Some(())
    }
}

/// The number that stands for a key after `last`.
pub(crate) fn delta(last: Option<u32>, key: u32) -> u32 {
    match last {
        None => key,
        Some(last) => key - last - 1,
    }
}
