//! One snapshot, open for reading: graph, rows and names behind one face.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use knowing_graph::{EdgeRecord, Graph, NodeIndex};
use knowing_index::Anchors;
use knowing_model::facts::FileFacts;
use knowing_model::{EdgeKind, NodeKind};
use knowing_search::Names;
use knowing_store::{FileRow, Reader, SymbolRow};

use crate::answer::{Link, SymbolInfo, Tree, confidence, flag_names};
use crate::cx::Opened;
use crate::error::Result;
use crate::work_state;

pub(crate) struct View<'a> {
    opened: &'a Opened,
    reader: Reader<'a>,
    graph: Graph,
    /// Opened when it is needed: what stands where, without asking the database for each.
    names: OnceCell<Names>,
    /// Paths share their first steps, so that names are asked for again and again.
    infos: RefCell<HashMap<NodeIndex, SymbolInfo>>,
    versions: RefCell<HashMap<String, Versions>>,
}

/// Packages that a project file asks for, each with a version.
type Versions = Rc<[(String, String)]>;

/// What nodes are listed by: own code by its place, then what lies outside by its name, and of equals by node id.
pub(crate) fn place_of(names: &Names, at: NodeIndex) -> impl Ord + use<> {
    let file = names.file(at.0);
    let name = match file {
        Some(_) => String::new(),
        None => format!("{} {}", names.container(at.0), names.symbol(at.0)),
    };
    // Files are numbered by their paths.
    (file.is_none(), file, names.lines(at.0).0, name, at)
}

/// Where an edge was seen.
#[derive(Default)]
pub(crate) struct Sites {
    pub(crate) file: Option<String>,
    pub(crate) lines: Vec<u32>,
    pub(crate) n_sites: u32,
}

impl Opened {
    pub(crate) fn view(&self) -> Result<View<'_>> {
        Ok(View {
            opened: self,
            reader: self.store.reader(&self.snapshot)?,
            graph: knowing_index::open_graph(&self.store, &self.snapshot)?,
            names: OnceCell::new(),
            infos: RefCell::default(),
            versions: RefCell::default(),
        })
    }
}

impl<'a> View<'a> {
    pub(crate) fn tree(&self) -> &Tree {
        &self.opened.tree
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn names(&self) -> Result<&Names> {
        if let Some(names) = self.names.get() {
            return Ok(names);
        }
        let names = knowing_index::open_names(&self.opened.store, &self.opened.snapshot)?;
        Ok(self.names.get_or_init(|| names))
    }

    pub(crate) fn reader(&self) -> &Reader<'a> {
        &self.reader
    }

    /// The directory paths are typed in.
    pub(crate) fn prefix(&self) -> &str {
        &self.opened.prefix
    }

    pub(crate) fn files(&self) -> Result<Vec<FileRow>> {
        Ok(self.reader.files()?.into_iter().filter(|it| it.skip_reason.is_none()).collect())
    }

    pub(crate) fn info(&self, at: NodeIndex) -> Result<SymbolInfo> {
        if let Some(known) = self.infos.borrow().get(&at) {
            return Ok(known.clone());
        }
        let info = self.read_info(at)?;
        self.infos.borrow_mut().insert(at, info.clone());
        Ok(info)
    }

    fn read_info(&self, at: NodeIndex) -> Result<SymbolInfo> {
        let record = self.graph.node(at);
        let symbol = self.reader.symbol(record.sym)?.symbol;
        let mut info = SymbolInfo {
            id: symbol.id.to_string(),
            qualified_name: symbol.qualified_name(),
            name: symbol.name.to_string(),
            kind: symbol.kind.name(),
            file: None,
            line: None,
            end_line: None,
            language: None,
            signature: String::new(),
            flags: flag_names(record.flags()),
        };
        if record.is_virtual() {
            if symbol.kind == NodeKind::External && symbol.path.is_empty() {
                info.signature = self.asked_versions(at, &symbol.container)?;
            }
            return Ok(info);
        }
        let node = self.reader.node(record.node_row)?;
        info.signature = node.signature;
        if !node.path.is_empty() {
            let (mut first, mut last) = (node.span.first_line, node.span.last_line);
            if let Some(anchors) = self.opened.work.anchors(&node.path) {
                let found = anchors.declaration(&symbol.path, symbol.kind, (first, last));
                (first, last) = (found.first_line, found.last_line);
                info.flags.extend(work_state::flags(found));
            }
            info.file = Some(node.path);
            info.line = Some(first);
            info.end_line = Some(last);
            info.language = Some(node.language).filter(|it| !it.is_empty());
        }
        Ok(info)
    }

