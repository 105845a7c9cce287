//! Behaviour through the public door, on real databases.

mod check;
mod faults;
mod first_write;
mod gc;
mod history;
mod lookup;
mod opening;
mod random;
mod sessions;
mod sharing;

use std::path::{Path, PathBuf};

use knowing_model::facts::FileFacts;
use knowing_model::identity::file_id;
use knowing_model::{
    ContainerClass, Edge, EdgeKind, FileId, Hash, Node, NodeFlags, NodeKind, Position, Provenance, Reason,
    Sites, Span, Stage, Symbol, Texts, Unit, UnitLayer, Unresolved, package_of,
};
use tempfile::TempDir;

use crate::edge_rows::{EdgePacker, StoredEdge, each_edge, unpack_edges};
use crate::{Counts, FileState, NewFile, NewSnapshot, NewWorktree, SnapshotRow, Store, Written};

const URL: &str = "github.com/acme/app";

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory for the test")
}

fn database(directory: &TempDir) -> PathBuf {
    directory.path().join("data/knowing.db")
}

fn open(path: &Path) -> Store {
    Store::open(path).expect("the database opens")
}

fn n_rows(store: &Store, table: &str) -> u32 {
    store.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// What an index run might have found, owned.
#[derive(Clone, Debug)]
struct Sample {
    url: String,
    commit: Vec<u8>,
    stage: Stage,
    files: Vec<SampleFile>,
    symbols: Vec<Symbol>,
    units: Vec<Unit>,
    worktree: Option<String>,
}

#[derive(Clone, Debug)]
struct SampleFile {
    path: String,
    blob: Vec<u8>,
    content: Result<FileFacts, String>,
}

impl Sample {
    fn new(url: &str, commit: u8) -> Sample {
        Sample {
            url: url.to_owned(),
            commit: vec![commit; 20],
            stage: Stage::Base,
            files: Vec::new(),
            symbols: Vec::new(),
            units: Vec::new(),
            worktree: None,
        }
    }

    /// A file that declares functions, each of which calls the next one.
    fn with_file(mut self, path: &str, version: u8, functions: &[&str]) -> Sample {
        let file = self.files.len() as u32;
        let mut strings = Texts::default();
        functions.iter().for_each(|it| strings.push(it));
        self.files.push(SampleFile {
            path: path.to_owned(),
            blob: vec![version; 20],
            content: Ok(FileFacts {
                language: "python".to_owned(),
                n_lines: 10,
                strings,
                ..FileFacts::default()
            }),
        });
        let mut unit = Unit {
            file: Some(file),
            layer: UnitLayer::Resolved,
            nodes: Vec::new(),
            edges: Vec::new(),
            unresolved: Vec::new(),
        };
        let mut before = None;
        for (name, line) in functions.iter().zip(1..) {
            let symbol = self.symbol(path, name, NodeKind::Function);
            unit.nodes.push(node(symbol, line, version));
            if let Some(before) = before {
                unit.edges.push(edge(before, symbol, EdgeKind::Calls, line));
            }
            unit.unresolved.push(Unresolved {
                source: symbol,
                name: format!("unknown_{line}"),
                receiver: "self".to_owned(),
                n_arguments: 1,
                position: Position { line, column: 4 },
                reason: Reason::ReceiverUnknown,
                candidates: before.into_iter().collect(),
            });
            before = Some(symbol);
        }
        self.units.push(unit);
        self
    }

    fn symbol(&mut self, path: &str, symbol: &str, kind: NodeKind) -> u32 {
        let name = symbol.rsplit('.').next().unwrap_or(symbol);
        self.symbols.push(Symbol::new(
            self.url.as_str().into(),
            ContainerClass::File,
            path.into(),
            symbol.into(),
            kind,
            name.into(),
        ));
        self.symbols.len() as u32 - 1
    }

    fn virtual_symbol(&mut self, repo: &str, container: &str, name: &str, kind: NodeKind) -> u32 {
        self.symbols.push(Symbol::new(
            repo.into(),
            ContainerClass::Virtual,
            container.into(),
            name.into(),
            kind,
            name.into(),
        ));
        self.symbols.len() as u32 - 1
    }

    fn file_id(&self, at: usize) -> FileId {
        file_id(&self.url, &self.files[at].path, &self.files[at].blob)
    }

    fn write(&self, store: &mut Store) -> SnapshotRow {
        self.try_write(store).expect("the snapshot is written")
    }

    fn try_write(&self, store: &mut Store) -> crate::Result<SnapshotRow> {
        let files: Vec<NewFile<'_>> = (self.files.iter().enumerate())
            .map(|(at, file)| NewFile {
                id: self.file_id(at),
                path: &file.path,
                blob: &file.blob,
                package: package_of(ContainerClass::File, &file.path),
                language: if file.content.is_ok() { "python" } else { "" },
                flags: NodeFlags::default(),
                bytes: 100,
                lines: 10,
                state: match &file.content {
                    Ok(facts) => FileState::Facts(facts),
                    Err(reason) => FileState::Skipped(reason),
                },
                terms: None,
            })
            .collect();
        let counts = Counts {
            files: self.files.len() as u64,
            edges_by_provenance: [("ast_resolved".to_owned(), 3)].into(),
            ..Counts::default()
        };
        let mut root = Hash([7; 32]);
        root.0[..self.commit.len()].copy_from_slice(&self.commit);
        let Written { snapshot, rows, .. } = store.write_snapshot(&NewSnapshot {
            url: &self.url,
            object_format: "sha1",
            commit: &self.commit,
            stage: self.stage,
            ruleset: 1,
            root,
            dirty: None,
            package_roots: &[(".".to_owned(), Hash([1; 32])), ("src".to_owned(), Hash([2; 32]))],
            worktree: self.worktree.as_deref().map(|path| NewWorktree { path, branch: Some("main") }),
            files: &files,
            symbols: &self.symbols,
            units: &self.units,
            kept_units: &[],
            counts,
            created_at: 1_700_000_000,
        })?;
        if let Some(rows) = rows {
            // What is handed on is what would be read back.
            assert_eq!(store.reader(&snapshot)?.graph_rows()?, rows);
        }
        Ok(snapshot)
    }
}

fn node(symbol: u32, line: u32, version: u8) -> Node {
    Node {
        symbol,
        span: Span { first_line: line, last_line: line, name: Position { line, column: 4 } },
        signature: format!("def f{version}()"),
        doc: String::new(),
        flags: NodeFlags::EXPORTED,
    }
}

fn edge(source: u32, target: u32, kind: EdgeKind, line: u32) -> Edge {
    Edge {
        source,
        target,
        kind,
        provenance: Provenance::AstResolved,
        confidence_bp: 8500,
        sites: Sites::from_slice(&[Position { line, column: 8 }]),
        n_sites: 1,
    }
}

/// Changes what is stored of every edge.
fn change_edges(store: &Store, change: impl Fn(&mut StoredEdge<'_>)) {
    let db = &store.connection;
    let mut select = db.prepare("SELECT edge_row, packed FROM edges").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(i64, Vec<u8>)> = rows.map(Result::unwrap).collect();
    for (row, packed) in rows {
        let mut packer = EdgePacker::default();
        for edge in unpack_edges(&packed) {
            let mut edge = edge.unwrap();
            change(&mut edge);
            packer.push(&edge);
        }
        db.execute("UPDATE edges SET packed = ?2 WHERE edge_row = ?1", (row, packer.packed)).unwrap();
    }
}

/// How many edges all rows of them hold.
fn n_edges(store: &Store) -> u32 {
    let mut n = 0;
    each_edge(&store.connection, (0, u32::MAX), |_, _| {
        n += 1;
        Ok(())
    })
    .unwrap();
    n
}

/// Edges of a snapshot as (source name, target name).
fn calls(store: &Store, snapshot: &SnapshotRow) -> Vec<(String, String)> {
    let reader = store.reader(snapshot).unwrap();
    let name = |sym| reader.symbol(sym).unwrap().symbol.path.to_string();
    let mut calls: Vec<(String, String)> =
        reader.graph_rows().unwrap().edges.iter().map(|it| (name(it.source), name(it.target))).collect();
    calls.sort();
    calls
}
