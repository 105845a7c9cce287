//! C#: types in namespaces, their members, what bodies bind, call and name.
//!
//! ```text
//! reader       the walk: what each node kind means, and the context around it
//! types        type declarations, namespaces and their members without a body
//! functions    methods, constructors, accessors, local functions, lambdas and their parameters
//! generics     type parameters and constraints
//! attributes   what attributes say about a declaration
//! docs         `///` comments
//! written      syntax to `Type`
//! expressions  syntax to `Expr`
//! patterns     what patterns bind, and to what part of the value
//! bindings     local variables and the statements that bring them
//! uses         calls, values, fields
//! imports      `using` directives
//! sites        environment variables and processes
//! fitting      text that the grammar would lose the file by
//! ```

mod attributes;
mod bindings;
mod docs;
mod expressions;
mod fitting;
mod functions;
mod generics;
pub(crate) mod imports;
mod kinds;
mod patterns;
mod reader;
mod sites;
mod types;
mod uses;
mod written;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

pub(crate) use fitting::blanked;

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "csharp",
    extensions: &["cs"],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed: |kind, _| CLOSED.contains(&kind),
    is_test,
    read: reader::read,
    owner_path: |_, _| None,
};

/// Their parts are quotes and escapes.
const CLOSED: [u8; 4] = [
    Kind::CharacterLiteral as u8,
    Kind::RawStringLiteral as u8,
    Kind::StringLiteral as u8,
    Kind::VerbatimStringLiteral as u8,
];

/// `test/`, `Shop.Tests/`, `UnitTests/`, `CartTests.cs`; not `Latest.cs`.
fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let is_test_word = |it: &str| matches!(it, "test" | "tests" | "Test") || it.ends_with("Tests");
    directories.split(['/', '.']).any(is_test_word) || is_test_word(stem) || stem.ends_with("Test")
}
