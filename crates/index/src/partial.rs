//! The snapshot of a commit of which some objects are not here: it stands for the commit as long as they stay away.
//!
//! In a partial clone (`--filter=blob:limit=1m`) that is the snapshot of every commit. It is told apart from one of the whole
//! commit by what it holds, so that it is found by the list of its files.

use std::collections::BTreeMap;

use knowing_extract::SkipReason;
use knowing_model::RULESET;
use knowing_store::{SnapshotRow, Store};
use knowing_vcs::{BlobId, Checkout, CommitId};

use crate::scan::Scanned;
use crate::{Request, Result};

/// The one that this run would make, when it is there: of the same files, of which the same are still missing.
pub(crate) fn find(
    store: &Store,
    request: &Request<'_>,
    checkout: &Checkout,
    commit: CommitId,
    scanned: &Scanned,
) -> Result<Option<SnapshotRow>> {
    if request.options.force || !request.options.cover_all() {
        return Ok(None);
    }
    let missing = SkipReason::MissingObject.name();
    let Some(repo) = store.repo(request.url)? else { return Ok(None) };
    let found = store.newest_beside_commit(repo.id, commit.as_bytes(), RULESET)?;
    let Some(snapshot) = found.filter(|it| it.counts.skipped.contains_key(missing)) else {
        return Ok(None);
    };
    let rows = store.reader(&snapshot)?.files()?;
    let stored: BTreeMap<&str, &[u8]> =
        rows.iter().map(|it| (it.path.as_str(), it.blob.as_slice())).collect();
    let listed = scanned.files.iter().map(|it| (&*it.path, it.blob.as_bytes()));
    if stored.len() != scanned.files.len() || !listed.eq(stored) {
        return Ok(None);
    }
    let reader = checkout.reader();
    for row in rows.iter().filter(|it| it.skip_reason.as_deref() == Some(missing)) {
        let Some(blob) = BlobId::from_bytes(&row.blob) else { return Ok(None) };
        if reader.blob_size(blob)?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(snapshot))
}
