//! All rows of a snapshot, one after the other, for what writes everything out. Nothing is gathered here.

use knowing_model::{Position, Reason};
use rusqlite::Connection;

use crate::edge_rows::each_edge;
use crate::error::{Fault, Result};
use crate::reader::Reader;
use crate::symbols::{SYMBOLS, SymbolRow, symbol_of, tabled};
use crate::unresolved::UnresolvedRow;

/// Where a node version stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodePlace {
    pub node_row: u32,
    pub sym: u32,
    /// 0 for what has no file.
    pub file_row: i64,
    pub first_line: u32,
    pub last_line: u32,
}

/// Where an edge is first seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgePlace {
    pub edge_row: u32,
    /// 0 for what has no file.
    pub file_row: i64,
    pub first: Option<Position>,
}

/// A call that yields no edge, as far as a list of all of them needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnresolvedPlace<'a> {
    pub source: u32,
    pub name: &'a str,
    pub reason: Reason,
    pub file_row: i64,
    pub position: Position,
}

struct UnitRow {
    file_row: i64,
    nodes: (u32, u32),
    edges: (u32, u32),
    sites: (u32, u32),
}

impl Reader<'_> {
    /// Every symbol of the database, also those of other snapshots and repositories.
    pub fn each_symbol(&self, mut visit: impl FnMut(SymbolRow)) -> Result<()> {
        self.read(|db| {
            let mut statement = db.prepare_cached(SYMBOLS)?;
            for row in statement.query_map([], symbol_of)? {
                visit(row?);
            }
            Ok(())
        })
    }

    pub fn each_node_place(&self, mut visit: impl FnMut(NodePlace)) -> Result<()> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT node_row, sym, line_start, line_end FROM nodes
                 WHERE node_row >= ?1 AND node_row < ?1 + ?2",
            )?;
            self.each_unit(db, |unit| {
                let mut rows = statement.query(unit.nodes)?;
                while let Some(row) = rows.next()? {
                    visit(NodePlace {
                        node_row: row.get(0)?,
                        sym: row.get(1)?,
                        file_row: unit.file_row,
                        first_line: row.get(2)?,
                        last_line: row.get(3)?,
                    });
                }
                Ok(())
            })
        })
    }

    pub fn each_edge_place(&self, mut visit: impl FnMut(EdgePlace)) -> Result<()> {
        self.read(|db| {
            self.each_unit(db, |unit| {
                let (first, n) = unit.edges;
                each_edge(db, (first, first.saturating_add(n)), |edge_row, edge| {
                    if !edge.refuted {
                        let first = edge.sites()?.first().copied();
                        visit(EdgePlace { edge_row, file_row: unit.file_row, first });
                    }
                    Ok(())
                })
            })
        })
    }

    pub fn each_unresolved(&self, mut visit: impl FnMut(UnresolvedPlace<'_>)) -> Result<()> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT source, name, line, col, reason FROM unresolved
                 WHERE site_row >= ?1 AND site_row < ?1 + ?2",
            )?;
            self.each_unit(db, |unit| {
                let mut rows = statement.query(unit.sites)?;
                while let Some(row) = rows.next()? {
                    visit(UnresolvedPlace {
                        source: row.get(0)?,
                        name: row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?,
                        position: Position { line: row.get(2)?, column: row.get(3)? },
                        reason: tabled(row, 4, Reason::from_id)?,
                        file_row: unit.file_row,
                    });
                }
                Ok(())
            })
        })
    }

    /// Sites in the body of a node, by position.
    pub fn unresolved_in(&self, node_row: u32) -> Result<Vec<UnresolvedRow>> {
        // The unit of a node holds the sites of its file too; rows of a unit stand together.
        self.unresolved(
            "WHERE r.source = (SELECT sym FROM nodes WHERE node_row = ?1)
               AND r.site_row >= (SELECT first_site FROM units JOIN nodes ON unit_row = unit WHERE node_row = ?1)
               AND r.site_row < (SELECT first_site + n_sites FROM units JOIN nodes ON unit_row = unit
                                 WHERE node_row = ?1)",
            [node_row],
        )
    }

    fn each_unit(
        &self,
        db: &Connection,
        mut visit: impl FnMut(&UnitRow) -> std::result::Result<(), Fault>,
    ) -> std::result::Result<(), Fault> {
        let mut statement = db.prepare_cached(
            "SELECT file_row, first_node, n_nodes, first_edge, n_edges, first_site, n_sites FROM units
             WHERE unit_row = ?1",
        )?;
        for unit_row in &self.units {
            let unit = statement.query_row([unit_row], |row| {
                Ok(UnitRow {
                    file_row: row.get(0)?,
                    nodes: (row.get(1)?, row.get(2)?),
                    edges: (row.get(3)?, row.get(4)?),
                    sites: (row.get(5)?, row.get(6)?),
                })
            })?;
            visit(&unit)?;
        }
        Ok(())
    }
}
