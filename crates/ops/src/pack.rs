//! A pack that was answered, printed again as it was.

use knowing_model::Hash;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use crate::context::PackReply;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};

/// Print a pack again by its root, as it was answered in the last thirty days
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
pub struct Pack {
    /// The `pack_root` of an answer of `context`
    pub root: String,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Pack) -> Result<PackReply> {
    let root = Hash::from_hex(&arguments.root).ok_or_else(|| {
        let message = format!("`{}` is no root: it has 64 hexadecimal digits", arguments.root);
        Error::new(ErrorKind::Usage, message, "copy `pack_root` from an answer of `knowing context --json`")
    })?;
    let opened = cx.open()?;
    let Some(text) = opened.store.pack_of_root(root)? else {
        let message = format!("no pack with root `{}` is kept", arguments.root);
        let hint = "packs are kept for thirty days; ask `knowing context` again";
        return Err(Error::new(ErrorKind::NotFound, message, hint));
    };
    let pack = knowing_wire::json::decode(&text).map_err(|reason| {
        let message = format!("the pack `{}` cannot be read: {reason}", arguments.root);
        Error::new(ErrorKind::Corrupt, message, "ask `knowing context` again")
    })?;
    Ok(PackReply::whole(pack))
}
