//! A pack in a file, shown: GCF, GCB or JSON, and what differs between two.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use knowing_wire::gcf::{Document, Entry, Message};
use knowing_wire::{Delta, Format, Payload, Written, gcb, gcf, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::SCHEMA;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};

/// Show a pack that was written as GCF, GCB or JSON
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing context 'retry uploads' --format gcb > pack.gcb && knowing decode pack.gcb
  knowing context 'retry uploads' --format gcf | knowing decode -
  knowing decode change.gcf --base pack.gcf     what a difference makes of the pack it is for")]
pub struct Decode {
    /// The file; `-` reads standard input
    pub file: String,
    /// The pack that a difference is for
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub base: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DecodeReply {
    /// Version of this JSON.
    pub schema: u32,
    pub format: &'static str,
    /// Of GCB and JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack: Option<Payload>,
    /// Of GCF: all that the text says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Message>,
    /// For people.
    #[serde(skip)]
    pub text: String,
}

/// More is no pack.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Decode) -> Result<DecodeReply> {
    let bytes = bytes_of(cx, &arguments.file)?;
    if gcb::is_gcb(&bytes) {
        let pack = gcb::decode(&bytes).map_err(|it| broken(&arguments.file, "GCB", &it.to_string()))?;
        return Ok(whole("gcb", pack));
    }
    let text = String::from_utf8(bytes).map_err(|_| unknown(&arguments.file))?;
    if text.trim_start().starts_with('{') {
        let pack = json::decode(&text).map_err(|it| broken(&arguments.file, "JSON", &it))?;
        return Ok(whole("json", pack));
    }
    if !text.starts_with("GCF") {
        return Err(unknown(&arguments.file));
    }
    let mut document = gcf::decode(&text).map_err(|it| broken(&arguments.file, "GCF", &it.to_string()))?;
    if let (Message::Delta(delta), Some(base)) = (&document, &arguments.base) {
        let applied = delta.apply(&base_of(cx, base)?);
        document = Message::Whole(applied.map_err(|it| broken(&arguments.file, "GCF", &it.to_string()))?);
    }
    let text = match &document {
        Message::Whole(it) => in_markdown(&it.view()),
        Message::Delta(it) => listed(it),
    };
    Ok(DecodeReply { schema: SCHEMA, format: "gcf", pack: None, document: Some(document), text })
}

fn whole(format: &'static str, pack: Payload) -> DecodeReply {
    let text = in_markdown(&pack);
    DecodeReply { schema: SCHEMA, format, pack: Some(pack), document: None, text }
}

fn in_markdown(payload: &Payload) -> String {
    match Format::Markdown.encode(payload) {
        Written::Text(text) => text,
        Written::Bytes(_) => String::new(),
    }
}

fn base_of(cx: &Cx<'_>, file: &str) -> Result<Document> {
    let text = String::from_utf8(bytes_of(cx, file)?).map_err(|_| unknown(file))?;
    match gcf::decode(&text).map_err(|it| broken(file, "GCF", &it.to_string()))? {
        Message::Whole(document) => Ok(document),
        Message::Delta(_) => Err(broken(file, "GCF", "it is a difference itself, and no whole pack")),
    }
}

fn bytes_of(cx: &Cx<'_>, file: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        file => std::fs::File::open(cx.environment.working_directory.join(Path::new(file)))
            .and_then(|it| it.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| {
        let message = format!("`{file}` cannot be read: {error}");
        Error::new(ErrorKind::Io, message, "check the path, or give `-` for standard input")
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("`{file}` has more than {MAX_BYTES} bytes");
        return Err(Error::new(ErrorKind::BadInput, message, "give a file that `knowing context` wrote"));
    }
    Ok(bytes)
}

fn broken(file: &str, format: &str, problem: &str) -> Error {
    let message = format!("`{file}` is no sound {format}: {problem}");
    Error::new(ErrorKind::BadInput, message, "ask `knowing context` for it again").at(file.to_owned())
}

fn unknown(file: &str) -> Error {
    let message = format!("`{file}` is neither GCF, GCB nor JSON of a pack");
    let hint = "give a file that `knowing context` wrote, with `--format gcf`, `gcb` or `json`";
    Error::new(ErrorKind::BadInput, message, hint).at(file.to_owned())
}

/// A difference without its base: what it says, line by line.
fn listed(delta: &Delta) -> String {
    let value = |key: &str| delta.header.value(key).unwrap_or_default();
    let mut text = format!("# {}: what differs in {} at {}\n\n", value("tool"), value("repo"), value("tree"));
    let mut line = |it: String| writeln!(text, "{it}").expect("a string takes all");
    if delta.is_empty() {
        line("nothing: the pack is the one you have".to_owned());
    }
    delta.removed.iter().for_each(|id| line(format!("- removed @{id}")));
    for entry in &delta.added {
        let declared = entry.declared.clone().unwrap_or_default();
        line(format!("- added @{} {} {}{}", entry.id, declared.kind, declared.name, at(entry)));
    }
    delta.changed.iter().for_each(|it| line(format!("- changed @{}{}", it.id, at(it))));
    for (what, links) in [("gone", &delta.edges_removed), ("new", &delta.edges_added)] {
        links.iter().for_each(|it| line(format!("- {what}: @{} {} @{}", it.source, it.kind, it.target)));
    }
    delta.comments.iter().for_each(|it| line(format!("\n> {it}")));
    text
}

fn at(entry: &Entry) -> String {
    entry.location.as_ref().map(|it| format!(" {}:{}", it.file, it.line)).unwrap_or_default()
}
