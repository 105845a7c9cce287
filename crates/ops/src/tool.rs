//! Operations as tools of agents: what they are called with and answer, in JSON.
//!
//! Agents have no help to read and no shell to try things in: an argument that is misspelt or of the wrong type is an error
//! that names it, lists may come as text with commas, and what is null is left out.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::cx::Cx;
use crate::error::{Candidate, Error, ErrorKind, Result};
use crate::freshness::{StalePolicy, TreeChoice};
use crate::nearest::nearest;
use crate::page::{USUAL_TOKENS, check_size};
use crate::{Access, Listed};

/// An operation that is a tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub title: String,
    pub description: String,
    /// JSON Schema of the arguments, those that all tools have in common included.
    pub arguments: Map<String, Value>,
    /// JSON Schema of the reply.
    pub reply: Map<String, Value>,
    pub access: Access,
}

/// All operations that are tools, in the order of the list.
pub fn tools() -> Vec<Tool> {
    crate::list().into_iter().filter_map(tool).collect()
}

fn tool(listed: Listed) -> Option<Tool> {
    let access = listed.access?;
    let mut arguments = object(listed.arguments.to_value());
    let description =
        arguments.remove("description").as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    arguments.remove("title");
    let mut arguments = flat(object(slim(Value::Object(arguments))));
    let properties = arguments.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        // Every tool takes all that is common; instructions have the words.
        properties.entry(REPO).or_insert_with(|| serde_json::json!({ "type": "string" }));
        let unlisted_here = UNLISTED_OF.iter().filter(|it| it.0 == listed.name).flat_map(|it| it.1);
        UNLISTED.iter().chain(unlisted_here).for_each(|it| drop(properties.remove(*it)));
        // A session is for who is given packs.
        if properties.contains_key("pack_root") {
            properties.insert(SESSION.to_owned(), serde_json::json!({ "type": "string" }));
        }
        for (name, property) in properties {
            let Some(property) = property.as_object_mut() else { continue };
            // The words of a choice and the names of switches speak for themselves.
            let speaks =
                property.contains_key("enum") || property.get("type").is_some_and(|it| it == "boolean");
            if speaks || SPEAKING.contains(&name.as_str()) {
                property.remove("description");
            }
        }
    }
    let reply = grouped(&listed.reply.to_value());
    Some(Tool { name: listed.name, title: title(listed.name), description, arguments, reply, access })
}

/// Tools as they are listed together: what one has said of an argument, the next need not say again.
pub fn without_repetition(tools: impl IntoIterator<Item = Tool>) -> Vec<Tool> {
    let mut said: BTreeSet<(String, String)> = BTreeSet::new();
    let mut listed = Vec::new();
    for mut tool in tools {
        let properties = tool.arguments.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object_mut() else { continue };
            let Some(description) = property.get("description").and_then(Value::as_str) else { continue };
            if !said.insert((name.clone(), description.to_owned())) {
                property.remove("description");
            }
        }
        listed.push(tool);
    }
    listed
}

