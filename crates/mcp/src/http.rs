//! The same server over HTTP, for several clients at once: one path, `/mcp`.
//!
//! The SDK speaks the protocol. Before it stands what a server that others can reach needs: who may ask, how much, how many
//! at once, and how long a client may take to say it.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion, RequestId};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::batch;
use crate::hosts::Hosts;
use crate::message::{self, MAX_BYTES, Refusal};
use crate::patient::Patient;
use crate::server::{Server, Shared};
use crate::token::Token;

pub(crate) const PATH: &str = "/mcp";
/// Requests that are answered at the same time; others are told to come again.
const MAX_REQUESTS: usize = 16;
/// Connections, those included that only listen.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take to say what it wants, and to take what it gets.
const TO_SAY_WHO: Duration = Duration::from_secs(10);
const TO_SAY_WHAT: Duration = Duration::from_secs(30);

pub(crate) type Body = BoxBody<Bytes, Infallible>;

/// Where to listen, and who may ask.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Without one, both loopback addresses.
    pub address: Option<IpAddr>,
    pub port: u16,
    /// What clients have to show. Needed at any address that others can reach.
    pub token: Option<String>,
}

impl Listen {
    pub const PORT: u16 = 7411;

    pub fn is_reachable_by_others(&self) -> bool {
        self.address.is_some_and(|it| !it.is_loopback())
    }

    async fn bind(&self) -> Result<Vec<TcpListener>, String> {
        let Some(address) = self.address else {
            let first = listener(Ipv4Addr::LOCALHOST.into(), self.port).await?;
            // The same port on both, also when the system chose it. A machine without the newer one does without.
            let port = first.local_addr().map_or(self.port, |it| it.port());
            let second = listener(Ipv6Addr::LOCALHOST.into(), port).await;
            return Ok([Some(first), second.ok()].into_iter().flatten().collect());
        };
        Ok(vec![listener(address, self.port).await?])
    }
}

async fn listener(address: IpAddr, port: u16) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(SocketAddr::new(address, port)).await;
    bound.map_err(|error| format!("cannot listen at `{}`: {error}", SocketAddr::new(address, port)))
}

/// Until the process ends. `ready` hears where.
pub(crate) async fn serve(
    shared: Shared,
    listen: Listen,
    ready: impl FnOnce(&[SocketAddr]),
) -> Result<(), String> {
    let listeners = listen.bind().await?;
    let addresses: Vec<SocketAddr> = listeners.iter().filter_map(|it| it.local_addr().ok()).collect();
    let door = Arc::new(Door::new(shared, &listen, &addresses));
    ready(&addresses);
    let accepting = listeners.into_iter().map(|it| tokio::spawn(accept(it, Arc::clone(&door))));
    for listening in accepting.collect::<Vec<_>>() {
        listening.await.map_err(|error| format!("the server failed: {error}"))?;
    }
    Ok(())
}

async fn accept(listener: TcpListener, door: Arc<Door>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptors are left: some will be given back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let door = Arc::clone(&door);
        tokio::spawn(async move {
            door.converse(stream).await;
            drop(place);
        });
    }
}

struct Door {
    service: StreamableHttpService<Server, LocalSessionManager>,
    hosts: Hosts,
    token: Option<Token>,
    requests: Arc<Semaphore>,
}

/// Held for as long as a request is in the server; it lies in the request, so that it goes with it.
#[derive(Clone)]
struct Place {
    _permit: Arc<tokio::sync::OwnedSemaphorePermit>,
}

/// Tells when the client that sent a request does not wait for the answer any more.
#[derive(Clone)]
pub(crate) struct Gone(watch::Receiver<()>);

impl Gone {
    /// Of a request that stands for itself: nobody else can get its answer. In a session, a broken connection takes nothing
    /// back, by the rules of the protocol.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<Gone> {
        context.meta.protocol_version()?;
        context.extensions.get::<http::request::Parts>()?.extensions.get::<Gone>().cloned()
    }

    pub(crate) async fn wait(gone: &mut Option<Gone>) {
        match gone {
            Some(Gone(here)) => while here.changed().await.is_ok() {},
            None => std::future::pending().await,
        }
    }
}

