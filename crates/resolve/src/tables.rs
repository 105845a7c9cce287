//! What a run leaves in memory for the next one of the same process.
//!
//! What is made of each file by itself, and the numbers of names: the next run makes it of the files that are other ones. What
//! is made of all files together: the next run takes it as it is where files that are other ones say the same to others, or
//! are prose (`again/shape.rs`), and else makes it anew.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::InputFile;
use crate::again::keys;
use crate::again::{Answers, Ledger, Previous};
use crate::derive::{Derived, Lead};
use crate::names::{Earlier, FileNames, Name, Names, Numbers};
use crate::scopes::Scopes;
use crate::world::Common;

/// Of one run: to be given to the next together with what that run recorded. None at first.
#[derive(Default)]
pub struct Tables {
    numbers: Numbers,
    /// In the order of the record.
    files: Vec<Own>,
    together: Option<Box<Together>>,
}

/// What a run made of all files together.
pub(crate) struct Together {
    pub(crate) common: Common,
    pub(crate) shared: Answers,
    /// The same unit by unit, where the run noted what its parts hang on.
    pub(crate) ledger: Option<Ledger>,
    /// Of each file.
    pub(crate) leads: Vec<Arc<[Lead]>>,
    pub(crate) derived: Derived,
}

/// What is made of a file by itself.
#[derive(Clone)]
struct Own {
    names: Arc<[Name]>,
    scopes: Arc<Scopes>,
}

/// What is made of each file by itself, for all files of a run.
pub(crate) struct OwnTables<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) file_names: FileNames,
    pub(crate) scopes: Vec<Arc<Scopes>>,
}

impl<'a> OwnTables<'a> {
    /// With what was made of all files of the run before.
    pub(crate) fn new(
        files: &'a [InputFile<'a>],
        earlier: Tables,
        previous: Option<&Previous<'a>>,
    ) -> (OwnTables<'a>, Option<Box<Together>>) {
        let carried = previous.and_then(|it| Self::carried(files, earlier, it));
        carried.unwrap_or_else(|| {
            let (names, file_names) = Names::of(files);
            let scopes = vec![None; files.len()];
            (Self::with_scopes(files, (names, file_names), scopes), None)
        })
    }

    /// None when nothing was carried on, or it does not go with the record.
    fn carried(
        files: &'a [InputFile<'a>],
        earlier: Tables,
        previous: &Previous<'a>,
    ) -> Option<(OwnTables<'a>, Option<Box<Together>>)> {
        let Tables { numbers, files: own, together } = earlier;
        if own.len() != previous.record.files().len() || own.is_empty() {
            return None;
        }
        let mut moved: Vec<Option<u32>> = vec![None; own.len()];
        for (now, then) in (0..).zip(previous.same) {
            if let Some(then) = then {
                *moved.get_mut(*then as usize)? = Some(now);
            }
        }
        let by_path: FxHashMap<u64, &InputFile<'a>> =
            previous.gone.iter().map(|it| (keys::file(it.path), it)).collect();
        let mut gone = Vec::new();
        for ((then, moved), own) in (0..).zip(&moved).zip(&own) {
            if moved.is_none() {
                gone.push((then, by_path.get(&own.scopes.hash())?.facts, own.names.clone()));
            }
        }
        let known = |then: &Option<u32>| then.map(|it| own[it as usize].clone());
        let (names, scopes) =
            previous.same.iter().map(|it| known(it).map(|it| (it.names, it.scopes)).unzip()).unzip();
        let names = Names::from_earlier(files, Earlier { numbers, moved, gone, names })?;
        Some((Self::with_scopes(files, names, scopes), together))
    }

    /// Makes the scopes that are none.
    fn with_scopes(
        files: &'a [InputFile<'a>],
        (names, file_names): (Names<'a>, FileNames),
        scopes: Vec<Option<Arc<Scopes>>>,
    ) -> OwnTables<'a> {
        let scopes = scopes.into_par_iter().zip(files).zip(&file_names).map(|((known, file), names)| {
            known.unwrap_or_else(|| Arc::new(Scopes::new(file.path, file.facts, names)))
        });
        let scopes = scopes.collect();
        OwnTables { names, file_names, scopes }
    }

    pub(crate) fn into_tables(self, together: Together) -> Tables {
        let files = self.file_names.into_iter().zip(self.scopes);
        Tables {
            numbers: self.names.into_numbers(),
            files: files.map(|(names, scopes)| Own { names, scopes }).collect(),
            together: Some(Box::new(together)),
        }
    }
}
