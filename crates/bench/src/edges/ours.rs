//! What we say of the same files: nodes by line, and what stands at each place that has an edge.

use anyhow::Result;
use knowing_extract::Screen;
use knowing_model::facts::{DeclId, FileFacts};
use knowing_model::{EdgeKind, NodeKind, Position, Provenance, Reason, Span};
use knowing_resolve::{Input, InputFile};
use knowing_vcs::{Checkout, EntryKind};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A file that was extracted.
pub(crate) struct OurFile {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) facts: FileFacts,
}

/// A declaration as a node of the graph.
pub(crate) struct OurNode {
    pub(crate) file: u32,
    /// None for the file's own node.
    pub(crate) decl: Option<DeclId>,
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
    /// Symbol path.
    pub(crate) path: String,
    pub(crate) name: String,
}

/// What we say at one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) kind: EdgeKind,
    pub(crate) provenance: Provenance,
    pub(crate) target: Target,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Position in `Ours::nodes`.
    Own(u32),
    Outside,
    Unresolved(Reason),
}

pub(crate) struct Ours {
    pub(crate) files: Vec<OurFile>,
    pub(crate) nodes: Vec<OurNode>,
    by_path: FxHashMap<String, u32>,
    by_line: FxHashMap<(u32, u32), Vec<u32>>,
    said: FxHashMap<(u32, Position), Vec<Said>>,
    /// Relations with more places than an edge keeps: (source, target).
    crowded: FxHashSet<(u32, u32)>,
    node_of_decl: FxHashMap<(u32, Option<DeclId>), u32>,
}

/// The files an index run would read, with their texts.
pub(crate) fn read(checkout: &Checkout, commit: &str) -> Result<Vec<OurFile>> {
    let entries: Vec<_> = checkout
        .tree(checkout.resolve(commit)?)?
        .entries
        .into_iter()
        .filter(|it| matches!(it.kind, EntryKind::File | EntryKind::Executable))
        .filter(|it| knowing_extract::accepts(&it.path).is_some())
        .collect();
    let files: Vec<Option<OurFile>> = entries
        .into_par_iter()
        .map_init(
            || checkout.reader(),
            |reader, entry| {
                let Ok(Some(bytes)) = reader.blob(entry.blob) else { return None };
                if matches!(knowing_extract::screen(&entry.path, &bytes), Screen::Skip(_)) {
                    return None;
                }
                let facts = knowing_extract::extract(&entry.path, &bytes);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Some(OurFile { path: entry.path, text, facts })
            },
        )
        .collect();
    let mut files: Vec<OurFile> = files.into_iter().flatten().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

impl Ours {
    pub(crate) fn resolve(url: &str, files: Vec<OurFile>) -> Ours {
        let inputs: Vec<InputFile<'_>> =
            files.iter().map(|it| InputFile { path: &it.path, facts: &it.facts }).collect();
        let resolution = knowing_resolve::resolve(&Input { url, files: &inputs }, None);
        let mut nodes: Vec<OurNode> = Vec::new();
        let mut node_of_symbol: FxHashMap<u32, u32> = FxHashMap::default();
        let mut node_of_decl = FxHashMap::default();
        for unit in &resolution.units {
            let Some(file) = unit.file else { continue };
            // The file's own node comes first, then its declarations in order; routes after these are declared nowhere.
            let n_declared = files[file as usize].facts.decls.len() + 1;
            for (at, node) in unit.nodes.iter().take(n_declared).enumerate() {
                let symbol = &resolution.symbols[node.symbol as usize];
                let decl = at.checked_sub(1).map(|it| DeclId(it as u32));
                node_of_symbol.insert(node.symbol, nodes.len() as u32);
                node_of_decl.insert((file, decl), nodes.len() as u32);
                nodes.push(OurNode {
                    file,
                    decl,
                    kind: symbol.kind,
                    span: node.span,
                    path: symbol.path.to_string(),
                    name: symbol.name.to_string(),
                });
            }
        }
        let mut said: FxHashMap<(u32, Position), Vec<Said>> = FxHashMap::default();
        let mut crowded = FxHashSet::default();
        for unit in &resolution.units {
            let Some(file) = unit.file else { continue };
            for edge in &unit.edges {
                // A decorator is the edge's source and stands where it is applied.
                let (from, to) = match edge.kind {
                    EdgeKind::Decorates => (edge.target, edge.source),
                    _ => (edge.source, edge.target),
                };
                let target = node_of_symbol.get(&to).map_or(Target::Outside, |it| Target::Own(*it));
                for position in &edge.sites {
                    said.entry((file, *position)).or_default().push(Said {
                        kind: edge.kind,
                        provenance: edge.provenance,
                        target,
                    });
                }
                if edge.n_sites as usize > edge.sites.len()
                    && let (Some(from), Target::Own(to)) = (node_of_symbol.get(&from), target)
                {
                    crowded.insert((*from, to));
                }
            }
            for site in &unit.unresolved {
                said.entry((file, site.position)).or_default().push(Said {
                    kind: EdgeKind::Calls,
                    provenance: Provenance::AstInferred,
                    target: Target::Unresolved(site.reason),
                });
            }
        }
        let mut by_line: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
        for (at, node) in nodes.iter().enumerate().filter(|(_, it)| it.decl.is_some()) {
            by_line.entry((node.file, node.span.name.line)).or_default().push(at as u32);
        }
        let by_path = files.iter().enumerate().map(|(at, it)| (it.path.clone(), at as u32)).collect();
        Ours { files, nodes, by_path, by_line, said, crowded, node_of_decl }
    }

    pub(crate) fn file(&self, path: &str) -> Option<u32> {
        self.by_path.get(path).copied()
    }

    pub(crate) fn said(&self, file: u32, position: Position) -> &[Said] {
        self.said.get(&(file, position)).map_or(&[], Vec::as_slice)
    }

    /// Declarations whose name stands on a line.
    pub(crate) fn on_line(&self, file: u32, line: u32) -> &[u32] {
        self.by_line.get(&(file, line)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn node(&self, at: u32) -> &OurNode {
        &self.nodes[at as usize]
    }

    pub(crate) fn owner(&self, node: &OurNode) -> Option<u32> {
        let facts = &self.files[node.file as usize].facts;
        let decl = facts.decl(node.decl?);
        self.node_of_decl.get(&(node.file, Some(decl.owner?))).copied()
    }

    /// The innermost declaration around a place.
    pub(crate) fn around(&self, file: u32, line: u32) -> Option<DeclId> {
        let decls = &self.files[file as usize].facts.decls;
        let holds = |span: &Span| span.first_line <= line && line <= span.last_line;
        let inner = (0..).zip(decls).filter(|(_, it)| holds(&it.span));
        inner.min_by_key(|(_, it)| it.span.last_line - it.span.first_line).map(|(at, _)| DeclId(at))
    }

    /// Targets that a declaration surely reaches although not all places are kept.
    pub(crate) fn is_crowded(&self, file: u32, decl: Option<DeclId>, target: u32) -> bool {
        self.node_of_decl.get(&(file, decl)).is_some_and(|it| self.crowded.contains(&(*it, target)))
    }
}
