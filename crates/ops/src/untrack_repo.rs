//! Forget a repository: its graph, and that it was known.

use knowing_store::Mode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
pub(crate) use crate::gc::GcReply as UntrackRepoReply;
use crate::gc::forget;
use crate::registry::Registry;
use crate::reset::mode;

/// Forget a repository: all that is stored of it, and its entry in the registry
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing untrack-repo --yes
  knowing --repo github.com/acme/old untrack-repo --dry-run

The repository itself is not touched, and neither are others in the same database.")]
pub struct UntrackRepo {
    /// Count what would go, and remove nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// Do it without being asked
    #[arg(long = "yes", short = 'y')]
    #[serde(default)]
    pub confirm: bool,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &UntrackRepo) -> Result<UntrackRepoReply> {
    let (mut store, target) = cx.open_database()?;
    let repo = cx.repo_of(&store, &target)?;
    let mode = mode(arguments.dry_run, arguments.confirm, &format!("forget `{}`", repo.url))?;
    let reply = forget(&mut store, repo.id, mode)?;
    if mode == Mode::Delete {
        if let Ok(directory) = cx.environment.own_directory() {
            Registry::forget(&directory, &repo.url, store.path()).map_err(|error| {
                let message = format!("the registry in `{}` cannot be written: {error}", directory.display());
                Error::new(
                    ErrorKind::Io,
                    message,
                    "check that the directory may be written, and run this again",
                )
            })?;
        }
        // A database of nothing need not take space.
        if store.repos()?.is_empty() {
            store.vacuum()?;
        }
    }
    Ok(reply)
}
