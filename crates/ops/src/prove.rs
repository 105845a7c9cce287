//! Prove that an edge is in a snapshot, to someone who has only the proof file.

use std::path::PathBuf;

use knowing_snapshot::proof::Proof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::proving::{Proving, ends, provable_kind, write_proof};

/// Prove that one symbol calls (imports, extends ...) another in a snapshot
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing prove serve make > proof.json
  knowing prove serve make --output proof.json
  knowing prove Cart Base --edge-kind extends --snapshot v2.0 | knowing verify -

Who has the file can check it with `knowing verify`, without the repository and without this database.")]
pub struct Prove {
    /// The symbol the edge starts from
    pub source: String,
    /// The symbol the edge leads to
    pub target: String,
    /// What the edge says: `calls`, `imports`, `extends` ...
    #[arg(long, value_name = "KIND", default_value = "calls")]
    #[serde(default = "calls")]
    pub edge_kind: String,
    /// `@latest`, `@prev`, `@N`, an id, or any git revision
    #[arg(long, value_name = "SNAPSHOT", default_value = "@latest")]
    #[serde(default = "latest")]
    pub snapshot: String,
    /// Write the proof to this file
    #[arg(long, short, value_name = "FILE")]
    #[serde(skip)]
    pub output: Option<PathBuf>,
}

pub(crate) fn calls() -> String {
    "calls".to_owned()
}

pub(crate) fn latest() -> String {
    "@latest".to_owned()
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProveReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// What is proven, in words.
    pub statement: String,
    #[schemars(with = "crate::proving::ProofShape")]
    pub proof: Proof,
    /// The file it was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Prove) -> Result<ProveReply> {
    let kind = provable_kind(&arguments.edge_kind)?;
    let opened = cx.open_reference(&arguments.snapshot)?;
    let view = opened.view()?;
    let sources = view.lookup(&arguments.source)?;
    let targets = view.lookup(&arguments.target)?;
    let mut pairs = Vec::new();
    for &source in &sources {
        for &target in &targets {
            if view.graph().outgoing_of(source, kind).iter().any(|it| it.other() == target) {
                pairs.push((source, target));
            }
        }
    }
    let [(source, target)] = pairs[..] else {
        if pairs.is_empty() {
            return Err(no_edge(&view, arguments, kind.name(), &sources, &targets)?);
        }
        // Overloads: which of them is meant must be said.
        let (sources, targets): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        return Err(ends::ambiguous(&view, arguments, &sources, &targets)?);
    };
    let proving = Proving::new(&opened, &view, cx.environment.now)?;
    let (source, target) = (view.symbol(source)?.symbol, view.symbol(target)?.symbol);
    let proof = proving.prove(&source, &target, kind)?;
    let written = write_proof(cx, &proof, arguments.output.as_deref())?;
    Ok(ProveReply { statement: crate::verify::in_words(&proof), tree: view.tree().clone(), proof, written })
}

fn no_edge(
    view: &crate::view::View<'_>,
    arguments: &Prove,
    kind: &str,
    sources: &[knowing_graph::NodeIndex],
    targets: &[knowing_graph::NodeIndex],
) -> Result<Error> {
    let mut others: Vec<&str> = Vec::new();
    for &source in sources {
        let edges = view.graph().outgoing(source).iter();
        others.extend(edges.filter(|it| targets.contains(&it.other())).map(|it| it.kind().name()));
    }
    others.sort_unstable();
    others.dedup();
    let Prove { source, target, .. } = arguments;
    let message = format!("`{source}` has no edge `{kind}` to `{target}` in {}", view.tree().tree);
    let hint = match others[..] {
        [] => "prove that with `knowing prove-absent`".to_owned(),
        _ => format!(
            "it has `{}`: name the kind with `--edge-kind`; or prove the absence with `knowing prove-absent`",
            others.join("`, `")
        ),
    };
    Ok(Error::new(ErrorKind::NotFound, message, hint))
}
