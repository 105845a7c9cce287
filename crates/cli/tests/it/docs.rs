//! The generated documents are fresh, and the written ones point at files that exist.
//!
//! `UPDATE_EXPECT=1 cargo test -p knowing-cli --test it docs_` rewrites the generated ones.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use knowing_model::{Change, EdgeKind, Layer, NodeKind, Provenance};
use serde_json::{Value, json};

use crate::session::Session;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[track_caller]
fn check(path: &str, expect: &str) {
    let file = root().join(path);
    if std::fs::read_to_string(&file).is_ok_and(|it| it == expect) {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some_and(|it| it == "1"),
        "`{path}` is not what the code says; run with UPDATE_EXPECT=1 to write it again"
    );
    std::fs::write(&file, expect).unwrap();
}

#[test]
fn docs_are_fresh() {
    check("docs/edges.md", &edges());
    check("docs/languages.md", &languages());
    check("docs/commands.md", &commands());
    check("docs/tools.md", &tools());
}

/// Every tool of agents with all its arguments and the fields of its reply.
fn tools() -> String {
    let mut text = String::from(
        "# Tools\n\n\
         Generated from the definitions in `crates/ops/src/`; do not edit. Each tool is also a command (`docs/commands.md`) \
         and answers the same data there with `--json`.\n\n\
         Every tool also takes `repo` (a path, a url, its hash or the end of a name), `tree` (`head`, `working`, a revision or \
         a snapshot), `stale` (`refresh`, `warn`, `ignore`, `error`), `limit` (items of each list; 0 gives counts), `cursor` \
         (`next_cursor` of the page before, with the same arguments) and `max_tokens` (size of the reply, 10,000 unless told, \
         100,000 at most). Lists may be given as text with commas. `symbol_hash`, `target_hash`, `source_hash`, `repo_hash` \
         and `repo_url` are other names of `symbol`, `target`, `source` and `repo`.\n\n\
         Every reply that lists things has `truncated` and, when there is more, `next_cursor`: opaque, bound to the tool, its \
         arguments and the snapshot. A cursor of another question is a `usage` error, one of a snapshot that was collected \
         `expired`.\n",
    );
    for listed in knowing_ops::list().into_iter().filter(|it| it.access.is_some()) {
        let (arguments, reply) = (listed.arguments.as_value(), listed.reply.as_value());
        let description = arguments["description"].as_str().unwrap_or_default();
        writeln!(text, "\n## `{}`\n\n{description}.\n", listed.name).unwrap();
        let required = |schema: &Value, name: &str| {
            schema["required"].as_array().is_some_and(|it| it.iter().any(|it| it == name))
        };
        for (schema, head) in [(arguments, "argument"), (reply, "reply")] {
            let fields = schema["properties"].as_object();
            if fields.is_none_or(|it| it.is_empty()) {
                continue;
            }
            writeln!(text, "| {head} | type | meaning |\n|---|---|---|").unwrap();
            for (name, field) in fields.into_iter().flatten() {
                let must = if head == "argument" && required(schema, name) { " (required)" } else { "" };
                let meaning =
                    field["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
                let default = match field.get("default").filter(|it| !it.is_null() && head == "argument") {
                    Some(default) if *default != json!([]) => {
                        format!("; default `{}`", default.to_string().trim_matches('"'))
                    }
                    _ => String::new(),
                };
                let line = format!("| `{name}`{must} | {} | {meaning}{default}", type_of(schema, field));
                writeln!(text, "{} |", line.trim_end()).unwrap();
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// A type in words: `list of {id, kind, name}`.
fn type_of(root: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return type_of(root, &root["$defs"][name]);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        let Some(choices) = schema[choice].as_array() else { continue };
        let word = |it: &Value| match (it.get("const"), it["enum"].as_array()) {
            (Some(word), _) => Some(vec![word.clone()]),
            (None, words) => words.cloned(),
        };
        let words: Option<Vec<Vec<Value>>> = choices.iter().map(word).collect();
        if let Some(words) = words {
            return choice_of(&words.concat());
        }
        return choices.iter().find(|it| it["type"] != "null").map_or(String::new(), |it| type_of(root, it));
    }
    if let Some(words) = schema["enum"].as_array() {
        return choice_of(words);
    }
    let name = match &schema["type"] {
        Value::Array(names) => {
            names.iter().find(|it| *it != "null").and_then(Value::as_str).unwrap_or_default()
        }
        other => other.as_str().unwrap_or("any"),
    };
    match name {
        "array" => format!("list of {}", type_of(root, &schema["items"])),
        "object" => match schema["properties"].as_object() {
            Some(fields) => {
                let fields: Vec<&str> = fields.keys().map(String::as_str).collect();
                format!("{{{}}}", fields.join(", "))
            }
            None => match schema.get("additionalProperties").filter(|it| it.is_object()) {
                Some(values) => format!("{} by name", type_of(root, values)),
                None => "object".to_owned(),
            },
        },
        other => other.to_owned(),
    }
}

fn choice_of(words: &[Value]) -> String {
    let words: Vec<String> = words.iter().filter_map(Value::as_str).map(|it| format!("`{it}`")).collect();
    words.join(", ")
}

fn edges() -> String {
    let mut text = String::from(
        "# Nodes, edges and how they are known\n\n\
         Generated from the tables in `crates/model/src/`; do not edit. Ids are stored and names are hashed: rows are \
         appended, never renumbered, never renamed. A kind that stands here may not be produced yet by any language.\n\n\
         ## Edge kinds\n\n\
         An edge is read \"source *kind* target\". *Weight* is the default weight of a walk along the edge, in \
         hundredths. *Change* is what it means when such an edge appears or vanishes between two commits.\n\n\
         | id | kind | category | weight | change | meaning |\n|---:|---|---|---:|---|---|\n",
    );
    for kind in EdgeKind::ALL {
        let change = match kind.change() {
            Change::Metadata => "metadata",
            Change::Structural => "structural",
            Change::Runtime => "runtime",
            Change::Behavioural => "behavioural",
        };
        let (id, name, category) = (kind.id(), kind.name(), kind.category().name());
        let (weight, meaning) = (kind.weight_hundredths(), kind.meaning());
        writeln!(text, "| {id} | `{name}` | {category} | {weight} | {change} | {meaning} |").unwrap();
    }
    text.push_str(
        "\n## Node kinds\n\n\
         A symbol argument may end in `@kind`, in either form.\n\n\
         | id | kind | short |\n|---:|---|---|\n",
    );
    for kind in NodeKind::ALL {
        writeln!(text, "| {} | `{}` | `{}` |", kind.id(), kind.name(), kind.short_name()).unwrap();
    }
    text.push_str(
        "\n## Provenance\n\n\
         How an edge is known, and how sure that is. Edges of the base layer depend on the commit alone; enriched ones \
         on tools too; observed ones on traffic.\n\n\
         | id | provenance | confidence | usual | layer | from |\n|---:|---|---|---:|---|---|\n",
    );
    let share = |basis_points: u16| format!("{:.2}", f64::from(basis_points) / 10_000.0);
    for provenance in Provenance::ALL {
        let layer = match provenance.layer() {
            Layer::Base => "base",
            Layer::Enriched => "enriched",
            Layer::Observed => "observed",
        };
        let (low, high) = provenance.confidences().into_inner();
        let confidence = if low == high { share(low) } else { format!("{} to {}", share(low), share(high)) };
        writeln!(
            text,
            "| {} | `{}` | {confidence} | {} | {layer} | {} |",
            provenance.id(),
            provenance.name(),
            share(provenance.usual_confidence()),
            provenance.producer()
        )
        .unwrap();
    }
    text
}

fn languages() -> String {
    let mut text = String::from(
        "# Languages and project files\n\n\
         Generated from `crates/extract/src/registry.rs`; do not edit. A file is read when its name is listed here; all \
         others are counted as `unsupported`. What each language gives is stated, example by example, in the `spec.md` \
         beside its code in `crates/extract/src/languages/`, and how calls find their targets in \
         `crates/resolve/src/languages/`.\n\n\
         | language or project file | files |\n|---|---|\n",
    );
    for accepted in knowing_extract::languages() {
        let extensions = accepted.extensions.iter().map(|it| format!("`*.{it}`"));
        let names = accepted.file_names.iter().map(|it| format!("`{it}`"));
        let files: Vec<String> = extensions.chain(names).collect();
        writeln!(text, "| {} | {} |", accepted.name, files.join(", ")).unwrap();
    }
    text
}

/// The help of the program and of every command, as the executable prints it.
fn commands() -> String {
    let session = Session::new();
    let help = |arguments: &[&str]| {
        let mut command = session.command(&session.file(""));
        // Wide enough that the executable's own bound on the width counts, whoever runs this.
        let output = command.args(arguments).env("COLUMNS", "200").output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    };
    let main = help(&["help"]);
    let mut text = format!(
        "# Commands\n\n\
         Generated from the definitions in `crates/ops/src/`; do not edit.\n\n```text\n{main}\n```\n"
    );
    let names: Vec<&str> = main
        .lines()
        .skip_while(|it| *it != "Commands:")
        .skip(1)
        .take_while(|it| !it.is_empty())
        // What goes on in a second line stands further in.
        .filter(|it| it.starts_with("  ") && !it.starts_with("   "))
        .filter_map(|it| it.split_whitespace().next())
        .filter(|it| *it != "help")
        .collect();
    assert!(names.contains(&"index") && names.contains(&"export"), "{names:?}");
    for name in names {
        let own = without_section(&help(&["help", name]), EVERY_COMMAND);
        writeln!(text, "\n## `knowing {name}`\n\n```text\n{own}\n```").unwrap();
    }
    text
}

const EVERY_COMMAND: &str = "Options of every command:";

/// Help without one section, which ends where a line begins that is not indented.
fn without_section(help: &str, heading: &str) -> String {
    let mut inside = false;
    let mut kept = Vec::new();
    for line in help.lines() {
        inside = match inside {
            false => line == heading,
            true => line.is_empty() || line.starts_with(' '),
        };
        if !inside {
            kept.push(line);
        }
    }
    assert_ne!(kept.len(), help.lines().count(), "no section `{heading}`");
    kept.join("\n").trim_end().to_owned()
}

#[test]
fn docs_written_by_hand_name_files_that_exist() {
    let mut n_named = 0;
    for name in ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"] {
        // The first may not be written yet.
        let Ok(text) = std::fs::read_to_string(root().join(name)) else { continue };
        for (line, quoted) in quoted(&text) {
            let is_path = ["crates/", "docs/"].iter().any(|it| quoted.starts_with(it));
            if !is_path || quoted.contains(['*', ' ', '<']) || quoted.contains("NAME") {
                continue;
            }
            n_named += 1;
            assert!(root().join(quoted).exists(), "{name}:{line}: there is no `{quoted}`");
        }
    }
    assert!(n_named > 5, "only {n_named} paths were found");
}

/// What stands in backticks on one line, with the line's number.
fn quoted(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    lines.flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |it| (at + 1, it)))
}
