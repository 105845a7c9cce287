//! The symbols that a task, some files or a change need, within a budget of tokens.

mod batch;
mod engine;
mod options;
mod paging;
mod sending;

use std::fmt::Debug;
use std::path::PathBuf;

use knowing_wire::{Format, Payload, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context_for_pr::for_pr;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::page::state_prefix;

pub(crate) use engine::{Asked, ChangedFile, Engine};
pub use options::{ContextOptions, DetailChoice, FormatChoice, RankerChoice};
use paging::Extent;
use sending::Reader;

/// Longest task, in bytes, and most files.
pub(crate) const MAX_TASK: usize = 64 << 10;
pub(crate) const MAX_FILES: usize = 1_000;

/// The symbols that matter for a task, best first, within a token budget
#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing context \"retry failed uploads\"             indexes first when that is needed
  knowing context - < issue.md                        the task from standard input
  knowing context \"slow joins\" --budget 8000 --detail source
  knowing context --files src/app.py,src/db.py        around files, without a task
  knowing context --base main                         around what changed since main
  knowing context --tasks tasks.jsonl --limit 50 --json
                                                      many tasks, one line of JSON each

A line of a task file has `id`, `description` and, where it is about another commit, `base`.
Ask `knowing why TASK --symbol NAME` why a symbol stands where it does.")]
pub struct Context {
    /// What is to be done: a sentence, an issue, a stack trace; `-` reads it from standard input
    // A text that begins with a hyphen is a text.
    #[arg(value_name = "TASK", required_unless_present_any = ["tasks", "files", "base"], allow_hyphen_values = true)]
    #[serde(alias = "task_description", default)]
    pub task: Option<String>,
    /// Answer every task of a file of JSON lines instead, in its order
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "files", "base"])]
    #[serde(skip)]
    #[schemars(skip)]
    pub tasks: Option<PathBuf>,
    /// Around these files instead
    #[arg(long, value_delimiter = ',', value_name = "FILE,...", conflicts_with_all = ["task", "base"])]
    #[serde(skip)]
    #[schemars(skip)]
    pub files: Vec<String>,
    /// Around what changed since this revision instead
    #[arg(long, value_name = "REV", conflicts_with = "task")]
    #[serde(skip)]
    #[schemars(skip)]
    pub base: Option<String>,
    /// Where the change ends
    #[arg(long, value_name = "REV", requires = "base")]
    #[serde(skip)]
    #[schemars(skip)]
    pub head: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ContextOptions,
}

/// A pack, or what became of a file of tasks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextReply {
    #[serde(flatten)]
    pub pack: Option<PackReply>,
    #[serde(flatten)]
    pub batch: Option<BatchReply>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PackReply {
    /// Version of this JSON.
    pub schema: &'static str,
    #[serde(flatten)]
    pub pack: Payload,
    /// Symbols of the pack, on all its pages; absent when there is one page only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Whether there is more than is listed; absent when there is one page only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// The pack as it is written in the format asked for, when that is not JSON.
    // Agents get it as the text of the answer, and not as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub text: Option<String>,
    /// The same, where the format has bytes; in JSON as base64.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "in_base64")]
    #[schemars(skip)]
    pub blob: Option<Vec<u8>>,
}

fn in_base64<S: serde::Serializer>(
    bytes: &Option<Vec<u8>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&knowing_wire::base64(bytes.as_deref().unwrap_or_default()))
}

/// The answers went to the output, one line each.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BatchReply {
    pub tasks: usize,
    /// Those that could not be answered; their lines say why.
    pub failed: usize,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Context) -> Result<ContextReply> {
    let options = &arguments.options;
    if let Some(file) = &arguments.tasks {
        let batch = batch::run(cx, file, options)?;
        return Ok(ContextReply { pack: None, batch: Some(batch) });
    }
    let pack = if !arguments.files.is_empty() {
        for_files(cx, &arguments.files, options)?
    } else if let Some(base) = &arguments.base {
        for_pr(cx, base, arguments.head.as_deref(), options)?
    } else {
        let text = match arguments.task.as_deref() {
            Some("-") => from_standard_input()?,
            Some(text) => text.to_owned(),
            None => String::new(),
        };
        for_task(cx, &text, options)?
    };
    Ok(ContextReply { pack: Some(pack), batch: None })
}

pub(crate) fn for_task(cx: &mut Cx<'_>, text: &str, options: &ContextOptions) -> Result<PackReply> {
    check_task(text)?;
    answer(cx, &Asked::Task(text.to_owned()), &text, options)
}

pub(crate) fn for_files(cx: &mut Cx<'_>, files: &[String], options: &ContextOptions) -> Result<PackReply> {
    check_files(files)?;
    answer(cx, &Asked::Files(files.to_vec()), &files, options)
}

/// Answers from the snapshot of HEAD, which is made first when it is not there. `question` is what was asked, as it was.
pub(crate) fn answer(
    cx: &mut Cx<'_>,
    asked: &Asked,
    question: &dyn Debug,
    options: &ContextOptions,
) -> Result<PackReply> {
    answer_at(cx, asked, question, options, None)
}

