//! A directory without git: named after its path, listed by the same ignore rules.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;

use crate::{
    Content, EntryKind, Error, IGNORE_FILE, Note, ObjectFormat, RepoIdentity, Result, WorkFile, WorkFiles,
    identity::{directory_url, given_url},
    work_tree::read_inside,
};

#[derive(Debug, Clone)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    pub fn open(path: &Path) -> Result<Directory> {
        let missing = || Error::NoSuchPath { path: path.to_owned() };
        let canonical = fs::canonicalize(path).map_err(|_| missing())?;
        match canonical.is_dir() {
            true => Ok(Directory { path: canonical }),
            false => Err(missing()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `url` is what the user or the configuration says; it wins.
    pub fn identity(&self, url: Option<&str>) -> RepoIdentity {
        let url = given_url(url).unwrap_or_else(|| directory_url(&self.path));
        RepoIdentity {
            url,
            object_format: ObjectFormat::Sha1,
            is_shallow: false,
            notes: vec![Note::Unversioned],
        }
    }

    /// All files that no ignore file excludes. What cannot be read is passed over.
    pub fn files(&self) -> WorkFiles {
        let mut list = WorkFiles::default();
        let walk = WalkBuilder::new(&self.path)
            .hidden(false)
            .parents(false)
            .ignore(false)
            .require_git(false)
            .follow_links(false)
            .add_custom_ignore_filename(IGNORE_FILE)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        for entry in walk.flatten() {
            let kind = match entry.file_type() {
                Some(kind) if kind.is_symlink() => EntryKind::Symlink,
                Some(kind) if kind.is_file() => EntryKind::File,
                _ => continue,
            };
            let (Ok(inside), Ok(metadata)) = (entry.path().strip_prefix(&self.path), entry.metadata()) else {
                continue;
            };
            match inside.to_str() {
                Some(path) => {
                    let path = path.replace(std::path::MAIN_SEPARATOR, "/");
                    list.files.push(WorkFile {
                        path,
                        kind,
                        content: Content::OnDisk { size: metadata.len() },
                    });
                }
                None => list.unusable_paths.push(inside.to_string_lossy().into_owned()),
            }
        }
        list.sort();
        list
    }

    /// The bytes of a file; none when it is gone, is no file, or is reached through a symbolic link.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>> {
        read_inside(&self.path, path)
    }
}
