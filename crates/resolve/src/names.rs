//! All names of all files as small integers, so that looking up is comparing numbers.
//!
//! Texts are not copied: a name knows one file that has it, its home. What is known of names can so be carried from run to
//! run, while files come and go: each name is counted by the files that have it, and one that no file has is none.

use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use knowing_model::facts::FileFacts;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::again::keys::{self, Door};
use crate::again::reads;
use crate::{InputFile, languages};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Name(pub(crate) u32);

/// In about so many files a name occurs, and in so many of a part of them: room is made once.
const STRINGS_A_NAME: usize = 5;
const STRINGS_A_NAME_OF_PART: usize = 4;

pub(crate) struct Names<'a> {
    files: &'a [InputFile<'a>],
    numbers: Numbers,
    /// Hashes of words that some file has and none had before, or the other way round.
    came_or_went: Vec<u64>,
}

/// What is known of names whatever the places of files.
#[derive(Default)]
pub(crate) struct Numbers {
    /// By hash; where two names have one hash, the later one stands at the next that is free.
    ids: FxHashMap<u64, Name>,
    hashes: Vec<u64>,
    homes: Vec<Home>,
    /// Files that have it.
    counts: Vec<u32>,
    /// Those that are names whatever the files say; they are the first.
    vocabulary: Vec<&'static str>,
    has_collisions: bool,
    /// Those that no file has any more. Their numbers are not given away again.
    n_dead: usize,
    asked: Asked,
}

/// Words that were asked for while tables of all files were made, whether or not there was such a name. A few that were not
/// may seem to be among them.
struct Asked(Vec<AtomicU64>);

impl Asked {
    const BITS: u64 = 1 << 22;

