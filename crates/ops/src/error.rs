//! What can go wrong, in the user's words: a kind that decides the exit code, what happened, and what to do next.

use schemars::JsonSchema;
use serde::Serialize;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Debug, Serialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub kind: ErrorKind,
    /// What happened, and with which value.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// What may have been meant: up to 20 when several match, up to 5 when none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// How many match in truth, when several do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// The file or database concerned.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `path:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Candidate {
    pub(crate) fn named(name: impl Into<String>) -> Candidate {
        Candidate { name: name.into(), kind: None, location: None, id: None }
    }
}

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $variant:ident $name:literal $exit:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorKind {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorKind {
            pub const ALL: &[ErrorKind] = &[$(ErrorKind::$variant,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(ErrorKind::$variant => $name,)*
                }
            }

            /// 1: done, and the answer is negative. 2: could not be done.
            pub fn exit_code(self) -> u8 {
                match self {
                    $(ErrorKind::$variant => $exit,)*
                }
            }
        }
    };
}

error_kinds! {
    /// An argument that cannot be.
    Usage "usage" 2;
    /// Data that cannot be read.
    BadInput "bad_input" 2;
    NotFound "not_found" 1;
    /// Several match.
    Ambiguous "ambiguous" 1;
    /// The tree has no snapshot.
    NoIndex "no_index" 1;
    Stale "stale" 1;
    Expired "expired" 1;
    /// Another process holds what is needed.
    Busy "busy" 2;
    Timeout "timeout" 2;
    Limit "limit" 2;
    Io "io" 2;
    /// Made by a newer version.
    Unsupported "unsupported" 2;
    /// What was stored does not fit together.
    Corrupt "corrupt" 2;
    /// A fault of the program.
    Internal "internal" 2;
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error { kind, message: message.into(), hint: hint.into(), candidates: Vec::new(), total: None, place: None }
    }

    #[must_use]
    pub(crate) fn at(mut self, place: impl Into<String>) -> Error {
        self.place = Some(place.into());
        self
    }

    #[must_use]
    pub(crate) fn with_candidates(mut self, candidates: Vec<Candidate>) -> Error {
        self.candidates = candidates;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_prints_its_name_and_has_an_exit_code() {
        for &kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert!(matches!(kind.exit_code(), 1 | 2));
        }
        let negative: Vec<_> = ErrorKind::ALL.iter().filter(|it| it.exit_code() == 1).map(|it| it.name()).collect();
        assert_eq!(negative, ["not_found", "ambiguous", "no_index", "stale", "expired"]);
    }

    #[test]
    fn an_error_says_only_what_applies() {
        let error = Error::new(ErrorKind::NotFound, "no symbol matches `x`", "try `knowing query`").at("a.db");
        let json = serde_json::to_value(error).unwrap();
        assert_eq!(json["where"], "a.db");
        assert_eq!(json.as_object().unwrap().len(), 4);
    }
}
