//! Give free space of the database back to the disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::SCHEMA;
use crate::cx::Cx;
use crate::error::Result;

/// Give free space of the database back to the disk
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing vacuum")]
pub struct Vacuum {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VacuumReply {
    /// Version of this JSON.
    pub schema: u32,
    pub database: String,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

pub(crate) fn run(cx: &mut Cx<'_>, _arguments: &Vacuum) -> Result<VacuumReply> {
    let (mut store, _) = cx.open_database()?;
    let (bytes_before, bytes_after) = store.vacuum()?;
    Ok(VacuumReply {
        schema: SCHEMA,
        database: store.path().display().to_string(),
        bytes_before,
        bytes_after,
    })
}
