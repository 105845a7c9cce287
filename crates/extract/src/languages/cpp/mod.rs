//! C and C++: one reader for both, because the grammar of C++ has all that C's has.
//!
//! ```text
//! fitting      text that the grammars can read: torn conditionals, macros as attributes
//! reader       the walk: what each node kind means, and the context around it
//! declarators  what `*(*f(int))[3]` declares
//! functions    functions, methods, parameters, lambdas, tests
//! classes      structs, classes, unions, enums and their members
//! variables    variables, fields and what they are bound to
//! items        namespaces, aliases, `using`, includes
//! macros       `#define`, and the calls in it
//! names        what qualifies a name; the symbol paths of what stands outside of its class
//! docs         comments before and behind declarations
//! types        syntax to `Type`
//! expressions  syntax to `Expr`
//! uses         calls, values, fields
//! sites        environment variables and processes
//! ```

mod classes;
mod declarators;
mod docs;
mod expressions;
pub(crate) mod fitting;
mod functions;
mod items;
mod kinds;
mod macros;
mod names;
mod reader;
mod sites;
mod types;
mod uses;
mod variables;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

static C_TABLES: OnceLock<Tables> = OnceLock::new();
static CPP_TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const C: Language = Language {
    name: "c",
    extensions: &["c", "h"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &C_TABLES,
    is_closed,
    is_test,
    read: reader::read_c,
    owner_path: names::owner_path,
};

pub(crate) const CPP: Language = Language {
    name: "cpp",
    extensions: &["cc", "cpp", "cxx", "hpp", "hh", "hxx"],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &CPP_TABLES,
    is_closed,
    is_test,
    read: reader::read_cpp,
    owner_path: names::owner_path,
};

/// Their parts are quotes and escapes.
fn is_closed(kind: u8, _: &[u8]) -> bool {
    const CLOSED: [u8; 3] =
        [Kind::CharLiteral as u8, Kind::RawStringLiteral as u8, Kind::StringLiteral as u8];
    CLOSED.contains(&kind)
}

/// `tests/` and the like anywhere, `test_store.c`, `store_test.cc`, `store_unittest.cc`.
fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    directories.split('/').any(|it| matches!(it, "test" | "tests" | "unittest" | "unittests" | "t"))
        || matches!(stem, "test" | "tests")
        || stem.starts_with("test_")
        || stem.starts_with("test-")
        || ["_test", "_tests", "-test", "_unittest", "_unittests"].iter().any(|it| stem.ends_with(it))
}
