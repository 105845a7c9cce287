//! Snapshots drawn as text: files with their symbols, then the edges between them.
//!
//! ```text
//! shop/cart.py
//!     class Cart: a basket of goods
//!     method Cart.total: sum of prices
//!     function price [age=3 flags=test]: what a thing costs
//! external decimal.Decimal
//! Cart contains Cart.total
//! price type_hint_of decimal.Decimal
//! ```
//!
//! A symbol's words are its body. `age` is in days before the snapshot's commit; a symbol that has one is known by its
//! body alone.

use std::collections::BTreeMap;

use knowing_graph::{EdgeInput, Graph, GraphInput, NodeIndex, NodeInput};
use knowing_model::facts::FileFacts;
use knowing_model::identity::{self, Identity};
use knowing_model::{
    ContainerClass, EdgeKind, Hash, Hasher, NodeFlags, NodeId, NodeKind, Provenance, SnapshotId,
};
use knowing_retrieve::{Params, Part, Ranker, Run, Settings, Sources, Switches, for_task};
use knowing_search::{
    Collection, Documents, Field, FileIndex, FileInput, FileTerms, ImageHead, IndexBuilder, NameInput, Names,
    Tokenizer,
};

const REPO: &str = "example.com/drawn";
const COMMIT_TIME: i64 = 1_700_000_000;
const DAY: f64 = 86_400.0;

pub(crate) struct Drawn {
    pub(crate) graph: Graph,
    search: Collection,
    documents: Documents,
    names: Names,
}

struct Symbol {
    id: NodeId,
    path: String,
    name: String,
    kind: NodeKind,
    flags: NodeFlags,
    /// By position in the sorted list of files; none for externals.
    file: Option<usize>,
    line: u32,
    words: String,
    age: Option<f64>,
}

/// Source, kind, target.
type Edge = (NodeId, EdgeKind, NodeId);

impl Drawn {
    #[track_caller]
    pub(crate) fn new(text: &str) -> Drawn {
        Drawn::in_language(text, language_of)
    }

    /// With languages of files that their paths do not say.
    #[track_caller]
    pub(crate) fn in_language(text: &str, language_of: fn(&str) -> &'static str) -> Drawn {
        let (files, mut symbols, edges) = read(text);
        symbols.sort_by_key(|it| it.id);
        let snapshot = SnapshotId(Hasher::new("drawn").field(text.as_bytes()).finish());
        let graph = graph(snapshot, &symbols, &edges);
        let search = search(snapshot, &symbols, &files);
        let names = names(snapshot, &symbols, &files, language_of);
        Drawn { documents: Documents::new(&search, graph.ids()), graph, search, names }
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources { graph: &self.graph, search: &self.search, names: &self.names, documents: &self.documents }
    }

    pub(crate) fn run(&self, task: &str, settings: &Settings) -> Run {
        for_task(self.sources(), task, settings)
    }

    pub(crate) fn symbol(&self, node: NodeIndex) -> &str {
        self.names.symbol(node.0)
    }

    #[track_caller]
    pub(crate) fn node(&self, symbol: &str) -> NodeIndex {
        let mut nodes = self.graph.indices();
        nodes.find(|it| self.symbol(*it) == symbol).unwrap_or_else(|| panic!("no `{symbol}` is drawn"))
    }

    #[track_caller]
    pub(crate) fn file(&self, path: &str) -> FileIndex {
        self.names.find_file(path).unwrap_or_else(|| panic!("no `{path}` is drawn"))
    }

    /// Seeds of the best candidates, in order; those at a fixed lower weight come from elsewhere.
    pub(crate) fn seeds(&self, run: &Run) -> Vec<&str> {
        let ordered = (0..).map(|i| 1.0 / (1.0 + 0.1 * f64::from(i)));
        let best = run.seeds.iter().zip(ordered).take_while(|((_, weight), expected)| weight == expected);
        best.map(|((node, _), _)| self.symbol(*node)).collect()
    }

    pub(crate) fn ranked(&self, run: &Run) -> Vec<&str> {
        run.ranked.iter().map(|it| self.symbol(it.node)).collect()
    }

