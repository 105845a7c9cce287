//! What a snapshot holds, in numbers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::cx::Cx;
use crate::error::Result;

/// Counts of files, symbols and edges of the indexed tree
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing stats
  knowing --repo github.com/pallets/flask stats --json")]
pub struct Stats {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatsReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub commit: String,
    pub root: String,
    pub database: String,
    pub files: u64,
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    pub files_by_language: BTreeMap<String, u64>,
    pub nodes_by_kind: BTreeMap<String, u64>,
    pub edges_by_kind: BTreeMap<String, u64>,
    pub edges_by_provenance: BTreeMap<String, u64>,
    pub unresolved_by_reason: BTreeMap<String, u64>,
    /// Files that were not read, by reason.
    pub skipped: BTreeMap<String, u64>,
}

pub(crate) fn run(cx: &mut Cx<'_>, _arguments: &Stats) -> Result<StatsReply> {
    let opened = cx.open()?;
    let view = opened.view()?;
    let graph = view.graph();
    let mut nodes_by_kind = BTreeMap::new();
    let mut edges_by_kind = BTreeMap::new();
    for at in graph.indices() {
        *nodes_by_kind.entry(graph.node(at).kind().name().to_owned()).or_default() += 1;
        for edge in graph.outgoing(at) {
            *edges_by_kind.entry(edge.kind().name().to_owned()).or_default() += 1;
        }
    }
    let mut files_by_language = BTreeMap::new();
    for file in view.files()? {
        *files_by_language.entry(file.language).or_default() += 1;
    }
    let snapshot = opened.snapshot();
    let counts = &snapshot.counts;
    Ok(StatsReply {
        tree: view.tree().clone(),
        commit: knowing_model::hex(&snapshot.commit),
        root: snapshot.root.to_string(),
        database: opened.database().display().to_string(),
        files: counts.files,
        nodes: counts.nodes,
        edges: counts.edges,
        unresolved: counts.unresolved,
        files_by_language,
        nodes_by_kind,
        edges_by_kind,
        edges_by_provenance: counts.edges_by_provenance.clone(),
        unresolved_by_reason: counts.unresolved_by_reason.clone(),
        skipped: counts.skipped.clone(),
    })
}
