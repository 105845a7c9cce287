//! Texts and their numbers: one arena, one hash for each look-up.

use std::hash::BuildHasher as _;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Numbers texts in order of first use.
pub(crate) struct Dictionary {
    table: HashTable<u32>,
    text: String,
    /// Where each text begins, and the end of the last.
    starts: Vec<usize>,
}

impl Default for Dictionary {
    fn default() -> Dictionary {
        Dictionary { table: HashTable::new(), text: String::new(), starts: vec![0] }
    }
}

impl Dictionary {
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        // Bytes are compared, not texts, whose borders would be checked each time.
        let is_it = |&it: &u32| self.text.as_bytes()[range(&self.starts, it)] == *text.as_bytes();
        self.table.find(hash_of(text.as_bytes()), is_it).copied()
    }

    /// The text's number, and whether it is new.
    pub(crate) fn intern(&mut self, text: &str) -> (u32, bool) {
        if let Some(known) = self.find(text) {
            return (known, false);
        }
        let number = u32::try_from(self.len()).expect("memory ends before four thousand million texts");
        self.text.push_str(text);
        self.starts.push(self.text.len());
        let (all, starts) = (self.text.as_bytes(), &self.starts);
        let hash = hash_of(text.as_bytes());
        self.table.insert_unique(hash, number, |&it| hash_of(&all[range(starts, it)]));
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

#[inline]
fn range(starts: &[usize], number: u32) -> Range<usize> {
    starts[number as usize]..starts[number as usize + 1]
}

#[inline]
fn hash_of(text: &[u8]) -> u64 {
    FxBuildHasher.hash_one(text)
}
