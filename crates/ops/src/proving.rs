//! What proofs of presence and of absence have in common: the trees of a snapshot, and the file.

use std::collections::BTreeMap;
use std::path::Path;

use knowing_model::identity::{self, Identity, SnapshotIdentity};
use knowing_model::{Category, EdgeKind, Hash, Symbol, package_of};
use knowing_snapshot::proof::Proof;
use knowing_snapshot::{EdgeLeaf, PackageTree, Prover, Relation};
use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::utc;
use crate::cx::{Cx, Opened};
use crate::error::{Candidate, Error, ErrorKind, Result};
use crate::nearest::nearest;
use crate::view::View;

/// A snapshot to prove things about.
pub(crate) struct Proving<'a> {
    opened: &'a Opened,
    view: &'a View<'a>,
    roots: Vec<(String, Hash)>,
    issued_at: String,
}

impl<'a> Proving<'a> {
    pub(crate) fn new(opened: &'a Opened, view: &'a View<'a>, now: i64) -> Result<Proving<'a>> {
        let roots = opened.store.package_roots(&opened.snapshot)?;
        Ok(Proving { opened, view, roots, issued_at: utc(now) })
    }

    pub(crate) fn prove(&self, source: &Symbol, target: &Symbol, kind: EdgeKind) -> Result<Proof> {
        let relation = Relation { source: identity(source), target: identity(target), kind };
        let tree = self.tree_of(relation.package())?;
        self.prover()?.prove(relation, &tree).ok_or_else(|| self.damaged("the edge is in no tree"))
    }

    /// None when the edge exists.
    pub(crate) fn prove_absent(
        &self,
        source: &Symbol,
        target: &Symbol,
        kind: EdgeKind,
    ) -> Result<Option<Proof>> {
        let relation = Relation { source: identity(source), target: identity(target), kind };
        self.prover()?.prove_absent(relation, |package| self.tree_of(package))
    }

    fn prover(&self) -> Result<Prover<'_>> {
        let snapshot = &self.opened.snapshot;
        let identity = SnapshotIdentity {
            url: self.view.reader().url(),
            commit: &snapshot.commit,
            stage: snapshot.stage,
            ruleset: snapshot.ruleset,
            root: snapshot.root,
            dirty: snapshot.dirty,
        };
        let prover = Prover::new(identity, &self.roots, &self.issued_at, ENGINE);
        prover.ok_or_else(|| self.damaged("the roots of its packages do not lead to its root"))
    }

    /// All edges of a package, which must be those that its root was made of.
    fn tree_of(&self, package: &str) -> Result<PackageTree> {
        let (graph, names) = (self.view.graph(), self.view.names()?);
        let mut leaves = Vec::new();
        for source in graph.indices() {
            if package_of(names.class(source.0), names.container(source.0)) != package {
                continue;
            }
            for edge in graph.outgoing(source) {
                let (source, target) = (graph.node(source).id(), graph.node(edge.other()).id());
                leaves.push(EdgeLeaf {
                    package,
                    kind: edge.kind(),
                    id: identity::edge_id(source, target, edge.kind()),
                    provenance: edge.provenance(),
                    confidence_bp: edge.confidence_bp,
                });
            }
        }
        let tree = PackageTree::build(package, leaves);
        let stored = self.roots.iter().find(|it| it.0 == package).map(|it| it.1);
        match tree.root() == stored {
            true => Ok(tree),
            false => Err(self.damaged(&format!("the edges of package `{package}` do not fit its root"))),
        }
    }

    fn damaged(&self, what: &str) -> Error {
        let message = format!("snapshot {} is damaged: {what}", self.opened.snapshot.id);
        Error::new(ErrorKind::Corrupt, message, "check the database with `knowing fsck`").at(self
            .opened
            .database()
            .display()
            .to_string())
    }
}

const ENGINE: &str = concat!("knowing ", env!("CARGO_PKG_VERSION"));

fn identity(symbol: &Symbol) -> Identity<'_> {
    Identity {
        repo: &symbol.repo,
        class: symbol.class,
        container: &symbol.container,
        symbol: &symbol.path,
        kind: symbol.kind,
    }
}

/// A kind of edges that trees hold.
pub(crate) fn provable_kind(name: &str) -> Result<EdgeKind> {
    let Some(kind) = EdgeKind::from_name(name) else {
        let near = nearest(name, EdgeKind::ALL.iter().map(|it| it.name()), 3);
        let hint = match near.first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "kinds are listed in docs/edges.md".to_owned(),
        };
        let message = format!("no kind of edge is called `{name}`");
        let candidates = near.into_iter().map(Candidate::named).collect();
        return Err(Error::new(ErrorKind::Usage, message, hint).with_candidates(candidates));
    };
    let (why, hint) = match kind {
        EdgeKind::Inherits => ("is computed, and in no tree", "prove the `extends` edges it follows from"),
        _ if kind.category() == Category::Runtime => {
            ("is observed, and in no tree", "see what was observed instead")
        }
        _ => return Ok(kind),
    };
    Err(Error::new(ErrorKind::Unsupported, format!("`{name}` {why}"), hint))
}

/// Writes the proof where that was asked for, and says where.
pub(crate) fn write_proof(cx: &Cx<'_>, proof: &Proof, output: Option<&Path>) -> Result<Option<String>> {
    let Some(output) = output else { return Ok(None) };
    let path = cx.environment.working_directory.join(output);
    std::fs::write(&path, proof.to_json() + "\n").map_err(|error| {
        let message = format!("cannot write the proof to `{}`: {error}", output.display());
        Error::new(ErrorKind::Io, message, "give a file in a directory that exists and may be written")
    })?;
    Ok(Some(output.display().to_string()))
}

/// What a text means that stands for several symbols where one is needed.
pub(crate) mod ends {
    use knowing_graph::NodeIndex;

    use crate::error::{Error, Result};
    use crate::prove::Prove;
    use crate::view::View;

    pub(crate) fn several(view: &View<'_>, text: &str, found: &[NodeIndex]) -> Result<Error> {
        view.ambiguous(text, found)
    }

    /// Of overloads at both ends, those at the end where there are several.
    pub(crate) fn ambiguous(
        view: &View<'_>,
        arguments: &Prove,
        sources: &[NodeIndex],
        targets: &[NodeIndex],
    ) -> Result<Error> {
        let distinct = |ends: &[NodeIndex]| {
            let mut ends = ends.to_vec();
            ends.sort_unstable();
            ends.dedup();
            ends
        };
        let (sources, targets) = (distinct(sources), distinct(targets));
        match sources.len() {
            1 => view.ambiguous(&arguments.target, &targets),
            _ => view.ambiguous(&arguments.source, &sources),
        }
    }
}

/// What an agent needs to know of a proof, for schemas: the format itself is defined where it is verified.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ProofShape {
    format: String,
    r#type: String,
    statement: StatementShape,
    snapshot: String,
    commit: String,
}

#[derive(Serialize, JsonSchema)]
struct StatementShape {
    source: BTreeMap<String, String>,
    target: BTreeMap<String, String>,
    kind: String,
}
