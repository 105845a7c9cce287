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
//! newer         what the grammar does not know
//! ```

mod bindings;
mod calls;
mod classes;
mod expressions;
mod functions;
mod imports;
mod kinds;
mod modifiers;
mod newer;
mod properties;
mod reader;
mod types;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};
pub(crate) use newer::blanked;

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
