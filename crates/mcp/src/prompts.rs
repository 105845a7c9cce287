//! Prompts: a task with what the graph knows of it already in the text, so that the first thought is about facts.

use knowing_ops::Cx;
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    Role,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::call::{self, Runner, Wanted};
use crate::server::Shared;

/// The most bytes of one section: a prompt is the beginning of a conversation, not all of it.
const MAX_SECTION: usize = 12_000;

struct Kind {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Name, what it is, whether it must be given.
    arguments: &'static [(&'static str, &'static str, bool)],
    sections: fn(&Given) -> Vec<Section>,
    /// What to do with what the sections say.
    task: fn(&Given) -> String,
}

/// A question that is asked before the prompt is given.
struct Section {
    heading: &'static str,
    tool: &'static str,
    arguments: Value,
}

impl Section {
    /// With those arguments alone that the tool has; none when it is of no use without the others.
    fn for_tool(mut self, tool: &knowing_ops::Tool) -> Option<Section> {
        let known = tool.arguments.get("properties").and_then(Value::as_object)?;
        let arguments = self.arguments.as_object_mut()?;
        let n_given = arguments.len();
        arguments.retain(|name, _| known.contains_key(name) || ALSO.contains(&name.as_str()));
        (n_given == 0 || !arguments.is_empty()).then_some(self)
    }
}

/// Names under which tools take an argument that they list under another.
const ALSO: &[&str] = &["task_description", "token_budget"];

const KINDS: &[Kind] = &[
    Kind {
        name: "refactor_safely",
        title: "Refactor safely",
        about: "plan a change of a symbol with what it may break, what to read and which tests to run",
        arguments: &[
            ("target", "the symbol: a name, the end of one, a node id or path:line", true),
            ("change", "what shall be different", false),
        ],
        sections: |it| {
            let target = it.text("target");
            let change = format!("{} {}", it.text("change"), target);
            vec![
                Section {
                    heading: "What may break",
                    tool: "blast_radius",
                    arguments: json!({ "symbol": target, "limit": 40 }),
                },
                Section {
                    heading: "What to read",
                    tool: "context_for_task",
                    arguments: json!({ "task_description": change.trim(), "token_budget": 3000, "format": "markdown" }),
                },
                Section { heading: "Tests", tool: "test_scope", arguments: json!({ "symbols": [target] }) },
            ]
        },
        task: |it| {
            let change = it.text("change");
            let what =
                if change.is_empty() { "Change it".to_owned() } else { format!("The change: {change}") };
            format!(
                "{what}. The symbol: `{}`. First say which of the callers above must change with it, and which calls are \
                 unresolved: each of those is a place that may call it and is not in the list, so look at it before you rely \
                 on the list. Then give a plan in steps that keep the code working, each with the files it touches. Then \
                 change. At the end run the tests above; ask `blast_radius` again with `tree: \"working\"` and say what is \
                 different from before.",
                it.text("target")
            )
        },
    },
    Kind {
        name: "review_pr",
        title: "Review a change",
        about: "what a change does to the graph: symbols, callers, owners, tests",
        arguments: &[
            ("base", "the revision to compare with", false),
            ("head", "the revision under review; default HEAD", false),
            ("files", "files that changed, with commas, instead of revisions", false),
        ],
        sections: |it| {
            let base = it.text("base");
            let files: Vec<&str> =
                it.text("files").split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
            let head = if it.text("head").is_empty() { "HEAD" } else { it.text("head") };
            if !files.is_empty() {
                return vec![
                    Section {
                        heading: "What belongs to these files",
                        tool: "context_for_pr",
                        arguments: json!({ "files": files, "token_budget": 4000, "format": "markdown" }),
                    },
                    Section { heading: "Owners", tool: "ownership", arguments: json!({ "path": files[0] }) },
                    Section { heading: "Tests", tool: "test_scope", arguments: json!({ "files": files }) },
                ];
            }
            vec![
                Section {
                    heading: "What changed",
                    tool: "semantic_diff",
                    arguments: json!({ "old": base, "new": head, "limit": 60 }),
                },
                Section {
                    heading: "What it may break",
                    tool: "pr_impact",
                    arguments: json!({ "base": base, "head": head }),
                },
                Section { heading: "Owners", tool: "ownership", arguments: json!({}) },
                Section { heading: "Traffic", tool: "runtime_traffic", arguments: json!({}) },
                Section {
                    heading: "Tests",
                    tool: "test_scope",
                    arguments: json!({ "base": base, "head": head }),
                },
            ]
        },
        task: |_| {
            "Review this change. Begin with what a signature or a removed symbol breaks: name each caller above that was not \
             changed with it. Then what is no longer tested, or never was. Then the rest. For each finding give file and \
             line, what happens, and how sure the graph is (`confidence`, `provenance`); where a call is unresolved, say \
             that you looked, not that there is none."
                .to_owned()
        },
    },
    Kind {
        name: "investigate_dead_code",
        title: "Investigate dead code",
        about: "what nobody seems to use, and how sure that is",
        arguments: &[
            ("scope", "a package or the beginning of a path; default the whole repository", false),
            ("stale_days", "traffic older than this does not count; default 30", false),
        ],
        sections: |it| {
            let days: u64 = it.text("stale_days").parse().unwrap_or(30);
            let mut query =
                json!({ "query": "*", "kinds": ["function", "method"], "edges": "in", "limit": 200 });
            if !it.text("scope").is_empty() {
                query["package"] = json!(it.text("scope"));
            }
            vec![
                Section { heading: "Symbols and who uses them", tool: "graph_query", arguments: query },
                Section {
                    heading: "Routes without traffic",
                    tool: "dead_routes",
                    arguments: json!({ "stale_days": days }),
                },
                Section {
                    heading: "Traffic",
                    tool: "runtime_traffic",
                    arguments: json!({ "since_days": days }),
                },
            ]
        },
        task: |_| {
            "Find code that is not used. A symbol is a candidate when nothing above calls, refers to, overrides or tests it \
             (ask `blast_radius` for each, which also counts unresolved calls that may mean it), when it is no entry point, \
             and when no traffic was seen. Keep three lists apart: unused (no caller, no unresolved call of its name, its \
             service observed without it), perhaps unused (unresolved calls remain), and not instrumented (no traffic is \
             known of its service at all, so that silence says nothing). Do not delete; give the lists with file and line."
                .to_owned()
        },
    },
];

