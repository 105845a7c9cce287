//! How the files of a commit differ from those of another one, told without listing what both have alike.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use gix::bstr::BStr;
use gix::diff::tree::visit::{Action, Change};
use gix::diff::tree::{Recorder, State, Visit, recorder};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;

use crate::changes::read_root;
use crate::tree::{MAX_ENTRIES, is_name, kind_of};
use crate::{BlobId, Checkout, CommitId, EntryKind, Result};

/// A path at which something else stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedEntry {
    /// From the top of the repository, with `/`.
    pub path: String,
    /// None for what came.
    pub before: Option<EntryKind>,
    /// None for what went.
    pub after: Option<(EntryKind, BlobId)>,
}

impl Checkout {
    /// What stands at other paths in `to` than in `from`, or is another one there, by path. None when a name is not UTF-8,
    /// or some of it is not here: then `tree` tells.
    pub fn changed_entries(&self, from: CommitId, to: CommitId) -> Result<Option<Vec<ChangedEntry>>> {
        let objects = self.local().objects;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        if read_root(&objects, from.0, &mut before)?.is_none()
            || read_root(&objects, to.0, &mut after)?.is_none()
        {
            return Ok(None);
        }
        let tree = |bytes| TreeRefIter::from_bytes(bytes, to.0.kind());
        let mut seen = Seen::default();
        let compared = gix::diff::tree(tree(&before), tree(&after), State::default(), &objects, &mut seen);
        if compared.is_err() || seen.is_odd {
            return Ok(None);
        }
        let mut changed: BTreeMap<Vec<u8>, Sides> = BTreeMap::new();
        let kind = |mode: EntryMode| kind_of(mode.kind());
        // What became something else comes as one that went and one that came.
        for change in seen.recorder.records {
            match change {
                recorder::Change::Addition { entry_mode, oid, path, .. } => {
                    let after = kind(entry_mode).map(|it| (it, BlobId(oid)));
                    let sides = changed.entry(path.into()).or_default();
                    sides.after = after.or(sides.after);
                }
                recorder::Change::Deletion { entry_mode, path, .. } => {
                    let sides = changed.entry(path.into()).or_default();
                    sides.before = kind(entry_mode).or(sides.before);
                }
                recorder::Change::Modification { previous_entry_mode, entry_mode, oid, path, .. } => {
                    let sides = changed.entry(path.into()).or_default();
                    sides.before = kind(previous_entry_mode).or(sides.before);
                    sides.after = kind(entry_mode).map(|it| (it, BlobId(oid))).or(sides.after);
                }
            }
        }
        let mut entries = Vec::with_capacity(changed.len());
        for (path, Sides { before, after }) in changed {
            let Ok(path) = String::from_utf8(path) else { return Ok(None) };
            if before.is_some() || after.is_some() {
                entries.push(ChangedEntry { path, before, after });
            }
        }
        Ok(Some(entries))
    }
}

/// What is no directory, before and after.
#[derive(Default)]
struct Sides {
    before: Option<EntryKind>,
    after: Option<(EntryKind, BlobId)>,
}

/// Everything that differs, directories included.
#[derive(Default)]
struct Seen {
    recorder: Recorder,
    /// A name is none that git writes, or there are more than any repository has.
    is_odd: bool,
}

impl Visit for Seen {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        // The top has no name.
        self.is_odd |= !component.is_empty() && !is_name(component);
        self.recorder.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.is_odd |= !is_name(component);
        self.recorder.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.recorder.pop_path_component();
    }

    fn visit(&mut self, change: Change) -> Action {
        self.is_odd |= self.recorder.records.len() >= MAX_ENTRIES;
        if self.is_odd { ControlFlow::Break(()) } else { self.recorder.visit(change) }
    }
}