/// What a reply looks like as it is written: a field that is left out when it is empty is not required.
pub(crate) fn reply_schema<T: JsonSchema>() -> schemars::Schema {
    schemars::generate::SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// `blast_radius` as `Blast radius`.
fn title(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let first = spaced.chars().next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(spaced.chars().skip(1)).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Every field of a reply with its type, those of one type together; of what is inside, the first fields that are always
/// there.
///
/// A list of tools is read by every agent that starts: what it says of replies is kept short.
fn grouped(schema: &Value) -> Map<String, Value> {
    let mut groups: Vec<(Value, Vec<&str>)> = Vec::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let stated = stated(schema, property);
        match groups.iter_mut().find(|it| it.0 == stated) {
            Some(group) => group.1.push(name),
            None => groups.push((stated, vec![name])),
        }
    }
    let (mut alone, mut together) = (Map::new(), Map::new());
    for (stated, names) in groups {
        match names[..] {
            [name] => alone.insert(name.to_owned(), stated),
            _ => together.insert(format!("^({})$", names.join("|")), stated),
        };
    }
    let mut reply = Map::from_iter([("type".to_owned(), Value::from("object"))]);
    for (keyword, fields) in [("properties", alone), ("patternProperties", together)] {
        if !fields.is_empty() {
            reply.insert(keyword.to_owned(), Value::Object(fields));
        }
    }
    reply
}

/// The type of a field; of an object, and of the items of a list, the names that are always there.
fn stated(root: &Value, schema: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return stated(root, &root["$defs"][name]);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        let is_null = |it: &&Value| it["type"] == "null";
        if let Some(only) = schema[choice].as_array().and_then(|it| it.iter().find(|it| !is_null(it))) {
            return stated(root, only);
        }
    }
    let name = match &schema["type"] {
        Value::Array(names) => names.iter().find(|it| *it != "null").cloned().unwrap_or(Value::Null),
        other => other.clone(),
    };
    let mut stated_type = Map::from_iter([("type".to_owned(), name.clone())]);
    match name.as_str() {
        Some("object") => {
            if let Some(required) =
                schema.get("required").filter(|it| it.as_array().is_some_and(|it| !it.is_empty()))
            {
                let names = required.as_array().into_iter().flatten().take(MAX_REQUIRED).cloned().collect();
                stated_type.insert("required".to_owned(), Value::Array(names));
            } else if let Some(values) = schema.get("additionalProperties").filter(|it| it.is_object()) {
                stated_type.insert("additionalProperties".to_owned(), stated(root, values));
            }
        }
        Some("array") => {
            let items = stated(root, &schema["items"]);
            if let (Value::Object(mut items), true) = (items.clone(), items["type"] == "object") {
                items.remove("type");
                stated_type.insert("items".to_owned(), Value::Object(items));
            }
        }
        _ => {}
    }
    Value::Object(stated_type)
}

/// A schema without what an agent pays for and does not need. Names of fields are no keywords, whatever they are.
fn slim(schema: Value) -> Value {
    let Value::Object(map) = schema else { return schema };
    let mut slimmed = Map::new();
    for (key, value) in map {
        let value = match key.as_str() {
            "properties" | "$defs" => {
                let named = object(value).into_iter().map(|(name, it)| (name, slim(it)));
                Value::Object(named.collect())
            }
            "$schema" | "title" | "format" | "minimum" | "maximum" => continue,
            // Only a default that says something.
            "default" if value.is_null() || value.is_boolean() || value.is_f64() || value.is_array() => {
                continue;
            }
            // Absent rather than null.
            "type" => match value {
                Value::Array(types) => {
                    let mut types: Vec<Value> = types.into_iter().filter(|it| it != "null").collect();
                    if types.len() == 1 { types.remove(0) } else { Value::Array(types) }
                }
                value => value,
            },
            "anyOf" | "oneOf" | "allOf" => {
                let mut items = match value {
                    Value::Array(items) => items,
                    _ => continue,
                };
                items.retain(|it| it["type"] != "null");
                // A choice of words is a list of words; a choice of one is that one.
                let word = |it: &Value| match (it.get("const"), it.get("enum")) {
                    (Some(word), _) => Some(vec![word.clone()]),
                    (None, words) => words.and_then(Value::as_array).cloned(),
                };
                let words: Option<Vec<Vec<Value>>> = items.iter().map(word).collect();
                match words.map(|it| it.concat()) {
                    Some(words) => {
                        slimmed.insert("enum".to_owned(), Value::Array(words));
                        continue;
                    }
                    None if items.len() == 1 => {
                        slimmed.extend(object(slim(items.remove(0))));
                        continue;
                    }
                    None => Value::Array(items.into_iter().map(slim).collect()),
                }
            }
            _ => slim(value),
        };
        slimmed.insert(key, value);
    }
    // Words are texts, which who asks knows.
    if slimmed.contains_key("enum") {
        slimmed.remove("type");
    }
    Value::Object(slimmed)
}

