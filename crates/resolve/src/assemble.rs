//! All files' results as one list of symbols and two units a file, and what is kept for the next run.

use std::collections::BTreeSet;
use std::sync::Arc;

use knowing_model::facts::{DeclId, FileFacts};
use knowing_model::name::{container_of, in_file};
use knowing_model::{
    ContainerClass, Edge, EdgeKind, Node, NodeFlags, NodeKind, Position, Sites, Span, Symbol, Unit,
    UnitLayer, Unresolved, package_of,
};
use rustc_hash::FxHashMap;

use crate::Resolution;
use crate::again::keys::{self, mix};
use crate::again::{Answers, FileRecord, Previous, Record, recorded_leads};
use crate::derive::{self, Derived, DerivedEdge, Lead};
use crate::emit::{End, FileEdges, Outside};
use crate::world::{Def, World};

/// What was found, before it is put together.
pub(crate) struct Parts<'a> {
    /// None for a file that keeps its result.
    pub(crate) files: Vec<Option<FileEdges>>,
    pub(crate) leads: &'a [Arc<[Lead]>],
    pub(crate) derived: &'a Derived,
    pub(crate) shared: Answers,
    pub(crate) previous: Option<&'a Previous<'a>>,
}

pub(crate) fn assemble(world: &World<'_>, parts: Parts<'_>) -> Resolution {
    let Parts { mut files, leads, derived, shared, previous } = parts;
    let mut symbols = Symbols::of(world);
    let n_resolved = files.iter().flatten().count();
    let mut units = Vec::with_capacity(files.iter().flatten().count() * 2 + 1);
    let has_same_packages = previous.is_some_and(|it| has_same_paths(world, it));
    if !has_same_packages {
        units.push(packages(world, &mut symbols));
    }
    let before = |file: usize| {
        let place = previous?.same[file]? as usize;
        previous?.record.files().get(place)
    };
    let mut kept = Vec::new();
    let mut records: Vec<Arc<FileRecord>> = Vec::with_capacity(files.len());
    for (file, (result, leads)) in files.iter_mut().zip(leads).enumerate() {
        records.push(match result {
            Some(result) => Arc::new(FileRecord {
                reads: std::mem::take(&mut result.reads).into(),
                stated: std::mem::take(&mut result.stated).into(),
                leads: recorded_leads(world, leads),
                ..FileRecord::default()
            }),
            None => {
                kept.push((file as u32, UnitLayer::Resolved));
                before(file).cloned().unwrap_or_default()
            }
        });
    }
    let is_resolved: Vec<bool> = files.iter().map(Option::is_some).collect();
    let first = first_to_state(&records, &is_resolved);
    for (file, result) in files.into_iter().enumerate() {
        let Some(result) = result else { continue };
        let digest = result_digest(world, &first, file as u32, &result);
        Arc::make_mut(&mut records[file]).resolved = digest;
        // Looked at again, and the same.
        match before(file) {
            Some(before) if before.resolved == digest => kept.push((file as u32, UnitLayer::Resolved)),
            _ => units.push(resolved_unit(world, &mut symbols, &first, file as u32, result)),
        }
    }
    for (file, record) in (0..).zip(&mut records) {
        let before = before(file as usize);
        let mut put = |derived: u64, similar: u64| {
            if (record.derived, record.similar) != (derived, similar) {
                let record = Arc::make_mut(record);
                (record.derived, record.similar) = (derived, similar);
            }
        };
        if let Some(before) = before.filter(|_| !derived.is_touched(file)) {
            put(before.derived, before.similar);
            kept.extend((before.derived != 0).then_some((file, UnitLayer::Derived)));
            continue;
        }
        let own = derived.of_file(world, file);
        let digest = |is_similar: bool| {
            let of = own.iter().filter(|it| (it.kind == EdgeKind::SimilarTo) == is_similar);
            of.fold(0_u64, |sum, it| sum.wrapping_add(it.digest(world)))
        };
        let similar = match before.filter(|_| derived.keeps_similar(file)) {
            Some(before) => before.similar,
            None => digest(true),
        };
        if own.is_empty() && similar == 0 {
            put(0, 0);
            continue;
        }
        // Never 0, which stands for none.
        let digest = digest(false).wrapping_add(similar) | 1;
        put(digest, similar);
        match before {
            Some(before) if before.derived == digest => kept.push((file, UnitLayer::Derived)),
            _ if derived.keeps_similar(file) => {
                let edges = own.into_iter().chain(derive::similar_of(world, file)).collect();
                units.push(derived_unit(world, &mut symbols, file, edges));
            }
            _ => units.push(derived_unit(world, &mut symbols, file, own)),
        }
    }
    // Where nothing else is kept, nothing is built on the run before.
    let keeps_packages = has_same_packages && !kept.is_empty();
    if has_same_packages && !keeps_packages {
        units.push(packages(world, &mut symbols));
    }
    let record = Record::new(records, shared.into_inner());
    Symbol::identify(&mut symbols.list);
    Resolution { symbols: symbols.list, units, kept, keeps_packages, n_resolved, record }
}

