//! Which declarations a change lies in, told from lines and their indentation: no old version is parsed.
//!
//! ```text
//! class Cart:                     above, less indented: Cart
//!     def add(self, it):          above, less indented: Cart.add
//!         if it:                  above, no declaration: what encloses must be indented less than this
//! +           self.items += [it]  touches Cart.add
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use knowing_extract::Outline;
use knowing_vcs::TextChange;

/// Names of one change that are kept.
const MAX_NAMES: usize = 256;
/// Longer paths are machine-made.
const MAX_NAME: usize = 256;
/// Comments and decorators before a declaration that are looked through.
const MAX_LEADING: usize = 40;

/// Paths of declarations that lines of either version lie in, sorted; an empty one for lines outside of all.
pub(crate) fn names(outline: Outline, change: &TextChange) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut old = Side::new(outline, &change.old);
    let mut new = Side::new(outline, &change.new);
    for hunk in &change.hunks {
        old.touched(hunk.old.clone(), &mut names);
        new.touched(hunk.new.clone(), &mut names);
    }
    names.into_iter().filter(|it| it.len() <= MAX_NAME).take(MAX_NAMES).collect()
}

/// One version of a file.
struct Side<'a> {
    outline: Outline,
    text: &'a [u8],
    /// The line that was asked for last.
    asked: Option<Asked<'a>>,
}

/// A line, and the declarations around it.
struct Asked<'a> {
    begin: usize,
    indent: usize,
    around: Vec<Around<'a>>,
}

/// A declaration around a line.
#[derive(Clone, Copy)]
struct Around<'a> {
    indent: usize,
    owner: Option<&'a str>,
    name: &'a str,
}

impl<'a> Side<'a> {
    fn new(outline: Outline, text: &'a [u8]) -> Side<'a> {
        Side { outline, text, asked: None }
    }

    fn touched(&mut self, range: Range<usize>, names: &mut BTreeSet<String>) {
        let mut around: Option<Vec<Around<'a>>> = None;
        // Most lines lie where the one before did.
        let mut is_named = false;
        let mut at = range.start;
        while at < range.end {
            let line = self.line_at(at);
            let begin = at;
            at += line.len();
            let line = Line::new(line);
            if line.is_blank() || line.is_continuation() {
                continue;
            }
            let around = match &mut around {
                Some(around) => around,
                none => none.insert(self.enclosing(begin, line.indent)),
            };
            while around.last().is_some_and(|it| it.indent >= line.indent) {
                around.pop();
                is_named = false;
            }
            let declared = match line.is_leading() {
                true => self.declared_after(at, line.indent),
                false => self.declared(&line),
            };
            match declared {
                Some(declared) if line.is_leading() => {
                    names.insert(path(around.iter().chain([&declared])));
                }
                Some(declared) => {
                    around.push(declared);
                    names.insert(path(around.iter()));
                    is_named = true;
                }
                None if is_named => {}
                None => {
                    names.insert(path(around.iter()));
                    is_named = true;
                }
            }
        }
    }

    /// The declarations around a line, outermost first. Hunks come in their order: where the line asked for before is met, what
    /// is indented less stands around both.
    fn enclosing(&mut self, begin: usize, indent: usize) -> Vec<Around<'a>> {
        let mut around = Vec::new();
        let mut limit = indent;
        let mut end = begin;
        while limit > 0 && end > 0 {
            if let Some(asked) = self.asked.as_ref().filter(|it| it.begin == end && limit <= it.indent) {
                around.extend(asked.around.iter().rev().filter(|it| it.indent < limit));
                break;
            }
            let from = memchr::memrchr(b'\n', &self.text[..end - 1]).map_or(0, |it| it + 1);
            let line = &self.text[from..end];
            end = from;
            // Most lines: as far to the right as the one below, or empty.
            if line.iter().take(limit).all(u8::is_ascii_whitespace) {
                continue;
            }
            let line = Line::new(line);
            if line.is_continuation() || line.is_leading() {
                continue;
            }
            limit = line.indent;
            around.extend(self.declared(&line));
        }
        around.reverse();
        self.asked = Some(Asked { begin, indent, around: around.clone() });
        around
    }

    fn declared(&self, line: &Line<'a>) -> Option<Around<'a>> {
        let declared = self.outline.declaration(std::str::from_utf8(line.code).ok()?)?;
        Some(Around { indent: line.indent, owner: declared.owner, name: declared.name })
    }

    /// What comments and decorators that end before `at` stand in front of.
    fn declared_after(&self, mut at: usize, indent: usize) -> Option<Around<'a>> {
        for _ in 0..MAX_LEADING {
            let line = self.line_at(at);
            at += line.len();
            let line = Line::new(line);
            if line.is_blank() {
                return None;
            }
            if !line.is_leading() {
                return self.declared(&line).filter(|_| line.indent == indent);
            }
        }
        None
    }

    /// With its end; empty at the end of the text.
    fn line_at(&self, at: usize) -> &'a [u8] {
        let rest = &self.text[at.min(self.text.len())..];
        &rest[..memchr::memchr(b'\n', rest).map_or(rest.len(), |it| it + 1)]
    }
}

fn path<'a>(around: impl Iterator<Item = &'a Around<'a>>) -> String {
    let mut path = String::new();
    for part in around.flat_map(|it| it.owner.into_iter().chain([it.name])) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(part);
    }
    path
}

struct Line<'a> {
    indent: usize,
    /// What stands after it, without white space at the end.
    code: &'a [u8],
}

