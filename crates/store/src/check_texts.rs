//! What can be made again from git: facts, term vectors, mined commits and histories, each against the sum of its row.
//!
//! None of it is part of a root, so that damage is a warning; what is named in `Remakable` can be made again.

use std::collections::BTreeSet;

use knowing_model::identity;
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;

use crate::check::{Checked, Known, blob, text};
use crate::error::Fault;
use crate::files::EncodedFacts;
use crate::packed::{sum, unpack_rows};

/// Rows that are damaged or missing, and can be made again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Remakable {
    /// Rows of files.
    pub facts: BTreeSet<i64>,
    /// Rows of `terms`.
    pub terms: BTreeSet<i64>,
    /// Rows of `commits`.
    pub commits: BTreeSet<i64>,
    /// Rows of snapshots whose history is damaged, or lists a damaged commit.
    pub histories: BTreeSet<i64>,
}

impl Remakable {
    pub fn is_empty(&self) -> bool {
        *self == Remakable::default()
    }
}

pub(crate) fn check_texts(db: &Connection, checked: &mut Checked, known: &Known) -> Result<(), Fault> {
    check_facts(db, checked, known)?;
    check_terms(db, checked)?;
    let commits = check_commits(db, checked)?;
    check_histories(db, checked, &commits)
}

/// Whether a row is what its sum was made of; rows of earlier versions have none.
fn fits(row: &Row<'_>, at: usize, made: Option<i64>) -> bool {
    match row.get::<_, Option<i64>>(at) {
        Ok(None) => made.is_some(),
        Ok(stored) => stored == made,
        Err(_) => false,
    }
}

fn check_facts(db: &Connection, checked: &mut Checked, known: &Known) -> Result<(), Fault> {
    let mut statement = db.prepare("SELECT file_row, facts, sum FROM file_facts")?;
    let mut rows = statement.query([])?;
    let mut missing = &known.files - &known.skipped;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if let Ok(id) = u32::try_from(id) {
            missing.remove(id);
        }
        let facts = blob(row, 1);
        let has_sum = !matches!(row.get::<_, Option<i64>>(2), Ok(None));
        let is_sound = match facts {
            Some(facts) if has_sum => fits(row, 2, Some(sum([facts]))),
            // Nobody can tell whether they are the same, only whether they are facts.
            Some(facts) => EncodedFacts::from_stored(facts).decode().is_some(),
            None => false,
        };
        if !is_sound {
            checked.warning("facts", format!("file row {id}: its facts are not what was written"));
            checked.remakable.facts.insert(id);
        }
    }
    for id in missing {
        checked.warning("facts", format!("file row {id}: its facts are missing"));
        checked.remakable.facts.insert(i64::from(id));
    }
    Ok(())
}

/// What the sum of a row of term vectors is over.
pub(crate) fn terms_sum(file: &[u8], language: &str, ruleset: u32, vectors: &[u8]) -> i64 {
    sum([file, language.as_bytes(), &ruleset.to_le_bytes(), vectors])
}

fn check_terms(db: &Connection, checked: &mut Checked) -> Result<(), Fault> {
    let mut statement = db.prepare("SELECT terms_row, blob, language, ruleset, vectors, sum FROM terms")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let made = (|| Some(terms_sum(blob(row, 1)?, text(row, 2)?, row.get(3).ok()?, blob(row, 4)?)))();
        if !fits(row, 5, made) {
            checked.warning("terms", format!("terms row {id}: its term vectors are not what was written"));
            checked.remakable.terms.insert(id);
        }
    }
    Ok(())
}

/// What the sum of a mined commit is over.
pub(crate) fn commit_sum(id: &[u8], rules: u32, time: i64, message: &str, touches: &[u8]) -> i64 {
    sum([id, &rules.to_le_bytes(), &time.to_le_bytes(), message.as_bytes(), touches])
}

/// Ids of commits by row, those that are sound.
fn check_commits(db: &Connection, checked: &mut Checked) -> Result<FxHashMap<u32, Vec<u8>>, Fault> {
    let mut statement =
        db.prepare("SELECT commit_row, commit_id, rules, time, message, touches, sum FROM commits")?;
    let mut rows = statement.query([])?;
    let mut sound = FxHashMap::default();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let made = (|| {
            let (rules, time) = (row.get(2).ok()?, row.get(3).ok()?);
            Some(commit_sum(blob(row, 1)?, rules, time, text(row, 4)?, blob(row, 5)?))
        })();
        match (fits(row, 6, made), u32::try_from(id), blob(row, 1)) {
            (true, Ok(at), Some(commit)) => {
                sound.insert(at, commit.to_owned());
            }
            _ => {
                checked.warning("history", format!("commit row {id}: it is not what was mined"));
                checked.remakable.commits.insert(id);
            }
        }
    }
    Ok(sound)
}

/// What the sum of a history is over, as it is stored.
pub(crate) struct HistoryColumns<'a> {
    pub(crate) rules: u32,
    pub(crate) digest: &'a [u8],
    pub(crate) commit_time: i64,
    pub(crate) is_cut: bool,
    pub(crate) n_commits: u32,
    pub(crate) commit_rows: &'a [u8],
    pub(crate) walked: &'a [u8],
}

impl HistoryColumns<'_> {
    pub(crate) fn sum(&self) -> i64 {
        sum([
            &self.rules.to_le_bytes()[..],
            self.digest,
            &self.commit_time.to_le_bytes(),
            &[u8::from(self.is_cut)],
            &self.n_commits.to_le_bytes(),
            self.commit_rows,
            self.walked,
        ])
    }
}

fn check_histories(
    db: &Connection,
    checked: &mut Checked,
    commits: &FxHashMap<u32, Vec<u8>>,
) -> Result<(), Fault> {
    let mut statement = db.prepare(
        "SELECT snapshot_row, rules, digest, commit_time, is_cut, n_commits, commit_rows, walked, sum FROM histories",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let columns = (|| {
            let is_cut: i64 = row.get(4).ok()?;
            Some(HistoryColumns {
                rules: row.get(1).ok()?,
                digest: blob(row, 2)?,
                commit_time: row.get(3).ok()?,
                is_cut: (0..=1).contains(&is_cut).then_some(is_cut == 1)?,
                n_commits: row.get(5).ok()?,
                commit_rows: blob(row, 6)?,
                walked: blob(row, 7)?,
            })
        })();
        let is_sound = fits(row, 8, columns.as_ref().map(HistoryColumns::sum))
            && columns.is_some_and(|it| lists_its_commits(&it, commits).unwrap_or(false));
        if !is_sound {
            checked.warning("history", format!("the history of snapshot row {id} is not what was written"));
            checked.remakable.histories.insert(id);
        }
    }
    Ok(())
}

/// Whether the commits are there, and are those that the digest was made of.
fn lists_its_commits(history: &HistoryColumns<'_>, commits: &FxHashMap<u32, Vec<u8>>) -> Option<bool> {
    let listed = unpack_rows(history.commit_rows)?;
    let ids: Vec<&[u8]> =
        listed.iter().map(|it| commits.get(it).map(Vec::as_slice)).collect::<Option<_>>()?;
    let digest = identity::history_digest(history.rules, ids.iter().copied());
    let walked = unpack_rows(history.walked)?;
    Some(
        *digest.as_bytes() == *history.digest
            && ids.len() == history.n_commits as usize
            && walked.iter().all(|it| commits.contains_key(it)),
    )
}
