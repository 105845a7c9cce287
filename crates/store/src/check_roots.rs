//! Snapshots against what they are made of: sets, roots, ids, and the chain they form.

use knowing_model::{Hash, identity};
use knowing_snapshot::{EdgeLeaf, Tree};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::check::{Checked, Known, snapshot_identity};
use crate::error::Fault;
use crate::packed::decompress;
use crate::snapshots::{SnapshotRow, sets_of, snapshot_at};

pub(crate) fn check_snapshots(db: &Connection, checked: &mut Checked, known: &Known) -> Result<(), Fault> {
    let mut statement = db.prepare("SELECT snapshot_row FROM snapshots ORDER BY snapshot_row")?;
    let rows: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut snapshots: FxHashMap<i64, SnapshotRow> = FxHashMap::default();
    let mut roots = PackageRoots::default();
    for &row in &rows {
        checked.snapshots += 1;
        match snapshot_at(db, row) {
            Ok(Some(snapshot)) => {
                let name = name_of(&snapshot);
                if let Err(fault) = check_one(db, checked, known, &snapshot, &mut roots) {
                    checked.error("snapshots", format!("{name}: {}", in_words(&fault)));
                }
                snapshots.insert(row, snapshot);
            }
            Ok(None) => {}
            Err(fault) => {
                checked
                    .error("snapshots", format!("snapshot row {row} cannot be read: {}", in_words(&fault)));
            }
        }
    }
    for row in &rows {
        if let Some(snapshot) = snapshots.get(row) {
            check_chain(checked, snapshot, &snapshots);
        }
    }
    Ok(())
}

fn name_of(snapshot: &SnapshotRow) -> String {
    format!("snapshot row {} ({})", snapshot.row, &snapshot.id.to_string()[..12])
}

fn in_words(fault: &Fault) -> String {
    match fault {
        Fault::Damaged(what) => what.clone(),
        Fault::Sqlite(error) => error.to_string(),
        Fault::Io(error) => error.to_string(),
        Fault::Unsupported { .. } | Fault::TooLarge => "it is out of all bounds".to_owned(),
    }
}

fn check_one(
    db: &Connection,
    checked: &mut Checked,
    known: &Known,
    snapshot: &SnapshotRow,
    memory: &mut PackageRoots,
) -> Result<(), Fault> {
    let name = name_of(snapshot);
    let mut wrong = |what: String| checked.error("snapshots", format!("{name}: {what}"));
    match known.repos.get(&snapshot.repo) {
        Some(url) if identity::snapshot_id(snapshot_identity(url, snapshot)) == snapshot.id => {}
        Some(_) => wrong("its id is not that of its fields".to_owned()),
        None => wrong("its repository is not there".to_owned()),
    }
    let (files, units) = sets_of(db, snapshot)?;
    let n_missing = (&files - &known.files).len();
    if n_missing > 0 {
        wrong(format!("{n_missing} of its files are not there"));
    }
    let missing: Vec<u32> = units.iter().filter(|it| !known.units.contains_key(it)).collect();
    if let Some(first) = missing.first() {
        wrong(format!("{} of its units are not there, such as row {first}", missing.len()));
    }

    let packages = memory.packages_of(known, &units);
    let root = identity::root(
        packages.len() as u64,
        knowing_snapshot::merkle(&packages.iter().map(|it| it.1).collect::<Vec<_>>()),
    );
    if root != snapshot.root {
        wrong("its root is not that of its edges".to_owned());
    }
    let stored: Option<Vec<(String, [u8; 32])>> = db
        .query_row("SELECT package_roots FROM snapshots WHERE snapshot_row = ?1", [snapshot.row], |row| {
            Ok(decompress(row.get_ref(0)?.as_blob()?))
        })?
        .and_then(|plain| postcard::from_bytes(&plain).ok());
    match stored {
        None => wrong("the roots of its packages cannot be read".to_owned()),
        Some(stored) => {
            let same = stored.len() == packages.len()
                && stored.iter().zip(&packages).all(|(one, other)| one.0 == other.0 && one.1 == other.1.0);
            if !same {
                wrong("the roots of its packages are not those of their edges".to_owned());
            }
        }
    }

    let (mut nodes, mut ends) = (RoaringBitmap::new(), RoaringBitmap::new());
    let mut read = RoaringBitmap::new();
    for unit in units.iter().filter_map(|it| known.units.get(&it)) {
        nodes |= &unit.nodes;
        ends |= &unit.ends;
        read.insert(unit.file_row);
    }
    read.remove(0);
    // A file that was read has a unit, if only for itself.
    if missing.is_empty() && read != &files - &known.skipped {
        wrong("its files are not those that its units are of".to_owned());
    }
    let homeless = &ends - &nodes;
    if let Some(first) = homeless.min() {
        wrong(format!(
            "{} symbols that edges speak of have no node, such as symbol row {first}",
            homeless.len()
        ));
    }
    Ok(())
}

/// Roots of packages, remembered by the units that their edges come from: snapshots have most of them in common.
#[derive(Default)]
struct PackageRoots(FxHashMap<(u32, Hash), Hash>);

impl PackageRoots {
    /// (package, root) in byte order of the names.
    fn packages_of(&mut self, known: &Known, units: &RoaringBitmap) -> Vec<(String, Hash)> {
        // Which units speak of a package, in order.
        let mut of_package: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for unit in units {
            let Some(found) = known.units.get(&unit) else { continue };
            for leaf in &found.leaves {
                let units = of_package.entry(leaf.package).or_default();
                if units.last() != Some(&unit) {
                    units.push(unit);
                }
            }
        }
        let mut packages: Vec<(u32, Vec<u32>)> = of_package.into_iter().collect();
        packages.sort_unstable_by_key(|it| &known.packages[it.0 as usize]);
        let root_of = |(package, units): (u32, Vec<u32>)| {
            let mut key = knowing_model::Hasher::new("units");
            units.iter().for_each(|it| key.push(&it.to_le_bytes()));
            let name = &known.packages[package as usize];
            let root = *self.0.entry((package, key.finish())).or_insert_with(|| {
                let leaves =
                    units.iter().flat_map(|it| &known.units[it].leaves).filter(|it| it.package == package);
                let tree = Tree::build(leaves.map(|it| EdgeLeaf {
                    package: name,
                    kind: it.kind,
                    id: it.id,
                    provenance: it.provenance,
                    confidence_bp: it.confidence_bp,
                }));
                tree.packages[0].root
            });
            (name.clone(), root)
        };
        packages.into_iter().map(root_of).collect()
    }
}

fn check_chain(checked: &mut Checked, snapshot: &SnapshotRow, all: &FxHashMap<i64, SnapshotRow>) {
    let Some(parent) = snapshot.parent else { return };
    let name = name_of(snapshot);
    let message = match all.get(&parent) {
        None => format!("{name}: the snapshot it follows is not there"),
        Some(parent) if parent.repo != snapshot.repo => {
            format!("{name}: it follows one of another repository")
        }
        // Along a sound chain generations fall, so that it cannot run in a circle.
        Some(parent) if parent.generation.checked_add(1) != Some(snapshot.generation) => {
            format!("{name}: its generation {} does not follow {}", snapshot.generation, parent.generation)
        }
        Some(_) => return,
    };
    checked.error("chain", message);
}
