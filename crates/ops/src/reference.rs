//! What may be typed where a snapshot is asked for: `@latest`, `@prev`, `@3`, an id, a git revision.

use knowing_model::Stage;
use knowing_store::{SnapshotRow, Store};

use crate::answer::Tree;
use crate::cx::{Cx, Opened, tree_name};
use crate::error::{Candidate, Error, ErrorKind, Result};
use crate::work_state::WorkState;

/// Fewer digits of an id are too easily a word.
const MIN_DIGITS: usize = 8;

/// A reference, before anything is looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Reference<'a> {
    Latest,
    /// So many steps along parents.
    Back(usize),
    First,
    Base,
    /// Digits of a snapshot's id, or a git revision when there is none.
    IdOrRevision(&'a str),
    Revision(&'a str),
}

impl Reference<'_> {
    fn parse(text: &str) -> Reference<'_> {
        let is_hex = text.bytes().all(|it| it.is_ascii_hexdigit());
        match text {
            "@latest" => Reference::Latest,
            "@prev" => Reference::Back(1),
            "@first" => Reference::First,
            "@base" => Reference::Base,
            // `@`, `@{1}` and `@~2` are git's.
            _ => match text.strip_prefix('@').and_then(|it| it.parse().ok()) {
                Some(steps) => Reference::Back(steps),
                None if is_hex && (MIN_DIGITS..=64).contains(&text.len()) => Reference::IdOrRevision(text),
                None => Reference::Revision(text),
            },
        }
    }
}

impl Cx<'_> {
    /// The snapshot that a reference means, open for reading; a commit that has none is indexed first.
    pub(crate) fn open_reference(&mut self, text: &str) -> Result<Opened> {
        match Reference::parse(text.trim()) {
            Reference::Latest | Reference::Back(0) => self.open_checkout(),
            Reference::Back(steps) => {
                let opened = self.open_checkout()?;
                let chain = chain(&opened.store, &opened.snapshot)?;
                match chain.get(steps) {
                    Some(snapshot) => Ok(opened.at(snapshot.clone())),
                    None => Err(too_far_back(text, chain.len())),
                }
            }
            Reference::First => {
                let opened = self.open_checkout()?;
                let first = chain(&opened.store, &opened.snapshot)?.pop();
                Ok(match first {
                    Some(first) => opened.at(first),
                    None => opened,
                })
            }
            Reference::Base => {
                let opened = self.open_checkout()?;
                let all = opened.store.snapshots(opened.snapshot.repo)?;
                let base = all.into_iter().rev().find(|it| {
                    it.stage == Stage::Base
                        && (&it.commit, it.ruleset) == (&opened.snapshot.commit, opened.snapshot.ruleset)
                });
                match base {
                    Some(base) => Ok(opened.at(base)),
                    None => Err(Error::new(
                        ErrorKind::NotFound,
                        format!("there is no base snapshot of {}", opened.tree.tree),
                        "make one with `knowing index`",
                    )),
                }
            }
            Reference::IdOrRevision(digits) => match self.open_id(digits)? {
                Some(opened) => Ok(opened),
                None => self.open_revision(digits),
            },
            Reference::Revision(revision) => self.open_revision(revision),
        }
    }

    /// None when no snapshot's id begins so.
    fn open_id(&mut self, digits: &str) -> Result<Option<Opened>> {
        let opened = match self.open_checkout() {
            Err(error) if error.kind == ErrorKind::NoIndex => return Ok(None),
            opened => opened?,
        };
        let mut found = opened.store.snapshots_by_prefix(opened.snapshot.repo, digits)?;
        match found.len() {
            0 => Ok(None),
            1 => Ok(Some(opened.at(found.remove(0)))),
            total => {
                let candidate = |it: &SnapshotRow| Candidate {
                    name: it.id.to_string(),
                    kind: Some(it.stage.name().to_owned()),
                    location: Some(tree_name(it)),
                    id: None,
                };
                let message = format!("{total} snapshots have ids that begin with `{digits}`");
                let mut error = Error::new(ErrorKind::Ambiguous, message, "give more digits of the id")
                    .with_candidates(found.iter().take(20).map(candidate).collect());
                error.total = Some(total);
                Err(error)
            }
        }
    }

    fn open_revision(&mut self, revision: &str) -> Result<Opened> {
        self.open_commit(revision).map_err(|mut error| {
            if error.kind == ErrorKind::NotFound {
                error.message = format!("`{revision}` is no snapshot and no commit: {}", error.message);
                error.hint = "see `knowing snapshots` and `git log` for what there is".to_owned();
            }
            error
        })
    }
}

impl Opened {
    /// Another snapshot of the same repository. It was asked for, so that it cannot be stale.
    pub(crate) fn at(self, snapshot: SnapshotRow) -> Opened {
        let tree = Tree {
            tree: tree_name(&snapshot),
            snapshot: snapshot.id.to_string(),
            fresh: "yes".to_owned(),
            dirty: Vec::new(),
            stale: None,
            ..self.tree
        };
        Opened { snapshot, tree, work: WorkState::of(self.work.place), ..self }
    }
}

/// A snapshot and those it follows, newest first; of several stages of one commit the newest.
pub(crate) fn chain(store: &Store, from: &SnapshotRow) -> Result<Vec<SnapshotRow>> {
    let mut chain = vec![from.clone()];
    let mut at = from.clone();
    // A damaged chain may run in a circle; generations only fall along a sound one.
    while let Some(parent) = at.parent
        && let Some(before) = store.snapshot_at(parent)?
        && before.generation < at.generation
    {
        if chain.last().is_none_or(|it| it.commit != before.commit) {
            chain.push(before.clone());
        }
        at = before;
    }
    Ok(chain)
}

fn too_far_back(text: &str, n_snapshots: usize) -> Error {
    let message = match n_snapshots {
        0 | 1 => format!("there is no `{text}`: the current snapshot follows no other"),
        _ => format!("there is no `{text}`: the chain ends at `@{}`", n_snapshots - 1),
    };
    Error::new(
        ErrorKind::NotFound,
        message,
        "list snapshots with `knowing snapshots`, or name a commit such as `HEAD~1`: it is indexed when needed",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_told_apart() {
        for (text, reference) in [
            ("@latest", Reference::Latest),
            ("@prev", Reference::Back(1)),
            ("@0", Reference::Back(0)),
            ("@17", Reference::Back(17)),
            ("@first", Reference::First),
            ("@base", Reference::Base),
            ("@", Reference::Revision("@")),
            ("@~1", Reference::Revision("@~1")),
            ("@{1}", Reference::Revision("@{1}")),
            ("main", Reference::Revision("main")),
            ("deadbee", Reference::Revision("deadbee")),
            ("deadbeef", Reference::IdOrRevision("deadbeef")),
        ] {
            assert_eq!(Reference::parse(text), reference, "{text}");
        }
    }
}
