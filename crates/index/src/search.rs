//! The search image of a snapshot: opened, or made anew when it is missing, damaged or of another history.
//!
//! ```text
//! terms of each file   stored by content, made while it was parsed
//! history              messages of the commits that touched a declaration
//! neighbours           names of callers and callees in the graph
//! ```
//!
//! All of it comes from the database, so that an image follows from the snapshot and its history alone. A run that builds
//! on another snapshot makes the documents that changed since, and no others (`search_changes.rs`).

use std::path::{Path, PathBuf};

use knowing_graph::{Graph, NodeIndex};
use knowing_model::identity::{self, Identity, node_id};
use knowing_model::name::{container_of, in_file};
use knowing_model::{ContainerClass, EdgeKind, NodeId, NodeKind, RULESET, SnapshotId};
use knowing_search::{Collection, FileTerms, ImageHead, Index, IndexBuilder, Names, TermBag, Tokenizer};
use knowing_store::{FileRow, HistoryRow, MinedCommit, SnapshotRow, Store, TermsKey};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history_text::{HistoryText, Said};
use crate::pipeline::Content;
use crate::scan::Source;
use crate::search_changes::{self, Debt};
use crate::{Check, Result, history};

/// Version of term vectors. The low byte counts changes in how texts are cut into terms; an image does not tell them apart,
/// so that its own version has to grow with it.
pub(crate) const TERMS_RULESET: u32 = RULESET << 8 | 1;

/// Callers, and callees, whose names a document has.
const MAX_NEIGHBOURS: usize = 32;

/// Files whose terms are in memory at once.
const N_AT_ONCE: usize = 512;

/// The search image of a snapshot. Files whose terms are not stored, as in a database of an earlier version that was not
/// indexed since, have no documents then.
pub fn open_search(store: &Store, snapshot: &SnapshotRow) -> Result<Collection> {
    match find_search(store, snapshot)? {
        Some(index) => Ok(index),
        None => {
            Ok(build(store, snapshot, &crate::open_graph(store, snapshot)?, None, &|| Ok(()))?.collection)
        }
    }
}

/// As `open_search`, where terms that are not stored can be made from the source. They are stored then.
pub(crate) fn make(
    store: &mut Store,
    snapshot: &SnapshotRow,
    source: Source<'_>,
    check: Check<'_>,
) -> Result<()> {
    if find_search(store, snapshot)?.is_some() {
        return Ok(());
    }
    let graph = crate::open_graph(store, snapshot)?;
    let built = build(store, snapshot, &graph, Some(source), check)?;
    let made: Vec<(TermsKey<'_>, Vec<u8>)> =
        built.made.iter().map(|(file, terms)| (key_of(file), terms.clone())).collect();
    store.write_terms(&made)?;
    Ok(())
}

/// Makes the image of a snapshot, of which graph and names are given, on that of another one. False when it is to be made
/// from the database.
pub(crate) fn make_since(
    store: &Store,
    (snapshot, graph, names): (&SnapshotRow, &Graph, &Names),
    debt: &Debt,
) -> Result<bool> {
    if find_search(store, snapshot)?.is_some() {
        return Ok(true);
    }
    let changes = search_changes::settle(store, (snapshot, graph, names), debt)?;
    changes.iter().for_each(|it| write(store, snapshot, it));
    Ok(changes.is_some())
}

/// None when there is no whole image of this snapshot and its history.
pub fn find_search(store: &Store, snapshot: &SnapshotRow) -> Result<Option<Collection>> {
    let head = head_of(snapshot, store.history(snapshot, history::RULES)?);
    let base = |base: SnapshotId| Index::open(&path_of(store, base), base);
    let opened = Collection::open(&path_of(store, snapshot.id), snapshot.id, base).ok();
    // Every byte is looked at, as graphs and names do: of single flipped bits a third gave another answer, and none an
    // error. 1 ms for the 17 MB of django.
    let is_whole = |it: &Collection| it.history_digest() == head.history_digest && it.verify().is_ok();
    Ok(opened.filter(is_whole))
}

fn write(store: &Store, snapshot: &SnapshotRow, collection: &Collection) {
    // A reader may not be allowed to write here; the collection serves all the same.
    let _ = collection.write(&path_of(store, snapshot.id));
}

pub(crate) fn head_of(snapshot: &SnapshotRow, history: Option<HistoryRow>) -> ImageHead {
    ImageHead {
        snapshot: snapshot.id,
        history_digest: history.map_or_else(|| identity::history_digest(history::RULES, []), |it| it.digest),
        commit_time: history.map_or(0, |it| it.commit_time),
    }
}

pub(crate) fn path_of(store: &Store, snapshot: SnapshotId) -> PathBuf {
    store.images_dir().join(format!("{snapshot}.search"))
}

/// The snapshot whose image the search image of this one is made on; none when it is an image of its own.
pub fn search_base(images: &Path, snapshot: SnapshotId) -> Option<SnapshotId> {
    Collection::base_of(&images.join(format!("{snapshot}.search")))
}

fn key_of(file: &FileRow) -> TermsKey<'_> {
    TermsKey { file: file.id, language: &file.language, ruleset: TERMS_RULESET }
}

