//! JSON as project files have it: with comments and commas behind the last item.

use serde_json::Value;

use super::line_of;

/// The value, or the line of what is wrong with it.
pub(super) fn parse_json(text: &str) -> Result<Value, u32> {
    let plain = plain(text);
    serde_json::from_str(&plain).map_err(|error| {
        let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
        // The plain text has the lines of the written one.
        line.clamp(1, line_of(text, text.len()))
    })
}

/// Comments and needless commas made blank.
pub(super) fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let mut comma: Option<usize> = None;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                let rest = &bytes[at..];
                let length = if rest[1] == b'/' {
                    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
                } else {
                    memchr::memmem::find(rest, b"*/").map_or(rest.len(), |it| it + 2)
                };
                for byte in &mut out[at..at + length] {
                    if *byte != b'\n' {
                        *byte = b' ';
                    }
                }
                at += length;
            }
            b',' => {
                comma = Some(at);
                at += 1;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
                at += 1;
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A list of texts; anything else in it is left out.
pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    let array = value.and_then(Value::as_array);
    array.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
