//! The canonical order and content of a unit, and the digest of it: equal results are found again by their digest, in
//! whatever order, and with whatever row numbers, they come.

use std::cmp::Ordering;

use knowing_model::{
    Edge, Hash, Hasher, Node, NodeFlags, NodeId, Position, Provenance, Span, Symbol, Unit, Unresolved,
};

/// Puts units in order, some at a time, in the same memory.
pub(crate) struct Canon {
    /// Side by side they stay near while edges ask for them in any order.
    ids: Vec<NodeId>,
    /// Positions of symbols in order of their node ids.
    pub(crate) by_id: Vec<u32>,
    /// Place of each symbol in that order: comparing these is comparing ids, at a fraction of the cost.
    ranks: Vec<u32>,
    content: Content,
    /// Ranks of the ends of edges, and the edges' positions, while they are put in order.
    ends: Vec<(u64, u32)>,
    arranged: Vec<Arranged>,
}

/// Positions of a unit's rows in canonical order, and the digest of its content.
#[derive(Default)]
pub(crate) struct Arranged {
    pub(crate) nodes: Vec<u32>,
    pub(crate) edges: Vec<u32>,
    pub(crate) unresolved: Vec<u32>,
    pub(crate) digest: Hash,
}

impl Canon {
    pub(crate) fn new(symbols: &[Symbol]) -> Canon {
        let ids: Vec<NodeId> = symbols.iter().map(|it| it.id).collect();
        let id = |at: u32| ids[at as usize];
        // The first bytes settle nearly every comparison.
        let mut heads: Vec<(u64, u32)> = (0..symbols.len() as u32).map(|it| (id(it).0.head(), it)).collect();
        heads.sort_unstable_by(|one, other| one.0.cmp(&other.0).then_with(|| id(one.1).cmp(&id(other.1))));
        let by_id: Vec<u32> = heads.into_iter().map(|it| it.1).collect();
        let mut ranks = vec![0; symbols.len()];
        for (rank, &symbol) in (0..).zip(&by_id) {
            ranks[symbol as usize] = rank;
        }
        let (content, ends, arranged) = (Content::default(), Vec::new(), Vec::new());
        Canon { ids, by_id, ranks, content, ends, arranged }
    }

    /// In the order of the units, whose digests are taken side by side.
    pub(crate) fn arrange(&mut self, units: &[Unit]) -> &[Arranged] {
        self.arranged.resize_with(units.len(), Arranged::default);
        let mut arranged = std::mem::take(&mut self.arranged);
        let keys = arranged.iter_mut().zip(units).map(|(arranged, unit)| self.arrange_one(arranged, unit));
        let digests = Hasher::finish_all(keys);
        arranged.iter_mut().zip(digests).for_each(|(arranged, digest)| arranged.digest = digest);
        self.arranged = arranged;
        &self.arranged
    }

    /// What the digest is taken of.
    fn arrange_one(&mut self, arranged: &mut Arranged, unit: &Unit) -> Hasher {
        let Canon { ranks, ids, content, ends, .. } = self;
        let Arranged { nodes, edges, unresolved, .. } = arranged;
        arrange(nodes, &unit.nodes, |one, other| compare_nodes(ranks, one, other));
        arrange_edges(edges, &unit.edges, ranks, ends);
        arrange(unresolved, &unit.unresolved, |one, other| compare_unresolved(ranks, one, other));

        let id = |symbol: u32| ids[symbol as usize].as_bytes();
        content.clear();
        content.number(unit.nodes.len() as u32);
        for &at in nodes.iter() {
            let node = &unit.nodes[at as usize];
            content.node(id(node.symbol), node.span, node.flags, &node.signature, &node.doc);
        }
        content.number(unit.edges.len() as u32);
        for &at in edges.iter() {
            let edge = &unit.edges[at as usize];
            let known = (edge.kind.id(), edge.provenance.id(), edge.confidence_bp);
            content.edge(id(edge.source), id(edge.target), known, edge.n_sites, &edge.sites);
        }
        content.number(unit.unresolved.len() as u32);
        for &at in unresolved.iter() {
            let site = &unit.unresolved[at as usize];
            content.unresolved(
                id(site.source),
                (&site.name, &site.receiver),
                (site.n_arguments, site.reason.id()),
                site.position,
                site.candidates.iter().map(|it| id(*it)),
            );
        }
        content.key()
    }
}

/// What a digest is over, put together row by row.
#[derive(Default)]
pub(crate) struct Content(Vec<u8>);

impl Content {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn digest(&self) -> Hash {
        self.key().finish()
    }

