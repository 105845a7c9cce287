//! The whole graph of a snapshot, written as it is read: lines of JSON, or a picture.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::cx::Cx;
use crate::error::{Error, Result};

mod dot;
mod jsonl;

/// Print the whole graph: one JSON object a line, or a picture for Graphviz
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing export > graph.jsonl
  knowing export | grep '\"kind\":\"extends\"'
  knowing export --format dot --max-nodes 200 | dot -Tsvg > graph.svg")]
pub struct Export {
    /// Lines of JSON (nodes, then edges, then unresolved calls), or a graph for Graphviz
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub format: ExportFormat,
    /// How many symbols a picture shows at most, those with the most edges first
    #[arg(long, default_value_t = 300)]
    #[serde(default = "three_hundred")]
    pub max_nodes: usize,
    /// Only edges of these kinds; a picture shows `calls`, `extends` and `implements` unless told
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
}

fn three_hundred() -> usize {
    300
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    #[default]
    Jsonl,
    Dot,
}

/// What was written; the data itself went to the output.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExportReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub nodes: usize,
    pub edges: usize,
    pub unresolved: usize,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Export) -> Result<ExportReply> {
    let opened = cx.open()?;
    let view = opened.view()?;
    let mut output = io::BufWriter::with_capacity(1 << 16, &mut *cx.output);
    let written = match arguments.format {
        ExportFormat::Jsonl => jsonl::write(&view, arguments, &mut output)?,
        ExportFormat::Dot => dot::write(&view, arguments, &mut output)?,
    };
    output.flush().map_err(write_error)?;
    Ok(ExportReply {
        tree: view.tree().clone(),
        nodes: written.nodes,
        edges: written.edges,
        unresolved: written.unresolved,
    })
}

#[derive(Default)]
struct Written {
    nodes: usize,
    edges: usize,
    unresolved: usize,
}

fn write_error(error: io::Error) -> Error {
    Error::of_output(&error)
}
