//! Which files a change concerns.

use knowing_model::UnitLayer;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::digest::FileDigest;
use super::keys::{self, Door};
use super::provided::{Answers, provided};
use super::record::Record;
use super::shape::Reach;
use crate::emit::FileEdges;
use crate::languages;
use crate::world::World;
use crate::{InputFile, Resolution};

/// The run before: what it recorded, and the versions of files that are no more.
#[derive(Clone, Copy)]
pub struct Previous<'a> {
    pub record: &'a Record,
    /// For each file of the input its place in the record, when the same version was there.
    pub same: &'a [Option<u32>],
    /// Versions that were there and are not now, in any order.
    pub gone: &'a [InputFile<'a>],
}

/// The result of a run whose files are all those of the run before: nothing has to be looked at.
pub(crate) fn unchanged(previous: &Previous<'_>) -> Option<Resolution> {
    let files = previous.record.files();
    let is_same = (0..files.len()).map(|it| Some(it as u32)).eq(previous.same.iter().copied());
    if !is_same || files.is_empty() || !previous.gone.is_empty() {
        return None;
    }
    let mut kept = Vec::with_capacity(2 * files.len());
    for (file, record) in (0..).zip(files) {
        kept.push((file, UnitLayer::Resolved));
        if record.derived != 0 {
            kept.push((file, UnitLayer::Derived));
        }
    }
    let record = previous.record.clone();
    Some(Resolution { kept, keeps_packages: true, record, ..Resolution::default() })
}

/// A path at which another version stands than in the run before, or none stood or stands.
pub(crate) struct Changed<'a> {
    path: &'a str,
    before: Option<FileDigest<'a>>,
    after: Option<FileDigest<'a>>,
}

impl<'a> Changed<'a> {
    /// All of them: files that are there now in their order, then those that are gone.
    pub(crate) fn all(files: &'a [InputFile<'a>], previous: &Previous<'a>) -> Vec<Changed<'a>> {
        let digest = |it: &InputFile<'a>| FileDigest::new(it.path, it.facts);
        let mut gone: FxHashMap<&str, &InputFile<'a>> =
            previous.gone.iter().map(|it| (it.path, it)).collect();
        let mut all = Vec::new();
        for (file, same) in files.iter().zip(previous.same) {
            if same.is_none() {
                let before = gone.remove(file.path).map(digest);
                all.push(Changed { path: file.path, before, after: Some(digest(file)) });
            }
        }
        for file in previous.gone.iter().filter(|it| gone.contains_key(it.path)) {
            all.push(Changed { path: file.path, before: Some(digest(file)), after: None });
        }
        all
    }

    /// How far it may reach into tables that are made of all files.
    fn reach(&self) -> Reach {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => Reach::of(before, after),
            _ => Reach::Everything,
        }
    }
}

/// How far the changes of all of them may reach. Nothing reaches further than the furthest.
pub(crate) fn reach_of(changed: &[Changed<'_>]) -> Reach {
    let mut reach = Reach::Nothing;
    for file in changed {
        reach = reach.max(file.reach());
        if reach == Reach::Everything {
            break;
        }
    }
    reach
}

/// What differs between the run before and this one.
pub(crate) struct Changes<'a> {
    previous: Previous<'a>,
    keys: Keys,
    /// Tables whose look-ups nobody notes may be other ones.
    tables: bool,
}

