//! Relatives of the best named symbols: what extends, implements or overrides them, or is extended by them.

use knowing_model::EdgeKind;

use super::Channels;
use crate::candidates::Found;

const N_NAMED: usize = 10;
const ITEM: f64 = 0.7;
const PER_NAMED: usize = 5;

pub(super) fn of(cx: Channels<'_>, tiered: &[Found]) -> Vec<Found> {
    let kinds = [EdgeKind::Extends, EdgeKind::Implements, EdgeKind::Overrides];
    let mut found = Vec::new();
    for named in tiered.iter().take(N_NAMED) {
        let relatives = kinds.iter().flat_map(|&kind| {
            let up = cx.graph.outgoing_of(named.node, kind).iter();
            up.chain(cx.graph.incoming_of(named.node, kind))
        });
        found.extend(relatives.take(PER_NAMED).map(|it| Found { node: it.other(), item: ITEM }));
    }
    found
}
