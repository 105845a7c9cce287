//! Files of tasks, and the repositories they are about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::judge::Named;

/// One task with its truth.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Task {
    pub(crate) id: String,
    /// `owner/name`, or a short name that the corpus explains.
    pub(crate) repo: String,
    /// The commit to index; without it the corpus has one.
    #[serde(default)]
    pub(crate) base: Option<String>,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    pub(crate) description: String,
    truth: Vec<Truth>,
}

#[derive(Clone, Debug, Deserialize)]
struct Truth {
    name: String,
    #[serde(default)]
    file: Option<String>,
}

impl Task {
    pub(crate) fn truth(&self) -> Vec<Named> {
        self.truth.iter().map(|it| Named { name: it.name.clone(), file: it.file.clone() }).collect()
    }
}

pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Task>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut tasks = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|it| !it.1.trim().is_empty()) {
        let task = serde_json::from_str(line)
            .with_context(|| format!("{}:{}: no task", path.display(), number + 1))?;
        tasks.push(task);
    }
    Ok(tasks)
}

/// Where each repository comes from, and the commit of tasks that name none.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Corpus {
    #[serde(default)]
    hand: BTreeMap<String, Entry>,
    #[serde(default)]
    commits: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    repository: String,
    #[serde(default)]
    commit: Option<String>,
}

impl Corpus {
    pub(crate) fn read(path: Option<&Path>) -> anyhow::Result<Corpus> {
        let Some(path) = path else { return Ok(Corpus::default()) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no corpus", path.display()))
    }

    pub(crate) fn commit(&self, repo: &str) -> Option<String> {
        self.hand.get(repo)?.commit.clone()
    }

    /// `owner/name`.
    pub(crate) fn full_name<'a>(&'a self, repo: &'a str) -> &'a str {
        let entry = self.hand.get(repo).or_else(|| self.commits.get(repo));
        entry.map_or(repo, |it| it.repository.as_str())
    }

    /// The directory of a repository: `DIR/owner+name/repo`, `DIR/owner/name` or `DIR/name`.
    pub(crate) fn locate(&self, directory: &Path, repo: &str) -> anyhow::Result<PathBuf> {
        let full = self.full_name(repo);
        let joined = full.replace('/', "+");
        let short = full.rsplit('/').next().unwrap_or(full);
        let candidates = [
            directory.join(&joined).join("repo"),
            directory.join(&joined),
            directory.join(full),
            directory.join(short),
        ];
        for candidate in candidates {
            if candidate.is_dir() {
                return Ok(candidate);
            }
        }
        bail!("{} has no {full}", directory.display())
    }
}
