//! What a tool answered, as the protocol wants it: data, and a short text about it.

use knowing_ops::Error;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

/// Whether a client reads data beside the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Structured,
    /// Of an early revision of the protocol: the text is all it sees.
    TextOnly,
}

pub(crate) fn success(reply: Value, reader: Reader) -> CallToolResult {
    let mut reply = match reply {
        Value::Object(map) => map,
        other => Map::from_iter([("reply".to_owned(), other)]),
    };
    // A pack that was written in its format: what is in it is not sent twice.
    let content = match (reply.remove("text"), reply.remove("blob")) {
        (Some(Value::String(text)), _) => {
            IN_TEXT.iter().for_each(|it| drop(reply.remove(*it)));
            vec![ContentBlock::text(text)]
        }
        (_, Some(Value::String(blob))) => {
            let root = reply.get("pack_root").and_then(Value::as_str).unwrap_or_default();
            let pack = ResourceContents::blob(blob, format!("knowing://pack/{root}"));
            let pack = ContentBlock::resource(pack.with_mime_type("application/x-gcb"));
            let about = ContentBlock::text(brief(&reply, Reader::Structured));
            IN_TEXT.iter().for_each(|it| drop(reply.remove(*it)));
            vec![about, pack]
        }
        _ => vec![ContentBlock::text(brief(&reply, reader))],
    };
    let mut result = CallToolResult::success(content);
    result.structured_content = (reader == Reader::Structured).then_some(Value::Object(reply));
    result
}

pub(crate) fn failure(error: &Error, reader: Reader) -> CallToolResult {
    let error = json!({ "error": error });
    let text = match reader {
        Reader::Structured => format!("{}; {}", text_of(&error, "message"), text_of(&error, "hint")),
        Reader::TextOnly => error.to_string(),
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = (reader == Reader::Structured).then_some(error);
    result
}

fn text_of<'a>(error: &'a Value, field: &str) -> &'a str {
    error["error"][field].as_str().unwrap_or_default()
}

/// How long the lists are, of how many, and of which tree.
fn brief(reply: &Map<String, Value>, reader: Reader) -> String {
    if reader == Reader::TextOnly {
        return Value::Object(reply.clone()).to_string();
    }
    let mut parts = Vec::new();
    for (name, value) in reply {
        match value {
            Value::Array(items) if !items.is_empty() => parts.push(format!("{} {name}", items.len())),
            Value::Number(number) if COUNTS.contains(&name.as_str()) => {
                parts.push(format!("{name} {number}"))
            }
            _ => {}
        }
    }
    let mut text = if parts.is_empty() { "done".to_owned() } else { parts.join(", ") };
    for name in ["repo", "tree", "fresh"] {
        if let Some(value) = reply.get(name).and_then(Value::as_str) {
            text.push_str(&format!("; {name} {value}"));
        }
    }
    if reply.get("truncated") == Some(&Value::Bool(true)) {
        text.push_str("; truncated");
    }
    text
}

const IN_TEXT: &[&str] = &["symbols", "edges"];

const COUNTS: &[&str] = &["total", "total_edges", "files", "nodes", "edges", "n_tests", "n_unresolved"];

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(result: &CallToolResult) -> &str {
        &result.content[0].as_text().expect("it is text").text
    }

    #[test]
    fn an_answer_is_data_and_a_line_about_it() {
        let reply = json!({"symbols": [{}, {}], "edges": [], "total": 7, "tree": "1a2b", "truncated": true});
        let result = success(reply.clone(), Reader::Structured);
        assert_eq!(text_of(&result), "2 symbols, total 7; tree 1a2b; truncated");
        assert_eq!(result.structured_content, Some(reply.clone()));
        let result = success(reply.clone(), Reader::TextOnly);
        assert_eq!(
            (text_of(&result), result.structured_content.as_ref()),
            (reply.to_string().as_str(), None)
        );
    }

    #[test]
    fn what_was_written_as_text_is_sent_once() {
        let reply = json!({"text": "# a pack", "symbols": [{}], "edges": [], "tokens": 12});
        let result = success(reply, Reader::Structured);
        assert_eq!(text_of(&result), "# a pack");
        assert_eq!(result.structured_content, Some(json!({"tokens": 12})));
    }

    #[test]
    fn bytes_are_a_resource_and_no_text() {
        let reply = json!({"blob": "R0NC", "symbols": [{}], "edges": [], "pack_root": "ab", "tokens": 12});
        let result = success(reply, Reader::Structured);
        assert_eq!(text_of(&result), "1 symbols");
        let resource = serde_json::to_value(&result.content[1]).expect("it is data");
        let expect = json!({"uri": "knowing://pack/ab", "mimeType": "application/x-gcb", "blob": "R0NC"});
        assert_eq!((&resource["type"], &resource["resource"]), (&json!("resource"), &expect));
        assert_eq!(result.structured_content, Some(json!({"pack_root": "ab", "tokens": 12})));
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let error = Error::new(knowing_ops::ErrorKind::NoIndex, "it is not indexed", "index it");
        let result = failure(&error, Reader::Structured);
        assert_eq!((result.is_error, text_of(&result)), (Some(true), "it is not indexed; index it"));
        assert_eq!(result.structured_content.expect("data")["error"]["kind"], "no_index");
    }
}
