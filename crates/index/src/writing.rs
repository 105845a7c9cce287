//! What is written beside the database once the rows are: the images of graph and names, and the keys for the next run.
//!
//! A reader may not be allowed to write here: images serve all the same, and without the keys the next run resolves
//! everything.

use std::path::PathBuf;
use std::sync::Arc;

use knowing_model::SnapshotId;
use knowing_store::{Store, step};

use crate::imaged::Imaged;
use crate::results::{self, Results};
use crate::{commit, names};

pub(crate) struct Writing {
    snapshot: SnapshotId,
    /// Paths of graph and names.
    images: Option<(PathBuf, PathBuf, Arc<Imaged>)>,
    results: Option<(PathBuf, Arc<Results>)>,
}

impl Writing {
    pub(crate) fn new(
        store: &Store,
        snapshot: SnapshotId,
        images: Option<&Arc<Imaged>>,
        results: Option<&Arc<Results>>,
    ) -> Writing {
        let paths = (commit::image_path(store, snapshot), names::path_of(store, snapshot));
        Writing {
            snapshot,
            images: images.map(|it| (paths.0, paths.1, it.clone())),
            results: results.map(|it| (results::path_of(store, snapshot), it.clone())),
        }
    }

    pub(crate) fn run(&self) {
        if let Some((graph, names, imaged)) = &self.images {
            let _ = imaged.graph.write(graph);
            step();
            let _ = imaged.names.write(names);
            step();
        }
        if let Some((path, results)) = &self.results {
            let _ = results::write(path, self.snapshot, results);
            step();
        }
    }
}
