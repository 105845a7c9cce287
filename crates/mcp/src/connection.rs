//! What is known of one client from its handshake on. Stateless requests leave nothing here.

#![expect(deprecated, reason = "revisions that have logging are still spoken")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::Value;

#[derive(Default)]
pub(crate) struct Connection {
    /// What a session of the operations is called; none where the transport names it with each request, or nobody does.
    handle: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    version: Option<ProtocolVersion>,
    peer: Option<Peer<RoleServer>>,
    /// From which level on the client wants to hear what happens.
    level: Option<LoggingLevel>,
    subscribed: BTreeSet<String>,
}

impl Connection {
    pub(crate) fn named(handle: String) -> Connection {
        Connection { handle: Some(handle), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn shook_hands(&self, version: ProtocolVersion, peer: Peer<RoleServer>) {
        let mut state = self.state();
        state.version = Some(version);
        state.peer = Some(peer);
    }

    pub(crate) fn has_shaken_hands(&self) -> bool {
        self.state().version.is_some()
    }

    /// Only one revision knows them, and asks every server to.
    pub(crate) fn takes_batches(&self) -> bool {
        self.state().version == Some(ProtocolVersion::V_2025_03_26)
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.state().level = Some(level);
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        self.state().subscribed.insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.state().subscribed.remove(uri);
    }

    /// The session that a request belongs to: of the connection, or as HTTP names it. Stateless requests name their own.
    pub(crate) fn session_of(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        if context.meta.protocol_version().is_some() {
            return None;
        }
        let header =
            context.extensions.get::<http::request::Parts>().and_then(|it| it.headers.get(SESSION_HEADER));
        self.handle.clone().or_else(|| header?.to_str().ok().map(str::to_owned))
    }
}

const SESSION_HEADER: &str = "mcp-session-id";

/// All clients that shook hands and are still there.
#[derive(Default)]
pub(crate) struct Connections {
    known: Mutex<Vec<Weak<Connection>>>,
}

impl Connections {
    pub(crate) fn add(&self, connection: &Arc<Connection>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|it| it.strong_count() > 0);
        known.push(Arc::downgrade(connection));
    }

    fn all(&self) -> Vec<Arc<Connection>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells who wanted to know that these resources are not what they were.
    pub(crate) async fn tell_updated(&self, uris: &[&str]) {
        for connection in self.all() {
            let (peer, wanted) = {
                let state = connection.state();
                let wanted: Vec<&str> =
                    uris.iter().copied().filter(|it| state.subscribed.contains(*it)).collect();
                (state.peer.clone(), wanted)
            };
            let Some(peer) = peer else { continue };
            for uri in wanted {
                // Who has gone does not want to know.
                let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
            }
        }
    }

    /// Tells who wanted to hear what happens.
    pub(crate) async fn tell(&self, what: Value) {
        for connection in self.all() {
            let (peer, level) = {
                let state = connection.state();
                (state.peer.clone(), state.level)
            };
            let is_wanted = level.is_some_and(|it| matches!(it, LoggingLevel::Debug | LoggingLevel::Info));
            let (true, Some(peer)) = (is_wanted, peer) else { continue };
            let told =
                LoggingMessageNotificationParam::new(LoggingLevel::Info, what.clone()).with_logger("knowing");
            let _ = peer.notify_logging_message(told).await;
        }
    }
}
