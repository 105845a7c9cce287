//! Kotlin: packages, classes and objects, functions of files and of types, extensions, properties, lambdas.
//!
//! ```text
//! reader        the walk: what each node kind means, and the context around it
//! classes       classes, interfaces, objects, companions, enums; what they extend
//! functions     functions, constructors, their parameters and results
//! properties    properties of types and files; local variables
//! bindings      loops, caught errors, lambdas, what `is` says about a name
//! expressions   syntax to `Expr`
//! types         written types, and what naming one means
//! calls         calls, what is passed to them, names used as values
//! modifiers     keywords and annotations: flags, and which functions are tests
//! imports       the package header and imports
//! ```

mod bindings;
mod calls;
mod classes;
mod expressions;
mod functions;
mod imports;
mod kinds;
mod modifiers;
mod properties;
mod reader;
mod types;

use std::sync::OnceLock;

use crate::engine::refit::Refit;
use crate::language::{Language, Tables};
use kinds::{Field, Kind};

/// `@Resource("/api") data object Root`: behind the brackets of an annotation the grammar takes `data` for a value that
/// `object` is called on.
pub(crate) fn blanked(source: &[u8]) -> Option<Vec<u8>> {
    const WORDS: &[u8] = b"data object ";
    let mut refit = Refit::new(source);
    for at in memchr::memmem::find_iter(source, WORDS) {
        let before = source[..at].trim_ascii_end();
        if before.ends_with(b")") {
            refit.blank(at..at + 4);
        }
    }
    refit.finish()
}

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "kotlin",
    extensions: &["kt", "kts"],
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed: |_, _| false,
    is_test: super::java::is_test,
    read: reader::read,
    owner_path: |_, _| None,
};