    /// What was ranked, with the numbers that packing goes by.
    pub(crate) fn scored(&self, run: &Run) -> Vec<(&str, f64, f64, u8)> {
        run.ranked.iter().map(|it| (self.symbol(it.node), it.score, it.walk, it.distance)).collect()
    }
}

/// The formula, whose order does not hang on a model, with other numbers and without some parts.
pub(crate) fn settings(change: impl FnOnce(&mut Params), without: &[Part]) -> Settings {
    let mut params = Params::default();
    change(&mut params);
    Settings { params, switches: Switches::without(without), ranker: Ranker::Formula }
}

fn language_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|it| it.1) {
        Some("py") => "python",
        Some("rs") => "rust",
        _ => "other",
    }
}

/// Files sorted by path, their symbols, and the edges by symbol id.
#[track_caller]
fn read(text: &str) -> (Vec<String>, Vec<Symbol>, Vec<Edge>) {
    let is_file =
        |it: &&str| !it.starts_with(' ') && !it.trim().is_empty() && it.split_whitespace().count() == 1;
    let mut files: Vec<String> = text.lines().filter(is_file).map(str::to_owned).collect();
    files.sort();
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut ids: BTreeMap<String, NodeId> = BTreeMap::new();
    let mut edges = Vec::new();
    let mut file: Option<usize> = None;
    let mut line = 0;
    for drawn in text.lines().filter(|it| !it.trim().is_empty()) {
        let words: Vec<&str> = drawn.split_whitespace().collect();
        if drawn.starts_with(' ') {
            line += 10;
            let symbol = declared(drawn.trim(), files[file.unwrap()].as_str(), file, line);
            assert_eq!(ids.insert(symbol.path.clone(), symbol.id), None, "`{}` is drawn twice", symbol.path);
            symbols.push(symbol);
        } else if let [path] = words[..] {
            file = files.iter().position(|it| it == path);
            line = 0;
            symbols.push(whole_file(path, file));
        } else if let ["external", name] = words[..] {
            let symbol = external(name);
            ids.insert(name.to_owned(), symbol.id);
            symbols.push(symbol);
        } else if let [from, kind, to] = words[..] {
            let known = |it: &str| *ids.get(it).unwrap_or_else(|| panic!("no `{it}` is drawn: {drawn}"));
            let kind = EdgeKind::ALL.iter().copied().find(|it| it.name() == kind).expect("a kind of edge");
            edges.push((known(from), kind, known(to)));
        } else {
            panic!("neither file, symbol nor edge: {drawn}");
        }
    }
    (files, symbols, edges)
}

#[track_caller]
fn declared(text: &str, path: &str, file: Option<usize>, line: u32) -> Symbol {
    let (head, words) = text.split_once(':').unwrap_or((text, ""));
    let (head, options) = head.split_once(" [").unwrap_or((head, ""));
    let (kind, symbol) = head.split_once(' ').expect("a kind and a name");
    let kind = NodeKind::from_name(kind).expect("a kind of node");
    let mut flags = NodeFlags::default();
    let mut age = None;
    for option in options.trim_end_matches(']').split_whitespace() {
        match option.split_once('=') {
            Some(("age", days)) => age = Some(days.parse().unwrap()),
            Some(("flags", "test")) => flags.insert(NodeFlags::TEST),
            Some(("flags", "generated")) => flags.insert(NodeFlags::GENERATED),
            Some(("flags", "vendored")) => flags.insert(NodeFlags::VENDORED),
            _ => panic!("no option of a symbol: {option}"),
        }
    }
    Symbol {
        id: id(REPO, path, symbol, kind),
        path: symbol.to_owned(),
        name: symbol.rsplit('.').next().unwrap().to_owned(),
        kind,
        flags,
        file,
        line,
        words: words.trim().to_owned(),
        age,
    }
}

fn whole_file(path: &str, file: Option<usize>) -> Symbol {
    Symbol {
        id: id(REPO, path, "", NodeKind::File),
        path: String::new(),
        name: path.rsplit('/').next().unwrap().to_owned(),
        kind: NodeKind::File,
        flags: NodeFlags::default(),
        file,
        line: 0,
        words: String::new(),
        age: None,
    }
}

