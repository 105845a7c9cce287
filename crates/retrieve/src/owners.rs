//! What candidates of one owner say for each other.
//!
//! The ranker knows each candidate alone. Who asks how something works, or wants something added, is about a type with what
//! belongs to it: where several members of one are good candidates, it is the one, and so is each of them a little more.
//! Who reports a fault is about one place, and gains nothing from its neighbours.

use knowing_graph::Graph;
use knowing_model::name::without_suffix;
use knowing_search::Names;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::params::OwnerParams;
use crate::pipeline::RankedSymbol;

/// Container, and the symbol path of the owner in it; empty for what stands in the container itself.
type Owner<'a> = (&'a str, &'a str);

/// Adds to each candidate the logarithm of what the best candidates of its owner have together. `ranked` is best first.
pub(crate) fn count_in(graph: &Graph, names: &Names, ranked: &mut [RankedSymbol], params: &OwnerParams) {
    let Some(best) = ranked.first().map(|it| it.raw) else { return };
    let owners: Vec<[Option<Owner<'_>>; 2]> = ranked.iter().map(|it| owners_of(graph, names, it)).collect();
    let share = |it: &RankedSymbol| libm::exp((it.raw - best) / params.spread);
    let mut sums: FxHashMap<Owner<'_>, f64> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    for (it, owners) in ranked.iter().zip(&owners).take(params.n_speaking) {
        // Of overloads one counts: they stand together whatever the task is about.
        let symbol = without_suffix(names.symbol(it.node.0));
        if !seen.insert((names.file(it.node.0), names.container(it.node.0), symbol)) {
            continue;
        }
        owners.iter().flatten().for_each(|owner| *sums.entry(*owner).or_default() += share(it));
    }
    for (it, owners) in ranked.iter_mut().zip(&owners) {
        let together =
            owners.iter().flatten().filter_map(|it| sums.get(it)).copied().fold(share(it), f64::max);
        it.beside = params.weight * libm::log(together);
        it.raw += it.beside;
    }
}

/// A type belongs to its owner, and to what it owns.
fn owners_of<'a>(graph: &Graph, names: &'a Names, it: &RankedSymbol) -> [Option<Owner<'a>>; 2] {
    let (container, symbol) = (names.container(it.node.0), without_suffix(names.symbol(it.node.0)));
    let above = symbol.rsplit_once('.').map_or("", |it| it.0);
    let is_type = graph.node(it.node).kind().is_type_like();
    [Some((container, above)), is_type.then_some((container, symbol))]
}
