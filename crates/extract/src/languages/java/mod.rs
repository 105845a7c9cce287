//! Java: packages, types in types and in methods, overloads, what methods bind, call and name.
//!
//! ```text
//! reader        the walk: what each node kind means, and the context around it
//! classes       classes, interfaces, enums, records, annotation types; anonymous ones too
//! methods       methods and constructors, their parameters
//! fields        fields, constants, members of enums
//! modifiers     keywords and annotations: flags, and which methods are tests
//! bindings      local variables, loops, resources, caught errors, lambdas
//! patterns      `instanceof` and `switch` patterns, and where their names hold
//! expressions   syntax to `Expr`
//! types         written types, and what naming one means
//! calls         calls of methods and constructors, what is passed to them
//! uses          names used as values, raised errors
//! imports       the package clause and imports
//! sites         environment variables and processes
//! ```

mod bindings;
mod calls;
mod classes;
mod expressions;
mod fields;
mod imports;
mod kinds;
mod methods;
mod modifiers;
mod patterns;
mod reader;
mod sites;
mod types;
mod uses;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "java",
    extensions: &["java"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed: |kind, _| kind == Kind::StringLiteral as u8,
    is_test,
    read: reader::read,
    owner_path: |_, _| None,
};

/// What a source set is called (`src/test/`, `src/integrationTest/`) decides; without one, `test/` and the file's name.
pub(crate) fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let mut before = "";
    for segment in directories.split('/') {
        if before == "src" {
            if segment == "main" {
                return false;
            }
            if segment.starts_with("test") || segment.ends_with("Test") || segment.ends_with("-test") {
                return true;
            }
        }
        before = segment;
    }
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    directories.split('/').any(|it| matches!(it, "test" | "tests"))
        || ["Test", "Tests", "TestCase", "IT", "ITCase"].iter().any(|it| {
            stem.strip_suffix(it).is_some_and(|rest| rest.ends_with(|it: char| !it.is_ascii_uppercase()))
        })
}
