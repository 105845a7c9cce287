//! Texts and their numbers: one arena, one hash for each look-up.

use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Numbers texts in order of first use.
#[derive(Default)]
pub(crate) struct Dictionary {
    table: HashTable<u32>,
    text: String,
    ends: Vec<usize>,
}

impl Dictionary {
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.table.find(hash_of(text), |&it| self.text(it) == text).copied()
    }

    /// The text's number, and whether it is new.
    pub(crate) fn intern(&mut self, text: &str) -> (u32, bool) {
        if let Some(known) = self.find(text) {
            return (known, false);
        }
        let number = u32::try_from(self.ends.len()).expect("memory ends before four thousand million texts");
        self.text.push_str(text);
        self.ends.push(self.text.len());
        let (all, ends) = (&self.text, &self.ends);
        self.table.insert_unique(hash_of(text), number, |&it| hash_of(slice(all, ends, it)));
        (number, true)
    }

    pub(crate) fn text(&self, number: u32) -> &str {
        slice(&self.text, &self.ends, number)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.text.len()
    }
}

fn slice<'t>(text: &'t str, ends: &[usize], number: u32) -> &'t str {
    let number = number as usize;
    let from = if number == 0 { 0 } else { ends[number - 1] };
    &text[from..ends[number]]
}

fn hash_of(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}
