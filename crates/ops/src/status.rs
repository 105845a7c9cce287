//! How this tree stands, on one screen.

use std::collections::BTreeMap;

use knowing_model::hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::clock::utc;
use crate::cx::Cx;
use crate::error::Result;
use crate::freshness::StalePolicy;
use crate::place::Place;

/// How this tree stands: what is indexed, how it differs from the files, what it takes
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing status
  knowing --repo ~/src/flask status --json

Nothing is indexed by asking.")]
pub struct Status {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// Where it lies; absent for one that is known by name alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit of HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The commit that is indexed.
    pub commit: String,
    /// When the snapshot was made, UTC.
    pub indexed_at: String,
    pub files: u64,
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    pub languages: BTreeMap<String, u64>,
    /// Files that were not read, by reason.
    pub skipped: BTreeMap<String, u64>,
    pub database: String,
    pub database_bytes: u64,
    pub snapshots: usize,
    /// Checkouts of the repository that this database knows.
    pub worktrees: Vec<String>,
}

pub(crate) fn run(cx: &mut Cx<'_>, _arguments: &Status) -> Result<StatusReply> {
    // To look is not to mend.
    cx.stale = StalePolicy::Warn;
    let opened = cx.open()?;
    let (store, snapshot) = (&opened.store, &opened.snapshot);
    let (mut branch, mut head) = (None, None);
    if let Some(Place::Git(checkout)) = &opened.work.place {
        let found = checkout.head()?;
        branch = found.branch.clone();
        head = found.commit.map(|it| it.to_string());
    }
    let mut languages = BTreeMap::new();
    for file in store.reader(snapshot)?.files()?.into_iter().filter(|it| it.skip_reason.is_none()) {
        *languages.entry(file.language).or_default() += 1;
    }
    let counts = &snapshot.counts;
    Ok(StatusReply {
        path: opened.work.place.as_ref().map(Place::key),
        branch,
        head,
        commit: hex(&snapshot.commit),
        indexed_at: utc(snapshot.created_at),
        files: counts.files,
        nodes: counts.nodes,
        edges: counts.edges,
        unresolved: counts.unresolved,
        languages,
        skipped: counts.skipped.clone(),
        database: opened.database().display().to_string(),
        database_bytes: store.n_bytes()?,
        snapshots: store.snapshots(snapshot.repo)?.len(),
        worktrees: store.worktrees(snapshot.repo)?.into_iter().map(|it| it.path).collect(),
        tree: opened.tree.clone(),
    })
}
