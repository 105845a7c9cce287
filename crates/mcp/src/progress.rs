//! Progress of an index run, as notifications to a client that asked for them.

use std::sync::atomic::{AtomicU64, Ordering};

use knowing_ops::{Phase, Progress};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How far a run is: items done over all phases, and what it does.
pub(crate) struct Told {
    done: u64,
    message: Option<&'static str>,
}

/// Collects progress on the threads of a run.
pub(crate) struct Teller {
    sender: UnboundedSender<Told>,
    done: AtomicU64,
    told: AtomicU64,
}

pub(crate) fn channel() -> (Teller, UnboundedReceiver<Told>) {
    let (sender, receiver) = unbounded_channel();
    (Teller { sender, done: AtomicU64::new(0), told: AtomicU64::new(0) }, receiver)
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

impl Teller {
    fn tell(&self, message: Option<&'static str>) {
        // Each number may be told once: progress must grow.
        let done = self.done.load(Ordering::Relaxed);
        if self.told.fetch_max(done, Ordering::Relaxed) < done {
            // A client that has gone is no concern of the run.
            let _ = self.sender.send(Told { done, message });
        }
    }
}

/// Files between two notifications.
const STEP: u64 = 200;

impl Progress for Teller {
    fn begin(&self, phase: Phase, _total: Option<u64>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.tell(Some(phase.name()));
    }

    fn advance(&self, n_items: u64) {
        let before = self.done.fetch_add(n_items, Ordering::Relaxed);
        if before / STEP != (before + n_items) / STEP {
            self.tell(None);
        }
    }

    fn end(&self) {}
}
