//! Where the walk begins: the best fused candidates, ordered by what the snapshot's size and packages suggest.

use knowing_graph::{Graph, NodeIndex};
use knowing_model::{ContainerClass, package_of};
use knowing_search::Names;

use crate::params::{Part, SeedParams, Switches};

/// Seeds in order, with their restart weights: 1 / (1 + 0.1 i) for the i-th.
pub(crate) fn choose(
    graph: &Graph,
    names: &Names,
    fused: &[(NodeIndex, f64)],
    params: &SeedParams,
    switches: Switches,
) -> Vec<(NodeIndex, f64)> {
    let package = |node: NodeIndex| package_of(ContainerClass::File, names.path_of(node.0));
    let mut ordered: Vec<NodeIndex> = fused.iter().map(|it| it.0).collect();
    if switches.on(Part::Focus)
        && fused.len() > params.focus_above
        && let Some(strongest) = strongest_package(fused, &package, params.focus_members)
    {
        // Stable, so that fused order holds inside each group.
        ordered.sort_by_key(|&it| package(it) != strongest);
    }
    if switches.on(Part::TypeSeeds) && graph.n_nodes() > params.types_first_above {
        ordered.sort_by_key(|&it| !graph.node(it).kind().is_type_like());
    }
    let n_seeds = count(graph.n_nodes(), params, switches);
    ordered
        .into_iter()
        .take(n_seeds)
        .zip(0..)
        .map(|(node, i)| (node, 1.0 / (1.0 + 0.1 * f64::from(i))))
        .collect()
}

/// Mechanism 2.
fn count(n_nodes: usize, params: &SeedParams, switches: Switches) -> usize {
    let smallest = params.counts[params.counts.len() - 1].1;
    if !switches.on(Part::SeedCount) {
        return smallest;
    }
    params.counts.iter().find(|(above, _)| n_nodes > *above).map_or(smallest, |it| it.1)
}

/// By the sum of fused score; of equal ones the first in byte order.
fn strongest_package<'a>(
    fused: &[(NodeIndex, f64)],
    package: &impl Fn(NodeIndex) -> &'a str,
    members: usize,
) -> Option<&'a str> {
    let mut sums: std::collections::BTreeMap<&str, (usize, f64)> = Default::default();
    for &(node, score) in fused {
        let (count, sum) = sums.entry(package(node)).or_default();
        *count += 1;
        *sum += score;
    }
    let mut strongest: Option<(&str, f64)> = None;
    for (name, (count, sum)) in sums {
        if count >= members && strongest.is_none_or(|it| sum > it.1) {
            strongest = Some((name, sum));
        }
    }
    strongest.map(|it| it.0)
}