/// Whether the files of the run before stood at the same paths.
fn has_same_paths(world: &World<'_>, previous: &Previous<'_>) -> bool {
    let new = (0..).zip(previous.same).filter(|it| it.1.is_none()).map(|it| world.path(it.0));
    let mut new: Vec<&str> = new.collect();
    let mut gone: Vec<&str> = previous.gone.iter().map(|it| it.path).collect();
    new.sort_unstable();
    gone.sort_unstable();
    new == gone
}

/// The same relation can be stated by several files when its source stands elsewhere (two `impl` blocks in two files, two
/// maps of one resolver); the first file by path keeps it.
fn first_to_state(records: &[Arc<FileRecord>], is_resolved: &[bool]) -> FxHashMap<u64, u32> {
    // What files say that keep their result is asked for by nobody else.
    let resolved = records.iter().zip(is_resolved).filter(|it| *it.1).flat_map(|it| it.0.stated.iter());
    let mut first: FxHashMap<u64, u32> = resolved.map(|it| (*it, u32::MAX)).collect();
    if first.is_empty() {
        return first;
    }
    for (file, record) in (0..).zip(records) {
        for stated in record.stated.iter() {
            if let Some(first) = first.get_mut(stated) {
                *first = (*first).min(file);
            }
        }
    }
    first
}

/// The same in every run. What nodes say follows from the version of the file, but for their symbols.
fn result_digest(world: &World<'_>, first: &FxHashMap<u64, u32>, file: u32, result: &FileEdges) -> u64 {
    let at = |position: Position| u64::from(position.line) << 32 | u64::from(position.column);
    let end = |end: End| result.end(world, end);
    let mut state = 0;
    for index in 0..world.found_in(file).decls.len() as u32 {
        state = mix(state, u64::from(world.is_repeated(world.def(file, DeclId(index)))));
    }
    for index in 0..world.routes.of_file(world, file).len() as u32 {
        state = mix(state, crate::links::route_digest(world, file, index));
    }
    for edge in &result.edges {
        if result.stated(world, file, edge).is_some_and(|it| first[&it] != file) {
            continue;
        }
        let about = u64::from(edge.kind.id()) << 8 | u64::from(edge.provenance.id());
        let about = (about << 16 | u64::from(edge.confidence_bp)) << 32 | u64::from(edge.n_sites);
        let own = [end(edge.source), end(edge.target), about].into_iter().fold(1, mix);
        let own = edge.sites.iter().fold(own, |state, it| mix(state, at(*it)));
        // Added, because the order of edges is one of numbers.
        state = state.wrapping_add(own);
    }
    for site in &result.unresolved {
        let about = u64::from(site.n_arguments) << 8 | u64::from(site.reason.id());
        state = [end(site.source), at(site.position), about].into_iter().fold(state, mix);
        state = keys::text(keys::text(state, &site.name), &site.receiver);
        state = site.candidates.iter().fold(state, |state, it| mix(state, world.digest(*it)));
    }
    state
}

