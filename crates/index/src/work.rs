//! How the files on disk differ from what is stored.

use knowing_model::{Hash, identity};
use knowing_store::{SnapshotRow, Store};

use crate::scan::{self, Scanned, Source};
use crate::{Options, Request, Result};

/// Files that differ from a snapshot, by path.
#[derive(Clone, Debug, Default)]
pub struct WorkChanges {
    pub files: Vec<WorkChange>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkChange {
    pub path: String,
    /// What the snapshot has; none for a new file.
    pub before: Option<Vec<u8>>,
    /// What lies on disk; none for a file that is gone.
    pub after: Option<Vec<u8>>,
}

impl WorkChanges {
    /// Tells this state of the files from others; none when nothing differs.
    pub fn digest(&self) -> Option<Hash> {
        let changed = self.files.iter().map(|it| (it.path.as_str(), it.after.as_deref()));
        (!self.files.is_empty()).then(|| identity::dirty_digest(changed))
    }
}

/// The files of a working tree or directory as they are. Reading them needs no store: it can be done beside other work.
pub struct WorkFiles<'a> {
    source: Source<'a>,
    scanned: Scanned,
}

impl<'a> WorkFiles<'a> {
    pub fn read(source: Source<'a>) -> Result<WorkFiles<'a>> {
        Ok(WorkFiles { source, scanned: scan::scan(source, &Options::default())? })
    }

    /// Those that are not as a snapshot has them. Only files count that would be indexed.
    pub fn changes_since(&self, store: &Store, snapshot: &SnapshotRow) -> Result<WorkChanges> {
        let mut files = store.reader(snapshot)?.files()?;
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let files = files.into_iter().map(|it| (it.path, it.blob));
        if snapshot.dirty.is_none() {
            return Ok(changes(files, blobs(&self.scanned)));
        }
        // A snapshot of a part of the tree says nothing of the rest, and may have files that others leave out.
        let all = scan::scan(self.source, &Options { vendored: true, ..Options::default() })?;
        let mut changes = changes(files, blobs(&all));
        changes.files.retain(|it| it.before.is_some());
        Ok(changes)
    }
}

/// The digest of what is not committed; none for other sources, and where nothing differs.
pub(crate) fn dirty_digest(request: &Request<'_>, scanned: &Scanned) -> Result<Option<Hash>> {
    let Source::WorkTree { checkout, commit } = request.source else { return Ok(None) };
    let committed = scan::scan(Source::Commit { checkout, commit }, request.options)?;
    Ok(changes(blobs(&committed), blobs(scanned)).digest())
}

fn blobs(scanned: &Scanned) -> impl Iterator<Item = (String, Vec<u8>)> {
    scanned.files.iter().map(|it| (it.path.to_string(), it.blob.as_bytes().to_vec()))
}

/// Both lists are in byte order of their paths.
fn changes(
    before: impl Iterator<Item = (String, Vec<u8>)>,
    after: impl Iterator<Item = (String, Vec<u8>)>,
) -> WorkChanges {
    let (mut before, mut after) = (before.peekable(), after.peekable());
    let mut files = Vec::new();
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return WorkChanges { files },
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(one), Some(other)) => one.0.cmp(&other.0),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { after.next() } else { None };
        let path = old.as_ref().or(new.as_ref()).map(|it| it.0.clone());
        let (before, after) = (old.map(|it| it.1), new.map(|it| it.1));
        if let Some(path) = path.filter(|_| before != after) {
            files.push(WorkChange { path, before, after });
        }
    }
}
