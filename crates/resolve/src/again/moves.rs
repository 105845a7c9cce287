//! Where files and declarations of the run before are in this one.
//!
//! Both are numbered densely in the order of files, so that one more in the first file gives all others another number. What
//! was made of all files together is kept by giving it the numbers of now.

use rustc_hash::FxHashMap;

use crate::hierarchy::Ancestor;
use crate::world::Def;

/// Files and declarations of a run as numbers.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<'n> {
    /// Number of each file's first declaration.
    pub(crate) first_def: &'n [u32],
    pub(crate) file_of_def: &'n [u32],
    /// Of each declaration: what makes it the symbol it is.
    pub(crate) digests: &'n [u64],
}

impl Numbered<'_> {
    fn digests_of(&self, file: u32) -> &[u64] {
        let first = self.first_def[file as usize] as usize;
        let n = self.file_of_def[first..].iter().take_while(|it| **it == file).count();
        &self.digests[first..first + n]
    }
}

pub(crate) struct Moves {
    /// For each file of then its number now, in whatever version it is.
    files: Vec<Option<u32>>,
    /// For each file of then that is the same version now what its declarations are further on by, around the end of numbers.
    shifts: Vec<Option<u32>>,
    first_def: Vec<u32>,
    file_of_def: Vec<u32>,
    /// Declarations of other versions that are still there.
    replaced: FxHashMap<Def, Def>,
    /// Whether declarations that are still there stand in the order of then.
    keeps_order: bool,
}

impl Moves {
    /// `same` has for each file of now its number then, where it is the same version; `replaced` are the numbers then and
    /// now of files that are another version.
    pub(crate) fn new(
        before: Numbered<'_>,
        now: Numbered<'_>,
        same: &[Option<u32>],
        replaced: &[(u32, u32)],
    ) -> Moves {
        let mut moves = Moves {
            files: vec![None; before.first_def.len()],
            shifts: vec![None; before.first_def.len()],
            first_def: before.first_def.to_vec(),
            file_of_def: before.file_of_def.to_vec(),
            replaced: FxHashMap::default(),
            keeps_order: true,
        };
        for (file, then) in (0..).zip(same) {
            let Some(then) = then.map(|it| it as usize) else { continue };
            moves.files[then] = Some(file);
            moves.shifts[then] = Some(now.first_def[file as usize].wrapping_sub(before.first_def[then]));
        }
        for (then, file) in replaced {
            moves.files[*then as usize] = Some(*file);
            moves.replace(before, now, (*then, *file));
        }
        moves
    }

    /// Several declarations of one digest are the same ones as long as there are as many of them.
    fn replace(&mut self, before: Numbered<'_>, now: Numbered<'_>, (then, file): (u32, u32)) {
        let by_digest = |of: Numbered<'_>, file: u32| -> FxHashMap<u64, Vec<Def>> {
            let mut by_digest: FxHashMap<u64, Vec<Def>> = FxHashMap::default();
            for (digest, def) in of.digests_of(file).iter().zip(of.first_def[file as usize]..) {
                by_digest.entry(*digest).or_default().push(Def(def));
            }
            by_digest
        };
        let is_now = by_digest(now, file);
        let mut pairs: Vec<(Def, Def)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "they are put in order")]
        for (digest, was) in by_digest(before, then) {
            if let Some(is) = is_now.get(&digest).filter(|it| it.len() == was.len()) {
                pairs.extend(was.into_iter().zip(is.iter().copied()));
            }
        }
        pairs.sort_unstable();
        self.keeps_order &= pairs.is_sorted_by_key(|it| it.1);
        self.replaced.extend(pairs);
    }

    pub(crate) fn file(&self, then: u32) -> Option<u32> {
        *self.files.get(then as usize)?
    }

    /// Whether a file is the same version now.
    pub(crate) fn is_kept(&self, then: u32) -> bool {
        self.shifts[then as usize].is_some()
    }

    pub(crate) fn def(&self, then: Def) -> Option<Def> {
        match self.shifts[*self.file_of_def.get(then.0 as usize)? as usize] {
            Some(shift) => Some(Def(then.0.wrapping_add(shift))),
            None => self.replaced.get(&then).copied(),
        }
    }

    /// The numbers that declarations of a file had, and those behind them.
    pub(crate) fn defs_then(&self, then: u32) -> impl Iterator<Item = Def> {
        (self.first_def[then as usize]..).map(Def)
    }

    /// The file that a declaration stood in.
    pub(crate) fn file_then(&self, then: Def) -> u32 {
        self.file_of_def[then.0 as usize]
    }

    pub(crate) fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    pub(crate) fn defs(&self, then: &[Def]) -> Option<Vec<Def>> {
        then.iter().map(|it| self.def(*it)).collect()
    }

    pub(crate) fn ancestor(&self, then: &Ancestor) -> Option<Ancestor> {
        Some(match then {
            Ancestor::Project(def) => Ancestor::Project(self.def(*def)?),
            other => other.clone(),
        })
    }

    pub(crate) fn ancestors(&self, then: &[Ancestor]) -> Option<Vec<Ancestor>> {
        then.iter().map(|it| self.ancestor(it)).collect()
    }
}
