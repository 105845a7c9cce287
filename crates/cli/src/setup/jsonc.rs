//! Changes one member of a JSON file and nothing else: comments, order and spaces of people stay as they are.
//!
//! A file is read just far enough to know where the members of an object begin and end. JSON with comments and commas
//! before a closing bracket, as editors have it, is understood.

/// Where members of an object stand in the text.
#[derive(Debug)]
struct Object {
    /// Of the braces.
    open: usize,
    close: usize,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    key: String,
    begin: usize,
    value: usize,
    end: usize,
    /// Of the comma behind it.
    comma: Option<usize>,
}

/// Text that was put in, each at its place in the text before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Insertion {
    pub(super) at: usize,
    pub(super) text: String,
}

/// What `path` holds, as JSON without comments; none when it is not there, an error when the text is no JSON.
pub(super) fn value(text: &str, path: &[&str]) -> Result<Option<serde_json::Value>, String> {
    let mut at = begin(text)?;
    for key in path {
        let object = object(text, at)?;
        let Some(member) = object.members.iter().find(|it| it.key == *key) else { return Ok(None) };
        at = member.value;
    }
    let end = skip_value(text, at)?;
    let plain = plain(&text[at..end]);
    serde_json::from_str(&plain).map(Some).map_err(|error| error.to_string())
}

/// What to put in, so that `path` holds `value`; it must not be there yet. Objects on the way are made.
pub(super) fn insert(text: &str, path: &[&str], value: &serde_json::Value) -> Result<Vec<Insertion>, String> {
    let mut at = begin(text)?;
    for (depth, key) in path.iter().enumerate() {
        let object = object(text, at)?;
        if let Some(member) = object.members.iter().find(|it| it.key == *key) {
            at = member.value;
            continue;
        }
        let wrapped = path[depth + 1..].iter().rev().fold(value.clone(), |inner, key| {
            serde_json::Value::Object([((*key).to_owned(), inner)].into_iter().collect())
        });
        return Ok(insertions(text, &object, key, &wrapped));
    }
    Err(format!("`{}` is there already", path.join(".")))
}

/// The text without the member at `path`; none when it is not there.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<Option<String>, String> {
    let mut at = begin(text)?;
    let (last, way) = path.split_last().ok_or("there is nothing to remove")?;
    for key in way {
        let object = object(text, at)?;
        let Some(member) = object.members.iter().find(|it| it.key == *key) else { return Ok(None) };
        at = member.value;
    }
    let object = object(text, at)?;
    let Some(place) = object.members.iter().position(|it| it.key == *last) else { return Ok(None) };
    let member = &object.members[place];
    let behind = place.checked_sub(1).map_or(object.open + 1, |it| object.members[it].end);
    let gap = &text[behind..member.begin];
    // What follows a comment to the end of its line must not become part of it.
    let before = match gap.rfind("//").and_then(|_| gap.rfind('\n')) {
        Some(newline) => behind + newline + 1,
        None => behind + gap.trim_end().len(),
    };
    let mut kept = String::with_capacity(text.len());
    match (member.comma, place.checked_sub(1).and_then(|it| object.members[it].comma)) {
        // The last of several takes the comma before it along.
        (None, Some(comma)) => {
            kept.push_str(&text[..comma]);
            kept.push_str(&text[comma + 1..before]);
            kept.push_str(&text[member.end..]);
        }
        (comma, _) => {
            kept.push_str(&text[..before]);
            kept.push_str(&text[comma.map_or(member.end, |it| it + 1)..]);
        }
    }
    Ok(Some(kept))
}

pub(super) fn apply(text: &str, insertions: &[Insertion]) -> String {
    let mut changed = text.to_owned();
    for insertion in insertions.iter().rev() {
        changed.insert_str(insertion.at, &insertion.text);
    }
    changed
}

