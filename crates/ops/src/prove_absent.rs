//! Prove that an edge is not in a snapshot, to someone who has only the proof file.

use std::path::PathBuf;
use std::sync::Arc;

use knowing_model::{ContainerClass, NodeKind, Symbol};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
pub(crate) use crate::prove::ProveReply;
use crate::prove::{calls, latest};
use crate::proving::{Proving, ends, provable_kind, write_proof};
use crate::view::View;

/// Prove that one symbol does not call (import, extend ...) another in a snapshot
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing prove-absent parse_input eval_code > proof.json
  knowing prove-absent Cart Session --edge-kind extends
  knowing prove-absent run '{\"class\":\"file\",\"container\":\"a.py\",\"symbol\":\"gone\",\"kind\":\"function\"}' \\
      --allow-unknown

The proof says that the graph has no such edge. Calls that could not be resolved are in no tree: `knowing callers` and \
`knowing callees` count them.")]
pub struct ProveAbsent {
    /// The symbol the edge starts from: end of its name, qualified name, node id or `path:line`
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
    /// Allow a symbol that does not exist: JSON with `class`, `container`, `symbol`, `kind`
    #[arg(long)]
    #[serde(default)]
    pub allow_unknown: bool,
    /// Write the proof to this file
    #[arg(long, short, value_name = "FILE")]
    #[serde(skip)]
    pub output: Option<PathBuf>,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &ProveAbsent) -> Result<ProveReply> {
    let kind = provable_kind(&arguments.edge_kind)?;
    let opened = cx.open_reference(&arguments.snapshot)?;
    let view = opened.view()?;
    let source = the_one(&view, &arguments.source, arguments.allow_unknown)?;
    let target = the_one(&view, &arguments.target, arguments.allow_unknown)?;
    let proving = Proving::new(&opened, &view, cx.environment.now)?;
    let Some(proof) = proving.prove_absent(&source, &target, kind)? else {
        let ProveAbsent { source, target, .. } = arguments;
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("`{source}` has an edge `{}` to `{target}` in {}", kind.name(), view.tree().tree),
            "prove that with `knowing prove`",
        ));
    };
    let written = write_proof(cx, &proof, arguments.output.as_deref())?;
    Ok(ProveReply { statement: crate::verify::in_words(&proof), tree: view.tree().clone(), proof, written })
}

fn the_one(view: &View<'_>, text: &str, allow_unknown: bool) -> Result<Symbol> {
    if text.trim_start().starts_with('{') {
        return unknown(view, text, allow_unknown);
    }
    let found = view.lookup(text).map_err(|mut error| {
        if error.kind == ErrorKind::NotFound {
            let also =
                "; of a symbol that does not exist, give the whole identity as JSON with `--allow-unknown`";
            error.hint.push_str(also);
        }
        error
    })?;
    match found[..] {
        [one] => Ok(view.symbol(one)?.symbol),
        _ => Err(ends::several(view, text, &found)?),
    }
}

/// The whole identity of a node, as proofs have it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Identity {
    #[serde(default)]
    repo: Option<String>,
    class: String,
    container: String,
    symbol: String,
    kind: String,
}

fn unknown(view: &View<'_>, text: &str, allow_unknown: bool) -> Result<Symbol> {
    let wrong = |what: String| {
        let hint = "give `class` (file, dir, virtual), `container`, `symbol` and `kind`, and `repo` if it is another";
        Error::new(ErrorKind::Usage, what, hint)
    };
    let identity: Identity =
        serde_json::from_str(text).map_err(|error| wrong(format!("`{text}` is no identity: {error}")))?;
    let Identity { repo, class, container, symbol, kind } = identity;
    let class = [ContainerClass::File, ContainerClass::Dir, ContainerClass::Virtual]
        .into_iter()
        .find(|it| it.name() == class)
        .ok_or_else(|| wrong(format!("no class is called `{class}`")))?;
    let kind = NodeKind::from_name(&kind).ok_or_else(|| wrong(format!("no kind is called `{kind}`")))?;
    let repo: Arc<str> = repo.as_deref().unwrap_or(view.reader().url()).into();
    let name: Arc<str> = symbol.rsplit('.').next().unwrap_or(&symbol).into();
    let made = Symbol::new(repo, class, container.into(), symbol.into(), kind, name);
    if view.graph().find(made.id).is_none() && !allow_unknown {
        let message = format!("there is no `{}` in {}", made.qualified_name(), view.tree().tree);
        return Err(Error::new(
            ErrorKind::NotFound,
            message,
            "say that this is meant with `--allow-unknown`",
        ));
    }
    Ok(made)
}
