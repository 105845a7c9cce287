//! Which edges came, went, or are known otherwise.

use std::collections::BTreeMap;

use knowing_model::EdgeKind;
use knowing_store::OwnEdge;

pub(super) type EdgeKey = (u32, u32, EdgeKind);

pub(crate) struct EdgeChanges {
    pub(crate) added: Vec<OwnEdge>,
    pub(crate) removed: Vec<OwnEdge>,
    /// Before and after.
    pub(crate) changed: Vec<(OwnEdge, OwnEdge)>,
}

impl EdgeChanges {
    /// Of the edges that only one of two snapshots has in this version.
    pub(crate) fn between(old: &[OwnEdge], new: &[OwnEdge]) -> EdgeChanges {
        let key = |it: &OwnEdge| -> EdgeKey { (it.source, it.target, it.kind) };
        let known = |it: &OwnEdge| (it.provenance, it.confidence_bp);
        let mut before: BTreeMap<EdgeKey, OwnEdge> = old.iter().map(|it| (key(it), *it)).collect();
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for edge in new {
            match before.remove(&key(edge)) {
                None => added.push(*edge),
                Some(before) if known(&before) != known(edge) => changed.push((before, *edge)),
                Some(_) => {}
            }
        }
        EdgeChanges { added, removed: before.into_values().collect(), changed }
    }
}
