//! The documents that changed since another snapshot, as an overlay on its image.
//!
//! A document changes with its file, with what was said of it (the window of commits moves with every commit), and with
//! the names of its callers and callees. All other documents are those of the image before.
//!
//! ```text
//! Touched   what differs between two snapshots that had their images in memory, beside what was said
//! Debt      what differs since a snapshot, all together; its search image is the last that was made
//! settle    the debt of one run, or in a replay of many, against the graph and the names of the last snapshot
//! ```
//!
//! A debt may name more than what differs in the end: a file that changed and changed back is written again, a node that
//! came and went is no document to remove, and one that went and came back is one of a file that changed.

use std::collections::{BTreeMap, BTreeSet};

use knowing_graph::{Graph, NodeIndex};
use knowing_model::name::container_of;
use knowing_model::{ContainerClass, NodeId, package_of};
use knowing_search::{Collection, FileIndex, FileInput, FileTerms, Names, Overlay, Searcher as _};
use knowing_store::{SnapshotRow, Store, TermsKey, TwoHistories};
use rustc_hash::FxHashSet;

use crate::delta::Images;
use crate::history_text::{HistoryText, Said};
use crate::imaged::{Imaged, NewFiles};
use crate::search::{self, Documents, TERMS_RULESET, neighbours};
use crate::{Result, history};

/// Beyond this part of the documents an image of all is made. Until then each query steps over what is replaced, and each
/// run copies what changed before.
const MAX_PART: f64 = 0.1;
/// So few are no burden in any case.
const FEW: usize = 64;

/// A snapshot whose images are in memory, and those of one after it that were made of them.
pub(crate) struct Since<'a> {
    pub(crate) before: &'a Imaged,
    pub(crate) files: &'a NewFiles<'a>,
    pub(crate) images: &'a Images,
}

/// Whose documents may differ.
#[derive(Default)]
pub(crate) struct Touched {
    /// Paths of files that are another version, or whose declarations are called otherwise.
    files: FxHashSet<String>,
    /// Nodes with other callers or callees.
    recalled: BTreeSet<NodeId>,
    /// Nodes of versions that are no more, and of those whose declarations are called otherwise.
    removed: FxHashSet<NodeId>,
}

