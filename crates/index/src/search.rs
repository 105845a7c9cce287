//! The search image of a snapshot: opened, or built anew when it is missing, damaged or of another history.
//!
//! ```text
//! terms of each file   stored by content, made while it was parsed
//! history              messages of the commits that touched a declaration
//! neighbours           names of callers and callees in the graph
//! ```
//!
//! All of it comes from the database, so that an image follows from the snapshot and its history alone.

use std::path::PathBuf;

use knowing_graph::{Graph, NodeIndex};
use knowing_model::identity::{self, Identity, node_id};
use knowing_model::name::{container_of, in_file};
use knowing_model::{ContainerClass, EdgeKind, NodeId, RULESET};
use knowing_search::{FileTerms, ImageHead, Index, IndexBuilder, Names, TermBag, Tokenizer};
use knowing_store::{FileRow, HistoryRow, SnapshotRow, Store, TermsKey};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history_text::{HistoryText, Said};
use crate::pipeline::Content;
use crate::scan::Source;
use crate::{Result, history};

/// Version of term vectors. The low byte counts changes in how texts are cut into terms; an image does not tell them apart,
/// so that its own version has to grow with it.
pub(crate) const TERMS_RULESET: u32 = RULESET << 8 | 1;

/// Callers, and callees, whose names a document has.
const MAX_NEIGHBOURS: usize = 32;

/// Files whose terms are in memory at once.
const N_AT_ONCE: usize = 512;

/// The search image of a snapshot. Files whose terms are not stored, as in a database of an earlier version that was not
/// indexed since, have no documents then.
pub fn open_search(store: &Store, snapshot: &SnapshotRow) -> Result<Index> {
    match open(store, snapshot)? {
        Some(index) => Ok(index),
        None => Ok(build(store, snapshot, &crate::open_graph(store, snapshot)?, None)?.index),
    }
}

/// As `open_search`, where terms that are not stored can be made from the source. They are stored then.
pub(crate) fn make(store: &mut Store, snapshot: &SnapshotRow, source: Source<'_>) -> Result<Index> {
    if let Some(index) = open(store, snapshot)? {
        return Ok(index);
    }
    let graph = crate::open_graph(store, snapshot)?;
    let built = build(store, snapshot, &graph, Some(source))?;
    let made: Vec<(TermsKey<'_>, Vec<u8>)> =
        built.made.iter().map(|(file, terms)| (key_of(file), terms.clone())).collect();
    store.write_terms(&made)?;
    Ok(built.index)
}

/// None when there is no image of this snapshot and its history.
fn open(store: &Store, snapshot: &SnapshotRow) -> Result<Option<Index>> {
    let head = head_of(snapshot, store.history(snapshot, history::RULES)?);
    let opened = Index::open(&path_of(store, snapshot), snapshot.id).ok();
    // Every byte is looked at, as graphs and names do: of single flipped bits a third gave another answer, and none an
    // error. 1 ms for the 17 MB of django.
    let is_whole = |it: &Index| it.history_digest() == head.history_digest && it.verify().is_ok();
    Ok(opened.filter(is_whole))
}

fn head_of(snapshot: &SnapshotRow, history: Option<HistoryRow>) -> ImageHead {
    ImageHead {
        snapshot: snapshot.id,
        history_digest: history.map_or_else(|| identity::history_digest(history::RULES, []), |it| it.digest),
        commit_time: history.map_or(0, |it| it.commit_time),
    }
}

fn path_of(store: &Store, snapshot: &SnapshotRow) -> PathBuf {
    store.images_dir().join(format!("{}.search", snapshot.id))
}

fn key_of(file: &FileRow) -> TermsKey<'_> {
    TermsKey { blob: &file.blob, language: &file.language, ruleset: TERMS_RULESET }
}

struct Built {
    index: Index,
    /// Terms that were not stored.
    made: Vec<(FileRow, Vec<u8>)>,
}

