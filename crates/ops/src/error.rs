//! What can go wrong, in the user's words: a kind that decides the exit code, what happened, and what to do next.

use schemars::JsonSchema;
use serde::Serialize;

use crate::page::json_bytes;

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
    /// Whoever reads our output has closed it.
    #[serde(skip)]
    closed_output: bool,
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
        Error {
            kind,
            message: message.into(),
            hint: hint.into(),
            candidates: Vec::new(),
            total: None,
            place: None,
            closed_output: false,
        }
    }

    /// Data could not be written because its reader had seen enough: no fault of anyone.
    pub fn is_closed_output(&self) -> bool {
        self.closed_output
    }

    pub(crate) fn of_output(error: &std::io::Error) -> Error {
        let message = format!("cannot write the answer: {error}");
        let mut told = Error::new(ErrorKind::Io, message, "check the disk or the program that reads it");
        told.closed_output = error.kind() == std::io::ErrorKind::BrokenPipe;
        told
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

impl Error {
    /// No error is longer than the answer could have been.
    #[must_use]
    pub(crate) fn held_to(mut self, max_tokens: usize) -> Error {
        // It is told as data, and message and hint once more as text.
        let of_a_text = max_tokens.min(2_000);
        for text in [&mut self.message, &mut self.hint].into_iter().chain(&mut self.place) {
            shorten(text, of_a_text);
        }
        while json_bytes(&self) + self.message.len() + self.hint.len() + 20 > 4 * max_tokens {
            if self.candidates.pop().is_none() {
                let longest = [&mut self.message, &mut self.hint].into_iter().chain(&mut self.place);
                let Some(longest) = longest.max_by_key(|it| it.len()).filter(|it| it.len() > 8) else {
                    break;
                };
                let half = longest.len() / 2;
                shorten(longest, half);
            }
        }
        self
    }
}

fn shorten(text: &mut String, max_bytes: usize) {
    if text.len() > max_bytes {
        text.truncate((0..=max_bytes).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0));
        text.push_str(" ...");
    }
}

impl From<knowing_vcs::Error> for Error {
    fn from(error: knowing_vcs::Error) -> Error {
        use knowing_vcs::Error as Vcs;
        let (kind, hint) = match &error {
            Vcs::NoSuchPath { .. } => (ErrorKind::BadInput, "check the path"),
            Vcs::NotARepository { .. } => (ErrorKind::BadInput, "give the path of a git repository"),
            Vcs::Dangling { .. } => {
                (ErrorKind::BadInput, "repair it with `git worktree repair`, or remove the file")
            }
            Vcs::Revision { .. } => (ErrorKind::NotFound, "see `git log` and `git branch` for what there is"),
            Vcs::ObjectFormat { .. } => {
                (ErrorKind::Unsupported, "convert the repository to SHA-1 or SHA-256")
            }
            Vcs::Git { .. } => (ErrorKind::BadInput, "check the repository with `git fsck`"),
            Vcs::Io { .. } => (ErrorKind::Io, "check that the file may be read"),
        };
        Error::new(kind, error.to_string(), hint)
    }
}

impl From<knowing_store::Error> for Error {
    fn from(error: knowing_store::Error) -> Error {
        use knowing_store::Error as Store;
        let (kind, path) = match &error {
            Store::Io { path, .. } | Store::Full { path } => (ErrorKind::Io, path),
            Store::Busy { path } => (ErrorKind::Busy, path),
            Store::Stopped { path } => (ErrorKind::Timeout, path),
            Store::Corrupt { path, .. } => (ErrorKind::Corrupt, path),
            Store::Unsupported { path, .. } => (ErrorKind::Unsupported, path),
            Store::Internal { path, .. } => (ErrorKind::Internal, path),
        };
        // The store says what is wrong and, after the last semicolon, what to do.
        let text = error.to_string();
        let (message, hint) = text.rsplit_once("; ").unwrap_or((&text, "try again"));
        Error::new(kind, message, hint).at(path.display().to_string())
    }
}

impl From<knowing_graph::Error> for Error {
    fn from(error: knowing_graph::Error) -> Error {
        let kind = match &error {
            knowing_graph::Error::Io(_) => ErrorKind::Io,
            knowing_graph::Error::Damaged(_) | knowing_graph::Error::Input(_) => ErrorKind::Corrupt,
        };
        Error::new(kind, error.to_string(), "index again with `knowing index --force`")
    }
}

impl From<knowing_search::Error> for Error {
    fn from(error: knowing_search::Error) -> Error {
        let kind = match &error {
            knowing_search::Error::Io(_) => ErrorKind::Io,
            knowing_search::Error::Damaged(_) | knowing_search::Error::Input(_) => ErrorKind::Corrupt,
        };
        Error::new(kind, error.to_string(), "index again with `knowing index --force`")
    }
}

impl From<knowing_index::Error> for Error {
    fn from(error: knowing_index::Error) -> Error {
        use knowing_index::Error as Index;
        match error {
            Index::Vcs(error) => error.into(),
            Index::Store(error) => error.into(),
            Index::Graph(error) => error.into(),
            Index::Search(error) => error.into(),
            Index::Glob { .. } => {
                Error::new(ErrorKind::Usage, error.to_string(), "globs are written as in `.gitignore`")
            }
            Index::TooLong => {
                Error::new(ErrorKind::Timeout, error.to_string(), "run `knowing index`, which takes its time")
            }
            Index::Stopped => Error::new(ErrorKind::Timeout, error.to_string(), "ask again"),
            Index::Threads { .. } => {
                Error::new(ErrorKind::Limit, error.to_string(), "give fewer `--workers`")
            }
        }
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
        let negative: Vec<_> =
            ErrorKind::ALL.iter().filter(|it| it.exit_code() == 1).map(|it| it.name()).collect();
        assert_eq!(negative, ["not_found", "ambiguous", "no_index", "stale", "expired"]);
    }

    #[test]
    fn an_error_says_only_what_applies() {
        let error =
            Error::new(ErrorKind::NotFound, "no symbol matches `x`", "try `knowing query`").at("a.db");
        let json = serde_json::to_value(error).unwrap();
        assert_eq!(json["where"], "a.db");
        assert_eq!(json.as_object().unwrap().len(), 4);
    }
}
