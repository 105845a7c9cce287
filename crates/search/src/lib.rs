//! The lexical index of one snapshot: exact BM25F over eight fields, immutable, mapped from a file.
//!
//! ```text
//! facts, bytes --FileTerms::of--> term vectors of a file (stored with it)
//!                                        |   + path, history, neighbours
//!                                  IndexBuilder --finish--> Index --write--> images/<snapshot>.search
//!                                                             |
//!                     Query --prepare / search / parts--> Searcher = Index, or Overlay: an index and what changed since;
//!                                                         Collection = either, as it is kept
//! ```

mod blocks;
mod build;
mod bytes;
mod collection;
mod dictionary;
mod docs_in_source;
mod documents;
mod evaluate;
mod fields;
mod gather;
mod image;
mod layout;
mod names;
mod overlay;
mod postings;
mod recent;
mod score;
mod searcher;
mod stop_words;
mod terms;
mod tokenize;
mod varint;

pub use build::{ImageHead, IndexBuilder, Joining, TermBag, TermHandle};
pub use collection::Collection;
pub use documents::Documents;
pub use evaluate::Evaluation;
pub use fields::{Field, N_FIELDS};
pub use image::{DocIndex, Error, Index, Result};
pub use names::{FileIndex, FileInput, NameInput, NamePatch, Names};
pub use overlay::Overlay;
pub use score::{Answer, Hit, Parts, Query, QueryTerm, Scoring, View};
pub use searcher::{Prepared, Searcher, Segment};
pub use terms::{DocumentTerms, FileTerms};
pub use tokenize::{Tokenizer, parts, tokens, with_tokenizer};

#[cfg(test)]
mod tests;
