//! One folder a language.

pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod kotlin;
pub(crate) mod python;
pub(crate) mod rust;
pub(crate) mod typescript;
