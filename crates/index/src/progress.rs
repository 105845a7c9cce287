//! What an index run says while it works, and what each phase cost. Nothing is printed here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// The parts of an index run, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Phase {
    /// List the tree and see what is already known.
    Scan,
    /// Read files and extract their facts.
    Extract,
    /// Join the facts of all files into edges.
    Resolve,
    /// Hash the tree of edges.
    Hash,
    /// Write all rows in one transaction.
    Store,
    /// Build the graph image.
    Image,
    /// Read what commits said of the code.
    History,
    /// Build the images of names and of terms.
    Search,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Scan => "scan",
            Phase::Extract => "extract",
            Phase::Resolve => "resolve",
            Phase::Hash => "hash",
            Phase::Store => "store",
            Phase::Image => "image",
            Phase::History => "history",
            Phase::Search => "search",
        }
    }
}

/// Told by the pipeline, from any thread.
pub trait Progress: Sync {
    /// A phase begins; `total` is how many items it will have, where that is known.
    fn begin(&self, phase: Phase, total: Option<u64>);

    /// So many more items of the phase are done.
    fn advance(&self, n_items: u64);

    /// The run is over.
    fn end(&self);

    /// Whether someone still waits for the run; one that nobody waits for stops and leaves everything as it was.
    fn is_wanted(&self) -> bool {
        self.stop_flag().is_none_or(|it| !it.load(Ordering::Relaxed))
    }

    /// Set when nobody waits any more, for what can look at a flag only.
    fn stop_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _phase: Phase, _total: Option<u64>) {}
    fn advance(&self, _n_items: u64) {}
    fn end(&self) {}
}

/// What a phase took: on the clock, and of all cores together. Term vectors are made while a file is at hand to extract its
/// facts, but are for search: their CPU time is counted there.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhaseTime {
    pub phase: Phase,
    pub ms: f64,
    pub cpu_ms: f64,
}

/// Tells phases to a `Progress` and keeps their times.
pub(crate) struct Phases<'a> {
    progress: &'a dyn Progress,
    times: Vec<PhaseTime>,
    current: Option<(Phase, Instant, Option<ProcessTime>)>,
    /// CPU time that one phase spent for another.
    moved: Vec<(Phase, Phase, Duration)>,
}

impl<'a> Phases<'a> {
    pub(crate) fn new(progress: &'a dyn Progress) -> Phases<'a> {
        Phases { progress, times: Vec::new(), current: None, moved: Vec::new() }
    }

    pub(crate) fn begin(&mut self, phase: Phase, total: Option<u64>) {
        self.close();
        self.progress.begin(phase, total);
        self.current = Some((phase, Instant::now(), ProcessTime::try_now().ok()));
    }

    /// So much of what the current phase takes was done for another one, because the file was at hand.
    pub(crate) fn done_for(&mut self, other: Phase, cpu: Duration) {
        self.moved.extend(self.current.map(|(current, ..)| (current, other, cpu)));
    }

    pub(crate) fn progress(&self) -> &'a dyn Progress {
        self.progress
    }

    pub(crate) fn finish(mut self) -> Vec<PhaseTime> {
        self.close();
        self.progress.end();
        let mut times = std::mem::take(&mut self.times);
        for (from, to, cpu) in std::mem::take(&mut self.moved) {
            let ms = cpu.as_secs_f64() * 1e3;
            let at = |phase| times.iter().position(|it| it.phase == phase);
            if let (Some(from), Some(to)) = (at(from), at(to)) {
                // Threads and the process have clocks of their own, which may differ a little.
                times[from].cpu_ms = (times[from].cpu_ms - ms).max(0.0);
                times[to].cpu_ms += ms;
            }
        }
        times
    }

    fn close(&mut self) {
        let Some((phase, began, cpu_began)) = self.current.take() else { return };
        let cpu = cpu_began.and_then(|it| it.try_elapsed().ok()).unwrap_or_default();
        self.times.push(PhaseTime {
            phase,
            ms: began.elapsed().as_secs_f64() * 1e3,
            cpu_ms: cpu.as_secs_f64() * 1e3,
        });
    }
}

/// A run that fails ends its progress too.
impl Drop for Phases<'_> {
    fn drop(&mut self) {
        if self.current.is_some() {
            self.progress.end();
        }
    }
}
