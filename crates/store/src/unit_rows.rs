//! Rows of some units alone: what left a snapshot, and what came.

use std::collections::BTreeMap;
use std::ops::Range;

use knowing_model::Reason;
use rusqlite::Connection;

use crate::bulk::NodePlace;
use crate::edge_rows::each_edge;
use crate::error::{Fault, Result};
use crate::graph_rows::{GraphRows, Ranges, Seen, read_edges, read_nodes, read_virtual_nodes};
use crate::reader::Reader;
use crate::symbols::tabled;

/// Which rows are those of a unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitRange {
    pub file_row: i64,
    pub nodes: Range<u32>,
    pub edges: Range<u32>,
    pub sites: Range<u32>,
}

/// How many rows of which sort units have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub edges: BTreeMap<&'static str, u64>,
    pub unresolved: BTreeMap<&'static str, u64>,
}

impl Reader<'_> {
    /// Rows of all units, in ascending order.
    pub fn unit_rows(&self) -> Vec<u32> {
        self.units.iter().collect()
    }

    /// Rows of all files, those that were left out included, in ascending order.
    pub fn file_rows(&self) -> impl Iterator<Item = i64> {
        self.files.iter().map(i64::from)
    }

    pub fn ranges_of(&self, units: &[u32]) -> Result<Vec<UnitRange>> {
        self.read(|db| units.iter().map(|it| range_of(db, *it)).collect())
    }

    /// As `graph_rows`, of some units: nodes they have, edges they have, and all ends of those without a place.
    pub fn graph_rows_of(&self, units: &[u32]) -> Result<GraphRows> {
        self.read(|db| {
            let ranges = Ranges::of_units(db, &units.iter().copied().collect())?;
            let mut rows = GraphRows::default();
            let mut seen = Seen::default();
            let repeated = read_nodes(db, &ranges.nodes, &mut rows.nodes, &mut seen)?;
            rows.n_repeated = repeated.len() as u64;
            read_edges(db, &ranges.edges, &mut rows.edges, &mut seen)?;
            read_virtual_nodes(db, &seen, &mut rows.nodes)?;
            Ok(rows)
        })
    }

    /// Visits what a unit has, as the graph knows it: its nodes, by their rows and those of their symbols, and both ends of
    /// its edges.
    pub fn each_row_of(
        &self,
        range: &UnitRange,
        mut node: impl FnMut(u32, u32),
        mut edge: impl FnMut(u32, u32),
    ) -> Result<()> {
        self.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT node_row, sym FROM nodes WHERE node_row >= ?1 AND node_row < ?2")?;
            let mut rows = statement.query((range.nodes.start, range.nodes.end))?;
            while let Some(row) = rows.next()? {
                node(row.get(0)?, row.get(1)?);
            }
            each_edge(db, (range.edges.start, range.edges.end), |_, it| {
                if !it.refuted {
                    edge(it.source, it.target);
                }
                Ok(())
            })
        })
    }

    pub fn tally_of(&self, ranges: &[UnitRange]) -> Result<Tally> {
        self.read(|db| {
            let mut tally = Tally::default();
            let mut sites = db.prepare_cached(
                "SELECT reason, count(*) FROM unresolved WHERE site_row >= ?1 AND site_row < ?2 GROUP BY reason",
            )?;
            for range in ranges {
                each_edge(db, (range.edges.start, range.edges.end), |_, edge| {
                    let (provenance, _) = edge.base.ok_or_else(|| Fault::damaged("an edge has no provenance"))?;
                    *tally.edges.entry(provenance.name()).or_default() += 1;
                    Ok(())
                })?;
                let mut rows = sites.query((range.sites.start, range.sites.end))?;
                while let Some(row) = rows.next()? {
                    let name = tabled(row, 0, Reason::from_id)?.name();
                    *tally.unresolved.entry(name).or_default() += row.get::<_, i64>(1)? as u64;
                }
            }
            Ok(tally)
        })
    }

    /// Where the nodes of a unit stand.
    pub fn node_places_of(&self, range: &UnitRange, mut visit: impl FnMut(NodePlace)) -> Result<()> {
        self.read(|db| {
            let mut statement = db.prepare_cached(
                "SELECT node_row, sym, line_start, line_end FROM nodes WHERE node_row >= ?1 AND node_row < ?2",
            )?;
            let mut rows = statement.query((range.nodes.start, range.nodes.end))?;
            while let Some(row) = rows.next()? {
                visit(NodePlace {
                    node_row: row.get(0)?,
                    sym: row.get(1)?,
                    file_row: range.file_row,
                    first_line: row.get(2)?,
                    last_line: row.get(3)?,
                });
            }
            Ok(())
        })
    }
}

fn range_of(db: &Connection, unit: u32) -> std::result::Result<UnitRange, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT file_row, first_node, n_nodes, first_edge, n_edges, first_site, n_sites FROM units
         WHERE unit_row = ?1",
    )?;
    Ok(statement.query_row([unit], |row| {
        let range = |at: usize| -> rusqlite::Result<Range<u32>> {
            let (first, n): (u32, u32) = (row.get(at)?, row.get(at + 1)?);
            Ok(first..first.saturating_add(n))
        };
        Ok(UnitRange { file_row: row.get(0)?, nodes: range(1)?, edges: range(3)?, sites: range(5)? })
    })?)
}
