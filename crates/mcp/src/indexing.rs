//! Index runs of this server: how far each is, for who asks meanwhile; and progress, for who asked for it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use knowing_ops::{Error, ErrorKind, Phase, Progress};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Runs that are under way.
#[derive(Clone, Default)]
pub(crate) struct Indexing {
    runs: Arc<Mutex<Vec<Arc<Run>>>>,
}

/// One call, and how far the index run is that it began, if it did.
pub(crate) struct Run {
    repo: String,
    phase: Mutex<Option<Phase>>,
    done: AtomicU64,
    /// Nobody waits any more.
    stop: Arc<AtomicBool>,
}

impl Run {
    /// `repo` is what the call names: a path, or the end of a url.
    pub(crate) fn new(working_directory: &Path, repo: Option<&str>) -> Arc<Run> {
        Arc::new(Run {
            repo: key(working_directory, repo),
            phase: Mutex::default(),
            done: AtomicU64::new(0),
            stop: Arc::default(),
        })
    }

    pub(crate) fn is_indexing(&self) -> bool {
        self.phase().is_some()
    }

    /// Nobody waits any more.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// For who has to ask again.
    pub(crate) fn being_indexed(&self) -> Error {
        let phase = self.phase().map_or("scan", Phase::name);
        let done = self.done.load(Ordering::Relaxed);
        let message = format!("`{}` is being indexed: {phase}, {done} files so far", self.repo);
        Error::new(ErrorKind::Busy, message, "ask again in a few seconds; indexing goes on")
    }

    fn phase(&self) -> MutexGuard<'_, Option<Phase>> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two calls mean the same repository when they name the same place.
fn key(working_directory: &Path, repo: Option<&str>) -> String {
    let path: PathBuf = repo.map_or_else(|| working_directory.to_owned(), |it| working_directory.join(it));
    match path.canonicalize() {
        Ok(path) => path.display().to_string(),
        Err(_) => repo.unwrap_or_default().to_owned(),
    }
}

impl Indexing {
    /// A run by another call on the same repository.
    pub(crate) fn of_others(&self, own: &Arc<Run>) -> Option<Arc<Run>> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.iter().find(|it| it.repo == own.repo && !Arc::ptr_eq(it, own)).cloned()
    }

    fn begin(&self, run: &Arc<Run>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if !runs.iter().any(|it| Arc::ptr_eq(it, run)) {
            runs.push(Arc::clone(run));
        }
    }

    pub(crate) fn end(&self, run: &Arc<Run>) {
        *run.phase() = None;
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| !Arc::ptr_eq(it, run));
    }
}

/// How far a run is: items done over all phases, and what it does.
pub(crate) struct Told {
    done: u64,
    message: Option<&'static str>,
}

/// Collects progress on the threads of a run.
pub(crate) struct Teller {
    indexing: Indexing,
    run: Arc<Run>,
    sender: Option<UnboundedSender<Told>>,
    told: AtomicU64,
}

impl Teller {
    pub(crate) fn new(indexing: Indexing, run: Arc<Run>) -> Teller {
        Teller { indexing, run, sender: None, told: AtomicU64::new(0) }
    }

    /// What is told goes there, too.
    pub(crate) fn channel(&mut self) -> UnboundedReceiver<Told> {
        let (sender, receiver) = unbounded_channel();
        self.sender = Some(sender);
        receiver
    }

    fn tell(&self, message: Option<&'static str>) {
        let Some(sender) = &self.sender else { return };
        // Each number may be told once: progress must grow.
        let done = self.run.done.load(Ordering::Relaxed);
        if self.told.fetch_max(done, Ordering::Relaxed) < done {
            // A client that has gone is no concern of the run.
            let _ = sender.send(Told { done, message });
        }
    }
}

/// Sends on what is told, until the run is over.
pub(crate) async fn forward(mut told: UnboundedReceiver<Told>, peer: Peer<RoleServer>, token: ProgressToken) {
    while let Some(Told { done, message }) = told.recv().await {
        let mut notification = ProgressNotificationParam::new(token.clone(), done as f64);
        notification.message = message.map(str::to_owned);
        if peer.notify_progress(notification).await.is_err() {
            return;
        }
    }
}

/// Files between two notifications.
const STEP: u64 = 200;

impl Progress for Teller {
    fn begin(&self, phase: Phase, _total: Option<u64>) {
        *self.run.phase() = Some(phase);
        self.indexing.begin(&self.run);
        self.run.done.fetch_add(1, Ordering::Relaxed);
        self.tell(Some(phase.name()));
    }

    fn advance(&self, n_items: u64) {
        let before = self.run.done.fetch_add(n_items, Ordering::Relaxed);
        if before / STEP != (before + n_items) / STEP {
            self.tell(None);
        }
    }

    fn end(&self) {
        self.indexing.end(&self.run);
    }

    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(Arc::clone(&self.run.stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_while_another_indexes_hears_how_far_it_is() {
        let here = Path::new("/");
        let (indexing, first, second) =
            (Indexing::default(), Run::new(here, None), Run::new(here, Some("/")));
        let teller = Teller::new(indexing.clone(), Arc::clone(&first));
        assert!(indexing.of_others(&second).is_none());
        teller.begin(Phase::Extract, Some(3));
        teller.advance(2);
        let error = indexing.of_others(&second).unwrap().being_indexed();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Busy, "`/` is being indexed: extract, 3 files so far")
        );
        assert!(indexing.of_others(&first).is_none(), "it is its own");
        assert!(teller.is_wanted());
        first.stop();
        assert!(!teller.is_wanted());
        teller.end();
        assert!(indexing.of_others(&second).is_none() && !first.is_indexing());
    }
}