    fn place(hash: u64) -> (usize, u64) {
        let bit = hash % Asked::BITS;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    fn add(&self, hash: u64) {
        let (word, bit) = Asked::place(hash);
        if self.0[word].load(Ordering::Relaxed) & bit == 0 {
            self.0[word].fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = Asked::place(hash);
        self.0[word].load(Ordering::Relaxed) & bit != 0
    }
}

impl Default for Asked {
    fn default() -> Asked {
        Asked((0..Asked::BITS / 64).map(|_| AtomicU64::new(0)).collect())
    }
}

/// Where the text of a name stands.
#[derive(Clone, Copy)]
struct Home {
    /// Among the input's files.
    file: u32,
    /// Among the texts of the file.
    text: u32,
}

impl Home {
    /// The place in the vocabulary is the text.
    const VOCABULARY: u32 = u32::MAX;
}

/// Each file's texts as names.
pub(crate) type FileNames = Vec<Arc<[Name]>>;

impl<'a> Names<'a> {
    /// All texts of all files as names.
    pub(crate) fn of(files: &'a [InputFile<'a>]) -> (Names<'a>, FileNames) {
        let n_files = files.len().div_ceil(rayon::current_num_threads()).max(1);
        let parts = files.par_chunks(n_files).enumerate().map(|(number, part)| {
            let first = (number * n_files) as u32;
            Part::of(first, part, (number == 0).then_some(files))
        });
        let parts: Vec<(Part<'a>, Vec<Vec<Name>>)> = parts.collect();
        let mut parts = parts.into_iter();
        let (mut all, mut names) = parts.next().unwrap_or_else(|| Part::of(0, &[], Some(&[])));
        for (other, mut own) in parts {
            let known = all.add_all(&other);
            own.par_iter_mut().flatten().for_each(|it| *it = known[it.0 as usize]);
            names.extend(own);
        }
        let names = names.into_iter().map(Into::into).collect();
        (Names { files, numbers: all.numbers, came_or_went: Vec::new() }, names)
    }

    /// A name that occurs in some file, or in the tables that were interned first.
    pub(crate) fn find(&self, text: &str) -> Option<Name> {
        let found = self.look_up(text);
        if found.is_none_or(|it| it.0 as usize >= self.numbers.vocabulary.len()) {
            let hash = keys::name(text);
            reads::note(Door::Word, hash, None);
            if !reads::is_recorded() {
                self.numbers.asked.add(hash);
            }
        }
        found
    }

    /// Whether tables that were made of all files earlier may have asked for a word that is known only now, or no more.
    pub(crate) fn may_answer_otherwise(&self) -> bool {
        self.came_or_went.iter().any(|it| self.numbers.asked.may_have(*it))
    }

    /// For tables that are made anew.
    pub(crate) fn forget_asked(&mut self) {
        self.numbers.asked = Asked::default();
    }

    fn look_up(&self, text: &str) -> Option<Name> {
        let mut place = keys::name(text);
        loop {
            let name = *self.numbers.ids.get(&place)?;
            if self.text(name) == text {
                return Some(name);
            }
            place = place.wrapping_add(1);
        }
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        let Home { file, text } = self.numbers.homes[name.0 as usize];
        match file {
            Home::VOCABULARY => self.numbers.vocabulary[text as usize],
            _ => text_in(self.files[file as usize].facts, text),
        }
    }

    /// Whether a name is this word of the vocabulary; of most names that is said without looking at their text.
    pub(crate) fn is_word(&self, name: Name, word: &str) -> bool {
        self.numbers.vocabulary.get(name.0 as usize).is_some_and(|it| *it == word)
    }

    /// Whether a name is one of these words of the vocabulary.
    pub(crate) fn is_any_word(&self, name: Name, words: &[&str]) -> bool {
        self.numbers.vocabulary.get(name.0 as usize).is_some_and(|it| words.contains(it))
    }

    /// The same in every run.
    pub(crate) fn hash(&self, name: Name) -> u64 {
        self.numbers.hashes[name.0 as usize]
    }

    pub(crate) fn into_numbers(self) -> Numbers {
        self.numbers
    }
}

fn text_in(facts: &FileFacts, text: u32) -> &str {
    facts.strings.get(text as usize).unwrap_or_default()
}

/// The names of some files, while they are counted.
struct Part<'a> {
    numbers: Numbers,
    texts: Vec<&'a str>,
}

impl<'a> Part<'a> {
    /// `first` is the place of the first file. The names of all other parts will be added to those of the part that is
    /// told of `all` files, and begins with the vocabulary.
    fn of(
        first: u32,
        files: &'a [InputFile<'a>],
        all: Option<&[InputFile<'_>]>,
    ) -> (Part<'a>, Vec<Vec<Name>>) {
        let n_strings =
            |files: &[InputFile<'_>]| files.iter().map(|it| it.facts.strings.len()).sum::<usize>();
        let n_names = match all {
            Some(all) => n_strings(all) / STRINGS_A_NAME,
            None => n_strings(files) / STRINGS_A_NAME_OF_PART,
        };
        let mut part = Part { numbers: Numbers::default(), texts: Vec::with_capacity(n_names) };
        part.numbers.reserve(n_names);
        if all.is_some() {
            for text in languages::vocabulary() {
                let home = Home { file: Home::VOCABULARY, text: part.numbers.vocabulary.len() as u32 };
                // A word of two languages is one.
                if part.add(keys::name(text), text, home, 1).0 as usize == part.numbers.vocabulary.len() {
                    part.numbers.vocabulary.push(text);
                }
            }
        }
        let mut names = Vec::with_capacity(files.len());
        for (file, at) in files.iter().zip(first..) {
            let own = (0..).zip(file.facts.strings.iter());
            let own =
                own.map(|(text, it)| part.add(keys::name(it), it, Home { file: at, text }, 1)).collect();
            names.push(own);
        }
        (part, names)
    }

    fn add(&mut self, hash: u64, text: &'a str, home: Home, count: u32) -> Name {
        let texts = &self.texts;
        let name = self.numbers.add(hash, home, |it, _| texts[it.0 as usize] == text);
        if name.0 as usize == self.texts.len() {
            self.texts.push(text);
        }
        self.numbers.counts[name.0 as usize] += count;
        name
    }

    /// The names here of all names there.
    fn add_all(&mut self, other: &Part<'a>) -> Vec<Name> {
        let Numbers { hashes, homes, counts, .. } = &other.numbers;
        let others = other.texts.iter().zip(hashes).zip(homes.iter().zip(counts));
        others.map(|((text, hash), (home, count))| self.add(*hash, text, *home, *count)).collect()
    }
}

/// What a run knew of its files, for the next one to go on with.
pub(crate) struct Earlier<'a> {
    pub(crate) numbers: Numbers,
    /// For each of its files where it is now; none for those that are gone.
    pub(crate) moved: Vec<Option<u32>>,
    /// Those that are gone: their place then, their facts and names.
    pub(crate) gone: Vec<(u32, &'a FileFacts, Arc<[Name]>)>,
    /// The names of the files of now, none of those that are new.
    pub(crate) names: Vec<Option<Arc<[Name]>>>,
}

impl<'a> Names<'a> {
    /// As `of`, from what was known. None where that cannot be gone on with, and is better made anew.
    pub(crate) fn from_earlier(
        files: &'a [InputFile<'a>],
        earlier: Earlier<'a>,
    ) -> Option<(Names<'a>, FileNames)> {
        let Earlier { mut numbers, moved, gone, names } = earlier;
        if numbers.has_collisions || numbers.n_dead * 4 > numbers.hashes.len() {
            return None;
        }
        // A home in a file that is gone lies behind the last file, until it is one elsewhere.
        let mut now: Vec<u32> = moved.iter().map(|it| it.unwrap_or(Home::VOCABULARY)).collect();
        for (number, (place, _, own)) in gone.iter().enumerate() {
            now[*place as usize] = (files.len() + number) as u32;
            own.iter().for_each(|it| numbers.counts[it.0 as usize] -= 1);
        }
        let is_any_moved = moved.iter().zip(0..).any(|(now, then)| now.is_some_and(|it| it != then));
        let mut homeless: Vec<Name> = Vec::new();
        let mut move_home = |name: Name| {
            let home = &mut numbers.homes[name.0 as usize];
            if let Some(now) = now.get(home.file as usize) {
                home.file = *now;
                if *now as usize >= files.len() {
                    homeless.push(name);
                }
            }
        };
        match is_any_moved {
            true => (0..numbers.hashes.len() as u32).map(Name).for_each(&mut move_home),
            // Those alone whose home is gone: a home that has moved already is no place of then.
            false => gone.iter().flat_map(|it| it.2.iter()).for_each(|it| move_home(*it)),
        }
        let vocabulary = numbers.vocabulary.clone();
        let text_of = |home: Home| -> &str {
            match home.file as usize {
                _ if home.file == Home::VOCABULARY => vocabulary[home.text as usize],
                file if file < files.len() => text_in(files[file].facts, home.text),
                file => text_in(gone[file - files.len()].1, home.text),
            }
        };
        let n_before = numbers.hashes.len();
        let mut all: FileNames = Vec::with_capacity(files.len());
        for ((file, at), known) in files.iter().zip(0..).zip(names) {
            if let Some(known) = known {
                all.push(known);
                continue;
            }
            let own = (0..).zip(file.facts.strings.iter()).map(|(text, it)| {
                let home = Home { file: at, text };
                let name = numbers.add(keys::name(it), home, |_, home| text_of(home) == it);
                numbers.counts[name.0 as usize] += 1;
                let before = &mut numbers.homes[name.0 as usize];
                if before.file != Home::VOCABULARY && before.file as usize >= files.len() {
                    *before = home;
                }
                name
            });
            let own: Arc<[Name]> = own.collect();
            all.push(own);
        }
        if numbers.has_collisions {
            return None;
        }
        let mut came_or_went = numbers.hashes[n_before..].to_vec();
        for (_, _, own) in &gone {
            for name in own.iter() {
                // Asked for as often as files that are gone had it.
                if numbers.counts[name.0 as usize] == 0
                    && numbers.ids.remove(&numbers.hashes[name.0 as usize]).is_some()
                {
                    numbers.n_dead += 1;
                    came_or_went.push(numbers.hashes[name.0 as usize]);
                }
            }
        }
        homeless.retain(|it| {
            numbers.counts[it.0 as usize] > 0 && numbers.homes[it.0 as usize].file as usize >= files.len()
        });
        numbers.house(homeless.into_iter().collect(), &all);
        Some((Names { files, numbers, came_or_went }, all))
    }
}

impl Numbers {
    fn reserve(&mut self, n_names: usize) {
        self.ids.reserve(n_names);
        self.hashes.reserve(n_names);
        self.homes.reserve(n_names);
        self.counts.reserve(n_names);
    }

    /// The name of a text, of which `is_it` tells whether a name of its hash is it.
    fn add(&mut self, hash: u64, home: Home, is_it: impl Fn(Name, Home) -> bool) -> Name {
        let mut place = hash;
        loop {
            match self.ids.entry(place) {
                Entry::Occupied(known) => {
                    let name = *known.get();
                    if is_it(name, self.homes[name.0 as usize]) {
                        return name;
                    }
                    self.has_collisions = true;
                    place = place.wrapping_add(1);
                }
                Entry::Vacant(free) => {
                    let name = Name(u32::try_from(self.hashes.len()).expect("fewer than 4 G distinct names"));
                    free.insert(name);
                    self.hashes.push(hash);
                    self.homes.push(home);
                    self.counts.push(0);
                    return name;
                }
            }
        }
    }

    /// Finds a home for names whose own is gone, and that some file still has.
    fn house(&mut self, mut homeless: FxHashSet<Name>, names: &FileNames) {
        for (file, own) in (0..).zip(names) {
            if homeless.is_empty() {
                return;
            }
            for (text, name) in (0..).zip(own.iter()) {
                if homeless.remove(name) {
                    self.homes[name.0 as usize] = Home { file, text };
                }
            }
        }
    }
}
