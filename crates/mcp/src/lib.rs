//! The operations as tools for agents, over the Model Context Protocol.
//!
//! Nothing here knows an operation: tools, their schemas and how they are run come from the list in `ops`. The core is
//! synchronous; an operation runs on a thread of its own and the connection stays free.

mod instructions;
mod progress;
mod result;
mod server;

use std::path::PathBuf;

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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let served = runtime.block_on(server::serve(options));
    // An operation that nobody waits for any more does not hold the process.
    runtime.shutdown_background();
    served
}
