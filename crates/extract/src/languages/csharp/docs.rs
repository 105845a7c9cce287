//! Documentation comments: `///` with XML in it, of which the text is kept.

use knowing_model::facts::Str;

use super::reader::Reader;
use crate::engine::docs::dedent;
use crate::engine::tree::Node;

/// Where the search for the begin of a line ends.
const MAX_LINE: usize = 2_000;
/// How many lines are looked at.
const MAX_LINES: usize = 200;

impl Reader<'_, '_> {
    /// What the `///` lines before a declaration say.
    pub(super) fn doc_before(&mut self, declaration: Node) -> Option<Str> {
        let bytes = self.b.source.bytes;
        let mut at = self.b.tree.start(declaration) as usize;
        // From the declaration upwards.
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..MAX_LINES {
            let end = bytes[..at].trim_ascii_end().len();
            let floor = end.saturating_sub(MAX_LINE);
            let begin =
                bytes[floor..end].iter().rposition(|it| *it == b'\n').map_or(floor, |it| floor + it + 1);
            let line = bytes[begin..end].trim_ascii_start();
            if line.starts_with(b"///") {
                lines.push(String::from_utf8_lossy(&line[3..]).into_owned());
            } else if !line.starts_with(b"//") && !line.starts_with(b"#") {
                break;
            }
            at = begin;
        }
        if lines.is_empty() {
            return None;
        }
        lines.reverse();
        let text = dedent(&plain(&lines.join("\n")));
        (!text.is_empty()).then(|| self.b.intern(text))
    }
}

/// XML without its tags: what a tag refers to stays (`<see cref="Cart"/>`), parameters are called by their names.
fn plain(xml: &str) -> String {
    let mut out = String::with_capacity(xml.len());
    let mut rest = xml;
    while let Some(open) = rest.find('<') {
        let Some(length) = rest[open..].find('>') else { break };
        let tag = &rest[open + 1..open + length];
        out.push_str(&rest[..open]);
        let name = tag.split([' ', '/', '\n']).next().unwrap_or_default();
        match name {
            "see" | "seealso" | "paramref" | "typeparamref" => out.push_str(referred(tag)),
            "param" | "typeparam" | "exception" => {
                out.push_str(referred(tag));
                out.push_str(": ");
            }
            _ => {}
        }
        rest = &rest[open + length + 1..];
    }
    out.push_str(rest);
    let text = out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    // Lines that held nothing but tags are gone.
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines.join("\n")
}

/// `Cart.Add` of `see cref="M:Cart.Add(System.Int32)"`.
fn referred(tag: &str) -> &str {
    let Some((_, value)) = tag.split_once('"') else { return "" };
    let value = value.split('"').next().unwrap_or_default();
    let value = match value.as_bytes() {
        [b'A'..=b'Z', b':', ..] => &value[2..],
        _ => value,
    };
    value.split('(').next().unwrap_or_default()
}
