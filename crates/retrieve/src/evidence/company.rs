//! The company a candidate keeps: how those of its file, owner, package and name fare, who calls it and whom it calls.

use knowing_graph::NodeIndex;
use knowing_model::{ContainerClass, EdgeKind, NodeFlags, package_of};
use rustc_hash::FxHashMap;

use super::Evidence;
use crate::channels::{Channels, Harvest};
use crate::query::Side;

/// How the candidates that share its file, owner or package fare.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// The best whole-task score among the others and itself, and the sum of the three best, each by the best of all.
    pub(crate) best: f64,
    pub(crate) sum: f64,
    pub(crate) n_members: f64,
    /// Its own rank inside, by whole-task score.
    pub(crate) rank: f64,
    /// Rank of the group by sum.
    pub(crate) group_rank: f64,
}

/// Relations to the ten best by whole-task words.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Near {
    pub(crate) calls: f64,
    pub(crate) called_by: f64,
    pub(crate) member_of: f64,
    pub(crate) contains: f64,
    pub(crate) relative: f64,
    pub(crate) of_identified: f64,
}

/// What the words of callers and callees say for it.
#[derive(Clone, Copy, Default)]
pub(super) struct Support {
    pub(super) test_caller: f64,
    pub(super) n_test_callers: f64,
    pub(super) caller: f64,
    pub(super) callee: f64,
    pub(super) n_callees_hit: f64,
}

/// For each candidate; callers are found from the matches, which call few, and callees from the candidates.
pub(super) fn supports(cx: Channels<'_>, harvest: &Harvest) -> FxHashMap<NodeIndex, Support> {
    let mut supports: FxHashMap<NodeIndex, Support> =
        harvest.candidates.list.iter().map(|it| (it.node, Support::default())).collect();
    for &(caller, score) in &harvest.lexical.whole {
        let is_test = cx.graph.node(caller).flags().contains(NodeFlags::TEST);
        for edge in cx.graph.outgoing_of(caller, EdgeKind::Calls) {
            let Some(support) = supports.get_mut(&edge.other()) else { continue };
            if is_test {
                support.test_caller = support.test_caller.max(score);
                support.n_test_callers += 1.0;
            } else {
                support.caller = support.caller.max(score);
            }
        }
    }
    let scores: FxHashMap<NodeIndex, f64> = harvest.lexical.whole.iter().copied().collect();
    for candidate in &harvest.candidates.list {
        let Some(support) = supports.get_mut(&candidate.node) else { continue };
        for edge in cx.graph.outgoing_of(candidate.node, EdgeKind::Calls) {
            if let Some(&score) = scores.get(&edge.other()) {
                support.callee = support.callee.max(score);
                support.n_callees_hit += 1.0;
            }
        }
    }
    supports
}

