//! Rows of one table, many with one statement: a statement that is run for each row spends most of its time on starting.

use rusqlite::{CachedStatement, Connection, ToSql};

use crate::error::Fault;

pub(crate) struct Insert<'db> {
    db: &'db Connection,
    table: &'static str,
    columns: &'static [&'static str],
    /// What follows the rows.
    otherwise: &'static str,
    one: CachedStatement<'db>,
    /// Made when first needed: an update of a few files has no use for it.
    many: Option<CachedStatement<'db>>,
}

/// Rows of a statement for many.
pub(crate) const MANY: usize = 16;

impl<'db> Insert<'db> {
    pub(crate) fn new(
        db: &'db Connection,
        table: &'static str,
        columns: &'static [&'static str],
    ) -> Result<Insert<'db>, Fault> {
        Insert::or(db, table, columns, "")
    }

    /// As `new`, with what is to be done about rows that are there already.
    pub(crate) fn or(
        db: &'db Connection,
        table: &'static str,
        columns: &'static [&'static str],
        otherwise: &'static str,
    ) -> Result<Insert<'db>, Fault> {
        let one = prepare(db, table, columns, otherwise, 1)?;
        Ok(Insert { db, table, columns, otherwise, one, many: None })
    }

    /// Writes a row for each item, in their order; `values` adds those of a row in the order of the columns. How many rows
    /// are new.
    pub(crate) fn write<T>(
        &mut self,
        items: &[T],
        mut values: impl FnMut(&mut Values<'_, 'db>, &T) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let (many, rest) = items.as_chunks::<MANY>();
        if !many.is_empty() && self.many.is_none() {
            self.many = Some(prepare(self.db, self.table, self.columns, self.otherwise, MANY)?);
        }
        let mut n_new = 0;
        if let Some(statement) = &mut self.many {
            for items in many {
                n_new += run(statement, items, &mut values)?;
            }
        }
        for item in rest {
            n_new += run(&mut self.one, std::slice::from_ref(item), &mut values)?;
        }
        Ok(n_new)
    }
}

/// The values of a statement, in the making.
pub(crate) struct Values<'s, 'db> {
    statement: &'s mut CachedStatement<'db>,
    n_added: usize,
}

impl Values<'_, '_> {
    pub(crate) fn add(&mut self, value: impl ToSql) -> Result<(), Fault> {
        self.n_added += 1;
        Ok(self.statement.raw_bind_parameter(self.n_added, value)?)
    }
}

fn run<'db, T>(
    statement: &mut CachedStatement<'db>,
    items: &[T],
    values: &mut impl FnMut(&mut Values<'_, 'db>, &T) -> Result<(), Fault>,
) -> Result<usize, Fault> {
    let mut row = Values { statement: &mut *statement, n_added: 0 };
    items.iter().try_for_each(|it| values(&mut row, it))?;
    Ok(statement.raw_execute()?)
}

fn prepare<'db>(
    db: &'db Connection,
    table: &str,
    columns: &[&str],
    otherwise: &str,
    n_rows: usize,
) -> Result<CachedStatement<'db>, Fault> {
    let row = format!("({})", vec!["?"; columns.len()].join(", "));
    let rows = vec![row; n_rows].join(", ");
    Ok(db
        .prepare_cached(&format!("INSERT INTO {table} ({}) VALUES {rows} {otherwise}", columns.join(", ")))?)
}
