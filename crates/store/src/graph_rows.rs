//! All of a snapshot at once, as the graph image needs it.

use knowing_model::{EdgeKind, Hash, NodeFlags, NodeId, NodeKind, Provenance, Span};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::edge_rows::{StoredEdge, each_edge};
use crate::error::{Fault, Result};
use crate::reader::Reader;
use crate::symbols::tabled;

/// Nodes and edges in the order of their rows; what has no node row comes last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GraphRows {
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
    /// How many node rows are left out because another file states their symbol too.
    pub n_repeated: u64,
}

/// A symbol of the snapshot; each one once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphNode {
    pub id: NodeId,
    pub sym: u32,
    /// 0 for what has no place in the repository.
    pub node_row: u32,
    pub kind: NodeKind,
    pub flags: NodeFlags,
    pub name: Box<str>,
}

/// Ends are symbols by their rows; both are among the nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphEdge {
    pub source: u32,
    pub target: u32,
    pub kind: EdgeKind,
    pub provenance: Provenance,
    pub confidence_bp: u16,
    pub edge_row: u32,
}

impl Reader<'_> {
    /// Everything the graph image needs. Refuted edges are left out.
    pub fn graph_rows(&self) -> Result<GraphRows> {
        self.read(|db| {
            let ranges = Ranges::of_units(db, &self.units)?;
            let mut rows = GraphRows::default();
            let mut seen = Seen::default();
            let repeated = read_nodes(db, &ranges.nodes, &mut rows.nodes, &mut seen)?;
            rows.n_repeated = repeated.len() as u64;
            self.settle(repeated, &mut rows.nodes)?;
            read_edges(db, &ranges.edges, &mut rows.edges, &mut seen)?;
            read_virtual_nodes(db, &seen, &mut rows.nodes)?;
            Ok(rows)
        })
    }

    /// A symbol that several files state is the node of the first of them, by path: row numbers depend on history.
    fn settle(&self, repeated: Vec<GraphNode>, nodes: &mut [GraphNode]) -> std::result::Result<(), Fault> {
        if repeated.is_empty() {
            return Ok(());
        }
        let places: FxHashMap<u32, usize> = (0..).zip(nodes.iter()).map(|(at, it)| (it.sym, at)).collect();
        for node in repeated {
            let kept = &mut nodes[places[&node.sym]];
            if self.place_of(node.node_row)? < self.place_of(kept.node_row)? {
                *kept = node;
            }
        }
        Ok(())
    }

    fn place_of(&self, node_row: u32) -> std::result::Result<(String, Span), Fault> {
        self.node_at(node_row).map(|it| (it.path, it.span))
    }
}

/// Runs of rows, half open. Units that were written one after the other are read in one scan.
pub(crate) struct Ranges {
    pub(crate) nodes: Vec<(u32, u32)>,
    pub(crate) edges: Vec<(u32, u32)>,
}

impl Ranges {
    pub(crate) fn of_units(db: &Connection, units: &RoaringBitmap) -> std::result::Result<Ranges, Fault> {
        let mut ranges = Ranges { nodes: Vec::new(), edges: Vec::new() };
        let (Some(first), Some(last)) = (units.min(), units.max()) else { return Ok(ranges) };
        let mut statement = db.prepare_cached(
            "SELECT unit_row, first_node, n_nodes, first_edge, n_edges FROM units
             WHERE unit_row BETWEEN ?1 AND ?2 ORDER BY unit_row",
        )?;
        let mut rows = statement.query((first, last))?;
        let mut n_found = 0;
        while let Some(row) = rows.next()? {
            if units.contains(row.get(0)?) {
                n_found += 1;
                extend(&mut ranges.nodes, row.get(1)?, row.get(2)?);
                extend(&mut ranges.edges, row.get(3)?, row.get(4)?);
            }
        }
        if n_found != units.len() {
            return Err(Fault::damaged("units of the snapshot are missing"));
        }
        Ok(ranges)
    }
}

