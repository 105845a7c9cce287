//! Several messages in one request, as revision 2025-03-26 has it: each is answered, and all answers come together.

use http::{Request, Response, StatusCode, request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use rmcp::model::ErrorData;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;

use crate::http::{Body, refused, written};
use crate::message;
use crate::server::Server;

pub(crate) async fn answer(
    service: &StreamableHttpService<Server, LocalSessionManager>,
    parts: &request::Parts,
    items: Vec<Value>,
) -> Response<Body> {
    // Only after a handshake is a revision agreed on, and the others that have one have no batches.
    let named = parts.headers.get("mcp-protocol-version").and_then(|it| it.to_str().ok());
    let is_spoken = parts.headers.contains_key("mcp-session-id") && named.is_none_or(|it| it == "2025-03-26");
    if items.is_empty() || !is_spoken {
        let error =
            ErrorData::invalid_request("several messages at once are not part of this revision", None);
        return refused(StatusCode::BAD_REQUEST, &message::refusal(None, error));
    }
    let mut answers = Vec::new();
    for item in items {
        match message::message(item.clone()) {
            Err(refusal) => answers.extend(serde_json::to_value(refusal)),
            Ok(None) => {}
            Ok(Some(_)) => {
                let body = Full::new(Bytes::from(item.to_string()));
                let response = service.handle(Request::from_parts(parts.clone(), body)).await;
                let status = response.status();
                let Ok(body) = response.into_body().collect().await;
                if !status.is_success() {
                    // The session is gone, or was never there.
                    return written(status, "text/plain; charset=utf-8", body.to_bytes().to_vec());
                }
                answers.extend(messages(&body.to_bytes()));
            }
        }
    }
    match answers.is_empty() {
        true => written(StatusCode::ACCEPTED, "application/json", Vec::new()),
        false => written(StatusCode::OK, "application/json", Value::Array(answers).to_string().into_bytes()),
    }
}

/// The messages of a body: one in JSON, or the events of a stream.
fn messages(body: &[u8]) -> Vec<Value> {
    if let Ok(one) = serde_json::from_slice(body) {
        return vec![one];
    }
    let text = String::from_utf8_lossy(body);
    text.lines()
        .filter_map(|it| it.strip_prefix("data:"))
        .filter_map(|it| serde_json::from_str(it).ok())
        .collect()
}