pub(crate) fn list() -> Vec<Prompt> {
    let prompt = |kind: &Kind| {
        let arguments = kind.arguments.iter().map(|(name, about, is_required)| {
            PromptArgument::new(*name).with_description(*about).with_required(*is_required)
        });
        Prompt::new(kind.name, Some(kind.about), Some(arguments.collect())).with_title(kind.title)
    };
    KINDS.iter().map(prompt).collect()
}

/// What the client filled in.
struct Given(JsonObject);

impl Given {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default().trim()
    }
}

pub(crate) async fn get(
    shared: &Shared,
    runner: &Runner,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResult, ErrorData> {
    let Some(kind) = KINDS.iter().find(|it| it.name == request.name) else {
        let names: Vec<&str> = KINDS.iter().map(|it| it.name).collect();
        let message = format!("no prompt is called `{}`; there are {}", request.name, names.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    };
    let given = Given(request.arguments.unwrap_or_default());
    check(kind, &given)?;
    // What is not built yet is not spoken of.
    let sections: Vec<Section> = (kind.sections)(&given)
        .into_iter()
        .filter_map(|it| {
            let tool = shared.tool(it.tool)?;
            it.for_tool(tool)
        })
        .collect();
    let indexing = runner.indexing.clone();
    let work = move |cx: &mut Cx<'_>| {
        let mut text = String::new();
        for section in sections {
            let answered = call::tool(section.tool, object(section.arguments), &indexing, cx);
            text.push_str(&format!("## {}\n\n{}\n\n", section.heading, written(answered)?));
        }
        Ok(text)
    };
    let facts = runner.run(Wanted { repo: None, session: None, is_index: false }, context, work).await;
    let facts = facts.map_err(|error| {
        let message = format!("{}; {}", error.message, error.hint);
        ErrorData::invalid_params(message, Some(crate::result::data_of(&error)))
    })?;
    let text = format!("{facts}## Task\n\n{}\n", (kind.task)(&given));
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(kind.about))
}

fn check(kind: &Kind, given: &Given) -> Result<(), ErrorData> {
    for (name, value) in &given.0 {
        if !kind.arguments.iter().any(|it| it.0 == name) {
            let names: Vec<&str> = kind.arguments.iter().map(|it| it.0).collect();
            let message =
                format!("`{}` has no argument `{name}`; it has `{}`", kind.name, names.join("`, `"));
            return Err(ErrorData::invalid_params(message, None));
        }
        if !value.is_string() {
            return Err(ErrorData::invalid_params(format!("`{name}` should be a text"), None));
        }
    }
    let missing = kind.arguments.iter().find(|it| it.2 && given.text(it.0).is_empty());
    if let Some((name, ..)) = missing {
        return Err(ErrorData::invalid_params(format!("the argument `{name}` is missing"), None));
    }
    if kind.name == "review_pr" && given.text("base").is_empty() && given.text("files").is_empty() {
        return Err(ErrorData::invalid_params("give `base` or `files`", None));
    }
    Ok(())
}

/// An answer as text. What could not be answered is an error only when nothing can be: the symbol that is not there, the
/// repository that is not.
fn written(answered: knowing_ops::Result<Value>) -> knowing_ops::Result<String> {
    let reply = match answered {
        Ok(reply) => reply,
        Err(error) if error.kind == knowing_ops::ErrorKind::NotFound && !error.message.contains("symbol") => {
            return Ok(error.message);
        }
        Err(error) => return Err(error),
    };
    let text = match reply.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("```json\n{reply}\n```"),
    };
    if text.len() <= MAX_SECTION {
        return Ok(text);
    }
    let mut end = MAX_SECTION;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Ok(format!("{}\n... cut; ask the tool itself for the rest", &text[..end]))
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}
