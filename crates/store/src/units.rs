//! Writing units: those whose digest is stored are found, the others become rows.

use knowing_model::{Edge, Hash, Node, Symbol, Unit, Unresolved};
use roaring::RoaringBitmap;
use rusqlite::{CachedStatement, Connection, OptionalExtension};

use crate::digest::Canon;
use crate::error::Fault;
use crate::packed::{pack_rows, pack_sites};
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

/// The rows of all units.
pub(crate) fn write_units(
    db: &Connection,
    target: &Target<'_>,
    units: &[Unit],
) -> Result<RoaringBitmap, Fault> {
    let mut find = db.prepare_cached(
        "SELECT unit_row FROM units WHERE repo_id = ?1 AND file_row = ?2 AND layer = ?3 AND digest = ?4",
    )?;
    let mut canon = Canon::new(target.symbols);
    let mut writer = Writer::new(db, target)?;
    if !target.known_repo {
        writer.symbols.intern_all(&canon.by_id)?;
    }
    let mut set = RoaringBitmap::new();
    for unit in units {
        let file_row = unit.file.map_or(0, |it| target.file_rows[it as usize]);
        let digest = canon.arrange(unit);
        let key = (target.repo, file_row, unit.layer as u8, digest.as_bytes());
        let row = match find.query_row(key, |row| row.get(0)).optional()? {
            Some(row) => row,
            None => writer.write(unit, file_row, digest, &canon)?,
        };
        set.insert(row);
    }
    Ok(set)
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
            edge: db.prepare_cached(
                "INSERT INTO edges
                 (unit, source, target, kind, base_provenance, base_confidence, site_count, sites)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?,
            unresolved: db.prepare_cached(
                "INSERT INTO unresolved
                 (unit, source, name, receiver, argc, line, col, reason, candidates)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            next: Next {
                unit: next_row(db, "SELECT max(unit_row) FROM units")?,
                node: next_row(db, "SELECT max(node_row) FROM nodes")?,
                edge: next_row(db, "SELECT max(edge_row) FROM edges")?,
                site: next_row(db, "SELECT max(site_row) FROM unresolved")?,
            },
            packed: Vec::new(),
        })
    }

    fn write(&mut self, unit: &Unit, file_row: i64, digest: Hash, canon: &Canon<'_>) -> Result<u32, Fault> {
        let row = self.next.unit;
        self.unit.execute((
            row,
            self.repo,
            file_row,
            unit.layer as u8,
            digest.as_bytes(),
            self.next.node,
            unit.nodes.len() as i64,
            self.next.edge,
            unit.edges.len() as i64,
            self.next.site,
            unit.unresolved.len() as i64,
        ))?;
        for &at in &canon.nodes {
            self.write_node(row, &unit.nodes[at as usize])?;
        }
        self.next.node = self.after(self.next.node, unit.nodes.len())?;
        for &at in &canon.edges {
            self.write_edge(row, &unit.edges[at as usize])?;
        }
        self.next.edge = self.after(self.next.edge, unit.edges.len())?;
        for &at in &canon.unresolved {
            self.write_unresolved(row, &unit.unresolved[at as usize])?;
        }
        self.next.site = self.after(self.next.site, unit.unresolved.len())?;
        self.next.unit = row.checked_add(1).ok_or(Fault::TooLarge)?;
        Ok(row)
    }

    fn write_node(&mut self, unit: u32, node: &Node) -> Result<(), Fault> {
        let sym = self.symbols.row(node.symbol)?;
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

    fn write_edge(&mut self, unit: u32, edge: &Edge) -> Result<(), Fault> {
        let source = self.symbols.row(edge.source)?;
        let target = self.symbols.row(edge.target)?;
        self.packed.clear();
        pack_sites(&edge.sites, &mut self.packed);
        self.edge.execute((
            unit,
            source,
            target,
            edge.kind.id(),
            edge.provenance.id(),
            edge.confidence_bp,
            edge.n_sites,
            &self.packed,
        ))?;
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
