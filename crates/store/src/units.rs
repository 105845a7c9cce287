//! Writing units: those whose digest is stored are found, the others become rows.

use knowing_model::{Edge, Node, NodeFlags, Symbol, Unit, Unresolved};
use rusqlite::{CachedStatement, Connection, OptionalExtension};

use crate::digest::{Arranged, Canon};
use crate::edge_rows::{EdgePacker, IN_A_ROW, StoredEdge};
use crate::error::Fault;
use crate::graph_rows::{GraphEdge, GraphNode, GraphRows};
use crate::late_indexes::LateIndexes;
use crate::packed::{pack_rows, pack_sites};
use crate::steps::step;
use crate::symbols::Interner;

/// What units are written for.
pub(crate) struct Target<'a> {
    pub(crate) repo: i64,
    /// The database knew the repository before.
    pub(crate) known_repo: bool,
    /// Row of each file of the snapshot.
    pub(crate) file_rows: &'a [i64],
    pub(crate) symbols: &'a [Symbol],
}

/// The rows of all units, in their order, and what the graph image needs of them when none was there before.
pub(crate) fn write_units(
    db: &Connection,
    target: &Target<'_>,
    units: &[Unit],
) -> Result<(Vec<u32>, Option<GraphRows>), Fault> {
    /// Units whose digests are taken side by side.
    const AT_ONCE: usize = 64;
    let mut find = db.prepare_cached(
        "SELECT unit_row FROM units WHERE repo_id = ?1 AND file_row = ?2 AND layer = ?3 AND digest = ?4",
    )?;
    // In a first index nobody has to be looked for.
    let any = "SELECT EXISTS (SELECT 1 FROM units WHERE repo_id = ?1)";
    let has_units: bool = db.query_row(any, [target.repo], |row| row.get(0))?;
    let mut canon = Canon::new(target.symbols);
    let late_indexes = LateIndexes::take(db)?;
    let mut writer = Writer::new(db, target)?;
    if !target.known_repo {
        writer.symbols.intern_all(&canon.by_id)?;
    }
    let mut unit_rows = Vec::with_capacity(units.len());
    let mut all_new = true;
    for units in units.chunks(AT_ONCE) {
        for (unit, arranged) in units.iter().zip(canon.arrange(units)) {
            let file_row = unit.file.map_or(0, |it| target.file_rows[it as usize]);
            let key = (target.repo, file_row, unit.layer as u8, arranged.digest.as_bytes());
            let known = if has_units { find.query_row(key, |row| row.get(0)).optional()? } else { None };
            let row = match known {
                Some(row) => {
                    all_new = false;
                    row
                }
                None => writer.write(unit, file_row, arranged)?,
            };
            unit_rows.push(row);
        }
    }
    late_indexes.make(db)?;
    let rows = if all_new { writer.graph.finish(target.symbols) } else { None };
    Ok((unit_rows, rows))
}

struct Writer<'db, 'a> {
    db: &'db Connection,
    repo: i64,
    symbols: Interner<'db, 'a>,
    unit: CachedStatement<'db>,
    node: CachedStatement<'db>,
    edge: CachedStatement<'db>,
    unresolved: CachedStatement<'db>,
    /// Next free row of each table; rows are given out here so that a unit's are contiguous.
    next: Next,
    packed: Vec<u8>,
    edges: EdgePacker,
    graph: Collected,
}

/// What was written, as the graph image needs it: reading 300 k rows back takes 0.15 cpu-s.
struct Collected {
    rows: GraphRows,
    /// By position: the symbol's row, when edges or nodes speak of it, and whether it has a node.
    seen: Vec<(u32, bool)>,
    /// A symbol was stated by two units. Which one counts is for the reader to decide.
    repeated: bool,
}

impl Collected {
    fn new(n_symbols: usize) -> Collected {
        Collected { rows: GraphRows::default(), seen: vec![(0, false); n_symbols], repeated: false }
    }

    fn add_node(&mut self, node: &Node, symbol: &Symbol, sym: u32, node_row: u32) {
        let (row, has_node) = &mut self.seen[node.symbol as usize];
        *row = sym;
        self.repeated |= std::mem::replace(has_node, true);
        self.rows.nodes.push(graph_node(symbol, sym, node_row, node.flags));
    }

    fn add_edge(&mut self, edge: &Edge, source: u32, target: u32, edge_row: u32) {
        self.seen[edge.source as usize].0 = source;
        self.seen[edge.target as usize].0 = target;
        self.rows.edges.push(GraphEdge {
            source,
            target,
            kind: edge.kind,
            provenance: edge.provenance,
            confidence_bp: edge.confidence_bp,
            edge_row,
        });
    }

    /// What has no node row comes last, by row.
    fn finish(mut self, symbols: &[Symbol]) -> Option<GraphRows> {
        if self.repeated {
            return None;
        }
        let without_node = |(at, &(sym, has_node)): (usize, &(u32, bool))| {
            (sym != 0 && !has_node).then(|| graph_node(&symbols[at], sym, 0, NodeFlags::default()))
        };
        let mut rest: Vec<GraphNode> = self.seen.iter().enumerate().filter_map(without_node).collect();
        rest.sort_unstable_by_key(|it| it.sym);
        self.rows.nodes.append(&mut rest);
        Some(self.rows)
    }
}

fn graph_node(symbol: &Symbol, sym: u32, node_row: u32, flags: NodeFlags) -> GraphNode {
    GraphNode { id: symbol.id, sym, node_row, kind: symbol.kind, flags, name: (&*symbol.name).into() }
}

struct Next {
    unit: u32,
    node: u32,
    edge: u32,
    site: u32,
}

