//! Packing: which of the ranked symbols fit the budget, and the edges among them (system.md 10.7).

use knowing_graph::{EdgeRecord, NodeIndex};
use knowing_model::{Provenance, identity, name};
use knowing_wire::{Detail, Edge, Format, Payload, Status, Symbol, tokens};
use rustc_hash::FxHashMap;

use crate::params::{Params, Part, Switches};
use crate::pipeline::{RankedSymbol, Run, Sources};
use crate::reasons;

/// What an answer may take, and how it is written.
#[derive(Clone, Debug)]
pub struct Packing {
    /// `for_task`, `for_files`, `for_pr`.
    pub entry: &'static str,
    /// What was asked, as part of the pack's identity.
    pub asked: String,
    /// Tokens.
    pub budget: usize,
    pub format: Format,
    pub detail: Detail,
    /// Symbols of a lower score are left out.
    pub cutoff: f64,
    /// Symbols at most.
    pub limit: usize,
}

/// Texts that only the caller can get.
pub trait Texts {
    fn signature(&self, node: NodeIndex) -> Option<String>;
    fn source(&self, node: NodeIndex) -> Option<String>;

    /// None when the file is as the snapshot has it.
    fn on_disk(&self, node: NodeIndex) -> Option<OnDisk> {
        let _ = node;
        None
    }
}

/// Where a symbol stands in a file that was edited since.
#[derive(Clone, Debug)]
pub struct OnDisk {
    pub first_line: u32,
    pub last_line: u32,
    pub flags: Vec<&'static str>,
}

/// Fills `payload`, whose head the caller has written.
pub fn pack(
    sources: Sources<'_>,
    run: &Run,
    packing: &Packing,
    params: &Params,
    switches: Switches,
    texts: &dyn Texts,
    mut payload: Payload,
) -> Payload {
    payload.budget = packing.budget;
    // The root's place is counted before it is known.
    payload.pack_root = Some(identity::empty_tree());
    let budget = 4 * packing.budget;
    let envelope = packing.format.envelope_bytes(&payload);
    let ranked = run.ranked.iter().filter(|it| it.score >= packing.cutoff).take(packing.limit);
    let mut items: Vec<Item<'_>> = Vec::new();
    let ranked: Vec<&RankedSymbol> = ranked.collect();
    // Which id a symbol gets is known when all are chosen: room for the widest.
    let widest =
        if payload.session.is_some() { MAX_SESSION_ID } else { ranked.len().saturating_sub(1) as u32 };
    for (rank, it) in ranked.into_iter().enumerate() {
        let symbol = symbol(sources, &payload.repo, it, widest, packing.detail, texts);
        let bytes = packing.format.symbol_bytes(&symbol, &payload.repo);
        items.push(Item { ranked: it, symbol, bytes, rank, density: 0.0 });
    }
    let exponent = exponent(run, params, switches);
    for it in &mut items {
        // An injected symbol is no neighbour of anything, yet meant.
        let proximity = if it.ranked.injected { 1.0 } else { proximity(it.ranked, exponent) };
        it.density = it.ranked.score / tokens(it.bytes).max(1) as f64 * proximity;
    }
    let edge_budget = (budget as f64 * params.pack.edge_share) as usize;
    let for_symbols = budget.saturating_sub(envelope);
    let all: usize = items.iter().map(|it| it.bytes).sum();
    let (chosen, used) = if all <= for_symbols {
        (items, envelope + all)
    } else {
        items.sort_by(|a, b| b.density.total_cmp(&a.density).then(a.rank.cmp(&b.rank)));
        fill(items, for_symbols, envelope, packing.format, &payload)
    };
    let nodes: Vec<NodeIndex> = chosen.iter().map(|it| it.ranked.node).collect();
    payload.symbols = chosen.into_iter().map(|it| it.symbol).collect();
    let room = budget.saturating_sub(used).min(edge_budget);
    let used = used + add_edges(sources, &nodes, packing.format, room, &mut payload);
    number(&mut payload.symbols, packing.format);
    let versions: Vec<_> = nodes
        .iter()
        .map(|it| {
            let file = sources.names.file(it.0).map(|it| sources.names.file_id(it));
            (sources.graph.node(*it).id(), file)
        })
        .collect();
    payload.pack_root = Some(identity::pack_root(packing.entry, &packing.asked, &versions));
    payload.tokens = tokens(used);
    // What was counted is an upper bound; what is said is what it takes, the digits that say it included.
    loop {
        let said = tokens(packing.format.bytes(&payload));
        if said == payload.tokens {
            return payload;
        }
        payload.tokens = said;
    }
}

/// Under a session, ids go on through all answers.
const MAX_SESSION_ID: u32 = 99_999;
/// When more than this part of the budget is free, what was counted is looked at again.
const FREE_SHARE: usize = 20;

