//! Where lines begin, so that line and column are worked out for the few nodes that are asked for them.

use knowing_model::Position;

#[derive(Default)]
pub(crate) struct Lines {
    /// Offset of every line's first byte.
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn fill(&mut self, bytes: &[u8]) {
        self.starts.clear();
        self.starts.push(0);
        self.starts.extend(memchr::memchr_iter(b'\n', bytes).map(|it| number(it + 1)));
    }

    /// The row of an offset that is mostly not far behind one in `row`.
    pub(crate) fn row_from(&self, row: u32, offset: u32) -> u32 {
        let mut at = row as usize;
        if self.starts.get(at).is_none_or(|it| *it > offset) {
            return self.row_of(offset);
        }
        while self.starts.get(at + 1).is_some_and(|it| *it <= offset) {
            at += 1;
        }
        number(at)
    }

    /// The offset of a position.
    pub(crate) fn offset(&self, position: Position) -> u32 {
        let row = position.line.saturating_sub(1) as usize;
        self.starts.get(row).copied().unwrap_or(0).saturating_add(position.column)
    }

    pub(crate) fn row_of(&self, offset: u32) -> u32 {
        number(self.starts.partition_point(|it| *it <= offset).saturating_sub(1))
    }

    pub(crate) fn position(&self, row: u32, offset: u32) -> Position {
        let start = self.starts.get(row as usize).copied().unwrap_or(0);
        Position { line: row.saturating_add(1), column: offset.saturating_sub(start) }
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
