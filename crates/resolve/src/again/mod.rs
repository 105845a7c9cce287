//! Resolving again only what depends on a change.
//!
//! ```text
//! while a file is resolved    reads     every key it looks up, found or not, as a hash (keys.rs)
//! a file that changed         provided  what its old and its new version answer to keys; where they differ
//! all files together          shared    the hierarchy and the tables of languages; where they differ from before
//! a file whose keys meet a difference is resolved again, all others keep their result
//! ```
//!
//! Recording cannot be forgotten: what another file says is handed out by `World`, `Scopes` and `Hierarchy` alone, and
//! those record. `World::facts` of another file counts as all of that file; the finer doors (`World::decl`,
//! `Scopes::find` ...) as what they name. Tables that a language makes of all files are the same as long as what they are
//! made of is (`Rules::tables`); when it is not, all files of such languages are resolved again. A language whose tables
//! note what is asked of them, and say what they answer (`Modules::answers`), is spared that (`Rules::notes_tables`).

mod changes;
mod digest;
pub(crate) mod keys;
mod leads;
mod ledger;
mod moves;
mod provided;
pub(crate) mod reads;
mod record;
mod shape;
mod shared;
#[cfg(test)]
mod tests;

pub use changes::Previous;
pub use record::{FileRecord, Record};

pub(crate) use changes::{Changed, Changes, Keys, reach_of, restated, unchanged};
pub(crate) use digest::FileDigest;
pub(crate) use leads::{OtherLeads, leads, moved_leads, recorded_leads, renew_leads};
pub(crate) use ledger::{Ledger, Table};
pub(crate) use moves::{Moves, Numbered};
pub(crate) use provided::Answers;
pub(crate) use shape::Reach;
pub(crate) use shared::{Notary, hierarchy_of_all, hierarchy_of_file, of_all, place, shared, tables};
