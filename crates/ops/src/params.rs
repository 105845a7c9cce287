//! Every number of retrieval, and every part that can be left out.

use knowing_retrieve::{Params, Part, Ranker, Switches};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::SCHEMA;
use crate::cx::Cx;
use crate::error::Result;

/// Show every number that retrieval is tuned by, and the parts that `--without` can leave out
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
pub struct ShowParams {}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ParamsReply {
    /// Version of this JSON.
    pub schema: u32,
    /// Of all numbers, the model and the concept classes: a part of every cache key.
    pub digest: String,
    pub params: serde_json::Value,
    pub parts: Vec<PartReply>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartReply {
    pub name: &'static str,
    pub meaning: &'static str,
}

pub(crate) fn run(_cx: &mut Cx<'_>, _arguments: &ShowParams) -> Result<ParamsReply> {
    let params = Params::default();
    Ok(ParamsReply {
        schema: SCHEMA,
        digest: params.digest(&Switches::default(), Ranker::default()).to_string(),
        params: serde_json::to_value(&params).expect("all keys are strings and all numbers are finite"),
        parts: Part::ALL.iter().map(|it| PartReply { name: it.name(), meaning: it.meaning() }).collect(),
    })
}
