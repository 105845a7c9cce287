//! One connection: who we are, which tools, resources and prompts there are, and how each is asked for.

#![expect(deprecated, reason = "revisions that have logging and subscriptions to resources are still spoken")]

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use knowing_ops::{Access, Tool};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, DiscoverResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, ServerResult, SetLevelRequestMethod, SetLevelRequestParams,
    SubscribeRequestParams, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, Service, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::call::{self, Runner, Wanted};
use crate::connection::{Connection, Connections};
use crate::lines::Lines;
use crate::result::{Reader, failure, success};
use crate::sessions::Sessions;
use crate::{Listing, Options, instructions, prompts, resources};

/// How long lists may be kept by who asked for them.
const LISTS_TTL_MS: u64 = 3_600_000;

/// Standard input and output, until the input ends.
pub(crate) async fn serve(options: Options) -> Result<(), String> {
    let began = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let handle = format!("stdio-{}-{:x}", std::process::id(), began.as_nanos());
    let connection = Arc::new(Connection::named(handle));
    let lines = Lines::new(Arc::clone(&connection));
    let server = Server { shared: Arc::new(Shared::new(options)), connection };
    // Directly: the SDK's own handshake ends the connection at a client that begins otherwise, and decides once for it
    // which of the two ways to speak is meant.
    let running = serve_directly(EitherWay(server), lines, None);
    running.waiting().await.map(drop).map_err(|error| format!("the server failed: {error}"))
}

/// What all connections of a server have in common.
pub(crate) struct Shared {
    runner: Runner,
    connections: Connections,
    pub(crate) sessions: Sessions,
    tools: OnceLock<Vec<Tool>>,
}

impl Shared {
    pub(crate) fn new(options: Options) -> Shared {
        let runner = Runner { options: Arc::new(options), indexing: Default::default() };
        Shared {
            runner,
            connections: Default::default(),
            sessions: Default::default(),
            tools: OnceLock::new(),
        }
    }

    /// Made when first asked for: that takes longer than all else at the start.
    pub(crate) fn tools(&self) -> &[Tool] {
        self.tools.get_or_init(knowing_ops::tools)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools().iter().find(|it| it.name == name)
    }

