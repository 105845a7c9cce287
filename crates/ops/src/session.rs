//! Sessions: what was told to whom, so that it is not told again.
//!
//! State belongs to a handle that the caller names, never to the process. It is kept in the database, so that the next
//! process goes on where this one ended.

use knowing_model::Hash;
use knowing_store::{Said, SessionLimits, SessionTurn, Store, Turned};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::SCHEMA;
use crate::cx::{Cx, Environment};
use crate::error::{Error, ErrorKind, Result};

const LIMITS: SessionLimits = SessionLimits { handles: 256, symbols: 20_000, packs: 16 };

/// Seconds after which an idle session is no more, in the process that used it last.
const IDLE: i64 = 60 * 60;
/// And after another process took its place.
const RESTARTED: i64 = 24 * 60 * 60;

/// Room for a UUID with a prefix; it stands in the header of every answer.
const MAX_HANDLE: usize = 64;

/// What an answer says to a session that was not known.
pub(crate) const NEW: &str = "session: new";

/// Refuses what cannot be a name in a header.
pub(crate) fn check_handle(handle: &str) -> Result<()> {
    let is_word = |it: u8| it.is_ascii_alphanumeric() || b"-_.:~+=/".contains(&it);
    if (1..=MAX_HANDLE).contains(&handle.len()) && handle.bytes().all(is_word) {
        return Ok(());
    }
    let message = format!("the session `{}` is no handle", handle.escape_debug());
    let hint = format!("give letters, digits and `-_.:~+=/`, at most {MAX_HANDLE} of them");
    Err(Error::new(ErrorKind::Usage, message, hint))
}

/// What is given to a session with one answer.
pub(crate) struct Given<'a> {
    pub(crate) handle: &'a str,
    pub(crate) repo: i64,
    pub(crate) said: &'a [Said],
    /// Root and key.
    pub(crate) pack: Option<(Hash, Hash)>,
    /// Root of the pack that the caller has.
    pub(crate) base: Option<Hash>,
}

/// What the session knew before; begins it when it is not there.
pub(crate) fn turn(
    environment: &Environment,
    store: &mut Store,
    given: &Given<'_>,
) -> knowing_store::Result<Turned> {
    let Given { handle, repo, said, pack, base } = *given;
    let alive_since = alive_since(environment);
    let (now, limits) = (environment.now, LIMITS);
    store.session_turn(&SessionTurn { handle, repo, now, alive_since, said, pack, base, limits })
}

/// Key of a pack that the session was given.
pub(crate) fn pack_given(
    environment: &Environment,
    store: &Store,
    handle: &str,
    root: Hash,
) -> knowing_store::Result<Option<Hash>> {
    store.session_pack(handle, root, alive_since(environment))
}

/// A session that was used last before this is no more. One that another process left has a day.
fn alive_since(environment: &Environment) -> i64 {
    let Environment { now, started, .. } = *environment;
    let idle = now - IDLE;
    // Whoever used it before we began was another process.
    if started <= idle { idle } else { (now - RESTARTED).min(idle) }
}

/// What is known of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionInfo {
    /// Version of this JSON.
    pub schema: u32,
    pub session: String,
    /// Answers it was given.
    pub calls: u64,
    /// Symbols it was told, and packs of which a difference can be given.
    pub symbols: u64,
    pub packs: u64,
    /// Times as `2026-01-31T12:00:00Z`.
    pub begun_at: String,
    pub used_at: String,
}

/// Of the handle of `cx`, in the database of its repository; none without a handle, and of one that is not known.
pub fn session_info(cx: &Cx<'_>) -> Result<Option<SessionInfo>> {
    let Some(handle) = &cx.session else { return Ok(None) };
    check_handle(handle)?;
    let (store, _) = cx.open_database()?;
    let row = store.session(handle)?.filter(|it| it.used_at >= alive_since(&cx.environment));
    Ok(row.map(|it| SessionInfo {
        schema: SCHEMA,
        session: it.handle,
        calls: it.n_calls,
        symbols: it.n_symbols,
        packs: it.n_packs,
        begun_at: crate::clock::utc(it.begun_at),
        used_at: crate::clock::utc(it.used_at),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_session_ends_after_an_hour_and_after_a_restart_within_a_day() {
        let mut environment = Environment::of_process(None).expect("there is a working directory");
        let mut since = |now, started| {
            (environment.now, environment.started) = (now, started);
            alive_since(&environment)
        };
        assert_eq!(since(1_000_000, 1_000_000), 1_000_000 - RESTARTED, "who has just begun used none");
        assert_eq!(since(1_000_000, 900_000), 1_000_000 - IDLE, "this process would have used it");
        assert_eq!(since(1_000_000, 1_000_000 - IDLE + 1), 1_000_000 - RESTARTED);
    }

    #[test]
    fn handles_are_words() {
        for handle in ["a", "stdio-1", "0f8fad5b-d9cb-469f-a165-70867728950e", "mcp:x/y.z"] {
            assert!(check_handle(handle).is_ok(), "{handle}");
        }
        for handle in ["", "a b", "a%b", "ä", "a\n", &"x".repeat(65)] {
            assert_eq!(check_handle(handle).expect_err(handle).kind, ErrorKind::Usage);
        }
    }
}
