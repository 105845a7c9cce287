//! Remove what no kept snapshot speaks of.

use std::collections::BTreeMap;
use std::path::Path;

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

Kept are, for each checkout and for the main branch of each repository in the database, the newest 10 snapshots along \
the chain; what a checkout stands on; what is pinned (`knowing snapshots pin`); and temporary snapshots for a day.

After an index run this happens by itself when enough has gathered; `KNOWING_AUTO_GC=0` keeps it from that.")]
pub struct Gc {
    /// Count what would go, and remove nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// How many snapshots to keep along each chain
    #[arg(long, value_name = "N", default_value_t = KEPT, value_parser = clap::value_parser!(u16).range(1..))]
    #[serde(default = "kept")]
    pub keep: u16,
}

/// Snapshots along each chain.
const KEPT: u16 = 10;
/// Edge versions that only superseded snapshots have: with more of them an index run collects.
const MAX_SUPERSEDED: u64 = 5_000;

fn kept() -> u16 {
    KEPT
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
    let collected = with_keeping(cx, &mut store, arguments.keep, |store, it| store.collect(it, mode))?;
    swept(&store, collected, mode)
}

/// Collects after an index run, when enough has gathered. An index is one all the same when that fails: another process
/// may be indexing, and its next run comes by here too.
pub(crate) fn after_index(cx: &Cx<'_>, store: &mut Store) {
    if !cx.environment.auto_gc {
        return;
    }
    // Without git first, which can only keep more: most runs end here, after a look at a few rows.
    let is_worth_it = |store: &Store, keeping: &Keeping<'_>| -> knowing_store::Result<bool> {
        Ok(store.n_superseded(keeping)? > MAX_SUPERSEDED)
    };
    let known = Keeping {
        n_snapshots: usize::from(KEPT),
        now: cx.environment.now,
        exists: &|_| true,
        heads: &[],
        base_of: &|_| None,
    };
    if !is_worth_it(store, &known).unwrap_or(false) {
        return;
    }
    let _ = with_keeping(cx, store, KEPT, |store, keeping| {
        if is_worth_it(store, keeping)? {
            store.collect(keeping, Mode::Delete)?;
        }
        Ok(())
    });
}

fn with_keeping<T>(
    cx: &Cx<'_>,
    store: &mut Store,
    n_snapshots: u16,
    run: impl FnOnce(&mut Store, &Keeping<'_>) -> knowing_store::Result<T>,
) -> Result<T> {
    let heads = crate::gc_heads::heads(cx, store)?;
    let images = store.images_dir();
    let keeping = Keeping {
        n_snapshots: usize::from(n_snapshots),
        now: cx.environment.now,
        exists: &|path| Path::new(path).exists(),
        heads: &heads,
        base_of: &|snapshot| knowing_index::search_base(&images, snapshot),
    };
    Ok(run(store, &keeping)?)
}

/// Forgets a repository with its images.
pub(crate) fn forget(store: &mut Store, repo: i64, mode: Mode) -> Result<SweptReply> {
    let images = store.images_dir();
    let base_of = |snapshot| knowing_index::search_base(&images, snapshot);
    let collected = store.forget_repo(repo, &base_of, mode)?;
    swept(store, collected, mode)
}

fn swept(store: &Store, collected: knowing_store::Collected, mode: Mode) -> Result<SweptReply> {
    Ok(SweptReply {
        schema: SCHEMA,
        database: store.path().display().to_string(),
        dry_run: mode == Mode::DryRun,
        removed: collected.rows.iter().map(|(table, count)| ((*table).to_owned(), *count)).collect(),
        images_removed: collected.n_images,
        snapshots: collected.snapshots.iter().map(ToString::to_string).collect(),
        snapshots_kept: collected.n_kept,
    })
}
