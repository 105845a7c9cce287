//! fsck: everything that is hashed is hashed again, and everything that is named must be there.
//!
//! ```text
//! pages ─> repositories ─> symbols ─> files ─> units (digest over all their rows) ─> snapshots (roots, ids, chain)
//! ```
//!
//! A row that cannot be read is a finding like any other: checking goes on with the next.

use std::path::Path;

use knowing_model::identity::{self, Identity, SnapshotIdentity};
use knowing_model::{ContainerClass, FileId, Hash, NodeId, NodeKind, package_of};
use roaring::RoaringBitmap;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;

use crate::check_roots::check_snapshots;
use crate::check_texts::{Remakable, check_texts};
use crate::check_units::check_units;
use crate::connection::Store;
use crate::error::{Fault, Result};
use crate::name_keys::NameKeys;

/// How bad something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub severity: Severity,
    /// Which check found it: `pages`, `ids`, `units`, `snapshots`, `chain`, `facts`, `terms`, `history`.
    pub check: &'static str,
    pub message: String,
}

/// What was looked at and what was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    pub findings: Vec<Finding>,
    pub repos: u64,
    pub snapshots: u64,
    pub files: u64,
    pub symbols: u64,
    pub units: u64,
    pub nodes: u64,
    pub edges: u64,
    pub unresolved: u64,
    /// What of it can be made again.
    pub remakable: Remakable,
}

impl Checked {
    pub(crate) fn warning(&mut self, check: &'static str, message: impl Into<String>) {
        self.findings.push(Finding { severity: Severity::Warning, check, message: message.into() });
    }

    pub(crate) fn error(&mut self, check: &'static str, message: impl Into<String>) {
        self.findings.push(Finding { severity: Severity::Error, check, message: message.into() });
    }

    /// A stage that could not be finished is a finding too.
    fn stage(&mut self, check: &'static str, path: &Path, ran: std::result::Result<(), Fault>) -> Result<()> {
        match ran {
            Ok(()) => Ok(()),
            Err(fault) => match fault.at(path) {
                crate::Error::Corrupt { reason, .. } | crate::Error::Internal { reason, .. } => {
                    self.error(check, reason);
                    Ok(())
                }
                other => Err(other),
            },
        }
    }
}

impl Store {
    /// Pages and references between rows: what SQLite itself can tell.
    pub fn check_pages(&self) -> Result<Checked> {
        let mut checked = Checked::default();
        let ran = check_pages(&self.connection, &mut checked);
        checked.stage("pages", self.path(), ran)?;
        Ok(checked)
    }

    /// Everything, of all repositories in the database.
    pub fn check(&self) -> Result<Checked> {
        // SQLite looks at its pages, and we at the rows, each with a connection of its own. A file whose pages are damaged
        // may not be opened twice.
        let path = self.path();
        let second = Store::open_existing(path).ok().flatten();
        std::thread::scope(|scope| {
            let pages = second.map(|it| scope.spawn(move || it.check_pages()));
            let mut checked = Checked::default();
            // One state of the database, whatever is written meanwhile.
            self.read(|db| Ok(db.execute_batch("BEGIN DEFERRED")?))?;
            let ran = self.check_rows(&mut checked);
            let _ = self.connection.execute_batch("COMMIT");
            ran?;
            let pages = match pages.map(|it| it.join()) {
                Some(Ok(checked)) => checked?,
                _ => self.check_pages()?,
            };
            checked.findings.splice(..0, pages.findings);
            Ok(checked)
        })
    }

    pub(crate) fn check_rows(&self, checked: &mut Checked) -> Result<()> {
        let (db, path) = (&self.connection, self.path());
        let mut known = Known::default();
        let ran = check_repos(db, checked, &mut known);
        checked.stage("ids", path, ran)?;
        let ran = check_symbols(db, checked, &mut known);
        checked.stage("ids", path, ran)?;
        let ran = check_files(db, checked, &mut known);
        checked.stage("ids", path, ran)?;
        let ran = check_units(db, checked, &mut known);
        checked.stage("units", path, ran)?;
        let ran = check_snapshots(db, checked, &known);
        checked.stage("snapshots", path, ran)?;
        let ran = check_texts(db, checked, &known);
        checked.stage("history", path, ran)
    }
}