pub(super) fn groups(cx: Channels<'_>, list: &mut [Evidence], best: f64) {
    let scale = if best > 0.0 { best } else { 1.0 };
    let files = numbered(list, |it| cx.names.file(it.node.0));
    let owners = numbered(list, |it| {
        let symbol = cx.names.symbol(it.node.0);
        let owner = symbol.rsplit_once('.').map_or("", |it| it.0);
        // A type stands with its members.
        (cx.names.file(it.node.0), if it.kind.is_type_like() { symbol } else { owner })
    });
    let packages = numbered(list, |it| package_of(ContainerClass::File, cx.names.path_of(it.node.0)));
    let namesakes = numbered(list, |it| cx.names.name(it.node.0));
    let [of_files, of_owners, of_packages, of_names] =
        [&files, &owners, &packages, &namesakes].map(|numbers| group(list, scale, numbers));
    let n_files = files.iter().max().map_or(0, |it| it + 1);
    let mut lives: Vec<(f64, Option<f64>)> = vec![(0.0, None); n_files];
    for (it, &file) in list.iter().zip(&files) {
        let (n_commits, age) = &mut lives[file];
        *n_commits = n_commits.max(it.n_commits);
        *age = match (*age, it.age_days) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    for (at, it) in list.iter_mut().enumerate() {
        (it.file, it.owner, it.package) = (of_files[at], of_owners[at], of_packages[at]);
        it.namesake = of_names[at];
        (it.file_commits, it.file_age_days) = lives[files[at]];
    }
}

/// The number of each candidate's group, by first mention.
fn numbered<'a, K: std::hash::Hash + Eq>(
    list: &'a [Evidence],
    key: impl Fn(&'a Evidence) -> K,
) -> Vec<usize> {
    let mut numbers: FxHashMap<K, usize> = FxHashMap::default();
    let mut number = |it| {
        let next = numbers.len();
        *numbers.entry(key(it)).or_insert(next)
    };
    list.iter().map(&mut number).collect()
}

fn group(list: &[Evidence], scale: f64, numbers: &[usize]) -> Vec<Group> {
    let score = |it: usize| list[it].scores[Side::Whole as usize] / scale;
    let n_groups = numbers.iter().max().map_or(0, |it| it + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_groups];
    numbers.iter().enumerate().for_each(|(at, &number)| members[number].push(at));
    let mut groups = vec![Group::default(); list.len()];
    let mut sums: Vec<(f64, usize)> = Vec::with_capacity(n_groups);
    for (number, of_group) in members.iter_mut().enumerate() {
        of_group.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(list[a].node.cmp(&list[b].node)));
        let sum: f64 = of_group.iter().take(3).map(|&it| score(it)).sum();
        for (rank, &at) in of_group.iter().enumerate() {
            groups[at] = Group {
                best: score(of_group[0]),
                sum,
                n_members: of_group.len() as f64,
                rank: rank as f64,
                group_rank: 0.0,
            };
        }
        sums.push((sum, number));
    }
    sums.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then_with(|| list[members[a.1][0]].node.cmp(&list[members[b.1][0]].node))
    });
    for (rank, (_, number)) in sums.into_iter().enumerate() {
        members[number].iter().for_each(|&at| groups[at].group_rank = rank as f64);
    }
    groups
}

/// Told from the few best outwards: they have far fewer edges than all candidates together.
pub(super) fn nearness(cx: Channels<'_>, list: &mut [Evidence]) {
    const N_BEST: usize = 10;
    let mut order: Vec<usize> = (0..list.len()).collect();
    let whole = |it: &Evidence| it.scores[Side::Whole as usize];
    order.sort_by(|&a, &b| whole(&list[b]).total_cmp(&whole(&list[a])).then(list[a].node.cmp(&list[b].node)));
    let place: FxHashMap<NodeIndex, usize> = list.iter().zip(0..).map(|(it, at)| (it.node, at)).collect();
    let mut near = vec![Near::default(); list.len()];
    for (rank, &at) in order.iter().take(N_BEST).enumerate() {
        let worth = 1.0 / (1.0 + rank as f64);
        let best = list[at].node;
        // An edge into the best leaves its neighbour, and the other way round.
        let incoming = cx.graph.incoming(best).iter().map(|edge| (edge, true));
        let outgoing = cx.graph.outgoing(best).iter().map(|edge| (edge, false));
        for (edge, leaves_neighbour) in incoming.chain(outgoing) {
            let Some(&neighbour) = place.get(&edge.other()) else { continue };
            let near = &mut near[neighbour];
            let slot = match (edge.kind(), leaves_neighbour) {
                (EdgeKind::Calls, true) => &mut near.calls,
                (EdgeKind::Calls, false) => &mut near.called_by,
                (EdgeKind::MemberOf, true) => &mut near.member_of,
                (EdgeKind::Contains, true) => &mut near.contains,
                (EdgeKind::Overrides | EdgeKind::Extends | EdgeKind::Implements, _) => &mut near.relative,
                _ => continue,
            };
            *slot = f64::max(*slot, worth);
        }
    }
    // A hub touches everything.
    const MAX_EDGES: usize = 400;
    for it in list.iter().filter(|it| it.identified.count > 0.0 && it.namesakes <= 8.0) {
        let outgoing = cx.graph.outgoing(it.node).iter().take(MAX_EDGES);
        for edge in outgoing.chain(cx.graph.incoming(it.node).iter().take(MAX_EDGES)) {
            if let Some(&neighbour) = place.get(&edge.other())
                && edge.other() != it.node
            {
                near[neighbour].of_identified = 1.0;
            }
        }
    }
    list.iter_mut().zip(near).for_each(|(it, near)| it.near = near);
}
