//! The operations as tools for agents, over the Model Context Protocol.
//!
//! Nothing here knows an operation: tools, their schemas and how they are run come from the list in `ops`. The core is
//! synchronous; an operation runs on a thread of its own and the connection stays free. The official SDK speaks the
//! protocol; `docs/design/mcp.md` says what stands before it and why.

mod batch;
mod call;
mod connection;
mod hosts;
mod http;
mod indexing;
mod instructions;
mod lines;
mod message;
mod patient;
mod prompts;
mod resources;
mod result;
mod server;
mod sessions;
mod token;

use std::net::SocketAddr;
use std::path::PathBuf;

pub use http::Listen;

/// What a server answers from.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The database to use, instead of each repository's own.
    pub database: Option<PathBuf>,
    /// The repository that is meant when a call names none; else that of the working directory.
    pub repo: Option<String>,
    pub tools: Listing,
}

/// Which tools are listed. Those that are not still answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Listing {
    #[default]
    All,
    /// Those for daily work.
    Core,
    Named(Vec<String>),
}

/// Speaks on standard input and output until the input ends. Standard output carries the protocol and nothing else.
pub fn serve_stdio(options: Options) -> Result<(), String> {
    let runtime = runtime()?;
    let served = runtime.block_on(server::serve(options));
    // An operation that nobody waits for any more does not hold the process.
    runtime.shutdown_background();
    served
}

/// Speaks over HTTP until the process ends. `ready` hears at which addresses, once they are open.
pub fn serve_http(options: Options, listen: Listen, ready: impl FnOnce(&[SocketAddr])) -> Result<(), String> {
    runtime()?.block_on(http::serve(server::Shared::new(options), listen, ready))
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| format!("cannot start: {error}"))
}