impl<'db, 'a> Writer<'db, 'a> {
    fn new(db: &'db Connection, target: &Target<'a>) -> Result<Writer<'db, 'a>, Fault> {
        Ok(Writer {
            db,
            repo: target.repo,
            symbols: Interner::new(db, target.symbols, target.known_repo)?,
            unit: db.prepare_cached(
                "INSERT INTO units
                 (unit_row, repo_id, file_row, layer, digest,
                  first_node, n_nodes, first_edge, n_edges, first_site, n_sites)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?,
            node: db.prepare_cached(
                "INSERT INTO nodes
                 (unit, sym, flags, line_start, line_end, name_line, name_col, signature, doc)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            edge: db.prepare_cached("INSERT INTO edges (edge_row, unit, packed) VALUES (?1, ?2, ?3)")?,
            unresolved: db.prepare_cached(
                "INSERT INTO unresolved
                 (unit, source, name, receiver, argc, line, col, reason, candidates)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            next: Next {
                unit: next_row(db, "SELECT max(unit_row) FROM units")?,
                node: next_row(db, "SELECT max(node_row) FROM nodes")?,
                // The last row of edges holds several.
                edge: next_row(
                    db,
                    "SELECT max(first_edge + n_edges - 1) FROM units
                     WHERE unit_row = (SELECT unit FROM edges ORDER BY edge_row DESC LIMIT 1)",
                )?,
                site: next_row(db, "SELECT max(site_row) FROM unresolved")?,
            },
            packed: Vec::new(),
            edges: EdgePacker::default(),
            graph: Collected::new(target.symbols.len()),
        })
    }

    fn write(&mut self, unit: &Unit, file_row: i64, arranged: &Arranged) -> Result<u32, Fault> {
        step();
        let row = self.next.unit;
        self.unit.execute((
            row,
            self.repo,
            file_row,
            unit.layer as u8,
            arranged.digest.as_bytes(),
            self.next.node,
            unit.nodes.len() as i64,
            self.next.edge,
            unit.edges.len() as i64,
            self.next.site,
            unit.unresolved.len() as i64,
        ))?;
        for (node_row, &at) in (self.next.node..).zip(&arranged.nodes) {
            self.write_node(row, &unit.nodes[at as usize], node_row)?;
        }
        self.next.node = self.after(self.next.node, unit.nodes.len())?;
        for places in arranged.edges.chunks(IN_A_ROW) {
            self.write_edges(row, &unit.edges, places)?;
        }
        for &at in &arranged.unresolved {
            self.write_unresolved(row, &unit.unresolved[at as usize])?;
        }
        self.next.site = self.after(self.next.site, unit.unresolved.len())?;
        self.next.unit = row.checked_add(1).ok_or(Fault::TooLarge)?;
        Ok(row)
    }

    fn write_node(&mut self, unit: u32, node: &Node, node_row: u32) -> Result<(), Fault> {
        let sym = self.symbols.row(node.symbol)?;
        self.graph.add_node(node, self.symbols.symbol(node.symbol), sym, node_row);
        self.node.execute((
            unit,
            sym,
            node.flags.0,
            node.span.first_line,
            node.span.last_line,
            node.span.name.line,
            node.span.name.column,
            &node.signature,
            &node.doc,
        ))?;
        Ok(())
    }

    /// One row: those of the edges that stand at `places`.
    fn write_edges(&mut self, unit: u32, edges: &[Edge], places: &[u32]) -> Result<(), Fault> {
        let first = self.next.edge;
        let n = places.len() as u32;
        self.next.edge = first.checked_add(n).ok_or(Fault::TooLarge)?;
        self.edges.clear();
        for (edge_row, &at) in (first..).zip(places) {
            let edge = &edges[at as usize];
            let source = self.symbols.row(edge.source)?;
            let target = self.symbols.row(edge.target)?;
            self.graph.add_edge(edge, source, target, edge_row);
            self.packed.clear();
            pack_sites(&edge.sites, &mut self.packed);
            self.edges.push(&StoredEdge {
                source,
                target,
                kind: edge.kind,
                base: Some((edge.provenance, edge.confidence_bp)),
                t2: None,
                refuted: false,
                n_sites: edge.n_sites,
                sites: &self.packed,
            });
        }
        self.edge.execute((first, unit, &self.edges.packed))?;
        Ok(())
    }

    fn write_unresolved(&mut self, unit: u32, site: &Unresolved) -> Result<(), Fault> {
        let source = self.symbols.row(site.source)?;
        self.packed.clear();
        for &candidate in &site.candidates {
            pack_rows([self.symbols.row(candidate)?].into_iter(), &mut self.packed);
        }
        self.unresolved.execute((
            unit,
            source,
            &site.name,
            &site.receiver,
            site.n_arguments,
            site.position.line,
            site.position.column,
            site.reason.id(),
            &self.packed,
        ))?;
        Ok(())
    }

    /// The row after `n` rows from `first` on.
    ///
    /// Invariant: SQLite numbers the rows of these tables one after the other, because nobody else writes now. It is
    /// checked for the last row of each unit, as all reading relies on it.
    fn after(&self, first: u32, n: usize) -> Result<u32, Fault> {
        let next = u32::try_from(n).ok().and_then(|it| first.checked_add(it)).ok_or(Fault::TooLarge)?;
        if n > 0 && self.db.last_insert_rowid() != i64::from(next) - 1 {
            return Err(Fault::damaged("row numbers have gaps"));
        }
        Ok(next)
    }
}

fn next_row(db: &Connection, max: &str) -> Result<u32, Fault> {
    let last: Option<u32> = db.query_row(max, [], |row| row.get(0))?;
    last.unwrap_or(0).checked_add(1).ok_or(Fault::TooLarge)
}
