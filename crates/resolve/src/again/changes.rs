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
    pub(crate) fn reach(&self) -> Reach {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => Reach::of(before, after),
            _ => Reach::Everything,
        }
    }
}

/// What differs between the run before and this one.
pub(crate) struct Changes<'a> {
    previous: Previous<'a>,
    keys: FxHashSet<u32>,
    /// Tables whose look-ups nobody notes may be other ones.
    tables: bool,
}

impl<'a> Changes<'a> {
    pub(crate) fn new(shared: &Answers, previous: Previous<'a>, changed: &[Changed<'_>]) -> Changes<'a> {
        let mut changes = Changes { previous, keys: FxHashSet::default(), tables: false };
        shared.differences(&previous.record.shared, &mut changes.keys);
        changed.iter().for_each(|it| changes.compare(it));
        changes
    }

    /// For each file whether it is to be resolved again.
    pub(crate) fn concerned(&self, world: &World<'_>) -> Vec<bool> {
        let filter = Filter::new(&self.keys);
        let files = self.previous.same.par_iter().zip(world.input.files);
        files
            .map(|(same, file)| {
                let Some(same) = same else { return true };
                let reads = self.previous.record.files().get(*same as usize).map(|it| &it.reads);
                self.tables && !languages::rules_of(&file.facts.language).notes_tables()
                    || reads
                        .is_none_or(|it| it.iter().any(|it| filter.may_have(*it) && self.keys.contains(it)))
            })
            .collect()
    }

    fn compare(&mut self, changed: &Changed<'_>) {
        let Changed { path, before, after } = changed;
        let file = keys::file(path);
        self.keys.insert(keys::cut(keys::through(Door::File, file)));
        if before.is_none() || after.is_none() {
            self.keys.insert(keys::cut(keys::through(Door::Path, file)));
        }
        let words = |it: &Option<FileDigest<'_>>| -> FxHashSet<u64> {
            it.iter().flat_map(|it| it.facts.strings.iter()).map(keys::name).collect()
        };
        for word in words(before).symmetric_difference(&words(after)) {
            self.keys.insert(keys::cut(keys::through(Door::Word, *word)));
        }
        let answers = |it: &Option<FileDigest<'_>>| it.as_ref().map(provided).unwrap_or_default();
        answers(before).differences(answers(after).as_slice(), &mut self.keys);
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

/// A first look that settles nearly every key.
struct Filter(Vec<u64>);

impl Filter {
    const BITS: usize = 1 << 18;

    fn new(keys: &FxHashSet<u32>) -> Filter {
        let mut words = vec![0_u64; Filter::BITS / 64];
        keys.iter().for_each(|it| {
            let bit = *it as usize % Filter::BITS;
            words[bit / 64] |= 1 << (bit % 64);
        });
        Filter(words)
    }

    #[inline]
    fn may_have(&self, key: u32) -> bool {
        let bit = key as usize % Filter::BITS;
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}
