//! Texts and their numbers: one arena, one hash for each look-up.

use std::hash::BuildHasher as _;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Numbers texts in order of first use.
pub(crate) struct Dictionary {
    /// Texts of up to sixteen bytes, as most words are: the table holds them whole, so that one place is looked at
    /// instead of three.
    short: HashTable<Short>,
    long: HashTable<u32>,
    text: String,
    /// Where each text begins, and the end of the last.
    starts: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Short {
    key: Key,
    number: u32,
}

/// A text of up to sixteen bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    first: u64,
    last: u64,
    length: u32,
}

impl Default for Dictionary {
    fn default() -> Dictionary {
        Dictionary { short: HashTable::new(), long: HashTable::new(), text: String::new(), starts: vec![0] }
    }
}

impl Dictionary {
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        match Key::of(text.as_bytes()) {
            Some(key) => self.short.find(hash_of(&key), |it| it.key == key).map(|it| it.number),
            None => self.find_long(text.as_bytes()),
        }
    }

    fn find_long(&self, text: &[u8]) -> Option<u32> {
        // Bytes are compared, not texts, whose borders would be checked each time.
        let is_it = |&it: &u32| self.text.as_bytes()[range(&self.starts, it)] == *text;
        self.long.find(hash_of(text), is_it).copied()
    }

    /// The text's number, and whether it is new.
    pub(crate) fn intern(&mut self, text: &str) -> (u32, bool) {
        if let Some(known) = self.find(text) {
            return (known, false);
        }
        let number = u32::try_from(self.len()).expect("memory ends before four thousand million texts");
        self.text.push_str(text);
        self.starts.push(self.text.len());
        let text = text.as_bytes();
        match Key::of(text) {
            Some(key) => {
                self.short.insert_unique(hash_of(&key), Short { key, number }, |it| hash_of(&it.key));
            }
            None => {
                let (all, starts) = (self.text.as_bytes(), &self.starts);
                self.long.insert_unique(hash_of(text), number, |&it| hash_of(&all[range(starts, it)]));
            }
        }
        (number, true)
    }

    #[inline]
    pub(crate) fn text(&self, number: u32) -> &str {
        &self.text[range(&self.starts, number)]
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.text.len()
    }
}

impl Key {
    /// None for what is longer. Both ends of a text, which may overlap, and its length are the text.
    #[inline]
    fn of(text: &[u8]) -> Option<Key> {
        let length = text.len();
        let (first, last) = match length {
            8..=16 => {
                let (first, last) = (text.first_chunk()?, text.last_chunk()?);
                (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
            }
            4..=7 => {
                let (first, last) = (text.first_chunk()?, text.last_chunk()?);
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            }
            1..=3 => {
                let [first, middle, last] = [text[0], text[length / 2], text[length - 1]];
                (u64::from(first), u64::from(middle) << 8 | u64::from(last))
            }
            0 => (0, 0),
            _ => return None,
        };
        Some(Key { first, last, length: length as u32 })
    }
}

#[inline]
fn range(starts: &[usize], number: u32) -> Range<usize> {
    starts[number as usize]..starts[number as usize + 1]
}

#[inline]
fn hash_of<T: std::hash::Hash + ?Sized>(text: &T) -> u64 {
    FxBuildHasher.hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_have_their_own_numbers() {
        let mut dictionary = Dictionary::default();
        let mut texts = vec![String::new()];
        for length in 1..40 {
            // Equal but for one letter, wherever it stands.
            texts.push("a".repeat(length));
            texts.extend((0..length).map(|at| format!("{}b{}", "a".repeat(at), "a".repeat(length - at - 1))));
        }
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(dictionary.find(text), None, "{text}");
            assert_eq!(dictionary.intern(text), (number, true), "{text}");
        }
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(dictionary.intern(text), (number, false), "{text}");
            assert_eq!(dictionary.text(number), text);
        }
    }
}
