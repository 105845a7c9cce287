//! Who owns a file or a symbol, as CODEOWNERS says.

use knowing_graph::NodeIndex;
use knowing_model::identity::{Identity, node_id};
use knowing_model::{ContainerClass, EdgeKind, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::cx::Cx;
use crate::error::Result;
use crate::view::View;

/// Who owns a file or a symbol
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing owners src/app.py
  knowing owners Flask.run --json

Owners come from CODEOWNERS (.github/, the top, docs/ or .gitlab/): the last rule that fits a path holds.")]
pub struct Owners {
    /// A path, or a symbol: end of its name, qualified name, node id or `path:line`
    pub of: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OwnersReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// The file that was asked for, or that the symbol stands in.
    pub file: String,
    /// Teams, people or addresses; nobody where no rule fits.
    pub owners: Vec<String>,
    /// Where the rule stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Owners) -> Result<OwnersReply> {
    let opened = cx.open()?;
    let view = opened.view()?;
    let typed = arguments.of.trim_start_matches("./");
    let below =
        if view.prefix().is_empty() { typed.to_owned() } else { format!("{}/{typed}", view.prefix()) };
    let direct =
        [below.as_str(), typed].into_iter().find_map(|it| Some((it.to_owned(), file_node(&view, it)?)));
    let (file, node) = match direct {
        Some(found) => found,
        None => {
            let found = view.lookup(&arguments.of)?;
            let file = view.info(found[0])?.file.unwrap_or_default();
            let node = file_node(&view, &file).unwrap_or(found[0]);
            (file, node)
        }
    };
    let mut owners = Vec::new();
    let mut rule = None;
    for edge in view.graph().outgoing_of(node, EdgeKind::OwnedBy) {
        owners.push(view.info(edge.other())?.name);
        let sites = view.sites(edge.edge_row)?;
        if let (Some(file), Some(line)) = (sites.file, sites.lines.first()) {
            rule = Some(format!("{file}:{line}"));
        }
    }
    owners.sort();
    Ok(OwnersReply { tree: view.tree().clone(), file, owners, rule })
}

fn file_node(view: &View<'_>, path: &str) -> Option<NodeIndex> {
    let (class, kind) = (ContainerClass::File, NodeKind::File);
    let id = node_id(Identity { repo: &view.tree().repo, class, container: path, symbol: "", kind });
    view.graph().find(id)
}
