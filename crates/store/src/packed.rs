//! Small values as bytes: compressed blobs, sets of row numbers, sites, lists of symbols.

use std::cell::RefCell;

use knowing_model::{Position, checksum};
use roaring::RoaringBitmap;
use zstd::bulk::{Compressor, Decompressor};

/// Facts shrink to seven tenths (kafka: 54.7 to 38.4 MB). Level 1 makes 31.4 MB of them in nearly twice the time, which is a
/// fiftieth of an index of Java, and a twentieth where files are small; decoding takes longer, too.
const LEVEL: i32 = -3;

/// What a damaged length may not make us allocate.
const MAX_PLAIN: usize = 1 << 30;

thread_local! {
    // A context is about a megabyte of tables: making one for each file would cost more than compressing it.
    // The buffer beside it is as long as the longest frame could be.
    static COMPRESSOR: RefCell<Option<(Compressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The length as four little-endian bytes, then one zstd frame.
pub(crate) fn compress(plain: &[u8]) -> Vec<u8> {
    COMPRESSOR.with_borrow_mut(|it| {
        let (compressor, frame) = it.get_or_insert_with(|| {
            (Compressor::new(LEVEL).expect("the level is one that zstd has"), Vec::new())
        });
        let length = u32::try_from(plain.len()).expect("a blob is shorter than 4 GiB");
        frame.clear();
        frame.reserve(zstd::zstd_safe::compress_bound(plain.len()));
        compressor.compress_to_buffer(plain, frame).expect("compressing in memory has nothing to fail on");
        let mut out = Vec::with_capacity(4 + frame.len());
        out.extend(length.to_le_bytes());
        out.extend_from_slice(frame);
        out
    })
}

/// None when the bytes are damaged.
pub(crate) fn decompress(packed: &[u8]) -> Option<Vec<u8>> {
    let (length, frame) = packed.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_PLAIN {
        return None;
    }
    DECOMPRESSOR.with_borrow_mut(|it| {
        if it.is_none() {
            *it = Decompressor::new().ok();
        }
        let plain = it.as_mut()?.decompress(frame, length).ok()?;
        (plain.len() == length).then_some(plain)
    })
}

/// Finds accidents: a change of any one word of any one part changes the sum.
pub(crate) fn sum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> i64 {
    // Odd, so that each step is a bijection of the sum before it.
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |sum: u64, part: &[u8]| (sum ^ checksum(part)).wrapping_mul(ODD).rotate_left(29);
    parts.into_iter().fold(1, fold) as i64
}

pub(crate) fn pack_set(set: &RoaringBitmap) -> Vec<u8> {
    let mut plain = Vec::with_capacity(set.serialized_size());
    set.serialize_into(&mut plain).expect("writing to memory has nothing to fail on");
    compress(&plain)
}

pub(crate) fn unpack_set(packed: &[u8]) -> Option<RoaringBitmap> {
    RoaringBitmap::deserialize_from(decompress(packed)?.as_slice()).ok()
}

/// Appends lines as differences to the one before, and columns.
pub(crate) fn pack_sites(sites: &[Position], out: &mut Vec<u8>) {
    let mut before = 0;
    for site in sites {
        let difference = i64::from(site.line) - before;
        before = i64::from(site.line);
        push_number(((difference << 1) ^ (difference >> 63)) as u64, out);
        push_number(u64::from(site.column), out);
    }
}

pub(crate) fn unpack_sites(mut packed: &[u8]) -> Option<Vec<Position>> {
    let mut sites = Vec::new();
    let mut line = 0_i64;
    while !packed.is_empty() {
        let folded = take_number(&mut packed)?;
        line = line.checked_add((folded >> 1) as i64 ^ -((folded & 1) as i64))?;
        let column = take_number(&mut packed)?;
        sites.push(Position { line: u32::try_from(line).ok()?, column: u32::try_from(column).ok()? });
    }
    Some(sites)
}

pub(crate) fn pack_rows(rows: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    for row in rows {
        push_number(u64::from(row), out);
    }
}

pub(crate) fn unpack_rows(mut packed: &[u8]) -> Option<Vec<u32>> {
    let mut rows = Vec::new();
    while !packed.is_empty() {
        rows.push(u32::try_from(take_number(&mut packed)?).ok()?);
    }
    Some(rows)
}

/// Seven bits a byte, lowest first; the high bit says that more follow.
pub(crate) fn push_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// None for what `push_number` would have written otherwise: a number has one spelling.
pub(crate) fn take_number(packed: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = packed.split_first()?;
        *packed = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return (byte != 0 || shift == 0).then_some(number);
        }
    }
    // The last of 64 bits.
    let (&byte, rest) = packed.split_first()?;
    *packed = rest;
    (byte == 1).then_some(number | 1 << 63)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_of_rows_round_trip(rows in proptest::collection::btree_set(any::<u32>(), 0..300)) {
            let set: RoaringBitmap = rows.into_iter().collect();
            prop_assert_eq!(unpack_set(&pack_set(&set)), Some(set));
        }

        #[test]
        fn sites_round_trip(sites in proptest::collection::vec(any::<(u32, u32)>(), 0..20)) {
            let sites: Vec<Position> = sites.into_iter().map(|(line, column)| Position { line, column }).collect();
            let mut packed = Vec::new();
            pack_sites(&sites, &mut packed);
            prop_assert_eq!(unpack_sites(&packed), Some(sites));
        }

        #[test]
        fn damaged_bytes_give_nothing_or_something_but_no_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            unpack_sites(&bytes);
            unpack_rows(&bytes);
            unpack_set(&bytes);
            decompress(&bytes);
        }
    }

    #[test]
    fn a_wrong_length_is_noticed() {
        let mut packed = compress(b"hello hello hello");
        assert_eq!(decompress(&packed).as_deref(), Some(&b"hello hello hello"[..]));
        packed[0] += 1;
        assert_eq!(decompress(&packed), None);
    }
}
