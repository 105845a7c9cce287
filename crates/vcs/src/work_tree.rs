//! Lists the working tree: tracked files, and untracked ones that nothing excludes.

use std::{
    collections::HashMap,
    fs, io,
    path::{Component, Path},
    sync::atomic::AtomicBool,
};

use gix::{
    bstr::{BStr, ByteSlice},
    dir::walk::{Delegate, delegate},
    index::entry::{Flags, Mode},
};

use crate::{BlobId, Checkout, EntryKind, Error, Ignore, Result, ignores, tree};

/// The files of a working tree or of a directory without git.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkFiles {
    /// In the order of the bytes of their paths.
    pub files: Vec<WorkFile>,
    /// Paths that are not UTF-8, made readable.
    pub unusable_paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFile {
    /// From the top of the working tree, with `/`.
    pub path: String,
    pub kind: EntryKind,
    pub content: Content,
}

/// Where the content of a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// git's index knows the file as it is: nobody wrote to it since.
    Known(BlobId),
    /// New, changed, or touched so lately that only reading it tells.
    OnDisk { size: u64 },
}

impl Checkout {
    /// The files of the working tree, without what `.knowingignore` excludes; none in a bare repository.
    pub fn work_files(&self) -> Result<WorkFiles> {
        let repo = self.local();
        let Some(top) = self.work_dir() else { return Ok(WorkFiles::default()) };
        let index = repo.index_or_empty().map_err(Error::git("read the index"))?;
        let mut list = std::thread::scope(|scope| {
            // Each of the two asks the file system about every file.
            let untracked = scope.spawn(|| untracked(&self.local(), &index, top));
            let mut list = tracked(&repo, &index, top)?;
            let untracked = untracked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            list.files.extend(untracked.files);
            list.unusable_paths.extend(untracked.unusable_paths);
            Ok(list)
        })?;
        list.sort();

        let mut ignore = Ignore::default();
        for file in list.files.iter().filter(|it| it.kind != EntryKind::Symlink) {
            if let Some(directory) = ignores::directory_of(&file.path)
                && let Some(content) = read_inside(top, &file.path)?
            {
                ignore.add(directory, &String::from_utf8_lossy(&content));
            }
        }
        ignore.retain(&mut list.files, |file| &file.path);
        Ok(list)
    }
}

impl WorkFiles {
    /// Of two entries for a path, the one that was added first stays.
    pub(crate) fn sort(&mut self) {
        self.files.sort_by(|left, right| left.path.cmp(&right.path));
        self.files.dedup_by(|later, earlier| later.path == earlier.path);
        self.unusable_paths.sort_unstable();
    }

    fn add(&mut self, path: &BStr, kind: EntryKind, content: Content) {
        match path.to_str() {
            Ok(path) => self.files.push(WorkFile { path: path.to_owned(), kind, content }),
            Err(_) => self.unusable_paths.push(path.to_string()),
        }
    }
}

/// Reads a file below `top` without following a symbolic link on the way.
pub(crate) fn read_inside(top: &Path, path: &str) -> Result<Option<Vec<u8>>> {
    let path = Path::new(path);
    let mut place = top.to_owned();
    let mut metadata = None;
    for component in path.components() {
        let Component::Normal(name) = component else { return Ok(None) };
        place.push(name);
        metadata = link_metadata(&place)?.filter(|it| !it.is_symlink());
        if metadata.is_none() {
            return Ok(None);
        }
    }
    if !metadata.is_some_and(|it| it.is_file()) {
        return Ok(None);
    }
    match fs::read(&place) {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(source) => Err(Error::Io { path: place, source }),
    }
}