impl<'a> Line<'a> {
    fn new(line: &'a [u8]) -> Line<'a> {
        let code = line.trim_ascii_start();
        Line { indent: line.len() - code.len(), code: code.trim_ascii_end() }
    }

    fn is_blank(&self) -> bool {
        self.code.is_empty()
    }

    /// Closes or goes on with what an earlier line began: its indentation says nothing.
    fn is_continuation(&self) -> bool {
        match self.code.first() {
            Some(b')' | b']' | b'}' | b'{' | b'(') => true,
            _ => matches!(self.code, b"where" | b"end"),
        }
    }

    /// Comments, decorators and attributes: they belong to what follows.
    fn is_leading(&self) -> bool {
        self.code.starts_with(b"//")
            || self.code.starts_with(b"/*")
            || matches!(self.code.first(), Some(b'@' | b'#' | b'*'))
    }
}

#[cfg(test)]
mod tests {
    use knowing_vcs::Hunk;

    use super::*;

    /// The lines between `<` and `>` are those that changed.
    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        let outline = Outline::of(path).unwrap();
        let (mut new, mut hunks, mut open) = (String::new(), Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            match line.trim_end() {
                "<" => open = new.len(),
                ">" => hunks.push(Hunk { old: 0..0, new: open..new.len() }),
                _ => new.push_str(line),
            }
        }
        let change = TextChange { old: Vec::new(), new: new.into_bytes(), hunks };
        assert_eq!(names(outline, &change), expect, "{text}");
    }

    #[test]
    fn a_line_of_python_lies_in_its_method() {
        check("a.py", "class A:\n    def f(self):\n        if x:\n<\n            y = 1\n>\n", &["A.f"]);
        check("a.py", "class A:\n    def f(\n        self,\n    ) -> int:\n<\n        y = 1\n>\n", &["A.f"]);
        check("a.py", "class A:\n    def f(self):\n        x\n\n<\n    size = 1\n>\n", &["A"]);
        check("a.py", "def f():\n    x\n\nif x:\n<\n    y = 1\n>\n", &[""]);
        check("a.py", "def f():\n    def inner():\n<\n        y = 1\n>\n    x\n", &["f.inner"]);
        check("a.py", "<\nimport re\n>\n\ndef f():\n    x\n", &[""]);
    }

    #[test]
    fn declarations_inside_a_change_are_touched_and_their_neighbours_are_not() {
        let text = "class A:\n    def f(self):\n        x\n\n<\n    def g(self):\n        y\n\n    def h(self):\n        z\n\n>\n    def i(self):\n        x\n";
        check("a.py", text, &["A.g", "A.h"]);
        check("a.py", "<\nclass A:\n    def f(self): pass\nx = 1\n>\n", &["", "A", "A.f"]);
    }

    #[test]
    fn later_hunks_know_what_stands_around_them() {
        let text = "class A:\n    def f(self):\n        if x:\n<\n            y\n>\n            z\n<\n            w\n>\n    def g(self):\n<\n        x\n>\n\nclass B:\n    def h(self):\n<\n        x\n>\n";
        check("a.py", text, &["A.f", "A.g", "B.h"]);
        let text = "class A:\n<\n    x = 1\n>\n    def f(self):\n        if x:\n<\n            y\n>\n<\n    z = 1\n>\n";
        check("a.py", text, &["A", "A.f"]);
    }

    #[test]
    fn decorators_and_comments_belong_to_what_follows() {
        check("a.py", "class A:\n<\n    @property\n>\n    @cached\n    def f(self):\n        x\n", &["A.f"]);
        check("a.py", "def f():\n    x\n    # why\n<\n    # more\n>\n    y\n", &["f"]);
        check(
            "a.rs",
            "impl A {\n<\n    /// Says why.\n>\n    #[must_use]\n    fn f(&self) {}\n}\n",
            &["A.f"],
        );
        check("a.rs", "<\n// SPDX\n>\n\nfn f() {}\n", &[""]);
    }

    #[test]
    fn rust_blocks() {
        let text = "impl<T> Shape for Point<T>\nwhere\n    T: Copy,\n{\n    fn area(&self) -> f32 {\n        match self {\n<\n            _ => 1.0,\n>\n        }\n    }\n}\n";
        check("a.rs", text, &["Point.area"]);
        check("a.rs", "mod tests {\n    fn f() {\n<\n        x();\n>\n    }\n}\n", &["tests.f"]);
        check("a.rs", "fn f() {\n    x();\n<\n}\n>\n", &[]);
        check("a.rs", "struct A {\n<\n    x: u8,\n>\n}\n", &["A"]);
    }

    #[test]
    fn receivers_and_braces() {
        check("a.go", "func (s *Store) Put(k string) {\n<\n\ts.x = k\n>\n}\n", &["Store.Put"]);
        check("A.java", "class A {\n  int f()\n  {\n<\n    return 1;\n>\n  }\n}\n", &["A.f"]);
    }

    #[test]
    fn odd_text_is_no_trouble() {
        check("a.py", "<\n>\n", &[]);
        check("a.py", "<\n   \n\n>\n", &[]);
        let change = TextChange {
            old: Vec::new(),
            new: b"def \xff():\n  x".to_vec(),
            hunks: vec![Hunk { old: 0..0, new: 0..12 }],
        };
        assert_eq!(names(Outline::of("a.py").unwrap(), &change), [""]);
    }
}