impl Touched {
    pub(crate) fn of(since: &Since<'_>) -> Touched {
        let renamed = renamed(since);
        let files = since.files.inputs.iter().zip(&since.files.same);
        let is_new =
            |(at, (_, same)): &(u32, (&FileInput<'_>, &Option<u32>))| same.is_none() || renamed.contains(at);
        Touched {
            files: (0..).zip(files).filter(is_new).map(|it| it.1.0.path.to_owned()).collect(),
            recalled: since.images.recalled.iter().copied().collect(),
            removed: removed(since, &renamed).collect(),
        }
    }
}

/// What the search image of a snapshot is to be told since that of another one was made.
pub(crate) struct Debt {
    since: SnapshotRow,
    /// Of the files of that snapshot, in order.
    paths: Vec<String>,
    touched: Touched,
}

impl Debt {
    /// Since a snapshot that has images.
    pub(crate) fn new(before: &Imaged, touched: Touched) -> Debt {
        let paths = before.paths().map(str::to_owned).collect();
        Debt { since: before.snapshot.clone(), paths, touched }
    }

    /// Adds that of the next step.
    pub(crate) fn add(&mut self, touched: Touched) {
        self.touched.files.extend(touched.files);
        self.touched.recalled.extend(touched.recalled);
        self.touched.removed.extend(touched.removed);
    }
}

/// The documents of a snapshot, of which graph and names are given. None when they are to be made from the database.
pub(crate) fn settle(
    store: &Store,
    (snapshot, graph, names): (&SnapshotRow, &Graph, &Names),
    debt: &Debt,
) -> Result<Option<Collection>> {
    let Some(before) = search::find_search(store, &debt.since)? else { return Ok(None) };
    let (base, changed) = match &before {
        Collection::Whole(index) => (index.clone(), None),
        Collection::Changes(overlay) => (overlay.base().clone(), Some(overlay)),
    };
    let histories = store.commits_of_both(&debt.since, snapshot, history::RULES)?;
    let windows = Windows::new(&histories, &debt.paths, names);
    let url = store.reader(snapshot)?.url().to_owned();
    let mut documents = Documents::new(&url, graph, names);
    let mut added: FxHashSet<NodeId> = FxHashSet::default();
    let recalled = by_file(&debt.touched.recalled, graph, names);
    for file in (0..names.n_files() as u32).map(FileIndex) {
        let (path, language) = (names.path(file), names.language(file));
        let recalled = recalled.get(&file.0).map_or(&[][..], Vec::as_slice);
        let is_new = debt.touched.files.contains(path);
        let is_retold = !is_new && windows.is_retold(path);
        if !is_new && !is_retold && recalled.is_empty() {
            continue;
        }
        let key = TermsKey { file: names.file_id(file), language, ruleset: TERMS_RULESET };
        let Some(terms) = store.terms(key)?.and_then(|it| FileTerms::decode(&it)) else { return Ok(None) };
        let symbols: Vec<&str> = terms.documents().map(|it| it.symbol()).collect();
        let said = windows.after(path, &symbols);
        let before = if is_retold { windows.before(path, &symbols) } else { said.clone() };
        let wanted = |at: usize, id: NodeId| {
            let is_wanted = is_new || before[at] != said[at] || recalled.contains(&id);
            is_wanted.then_some(&said[at])
        };
        let nodes =
            documents.add_file(&terms, (path, language), wanted, |it| &histories.commits[it as usize])?;
        added.extend(nodes);
    }
    let is_gone = |it: &NodeId| !added.contains(it);
    let mut gone: Vec<NodeId> = debt.touched.removed.iter().copied().filter(is_gone).collect();
    if let Some(changed) = changed {
        let is_wanted = |it: NodeId| !added.contains(&it) && !debt.touched.removed.contains(&it);
        documents.builder.copy(changed.changed(), is_wanted)?;
        gone.extend(changed.removed_nodes());
    }
    gone.sort_unstable();
    let head = search::head_of(snapshot, store.history(snapshot, history::RULES)?);
    let max = (base.n_documents() as f64 * MAX_PART) as usize;
    let overlay = Overlay::new(base, documents.builder.finish(&head)?.into(), gone);
    if overlay.n_changes() > max.max(FEW) {
        return Ok(Some(overlay.whole()?.into()));
    }
    Ok(Some(Collection::Changes(Box::new(overlay))))
}

/// Nodes that are in a file, by file.
fn by_file(nodes: &BTreeSet<NodeId>, graph: &Graph, names: &Names) -> BTreeMap<u32, Vec<NodeId>> {
    let mut files: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
    for id in nodes {
        if let Some(file) = graph.find(*id).and_then(|it| names.file(it.0)) {
            files.entry(file.0).or_default().push(*id);
        }
    }
    files
}

/// Files that did not change, but what they declare is called otherwise now: another file of the directory began or
/// ceased to declare the same.
fn renamed(since: &Since<'_>) -> FxHashSet<u32> {
    let ids = |graph: &Graph, names: &Names, path: &str| -> Vec<NodeId> {
        let nodes = names.find_file(path).map_or(&[][..], |it| names.in_file(it));
        let mut ids: Vec<NodeId> = nodes.iter().map(|it| graph.node(NodeIndex(*it)).id()).collect();
        ids.sort_unstable();
        ids
    };
    let Since { before, files, images } = since;
    // Directories in which a file came, went or is another one.
    let mut is_there = vec![false; before.names.n_files()];
    files.same.iter().flatten().for_each(|it| is_there[*it as usize] = true);
    let gone = before.paths().zip(is_there).filter(|it| !it.1).map(|it| it.0);
    let new = files.inputs.iter().zip(&files.same).filter(|it| it.1.is_none()).map(|it| it.0.path);
    let changed: FxHashSet<&str> = gone.chain(new).map(directory_of).collect();
    let is_renamed = |file: &FileInput<'_>| {
        changed.contains(directory_of(file.path))
            && container_of(file.language, file.path).0 == ContainerClass::Dir
            && ids(&before.graph, &before.names, file.path) != ids(&images.graph, &images.names, file.path)
    };
    let kept = (0..).zip(files.inputs.iter().zip(&files.same)).filter(|it| it.1.1.is_some());
    kept.filter(|it| is_renamed(it.1.0)).map(|it| it.0).collect()
}

fn directory_of(path: &str) -> &str {
    package_of(ContainerClass::File, path)
}

/// Nodes of file versions that are no more, and of those that have others now.
fn removed(since: &Since<'_>, renamed: &FxHashSet<u32>) -> impl Iterator<Item = NodeId> {
    let Imaged { graph, names, .. } = since.before;
    let mut is_there = vec![false; names.n_files()];
    let kept = (0..).zip(&since.files.same).filter(|it| !renamed.contains(&it.0));
    kept.filter_map(|it| *it.1).for_each(|it| is_there[it as usize] = true);
    let gone = (0..).zip(is_there).filter(|it| !it.1).map(|it| FileIndex(it.0));
    gone.flat_map(|it| names.in_file(it)).map(|it| graph.node(NodeIndex(*it)).id())
}

/// Nodes of a new graph that are in the old one, with neighbours of other names. `ends` are those of edges that came or
/// went.
pub(crate) fn recalled(
    before: (&Graph, &Names),
    after: (&Graph, &Names),
    ends: impl Iterator<Item = NodeId>,
) -> Vec<NodeId> {
    let names_of = |(graph, names): (&Graph, &Names), at: NodeIndex| -> Vec<String> {
        neighbours(graph, at).map(|it| names.name(it.0).to_owned()).collect()
    };
    let ends: FxHashSet<NodeId> = ends.collect();
    let is_recalled = |id: &NodeId| {
        let (Some(old), Some(new)) = (before.0.find(*id), after.0.find(*id)) else { return false };
        names_of(before, old) != names_of(after, new)
    };
    ends.into_iter().filter(is_recalled).collect()
}

/// What was said of the code, then and now; commits are meant by their place among those of both.
struct Windows<'h> {
    histories: &'h TwoHistories,
    before: HistoryText<'h>,
    after: HistoryText<'h>,
}

