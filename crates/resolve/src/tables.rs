//! What a run leaves in memory for the next one of the same process: what is made of each file by itself, and the numbers of
//! names. The next run makes it of the files that are other ones, and of all files where it is given nothing.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::InputFile;
use crate::again::Previous;
use crate::again::keys;
use crate::names::{Earlier, FileNames, Name, Names, Numbers};
use crate::scopes::Scopes;

/// Of one run: to be given to the next together with what that run recorded. None at first.
#[derive(Default)]
pub struct Tables {
    numbers: Numbers,
    /// In the order of the record.
    files: Vec<Own>,
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
    pub(crate) fn new(
        files: &'a [InputFile<'a>],
        earlier: Tables,
        previous: Option<&Previous<'a>>,
    ) -> OwnTables<'a> {
        let carried = previous.and_then(|it| Self::carried(files, earlier, it));
        carried.unwrap_or_else(|| {
            let (names, file_names) = Names::of(files);
            let scopes = vec![None; files.len()];
            Self::with_scopes(files, (names, file_names), scopes)
        })
    }

    /// None when nothing was carried on, or it does not go with the record.
    fn carried(
        files: &'a [InputFile<'a>],
        earlier: Tables,
        previous: &Previous<'a>,
    ) -> Option<OwnTables<'a>> {
        let Tables { numbers, files: own } = earlier;
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
        Some(Self::with_scopes(files, names, scopes))
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

    pub(crate) fn into_tables(self) -> Tables {
        let files = self.file_names.into_iter().zip(self.scopes);
        Tables {
            numbers: self.names.into_numbers(),
            files: files.map(|(names, scopes)| Own { names, scopes }).collect(),
        }
    }
}