fn insertions(text: &str, object: &Object, key: &str, value: &serde_json::Value) -> Vec<Insertion> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let outer = indent_of(text, object.open);
    let inner = match object.members.first() {
        Some(first) if text[object.open..first.begin].contains('\n') => indent_of(text, first.begin),
        _ => format!("{outer}  "),
    };
    let pretty = serde_json::to_string_pretty(value).expect("a value has strings as keys");
    let member = format!("\"{key}\": {}", pretty.replace('\n', &format!("{newline}{inner}")));
    let Some(last) = object.members.last() else {
        let is_open = text[object.open..object.close].contains('\n');
        let end = if is_open { String::new() } else { format!("{newline}{outer}") };
        return vec![Insertion { at: object.open + 1, text: format!("{newline}{inner}{member}{end}") }];
    };
    // A comment behind the last member belongs to it.
    let behind = last.comma.map_or(last.end, |it| it + 1);
    let line_end = text[behind..object.close].find('\n').map(|it| behind + it);
    let at = match line_end {
        Some(end) if only_comment(&text[behind..end]) => end - usize::from(text[..end].ends_with('\r')),
        _ => behind,
    };
    match last.comma {
        Some(_) => vec![Insertion { at, text: format!("{newline}{inner}{member},") }],
        None if at == behind => vec![Insertion { at, text: format!(",{newline}{inner}{member}") }],
        None => vec![
            Insertion { at: last.end, text: ",".to_owned() },
            Insertion { at, text: format!("{newline}{inner}{member}") },
        ],
    }
}

fn only_comment(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("//") || (text.starts_with("/*") && text.find("*/") == Some(text.len() - 2))
}

/// The spaces a line begins with.
fn indent_of(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
    text[line..].chars().take_while(|it| *it == ' ' || *it == '\t').collect()
}

/// Where the first value begins.
fn begin(text: &str) -> Result<usize, String> {
    let at = skip_space(text, if text.starts_with('\u{feff}') { 3 } else { 0 })?;
    let end = skip_value(text, at)?;
    match skip_space(text, end)? == text.len() {
        true => Ok(at),
        false => Err("something follows the end".to_owned()),
    }
}

fn object(text: &str, open: usize) -> Result<Object, String> {
    let byte = |at: usize| text.as_bytes().get(at).copied();
    if byte(open) != Some(b'{') {
        return Err(format!("line {}: an object is expected here", line(text, open)));
    }
    let mut members: Vec<Member> = Vec::new();
    let mut at = skip_space(text, open + 1)?;
    loop {
        match byte(at) {
            Some(b'}') => return Ok(Object { open, close: at, members }),
            Some(b'"') => {}
            _ => return Err(format!("line {}: a name in quotes is expected here", line(text, at))),
        }
        let key_end = skip_string(text, at)?;
        let key = serde_json::from_str(&text[at..key_end]).map_err(|error| error.to_string())?;
        let colon = skip_space(text, key_end)?;
        if byte(colon) != Some(b':') {
            return Err(format!("line {}: a colon is missing", line(text, colon)));
        }
        let value = skip_space(text, colon + 1)?;
        let end = skip_value(text, value)?;
        let next = skip_space(text, end)?;
        let comma = (byte(next) == Some(b',')).then_some(next);
        members.push(Member { key, begin: at, value, end, comma });
        at = match comma {
            Some(comma) => skip_space(text, comma + 1)?,
            None if byte(next) == Some(b'}') => next,
            None => return Err(format!("line {}: a comma is missing", line(text, next))),
        };
    }
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|it| **it == b'\n').count() + 1
}

/// Past spaces and comments.
fn skip_space(text: &str, mut at: usize) -> Result<usize, String> {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at) {
            Some(it) if it.is_ascii_whitespace() => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                at = text[at..].find('\n').map_or(text.len(), |it| at + it);
            }
            Some(b'/') if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..]
                    .find("*/")
                    .ok_or_else(|| format!("line {}: a comment has no end", line(text, at)))?;
                at += end + 4;
            }
            _ => return Ok(at),
        }
    }
}

fn skip_string(text: &str, begin: usize) -> Result<usize, String> {
    let bytes = text.as_bytes();
    let mut at = begin + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            b'\n' => break,
            _ => at += 1,
        }
    }
    Err(format!("line {}: a text has no end", line(text, begin)))
}

