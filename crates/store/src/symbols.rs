//! Identities, interned: a symbol has one row number in a database, whatever file versions speak of it.

use std::sync::Arc;

use knowing_model::{ContainerClass, Hash, NodeId, NodeKind, Symbol};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};
use rustc_hash::FxHashMap;

use crate::error::Fault;
use crate::name_keys::NameKeys;

/// A symbol and its row number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolRow {
    pub sym: u32,
    pub symbol: Symbol,
}

impl SymbolRow {
    pub fn qualified_name(&self) -> String {
        self.symbol.qualified_name()
    }
}

/// Gives symbols of a new snapshot their rows when they are first needed: what is only spoken of by units that are
/// stored already is never looked up.
pub(crate) struct Interner<'db, 'a> {
    db: &'db Connection,
    symbols: &'a [Symbol],
    /// Row of each symbol, 0 while it is not known.
    rows: Vec<u32>,
    containers: FxHashMap<(&'a str, ContainerClass, &'a str), i64>,
    /// As `containers`, by where the texts stand: most symbols of one container share them.
    shared: FxHashMap<(*const u8, ContainerClass, *const u8), i64>,
    name_keys: NameKeys,
    /// The database knew this repository before, so that most symbols are stored.
    known_repo: bool,
    find: CachedStatement<'db>,
    insert: CachedStatement<'db>,
    container: CachedStatement<'db>,
}

impl<'db, 'a> Interner<'db, 'a> {
    pub(crate) fn new(
        db: &'db Connection,
        symbols: &'a [Symbol],
        known_repo: bool,
    ) -> Result<Interner<'db, 'a>, Fault> {
        Ok(Interner {
            db,
            symbols,
            rows: vec![0; symbols.len()],
            containers: FxHashMap::default(),
            shared: FxHashMap::default(),
            name_keys: NameKeys::new(),
            known_repo,
            find: db.prepare_cached("SELECT sym FROM symbols WHERE node_id = ?1")?,
            insert: db.prepare_cached(
                "INSERT INTO symbols (node_id, container_row, kind, symbol, name, name_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (node_id) DO NOTHING",
            )?,
            container: db.prepare_cached(
                "INSERT INTO containers (repo, class, container) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET class = class RETURNING container_row",
            )?,
        })
    }

    /// Interns all symbols, given in order of their ids: the index of ids then grows at its end alone. Saves 0.1 of 0.6
    /// cpu-s in a first index of 53 k symbols.
    pub(crate) fn intern_all(&mut self, by_id: &[u32]) -> Result<(), Fault> {
        by_id.iter().try_for_each(|&it| self.row(it).map(drop))
    }

    pub(crate) fn symbol(&self, at: u32) -> &'a Symbol {
        &self.symbols[at as usize]
    }

    pub(crate) fn row(&mut self, at: u32) -> Result<u32, Fault> {
        let known = self.rows[at as usize];
        if known != 0 {
            return Ok(known);
        }
        let row = self.intern(&self.symbols[at as usize])?;
        self.rows[at as usize] = row;
        Ok(row)
    }

    fn intern(&mut self, symbol: &'a Symbol) -> Result<u32, Fault> {
        let id = symbol.id.as_bytes();
        if self.known_repo
            && let Some(row) = self.find.query_row([id], |row| row.get(0)).optional()?
        {
            return Ok(row);
        }
        let container = self.container_row(symbol)?;
        let name_key = self.name_keys.of(&symbol.path, &symbol.name);
        let values = (id, container, symbol.kind.id(), &*symbol.path, &*symbol.name, name_key);
        if self.insert.execute(values)? == 0 {
            return Ok(self.find.query_row([id], |row| row.get(0))?);
        }
        u32::try_from(self.db.last_insert_rowid()).map_err(|_| Fault::TooLarge)
    }

    fn container_row(&mut self, symbol: &'a Symbol) -> Result<i64, Fault> {
        // Texts of symbols that are in memory all the time stand in no other's place; empty ones have none.
        let place = (symbol.repo.as_ptr(), symbol.class, symbol.container.as_ptr());
        if !symbol.container.is_empty()
            && let Some(&row) = self.shared.get(&place)
        {
            return Ok(row);
        }
        let row = self.container_row_by_text(symbol)?;
        self.shared.insert(place, row);
        Ok(row)
    }

    fn container_row_by_text(&mut self, symbol: &'a Symbol) -> Result<i64, Fault> {
        let key = (&*symbol.repo, symbol.class, &*symbol.container);
        if let Some(&row) = self.containers.get(&key) {
            return Ok(row);
        }
        let (repo, class, container) = key;
        let row = self.container.query_row((repo, class.id(), container), |row| row.get(0))?;
        self.containers.insert(key, row);
        Ok(row)
    }
}

/// Columns and tables of `symbol_of`, in its order.
pub(crate) const SYMBOLS: &str =
    "SELECT s.sym, s.node_id, c.repo, c.class, c.container, s.symbol, s.kind, s.name
     FROM symbols s JOIN containers c ON c.container_row = s.container_row";

pub(crate) fn symbol_of(row: &Row<'_>) -> rusqlite::Result<SymbolRow> {
    let text = |at| row.get_ref(at)?.as_str().map(Arc::<str>::from).map_err(rusqlite::Error::from);
    Ok(SymbolRow {
        sym: row.get(0)?,
        symbol: Symbol {
            id: NodeId(Hash(row.get(1)?)),
            repo: text(2)?,
            class: tabled(row, 3, ContainerClass::from_id)?,
            container: text(4)?,
            path: text(5)?,
            kind: tabled(row, 6, NodeKind::from_id)?,
            name: text(7)?,
        },
    })
}

/// An id that must be in one of the closed tables.
pub(crate) fn tabled<T>(row: &Row<'_>, at: usize, from_id: fn(u8) -> Option<T>) -> rusqlite::Result<T> {
    let id: u8 = row.get(at)?;
    from_id(id).ok_or(rusqlite::Error::IntegralValueOutOfRange(at, i64::from(id)))
}