impl<'h> Windows<'h> {
    /// `paths` are those of the files then, in order; `names` has those of now.
    fn new(histories: &'h TwoHistories, paths: &[String], names: &Names) -> Windows<'h> {
        let commits = &histories.commits;
        let one = histories.one.iter().map(|it| &commits[*it as usize]);
        let other = histories.other.iter().map(|it| &commits[*it as usize]);
        let is_old = |path: &str| paths.binary_search_by(|it| it.as_str().cmp(path)).is_ok();
        Windows {
            histories,
            before: HistoryText::new(one, is_old),
            after: HistoryText::new(other, |it| names.find_file(it).is_some()),
        }
    }

    /// Whether other commits touched a file, or touched other names in it.
    fn is_retold(&self, path: &str) -> bool {
        let old = self.before.touches(path).iter().map(|it| (self.histories.one[it.0 as usize], it.1));
        let new = self.after.touches(path).iter().map(|it| (self.histories.other[it.0 as usize], it.1));
        !old.eq(new)
    }

    fn before(&self, path: &str, symbols: &[&str]) -> Vec<Said> {
        placed(self.before.of_file(path, symbols), &self.histories.one)
    }

    fn after(&self, path: &str, symbols: &[&str]) -> Vec<Said> {
        placed(self.after.of_file(path, symbols), &self.histories.other)
    }
}

fn placed(mut said: Vec<Said>, places: &[u32]) -> Vec<Said> {
    said.iter_mut().flat_map(|it| &mut it.commits).for_each(|it| *it = places[*it as usize]);
    said
}
