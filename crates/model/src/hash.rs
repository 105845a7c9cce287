//! `H(tag, f1 ... fn)`: SHA-256 over a tag and length-prefixed fields, and one newtype for each thing it names.

use std::fmt;

use sha2::block_api::compress256;
use sha2::{Digest, Sha256};

use crate::lanes;

/// 32 bytes of SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first bytes as a number, which is ordered as they are.
    pub fn head(&self) -> u64 {
        u64::from_be_bytes(*self.0.first_chunk().expect("a hash has 32 bytes"))
    }

    pub fn from_hex(text: &str) -> Option<Hash> {
        let bytes = text.as_bytes();
        if bytes.len() != 64 {
            return None;
        }
        let mut out = [0; 32];
        for (slot, pair) in out.iter_mut().zip(bytes.chunks_exact(2)) {
            *slot = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Some(Hash(out))
    }

    fn of_words(words: [u32; 8]) -> Hash {
        let mut out = [0; 32];
        for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        Hash(out)
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|it| it as u8)
}

/// Lower-case hex of any bytes.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[(byte >> 4) as usize] as char);
        out.push(DIGITS[(byte & 15) as usize] as char);
    }
    out
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Builds `H(tag, ...)`: `knowing/` tag `/1`, a zero byte, then each field as u32 length and bytes.
///
/// Most keys are short: they are put together here and hashed in one go, which takes half the time of feeding the parts
/// one by one. Parts of an id have lengths that the compiler knows, so that with everything inline they are plain stores.
pub struct Hasher {
    /// Zero behind `length` while nothing was hashed yet.
    buffer: [u8; BUFFER],
    length: usize,
    /// What stands before the buffer, once that was full.
    long: Vec<u8>,
}

pub(crate) const BLOCK: usize = 64;
const BUFFER: usize = 4 * BLOCK;

impl Hasher {
    #[inline(always)]
    pub fn new(tag: &str) -> Hasher {
        let mut hasher = Hasher { buffer: [0; BUFFER], length: 0, long: Vec::new() };
        hasher.write(b"knowing/");
        hasher.write(tag.as_bytes());
        hasher.write(b"/1\0");
        hasher
    }

    #[inline(always)]
    pub fn field(mut self, bytes: &[u8]) -> Hasher {
        self.push(bytes);
        self
    }

    /// As `field`, for loops.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).expect("a hashed field is shorter than 4 GiB");
        self.write(&length.to_le_bytes());
        self.write(bytes);
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        match self.buffer.get_mut(self.length..self.length + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.write_long(bytes),
        }
    }

    #[cold]
    fn write_long(&mut self, bytes: &[u8]) {
        self.long.extend_from_slice(&self.buffer[..self.length]);
        self.long.extend_from_slice(bytes);
        self.length = 0;
    }

    // What is not inline is moved first, all of its buffer.
    #[inline(always)]
    pub fn finish(mut self) -> Hash {
        match self.long.is_empty() {
            true => digest(&mut self.buffer, self.length),
            false => Hash(self.rest_in_long().finalize().into()),
        }
    }

    #[cold]
    fn rest_in_long(&self) -> Sha256 {
        Sha256::new_with_prefix(&self.long).chain_update(&self.buffer[..self.length])
    }

    /// What each key would give by `finish`, in their order, in a fraction of the time where the processor can hash several
    /// keys side by side.
    pub fn finish_all(keys: impl IntoIterator<Item = Hasher>) -> Vec<Hash> {
        /// Enough keys that idle lanes do not count, in memory that is near; long ones may take more of it.
        const MANY: usize = 64;
        const NEAR: usize = (32 << 10) / BLOCK;
        const FAR: usize = (1 << 20) / BLOCK;
        let keys = keys.into_iter();
        let Some(compress) = lanes::compress() else { return keys.map(Hasher::finish).collect() };
        let mut hashes = Vec::with_capacity(keys.size_hint().0);
        let (mut padded, mut ends) = (Vec::new(), Vec::new());
        let mut digest = |padded: &mut Vec<[u8; BLOCK]>, ends: &mut Vec<usize>| {
            hashes.extend(lanes::digests(compress, padded, ends).into_iter().map(Hash::of_words));
            padded.clear();
            ends.clear();
        };
        for key in keys {
            key.pad_into(&mut padded);
            ends.push(padded.len());
            if padded.len() >= FAR || padded.len() >= NEAR && ends.len() >= MANY {
                digest(&mut padded, &mut ends);
            }
        }
        digest(&mut padded, &mut ends);
        hashes
    }

    /// Appends the blocks of the key.
    #[inline(always)]
    fn pad_into(mut self, padded: &mut Vec<[u8; BLOCK]>) {
        let end = (self.length + TAIL).next_multiple_of(BLOCK);
        if !self.long.is_empty() || end > BUFFER {
            return self.pad_long_into(padded);
        }
        pad(&mut self.buffer, self.length, end);
        // Block by block: copies of a known length are a few stores.
        self.buffer.as_chunks().0[..end / BLOCK].iter().for_each(|it| padded.push(*it));
    }

    #[cold]
    fn pad_long_into(mut self, padded: &mut Vec<[u8; BLOCK]>) {
        self.long.extend_from_slice(&self.buffer[..self.length]);
        let length = self.long.len();
        self.long.resize((length + TAIL).next_multiple_of(BLOCK), 0);
        let end = self.long.len();
        pad(&mut self.long, length, end);
        padded.extend_from_slice(self.long.as_chunks().0);
    }
}

/// Behind a key stand a mark and its length in bits, the latter at the end of a block.
const MARK: u8 = 0x80;
const TAIL: usize = 1 + size_of::<u64>();

