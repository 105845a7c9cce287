//! Rust: items, `impl` blocks, what bodies bind, call and name, and what can be told of the unparsed insides of macros.
//!
//! ```text
//! reader       the walk: what each node kind means, and the context around it
//! items        modules, types and their members, constants, macros
//! functions    functions, parameters, closures
//! impls        `impl` blocks, and the symbol paths of what stands in them
//! generics     type parameters and bounds
//! attributes   what attributes say about an item
//! docs         documentation comments, found in the text around items
//! types        syntax to `Type`
//! expressions  syntax to `Expr`
//! patterns     what patterns bind, and to what part of the value
//! bindings     `let`, `match`, `for` and the rest, and which names are local
//! uses         calls, values, fields
//! tokens       calls in the token trees of macros
//! wrappers     macros that only wrap items, taken away before parsing
//! imports      `use` trees
//! sites        environment variables and processes
//! ```

mod attributes;
mod bindings;
mod docs;
mod expressions;
mod functions;
mod generics;
mod impls;
mod imports;
mod items;
mod kinds;
mod patterns;
mod reader;
mod sites;
mod tokens;
mod types;
mod uses;
mod wrappers;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

pub(crate) use wrappers::blanked;

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "rust",
    extensions: &["rs"],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed: |kind, _| CLOSED.contains(&kind),
    is_test,
    read: reader::read,
    owner_path: impls::owner_path,
};

/// Their parts are quotes and escapes.
const CLOSED: [u8; 3] = [Kind::CharLiteral as u8, Kind::RawStringLiteral as u8, Kind::StringLiteral as u8];

/// `tests/` and `benches/` anywhere, `tests.rs` beside what it tests, `store_test.rs`.
fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    directories.split('/').any(|it| matches!(it, "tests" | "benches"))
        || matches!(stem, "test" | "tests")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
}
