//! What a language states, and how to write one.
//!
//! 1. A folder in `languages/` with `mod.rs`, and a line in `registry.rs`.
//! 2. `kinds!` lists the grammar's node kinds that mean something, `fields!` the fields that are asked for. Named kinds
//!    that are not listed are kept as `Other` (they are walked through); tokens are dropped unless listed; `skipped`
//!    kinds are dropped with all below them. Names are resolved to dense tables by kind id once per process.
//! 3. `read` gets a [`Builder`] over the flattened tree, makes its own reader (a [`Visitor`](crate::engine::walk::Visitor))
//!    and calls [`walk`](crate::engine::walk::walk), which enters every node in source order with a `Copy` context (scope,
//!    enclosing declaration ...). `Step::Within` gives another context to the nodes below; the walk restores it after
//!    them, so there is no `leave`: a node's end is known when it is entered.
//! 4. The reader tells the builder what it finds: `declare`, `bind`, `call`, `reference`, `import` ...; expressions and
//!    types go into pools (`expr`, `type_`), one expression per syntax node through `memo`. Symbol paths are given at the
//!    end, from owner and name; `owner_path` is the hook for a language whose owners are not enough (`impl` blocks).
//! 5. What must not be looked at again (a target, a name of a keyword argument) is marked with `consume`; the reader
//!    checks `is_consumed` when it meets it.
//! 6. No recursion without a bound: trees are as deep as somebody made them. The walk is a loop; follow chains in loops
//!    and end other recursion at [`MAX_NESTING`](crate::engine::build::MAX_NESTING) with `too_deep`.
//! 7. `spec.md` beside it says, from the common to the odd, what facts a snippet gives.

use std::sync::OnceLock;

use knowing_model::facts::{DeclId, FileFacts};

use crate::engine::build::Builder;

pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// Without the dot.
    pub(crate) extensions: &'static [&'static str],
    pub(crate) grammar: fn() -> tree_sitter::Language,
    pub(crate) kinds: &'static [KindRow],
    pub(crate) fields: &'static [&'static str],
    /// Kinds that have none of these fields, so that they are not looked for.
    pub(crate) fieldless: &'static [u8],
    pub(crate) tables: &'static OnceLock<Tables>,
    /// Whether nothing below a node of this kind and text is asked for, so that it is not looked into.
    pub(crate) is_closed: fn(u8, &[u8]) -> bool,
    /// Whether a path is that of a test file: by whole segments and affixes of the file name.
    pub(crate) is_test: fn(&str) -> bool,
    pub(crate) read: for<'a> fn(&mut Builder<'a>),
    /// The symbol path before the name, where it is not that of the owner.
    pub(crate) owner_path: fn(&FileFacts, DeclId) -> Option<String>,
}

/// A line of a language's kind table; the number is that of its own enum.
pub(crate) enum KindRow {
    Named(&'static str, u8),
    Token(&'static str, u8),
    Skipped(&'static str),
}

/// A language's kinds and fields by the grammar's numbers.
pub(crate) struct Tables {
    pub(crate) grammar: tree_sitter::Language,
    kinds: Vec<u8>,
    /// Kinds of which nothing is kept, by the grammar's numbers.
    pub(crate) is_dropped: Vec<bool>,
    fields: Vec<u8>,
    /// By the language's number of a kind.
    fieldless: Vec<bool>,
    pub(crate) is_closed: fn(u8, &[u8]) -> bool,
}

/// Kinds that every language has.
pub(crate) const OTHER: u8 = 0;
pub(crate) const ERROR: u8 = 1;
const DROPPED: u8 = u8::MAX;

impl Language {
    pub(crate) fn tables(&self) -> &'static Tables {
        self.tables.get_or_init(|| Tables::new(self))
    }
}

impl Tables {
    fn new(language: &Language) -> Tables {
        let (grammar, rows, field_names) = ((language.grammar)(), language.kinds, language.fields);
        let number_of = |id: u16| {
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            let named = grammar.node_kind_is_named(id);
            let listed = rows.iter().find_map(|row| match row {
                KindRow::Named(text, number) if named && *text == name => Some(*number),
                KindRow::Token(text, number) if !named && *text == name => Some(*number),
                KindRow::Skipped(text) if named && *text == name => Some(DROPPED),
                _ => None,
            });
            listed.unwrap_or(if named { OTHER } else { DROPPED })
        };
        let n_kinds = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kinds: Vec<u8> = (0..n_kinds).map(number_of).collect();
        let is_dropped = kinds.iter().map(|it| *it == DROPPED).collect();
        let n_fields = u16::try_from(grammar.field_count()).unwrap_or(u16::MAX);
        let fields = (0..=n_fields)
            .map(|id| {
                let name = grammar.field_name_for_id(id);
                let position = name.and_then(|name| field_names.iter().position(|it| *it == name));
                position.and_then(|it| u8::try_from(it + 1).ok()).unwrap_or(0)
            })
            .collect();
        let fieldless = (0..=u8::MAX).map(|it| language.fieldless.contains(&it)).collect();
        Tables { grammar, kinds, is_dropped, fields, fieldless, is_closed: language.is_closed }
    }

    /// The language's number of a kind; none when such nodes are dropped.
    pub(crate) fn kind(&self, id: u16) -> Option<u8> {
        // The grammar's own number of an error is outside the table.
        let number = self.kinds.get(usize::from(id)).copied().unwrap_or(ERROR);
        (number != DROPPED).then_some(number)
    }

    /// Whether a kind is what the parser makes of what it cannot read.
    pub(crate) fn is_error(&self, id: u16) -> bool {
        usize::from(id) >= self.kinds.len()
    }

    pub(crate) fn is_fieldless(&self, kind: u8) -> bool {
        self.fieldless[usize::from(kind)]
    }

    pub(crate) fn field(&self, id: u16) -> u8 {
        self.fields.get(usize::from(id)).copied().unwrap_or(0)
    }
}

/// An enum of a language's node kinds and its kind table.
macro_rules! kinds {
    (
        $name:ident {
            $($variant:ident $text:literal,)*
        }
        tokens { $($token:ident $token_text:literal,)* }
        skipped { $($skipped:literal,)* }
    ) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(super) enum $name {
            Other,
            Error,
            $($variant,)*
            $($token,)*
        }

        impl $name {
            const ALL: &[$name] = &[$name::Other, $name::Error, $($name::$variant,)* $($name::$token,)*];
            pub(super) const ROWS: &[$crate::language::KindRow] = &[
                $($crate::language::KindRow::Named($text, $name::$variant as u8),)*
                $($crate::language::KindRow::Token($token_text, $name::$token as u8),)*
                $($crate::language::KindRow::Skipped($skipped),)*
            ];
        }

        impl From<u8> for $name {
            fn from(number: u8) -> $name {
                $name::ALL[usize::from(number)]
            }
        }
    };
}

/// Numbers of a language's fields, as constants of a module-like type, and their list.
macro_rules! fields {
    ($name:ident { $($variant:ident $text:literal,)* }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(super) enum $name {
            None,
            $($variant,)*
        }

        impl $name {
            const ALL: &[$name] = &[$name::None, $($name::$variant,)*];
            pub(super) const NAMES: &[&str] = &[$($text,)*];
        }

        impl From<u8> for $name {
            fn from(number: u8) -> $name {
                $name::ALL[usize::from(number)]
            }
        }

        impl From<$name> for $crate::engine::tree::FieldNumber {
            fn from(field: $name) -> $crate::engine::tree::FieldNumber {
                $crate::engine::tree::FieldNumber(field as u8)
            }
        }
    };
}

pub(crate) use {fields, kinds};
