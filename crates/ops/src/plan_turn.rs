//! Which questions to ask first for a task: at most four, with arguments that are known to be answered.
//!
//! No model is asked: words of the task say what it is about, and names in it are looked up. A name that means nothing here,
//! or several things, is not suggested.

use knowing_graph::NodeIndex;
use knowing_model::NodeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answer::Tree;
use crate::context::check_task;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::place::Place;
use crate::view::View;

/// Which tools to call first for a task, with their arguments
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(
    name = "plan",
    alias = "plan-turn",
    after_help = "\
Examples:
  knowing plan 'rename Session.get and its callers'
  knowing plan 'how does main reach Store.write' --json"
)]
pub struct PlanTurn {
    /// What is to be done
    #[arg(allow_hyphen_values = true)]
    pub task: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlanTurnReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// The most helpful first, at most four.
    pub suggestions: Vec<Suggestion>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Suggestion {
    pub tool: &'static str,
    pub reason: String,
    pub arguments: Map<String, Value>,
}

const MAX_SUGGESTIONS: usize = 4;
/// Names that are looked up.
const MAX_NAMES: usize = 40;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &PlanTurn) -> Result<PlanTurnReply> {
    let task = arguments.task.trim();
    check_task(task)?;
    if task.is_empty() {
        let hint = "say what is to be done in a sentence";
        return Err(Error::new(ErrorKind::Usage, "the task is empty", hint));
    }
    let (opened, place) = cx.open_fresh()?;
    let view = opened.view()?;
    let words = Words::of(task);
    let symbols = symbols(&view, task)?;
    let files = files(&view, task)?;
    let base = place.as_ref().and_then(base);
    let mut plan = Plan::default();
    if let (true, [source, target, ..]) = (words.ask_for_a_way, symbols.as_slice()) {
        let reason = format!("the task asks how `{source}` leads to `{target}`");
        plan.add("flow_between", reason, json!({"source": source, "target": target}));
    }
    if let (true, Some(base)) = (words.review, &base) {
        plan.add("pr_impact", "the task is about a change that is made".to_owned(), json!({"base": base}));
        plan.add("context_for_pr", "what stands around the change".to_owned(), json!({"base": base}));
    }
    if words.change {
        for symbol in symbols.iter().take(2) {
            let reason = format!("`{symbol}` is to change: see who relies on it");
            plan.add("blast_radius", reason, json!({"symbol": symbol}));
        }
    }
    if words.who {
        for symbol in symbols.iter().take(1) {
            let reason = format!("the task asks who uses `{symbol}`");
            plan.add("graph_query", reason, json!({"query": symbol, "edges": "in"}));
        }
    }
    let context = json!({"task_description": task});
    plan.add("context_for_task", "the symbols that matter for the task, ranked".to_owned(), context);
    if words.test && !files.is_empty() {
        let reason = "the tests that reach these files".to_owned();
        plan.add("test_scope", reason, json!({"files": files, "output": "run"}));
    } else if let (true, Some(base)) = (words.test, &base) {
        plan.add(
            "test_scope",
            "the tests of what changed".to_owned(),
            json!({"base": base, "output": "run"}),
        );
    }
    if !files.is_empty() {
        plan.add("context_for_files", "the task names these files".to_owned(), json!({"files": files}));
    }
    for symbol in symbols.iter().take(2) {
        let reason = format!("the task names `{symbol}`: see it with its edges");
        plan.add("graph_query", reason, json!({"query": symbol, "edges": "both"}));
    }
    Ok(PlanTurnReply { tree: view.tree().clone(), suggestions: plan.suggestions })
}

#[derive(Default)]
struct Plan {
    suggestions: Vec<Suggestion>,
}

impl Plan {
    /// Unless there are enough, or it asks what another one asks.
    fn add(&mut self, tool: &'static str, reason: String, arguments: Value) {
        let Value::Object(arguments) = arguments else { return };
        let is_known = |it: &Suggestion| {
            it.tool == tool && it.arguments.get("query") == arguments.get("query") && tool == "graph_query"
        };
        if self.suggestions.len() < MAX_SUGGESTIONS && !self.suggestions.iter().any(is_known) {
            self.suggestions.push(Suggestion { tool, reason, arguments });
        }
    }
}

