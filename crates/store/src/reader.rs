//! Reading one snapshot: a read transaction that lasts as long as the reader, and what rows say.

use std::cmp::Reverse;

use knowing_model::{EdgeKind, NodeFlags, Position, Provenance, Span};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::connection::Store;
use crate::edge_rows::unpack_edges;
use crate::error::{Fault, Result};
use crate::files::{FILE_COLUMNS, FileRow, file_of};
use crate::snapshots::{SnapshotRow, sets_of};
use crate::symbols::{SYMBOLS, SymbolRow, symbol_of};

/// One snapshot, from begin to end: a writer changes nothing of what this sees.
#[derive(Debug)]
pub struct Reader<'a> {
    store: &'a Store,
    repo: i64,
    pub(crate) url: String,
    pub(crate) files: RoaringBitmap,
    pub(crate) units: RoaringBitmap,
    /// Dropped last, so that all of the above was read inside of it.
    _transaction: ReadTransaction<'a>,
}

/// One version of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeRow {
    pub node_row: u32,
    pub sym: u32,
    pub span: Span,
    pub signature: String,
    pub doc: String,
    pub flags: NodeFlags,
    /// Where it stands; empty, as is `language`, for what has no file.
    pub path: String,
    pub language: String,
    pub blob: Vec<u8>,
}

/// A symbol that a file declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeInFile {
    pub node_row: u32,
    pub symbol: SymbolRow,
    pub span: Span,
    pub flags: NodeFlags,
}

/// Where an edge can be seen in the source, and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeSites {
    pub source: u32,
    pub target: u32,
    pub kind: EdgeKind,
    /// Of base and enrichment the one with the higher confidence.
    pub provenance: Provenance,
    pub confidence_bp: u16,
    /// Empty for edges that have no file.
    pub path: String,
    /// The first few, in order.
    pub sites: Vec<Position>,
    /// How many there are in truth.
    pub n_sites: u32,
}

impl Store {
    /// A reader of a snapshot. Several may be open at once; they see the database as the first of them did.
    pub fn reader(&self, snapshot: &SnapshotRow) -> Result<Reader<'_>> {
        self.read(|db| {
            let transaction = ReadTransaction::begin(self)?;
            let (files, units) = sets_of(db, snapshot)?;
            let url =
                db.query_row("SELECT url FROM repos WHERE repo_id = ?1", [snapshot.repo], |row| row.get(0))?;
            Ok(Reader { store: self, repo: snapshot.repo, url, files, units, _transaction: transaction })
        })
    }
}

