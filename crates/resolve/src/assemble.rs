//! All files' results as one list of symbols and two units a file.

use std::collections::BTreeSet;
use std::sync::Arc;

use knowing_model::facts::FileFacts;
use knowing_model::name::{container_of, in_file};
use knowing_model::{
    ContainerClass, Edge, EdgeKind, Node, NodeFlags, NodeKind, Position, Span, Symbol, Unit, UnitLayer,
    Unresolved, package_of,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Resolution;
use crate::derive::DerivedEdge;
use crate::emit::{End, FileEdges, Outside};
use crate::world::{Def, World};

pub(crate) fn assemble(world: &World<'_>, files: Vec<FileEdges>, derived: Vec<DerivedEdge>) -> Resolution {
    let mut symbols = Symbols::of(world);
    let mut units = Vec::with_capacity(files.len() * 2 + 1);
    units.push(packages(world, &mut symbols));
    // The same relation can be stated by several files when its source stands elsewhere (two `impl` blocks in two
    // files); the first file by path keeps it.
    let mut stated: FxHashSet<(u32, u32, EdgeKind)> = FxHashSet::default();
    for (file, result) in files.into_iter().enumerate() {
        let file = file as u32;
        let outside: Vec<u32> = result.outside.into_iter().map(|it| symbols.outside(it)).collect();
        let end = |end: End| match end {
            End::File(file) => symbols.of_file(file),
            End::Def(def) => symbols.of_def(world, def),
            End::Outside(at) => outside[at as usize],
            End::Directory(file) => symbols.of_directory(world, file),
        };
        let edges = result.edges.into_iter().filter_map(|it| {
            let (source, target) = (end(it.source), end(it.target));
            let foreign = matches!(it.kind, EdgeKind::Implements | EdgeKind::Decorates);
            if foreign && !stated.insert((source, target, it.kind)) {
                return None;
            }
            Some(Edge {
                source,
                target,
                kind: it.kind,
                provenance: it.provenance,
                confidence_bp: it.confidence_bp,
                sites: it.sites,
                n_sites: it.n_sites,
            })
        });
        let edges = edges.collect();
        let unresolved = result.unresolved.into_iter().map(|it| Unresolved {
            source: end(it.source),
            name: it.name,
            receiver: it.receiver,
            n_arguments: it.n_arguments,
            position: it.position,
            reason: it.reason,
            candidates: it.candidates.into_iter().map(|it| symbols.of_def(world, it)).collect(),
        });
        let unresolved = unresolved.collect();
        let nodes = nodes(world, &symbols, file);
        units.push(Unit { file: Some(file), layer: UnitLayer::Resolved, nodes, edges, unresolved });
    }
    derived_units(world, &symbols, derived, &mut units);
    Resolution { symbols: symbols.list, units }
}

fn derived_units(world: &World<'_>, symbols: &Symbols, derived: Vec<DerivedEdge>, units: &mut Vec<Unit>) {
    // Sorted by source, so that each file's edges stand together.
    for edge in derived {
        let file = world.file_of(edge.source);
        let fits = units.last().is_some_and(|it| it.layer == UnitLayer::Derived && it.file == Some(file));
        if !fits {
            let layer = UnitLayer::Derived;
            units.push(Unit { file: Some(file), layer, nodes: vec![], edges: vec![], unresolved: vec![] });
        }
        let unit = units.last_mut().expect("one was just pushed");
        unit.edges.push(Edge {
            source: symbols.of_def(world, edge.source),
            target: symbols.of_def(world, edge.target),
            kind: edge.kind,
            provenance: edge.provenance,
            confidence_bp: edge.confidence_bp,
            sites: vec![],
            n_sites: 0,
        });
    }
}

/// Numbers: first each file and its declarations, then packages, then what is outside.
struct Symbols {
    list: Vec<Symbol>,
    first_of_file: Vec<u32>,
    outside: FxHashMap<Outside, u32>,
    directories: FxHashMap<String, u32>,
}

impl Symbols {
    fn of(world: &World<'_>) -> Symbols {
        let url: Arc<str> = world.input.url.into();
        let empty: Arc<str> = "".into();
        let mut list = Vec::with_capacity(world.n_defs() + world.n_files());
        let mut first_of_file = Vec::with_capacity(world.n_files());
        let repeated = repeated(world);
        for file in 0..world.n_files() as u32 {
            first_of_file.push(list.len() as u32);
            let container: Arc<str> = world.path(file).into();
            let name = world.path(file).rsplit('/').next().unwrap_or_default();
            list.push(Symbol::new(
                url.clone(),
                ContainerClass::File,
                container.clone(),
                empty.clone(),
                NodeKind::File,
                name.into(),
            ));
            let facts = world.facts(file);
            let (class, holder) = container_of(&facts.language, world.path(file));
            let container = if class == ContainerClass::File { container } else { holder.into() };
            for decl in &facts.decls {
                let path = facts.text(decl.path);
                let path: Arc<str> = match repeated.contains(&(holder, path, decl.kind)) {
                    true => in_file(path, world.path(file)).into(),
                    false => path.into(),
                };
                list.push(Symbol::new(
                    url.clone(),
                    class,
                    container.clone(),
                    path,
                    decl.kind,
                    facts.text(decl.name).into(),
                ));
            }
        }
        Symbols { list, first_of_file, outside: FxHashMap::default(), directories: FxHashMap::default() }
    }

    fn of_directory(&self, world: &World<'_>, file: u32) -> u32 {
        let directory = package_of(ContainerClass::File, world.path(file));
        self.directories.get(directory).copied().unwrap_or_else(|| self.of_file(file))
    }

    fn of_file(&self, file: u32) -> u32 {
        self.first_of_file[file as usize]
    }

    fn of_def(&self, world: &World<'_>, def: Def) -> u32 {
        let (file, decl, _) = world.decl(def);
        self.first_of_file[file as usize] + 1 + decl.0
    }

    fn outside(&mut self, outside: Outside) -> u32 {
        if let Some(at) = self.outside.get(&outside) {
            return *at;
        }
        let at = self.list.len() as u32;
        let name = &outside.name;
        let symbol = knowing_model::name::bounded(&name.symbol);
        let last = name.symbol.rsplit('.').next().filter(|it| !it.is_empty());
        let last = last.unwrap_or_else(|| name.container.rsplit('/').next().unwrap_or_default());
        self.list.push(Symbol::new(
            name.repo.into(),
            ContainerClass::Virtual,
            name.container.as_str().into(),
            symbol.as_ref().into(),
            outside.kind,
            last.into(),
        ));
        self.outside.insert(outside, at);
        at
    }
}

/// Symbols that several files of one directory declare: for other systems, or each for itself (`init`).
fn repeated<'a>(world: &World<'a>) -> FxHashSet<(&'a str, &'a str, NodeKind)> {
    let mut first: FxHashMap<(&str, &str, NodeKind), u32> = FxHashMap::default();
    let mut repeated = FxHashSet::default();
    for file in 0..world.n_files() as u32 {
        let facts = world.facts(file);
        let (class, holder) = container_of(&facts.language, world.path(file));
        if class != ContainerClass::Dir {
            continue;
        }
        for decl in &facts.decls {
            let key = (holder, facts.text(decl.path), decl.kind);
            if *first.entry(key).or_insert(file) != file {
                repeated.insert(key);
            }
        }
    }
    repeated
}

