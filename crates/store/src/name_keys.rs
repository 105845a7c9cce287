//! Names as numbers, by which symbols are found. An index of numbers is made in half of the time of one of texts, and
//! takes half of its room; two names of one number are told apart by whoever reads the rows.
//!
//! ```text
//! 0 and above   a sum of the name in lower case
//! below 0       of what a text can mean that is not just the end of a symbol path: files, packages, routes
//! ```

use knowing_model::checksum;
use rusqlite::Connection;

use crate::error::Fault;

/// Makes keys, one after the other in the same memory.
pub(crate) struct NameKeys {
    lower: String,
}

impl NameKeys {
    pub(crate) fn new() -> NameKeys {
        NameKeys { lower: String::new() }
    }

    /// Of a symbol: its path, and the last segment of that or of the container.
    pub(crate) fn of(&mut self, symbol: &str, name: &str) -> i64 {
        let key = self.of_name(name);
        if symbol.is_empty() || has_borders(name) { -1 - key } else { key }
    }

    /// Of a name without borders, whatever its case.
    pub(crate) fn of_name(&mut self, name: &str) -> i64 {
        self.lower.clear();
        match name.is_ascii() {
            true => {
                self.lower.push_str(name);
                self.lower.make_ascii_lowercase();
            }
            false => self.lower = name.to_lowercase(),
        }
        // Four bytes of it: a row and its place in the index are the smaller.
        i64::from((checksum(self.lower.as_bytes()) >> 33) as u32)
    }
}

fn has_borders(name: &str) -> bool {
    name.bytes().any(|it| matches!(it, b'.' | b'/' | b'#' | b':'))
}

/// Copies the symbols of a database in which names were texts in lower case.
pub(crate) fn copy_symbols(db: &Connection) -> Result<(), Fault> {
    let mut keys = NameKeys::new();
    let mut before = db.prepare(
        "SELECT sym, node_id, container_row, kind, symbol, name FROM symbols_by_text ORDER BY sym",
    )?;
    let mut insert = db.prepare(
        "INSERT INTO symbols (sym, node_id, container_row, kind, symbol, name, name_key)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut rows = before.query([])?;
    while let Some(row) = rows.next()? {
        let (symbol, name) = (row.get_ref(4)?.as_str(), row.get_ref(5)?.as_str());
        // A damaged symbol may not keep the rest from being opened, and fsck misses it.
        let (Ok(symbol), Ok(name)) = (symbol, name) else { continue };
        let key = keys.of(symbol, name);
        let id = (row.get::<_, i64>(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
        insert.execute((id.0, id.1, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?, symbol, name, key))?;
    }
    Ok(db.execute_batch("DROP TABLE symbols_by_text")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_the_name_whatever_its_case_and_says_whether_it_has_borders() {
        let mut keys = NameKeys::new();
        assert_eq!(keys.of("Scaffold.Run", "Run"), keys.of_name("rUN"));
        assert_eq!(keys.of("Straße", "Straße"), keys.of_name("STRAßE"));
        assert!(keys.of_name("run") >= 0);
        for (symbol, name) in [("", "app.py"), ("", "src"), ("GET /users", "GET /users"), ("a::b", "a::b")] {
            assert_eq!(keys.of(symbol, name), -1 - keys.of_name(name), "{name}");
        }
        assert_ne!(keys.of_name("run"), keys.of_name("ran"));
    }
}