impl Reader<'_> {
    /// Of the snapshot's repository.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn read<T>(
        &self,
        run: impl FnOnce(&Connection) -> std::result::Result<T, Fault>,
    ) -> Result<T> {
        self.store.read(run)
    }

    pub fn symbol(&self, sym: u32) -> Result<SymbolRow> {
        let mut symbols = self.symbols(&[sym])?;
        Ok(symbols.pop().expect("each that is asked for is there, or an error is"))
    }

    /// In the order in which they are asked for.
    pub fn symbols(&self, all: &[u32]) -> Result<Vec<SymbolRow>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(&format!("{SYMBOLS} WHERE s.sym = ?1"))?;
            let found = all.iter().map(|sym| {
                let row = statement.query_row([*sym], symbol_of).optional()?;
                row.ok_or_else(|| Fault::damaged(format!("there is no symbol row {sym}")))
            });
            found.collect()
        })
    }

    pub fn node(&self, node_row: u32) -> Result<NodeRow> {
        self.read(|_| self.node_at(node_row))
    }

    pub fn edge_sites(&self, edge_row: u32) -> Result<EdgeSites> {
        self.read(|db| {
            // The row that it stands in is the last that begins at or before it.
            let mut statement = db.prepare_cached(
                "SELECT e.edge_row, e.packed, ifnull(f.path, '')
                 FROM edges e JOIN units u ON u.unit_row = e.unit LEFT JOIN files f ON f.file_row = u.file_row
                 WHERE e.edge_row = (SELECT max(edge_row) FROM edges WHERE edge_row <= ?1)",
            )?;
            let missing = || Fault::damaged(format!("there is no edge {edge_row}"));
            let mut rows = statement.query([edge_row])?;
            let row = rows.next()?.ok_or_else(missing)?;
            let packed = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            let place = (edge_row - row.get::<_, u32>(0)?) as usize;
            let edge = unpack_edges(packed).nth(place).ok_or_else(missing)??;
            let (provenance, confidence_bp) = edge.effective()?;
            Ok(EdgeSites {
                source: edge.source,
                target: edge.target,
                kind: edge.kind,
                provenance,
                confidence_bp,
                path: row.get(2)?,
                sites: edge.sites()?,
                n_sites: edge.n_sites,
            })
        })
    }

    /// All files, those that were left out included, by path.
    pub fn files(&self) -> Result<Vec<FileRow>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(&format!(
                "SELECT {FILE_COLUMNS} FROM files WHERE file_row BETWEEN ?1 AND ?2"
            ))?;
            let (Some(first), Some(last)) = (self.files.min(), self.files.max()) else {
                return Ok(Vec::new());
            };
            let mut rows = statement.query((first, last))?;
            let mut files = Vec::with_capacity(self.files.len() as usize);
            while let Some(row) = rows.next()? {
                if self.files.contains(row.get(0)?) {
                    files.push(file_of(row)?);
                }
            }
            files.sort_by(|one, other| one.path.cmp(&other.path));
            Ok(files)
        })
    }

    pub fn file(&self, path: &str) -> Result<Option<FileRow>> {
        self.read(|db| self.file_at(db, path))
    }

    /// What a file declares, outermost first in order of lines.
    pub fn symbols_in_file(&self, path: &str) -> Result<Vec<NodeInFile>> {
        self.read(|db| {
            let Some(file) = self.file_at(db, path)? else { return Ok(Vec::new()) };
            let mut units = db.prepare_cached(
                "SELECT unit_row, first_node, n_nodes FROM units WHERE repo_id = ?1 AND file_row = ?2",
            )?;
            let mut nodes = db.prepare_cached(
                "SELECT node_row, line_start, line_end, name_line, name_col, sym, flags FROM nodes
                 WHERE node_row >= ?1 AND node_row < ?1 + ?2",
            )?;
            let mut symbol = db.prepare_cached(&format!("{SYMBOLS} WHERE s.sym = ?1"))?;
            let mut found = Vec::new();
            let mut rows = units.query((self.repo, file.row))?;
            while let Some(unit) = rows.next()? {
                if !self.units.contains(unit.get(0)?) {
                    continue;
                }
                let mut rows = nodes.query((unit.get::<_, u32>(1)?, unit.get::<_, u32>(2)?))?;
                while let Some(row) = rows.next()? {
                    found.push(NodeInFile {
                        node_row: row.get(0)?,
                        span: span_of(row)?,
                        symbol: symbol.query_row([row.get::<_, u32>(5)?], symbol_of)?,
                        flags: NodeFlags(row.get(6)?),
                    });
                }
            }
            found.sort_by_key(|it| {
                (it.span.first_line, Reverse(it.span.last_line), it.span.name, it.symbol.symbol.id)
            });
            Ok(found)
        })
    }

    pub(crate) fn node_at(&self, node_row: u32) -> std::result::Result<NodeRow, Fault> {
        let db = &self.store.connection;
        let mut statement = db.prepare_cached(
            "SELECT n.node_row, n.line_start, n.line_end, n.name_line, n.name_col, n.sym, n.flags,
                    n.signature, n.doc, ifnull(f.path, ''), ifnull(f.language, ''), ifnull(f.blob, x'')
             FROM nodes n JOIN units u ON u.unit_row = n.unit LEFT JOIN files f ON f.file_row = u.file_row
             WHERE n.node_row = ?1",
        )?;
        let row = statement.query_row([node_row], |row| {
            Ok(NodeRow {
                node_row: row.get(0)?,
                span: span_of(row)?,
                sym: row.get(5)?,
                flags: NodeFlags(row.get(6)?),
                signature: row.get(7)?,
                doc: row.get(8)?,
                path: row.get(9)?,
                language: row.get(10)?,
                blob: row.get(11)?,
            })
        });
        row.optional()?.ok_or_else(|| Fault::damaged(format!("there is no node row {node_row}")))
    }

    fn file_at(&self, db: &Connection, path: &str) -> std::result::Result<Option<FileRow>, Fault> {
        let mut statement =
            db.prepare_cached(&format!("SELECT {FILE_COLUMNS} FROM files WHERE repo_id = ?1 AND path = ?2"))?;
        let mut rows = statement.query((self.repo, path))?;
        while let Some(row) = rows.next()? {
            if self.files.contains(row.get(0)?) {
                return Ok(Some(file_of(row)?));
            }
        }
        Ok(None)
    }
}

/// The four columns from 1 on.
fn span_of(row: &Row<'_>) -> rusqlite::Result<Span> {
    Ok(Span {
        first_line: row.get(1)?,
        last_line: row.get(2)?,
        name: Position { line: row.get(3)?, column: row.get(4)? },
    })
}

/// Held open by its readers together; a connection has one transaction at a time.
#[derive(Debug)]
struct ReadTransaction<'a>(&'a Store);

impl<'a> ReadTransaction<'a> {
    fn begin(store: &'a Store) -> std::result::Result<ReadTransaction<'a>, Fault> {
        if store.n_readers.get() == 0 {
            store.connection.execute_batch("BEGIN DEFERRED")?;
        }
        store.n_readers.set(store.n_readers.get() + 1);
        Ok(ReadTransaction(store))
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        let left = self.0.n_readers.get() - 1;
        self.0.n_readers.set(left);
        if left == 0 {
            // Nothing was written, so that there is nothing to lose when this fails; the next BEGIN would say so.
            let _ = self.0.connection.execute_batch("COMMIT");
        }
    }
}
