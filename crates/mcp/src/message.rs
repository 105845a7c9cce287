//! What a client sent: one message of the protocol, several at once, or something else, which gets an error that says so.
//!
//! The SDK drops what is no JSON without a word, answers a known method with wrong parameters as an unknown one, and knows
//! no batches. A client that made a mistake should hear of it, on both transports in the same words.

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcError, JsonRpcMessage,
    RequestId,
};
use serde_json::Value;

/// The longest message that is read.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// An error that answers a message, with its id where that could be read.
pub(crate) type Refusal = Box<JsonRpcError>;

pub(crate) fn refusal(id: Option<RequestId>, error: ErrorData) -> Refusal {
    Box::new(JsonRpcError::new(id, error))
}

pub(crate) fn too_long() -> Refusal {
    let message = format!("the message is longer than {MAX_BYTES} bytes");
    refusal(None, ErrorData::invalid_request(message, None))
}

pub(crate) fn json(bytes: &[u8]) -> Result<Value, Refusal> {
    // A byte order mark is allowed and means nothing.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes)
        .map_err(|error| refusal(None, ErrorData::parse_error(format!("this is no JSON: {error}"), None)))
}

/// One message. A notification that nobody understands is none, and is not answered.
pub(crate) fn message(value: Value) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    let Value::Object(fields) = &value else {
        return Err(invalid(None, "a message is an object"));
    };
    let id = match fields.get("id") {
        None => None,
        Some(id) => match serde_json::from_value::<RequestId>(id.clone()) {
            Ok(id) => Some(id),
            Err(_) => return Err(invalid(None, "`id` is neither a text nor a whole number")),
        },
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(id, "`jsonrpc` is not \"2.0\""));
    }
    let method = match fields.get("method") {
        None if fields.contains_key("result") || fields.contains_key("error") => {
            // The answer to a question that this server does not ask.
            return Ok(serde_json::from_value(value).ok());
        }
        None => return Err(invalid(id, "`method` is missing")),
        Some(Value::String(method)) => method.clone(),
        Some(_) => return Err(invalid(id, "`method` is no text")),
    };
    let is_object = fields.get("params").is_none_or(Value::is_object);
    let is_notification = id.is_none();
    if !is_object {
        return if is_notification {
            Ok(None)
        } else {
            Err(parameters(id, &method, "`params` is no object"))
        };
    }
    let given = fields.get("params").cloned().unwrap_or_default();
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(message) => match problem(&message, &method, &given) {
            None => Ok(Some(message)),
            Some(what) => Err(parameters(id, &method, &what)),
        },
        Err(_) if is_notification => Ok(None),
        Err(error) => Err(parameters(id, &method, &error.to_string())),
    }
}

/// The id of a request: what is to be answered.
pub(crate) fn is_request(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// The request that a notification takes back.
pub(crate) fn cancelled(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Notification(it) => match &it.notification {
            ClientNotification::CancelledNotification(it) => it.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

fn invalid(id: Option<RequestId>, what: &str) -> Refusal {
    refusal(id, ErrorData::invalid_request(format!("this is no message of JSON-RPC 2.0: {what}"), None))
}

fn parameters(id: Option<RequestId>, method: &str, what: &str) -> Refusal {
    let message = format!("the parameters of `{method}` are not what the protocol says: {what}");
    refusal(id, ErrorData::invalid_params(message, None))
}

/// What is wrong with the parameters of a method that is known: the SDK takes such a request for one of a method that is not.
fn problem(message: &ClientJsonRpcMessage, method: &str, given: &Value) -> Option<String> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(_) = request.request else { return None };
    let required = REQUIRED.iter().find(|it| it.0 == method)?;
    let missing = required.1.iter().find(|(name, of_type)| !of_type.fits(&given[*name]));
    Some(match missing {
        Some((name, of_type)) => format!("`{name}` should be {}", of_type.in_words()),
        None => "a field has the wrong type".to_owned(),
    })
}

#[derive(Clone, Copy)]
enum Type {
    Text,
    Object,
    Level,
}

impl Type {
    fn fits(self, value: &Value) -> bool {
        match self {
            Type::Text => value.is_string(),
            Type::Object => value.is_object(),
            Type::Level => value.as_str().is_some_and(|it| LEVELS.contains(&it)),
        }
    }

    fn in_words(self) -> String {
        match self {
            Type::Text => "a text".to_owned(),
            Type::Object => "an object".to_owned(),
            Type::Level => format!("one of `{}`", LEVELS.join("`, `")),
        }
    }
}

const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Known methods and the parameters that they cannot do without.
const REQUIRED: &[(&str, &[(&str, Type)])] = &[
    (
        "initialize",
        &[("protocolVersion", Type::Text), ("capabilities", Type::Object), ("clientInfo", Type::Object)],
    ),
    ("ping", &[]),
    ("server/discover", &[]),
    ("tools/list", &[]),
    ("tools/call", &[("name", Type::Text)]),
    ("resources/list", &[]),
    ("resources/templates/list", &[]),
    ("resources/read", &[("uri", Type::Text)]),
    ("resources/subscribe", &[("uri", Type::Text)]),
    ("resources/unsubscribe", &[("uri", Type::Text)]),
    ("prompts/list", &[]),
    ("prompts/get", &[("name", Type::Text)]),
    ("logging/setLevel", &[("level", Type::Level)]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_refused(value: Value, code: i32, has_id: bool, what: &str) {
        let error = message(value).unwrap_err();
        assert_eq!((error.error.code.0, error.id.is_some()), (code, has_id), "{error:?}");
        assert!(error.error.message.contains(what), "{error:?}");
    }

    #[test]
    fn what_is_no_message_is_answered_with_what_is_wrong() {
        assert_eq!(json(b"{").unwrap_err().error.code.0, -32700);
        assert_eq!(json(&b"[".repeat(100_000)).unwrap_err().error.code.0, -32700, "deep nesting");
        check_refused(json!(7), -32600, false, "object");
        check_refused(json!({"id": 1, "method": "ping"}), -32600, true, "jsonrpc");
        check_refused(json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), -32600, false, "id");
        check_refused(json!({"jsonrpc": "2.0", "id": [1], "method": "ping"}), -32600, false, "id");
        check_refused(json!({"jsonrpc": "2.0", "id": 1}), -32600, true, "method");
        check_refused(json!({"jsonrpc": "2.0", "id": 1, "method": 2}), -32600, true, "method");
    }

    #[test]
    fn wrong_parameters_are_named() {
        let call =
            |params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        check_refused(call(json!([1])), -32602, true, "no object");
        check_refused(call(json!({})), -32602, true, "`name` should be a text");
        check_refused(call(json!({"name": 5})), -32602, true, "`name` should be a text");
        check_refused(call(json!({"name": "x", "arguments": []})), -32602, true, "wrong type");
        assert!(message(call(json!({"name": "x"}))).unwrap().is_some());
    }

    #[test]
    fn notifications_are_not_answered_whatever_they_say() {
        let told =
            |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert!(message(told("notifications/initialized", json!(3))).unwrap().is_none());
        assert!(message(told("notifications/initialized", json!({}))).unwrap().is_some());
        let taken_back = message(told("notifications/cancelled", json!({"requestId": 4}))).unwrap().unwrap();
        assert_eq!(cancelled(&taken_back), Some(&RequestId::Number(4)));
        assert_eq!(is_request(&taken_back), None);
    }
}
