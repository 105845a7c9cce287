//! A hook for tests that end a process in the midst of its writing.
//!
//! Every place where something was written, or is about to be, calls `step`. A process that is started with
//! `KNOWING_TEST_ABORT_AT=7` aborts at its seventh step, so that a test can try one after the other. Only builds with debug
//! assertions know the variable.

/// One more thing was written.
pub fn step() {
    #[cfg(debug_assertions)]
    count();
}

#[cfg(debug_assertions)]
fn count() {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static LAST: OnceLock<Option<u64>> = OnceLock::new();
    static N_STEPS: AtomicU64 = AtomicU64::new(0);
    let last = LAST.get_or_init(|| std::env::var("KNOWING_TEST_ABORT_AT").ok()?.parse().ok());
    if let Some(last) = last
        && N_STEPS.fetch_add(1, Ordering::SeqCst) + 1 == *last
    {
        std::process::abort();
    }
}
