//! The names image of a snapshot: opened, or built anew from rows when it is missing or damaged.

use std::path::PathBuf;

use knowing_graph::Graph;
use knowing_model::{ContainerClass, SnapshotId};
use knowing_search::{FileInput, NameInput, Names};
use knowing_store::{SnapshotRow, Store, SymbolRow};
use rustc_hash::FxHashMap;

use crate::Result;

/// Names and places of a snapshot's nodes, in the order of its graph.
pub fn open_names(store: &Store, snapshot: &SnapshotRow) -> Result<Names> {
    match find_names(store, snapshot) {
        Some(names) => Ok(names),
        None => build(store, snapshot, &crate::open_graph(store, snapshot)?),
    }
}

/// The image that is there, if it is whole.
pub fn find_names(store: &Store, snapshot: &SnapshotRow) -> Option<Names> {
    Names::open(&path_of(store, snapshot.id), snapshot.id).ok()
}

#[derive(Clone, Copy, Default)]
struct Place {
    file: Option<u32>,
    first_line: u32,
    last_line: u32,
}

fn build(store: &Store, snapshot: &SnapshotRow, graph: &Graph) -> Result<Names> {
    let reader = store.reader(snapshot)?;
    let files: Vec<_> = reader.files()?.into_iter().filter(|it| it.skip_reason.is_none()).collect();
    let position: FxHashMap<i64, u32> = files.iter().zip(0..).map(|(it, at)| (it.row, at)).collect();
    let mut symbols: Vec<Option<SymbolRow>> = vec![None; graph.n_nodes()];
    reader.each_symbol(|row| {
        if let Some(at) = graph.of_sym(row.sym) {
            symbols[at.0 as usize] = Some(row);
        }
    })?;
    let mut places = vec![Place::default(); graph.n_nodes()];
    reader.each_node_place(|place| {
        // Of a symbol that several files state, the version that the graph holds.
        if let Some(at) = graph.of_sym(place.sym)
            && graph.node(at).node_row == place.node_row
        {
            places[at.0 as usize] = Place {
                file: position.get(&place.file_row).copied(),
                first_line: place.first_line,
                last_line: place.last_line,
            };
        }
    })?;
    let nodes: Vec<NameInput<'_>> = symbols
        .iter()
        .zip(places)
        .map(|(symbol, place)| {
            let symbol = symbol.as_ref().map(|it| &it.symbol);
            NameInput {
                name: symbol.map_or("", |it| &it.name),
                symbol: symbol.map_or("", |it| &it.path),
                container: symbol.map_or("", |it| &it.container),
                class: symbol.map_or(ContainerClass::Virtual, |it| it.class),
                file: place.file,
                first_line: place.first_line,
                last_line: place.last_line,
            }
        })
        .collect();
    let inputs: Vec<FileInput<'_>> =
        files.iter().map(|it| FileInput { id: it.id, path: &it.path, language: &it.language }).collect();
    let names = Names::build(snapshot.id, &nodes, &inputs)?;
    // A reader may not be allowed to write here; the names serve all the same.
    let _ = names.write(&path_of(store, snapshot.id));
    Ok(names)
}

pub(crate) fn path_of(store: &Store, snapshot: SnapshotId) -> PathBuf {
    store.images_dir().join(format!("{snapshot}.names"))
}
