//! Units against their digests: every column of every row of theirs is in it.

use knowing_model::identity::edge_id;
use knowing_model::{NodeFlags, Position, Reason, Span};
use rusqlite::{CachedStatement, Connection, Row};

use crate::check::{Checked, Known, KnownLeaf, KnownUnit, blob, small, text};
use crate::digest::Content;
use crate::edge_rows::{StoredEdge, unpack_edges};
use crate::error::Fault;
use crate::packed::unpack_rows;

pub(crate) fn check_units(db: &Connection, checked: &mut Checked, known: &mut Known) -> Result<(), Fault> {
    let mut units = db.prepare(
        "SELECT unit_row, repo_id, file_row, layer, digest, first_node, n_nodes, first_edge, n_edges,
                first_site, n_sites FROM units ORDER BY unit_row",
    )?;
    let mut reader = UnitReader {
        nodes: db.prepare_cached(
            "SELECT unit, sym, flags, line_start, line_end, name_line, name_col, signature, doc FROM nodes
             WHERE node_row >= ?1 AND node_row < ?1 + ?2 ORDER BY node_row",
        )?,
        edges: db.prepare_cached(
            "SELECT unit, edge_row, packed FROM edges
             WHERE edge_row >= ?1 AND edge_row < ?1 + ?2 ORDER BY edge_row",
        )?,
        sites: db.prepare_cached(
            "SELECT unit, source, name, receiver, argc, line, col, reason, candidates FROM unresolved
             WHERE site_row >= ?1 AND site_row < ?1 + ?2 ORDER BY site_row",
        )?,
        content: Content::default(),
        n_rows: [0; 3],
    };
    let mut rows = units.query([])?;
    // Of a unit that cannot be read, not all rows are counted.
    let mut all_read = true;
    while let Some(row) = rows.next()? {
        checked.units += 1;
        let unit_row: i64 = row.get(0)?;
        let (Ok(unit), Some(shape)) = (u32::try_from(unit_row), Shape::read(row)) else {
            checked.error("units", format!("unit row {unit_row} cannot be read"));
            continue;
        };
        if !known.repos.contains_key(&shape.repo) {
            checked.error("units", format!("unit row {unit}: its repository is not there"));
        }
        if shape.file_row != 0 && !u32::try_from(shape.file_row).is_ok_and(|it| known.files.contains(it)) {
            checked.error("units", format!("unit row {unit}: its file row {} is not there", shape.file_row));
        }
        checked.nodes += u64::from(shape.nodes.1);
        checked.edges += u64::from(shape.edges.1);
        checked.unresolved += u64::from(shape.sites.1);
        match reader.read(unit, &shape, known)? {
            Ok(mut found) => {
                found.file_row = u32::try_from(shape.file_row).unwrap_or(0);
                if *reader.content.digest().as_bytes() != *shape.digest {
                    let message = format!("unit row {unit}: its rows are not what its digest was made of");
                    checked.error("units", message);
                }
                known.units.insert(unit, found);
            }
            Err(what) => {
                all_read = false;
                checked.error("units", format!("unit row {unit}: {what}"));
                known.units.insert(unit, KnownUnit::default());
            }
        }
    }
    for (table, n_read) in ["nodes", "edges", "unresolved"].into_iter().zip(reader.n_rows) {
        let n_rows: i64 = db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        if all_read && n_rows != n_read {
            checked.error("units", format!("`{table}` has {n_rows} rows, and its units have {n_read}"));
        }
    }
    Ok(())
}

/// What a unit says of itself.
struct Shape {
    repo: i64,
    file_row: i64,
    digest: Vec<u8>,
    nodes: (u32, u32),
    edges: (u32, u32),
    sites: (u32, u32),
}

impl Shape {
    fn read(row: &Row<'_>) -> Option<Shape> {
        let layer = small(row, 3)?;
        let pair = |at: usize| Some((row.get(at).ok()?, row.get(at + 1).ok()?));
        (1..=3).contains(&layer).then_some(())?;
        Some(Shape {
            repo: row.get(1).ok()?,
            file_row: row.get(2).ok()?,
            digest: blob(row, 4)?.to_owned(),
            nodes: pair(5)?,
            edges: pair(7)?,
            sites: pair(9)?,
        })
    }
}

struct UnitReader<'db> {
    nodes: CachedStatement<'db>,
    edges: CachedStatement<'db>,
    sites: CachedStatement<'db>,
    content: Content,
    /// Those that were read of nodes, edges and sites.
    n_rows: [i64; 3],
}

type Found<T> = Result<Result<T, String>, Fault>;