/// Definitions of what arguments may be stand where they are used, which is shorter.
fn flat(mut schema: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(definitions)) = schema.remove("$defs") else { return schema };
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(|it| it.values_mut()) {
        let Some(property) = property.as_object_mut() else { continue };
        let Some(Value::String(reference)) = property.remove("$ref") else { continue };
        let named = reference.strip_prefix("#/$defs/").and_then(|it| definitions.get(it)).cloned();
        for (key, value) in named.and_then(|it| it.as_object().cloned()).into_iter().flatten() {
            property.entry(key).or_insert(value);
        }
    }
    let is_left = Value::Object(schema.clone()).to_string().contains("#/$defs/");
    if is_left {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

/// The arguments that all tools have in common.
const COMMON: &[&str] = &[REPO, SESSION, "stale", "tree", "limit", "cursor", "max_tokens"];

const SESSION: &str = "session";

const REPO: &str = "repo";

/// Arguments that are taken and that the list does not speak of: who needs them reads the documentation.
const UNLISTED: &[&str] = &[
    "dry_run",
    "enrich",
    "exclude",
    "force",
    "include",
    "no_classes",
    "ranker",
    "vendored",
    "without",
    "workers",
];
const UNLISTED_OF: &[(&str, &[&str])] = &[
    ("explain_symbol", &["budget", "detail", "format", "limit", "pack_root"]),
    ("context_for_files", &["limit"]),
    ("context_for_pr", &["limit"]),
    ("context_for_task", &["limit"]),
    ("test_scope", &["depth", "evidence"]),
];

/// Arguments whose names say all that their words do.
const SPEAKING: &[&str] = &[
    "base",
    "depth",
    "edge_kinds",
    "file",
    "files",
    "head",
    "kinds",
    "language",
    "max_depth",
    "max_paths",
    "min_confidence",
    "note",
    "package",
    "source",
    "target",
];

/// Names of what is always there, at most.
const MAX_REQUIRED: usize = 3;

/// Other names of arguments, where a tool has the second and not the first.
const ALSO: &[(&str, &str)] = &[
    ("symbol_hash", "symbol"),
    ("target_hash", "symbol"),
    ("source_hash", "source"),
    ("target_hash", "target"),
    ("task_description", "task"),
    ("task", "task_description"),
    ("token_budget", "budget"),
];

/// Takes what all tools have in common out of the arguments: the repository, the state of it that is meant, and what to do
/// when what is stored is of another.
pub(crate) fn take_common(arguments: &mut Map<String, Value>, cx: &mut Cx<'_>) -> Result<()> {
    // Under the first name that is there.
    if let Some(repo) = take_text(arguments, &[REPO, "repo_url", "repo_hash"], "a path or url")? {
        cx.repo = Some(repo);
    }
    if let Some(tree) = take_text(arguments, &["tree"], "`head`, `working` or a revision")? {
        cx.tree = TreeChoice::named(&tree);
    }
    if let Some(handle) = take_text(arguments, &[SESSION], "a handle")? {
        crate::session::check_handle(&handle)?;
        cx.session = Some(handle);
    }
    if let Some(policy) = take_text(arguments, &["stale", "stale_policy"], "a policy")? {
        cx.stale = StalePolicy::named(&policy)?;
    }
    Ok(())
}

/// Takes out how much of the answer is wanted. A tool that has a limit of its own keeps it.
pub(crate) fn take_paging<T: JsonSchema>(arguments: &mut Map<String, Value>, cx: &mut Cx<'_>) -> Result<()> {
    let schema = schemars::schema_for!(T).to_value();
    if schema["properties"].get("limit").is_none() {
        cx.paging.limit = take_number(arguments, "limit")?.or(cx.paging.limit);
    }
    cx.paging.cursor = take_text(arguments, &["cursor"], "`next_cursor` of an answer")?;
    let max_tokens = take_number(arguments, "max_tokens")?.or(Some(USUAL_TOKENS));
    check_size(max_tokens)?;
    cx.paging.max_tokens = max_tokens;
    Ok(())
}

fn take_number(arguments: &mut Map<String, Value>, name: &str) -> Result<Option<usize>> {
    match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(usize::try_from(number).unwrap_or(usize::MAX))),
            None => Err(wrong(format!("`{name}` is `{value}`, expected a whole number, 0 or more"))),
        },
    }
}

fn take_text(arguments: &mut Map<String, Value>, names: &[&str], expected: &str) -> Result<Option<String>> {
    let given = names.iter().find_map(|it| Some((it, arguments.remove(*it)?)));
    match given {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text)),
        Some((name, other)) => Err(wrong(format!("`{name}` is `{other}`, expected {expected} as text"))),
    }
}

