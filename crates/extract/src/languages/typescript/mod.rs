//! TypeScript and JavaScript: one language with a grammar for each family of extensions, and the scripts of Vue files.
//!
//! ```text
//! reader        the walk: what each node kind means, and the context around it
//! scopes        which names a scope binds, so that others are known to come from outside
//! functions     functions, their parameters and results
//! classes       classes and their members, decorators
//! types         interfaces, aliases, enums, namespaces; where types are written
//! annotation    the text of a type to `Type`, JSDoc's too
//! documentation comments before declarations, and what they say about types
//! variables     what gives a name a value: declarators, assignments, patterns
//! objects       objects with members, what is added to functions and prototypes
//! expected      what an object has to be, by where it stands
//! narrowing     what `instanceof` and `typeof` say about a name, and where
//! expressions   syntax to `Expr`
//! uses          calls, values, fields, thrown names
//! imports       `import`, `export`, `require`, `module.exports`
//! blocks        `describe`, `it`, `test`
//! sites         environment variables and processes
//! newer         syntax that the grammars do not know yet
//! vue           the scripts of a component
//! ```

mod annotation;
mod blocks;
mod classes;
mod documentation;
mod expected;
mod expressions;
mod functions;
mod imports;
mod kinds;
mod narrowing;
mod newer;
mod objects;
mod reader;
mod scopes;
mod sites;
mod types;
mod uses;
mod variables;
pub(crate) mod vue;

use std::sync::OnceLock;

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

pub(crate) use newer::blanked;

const NAME: &str = "typescript";

pub(crate) const TYPESCRIPT: Language =
    language(&["ts", "mts", "cts", "vue"], || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        &TABLES
    });

/// Type assertions with angle brackets and JSX exclude each other.
pub(crate) const TSX: Language = language(&["tsx"], || tree_sitter_typescript::LANGUAGE_TSX.into(), {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    &TABLES
});

pub(crate) const JAVASCRIPT: Language =
    language(&["js", "jsx", "mjs", "cjs"], || tree_sitter_javascript::LANGUAGE.into(), {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        &TABLES
    });

const fn language(
    extensions: &'static [&'static str],
    grammar: fn() -> tree_sitter::Language,
    tables: &'static OnceLock<Tables>,
) -> Language {
    Language {
        name: NAME,
        extensions,
        grammar,
        kinds: Kind::ROWS,
        fields: Field::NAMES,
        fieldless: kinds::FIELDLESS,
        tables,
        is_closed,
        is_test,
        read: reader::read,
        owner_path: |_, _| None,
    }
}

/// Types are read from their text; texts have something inside only when they are templates.
fn is_closed(kind: u8, text: &[u8]) -> bool {
    const CLOSED: [u8; 7] = [
        Kind::String as u8,
        Kind::Regex as u8,
        Kind::TypeAnnotation as u8,
        Kind::TypeArguments as u8,
        Kind::TypeParameters as u8,
        Kind::AssertsAnnotation as u8,
        Kind::TypePredicateAnnotation as u8,
    ];
    CLOSED.contains(&kind)
        || kind == Kind::TemplateString as u8 && memchr::memmem::find(text, b"${").is_none()
}

/// By directories that hold nothing but tests, and by what stands before the extension.
fn is_test(path: &str) -> bool {
    const DIRECTORIES: [&str; 9] =
        ["__tests__", "__mocks__", "__fixtures__", "test", "tests", "e2e", "spec", "specs", "cypress"];
    const ENDINGS: [&str; 12] = [
        ".test",
        ".tests",
        ".spec",
        ".specs",
        ".e2e",
        ".cy",
        ".test-d",
        ".spec-d",
        "_test",
        "-test",
        "_spec",
        ".e2e-spec",
    ];
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    directories.split('/').any(|it| DIRECTORIES.contains(&it))
        || ENDINGS.iter().any(|it| stem.ends_with(it))
        || matches!(stem, "test" | "tests")
}