fn bits(length: usize) -> [u8; 8] {
    (length as u64 * 8).to_be_bytes()
}

/// Of what is zero behind `length`.
#[inline(always)]
fn pad(bytes: &mut [u8], length: usize, end: usize) {
    bytes[length] = MARK;
    bytes[end - size_of::<u64>()..end].copy_from_slice(&bits(length));
}

/// SHA-256 of the first `length` bytes of a buffer that is zero behind them: padded in place, compressed at once.
#[inline]
fn digest(buffer: &mut [u8; BUFFER], length: usize) -> Hash {
    let end = (length + TAIL).next_multiple_of(BLOCK);
    if end > BUFFER {
        return Hash(Sha256::digest(&buffer[..length]).into());
    }
    pad(buffer, length, end);
    let mut state = INITIAL;
    compress256(&mut state, buffer[..end].as_chunks::<BLOCK>().0);
    Hash::of_words(state)
}

/// What SHA-256 begins with.
pub(crate) const INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

macro_rules! id_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub Hash);

        impl $name {
            pub fn as_bytes(&self) -> &[u8; 32] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

id_types! {
    /// A repository, by its url.
    RepoId;
    /// A file version: path and content in a repository.
    FileId;
    /// A symbol or thing, by its identity (not by its content).
    NodeId;
    /// A relation: source, target and kind.
    EdgeId;
    /// The graph state of a commit.
    SnapshotId;
}

/// Where an id stands among `n_ids` sorted ones, or would stand. Ids are hashes and so evenly spread: a guess by value is
/// right within a few steps, where halving takes seventeen for 70,000.
pub fn position_of<'a>(
    id: &[u8; 32],
    n_ids: usize,
    at: impl Fn(usize) -> &'a [u8; 32],
) -> Result<usize, usize> {
    let head = |it: &[u8; 32]| u64::from_be_bytes(*it.first_chunk().expect("an id has 32 bytes"));
    let wanted = head(id);
    let (mut from, mut to) = (0, n_ids);
    let (mut low, mut high) = (0, u64::MAX);
    // Even spread is what hashes promise; ids of a hostile file may lie otherwise, and then halving takes over.
    const MAX_GUESSES: usize = 12;
    for guesses in 0.. {
        if from >= to {
            return Err(from);
        }
        let middle = if guesses < MAX_GUESSES && high > low {
            let share = u128::from(wanted.clamp(low, high) - low) * (to - from) as u128
                / (u128::from(high - low) + 1);
            from + share as usize
        } else {
            from + (to - from) / 2
        };
        let found = at(middle);
        match found.cmp(id) {
            std::cmp::Ordering::Equal => return Ok(middle),
            std::cmp::Ordering::Less => (from, low) = (middle + 1, head(found)),
            std::cmp::Ordering::Greater => (to, high) = (middle, head(found)),
        }
    }
    Err(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_a_binary_search_however_ids_are_spread() {
        let even: Vec<[u8; 32]> =
            (0..500_u32).map(|it| Hasher::new("x").field(&it.to_le_bytes()).finish().0).collect();
        let mut crowded = vec![[0; 32]; 300];
        crowded.iter_mut().enumerate().for_each(|(at, it)| (it[7], it[31]) = ((at / 256) as u8, at as u8));
        for mut ids in [even, crowded, Vec::new()] {
            ids.sort_unstable();
            let mut asked = ids.clone();
            asked.extend([[0; 32], [255; 32], [127; 32], [1; 32]]);
            for id in asked {
                assert_eq!(position_of(&id, ids.len(), |at| &ids[at]), ids.binary_search(&id));
            }
        }
    }

    /// The definition, word by word.
    fn plain(tag: &str, fields: &[&[u8]]) -> Hash {
        let mut bytes = format!("knowing/{tag}/1\0").into_bytes();
        for field in fields {
            bytes.extend((field.len() as u32).to_le_bytes());
            bytes.extend(*field);
        }
        Hash(Sha256::digest(&bytes).into())
    }

    #[test]
    fn fields_of_any_length_hash_as_defined() {
        for first in [0, 1, 100, 236, 237, 238, 239, 240, 255, 256, 257, 1000] {
            for second in [0, 3, 300] {
                let (first, second) = (vec![7; first], vec![9; second]);
                let ours = Hasher::new("x").field(&first).field(&second).field(b"end").finish();
                assert_eq!(ours, plain("x", &[&first, &second, b"end"]), "{} {}", first.len(), second.len());
            }
        }
    }

    #[test]
    fn many_keys_hash_as_each_by_itself() {
        let key = |length: usize| Hasher::new("x").field(&vec![length as u8; length]).field(b"end");
        // A few, many of one length, all lengths around the borders of blocks and of the buffer, and long ones between short.
        let lists: [Vec<usize>; 6] = [
            vec![],
            vec![7],
            vec![40; 9],
            (0..600).collect(),
            (0..600).rev().collect(),
            (0..300).map(|it| if it % 7 == 0 { 5000 + it } else { it % 90 }).collect(),
        ];
        for lengths in lists {
            let expected: Vec<Hash> = lengths.iter().map(|it| key(*it).finish()).collect();
            assert_eq!(Hasher::finish_all(lengths.iter().map(|it| key(*it))), expected);
        }
    }

    #[test]
    fn hex_is_read_back_and_bad_hex_refused() {
        let hash = Hasher::new("x").finish();
        assert_eq!(Hash::from_hex(&hash.to_string()), Some(hash));
        assert_eq!(Hash::from_hex("abc"), None);
        assert_eq!(Hash::from_hex(&"g".repeat(64)), None);
    }
}
