//! What all languages share: from bytes to a flat tree, the walk over it, and the making of facts.

pub(crate) mod arena;
pub(crate) mod build;
pub(crate) mod docs;
pub(crate) mod lines;
pub(crate) mod parse;
pub(crate) mod paths;
pub(crate) mod refit;
pub(crate) mod scratch;
pub(crate) mod secrets;
pub(crate) mod signature;
pub(crate) mod source;
pub(crate) mod steps;
pub(crate) mod tree;
pub(crate) mod walk;
