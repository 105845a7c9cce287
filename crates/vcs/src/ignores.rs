//! `.knowingignore`: the product's own ignore file, with the syntax and the nesting of `.gitignore`.

use std::collections::{BTreeMap, HashMap};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::{EntryKind, Reader, Result, Tree};

pub const IGNORE_FILE: &str = ".knowingignore";

/// All ignore files of one tree.
#[derive(Debug, Clone, Default)]
pub struct Ignore {
    /// By their directory, which is empty for the top.
    files: BTreeMap<String, Gitignore>,
}

impl Ignore {
    /// The ignore files as they are in a commit. One that is not here (a partial clone) ignores nothing.
    pub fn from_tree(reader: &Reader, tree: &Tree) -> Result<Ignore> {
        let mut ignore = Ignore::default();
        for entry in &tree.entries {
            let is_file = matches!(entry.kind, EntryKind::File | EntryKind::Executable);
            if let Some(directory) = directory_of(&entry.path).filter(|_| is_file)
                && let Some(content) = reader.blob(entry.blob)?
            {
                ignore.add(directory, &String::from_utf8_lossy(&content));
            }
        }
        Ok(ignore)
    }

    /// Adds the ignore file of a directory (empty for the top). Lines that are no pattern are passed over, as git does.
    pub fn add(&mut self, directory: &str, content: &str) {
        let mut builder = GitignoreBuilder::new("");
        for line in content.lines() {
            let _ = builder.add_line(None, line);
        }
        if let Ok(matcher) = builder.build() {
            self.files.insert(directory.to_owned(), matcher);
        }
    }

    /// Whether a file is ignored, by itself or with one of its directories.
    pub fn is_ignored(&self, path: &str) -> bool {
        let mut known = HashMap::new();
        !self.files.is_empty() && self.decide(path, Is::File, &mut known)
    }

    /// Drops what is ignored.
    pub fn retain<T>(&self, files: &mut Vec<T>, path_of: impl Fn(&T) -> &str) {
        if !self.files.is_empty() {
            let mut known = HashMap::new();
            files.retain(|file| !self.decide(path_of(file), Is::File, &mut known));
        }
    }

    fn decide(&self, path: &str, is: Is, known: &mut HashMap<String, bool>) -> bool {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if !parent.is_empty() {
            let ignored = match known.get(parent) {
                Some(ignored) => *ignored,
                None => {
                    let ignored = self.decide(parent, Is::Directory, known);
                    known.insert(parent.to_owned(), ignored);
                    ignored
                }
            };
            // As in git, nothing below an ignored directory can be taken back.
            if ignored {
                return true;
            }
        }
        // The nearest file that says something decides.
        let mut directory = parent;
        loop {
            if let Some(matcher) = self.files.get(directory) {
                let inside = path[directory.len()..].trim_start_matches('/');
                match matcher.matched(inside, is == Is::Directory) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            if directory.is_empty() {
                return false;
            }
            directory = directory.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    File,
    Directory,
}

/// The directory of an ignore file; none for other files.
pub(crate) fn directory_of(path: &str) -> Option<&str> {
    match path.strip_suffix(IGNORE_FILE)? {
        "" => Some(""),
        rest => rest.strip_suffix('/'),
    }
}
