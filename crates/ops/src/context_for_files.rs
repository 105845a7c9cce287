//! Context around files.

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use crate::context::PackReply;
use crate::context::{ContextOptions, for_files};
use crate::cx::Cx;
use crate::error::Result;

/// The symbols of files and who calls them, within a token budget
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(hide = true)]
pub struct ContextForFiles {
    /// Paths from the top of the repository
    #[arg(required = true)]
    pub files: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ContextOptions,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &ContextForFiles) -> Result<PackReply> {
    for_files(cx, &arguments.files, &arguments.options.for_agents())
}