fn tracked(repo: &gix::Repository, index: &gix::index::State, top: &Path) -> Result<WorkFiles> {
    let mut list = WorkFiles::default();
    let stat_options = repo.stat_options().map_err(Error::git("read the configuration"))?;
    let mut real_directories = HashMap::new();
    for entry in index.entries() {
        let path = entry.path(index);
        let blob = BlobId(entry.id);
        if entry.mode == Mode::DIR {
            // A directory outside a sparse checkout stands in the index as one entry; its files count as unchanged.
            let inside = tree::list(repo, entry.id, path.to_vec())?;
            let files = inside.entries.into_iter();
            list.files.extend(files.map(|it| WorkFile {
                path: it.path,
                kind: it.kind,
                content: Content::Known(it.blob),
            }));
            list.unusable_paths.extend(inside.unusable_paths);
            continue;
        }
        let kind = match entry.mode {
            Mode::FILE => EntryKind::File,
            Mode::FILE_EXECUTABLE => EntryKind::Executable,
            Mode::SYMLINK => EntryKind::Symlink,
            Mode::COMMIT => EntryKind::Submodule,
            _ => continue,
        };
        if kind == EntryKind::Submodule || entry.flags.contains(Flags::SKIP_WORKTREE) {
            list.add(path, kind, Content::Known(blob));
            continue;
        }
        let Ok(inside) = gix::path::from_bstr(path) else {
            list.unusable_paths.push(path.to_string());
            continue;
        };
        if !is_real_directory(top, inside.parent(), &mut real_directories)? {
            continue;
        }
        let place = top.join(&inside);
        let metadata = match gix::index::fs::Metadata::from_path_no_follow(&place) {
            Ok(metadata) => metadata,
            Err(error) if is_absence(&error) => continue,
            Err(source) => return Err(Error::Io { path: place, source }),
        };
        let kind = match kind {
            _ if metadata.is_symlink() => EntryKind::Symlink,
            EntryKind::Symlink if metadata.is_file() => EntryKind::File,
            kind if metadata.is_file() => kind,
            _ => continue,
        };
        let size = metadata.len();
        let stat = gix::index::entry::Stat::from_fs(&metadata).ok();
        let is_clean = entry.stage_raw() == 0
            && stat.is_some_and(|it| entry.stat.matches(&it, stat_options))
            && !entry.stat.is_racy(index.timestamp(), stat_options);
        list.add(path, kind, if is_clean { Content::Known(blob) } else { Content::OnDisk { size } });
    }
    Ok(list)
}

fn untracked(repo: &gix::Repository, index: &gix::index::State, top: &Path) -> Result<WorkFiles> {
    let mut list = WorkFiles::default();
    let fault = || Error::git("list the working tree");
    let options = repo.dirwalk_options().map_err(fault())?;
    let mut found = delegate::Collect::default();
    let never = AtomicBool::new(false);
    repo.dirwalk(index, None::<&str>, &never, options, &mut found as &mut dyn Delegate).map_err(fault())?;
    for (entry, _) in found.into_entries_by_path() {
        let kind = match entry.disk_kind {
            Some(gix::dir::entry::Kind::File) => EntryKind::File,
            Some(gix::dir::entry::Kind::Symlink) => EntryKind::Symlink,
            // Another repository or worktree inside this one is not part of it.
            _ => continue,
        };
        let Ok(inside) = gix::path::from_bstr(entry.rela_path.as_bstr()) else { continue };
        let Some(metadata) = link_metadata(&top.join(inside))? else { continue };
        list.add(entry.rela_path.as_bstr(), kind, Content::OnDisk { size: metadata.len() });
    }
    Ok(list)
}

/// Whether no part of a directory's path is a symbolic link, which could lead out of the repository.
fn is_real_directory(
    top: &Path,
    inside: Option<&Path>,
    known: &mut HashMap<std::path::PathBuf, bool>,
) -> Result<bool> {
    let Some(inside) = inside.filter(|it| !it.as_os_str().is_empty()) else { return Ok(true) };
    if let Some(real) = known.get(inside) {
        return Ok(*real);
    }
    let real = is_real_directory(top, inside.parent(), known)?
        && link_metadata(&top.join(inside))?.is_some_and(|it| it.is_dir());
    known.insert(inside.to_owned(), real);
    Ok(real)
}

fn link_metadata(path: &Path) -> Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(source) => Err(Error::Io { path: path.to_owned(), source }),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
