//! What can go wrong when a repository is read, as far as callers tell it apart.

use std::path::PathBuf;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no such path: `{}`", path.display())]
    NoSuchPath { path: PathBuf },
    #[error("`{}` is not inside a git repository", path.display())]
    NotARepository { path: PathBuf },
    #[error("`{}` names the directory `{}`, which is not there", file.display(), target.display())]
    Dangling { file: PathBuf, target: PathBuf },
    #[error("`{text}` names no commit of this repository: {reason}")]
    Revision { text: String, reason: String },
    #[error("the object format of the repository at `{}` is not supported: {reason}", path.display())]
    ObjectFormat { path: PathBuf, reason: String },
    /// The repository is damaged or uses something that cannot be read.
    #[error("cannot {action}: {reason}")]
    Git { action: String, reason: String },
    #[error("cannot read `{}`: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

impl Error {
    /// For `map_err`: says what was tried, keeps what the library said.
    pub(crate) fn git(action: impl Into<String>) -> impl FnOnce(gix::Error) -> Error {
        let action = action.into();
        move |error| Error::Git { action, reason: reason(&error) }
    }
}

/// A library error with its causes, in one line.
pub(crate) fn reason(error: &gix::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for error in error.iter_errors() {
        let text = error.to_string();
        // The library repeats the text of a cause in some of its own messages.
        if !text.is_empty() && !parts.iter().any(|it| it.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}
