//! What is looked up while one file is resolved.
//!
//! The list belongs to the thread: it is filled from wherever facts are handed out, so that no language has to carry it
//! around or can forget it. A file is resolved on one thread from begin to end, and nothing in between may hand work to
//! others.

use std::cell::{Cell, RefCell};

use super::keys::{self, Door};
use crate::names::{Name, Names};

/// Nothing is recorded: tables and the hierarchy are made, which all files share.
const NOBODY: u64 = 0;

thread_local! {
    /// Hash of the path of the file in work.
    static OWN: Cell<u64> = const { Cell::new(NOBODY) };
    static LIST: RefCell<List> = const { RefCell::new(List { recent: Vec::new(), all: Vec::new() }) };
}

/// A key, and a name that is still a number.
type Read = (u64, Option<Name>);

struct List {
    /// The last read of each slot, as one number: most look-ups were made a moment ago.
    recent: Vec<u64>,
    all: Vec<Read>,
}

const SLOTS: usize = 1 << 12;

/// Runs what resolves a file, and gives the keys that it looked up, in ascending order.
pub(crate) fn recorded<T>(own: u64, names: &Names<'_>, run: impl FnOnce() -> T) -> (T, Vec<u32>) {
    let before = OWN.replace(own);
    assert!(before == NOBODY, "files are resolved one after the other on a thread");
    LIST.with_borrow_mut(|list| {
        list.recent.clear();
        list.recent.resize(SLOTS, 0);
        list.all.clear();
    });
    let result = run();
    OWN.set(NOBODY);
    let keys = LIST.with_borrow(|list| {
        let key = |&(key, name): &Read| {
            keys::cut(match name {
                Some(name) => keys::mix(key, names.hash(name)),
                None => key,
            })
        };
        let mut keys: Vec<u32> = list.all.iter().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    });
    (result, keys)
}

/// Whether what is looked up is noted: a file is in work, not what all files share.
pub(crate) fn is_recorded() -> bool {
    OWN.get() != NOBODY
}

/// Notes a look-up whose answer does not follow from the facts of the file in work.
#[inline]
pub(crate) fn note(door: Door, of: u64, name: Option<Name>) {
    if OWN.get() != NOBODY {
        push((keys::through(door, of), name));
    }
}

/// Notes a look-up in the facts of the file whose path has this hash, unless that is the file in work.
#[inline]
pub(crate) fn note_in(file: u64, door: Door, of: u64, name: Option<Name>) {
    let own = OWN.get();
    if own != NOBODY && own != file {
        push((keys::through(door, of), name));
    }
}

fn push(read: Read) {
    LIST.with_borrow_mut(|list| {
        let mark = keys::mix(read.0, read.1.map_or(0, |it| u64::from(it.0) + 1));
        let recent = &mut list.recent[mark as usize % SLOTS];
        if *recent != mark {
            *recent = mark;
            list.all.push(read);
        }
    });
}