fn build(store: &Store, snapshot: &SnapshotRow, graph: &Graph, source: Option<Source<'_>>) -> Result<Built> {
    let reader = store.reader(snapshot)?;
    let files: Vec<FileRow> = reader.files()?.into_iter().filter(|it| it.skip_reason.is_none()).collect();
    let url = reader.url();
    let names = crate::open_names(store, snapshot)?;
    let head = head_of(snapshot, store.history(snapshot, history::RULES)?);
    let commits = store.commits_of(snapshot, history::RULES)?;
    let paths: FxHashSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
    let text = HistoryText::new(&commits, |it| paths.contains(it));

    let mut builder = IndexBuilder::new();
    let messages: Vec<TermBag> = commits.iter().map(|it| builder.bag(&it.message)).collect();
    let neighbours = Neighbours::new(graph, &names, &mut builder);
    let mut made = Vec::new();
    let mut is_whole = true;
    for chunk in files.chunks(N_AT_ONCE) {
        let stored: Vec<Option<Vec<u8>>> =
            chunk.iter().map(|it| Ok(store.terms(key_of(it))?)).collect::<Result<_>>()?;
        let decoded: Vec<Option<FileTerms>> =
            stored.into_par_iter().map(|it| FileTerms::decode(&it?)).collect();
        for (file, terms) in chunk.iter().zip(decoded) {
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
            let mut said = text.of_file(&file.path, &symbols).into_iter();
            builder.add_file(&terms, &file.path, |document, joining| {
                let Said { commits: places, n_commits } = said.next()?;
                let (id, node) = node_of(graph, url, file, document.symbol(), document.kind())?;
                places.iter().for_each(|it| joining.history(&messages[*it as usize]));
                let last = places.first().map(|it| commits[*it as usize].time);
                joining.commits(n_commits, last);
                neighbours.of(graph, node).for_each(|it| joining.neighbour(it));
                Some(id)
            })?;
        }
    }
    let index = builder.finish(&head)?;
    if is_whole {
        // A reader may not be allowed to write here; the index serves all the same.
        let _ = index.write(&path_of(store, snapshot));
    }
    Ok(Built { index, made })
}

/// The node of a declaration. Where a directory holds what its files declare, the symbol may carry the file's name.
fn node_of(
    graph: &Graph,
    url: &str,
    file: &FileRow,
    symbol: &str,
    kind: knowing_model::NodeKind,
) -> Option<(NodeId, NodeIndex)> {
    let find = |class, container, symbol: &str| {
        let id = node_id(Identity { repo: url, class, container, symbol, kind });
        Some((id, graph.find(id)?))
    };
    match container_of(&file.language, &file.path) {
        // The file itself is a node of its own.
        (ContainerClass::Dir, directory) if !symbol.is_empty() => {
            let here = in_file(symbol, &file.path);
            find(ContainerClass::Dir, directory, &here)
                .or_else(|| find(ContainerClass::Dir, directory, symbol))
        }
        _ => find(ContainerClass::File, &file.path, symbol),
    }
}

/// For a file of which the database has facts alone.
fn made_from_source(store: &Store, file: &FileRow, source: Option<Source<'_>>) -> Result<Option<FileTerms>> {
    let Some(source) = source else { return Ok(None) };
    let Some(bytes) = Content::of(source).read_stored(&file.path, &file.blob)? else { return Ok(None) };
    let facts = store.facts(file.row)?;
    Ok(Some(FileTerms::of(&facts, &bytes, &mut Tokenizer::new())))
}

/// Terms of the names of nodes; nodes of one name share them.
struct Neighbours {
    bags: Vec<TermBag>,
    of_node: Vec<u32>,
}

impl Neighbours {
    fn new(graph: &Graph, names: &Names, builder: &mut IndexBuilder) -> Neighbours {
        let mut bags = Vec::new();
        let mut places: FxHashMap<&str, u32> = FxHashMap::default();
        let of_node = graph
            .indices()
            .map(|it| {
                let name = names.name(it.0);
                *places.entry(name).or_insert_with(|| {
                    bags.push(builder.bag(name));
                    bags.len() as u32 - 1
                })
            })
            .collect();
        Neighbours { bags, of_node }
    }

    /// Callers, then callees, each in the graph's order.
    fn of<'a>(&'a self, graph: &'a Graph, node: NodeIndex) -> impl Iterator<Item = &'a TermBag> {
        let callers = graph.incoming_of(node, EdgeKind::Calls).iter().take(MAX_NEIGHBOURS);
        let callees = graph.outgoing_of(node, EdgeKind::Calls).iter().take(MAX_NEIGHBOURS);
        callers.chain(callees).map(|it| &self.bags[self.of_node[it.other().0 as usize] as usize])
    }
}
