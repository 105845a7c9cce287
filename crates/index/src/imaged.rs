//! A snapshot whose images are in memory, and which of its nodes stand in which package.

use std::sync::{Arc, OnceLock};

use knowing_graph::{Graph, NodeIndex};
use knowing_model::{ContainerClass, package_of};
use knowing_search::{FileIndex, FileInput, Names};
use knowing_store::{SnapshotRow, Store};
use rustc_hash::FxHashMap;

use crate::Result;
use crate::results::Results;

#[derive(Debug)]
pub(crate) struct Imaged {
    pub(crate) snapshot: SnapshotRow,
    /// Rows of its files, in the order of the names.
    pub(crate) file_rows: Vec<u32>,
    pub(crate) graph: Arc<Graph>,
    pub(crate) names: Arc<Names>,
    by_package: OnceLock<Packages>,
}

impl Imaged {
    /// `results` are those of the snapshot.
    pub(crate) fn new(
        snapshot: SnapshotRow,
        results: &Results,
        graph: impl Into<Arc<Graph>>,
        names: impl Into<Arc<Names>>,
    ) -> Imaged {
        Imaged {
            snapshot,
            file_rows: results.files.iter().map(|it| it.file_row).collect(),
            graph: graph.into(),
            names: names.into(),
            by_package: OnceLock::new(),
        }
    }

    pub(crate) fn package(&self, at: NodeIndex) -> &str {
        package_of(self.names.class(at.0), self.names.container(at.0))
    }

    /// The nodes of a package.
    pub(crate) fn in_package(&self, package: &str) -> impl Iterator<Item = NodeIndex> {
        self.by_package.get_or_init(|| Packages::of(self)).nodes(package).iter().copied().map(NodeIndex)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        (0..self.names.n_files() as u32).map(|it| self.names.path(FileIndex(it)))
    }
}

/// Nodes by package.
#[derive(Debug, Default)]
struct Packages {
    numbers: FxHashMap<Box<str>, u32>,
    /// Those of the `n`-th package are `nodes[firsts[n]..firsts[n + 1]]`.
    firsts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Packages {
    fn of(imaged: &Imaged) -> Packages {
        let names = &imaged.names;
        let mut numbers: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut number = |package: &str| match numbers.get(package) {
            Some(known) => *known,
            None => {
                let next = numbers.len() as u32;
                *numbers.entry(package.into()).or_insert(next)
            }
        };
        // Most nodes stand in files: the package of those is found out once a file.
        let of_files: Vec<u32> =
            imaged.paths().map(|it| number(package_of(ContainerClass::File, it))).collect();
        let of_node = |at: NodeIndex| match (names.class(at.0), names.file(at.0)) {
            (ContainerClass::File, Some(file)) => of_files[file.0 as usize],
            _ => number(imaged.package(at)),
        };
        let of_nodes: Vec<u32> = imaged.graph.indices().map(of_node).collect();
        let mut firsts = vec![0; numbers.len() + 1];
        of_nodes.iter().for_each(|it| firsts[*it as usize + 1] += 1);
        for at in 1..firsts.len() {
            firsts[at] += firsts[at - 1];
        }
        let mut next = firsts.clone();
        let mut nodes = vec![0; of_nodes.len()];
        for (node, package) in (0..).zip(of_nodes) {
            let slot = &mut next[package as usize];
            nodes[*slot as usize] = node;
            *slot += 1;
        }
        Packages { numbers, firsts, nodes }
    }

    fn nodes(&self, package: &str) -> &[u32] {
        let Some(number) = self.numbers.get(package).map(|it| *it as usize) else { return &[] };
        &self.nodes[self.firsts[number] as usize..self.firsts[number + 1] as usize]
    }
}

/// The files of a snapshot that is to have images, by path.
pub(crate) struct NewFiles<'a> {
    pub(crate) inputs: Vec<FileInput<'a>>,
    pub(crate) rows: Vec<i64>,
    /// Where the same version stands among the files of the snapshot that has images.
    pub(crate) same: Vec<Option<u32>>,
}

impl<'a> NewFiles<'a> {
    pub(crate) fn new(imaged: &Imaged, files: impl Iterator<Item = (FileInput<'a>, i64)>) -> NewFiles<'a> {
        let (inputs, rows): (Vec<FileInput<'a>>, Vec<i64>) = files.unzip();
        let before = imaged.paths().zip(&imaged.file_rows).map(|(path, row)| (path, i64::from(*row)));
        let mut before = (0..).zip(before).peekable();
        let same = inputs.iter().zip(&rows).map(|(file, row)| {
            while before.next_if(|(_, (path, _))| *path < file.path).is_some() {}
            before.next_if(|(_, it)| *it == (file.path, *row)).map(|it| it.0)
        });
        let same = same.collect();
        NewFiles { inputs, rows, same }
    }
}

/// Whether the rows that images name are still what they name: once a snapshot is collected, its rows are given to others.
pub(crate) fn is_stored(store: &Store, snapshot: &SnapshotRow) -> Result<bool> {
    Ok(store.snapshot(snapshot.id)?.is_some_and(|it| it.row == snapshot.row))
}
