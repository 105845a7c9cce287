//! What a tool answered, as the protocol wants it: data, and a short text about it.

use knowing_ops::Error;
use rmcp::model::{CallToolResult, ContentBlock};
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
    // What is text already is not sent twice.
    let text = match reply.remove("text") {
        Some(Value::String(text)) => text,
        Some(other) => {
            reply.insert("text".to_owned(), other);
            brief(&reply, reader)
        }
        None => brief(&reply, reader),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
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

const COUNTS: &[&str] = &["total", "total_edges", "files", "nodes", "edges", "n_tests", "n_unresolved"];
