//! The snapshots of a repository, and which of them are kept for good.

use knowing_model::hex;
use knowing_store::SnapshotRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::clock::utc;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::page::{Page, paged};
use crate::reference::chain;

/// List the snapshots of the repository, newest first, or pin one for good
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing snapshots
  knowing snapshots pin v2.0         keep the snapshot of a tag, whatever `knowing gc` collects
  knowing snapshots unpin @3

A snapshot is named by `@latest`, `@prev`, `@N` (N steps back), `@first`, `@base`, by 8 or more digits of its id, or by \
any git revision.")]
pub struct Snapshots {
    /// What to do with one snapshot, instead of listing all
    #[arg(requires = "snapshot")]
    #[serde(default)]
    pub action: Option<SnapshotAction>,
    /// The snapshot to pin or unpin
    #[serde(default)]
    pub snapshot: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotAction {
    /// Never collect it
    Pin,
    /// Collect it when its time comes
    Unpin,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SnapshotsReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub snapshots: Vec<SnapshotInfo>,
    pub total: usize,
    #[serde(flatten)]
    pub page: Page,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SnapshotInfo {
    pub id: String,
    /// `@N`, when it is on the chain of the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    pub commit: String,
    pub stage: &'static str,
    pub ruleset: u32,
    pub root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub generation: u32,
    /// Part of the history of snapshots; that of a work tree is not.
    pub chained: bool,
    pub pinned: bool,
    /// UTC.
    pub created_at: String,
    pub files: u64,
    pub nodes: u64,
    pub edges: u64,
}

paged!(SnapshotsReply: snapshots);

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Snapshots) -> Result<SnapshotsReply> {
    let changed = match (arguments.action, &arguments.snapshot) {
        (Some(action), Some(reference)) => Some(change(cx, action, reference)?),
        (None, None) => None,
        _ => {
            return Err(Error::new(
                ErrorKind::Usage,
                "an action needs a snapshot, and a snapshot an action",
                "as in `knowing snapshots pin @prev`",
            ));
        }
    };
    let mut pages = cx.pages("snapshots", arguments, 50)?;
    let opened = cx.open_page(&mut pages)?;
    let store = &opened.store;
    let mut all = store.snapshots(opened.snapshot.repo)?;
    all.reverse();
    all.retain(|it| changed.is_none_or(|id| it.id == id));
    let on_chain = chain(store, &opened.snapshot)?;
    let mut snapshots = Vec::new();
    for it in &all[pages.range(all.len())] {
        let parent = it.parent.map(|row| store.snapshot_at(row)).transpose()?.flatten();
        let place = on_chain.iter().position(|other| other.id == it.id);
        snapshots.push(info(it, parent.as_ref(), place, store.is_pinned(it.id)?));
    }
    let mut reply =
        SnapshotsReply { tree: opened.tree.clone(), total: all.len(), page: Page::default(), snapshots };
    pages.finish(&mut reply)?;
    Ok(reply)
}

fn change(cx: &mut Cx<'_>, action: SnapshotAction, reference: &str) -> Result<knowing_model::SnapshotId> {
    let mut opened = cx.open_reference(reference)?;
    let id = opened.snapshot.id;
    match action {
        SnapshotAction::Pin => opened.store.pin(id, cx.environment.now)?,
        SnapshotAction::Unpin => opened.store.unpin(id)?,
    };
    Ok(id)
}

fn info(it: &SnapshotRow, parent: Option<&SnapshotRow>, place: Option<usize>, pinned: bool) -> SnapshotInfo {
    SnapshotInfo {
        id: it.id.to_string(),
        reference: place.map(|it| format!("@{it}")),
        commit: hex(&it.commit),
        stage: it.stage.name(),
        ruleset: it.ruleset,
        root: it.root.to_string(),
        parent: parent.map(|it| it.id.to_string()),
        generation: it.generation,
        chained: it.chained,
        pinned,
        created_at: utc(it.created_at),
        files: it.counts.files,
        nodes: it.counts.nodes,
        edges: it.counts.edges,
    }
}