/// Answers from the snapshot of a revision.
pub(crate) fn answer_at(
    cx: &mut Cx<'_>,
    asked: &Asked,
    question: &dyn Debug,
    options: &ContextOptions,
    revision: Option<&str>,
) -> Result<PackReply> {
    let session = cx.session.clone();
    let mut wanted = options.wanted(asked, session.as_deref())?;
    let mut pages = cx.pages(asked.tool(), &(&question, options), usize::MAX)?;
    if let (Some(max_tokens), Format::Gcb) = (pages.max_tokens(), wanted.format) {
        wanted.hold_to(paging::budget_of_bytes(max_tokens));
    }
    let base = options.base()?;
    let (opened, place) = match revision {
        Some(revision) => (cx.open_commit(revision)?, cx.place().ok()),
        None => cx.open_fresh()?,
    };
    let mut opened = pages.settle(opened)?;
    let engine = Engine::new(&opened, place)?;
    let use_cache = wanted.settings.switches.on(knowing_retrieve::Part::PackCache);
    let mut key = engine.key(asked, &wanted);
    let mut kept = if use_cache { engine::stored(&opened.store, key) } else { None };
    if let Some((before, _)) = pages.pack_before()
        && before != state_prefix(key.as_bytes())
    {
        // What would be answered now is another pack: pages go on with the one they began with.
        let found = opened.store.pack_of_key_prefix(before)?;
        let found = found.and_then(|(key, text)| Some((key, knowing_wire::json::decode(&text).ok()?)));
        let (key_before, pack_before) = found.ok_or_else(expired)?;
        (key, kept) = (key_before, Some(pack_before));
    }
    let is_kept = kept.is_some();
    let payload = kept.unwrap_or_else(|| engine.answer(asked, &wanted));
    drop(engine);
    if let Asked::Task(text) = asked
        && payload.symbols.is_empty()
    {
        return Err(nothing_found(text));
    }
    let repo = opened.snapshot().repo;
    if use_cache && !is_kept {
        engine::keep(&mut opened.store, repo, key, &payload, &wanted.form(), cx.environment.now);
    }
    let reader = Reader { environment: &cx.environment, session: session.as_deref(), base, repo, key };
    sending::send(&reader, &mut opened.store, payload, &wanted, &pages)
}

fn expired() -> Error {
    let hint = "ask anew without the cursor";
    Error::new(ErrorKind::Expired, "the pack that the cursor is of is no longer kept", hint)
}

impl PackReply {
    fn of(pack: Payload, of: Extent) -> PackReply {
        let (total, truncated) =
            if of.is_whole() { (None, None) } else { (Some(of.total), Some(of.truncated)) };
        PackReply { schema: knowing_wire::json::SCHEMA, pack, total, truncated, text: None, blob: None }
    }

    /// All of a pack.
    pub(crate) fn whole(pack: Payload) -> PackReply {
        let of = Extent { total: pack.symbols.len(), truncated: false, is_first: true };
        PackReply::of(pack, of)
    }
}

fn reply(payload: Payload, wanted: &engine::Wanted, of: Extent) -> PackReply {
    let mut reply = PackReply::of(payload, of);
    if wanted.format != Format::Json {
        match wanted.format.encode(&reply.pack) {
            Written::Text(text) => reply.text = Some(text),
            Written::Bytes(bytes) => reply.blob = Some(bytes),
        }
    }
    reply
}

pub(crate) fn check_task(text: &str) -> Result<()> {
    if text.len() > MAX_TASK {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("the task has {} bytes, and {MAX_TASK} are read at most", text.len()),
            "give the part that says what is to be done",
        ));
    }
    Ok(())
}

pub(crate) fn check_files(files: &[String]) -> Result<()> {
    if files.len() > MAX_FILES { Err(too_many_files(files.len())) } else { Ok(()) }
}

pub(crate) fn too_many_files(n_files: usize) -> Error {
    let message = format!("{n_files} files or more are asked for, and {MAX_FILES} are read at most");
    Error::new(ErrorKind::Usage, message, "give fewer files")
}

fn nothing_found(text: &str) -> Error {
    let message = match text.trim() {
        "" => "the task is empty".to_owned(),
        _ => "nothing in the repository fits the task".to_owned(),
    };
    let hint = "say what is to be done in a sentence, or name a symbol, a file or an error message";
    Error::new(ErrorKind::NotFound, message, hint)
}

fn from_standard_input() -> Result<String> {
    let mut bytes = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(std::io::stdin(), 4 << 20), &mut bytes);
    read.map_err(|error| {
        let message = format!("cannot read the task from standard input: {error}");
        Error::new(ErrorKind::BadInput, message, "give the task as an argument")
    })?;
    Ok(readable(&bytes))
}

/// What is no text separates words, and makes a task no longer than its bytes are.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(' ');
        }
    }
    text
}
