//! Where things stand: lines are 1-based, columns 0-based UTF-8 bytes, offsets are bytes from the start of the file.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// The lines of a whole declaration with its body, and where its name stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    pub first_line: u32,
    pub last_line: u32,
    pub name: Position,
}

/// A half-open range of byte offsets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Range {
    pub from: u32,
    pub to: u32,
}

impl Range {
    pub fn contains(self, offset: u32) -> bool {
        self.from <= offset && offset < self.to
    }
}