struct Built {
    collection: Collection,
    /// Terms that were not stored.
    made: Vec<(FileRow, Vec<u8>)>,
}

fn build(
    store: &Store,
    snapshot: &SnapshotRow,
    graph: &Graph,
    source: Option<Source<'_>>,
    check: Check<'_>,
) -> Result<Built> {
    let reader = store.reader(snapshot)?;
    let files: Vec<FileRow> = reader.files()?.into_iter().filter(|it| it.skip_reason.is_none()).collect();
    let names = crate::open_names(store, snapshot)?;
    let head = head_of(snapshot, store.history(snapshot, history::RULES)?);
    let commits = store.commits_of(snapshot, history::RULES)?;
    let paths: FxHashSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
    let text = HistoryText::new(commits.iter(), |it| paths.contains(it));

    let mut documents = Documents::new(reader.url(), graph, &names);
    let mut made = Vec::new();
    let mut is_whole = true;
    for chunk in files.chunks(N_AT_ONCE) {
        let stored: Vec<Option<Vec<u8>>> =
            chunk.iter().map(|it| Ok(store.terms(key_of(it))?)).collect::<Result<_>>()?;
        let decoded: Vec<Option<FileTerms>> =
            stored.into_par_iter().map(|it| FileTerms::decode(&it?)).collect();
        for (file, terms) in chunk.iter().zip(decoded) {
            check()?;
            let terms = match terms {
                Some(terms) => terms,
                None => match made_from_source(store, file, source)? {
                    Some(terms) => {
                        made.push((file.clone(), terms.encode()));
                        terms
                    }
                    None => {
                        is_whole = false;
                        continue;
                    }
                },
            };
            let symbols: Vec<&str> = terms.documents().map(|it| it.symbol()).collect();
            let said = text.of_file(&file.path, &symbols);
            documents.add_file(
                &terms,
                (&file.path, &file.language),
                |at, _| Some(&said[at]),
                |it| &commits[it as usize],
            )?;
        }
    }
    check()?;
    let collection: Collection = documents.builder.finish(&head)?.into();
    if is_whole {
        write(store, snapshot, &collection);
    }
    Ok(Built { collection, made })
}

/// For a file of which the database has facts alone.
fn made_from_source(store: &Store, file: &FileRow, source: Option<Source<'_>>) -> Result<Option<FileTerms>> {
    let Some(source) = source else { return Ok(None) };
    let Some(bytes) = Content::of(source).read_stored(&file.path, &file.blob)? else { return Ok(None) };
    let facts = store.facts(file.row)?;
    Ok(Some(FileTerms::of(&facts, &bytes, &mut Tokenizer::new())))
}