fn resolved_unit(
    world: &World<'_>,
    symbols: &mut Symbols,
    first: &FxHashMap<u64, u32>,
    file: u32,
    result: FileEdges,
) -> Unit {
    let nodes = nodes(world, symbols, file);
    let outside: Vec<u32> = result.outside.iter().map(|it| symbols.outside(it)).collect();
    let is_first =
        result.edges.iter().map(|it| result.stated(world, file, it).is_none_or(|it| first[&it] == file));
    let is_first: Vec<bool> = is_first.collect();
    let mut end = |end: End| match end {
        End::File(file) => symbols.of_file(world, file),
        End::Def(def) => symbols.of_def(world, def),
        End::Outside(at) => outside[at as usize],
        End::Directory(file) => symbols.of_directory(world, file),
        End::Route(file, index) => symbols.of_route(world, file, index),
    };
    let edges = result.edges.into_iter().zip(is_first).filter(|it| it.1).map(|(it, _)| Edge {
        source: end(it.source),
        target: end(it.target),
        kind: it.kind,
        provenance: it.provenance,
        confidence_bp: it.confidence_bp,
        sites: it.sites,
        n_sites: it.n_sites,
    });
    let edges = edges.collect();
    let unresolved = result.unresolved.into_iter().map(|it| Unresolved {
        source: end(it.source),
        name: it.name,
        receiver: it.receiver,
        n_arguments: it.n_arguments,
        position: it.position,
        reason: it.reason,
        candidates: it.candidates.into_iter().map(|it| end(End::Def(it))).collect(),
    });
    let unresolved = unresolved.collect();
    Unit { file: Some(file), layer: UnitLayer::Resolved, nodes, edges, unresolved }
}

fn derived_unit(world: &World<'_>, symbols: &mut Symbols, file: u32, mut derived: Vec<DerivedEdge>) -> Unit {
    derived.sort_unstable_by_key(|it| (it.source, it.target, it.kind));
    let edges = derived.iter().map(|it| Edge {
        source: symbols.of_def(world, it.source),
        target: symbols.of_def(world, it.target),
        kind: it.kind,
        provenance: it.provenance,
        confidence_bp: it.confidence_bp,
        sites: Sites::new(),
        n_sites: 0,
    });
    let edges = edges.collect();
    Unit { file: Some(file), layer: UnitLayer::Derived, nodes: vec![], edges, unresolved: vec![] }
}

/// Symbols in the order in which they are first spoken of.
struct Symbols {
    url: Arc<str>,
    list: Vec<Symbol>,
    /// One more than the place in the list.
    files: Vec<u32>,
    defs: Vec<u32>,
    /// The path of each file as a container.
    containers: Vec<Option<Arc<str>>>,
    outside: FxHashMap<Outside, u32>,
    routes: FxHashMap<(u32, u32), u32>,
    directories: FxHashMap<String, u32>,
}

impl Symbols {
    fn of(world: &World<'_>) -> Symbols {
        Symbols {
            url: world.input.url.into(),
            list: Vec::new(),
            files: vec![0; world.n_files()],
            defs: vec![0; world.n_defs()],
            containers: vec![None; world.n_files()],
            outside: FxHashMap::default(),
            routes: FxHashMap::default(),
            directories: FxHashMap::default(),
        }
    }

    fn push(&mut self, symbol: Symbol) -> u32 {
        self.list.push(symbol);
        self.list.len() as u32 - 1
    }

    fn container(&mut self, world: &World<'_>, file: u32) -> Arc<str> {
        self.containers[file as usize].get_or_insert_with(|| world.path(file).into()).clone()
    }

    fn of_directory(&mut self, world: &World<'_>, file: u32) -> u32 {
        self.of_package(package_of(ContainerClass::File, world.path(file)))
    }

    fn of_package(&mut self, directory: &str) -> u32 {
        if let Some(at) = self.directories.get(directory) {
            return *at;
        }
        let name = directory.rsplit('/').next().unwrap_or(directory);
        let (class, kind) = (ContainerClass::Dir, NodeKind::Package);
        let symbol =
            Symbol::unidentified(self.url.clone(), class, directory.into(), "".into(), kind, name.into());
        let at = self.push(symbol);
        self.directories.insert(directory.to_owned(), at);
        at
    }

    fn of_file(&mut self, world: &World<'_>, file: u32) -> u32 {
        if let Some(at) = self.files[file as usize].checked_sub(1) {
            return at;
        }
        let container = self.container(world, file);
        let name = world.path(file).rsplit('/').next().unwrap_or_default();
        let (class, kind) = (ContainerClass::File, NodeKind::File);
        let at =
            self.push(Symbol::unidentified(self.url.clone(), class, container, "".into(), kind, name.into()));
        self.files[file as usize] = at + 1;
        at
    }

