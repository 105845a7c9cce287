//! How many images are kept: those that checkouts stand on, and of the others the newest, up to a bound in bytes.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use knowing_model::SnapshotId;
use knowing_search::Collection;
use knowing_store::Store;

use crate::{Result, search};

/// `image_bytes`: all images of a database together.
pub(crate) const MAX_BYTES: u64 = 2 << 30;

/// Removes what was written longest ago beyond the bound. Images can be built anew, so that nothing is lost, and what
/// cannot be removed now is removed some other time.
pub(crate) fn sweep(store: &Store, max_bytes: u64) -> Result<()> {
    let Ok(entries) = fs::read_dir(store.images_dir()) else { return Ok(()) };
    let mut images: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in entries.flatten() {
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
        {
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            images.push((written, entry.path(), metadata.len()));
        }
    }
    let mut total: u64 = images.iter().map(|it| it.2).sum();
    if total <= max_bytes {
        return Ok(());
    }
    let heads: Vec<SnapshotId> = store.heads()?;
    // What is kept as changes needs the image that they are changes of.
    let bases = heads.iter().filter_map(|it| Collection::base_of(&search::path_of(store, *it)));
    let bases: Vec<PathBuf> = bases.map(|it| search::path_of(store, it)).collect();
    let kept: Vec<String> = heads.iter().map(ToString::to_string).collect();
    images.sort();
    for (_, path, n_bytes) in images {
        let is_kept = path.file_stem().is_some_and(|stem| kept.iter().any(|it| stem == it.as_str()))
            || bases.contains(&path);
        if total > max_bytes && !is_kept && fs::remove_file(&path).is_ok() {
            total -= n_bytes;
        }
    }
    Ok(())
}
