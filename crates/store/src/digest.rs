//! The canonical order and content of a unit, and the digest of it: equal results are found again by their digest, in
//! whatever order, and with whatever row numbers, they come.

use std::cmp::Ordering;

use knowing_model::{Edge, Hash, Hasher, Node, Position, Symbol, Unit, Unresolved};

/// Arranges one unit after the other, in the same memory.
pub(crate) struct Canon<'a> {
    symbols: &'a [Symbol],
    /// Positions of symbols in order of their node ids.
    pub(crate) by_id: Vec<u32>,
    /// Place of each symbol in that order: comparing these is comparing ids, at a fraction of the cost.
    ranks: Vec<u32>,
    content: Vec<u8>,
    /// Positions of the arranged unit's rows, in canonical order.
    pub(crate) nodes: Vec<u32>,
    pub(crate) edges: Vec<u32>,
    pub(crate) unresolved: Vec<u32>,
}

impl<'a> Canon<'a> {
    pub(crate) fn new(symbols: &'a [Symbol]) -> Canon<'a> {
        let mut by_id: Vec<u32> = (0..symbols.len() as u32).collect();
        by_id.sort_unstable_by_key(|&it| symbols[it as usize].id);
        let mut ranks = vec![0; symbols.len()];
        for (rank, &symbol) in (0..).zip(&by_id) {
            ranks[symbol as usize] = rank;
        }
        Canon {
            symbols,
            by_id,
            ranks,
            content: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    /// Sets the orders to those of `unit` and gives its digest.
    pub(crate) fn arrange(&mut self, unit: &Unit) -> Hash {
        let Canon { ranks, nodes, edges, unresolved, .. } = self;
        arrange(nodes, &unit.nodes, |one, other| compare_nodes(ranks, one, other));
        arrange(edges, &unit.edges, |one, other| compare_edges(ranks, one, other));
        arrange(unresolved, &unit.unresolved, |one, other| compare_unresolved(ranks, one, other));

        self.content.clear();
        self.push_number(unit.nodes.len() as u32);
        for at in 0..self.nodes.len() {
            self.push_node(&unit.nodes[self.nodes[at] as usize]);
        }
        self.push_number(unit.edges.len() as u32);
        for at in 0..self.edges.len() {
            self.push_edge(&unit.edges[self.edges[at] as usize]);
        }
        self.push_number(unit.unresolved.len() as u32);
        for at in 0..self.unresolved.len() {
            self.push_unresolved(&unit.unresolved[self.unresolved[at] as usize]);
        }
        Hasher::new("unit").field(&self.content).finish()
    }

    fn push_node(&mut self, node: &Node) {
        self.push_id(node.symbol);
        self.push_number(node.span.first_line);
        self.push_number(node.span.last_line);
        self.push_position(node.span.name);
        self.content.extend(node.flags.0.to_le_bytes());
        self.push_text(&node.signature);
        self.push_text(&node.doc);
    }

    fn push_edge(&mut self, edge: &Edge) {
        self.push_id(edge.source);
        self.push_id(edge.target);
        self.content.extend([edge.kind.id(), edge.provenance.id()]);
        self.content.extend(edge.confidence_bp.to_le_bytes());
        self.push_number(edge.n_sites);
        self.push_number(edge.sites.len() as u32);
        for &site in &edge.sites {
            self.push_position(site);
        }
    }

    fn push_unresolved(&mut self, site: &Unresolved) {
        self.push_id(site.source);
        self.push_text(&site.name);
        self.push_text(&site.receiver);
        self.content.extend([site.n_arguments, site.reason.id()]);
        self.push_position(site.position);
        self.push_number(site.candidates.len() as u32);
        for &candidate in &site.candidates {
            self.push_id(candidate);
        }
    }

    fn push_id(&mut self, symbol: u32) {
        self.content.extend_from_slice(self.symbols[symbol as usize].id.as_bytes());
    }

    fn push_number(&mut self, number: u32) {
        self.content.extend_from_slice(&number.to_le_bytes());
    }

    fn push_position(&mut self, position: Position) {
        self.push_number(position.line);
        self.push_number(position.column);
    }

    fn push_text(&mut self, text: &str) {
        self.push_number(text.len() as u32);
        self.content.extend_from_slice(text.as_bytes());
    }
}

fn arrange<T>(order: &mut Vec<u32>, rows: &[T], compare: impl Fn(&T, &T) -> Ordering) {
    order.clear();
    order.extend(0..rows.len() as u32);
    order.sort_unstable_by(|&one, &other| compare(&rows[one as usize], &rows[other as usize]));
}

fn compare_nodes(ranks: &[u32], one: &Node, other: &Node) -> Ordering {
    let key = |it: &Node| (ranks[it.symbol as usize], it.span, it.flags);
    key(one).cmp(&key(other)).then_with(|| (&one.signature, &one.doc).cmp(&(&other.signature, &other.doc)))
}

fn compare_edges(ranks: &[u32], one: &Edge, other: &Edge) -> Ordering {
    let key = |it: &Edge| (ranks[it.source as usize], ranks[it.target as usize], it.kind);
    let rest = |it: &Edge| (it.provenance, it.confidence_bp, it.n_sites);
    key(one)
        .cmp(&key(other))
        .then_with(|| rest(one).cmp(&rest(other)))
        .then_with(|| one.sites.cmp(&other.sites))
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
