//! Databases of earlier versions have a row for each edge; here they are put together. Edges keep their numbers, so that
//! images stay what they are.

use knowing_model::{EdgeKind, Provenance};
use rusqlite::{Connection, Row};

use crate::edge_rows::{EdgePacker, IN_A_ROW, StoredEdge};
use crate::error::Fault;
use crate::symbols::tabled;

pub(crate) fn pack_single_edges(db: &Connection) -> Result<(), Fault> {
    pack_all(db)?;
    Ok(db.execute_batch("DROP TABLE single_edges")?)
}

/// What cannot be read is left out: a damaged edge may not keep the rest from being opened, and fsck misses it.
fn pack_all(db: &Connection) -> Result<(), Fault> {
    let mut singles = db.prepare(
        "SELECT edge_row, unit, source, target, kind, base_provenance, base_confidence, t2_provenance, t2_confidence,
                refuted, site_count, sites
         FROM single_edges ORDER BY edge_row",
    )?;
    let mut insert = db.prepare("INSERT INTO edges (edge_row, unit, packed) VALUES (?1, ?2, ?3)")?;
    let mut packer = EdgePacker::default();
    // The number of the first edge, the unit, and how many there are.
    let mut open: Option<(i64, i64, usize)> = None;
    let mut rows = singles.query([])?;
    while let Some(row) = rows.next()? {
        let (edge_row, unit): (i64, i64) = (row.get(0)?, row.get(1)?);
        let Ok(edge) = edge_of(row) else { continue };
        match &mut open {
            Some((first, of, n)) if *of == unit && *n < IN_A_ROW && *first + *n as i64 == edge_row => *n += 1,
            before => {
                if let Some((first, of, _)) = before.replace((edge_row, unit, 1)) {
                    insert.execute((first, of, &packer.packed))?;
                }
                packer.clear();
            }
        }
        packer.push(&edge);
    }
    if let Some((first, of, _)) = open {
        insert.execute((first, of, &packer.packed))?;
    }
    Ok(())
}

fn edge_of<'row>(row: &'row Row<'_>) -> rusqlite::Result<StoredEdge<'row>> {
    let known = |at: usize| -> rusqlite::Result<Option<(Provenance, u16)>> {
        let confidence: Option<u16> = row.get(at + 1)?;
        confidence.map(|it| Ok((tabled(row, at, Provenance::from_id)?, it))).transpose()
    };
    Ok(StoredEdge {
        source: row.get(2)?,
        target: row.get(3)?,
        kind: tabled(row, 4, EdgeKind::from_id)?,
        base: known(5)?,
        t2: known(7)?,
        refuted: row.get(9)?,
        n_sites: row.get(10)?,
        sites: row.get_ref(11)?.as_blob()?,
    })
}
