//! One file's bytes to file facts: what a file declares, binds, calls, names and imports, before anything is resolved.
//!
//! Extraction is a function of path and bytes; it opens nothing and looks at no other file.
//!
//! ```text
//! screen     which files are read at all, and what holds for a whole file (generated, vendored)
//! registry   which language or project format a path belongs to
//! engine     parse, flatten, walk; pools of texts, expressions and types; symbol paths; signatures
//! languages  what a language's node kinds are and what they mean; a spec.md beside each
//! manifests  what project files state
//! formats    configuration, schemas and documents: declarations and the relations they state
//! passes     what all languages have in common beyond declarations: routes, requests, topics
//! outline    which lines begin declarations, for versions that are not parsed
//! ```

mod engine;
mod extractor;
mod formats;
mod language;
mod languages;
mod limits;
mod manifests;
mod outline;
mod passes;
mod registry;
mod screen;

#[cfg(test)]
mod notation;
#[cfg(test)]
mod tests;

pub use extractor::{Extractor, extract};
pub use limits::Limits;
pub use outline::{Declared, Outline};
pub use passes::capabilities::{Capability, CapabilityKind, capabilities, is_foreign};
pub use registry::{Accepted, accepts, grammar, languages};
pub use screen::{Rules, Screen, SkipReason, max_bytes, screen, screen_with};
