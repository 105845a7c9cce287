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
    pub(crate) fn new(vocabulary: impl Iterator<Item = &'static str>) -> Names<'a> {
        let mut names = Names::default();
        vocabulary.for_each(|it| {
            names.intern(it);
        });
        names.n_vocabulary = names.texts.len() as u32;
        names
    }

    pub(crate) fn intern(&mut self, text: &'a str) -> Name {
        *self.ids.entry(text).or_insert_with(|| {
            let name = Name(u32::try_from(self.texts.len()).expect("fewer than 4 G distinct names"));
            self.texts.push(text);
            self.hashes.push(keys::name(text));
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
