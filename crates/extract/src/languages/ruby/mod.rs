//! Ruby: modules, classes, methods and what stands for them (`attr_*`, `define_method`, `alias`, `delegate`), what they
//! bind, call and name.
//!
//! ```text
//! locals        which words are local variables, and how far they reach: all others are calls
//! reader        the walk: what each node kind means, and the context around it
//! bodies        classes, modules, `class << self`, `Class.new`, `Struct.new`
//! methods       `def`, its parameters, what it gives back, who may call it
//! macros        calls in the body of a class that declare something: `attr_*`, mixins, `alias_method`, `delegate`
//! examples      tests: Minitest, `test "..."`, RSpec
//! bindings      assignments: what a name or an instance variable stands for, and where
//! blocks        blocks and lambdas, and what their parameters get
//! narrowing     what `is_a?` and `case` say about a name
//! expressions   syntax to `Expr`
//! uses          calls, constants, instance variables, raised names
//! comments      documentation, and the types that YARD, RBS and Sorbet write
//! annotation    the text of such a type to `Type`
//! requires      `require`, `require_relative`, `autoload`
//! project       what gemspecs and Gemfiles state
//! sites         environment variables and processes
//! ```
//!
//! A call without a receiver is a member of the receiver that nobody wrote: a name without letters.

mod annotation;
mod bindings;
mod blocks;
mod bodies;
mod comments;
mod examples;
mod expressions;
mod kinds;
mod locals;
mod macros;
mod methods;
mod narrowing;
mod project;
mod reader;
mod requires;
mod sites;
mod uses;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use knowing_model::facts::{DeclId, FileFacts, Type};

use crate::language::{Language, Tables};
use kinds::{Field, Kind};

static TABLES: OnceLock<Tables> = OnceLock::new();

pub(crate) const LANGUAGE: Language = Language {
    name: "ruby",
    extensions: &["rb", "rake", "gemspec"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    kinds: Kind::ROWS,
    fields: Field::NAMES,
    fieldless: kinds::FIELDLESS,
    tables: &TABLES,
    is_closed,
    is_test,
    read: reader::read,
    owner_path,
};

/// Only texts like `"#{name}"` have something inside.
fn is_closed(kind: u8, text: &[u8]) -> bool {
    matches!(Kind::from(kind), Kind::String | Kind::HeredocBody | Kind::Regex | Kind::DelimitedSymbol)
        && !text.windows(2).any(|it| it[0] == b'#' && matches!(it[1], b'{' | b'@' | b'$'))
}

/// `test/` and `spec/`, unless they are a part of a library (`lib/rack/test`).
fn is_test(path: &str) -> bool {
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut segments = directories.split('/').take_while(|it| !matches!(*it, "lib" | "app"));
    segments.any(|it| matches!(it, "test" | "tests" | "spec" | "specs" | "features"))
        || stem.ends_with("_test")
        || stem.ends_with("_spec")
        || matches!(stem, "test_helper" | "spec_helper" | "rails_helper")
}

/// `class A::B::C` stands in `A::B`, wherever it is written; its written name is kept as its type.
fn owner_path(facts: &FileFacts, id: DeclId) -> Option<String> {
    let decl = facts.decl(id);
    if !decl.kind.is_type_like() {
        return None;
    }
    let Type::Named { segments, .. } = facts.type_(decl.type_?) else { return None };
    let (_, around) = segments.split_last()?;
    let around: Vec<&str> = around.iter().map(|it| facts.text(*it)).collect();
    match (around.first(), decl.owner) {
        (Some(&""), _) => Some(around[1..].join(".")),
        (_, Some(owner)) => Some(format!("{}.{}", facts.text(facts.decl(owner).path), around.join("."))),
        (_, None) => Some(around.join(".")),
    }
}