/// The arguments of an operation from what an agent gave.
pub(crate) fn arguments<T: DeserializeOwned + JsonSchema>(given: Map<String, Value>) -> Result<T> {
    let schema = schemars::schema_for!(T).to_value();
    let no_properties = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&no_properties);
    let mut arguments = Map::new();
    for (name, value) in given {
        let is_own = properties.contains_key(&name);
        let also = ALSO.iter().find(|it| !is_own && it.0 == name && properties.contains_key(it.1));
        let name = also.map_or(name, |it| it.1.to_owned());
        let Some(property) = properties.get(&name) else { return Err(unknown(&name, properties)) };
        match value {
            Value::Null => continue,
            Value::String(text) if is_list(property) => arguments.insert(name, split(&text)),
            value => arguments.insert(name, value),
        };
    }
    read(&arguments).map_err(|problem| explain::<T>(&arguments, &problem))
}

fn read<T: DeserializeOwned>(arguments: &Map<String, Value>) -> std::result::Result<T, String> {
    T::deserialize(Value::Object(arguments.clone())).map_err(|error| error.to_string())
}

/// Which argument it is: without it, nothing is wrong but that it is missing.
fn explain<T: DeserializeOwned>(arguments: &Map<String, Value>, problem: &str) -> Error {
    if let Some(name) = problem.strip_prefix("missing field ") {
        return wrong(format!("the argument {name} is missing"));
    }
    for name in arguments.keys() {
        let mut others = arguments.clone();
        others.remove(name);
        let is_at_fault = match read::<T>(&others) {
            Ok(_) => true,
            Err(problem) => problem == format!("missing field `{name}`"),
        };
        if is_at_fault {
            return wrong(format!("`{name}`: {}", in_words(problem)));
        }
    }
    wrong(in_words(problem))
}

/// Names of Rust's types mean nothing to the caller.
fn in_words(problem: &str) -> String {
    let Some((before, expected)) = problem.rsplit_once("expected ") else { return problem.to_owned() };
    let expected = match expected {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number, 0 or more",
        "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "path string" => "a path as text",
        other => other,
    };
    format!("{before}expected {expected}")
}

fn is_list(property: &Value) -> bool {
    match &property["type"] {
        Value::String(name) => name == "array",
        Value::Array(names) => names.iter().any(|it| it == "array"),
        _ => false,
    }
}

fn split(text: &str) -> Value {
    text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(Value::from).collect()
}

