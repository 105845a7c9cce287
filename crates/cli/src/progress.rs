//! What an index run says on standard error: a moving line on a terminal, a few plain lines elsewhere.

use std::fmt;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use knowing_ops::{Phase, Progress, Silent};

pub(crate) fn of_terminal(quiet: bool) -> Box<dyn Progress> {
    match (quiet, crate::stderr_is_terminal()) {
        (true, _) => Box::new(Silent),
        (false, true) => Box::new(Bar { bar: Mutex::new(ProgressBar::hidden()) }),
        (false, false) => Box::new(Lines::default()),
    }
}

/// A bar of its own for each phase, so that none is drawn half as the one before it.
struct Bar {
    bar: Mutex<ProgressBar>,
}

impl Bar {
    fn current(&self) -> ProgressBar {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Progress for Bar {
    fn begin(&self, phase: Phase, total: Option<u64>) {
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), "{msg:>8} {wide_bar} {pos}/{len} files, {rate}"),
            None => (ProgressBar::new_spinner(), "{msg:>8} {spinner} {elapsed}"),
        };
        let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
            let _ = write!(out, "{:.0}/s", state.per_sec());
        };
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style.with_key("rate", rate)),
            Err(_) => bar,
        };
        let bar = bar.with_message(phase.name());
        self.end();
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar.clone();
        bar.enable_steady_tick(Duration::from_millis(100));
    }

    fn advance(&self, n_items: u64) {
        self.current().inc(n_items);
    }

    fn end(&self) {
        self.current().finish_and_clear();
    }
}

/// A line when a phase has run for long, and no more than one every ten seconds.
#[derive(Default)]
struct Lines {
    state: Mutex<Option<Running>>,
    n_done: AtomicU64,
}

struct Running {
    phase: Phase,
    total: Option<u64>,
    began: Instant,
    told: Instant,
}

const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Progress for Lines {
    fn begin(&self, phase: Phase, total: Option<u64>) {
        self.n_done.store(0, Ordering::Relaxed);
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = state.as_ref()
            && before.began.elapsed() >= BETWEEN_LINES
        {
            say(&format!("{}: done in {:.1} s", before.phase.name(), before.began.elapsed().as_secs_f64()));
        }
        *state = Some(Running { phase, total, began: now, told: now });
    }

    fn advance(&self, n_items: u64) {
        let n_done = self.n_done.fetch_add(n_items, Ordering::Relaxed) + n_items;
        let Ok(mut state) = self.state.try_lock() else { return };
        let Some(running) = state.as_mut() else { return };
        if running.told.elapsed() < BETWEEN_LINES {
            return;
        }
        running.told = Instant::now();
        let rate = n_done as f64 / running.began.elapsed().as_secs_f64();
        let total = running.total.map(|it| format!(" of {it}")).unwrap_or_default();
        say(&format!("{}: {n_done}{total} files, {rate:.0}/s", running.phase.name()));
    }

    fn end(&self) {}
}

fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