fn skip_value(text: &str, begin: usize) -> Result<usize, String> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = begin;
    loop {
        at = if depth > 0 { skip_space(text, at)? } else { at };
        match bytes.get(at) {
            Some(b'"') => at = skip_string(text, at)?,
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            Some(b',' | b':') if depth > 0 => at += 1,
            Some(it) if it.is_ascii_alphanumeric() || matches!(it, b'-' | b'+' | b'.') => {
                let word = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'+' | b'.');
                at += bytes[at..].iter().take_while(|it| word(**it)).count();
            }
            _ => return Err(format!("line {}: a value is expected here", line(text, at))),
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// Without comments and without commas before a closing bracket.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = skip_space(text, at).unwrap_or(text.len());
        if next > at {
            plain.push(' ');
            at = next;
            continue;
        }
        let end = match bytes[at] {
            b'"' => skip_string(text, at).unwrap_or(text.len()),
            b',' => {
                let behind = skip_space(text, at + 1).unwrap_or(text.len());
                if !matches!(bytes.get(behind), Some(b'}' | b']')) {
                    plain.push(',');
                }
                at += 1;
                continue;
            }
            _ => at + text[at..].chars().next().map_or(1, char::len_utf8),
        };
        plain.push_str(&text[at..end]);
        at = end;
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let path = ["servers", "knowing"];
        let insertions = insert(before, &path, &json!({"command": "knowing"})).unwrap();
        let changed = apply(before, &insertions);
        assert_eq!(changed, after);
        assert_eq!(value(&changed, &path).unwrap(), Some(json!({"command": "knowing"})));
        assert!(insert(&changed, &path, &json!(1)).is_err(), "it is there already");
    }

    #[test]
    fn a_member_is_put_in_and_nothing_else_moves() {
        check("{}", "{\n  \"servers\": {\n    \"knowing\": {\n      \"command\": \"knowing\"\n    }\n  }\n}");
        check(
            "{\n\t\"a\": 1 // one\n}\n",
            "{\n\t\"a\": 1, // one\n\t\"servers\": {\n\t  \"knowing\": {\n\t    \"command\": \"knowing\"\n\t  }\n\t}\n}\n",
        );
        check(
            "{\n  \"servers\": {\n    \"x\": {}, /* mine */\n  },\n}\n",
            "{\n  \"servers\": {\n    \"x\": {}, /* mine */\n    \"knowing\": {\n      \"command\": \"knowing\"\n    },\n  },\n}\n",
        );
        check(
            "// top\r\n{\r\n  \"servers\": {}\r\n}\r\n",
            "// top\r\n{\r\n  \"servers\": {\r\n    \"knowing\": {\r\n      \"command\": \"knowing\"\r\n    }\r\n  }\r\n}\r\n",
        );
    }

    #[test]
    fn a_member_is_taken_out_with_one_comma() {
        let gone = |text: &str| remove(text, &["s", "k"]).unwrap();
        assert_eq!(gone("{\"s\": {\"k\": 1}}").as_deref(), Some("{\"s\": {}}"));
        assert_eq!(gone("{\"s\": {\"a\": 0, \"k\": 1}}").as_deref(), Some("{\"s\": {\"a\": 0}}"));
        assert_eq!(
            gone("{\"s\": {\n  \"k\": 1,\n  \"b\": 2\n}}").as_deref(),
            Some("{\"s\": {\n  \"b\": 2\n}}")
        );
        assert_eq!(
            gone("{\"s\": {\"a\": 0, // x\n  \"k\": 1}}").as_deref(),
            Some("{\"s\": {\"a\": 0 // x\n}}")
        );
        assert_eq!(gone("{\"s\": {}}"), None);
    }

    #[test]
    fn what_is_no_json_is_left_alone() {
        for text in [
            "",
            "{",
            "{\"a\" 1}",
            "{\"a\": }",
            "[1]x",
            "{\"a\": 1} {}",
            "{\"a\": \"\n\"}",
            "{/*",
            "{\"a\": 1 \"b\": 2}",
        ] {
            assert!(insert(text, &["s", "k"], &json!(1)).is_err(), "{text}");
        }
        assert!(insert("[]", &["s"], &json!(1)).is_err());
        assert!(insert("{\"s\": 3}", &["s", "k"], &json!(1)).is_err());
    }
}
