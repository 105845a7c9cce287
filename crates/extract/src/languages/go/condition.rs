//! Build constraints: under which tags a file is part of its package, by its first comments.
//!
//! What the file's name says (`_linux`, `_amd64`) is left to who knows the path.

use knowing_model::facts::Str;

use super::reader::Reader;

impl Reader<'_, '_> {
    /// The expression of `//go:build`, else those of `// +build` lines in the same notation.
    pub(super) fn condition(&mut self) -> Option<Str> {
        let bytes = self.b.source.bytes;
        let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut old: Vec<String> = Vec::new();
        loop {
            rest = rest.trim_ascii_start();
            if rest.starts_with(b"/*") {
                let close = rest.windows(2).position(|it| it == b"*/")?;
                rest = &rest[close + 2..];
                continue;
            }
            if !rest.starts_with(b"//") {
                break;
            }
            let end = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
            let line = String::from_utf8_lossy(&rest[2..end]).into_owned();
            rest = &rest[end..];
            if let Some(expression) = line.strip_prefix("go:build ") {
                return Some(self.b.intern(expression.trim().to_owned()));
            }
            if let Some(options) = line.trim_start().strip_prefix("+build ") {
                old.push(old_notation(options));
            }
        }
        (!old.is_empty()).then(|| self.b.intern(old.join(" && ")))
    }
}

/// `linux,amd64 darwin` as `((linux && amd64) || (darwin))`.
fn old_notation(options: &str) -> String {
    let options: Vec<String> = options
        .split_whitespace()
        .map(|it| format!("({})", it.split(',').collect::<Vec<_>>().join(" && ")))
        .collect();
    format!("({})", options.join(" || "))
}