impl UnitReader<'_> {
    /// Fills the content; what is wrong with a row, when one cannot be what was written.
    fn read(&mut self, unit: u32, shape: &Shape, known: &Known) -> Found<KnownUnit> {
        let mut found = KnownUnit::default();
        let content = &mut self.content;
        content.clear();
        let parts = [
            ("node", &mut self.nodes, shape.nodes, push_node as PushRow),
            ("edge", &mut self.edges, shape.edges, push_edges),
            ("site", &mut self.sites, shape.sites, push_site),
        ];
        for ((what, statement, range, push), n_rows) in parts.into_iter().zip(&mut self.n_rows) {
            content.number(range.1);
            let mut rows = statement.query(range)?;
            let mut at = range.0;
            while let Some(row) = rows.next()? {
                *n_rows += 1;
                if row.get::<_, i64>(0).ok() != Some(i64::from(unit)) {
                    return Ok(Err(format!("{what} row {at} says that it is of another unit")));
                }
                match push(row, at, known, content, &mut found) {
                    Ok(n) => at = at.saturating_add(n),
                    Err(wrong) => return Ok(Err(format!("{what} row {at}: {wrong}"))),
                }
            }
            if at - range.0 != range.1 {
                return Ok(Err(format!("it has {} {what} rows, and says {}", at - range.0, range.1)));
            }
        }
        Ok(Ok(found))
    }
}

/// Takes a row, and says how many nodes, edges or sites are in it. It should have the number that is given.
type PushRow = fn(&Row<'_>, u32, &Known, &mut Content, &mut KnownUnit) -> Result<u32, &'static str>;

const UNREADABLE: &str = "it cannot be read";

fn push_node(
    row: &Row<'_>,
    _at: u32,
    known: &Known,
    content: &mut Content,
    found: &mut KnownUnit,
) -> Result<u32, &'static str> {
    let number = |at: usize| row.get::<_, u32>(at).map_err(|_| UNREADABLE);
    let sym = number(1)?;
    let symbol = known.symbol(i64::from(sym)).ok_or("its symbol is not there")?;
    let span = Span {
        first_line: number(3)?,
        last_line: number(4)?,
        name: Position { line: number(5)?, column: number(6)? },
    };
    let flags = NodeFlags(row.get(2).map_err(|_| UNREADABLE)?);
    let (signature, doc) = (text(row, 7).ok_or(UNREADABLE)?, text(row, 8).ok_or(UNREADABLE)?);
    content.node(symbol.id.as_bytes(), span, flags, signature, doc);
    found.nodes.insert(sym);
    Ok(1)
}

fn push_edges(
    row: &Row<'_>,
    at: u32,
    known: &Known,
    content: &mut Content,
    found: &mut KnownUnit,
) -> Result<u32, &'static str> {
    // Several are in a row, so that their number does not follow from how many rows there are.
    if row.get(1) != Ok(at) {
        return Err("there is another one in its place");
    }
    let packed = blob(row, 2).ok_or(UNREADABLE)?;
    let mut n = 0;
    for edge in unpack_edges(packed) {
        push_edge(&edge.map_err(|_| UNREADABLE)?, known, content, found)?;
        n += 1;
    }
    Ok(n)
}

fn push_edge(
    edge: &StoredEdge<'_>,
    known: &Known,
    content: &mut Content,
    found: &mut KnownUnit,
) -> Result<(), &'static str> {
    let end = |sym: u32| known.symbol(i64::from(sym)).ok_or("one of its ends is not there");
    let (source, target) = (end(edge.source)?, end(edge.target)?);
    let (provenance, confidence_bp) = edge.base.ok_or("it has no provenance")?;
    let sites = edge.sites().map_err(|_| "its sites cannot be read")?;
    let how = (edge.kind.id(), provenance.id(), confidence_bp);
    content.edge(source.id.as_bytes(), target.id.as_bytes(), how, edge.n_sites, &sites);
    content.enrichment(edge.t2, edge.refuted);
    for (sym, symbol) in [(edge.source, source), (edge.target, target)] {
        if !symbol.is_virtual {
            found.ends.insert(sym);
        }
    }
    if !edge.refuted {
        found.leaves.push(KnownLeaf {
            package: source.package,
            kind: edge.kind,
            provenance,
            confidence_bp,
            id: edge_id(source.id, target.id, edge.kind),
        });
    }
    Ok(())
}

fn push_site(
    row: &Row<'_>,
    _at: u32,
    known: &Known,
    content: &mut Content,
    _found: &mut KnownUnit,
) -> Result<u32, &'static str> {
    let number = |at: usize| row.get::<_, u32>(at).map_err(|_| UNREADABLE);
    let source = known.symbol(i64::from(number(1)?)).ok_or("its symbol is not there")?;
    let said = (text(row, 2).ok_or(UNREADABLE)?, text(row, 3).ok_or(UNREADABLE)?);
    let reason = small(row, 7).and_then(Reason::from_id).ok_or("its reason is not one there is")?;
    let how = (small(row, 4).ok_or(UNREADABLE)?, reason.id());
    let rows = blob(row, 8).and_then(unpack_rows).ok_or("its candidates cannot be read")?;
    let mut candidates = Vec::with_capacity(rows.len());
    for sym in rows {
        let symbol = known.symbol(i64::from(sym)).ok_or("one of its candidates is not there")?;
        candidates.push(symbol.id.as_bytes());
    }
    let position = Position { line: number(5)?, column: number(6)? };
    content.unresolved(source.id.as_bytes(), said, how, position, candidates.into_iter());
    Ok(1)
}
