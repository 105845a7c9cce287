//! Buffers of the making of facts that are kept from file to file: freeing large ones costs as much as filling them.

use hashbrown::HashTable;
use knowing_model::facts::Str;
use std::hash::BuildHasher;

#[derive(Default)]
pub(crate) struct Scratch {
    /// By node: the number of its expression plus one.
    pub(super) memo: Vec<u32>,
    /// By node.
    pub(super) consumed: Vec<bool>,
    /// Numbers of texts, by the texts they are of.
    known: HashTable<Str>,
}

impl Scratch {
    pub(super) fn prepare(&mut self, n_nodes: usize) {
        self.memo.clear();
        self.memo.resize(n_nodes, 0);
        self.consumed.clear();
        self.consumed.resize(n_nodes, false);
        self.known.clear();
    }

    /// The number of a text, and whether it is a new one, for which the caller adds it to `strings`.
    pub(super) fn intern(&mut self, text: &str, strings: &[String]) -> (Str, bool) {
        let hash = |text: &str| rustc_hash::FxBuildHasher.hash_one(text);
        let new = Str(u32::try_from(strings.len()).unwrap_or(u32::MAX));
        let slot =
            self.known.entry(hash(text), |it| strings[it.index()] == text, |it| hash(&strings[it.index()]));
        match slot {
            hashbrown::hash_table::Entry::Occupied(found) => (*found.get(), false),
            hashbrown::hash_table::Entry::Vacant(free) => {
                free.insert(new);
                (new, true)
            }
        }
    }
}
