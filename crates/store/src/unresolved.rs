//! Calls that yield no edge.

use knowing_model::{Position, Reason};
use rusqlite::Row;

use crate::error::{Fault, Result};
use crate::packed::unpack_rows;
use crate::reader::Reader;
use crate::symbols::tabled;

/// A call that yields no edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnresolvedRow {
    pub site_row: u32,
    pub source: u32,
    pub name: String,
    pub receiver: String,
    pub n_arguments: u8,
    pub position: Position,
    pub reason: Reason,
    /// Symbols it may mean.
    pub candidates: Vec<u32>,
    pub path: String,
    pub language: String,
}

impl Reader<'_> {
    /// Sites whose called name is `name`, by path and position.
    pub fn unresolved_named(&self, name: &str) -> Result<Vec<UnresolvedRow>> {
        self.unresolved("WHERE r.name = ?1", [name])
    }

    /// All sites, by path and position.
    pub fn unresolved_all(&self) -> Result<Vec<UnresolvedRow>> {
        self.unresolved("", [])
    }

    pub(crate) fn unresolved(&self, condition: &str, parameters: impl rusqlite::Params) -> Result<Vec<UnresolvedRow>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(&format!(
                "SELECT r.site_row, r.source, r.name, r.receiver, r.argc, r.line, r.col, r.reason, r.candidates,
                        ifnull(f.path, ''), ifnull(f.language, ''), r.unit
                 FROM unresolved r JOIN units u ON u.unit_row = r.unit LEFT JOIN files f ON f.file_row = u.file_row
                 {condition}"
            ))?;
            let mut found = Vec::new();
            let mut rows = statement.query(parameters)?;
            while let Some(row) = rows.next()? {
                if self.units.contains(row.get(11)?) {
                    found.push(unresolved_of(row)?);
                }
            }
            found.sort_by(|one, other| {
                (&one.path, one.position, one.site_row).cmp(&(&other.path, other.position, other.site_row))
            });
            Ok(found)
        })
    }
}

fn unresolved_of(row: &Row<'_>) -> std::result::Result<UnresolvedRow, Fault> {
    let site_row: u32 = row.get(0)?;
    let candidates = unpack_rows(row.get_ref(8)?.as_blob().map_err(rusqlite::Error::from)?);
    Ok(UnresolvedRow {
        site_row,
        source: row.get(1)?,
        name: row.get(2)?,
        receiver: row.get(3)?,
        n_arguments: row.get(4)?,
        position: Position { line: row.get(5)?, column: row.get(6)? },
        reason: tabled(row, 7, Reason::from_id)?,
        candidates: candidates
            .ok_or_else(|| Fault::damaged(format!("the candidates of site row {site_row} cannot be read")))?,
        path: row.get(9)?,
        language: row.get(10)?,
    })
}
