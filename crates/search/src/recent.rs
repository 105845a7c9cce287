//! The words of the file in work and the terms they gave: a file repeats its words, and the tables that know the words of
//! all files are larger than the caches of a core.

/// Longer words are looked up each time.
const MAX_WORD: usize = 32;
/// Words of more terms are looked up each time.
pub(crate) const MAX_TERMS: usize = 4;
const SLOTS: usize = 1 << 11;

/// The last word of each slot.
#[derive(Default)]
pub(crate) struct Recent {
    slots: Vec<Slot>,
    /// The file in work; slots of others are empty.
    file: u32,
}

/// As long as a line of the cache.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: Key,
    file: u32,
    n_terms: u32,
    terms: [u32; MAX_TERMS],
}

/// A word of up to `MAX_WORD` bytes: both ends, which may overlap, and its length are the word.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Key {
    ends: [u64; 4],
    length: u32,
}

impl Key {
    /// None for what is longer.
    #[inline]
    pub(crate) fn of(word: &[u8]) -> Option<Key> {
        let length = word.len();
        let two = |it: &[u8; 16]| {
            let (chunks, _) = it.as_chunks::<8>();
            [u64::from_le_bytes(chunks[0]), u64::from_le_bytes(chunks[1])]
        };
        let ends = match length {
            16..=MAX_WORD => {
                let ([a, b], [c, d]) = (two(word.first_chunk()?), two(word.last_chunk()?));
                [a, b, c, d]
            }
            8..=15 => {
                let (first, last) = (word.first_chunk()?, word.last_chunk()?);
                [u64::from_le_bytes(*first), u64::from_le_bytes(*last), 0, 0]
            }
            4..=7 => {
                let (first, last) = (word.first_chunk()?, word.last_chunk()?);
                [u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)), 0, 0]
            }
            1..=3 => {
                let [first, middle, last] = [word[0], word[length / 2], word[length - 1]];
                [u64::from(first), u64::from(middle) << 8 | u64::from(last), 0, 0]
            }
            0 => [0; 4],
            _ => return None,
        };
        Some(Key { ends, length: length as u32 })
    }

    #[inline]
    fn slot(&self) -> usize {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let fold = |sum: u64, part: &u64| (sum.rotate_left(23) ^ part).wrapping_mul(ODD);
        let sum = self.ends.iter().fold(u64::from(self.length), fold);
        (sum >> (u64::BITS - SLOTS.ilog2())) as usize
    }
}

impl Recent {
    /// Forgets the words of the file before.
    pub(crate) fn begin(&mut self) {
        self.file = self.file.wrapping_add(1);
        // Numbers of files that have come round may not meet slots of the first time.
        if self.file == 0 || self.slots.is_empty() {
            self.slots.clear();
            self.slots.resize(SLOTS, Slot::default());
            self.file = 1;
        }
    }

    /// The terms of a word that this file had lately.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Option<&[u32]> {
        let slot = &self.slots[key.slot()];
        let is_it = slot.file == self.file && slot.key == *key;
        is_it.then(|| &slot.terms[..slot.n_terms as usize])
    }

    /// `terms` are at most `MAX_TERMS`.
    pub(crate) fn set(&mut self, key: Key, terms: &[u32]) {
        let slot = &mut self.slots[key.slot()];
        *slot = Slot { key, file: self.file, n_terms: terms.len() as u32, terms: [0; MAX_TERMS] };
        slot.terms[..terms.len()].copy_from_slice(terms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_length_have_their_own_keys() {
        let mut words = vec![String::new()];
        for length in 1..=MAX_WORD {
            // Equal but for one letter, wherever it stands.
            words.push("a".repeat(length));
            words.extend((0..length).map(|at| format!("{}b{}", "a".repeat(at), "a".repeat(length - at - 1))));
        }
        for (place, word) in words.iter().enumerate() {
            let key = Key::of(word.as_bytes()).unwrap();
            assert!(words[..place].iter().all(|it| Key::of(it.as_bytes()).unwrap() != key), "{word}");
        }
        assert!(Key::of("a".repeat(MAX_WORD + 1).as_bytes()).is_none());
    }

    #[test]
    fn a_word_is_known_in_its_own_file_alone() {
        let mut recent = Recent::default();
        let key = Key::of(b"word").unwrap();
        recent.begin();
        assert_eq!(recent.find(&key), None);
        recent.set(key, &[3, 4]);
        assert_eq!(recent.find(&key), Some(&[3, 4][..]));
        recent.begin();
        assert_eq!(recent.find(&key), None);
        recent.set(key, &[]);
        assert_eq!(recent.find(&key), Some(&[][..]));
    }
}
