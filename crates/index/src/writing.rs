//! What is written beside the database once the rows are: the images of graph and names, and the keys for the next run.
//!
//! A reader may not be allowed to write here: images serve all the same, and without the keys the next run resolves
//! everything.

use std::path::PathBuf;
use std::sync::Arc;

use knowing_graph::Graph;
use knowing_model::SnapshotId;
use knowing_search::Names;
use knowing_store::{Store, step};

use crate::delta::Images;
use crate::results::{self, Results};
use crate::{commit, names};

pub(crate) struct Writing {
    snapshot: SnapshotId,
    graph: Option<(PathBuf, Arc<Graph>)>,
    names: Option<(PathBuf, Arc<Names>)>,
    results: Option<(PathBuf, Arc<Results>)>,
}

impl Writing {
    pub(crate) fn new(
        store: &Store,
        snapshot: SnapshotId,
        images: Option<&Images>,
        results: Option<&Arc<Results>>,
    ) -> Writing {
        Writing {
            snapshot,
            graph: images.map(|it| (commit::image_path(store, snapshot), it.graph.clone())),
            names: images.map(|it| (names::path_of(store, snapshot), it.names.clone())),
            results: results.map(|it| (results::path_of(store, snapshot), it.clone())),
        }
    }

    pub(crate) fn run(&self) {
        if let Some((path, graph)) = &self.graph {
            let _ = graph.write(path);
            step();
        }
        if let Some((path, names)) = &self.names {
            let _ = names.write(path);
            step();
        }
        if let Some((path, results)) = &self.results {
            let _ = results::write(path, self.snapshot, results);
            step();
        }
    }
}