/// What later checks rely on.
#[derive(Default)]
pub(crate) struct Known {
    /// Url by row.
    pub(crate) repos: FxHashMap<i64, String>,
    /// By row; rows are dense. None where there is no such symbol.
    pub(crate) symbols: Vec<Option<KnownSymbol>>,
    /// Names of packages, by their numbers.
    pub(crate) packages: Vec<String>,
    pub(crate) files: RoaringBitmap,
    /// Those among them that were left out, and have no unit.
    pub(crate) skipped: RoaringBitmap,
    pub(crate) units: FxHashMap<u32, KnownUnit>,
}

#[derive(Clone, Copy)]
pub(crate) struct KnownSymbol {
    pub(crate) id: NodeId,
    pub(crate) is_virtual: bool,
    /// Its number.
    pub(crate) package: u32,
}

/// What the root of a snapshot takes from a unit.
#[derive(Default)]
pub(crate) struct KnownUnit {
    /// 0 for what has no file.
    pub(crate) file_row: u32,
    pub(crate) leaves: Vec<KnownLeaf>,
    /// Symbols that it has node rows for.
    pub(crate) nodes: RoaringBitmap,
    /// Symbols with a place that its edges speak of.
    pub(crate) ends: RoaringBitmap,
}

#[derive(Clone, Copy)]
pub(crate) struct KnownLeaf {
    pub(crate) package: u32,
    pub(crate) kind: knowing_model::EdgeKind,
    pub(crate) provenance: knowing_model::Provenance,
    pub(crate) confidence_bp: u16,
    pub(crate) id: knowing_model::EdgeId,
}

impl Known {
    pub(crate) fn symbol(&self, sym: i64) -> Option<&KnownSymbol> {
        self.symbols.get(usize::try_from(sym).ok()?)?.as_ref()
    }
}

fn check_pages(db: &Connection, checked: &mut Checked) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare("PRAGMA integrity_check(1000)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let message: String = row.get(0)?;
        if message != "ok" {
            checked.error("pages", message);
        }
    }
    let mut statement = db.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, rowid, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let rowid = rowid.map(|it| it.to_string()).unwrap_or_default();
        checked.error(
            "pages",
            format!("row {rowid} of `{table}` speaks of a row of `{parent}` that is not there"),
        );
    }
    Ok(())
}

fn check_repos(db: &Connection, checked: &mut Checked, known: &mut Known) -> std::result::Result<(), Fault> {
    let mut statement = db.prepare("SELECT repo_id, hash, url FROM repos")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        checked.repos += 1;
        let id: i64 = row.get(0)?;
        match (blob(row, 1), text(row, 2)) {
            (Some(hash), Some(url)) if *identity::repo_id(url).as_bytes() == *hash => {
                known.repos.insert(id, url.to_owned());
            }
            (_, url) => {
                checked.error("ids", format!("repository row {id}: its hash is not that of its url"));
                known.repos.insert(id, url.unwrap_or_default().to_owned());
            }
        }
    }
    Ok(())
}

/// Repository, class and container of a row, and the number of its package.
type Container = (String, ContainerClass, String, u32);

