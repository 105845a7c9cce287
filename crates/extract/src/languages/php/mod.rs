//! PHP: functions, classes and their members, what bodies bind, call and name; types also from documentation comments.
//!
//! ```text
//! reader       the walk: what each node kind means, and the context around it
//! types        classes, traits, enums and their members
//! functions    functions, methods, closures and their parameters
//! comments     documentation and the types it states
//! written      syntax to `Type`
//! expressions  syntax to `Expr`
//! bindings     variables
//! uses         calls, values, fields, includes
//! imports      `use`
//! ```

mod bindings;
mod comments;
mod expressions;
mod functions;
mod imports;
mod kinds;
mod reader;
mod types;
mod uses;
mod written;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "php",
    extensions: &["php"],
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: &[],
    tables: &TABLES,
    is_closed: |kind, _| kind == Kind::String as u8,
    is_test,
    read: reader::read,
    owner_path: |_, _| None,
};

/// `tests/`, `Tests/`, `CartTest.php`.
fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    directories.split('/').any(|it| matches!(it, "test" | "tests" | "Test" | "Tests"))
        || stem.ends_with("Test")
}