fn extend(ranges: &mut Vec<(u32, u32)>, first: u32, n: u32) {
    match ranges.last_mut() {
        _ if n == 0 => {}
        Some((_, end)) if *end == first => *end += n,
        _ => ranges.push((first, first + n)),
    }
}

/// What was seen of each symbol, by its row. Rows are dense, and a byte for each is the fastest set there is.
#[derive(Default)]
pub(crate) struct Seen(Vec<Sight>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sight {
    Nothing,
    EndOfEdge,
    Node,
}

impl Seen {
    /// Notes a sight, and says what is the most that was seen before.
    fn note(&mut self, sym: u32, sight: Sight) -> Sight {
        let at = sym as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, Sight::Nothing);
        }
        let before = self.0[at];
        self.0[at] = before.max(sight);
        before
    }

    fn without_node(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.0).filter(|&(_, &sight)| sight == Sight::EndOfEdge).map(|(sym, _)| sym)
    }
}

/// Adds each symbol once, and gives back what states one again.
pub(crate) fn read_nodes(
    db: &Connection,
    ranges: &[(u32, u32)],
    nodes: &mut Vec<GraphNode>,
    seen: &mut Seen,
) -> std::result::Result<Vec<GraphNode>, Fault> {
    let mut repeated = Vec::new();
    let mut statement = db.prepare_cached(
        "SELECT n.node_row, n.flags, n.sym, s.node_id, s.kind, s.name
         FROM nodes n JOIN symbols s ON s.sym = n.sym
         WHERE n.node_row >= ?1 AND n.node_row < ?2 ORDER BY n.node_row",
    )?;
    nodes.reserve(n_rows(ranges));
    for &range in ranges {
        let mut rows = statement.query(range)?;
        while let Some(row) = rows.next()? {
            let node = GraphNode {
                node_row: row.get(0)?,
                flags: NodeFlags(row.get(1)?),
                sym: row.get(2)?,
                id: NodeId(Hash(row.get(3)?)),
                kind: tabled(row, 4, NodeKind::from_id)?,
                name: row.get(5)?,
            };
            match seen.note(node.sym, Sight::Node) {
                Sight::Node => repeated.push(node),
                _ => nodes.push(node),
            }
        }
    }
    Ok(repeated)
}

pub(crate) fn read_edges(
    db: &Connection,
    ranges: &[(u32, u32)],
    edges: &mut Vec<GraphEdge>,
    seen: &mut Seen,
) -> std::result::Result<(), Fault> {
    edges.reserve_exact(n_rows(ranges));
    for &range in ranges {
        each_edge(db, range, |edge_row, edge| {
            if edge.refuted {
                return Ok(());
            }
            let StoredEdge { source, target, kind, .. } = edge;
            let (provenance, confidence_bp) = edge.effective()?;
            seen.note(source, Sight::EndOfEdge);
            seen.note(target, Sight::EndOfEdge);
            edges.push(GraphEdge { source, target, kind, provenance, confidence_bp, edge_row });
            Ok(())
        })?;
    }
    Ok(())
}

pub(crate) fn read_virtual_nodes(
    db: &Connection,
    seen: &Seen,
    nodes: &mut Vec<GraphNode>,
) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare_cached("SELECT node_id, kind, name FROM symbols WHERE sym = ?1")?;
    for sym in seen.without_node() {
        let mut rows = statement.query([sym])?;
        let row = rows.next()?.ok_or_else(|| Fault::damaged(format!("there is no symbol row {sym}")))?;
        nodes.push(GraphNode {
            id: NodeId(Hash(row.get(0)?)),
            sym,
            node_row: 0,
            kind: tabled(row, 1, NodeKind::from_id)?,
            flags: NodeFlags::default(),
            name: row.get(2)?,
        });
    }
    Ok(())
}

fn n_rows(ranges: &[(u32, u32)]) -> usize {
    ranges.iter().map(|(first, end)| (end - first) as usize).sum()
}
