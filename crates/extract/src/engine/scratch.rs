//! Buffers of the making of facts that are kept from file to file.

use hashbrown::HashTable;
use knowing_model::Texts;
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
    pub(super) fn intern(&mut self, text: &str, strings: &Texts) -> (Str, bool) {
        let hash = |text: &str| rustc_hash::FxBuildHasher.hash_one(text);
        let new = Str(u32::try_from(strings.len()).unwrap_or(u32::MAX));
        let known = |it: &Str| strings.get(it.index()).unwrap_or_default();
        let slot = self.known.entry(hash(text), |it| known(it) == text, |it| hash(known(it)));
        match slot {
            hashbrown::hash_table::Entry::Occupied(found) => (*found.get(), false),
            hashbrown::hash_table::Entry::Vacant(free) => {
                free.insert(new);
                (new, true)
            }
        }
    }
}
