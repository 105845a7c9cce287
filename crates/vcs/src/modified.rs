//! Which files have another content in another commit, where nothing else differs: what most commits are, told without
//! listing what they leave alone.

use gix::diff::tree::{Recorder, State, recorder::Change};
use gix::objs::TreeRefIter;

use crate::changes::read_root;
use crate::{BlobId, Checkout, CommitId, Result};

/// A file whose content is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModifiedFile {
    /// From the top of the repository, with `/`.
    pub path: String,
    pub blob: BlobId,
}

impl Checkout {
    /// The files of `to` that have another content in `from`, by path. None when more differs than that (a file came,
    /// went or became a link), a name is not UTF-8, or some of it is not here: then `tree` tells.
    pub fn modified_files(&self, from: CommitId, to: CommitId) -> Result<Option<Vec<ModifiedFile>>> {
        let objects = self.local().objects;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if read_root(&objects, from.0, &mut before)?.is_none()
            || read_root(&objects, to.0, &mut after)?.is_none()
        {
            return Ok(None);
        }
        let tree = |bytes| TreeRefIter::from_bytes(bytes, to.0.kind());
        let mut seen = Recorder::default();
        let compared = gix::diff::tree(tree(&before), tree(&after), State::default(), &objects, &mut seen);
        if compared.is_err() {
            return Ok(None);
        }
        let mut files = Vec::with_capacity(seen.records.len());
        for change in seen.records {
            let Change::Modification { previous_entry_mode, entry_mode, oid, path, .. } = change else {
                return Ok(None);
            };
            if previous_entry_mode.is_tree() && entry_mode.is_tree() {
                continue;
            }
            let (true, true, Ok(path)) =
                (previous_entry_mode.is_blob(), entry_mode.is_blob(), String::from_utf8(path.into()))
            else {
                return Ok(None);
            };
            files.push(ModifiedFile { path, blob: BlobId(oid) });
        }
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(Some(files))
    }
}