fn external(name: &str) -> Symbol {
    Symbol {
        id: id("external", "", name, NodeKind::External),
        path: name.to_owned(),
        name: name.rsplit('.').next().unwrap().to_owned(),
        kind: NodeKind::External,
        flags: NodeFlags::default(),
        file: None,
        line: 0,
        words: String::new(),
        age: None,
    }
}

fn id(repo: &str, container: &str, symbol: &str, kind: NodeKind) -> NodeId {
    identity::node_id(Identity { repo, class: ContainerClass::File, container, symbol, kind })
}

fn graph(snapshot: SnapshotId, symbols: &[Symbol], edges: &[Edge]) -> Graph {
    let row = |id: NodeId| symbols.binary_search_by_key(&id, |it| it.id).unwrap() as u32;
    let node = |(at, it): (usize, &Symbol)| NodeInput {
        id: it.id,
        sym: at as u32,
        node_row: if it.file.is_some() { at as u32 + 1 } else { 0 },
        kind: it.kind,
        flags: it.flags,
        name: "",
    };
    let edge = |(at, it): (usize, &Edge)| EdgeInput {
        source: row(it.0),
        target: row(it.2),
        kind: it.1,
        provenance: Provenance::AstResolved,
        confidence_bp: 8_500,
        edge_row: at as u32 + 1,
    };
    let input = GraphInput {
        nodes: symbols.iter().enumerate().map(node).collect(),
        edges: edges.iter().enumerate().map(edge).collect(),
        n_repeated: 0,
    };
    Graph::build(snapshot, &input).unwrap()
}

fn search(snapshot: SnapshotId, symbols: &[Symbol], files: &[String]) -> Collection {
    let mut builder = IndexBuilder::new();
    let mut tokenizer = Tokenizer::new();
    for symbol in symbols.iter().filter(|it| it.file.is_some() && it.kind != NodeKind::File) {
        let path = &files[symbol.file.unwrap()];
        if let Some(age) = symbol.age {
            let last = COMMIT_TIME - (age * DAY) as i64;
            let text = format!("{} {}", symbol.name, symbol.words);
            let terms = FileTerms::of(&FileFacts::default(), text.as_bytes(), &mut tokenizer);
            builder
                .add_file(&terms, path, |_, joining| {
                    joining.commits(1, Some(last));
                    Some(symbol.id)
                })
                .unwrap();
            continue;
        }
        let owner = symbol.path.rsplit_once('.').map_or("", |it| it.0);
        let texts = Field::ALL.map(|field| match field {
            Field::Name => symbol.name.as_str(),
            Field::Owner => owner,
            Field::Path => path,
            Field::Body => &symbol.words,
            _ => "",
        });
        let bags = texts.map(|it| builder.bag(it));
        builder.add_bags(symbol.id, &bags).unwrap();
    }
    let head = ImageHead { snapshot, history_digest: Hash([0; 32]), commit_time: COMMIT_TIME };
    builder.finish(&head).unwrap().into()
}

fn names(
    snapshot: SnapshotId,
    symbols: &[Symbol],
    files: &[String],
    language_of: fn(&str) -> &'static str,
) -> Names {
    let file_inputs: Vec<FileInput<'_>> = files
        .iter()
        .map(|it| FileInput {
            id: identity::file_id(REPO, it, &[0; 20]),
            path: it,
            language: language_of(it),
        })
        .collect();
    let inputs: Vec<NameInput<'_>> = symbols
        .iter()
        .map(|it| NameInput {
            name: &it.name,
            symbol: &it.path,
            container: it.file.map_or("", |at| &files[at]),
            class: if it.file.is_some() { ContainerClass::File } else { ContainerClass::Virtual },
            file: it.file.map(|at| at as u32),
            first_line: it.line,
            last_line: it.line + if it.line > 0 { 8 } else { 0 },
        })
        .collect();
    Names::build(snapshot, &inputs, &file_inputs).unwrap()
}
