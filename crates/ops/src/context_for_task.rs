//! Context for a task, as agents ask for it.

use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use crate::context::PackReply;
use crate::context::{ContextOptions, for_task};
use crate::cx::Cx;
use crate::error::Result;

/// The symbols that matter for a task, best first, within a token budget
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(hide = true)]
pub struct ContextForTask {
    /// What is to be done: a sentence, an issue, a stack trace
    #[arg(allow_hyphen_values = true)]
    #[serde(alias = "task")]
    pub task_description: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ContextOptions,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &ContextForTask) -> Result<PackReply> {
    for_task(cx, &arguments.task_description, &arguments.options.for_agents())
}
