//! Go: functions, methods by their receivers, types with what they embed, and what bodies bind, call and name.
//!
//! ```text
//! reader        the walk: what each node kind means, and the context around it
//! declarations  types and their members, constants, variables
//! functions     functions, receivers, parameters, function literals
//! generics      type parameters
//! types         syntax to `Type`
//! expressions   syntax to `Expr`
//! bindings      `:=`, `range`, type switches and the rest, and which names are local
//! uses          calls, values, fields, literals
//! allocations   `new` of a value, made fit for the grammar
//! errors        what is returned as an error, and `panic`
//! imports       package clause and imports
//! condition     build constraints
//! docs          documentation comments, found in the text around declarations
//! sites         environment variables and processes
//! ```

mod allocations;
mod bindings;
mod condition;
mod declarations;
mod docs;
mod errors;
mod expressions;
mod functions;
mod generics;
mod imports;
mod kinds;
mod reader;
mod sites;
mod types;
mod uses;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

pub(crate) use allocations::blanked;

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "go",
    extensions: &["go"],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed: |kind, _| CLOSED.contains(&kind),
    is_test,
    read: reader::read,
    owner_path: functions::owner_path,
};

/// Their parts are quotes and escapes.
const CLOSED: [u8; 2] = [Kind::InterpretedString as u8, Kind::RawString as u8];

fn is_test(path: &str) -> bool {
    path.ends_with("_test.go")
}
