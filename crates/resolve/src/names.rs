//! All names of all files as small integers, so that looking up is comparing numbers.

use rustc_hash::FxHashMap;

use crate::again::keys::{self, Door};
use crate::again::reads;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Name(pub(crate) u32);

#[derive(Default)]
pub(crate) struct Names<'a> {
    ids: FxHashMap<&'a str, Name>,
    texts: Vec<&'a str>,
    hashes: Vec<u64>,
    /// Those that are names whatever the files say.
    n_vocabulary: u32,
}

impl<'a> Names<'a> {
    /// With room for so many.
    pub(crate) fn new(n_names: usize) -> Names<'a> {
        let mut names = Names::default();
        names.ids.reserve(n_names);
        names.texts.reserve(n_names);
        names.hashes.reserve(n_names);
        names
    }

    /// What is a name whatever the files say. Before all others.
    pub(crate) fn add_vocabulary(&mut self, vocabulary: impl Iterator<Item = &'static str>) {
        vocabulary.for_each(|it| {
            self.intern(it);
        });
        self.n_vocabulary = self.texts.len() as u32;
    }

    pub(crate) fn intern(&mut self, text: &'a str) -> Name {
        self.intern_hashed(text, || keys::name(text))
    }

    /// The names here of all names there.
    pub(crate) fn add_all(&mut self, others: &Names<'a>) -> Vec<Name> {
        let others = others.texts.iter().zip(&others.hashes);
        others.map(|(text, hash)| self.intern_hashed(text, || *hash)).collect()
    }

    fn intern_hashed(&mut self, text: &'a str, hash: impl FnOnce() -> u64) -> Name {
        *self.ids.entry(text).or_insert_with(|| {
            let name = Name(u32::try_from(self.texts.len()).expect("fewer than 4 G distinct names"));
            self.texts.push(text);
            self.hashes.push(hash());
            name
        })
    }

    /// A name that occurs in some file, or in the tables that were interned first.
    pub(crate) fn find(&self, text: &str) -> Option<Name> {
        let found = self.ids.get(text).copied();
        if found.is_none_or(|it| it.0 >= self.n_vocabulary) {
            reads::note(Door::Word, keys::name(text), None);
        }
        found
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        self.texts[name.0 as usize]
    }

    /// The same in every run.
    pub(crate) fn hash(&self, name: Name) -> u64 {
        self.hashes[name.0 as usize]
    }
}