/// Takes from the densest on what fits, in the order of rank, and says what it takes. What symbols share in a format counts
/// once at the end, so that more may fit than was counted.
fn fill<'a>(
    items: Vec<Item<'a>>,
    for_symbols: usize,
    envelope: usize,
    format: Format,
    head: &Payload,
) -> (Vec<Item<'a>>, usize) {
    let (mut chosen, mut skipped): (Vec<Item<'a>>, Vec<Item<'a>>) = (Vec::new(), items);
    let mut left = for_symbols;
    let mut used = envelope;
    loop {
        let n_before = chosen.len();
        let mut others = Vec::new();
        for it in skipped {
            if it.bytes <= left {
                left -= it.bytes;
                used += it.bytes;
                chosen.push(it);
            } else {
                others.push(it);
            }
        }
        chosen.sort_by_key(|it| it.rank);
        skipped = others;
        if skipped.is_empty() || chosen.len() == n_before {
            return (chosen, used);
        }
        let symbols: Vec<Symbol> = chosen.iter().map(|it| it.symbol.clone()).collect();
        let bare = Payload { tokens: head.budget, ..head.clone() };
        let frame = envelope.saturating_sub(format.bytes(&bare));
        let whole = format.bytes(&Payload { symbols, ..bare }) + frame;
        let free = (envelope + for_symbols).saturating_sub(whole);
        if free * FREE_SHARE <= for_symbols {
            return (chosen, used);
        }
        (used, left) = (whole, free);
    }
}

/// In the order in which the format lists them.
fn number(symbols: &mut [Symbol], format: Format) {
    let mut listed: Vec<&mut Symbol> = symbols.iter_mut().collect();
    if format.groups_by_distance() {
        listed.sort_by_key(|it| it.distance);
    }
    listed.into_iter().zip(0..).for_each(|(it, id)| it.id = id);
}

struct Item<'a> {
    ranked: &'a RankedSymbol,
    symbol: Symbol,
    bytes: usize,
    rank: usize,
    density: f64,
}

fn symbol(
    sources: Sources<'_>,
    repo: &str,
    it: &RankedSymbol,
    id: u32,
    detail: Detail,
    texts: &dyn Texts,
) -> Symbol {
    let Sources { graph, names, .. } = sources;
    let record = graph.node(it.node);
    let (mut first, mut last) = names.lines(it.node.0);
    let mut flags: Vec<String> = record.flags().names().map(str::to_owned).collect();
    if let Some(now) = texts.on_disk(it.node) {
        (first, last) = (now.first_line, now.last_line);
        flags.extend(now.flags.iter().map(|it| (*it).to_owned()));
    }
    let file = names.file(it.node.0).map(|file| names.path(file).to_owned());
    Symbol {
        id,
        node_id: record.id(),
        qualified_name: name::qualified_name(repo, names.container(it.node.0), names.symbol(it.node.0)),
        name: names.name(it.node.0).to_owned(),
        kind: record.kind(),
        // As it is written, so that a pack that was kept reads as it did when it was made.
        score: (it.score * 10_000.0).round() / 10_000.0,
        provenance: best_provenance(graph.incoming(it.node)),
        distance: it.distance,
        signature: if detail >= Detail::Signature { texts.signature(it.node) } else { None },
        file,
        line: first,
        col: 0,
        end_line: last,
        end_col: 0,
        flags,
        unresolved: 0,
        reasons: reasons::of(it),
        components: Default::default(),
        source: if detail >= Detail::Source { texts.source(it.node) } else { None },
    }
}

fn best_provenance(inbound: &[EdgeRecord]) -> Provenance {
    let best = inbound.iter().max_by_key(|it| (it.confidence_bp, std::cmp::Reverse(it.provenance())));
    best.map_or(Provenance::Structural, |it| it.provenance())
}

/// Mechanism 10: the more of the walked set lies outside, the more nearness counts.
fn exponent(run: &Run, params: &Params, switches: Switches) -> f64 {
    if !switches.on(Part::Proximity) {
        return 0.0;
    }
    let [low, slope, high] = params.pack.proximity;
    let share = run.walked.n_virtual as f64 / run.walked.n_other.max(1) as f64;
    (low + slope * share).clamp(low, high)
}

fn proximity(it: &RankedSymbol, exponent: f64) -> f64 {
    // A match of words that no edge leads to is not nothing.
    const FLOOR: f64 = 0.01;
    libm::pow(it.walk.max(FLOOR), exponent)
}

/// Edges between chosen symbols, by weight of their kind, then by their ends.
fn add_edges(
    sources: Sources<'_>,
    nodes: &[NodeIndex],
    format: Format,
    room: usize,
    payload: &mut Payload,
) -> usize {
    let position: FxHashMap<NodeIndex, usize> = nodes.iter().copied().zip(0..).collect();
    let mut edges: Vec<(u16, NodeIndex, &EdgeRecord)> = Vec::new();
    for &node in nodes {
        for edge in sources.graph.outgoing(node) {
            let weight = edge.kind().weight_hundredths();
            if weight > 0 && edge.other() != node && position.contains_key(&edge.other()) {
                edges.push((weight, node, edge));
            }
        }
    }
    edges.sort_by(|a, b| {
        b.0.cmp(&a.0).then_with(|| (a.1, a.2.other(), a.2.kind()).cmp(&(b.1, b.2.other(), b.2.kind())))
    });
    let mut used = 0;
    for (_, node, record) in edges {
        let edge = Edge {
            source: sources.graph.node(node).id(),
            target: sources.graph.node(record.other()).id(),
            kind: record.kind(),
            provenance: record.provenance(),
            confidence_bp: record.confidence_bp,
            status: Status::None,
        };
        let ends = [node, record.other()].map(|it| &payload.symbols[position[&it]]);
        let bytes = format.edge_bytes(&edge, ends[0], ends[1]);
        if used + bytes <= room {
            used += bytes;
            payload.edges.push(edge);
        }
    }
    used
}
