//! What is wrong with a document that was to be read, and where.

use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub at: At,
    pub what: String,
}

/// Lines count from 1, bytes from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    Line(usize),
    Byte(usize),
    /// The parts are fine, and do not fit together.
    Whole,
}

impl Problem {
    pub(crate) fn new(at: At, what: impl Into<String>) -> Problem {
        Problem { at, what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            At::Line(line) => write!(f, "line {line}: ")?,
            At::Byte(byte) => write!(f, "byte {byte}: ")?,
            At::Whole => {}
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Problem {}
