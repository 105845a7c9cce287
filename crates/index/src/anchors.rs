//! Where what a snapshot says of a file stands in the file as it lies on disk now.
//!
//! A declaration is found by its name; what has none, and what is called otherwise now, by what both texts have in common.

use std::ops::Range;

use knowing_model::NodeKind;
use knowing_model::facts::FileFacts;
use knowing_vcs::hunks;

/// The two versions of one file, compared.
#[derive(Debug)]
pub struct Anchors {
    /// Lines from 1: of the old version, and those in their place; in order.
    moved: Vec<(Range<u32>, Range<u32>)>,
    after: Option<(Vec<u8>, FileFacts)>,
    /// Whether there is an old text to compare with.
    has_before: bool,
}

/// First and last line of a declaration in the file on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Anchored {
    pub first_line: u32,
    pub last_line: u32,
    /// False when it is not in the file any more; the lines are then where it would be.
    pub is_there: bool,
}

impl Anchors {
    /// `before` is the text that the snapshot is of, where it can be had; `after` is none for a file that is gone.
    pub fn new(path: &str, before: Option<&[u8]>, after: Option<Vec<u8>>) -> Anchors {
        let moved = match (before, &after) {
            (Some(before), Some(after)) => hunks(before, after)
                .into_iter()
                .map(|it| (lines_of(before, it.old), lines_of(after, it.new)))
                .collect(),
            _ => Vec::new(),
        };
        let facts = |text: Vec<u8>| {
            let facts = knowing_extract::extract(path, &text);
            (text, facts)
        };
        Anchors { moved, after: after.map(facts), has_before: before.is_some() }
    }

    /// Where a line stands now, or where what stands in its place begins.
    pub fn line(&self, line: u32) -> u32 {
        self.moved_line(line).0
    }

    /// `symbol` is the path of names within the file, empty for the file itself.
    pub fn declaration(&self, symbol: &str, kind: NodeKind, (first, last): (u32, u32)) -> Anchored {
        let Some((_, facts)) = &self.after else {
            return Anchored { first_line: first, last_line: last, is_there: false };
        };
        if symbol.is_empty() {
            return Anchored { first_line: first, last_line: last.max(facts.n_lines), is_there: true };
        }
        let is_it = |it: &&knowing_model::facts::Decl| it.kind == kind && facts.text(it.path) == symbol;
        if let Some(found) = facts.decls.iter().find(is_it) {
            let (first_line, last_line) = (found.span.first_line, found.span.last_line);
            return Anchored { first_line, last_line, is_there: true };
        }
        let ((first_line, is_same), (last_line, _)) = (self.moved_line(first), self.moved_line(last));
        Anchored { first_line, last_line: last_line.max(first_line), is_there: is_same && self.has_before }
    }

    /// Lines of the file on disk.
    pub fn text(&self, (first, last): (u32, u32)) -> Option<String> {
        let text = String::from_utf8_lossy(&self.after.as_ref()?.0);
        let n_lines = (last + 1).saturating_sub(first.max(1)) as usize;
        let lines: Vec<&str> = text.lines().skip(first.max(1) as usize - 1).take(n_lines).collect();
        Some(lines.join("\n"))
    }

    /// The second: whether it is the very same line.
    fn moved_line(&self, line: u32) -> (u32, bool) {
        let mut shift = 0_i64;
        for (old, new) in &self.moved {
            if line < old.start {
                break;
            }
            if line < old.end {
                let within = new.start + (line - old.start);
                return (within.min(new.end.saturating_sub(1).max(new.start)).max(1), false);
            }
            shift = i64::from(new.end) - i64::from(old.end);
        }
        (u32::try_from(i64::from(line) + shift).unwrap_or(line), true)
    }
}

/// The lines that bytes from the begin of a line to the begin of another are.
fn lines_of(text: &[u8], bytes: Range<usize>) -> Range<u32> {
    let n_lines = |text: &[u8]| text.iter().filter(|it| **it == b'\n').count() as u32;
    let first = 1 + n_lines(&text[..bytes.start]);
    let inside = &text[bytes];
    // The last line may have no end.
    let unended = u32::from(inside.last().is_some_and(|it| *it != b'\n'));
    first..first + n_lines(inside) + unended
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "import os\n\ndef one():\n    pass\n\ndef two():\n    one()\n    return 2\n";

    fn anchors(after: &str) -> Anchors {
        Anchors::new("a.py", Some(BEFORE.as_bytes()), Some(after.as_bytes().to_vec()))
    }

    fn two(anchors: &Anchors) -> (u32, u32, bool) {
        let found = anchors.declaration("two", NodeKind::Function, (6, 8));
        (found.first_line, found.last_line, found.is_there)
    }

    #[test]
    fn i3_declarations_are_found_where_they_stand_now() {
        assert_eq!(two(&anchors(BEFORE)), (6, 8, true));
        let pushed_down = anchors(&format!("# new\n# new\n{BEFORE}"));
        assert_eq!(two(&pushed_down), (8, 10, true));
        assert_eq!(pushed_down.line(7), 9, "a call moves with its line");
        assert_eq!(pushed_down.text((9, 10)).unwrap(), "    one()\n    return 2");
        let changed = anchors(&BEFORE.replace("def two():", "def two(x, y):\n    # longer"));
        assert_eq!(two(&changed), (6, 9, true));
        let above = anchors("def two():\n    return 3\n\ndef one():\n    pass\n");
        assert_eq!(two(&above), (1, 2, true));
    }

    #[test]
    fn i3_what_is_gone_says_so() {
        let (_, _, is_there) = two(&anchors("import os\n\ndef one():\n    pass\n"));
        assert!(!is_there);
        let removed = Anchors::new("a.py", Some(BEFORE.as_bytes()), None);
        assert_eq!(two(&removed), (6, 8, false));
        let renamed = anchors(&BEFORE.replace("two", "deux"));
        assert_eq!(two(&renamed), (6, 8, false));
    }

    #[test]
    fn without_the_old_text_names_are_enough() {
        let text = format!("# new\n{BEFORE}").into_bytes();
        let anchors = Anchors::new("a.py", None, Some(text));
        assert_eq!(two(&anchors), (7, 9, true));
    }
}
