//! All names of all files as small integers, so that looking up is comparing numbers.

use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Name(pub(crate) u32);

#[derive(Default)]
pub(crate) struct Names<'a> {
    ids: FxHashMap<&'a str, Name>,
    texts: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(crate) fn intern(&mut self, text: &'a str) -> Name {
        *self.ids.entry(text).or_insert_with(|| {
            let name = Name(u32::try_from(self.texts.len()).expect("fewer than 4 G distinct names"));
            self.texts.push(text);
            name
        })
    }

    /// A name that occurs in some file, or in the tables that were interned first.
    pub(crate) fn find(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied()
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        self.texts[name.0 as usize]
    }
}
