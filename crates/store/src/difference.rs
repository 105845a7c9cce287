//! What one snapshot has and another has not, by units first: rows that both have are never read.

use knowing_model::{EdgeKind, Position, Provenance, Span};

use rusqlite::Row;

use crate::edge_rows::{StoredEdge, each_edge};
use crate::error::Result;
use crate::reader::Reader;

/// Rows of units that only one of two snapshots has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnRows {
    pub nodes: Vec<OwnNode>,
    pub edges: Vec<OwnEdge>,
    /// Of files that only this snapshot has in this version; left out ones included.
    pub files: Vec<i64>,
}

/// A version of a node. Its symbol may be stated by a unit of both snapshots all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnNode {
    pub sym: u32,
    pub node_row: u32,
    /// 0 for what has no file.
    pub file_row: i64,
    pub span: Span,
    pub signature: String,
    pub doc: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OwnEdge {
    pub source: u32,
    pub target: u32,
    pub kind: EdgeKind,
    pub provenance: Provenance,
    pub confidence_bp: u16,
    pub edge_row: u32,
}

impl Reader<'_> {
    /// What this snapshot has besides `other`, of the same database. It costs what differs.
    pub fn rows_besides(&self, other: &Reader<'_>) -> Result<OwnRows> {
        let own = &self.units - &other.units;
        let mut rows = OwnRows {
            files: (&self.files - &other.files).iter().map(i64::from).collect(),
            ..OwnRows::default()
        };
        self.read(|db| {
            let mut unit = db.prepare_cached(
                "SELECT first_node, n_nodes, first_edge, n_edges, file_row FROM units WHERE unit_row = ?1",
            )?;
            let mut nodes = db.prepare_cached(
                "SELECT sym, node_row, line_start, line_end, name_line, name_col, signature, doc FROM nodes
                 WHERE node_row >= ?1 AND node_row < ?1 + ?2",
            )?;
            for unit_row in &own {
                type Shape = ((u32, u32), (u32, u32), i64);
                let (node_rows, edge_rows, file_row): Shape = unit.query_row([unit_row], |row| {
                    Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?), row.get(4)?))
                })?;
                let node = |row: &Row<'_>| {
                    Ok(OwnNode {
                        sym: row.get(0)?,
                        node_row: row.get(1)?,
                        file_row,
                        span: Span {
                            first_line: row.get(2)?,
                            last_line: row.get(3)?,
                            name: Position { line: row.get(4)?, column: row.get(5)? },
                        },
                        signature: row.get(6)?,
                        doc: row.get(7)?,
                    })
                };
                for row in nodes.query_map(node_rows, node)? {
                    rows.nodes.push(row?);
                }
                let (first, n) = edge_rows;
                each_edge(db, (first, first.saturating_add(n)), |edge_row, edge| {
                    if !edge.refuted {
                        let (provenance, confidence_bp) = edge.effective()?;
                        let StoredEdge { source, target, kind, .. } = edge;
                        rows.edges.push(OwnEdge {
                            source,
                            target,
                            kind,
                            provenance,
                            confidence_bp,
                            edge_row,
                        });
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// The file version of a row.
    pub fn file_of_row(&self, row: i64) -> Result<crate::FileRow> {
        self.read(|db| {
            let query = format!("SELECT {} FROM files WHERE file_row = ?1", crate::files::FILE_COLUMNS);
            Ok(db.prepare_cached(&query)?.query_row([row], crate::files::file_of)?)
        })
    }
}
