//! Forget the graph of a repository, to begin anew.

use knowing_store::Mode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
pub(crate) use crate::gc::GcReply as ResetReply;
use crate::gc::forget;

/// Forget all snapshots of the repository; the next index run begins anew
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing reset --dry-run
  knowing reset --yes && knowing index

Other repositories in the same database are not touched.")]
pub struct Reset {
    /// Count what would go, and remove nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// Do it without being asked
    #[arg(long = "yes", short = 'y')]
    #[serde(default)]
    pub confirm: bool,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Reset) -> Result<ResetReply> {
    let (mut store, target) = cx.open_database()?;
    let repo = cx.repo_of(&store, &target)?;
    let mode =
        mode(arguments.dry_run, arguments.confirm, &format!("forget all snapshots of `{}`", repo.url))?;
    forget(&mut store, repo.id, mode)
}

/// What cannot be undone needs a word.
pub(crate) fn mode(dry_run: bool, confirmed: bool, what: &str) -> Result<Mode> {
    match (dry_run, confirmed) {
        (true, _) => Ok(Mode::DryRun),
        (false, true) => Ok(Mode::Delete),
        (false, false) => Err(Error::new(
            ErrorKind::Usage,
            format!("this would {what}, which cannot be undone"),
            "say that this is meant with `--yes` (`confirm: true`), or see what would go with `--dry-run`",
        )),
    }
}
