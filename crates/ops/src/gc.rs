//! Remove what no kept snapshot speaks of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use knowing_model::SnapshotId;
use knowing_store::{Keeping, Mode, Store};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::SCHEMA;
use crate::cx::Cx;
use crate::error::Result;

/// Remove snapshots outside the kept window, and all that only they speak of
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing gc --dry-run
  knowing gc && knowing vacuum       then give the space back to the disk

Kept are, for each checkout and for the newest snapshot of each repository in the database, the newest 10 snapshots along \
the chain; what a checkout stands on; what is pinned (`knowing snapshots pin`); and temporary snapshots for a day.")]
pub struct Gc {
    /// Count what would go, and remove nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// How many snapshots to keep along each chain
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    #[serde(default = "ten")]
    pub keep: u16,
}

fn ten() -> u16 {
    10
}

/// What was removed, or would be.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweptReply {
    /// Version of this JSON.
    pub schema: u32,
    pub database: String,
    /// Nothing was removed, only counted.
    pub dry_run: bool,
    /// Rows by table.
    pub removed: BTreeMap<String, u64>,
    /// Ids of the snapshots among them.
    pub snapshots: Vec<String>,
    pub snapshots_kept: u64,
    pub images_removed: u64,
}

pub(crate) use SweptReply as GcReply;

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Gc) -> Result<SweptReply> {
    let (mut store, _) = cx.open_database()?;
    let mode = if arguments.dry_run { Mode::DryRun } else { Mode::Delete };
    let keeping = Keeping {
        n_snapshots: usize::from(arguments.keep),
        now: cx.environment.now,
        exists: &|path| Path::new(path).exists(),
    };
    let collected = store.collect(&keeping, mode)?;
    swept(&store, collected, mode)
}

pub(crate) fn swept(store: &Store, collected: knowing_store::Collected, mode: Mode) -> Result<SweptReply> {
    Ok(SweptReply {
        schema: SCHEMA,
        database: store.path().display().to_string(),
        dry_run: mode == Mode::DryRun,
        removed: collected.rows.iter().map(|(table, count)| ((*table).to_owned(), *count)).collect(),
        images_removed: remove_images(store, &collected.snapshots, mode),
        snapshots: collected.snapshots.iter().map(ToString::to_string).collect(),
        snapshots_kept: collected.n_kept,
    })
}

/// Images hold row numbers: one of a snapshot that is made again would speak of other rows.
fn remove_images(store: &Store, snapshots: &[SnapshotId], mode: Mode) -> u64 {
    let gone: BTreeSet<String> = snapshots.iter().map(ToString::to_string).collect();
    let entries = fs::read_dir(store.images_dir()).into_iter().flatten().flatten();
    let is_gone = |path: &Path| path.file_stem().is_some_and(|it| gone.contains(&*it.to_string_lossy()));
    let images = entries.map(|it| it.path()).filter(|it| is_gone(it));
    images.filter(|it| mode == Mode::DryRun || fs::remove_file(it).is_ok()).count() as u64
}
