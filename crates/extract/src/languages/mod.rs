//! One folder a language.

pub(crate) mod python;
