//! How often a term occurs in the fields of a document, and lists of such counts.
//!
//! ```text
//! list     (delta of the key, counts)*         keys ascend: documents of a term, or terms of a document
//! counts   0 fff tttt                          one field f, t + 1 times: nine of ten
//!          1000 0000, mask, a varint per field  anything else
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
                out.extend([LONG, self.mask]);
                for field in fields_of(self.mask) {
                    varint::write(out, self.of[field]);
                }
            }
        }
    }

    pub(crate) fn read(bytes: &[u8], at: &mut usize) -> Option<Counts> {
        let code = *bytes.get(*at)?;
        *at += 1;
        let mut counts = Counts::default();
        match code {
            ..LONG => counts.add(usize::from(code >> 4), u32::from(code & 15) + 1),
            LONG => {
                let mask = *bytes.get(*at)?;
                *at += 1;
                for field in fields_of(mask) {
                    counts.add(field, varint::read(bytes, at)?);
                }
                if counts.mask != mask {
                    return None;
                }
            }
            _ => return None,
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

/// Walks a list. Ends early where the bytes make no sense, and says so.
#[derive(Clone)]
pub(crate) struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The key before the next one; none at the beginning.
    last: Option<u32>,
    n_left: u32,
    n_keys: u32,
    is_damaged: bool,
}

impl<'b> Cursor<'b> {
    /// A list of `n_items` keys below `n_keys`.
    pub(crate) fn new(bytes: &'b [u8], n_items: u32, n_keys: u32) -> Cursor<'b> {
        Cursor { bytes, at: 0, last: None, n_left: n_items, n_keys, is_damaged: false }
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    #[inline]
    fn key(&mut self) -> Option<u32> {
        let delta = varint::read(self.bytes, &mut self.at)?;
        let key = match self.last {
            None => delta,
            Some(last) => last.checked_add(delta)?.checked_add(1)?,
        };
        self.last = Some(key);
        (key < self.n_keys).then_some(key)
    }
}

impl Iterator for Cursor<'_> {
    type Item = (u32, Counts);

    #[inline]
    fn next(&mut self) -> Option<(u32, Counts)> {
        self.n_left = self.n_left.checked_sub(1)?;
        let key = self.key();
        let item = key.and_then(|key| Some((key, Counts::read(self.bytes, &mut self.at)?)));
        if item.is_none() {
            self.is_damaged = true;
            self.n_left = 0;
        }
        item
    }
}

/// The number that stands for a key after `last`.
pub(crate) fn delta(last: Option<u32>, key: u32) -> u32 {
    match last {
        None => key,
        Some(last) => key - last - 1,
    }
}