/// Documents in the making: terms of files joined with history and neighbours.
pub(crate) struct Documents<'a> {
    pub(crate) builder: IndexBuilder,
    url: &'a str,
    graph: &'a Graph,
    names: &'a Names,
    /// Terms of names, by name: nodes of one name share them.
    of_names: FxHashMap<&'a str, TermBag>,
    /// Terms of messages, by place of the commit.
    of_messages: FxHashMap<u32, TermBag>,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(url: &'a str, graph: &'a Graph, names: &'a Names) -> Documents<'a> {
        Documents {
            builder: IndexBuilder::new(),
            url,
            graph,
            names,
            of_names: FxHashMap::default(),
            of_messages: FxHashMap::default(),
        }
    }

    /// Adds documents of a file, by their place in it and their node: those that `said` gives something of. Commits are
    /// meant by what `said` calls them. Gives the nodes.
    pub(crate) fn add_file<'s>(
        &mut self,
        terms: &FileTerms,
        (path, language): (&str, &str),
        said: impl Fn(usize, NodeId) -> Option<&'s Said>,
        commit: impl Fn(u32) -> &'s MinedCommit,
    ) -> Result<Vec<NodeId>> {
        let mut joined: Vec<Option<(NodeId, NodeIndex, &Said)>> = Vec::new();
        for (at, document) in terms.documents().enumerate() {
            let node = self.node_of(path, language, document.symbol(), document.kind());
            joined.push(node.and_then(|(id, node)| Some((id, node, said(at, id)?))));
        }
        for (_, node, said) in joined.iter().flatten() {
            for it in &said.commits {
                if !self.of_messages.contains_key(it) {
                    self.of_messages.insert(*it, self.builder.bag(&commit(*it).message));
                }
            }
            for it in neighbours(self.graph, *node) {
                let name = self.names.name(it.0);
                if !self.of_names.contains_key(name) {
                    self.of_names.insert(name, self.builder.bag(name));
                }
            }
        }
        let nodes = joined.iter().flatten().map(|it| it.0).collect();
        let mut joined = joined.into_iter();
        self.builder.add_file(terms, path, |_, joining| {
            let (id, node, said) = joined.next()??;
            said.commits.iter().for_each(|it| joining.history(&self.of_messages[it]));
            joining.commits(said.n_commits, said.commits.first().map(|it| commit(*it).time));
            neighbours(self.graph, node)
                .for_each(|it| joining.neighbour(&self.of_names[self.names.name(it.0)]));
            Some(id)
        })?;
        Ok(nodes)
    }

    /// The node of a declaration. Where a directory holds what its files declare, the symbol may carry the file's name.
    fn node_of(
        &self,
        path: &str,
        language: &str,
        symbol: &str,
        kind: NodeKind,
    ) -> Option<(NodeId, NodeIndex)> {
        let find = |class, container, symbol: &str| {
            let id = node_id(Identity { repo: self.url, class, container, symbol, kind });
            Some((id, self.graph.find(id)?))
        };
        match container_of(language, path) {
            // The file itself is a node of its own.
            (ContainerClass::Dir, directory) if !symbol.is_empty() => {
                let here = in_file(symbol, path);
                find(ContainerClass::Dir, directory, &here)
                    .or_else(|| find(ContainerClass::Dir, directory, symbol))
            }
            _ => find(ContainerClass::File, path, symbol),
        }
    }
}

/// Callers, then callees, each in the graph's order: those whose names a document has.
pub(crate) fn neighbours(graph: &Graph, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
    let callers = graph.incoming_of(node, EdgeKind::Calls).iter().take(MAX_NEIGHBOURS);
    let callees = graph.outgoing_of(node, EdgeKind::Calls).iter().take(MAX_NEIGHBOURS);
    callers.chain(callees).map(|it| it.other())
}
