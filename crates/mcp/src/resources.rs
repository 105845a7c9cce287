//! What an agent may read: the list, and what stands behind each name.

use knowing_ops::Cx;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::call::{self, Runner, Wanted};
use crate::indexing::Indexing;
use crate::result::data_of;
use crate::server::Shared;

/// Name behind `knowing://`, title, and what it is.
const RESOURCES: &[(&str, &str, &str)] = &[
    (
        "report",
        "Report",
        "the repository at a glance: languages, entry points, what is called and changed most",
    ),
    ("schema", "Schema", "node kinds, edge kinds, provenance, how names are written, how hashes are made"),
    (
        "stats",
        "Statistics",
        "counts by language, kind, edge kind, provenance and reason for what is unresolved",
    ),
    ("repos", "Repositories", "all that are indexed on this machine, their checkouts and how fresh each is"),
    ("session", "Session", "what this session asked for; `?handle=H` names one"),
    ("index-health", "Index health", "healthy, stale, partial or corrupt; age, skipped files, a quick check"),
];

/// Those that a new snapshot changes.
pub(crate) const OF_THE_INDEX: &[&str] =
    &["knowing://report", "knowing://stats", "knowing://repos", "knowing://index-health"];

const SCHEME: &str = "knowing://";
const JSON: &str = "application/json";

pub(crate) fn list() -> Vec<Resource> {
    let resource = |(name, title, about): &(&str, &str, &str)| {
        Resource::new(format!("{SCHEME}{name}"), *name)
            .with_title(*title)
            .with_description(*about)
            .with_mime_type(JSON)
    };
    RESOURCES.iter().map(resource).collect()
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SCHEME}session{{?handle}}"), "session")
            .with_title("Session")
            .with_description("what a session asked for, by the handle it gave")
            .with_mime_type(JSON),
    ]
}

/// An error for what is no resource of ours.
pub(crate) fn known(uri: &str) -> Result<(&'static str, Option<&str>), ErrorData> {
    let (path, query) = uri.split_once('?').map_or((uri, None), |(path, query)| (path, Some(query)));
    let found = path.strip_prefix(SCHEME).and_then(|name| RESOURCES.iter().find(|it| it.0 == name));
    match (found, query) {
        (Some(it), None) => Ok((it.0, None)),
        (Some(it), Some(query)) if it.0 == "session" && query.starts_with("handle=") => {
            Ok((it.0, query.strip_prefix("handle=")))
        }
        _ => {
            let names: Vec<String> = RESOURCES.iter().map(|it| format!("{SCHEME}{}", it.0)).collect();
            let message = format!("there is no resource `{uri}`; there are {}", names.join(", "));
            Err(ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))))
        }
    }
}

pub(crate) async fn read(
    shared: &Shared,
    runner: &Runner,
    uri: &str,
    session: Option<String>,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let (name, handle) = known(uri)?;
    let content = match name {
        "schema" => knowing_ops::resources::schema(),
        "session" => {
            let handle = handle.map(str::to_owned).or(session);
            let mut told = shared.sessions.told(handle.as_deref());
            let wanted = Wanted { repo: None, session: handle, is_index: false };
            let known = runner.run(wanted, context, |cx| knowing_ops::session_info(cx)).await;
            // Nothing indexed, nothing told.
            if let Some(known) = known.ok().flatten() {
                told["symbols_sent"] = json!(known.symbols);
                told["packs"] = json!(known.packs);
                told["begun_at"] = json!(known.begun_at);
                told["used_at"] = json!(known.used_at);
            }
            told
        }
        _ => {
            let indexing = runner.indexing.clone();
            let work = move |cx: &mut Cx<'_>| content(name, &indexing, cx);
            let wanted = Wanted { repo: None, session: None, is_index: false };
            runner
                .run(wanted, context, work)
                .await
                .map_err(|error| ErrorData::internal_error(error.message.clone(), Some(data_of(&error))))?
        }
    };
    let contents = ResourceContents::text(content.to_string(), uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn content(name: &str, indexing: &Indexing, cx: &mut Cx<'_>) -> knowing_ops::Result<Value> {
    let read = match name {
        "report" => knowing_ops::resources::report,
        "stats" => knowing_ops::resources::counts,
        "repos" => knowing_ops::resources::repos,
        _ => knowing_ops::resources::index_health,
    };
    call::indexed(cx, indexing, &JsonObject::new(), |cx, _| read(cx))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_known_and_nothing_else() {
        for resource in list() {
            assert!(known(&resource.uri).is_ok());
        }
        assert_eq!(known("knowing://session?handle=a").unwrap(), ("session", Some("a")));
        for uri in
            ["knowing://none", "file:///etc/passwd", "knowing://stats?x=1", "", "knowing://report/../stats"]
        {
            assert_eq!(known(uri).unwrap_err().code.0, -32002, "{uri}");
        }
    }
}
