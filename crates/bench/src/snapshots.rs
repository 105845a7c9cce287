//! Snapshots to measure on: a repository at a commit, indexed from git's objects, with its images open.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use knowing_graph::Graph;
use knowing_index::{Options, Request, Silent, Source};
use knowing_retrieve::Sources;
use knowing_search::{Collection, Documents, Names};
use knowing_store::Store;
use knowing_vcs::Checkout;

/// A repository under measurement, with a database of its own.
pub(crate) struct Repository {
    checkout: Checkout,
    store: Store,
    url: String,
}

pub(crate) struct Snapshot {
    pub(crate) graph: Graph,
    pub(crate) search: Collection,
    pub(crate) names: Names,
    documents: Documents,
    pub(crate) url: String,
}

impl Repository {
    /// `data` keeps databases between runs; each commit is then indexed once.
    pub(crate) fn open(path: &Path, data: &Path, name: &str) -> anyhow::Result<Repository> {
        let checkout = Checkout::open(path)?;
        let database = data.join(name.replace('/', "+")).join("knowing.db");
        let store = Store::open(&database).with_context(|| format!("cannot open {}", database.display()))?;
        Ok(Repository { checkout, store, url: format!("bench/{name}") })
    }

    /// From git's objects, without a checkout; incrementally after another commit of the same repository.
    pub(crate) fn at(&mut self, revision: &str) -> anyhow::Result<Snapshot> {
        let commit = self.checkout.resolve(revision)?;
        let options = Options::default();
        let request = Request {
            source: Source::Commit { checkout: &self.checkout, commit },
            url: &self.url,
            object_format: self.checkout.object_format(),
            place: None,
            branch: None,
            options: &options,
            now: 0,
        };
        let report = knowing_index::index(&mut self.store, &request, &Silent)?;
        let row = self.store.snapshot(report.snapshot)?.context("the snapshot was just made")?;
        let graph = knowing_index::open_graph(&self.store, &row)?;
        let search = knowing_index::open_search(&self.store, &row)?;
        let names = knowing_index::open_names(&self.store, &row)?;
        let documents = Documents::new(&search, graph.ids());
        Ok(Snapshot { graph, search, names, documents, url: self.url.clone() })
    }
}

impl Snapshot {
    pub(crate) fn sources(&self) -> Sources<'_> {
        Sources { graph: &self.graph, search: &self.search, names: &self.names, documents: &self.documents }
    }

    pub(crate) fn qualified_name(&self, node: u32) -> String {
        let (container, symbol) = (self.names.container(node), self.names.symbol(node));
        knowing_model::name::qualified_name(&self.url, container, symbol)
    }

    pub(crate) fn file(&self, node: u32) -> Option<String> {
        self.names.file(node).map(|it| self.names.path(it).to_owned())
    }
}

/// Where databases are kept when nothing is said: beside other build products, so that nothing else is touched.
pub(crate) fn default_data() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| PathBuf::from("target"), PathBuf::from)
        .join("bench-data")
}