impl Door {
    fn new(shared: Shared, listen: &Listen, addresses: &[SocketAddr]) -> Door {
        let hosts = Hosts::new(listen, addresses);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(hosts.origins())
            .enforce_origin_validation()
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_BYTES);
        // A server that stands for a name of its own is reached under it, and shows that it is meant by the token.
        let config = match listen.is_reachable_by_others() {
            true => config.disable_allowed_hosts(),
            false => config.with_allowed_hosts(hosts.names()),
        };
        let shared = Arc::new(shared);
        let factory = move || Ok(Server::new(Arc::clone(&shared)));
        Door {
            service: StreamableHttpService::new(factory, Arc::default(), config),
            hosts,
            token: listen.token.as_deref().map(Token::new),
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
        }
    }

    async fn converse(self: Arc<Door>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let service = service_fn(move |request| {
            let door = Arc::clone(&self);
            async move { Ok::<_, Infallible>(door.answer(request).await) }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(TO_SAY_WHO).max_buf_size(64 << 10);
        // A client that goes in the middle is no fault of the server.
        let _ = http.serve_connection(TokioIo::new(Patient::new(stream, TO_SAY_WHAT)), service).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if !self.hosts.allow(request.uri(), request.headers()) {
            return plain(
                StatusCode::FORBIDDEN,
                "the request was not meant for this server: see `Host` and `Origin`",
            );
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, &format!("there is only {PATH} here"));
        }
        if let Some(token) = &self.token
            && !token.is_shown_by(request.headers())
        {
            let mut response = plain(StatusCode::UNAUTHORIZED, "show the token: `Authorization: Bearer ...`");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        }
        if request.method() != Method::POST {
            // Who listens does not keep others from asking.
            let is_end = request.method() == Method::DELETE;
            let mut response = self.service.handle(request).await;
            if is_end && response.status() == StatusCode::ACCEPTED {
                // It is done, not only heard: the SDK for Python takes the other for a failure.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            return response;
        }
        let Ok(permit) = Arc::clone(&self.requests).try_acquire_owned() else {
            let mut response =
                plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once; come again");
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return response;
        };
        let place = Place { _permit: Arc::new(permit) };
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(place);
        // Goes with this future when the client goes, else with the last of the answer.
        let (here, gone) = watch::channel(());
        parts.extensions.insert(Gone(gone));
        let body = match tokio::time::timeout(TO_SAY_WHAT, Limited::new(body, MAX_BYTES).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return refused(StatusCode::PAYLOAD_TOO_LARGE, &message::too_long());
            }
            Ok(Err(error)) => {
                return plain(StatusCode::BAD_REQUEST, &format!("the request breaks off: {error}"));
            }
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the request did not come to its end"),
        };
        match message::json(&body) {
            Err(refusal) => refused(StatusCode::BAD_REQUEST, &refusal),
            Ok(Value::Array(items)) => batch::answer(&self.service, &parts, items).await,
            Ok(value) => match self.check(&parts.headers, &value) {
                Some(response) => response,
                None => {
                    let response = self.service.handle(Request::from_parts(parts, Full::new(body))).await;
                    response.map(|body| {
                        let until_its_end = move |frame| {
                            let _ = &here;
                            frame
                        };
                        body.map_frame(until_its_end).boxed()
                    })
                }
            },
        }
    }

    /// What the SDK would answer with a text that no client of the protocol reads, or not as what it is.
    fn check(&self, headers: &http::HeaderMap, value: &Value) -> Option<Response<Body>> {
        if let Err(refusal) = message::message(value.clone()) {
            let is_named = refusal.id.is_some() && refusal.error.code == ErrorCode::INVALID_PARAMS;
            // An answer to a request that is one, as on any other transport.
            let status = if is_named { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            return Some(refused(status, &refusal));
        }
        let version = headers.get("mcp-protocol-version")?.to_str().ok()?;
        let is_spoken = match value["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() {
            // A handshake agrees on the others; a request by itself knows one.
            Some(named) => named == ProtocolVersion::V_2026_07_28.as_str() || named != version,
            None => ProtocolVersion::KNOWN_VERSIONS.iter().any(|it| it.as_str() == version),
        };
        if is_spoken {
            return None;
        }
        let id: Option<RequestId> = serde_json::from_value(value["id"].clone()).ok();
        let supported = [ProtocolVersion::V_2026_07_28.as_str()];
        let data = json!({ "supported": supported, "requested": version });
        let message = format!("revision `{version}` of the protocol is not spoken here");
        let error = ErrorData::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, message, Some(data));
        Some(refused(StatusCode::BAD_REQUEST, &message::refusal(id, error)))
    }
}

pub(crate) fn refused(status: StatusCode, refusal: &Refusal) -> Response<Body> {
    written(status, "application/json", serde_json::to_vec(refusal).unwrap_or_default())
}

pub(crate) fn written(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    written(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
}