    /// Which versions the project files ask for of a package that lies outside: one where they agree, else each with the
    /// files that ask for it.
    fn asked_versions(&self, at: NodeIndex, package: &str) -> Result<String> {
        const MAX_FILES: usize = 64;
        let mut files = BTreeSet::new();
        for edge in self.graph.incoming_of(at, EdgeKind::DependsOn) {
            let record = self.graph.node(edge.other());
            if files.len() < MAX_FILES && !record.is_virtual() {
                files.insert(self.reader.node(record.node_row)?.path);
            }
        }
        let mut by_version: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for path in files {
            let versions = self.versions_in(&path)?;
            let asked = versions.iter().filter(|it| it.0 == package);
            for version in asked.map(|it| &it.1).collect::<BTreeSet<_>>() {
                by_version.entry(version.clone()).or_default().push(path.clone());
            }
        }
        let mut signature = match by_version.len() {
            1 => by_version.into_keys().collect(),
            _ => {
                let each =
                    by_version.iter().map(|(version, files)| format!("{version} ({})", files.join(", ")));
                each.collect::<Vec<_>>().join(", ")
            }
        };
        signature.truncate(signature.floor_char_boundary(400));
        Ok(signature)
    }

    /// Packages and versions that a project file asks for.
    fn versions_in(&self, path: &str) -> Result<Versions> {
        if let Some(known) = self.versions.borrow().get(path) {
            return Ok(known.clone());
        }
        let mut versions = Vec::new();
        if let Some(file) = self.reader.file(path)? {
            let facts = self.opened.store.facts(file.row)?;
            let text = |it| facts.text(it).to_owned();
            versions.extend(facts.versions.iter().map(|it| (text(it.package), text(it.version))));
        }
        let versions: Versions = versions.into();
        self.versions.borrow_mut().insert(path.to_owned(), versions.clone());
        Ok(versions)
    }

    /// The text of a symbol as it stands on disk, or as git has it; none where neither can be read.
    pub(crate) fn source(&self, symbol: &SymbolInfo) -> Result<Option<String>> {
        let (Some(path), Some(place)) = (&symbol.file, &self.opened.work.place) else { return Ok(None) };
        let text = match self.opened.work.anchors(path) {
            Some(_) => place.text_on_disk(path),
            None => self.reader.file(path)?.and_then(|it| place.blob(&it.blob, path)),
        };
        let lines = (symbol.line.unwrap_or(0) as usize, symbol.end_line.unwrap_or(0) as usize);
        Ok(text.map(|text| {
            let text = String::from_utf8_lossy(&text);
            let own = text
                .lines()
                .skip(lines.0.saturating_sub(1))
                .take((lines.1 + 1).saturating_sub(lines.0.max(1)));
            own.collect::<Vec<_>>().join("\n")
        }))
    }

    pub(crate) fn qualified_name(&self, at: NodeIndex) -> Result<String> {
        Ok(self.info(at)?.qualified_name)
    }

    pub(crate) fn symbol(&self, at: NodeIndex) -> Result<SymbolRow> {
        Ok(self.reader.symbol(self.graph.node(at).sym)?)
    }

    /// Every symbol of the snapshot, in no order.
    pub(crate) fn each_symbol(&self, mut visit: impl FnMut(NodeIndex, &SymbolRow)) -> Result<()> {
        Ok(self.reader.each_symbol(|row| {
            if let Some(at) = self.graph.of_sym(row.sym) {
                visit(at, &row);
            }
        })?)
    }

    /// The facts of the file a node stands in.
    pub(crate) fn facts_of(&self, at: NodeIndex) -> Result<Option<FileFacts>> {
        let Some(path) = self.info(at)?.file else { return Ok(None) };
        let Some(file) = self.reader.file(&path)? else { return Ok(None) };
        Ok(Some(self.opened.store.facts(file.row)?))
    }

    /// The edges of a node, from it and to it as asked.
    pub(crate) fn edges(
        &self,
        at: NodeIndex,
        outgoing: bool,
        incoming: bool,
    ) -> impl Iterator<Item = &EdgeRecord> {
        let from_here = if outgoing { self.graph.outgoing(at) } else { &[] };
        let to_here = if incoming { self.graph.incoming(at) } else { &[] };
        from_here.iter().chain(to_here)
    }

    pub(crate) fn link(&self, source: NodeIndex, target: NodeIndex, edge: &EdgeRecord) -> Result<Link> {
        let sites = self.sites(edge.edge_row)?;
        Ok(Link {
            source: self.qualified_name(source)?,
            target: self.qualified_name(target)?,
            kind: edge.kind().name(),
            provenance: edge.provenance().name(),
            confidence: confidence(edge.confidence_bp),
            line: sites.lines.first().copied(),
            file: sites.file,
        })
    }

    /// Where a file's lines stand on disk; none for a file that is as the snapshot has it.
    pub(crate) fn anchors(&self, path: &str) -> Option<Rc<Anchors>> {
        self.opened.work.anchors(path)
    }

    /// Where a line of a file stands on disk.
    pub(crate) fn line(&self, path: &str, line: u32) -> u32 {
        self.opened.work.anchors(path).map_or(line, |it| it.line(line))
    }

    /// Where an edge was seen; nowhere for a computed one.
    pub(crate) fn sites(&self, edge_row: u32) -> Result<Sites> {
        if edge_row == 0 {
            return Ok(Sites::default());
        }
        let found = self.reader.edge_sites(edge_row)?;
        Ok(Sites {
            lines: found.sites.iter().map(|it| self.line(&found.path, it.line)).collect(),
            file: Some(found.path).filter(|it| !it.is_empty()),
            n_sites: found.n_sites,
        })
    }
}