    fn of_def(&mut self, world: &World<'_>, def: Def) -> u32 {
        if let Some(at) = self.defs[def.0 as usize].checked_sub(1) {
            return at;
        }
        let (file, _, decl) = world.decl(def);
        let facts = world.facts(file);
        let (class, holder) = container_of(&facts.language, world.path(file));
        let container = match class {
            ContainerClass::File => self.container(world, file),
            _ => holder.into(),
        };
        let path = facts.text(decl.path);
        let path: Arc<str> = match world.is_repeated(def) {
            true => in_file(path, world.path(file)).into(),
            false => path.into(),
        };
        let at = self.push(Symbol::unidentified(
            self.url.clone(),
            class,
            container,
            path,
            decl.kind,
            facts.text(decl.name).into(),
        ));
        self.defs[def.0 as usize] = at + 1;
        at
    }

    fn of_route(&mut self, world: &World<'_>, file: u32, index: u32) -> u32 {
        if let Some(at) = self.routes.get(&(file, index)) {
            return *at;
        }
        let placed = world.routes.placed(file, index);
        let (class, holder) = container_of(&world.found_in(file).language, world.path(file));
        let container = match class {
            ContainerClass::File => self.container(world, file),
            _ => holder.into(),
        };
        let (path, name): (Arc<str>, Arc<str>) = (placed.symbol.as_str().into(), placed.name.as_str().into());
        let symbol =
            Symbol::unidentified(self.url.clone(), class, container, path, NodeKind::RouteHandler, name);
        let at = self.push(symbol);
        self.routes.insert((file, index), at);
        at
    }

    fn outside(&mut self, outside: &Outside) -> u32 {
        if let Some(at) = self.outside.get(outside) {
            return *at;
        }
        let name = &outside.name;
        let symbol = knowing_model::name::bounded(&name.symbol);
        let last = name.symbol.rsplit('.').next().filter(|it| !it.is_empty());
        let last = last.unwrap_or_else(|| name.container.rsplit('/').next().unwrap_or_default());
        let at = self.push(Symbol::unidentified(
            name.repo.into(),
            ContainerClass::Virtual,
            name.container.as_str().into(),
            symbol.as_ref().into(),
            outside.kind,
            last.into(),
        ));
        self.outside.insert(outside.clone(), at);
        at
    }
}

fn packages(world: &World<'_>, symbols: &mut Symbols) -> Unit {
    let directories: BTreeSet<&str> =
        (0..world.n_files() as u32).map(|it| package_of(ContainerClass::File, world.path(it))).collect();
    let mut nodes = Vec::with_capacity(directories.len());
    for directory in directories {
        nodes.push(Node {
            symbol: symbols.of_package(directory),
            span: Span::default(),
            signature: String::new(),
            doc: String::new(),
            flags: NodeFlags::default(),
        });
    }
    Unit { file: None, layer: UnitLayer::Resolved, nodes, edges: vec![], unresolved: vec![] }
}

fn nodes(world: &World<'_>, symbols: &mut Symbols, file: u32) -> Vec<Node> {
    let facts: &FileFacts = world.facts(file);
    let mut nodes = Vec::with_capacity(facts.decls.len() + 1);
    nodes.push(Node {
        symbol: symbols.of_file(world, file),
        span: Span { first_line: 1, last_line: facts.n_lines.max(1), name: Position { line: 1, column: 0 } },
        signature: String::new(),
        doc: facts.doc.map(|it| cut(facts.text(it))).unwrap_or_default(),
        flags: facts.flags,
    });
    for (index, decl) in (0..).zip(&facts.decls) {
        nodes.push(Node {
            symbol: symbols.of_def(world, world.def(file, DeclId(index))),
            span: decl.span,
            signature: facts.text(decl.signature).to_owned(),
            doc: decl.doc.map(|it| cut(facts.text(it))).unwrap_or_default(),
            flags: decl.flags,
        });
    }
    for (index, placed) in (0..).zip(world.routes.of_file(world, file)) {
        let route = &facts.routes[placed.fact as usize];
        let line = route.position.line;
        nodes.push(Node {
            symbol: symbols.of_route(world, file, index),
            span: Span { first_line: line, last_line: line, name: route.position },
            signature: facts.text(route.written).to_owned(),
            doc: String::new(),
            flags: facts.flags,
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
