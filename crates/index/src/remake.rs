//! What fsck found damaged and git can tell again: facts, term vectors, history, and the keys of the next run.

use std::fs;

use knowing_model::RULESET;
use knowing_search::{FileTerms, Tokenizer};
use knowing_store::{EncodedFacts, FileRow, Remakable, SnapshotRow, Store, TermsKey};
use knowing_vcs::{Checkout, CommitId};

use crate::pipeline::Content;
use crate::scan::Source;
use crate::search::TERMS_RULESET;
use crate::{Result, history, results};

/// Makes again what is damaged, as far as this clone has the contents. How many things were made.
pub fn remake(store: &mut Store, source: Source<'_>, damaged: &Remakable) -> Result<usize> {
    store.drop_damaged(damaged)?;
    let mut n_made = 0;
    let content = Content::of(source);
    for row in &damaged.facts {
        if let Some(file) = store.file_at(*row)?
            && let Some(bytes) = content.read_stored(&file.path, &file.blob)?
        {
            let mut facts = knowing_extract::extract(&file.path, &bytes);
            store.replace_facts(*row, &EncodedFacts::new(&mut facts))?;
            n_made += 1;
        }
    }
    if !damaged.terms.is_empty() {
        n_made += remake_terms(store, &content)?;
    }
    if let Source::Commit { checkout, .. } = source {
        for row in &damaged.histories {
            n_made += usize::from(remake_history(store, checkout, *row)?);
        }
    }
    Ok(n_made)
}

fn remake_terms(store: &mut Store, content: &Content<'_>) -> Result<usize> {
    let mut tokenizer = Tokenizer::new();
    let mut made: Vec<(FileRow, Vec<u8>)> = Vec::new();
    for file in store.files_without_terms(RULESET, TERMS_RULESET)? {
        if let Some(bytes) = content.read_stored(&file.path, &file.blob)? {
            let facts = knowing_extract::extract(&file.path, &bytes);
            made.push((file, FileTerms::of(&facts, &bytes, &mut tokenizer).encode()));
        }
    }
    let key = |it: &FileRow| (it.id, it.language.clone());
    let keys: Vec<_> = made.iter().map(|it| key(&it.0)).collect();
    let rows: Vec<(TermsKey<'_>, Vec<u8>)> = keys
        .iter()
        .zip(made)
        .map(|((file, language), made)| (TermsKey { file: *file, language, ruleset: TERMS_RULESET }, made.1))
        .collect();
    store.write_terms(&rows)?;
    Ok(rows.len())
}

fn remake_history(store: &mut Store, checkout: &Checkout, snapshot_row: i64) -> Result<bool> {
    let Some(snapshot) = store.snapshot_at(snapshot_row)? else { return Ok(false) };
    let Some(commit) = CommitId::from_bytes(&snapshot.commit) else { return Ok(false) };
    // Another repository of the same database has other commits.
    if checkout.commit_time(commit).is_err() {
        return Ok(false);
    }
    history::mine(store, checkout, commit, &snapshot, None, &mut history::Past::default(), &|| Ok(()))?;
    Ok(true)
}

/// Whether the keys that the next run reads are those of this snapshot; none when there are none, which costs time alone.
pub fn keys_fit(store: &Store, snapshot: &SnapshotRow) -> Result<Option<bool>> {
    if !results::path_of(store, snapshot.id).exists() {
        return Ok(None);
    }
    let Some(results) = results::open(store, snapshot) else { return Ok(Some(false)) };
    let reader = store.reader(snapshot)?;
    let files = reader.files()?.into_iter().filter(|it| it.skip_reason.is_none()).map(|it| it.row);
    let fits = files.eq(results.files.iter().map(|it| i64::from(it.file_row)));
    Ok(Some(fits && reader.unit_rows() == results.units()))
}

/// Removes keys that do not fit: the next run resolves everything then.
pub fn drop_keys(store: &Store, snapshot: &SnapshotRow) -> bool {
    fs::remove_file(results::path_of(store, snapshot.id)).is_ok()
}
