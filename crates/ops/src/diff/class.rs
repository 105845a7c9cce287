//! How much a change means, in one word.

use std::collections::{BTreeMap, BTreeSet};

use knowing_model::{Change, NodeKind};
use knowing_store::OwnEdge;

use super::edges::EdgeKey;
use super::{Compared, Difference, Modified};
use crate::error::Result;

/// From the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum ChangeClass {
    #[default]
    None,
    Metadata,
    Structural,
    /// Of observed edges, which are in no snapshot yet.
    RuntimeDrift,
    Behavioural,
}

impl ChangeClass {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ChangeClass::None => "none",
            ChangeClass::Metadata => "metadata_only",
            ChangeClass::Structural => "structural",
            ChangeClass::RuntimeDrift => "runtime_drift",
            ChangeClass::Behavioural => "behavioural",
        }
    }
}

/// The highest of all that differs.
pub(super) fn class_of(compared: &Compared<'_>, found: &Difference) -> Result<ChangeClass> {
    let mut class = ChangeClass::None;
    if !found.edges_changed.is_empty() {
        class = ChangeClass::Metadata;
    }
    if !(found.added.is_empty() && found.removed.is_empty() && found.moved.is_empty()) {
        class = ChangeClass::Structural;
    }
    for it in &found.modified {
        class = class.max(of_node(it, compared.new.graph().node(it.new).kind()));
    }
    // An edge that went along with a symbol that moved is no change of its own.
    let (old, new) = (compared.old.graph(), compared.new.graph());
    let moves: BTreeMap<u32, u32> =
        found.moved.iter().map(|it| (old.node(it.old).sym, new.node(it.new).sym)).collect();
    let after = |sym: u32| moves.get(&sym).copied().unwrap_or(sym);
    let key = |it: &OwnEdge| -> EdgeKey { (it.source, it.target, it.kind) };
    let mut appeared: BTreeSet<EdgeKey> = found.edges_added.iter().map(key).collect();
    for it in &found.edges_removed {
        if !appeared.remove(&(after(it.source), after(it.target), it.kind)) {
            class = class.max(of_edge(it.kind.change()));
        }
    }
    Ok(appeared.into_iter().fold(class, |class, it| class.max(of_edge(it.2.change()))))
}

fn of_edge(change: Change) -> ChangeClass {
    match change {
        Change::Metadata => ChangeClass::Metadata,
        Change::Structural => ChangeClass::Structural,
        Change::Runtime => ChangeClass::RuntimeDrift,
        Change::Behavioural => ChangeClass::Behavioural,
    }
}

/// Lines of a file or a type that are in none of its members declare; those of anything else do.
fn of_node(it: &Modified, kind: NodeKind) -> ChangeClass {
    match kind {
        _ if !it.signature && !it.body => ChangeClass::Metadata,
        NodeKind::File
        | NodeKind::Package
        | NodeKind::Module
        | NodeKind::Class
        | NodeKind::Interface
        | NodeKind::Struct
        | NodeKind::Enum
        | NodeKind::Trait
        | NodeKind::Type
        | NodeKind::TypeAlias => ChangeClass::Structural,
        _ => ChangeClass::Behavioural,
    }
}