    fn is_listed(&self, name: &str) -> bool {
        match &self.runner.options.tools {
            Listing::All => true,
            Listing::Core => instructions::is_core(name),
            Listing::Named(names) => names.iter().any(|it| it == name),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
}

impl Server {
    /// For a connection whose session the transport names.
    pub(crate) fn new(shared: Arc<Shared>) -> Server {
        Server { shared, connection: Arc::default() }
    }

    fn config(&self, capabilities: ServerCapabilities) -> ServerConfig {
        let us = Implementation::new("knowing", env!("CARGO_PKG_VERSION")).with_title("knowing");
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(us)
            .with_instructions(instructions::text(|name| self.shared.tool(name).is_some()))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let reader = match is_before(&context, &ProtocolVersion::V_2025_06_18) {
            true => Reader::TextOnly,
            false => Reader::Structured,
        };
        let arguments = request.arguments.unwrap_or_default();
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_index = request.name == "index_repo";
        let repo = text("repo").or_else(|| text("repo_url")).or_else(|| text("path").filter(|_| is_index));
        // What the call names itself, the operation reads; the counts are by the same name.
        let session = self.connection.session_of(&context);
        let counted = text("session").or_else(|| session.clone());
        let (name, indexing) = (request.name.to_string(), self.shared.runner.indexing.clone());
        let work = move |cx: &mut knowing_ops::Cx<'_>| call::tool(&name, arguments, &indexing, cx);
        let answered = self.shared.runner.run(Wanted { repo, session, is_index }, &context, work).await;
        self.shared.sessions.count(counted.as_deref(), &request.name, &answered);
        match answered {
            Ok(reply) => {
                if is_index {
                    self.tell_indexed(&reply).await;
                }
                success(reply, reader).into()
            }
            Err(error) => failure(&error, reader).into(),
        }
    }

    async fn tell_indexed(&self, reply: &Value) {
        if reply["new_snapshot"] != Value::Bool(true) {
            return;
        }
        let told = json!({"event": "indexed", "repo": reply["repo"], "tree": reply["tree"], "files": reply["files"]});
        self.shared.connections.tell(told).await;
        self.shared.connections.tell_updated(resources::OF_THE_INDEX).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        self.config(capabilities)
    }

    /// Those that need no handshake: the others are agreed on by `initialize`, and a request that names one of them by
    /// itself is of no revision there is.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let asked = &request.protocol_version;
        let is_spoken = asked.has_initialize() && ProtocolVersion::KNOWN_VERSIONS.contains(asked);
        if !is_spoken {
            request.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        }
        let version = request.protocol_version.clone();
        context.peer.set_peer_info(request);
        self.connection.shook_hands(version.clone(), context.peer.clone());
        self.shared.connections.add(&self.connection);
        Ok(ServerHandler::get_info(self).with_protocol_version(version))
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let capabilities =
            ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools().build();
        let versions = ServerHandler::supported_protocol_versions(self).into_owned();
        let discovered = DiscoverResult::from_server_info(versions, self.config(capabilities));
        Ok(discovered.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.shared.tools().iter().filter(|it| self.shared.is_listed(it.name)).cloned();
        let tools = knowing_ops::without_repetition(listed).iter().map(described).collect();
        let listed = ListToolsResult::with_all_items(tools);
        Ok(match is_stateless(&context) {
            true => listed.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public),
            // Earlier revisions know nothing of caching.
            false => listed,
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.shared.tool(&request.name).is_none() {
            let names: Vec<&str> = self.shared.tools().iter().map(|it| it.name).collect();
            let message = format!("no tool is called `{}`; there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(self.call(request, context).await)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = ListResourcesResult::with_all_items(resources::list());
        Ok(match is_stateless(&context) {
            true => listed.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public),
            false => listed,
        })
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(match is_stateless(&context) {
            true => listed.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public),
            false => listed,
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let session = self.connection.session_of(&context);
        let read =
            resources::read(&self.shared, &self.shared.runner, &request.uri, session, &context).await?;
        Ok(match is_stateless(&context) {
            true => read.with_ttl_ms(0).with_cache_scope(CacheScope::Private),
            false => read,
        }
        .into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = ListPromptsResult::with_all_items(prompts::list());
        Ok(match is_stateless(&context) {
            true => listed.with_ttl_ms(LISTS_TTL_MS).with_cache_scope(CacheScope::Public),
            false => listed,
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&self.shared, &self.shared.runner, request, &context).await?.into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        // Not offered, so not answered as if it were.
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.connection.set_level(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::known(&request.uri)?;
        self.connection.subscribe(&request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::known(&request.uri)?;
        self.connection.unsubscribe(&request.uri);
        Ok(())
    }
}

/// On one connection, requests that bring all with them and requests after a handshake.
struct EitherWay(Server);

impl Service<RoleServer> for EitherWay {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let opens = matches!(
            request,
            ClientRequest::InitializeRequest(_)
                | ClientRequest::DiscoverRequest(_)
                | ClientRequest::PingRequest(_)
        );
        if !opens && context.meta.protocol_version().is_none() && !self.0.connection.has_shaken_hands() {
            let message = "this connection has not begun: send `initialize`, or with each request in `_meta` \
                           `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities`";
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
        }
        self.0.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    !is_before(context, &ProtocolVersion::V_2026_07_28)
}

/// Dates of revisions compare as text.
fn is_before(context: &RequestContext<RoleServer>, version: &ProtocolVersion) -> bool {
    let spoken = context.protocol_version().unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE);
    spoken.as_str() < version.as_str()
}

fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().idempotent(tool.access != Access::Adds).open_world(false);
    let annotations = match tool.access {
        Access::Reads => annotations.read_only(true),
        Access::Writes | Access::Adds => annotations.read_only(false).destructive(false),
        Access::Destroys => annotations.read_only(false).destructive(true),
    };
    rmcp::model::Tool::new(tool.name, tool.description.clone(), Arc::new(tool.arguments.clone()))
        .with_title(tool.title.clone())
        .with_raw_output_schema(Arc::new(tool.reply.clone()))
        .with_annotations(annotations)
}