/// What the words of a task say of its kind.
struct Words {
    ask_for_a_way: bool,
    review: bool,
    change: bool,
    who: bool,
    test: bool,
}

impl Words {
    fn of(task: &str) -> Words {
        let lower = task.to_lowercase();
        let words: Vec<&str> = lower.split(|it: char| !it.is_alphanumeric()).collect();
        let any = |list: &[&str]| words.iter().any(|it| list.contains(it));
        Words {
            ask_for_a_way: any(&["reach", "reaches", "flow", "flows", "path", "between", "leads", "lead"])
                || (any(&["how"]) && any(&["call", "calls", "get", "gets"])),
            review: any(&["review", "pr", "pull", "merge", "diff", "branch"]),
            change: any(&[
                "change",
                "rename",
                "remove",
                "delete",
                "refactor",
                "replace",
                "deprecate",
                "break",
                "breaks",
                "impact",
                "signature",
                "move",
                "split",
                "extract",
                "rewrite",
                "affect",
                "affects",
            ]),
            who: any(&["who", "callers", "usages", "uses", "used", "references", "where"]),
            test: any(&["test", "tests", "testing", "coverage", "ci"]),
        }
    }
}

/// Names in the task that mean one symbol here, by the names to ask for them, in the order of the text.
fn symbols(view: &View<'_>, task: &str) -> Result<Vec<String>> {
    let mut found: Vec<(NodeIndex, String)> = Vec::new();
    for (name, is_quoted) in names(task).into_iter().take(MAX_NAMES) {
        let looks_like_code =
            is_quoted || name.contains(['.', '_', ':']) || name.chars().skip(1).any(char::is_uppercase);
        if !looks_like_code || name.len() < 3 {
            continue;
        }
        let Ok(nodes) = view.lookup(&name) else { continue };
        let at = nodes[0];
        let record = view.graph().node(at);
        let is_code = !record.is_virtual() && !matches!(record.kind(), NodeKind::File | NodeKind::Package);
        if is_code && !found.iter().any(|it| it.0 == at) {
            found.push((at, name));
        }
    }
    Ok(found.into_iter().map(|it| it.1).collect())
}

/// Files that the task names.
fn files(view: &View<'_>, task: &str) -> Result<Vec<String>> {
    let names = view.names()?;
    let mut found = Vec::new();
    for word in task.split_whitespace().take(2_000) {
        let word = word.trim_matches(|it: char| "`'\"(),;[]<>".contains(it)).trim_end_matches(['.', ':']);
        let path = word.split(':').next().unwrap_or(word).trim_start_matches("./");
        if names.find_file(path).is_some() && !found.iter().any(|it| it == path) {
            found.push(path.to_owned());
        }
    }
    found.truncate(20);
    Ok(found)
}

/// Words that may be names, and whether they stand in backticks.
fn names(task: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for (at, part) in task.split('`').enumerate() {
        let is_quoted = at % 2 == 1;
        let is_part = |it: char| it.is_alphanumeric() || "_.:$".contains(it);
        for word in part.split(|it| !is_part(it)) {
            let word = word.trim_matches(|it: char| ".:$".contains(it));
            if !word.is_empty() && !found.iter().any(|(known, _)| known == word) {
                found.push((word.to_owned(), is_quoted));
            }
        }
    }
    found
}

/// What a change in this checkout starts from: the main branch, else the commit before.
fn base(place: &Place) -> Option<String> {
    let Place::Git(checkout) = place else { return None };
    let head = checkout.head().ok()?.commit?;
    let mains = ["origin/main", "origin/master", "main", "master"];
    let main = mains.into_iter().find(|it| checkout.resolve(it).is_ok_and(|commit| commit != head));
    let before = || checkout.resolve("HEAD~1").ok().map(|_| "HEAD~1");
    main.or_else(before).map(str::to_owned)
}
