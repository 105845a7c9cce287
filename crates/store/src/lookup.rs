//! Finding symbols by what people type. The rows are those of this repository and of virtual things; whether a symbol is
//! in the snapshot, the caller's graph image knows.

use knowing_model::ContainerClass;
use knowing_model::name::{Case, is_suffix, without_suffix};
use rusqlite::{Connection, Params};

use crate::error::{Fault, Result};
use crate::name_keys::NameKeys;
use crate::reader::Reader;
use crate::symbols::{SYMBOLS, SymbolRow, symbol_of};

/// Those that have borders inside their names (`name_keys.rs`).
const MANY_SEGMENTS: &str = "s.name_key < 0";

impl Reader<'_> {
    /// Symbols whose id begins with these hex digits, in order of ids.
    pub fn symbols_by_id_prefix(&self, prefix: &str) -> Result<Vec<SymbolRow>> {
        let Some((first, last)) = id_range(prefix) else { return Ok(Vec::new()) };
        self.found(|db, found| self.select(db, "s.node_id BETWEEN ?1 AND ?2", (first, last), found))
    }

    /// Symbols whose whole qualified name this is (several when they differ by kind alone).
    pub fn symbols_by_qname(&self, qualified_name: &str) -> Result<Vec<SymbolRow>> {
        let Some((_, rest)) = qualified_name.split_once("://") else { return Ok(Vec::new()) };
        let mut found = self.found(|db, found| self.ending_with(db, rest, found))?;
        found.retain(|it| it.qualified_name() == qualified_name);
        Ok(found)
    }

    /// Symbols of this name, whatever its case.
    pub fn symbols_named(&self, name: &str) -> Result<Vec<SymbolRow>> {
        let lower = name.to_lowercase();
        let mut found = self.found(|db, found| self.select_named(db, [name, name], found))?;
        found.retain(|it| it.symbol.name.to_lowercase() == lower);
        Ok(found)
    }

    /// Symbols whose `container.symbol` ends with this on a segment border.
    pub fn symbols_ending_with(&self, suffix: &str, case: Case) -> Result<Vec<SymbolRow>> {
        let mut found = self.found(|db, found| self.ending_with(db, suffix, found))?;
        found.retain(|it| is_suffix(&after_repo(it), suffix, case));
        Ok(found)
    }

    /// All that may end with `suffix`, and more.
    ///
    /// A symbol path ends with its name, so that the last segment of what is wanted is the name of what is meant; only
    /// names that have borders inside themselves (files, routes) can end with less than their whole, and those are few
    /// enough to look at each.
    fn ending_with(
        &self,
        db: &Connection,
        suffix: &str,
        found: &mut Vec<SymbolRow>,
    ) -> std::result::Result<(), Fault> {
        let wanted = suffix.replace("::", ".").to_lowercase();
        let names = [last_segment(without_suffix(&wanted)), last_segment(&wanted)];
        self.select_named(db, names, found)?;
        let by_name = found.len();
        self.select(db, MANY_SEGMENTS, [], found)?;
        let repeated: Vec<u32> = found[..by_name].iter().map(|it| it.sym).collect();
        let mut at = 0;
        found.retain(|it| {
            at += 1;
            at <= by_name || !repeated.contains(&it.sym) && is_suffix(&after_repo(it), suffix, Case::Ignored)
        });
        Ok(())
    }

    /// Those of one of two names, whatever the case, and whoever has the same key.
    fn select_named(
        &self,
        db: &Connection,
        names: [&str; 2],
        found: &mut Vec<SymbolRow>,
    ) -> std::result::Result<(), Fault> {
        let mut keys = NameKeys::new();
        let mut keys = names.map(|it| keys.of_name(it));
        keys.sort_unstable();
        let [one, other] = keys;
        self.select(db, "s.name_key IN (?1, ?2, ?3, ?4)", [one, other, -1 - one, -1 - other], found)
    }

    fn select(
        &self,
        db: &Connection,
        condition: &str,
        parameters: impl Params,
        found: &mut Vec<SymbolRow>,
    ) -> std::result::Result<(), Fault> {
        let mut statement = db.prepare_cached(&format!("{SYMBOLS} WHERE {condition}"))?;
        for row in statement.query_map(parameters, symbol_of)? {
            let row = row?;
            if row.symbol.class == ContainerClass::Virtual || *row.symbol.repo == *self.url {
                found.push(row);
            }
        }
        Ok(())
    }

    /// What a search adds, in order of ids.
    fn found(
        &self,
        search: impl FnOnce(&Connection, &mut Vec<SymbolRow>) -> std::result::Result<(), Fault>,
    ) -> Result<Vec<SymbolRow>> {
        self.read(|db| {
            let mut found = Vec::new();
            search(db, &mut found)?;
            found.sort_unstable_by_key(|it| it.symbol.id);
            Ok(found)
        })
    }
}

/// `container.symbol`.
fn after_repo(row: &SymbolRow) -> String {
    let mut name = row.qualified_name();
    name.split_off(row.symbol.repo.len() + "://".len())
}

fn last_segment(text: &str) -> &str {
    text.rsplit(['.', '/', '#']).next().unwrap_or(text)
}

/// The smallest and the largest id with a prefix; none when it is no prefix of an id.
pub(crate) fn id_range(prefix: &str) -> Option<([u8; 32], [u8; 32])> {
    if prefix.is_empty() || prefix.len() > 64 {
        return None;
    }
    let (mut first, mut last) = ([0; 32], [0xff; 32]);
    for (at, digit) in prefix.chars().enumerate() {
        let digit = digit.to_digit(16)? as u8;
        let (shift, mask) = if at % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
        first[at / 2] |= digit << shift;
        last[at / 2] = last[at / 2] & mask | digit << shift;
    }
    Some((first, last))
}