fn packages(world: &World<'_>, symbols: &mut Symbols) -> Unit {
    let url: Arc<str> = world.input.url.into();
    let directories: BTreeSet<&str> =
        (0..world.n_files() as u32).map(|it| package_of(ContainerClass::File, world.path(it))).collect();
    let mut nodes = Vec::with_capacity(directories.len());
    for directory in directories {
        symbols.directories.insert(directory.to_owned(), symbols.list.len() as u32);
        nodes.push(Node {
            symbol: symbols.list.len() as u32,
            span: Span::default(),
            signature: String::new(),
            doc: String::new(),
            flags: NodeFlags::default(),
        });
        symbols.list.push(Symbol::new(
            url.clone(),
            ContainerClass::Dir,
            directory.into(),
            "".into(),
            NodeKind::Package,
            directory.rsplit('/').next().unwrap_or(directory).into(),
        ));
    }
    Unit { file: None, layer: UnitLayer::Resolved, nodes, edges: vec![], unresolved: vec![] }
}

fn nodes(world: &World<'_>, symbols: &Symbols, file: u32) -> Vec<Node> {
    let facts: &FileFacts = world.facts(file);
    let first = symbols.of_file(file);
    let mut nodes = Vec::with_capacity(facts.decls.len() + 1);
    nodes.push(Node {
        symbol: first,
        span: Span { first_line: 1, last_line: facts.n_lines.max(1), name: Position { line: 1, column: 0 } },
        signature: String::new(),
        doc: facts.doc.map(|it| cut(facts.text(it))).unwrap_or_default(),
        flags: facts.flags,
    });
    for (index, decl) in facts.decls.iter().enumerate() {
        nodes.push(Node {
            symbol: first + 1 + index as u32,
            span: decl.span,
            signature: facts.text(decl.signature).to_owned(),
            doc: decl.doc.map(|it| cut(facts.text(it))).unwrap_or_default(),
            flags: decl.flags,
        });
    }
    nodes
}

/// A node's documentation is shorter than what search keeps.
fn cut(doc: &str) -> String {
    const MAX_CHARACTERS: usize = 500;
    match doc.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => doc[..end].to_owned(),
        None => doc.to_owned(),
    }
}