fn check_symbols(
    db: &Connection,
    checked: &mut Checked,
    known: &mut Known,
) -> std::result::Result<(), Fault> {
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let mut containers: FxHashMap<i64, Container> = FxHashMap::default();
    let mut statement = db.prepare("SELECT container_row, repo, class, container FROM containers")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let class = small(row, 2).and_then(ContainerClass::from_id);
        let (Some(repo), Some(class), Some(container)) = (text(row, 1), class, text(row, 3)) else {
            checked.error("ids", format!("container row {id} cannot be read"));
            continue;
        };
        let package = package_of(class, container);
        let number = *numbers.entry(package.to_owned()).or_insert_with(|| {
            known.packages.push(package.to_owned());
            known.packages.len() as u32 - 1
        });
        containers.insert(id, (repo.to_owned(), class, container.to_owned(), number));
    }
    let mut statement = db.prepare(
        "SELECT sym, node_id, container_row, kind, symbol, name, name_key FROM symbols ORDER BY sym",
    )?;
    let mut rows = statement.query([])?;
    let mut name_keys = NameKeys::new();
    while let Some(row) = rows.next()? {
        checked.symbols += 1;
        let sym: i64 = row.get(0)?;
        let id = blob(row, 1).and_then(|it| <[u8; 32]>::try_from(it).ok());
        let container = row.get::<_, i64>(2).ok().and_then(|it| containers.get(&it));
        let kind = small(row, 3).and_then(NodeKind::from_id);
        let names = (text(row, 4), text(row, 5));
        let (Some(id), Some((repo, class, container, package)), Some(kind), (Some(symbol), Some(name))) =
            (id, container, kind, names)
        else {
            checked.error("ids", format!("symbol row {sym} cannot be read"));
            continue;
        };
        let (id, class) = (NodeId(Hash(id)), *class);
        if identity::node_id(Identity { repo, class, container, symbol, kind }) != id {
            checked.error(
                "ids",
                format!("symbol row {sym}: its id is not that of its fields (`{container}.{symbol}`)"),
            );
        }
        if row.get::<_, i64>(6).ok() != Some(name_keys.of(symbol, name)) {
            checked.error("ids", format!("symbol row {sym}: it cannot be found by its name `{name}`"));
        }
        let at = usize::try_from(sym).map_err(|_| Fault::damaged(format!("symbol row {sym} is negative")))?;
        // Rows are dense but for what was collected; a number far outside is damage, not a reason to fill the memory.
        if at > MAX_ROW {
            checked.error("ids", format!("symbol row {sym} is out of all bounds"));
            continue;
        }
        if at >= known.symbols.len() {
            known.symbols.resize(at + 1, None);
        }
        let is_virtual = class == ContainerClass::Virtual;
        known.symbols[at] = Some(KnownSymbol { id, is_virtual, package: *package });
    }
    Ok(())
}

const MAX_ROW: usize = 1 << 30;

fn check_files(db: &Connection, checked: &mut Checked, known: &mut Known) -> std::result::Result<(), Fault> {
    let mut statement =
        db.prepare("SELECT file_row, repo_id, hash, path, blob, package, skip_reason FROM files")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        checked.files += 1;
        let id: i64 = row.get(0)?;
        let url = row.get::<_, i64>(1).ok().and_then(|it| known.repos.get(&it));
        let fields = (blob(row, 2), text(row, 3), blob(row, 4), text(row, 5));
        let (Some(url), (Some(hash), Some(path), Some(content), Some(package))) = (url, fields) else {
            checked.error("ids", format!("file row {id} cannot be read"));
            continue;
        };
        let file: FileId = identity::file_id(url, path, content);
        if *file.as_bytes() != *hash {
            checked.error(
                "ids",
                format!("file row {id}: its id is not that of its path and content (`{path}`)"),
            );
        } else if package_of(ContainerClass::File, path) != package {
            checked.error("ids", format!("file row {id}: `{package}` is not the package of `{path}`"));
        }
        match u32::try_from(id) {
            Ok(id) => {
                known.files.insert(id);
                if text(row, 6) != Some("") {
                    known.skipped.insert(id);
                }
            }
            Err(_) => checked.error("ids", format!("file row {id} is out of all bounds")),
        }
    }
    Ok(())
}

/// None when it is no text.
pub(crate) fn text<'a>(row: &'a Row<'_>, at: usize) -> Option<&'a str> {
    row.get_ref(at).ok()?.as_str().ok()
}

pub(crate) fn blob<'a>(row: &'a Row<'_>, at: usize) -> Option<&'a [u8]> {
    match row.get_ref(at).ok()? {
        ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

pub(crate) fn small(row: &Row<'_>, at: usize) -> Option<u8> {
    row.get(at).ok()
}

/// The identity of a snapshot, for its id.
pub(crate) fn snapshot_identity<'a>(url: &'a str, snapshot: &'a crate::SnapshotRow) -> SnapshotIdentity<'a> {
    SnapshotIdentity {
        url,
        commit: &snapshot.commit,
        stage: snapshot.stage,
        ruleset: snapshot.ruleset,
        root: snapshot.root,
        dirty: snapshot.dirty,
    }
}