fn unknown(name: &str, properties: &Map<String, Value>) -> Error {
    let names = || properties.keys().map(String::as_str).chain(COMMON.iter().copied());
    let near = nearest(name, names(), 3);
    let hint = match near.is_empty() {
        true => format!("its arguments are `{}`", names().collect::<Vec<_>>().join("`, `")),
        false => format!("did you mean `{}`?", near.join("` or `")),
    };
    let candidates = near.into_iter().map(Candidate::named).collect();
    Error::new(ErrorKind::Usage, format!("no argument is called `{name}`"), hint).with_candidates(candidates)
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Usage, message, "see the tool's input schema")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{BlastRadius, Direction, Query};

    fn query(given: Value) -> Result<Query> {
        arguments(object(given))
    }

    #[test]
    fn what_an_agent_gives_becomes_arguments() {
        let read =
            query(json!({"query": "f", "kinds": "method, class", "edges": "both", "package": null})).unwrap();
        assert_eq!((read.query.as_str(), read.edges), ("f", Direction::Both));
        assert_eq!(read.kinds, ["method", "class"]);
        assert_eq!(read.package, None);
        let read: BlastRadius = arguments(object(json!({"symbol_hash": "12345678"}))).unwrap();
        assert_eq!(read.symbol, "12345678");
    }

    #[track_caller]
    fn check_refused(given: Value, message: &str) {
        let error = query(given).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Usage, message));
    }

    #[test]
    fn what_is_wrong_is_named() {
        check_refused(json!({}), "the argument `query` is missing");
        check_refused(json!({"query": 3}), "`query`: invalid type: integer `3`, expected a string");
        check_refused(
            json!({"query": "f", "edges": "up"}),
            "`edges`: unknown variant `up`, expected one of `none`, `in`, `out`, `both`",
        );
        check_refused(json!({"query": "f", "kind": "method"}), "no argument is called `kind`");
        assert!(query(json!({"query": "f", "kind": "method"})).unwrap_err().hint.contains("`kinds`"));
    }

    #[test]
    fn what_is_common_is_an_argument_of_every_tool() {
        for tool in tools() {
            assert_eq!(tool.arguments["properties"][REPO]["type"], "string", "{}", tool.name);
            assert_eq!(tool.arguments["type"], "object");
            assert_eq!(tool.reply["type"], "object");
            assert!(!tool.description.is_empty() && !tool.title.contains('_'));
        }
    }

    #[test]
    fn what_all_tools_have_in_common_is_taken_out() {
        let mut output = std::io::sink();
        let mut cx = Cx {
            environment: crate::Environment::of_process(None).unwrap(),
            repo: None,
            tree: TreeChoice::Head,
            stale: StalePolicy::Refresh,
            session: None,
            paging: crate::Paging::default(),
            progress: &crate::Silent,
            output: &mut output,
        };
        let mut given = object(json!({"repo": "flask", "query": "f", "tree": "working", "stale": "warn"}));
        take_common(&mut given, &mut cx).unwrap();
        assert_eq!(given.len(), 1);
        assert_eq!((cx.repo.as_deref(), &cx.tree), (Some("flask"), &TreeChoice::Working));
        assert_eq!(cx.stale, StalePolicy::Warn);
        assert!(take_common(&mut object(json!({"repo": 1})), &mut cx).is_err());
        let error = take_common(&mut object(json!({"stale": "wran"})), &mut cx).unwrap_err();
        assert!(error.hint.contains("`warn`"), "{error:?}");
    }

    #[test]
    fn schemas_keep_names_and_lose_what_nobody_reads() {
        let schema = json!({
            "title": "X",
            "required": ["title"],
            "properties": {
                "title": {"type": ["string", "null"], "description": "d", "default": null},
                "way": {"oneOf": [{"enum": ["none"]}, {"const": "in", "description": "d"}]},
            },
        });
        let expect = json!({
            "required": ["title"],
            "properties": {"title": {"type": "string", "description": "d"}, "way": {"enum": ["none", "in"]}},
        });
        assert_eq!(slim(schema), expect);
    }

    #[test]
    fn replies_state_every_field_with_its_type() {
        let schema = json!({
            "properties": {
                "name": {"type": ["string", "null"], "description": "d"},
                "note": {"type": "string"},
                "at": {"anyOf": [{"$ref": "#/$defs/At"}, {"type": "null"}]},
                "all": {"type": "array", "items": {"$ref": "#/$defs/At"}},
                "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
            },
            "$defs": {"At": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}},
        });
        let expect = json!({
            "type": "object",
            "properties": {
                "at": {"type": "object", "required": ["line"]},
                "all": {"type": "array", "items": {"required": ["line"]}},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "patternProperties": {"^(name|note)$": {"type": "string"}},
        });
        assert_eq!(Value::Object(grouped(&schema)), expect);
    }

    #[test]
    fn t3_the_list_of_tools_is_short() {
        let core = [
            "context_for_task",
            "context_for_files",
            "context_for_pr",
            "graph_query",
            "blast_radius",
            "flow_between",
            "test_scope",
            "feedback",
        ];
        // What a tool takes besides its schemas and texts: names of fields and annotations.
        let size = |tools: &[Tool]| -> usize {
            let of_one = |it: &Tool| {
                let schemas = Value::Object(it.arguments.clone()).to_string().len()
                    + Value::Object(it.reply.clone()).to_string().len();
                schemas + it.name.len() + it.title.len() + it.description.len() + 150
            };
            tools.iter().map(of_one).sum()
        };
        let all = without_repetition(tools());
        assert!(size(&all) <= 24 * 1024, "{}", size(&all));
        let few = without_repetition(tools().into_iter().filter(|it| core.contains(&it.name)));
        assert_eq!(few.len(), core.len());
        assert!(size(&few) <= 8 * 1024, "{}", size(&few));
    }
}
