//! The files on disk beside a snapshot: which of them differ, and where its lines stand in them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use knowing_index::{Anchored, Anchors, WorkChange, WorkChanges};

use crate::place::Place;

/// Nothing differs until files were looked at.
#[derive(Default)]
pub(crate) struct WorkState {
    /// Where the repository lies, when that is known.
    pub(crate) place: Option<Place>,
    changes: BTreeMap<String, WorkChange>,
    /// Comparing two texts takes long enough to do it once.
    anchors: RefCell<HashMap<String, Rc<Anchors>>>,
}

impl WorkState {
    pub(crate) fn of(place: Option<Place>) -> WorkState {
        WorkState { place, ..WorkState::default() }
    }

    pub(crate) fn set(&mut self, changes: WorkChanges) {
        self.changes = changes.files.into_iter().map(|it| (it.path.clone(), it)).collect();
        self.anchors.take();
    }

    pub(crate) fn n_changes(&self) -> usize {
        self.changes.len()
    }

    /// Files that differ, by path.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &WorkChange> {
        self.changes.values()
    }

    /// Where a file's lines stand now; none for a file that is as the snapshot has it.
    pub(crate) fn anchors(&self, path: &str) -> Option<Rc<Anchors>> {
        let change = self.changes.get(path)?;
        let place = self.place.as_ref()?;
        if let Some(known) = self.anchors.borrow().get(path) {
            return Some(Rc::clone(known));
        }
        let before = change.before.as_ref().and_then(|it| place.stored_text(it));
        let after = change.after.as_ref().and_then(|_| place.text_on_disk(path));
        let anchors = Rc::new(Anchors::new(path, before.as_deref(), after));
        self.anchors.borrow_mut().insert(path.to_owned(), Rc::clone(&anchors));
        Some(anchors)
    }
}

/// What is said of a symbol whose file differs from the snapshot.
pub(crate) fn flags(found: Anchored) -> impl Iterator<Item = &'static str> {
    ["dirty"].into_iter().chain((!found.is_there).then_some("gone"))
}
