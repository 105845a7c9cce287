//! The symbols of one package, for what looks at its edges alone.

use knowing_model::{ContainerClass, package_of};
use rusqlite::Error::IntegralValueOutOfRange;
use rustc_hash::FxHashSet;

use crate::error::Result;
use crate::reader::Reader;

impl Reader<'_> {
    /// Rows of all symbols whose package this is, in this snapshot or another.
    pub fn symbols_of_package(&self, package: &str) -> Result<Vec<u32>> {
        self.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT container_row, repo, class, container FROM containers")?;
            let mut containers = FxHashSet::default();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let class: u8 = row.get(2)?;
                let class =
                    ContainerClass::from_id(class).ok_or(IntegralValueOutOfRange(2, i64::from(class)))?;
                let text = |at: usize| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
                let is_here = class == ContainerClass::Virtual || text(1)? == self.url;
                if is_here && package_of(class, text(3)?) == package {
                    containers.insert(row.get::<_, i64>(0)?);
                }
            }
            // There is no index by container: a scan of 70,000 rows takes 10 ms, and proofs are not made by the thousand.
            let mut statement = db.prepare_cached("SELECT sym, container_row FROM symbols")?;
            let mut symbols = Vec::new();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if containers.contains(&row.get::<_, i64>(1)?) {
                    symbols.push(row.get(0)?);
                }
            }
            Ok(symbols)
        })
    }
}
