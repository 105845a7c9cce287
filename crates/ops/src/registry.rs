//! `registry.json`: which repositories are known on this machine, where their databases and checkouts are.
//!
//! It is a convenience, not the truth: a registry that is missing or unreadable is an empty one. It is written under a
//! temporary name and renamed, under a file lock, so that two index runs lose nothing of each other.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Registry {
    #[serde(default)]
    pub repositories: Vec<Entry>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub url: String,
    pub database: PathBuf,
    /// Checkouts and bare repositories, by their path.
    #[serde(default)]
    pub paths: Vec<PathBuf>,
}

impl Registry {
    /// The registry under a data directory.
    pub fn read(directory: &Path) -> Registry {
        let text = std::fs::read(file_of(directory)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Remembers that `path` is a checkout of `url`, whose graph is in `database`.
    pub fn remember(directory: &Path, url: &str, database: &Path, path: &Path) -> io::Result<()> {
        let known = Registry::read(directory);
        if known.knows(url, database, path) {
            return Ok(());
        }
        Registry::change(directory, |registry| registry.insert(url, database, path))
    }

    /// Forgets a repository and its checkouts.
    pub(crate) fn forget(directory: &Path, url: &str, database: &Path) -> io::Result<()> {
        let is_it = |it: &Entry| it.url == url && it.database == database;
        if !Registry::read(directory).repositories.iter().any(is_it) {
            return Ok(());
        }
        Registry::change(directory, |registry| registry.repositories.retain(|it| !is_it(it)))
    }

    fn change(directory: &Path, change: impl FnOnce(&mut Registry)) -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let lock = File::create(directory.join("registry.lock"))?;
        lock.lock()?;
        // Read again: another process may have written while this one waited.
        let mut registry = Registry::read(directory);
        change(&mut registry);
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer_pretty(&mut file, &registry)?;
        file.write_all(b"\n")?;
        file.persist(file_of(directory)).map_err(|it| it.error)?;
        Ok(())
    }

    fn knows(&self, url: &str, database: &Path, path: &Path) -> bool {
        self.repositories
            .iter()
            .any(|it| it.url == url && it.database == database && it.paths.iter().any(|it| it == path))
    }

    fn insert(&mut self, url: &str, database: &Path, path: &Path) {
        // A path stands for one repository at a time: its remote may have changed.
        for entry in &mut self.repositories {
            entry.paths.retain(|it| it != path);
        }
        match self.repositories.iter_mut().find(|it| it.url == url && it.database == database) {
            Some(entry) => entry.paths.push(path.to_owned()),
            None => self.repositories.push(Entry {
                url: url.to_owned(),
                database: database.to_owned(),
                paths: vec![path.to_owned()],
            }),
        }
        self.repositories.retain(|it| !it.paths.is_empty());
        for entry in &mut self.repositories {
            entry.paths.sort();
        }
        self.repositories.sort_by(|a, b| (&a.url, &a.database).cmp(&(&b.url, &b.database)));
    }
}

fn file_of(directory: &Path) -> PathBuf {
    directory.join("registry.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_read_again_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("knowing");
        assert_eq!(Registry::read(&data), Registry::default());
        for (url, path) in [("h/b", "/2"), ("h/a", "/1"), ("h/b", "/3"), ("h/b", "/2")] {
            Registry::remember(&data, url, Path::new("/db"), Path::new(path)).unwrap();
        }
        let rows: Vec<_> =
            Registry::read(&data).repositories.into_iter().map(|it| (it.url, it.paths.len())).collect();
        assert_eq!(rows, [("h/a".to_owned(), 1), ("h/b".to_owned(), 2)]);
        Registry::remember(&data, "h/c", Path::new("/db"), Path::new("/1")).unwrap();
        let urls: Vec<_> = Registry::read(&data).repositories.into_iter().map(|it| it.url).collect();
        assert_eq!(urls, ["h/b", "h/c"], "a path belongs to one repository");
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let data = directory.path();
                scope.spawn(move || {
                    let (url, path) = (format!("h/{number}"), format!("/{number}"));
                    Registry::remember(data, &url, Path::new("/db"), Path::new(&path)).unwrap();
                });
            }
        });
        assert_eq!(Registry::read(directory.path()).repositories.len(), 8);
    }

    #[test]
    fn a_broken_registry_is_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("registry.json"), "{").unwrap();
        assert_eq!(Registry::read(directory.path()), Registry::default());
    }
}
