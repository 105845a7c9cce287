//! One connection: who we are, which tools there are, and how one is called.

use std::io;
use std::sync::Arc;

use knowing_ops::{
    Access, Cx, Environment, Error, ErrorKind, Progress, Silent, StalePolicy, Tool, TreeChoice,
};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;

use crate::instructions;
use crate::progress;
use crate::result::{Reader, failure, success};
use crate::{Listing, Options};

/// Until the input ends.
pub(crate) async fn serve(options: Options) -> Result<(), String> {
    let server = Server { tools: knowing_ops::tools(), options: Arc::new(options) };
    match server.serve(rmcp::transport::io::stdio_pipes()).await {
        Ok(running) => {
            running.waiting().await.map(drop).map_err(|error| format!("the server failed: {error}"))
        }
        // Nobody spoke: as good an end as any.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(format!("the client and this server do not understand each other: {error}")),
    }
}

struct Server {
    tools: Vec<Tool>,
    options: Arc<Options>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let us = Implementation::new("knowing", env!("CARGO_PKG_VERSION")).with_title("knowing");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(us)
            .with_instructions(instructions::text(|name| self.tool(name).is_some()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.tools.iter().filter(|it| self.is_listed(it.name)).cloned();
        let tools = knowing_ops::without_repetition(listed).iter().map(described).collect();
        let listed = ListToolsResult::with_all_items(tools);
        // Earlier revisions know nothing of caching.
        if *version_of(&context) < *ProtocolVersion::V_2026_07_28.as_str() {
            return Ok(listed);
        }
        Ok(listed.with_ttl_ms(3_600_000).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tool(&request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|it| it.name).collect();
            let message = format!("no tool is called `{}`; there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let reader = match *version_of(&context) < *ProtocolVersion::V_2025_06_18.as_str() {
            true => Reader::TextOnly,
            false => Reader::Structured,
        };
        let call = Call {
            name: tool.name,
            arguments: request.arguments.unwrap_or_default(),
            options: Arc::clone(&self.options),
        };
        Ok(call.run(reader, context).await.into())
    }
}

impl Server {
    fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|it| it.name == name)
    }

    fn is_listed(&self, name: &str) -> bool {
        match &self.options.tools {
            Listing::All => true,
            Listing::Core => instructions::is_core(name),
            Listing::Named(names) => names.iter().any(|it| it == name),
        }
    }
}

/// The revision both sides speak; ISO dates compare as text.
fn version_of(context: &RequestContext<RoleServer>) -> String {
    let version = context.protocol_version().unwrap_or(ProtocolVersion::V_2025_11_25);
    version.as_str().to_owned()
}

fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().idempotent(true).open_world(false);
    let annotations = match tool.access {
        Access::Reads => annotations.read_only(true),
        Access::Writes => annotations.read_only(false).destructive(false),
        Access::Destroys => annotations.read_only(false).destructive(true),
    };
    rmcp::model::Tool::new(tool.name, tool.description.clone(), Arc::new(tool.arguments.clone()))
        .with_title(tool.title.clone())
        .with_raw_output_schema(Arc::new(tool.reply.clone()))
        .with_annotations(annotations)
}

struct Call {
    name: &'static str,
    arguments: JsonObject,
    options: Arc<Options>,
}

impl Call {
    /// On a thread of its own; who cancels waits no longer, and the thread ends in its own time.
    async fn run(self, reader: Reader, context: RequestContext<RoleServer>) -> CallToolResult {
        let told = context.meta.get_progress_token().map(|token| {
            let (teller, told) = progress::channel();
            tokio::spawn(progress::forward(told, context.peer.clone(), token));
            teller
        });
        let answering = tokio::task::spawn_blocking(move || match &told {
            Some(teller) => self.answer(teller),
            None => self.answer(&Silent),
        });
        let answered = tokio::select! {
            answered = answering => answered.unwrap_or_else(|error| Err(fault(&error.to_string()))),
            () = context.ct.cancelled() => Err(Error::new(ErrorKind::Timeout, "cancelled", "call again")),
        };
        match answered {
            Ok(reply) => success(reply, reader),
            Err(error) => failure(&error, reader),
        }
    }

    fn answer(self, progress: &dyn Progress) -> knowing_ops::Result<Value> {
        // Anew for each call: it holds the time.
        let environment = Environment::of_process(self.options.database.clone()).map_err(|error| {
            let message = format!("there is no working directory: {error}");
            Error::new(ErrorKind::Io, message, "start the server in a directory that exists")
        })?;
        let repo = self.options.repo.clone();
        let mut cx = Cx {
            environment,
            repo,
            tree: TreeChoice::default(),
            stale: StalePolicy::default(),
            session: None,
            paging: knowing_ops::Paging::default(),
            progress,
            output: &mut io::sink(),
        };
        knowing_ops::run_tool(self.name, self.arguments, &mut cx)
    }
}

fn fault(what: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("the operation failed: {what}"),
        "this is a bug: please report it",
    )
}
