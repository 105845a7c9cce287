//! Python: modules, classes, functions, what they bind, call and name.
//!
//! ```text
//! reader        the walk: what each node kind means, and the context around it
//! scopes        which names a function binds, so that others are known to come from outside
//! classes       classes, and what they share with functions: decorators, heads, docstrings
//! functions     functions and methods, their parameters and results
//! bindings      assignments: what a name stands for, and where
//! variables     those that are declarations: of modules, classes, `self`
//! patterns      targets of loops, comprehensions, `with`, `except`, `match`
//! narrowing     what `isinstance` says about a name, and where
//! expressions   syntax to `Expr`
//! types         where types are written, and what naming one means
//! annotation    the text of an annotation to `Type`, quoted ones too
//! uses          calls, values, fields, raised names
//! imports       `import` and `from ... import`
//! setup         what `setup.py` states about the project
//! sites         environment variables and processes
//! ```

mod annotation;
mod bindings;
mod classes;
mod expressions;
mod functions;
mod imports;
mod kinds;
mod narrowing;
mod patterns;
mod reader;
mod scopes;
mod setup;
mod sites;
mod types;
mod uses;
mod variables;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "python",
    extensions: &["py", "pyi"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed,
    is_test,
    read: reader::read,
    owner_path: |_, _| None,
};

/// Only texts like `f"{name}"` have something inside.
fn is_closed(kind: u8, text: &[u8]) -> bool {
    kind == Kind::String as u8
        && !text
            .iter()
            .take_while(|it| it.is_ascii_alphabetic())
            .any(|it| matches!(it, b'f' | b'F' | b't' | b'T'))
}

/// `tests/` anywhere and `test/` at the top; inside a package `test` is often a part of it (`django.test`).
fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    directories.split('/').any(|it| it == "tests")
        || directories.split('/').next() == Some("test")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || matches!(stem, "conftest" | "tests" | "test")
}
