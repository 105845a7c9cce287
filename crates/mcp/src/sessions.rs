//! What each session asked for, for the resource that tells it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use knowing_ops::Result;
use serde_json::{Value, json};

/// Sessions that are remembered; the one that was quiet the longest goes first.
const MAX_SESSIONS: usize = 1000;

#[derive(Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    clock: u64,
    by_handle: BTreeMap<String, Counts>,
}

#[derive(Clone, Default)]
struct Counts {
    heard_at: u64,
    calls: BTreeMap<String, u64>,
    failed: u64,
}

impl Sessions {
    pub(crate) fn count(&self, handle: Option<&str>, tool: &str, answered: &Result<Value>) {
        let Some(handle) = handle else { return };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let now = known.clock;
        if !known.by_handle.contains_key(handle) && known.by_handle.len() >= MAX_SESSIONS {
            let oldest = known.by_handle.iter().min_by_key(|it| it.1.heard_at).map(|it| it.0.clone());
            oldest.and_then(|it| known.by_handle.remove(&it));
        }
        let counts = known.by_handle.entry(handle.to_owned()).or_default();
        counts.heard_at = now;
        *counts.calls.entry(tool.to_owned()).or_default() += 1;
        counts.failed += u64::from(answered.is_err());
    }

    /// Nothing of a session that was never heard of.
    pub(crate) fn told(&self, handle: Option<&str>) -> Value {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = handle.and_then(|it| known.by_handle.get(it)).cloned().unwrap_or_default();
        let total: u64 = counts.calls.values().sum();
        json!({
            "handle": handle,
            "calls": counts.calls,
            "total_calls": total,
            "failed": counts.failed,
            "symbols_sent": 0,
            "packs": 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_told_apart_and_the_quietest_goes() {
        let sessions = Sessions::default();
        sessions.count(Some("a"), "graph_query", &Ok(json!({})));
        sessions.count(None, "graph_query", &Ok(json!({})));
        let told = sessions.told(Some("a"));
        assert_eq!((&told["calls"]["graph_query"], &told["failed"]), (&json!(1), &json!(0)));
        assert_eq!(sessions.told(Some("b"))["total_calls"], 0);
        for number in 0..MAX_SESSIONS {
            sessions.count(Some(&number.to_string()), "x", &Ok(json!({})));
        }
        assert_eq!(sessions.told(Some("a"))["total_calls"], 0);
    }
}
