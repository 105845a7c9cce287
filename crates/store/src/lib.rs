//! The database; SQL does not leave this crate.