impl<'a> Changes<'a> {
    /// What files say by themselves.
    pub(crate) fn of_files(previous: Previous<'a>, changed: &[Changed<'_>]) -> Changes<'a> {
        let mut changes = Changes { previous, keys: Keys::default(), tables: false };
        changed.iter().for_each(|it| changes.compare(it));
        changes
    }

    pub(crate) fn previous(&self) -> &Previous<'a> {
        &self.previous
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// For each file whether it is to be resolved again, now that it is known what all files answer together.
    pub(crate) fn concerned(mut self, shared: &Answers, world: &World<'_>) -> Vec<bool> {
        shared.differences(&self.previous.record.shared, &mut |key| self.keys.insert(key));
        let files = self.previous.same.par_iter().zip(world.input.files);
        files
            .map(|(same, file)| {
                let Some(same) = same else { return true };
                let reads = self.previous.record.files().get(*same as usize).map(|it| &it.reads);
                self.tables && !languages::rules_of(&file.facts.language).notes_tables()
                    || reads.is_none_or(|it| self.keys.meet(it))
            })
            .collect()
    }

    fn compare(&mut self, changed: &Changed<'_>) {
        let Changed { path, before, after } = changed;
        let file = keys::file(path);
        self.keys.insert(keys::cut(keys::through(Door::File, file)));
        if before.is_none() || after.is_none() {
            self.keys.insert(keys::cut(keys::through(Door::Path, file)));
            self.keys.insert(keys::cut(keys::through(Door::Paths, keys::ALL_FILES)));
        }
        let words = |it: &Option<FileDigest<'_>>| -> FxHashSet<u64> {
            it.iter().flat_map(|it| it.facts.strings.iter()).map(keys::name).collect()
        };
        for word in words(before).symmetric_difference(&words(after)) {
            self.keys.insert(keys::cut(keys::through(Door::Word, *word)));
        }
        let answers = |it: &Option<FileDigest<'_>>| it.as_ref().map(provided).unwrap_or_default();
        answers(before).differences(answers(after).as_slice(), &mut |key| self.keys.insert(key));
        let tables = |it: &Option<FileDigest<'_>>| {
            let it = it.as_ref()?;
            let rules = languages::rules_of(&it.facts.language);
            let of_language = (!rules.notes_tables()).then(|| rules.tables(it));
            // A project file may say anything about any language.
            let manifest = it.facts.manifest.as_ref().map(|manifest| it.of(manifest));
            (of_language.is_some() || manifest.is_some()).then_some((of_language, manifest))
        };
        self.tables |= tables(before) != tables(after);
    }
}

/// Files that say nothing else than before, but say it together with a file that does: which of them is the first may be
/// another now.
pub(crate) fn restated(files: &[Option<FileEdges>], previous: &Previous<'_>) -> FxHashSet<usize> {
    let stated = |at: usize| previous.record.files().get(at).map_or(&[][..], |it| &*it.stated);
    let mut changed: FxHashSet<u64> = FxHashSet::default();
    let mut is_kept = vec![false; previous.record.files().len()];
    for (file, same) in files.iter().zip(previous.same) {
        let before = same.map_or(&[][..], |it| stated(it as usize));
        let Some(file) = file else { continue };
        let (old, new): (FxHashSet<u64>, FxHashSet<u64>) =
            (before.iter().copied().collect(), file.stated.iter().copied().collect());
        changed.extend(old.symmetric_difference(&new));
    }
    previous.same.iter().flatten().for_each(|it| {
        if let Some(is_kept) = is_kept.get_mut(*it as usize) {
            *is_kept = true;
        }
    });
    // A version that is gone stated what it stated, whether or not another stands at its path.
    let gone = (0..is_kept.len()).filter(|it| !is_kept[*it]);
    changed.extend(gone.flat_map(stated));
    if changed.is_empty() {
        return FxHashSet::default();
    }
    let says_it_too =
        |same: &Option<u32>| same.is_some_and(|it| stated(it as usize).iter().any(|it| changed.contains(it)));
    (0..files.len()).filter(|it| says_it_too(&previous.same[*it])).collect()
}

/// Keys under which something else is answered than in the run before.
#[derive(Clone)]
pub(crate) struct Keys {
    all: FxHashSet<u32>,
    /// A first look that settles nearly every key: a bit for all keys that fall together.
    filter: Vec<u64>,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys { all: FxHashSet::default(), filter: vec![0; Keys::BITS / 64] }
    }
}

impl Keys {
    const BITS: usize = 1 << 18;

    pub(crate) fn insert(&mut self, key: u32) {
        let bit = key as usize % Keys::BITS;
        self.filter[bit / 64] |= 1 << (bit % 64);
        self.all.insert(key);
    }

    /// Whether something that was looked up is among them.
    pub(crate) fn meet(&self, reads: &[u32]) -> bool {
        reads.iter().any(|it| self.may_have(*it) && self.all.contains(it))
    }

    #[inline]
    fn may_have(&self, key: u32) -> bool {
        let bit = key as usize % Keys::BITS;
        self.filter[bit / 64] >> (bit % 64) & 1 == 1
    }
}