    fn key(&self) -> Hasher {
        Hasher::new("unit").field(&self.0)
    }

    /// Counts come before the rows they count.
    pub(crate) fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn node(&mut self, id: &[u8; 32], span: Span, flags: NodeFlags, signature: &str, doc: &str) {
        self.0.extend_from_slice(id);
        self.number(span.first_line);
        self.number(span.last_line);
        self.position(span.name);
        self.0.extend(flags.0.to_le_bytes());
        self.text(signature);
        self.text(doc);
    }

    /// `known` is the kind, the provenance and the confidence.
    pub(crate) fn edge(
        &mut self,
        source: &[u8; 32],
        target: &[u8; 32],
        known: (u8, u8, u16),
        n_sites: u32,
        sites: &[Position],
    ) {
        self.0.extend_from_slice(source);
        self.0.extend_from_slice(target);
        self.0.extend([known.0, known.1]);
        self.0.extend(known.2.to_le_bytes());
        self.number(n_sites);
        self.number(sites.len() as u32);
        for &site in sites {
            self.position(site);
        }
    }

    /// What a language server says of the edge before; nothing where none was asked.
    pub(crate) fn enrichment(&mut self, t2: Option<(Provenance, u16)>, refuted: bool) {
        if let Some((provenance, confidence_bp)) = t2 {
            self.0.push(provenance.id());
            self.0.extend(confidence_bp.to_le_bytes());
        }
        if refuted {
            self.0.push(1);
        }
    }

    /// `said` is the name and the receiver, `how` the number of arguments and the reason.
    pub(crate) fn unresolved<'a>(
        &mut self,
        source: &[u8; 32],
        said: (&str, &str),
        how: (u8, u8),
        position: Position,
        candidates: impl ExactSizeIterator<Item = &'a [u8; 32]>,
    ) {
        self.0.extend_from_slice(source);
        self.text(said.0);
        self.text(said.1);
        self.0.extend([how.0, how.1]);
        self.position(position);
        self.number(candidates.len() as u32);
        for candidate in candidates {
            self.0.extend_from_slice(candidate);
        }
    }

    fn position(&mut self, position: Position) {
        self.number(position.line);
        self.number(position.column);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }
}
fn arrange<T>(order: &mut Vec<u32>, rows: &[T], compare: impl Fn(&T, &T) -> Ordering) {
    order.clear();
    order.extend(0..rows.len() as u32);
    order.sort_unstable_by(|&one, &other| compare(&rows[one as usize], &rows[other as usize]));
}

/// As `arrange`. The ends settle most comparisons, and are looked up once for each edge.
fn arrange_edges(order: &mut Vec<u32>, edges: &[Edge], ranks: &[u32], ends: &mut Vec<(u64, u32)>) {
    let rank = |symbol: u32| u64::from(ranks[symbol as usize]);
    ends.clear();
    ends.extend(edges.iter().zip(0..).map(|(it, at)| (rank(it.source) << 32 | rank(it.target), at)));
    ends.sort_unstable_by(|one, other| {
        let rest = || compare_parallel(&edges[one.1 as usize], &edges[other.1 as usize]);
        one.0.cmp(&other.0).then_with(rest)
    });
    order.clear();
    order.extend(ends.iter().map(|it| it.1));
}

fn compare_nodes(ranks: &[u32], one: &Node, other: &Node) -> Ordering {
    let key = |it: &Node| (ranks[it.symbol as usize], it.span, it.flags);
    key(one).cmp(&key(other)).then_with(|| (&one.signature, &one.doc).cmp(&(&other.signature, &other.doc)))
}

/// Edges of the same ends.
fn compare_parallel(one: &Edge, other: &Edge) -> Ordering {
    let key = |it: &Edge| (it.kind, it.provenance, it.confidence_bp, it.n_sites);
    key(one).cmp(&key(other)).then_with(|| one.sites.cmp(&other.sites))
}

fn compare_unresolved(ranks: &[u32], one: &Unresolved, other: &Unresolved) -> Ordering {
    let key = |it: &Unresolved| (it.position, ranks[it.source as usize], it.reason, it.n_arguments);
    let candidates = |it: &Unresolved| -> Vec<u32> {
        it.candidates.iter().map(|&candidate| ranks[candidate as usize]).collect()
    };
    key(one)
        .cmp(&key(other))
        .then_with(|| (&one.name, &one.receiver).cmp(&(&other.name, &other.receiver)))
        .then_with(|| candidates(one).cmp(&candidates(other)))
}
